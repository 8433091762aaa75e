//! Events: each record makes a new completion; waits and queries hold on to the one they were made for.
//!
//! So re-recording an event never disturbs a wait that was submitted before, and an event that was never recorded
//! counts as complete. Of an event that other processes share the latest record may be theirs (`shared_event.rs`). Timestamps are taken when a stream reaches the record, by a monotonic clock.

use crate::clock::{self, Clock, Point};
use crate::context::Context;
use crate::graph::capture::Captured;
use crate::handles::{self, Registry};
use crate::reports;
use crate::shared_event::SharedRecords;
use crate::stream::{Place, Stream};
use crate::sys::*;
use crate::waiting;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::time::Instant;

/// All events.
pub static EVENTS: Registry<Event> = Registry::new(handles::Kind::Event);

/// One record of an event.
pub struct Completion {
    /// All that is done once this is.
    pub known: Clock,
    /// Context of the stream it was recorded on.
    pub context: Arc<Context>,
    /// What its stream waits for there cannot be seen.
    pub unseen: bool,
    /// What had ended at this tick is ordered before it, once it is reached.
    floor: AtomicU64,
    done: AtomicBool,
    at: Mutex<Option<Instant>>,
    reached: Condvar,
    /// Of a record that is a command of its stream: where. Whoever sees one of the two done sees the other.
    place: Option<Place>,
    /// Of an event that processes share: its records, and which of them this is.
    shared: Option<(Arc<SharedRecords>, u64)>,
    /// Whether another process made it.
    foreign: bool,
}

impl Completion {
    fn new(known: Clock, context: Arc<Context>, shared: Option<(Arc<SharedRecords>, u64)>, unseen: bool) -> Self {
        let (done, at, reached) = (AtomicBool::new(false), Mutex::new(None), Condvar::new());
        let floor = AtomicU64::new(0);
        Self { known, context, unseen, floor, done, at, reached, place: None, shared, foreign: false }
    }

    fn here(point: &Point, stream: &Stream, shared: Option<(Arc<SharedRecords>, u64)>) -> Self {
        let mut known = Clock::clone(&point.clock);
        known.advance(point.stream, point.seq);
        Self::new(known, stream.context.clone(), shared, stream.has_unseen())
    }

    /// The stream got here, as `count` has the stream say. Other processes are told first: whoever knows it here may end the
    /// process at once.
    pub fn reach(&self, floor: u64, count: impl FnOnce()) {
        self.floor.store(floor, Ordering::Release);
        if let Some((records, number)) = &self.shared {
            records.reach(*number);
        }
        count();
        *self.at.lock() = Some(Instant::now());
        self.done.store(true, Ordering::Release);
        self.reached.notify_all();
    }

    fn of_others(&self) -> Option<&(Arc<SharedRecords>, u64)> {
        self.shared.as_ref().filter(|_| self.foreign)
    }

    /// Whether the stream got here. What another process may know already is known here, too.
    pub fn is_done(&self) -> bool {
        match &self.shared {
            Some((records, number)) if self.foreign => records.is_reached(*number),
            Some((records, number)) if records.was_last_to_reach(*number) => {
                // The stream says so next.
                while !self.is_done_here() && self.place.is_some() {
                    std::thread::yield_now();
                }
                true
            }
            _ => self.is_done_here(),
        }
    }

    fn is_done_here(&self) -> bool {
        self.done.load(Ordering::Acquire) || self.place.as_ref().is_some_and(Place::is_done)
    }

    /// What had ended at this tick is ordered before whoever waited for it.
    pub fn floor(&self) -> u64 {
        if self.of_others().is_some() { clock::tick() } else { self.floor.load(Ordering::Acquire) }
    }

    /// Asks for the host whether the stream got here.
    pub fn query(&self) -> bool {
        let done = self.is_done();
        if done {
            clock::host_is_told(&self.known, self.floor());
        }
        done
    }

    /// Blocks the host until the stream gets here.
    pub fn synchronize(&self) {
        self.wait();
        clock::host_learns(&self.known, self.floor());
    }

    /// Blocks until the stream gets here.
    pub fn wait(&self) {
        if let Some((records, number)) = self.of_others() {
            return records.wait(*number);
        }
        if !self.is_done() {
            waiting::note();
            self.when_reached();
        }
    }

