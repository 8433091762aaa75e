//! A timeline's values: what was reached, what was submitted, and who waits for what was not.
//!
//! Of a signal that was submitted the event is kept until the value is known to be reached; signals are looked at when there
//! are twice as many as were open the last time, so a timeline costs what its open signals cost. A wait for a value is
//! satisfied by any signal of it or of a larger one; it takes the smallest that was submitted.

use core::mem::take;
use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use smallvec::SmallVec;
use ur_ffi::{ur_command_t, ur_queue_flags_t, ur_result_t};

use crate::context::Context;
use crate::device::drain;
use crate::driver::{Driver, StreamKind};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::queue::Queue;
use crate::stream::Stream;
use crate::stream::event::{Event, EventPromise};
use crate::stream::promise::{Outcome, Promise};
use crate::sync::mutation::{self, Bug};
use crate::timeline::host_wait::Watchers;

/// An event that the engine holds.
pub(super) type SharedEvent<D> = Arc<Object<Event<D>>>;

/// Open signals that are not worth looking at.
const FEW: usize = 32;

/// The values.
pub struct Values<D: Driver> {
    context: Arc<Object<Context<D>>>,
    /// What events of values belong to: a queue that nothing is put on.
    home: Arc<Object<Queue<D>>>,
    /// An event that is complete.
    complete: SharedEvent<D>,
    state: Mutex<State<D>>,
    watchers: Arc<Watchers>,
}

struct State<D: Driver> {
    /// The largest value that is known to be reached.
    reached: u64,
    /// The largest value that was signalled, reached or not.
    signalled: u64,
    /// Signals whose end is not known.
    open: BTreeMap<u64, Open<D>>,
    /// How many there may be before they are looked at.
    most_open: usize,
    /// Those who wait for a value that nobody has signalled.
    promises: BTreeMap<u64, Arc<EventPromise<D>>>,
    failure: Option<Error>,
}

struct Open<D: Driver> {
    event: SharedEvent<D>,
    /// Whether threads that wait hear of its end.
    is_watched: bool,
}

/// What is known of a value.
pub(super) enum Known<D: Driver> {
    /// It is reached.
    Reached,
    /// Its signal is on a stream.
    Submitted(SharedEvent<D>),
    /// It never will be.
    Failed(Error),
    /// Nobody has signalled it.
    Nothing,
}

impl<D: Driver> State<D> {
    fn known(&self, value: u64) -> Known<D> {
        if value <= self.reached {
            return Known::Reached;
        }
        match (self.open.range(value..).next(), &self.failure) {
            (Some((_, open)), _) => Known::Submitted(Arc::clone(&open.event)),
            (None, Some(failure)) => Known::Failed(failure.clone()),
            (None, None) => Known::Nothing,
        }
    }

    /// Whether that can be signalled next.
    fn check_signal(&self, value: u64) -> Result<()> {
        if let Some(failure) = &self.failure {
            let text = format!("the timeline has failed and takes no more signals; the cause: {failure}");
            return Err(Error::new(ur_result_t::ERROR_INVALID_OPERATION, text));
        }
        if value <= self.signalled {
            let text = format!("a signal of {value} on a timeline whose last is {}; values only grow", self.signalled);
            return Err(Error::new(ur_result_t::ERROR_INVALID_VALUE, text));
        }
        Ok(())
    }

    /// Notes that a value is reached; gives out what is through with that.
    fn reach(&mut self, value: u64) -> BTreeMap<u64, Open<D>> {
        if value <= self.reached {
            return BTreeMap::new();
        }
        self.reached = value;
        let open = value.checked_add(1).map_or_else(BTreeMap::new, |next| self.open.split_off(&next));
        core::mem::replace(&mut self.open, open)
    }

    /// The promises that a signal of that value keeps.
    fn take_promises(&mut self, value: u64) -> Vec<Arc<EventPromise<D>>> {
        if self.promises.is_empty() {
            return Vec::new();
        }
        let later = value.checked_add(1).map_or_else(BTreeMap::new, |next| self.promises.split_off(&next));
        core::mem::replace(&mut self.promises, later).into_values().collect()
    }
}

