//! Waits and barriers: commands that put nothing on a queue but its order.
//!
//! On an in-order queue both are the stream's last command, without a native call. On an out-of-order queue the event comes from
//! the first stream, which waits for the others or for the list; a barrier is what every later command of the queue waits for.

use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{ur_command_t, ur_exp_enqueue_ext_properties_t, ur_result_t};

use crate::command::captured;
use crate::command::deferral::{self, BoundWaits, Deferring, Owned, Place};
use crate::command::reusable_event;
use crate::command::submission::Submission;
use crate::command::{Command, Enqueue, EventOut, Request, erased, submit};
use crate::device::clock::host_time_ns;
use crate::device::event_pool::PooledEvent;
use crate::driver::{Driver, Streams};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::stream::capture::Capture;
use crate::stream::event::{Event, EventPromise, WaitList};
use crate::stream::promise::Promise;
use crate::stream::times::{HostTimes, Stamps};

/// `urEnqueueEventsWait`: an event that completes after the list, or after everything when the list is empty.
///
/// # Errors
/// What the native library answers.
pub fn events_wait<D: Driver>(enqueue: Enqueue<'_, D>) -> Result<()> {
    wait(&enqueue.request(ur_command_t::EVENTS_WAIT))
}

/// As [`events_wait`], for a command of another name.
///
/// # Errors
/// As [`events_wait`].
pub(crate) fn wait<D: Driver>(request: &Request<'_, D>) -> Result<()> {
    if request.queue.is_in_order() {
        in_order_wait(request)
    } else {
        out_of_order_wait(request, &|_| AtTurn::default())
    }
}

/// What a wait that was deferred does in its turn: once it is on its stream, and before anybody finds the queue without it.
#[derive(Default)]
pub(crate) struct AtTurn(Option<Box<dyn FnOnce() + Send>>);

impl AtTurn {
    /// Calls that function.
    pub(crate) fn call(function: impl FnOnce() + Send + 'static) -> Self {
        Self(Some(Box::new(function)))
    }

    fn run(self) {
        self.0.into_iter().for_each(|function| function());
    }
}

/// Asks for that, once the command has its promise and nobody else has it.
pub(crate) type AskAtTurn<'t, D> = &'t dyn Fn(&EventPromise<D>) -> AtTurn;

/// As [`wait`]; `at_turn` is asked for what is to be done if the wait is deferred.
///
/// # Errors
/// As [`wait`].
pub(crate) fn wait_with<D: Driver>(request: &Request<'_, D>, at_turn: AskAtTurn<'_, D>) -> Result<()> {
    if request.queue.is_in_order() { submit(request, Wait { at_turn }) } else { out_of_order_wait(request, at_turn) }
}

/// `urEnqueueEventsWaitWithBarrier`: as [`events_wait`], and later commands wait for it too.
///
/// # Errors
/// What the native library answers.
pub fn barrier<D: Driver>(enqueue: Enqueue<'_, D>) -> Result<()> {
    put(&enqueue.request(ur_command_t::EVENTS_WAIT_WITH_BARRIER))
}

/// As [`barrier`], for a command of another name.
///
/// # Errors
/// As [`barrier`].
pub(crate) fn put<D: Driver>(request: &Request<'_, D>) -> Result<()> {
    if request.queue.is_in_order() {
        return in_order_wait(request);
    }
    if captured::is_wanted(request) {
        return captured::wait_out_of_order(request, true);
    }
    let put = if request.join_must_be_deferred() { None } else { put_barrier(request, &|_| Ok(()))? };
    let event = match put {
        Some(event) => event,
        None => defer_barrier(request, request.queue.is_profiling())?,
    };
    return_recorded_event(&request.event, &event);
    Ok(())
}

