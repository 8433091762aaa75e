//! Waits and barriers: commands that put nothing on a queue but its order.
//!
//! On an in-order queue both are the stream's last command, without a native call. On an out-of-order queue the event comes from
//! the first stream, which waits for the others or for the list; a barrier is what every later command of the queue waits for.

use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::releases::Release;
use ur_ffi::{
    UR_EXP_ENQUEUE_EXT_FLAGS_MASK, ur_command_t, ur_event_handle_t, ur_exp_enqueue_ext_properties_t, ur_queue_handle_t,
};

use crate::command::reusable_event;
use crate::command::submission::Submission;
use crate::command::{Command, Request, submit};
use crate::device::clock::host_time_ns;
use crate::device::event_pool::PooledEvent;
use crate::driver::{Driver, Streams};
use crate::object::error::{Error, Result};
use crate::object::{Object, borrow, known_flags};
use crate::queue::Queue;
use crate::stream::capture::Capture;
use crate::stream::event::{Event, HostTimes, Stamps};

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
    return_recorded_event(event, &join_streams(&request, barrier.as_deref(), &|_| Ok(()))?);
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
    return_recorded_event(event, &put_barrier(&request, &|_| Ok(()))?);
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

/// Gives the application an event that has a native event of its own, if it asked for one.
pub(crate) fn return_recorded_event<D: Driver>(out: *mut ur_event_handle_t, event: &Arc<Object<Event<D>>>) {
    if !out.is_null() {
        // SAFETY: writable by the C contract of the enqueue that calls this.
        unsafe { out.write(Object::retain_handle(event)) };
    }
}

/// On an in-order queue a wait is a matter of the stream alone: no native call when there is nothing to wait
/// for, and the event stands for the stream's last command.
fn in_order_wait<D: Driver>(request: &Request<'_, D>) -> Result<()> {
    submit(request, Nothing)
}

/// No work, so nothing but the waits in front of it.
struct Nothing;

impl<D: Driver> Command<D> for Nothing {
    type Output = ();
    const TOUCHES_STREAM: bool = false;

    #[inline(always)]
    fn put_on(self, _: &mut Submission<'_, D>) -> Result<()> {
        Ok(())
    }

    fn check_capture(&self, _: &Capture<D>) -> Result<()> {
        Ok(())
    }
}

/// Something that is put on the stream at a barrier's place: nothing, or the record of a reusable event.
pub type AtBarrier<'c, D> = &'c dyn Fn(&<D as Streams>::Stream) -> Result<()>;

/// Puts a barrier on an out-of-order queue's first stream: it comes after the wait list, or after everything without one, and
/// everything later comes after it.
///
/// # Errors
/// What the native library answers.
pub(crate) fn put_barrier<D: Driver>(
    request: &Request<'_, D>,
    at_barrier: AtBarrier<'_, D>,
) -> Result<Arc<Object<Event<D>>>> {
    request.queue.publish_barrier(|before| join_streams(request, before, at_barrier))
}

/// An event on an out-of-order queue's first stream after the wait list, or after everything without one.
fn join_streams<D: Driver>(
    request: &Request<'_, D>,
    barrier: Option<&Object<Event<D>>>,
    at_barrier: AtBarrier<'_, D>,
) -> Result<Arc<Object<Event<D>>>> {
    let (queue, queued) = (request.queue, host_time_ns());
    let others = if request.waits.is_empty() { queue.record_other_streams()? } else { SmallVec::new() };
    let mut submission = Submission::open(queue.first(), &request.waits)?;
    submission.begin_work()?;
    submission.wait_for_markers(&others)?;
    submission.wait_for_events(request.waits.iter().chain(barrier))?;
    let end = PooledEvent::record(&queue.device, submission.native(), queue.is_profiling())?;
    at_barrier(submission.native())?;
    let stamps = queue.is_profiling().then(|| Stamps {
        host: HostTimes { queued, submitted: host_time_ns() },
        start: None,
        base: queue.device.time_base(),
    });
    Ok(submission.recorded_event(queue, request.command, end, stamps))
}