    /// When the stream got here, which is noted a moment after the record is done.
    fn when_reached(&self) -> Instant {
        let mut at = self.at.lock();
        loop {
            if let Some(at) = *at {
                return at;
            }
            self.reached.wait(&mut at);
        }
    }

    /// When the stream got to a record that is done, if that is known here.
    fn time(&self) -> Option<Instant> {
        (!self.foreign).then(|| self.when_reached())
    }
}

/// One event.
pub struct Event {
    /// Its handle.
    pub handle: Handle,
    /// Context it was made in.
    pub context: Arc<Context>,
    /// Flags it was made with.
    pub flags: u32,
    latest: Mutex<Option<Arc<Completion>>>,
    /// Of an event that was last recorded in a capture, what it stands for there.
    captured: Mutex<Option<Captured>>,
    /// Its records in all processes, if others may open it; whether another process made it.
    shared: Option<(Arc<SharedRecords>, bool)>,
}

/// What the device's clock counts of a second of the host's: it is no better than a GPU's (`docs/native-facts.md`).
const DEVICE_SECOND: f64 = 1.0 - 20e-6;

impl Event {
    /// Makes an event.
    pub fn create(context: Arc<Context>, flags: u32) -> Result<Handle> {
        let shared = match flags & CU_EVENT_INTERPROCESS {
            0 => None,
            _ => Some((SharedRecords::new()?, false)),
        };
        Ok(EVENTS
            .insert_with(|handle| Event {
                handle,
                context,
                flags,
                latest: Mutex::new(None),
                captured: Mutex::new(None),
                shared,
            })
            .0)
    }

    /// Opens another process's event.
    pub fn open(context: Arc<Context>, ipc: &CUipcEventHandle) -> Result<Handle> {
        let (flags, latest) = (CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING, Mutex::new(None));
        let captured = Mutex::new(None);
        let shared = Some((SharedRecords::open(ipc)?, true));
        Ok(EVENTS.insert_with(|handle| Event { handle, context, flags, latest, captured, shared }).0)
    }

    /// What another process opens it by: the process that made it can tell.
    pub fn ipc_handle(&self) -> Result<CUipcEventHandle> {
        match &self.shared {
            Some((records, false)) => Ok(records.handle()),
            _ => Err(CUDA_ERROR_INVALID_HANDLE),
        }
    }

    /// Fails where a stream's wait for the event would crash the real driver.
    pub fn check_wait(&self, stream: &Stream) -> Result {
        if self.shared.is_some() && self.context.device.ordinal != stream.context.device.ordinal {
            reports::add(
                reports::Kind::FarSharedEvent,
                "a stream waits for another device's event that processes share",
            );
            return Err(CUDA_ERROR_INVALID_HANDLE);
        }
        Ok(())
    }

    /// Records it on a stream of its own context.
    pub fn record(&self, stream: &Arc<Stream>) -> Result {
        if self.context.id != stream.context.id {
            return Err(CUDA_ERROR_INVALID_HANDLE);
        }
        self.set_captured(None);
        let mut latest = self.latest.lock();
        stream.submit(|point| {
            let shared = self.shared.as_ref().map(|(records, _)| (records.clone(), records.give()));
            let mut completion = Completion::here(point, stream, shared);
            completion.place = Some(stream.place(point.seq));
            let completion = Arc::new(completion);
            *latest = Some(completion.clone());
            crate::command::Command::Record(completion)
        });
        Ok(())
    }

    /// A record that a graph's launch at that point will reach. It counts from [`Event::set_latest`] on.
    pub fn record_at(&self, point: &Point, stream: &Stream) -> Arc<Completion> {
        let shared = self.shared.as_ref().map(|(records, _)| (records.clone(), records.give()));
        Arc::new(Completion::here(point, stream, shared))
    }

    /// Makes a record the latest one.
    pub fn set_latest(&self, completion: Arc<Completion>) {
        self.set_captured(None);
        *self.latest.lock() = Some(completion);
    }

    /// Makes it stand for nodes of a capture, or for none.
    pub fn set_captured(&self, captured: Option<Captured>) {
        *self.captured.lock() = captured;
    }

