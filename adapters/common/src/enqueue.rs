//! The one way onto a queue: order, waits, the native call, the event.
//!
//! Every command goes through [`submit`]; an entry point adds only its own native call. The order of the steps
//! is what makes tail events exact, so nothing else may put work on a lane's stream.

use core::ffi::c_void;
use std::sync::Arc;

use ur_ffi::{CBool, ur_command_t, ur_event_handle_t, ur_queue_handle_t, ur_result_t};

use crate::context::host_time_ns;
use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::event::{Event, HostTimes, WaitList};
use crate::event_pool::Marker;
use crate::lane::{Lane, LaneState};
use crate::object::{Object, borrow, null_pointer};
use crate::queue::{Chosen, Queue};

/// What a command says beside its native call.
pub struct Request<'a, D: Driver> {
    /// The queue.
    pub queue: &'a Object<Queue<D>>,
    /// What events say it was.
    pub command: ur_command_t,
    /// What it waits for.
    pub waits: WaitList<'a, D>,
    /// Where its event goes; null when nobody asked.
    pub event: *mut ur_event_handle_t,
}

impl<'a, D: Driver> Request<'a, D> {
    /// Reads the parameters that every enqueue has.
    ///
    /// # Safety
    /// The C contract: the queue handle is live, `waits` holds `count` events, `event` is null or writable.
    ///
    /// # Errors
    /// As [`borrow`] and [`WaitList::new`].
    #[inline]
    pub unsafe fn new(
        queue: ur_queue_handle_t,
        command: ur_command_t,
        count: u32,
        waits: *const ur_event_handle_t,
        event: *mut ur_event_handle_t,
    ) -> Result<Self> {
        // SAFETY: the caller's promises are the same.
        unsafe { Ok(Self { queue: borrow(queue)?, command, waits: WaitList::new(count, waits)?, event }) }
    }
}

