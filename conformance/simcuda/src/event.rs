//! Events: each record makes a new completion; waits and queries hold on to the one they were made for.
//!
//! So re-recording an event never disturbs a wait that was submitted before, and an event that was never recorded
//! counts as complete. Timestamps are taken when a stream reaches the record, by a monotonic clock.

use crate::clock::{Clock, Point};
use crate::context::Context;
use crate::handles::{self, Registry};
use crate::stream::Stream;
use crate::sys::*;
use core::sync::atomic::{AtomicBool, Ordering};
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
    done: AtomicBool,
    at: Mutex<Option<Instant>>,
    reached: Condvar,
}

impl Completion {
    fn new(point: &Point, context: Arc<Context>) -> Self {
        let mut known = Clock::clone(&point.clock);
        known.advance(point.stream, point.seq);
        Self { known, context, done: AtomicBool::new(false), at: Mutex::new(None), reached: Condvar::new() }
    }

    /// The stream got here.
    pub fn reach(&self) {
        *self.at.lock() = Some(Instant::now());
        self.done.store(true, Ordering::Release);
        self.reached.notify_all();
    }

    /// Whether the stream got here.
    pub fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    /// Blocks until the stream gets here.
    pub fn wait(&self) {
        let mut at = self.at.lock();
        while at.is_none() {
            self.reached.wait(&mut at);
        }
    }

    fn time(&self) -> Option<Instant> {
        *self.at.lock()
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
}

impl Event {
    /// Makes an event.
    pub fn create(context: Arc<Context>, flags: u32) -> Handle {
        EVENTS.insert_with(|handle| Event { handle, context, flags, latest: Mutex::new(None) }).0
    }

    /// Records it on a stream of its own context.
    pub fn record(&self, stream: &Arc<Stream>) -> Result {
        if self.context.id != stream.context.id {
            return Err(CUDA_ERROR_INVALID_HANDLE);
        }
        let mut latest = self.latest.lock();
        stream.submit(|point| {
            let completion = Arc::new(Completion::new(point, stream.context.clone()));
            *latest = Some(completion.clone());
            crate::command::Command::Record(completion)
        });
        Ok(())
    }

    /// The latest record, if there is one.
    pub fn latest(&self) -> Option<Arc<Completion>> {
        self.latest.lock().clone()
    }

    /// Milliseconds from `start` to `self`.
    pub fn elapsed_since(&self, start: &Event) -> Result<f32> {
        if (self.flags | start.flags) & CU_EVENT_DISABLE_TIMING != 0 {
            return Err(CUDA_ERROR_INVALID_HANDLE);
        }
        let (Some(from), Some(to)) = (start.latest(), self.latest()) else {
            return Err(CUDA_ERROR_INVALID_HANDLE);
        };
        match (from.time(), to.time()) {
            (Some(from), Some(to)) if to >= from => Ok((to - from).as_secs_f32() * 1e3),
            (Some(from), Some(to)) => Ok(-(from - to).as_secs_f32() * 1e3),
            _ => Err(CUDA_ERROR_NOT_READY),
        }
    }
}
