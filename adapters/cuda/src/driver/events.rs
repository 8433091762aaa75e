//! Native events.
//!
//! Nothing here waits for work but `synchronize_event`.

use core::ffi::c_uint;

use ur_adapter::driver::{EventPurpose, Events};
use ur_adapter::object::error::Result;

use super::Cuda;
use crate::sys::{self, CUevent, CUstream};

impl Events for Cuda {
    type Event = CUevent;

    fn create_event(&self, purpose: EventPurpose) -> Result<CUevent> {
        let flags: c_uint = match purpose {
            EventPurpose::Order => sys::EVENT_DISABLE_TIMING,
            EventPurpose::Times => sys::EVENT_DEFAULT,
            EventPurpose::Processes => sys::EVENT_DISABLE_TIMING | sys::EVENT_INTERPROCESS,
        };
        let mut event = CUevent::default();
        // SAFETY: the output is a live local.
        self.check("cuEventCreate", unsafe { (self.symbols.event_create)(&raw mut event, flags) })?;
        Ok(event)
    }

    fn destroy_event(&self, event: CUevent) -> Result<()> {
        // SAFETY: the handle was the event's owner.
        self.check("cuEventDestroy", unsafe { (self.symbols.event_destroy)(event) })
    }

    fn record_event(&self, event: &CUevent, stream: &CUstream) -> Result<()> {
        // SAFETY: event and stream are borrowed, so they are alive.
        self.check("cuEventRecord", unsafe { (self.symbols.event_record)(*event, *stream) })
    }

    fn event_is_complete(&self, event: &CUevent) -> Result<bool> {
        // SAFETY: the symbol has the API's signature and the event is alive.
        self.done("cuEventQuery", unsafe { (self.symbols.event_query)(*event) })
    }

    fn synchronize_event(&self, event: &CUevent) -> Result<()> {
        // SAFETY: the event is borrowed, so it is alive.
        self.check("cuEventSynchronize", unsafe { (self.symbols.event_synchronize)(*event) })
    }

    fn stream_wait(&self, stream: &CUstream, event: &CUevent) -> Result<()> {
        // SAFETY: stream and event are borrowed, so they are alive.
        self.check("cuStreamWaitEvent", unsafe {
            (self.symbols.stream_wait_event)(*stream, *event, sys::EVENT_WAIT_DEFAULT)
        })
    }

    fn elapsed_ns(&self, start: &CUevent, end: &CUevent) -> Result<i64> {
        let elapsed = self.symbols.event_elapsed_v2.unwrap_or(self.symbols.event_elapsed);
        let mut milliseconds: f32 = 0.0;
        // SAFETY: the output is a live local and both events are alive.
        let status = unsafe { elapsed(&raw mut milliseconds, *start, *end) };
        self.check("cuEventElapsedTime", status)?;
        #[allow(clippy::cast_possible_truncation, reason = "a float's cast saturates")]
        Ok((f64::from(milliseconds) * 1e6).round() as i64)
    }
}
