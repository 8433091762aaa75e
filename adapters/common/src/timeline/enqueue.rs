//! Waits for timelines and signals of timelines as commands of a queue.
//!
//! A wait is a barrier whose list has the values' events beside the caller's. A signal is a wait for what comes before it, whose
//! event then is the signal's; if that is deferred, the signal is made when it is submitted.

use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{ur_command_t, ur_result_t};

use crate::command::{Enqueue, OwnEvent, Request, barrier};
use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::{HandleList, Handles};
use crate::stream::event::WaitList;
use crate::stream::promise::{Dependent, Outcome};
use crate::timeline::Timeline;
use crate::timeline::values::{Known, SharedEvent, Values};

/// `urEnqueueTimelineWaitExt`.
///
/// # Errors
/// `IN_EVENT_LIST_EXEC_STATUS` for a timeline that has failed before it reached its value; as a barrier's.
pub fn wait<D: Driver>(enqueue: Enqueue<'_, D>, timelines: Handles<'_, Timeline<D>>, values: &[u64]) -> Result<()> {
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
    match values.known(value) {
        // In the list all the same: a barrier with an empty one waits for everything.
        Known::Reached => Arc::clone(values.complete()),
        Known::Submitted(event) => event,
        Known::Failed(_) | Known::Nothing => values.event(value),
    }
}

/// The signals of one command.
struct Signals<D: Driver>(SmallVec<[(Arc<Values<D>>, u64); 1]>);

/// `urEnqueueTimelineSignalExt`.
///
/// # Errors
/// `INVALID_VALUE` for a value that does not grow or a timeline that stands in the list twice, `INVALID_OPERATION` for a
/// timeline that has failed; as a wait's. No timeline has changed then.
pub fn signal<D: Driver>(enqueue: Enqueue<'_, D>, timelines: Handles<'_, Timeline<D>>, values: &[u64]) -> Result<()> {
    let shared = timelines.iter().map(|timeline| Arc::clone(timeline.values()));
    let signals = Signals(shared.zip(values.iter().copied()).collect());
    signals.check()?;
    let Enqueue { queue, waits, event } = enqueue;
    let mut own = OwnEvent::new();
    let request = Request { queue, command: ur_command_t::TIMELINE_SIGNAL_EXT, waits, event: own.out() };
    request.refuse_in_capture("a signal of a timeline")?;
    let reserved = if request.join_must_be_deferred() { None } else { Some(signals.reserve()?) };
    let taken_back = |before: &Option<Before>| before.iter().for_each(|before| signals.take_back(before));
    let put = barrier::wait(&request);
    put.inspect_err(|_| taken_back(&reserved))?;
    let Some(made) = own.waits()?.iter().next().map(Object::to_arc) else {
        return Err(ur_result_t::ERROR_UNKNOWN.into());
    };
    if !event.is_null() {
        event.write(Object::retain_handle(&made));
    }
    match made.as_deferred() {
        None => signals.publish(&made),
        Some(promise) => {
            // Another thread may have made the queue keep its commands meanwhile.
            taken_back(&reserved);
            promise.add(Arc::new(signals));
        }
    }
    Ok(())
}

/// The last signals before those that were reserved.
type Before = SmallVec<[u64; 1]>;

impl<D: Driver> Signals<D> {
    fn check(&self) -> Result<()> {
        for (place, (values, value)) in self.0.iter().enumerate() {
            if self.0[..place].iter().any(|(before, _)| Arc::ptr_eq(before, values)) {
                let text = "a timeline stands in phTimelines twice; signal its last value alone";
                return Err(Error::new(ur_result_t::ERROR_INVALID_VALUE, text));
            }
            values.check_signal(*value)?;
        }
        Ok(())
    }

    /// Notes all of the signals or none.
    fn reserve(&self) -> Result<Before> {
        let mut before = Before::new();
        for (values, value) in &self.0 {
            match values.reserve(*value) {
                Ok(last) => before.push(last),
                Err(error) => {
                    self.take_back(&before);
                    return Err(error);
                }
            }
        }
        Ok(before)
    }

    fn take_back(&self, before: &[u64]) {
        for ((values, value), before) in self.0.iter().zip(before) {
            values.take_back(*value, *before);
        }
    }

    fn publish(&self, event: &SharedEvent<D>) {
        self.0.iter().for_each(|(values, value)| values.publish(*value, event));
    }
}

/// Signals whose command was deferred: they are made once it is submitted, and fail with it.
impl<D: Driver> Dependent<SharedEvent<D>> for Signals<D> {
    fn resolved(self: Arc<Self>, outcome: &Outcome<SharedEvent<D>>) {
        match outcome {
            Outcome::Submitted(event) => {
                for (values, value) in &self.0 {
                    match (values.reserve(*value), event) {
                        (Ok(_), Some(event)) => values.publish(*value, event),
                        // Nobody can be told but by the timeline, and those who wait must not wait for ever. One that has
                        // failed before stays as it is.
                        (Ok(_), None) => values.lose(*value, &ur_result_t::ERROR_UNKNOWN.into()),
                        (Err(refused), _) => drop(values.fail(&refused)),
                    }
                }
            }
            Outcome::Failed(cause) => self.0.iter().for_each(|(values, _)| drop(values.fail(cause))),
        }
    }
}
