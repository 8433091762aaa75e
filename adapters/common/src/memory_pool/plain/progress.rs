//! Whether all work that a context's queues were given before a moment has finished.
//!
//! Native frees of plain memory wait for the device, so a program that frees what a kernel still uses does no harm. Blocks that
//! are kept have the same promise from here: a bundle of freed blocks is *sealed* with a number, and is used again only when
//! every command that was enqueued before has finished. Commands pay nothing for it: positions of streams are looked at once
//! a bundle. What is not known to have finished is asked for once in each look and never waited for. What a lost device was given
//! runs no more, so it counts as finished.
//!
//! Sealing and looking are exchanges on one counter, so a look that comes after a seal sees the positions that the sealing
//! thread saw.

use std::collections::VecDeque;

use parking_lot::Mutex;

use crate::device::event_pool::PooledEvent;
use crate::driver::Driver;
use crate::memory_pool::registry::Registry;
use crate::memory_pool::stream::PoolStream;
use crate::sync::mutation;
use crate::sync::{AtomicBool, AtomicU64, Ordering, fence};

/// So many events that streams have left behind are looked at when another one comes: more than one, so that they become fewer.
const LOOKED_AT: usize = 2;

/// The moment of a seal.
pub type Stamp = u64;

/// What has to be reached before everything sealed before a look is past.
enum Pending<D: Driver> {
    /// A stream's command.
    Command(std::sync::Weak<dyn PoolStream<D>>, u64),
    /// An event that a stream left behind when it ended.
    Event(PooledEvent<D>),
}

impl<D: Driver> Pending<D> {
    fn is_over(&self) -> bool {
        match self {
            // A stream that has ended since left an event. What somebody else put on one has no position.
            Self::Command(stream, position) => stream.upgrade().is_none_or(|stream| {
                let is_known = !stream.has_foreign_work() && stream.is_completed(*position);
                is_known || stream.runs_nothing().unwrap_or(false)
            }),
            Self::Event(event) => event.is_over().unwrap_or(false),
        }
    }
}

/// A look at all streams that is not over yet.
struct Look<D: Driver> {
    /// What was sealed before this is past when nothing is pending.
    before: Stamp,
    pending: Vec<Pending<D>>,
}

/// How far the queues of a context are.
pub struct Progress<D: Driver> {
    /// Counts seals and looks.
    now: AtomicU64,
    /// What was sealed before this is past.
    past: AtomicU64,
    look: Mutex<Option<Look<D>>>,
    /// Whether anybody seals, so that streams leave events behind.
    is_used: AtomicBool,
    departed: Mutex<VecDeque<PooledEvent<D>>>,
    /// Whether there may be any, so that a look at none takes no lock.
    has_departed: AtomicBool,
}

impl<D: Driver> Default for Progress<D> {
    fn default() -> Self {
        Self {
            // What was never used by anybody has the stamp 0.
            now: AtomicU64::new(1),
            past: AtomicU64::new(1),
            look: Mutex::new(None),
            is_used: AtomicBool::new(false),
            departed: Mutex::new(VecDeque::new()),
            has_departed: AtomicBool::new(false),
        }
    }
}

impl<D: Driver> Progress<D> {
    /// Says that blocks will be sealed: from now on streams that end with work leave an event behind.
    pub fn begin(&self) {
        self.is_used.store(true, Ordering::SeqCst);
    }

    /// Whether a stream that ends with work must leave an event behind.
    pub fn is_used(&self) -> bool {
        self.is_used.load(Ordering::SeqCst)
    }

    /// Takes the event that a stream with work leaves behind. Of those that others have left the oldest are looked at, since
    /// nobody else may ever look. The caller may hold its own stream's lock: the question to the native library waits for nothing.
    pub fn depart(&self, last: PooledEvent<D>) {
        let mut over: [Option<PooledEvent<D>>; LOOKED_AT] = [const { None }; LOOKED_AT];
        let mut departed = self.departed.lock();
        for place in over.iter_mut().take(departed.len()) {
            let Some(oldest) = departed.pop_front() else { break };
            // Behind the lock all the time, so that a look at the streams misses none that is not over.
            if oldest.is_over().unwrap_or(false) { *place = Some(oldest) } else { departed.push_back(oldest) }
        }
        departed.push_back(last);
        self.has_departed.store(true, Ordering::Release);
        drop(departed);
        // Outside the lock: the events go back to their device.
        drop(over);
    }

    /// The moment behind everything that the calling thread knows to be enqueued.
    pub fn seal(&self) -> Stamp {
        self.now.fetch_add(1, Ordering::AcqRel)
    }

    /// Whether all work enqueued before the seal is known to have finished.
    pub fn is_past(&self, stamp: Stamp) -> bool {
        stamp < self.past.load(Ordering::Acquire) || mutation::is(mutation::Bug::PlainBlockTooEarly)
    }

    /// Looks at the streams, unless another thread does. Called without any stream's lock.
    pub fn look(&self, registry: &Registry<D>) {
        let Some(mut current) = self.look.try_lock() else { return };
        if let Some(look) = &mut *current {
            look.pending.retain(|pending| !pending.is_over());
            // After the streams: one that was found to have ended has left its event before.
            look.pending.extend(self.take_departed());
            if !look.pending.is_empty() {
                return;
            }
            self.past.fetch_max(look.before, Ordering::AcqRel);
        }
        let before = self.now.fetch_add(1, Ordering::AcqRel);
        let mut pending = Vec::new();
        // Behind the registry's lock: the last reference to a stream may go with these.
        let streams = registry.living_streams();
        for stream in &streams {
            let position = stream.published_position();
            if !stream.runs_nothing().unwrap_or(false) {
                pending.push(Pending::Command(stream.weak(), position));
            }
        }
        // After the streams: one that has ended in between is found in one of the two places.
        pending.extend(self.take_departed());
        if pending.is_empty() {
            self.past.fetch_max(before, Ordering::AcqRel);
            *current = None;
        } else {
            *current = Some(Look { before, pending });
        }
    }

    /// The events of ended streams that are not known to be over.
    fn take_departed(&self) -> Vec<Pending<D>> {
        // A stream that could not be upgraded has ended, and with that comes what it left: a failed upgrade is a relaxed load.
        fence(Ordering::Acquire);
        if !self.has_departed.load(Ordering::Acquire) {
            return Vec::new();
        }
        let departed = {
            let mut departed = self.departed.lock();
            self.has_departed.store(false, Ordering::Release);
            core::mem::take(&mut *departed)
        };
        departed.into_iter().map(Pending::Event).filter(|event| !event.is_over()).collect()
    }
}
