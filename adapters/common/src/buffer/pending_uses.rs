//! What is still in flight over a location's bytes: native events of commands that others may have to wait for.
//!
//! A few entries a stream, for each byte the newest; an entry goes once its work is known to have finished. Nothing here holds a
//! queue, so that a released queue goes although a buffer remembers its work.

use core::cell::Cell;
use core::ops::Range;
use std::sync::{Arc, Weak};

use smallvec::SmallVec;

use crate::context::DeviceState;
use crate::device::event_pool::PooledEvent;
use crate::driver::{Driver, NativeName};
use crate::object::Object;
use crate::object::error::Result;
use crate::queue::Queue;

/// The stream that a command goes to, with its device, and the queue that it belongs to unless it is a scratch stream.
pub struct CommandStream<'a, D: Driver> {
    /// The device.
    pub device: &'a Arc<DeviceState<D>>,
    /// The stream.
    pub stream: &'a D::Stream,
    /// The queue, whose life is the stream's.
    pub queue: Option<&'a Object<Queue<D>>>,
    /// The device's index in the context.
    pub location: usize,
    further_calls: Cell<usize>,
}

impl<'a, D: Driver> CommandStream<'a, D> {
    /// A stream of the device of that index, and the queue that the command belongs to.
    pub fn new(
        device: &'a Arc<DeviceState<D>>,
        stream: &'a D::Stream,
        queue: Option<&'a Object<Queue<D>>>,
        location: usize,
    ) -> Self {
        Self { device, stream, queue, location, further_calls: Cell::new(0) }
    }

    /// Counts native copies and fills that the command makes beside one.
    pub fn count_more(&self, calls: usize) {
        self.further_calls.set(self.further_calls.get() + calls);
    }

    /// How many native copies and fills the command has made beside one.
    pub fn further_calls(&self) -> usize {
        self.further_calls.get()
    }

    /// Makes the stream wait for events.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn wait(&self, events: &PendingEvents<D>) -> Result<()> {
        events.iter().try_for_each(|event| self.device.driver.stream_wait(self.stream, event.raw()))
    }

    /// A native event for everything on the stream so far. When none can be had the stream is waited for instead, so
    /// that what is on it harms nobody.
    ///
    /// # Errors
    /// What the native library answers to both.
    pub fn record_marker(&self) -> Result<Option<Arc<PooledEvent<D>>>> {
        match PooledEvent::record(self.device, self.stream, false) {
            Ok(marker) => Ok(Some(Arc::new(marker))),
            Err(error) => match self.device.driver.synchronize_stream(self.stream) {
                Ok(()) => Ok(None),
                Err(_) => Err(error),
            },
        }
    }
}

/// Events that a stream is about to wait for.
pub type PendingEvents<D> = SmallVec<[Arc<PooledEvent<D>>; 2]>;

/// Entries that a list holds before it looks for the first time which of them have finished.
const FEW: usize = 16;

/// Entries of one stream that are kept apart. One stands for all that there are beyond.
const MOST_OF_A_STREAM: usize = 4;

struct Use<D: Driver> {
    /// Weak, so that the address stays the queue's own though the queue may go.
    queue: Weak<Object<Queue<D>>>,
    /// Handle value of the stream, which the entry does not keep.
    stream: usize,
    range: Range<usize>,
    marker: Arc<PooledEvent<D>>,
    /// Whether all its bytes were written anew at the location since, by a command behind it: what it brought is nobody's any more.
    is_superseded: bool,
}

impl<D: Driver> Use<D> {
    fn is_of(&self, stream: &CommandStream<'_, D>) -> bool {
        self.stream == stream.stream.value()
            && stream.queue.is_some_and(|queue| core::ptr::eq(self.queue.as_ptr(), core::ptr::from_ref(queue)))
    }

    fn accesses(&self, range: &Range<usize>) -> bool {
        self.range.start < range.end && range.start < self.range.end
    }

    fn is_within(&self, range: &Range<usize>) -> bool {
        range.start <= self.range.start && self.range.end <= range.end
    }

    /// The same use of another part, if that has any bytes.
    fn with(&self, range: Range<usize>) -> Option<Self> {
        let Self { queue, stream, marker, is_superseded, .. } = self;
        let (queue, marker) = (Weak::clone(queue), Arc::clone(marker));
        (!range.is_empty()).then(|| Self { queue, stream: *stream, range, marker, is_superseded: *is_superseded })
    }
}

/// Uses of one kind at one location.
pub struct PendingUses<D: Driver> {
    list: SmallVec<[Use<D>; 2]>,
    /// So many there are before the next look: twice what was left at the last one, so that a command costs the same however many
    /// are in flight.
    look_at: usize,
}

impl<D: Driver> Default for PendingUses<D> {
    fn default() -> Self {
        Self { list: SmallVec::new(), look_at: FEW }
    }
}

impl<D: Driver> PendingUses<D> {
    /// Remembers that work on the stream uses a range until `marker` is reached; no marker means that it has finished.
    pub fn add(&mut self, stream: &CommandStream<'_, D>, range: &Range<usize>, marker: Option<&Arc<PooledEvent<D>>>) {
        let Some(marker) = marker.map(Arc::clone) else { return };
        let mut range = range.clone();
        let queue = self.make_way(stream, &mut range);
        if self.list.len() >= self.look_at {
            // Of many short-lived queues each leaves one. A lost device adds no more.
            self.list.retain(|known| {
                let driver = known.marker.native_context().driver;
                match driver.event_is_complete(known.marker.raw()) {
                    Ok(is_complete) => !is_complete,
                    Err(error) => !(error.is_lost_device() && known.is_superseded),
                }
            });
            self.look_at = FEW.max(2 * self.list.len());
        }
        let queue = queue.or_else(|| stream.queue.map(|queue| Arc::downgrade(&queue.to_arc()))).unwrap_or_default();
        self.list.push(Use { queue, stream: stream.stream.value(), range, marker, is_superseded: false });
    }

