//! Native events, kept for the next use: making one costs as much as recording it.
//!
//! One pool a native context. It keeps at least [`KEPT`] free events once made, and no more free ones
//! than are in use beyond that, so a burst does not stay. If it then has to make again what it has destroyed, the burst was a
//! habit: from then on it keeps as many as were in use at once of late, so that the steady state makes none. "Of late" are the
//! last two *spans*, each several times as many returns as there were events in use. A [`PooledEvent`] gives its event back
//! when it dies; it keeps the native context alive, so a pool outlives its users.
//!
//! Events are made many at a time: while one thread is inside a copy that blocks, CUDA lets no other thread make an event,
//! though it may record one (`docs/probes/blocking.c`), and what that copy waits for may be what the other thread does.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::device::native_context::{NativeContext, Parts};
use crate::driver::{Driver, EventPurpose};
use crate::object::error::Result;

/// Free events a pool always keeps.
const KEPT: usize = 32;
/// Free events a pool keeps at most beyond those that are in use, whatever its users' habit is.
const MOST_KEPT: usize = 8192;
/// A span's returns for each event that was in use at once.
const SPAN: usize = 8;

/// Free native events of one kind.
pub struct EventPool<D: Driver> {
    purpose: EventPurpose,
    list: Mutex<List<D>>,
}

struct List<D: Driver> {
    free: Vec<D::Event>,
    in_use: usize,
    habit: Habit,
}

/// How many events a pool's users have in use at once, again and again.
#[derive(Default)]
struct Habit {
    /// Whether events were destroyed in this span or the one before.
    has_destroyed: [bool; 2],
    /// Whether events that were destroyed had to be made again.
    is_one: bool,
    /// The most in use at once in this span, and in the one before.
    most: [usize; 2],
    /// Returns in this span.
    returns: usize,
}

impl Habit {
    /// Notes that an event comes back of so many that are in use; answers how many free ones are worth keeping.
    fn note_return(&mut self, in_use: usize) -> usize {
        self.most[0] = self.most[0].max(in_use);
        self.returns += 1;
        if self.returns > SPAN * KEPT.max(self.most[0]) {
            self.begin_span();
        }
        let wanted = if self.is_one { self.most[0].max(self.most[1]) } else { 0 };
        wanted.clamp(KEPT, MOST_KEPT)
    }

    fn begin_span(&mut self) {
        self.is_one &= self.most[0].max(self.most[1]) > KEPT;
        self.most = [0, self.most[0]];
        self.has_destroyed = [false, self.has_destroyed[0]];
        self.returns = 0;
    }

    /// Notes that an event had to be made.
    fn note_made(&mut self) {
        self.is_one |= self.has_destroyed != [false; 2];
    }
}

impl<D: Driver> EventPool<D> {
    /// An empty pool; `timing` events can be compared for elapsed time.
    #[must_use]
    pub fn new(timing: bool) -> Self {
        let purpose = if timing { EventPurpose::Times } else { EventPurpose::Order };
        Self { purpose, list: Mutex::new(List { free: Vec::new(), in_use: 0, habit: Habit::default() }) }
    }

    fn take(&self, native: &Parts<D>) -> Result<D::Event> {
        let kept = {
            let mut list = self.list.lock();
            list.in_use += 1;
            list.free.pop()
        };
        if let Some(event) = kept {
            return Ok(event);
        }
        let made = self.make(native);
        if made.is_err() {
            self.list.lock().in_use -= 1;
        }
        made
    }

