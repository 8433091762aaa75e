//! `urEnqueueNativeCommandExp`: the application puts work of its own on a queue's native stream.
//!
//! The function is called at once, with the queue's device current and no lock held, so it may call UR. What it puts on
//! the native stream of the queue (the first, of one that keeps no order) comes after the wait list, and the command's
//! event after all of it. Memory objects of the list are current on the queue's device for that work, and nowhere else
//! after it unless they are read only.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::ptr::null_mut;
use std::sync::Arc;

use ur_ffi::{
    ur_command_t, ur_event_handle_t, ur_exp_enqueue_native_command_function_t,
    ur_exp_enqueue_native_command_properties_t, ur_exp_kernel_arg_mem_obj_tuple_t, ur_exp_kernel_arg_properties_t,
    ur_exp_kernel_arg_type_t, ur_exp_kernel_arg_value_t, ur_mem_flags_t, ur_mem_handle_t, ur_queue_handle_t,
    ur_result_t,
};

use crate::buffer;
use crate::command::Request;
use crate::command::submission::{Start, Submission};
use crate::device::clock::host_time_ns;
use crate::driver::Driver;
use crate::memory_object;
use crate::object::error::{Error, Result};
use crate::object::{known_flags, null_pointer, release_by_handle};
use crate::stream::Stream;
use crate::stream::event::Event;

/// `urEnqueueNativeCommandExp`.
///
/// # Safety
/// The C contract of an enqueue; the function does what the native API allows and does not throw.
///
/// # Errors
/// `INVALID_NULL_POINTER` without a function, `INVALID_ENUMERATION` for unknown flags, `INVALID_VALUE` for a list of memory
/// objects that contradicts its length, `INVALID_MEM_OBJECT` and `INVALID_CONTEXT` for what is in it; as [`Request::new`];
/// what the native library answers.
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
    // SAFETY: as many live handles as it says by the caller's promise.
    let memories = unsafe { given(memories, memory_list) }?;
    if memories.is_empty() {
        return call_application(&request, function, data);
    }
    let mut ready = Ready::<D> { event: null_mut(), marker: PhantomData };
    // SAFETY: the caller's promises are the same; the memory for the event is this function's.
    unsafe {
        let first = Request::<D>::new(queue, request.command, count, waits, &raw mut ready.event)?;
        bring(&first, memories)?;
        call_application(&Request::<D>::new(queue, request.command, 1, &raw const ready.event, event)?, function, data)
    }
}

/// The event of memory objects that are on their way, given back at the end.
struct Ready<D: Driver> {
    event: ur_event_handle_t,
    marker: PhantomData<fn() -> D>,
}

impl<D: Driver> Drop for Ready<D> {
    fn drop(&mut self) {
        if !self.event.is_null() {
            // SAFETY: it was handed out to this alone. It is alive, so the release cannot fail.
            let _ = unsafe { release_by_handle::<Event<D>>(self.event) };
        }
    }
}

/// The list of memory objects.
///
/// # Safety
/// `list` is null or holds `count` handles.
unsafe fn given<'a>(count: u32, list: *const ur_mem_handle_t) -> Result<&'a [ur_mem_handle_t]> {
    if (count == 0) != list.is_null() {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!(
                "urEnqueueNativeCommandExp: {count} memory objects and a list that contradicts it; give both or neither"
            ),
        ));
    }
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: not null, so it holds `count` handles by the caller's promise.
    let list = unsafe { core::slice::from_raw_parts(list, count as usize) };
    match list.iter().position(|mem| mem.is_null()) {
        None => Ok(list),
        Some(at) => Err(Error::new(
            ur_result_t::ERROR_INVALID_MEM_OBJECT,
            format!("urEnqueueNativeCommandExp: memory object {at} of {count} is null"),
        )),
    }
}

/// Makes memory objects current on the queue's device, as a kernel that is given them all would have it.
///
/// # Safety
/// The handles are live or of another kind.
unsafe fn bring<D: Driver>(request: &Request<'_, D>, memories: &[ur_mem_handle_t]) -> Result<()> {
    let argument = |(index, mem): (usize, &ur_mem_handle_t)| ur_exp_kernel_arg_properties_t {
        type_: ur_exp_kernel_arg_type_t::MEM_OBJ,
        index: u32::try_from(index).unwrap_or(u32::MAX),
        value: ur_exp_kernel_arg_value_t {
            memObjTuple: ur_exp_kernel_arg_mem_obj_tuple_t { hMem: *mem, flags: ur_mem_flags_t::empty() },
        },
        ..Default::default()
    };
    let arguments: Vec<_> = memories.iter().enumerate().map(argument).collect();
    // SAFETY: live by the caller's promise.
    let objects = unsafe { memory_object::arguments::of_launch(request, &arguments, None) }?;
    buffer::storage::submit_with_buffers(request, false, &objects.accesses, |_, stream, _| {
        objects.images.make_current(stream)?;
        objects.images.note_writes();
        Ok(())
    })
}

/// Calls the function between the stream's turns.
fn call_application<D: Driver>(
    request: &Request<'_, D>,
    function: unsafe extern "C" fn(ur_queue_handle_t, *mut c_void),
    data: *mut c_void,
) -> Result<()> {
    let queue = request.queue.handle();
    let stream = request.queue.first();
    let start = begin(request, stream)?;
    {
        let _scope = stream.device.enter()?;
        // SAFETY: the application gave the function for its data, to be called with a live queue.
        unsafe { function(queue, data) };
    }
    end(request, stream, start)
}

/// Makes the native stream ready for the application's work.
fn begin<D: Driver>(request: &Request<'_, D>, stream: &Arc<Stream<D>>) -> Result<Start<D>> {
    let queued = host_time_ns();
    let barrier = request.queue.barrier();
    let mut submission = Submission::open(stream, &request.waits)?;
    submission.come_after(Some(&barrier))?;
    // Counted at once: whoever finishes the queue from now on must wait for what the application puts there.
    submission.count();
    if !request.queue.is_profiling() || request.event.is_null() {
        return Ok(None);
    }
    submission.start_times(queued).map(Some)
}

/// Makes the event of what the application has put on the stream.
fn end<D: Driver>(request: &Request<'_, D>, stream: &Arc<Stream<D>>, start: Start<D>) -> Result<()> {
    let mut submission = Submission::over(stream);
    // Events that the function made through UR.
    submission.begin_work()?;
    submission.return_event(request, start)
}
