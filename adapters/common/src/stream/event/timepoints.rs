//! Events of signals of timelines, which a stream keeps and fills again.
//!
//! A timeline holds the event of a signal until the value is reached, many commands later, and lets go of the oldest first. So
//! the stream keeps them in a row of their own, and looks at its beginning when it needs one: in the steady state no event is
//! made and no native event is taken. Each has a native event from the start, since a signal is there to be waited for by
//! other streams, whose threads then need nothing of this stream. Behind the stream's lock.

use std::sync::Arc;

use ur_ffi::ur_command_t;

use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::Result;
use crate::object::recycled::Recycled;
use crate::stream::StreamState;
use crate::stream::event::Event;

/// Events that a stream keeps: what it has more in flight is made and ended.
const MOST_KEPT: usize = 128;

impl<D: Driver> StreamState<D> {
    /// Records a native event behind the stream's last command, and gives its event; `make` makes one where none can be filled
    /// again.
    ///
    /// # Errors
    /// What the native library answers.
    #[inline]
    pub fn record_timepoint(
        &mut self,
        command: ur_command_t,
        make: impl FnOnce() -> Event<D>,
    ) -> Result<Arc<Object<Event<D>>>> {
        if let Some(event) = self.record_oldest_timepoint(command)? {
            return Ok(event);
        }
        self.record_another_timepoint(command, make)
    }

    /// Fills the oldest event again and records it, unless somebody holds it.
    #[inline(always)]
    fn record_oldest_timepoint(&mut self, command: ur_command_t) -> Result<Option<Arc<Object<Event<D>>>>> {
        let position = self.position;
        let Some(event) = self.timepoints.oldest() else { return Ok(None) };
        let Some(body) = event.unused() else { return Ok(None) };
        body.record_anew(position, command)?;
        let shared = event.to_arc();
        self.timepoints.pass_oldest();
        Ok(Some(shared))
    }

    /// As [`StreamState::record_timepoint`] where the oldest event is held by somebody. One that is held longer than those behind it
    /// becomes the youngest.
    #[inline(never)]
    fn record_another_timepoint(
        &mut self,
        command: ur_command_t,
        make: impl FnOnce() -> Event<D>,
    ) -> Result<Arc<Object<Event<D>>>> {
        self.timepoints.pass_oldest();
        if let Some(event) = self.record_oldest_timepoint(command)? {
            return Ok(event);
        }
        self.timepoints.pass_oldest();
        let event = Recycled::new(make());
        event.record()?;
        let shared = event.to_arc();
        self.timepoints.add(event, MOST_KEPT);
        Ok(shared)
    }
}