impl<D: Driver> Values<D> {
    /// The values of a new timeline.
    ///
    /// # Errors
    /// What the native library answers.
    pub(super) fn new(context: &Object<Context<D>>, initial: u64) -> Result<Arc<Self>> {
        let device = context.first_state()?;
        let stream = Stream::without_stream(Arc::clone(&device), &context.registry);
        stream.note_completed(1);
        let flags = ur_queue_flags_t::empty();
        let home = Queue::over_stream(context, device, flags, StreamKind::default(), Arc::clone(&stream));
        let complete = Event::new(Arc::clone(&home) as _, stream, 1, ur_command_t::TIMELINE_SIGNAL_EXT, None);
        let state = State {
            reached: initial,
            signalled: initial,
            open: BTreeMap::new(),
            most_open: FEW,
            promises: BTreeMap::new(),
            failure: None,
        };
        Ok(Arc::new(Self {
            context: context.to_arc(),
            home,
            complete: Object::new(complete),
            state: Mutex::new(state),
            watchers: Arc::default(),
        }))
    }

    /// The context it was made in.
    pub fn context(&self) -> &Arc<Object<Context<D>>> {
        &self.context
    }

    /// The threads that wait for it.
    pub(super) fn watchers(&self) -> &Arc<Watchers> {
        &self.watchers
    }

    /// An event that is complete.
    pub(super) fn complete(&self) -> &SharedEvent<D> {
        &self.complete
    }

    /// How many signals are kept.
    pub fn open(&self) -> usize {
        self.state.lock().open.len()
    }

    /// Why it has failed.
    pub fn failure(&self) -> Option<Error> {
        self.state.lock().failure.clone()
    }

    pub(super) fn known(&self, value: u64) -> Known<D> {
        self.state.lock().known(value)
    }

    /// An event that completes when the value is reached.
    pub fn event(&self, value: u64) -> SharedEvent<D> {
        let promise = self.promise(value);
        let stream = Arc::clone(self.home.first());
        Object::new(Event::deferred(Arc::clone(&self.home) as _, stream, ur_command_t::TIMELINE_WAIT_EXT, promise))
    }

    /// What stands for the value: of one that was signalled or has failed, it is resolved.
    pub(super) fn promise(&self, value: u64) -> Arc<EventPromise<D>> {
        let outcome = {
            let mut state = self.state.lock();
            match state.known(value) {
                Known::Reached => Outcome::Submitted(Some(Arc::clone(&self.complete))),
                Known::Submitted(event) => Outcome::Submitted(Some(event)),
                Known::Failed(cause) => Outcome::Failed(cause),
                Known::Nothing => {
                    return Arc::clone(state.promises.entry(value).or_insert_with(Promise::of_timepoint));
                }
            }
        };
        let promise = Promise::of_timepoint();
        promise.resolve(outcome);
        promise
    }

    /// A signal from the host.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a value that does not grow, `INVALID_OPERATION` after a failure.
    pub fn signal(&self, value: u64) -> Result<()> {
        let (promises, through) = {
            let mut state = self.state.lock();
            state.check_signal(value)?;
            state.signalled = value;
            (state.take_promises(value), state.reach(value))
        };
        drop(through);
        self.keep_promises(promises, &self.complete);
        Ok(())
    }

    fn keep_promises(&self, promises: Vec<Arc<EventPromise<D>>>, event: &SharedEvent<D>) {
        if !promises.is_empty() {
            drain::batch(|| {
                let outcome = || Outcome::Submitted(Some(Arc::clone(event)));
                promises.into_iter().for_each(|promise| promise.resolve(outcome()));
            });
        }
        self.watchers.wake();
    }

    /// Makes it fail: values that were signalled are reached still, others never.
    ///
    /// # Errors
    /// `INVALID_OPERATION` if it has failed before; the first cause stays.
    pub fn fail(&self, cause: &Error) -> Result<()> {
        let promises = {
            let mut state = self.state.lock();
            if let Some(before) = &state.failure {
                let text = format!("the timeline has failed before, and the first cause stays: {before}");
                return Err(Error::new(ur_result_t::ERROR_INVALID_OPERATION, text));
            }
            state.failure = Some(cause.clone());
            take(&mut state.promises)
        };
        break_promises(promises, cause);
        self.watchers.wake();
        Ok(())
    }

    /// Notes a signal that is about to be submitted, so that no other is between; answers the one before.
    ///
    /// # Errors
    /// As [`Values::signal`].
    pub(super) fn reserve(&self, value: u64) -> Result<u64> {
        let mut state = self.state.lock();
        state.check_signal(value)?;
        Ok(core::mem::replace(&mut state.signalled, value))
    }

