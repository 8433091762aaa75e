//! The simulated driver's control functions (`conformance/simcuda/include/simcuda.h`): call counts, faults, held work,
//! misuse reports and leaks. There only when the native library is the simulated one.

use core::ffi::{CStr, c_char, c_int, c_void};
use std::collections::BTreeMap;
use std::ffi::CString;

use libloading::os::unix::Library;

use crate::{Environment, native};

/// Calls or objects by name.
pub type Counts = BTreeMap<String, u64>;

/// Control of the simulated driver.
#[derive(Debug)]
pub struct Sim {
    library: Library,
}

type EachCount = unsafe extern "C" fn(*const c_char, u64, *mut c_void);
type EachReport = unsafe extern "C" fn(*const c_char, *const c_char, *mut c_void);

/// Statuses that faults are injected with.
pub mod status {
    /// CUDA_ERROR_OUT_OF_MEMORY.
    pub const OUT_OF_MEMORY: i32 = 2;
    /// CUDA_ERROR_ILLEGAL_ADDRESS: ends the context.
    pub const ILLEGAL_ADDRESS: i32 = 700;
    /// CUDA_ERROR_UNKNOWN: a status that the UR has no word for.
    pub const UNKNOWN: i32 = 999;
}

fn text(pointer: *const c_char) -> String {
    // SAFETY: the library gives C strings that live during the callback.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

unsafe extern "C" fn add_count(name: *const c_char, count: u64, list: *mut c_void) {
    // SAFETY: `list` is the map of `Sim::gather`, which outlives the call that calls back.
    let list = unsafe { &mut *list.cast::<Counts>() };
    if count > 0 {
        list.insert(text(name), count);
    }
}

unsafe extern "C" fn add_report(kind: *const c_char, what: *const c_char, list: *mut c_void) {
    // SAFETY: `list` is the vector of `Sim::reports`, which outlives the call that calls back.
    let list = unsafe { &mut *list.cast::<Vec<(String, String)>>() };
    list.push((text(kind), text(what)));
}

impl Sim {
    /// The simulated driver, if it is what the adapter has loaded.
    pub(crate) fn loaded() -> Option<Self> {
        let library = native::loaded(&Environment::get().native)?;
        // SAFETY: only the address is taken.
        unsafe { library.get::<*mut c_void>(b"simcudaHoldWork\0") }.is_ok().then_some(Self { library })
    }

    fn symbol<T: Copy>(&self, name: &str) -> T {
        // SAFETY: callers name the type that `simcuda.h` gives the symbol.
        unsafe { native::symbol(&self.library, name) }
    }

    fn simple(&self, name: &str) {
        let call: unsafe extern "C" fn() = self.symbol(name);
        // SAFETY: no arguments; allowed at any time.
        unsafe { call() }
    }

    fn number(&self, name: &str) -> u64 {
        let call: unsafe extern "C" fn() -> u64 = self.symbol(name);
        // SAFETY: no arguments; allowed at any time.
        unsafe { call() }
    }

    fn gather(&self, name: &str) -> Counts {
        let call: unsafe extern "C" fn(Option<EachCount>, *mut c_void) = self.symbol(name);
        let mut list = Counts::new();
        // SAFETY: the callback runs on this thread before the function returns.
        unsafe { call(Some(add_count), (&raw mut list).cast()) };
        list
    }

    /// The native calls that `work` made.
    pub fn calls_of<R>(&self, work: impl FnOnce() -> R) -> (R, Counts) {
        self.simple("simcudaResetCallCounts");
        let result = work();
        (result, self.gather("simcudaCallCounts"))
    }

    /// Fails unless `work` made exactly these native calls.
    #[track_caller]
    pub fn expect_calls<R>(&self, expected: &[(&str, u64)], work: impl FnOnce() -> R) -> R {
        let (result, calls) = self.calls_of(work);
        let expected: Counts = expected.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        assert_eq!(calls, expected, "native calls");
        result
    }

    /// Makes the `nth` next call of a function answer `error`, once.
    pub fn fail(&self, name: &str, nth: u64, error: i32) {
        let inject: unsafe extern "C" fn(*const c_char, u64, c_int, u64) -> c_int = self.symbol("simcudaInjectFault");
        let text = CString::new(name).unwrap_or_default();
        // SAFETY: the name is a C string.
        assert_eq!(unsafe { inject(text.as_ptr(), nth, error, 1) }, 0, "the simulated driver exports no {name}");
    }

    /// Ends all injected faults.
    pub fn clear_faults(&self) {
        self.simple("simcudaClearFaults");
    }

    /// Stops all streams before their next command while the guard lives.
    #[must_use]
    pub fn hold(&self) -> Held<'_> {
        self.simple("simcudaHoldWork");
        Held { sim: self }
    }

    pub(crate) fn let_go(&self) {
        self.simple("simcudaReleaseWork");
    }

    /// Misuse seen so far: kind and text.
    #[must_use]
    pub fn reports(&self) -> Vec<(String, String)> {
        let call: unsafe extern "C" fn(Option<EachReport>, *mut c_void) = self.symbol("simcudaReports");
        let mut list: Vec<(String, String)> = Vec::new();
        // SAFETY: the callback runs on this thread before the function returns.
        unsafe { call(Some(add_report), (&raw mut list).cast()) };
        list
    }

    /// Forgets the misuse seen so far.
    pub fn clear_reports(&self) {
        self.simple("simcudaClearReports");
    }

    /// Fails unless there are reports and all are of this kind; forgets them.
    #[track_caller]
    pub fn expect_reports(&self, kind: &str) {
        let reports = self.reports();
        assert!(!reports.is_empty(), "the simulated driver saw no {kind}");
        assert!(reports.iter().all(|(found, _)| found == kind), "{reports:#?}");
        self.clear_reports();
    }

    /// Native objects alive, by kind.
    #[must_use]
    pub fn objects(&self) -> Counts {
        self.gather("simcudaLeaks")
    }

    /// Threads that streams have started so far.
    #[must_use]
    pub fn threads(&self) -> u64 {
        self.number("simcudaThreadCount")
    }

    /// Contexts that exist now.
    #[must_use]
    pub fn contexts(&self) -> u64 {
        self.number("simcudaContextCount")
    }
}

/// While it lives, nothing that is submitted completes.
#[derive(Debug)]
pub struct Held<'s> {
    sim: &'s Sim,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.sim.let_go();
    }
}
