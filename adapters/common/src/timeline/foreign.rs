//! Timelines that another API made: a semaphore with values, imported.
//!
//! What this adapter's queues and the host signal is known as for any timeline, and waited for as any event. Of other values
//! nobody here knows whether they were submitted: a queue waits for one natively, at once, so the other API's signal must have
//! been submitted before, or must not need what comes later on this device. The host cannot wait for one, since no native
//! library tells a semaphore's value. Signals of the other API must not be mixed with such of smaller values that are still
//! on their way.

use std::sync::Arc;

use ur_ffi::{ur_command_t, ur_result_t};

use crate::command::deferral;
use crate::command::{Enqueue, OwnEvent, Request, barrier};
use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::Handles;
use crate::timeline::Timeline;
use crate::timeline::values::{Known, Values};

/// What a queue does with a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Waits for the value.
    Wait,
    /// Signals it.
    Signal,
}

/// Another API's semaphore with values.
pub trait Foreign<D: Driver>: Send + Sync {
    /// Enqueues a native wait or signal.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a queue of another context or device; what the native library answers.
    fn put(&self, request: &Request<'_, D>, value: u64, what: Use) -> Result<()>;

    /// Signals a value from the host, which is reached when this returns.
    ///
    /// # Errors
    /// What the native library answers.
    fn signal(&self, value: u64) -> Result<()>;
}

/// What cannot be done with a timeline of another API.
#[cold]
pub(super) fn unsupported<T>(what: &str) -> Result<T> {
    Err(Error::unsupported(&format!("{what} of a timeline over another API's semaphore")))
}

impl<D: Driver> Values<D> {
    /// Refuses what needs to be told a value that only the other API knows.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE`.
    pub(super) fn check_is_known(&self, value: u64, what: &str) -> Result<()> {
        let is_unknown = self.foreign().is_some() && matches!(self.known(value), Known::Nothing);
        if is_unknown { unsupported(what) } else { Ok(()) }
    }
}

/// The one timeline of a list, which is another API's.
type Only<'a, D> = (&'a Arc<Values<D>>, &'a dyn Foreign<D>, u64);

fn only<'a, D: Driver>(timelines: &Handles<'a, Timeline<D>>, values: &[u64]) -> Result<Only<'a, D>> {
    let timeline = timelines.iter().next().map(|timeline| timeline.values());
    match (timeline.and_then(|shared| Some((shared, shared.foreign()?))), values) {
        (Some((shared, foreign)), [value]) => Ok((shared, foreign, *value)),
        _ => unsupported("a list with others"),
    }
}

/// As [`super::enqueue::signal`]; `None` if no timeline is another API's.
pub(super) fn signal<D: Driver>(
    enqueue: &Enqueue<'_, D>,
    timelines: &Handles<'_, Timeline<D>>,
    values: &[u64],
) -> Option<Result<()>> {
    let is_foreign = timelines.iter().any(|timeline| timeline.values().foreign().is_some());
    is_foreign.then(|| signal_only(enqueue, only(timelines, values)?))
}

fn signal_only<D: Driver>(enqueue: &Enqueue<'_, D>, (shared, foreign, value): Only<'_, D>) -> Result<()> {
    let (queue, command) = (enqueue.queue, ur_command_t::TIMELINE_SIGNAL_EXT);
    let (mut before, mut own) = (OwnEvent::new(), OwnEvent::new());
    let request = Request { queue, command, waits: enqueue.waits.again(), event: before.out() };
    request.refuse_in_capture("a signal of a timeline")?;
    if request.join_must_be_deferred() {
        return deferral::not_deferrable("a signal of a timeline over another API's semaphore");
    }
    shared.reserve(value)?;
    // The signal itself is on one stream of the queue's.
    let put = barrier::wait(&request).and_then(|()| {
        foreign.put(&Request { queue, command, waits: before.waits()?, event: own.out() }, value, Use::Signal)
    });
    put.inspect_err(|_| shared.take_back(value))?;
    let made = own.waits()?.iter().next().map(Object::to_arc).ok_or(ur_result_t::ERROR_UNKNOWN)?;
    if !enqueue.event.is_null() {
        enqueue.event.write(Object::retain_handle(&made));
    }
    shared.publish(value, made);
    Ok(())
}

/// As [`super::enqueue::wait`]; `None` if all values are known.
pub(super) fn wait<D: Driver>(
    enqueue: &Enqueue<'_, D>,
    timelines: &Handles<'_, Timeline<D>>,
    values: &[u64],
) -> Option<Result<()>> {
    let is_unknown = |(timeline, value): (&Object<Timeline<D>>, &u64)| {
        timeline.values().foreign().is_some() && matches!(timeline.values().known(*value), Known::Nothing)
    };
    timelines.iter().zip(values).any(is_unknown).then(|| wait_for_only(enqueue, only(timelines, values)?))
}

fn wait_for_only<D: Driver>(enqueue: &Enqueue<'_, D>, (_, foreign, value): Only<'_, D>) -> Result<()> {
    let (queue, command) = (enqueue.queue, ur_command_t::TIMELINE_WAIT_EXT);
    let mut own = OwnEvent::new();
    let request = Request { queue, command, waits: enqueue.waits.again(), event: own.out() };
    request.refuse_in_capture("a wait for a timeline")?;
    foreign.put(&request, value, Use::Wait)?;
    // All later commands come after it, whatever their stream.
    barrier::put(&Request { queue, command, waits: own.waits()?, event: enqueue.event.again() })
}