/// `urEnqueueEventsWaitWithBarrierExt`: as [`barrier`], but a reusable event that is `given` is signalled, and no other
/// returned. Any other event there is an output's old value. The one property there is, an event whose wait saves power,
/// is a hint, and changes nothing here.
///
/// # Errors
/// As [`barrier`]; `UNSUPPORTED_FEATURE` for a structure chained to the properties.
pub fn barrier_ext<D: Driver>(
    enqueue: Enqueue<'_, D>,
    given: Option<&Object<Event<D>>>,
    properties: Option<&ur_exp_enqueue_ext_properties_t>,
) -> Result<()> {
    if properties.is_some_and(|properties| !properties.pNext.is_null()) {
        return Err(Error::unsupported("an extension structure behind a barrier's properties"));
    }
    match given.filter(|event| event.as_reusable().is_some()) {
        Some(reused) => {
            let request =
                Enqueue { event: EventOut::none(), ..enqueue }.request(ur_command_t::EVENTS_WAIT_WITH_BARRIER);
            reusable_event::signal(&request, reused)
        }
        None => barrier(enqueue),
    }
}

/// Gives the application an event that has a native event of its own, if it asked for one.
pub(crate) fn return_recorded_event<D: Driver>(out: &EventOut<'_>, event: &Arc<Object<Event<D>>>) {
    if !out.is_null() {
        out.write(Object::retain_handle(event));
    }
}

/// On an in-order queue a wait is a matter of the stream alone: no native call when there is nothing to wait
/// for, and the event stands for the stream's last command.
fn in_order_wait<D: Driver>(request: &Request<'_, D>) -> Result<()> {
    submit(request, Nothing)
}

/// On an out-of-order queue the event has a native event of its own from the start.
#[inline(never)]
fn out_of_order_wait<D: Driver>(request: &Request<'_, D>, at_turn: AskAtTurn<'_, D>) -> Result<()> {
    if request.event.is_null() && request.waits.is_empty() {
        return Ok(());
    }
    if captured::is_wanted(request) {
        return captured::wait_out_of_order(request, false);
    }
    let (_, barrier) = request.queue.barrier();
    if request.join_must_be_deferred() {
        return defer_join(request, barrier, at_turn);
    }
    return_recorded_event(
        &request.event,
        &join_streams(request, barrier.as_deref(), &|_| Ok(()), request.queue.is_profiling())?,
    );
    Ok(())
}

/// Keeps a wait of an out-of-order queue, with the barrier that it comes after.
#[cold]
fn defer_join<D: Driver>(
    request: &Request<'_, D>,
    barrier: Option<Arc<Object<Event<D>>>>,
    at_turn: AskAtTurn<'_, D>,
) -> Result<()> {
    let waits = request.bind_waits()?;
    let promise = Promise::of_command();
    let at_turn = at_turn(&promise);
    if !request.event.is_null() {
        request.event.write(Object::into_handle(deferral::event_of(request, &promise)));
    }
    defer_as_join(request, waits, barrier, &promise, at_turn, request.queue.is_profiling());
    Ok(())
}

/// Keeps a barrier of an out-of-order queue, which later commands come after from now on; answers its event, which has times if
/// `is_timed`.
///
/// # Errors
/// As [`Request::bind_waits`].
#[cold]
pub(crate) fn defer_barrier<D: Driver>(request: &Request<'_, D>, is_timed: bool) -> Result<Arc<Object<Event<D>>>> {
    let waits = request.bind_waits()?;
    let (promise, mut before) = (Promise::of_command(), None);
    let event = request.queue.publish_barrier(|barrier| {
        before = barrier.map(Object::to_arc);
        Ok(Some(deferral::event_of(request, &promise)))
    })?;
    defer_as_join(request, waits, before, &promise, AtTurn::default(), is_timed);
    event.ok_or_else(|| ur_result_t::ERROR_UNKNOWN.into())
}

