//! What a question or a wait that has failed says of an event.

use crate::driver::Driver;
use crate::object::error::Error;
use crate::stream::event::Event;
use crate::stream::promise::Outcome;

impl<D: Driver> Event<D> {
    /// Whether a question that failed by this cause says that the command will never be complete: its device is lost, or it never
    /// was submitted. Else the question alone has failed, since there was no memory for it, or a capture of the application's own
    /// forbids questions, and the command goes on.
    pub fn is_never_complete_by(&self, cause: &Error) -> bool {
        if cause.is_lost_device() {
            return true;
        }
        match self.as_deferred().and_then(|promise| promise.outcome()) {
            Some(Outcome::Failed(_)) => true,
            Some(Outcome::Submitted(Some(event))) => event.is_never_complete_by(cause),
            Some(Outcome::Submitted(None)) | None => false,
        }
    }
}
