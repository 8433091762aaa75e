//! A pool's memory when the application gave it: blocks cut from one range.
//!
//! A freed block is reused at once by the stream that freed it, and by others when that stream is known to have got past
//! the free, or behind an event that was recorded after the free. The range's owner keeps it alive. [`ranges`] has the
//! addresses; here are the streams and events that it knows by number. Must never be called with another stream's lock held
//! than the one it is given, and holds its own lock over no native call.

pub(crate) mod index;
pub mod ranges;

use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::device::event_pool::PooledEvent;
use crate::driver::Driver;
use crate::memory_pool::stream::PoolStream;
use crate::object::error::Result;
use ranges::{Ranges, StreamKey, Taken};

/// Alignment of blocks, bytes, as native pools give it.
const ALIGNMENT: usize = 512;

/// Ranges with what stands for a stream and for an event.
type State<D> = Ranges<Weak<dyn PoolStream<D>>, Arc<PooledEvent<D>>>;

/// A range of memory and what of it is out.
pub struct Arena<D: Driver> {
    /// First byte.
    pub base: usize,
    /// Bytes.
    pub size: usize,
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

/// What a stream is known by: its address, which no other one has while somebody holds it, if only weakly.
fn key_of<D: Driver, S: PoolStream<D> + ?Sized>(stream: &S) -> StreamKey {
    core::ptr::from_ref(stream).cast::<()>().addr()
}

impl<D: Driver> Arena<D> {
    /// An arena over `size` bytes at `base`; both ends are moved inwards to the alignment.
    #[must_use]
    pub fn new(base: usize, size: usize) -> Self {
        let start = base.next_multiple_of(ALIGNMENT);
        let usable = (size.saturating_sub(start - base) / ALIGNMENT) * ALIGNMENT;
        Self { base, size, state: Mutex::new(Ranges::new(start, usable)) }
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
    /// gives it. `behind_events` allows one that comes with an event to wait for.
    pub fn cut(&self, stream: &(impl PoolStream<D> + ?Sized), size: usize, behind_events: bool) -> Option<Cut<D>> {
        let size = size.checked_next_multiple_of(ALIGNMENT)?;
        let known = |state: &mut State<D>| state.take_own(key_of(stream), size).or_else(|| state.take_free(size));
        let taken = self.with(known).or_else(|| {
            self.collect();
            self.with(|state| {
                state.take_free(size).or_else(|| behind_events.then(|| state.take_covered(size)).flatten())
            })
        });
        taken.map(|taken| Cut { taken })
    }

    /// Takes a block back that could not be made to wait for what it comes after: it keeps that order.
    pub fn put_back(&self, cut: Cut<D>) {
        self.with(|state| state.put_back(cut.taken));
    }

    /// Takes a block back that the stream's command `sequence` is the last to use.
    pub fn give_back(&self, pointer: usize, stream: &(impl PoolStream<D> + ?Sized), position: u64) {
        self.with(|state| state.give_back(pointer, key_of(stream), || stream.weak(), position));
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
            self.with(|state| state.finish_while(key_of(&*stream), |position| stream.is_completed(position)));
        }
    }

    /// Finds out what streams have got past, and records on the others what a reuse has to wait for: once a stream, and only
    /// where something was freed since the last time. Called without any stream's lock.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn ask_streams(&self) -> Result<()> {
        for stream in self.streams() {
            if self.with(|state| state.wants_mark(key_of(&*stream)))
                && !stream.is_idle()?
                && let Some((position, marker)) = stream.record_marker_unless_calling()?
            {
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
                && marker.native_context().driver.event_is_complete(marker.raw())?
            {
                self.with(|state| state.finish(key, position));
            }
        }
    }

    /// Says that an event covers what a stream freed up to its command `position`: it was recorded there, so what the stream
    /// freed later is not behind it.
    pub fn mark(&self, stream: &(impl PoolStream<D> + ?Sized), position: u64, marker: &Arc<PooledEvent<D>>) {
        self.with(|state| state.mark(key_of(stream), position, Arc::clone(marker)));
    }
}
