//! Errors and delays injected into chosen native calls, and calls that are held.
//!
//! A fault names a function, how many of its next calls pass first, the error, and how often. A faulted call has no
//! effect at all: the function's body never runs. A held call waits before its body, so a test can put other threads' steps
//! between a call's beginning and its end; a held return waits behind the body, so that they lie between what the call did and
//! what its caller does next. With nothing injected a call pays two relaxed loads.

use crate::sys::CUresult;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use parking_lot::{Condvar, Mutex};

struct Fault {
    name: String,
    /// Calls that still pass before the fault begins.
    pass: u64,
    error: CUresult,
    /// Calls that still fail; `u64::MAX` never ends.
    left: u64,
}

#[derive(Default)]
struct Plan {
    faults: Vec<Fault>,
    delays: Vec<(String, Duration)>,
    /// Functions whose calls wait.
    held: Vec<String>,
    /// Functions whose calls wait when they have done their work.
    held_returns: Vec<String>,
}

static ACTIVE: AtomicBool = AtomicBool::new(false);
static PLAN: Mutex<Plan> =
    Mutex::new(Plan { faults: Vec::new(), delays: Vec::new(), held: Vec::new(), held_returns: Vec::new() });
static RELEASED: Condvar = Condvar::new();

/// Makes the `nth` next call of `name` (1 is the very next) and the `count - 1` after it answer `error`.
/// A count of 0 means from then on.
pub fn inject(name: &str, nth: u64, error: CUresult, count: u64) {
    let left = if count == 0 { u64::MAX } else { count };
    PLAN.lock().faults.push(Fault { name: name.to_owned(), pass: nth.max(1) - 1, error, left });
    ACTIVE.store(true, Ordering::Relaxed);
}

/// Makes every call of `name` take at least this long; zero ends it.
pub fn inject_delay(name: &str, delay: Duration) {
    let mut plan = PLAN.lock();
    plan.delays.retain(|(known, _)| known != name);
    if !delay.is_zero() {
        plan.delays.push((name.to_owned(), delay));
    }
    ACTIVE.store(true, Ordering::Relaxed);
}

/// Makes every call of `name` from now on wait until [`release_calls`] or [`clear`].
pub fn hold_calls(name: &str) {
    let mut plan = PLAN.lock();
    if !plan.holds(name) {
        plan.held.push(name.to_owned());
    }
    ACTIVE.store(true, Ordering::Relaxed);
}

/// As [`hold_calls`], and the calls wait behind their body.
pub fn hold_returns(name: &str) {
    let mut plan = PLAN.lock();
    if !plan.holds_return(name) {
        plan.held_returns.push(name.to_owned());
    }
    ACTIVE.store(true, Ordering::Relaxed);
}

/// Lets the calls of `name` go on, wherever they wait.
pub fn release_calls(name: &str) {
    let mut plan = PLAN.lock();
    plan.held.retain(|held| held != name);
    plan.held_returns.retain(|held| held != name);
    drop(plan);
    RELEASED.notify_all();
}

/// Forgets all injected faults and delays, and lets held calls go on.
pub fn clear() {
    *PLAN.lock() = Plan::default();
    ACTIVE.store(false, Ordering::Relaxed);
    RELEASED.notify_all();
}

/// Reads `NAME:NTH:ERROR[:COUNT]`, separated by semicolons.
pub fn inject_text(text: &str) -> Result<(), String> {
    for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        let fields: Vec<_> = part.split(':').collect();
        let number = |i: usize| fields.get(i).and_then(|field| field.parse::<u64>().ok());
        match (fields.len(), number(1), number(2)) {
            (3, Some(nth), Some(error)) => inject(fields[0], nth, error as CUresult, 1),
            (4, Some(nth), Some(error)) => {
                let count = number(3).ok_or_else(|| format!("SIMCUDA_FAULTS: `{part}`: count is not a number"))?;
                inject(fields[0], nth, error as CUresult, count);
            }
            _ => return Err(format!("SIMCUDA_FAULTS: `{part}` is not NAME:NTH:ERROR[:COUNT]")),
        }
    }
    Ok(())
}

/// What this call of `name` must do: wait, fail, or neither.
pub fn on_call(name: &str) -> Option<CUresult> {
    if !ACTIVE.load(Ordering::Relaxed) {
        return None;
    }
    let (delay, error) = {
        let mut plan = PLAN.lock();
        while plan.holds(name) {
            RELEASED.wait(&mut plan);
        }
        plan.next(name)
    };
    if let Some(delay) = delay {
        std::thread::sleep(delay);
    }
    error
}

/// The end of a call of `name`: returns when nobody holds it.
pub fn on_return(name: &str) {
    if !ACTIVE.load(Ordering::Relaxed) {
        return;
    }
    let mut plan = PLAN.lock();
    while plan.holds_return(name) {
        RELEASED.wait(&mut plan);
    }
}

impl Plan {
    fn holds_return(&self, name: &str) -> bool {
        self.held_returns.iter().any(|held| held == name)
    }

    fn holds(&self, name: &str) -> bool {
        self.held.iter().any(|held| held == name)
    }

    fn next(&mut self, name: &str) -> (Option<Duration>, Option<CUresult>) {
        let delay = self.delays.iter().find(|(known, _)| known == name).map(|&(_, delay)| delay);
        let mut error = None;
        for fault in self.faults.iter_mut().filter(|fault| fault.name == name) {
            if fault.pass > 0 {
                fault.pass -= 1;
            } else if error.is_none() {
                error = Some(fault.error);
                fault.left = if fault.left == u64::MAX { u64::MAX } else { fault.left - 1 };
            }
        }
        self.faults.retain(|fault| fault.left > 0);
        (delay, error)
    }
}
