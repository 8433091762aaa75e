//! `urEnqueueNativeCommandExp`: the application puts work of its own on a queue's native stream.
//!
//! The function is called at once, or by a worker if the command is kept behind a wait for a timeline, with the queue's device current and no lock held, so it may call UR. What it puts on
//! the native stream of the queue (the first, of one that keeps no order) comes after the wait list, and the command's
//! event after all of it. Memory objects of the list are current on the queue's device for that work, and nowhere else
//! after it unless they are read only.

use core::ffi::c_void;
use std::sync::Arc;

use ur_ffi::{
    ur_command_t, ur_exp_enqueue_native_command_properties_t, ur_exp_kernel_arg_mem_obj_tuple_t,
    ur_exp_kernel_arg_properties_t, ur_exp_kernel_arg_type_t, ur_exp_kernel_arg_value_t, ur_mem_flags_t,
    ur_mem_handle_t, ur_queue_handle_t, ur_result_t,
};

use crate::buffer;
use crate::command::captured;
use crate::command::deferral::{self, Owned, Place};
use crate::command::submission::{Start, Submission};
use crate::command::{Enqueue, OwnEvent, Request};
use crate::device::clock::host_time_ns;
use crate::driver::Driver;
use crate::memory_object;
use crate::object::error::{Error, Result};
use crate::stream::Stream;
use crate::stream::capture::Capture;
use crate::stream::promise::Promise;

/// The application's function, which does what the native API allows and does not throw.
type NativeEnqueue = unsafe extern "C" fn(ur_queue_handle_t, *mut c_void);

/// `urEnqueueNativeCommandExp`.
///
/// # Errors
/// `INVALID_VALUE` for a list of memory objects that contradicts its length, `INVALID_MEM_OBJECT` and `INVALID_CONTEXT`
/// for what is in it; what the native library answers.
pub fn enqueue<D: Driver>(
    enqueue: Enqueue<'_, D>,
    function: NativeEnqueue,
    data: *mut c_void,
    count: u32,
    memories: Option<&[ur_mem_handle_t]>,
    _properties: Option<&ur_exp_enqueue_native_command_properties_t>,
) -> Result<()> {
    let request = enqueue.request(ur_command_t::ENQUEUE_NATIVE_EXP);
    let memories = checked_list(count, memories)?;
    if memories.is_empty() {
        if request.must_be_kept() {
            return keep(&request, function, data);
        }
        return call_application(&request, function, data);
    }
    request.refuse_deferral("a native command with memory objects")?;
    // The memory objects move once the wait list is through; the function's work comes after that.
    let mut moved = OwnEvent::new();
    let Request { queue, command, waits, event } = request;
    make_current(&Request { queue, command, waits, event: moved.out() }, memories)?;
    call_application(&Request { queue, command, waits: moved.waits()?, event }, function, data)
}

/// The list of memory objects, without null handles.
fn checked_list(count: u32, list: Option<&[ur_mem_handle_t]>) -> Result<&[ur_mem_handle_t]> {
    if (count == 0) == list.is_some() {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!(
                "urEnqueueNativeCommandExp: {count} memory objects and a list that contradicts it; give both or neither"
            ),
        ));
    }
    let list = list.unwrap_or_default();
    match list.iter().position(|mem| mem.is_null()) {
        None => Ok(list),
        Some(at) => Err(Error::new(
            ur_result_t::ERROR_INVALID_MEM_OBJECT,
            format!("urEnqueueNativeCommandExp: memory object {at} of {count} is null"),
        )),
    }
}

/// Makes memory objects current on the queue's device, as a kernel that is given them all would have it.
fn make_current<D: Driver>(request: &Request<'_, D>, memories: &[ur_mem_handle_t]) -> Result<()> {
    let argument = |(index, mem): (usize, &ur_mem_handle_t)| ur_exp_kernel_arg_properties_t {
        type_: ur_exp_kernel_arg_type_t::MEM_OBJ,
        index: u32::try_from(index).unwrap_or(u32::MAX),
        value: ur_exp_kernel_arg_value_t {
            memObjTuple: ur_exp_kernel_arg_mem_obj_tuple_t { hMem: *mem, flags: ur_mem_flags_t::empty() },
        },
        ..Default::default()
    };
    let arguments: Vec<_> = memories.iter().enumerate().map(argument).collect();
    // SAFETY: the entry point's handles, which C owes to be alive during the call.
    let objects = unsafe { memory_object::arguments::of_launch(request, &arguments, None) }?;
    buffer::storage::submit_with_buffers(request, false, &objects.accesses, |_, stream, _| {
        objects.images.make_current(stream)?;
        objects.images.note_writes();
        Ok(())
    })
}

/// A call of the application's function that is kept.
struct KeptCall {
    function: NativeEnqueue,
    /// An address that only the application looks behind.
    data: usize,
}

impl<D: Driver> Owned<D> for KeptCall {
    fn place(self: Box<Self>, request: &Request<'_, D>) -> Result<()> {
        call_application(request, self.function, core::ptr::with_exposed_provenance_mut(self.data))
    }

    fn may_block(&self) -> bool {
        true
    }
}

#[cold]
fn keep<D: Driver>(request: &Request<'_, D>, function: NativeEnqueue, data: *mut c_void) -> Result<()> {
    request.check_keeping()?;
    let call = KeptCall { function, data: data.expose_provenance() };
    deferral::keep(request, Place::InOrder, &Promise::of_command(), Box::new(call));
    Ok(())
}

/// Calls the function between the stream's turns.
fn call_application<D: Driver>(request: &Request<'_, D>, function: NativeEnqueue, data: *mut c_void) -> Result<()> {
    let queue = request.queue.handle();
    let stream = request.queue.first();
    let turn = Turn::begin(request, stream)?;
    {
        let _scope = stream.device.enter()?;
        // SAFETY: the application gave the function for its data, to be called with a live queue.
        unsafe { function(queue, data) };
    }
    turn.end(request, stream)
}

/// What the application's work comes between.
enum Turn<D: Driver> {
    /// Two turns of the stream.
    OfStream(Start<D>),
    /// Commands of a capture, which then holds the work.
    OfCapture(Arc<Capture<D>>),
}

impl<D: Driver> Turn<D> {
    fn begin(request: &Request<'_, D>, stream: &Arc<Stream<D>>) -> Result<Self> {
        match request.queue.capture() {
            Some(_) => captured::come_after(request).map(Self::OfCapture),
            None => begin(request, stream).map(Self::OfStream),
        }
    }

    fn end(self, request: &Request<'_, D>, stream: &Arc<Stream<D>>) -> Result<()> {
        match self {
            Self::OfStream(start) => end(request, stream, start),
            Self::OfCapture(capture) => Submission::over(stream).return_captured_event(request, &capture),
        }
    }
}

/// Makes the native stream ready for the application's work.
fn begin<D: Driver>(request: &Request<'_, D>, stream: &Arc<Stream<D>>) -> Result<Start<D>> {
    let queued = host_time_ns();
    let barrier = deferral::barrier_of(request.queue);
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
