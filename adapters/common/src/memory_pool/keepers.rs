//! A few streams that may keep blocks of a backend: those that first dealt with it last, and those that finished last.
//!
//! Whoever may use blocks of queues that have got past them looks here, and so at a bounded number of streams, whatever queues
//! there are. It is a hint: a stream that is not named keeps its blocks to itself until the pool is full. It must not be written
//! to by every free, since queues of several threads share it.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Streams that are remembered.
const MOST: usize = 4;

/// Keys of streams; 0 is none.
#[derive(Debug, Default)]
pub struct Keepers {
    keys: [AtomicU64; MOST],
    next: AtomicUsize,
}

impl Keepers {
    /// Remembers a stream in the place of the one that was remembered first.
    pub fn note(&self, key: u64) {
        if self.keys().any(|known| known == key) {
            return;
        }
        let at = self.next.fetch_add(1, Ordering::Relaxed) % MOST;
        self.keys[at].store(key, Ordering::Relaxed);
    }

    /// Whether a stream is remembered that is not this one.
    pub fn has_other(&self, key: u64) -> bool {
        self.keys().any(|known| known != key)
    }

    /// The streams that are remembered.
    pub fn keys(&self) -> impl Iterator<Item = u64> {
        self.keys.iter().map(|key| key.load(Ordering::Relaxed)).filter(|key| *key != 0)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use core::mem::offset_of;

    use super::*;
    use crate::api::noop::Noop;
    use crate::memory_pool::backend::PoolBackend;
    use crate::sync::cache_padded::are_apart;

    #[test]
    fn a_queue_that_finishes_writes_no_line_that_allocations_of_others_read() {
        type Backend = PoolBackend<Noop>;
        let read = [offset_of!(Backend, pool), offset_of!(Backend, keeps), offset_of!(Backend, kind)];
        assert!(are_apart(&read, &[offset_of!(Backend, keepers)]));
    }

    #[test]
    fn the_last_streams_are_remembered_each_once() {
        let keepers = Keepers::default();
        assert!(!keepers.has_other(1));
        keepers.note(1);
        assert!(!keepers.has_other(1) && keepers.has_other(2));
        [1, 2, 1, 3, 4, 2].into_iter().for_each(|key| keepers.note(key));
        assert_eq!(keepers.keys().collect::<Vec<_>>(), [1, 2, 3, 4]);
        keepers.note(5);
        assert_eq!(keepers.keys().collect::<Vec<_>>(), [5, 2, 3, 4]);
    }
}
