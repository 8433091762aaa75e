//! Counting and failing the calls of a native library that can be controlled: the simulated driver, and HIP over CUDA above
//! any driver. Both export the same functions under a prefix of their own; a vendor's library has none of them.

use core::ffi::{CStr, c_char, c_int, c_void};
use std::collections::BTreeMap;
use std::ffi::CString;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::below::Below;
use crate::{Environment, native};

/// Calls or objects by name.
pub type Counts = BTreeMap<String, u64>;

type EachCount = unsafe extern "C" fn(*const c_char, u64, *mut c_void);

/// Control of one library.
#[derive(Debug)]
pub struct Control {
    library: Library,
    prefix: &'static str,
}

/// A C string of a callback.
pub(crate) fn text(pointer: *const c_char) -> String {
    // SAFETY: the library gives C strings that live during the callback.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

unsafe extern "C" fn add_count(name: *const c_char, count: u64, list: *mut c_void) {
    // SAFETY: `list` is the map of `Control::gather`, which outlives the call that calls back.
    let list = unsafe { &mut *list.cast::<Counts>() };
    if count > 0 {
        list.insert(text(name), count);
    }
}

impl Control {
    fn of(library: Library, prefix: &'static str) -> Option<Self> {
        let control = Self { library, prefix };
        // SAFETY: only the address is taken.
        let found = unsafe { control.library.get::<*mut c_void>(control.name("InjectFault").as_bytes()) }.is_ok();
        found.then_some(control)
    }

    /// The simulated driver, if it is what the adapter has loaded.
    pub(crate) fn of_driver() -> Option<Self> {
        Self::of(native::loaded(&Environment::get().native)?, DRIVER)
    }

    /// Every library below the adapter that can be controlled.
    #[must_use]
    pub fn loaded() -> Vec<Self> {
        let hip = native::loaded(&Environment::get().hip).and_then(|library| Self::of(library, RUNTIME));
        Self::of_driver().into_iter().chain(hip).collect()
    }

    /// Loads what the adapter will open, before it does; `None` where that cannot be controlled.
    #[must_use]
    pub fn preloaded() -> Option<Self> {
        let below = Below::find()?;
        // SAFETY: the adapter under test runs the same initialisers a moment later.
        let library = unsafe { Library::open(Some(below.named()), RTLD_NOW | RTLD_LOCAL) }.ok()?;
        Self::of(library, if Below::is_hip() { RUNTIME } else { DRIVER })
    }

    fn name(&self, function: &str) -> String {
        format!("{}{function}\0", self.prefix)
    }

    /// One of the control functions, by its name behind the prefix.
    pub(crate) fn symbol<T: Copy>(&self, function: &str) -> T {
        // SAFETY: callers name the type that the library's header gives the symbol.
        unsafe { native::symbol(&self.library, self.name(function).trim_end_matches('\0')) }
    }

    /// Calls a function without arguments.
    pub(crate) fn simple(&self, function: &str) {
        let call: unsafe extern "C" fn() = self.symbol(function);
        // SAFETY: no arguments; allowed at any time.
        unsafe { call() }
    }

    /// Names and numbers that a function tells a callback.
    pub(crate) fn gather(&self, function: &str) -> Counts {
        let call: unsafe extern "C" fn(Option<EachCount>, *mut c_void) = self.symbol(function);
        let mut list = Counts::new();
        // SAFETY: the callback runs on this thread before the function returns.
        unsafe { call(Some(add_count), (&raw mut list).cast()) };
        list
    }

    /// Whether it is the simulated driver, and not HIP over some driver.
    #[must_use]
    pub fn is_driver(&self) -> bool {
        self.prefix == DRIVER
    }

    /// The library's calls that `work` made.
    pub fn calls_of<R>(&self, work: impl FnOnce() -> R) -> (R, Counts) {
        self.simple("ResetCallCounts");
        let result = work();
        (result, self.gather("CallCounts"))
    }

    /// Makes the `nth` next call of a function answer `error`, once.
    pub fn fail(&self, name: &str, nth: u64, error: i32) {
        self.inject(name, nth, error, 1);
    }

    /// Makes every call of a function answer `error`, until [`Control::clear_faults`].
    pub fn fail_always(&self, name: &str, error: i32) {
        self.inject(name, 1, error, 0);
    }

    fn inject(&self, name: &str, nth: u64, error: i32, count: u64) {
        let inject: unsafe extern "C" fn(*const c_char, u64, c_int, u64) -> c_int = self.symbol("InjectFault");
        let text = CString::new(name).unwrap_or_default();
        // SAFETY: the name is a C string.
        assert_eq!(unsafe { inject(text.as_ptr(), nth, error, count) }, 0, "no library under test exports {name}");
    }

    /// Ends all injected faults.
    pub fn clear_faults(&self) {
        self.simple("ClearFaults");
    }
}

/// The prefix of `conformance/simulator/cuda/include/simcuda.h`.
const DRIVER: &str = "simcuda";
/// The prefix of `conformance/simulator/hip_over_cuda/include/hip_on_cuda.h`.
const RUNTIME: &str = "hiponcuda";
