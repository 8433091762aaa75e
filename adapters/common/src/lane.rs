//! A lane: one native stream with the count of commands it was given.
//!
//! An in-order queue is one lane; an out-of-order queue has several. The lane knows which command is its last
//! (the *tail*), which are known to have finished, and what other lanes it already waits for; from that it
//! leaves out native events and waits that would tell nobody anything.
//!
//! **Tail events.** An event of the last command needs no native event: "everything on this stream so far" says
//! the same. [`LaneState::settle`] records one at the last moment that is exact: before the next command, and
//! only if somebody still holds the event. Whoever adds work to the stream must settle first, before anything
//! else goes on the stream, waits included.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;

use crate::context::DeviceState;
use crate::driver::Driver;
use crate::error::Result;
use crate::event::Event;
use crate::event_pool::Marker;
use crate::object::Object;

/// A native stream and what is known of it.
pub struct Lane<D: Driver> {
    /// The stream.
    pub stream: D::Stream,
    /// The device state it belongs to.
    pub device: Arc<DeviceState<D>>,
    key: u64,
    finished: AtomicU64,
    /// Whether the stream is this lane's to destroy.
    owned: bool,
    /// Whether somebody else may put work on the stream.
    shared: AtomicBool,
    state: Mutex<LaneState<D>>,
}

/// What changes with every command; behind the lane's lock.
pub struct LaneState<D: Driver> {
    /// Number of the last command; 0 before the first.
    pub sequence: u64,
    /// Generation of the queue's last barrier that this lane waits for.
    pub barrier: u64,
    tails: SmallVec<[Arc<Object<Event<D>>>; 2]>,
    spare: Option<Arc<Object<Event<D>>>>,
    waited: SmallVec<[(u64, u64); 4]>,
}

/// Other lanes whose progress a lane remembers to have waited for.
const REMEMBERED_WAITS: usize = 16;

impl<D: Driver> Lane<D> {
    /// A lane with a stream of its own.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn new(device: Arc<DeviceState<D>>, priority: i32) -> Result<Arc<Self>> {
        let stream = {
            let _scope = device.enter()?;
            device.driver.create_stream(priority)?
        };
        Ok(Self::over(device, stream, true, false))
    }

    /// A lane over a stream of somebody else's, who may put work on it too; destroyed with the lane if `owned`.
    pub fn adopt(device: Arc<DeviceState<D>>, stream: D::Stream, owned: bool) -> Arc<Self> {
        Self::over(device, stream, owned, true)
    }

    fn over(device: Arc<DeviceState<D>>, stream: D::Stream, owned: bool, shared: bool) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arc::new(Self {
            stream,
            device,
            key: NEXT.fetch_add(1, Ordering::Relaxed),
            finished: AtomicU64::new(0),
            owned,
            shared: AtomicBool::new(shared),
            state: Mutex::new(LaneState {
                sequence: 0,
                barrier: 0,
                tails: SmallVec::new(),
                spare: None,
                waited: SmallVec::new(),
            }),
        })
    }

    /// Notes that somebody else has the stream's handle now: what the lane counts is no longer all that is on it.
    pub fn share(&self) {
        self.shared.store(true, Ordering::Release);
    }

    /// Whether work may be on the stream that the lane has not counted.
    pub fn is_shared(&self) -> bool {
        self.shared.load(Ordering::Acquire)
    }

    /// The lane's lock. Never held together with another lane's.
    pub fn lock(&self) -> MutexGuard<'_, LaneState<D>> {
        self.state.lock()
    }

    /// Whether command `sequence` is known to have finished, without asking the device.
    pub fn has_finished(&self, sequence: u64) -> bool {
        self.finished.load(Ordering::Acquire) >= sequence
    }

    /// Notes that every command up to `sequence` has finished.
    pub fn note_finished(&self, sequence: u64) {
        self.finished.fetch_max(sequence, Ordering::AcqRel);
    }

    /// Blocks until everything enqueued so far has finished; no native call when that is known already.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn finish(&self) -> Result<()> {
        let sequence = self.lock().sequence;
        if self.is_shared() || !self.has_finished(sequence) {
            self.device.driver.synchronize_stream(self.stream)?;
            self.note_finished(sequence);
        }
        Ok(())
    }

    /// Whether everything enqueued so far has finished.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn is_idle(&self) -> Result<bool> {
        let sequence = self.lock().sequence;
        if !self.is_shared() && self.has_finished(sequence) {
            return Ok(true);
        }
        let idle = self.device.driver.stream_is_idle(self.stream)?;
        if idle {
            self.note_finished(sequence);
        }
        Ok(idle)
    }

    /// A native event for everything enqueued so far, for others to wait for; `None` when all has finished.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn mark(&self) -> Result<Option<(u64, Marker<D>)>> {
        let state = self.lock();
        if !self.is_shared() && self.has_finished(state.sequence) {
            return Ok(None);
        }
        Marker::record(&self.device, self.stream, false).map(|marker| Some((state.sequence, marker)))
    }

    /// Makes sure the event has a native event of its own, so that what comes after it on the lane does not
    /// matter to whoever waits for it.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn expose(&self, event: &Event<D>) -> Result<()> {
        if event.is_settled() {
            return Ok(());
        }
        let _state = self.lock();
        event.settle(self)
    }

    /// Drops what the lane keeps of events that nobody else holds. Events hold their queue, so this is what
    /// lets a released queue die.
    pub fn forget_events(&self) {
        let (tails, spare) = {
            let mut state = self.lock();
            (std::mem::take(&mut state.tails), state.spare.take())
        };
        // Dropped outside the lock: the last reference of a queue may go with them.
        drop((tails, spare));
    }
}

