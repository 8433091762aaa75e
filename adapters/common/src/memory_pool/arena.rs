//! Blocks cut from memory that no native pool manages: a range that the application gave, or slabs of native memory.
//!
//! A freed block is reused at once by the stream that freed it, by a stream that waits for a command behind the free, and by
//! others when that stream is known to have got past the free, or behind an event that was recorded after the free. A range's
//! owner keeps it alive; slabs come and go by need ([`slabs`]). [`ranges`] has the addresses; here are the streams and events that
//! it knows by number. Must never be called with another stream's lock held than the one it is given, and holds its own lock
//! over no native call.

pub(crate) mod index;
pub mod ranges;
pub mod slabs;

use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::device::event_pool::PooledEvent;
use crate::driver::{Driver, PoolAttribute};
use crate::memory_pool::stream::PoolStream;
use crate::object::error::Result;
use crate::sync::mutation;
use ranges::{Ranges, Taken};
use slabs::{Growth, Slabs};

/// Alignment of blocks, bytes, as native pools give it.
pub(super) const ALIGNMENT: usize = 512;

/// Ranges with what stands for a stream and for an event.
type State<D> = Ranges<Weak<dyn PoolStream<D>>, Arc<PooledEvent<D>>>;

/// Ranges of memory and what of them is out.
pub struct Arena<D: Driver> {
    /// Bytes of the application's range; 0 for slabs.
    given: usize,
    slabs: Option<Slabs<D>>,
    state: Mutex<State<D>>,
}

/// A block, and the event that the stream must wait for before it uses it.
pub struct Cut<D: Driver> {
    taken: Taken<Weak<dyn PoolStream<D>>, Arc<PooledEvent<D>>>,
}

impl<D: Driver> Cut<D> {
    /// The block's address.
    pub fn pointer(&self) -> usize {
        self.taken.start
    }

    /// What it comes after.
    pub fn behind(&self) -> Option<&PooledEvent<D>> {
        self.taken.behind.as_ref().map(|behind| &*behind.mark)
    }
}

/// Which blocks that other streams freed may serve an allocation.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// Those whose stream is known to have got past the free.
    pub completed: bool,
    /// Those behind an event that the allocation can be made to wait for.
    pub behind_events: bool,
}

/// The part of a native allocation that blocks can be cut from: first byte and size.
fn usable(base: usize, size: usize) -> (usize, usize) {
    let start = base.next_multiple_of(ALIGNMENT);
    (start, (size.saturating_sub(start - base) / ALIGNMENT) * ALIGNMENT)
}

impl<D: Driver> Arena<D> {
    /// An arena over `size` bytes at `base`; both ends are moved inwards to the alignment.
    #[must_use]
    pub fn new(base: usize, size: usize) -> Self {
        let mut ranges = Ranges::new();
        let (start, bytes) = usable(base, size);
        ranges.add_region(start, bytes);
        Self { given: size, slabs: None, state: Mutex::new(ranges) }
    }

    /// An arena without memory, which grows by slabs.
    #[must_use]
    pub fn growing(slabs: Slabs<D>) -> Self {
        Self { given: 0, slabs: Some(slabs), state: Mutex::new(Ranges::new()) }
    }

    /// Where it gets more memory from, if it can.
    #[must_use]
    pub fn slabs(&self) -> Option<&Slabs<D>> {
        self.slabs.as_ref()
    }

    /// Bytes held now, or the most held since the mark was reset.
    #[must_use]
    pub fn reserved(&self, attribute: PoolAttribute) -> usize {
        self.slabs.as_ref().map_or(self.given, |slabs| slabs.reserved(attribute))
    }

    /// Works on the ranges. Events that are needed no more are dropped outside the lock: they go back to their device.
    fn with<R>(&self, work: impl FnOnce(&mut State<D>) -> R) -> R {
        let (result, gone) = {
            let mut state = self.state.lock();
            let result = work(&mut state);
            (result, state.take_gone())
        };
        drop(gone);
        result
    }

    /// Cuts a block of at least `size` bytes for a stream, or `None` when there is none that order or completion
    /// gives it.
    pub fn cut(&self, stream: &(impl PoolStream<D> + ?Sized), size: usize, reach: Reach) -> Option<Cut<D>> {
        let size = self.bytes_of_block(size)?;
        let known = |state: &mut State<D>| state.take_own(stream.key(), size).or_else(|| state.take_free(size));
        let taken = self.with(known).or_else(|| {
            if reach.completed {
                self.collect();
            }
            self.with(|state| {
                state.take_free(size).or_else(|| reach.behind_events.then(|| state.take_covered(size)).flatten())
            })
        });
        taken.map(|taken| Cut { taken })
    }

    /// Cuts a block of at least `size` bytes that a stream freed by its command `position` or an earlier one, for a stream that
    /// comes after that command.
    pub fn cut_freed_before(&self, key: u64, size: usize, position: u64) -> Option<usize> {
        let size = self.bytes_of_block(size)?;
        self.with(|state| state.take_freed_before(key, size, position)).map(|taken| taken.start)
    }

    fn bytes_of_block(&self, size: usize) -> Option<usize> {
        let bytes = size.checked_next_multiple_of(ALIGNMENT)?;
        let overlaps = mutation::is(mutation::Bug::SlabBlocksOverlap) && self.slabs.is_some() && bytes > ALIGNMENT;
        Some(if overlaps { bytes - ALIGNMENT } else { bytes })
    }

