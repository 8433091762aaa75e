//! Word for the holder of a stream's lock, left by others who must not wait for it.
//!
//! The lock is held over native calls that can block, and what others need of the stream meanwhile must not wait for them.
//! They leave word here and go on; whoever has the lock follows it on the way out. Nothing left here may have an answer
//! that somebody waits for.

use core::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::driver::Driver;
use crate::memory_pool::backend::PoolBackend;
use crate::memory_pool::registry::Claimed;
use crate::stream::{Stream, StreamState};

/// Something to be done with a stream's lock.
pub enum Word<D: Driver> {
    /// To take a block back that nobody uses any more.
    GiveBack(Claimed<D>, usize),
    /// To empty a pool's free lists and keep nothing more of it.
    ClosePool(u64),
    /// To record the events that there are, since somebody else puts work on the stream from now on.
    RecordEvents,
}

impl<D: Driver> Word<D> {
    /// Does it; answers the backends that may have come to their end, to be asked without the lock.
    pub fn follow(self, stream: &Stream<D>, state: &mut StreamState<D>) -> Vec<Arc<PoolBackend<D>>> {
        match self {
            Self::GiveBack(claimed, pointer) => {
                let given =
                    state.cache.give_back_from(stream, &mut state.position, &claimed.backend, pointer, claimed.size);
                if given.is_err() {
                    // Whoever freed it was told that it is free; the application's next try finds it.
                    stream.registry().unclaim(pointer, &claimed);
                }
                vec![claimed.backend]
            }
            Self::ClosePool(pool) => state.cache.close(stream, &mut state.position, pool),
            Self::RecordEvents => {
                // If this fails, the events stay what others' are, and complete later than they could.
                let _ = state.record_all_pending_events();
                Vec::new()
            }
        }
    }
}

/// What was left.
pub struct Words<D: Driver> {
    any: AtomicBool,
    list: Mutex<Vec<Word<D>>>,
}

impl<D: Driver> Default for Words<D> {
    fn default() -> Self {
        Self { any: AtomicBool::new(false), list: Mutex::default() }
    }
}

impl<D: Driver> Words<D> {
    /// Whether nothing was left.
    pub fn is_empty(&self) -> bool {
        !self.any.load(Ordering::SeqCst)
    }

    /// Leaves one.
    pub fn push(&self, word: Word<D>) {
        let mut list = self.list.lock();
        list.push(word);
        self.any.store(true, Ordering::SeqCst);
    }

    /// Takes all.
    pub fn take(&self) -> Vec<Word<D>> {
        let mut list = self.list.lock();
        self.any.store(false, Ordering::SeqCst);
        mem::take(&mut list)
    }
}
