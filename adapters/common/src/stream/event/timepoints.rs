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
use crate::sync::unlikely::unlikely;

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
        let event = match self.record_unused_timepoint(command)? {
            Some(event) => event,
            None => {
                let event = Recycled::new(make());
                event.record()?;
                event
            }
        };
        let shared = event.to_arc();
        if unlikely(self.timepoints.len() == MOST_KEPT) {
            drop(self.timepoints.pop_front());
        }
        self.timepoints.push_back(event);
        Ok(shared)
    }

    /// Fills the oldest event again that nobody holds, and records it. One that is held longer than those behind it goes to
    /// their end.
    #[inline]
    fn record_unused_timepoint(&mut self, command: ur_command_t) -> Result<Option<Recycled<Event<D>>>> {
        for _ in 0..2 {
            let Some(mut event) = self.timepoints.pop_front() else { break };
            if let Some(body) = event.unused() {
                body.record_anew(self.position, command)?;
                return Ok(Some(event));
            }
            self.timepoints.push_back(event);
        }
        Ok(None)
    }
}