impl<D: Driver> Drop for Lane<D> {
    fn drop(&mut self) {
        if self.owned {
            // Nobody is left to tell; work in flight still runs to its end.
            let _ = self.device.driver.destroy_stream(self.stream);
        }
    }
}

impl<D: Driver> LaneState<D> {
    /// Gives every tail event that somebody still holds its native event, and lets go of the others. To be
    /// called before anything is put on the stream.
    ///
    /// # Errors
    /// What the native library answers; nothing has changed then.
    #[inline]
    pub fn settle(&mut self, lane: &Lane<D>) -> Result<()> {
        if self.tails.is_empty() { Ok(()) } else { self.settle_tails(lane) }
    }

    fn settle_tails(&mut self, lane: &Lane<D>) -> Result<()> {
        for event in &self.tails {
            if Self::is_held(event) {
                event.settle(lane)?;
            }
        }
        while let Some(event) = self.tails.pop() {
            if self.spare.is_none() && !Self::is_held(&event) {
                self.spare = Some(event);
            }
        }
        Ok(())
    }

    fn is_held(event: &Arc<Object<Event<D>>>) -> bool {
        event.references() > 0 || Arc::strong_count(event) > 1
    }

    /// Makes the stream wait for an event of another lane that [`Lane::expose`] has seen, unless that is
    /// known to be needless.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn wait_for(&mut self, lane: &Lane<D>, event: &Event<D>) -> Result<()> {
        if event.is_known_complete() || core::ptr::eq(&raw const *event.lane, lane) {
            return Ok(());
        }
        if let Some(marker) = event.marker() {
            if self.has_waited(event.lane.key, event.sequence) {
                return Ok(());
            }
            lane.device.driver.stream_wait(lane.stream, marker.raw())?;
            self.remember_wait(event.lane.key, event.sequence);
        }
        Ok(())
    }

    fn has_waited(&self, key: u64, sequence: u64) -> bool {
        self.waited.iter().any(|(lane, upto)| *lane == key && *upto >= sequence)
    }

    fn remember_wait(&mut self, key: u64, sequence: u64) {
        if let Some(entry) = self.waited.iter_mut().find(|(lane, _)| *lane == key) {
            entry.1 = entry.1.max(sequence);
            return;
        }
        if self.waited.len() == REMEMBERED_WAITS {
            self.waited.remove(0);
        }
        self.waited.push((key, sequence));
    }

    /// Keeps an event as one of the last command's.
    pub fn add_tail(&mut self, event: Arc<Object<Event<D>>>) {
        self.tails.push(event);
    }

    /// An event object that nobody uses any more, to be filled again.
    pub fn take_spare(&mut self) -> Option<Arc<Object<Event<D>>>> {
        if let Some(spare) = self.spare.take() {
            return Some(spare);
        }
        let unused = self.tails.iter().position(|event| !Self::is_held(event))?;
        Some(self.tails.swap_remove(unused))
    }
}