    /// An event that does not come back, for whoever must not wait as making one can.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn take_out(&self, native: &Parts<D>) -> Result<D::Event> {
        let event = self.take(native)?;
        self.list.lock().in_use -= 1;
        Ok(event)
    }

    /// Has events made ahead if none ever were, by a thread that makes a stream and so may wait as making an event can.
    pub fn make_ahead(&self, native: &Parts<D>) {
        let has_none = {
            let list = self.list.lock();
            list.in_use == 0 && list.free.is_empty()
        };
        // Nobody needs one yet, so a failure is told to who does.
        if has_none && let Ok(first) = self.make(native) {
            self.list.lock().free.push(first);
        }
    }

    /// A new event, and more of them for the next to come.
    #[cold]
    fn make(&self, native: &Parts<D>) -> Result<D::Event> {
        self.list.lock().habit.note_made();
        let _scope = native.enter()?;
        let first = native.driver.create_event(self.purpose)?;
        // Only the first is wanted now.
        let more = (1..KEPT).map_while(|_| native.driver.create_event(self.purpose).ok());
        let more: Vec<_> = more.collect();
        self.list.lock().free.extend(more);
        Ok(first)
    }

    fn give(&self, driver: &D, event: D::Event) {
        // While a burst comes back the number in use falls by one a call and the free ones grow by one, so two
        // have to go for the pool to shrink with it.
        let mut surplus: [Option<D::Event>; 2] = [None, None];
        {
            let mut list = self.list.lock();
            let wanted = {
                let in_use = list.in_use;
                list.habit.note_return(in_use)
            };
            list.in_use -= 1;
            if list.free.capacity() == 0 {
                list.free.reserve(KEPT);
            }
            list.free.push(event);
            for slot in &mut surplus {
                if list.free.len() > wanted.max(list.in_use) {
                    *slot = list.free.pop();
                    list.habit.has_destroyed[0] = true;
                }
            }
        }
        for event in surplus.into_iter().flatten() {
            // Nobody is left to tell; an event that cannot be destroyed belongs to a lost device.
            let _ = driver.destroy_event(event);
        }
    }

    /// Destroys every free event.
    pub fn clear(&self, driver: &D) {
        let free = core::mem::take(&mut self.list.lock().free);
        for event in free {
            let _ = driver.destroy_event(event);
        }
    }
}

/// A native event on loan from its pool.
pub struct PooledEvent<D: Driver> {
    raw: D::Event,
    timing: bool,
    /// For an event that is not the pool's: whether it is destroyed with this.
    adopted: Option<bool>,
    native: Arc<NativeContext<D>>,
}

impl<D: Driver> PooledEvent<D> {
    /// Records a fresh event on a stream.
    ///
    /// # Errors
    /// What the native library answers; no event is lost then.
    pub fn record(native: &Arc<NativeContext<D>>, stream: &D::Stream, timing: bool) -> Result<Self> {
        let raw = native.events(timing).take(native)?;
        let marker = Self { raw, timing, adopted: None, native: Arc::clone(native) };
        native.driver.record_event(&marker.raw, stream)?;
        Ok(marker)
    }

    /// An event that is complete, for a command that is. Nothing is recorded where the pool's event has ended.
    ///
    /// # Errors
    /// What the native library answers; no event is lost then.
    pub fn of_the_past(native: &Arc<NativeContext<D>>) -> Result<Self> {
        let raw = native.events(false).take(native)?;
        let marker = Self { raw, timing: false, adopted: None, native: Arc::clone(native) };
        marker.complete()?;
        Ok(marker)
    }

    /// As [`PooledEvent::of_the_past`], an event that does not go back: what records it from now on is not known here.
    ///
    /// # Errors
    /// What the native library answers; no event is lost then.
    pub fn of_its_own(native: &Arc<NativeContext<D>>) -> Result<Self> {
        let marker = Self::adopt(native.events(false).take_out(native)?, native, true);
        marker.complete()?;
        Ok(marker)
    }

    fn complete(&self) -> Result<()> {
        let native = &self.native;
        if native.driver.event_is_complete(&self.raw)? {
            return Ok(());
        }
        // Whoever had it last has let go of it before its time.
        native.on_scratch_stream(|stream| native.driver.record_event(&self.raw, stream))
    }

    /// Records the same event once more, for another place on a stream; nobody may be waiting for the old one.
    ///
    /// # Errors
    /// What the native library answers; the event goes back to its pool then.
    pub fn record_again(self, stream: &D::Stream) -> Result<Self> {
        self.record_in_place(stream)?;
        Ok(self)
    }

    /// As [`PooledEvent::record_again`], for whoever keeps it where it is.
    ///
    /// # Errors
    /// What the native library answers.
    #[inline]
    pub fn record_in_place(&self, stream: &D::Stream) -> Result<()> {
        self.native.driver.record_event(&self.raw, stream)
    }

