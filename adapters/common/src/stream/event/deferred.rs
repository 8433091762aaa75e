//! Questions to an event, and waits for it, where the stream itself does not answer: of what was not submitted when the event was
//! made, and of a stream that captures.

use std::sync::atomic::Ordering;

use crate::driver::Driver;
use crate::object::error::Result;
use crate::stream::event::{Event, EventPromise, Observable};
use crate::stream::promise::Outcome;

impl<D: Driver> Event<D> {
    /// What can be asked where the event had no native one and its stream captures: a question to the stream would break the capture,
    /// before which every event that somebody holds is recorded.
    #[cold]
    pub(super) fn observable_in_capture(&self) -> Result<Observable<'_, D>> {
        self.stream.ensure_recorded(self)?;
        Ok(self.marker().map_or(Observable::Past, Observable::Native))
    }

    /// As [`Event::is_complete`] for what was not submitted when the event was made.
    #[cold]
    pub(super) fn is_deferred_complete(&self, promise: &EventPromise<D>) -> Result<bool> {
        let complete = match promise.outcome() {
            None => false,
            Some(Outcome::Failed(cause)) => return Err(cause.clone()),
            Some(Outcome::Submitted(event)) => event.as_ref().map_or(Ok(true), |event| event.is_complete())?,
        };
        if complete {
            self.complete.store(true, Ordering::Release);
        }
        Ok(complete)
    }

    /// As [`Event::wait`] for what was not submitted when the event was made: first for its submission, then for its end.
    #[cold]
    pub(super) fn wait_for_deferred(&self, promise: &EventPromise<D>) -> Result<()> {
        if let Some(event) = promise.wait()? {
            event.wait()?;
        }
        self.complete.store(true, Ordering::Release);
        Ok(())
    }
}
