//! What a queue knows of its deferred commands: those behind a wait for what nobody has submitted.
//!
//! A queue with deferred commands is not plain. In order, each later command comes after the deferred one before it and is
//! deferred too, until all have been submitted; out of order only what depends on a deferred command is. The commands are
//! [`crate::command::deferral`]'s, their account is kept by [`crate::sync::deferred_commands`].

use core::cell::Cell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use crate::device::clock::host_time_ns;
use crate::driver::Driver;
use crate::object::error::{Error, Result};
use crate::queue::{Queue, is_plain};
use crate::stream::Stream;
use crate::stream::event::EventPromise;
use crate::sync::deferred_commands::{self, DeferredCommands};
use crate::sync::mutation::{self, Bug};

/// Deferred commands that another one comes after.
pub type Before<D> = deferred_commands::Before<Arc<EventPromise<D>>>;

/// The queue's deferred commands.
pub struct Deferral<D: Driver> {
    commands: DeferredCommands<Arc<EventPromise<D>>, Error>,
    /// The stream that events of deferred commands of an out-of-order queue name, and that nothing is put on.
    nowhere: OnceLock<Arc<Stream<D>>>,
}

impl<D: Driver> Default for Deferral<D> {
    fn default() -> Self {
        Self { commands: DeferredCommands::new(), nowhere: OnceLock::new() }
    }
}

/// The queue that this thread submits a deferred command to, by its address, and when the application enqueued that.
#[derive(Clone, Copy)]
pub(crate) struct Placing {
    queue: usize,
    /// When the application enqueued the command.
    pub(crate) queued: u64,
    /// Whether a function of the application runs, whose commands are its own.
    pub(crate) calls_out: bool,
}

thread_local! {
    static PLACING: Cell<Option<Placing>> = const { Cell::new(None) };
}

fn is_open<D: Driver>(promise: &Arc<EventPromise<D>>) -> bool {
    promise.outcome().is_none()
}

/// When the application asked for what this thread is submitting to the queue.
pub(crate) fn queued<D: Driver>(queue: &Queue<D>) -> u64 {
    placing(queue).filter(|placing| !placing.calls_out).map_or_else(host_time_ns, |placing| placing.queued)
}

/// A queue's address.
pub(crate) fn address<D: Driver>(queue: &Queue<D>) -> usize {
    core::ptr::from_ref(queue).addr()
}

/// The deferred command of that queue that this thread is submitting.
pub(crate) fn placing<D: Driver>(queue: &Queue<D>) -> Option<Placing> {
    PLACING.get().filter(|placing| placing.queue == address(queue))
}

/// A thread's turn at submitting a deferred command, or at a function of the application in such a turn.
pub(crate) struct PlacingTurn(Option<Placing>);

impl PlacingTurn {
    /// From now on this thread submits a command of that queue.
    pub(crate) fn begin<D: Driver>(queue: &Queue<D>, queued: u64) -> Self {
        Self(PLACING.replace(Some(Placing { queue: address(queue), queued, calls_out: false })))
    }

    /// From now on a function of the application runs. What it enqueues on the queue is no part of a deferred command's list.
    pub(crate) fn call_out() -> Self {
        let before = PLACING.get();
        PLACING.set(before.map(|placing| Placing { calls_out: true, ..placing }));
        Self(before)
    }
}

impl Drop for PlacingTurn {
    fn drop(&mut self) {
        PLACING.set(self.0);
    }
}

impl<D: Driver> Queue<D> {
    /// Whether commands are kept. Never while the queue is plain.
    #[inline]
    pub fn is_deferring(&self) -> bool {
        self.deferral.commands.are_there()
    }

    /// As [`Queue::is_deferring`] where the last reference is given back, for what the end of the last command does otherwise.
    pub(super) fn keeps_commands(&self) -> bool {
        self.deferral.commands.are_left()
    }

    /// Notes one more deferred command, and answers what it comes after by the queue's own order.
    pub fn begin_deferred(&self, promise: &Arc<EventPromise<D>>, comes_after_everything: bool) -> Before<D> {
        let joins = self.is_in_order() || comes_after_everything || mutation::is(Bug::FailureTooFar);
        self.deferral.commands.begin(Arc::clone(promise), joins, is_open, || self.plain.store(false, Ordering::Relaxed))
    }

    /// Notes that a deferred command is on its stream, or never will be. Whoever finds the queue without deferred commands
    /// finds all that they did.
    pub fn end_deferred(&self, promise: &Arc<EventPromise<D>>, failure: Option<&Error>) {
        self.deferral.commands.end(Arc::clone(promise), failure.cloned());
    }

    /// Notes that whoever waits for a deferred command that has ended has heard of it.
    pub fn have_told_deferred(&self, promise: &Arc<EventPromise<D>>) {
        let is_it = |told: &Arc<EventPromise<D>>| Arc::ptr_eq(told, promise);
        self.deferral.commands.have_told(is_it, |is_clear| self.restore_plain(is_clear));
    }

    /// Blocks until every command that is deferred now has been submitted, or never will be, and is known to be. For a function of
    /// the application's in the turn of one of them it is not waited: that one ends behind it.
    pub fn wait_for_submission(&self) {
        if placing(self).is_some() {
            return;
        }
        for promise in self.deferral.commands.last() {
            // What became of it is told by its event, and by the next finish.
            let _ = promise.wait();
        }
    }

    /// Whether everything was submitted so far, and is known to be.
    pub fn is_submitted(&self) -> bool {
        self.is_plain() || self.deferral.commands.are_told(is_open)
    }

    /// The first failure of a deferred command that no finish has told yet.
    ///
    /// # Errors
    /// That failure.
    pub fn tell_failure(&self) -> Result<()> {
        let failure = self.deferral.commands.take_failure(|is_clear| self.restore_plain(is_clear));
        failure.map_or(Ok(()), Err)
    }

    /// The stream that the events of deferred commands name.
    pub fn stream_of_deferred(&self) -> &Arc<Stream<D>> {
        if self.is_in_order() {
            return self.first();
        }
        let registry = &self.context.registry;
        self.deferral.nowhere.get_or_init(|| Stream::without_stream(Arc::clone(&self.device), registry))
    }

    /// A queue is plain again when nothing is left of what made it otherwise.
    fn restore_plain(&self, is_clear: bool) {
        let captures = self.capturing.load(Ordering::Acquire);
        self.plain.store(is_plain(self.flags) && is_clear && !captures, Ordering::Relaxed);
    }

    /// A capture has begun. Behind the same lock, so that a command which ends now does not make the queue plain again.
    pub(super) fn make_plain_no_more(&self) {
        self.deferral.commands.ask(|_| self.plain.store(false, Ordering::Relaxed));
    }

    /// As [`Queue::restore_plain`], after a capture.
    pub(super) fn restore_plain_after_capture(&self) {
        self.deferral.commands.ask(|is_clear| self.restore_plain(is_clear));
    }
}
