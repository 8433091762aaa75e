//! What a queue knows of its deferred commands: those behind a wait for what nobody has submitted.
//!
//! A queue with deferred commands is not plain. In order, each later command comes after the deferred one before it and is
//! deferred too, until all have been submitted; out of order only what depends on a deferred command is. The commands are
//! [`crate::command::deferral`]'s. The lock is a leaf, and nothing is dropped or called while it is held.

use core::mem::take;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use smallvec::SmallVec;

use crate::driver::Driver;
use crate::object::error::{Error, Result};
use crate::queue::{Queue, is_plain};
use crate::stream::Stream;
use crate::stream::event::EventPromise;
use crate::sync::mutation::{self, Bug};

/// Deferred commands that another one comes after.
pub type Before<D> = SmallVec<[Arc<EventPromise<D>>; 1]>;

/// The queue's account of its deferred commands.
pub struct Deferral<D: Driver> {
    is_deferring: AtomicBool,
    state: Mutex<State<D>>,
    /// The stream that events of deferred commands of an out-of-order queue name, and that nothing is put on.
    nowhere: OnceLock<Arc<Stream<D>>>,
}

struct State<D: Driver> {
    /// Deferred commands.
    open: usize,
    /// What comes before a command that comes after everything: the last one in order, else all since the last that came after
    /// everything.
    last: Before<D>,
    /// How many there may be before those that are through are left out.
    most: usize,
    /// Why a deferred command was not submitted, until a finish has told it.
    failure: Option<Error>,
}

impl<D: Driver> Default for Deferral<D> {
    fn default() -> Self {
        let state = State { open: 0, last: SmallVec::new(), most: FEW, failure: None };
        Self { is_deferring: AtomicBool::new(false), state: Mutex::new(state), nowhere: OnceLock::new() }
    }
}

/// So many are not worth looking through.
const FEW: usize = 16;

impl<D: Driver> Queue<D> {
    /// Whether commands are kept. Never while the queue is plain.
    #[inline]
    pub fn is_deferring(&self) -> bool {
        self.deferral.is_deferring.load(Ordering::Acquire)
    }

    /// Notes one more deferred command, and answers what it comes after by the queue's own order.
    pub fn begin_deferred(&self, promise: &Arc<EventPromise<D>>, comes_after_everything: bool) -> Before<D> {
        let joins = self.is_in_order() || comes_after_everything || mutation::is(Bug::FailureTooFar);
        let mut through = Before::<D>::new();
        let mut state = self.deferral.state.lock();
        state.open += 1;
        self.deferral.is_deferring.store(true, Ordering::Release);
        self.restore_plain(&state);
        let before = if joins { take(&mut state.last) } else { Before::<D>::new() };
        if state.last.len() >= state.most {
            let (open, done) = take(&mut state.last).into_iter().partition(|promise| promise.outcome().is_none());
            (state.last, through) = (open, done);
            state.most = FEW.max(2 * state.last.len());
        }
        state.last.push(Arc::clone(promise));
        drop(state);
        drop(through);
        before
    }

    /// Notes that a deferred command is on its stream, or never will be.
    pub fn end_deferred(&self, failure: Option<&Error>) {
        let mut state = self.deferral.state.lock();
        state.open -= 1;
        if let Some(failure) = failure {
            state.failure.get_or_insert_with(|| failure.clone());
        }
        let through = if state.open == 0 { take(&mut state.last) } else { Before::<D>::new() };
        if state.open == 0 {
            self.deferral.is_deferring.store(false, Ordering::Release);
            self.restore_plain(&state);
        }
        drop(state);
        drop(through);
    }

    /// Blocks until every command that is deferred now has been submitted, or never will be.
    pub fn wait_for_submission(&self) {
        let last = self.deferral.state.lock().last.clone();
        for promise in last {
            // What became of it is told by its event, and by the next finish.
            let _ = promise.wait();
        }
    }

    /// Whether everything was submitted so far.
    pub fn is_submitted(&self) -> bool {
        !self.is_deferring()
    }

    /// The first failure of a deferred command that no finish has told yet.
    ///
    /// # Errors
    /// That failure.
    pub fn tell_failure(&self) -> Result<()> {
        let mut state = self.deferral.state.lock();
        let failure = state.failure.take();
        self.restore_plain(&state);
        drop(state);
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
    fn restore_plain(&self, state: &State<D>) {
        let nothing_kept = state.open == 0 && state.failure.is_none();
        let captures = self.capturing.load(Ordering::Acquire);
        self.plain.store(is_plain(self.flags) && nothing_kept && !captures, Ordering::Relaxed);
    }

    /// As [`Queue::restore_plain`], after a capture.
    pub(super) fn restore_plain_after_capture(&self) {
        self.restore_plain(&self.deferral.state.lock());
    }
}
