//! Events that the application makes ahead of any command, and that barriers signal again and again.
//!
//! Such an event is one native event for good: a barrier records it at its place, and whoever waits is bound to what was
//! recorded last when it began to wait, as in the native libraries. Before the first barrier it is complete. Nothing of
//! it may be remembered from one signal to the next, so it lies on no lane and is always asked natively; see
//! [`Event::is_reusable`].

use std::sync::Arc;

use ur_ffi::{
    UR_EXP_EVENT_FLAGS_MASK, ur_command_t, ur_context_handle_t, ur_device_handle_t, ur_event_handle_t,
    ur_exp_event_desc_t, ur_exp_event_flags_t, ur_queue_flags_t, ur_result_t,
};

use crate::context::Context;
use crate::device::Device;
use crate::driver::{Driver, StreamKind};
use crate::enqueue::{Request, submit};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::event_pool::Marker;
use crate::lane::Lane;
use crate::object::{Object, borrow, known_flags, null_pointer};
use crate::queue::Queue;

/// `urEventCreateExp`.
///
/// # Safety
/// The C contract: handles live, `description` null or valid, `out` null or writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_DEVICE` for a device of another context, `INVALID_ENUMERATION` for unknown flags,
/// `UNSUPPORTED_FEATURE` for events with times and for those of other processes; what the native library answers.
///
/// # Unsupported
/// - `UR_EXP_EVENT_FLAG_ENABLE_PROFILING` (`UR_DEVICE_INFO_PER_EVENT_PROFILING_SUPPORT_EXP` says so): times are those of
///   queues with profiling
/// - `UR_EXP_EVENT_FLAG_IPC_EXP` (`UR_DEVICE_INFO_IPC_EVENT_SUPPORT_EXP` says so)
pub unsafe fn create<D: Driver>(
    context: ur_context_handle_t,
    device: ur_device_handle_t,
    description: *const ur_exp_event_desc_t,
    out: *mut ur_event_handle_t,
) -> Result<()> {
    const NAME: &str = "urEventCreateExp";
    // SAFETY: the caller's promises are the same.
    let (context, device, description) =
        unsafe { (borrow::<Context<D>>(context)?, borrow::<Device<D>>(device)?, description.as_ref()) };
    let description = description.ok_or_else(|| null_pointer(NAME))?;
    if out.is_null() {
        return Err(null_pointer(NAME));
    }
    known_flags(NAME, description.flags.bits(), UR_EXP_EVENT_FLAGS_MASK)?;
    if description.flags.contains(ur_exp_event_flags_t::ENABLE_PROFILING) {
        return Err(Error::unsupported(
            "a reusable event with times (make the queue with UR_QUEUE_FLAG_PROFILING_ENABLE)",
        ));
    }
    if description.flags.contains(ur_exp_event_flags_t::IPC_EXP) {
        return Err(Error::unsupported("an event for other processes"));
    }
    let state = context.state(device)?;
    let raw = {
        let _scope = state.enter()?;
        state.driver.create_event(false)?
    };
    let marker = Marker::adopt(raw, Arc::clone(&state), true);
    let lane = Lane::without_stream(Arc::clone(&state), &context.registry);
    let queue = Queue::over_lane(context, state, ur_queue_flags_t::empty(), StreamKind::default(), Arc::clone(&lane));
    let event = Object::new(Event::reusable(queue, lane, ur_command_t::EVENTS_WAIT_WITH_BARRIER, marker));
    // SAFETY: not null, so writable.
    unsafe { out.write(Object::into_handle(event)) };
    Ok(())
}

/// The reusable event that a barrier is given to signal, if it is given one. Any other event there is an output's old
/// value.
///
/// # Safety
/// `event` is null or points to null or an event handle that is alive.
///
/// # Errors
/// `INVALID_EVENT` for what is no event of this adapter.
pub unsafe fn given<'a, D: Driver>(event: *const ur_event_handle_t) -> Result<Option<&'a Object<Event<D>>>> {
    // SAFETY: null or readable by the caller's promise.
    let handle = unsafe { event.as_ref() }.copied().unwrap_or(core::ptr::null_mut());
    if handle.is_null() {
        return Ok(None);
    }
    // SAFETY: alive by the caller's promise.
    Ok(Some(unsafe { borrow::<Event<D>>(handle) }?).filter(|event| event.is_reusable()))
}

/// A barrier that signals a reusable event instead of making one. If it fails, the event stands for what it stood for.
///
/// # Errors
/// `INVALID_EVENT` for an event of another context or device than the queue's; what the native library answers.
pub fn signal<D: Driver>(request: &Request<'_, D>, event: &Object<Event<D>>) -> Result<()> {
    let marker = event.marker().ok_or(ur_result_t::ERROR_INVALID_EVENT)?;
    if !Arc::ptr_eq(marker.state(), &request.queue.device) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_EVENT,
            "a reusable event is signalled by queues of the context and device that it was made for",
        ));
    }
    if request.queue.is_in_order() {
        return submit(request, |driver, stream| driver.record_event(marker.raw(), stream));
    }
    Queue::put_barrier(request.queue, &request.waits, Some(marker)).map(drop)
}