    /// What it stands for in a capture, if it was last recorded in one.
    pub fn captured(&self) -> Option<Captured> {
        self.captured.lock().clone()
    }

    /// Fails where it was last recorded in a capture, which nobody can wait for or ask about.
    pub fn refuse_captured(&self) -> Result {
        match self.captured() {
            Some(captured) if captured.is_active() => {
                captured.invalidate();
                Err(CUDA_ERROR_CAPTURED_EVENT)
            }
            Some(_) => Err(CUDA_ERROR_INVALID_VALUE),
            None => Ok(()),
        }
    }

    /// The latest record, if there is one.
    pub fn latest(&self) -> Option<Arc<Completion>> {
        let own = self.latest.lock().clone();
        let Some((records, _)) = &self.shared else { return own };
        let number = records.given();
        if number == 0 || own.as_ref().and_then(|own| own.shared.as_ref()).is_some_and(|(_, last)| *last == number) {
            return own;
        }
        let shared = Some((records.clone(), number));
        let of_others = Completion::new(Clock::default(), self.context.clone(), shared, true);
        Some(Arc::new(Completion { foreign: true, ..of_others }))
    }

    /// Milliseconds from `start` to `self`.
    pub fn elapsed_since(&self, start: &Event) -> Result<f32> {
        if (self.flags | start.flags) & CU_EVENT_DISABLE_TIMING != 0 {
            return Err(CUDA_ERROR_INVALID_HANDLE);
        }
        if self.context.device.ordinal != start.context.device.ordinal {
            return Err(CUDA_ERROR_INVALID_HANDLE);
        }
        let (Some(from), Some(to)) = (start.latest(), self.latest()) else {
            return Err(CUDA_ERROR_INVALID_HANDLE);
        };
        if !from.query() || !to.query() {
            return Err(CUDA_ERROR_NOT_READY);
        }
        let milliseconds = |span: std::time::Duration| (span.as_secs_f64() * DEVICE_SECOND * 1e3) as f32;
        match (from.time(), to.time()) {
            (Some(from), Some(to)) if to >= from => Ok(milliseconds(to - from)),
            (Some(from), Some(to)) => Ok(-milliseconds(from - to)),
            _ => Err(CUDA_ERROR_NOT_READY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::device;
    use crate::stream::{self, STREAMS, Sort};
    use core::hint::spin_loop;
    use std::thread::{scope, yield_now};

    fn context() -> Arc<Context> {
        device::make(Config::from_env().expect("a configuration"));
        Context::create(device::get(0).expect("a device"), false, 0)
    }

    #[test]
    fn who_sees_a_stream_done_sees_that_its_events_are() {
        let context = context();
        let handle = Stream::create(context.clone(), Sort::NonBlocking, 0);
        let stream = STREAMS.lookup(handle, CUDA_ERROR_INVALID_HANDLE).expect("a stream");
        let event = Event::create(context.clone(), 0).expect("an event");
        let event = EVENTS.lookup(event, CUDA_ERROR_INVALID_HANDLE).expect("an event");
        stream::hold();
        event.record(&stream).expect("a record");
        let latest = event.latest().expect("its record");
        // The stream's thread gets no further than here, wherever in its record that is.
        let at = latest.at.lock();
        stream::release();
        while !stream.query() {
            yield_now();
        }
        assert!(latest.query());
        // So nothing waits for it, least of all for the stream's thread.
        let waits = waiting::of_thread();
        latest.wait();
        assert_eq!(waiting::of_thread(), waits);
        drop(at);
        assert!(latest.time().is_some());
        stream.close();
        EVENTS.take(event.handle, CUDA_ERROR_INVALID_HANDLE).expect("the event");
        context.destroy();
    }

    #[test]
    fn what_its_own_process_knows_to_be_reached_all_processes_know() {
        let context = context();
        let records = SharedRecords::new().expect("memory for a page");
        for _ in 0..2000 {
            let number = records.give();
            let shared = Some((records.clone(), number));
            let completion = Completion::new(Clock::default(), context.clone(), shared, false);
            scope(|threads| {
                threads.spawn(|| completion.reach(0, || ()));
                while !completion.is_done() {
                    spin_loop();
                }
                // The process may end here, and its threads with it.
                assert!(records.is_reached(number), "record {number}");
            });
        }
        context.destroy();
    }
}
