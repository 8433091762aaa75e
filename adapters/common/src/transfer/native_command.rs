//! `urEnqueueNativeCommandExp`: the application puts work of its own on a queue's native stream.
//!
//! The function is called at once, or by a worker if the command is kept behind a wait for a timeline, with the queue's device current and no lock held, so it may call UR. What it puts on
//! the native stream of the queue (the first, of one that keeps no order) comes after the wait list, and the command's
//! event after all of it. Memory objects of the list are current on the queue's device for that work, and nowhere else
//! after it unless they are read only.

use core::ffi::c_void;
use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{
    ur_command_t, ur_exp_enqueue_native_command_properties_t, ur_mem_flags_t, ur_mem_handle_t, ur_queue_handle_t,
    ur_result_t,
};

use crate::buffer::command::with_locked_buffers;
use crate::command::captured;
use crate::command::deferral::{self, Owned, Place};
use crate::command::submission::{Start, Submission};
use crate::command::{Enqueue, OwnEvent, Request};
use crate::device::drain;
use crate::driver::Driver;
use crate::image::argument::is_written;
use crate::image::object::Image;
use crate::image::users::Coming;
use crate::memory_object::arguments::{OwnedImages, access_of};
use crate::memory_object::{Mem, MemBody, object_of};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::handle;
use crate::queue::deferral::PlacingTurn;
use crate::stream::Stream;
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
    let memories = objects_of(&request, checked_list(count, memories)?)?;
    call_or_defer(&request, function, data, memories)
}

/// The memory objects that a command is given.
type Memories<D> = SmallVec<[Arc<Object<Mem<D>>>; 4]>;

fn objects_of<D: Driver>(request: &Request<'_, D>, list: &[ur_mem_handle_t]) -> Result<Memories<D>> {
    let mut memories = Memories::new();
    for mem in list {
        // SAFETY: the entry point's handles, which C owes to be alive during the call.
        let mem = unsafe { handle::<Mem<D>>("phMemList", *mem) }?;
        object_of(request, mem)?;
        memories.push(mem.to_arc());
    }
    Ok(memories)
}

fn call_or_defer<D: Driver>(
    request: &Request<'_, D>,
    function: NativeEnqueue,
    data: *mut c_void,
    memories: Memories<D>,
) -> Result<()> {
    if request.must_be_deferred() {
        return defer(request, function, data, memories);
    }
    if memories.is_empty() {
        return call_application(request, function, data);
    }
    let _coming = prepare_images(request, &memories)?;
    // The memory objects move once the wait list is through; the function's work comes after that.
    let mut moved = OwnEvent::new();
    let Request { queue, command, waits, event } = request;
    let (queue, command) = (*queue, *command);
    make_current(&Request { queue, command, waits: waits.again(), event: moved.out() }, &memories)?;
    // Another thread may have made the queue keep its commands meanwhile.
    call_or_defer(
        &Request { queue, command, waits: moved.waits()?, event: event.again() },
        function,
        data,
        Memories::new(),
    )
}

/// Makes the arrays that images lack on the queue's device, before its stream is locked. The images do not go while this lives,
/// which is until the function's work is on the stream.
fn prepare_images<'m, D: Driver>(
    request: &Request<'m, D>,
    memories: &'m [Arc<Object<Mem<D>>>],
) -> Result<SmallVec<[Coming<'m, D>; 2]>> {
    let images = memories.iter().filter_map(|memory| match &memory.body {
        MemBody::Image(image) => Some(&**image),
        MemBody::Buffer(_) => None,
    });
    let prepare = |image: &'m Image<D>| {
        request.refuse_in_capture("an image of a native command")?;
        image.prepare_for(request.queue)
    };
    images.map(prepare).collect()
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
fn make_current<D: Driver>(request: &Request<'_, D>, memories: &[Arc<Object<Mem<D>>>]) -> Result<()> {
    let (mut accesses, mut images) = (SmallVec::<[_; 4]>::new(), SmallVec::<[_; 2]>::new());
    for memory in memories {
        match &memory.body {
            MemBody::Buffer(buffer) => accesses.push(access_of(buffer, memory.flags, ur_mem_flags_t::empty())),
            MemBody::Image(_) => images.push((Arc::clone(memory), is_written(ur_mem_flags_t::empty()))),
        }
    }
    let (buffers, images) = (accesses.len(), OwnedImages::new(images));
    with_locked_buffers(request, false, &accesses, move |_, stream, locked| {
        (0..buffers).try_for_each(|index| locked.prepare(index).map(drop))?;
        if let Some(queue) = locked.queue() {
            let images = images.on(queue)?;
            images.make_current(stream)?;
            images.note_writes();
        }
        locked.commit_all()
    })
}

/// A call of the application's function that is kept.
struct DeferredCall<D: Driver> {
    function: NativeEnqueue,
    /// An address that only the application looks behind.
    data: usize,
    memories: Memories<D>,
}

impl<D: Driver> Owned<D> for DeferredCall<D> {
    fn place(self: Box<Self>, request: &Request<'_, D>) -> Result<()> {
        let Self { function, data, memories } = *self;
        call_or_defer(request, function, core::ptr::with_exposed_provenance_mut(data), memories)
    }

    fn may_block(&self) -> bool {
        true
    }
}

#[cold]
fn defer<D: Driver>(
    request: &Request<'_, D>,
    function: NativeEnqueue,
    data: *mut c_void,
    memories: Memories<D>,
) -> Result<()> {
    let waits = request.bind_waits()?;
    let call = DeferredCall { function, data: data.expose_provenance(), memories };
    deferral::defer(request, waits, Place::InOrder, &Promise::of_command(), Box::new(call));
    Ok(())
}

/// Calls the function between the stream's turns.
fn call_application<D: Driver>(request: &Request<'_, D>, function: NativeEnqueue, data: *mut c_void) -> Result<()> {
    let queue = request.queue.handle();
    let stream = request.queue.first();
    let turn = Turn::begin(request, stream)?;
    {
        let _scope = stream.device.enter()?;
        let _turn = (PlacingTurn::call_out(), drain::set_aside());
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
    OfCapture(captured::CapturedCommand<D>),
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
            Self::OfCapture(captured) => captured.end(request, Submission::over(stream)),
        }
    }
}

/// Makes the native stream ready for the application's work.
fn begin<D: Driver>(request: &Request<'_, D>, stream: &Arc<Stream<D>>) -> Result<Start<D>> {
    let queued = deferral::queued(request.queue);
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