    /// Whether a signal could be submitted now.
    ///
    /// # Errors
    /// As [`Values::signal`].
    pub(super) fn check_signal(&self, value: u64) -> Result<()> {
        self.state.lock().check_signal(value)
    }

    /// Takes back what [`Values::reserve`] noted, unless there was a signal since.
    pub(super) fn take_back(&self, value: u64, before: u64) {
        let mut state = self.state.lock();
        if state.signalled == value {
            state.signalled = before;
        }
    }

    /// Notes the event of a signal that was reserved and then submitted.
    pub(super) fn publish(&self, value: u64, event: &SharedEvent<D>) {
        let (promises, are_many) = {
            let mut state = self.state.lock();
            if value > state.reached {
                state.open.insert(value, Open { event: Arc::clone(event), is_watched: false });
            }
            let promises = if mutation::is(Bug::TimelineSignalLost) { Vec::new() } else { state.take_promises(value) };
            (promises, state.open.len() > state.most_open)
        };
        self.keep_promises(promises, event);
        if are_many {
            self.look();
            let mut state = self.state.lock();
            state.most_open = FEW.max(2 * state.open.len());
        }
    }

    /// The largest value that is reached.
    pub fn reached(&self) -> u64 {
        self.look();
        self.state.lock().reached
    }

    /// Asks for open signals: first for the last one, then for the next of each stream as long as one is complete.
    fn look(&self) {
        let last = self.state.lock().open.last_key_value().map(|(value, open)| (*value, Arc::clone(&open.event)));
        let Some((value, event)) = last else { return };
        if self.is_complete(value, &event) {
            return;
        }
        loop {
            let next = self.state.lock().reached.saturating_add(1);
            if !self.next_signals(next, false).iter().any(|(value, event)| self.is_complete(*value, event)) {
                return;
            }
        }
    }

    /// Whether a value is reached, as far as can be told without waiting.
    pub(super) fn is_reached(&self, value: u64) -> bool {
        let is_known = || value <= self.state.lock().reached;
        is_known() || self.next_signals(value, false).iter().any(|(value, event)| self.is_complete(*value, event))
    }

    /// The first signal of a value or a larger one on each stream; `to_watch` leaves out those that are watched and marks
    /// the others.
    pub(super) fn next_signals(&self, value: u64, to_watch: bool) -> SmallVec<[(u64, SharedEvent<D>); 4]> {
        let mut found = SmallVec::<[(u64, SharedEvent<D>); 4]>::new();
        let mut streams = SmallVec::<[*const Stream<D>; 4]>::new();
        let mut state = self.state.lock();
        for (value, open) in state.open.range_mut(value..).take(2 * FEW) {
            let stream = Arc::as_ptr(&open.event.stream);
            if streams.contains(&stream) {
                continue;
            }
            streams.push(stream);
            if !(to_watch && open.is_watched) {
                open.is_watched |= to_watch;
                found.push((*value, Arc::clone(&open.event)));
            }
        }
        found
    }

    /// Whether a signal's command is complete. A device that cannot say so any more is lost, and the timeline fails.
    fn is_complete(&self, value: u64, event: &Event<D>) -> bool {
        match event.is_complete() {
            Ok(true) => {
                let through = self.state.lock().reach(value);
                drop(through);
                true
            }
            Ok(false) => false,
            Err(cause) => {
                self.lose(value, &cause);
                false
            }
        }
    }

    /// Notes that a signal will never be complete.
    pub(super) fn lose(&self, value: u64, cause: &Error) {
        let lost = self.state.lock().open.remove(&value);
        drop(lost);
        // The first cause stays.
        let _ = self.fail(cause);
    }
}

fn break_promises<D: Driver>(promises: BTreeMap<u64, Arc<EventPromise<D>>>, cause: &Error) {
    drain::batch(|| promises.into_values().for_each(|promise| promise.resolve(Outcome::Failed(cause.clone()))));
}

impl<D: Driver> Drop for Values<D> {
    /// Nobody is left to signal it: no handle, and no signal that is kept.
    fn drop(&mut self) {
        let promises = take(&mut self.state.get_mut().promises);
        if !promises.is_empty() {
            let text = "the timeline was released, and nobody is left who could signal the value";
            break_promises(promises, &Error::new(ur_result_t::ERROR_INVALID_OPERATION, text));
        }
    }
}
