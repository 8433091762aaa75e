//! The one way onto a queue: order, waits, the native call, the event.
//!
//! Every command goes through [`submit`]; an entry point adds only its own native call. The order of the steps
//! is what makes tail events exact, so nothing else may put work on a native stream. The stream's lock is held over the
//! native call, which may block; [`crate::stream`] says what that means for everybody else.

pub(crate) mod reusable_event;

use core::ffi::c_void;
use std::sync::Arc;

use ur_ffi::releases::Release;
use ur_ffi::{
    CBool, UR_EXP_ENQUEUE_EXT_FLAGS_MASK, ur_command_t, ur_event_handle_t, ur_exp_enqueue_ext_properties_t,
    ur_queue_handle_t, ur_result_t,
};

use crate::context::host_time_ns;
use crate::device::event_pool::PooledEvent;
use crate::driver::Driver;
use crate::object::error::{Error, Result};
use crate::object::recycled::Recycled;
use crate::object::{Object, borrow, known_flags, null_pointer};
use crate::queue::{Chosen, Queue};
use crate::stream::event::{Event, HostTimes, Stamps, WaitList};
use crate::stream::{Stream, StreamState};
use crate::sync::mutation;
use crate::sync::unlikely::unlikely;

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

/// Puts a command on its queue: records what is pending what the stream's last event stands for, waits, makes the native call
/// and hands out the event. On failure nothing was handed out and no event was lost.
///
/// # Errors
/// What the native library answers.
#[inline]
pub fn submit<D: Driver, R>(
    request: &Request<'_, D>,
    call: impl FnOnce(&'static D, D::Stream) -> Result<R>,
) -> Result<R> {
    on_queue(request, TouchesStream::Yes, |_| Ok(()), |(), stream, _| call(stream.driver, stream.native), |(), _| ())
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
    let call = |(), stream: &Arc<Stream<D>>, _: &mut StreamState<D>| {
        call(stream.driver, stream.native).map(|result| (result, Arc::clone(stream)))
    };
    let (result, stream) = on_queue(request, TouchesStream::Yes, |_| Ok(()), call, |(), _| ())?;
    stream.finish()?;
    Ok(result)
}

/// As [`submit`] for a command that may need nothing of the stream: `call` counts and records what is pending for itself what it does
/// put there. `prepare` comes before anything has happened, and `undo` when the stream then could not be made to wait.
///
/// # Errors
/// What `prepare`, `call` and the native library answer.
#[inline]
pub fn submit_without_work<D: Driver, P, R>(
    request: &Request<'_, D>,
    prepare: impl FnOnce(&mut StreamState<D>) -> Result<P>,
    call: impl FnOnce(P, &Arc<Stream<D>>, &mut StreamState<D>) -> Result<R>,
    undo: impl FnOnce(P, &mut StreamState<D>),
) -> Result<R> {
    on_queue(request, TouchesStream::No, prepare, call, undo)
}

/// What a command is to its stream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TouchesStream {
    /// It puts work on the stream.
    Yes,
    /// It puts none there, or what events before it need not be told from.
    No,
}

/// The last barrier of an out-of-order queue, with its generation.
type Barrier<D> = (u64, Option<Arc<Object<Event<D>>>>);

/// Where a command goes on a queue that is not plain.
struct Place<'q, D: Driver> {
    stream: Chosen<'q, D>,
    barrier: Barrier<D>,
    timed: bool,
}

impl<'q, D: Driver> Place<'q, D> {
    #[inline(never)]
    fn choose(request: &Request<'q, D>) -> Result<Self> {
        let queue = request.queue;
        let stream = queue.choose_stream(&request.waits)?;
        // Times are an event's; a command without one is not timed.
        let timed = queue.is_profiling() && !request.event.is_null();
        Ok(Self { stream, barrier: queue.barrier(), timed })
    }
}

/// Chooses the stream. What plain queues do not need is out of their way.
#[inline(always)]
fn on_queue<D: Driver, P, R>(
    request: &Request<'_, D>,
    touches_stream: TouchesStream,
    prepare: impl FnOnce(&mut StreamState<D>) -> Result<P>,
    call: impl FnOnce(P, &Arc<Stream<D>>, &mut StreamState<D>) -> Result<R>,
    undo: impl FnOnce(P, &mut StreamState<D>),
) -> Result<R> {
    let chosen;
    let (stream, place) = if unlikely(!request.queue.is_plain()) {
        chosen = Place::choose(request)?;
        (&*chosen.stream, Some(&chosen))
    } else {
        (request.queue.first(), None)
    };
    let (barrier, timed) = (place.map(|place| &place.barrier), place.is_some_and(|place| place.timed));
    let queued = if timed { host_time_ns() } else { 0 };
    let waits = ensure_others_recorded(&request.waits, stream)?;
    let mut guard = stream.lock();
    let state = &mut *guard;
    let prepared = prepare(state)?;
    // Work of somebody else's on the stream is no command, so what stands for the last one would not wait for it.
    if touches_stream == TouchesStream::Yes || timed || stream.is_shared() || must_wait(state, stream, waits, barrier) {
        if let Err(error) = come_after(state, stream, waits, barrier) {
            undo(prepared, state);
            return Err(error);
        }
        // Counted before it is known to succeed: of a command of several native calls some may be on the stream when
        // one fails, and whoever finishes the queue must wait for those.
        state.position += 1;
    }
    let mut stamps = None;
    if unlikely(timed) {
        match start_times(stream, queued) {
            Ok(started) => stamps = Some(started),
            Err(error) => {
                undo(prepared, state);
                return Err(error);
            }
        }
    }
    // What puts work on the stream may block in the native library, and others must be able to tell.
    let result = match touches_stream {
        TouchesStream::Yes => stream.calling(|| call(prepared, stream, state)),
        TouchesStream::No => call(prepared, stream, state),
    }?;
    if mutation::is(mutation::Bug::LateEvent) {
        state.record_pending_events()?;
    }
    if !request.event.is_null() {
        match stamps {
            Some((start, times)) => return_timed_event(request, stream, state, start, times),
            None => return_event(request, stream, state),
        }
    }
    Ok(result)
}

