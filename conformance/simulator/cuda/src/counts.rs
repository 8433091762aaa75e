//! Counts every native call by its exported name.
//!
//! Each exported function owns one static [`Entry`]; a call costs one relaxed add. Nothing here decides anything:
//! the numbers exist so that tests can assert which native calls an operation made.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use parking_lot::Mutex;

/// The counter of one exported function.
pub struct Entry {
    /// Exported name.
    pub name: &'static str,
    calls: AtomicU64,
    listed: AtomicBool,
}

static ENTRIES: Mutex<Vec<&'static Entry>> = Mutex::new(Vec::new());

impl Entry {
    /// A counter at zero.
    pub const fn new(name: &'static str) -> Self {
        Self { name, calls: AtomicU64::new(0), listed: AtomicBool::new(false) }
    }

    /// Counts one call.
    pub fn count(&'static self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if !self.listed.load(Ordering::Relaxed) && !self.listed.swap(true, Ordering::Relaxed) {
            ENTRIES.lock().push(self);
        }
    }
}

/// Calls of one function since the last reset.
pub fn of(name: &str) -> u64 {
    ENTRIES.lock().iter().filter(|entry| entry.name == name).map(|entry| entry.calls.load(Ordering::Relaxed)).sum()
}

/// Calls of all functions since the last reset.
pub fn total() -> u64 {
    ENTRIES.lock().iter().map(|entry| entry.calls.load(Ordering::Relaxed)).sum()
}

/// Every function called since the last reset with its count, by name.
pub fn all() -> Vec<(&'static str, u64)> {
    let mut list: Vec<_> =
        ENTRIES.lock().iter().map(|entry| (entry.name, entry.calls.load(Ordering::Relaxed))).collect();
    list.retain(|&(_, calls)| calls > 0);
    list.sort_unstable();
    list
}

/// Sets every count to zero.
pub fn reset() {
    for entry in ENTRIES.lock().iter() {
        entry.calls.store(0, Ordering::Relaxed);
    }
}
