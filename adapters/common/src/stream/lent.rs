//! The application's own native stream, once the queue over it was released.
//!
//! From the last release on the application may destroy its native stream, but the engine may keep the queue for longer: an image
//! knows its users, a timeline its last signals, an event its queue. So at the last release an event is recorded behind all that
//! the stream was given ([`Stream::part`]), if that is not known to have finished, and from then on the event is asked and waited
//! for. What the stream is given after that, by a queue that was retained anew, makes the native stream count again.
//!
//! Must never call the native library with the native stream between the two.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::device::event_pool::PooledEvent;
use crate::driver::Driver;
use crate::driver::graphs::CaptureStatus;
use crate::object::error::Result;
use crate::stream::{Parting, Stream, capture};

impl<D: Driver> Stream<D> {
    /// Whether the native stream stays the application's; true also where there is none.
    #[inline]
    pub fn is_lent(&self) -> bool {
        self.owned.is_none()
    }

    /// Notes that the application may destroy the native stream from now on. Where nothing tells of its work (somebody else captures
    /// it, or the event cannot be recorded) it goes on being asked.
    #[cold]
    pub fn part(&self) {
        let state = self.lock();
        if self.parting.read().as_ref().is_some_and(|parting| parting.position == state.position) {
            return;
        }
        let last = if self.is_completed(state.position) {
            Ok(None)
        } else if self.is_capturing() {
            Ok(self.before_capture.lock().clone())
        } else {
            self.record_parting()
        };
        if let Ok(last) = last {
            *self.parting.write() = Some(Parting { position: state.position, last });
        }
    }

    fn record_parting(&self) -> Result<Option<Arc<PooledEvent<D>>>> {
        if self.driver.capture_info(&self.native)?.status != CaptureStatus::None {
            return Err(capture::unsupported("the end of a queue"));
        }
        PooledEvent::record(&self.device, &self.native, false).map(|last| Some(Arc::new(last)))
    }

    /// Whether the application has let go of it, and nothing came since.
    pub(super) fn has_parted(&self) -> bool {
        self.parted().is_some()
    }

    /// What stands for all that it was given, if the native stream may be gone.
    fn parted(&self) -> Option<Option<Arc<PooledEvent<D>>>> {
        if !self.is_lent() {
            return None;
        }
        self.parting.read().as_ref().filter(|parting| self.is_all(parting)).map(|parting| parting.last.clone())
    }

    fn is_all(&self, parting: &Parting<D>) -> bool {
        parting.position == self.reached.published.load(Ordering::Acquire)
    }

    /// Puts a question to the native stream that is answered by "yes" once all its work has finished; where that may be gone, answers
    /// whether it has.
    pub(super) fn ask(&self, question: impl FnOnce(&D::Stream) -> Result<bool>) -> Result<bool> {
        if !self.is_lent() {
            return question(&self.native);
        }
        // Held over the question, which waits for nothing: the application may destroy the stream when `part` has returned.
        let parting = self.parting.read();
        match parting.as_ref().filter(|parting| self.is_all(parting)) {
            None => question(&self.native),
            Some(Parting { last, .. }) => {
                last.as_ref().map_or(Ok(true), |last| self.driver.event_is_complete(last.raw()))
            }
        }
    }

    /// Blocks until the native stream has finished its work, or, where that may be gone, what it was given.
    pub(super) fn synchronize(&self) -> Result<()> {
        match self.parted() {
            None => self.driver.synchronize_stream(&self.native),
            Some(last) => last.map_or(Ok(()), |last| self.driver.synchronize_event(last.raw())),
        }
    }

    /// An event behind all that the stream was given.
    ///
    /// # Errors
    /// What the native library answers.
    pub(super) fn record_last(&self) -> Result<PooledEvent<D>> {
        match self.parted() {
            None => PooledEvent::record(&self.device, &self.native, false),
            Some(None) => PooledEvent::of_the_past(&self.device),
            Some(Some(last)) => last.snapshot(),
        }
    }
}
