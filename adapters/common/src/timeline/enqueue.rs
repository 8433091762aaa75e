//! Waits for timelines and signals of timelines as commands of a queue.
//!
//! A wait is a barrier whose list has the values' events beside the caller's. A signal is a wait for what comes before it, whose
//! event then is the signal's; if that is deferred, the signal is made when it is submitted.

use core::cell::Cell;
use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;
use ur_ffi::{ur_command_t, ur_result_t};

use crate::command::barrier::{self, AtTurn};
use crate::command::{Enqueue, OwnEvent, Request};
use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::{HandleList, Handles};
use crate::stream::event::{EventPromise, WaitList};
use crate::stream::promise::{Dependent, Outcome};
use crate::timeline::values::{Known, SharedEvent, Values};
use crate::timeline::{Timeline, fast, foreign};

/// `urEnqueueTimelineWaitExt`.
///
/// # Errors
/// `IN_EVENT_LIST_EXEC_STATUS` for a timeline that has failed before it reached its value; as a barrier's.
pub fn wait<D: Driver>(enqueue: Enqueue<'_, D>, timelines: Handles<'_, Timeline<D>>, values: &[u64]) -> Result<()> {
    if let Some(waited) = fast::wait(&enqueue, &timelines, values) {
        return waited;
    }
    if let Some(waited) = foreign::wait(&enqueue, &timelines, values) {
        return waited;
    }
    let Enqueue { queue, waits, event } = enqueue;
    let mut list: SmallVec<[SharedEvent<D>; 4]> = waits.iter().map(Object::to_arc).collect();
    list.extend(timelines.iter().zip(values).map(|(timeline, value)| event_of(timeline.values(), *value)));
    let list = HandleList::new(&list);
    let request = Request { queue, command: ur_command_t::TIMELINE_WAIT_EXT, waits: WaitList::of(&list), event };
    request.refuse_in_capture("a wait for a timeline")?;
    barrier::put(&request)
}

/// The shortest way to a value's event.
fn event_of<D: Driver>(values: &Values<D>, value: u64) -> SharedEvent<D> {
    values.hear_others();
    match values.known(value) {
        // In the list all the same: a barrier with an empty one waits for everything.
        Known::Reached => Arc::clone(values.complete()),
        Known::Submitted(event) => event,
        Known::Failed(_) | Known::Nothing => values.event(value),
    }
}

/// The signals of one command.
struct Signals<D: Driver> {
    list: SmallVec<[(Arc<Values<D>>, u64); 1]>,
    /// Of a deferred command, what its turn made of each signal.
    made: OnceLock<SmallVec<[Result<()>; 1]>>,
}

/// `urEnqueueTimelineSignalExt`.
///
/// # Errors
/// `INVALID_VALUE` for a value that does not grow or a timeline that stands in the list twice, `INVALID_OPERATION` for a
/// timeline that has failed; as a wait's. No timeline has changed then.
pub fn signal<D: Driver>(enqueue: Enqueue<'_, D>, timelines: Handles<'_, Timeline<D>>, values: &[u64]) -> Result<()> {
    if let Some(signalled) = fast::signal(&enqueue, &timelines, values) {
        return signalled;
    }
    if let Some(signalled) = foreign::signal(&enqueue, &timelines, values) {
        return signalled;
    }
    let shared = timelines.iter().map(|timeline| Arc::clone(timeline.values()));
    let signals = Signals { list: shared.zip(values.iter().copied()).collect(), made: OnceLock::new() };
    signals.check()?;
    let Enqueue { queue, waits, event } = enqueue;
    let mut own = OwnEvent::new();
    let request = Request { queue, command: ur_command_t::TIMELINE_SIGNAL_EXT, waits, event: own.out() };
    request.refuse_in_capture("a signal of a timeline")?;
    let is_reserved = !request.join_must_be_deferred();
    if is_reserved {
        signals.reserve()?;
    }
    let is_deferred = Cell::new(false);
    let take_back = || {
        if is_reserved && !is_deferred.get() {
            signals.take_back(signals.list.len());
        }
    };
    let at_turn = |promise: &EventPromise<D>| {
        // Another thread may have made the queue keep its commands meanwhile.
        take_back();
        is_deferred.set(true);
        let signals = Arc::new(signals.to_defer());
        promise.tell_first(Arc::clone(&signals) as _);
        AtTurn::call(move || signals.make())
    };
    let put = barrier::wait_with(&request, &at_turn);
    put.inspect_err(|_| take_back())?;
    let Some(made) = own.waits()?.iter().next().map(Object::to_arc) else {
        return Err(ur_result_t::ERROR_UNKNOWN.into());
    };
    if !is_deferred.get() {
        // Or may have submitted what the queue kept.
        if !is_reserved {
            signals.reserve()?;
        }
        signals.publish(&made);
    }
    if !event.is_null() {
        event.write(Object::retain_handle(&made));
    }
    Ok(())
}

