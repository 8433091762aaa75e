//! The simulated driver's control functions (`conformance/simulator/cuda/include/simcuda.h`): call counts, faults, held
//! work, misuse reports and leaks. There only when the native library is the simulated one.

use core::ffi::{c_char, c_int, c_void};
use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::control::{Control, text};

pub use crate::control::Counts;

/// Control of the simulated driver.
#[derive(Debug)]
pub struct Sim {
    control: Control,
}

type EachReport = unsafe extern "C" fn(*const c_char, *const c_char, *mut c_void);

/// Statuses that faults are injected with; the same numbers mean the same in CUDA and in HIP.
pub mod status {
    /// CUDA_ERROR_OUT_OF_MEMORY, hipErrorOutOfMemory.
    pub const OUT_OF_MEMORY: i32 = 2;
    /// CUDA_ERROR_DEINITIALIZED, hipErrorDeinitialized: the library's exit handler has run.
    pub const DEINITIALIZED: i32 = 4;
    /// CUDA_ERROR_ILLEGAL_ADDRESS, hipErrorIllegalAddress: ends the context.
    pub const ILLEGAL_ADDRESS: i32 = 700;
    /// CUDA_ERROR_UNKNOWN, hipErrorUnknown: a status that the UR has no word for.
    pub const UNKNOWN: i32 = 999;
}

unsafe extern "C" fn add_report(kind: *const c_char, what: *const c_char, list: *mut c_void) {
    // SAFETY: `list` is the vector of `Sim::reports`, which outlives the call that calls back.
    let list = unsafe { &mut *list.cast::<Vec<(String, String)>>() };
    list.push((text(kind), text(what)));
}

impl Sim {
    /// The simulated driver, if it is what the adapter has loaded.
    pub(crate) fn loaded() -> Option<Self> {
        Control::of_driver().map(|control| Self { control })
    }

    fn number(&self, function: &str) -> u64 {
        let call: unsafe extern "C" fn() -> u64 = self.control.symbol(function);
        // SAFETY: no arguments; allowed at any time.
        unsafe { call() }
    }

    /// How often native calls of this thread found work unfinished that they waited for.
    pub fn waits_of_thread(&self) -> u64 {
        self.number("ThreadWaits")
    }

    /// The native calls that `work` made.
    pub fn calls_of<R>(&self, work: impl FnOnce() -> R) -> (R, Counts) {
        self.control.calls_of(work)
    }

    /// Fails unless `work` made exactly these native calls.
    #[track_caller]
    pub fn expect_calls<R>(&self, expected: &[(&str, u64)], work: impl FnOnce() -> R) -> R {
        let (result, calls) = self.calls_of(work);
        let expected: Counts = expected.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        assert_eq!(calls, expected, "native calls");
        result
    }

    /// How often a function was called since calls were last counted by [`Sim::calls_of`]. A call that waits counts.
    #[must_use]
    pub fn calls_so_far(&self, name: &str) -> u64 {
        self.control.gather("CallCounts").get(name).copied().unwrap_or(0)
    }

    /// Makes the `nth` next call of a function answer `error`, once.
    pub fn fail(&self, name: &str, nth: u64, error: i32) {
        self.control.fail(name, nth, error);
    }

    /// Makes every call of a function answer `error`, until [`Sim::clear_faults`].
    pub fn fail_always(&self, name: &str, error: i32) {
        self.control.fail_always(name, error);
    }

    /// Makes every call of a function take this long, until [`Sim::clear_faults`]: other threads come between its begin and its end.
    pub fn slow_down(&self, name: &str, micros: u64) {
        let delay: unsafe extern "C" fn(*const c_char, u64) -> c_int = self.control.symbol("InjectDelay");
        let text = CString::new(name).unwrap_or_default();
        // SAFETY: the name is a C string.
        assert_eq!(unsafe { delay(text.as_ptr(), micros) }, 0, "the simulated driver exports no {name}");
    }

