//! Native memory that nobody has any more and that work of the device may still use.
//!
//! A native free waits for that work, and so do launches of other threads meanwhile, so whoever ends a pool must not make it. The
//! memory goes back when the device is full, or with the native context: both may wait. The lock is a leaf.

use parking_lot::Mutex;

use crate::object::error::Result;

/// A piece of memory with what gives it back.
struct Parked {
    bytes: usize,
    free: Box<dyn FnOnce() -> Result<()> + Send>,
}

/// Memory that waits for the device.
#[derive(Default)]
pub struct ParkedMemory {
    parked: Mutex<Vec<Parked>>,
}

impl ParkedMemory {
    /// Keeps a piece of memory; `free` gives it back. It must not hold the native context.
    pub fn park(&self, bytes: usize, free: impl FnOnce() -> Result<()> + Send + 'static) {
        self.parked.lock().push(Parked { bytes, free: Box::new(free) });
    }

    /// Whether there is any.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parked.lock().is_empty()
    }

    /// Gives all of it back, which may wait for the device: how many bytes. Of a piece that the native library refuses nobody is
    /// left to tell.
    pub fn free_all(&self) -> u64 {
        let parked = core::mem::take(&mut *self.parked.lock());
        parked.into_iter().filter_map(|Parked { bytes, free }| free().ok().map(|()| bytes as u64)).sum()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use ur_ffi::ur_result_t;

    use super::*;

    #[test]
    fn each_piece_of_memory_is_given_back_once_and_counts_if_that_worked() {
        let (parked, freed) = (ParkedMemory::default(), Arc::new(AtomicUsize::new(0)));
        for (piece, answer) in [(1, Ok(())), (10, Ok(())), (100, Err(ur_result_t::ERROR_UNKNOWN.into()))] {
            let freed = Arc::clone(&freed);
            parked.park(piece, move || {
                freed.fetch_add(piece, Ordering::Relaxed);
                answer
            });
        }
        assert!(!parked.is_empty());
        assert_eq!([parked.free_all(), parked.free_all()], [11, 0]);
        assert_eq!((freed.load(Ordering::Relaxed), parked.is_empty()), (111, true));
    }
}