/// Marks the start of a command whose times are wanted.
#[cold]
fn start_times<D: Driver>(stream: &Stream<D>, queued: u64) -> Result<(PooledEvent<D>, HostTimes)> {
    let start = PooledEvent::record(&stream.device, stream.native, true)?;
    Ok((start, HostTimes { queued, submitted: host_time_ns() }))
}

/// Settles the stream's events and makes its stream wait for what the command comes after.
#[inline(always)]
pub(crate) fn come_after<D: Driver>(
    state: &mut StreamState<D>,
    stream: &Arc<Stream<D>>,
    waits: Option<&WaitList<'_, D>>,
    barrier: Option<&Barrier<D>>,
) -> Result<()> {
    if !mutation::is(mutation::Bug::LateEvent) {
        state.record_pending_events()?;
    }
    if unlikely(waits.is_some() || has_new_barrier(state, barrier)) {
        return wait_for_all(state, stream, waits, barrier);
    }
    Ok(())
}

/// Whether the queue's last barrier is one that the stream does not wait for yet.
#[inline]
fn has_new_barrier<D: Driver>(state: &StreamState<D>, barrier: Option<&Barrier<D>>) -> bool {
    barrier.is_some_and(|(generation, _)| state.barrier < *generation)
}

/// Whether the stream must be made to wait for something before a command that needs nothing else of it.
#[inline]
fn must_wait<D: Driver>(
    state: &StreamState<D>,
    stream: &Arc<Stream<D>>,
    waits: Option<&WaitList<'_, D>>,
    barrier: Option<&Barrier<D>>,
) -> bool {
    has_new_barrier(state, barrier)
        || waits.is_some_and(|waits| {
            waits.iter().any(|event| !Arc::ptr_eq(&event.stream, stream) && !event.is_known_complete())
        })
}

/// Sees to it that events of other streams can be waited for, before this one's lock is taken. Gives the list back if
/// it has any: what comes before on the same stream needs no wait.
#[inline]
pub(crate) fn ensure_others_recorded<'w, 'a, D: Driver>(
    waits: &'w WaitList<'a, D>,
    stream: &Arc<Stream<D>>,
) -> Result<Option<&'w WaitList<'a, D>>> {
    if unlikely(!waits.is_empty()) && ensure_each_recorded(waits, stream)? { Ok(Some(waits)) } else { Ok(None) }
}

#[inline(never)]
fn ensure_each_recorded<D: Driver>(waits: &WaitList<'_, D>, stream: &Arc<Stream<D>>) -> Result<bool> {
    let mut any = false;
    for event in waits.iter() {
        if !Arc::ptr_eq(&event.stream, stream) {
            any = true;
            event.stream.ensure_recorded(event)?;
        }
    }
    Ok(any)
}

#[inline(never)]
fn wait_for_all<D: Driver>(
    state: &mut StreamState<D>,
    stream: &Arc<Stream<D>>,
    waits: Option<&WaitList<'_, D>>,
    barrier: Option<&Barrier<D>>,
) -> Result<()> {
    for event in waits.into_iter().flat_map(WaitList::iter) {
        state.wait_for(stream, event)?;
    }
    if let Some((generation, Some(barrier))) = barrier
        && state.barrier < *generation
    {
        state.wait_for(stream, barrier)?;
        state.barrier = *generation;
    }
    Ok(())
}

/// Makes the event of the stream's last command and gives it to the application.
#[inline]
pub(crate) fn return_event<D: Driver>(request: &Request<'_, D>, stream: &Arc<Stream<D>>, state: &mut StreamState<D>) {
    let handle = state.reuse_event(request.command).unwrap_or_else(|| {
        let event = Event::new(request.queue.to_arc(), Arc::clone(stream), state.position, request.command, None);
        let event = Recycled::new(event);
        let handle = event.retain_handle();
        state.add_tail(event);
        handle
    });
    if unlikely(stream.is_shared()) {
        // What stands for the last command would not wait for somebody else's work behind it. If this fails, the event
        // stays what others' events are, and completes later than it could.
        let _ = state.record_all_pending_events();
    }
    // SAFETY: a request has a writable pointer or null, and null does not come here.
    unsafe { request.event.write(handle) };
}

