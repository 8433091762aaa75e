//! Native memory that nobody has any more and that work of the device may still use.
//!
//! A native free waits for that work, and so do launches of other threads meanwhile, so whoever ends a pool must not make it. The
//! memory goes back when the device is full, or with the native context: both may wait. A native free waits for its own device
//! alone, so what peers reach is freed behind a wait for them. What nobody else reaches serves later pools, once the work is over
//! that its context's streams had when it was parked. The lock is a leaf.

use std::any::Any;
use std::sync::Weak;

use parking_lot::Mutex;

use crate::driver::MemoryKind;
use crate::object::error::Result;

/// What came of an attempt to give a piece back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is the native library's again.
    Freed,
    /// It cannot be waited for now; nothing was done.
    Stays,
}

/// A native allocation that may serve again.
pub struct Spare {
    /// Where it starts.
    pub base: usize,
    /// What memory it is.
    pub kind: MemoryKind,
    /// The context whose streams used it, which knows the moment.
    pub registry: Weak<dyn Any + Send + Sync>,
    /// When nobody had it any more, as that context counts.
    pub stamp: u64,
}

/// A piece of memory with what gives it back.
struct Parked {
    bytes: usize,
    spare: Option<Spare>,
    free: Box<dyn FnMut() -> Result<Outcome> + Send>,
}

/// Memory that waits for the device.
#[derive(Default)]
pub struct ParkedMemory {
    parked: Mutex<Vec<Parked>>,
}

impl ParkedMemory {
    /// Keeps a piece of memory; `free` gives it back, and is dropped behind that. It must not hold the native context. `spare` says
    /// what it serves meanwhile, if it does.
    pub fn park(&self, bytes: usize, spare: Option<Spare>, free: impl FnMut() -> Result<Outcome> + Send + 'static) {
        self.parked.lock().push(Parked { bytes, spare, free: Box::new(free) });
    }

    /// Takes a piece of `least` to `most` bytes that serves again, the smallest of those that `serves` has nothing against: its base and
    /// bytes. It is the caller's from now on.
    pub fn take(&self, least: usize, most: usize, serves: impl Fn(&Spare) -> bool) -> Option<(usize, usize)> {
        let (taken, base) = {
            let mut parked = self.parked.lock();
            let fits =
                |piece: &Parked| (least..=most).contains(&piece.bytes) && piece.spare.as_ref().is_some_and(&serves);
            let all = parked.iter().enumerate().filter(|(_, piece)| fits(piece));
            let at = all.min_by_key(|(_, piece)| piece.bytes).map(|(at, _)| at)?;
            let base = parked[at].spare.as_ref()?.base;
            (parked.swap_remove(at), base)
        };
        Some((base, taken.bytes))
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
            parked.park(piece, None, move || {
                freed.fetch_add(piece, Ordering::Relaxed);
                answer.map_err(Into::into)
            });
        }
        assert!(!parked.is_empty());
        assert_eq!([parked.free_all(), parked.free_all()], [11, 0]);
        assert_eq!((freed.load(Ordering::Relaxed), parked.is_empty()), (111, true));
    }

    #[test]
    fn the_smallest_piece_that_serves_is_taken_once_and_freed_no_more() {
        let parked = ParkedMemory::default();
        let registry: Weak<dyn Any + Send + Sync> = Weak::<()>::new();
        let park = |bytes: usize, stamp: Option<u64>| {
            let of_kind =
                |stamp| Spare { base: bytes << 8, kind: MemoryKind::Host, registry: Weak::clone(&registry), stamp };
            parked.park(bytes, stamp.map(of_kind), || Ok(Outcome::Freed));
        };
        [(4, None), (8, Some(9)), (16, Some(1)), (32, Some(1)), (12, Some(1))]
            .into_iter()
            .for_each(|(bytes, stamp)| park(bytes, stamp));
        let take = |least, most| parked.take(least, most, |spare| spare.stamp < 5);
        assert_eq!((take(2, 11), take(33, 64)), (None, None));
        assert_eq!((take(10, 20), take(10, 20), take(10, 20)), (Some((12 << 8, 12)), Some((16 << 8, 16)), None));
        assert_eq!((parked.free_all(), parked.is_empty()), (44, true));
    }

    #[test]
    fn a_piece_that_cannot_be_waited_for_stays_for_the_next_time() {
        let (parked, attempts) = (ParkedMemory::default(), Arc::new(AtomicUsize::new(0)));
        let made = Arc::clone(&attempts);
        parked.park(1, None, move || {
            Ok(if made.fetch_add(1, Ordering::Relaxed) == 0 { Outcome::Stays } else { Outcome::Freed })
        });
        assert_eq!((parked.free_all(), parked.is_empty()), (0, false));
        assert_eq!((parked.free_all(), parked.is_empty(), attempts.load(Ordering::Relaxed)), (1, true, 2));
    }
}
