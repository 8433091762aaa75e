//! Counts every call of the HIP API by its exported name.
//!
//! One relaxed add a call. Nothing here decides anything: tests read from the numbers which calls an operation made.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::api::exports::NAMES;

static CALLS: [AtomicU64; NAMES.len()] = [const { AtomicU64::new(0) }; NAMES.len()];

/// Counts one call.
#[inline]
pub fn count(number: usize) {
    if let Some(calls) = CALLS.get(number) {
        calls.fetch_add(1, Ordering::Relaxed);
    }
}

/// The number of the function of that name.
pub fn number(name: &str) -> Option<usize> {
    NAMES.binary_search(&name).ok()
}

/// Calls of one function since the last reset.
pub fn of(name: &str) -> u64 {
    number(name).map_or(0, |number| CALLS[number].load(Ordering::Relaxed))
}

/// Every function called since the last reset, by name.
pub fn all() -> Vec<(&'static str, u64)> {
    let counts = CALLS.iter().map(|calls| calls.load(Ordering::Relaxed));
    NAMES.iter().copied().zip(counts).filter(|(_, calls)| *calls > 0).collect()
}

/// Sets every count to zero.
pub fn reset() {
    CALLS.iter().for_each(|calls| calls.store(0, Ordering::Relaxed));
}
