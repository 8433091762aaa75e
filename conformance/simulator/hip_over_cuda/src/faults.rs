//! Errors injected into chosen calls.
//!
//! A fault names a function, how many of its next calls pass first, the error, and how often. A faulted call does
//! nothing else. With nothing injected a call pays one relaxed load.

use core::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::sys::status::hipError_t;

struct Fault {
    function: usize,
    /// Calls that still pass.
    pass: u64,
    error: hipError_t,
    /// Calls that still fail; `None` never ends.
    left: Option<u64>,
}

static ACTIVE: AtomicBool = AtomicBool::new(false);
static FAULTS: Mutex<Vec<Fault>> = Mutex::new(Vec::new());

/// Makes the `nth` next call of a function (1 is the very next) and the `count - 1` after it answer `error`; a count
/// of 0 goes on until cleared.
pub fn inject(function: usize, nth: u64, error: hipError_t, count: u64) {
    let left = (count != 0).then_some(count);
    FAULTS.lock().push(Fault { function, pass: nth.saturating_sub(1), error, left });
    ACTIVE.store(true, Ordering::Release);
}

/// Forgets all faults.
pub fn clear() {
    let mut faults = FAULTS.lock();
    faults.clear();
    ACTIVE.store(false, Ordering::Release);
}

/// The error that this call of a function must answer, if any.
#[inline]
pub fn on_call(function: usize) -> Option<hipError_t> {
    if ACTIVE.load(Ordering::Relaxed) { next(function) } else { None }
}

#[cold]
fn next(function: usize) -> Option<hipError_t> {
    let mut faults = FAULTS.lock();
    let mut answer = None;
    for fault in faults.iter_mut().filter(|fault| fault.function == function) {
        if fault.pass > 0 {
            fault.pass -= 1;
        } else if answer.is_none() {
            answer = Some(fault.error);
            fault.left = fault.left.map(|left| left - 1);
        }
    }
    faults.retain(|fault| fault.left != Some(0));
    answer
}
