//! What a reusable event stands for while its last signal is one that was kept: the event of that signal.

use std::sync::Arc;

use ur_ffi::ur_result_t;

use crate::device::event_pool::PooledEvent;
use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::stream::Stream;
use crate::stream::event::{End, Event};
use crate::stream::reusable::{KeptSignals, Reusable};

/// The event of one signal.
pub type SignalEvent<D> = Arc<Object<Event<D>>>;

fn is_submitted<D: Driver>(event: &SignalEvent<D>) -> bool {
    event.submitted().is_some()
}

impl<D: Driver> Event<D> {
    fn kept_signals(&self) -> Option<&KeptSignals<SignalEvent<D>>> {
        match self.end.get() {
            Some(End::Signal(_, kept)) => Some(kept),
            _ => None,
        }
    }

    /// The event of its last signal, if it is signalled again and again and that signal was kept.
    pub fn kept_signal(&self) -> Option<SignalEvent<D>> {
        self.kept_signals()?.last()
    }

    /// The last signal that was kept and is on a stream by now. Whoever asks has seen that the last signal was submitted; one that
    /// another thread has made meanwhile may not be.
    pub fn submitted_signal(&self) -> Option<SignalEvent<D>> {
        self.kept_signals()?.last_submitted(is_submitted)
    }

    /// Whether what it stands for was not submitted yet.
    pub fn is_unresolved(&self) -> bool {
        let is_open = |event: &Self| event.as_deferred().is_some_and(|promise| promise.outcome().is_none());
        self.kept_signal().map_or_else(|| is_open(self), |signal| is_open(&signal))
    }

    /// Notes its last signal: that event, or its native one.
    pub fn stand_for(&self, signal: Option<SignalEvent<D>>) {
        let Some(kept) = self.kept_signals() else { return };
        match signal {
            Some(signal) => kept.add(signal, is_submitted),
            None => kept.end(),
        }
    }

    /// The native event for somebody who keeps it: from now on no signal is kept.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` as long as the last signal is one that was kept and is not over, or another thread has one kept; what the
    /// native library answers.
    pub(super) fn export_signal<'r>(&self, reusable: &'r Reusable<D>) -> Result<&'r PooledEvent<D>> {
        let marker = reusable.marker().ok_or(ur_result_t::ERROR_INVALID_EVENT)?;
        // First, so that no other thread's signal is kept behind the look.
        reusable.begin_export()?;
        self.end_kept_signal(marker).inspect_err(|_| reusable.cancel_export())?;
        Ok(marker)
    }

    /// Lets the native event speak again where the last signal is one that was kept.
    fn end_kept_signal(&self, marker: &PooledEvent<D>) -> Result<()> {
        let Some(signal) = self.kept_signal() else { return Ok(()) };
        if !(signal.is_complete()? && marker.native_context().driver.event_is_complete(marker.raw())?) {
            return Err(Error::unsupported(
                "the native event of a reusable event whose last signal waited for a timeline (wait for the event first)",
            ));
        }
        self.stand_for(None);
        Ok(())
    }

    /// An event that stands for its last signal and no later one, for what waits for it when its own turn has come; `None` if
    /// nothing is left to wait for.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn last_signal(&self, reusable: &Reusable<D>) -> Result<Option<SignalEvent<D>>> {
        if let Some(signal) = self.kept_signal() {
            return Ok(Some(signal));
        }
        self.snapshot_of(reusable.marker().ok_or(ur_result_t::ERROR_INVALID_EVENT)?)
    }

    /// Whether it wraps a native event that stays the application's.
    pub fn is_lent(&self) -> bool {
        self.marker().is_some_and(PooledEvent::is_lent)
    }

    /// Whether its native event may stand for something else later: it is signalled again and again, or the application's.
    pub fn can_be_signalled_again(&self) -> bool {
        self.as_reusable().is_some() || self.is_lent()
    }

    /// As [`Event::last_signal`] for an event over a native one that the application may record anew or destroy before that turn.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn lent_snapshot(&self) -> Result<Option<SignalEvent<D>>> {
        match self.marker() {
            Some(marker) if !self.is_known_complete() => self.snapshot_of(marker),
            _ => Ok(None),
        }
    }

    fn snapshot_of(&self, marker: &PooledEvent<D>) -> Result<Option<SignalEvent<D>>> {
        if marker.native_context().driver.event_is_complete(marker.raw())? {
            return Ok(None);
        }
        let end = marker.snapshot()?;
        // Of signals on several queues none says anything of another, so each has a stream of its own.
        let place = Stream::without_stream(Arc::clone(&self.stream.device), self.stream.registry());
        Ok(Some(Object::new(Self::new(self.queue.to_submitter(), place, 1, self.command, Some(end)))))
    }
}