fn defer_as_join<D: Driver>(
    request: &Request<'_, D>,
    waits: BoundWaits<D>,
    barrier: Option<Arc<Object<Event<D>>>>,
    promise: &Arc<EventPromise<D>>,
    at_turn: AtTurn,
    is_timed: bool,
) {
    let joins_everything = request.waits.is_empty();
    let place = if joins_everything { Place::AfterEverything } else { Place::InOrder };
    let work = move |request: &Request<'_, D>| {
        // The barrier, which the list of a deferred command has, is on one of the streams.
        let everything = Request {
            queue: request.queue,
            command: request.command,
            waits: WaitList::none(),
            event: EventOut::none(),
        };
        let request_of_join = if joins_everything { &everything } else { request };
        let joined = join_streams(request_of_join, None, &|_| Ok(()), is_timed)?;
        return_recorded_event(&request.event, &joined);
        at_turn.run();
        Ok(())
    };
    deferral::defer_behind(request, waits, place, barrier, promise, deferral::by_function(work));
}

/// No work, so nothing but the waits in front of it.
pub(crate) struct Nothing;

impl<D: Driver> Command<D> for Nothing {
    type Output = ();

    #[inline(always)]
    fn touches_stream(&self) -> bool {
        false
    }

    #[inline(always)]
    fn put_on(self, _: &mut Submission<'_, D>) -> Result<()> {
        Ok(())
    }

    fn check_capture(&self, _: &Capture<D>) -> Result<()> {
        Ok(())
    }

    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        Ok((deferral::by_function(|request| erased::submit(request, Self)), ()))
    }
}

/// As [`Nothing`], with something to do in its turn if it is deferred.
struct Wait<'t, D: Driver> {
    at_turn: AskAtTurn<'t, D>,
}

impl<D: Driver> Command<D> for Wait<'_, D> {
    type Output = ();

    #[inline(always)]
    fn touches_stream(&self) -> bool {
        false
    }

    #[inline(always)]
    fn put_on(self, _: &mut Submission<'_, D>) -> Result<()> {
        Ok(())
    }

    fn check_capture(&self, _: &Capture<D>) -> Result<()> {
        Ok(())
    }

    fn into_owned(self, deferring: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        let at_turn = (self.at_turn)(deferring.promise);
        let owned = deferral::by_function(move |request| {
            erased::submit(request, Nothing)?;
            at_turn.run();
            Ok(())
        });
        Ok((owned, ()))
    }
}

/// Something that is put on the stream at a barrier's place: nothing, or the record of a reusable event.
pub type AtBarrier<'c, D> = &'c dyn Fn(&<D as Streams>::Stream) -> Result<()>;

/// Puts a barrier on an out-of-order queue's first stream: it comes after the wait list, or after everything without one, and
/// everything later comes after it. `None` if another thread's barrier before it was kept since the caller looked: then this one
/// has to be kept too, or what comes later would know of this one alone.
///
/// # Errors
/// What the native library answers.
pub(crate) fn put_barrier<D: Driver>(
    request: &Request<'_, D>,
    at_barrier: AtBarrier<'_, D>,
) -> Result<Option<Arc<Object<Event<D>>>>> {
    let is_timed = request.queue.is_profiling();
    request.queue.publish_barrier(|before| match before {
        Some(before) if before.is_unresolved() => Ok(None),
        before => join_streams(request, before, at_barrier, is_timed).map(Some),
    })
}

/// An event on an out-of-order queue's first stream after the wait list, or after everything without one.
fn join_streams<D: Driver>(
    request: &Request<'_, D>,
    barrier: Option<&Object<Event<D>>>,
    at_barrier: AtBarrier<'_, D>,
    is_timed: bool,
) -> Result<Arc<Object<Event<D>>>> {
    let queue = request.queue;
    let queued = deferral::queued(queue);
    let others = if request.waits.is_empty() { queue.record_other_streams()? } else { SmallVec::new() };
    let mut submission = Submission::open(queue.first(), &request.waits)?;
    submission.begin_work()?;
    submission.wait_for_markers(&others)?;
    submission.wait_for_events(request.waits.iter().chain(barrier))?;
    // Before the device can get there.
    let host = is_timed.then(|| HostTimes { queued, submitted: host_time_ns() });
    let end = PooledEvent::record(&queue.device, submission.native(), is_timed)?;
    at_barrier(submission.native())?;
    let stamps = host.map(|host| Stamps::new(host, None, queue.device.time_base()));
    Ok(submission.recorded_event(queue, request.command, end, stamps))
}
