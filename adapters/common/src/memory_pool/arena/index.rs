//! An ordered index whose work can be counted.
//!
//! The keys are those of the ranges of a buffer-backed pool. In tests every comparison counts as a step, so that a test can
//! show how the cost of a question grows; otherwise a key is its value and nothing more.

use core::cmp::Ordering;
use std::collections::BTreeMap;

/// A key of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<T>(pub T);

impl<T: Ord> Ord for Key<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        count_step();
        self.0.cmp(&other.0)
    }
}

impl<T: Ord> PartialOrd for Key<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// An index.
pub type Index<K, V> = BTreeMap<Key<K>, V>;

/// Counts one step of a search or a loop.
#[cfg(not(test))]
#[inline(always)]
pub const fn count_step() {}

#[cfg(test)]
thread_local! {
    static STEPS: core::cell::Cell<usize> = const { core::cell::Cell::new(0) };
}

/// Counts one step of a search or a loop.
#[cfg(test)]
pub fn count_step() {
    STEPS.with(|steps| steps.set(steps.get() + 1));
}

/// The steps that `work` takes.
#[cfg(test)]
pub fn steps_of<R>(work: impl FnOnce() -> R) -> (R, usize) {
    let before = STEPS.with(core::cell::Cell::get);
    let result = work();
    (result, STEPS.with(core::cell::Cell::get) - before)
}
