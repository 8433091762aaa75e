//! Native memory that nobody has any more and that work of the device may still use.
//!
//! A native free waits for that work, and so do launches of other threads meanwhile, so whoever ends a pool must not make it. The
//! memory goes back when the device is full, or with the native context: both may wait. The lock is a leaf.

use parking_lot::Mutex;

/// What gives one piece of memory back.
type Free = Box<dyn FnOnce() + Send>;

/// Memory that waits for the device.
#[derive(Default)]
pub struct ParkedMemory {
    frees: Mutex<Vec<Free>>,
}

impl ParkedMemory {
    /// Keeps a piece of memory; `free` gives it back. It must not hold the native context.
    pub fn park(&self, free: impl FnOnce() + Send + 'static) {
        self.frees.lock().push(Box::new(free));
    }

    /// Whether there is any.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.frees.lock().is_empty()
    }

    /// Gives all of it back, which may wait for the device.
    pub fn free_all(&self) {
        let frees = core::mem::take(&mut *self.frees.lock());
        frees.into_iter().for_each(|free| free());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn each_piece_of_memory_is_given_back_once() {
        let (parked, freed) = (ParkedMemory::default(), Arc::new(AtomicUsize::new(0)));
        for piece in [1, 10] {
            let freed = Arc::clone(&freed);
            parked.park(move || {
                freed.fetch_add(piece, Ordering::Relaxed);
            });
        }
        assert!(!parked.is_empty());
        parked.free_all();
        parked.free_all();
        assert_eq!((freed.load(Ordering::Relaxed), parked.is_empty()), (11, true));
    }
}