    /// An event of somebody else's, destroyed with the marker if `owned`.
    pub fn adopt(raw: D::Event, native: &Arc<NativeContext<D>>, owned: bool) -> Self {
        Self { raw, timing: false, adopted: Some(owned), native: Arc::clone(native) }
    }

    /// Another event for what this one stands for now, which may be recorded anew or destroyed then.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn snapshot(&self) -> Result<Self> {
        let native = &self.native;
        native.on_scratch_stream(|scratch| {
            native.driver.stream_wait(scratch, &self.raw)?;
            Self::record(native, scratch, false)
        })
    }

    /// Whether it is somebody else's event, who may destroy it when the UR event over it was released.
    pub fn is_lent(&self) -> bool {
        self.adopted == Some(false)
    }

    /// Whether it is somebody else's event.
    pub fn is_adopted(&self) -> bool {
        self.adopted.is_some()
    }

    /// Whether the native library tells times of it.
    pub fn has_times(&self) -> bool {
        self.timing
    }

    /// The native event.
    pub fn raw(&self) -> &D::Event {
        &self.raw
    }

    /// Whether nothing that it was recorded behind runs any more: it was reached, or its device is lost.
    ///
    /// # Errors
    /// What else the native library answers.
    pub fn is_over(&self) -> Result<bool> {
        match self.native.driver.event_is_complete(&self.raw) {
            Err(error) if error.is_lost_device() => Ok(true),
            answer => answer,
        }
    }

    /// The native context that it lives in.
    pub fn native_context(&self) -> &Arc<NativeContext<D>> {
        &self.native
    }
}

impl<D: Driver> Drop for PooledEvent<D> {
    fn drop(&mut self) {
        let event = core::mem::take(&mut self.raw);
        match self.adopted {
            None => self.native.events(self.timing).give(self.native.driver, event),
            // Nobody is left to tell.
            Some(true) => drop(self.native.driver.destroy_event(event)),
            Some(false) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Free events of a pool whose users have so many in use at once, in turns, and how many were made and destroyed.
    #[derive(Default)]
    struct Count {
        free: usize,
        in_use: usize,
        made: usize,
        destroyed: usize,
        habit: Habit,
    }

    impl Count {
        fn burst(&mut self, size: usize) {
            for _ in 0..size {
                self.in_use += 1;
                match self.free.checked_sub(1) {
                    Some(left) => self.free = left,
                    None => {
                        self.habit.note_made();
                        self.made += KEPT;
                        self.free = KEPT - 1;
                    }
                }
            }
            for _ in 0..size {
                let wanted = self.habit.note_return(self.in_use);
                self.in_use -= 1;
                self.free += 1;
                for _ in 0..2 {
                    if self.free > wanted.max(self.in_use) {
                        self.free -= 1;
                        self.destroyed += 1;
                        self.habit.has_destroyed[0] = true;
                    }
                }
            }
        }
    }

    #[test]
    fn a_habit_makes_no_events_and_ends_with_them() {
        for size in [8, 33, 64, 100, 1000] {
            let mut count = Count::default();
            count.burst(size);
            assert!(count.free <= KEPT.max(2), "one burst of {size} leaves {}", count.free);
            for _ in 0..3 {
                count.burst(size);
            }
            let before = (count.made, count.destroyed);
            for _ in 0..200 {
                count.burst(size);
            }
            assert_eq!((count.made, count.destroyed), before, "bursts of {size}");
            assert!(count.free <= size.max(KEPT) + KEPT, "bursts of {size} leave {}", count.free);
            // Two spans of the largest burst later nothing is left of it.
            for _ in 0..3 * SPAN * size {
                count.burst(4);
            }
            assert!(count.free <= KEPT, "{} are kept after bursts of {size}", count.free);
        }
    }

    #[test]
    fn a_habit_beyond_all_bounds_keeps_no_more_than_the_bound() {
        let mut count = Count::default();
        for _ in 0..4 {
            count.burst(3 * MOST_KEPT);
        }
        assert!(count.free <= MOST_KEPT);
    }
}
