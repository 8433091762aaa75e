//! A stream of the engine's own in each native context, on which nobody else's work ever is.
//!
//! New streams come after it, and it is what a device is asked by whether it still gets to its tasks ([`crate::device::native_context::loss`]):
//! its answer is the context's own, whatever any queue does. It has a life of its own, so that whoever asks keeps no native
//! context alive, and answers nothing any more once that has ended.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::device::native_context::loss::Probe;
use crate::device::scope::Scope;
use crate::device::worker::Outcome;
use crate::driver::graphs::CaptureMode;
use crate::driver::{Driver, EventPurpose, StreamKind};
use crate::object::error::{Error, Result};

/// The stream, made at first need.
pub struct Origin<D: Driver> {
    driver: &'static D,
    primary_context: D::Context,
    slot: Mutex<Slot<D>>,
}

struct Slot<D: Driver> {
    made: Option<Made<D>>,
    /// The native context has ended.
    is_over: bool,
}

/// The stream, with an event of its own.
struct Made<D: Driver> {
    stream: D::Stream,
    event: D::Event,
}

impl<D: Driver> Made<D> {
    /// Makes both. The device's context is current.
    fn new(driver: &D) -> Result<Self> {
        let stream = driver.create_stream(StreamKind::default())?;
        match driver.create_event(EventPurpose::Order) {
            Ok(event) => Ok(Self { stream, event }),
            Err(error) => {
                // The failure to make the event is the one to tell of.
                let _ = driver.destroy_stream(stream);
                Err(error)
            }
        }
    }
}

impl<D: Driver> Slot<D> {
    /// What was made, or is now. The device's context is current.
    fn get(&mut self, driver: &D) -> Result<&Made<D>> {
        Ok(match &mut self.made {
            Some(made) => made,
            none => none.insert(Made::new(driver)?),
        })
    }
}

impl<D: Driver> Origin<D> {
    /// That of a native context.
    pub(super) fn new(driver: &'static D, primary_context: D::Context) -> Arc<Self> {
        Arc::new(Self { driver, primary_context, slot: Mutex::new(Slot { made: None, is_over: false }) })
    }

    /// Orders a new stream behind all that the host has waited for, as a stream is that was there all the time. CUDA orders
    /// it so without a call, but compute-sanitizer counts a synchronisation only for the streams that are there
    /// (`docs/probes/alloc_order.c`) and reports each use of older stream-ordered memory on a new one. Nobody's work is on the
    /// origin, so the new stream waits for nothing. The device's context is current.
    ///
    /// # Errors
    /// What the native library answers.
    pub(super) fn order_new(&self, stream: &D::Stream) -> Result<()> {
        let mut slot = self.slot.lock();
        let made = slot.get(self.driver)?;
        // Behind the lock, so that a trim does not destroy the event in between.
        self.driver.record_event(&made.event, &made.stream)?;
        self.driver.stream_wait(stream, &made.event)
    }

    /// Gives both back; they are made anew at the next need.
    pub(super) fn trim(&self) {
        let made = self.slot.lock().made.take();
        if let Some(Made { stream, event }) = made {
            // Nobody is left to tell.
            let _ = self.driver.destroy_event(event);
            let _ = self.driver.destroy_stream(stream);
        }
    }

    /// As [`Origin::trim`] before the native context ends: nothing is asked or made in it any more.
    pub(super) fn end(&self) {
        self.slot.lock().is_over = true;
        self.trim();
    }

    fn ask(&self, leaves_work: bool) -> Result<()> {
        // A record can wait for others' calls on the device, and with it who has the slot: only the thread that leaves one may wait.
        let slot = if leaves_work { Some(self.slot.lock()) } else { self.slot.try_lock() };
        let Some(mut slot) = slot else { return Ok(()) };
        if slot.is_over {
            return Ok(());
        }
        let _scope = Scope::enter(self.driver, self.primary_context)?;
        let made = slot.get(self.driver)?;
        if self.driver.stream_is_idle(&made.stream)? && leaves_work {
            self.driver.record_event(&made.event, &made.stream)?;
        }
        Ok(())
    }
}

impl<D: Driver> Probe for Origin<D> {
    fn end_of_tasks(&self, leaves_work: bool) -> Option<Outcome> {
        // The question is no part of what anybody captures: it would break a capture of the application's own on this thread.
        let before = self.driver.exchange_capture_mode(CaptureMode::Relaxed);
        let answer = self.ask(leaves_work);
        if let Ok(before) = before {
            // Nobody is left to tell; the next question puts it back to what it then finds.
            let _ = self.driver.exchange_capture_mode(before);
        }
        let cause = answer.err().filter(Error::ends_everything)?;
        Some(if cause.is_lost_device() { Outcome::Abandoned } else { Outcome::ShutDown })
    }
}