/// Puts a command on its queue: settles what the stream's last event stands for, waits, makes the native call
/// and hands out the event. On failure nothing was handed out and no event was lost.
///
/// # Errors
/// What the native library answers.
pub fn submit<D: Driver, R>(
    request: &Request<'_, D>,
    call: impl FnOnce(&'static D, D::Stream) -> Result<R>,
) -> Result<R> {
    on_lane(request, call).map(|(result, _)| result)
}

/// As [`submit`], and blocks until the command has finished.
///
/// # Errors
/// What the native library answers. Once the command is on the queue its event is handed out even if waiting
/// fails.
pub fn submit_blocking<D: Driver, R>(
    request: &Request<'_, D>,
    call: impl FnOnce(&'static D, D::Stream) -> Result<R>,
) -> Result<R> {
    let (result, lane) = on_lane(request, call)?;
    lane.finish()?;
    Ok(result)
}

fn on_lane<'a, D: Driver, R>(
    request: &Request<'a, D>,
    call: impl FnOnce(&'static D, D::Stream) -> Result<R>,
) -> Result<(R, Chosen<'a, D>)> {
    let queue = request.queue;
    // Times are an event's; a command without one is not timed.
    let timed = queue.is_profiling() && !request.event.is_null();
    let queued = if timed { host_time_ns() } else { 0 };
    let lane = queue.choose_lane(&request.waits)?;
    let barrier = queue.barrier();
    expose_foreign(&request.waits, &lane)?;

    let mut state = lane.lock();
    state.settle(&lane)?;
    wait_for_all(&mut state, &lane, &request.waits, &barrier)?;
    let start = if timed { Some(Marker::record(&queue.device, lane.stream, true)?) } else { None };
    let times = timed.then(|| HostTimes { queued, submitted: host_time_ns() });
    // Counted before it is known to succeed: of a command of several native calls some may be on the stream when
    // one fails, and whoever finishes the queue must wait for those.
    state.sequence += 1;
    let result = call(queue.device.driver, lane.stream)?;
    if !request.event.is_null() {
        let end = if timed { Marker::record(&queue.device, lane.stream, true).ok() } else { None };
        // The command is on the queue whatever becomes of its end marker; without one the event still waits
        // correctly and only has no times.
        hand_out(request, &lane, &mut state, end, start, times);
    }
    drop(state);
    Ok((result, lane))
}

fn expose_foreign<D: Driver>(waits: &WaitList<'_, D>, lane: &Arc<Lane<D>>) -> Result<()> {
    for event in waits.iter() {
        if !Arc::ptr_eq(&event.lane, lane) {
            event.lane.expose(event)?;
        }
    }
    Ok(())
}

fn wait_for_all<D: Driver>(
    state: &mut LaneState<D>,
    lane: &Arc<Lane<D>>,
    waits: &WaitList<'_, D>,
    (generation, barrier): &(u64, Option<Arc<Object<Event<D>>>>),
) -> Result<()> {
    for event in waits.iter() {
        state.wait_for(lane, event)?;
    }
    if let Some(barrier) = barrier
        && state.barrier < *generation
    {
        state.wait_for(lane, barrier)?;
        state.barrier = *generation;
    }
    Ok(())
}

/// Makes the event of the lane's last command and gives it to the application.
fn hand_out<D: Driver>(
    request: &Request<'_, D>,
    lane: &Arc<Lane<D>>,
    state: &mut LaneState<D>,
    end: Option<Marker<D>>,
    start: Option<Marker<D>>,
    times: Option<HostTimes>,
) {
    let settled = end.is_some();
    // A recorded event is no tail, so it takes no object of the lane's tails either.
    let spare = if settled { None } else { state.take_spare() };
    let event = refilled(spare, state.sequence, request.command).unwrap_or_else(|| {
        let mut event = Event::new(request.queue.share(), Arc::clone(lane), state.sequence, request.command, end);
        event.start = start;
        event.times = times;
        Object::new(event)
    });
    let handle = Object::lend(&event);
    if !settled {
        state.add_tail(event);
    }
    // SAFETY: `submit` is given a writable pointer or null, and null does not come here.
    unsafe { request.event.write(handle) };
}

/// A forgotten event of the same lane, standing for another command now. Only queues without profiling have any.
fn refilled<D: Driver>(
    spare: Option<Arc<Object<Event<D>>>>,
    sequence: u64,
    command: ur_command_t,
) -> Option<Arc<Object<Event<D>>>> {
    let mut event = spare?;
    Object::body_mut(&mut event)?.refill(sequence, command);
    Some(event)
}

/// `urEnqueueEventsWait`: an event that completes after the list, or after everything when the list is empty.
///
/// # Safety
/// The C contract of an enqueue.
///
/// # Errors
/// As [`Request::new`]; what the native library answers.
pub unsafe fn events_wait<D: Driver>(
    queue: ur_queue_handle_t,
    count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let request = unsafe { Request::<D>::new(queue, ur_command_t::EVENTS_WAIT, count, waits, event) }?;
    if request.queue.is_in_order() {
        return in_order_wait(&request);
    }
    if event.is_null() && request.waits.is_empty() {
        return Ok(());
    }
    let (_, barrier) = request.queue.barrier();
    let made = Queue::gather(request.queue, &request.waits, request.command, barrier.as_deref())?;
    give(event, &made);
    Ok(())
}

/// `urEnqueueEventsWaitWithBarrier`: as [`events_wait`], and later commands wait for it too.
///
/// # Safety
/// The C contract of an enqueue.
///
/// # Errors
/// As [`Request::new`]; what the native library answers.
pub unsafe fn barrier<D: Driver>(
    queue: ur_queue_handle_t,
    count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let request = unsafe { Request::<D>::new(queue, ur_command_t::EVENTS_WAIT_WITH_BARRIER, count, waits, event) }?;
    if request.queue.is_in_order() {
        return in_order_wait(&request);
    }
    let made = Queue::put_barrier(request.queue, &request.waits)?;
    give(event, &made);
    Ok(())
}

fn give<D: Driver>(out: *mut ur_event_handle_t, event: &Arc<Object<Event<D>>>) {
    if !out.is_null() {
        // SAFETY: writable by the C contract of the enqueue that calls this.
        unsafe { out.write(Object::lend(event)) };
    }
}

/// On an in-order queue a wait is a matter of the stream alone: no native call when there is nothing to wait
/// for, and the event stands for the stream's last command.
fn in_order_wait<D: Driver>(request: &Request<'_, D>) -> Result<()> {
    let queue = request.queue;
    if queue.is_profiling() && !request.event.is_null() {
        // Its event must have times of its own; an empty command gives them.
        return submit(request, |_, _| Ok(()));
    }
    let lane = queue.choose_lane(&request.waits)?;
    expose_foreign(&request.waits, &lane)?;
    let mut state = lane.lock();
    let foreign = request.waits.iter().any(|event| !event.is_known_complete() && !Arc::ptr_eq(&event.lane, &lane));
    // Work of somebody else's on the stream is no command, so what stands for the last one would not wait for it.
    if foreign || lane.is_shared() {
        state.settle(&lane)?;
        wait_for_all(&mut state, &lane, &request.waits, &(0, None))?;
        state.sequence += 1;
    }
    if !request.event.is_null() {
        hand_out(request, &lane, &mut state, None, None, None);
    }
    Ok(())
}

/// `urEnqueueUSMMemcpy`.
///
/// # Safety
/// The C contract: both ranges are valid for `size` bytes until the copy has finished.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_SIZE`; as [`Request::new`]; what the native library answers.
pub unsafe fn usm_memcpy<D: Driver>(
    queue: ur_queue_handle_t,
    blocking: CBool,
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let request = unsafe { Request::<D>::new(queue, ur_command_t::USM_MEMCPY, count, waits, event) }?;
    if to.is_null() || from.is_null() {
        return Err(null_pointer("urEnqueueUSMMemcpy"));
    }
    if size == 0 {
        return Err(Error::new(ur_result_t::ERROR_INVALID_SIZE, "urEnqueueUSMMemcpy: size is 0"));
    }
    let copy = |driver: &'static D, stream| {
        let _scope = request.queue.device.enter_for_transfer()?;
        // SAFETY: the ranges are valid by the caller's promise.
        unsafe { driver.copy_async(to.addr(), from.addr(), size, stream) }
    };
    if blocking.get() { submit_blocking(&request, copy) } else { submit(&request, copy) }
}
