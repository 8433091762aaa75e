//! Native memory that nobody has any more and that work of the device may still use.
//!
//! A native free waits for that work, and so do launches of other threads meanwhile, so whoever ends a pool must not make it. The
//! memory goes back when the device is full, or with the native context: both may wait. A native free waits for its own device
//! alone, so what peers reach is freed behind a wait for them. The lock is a leaf.

use parking_lot::Mutex;

use crate::object::error::Result;

/// What came of an attempt to give a piece back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is the native library's again.
    Freed,
    /// It cannot be waited for now; nothing was done.
    Stays,
}

/// A piece of memory with what gives it back.
struct Parked {
    bytes: usize,
    free: Box<dyn FnMut() -> Result<Outcome> + Send>,
}

/// Memory that waits for the device.
#[derive(Default)]
pub struct ParkedMemory {
    parked: Mutex<Vec<Parked>>,
}

impl ParkedMemory {
    /// Keeps a piece of memory; `free` gives it back, and is dropped behind that. It must not hold the native context.
    pub fn park(&self, bytes: usize, free: impl FnMut() -> Result<Outcome> + Send + 'static) {
        self.parked.lock().push(Parked { bytes, free: Box::new(free) });
    }

    /// Whether there is any.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parked.lock().is_empty()
    }

    /// Gives back what it can, which may wait for the device and its peers: how many bytes. Of a piece that the native library
    /// refuses nobody is left to tell.
    pub fn free_all(&self) -> u64 {
        let parked = core::mem::take(&mut *self.parked.lock());
        let (mut freed, mut left) = (0, Vec::new());
        for mut piece in parked {
            match (piece.free)() {
                Ok(Outcome::Freed) => freed += piece.bytes as u64,
                Ok(Outcome::Stays) => left.push(piece),
                Err(_) => {}
            }
        }
        if !left.is_empty() {
            self.parked.lock().append(&mut left);
        }
        freed
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
        let answers = [(1, Ok(Outcome::Freed)), (10, Ok(Outcome::Freed)), (100, Err(ur_result_t::ERROR_UNKNOWN))];
        for (piece, answer) in answers {
            let freed = Arc::clone(&freed);
            parked.park(piece, move || {
                freed.fetch_add(piece, Ordering::Relaxed);
                answer.map_err(Into::into)
            });
        }
        assert!(!parked.is_empty());
        assert_eq!([parked.free_all(), parked.free_all()], [11, 0]);
        assert_eq!((freed.load(Ordering::Relaxed), parked.is_empty()), (111, true));
    }

    #[test]
    fn a_piece_that_cannot_be_waited_for_stays_for_the_next_time() {
        let (parked, attempts) = (ParkedMemory::default(), Arc::new(AtomicUsize::new(0)));
        let made = Arc::clone(&attempts);
        parked.park(1, move || {
            Ok(if made.fetch_add(1, Ordering::Relaxed) == 0 { Outcome::Stays } else { Outcome::Freed })
        });
        assert_eq!((parked.free_all(), parked.is_empty()), (0, false));
        assert_eq!((parked.free_all(), parked.is_empty(), attempts.load(Ordering::Relaxed)), (1, true, 2));
    }
}
