//! The pool that a null handle means on a device of a context, with its number for queues to read without a lock.
//!
//! What is found and what is changed because of it is one step under one lock; a pool that is let go of is dropped outside it.

use core::any::Any;

use crate::sync::{AtomicU64, Mutex, Ordering};

/// The object behind a pool's handle, whose type is [`crate::pool`]'s.
pub type AnyPool = std::sync::Arc<dyn Any + Send + Sync>;

/// The pool that was set, if any; without one the default pool is meant.
#[derive(Debug)]
pub struct Current<P> {
    pool: Mutex<Option<(u64, P)>>,
    /// Number of the pool that a null handle means; 0 while nobody asked since it changed.
    id: AtomicU64,
}

impl<P: Clone> Current<P> {
    /// No pool was set.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "made in one place")]
    pub fn new() -> Self {
        Self { pool: Mutex::new(None), id: AtomicU64::new(0) }
    }

    /// The number of the pool that a null handle means; 0 while nobody asked for one.
    #[inline]
    pub fn id(&self) -> u64 {
        self.id.load(Ordering::Acquire)
    }

    /// The pool that a null handle means; `default` says which one when none was set.
    pub fn get_or(&self, default: impl FnOnce() -> (u64, P)) -> P {
        let current = self.pool.lock();
        let (id, pool) = current.clone().unwrap_or_else(default);
        self.id.store(id, Ordering::Release);
        pool
    }

    /// Sets a pool with its number; `None` is the default pool.
    pub fn set(&self, pool: Option<(u64, P)>) {
        let before = {
            let mut current = self.pool.lock();
            // The next question finds out what the default pool's number is.
            self.id.store(pool.as_ref().map_or(0, |(id, _)| *id), Ordering::Release);
            core::mem::replace(&mut *current, pool)
        };
        drop(before);
    }

    /// Brings the default pool back if the one that was set has this number.
    pub fn forget(&self, id: u64) {
        let before = {
            let mut current = self.pool.lock();
            if current.as_ref().is_none_or(|(own, _)| *own != id) {
                return;
            }
            self.id.store(0, Ordering::Release);
            current.take()
        };
        drop(before);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_forgotten_by_its_own_number_alone() {
        let current = Current::new();
        assert_eq!(current.id(), 0);
        assert_eq!((current.get_or(|| (9, 'd')), current.id()), ('d', 9));
        current.set(Some((1, 'a')));
        current.forget(2);
        assert_eq!((current.id(), current.get_or(|| (9, 'd'))), (1, 'a'));
        current.forget(1);
        assert_eq!((current.id(), current.get_or(|| (9, 'd'))), (0, 'd'));
    }
}

/// Run with `cargo xtask races`.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::sync::Arc;

    /// The current pool's handle goes while somebody sets another pool: that one stays set.
    #[test]
    fn a_pool_that_is_set_while_another_one_ends_stays_set() {
        loom::model(|| {
            let current = Arc::new(Current::new());
            current.set(Some((1, 'a')));
            let ending = {
                let current = Arc::clone(&current);
                loom::thread::spawn(move || current.forget(1))
            };
            current.set(Some((2, 'b')));
            ending.join().unwrap();
            assert_eq!((current.id(), current.get_or(|| (9, 'd'))), (2, 'b'));
        });
    }
}