impl<D: Driver> Signals<D> {
    fn check(&self) -> Result<()> {
        for (place, (values, value)) in self.list.iter().enumerate() {
            if self.list[..place].iter().any(|(before, _)| Arc::ptr_eq(before, values)) {
                let text = "a timeline stands in phTimelines twice; signal its last value alone";
                return Err(Error::new(ur_result_t::ERROR_INVALID_VALUE, text));
            }
            values.check_signal(*value)?;
        }
        Ok(())
    }

    /// The same for a command that is deferred.
    fn to_defer(&self) -> Self {
        Self { list: self.list.clone(), made: OnceLock::new() }
    }

    /// Notes all of the signals or none.
    fn reserve(&self) -> Result<()> {
        self.list
            .iter()
            .enumerate()
            .try_for_each(|(place, (values, value))| values.reserve(*value).inspect_err(|_| self.take_back(place)))
    }

    /// Notes each of the signals in its command's turn: whoever finds the queue without the command finds them signalled.
    fn make(&self) {
        let made = self.list.iter().map(|(values, value)| values.reserve(*value)).collect();
        // A command has one turn.
        let _ = self.made.set(made);
    }

    /// Takes back so many signals, the first ones.
    fn take_back(&self, count: usize) {
        self.list[..count].iter().for_each(|(values, value)| values.take_back(*value));
    }

    fn publish(&self, event: &SharedEvent<D>) {
        // Of each of them first: whoever hears of one may know that the command is complete.
        self.list.iter().for_each(|(values, value)| values.publish_when_reached(*value, event));
        self.list.iter().for_each(|(values, value)| values.publish(*value, Arc::clone(event)));
    }
}

/// Signals whose command was deferred: they were made in its turn, and are told of before anybody finds its event complete; they
/// fail with it.
impl<D: Driver> Dependent<SharedEvent<D>> for Signals<D> {
    fn resolved(self: Arc<Self>, outcome: &Outcome<SharedEvent<D>>) {
        match outcome {
            Outcome::Submitted(event) => {
                let signals = || self.list.iter().zip(self.made.get().into_iter().flatten());
                if let Some(event) = event {
                    // As in `publish`.
                    let made = signals().filter(|(_, made)| made.is_ok());
                    made.for_each(|((values, value), _)| values.publish_when_reached(*value, event));
                }
                for ((values, value), made) in signals() {
                    match (made, event) {
                        (Ok(_), Some(event)) => values.publish(*value, Arc::clone(event)),
                        // Nobody can be told but by the timeline, and those who wait must not wait for ever. One that has
                        // failed before stays as it is.
                        (Ok(_), None) => values.lose(*value, &ur_result_t::ERROR_UNKNOWN.into()),
                        (Err(refused), _) => drop(values.fail(refused)),
                    }
                }
            }
            Outcome::Failed(cause) => self.list.iter().for_each(|(values, _)| drop(values.fail(cause))),
        }
    }
}