    /// Makes calls of a function wait at their beginning while the guard lives: whatever else happens then lies between the begin
    /// of such a call and its end.
    #[must_use]
    pub fn hold_calls(&self, name: &'static str) -> HeldCalls<'_> {
        self.held(name, "HoldCalls")
    }

    /// Makes calls of a function wait at their end while the guard lives: what they do is done, and whatever else happens then
    /// comes before their caller's next step. [`HeldCalls::wait_for_one`] tells of their beginning alone.
    #[must_use]
    pub fn hold_returns(&self, name: &'static str) -> HeldCalls<'_> {
        self.held(name, "HoldReturns")
    }

    fn held(&self, name: &'static str, how: &str) -> HeldCalls<'_> {
        let held = HeldCalls { sim: self, name, before: self.calls_so_far(name) };
        held.control(how);
        held
    }

    /// Ends all injected faults and delays, and makes lost devices usable again.
    pub fn clear_faults(&self) {
        self.control.clear_faults();
    }

    /// Loses a device: what is queued there and what is asked of it from now on fails.
    pub fn lose_device(&self, ordinal: i32) {
        let lose: unsafe extern "C" fn(c_int) -> c_int = self.control.symbol("LoseDevice");
        // SAFETY: a plain number; allowed at any time.
        assert_eq!(unsafe { lose(ordinal) }, 0, "there is no device {ordinal}");
    }

    /// What release thresholds of native pools mean: 0 what they say, 1 pools keep everything until they are trimmed, 2
    /// they give back at once whatever nobody uses. [`Sim::clear_faults`] ends it.
    pub fn set_thresholds(&self, meaning: i32) {
        let set: unsafe extern "C" fn(c_int) -> c_int = self.control.symbol("SetThresholds");
        // SAFETY: a plain number; allowed at any time.
        assert_eq!(unsafe { set(meaning) }, 0, "{meaning} is no meaning of thresholds");
    }

    /// Stops all streams before their next command while the guard lives.
    #[must_use]
    pub fn hold(&self) -> Held<'_> {
        self.control.simple("HoldWork");
        Held { sim: self }
    }

    pub(crate) fn let_go(&self) {
        self.control.simple("ReleaseWork");
    }

    /// Misuse seen so far: kind and text.
    #[must_use]
    pub fn reports(&self) -> Vec<(String, String)> {
        let call: unsafe extern "C" fn(Option<EachReport>, *mut c_void) = self.control.symbol("Reports");
        let mut list: Vec<(String, String)> = Vec::new();
        // SAFETY: the callback runs on this thread before the function returns.
        unsafe { call(Some(add_report), (&raw mut list).cast()) };
        list
    }

    /// Forgets the misuse seen so far.
    pub fn clear_reports(&self) {
        self.control.simple("ClearReports");
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
        self.control.gather("Leaks")
    }

    /// Threads that streams have started so far.
    #[must_use]
    pub fn threads(&self) -> u64 {
        self.number("ThreadCount")
    }

    /// Contexts that exist now.
    #[must_use]
    pub fn contexts(&self) -> u64 {
        self.number("ContextCount")
    }
}

/// The simulated driver's other API: its semaphores by their descriptors, from any thread.
#[derive(Clone, Copy, Debug)]
pub struct ForeignSemaphores {
    signal: unsafe extern "C" fn(c_int, u64) -> c_int,
    wait: unsafe extern "C" fn(c_int, u64, u64) -> c_int,
}

impl ForeignSemaphores {
    /// Signals a semaphore, a timeline with that value.
    pub fn signal(&self, semaphore: &OwnedFd, value: u64) {
        // SAFETY: an open descriptor and plain numbers.
        assert_eq!(unsafe { (self.signal)(semaphore.as_raw_fd(), value) }, 0, "no semaphore of the simulated driver's");
    }

    /// Waits so many milliseconds at most for a semaphore; answers whether it was reached.
    #[must_use]
    pub fn wait(&self, semaphore: &OwnedFd, value: u64, milliseconds: u64) -> bool {
        // SAFETY: an open descriptor and plain numbers.
        match unsafe { (self.wait)(semaphore.as_raw_fd(), value, milliseconds) } {
            0 => true,
            2 => false,
            _ => panic!("no semaphore of the simulated driver's"),
        }
    }
}

impl Sim {
    /// Memory of another API on a device, by a new descriptor. It is a file.
    #[must_use]
    pub fn foreign_memory(&self, bytes: usize, ordinal: i32) -> OwnedFd {
        let make: unsafe extern "C" fn(u64, c_int) -> c_int = self.control.symbol("ForeignMemory");
        // SAFETY: plain numbers.
        owned(unsafe { make(bytes as u64, ordinal) })
    }

    /// A semaphore of another API, by a new descriptor.
    #[must_use]
    pub fn foreign_semaphore(&self, timeline: bool) -> OwnedFd {
        let make: unsafe extern "C" fn(c_int) -> c_int = self.control.symbol("ForeignSemaphore");
        // SAFETY: a plain number.
        owned(unsafe { make(timeline.into()) })
    }

    /// What that API does with its semaphores.
    #[must_use]
    pub fn foreign_semaphores(&self) -> ForeignSemaphores {
        ForeignSemaphores { signal: self.control.symbol("ForeignSignal"), wait: self.control.symbol("ForeignWait") }
    }
}

fn owned(descriptor: c_int) -> OwnedFd {
    assert!(descriptor >= 0, "the simulated driver has no descriptor left");
    // SAFETY: the descriptor was made for the caller.
    unsafe { OwnedFd::from_raw_fd(descriptor) }
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

/// Calls of a function wait until this is dropped.
#[derive(Debug)]
pub struct HeldCalls<'s> {
    sim: &'s Sim,
    name: &'static str,
    before: u64,
}

impl HeldCalls<'_> {
    fn control(&self, what: &str) {
        let call: unsafe extern "C" fn(*const c_char) -> c_int = self.sim.control.symbol(what);
        let text = CString::new(self.name).unwrap_or_default();
        // SAFETY: the name is a C string.
        assert_eq!(unsafe { call(text.as_ptr()) }, 0, "the simulated driver exports no {}", self.name);
    }

    /// Returns when a thread is inside such a call. `has_ended` tells whether the thread that is to make it has gone.
    ///
    /// # Panics
    /// When the thread has ended and made no such call.
    pub fn wait_for_one(&self, has_ended: impl Fn() -> bool) {
        loop {
            let ended = has_ended();
            if self.sim.calls_so_far(self.name) > self.before {
                return;
            }
            assert!(!ended, "nobody called {}", self.name);
            std::thread::yield_now();
        }
    }
}

impl Drop for HeldCalls<'_> {
    fn drop(&mut self) {
        self.control("ReleaseCalls");
    }
}
