//! The primitives of the code that loom checks: its own under `--cfg loom`, the usual ones otherwise.

#[cfg(not(loom))]
pub use parking_lot::Mutex;
#[cfg(not(loom))]
pub use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

#[cfg(loom)]
pub use loom::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// loom's mutex with the signature of the usual one: a test's panic ends the model, so nothing is ever poisoned.
#[cfg(loom)]
#[derive(Debug)]
pub struct Mutex<T>(loom::sync::Mutex<T>);

#[cfg(loom)]
impl<T> Mutex<T> {
    /// An unlocked mutex.
    pub fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    /// Locks it.
    pub fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
        self.0.lock().expect("a model that panicked has ended")
    }
}
