//! `urEnqueueNativeCommandExp`: the application puts work of its own on a queue's native stream.
//!
//! The function is called at once, with the queue's device current and no lock held, so it may call UR. What it puts on
//! the native stream of the queue (the first, of one that keeps no order) comes after the wait list, and the command's
//! event after all of it.

use core::ffi::c_void;
use std::sync::Arc;

use ur_ffi::{
    ur_command_t, ur_event_handle_t, ur_exp_enqueue_native_command_function_t,
    ur_exp_enqueue_native_command_properties_t, ur_mem_handle_t, ur_queue_handle_t, ur_result_t,
};

use crate::context::host_time_ns;
use crate::driver::Driver;
use crate::enqueue::{Request, come_after, expose_foreign, hand_out, hand_out_timed};
use crate::error::{Error, Result};
use crate::event::HostTimes;
use crate::event_pool::Marker;
use crate::lane::Lane;
use crate::object::{known_flags, null_pointer};

/// `urEnqueueNativeCommandExp`.
///
/// # Safety
/// The C contract of an enqueue; the function does what the native API allows and does not throw.
///
/// # Errors
/// `INVALID_NULL_POINTER` without a function, `INVALID_ENUMERATION` for unknown flags, `INVALID_VALUE` for a list of memory
/// objects that contradicts its length, `UNSUPPORTED_FEATURE` for one that is not empty; as [`Request::new`]; what the
/// native library answers.
pub unsafe fn enqueue<D: Driver>(
    queue: ur_queue_handle_t,
    function: ur_exp_enqueue_native_command_function_t,
    data: *mut c_void,
    memories: u32,
    memory_list: *const ur_mem_handle_t,
    properties: *const ur_exp_enqueue_native_command_properties_t,
    count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let request = unsafe { Request::<D>::new(queue, ur_command_t::ENQUEUE_NATIVE_EXP, count, waits, event) }?;
    let function = function.ok_or_else(|| null_pointer("urEnqueueNativeCommandExp: pfnNativeEnqueue"))?;
    // SAFETY: null or valid by the caller's promise.
    if let Some(properties) = unsafe { properties.as_ref() } {
        let flags = properties.flags.bits();
        known_flags("urEnqueueNativeCommandExp", flags, ur_ffi::UR_EXP_ENQUEUE_NATIVE_COMMAND_FLAGS_MASK)?;
    }
    check_memories(memories, memory_list)?;
    let lane = request.queue.first();
    let start = begin(&request, lane)?;
    {
        let _scope = lane.device.enter()?;
        // SAFETY: the application gave the function for its data, to be called with a live queue.
        unsafe { function(queue, data) };
    }
    end(&request, lane, start)
}

/// # Unsupported
/// - a list of memory objects; USM memory needs none
fn check_memories(count: u32, list: *const ur_mem_handle_t) -> Result<()> {
    if (count == 0) != list.is_null() {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!(
                "urEnqueueNativeCommandExp: {count} memory objects and a list that contradicts it; give both or neither"
            ),
        ));
    }
    if count > 0 {
        return Err(Error::new(
            ur_result_t::ERROR_UNSUPPORTED_FEATURE,
            "urEnqueueNativeCommandExp: memory objects are not supported; use USM memory",
        ));
    }
    Ok(())
}

/// When a timed command began.
type Start<D> = Option<(Marker<D>, HostTimes)>;

/// Makes the lane's stream ready for the application's work.
fn begin<D: Driver>(request: &Request<'_, D>, lane: &Arc<Lane<D>>) -> Result<Start<D>> {
    let queued = host_time_ns();
    let barrier = request.queue.barrier();
    expose_foreign(&request.waits, lane)?;
    let mut state = lane.lock();
    come_after(&mut state, lane, &request.waits, &barrier)?;
    // Counted at once: whoever finishes the queue from now on must wait for what the application puts there.
    state.sequence += 1;
    if !request.queue.is_profiling() || request.event.is_null() {
        return Ok(None);
    }
    let start = Marker::record(&lane.device, lane.stream, true)?;
    Ok(Some((start, HostTimes { queued, submitted: host_time_ns() })))
}

/// Makes the event of what the application has put on the stream.
fn end<D: Driver>(request: &Request<'_, D>, lane: &Arc<Lane<D>>, start: Start<D>) -> Result<()> {
    let mut state = lane.lock();
    // Events that the function made through UR.
    state.settle(lane)?;
    state.sequence += 1;
    if request.event.is_null() {
        return Ok(());
    }
    match start {
        Some((start, times)) => hand_out_timed(request, lane, &mut state, start, times),
        None => hand_out(request, lane, &mut state),
    }
    Ok(())
}
