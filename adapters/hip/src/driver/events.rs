//! Native events.
//!
//! Nothing here waits for work but `synchronize_event`.

use core::ffi::c_uint;

use ur_adapter::driver::{EventPurpose, Events};
use ur_adapter::object::error::Result;

use super::Hip;
use crate::sys::{HipEvent, HipStream, flag};

impl Events for Hip {
    type Event = HipEvent;

    fn create_event(&self, purpose: EventPurpose) -> Result<HipEvent> {
        let flags: c_uint = match purpose {
            EventPurpose::Order => flag::hipEventDisableTiming,
            EventPurpose::Times => 0,
            EventPurpose::Processes => flag::hipEventDisableTiming | flag::hipEventInterprocess,
        };
        let mut event = HipEvent::default();
        // SAFETY: the output is a live local.
        self.check("hipEventCreateWithFlags", unsafe { (self.symbols.event_create)(&raw mut event, flags) })?;
        Ok(event)
    }

    fn destroy_event(&self, event: HipEvent) -> Result<()> {
        // SAFETY: the handle was the event's owner.
        self.check("hipEventDestroy", unsafe { (self.symbols.event_destroy)(event) })
    }

    fn record_event(&self, event: &HipEvent, stream: &HipStream) -> Result<()> {
        // SAFETY: event and stream are borrowed, so they are alive.
        self.check("hipEventRecord", unsafe { (self.symbols.event_record)(*event, *stream) })
    }

    fn event_is_complete(&self, event: &HipEvent) -> Result<bool> {
        // SAFETY: the symbol has the API's signature and the event is alive.
        self.done("hipEventQuery", unsafe { (self.symbols.event_query)(*event) })
    }

    fn synchronize_event(&self, event: &HipEvent) -> Result<()> {
        // SAFETY: the event is borrowed, so it is alive.
        self.check("hipEventSynchronize", unsafe { (self.symbols.event_synchronize)(*event) })
    }

    fn stream_wait(&self, stream: &HipStream, event: &HipEvent) -> Result<()> {
        // SAFETY: stream and event are borrowed, so they are alive.
        self.check("hipStreamWaitEvent", unsafe { (self.symbols.stream_wait_event)(*stream, *event, 0) })
    }

    fn elapsed_ns(&self, start: &HipEvent, end: &HipEvent) -> Result<i64> {
        let mut milliseconds: f32 = 0.0;
        // SAFETY: the output is a live local and both events are borrowed.
        self.check("hipEventElapsedTime", unsafe {
            (self.symbols.event_elapsed)(&raw mut milliseconds, *start, *end)
        })?;
        #[allow(clippy::cast_possible_truncation, reason = "a float's cast saturates")]
        Ok((f64::from(milliseconds) * 1e6).round() as i64)
    }
}