/// The same for a command whose times are wanted: its event has native events of its own from the start.
#[cold]
pub(crate) fn return_timed_event<D: Driver>(
    request: &Request<'_, D>,
    stream: &Arc<Stream<D>>,
    state: &mut StreamState<D>,
    start: PooledEvent<D>,
    times: HostTimes,
) {
    // The command is on the queue whatever becomes of its end marker; without one the event still waits correctly
    // and only has no times.
    let end = PooledEvent::record(&stream.device, stream.native, true).ok();
    let recorded = end.is_some();
    let mut event = Event::new(request.queue.to_arc(), Arc::clone(stream), state.position, request.command, end);
    event.stamps = Some(Box::new(Stamps { host: times, start: Some(start), base: stream.device.time_base() }));
    let handle = if recorded {
        Object::into_handle(Object::new(event))
    } else {
        let event = Recycled::new(event);
        let handle = event.retain_handle();
        state.add_tail(event);
        handle
    };
    // SAFETY: as in `return_event`.
    unsafe { request.event.write(handle) };
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
    let made = Queue::join_streams(request.queue, &request.waits, request.command, barrier.as_deref(), &|_| Ok(()))?;
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
    let made = Queue::put_barrier(request.queue, &request.waits, &|_| Ok(()))?;
    give(event, &made);
    Ok(())
}

/// `urEnqueueEventsWaitWithBarrierExt`: as [`barrier`], but a reusable event that `event` points to is signalled, and no
/// other handed out. The one property there is, an event whose wait saves power, is a hint,
/// and changes nothing here.
///
/// # Safety
/// The C contract of an enqueue; `properties` is null or valid.
///
/// # Errors
/// As [`barrier`]; `INVALID_ENUMERATION` for unknown flags, `UNSUPPORTED_FEATURE` for a structure chained to the properties.
///
/// # Unsupported
/// - note: the hint for low-power events changes nothing
pub unsafe fn barrier_ext<D: Driver>(
    queue: ur_queue_handle_t,
    properties: *const ur_exp_enqueue_ext_properties_t,
    count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    // SAFETY: null or valid by the caller's promise.
    if let Some(properties) = unsafe { properties.as_ref() } {
        // A queue that is none is told of before what is wrong with the properties.
        // SAFETY: the caller's promise is the same.
        unsafe { borrow::<Queue<D>>(queue) }?;
        known_flags("pProperties", properties.flags.bits(), UR_EXP_ENQUEUE_EXT_FLAGS_MASK)?;
        if !properties.pNext.is_null() {
            // coverage: none because the specification has no structure to chain to these
            return Err(Error::unsupported("an extension structure behind a barrier's properties"));
        }
    }
    let reused = match D::cell().release() {
        // There `event` is an output alone: what is behind it may be anything.
        Release::R2026_1 => None,
        // SAFETY: behind `event` is null or a live event, by the contract of the newer releases.
        Release::R2026_2 => unsafe { reusable_event::given::<D>(event) }?,
    };
    if let Some(reused) = reused {
        let command = ur_command_t::EVENTS_WAIT_WITH_BARRIER;
        // SAFETY: as above.
        let request = unsafe { Request::<D>::new(queue, command, count, waits, core::ptr::null_mut()) }?;
        return reusable_event::signal(&request, reused);
    }
    // SAFETY: the caller's promises are the same.
    unsafe { barrier::<D>(queue, count, waits, event) }
}

pub(crate) fn give<D: Driver>(out: *mut ur_event_handle_t, event: &Arc<Object<Event<D>>>) {
    if !out.is_null() {
        // SAFETY: writable by the C contract of the enqueue that calls this.
        unsafe { out.write(Object::retain_handle(event)) };
    }
}

/// On an in-order queue a wait is a matter of the stream alone: no native call when there is nothing to wait
/// for, and the event stands for the stream's last command.
fn in_order_wait<D: Driver>(request: &Request<'_, D>) -> Result<()> {
    submit_without_work(request, |_| Ok(()), |(), _, _| Ok(()), |(), _| ())
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
    let (to, from) = (to.addr(), from.addr());
    if unlikely(blocking.get()) {
        // SAFETY: the caller's promise is the same.
        return unsafe { copy_and_wait(&request, to, from, size) };
    }
    let device = &request.queue.device;
    submit(&request, move |driver, stream| {
        // SAFETY: the ranges are valid by the caller's promise.
        device.transfer(move || unsafe { driver.copy_async(to, from, size, stream) })
    })
}

/// # Safety
/// The ranges are valid until the copy has finished.
#[inline(never)]
unsafe fn copy_and_wait<D: Driver>(request: &Request<'_, D>, to: usize, from: usize, size: usize) -> Result<()> {
    let device = &request.queue.device;
    // SAFETY: the caller's promise is the same.
    submit_blocking(request, |driver, stream| device.transfer(|| unsafe { driver.copy_async(to, from, size, stream) }))
}