    /// Takes a block back that could not be made to wait for what it comes after: it keeps that order.
    pub fn put_back(&self, cut: Cut<D>) {
        self.with(|state| state.put_back(cut.taken));
    }

    /// Takes a block back that the stream's command `position` is the last to use.
    pub fn give_back(&self, pointer: usize, stream: &(impl PoolStream<D> + ?Sized), position: u64) {
        self.with(|state| {
            state.give_back(pointer, stream.key(), || stream.weak(), position);
            if mutation::is(mutation::Bug::SlabBlockTooEarly) && self.slabs.is_some() {
                state.finish(stream.key(), position);
            }
        });
    }

    /// Sees to it that a block of `size` bytes may be there for whoever asks again: by looking at what streams have got past, if
    /// `asks`, else by a new slab. `false` if it has no slabs or its maximum stands against it. Called without any stream's
    /// lock, since native calls are made that can wait.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn make_room(&self, size: usize, asks: bool) -> Result<bool> {
        let Some(slabs) = &self.slabs else { return Ok(false) };
        let Some(size) = size.checked_next_multiple_of(ALIGNMENT) else { return Ok(false) };
        if asks {
            self.ask_streams()?;
        }
        loop {
            // First of all, so that a change that ends meanwhile is not missed.
            let seen = slabs.changes();
            if self.with(|state| state.has_free(size)) {
                return Ok(true);
            }
            match slabs.grow(size, seen)? {
                Growth::Made(made) => {
                    let (start, bytes) = usable(made.base, made.bytes);
                    self.with(|state| state.add_region(start, bytes));
                    return Ok(true);
                }
                Growth::Changed => {}
                // The maximum may be full of what another thread is making or giving back, and nobody has yet.
                Growth::Full => {
                    if !slabs.wait_for_change(seen) {
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Gives slabs of which nothing is used back to the native library until no more than `keep` bytes are held; none while a
    /// queue has work, since a native free waits for that. Called without any stream's lock.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn trim(&self, keep: usize) -> Result<()> {
        let Some(slabs) = &self.slabs else { return Ok(()) };
        if slabs.reserved(PoolAttribute::ReservedCurrent) <= keep {
            return Ok(());
        }
        self.ask_streams()?;
        if !slabs.is_quiet() {
            return Ok(());
        }
        let _change = slabs.begin_change();
        // In one step: what another thread has taken to give back counts for nobody any more.
        let unused = self.with(|state| {
            let surplus = slabs.held().saturating_sub(keep);
            slabs.forget(state.take_free_regions(surplus))
        });
        slabs.free(unused)
    }

    /// Every stream that freed something that is not known to be free yet. Those that are gone have left an event behind.
    fn streams(&self) -> Vec<Arc<dyn PoolStream<D>>> {
        let state = self.state.lock();
        let mut streams = Vec::new();
        let mut last = None;
        while let Some((key, stream)) = state.stream_after(last) {
            streams.extend(stream.upgrade());
            last = Some(key);
        }
        streams
    }

    /// Makes free what streams are known to have got past, without asking the device. One look a stream.
    pub fn collect(&self) {
        for stream in self.streams() {
            self.with(|state| state.finish_while(stream.key(), |position| stream.is_completed(position)));
        }
    }

    /// Finds out what streams have got past, and records on the others what a reuse has to wait for: once a stream, and only
    /// where something was freed since the last time. Called without any stream's lock.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn ask_streams(&self) -> Result<()> {
        for stream in self.streams() {
            if !self.with(|state| state.wants_mark(stream.key())) {
                continue;
            }
            let position = stream.published_position();
            if stream.runs_nothing()? {
                // A lost device's stream never gets past a command, so it is not enough to collect.
                self.finish(&*stream, position);
            } else if let Some((position, marker)) = stream.record_marker_unless_calling()? {
                self.mark(&*stream, position, &Arc::new(marker));
            }
        }
        self.collect();
        self.ask_events()
    }

    /// Makes free what the recorded events say has been reached.
    fn ask_events(&self) -> Result<()> {
        let mut last = None;
        loop {
            let next = self.with(|state| state.stream_after(last).map(|(key, _)| key));
            let Some(key) = next else { return Ok(()) };
            last = next;
            while let Some((position, marker)) = self.with(|state| state.first_mark(key))
                && marker.is_over()?
            {
                self.with(|state| state.finish(key, position));
            }
        }
    }

    /// Makes free what a stream freed up to its command `position`, which has finished.
    pub fn finish(&self, stream: &(impl PoolStream<D> + ?Sized), position: u64) {
        self.with(|state| state.finish(stream.key(), position));
    }

    /// Says that an event covers what a stream freed up to its command `position`: it was recorded there, so what the stream
    /// freed later is not behind it.
    pub fn mark(&self, stream: &(impl PoolStream<D> + ?Sized), position: u64, marker: &Arc<PooledEvent<D>>) {
        self.with(|state| state.mark(stream.key(), position, Arc::clone(marker)));
    }
}

impl<D: Driver> Drop for Arena<D> {
    fn drop(&mut self) {
        if self.slabs.is_none() {
            return;
        }
        self.collect();
        let state = self.state.get_mut();
        let free = state.take_free_regions(usize::MAX);
        let rest = state.take_all_regions();
        if let Some(slabs) = &self.slabs {
            slabs.end(free, rest);
        }
    }
}