    /// Takes a range out of the stream's entries, of which a later marker stands for the older ones; where the stream has many, one
    /// for all of them. Gives the queue of one that went.
    fn make_way(&mut self, stream: &CommandStream<'_, D>, range: &mut Range<usize>) -> Option<Weak<Object<Queue<D>>>> {
        let are_many = self.list.iter().filter(|known| known.is_of(stream)).count() >= MOST_OF_A_STREAM;
        let mut queue = None;
        let mut index = 0;
        while let Some(known) = self.list.get_mut(index) {
            if !known.is_of(stream) || !(are_many || known.accesses(range)) {
                index += 1;
            } else if are_many || known.is_within(range) {
                let known = self.list.swap_remove(index);
                let driver = known.marker.native_context().driver;
                if !known.is_within(range) && !driver.event_is_complete(known.marker.raw()).unwrap_or(false) {
                    *range = known.range.start.min(range.start)..known.range.end.max(range.end);
                }
                queue = Some(known.queue);
            } else {
                let behind = range.end..known.range.end;
                if known.range.start < range.start {
                    known.range.end = range.start;
                    let rest = known.with(behind);
                    self.list.extend(rest);
                } else {
                    known.range = behind;
                }
                index += 1;
            }
        }
        queue
    }

    /// Adds what a stream has to wait for before it uses a range, and forgets uses that have finished. `needs` says of a part of
    /// the range whether the stream needs what a use has brought there.
    ///
    /// # Errors
    /// That a device is lost whose work brought what the stream needs; what else the native library answers.
    pub fn collect(
        &mut self,
        stream: &CommandStream<'_, D>,
        range: &Range<usize>,
        events: &mut PendingEvents<D>,
        needs: impl Fn(Range<usize>) -> bool,
    ) -> Result<()> {
        let driver = stream.device.driver;
        let mut index = 0;
        while let Some(known) = self.list.get(index) {
            if !known.accesses(range) || known.is_of(stream) {
                index += 1;
                continue;
            }
            match driver.event_is_complete(known.marker.raw()) {
                Ok(true) => drop(self.list.swap_remove(index)),
                Ok(false) => {
                    events.push(Arc::clone(&known.marker));
                    index += 1;
                }
                // A lost device runs nothing, so there is nothing to wait for.
                Err(error) if error.is_lost_device() && known.is_superseded => drop(self.list.swap_remove(index)),
                Err(error) => {
                    let shared = known.range.start.max(range.start)..known.range.end.min(range.end);
                    if !error.is_lost_device() || needs(shared) {
                        return Err(error);
                    }
                    index += 1;
                }
            }
        }
        Ok(())
    }

    /// Notes that a command which comes after all uses in the range writes it anew.
    pub fn supersede(&mut self, range: &Range<usize>) {
        for known in self.list.iter_mut().filter(|known| known.is_within(range)) {
            known.is_superseded = true;
        }
    }

    /// Whether something in a range is in flight on another stream.
    ///
    /// # Errors
    /// That a device is lost whose work brought what is there; what else the native library answers.
    pub fn are_pending(&self, stream: &CommandStream<'_, D>, range: &Range<usize>) -> Result<bool> {
        for known in self.list.iter().filter(|known| known.accesses(range) && !known.is_of(stream)) {
            match stream.device.driver.event_is_complete(known.marker.raw()) {
                Ok(false) => return Ok(true),
                Err(error) if !(error.is_lost_device() && known.is_superseded) => return Err(error),
                _ => {}
            }
        }
        Ok(false)
    }

    /// Whether nothing is in flight any more; nothing of a lost device's is. What that was doing stays in the list, for whoever has
    /// to know that it was never done.
    ///
    /// # Errors
    /// What else the native library answers.
    pub fn are_over(&mut self) -> Result<bool> {
        for index in (0..self.list.len()).rev() {
            let marker = &self.list[index].marker;
            match marker.native_context().driver.event_is_complete(marker.raw()) {
                Ok(true) => drop(self.list.swap_remove(index)),
                Ok(false) => return Ok(false),
                Err(error) if error.is_lost_device() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Whether all were reached, which what a lost device was doing never is.
    ///
    /// # Errors
    /// As [`PendingUses::are_over`].
    pub fn are_reached(&mut self) -> Result<bool> {
        Ok(self.are_over()? && self.list.is_empty())
    }

    /// The ranges of what a lost device was doing, as far as nobody has written them anew.
    pub fn lost(&self) -> impl Iterator<Item = Range<usize>> {
        let is_lost = |known: &&Use<D>| {
            let answer = known.marker.native_context().driver.event_is_complete(known.marker.raw());
            !known.is_superseded && answer.is_err_and(|error| error.is_lost_device())
        };
        self.list.iter().filter(is_lost).map(|known| known.range.clone())
    }

    /// Blocks until nothing is in flight any more. What cannot be waited for belongs to a lost device.
    pub fn finish(&mut self) {
        for known in self.list.drain(..) {
            let _ = known.marker.native_context().driver.synchronize_event(known.marker.raw());
        }
    }
}
