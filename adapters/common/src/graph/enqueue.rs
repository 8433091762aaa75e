//! `urEnqueueCommandBufferExp`: a command of one native call.

use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{ur_command_t, ur_result_t};

use crate::buffer::storage::{BufferAccess, submit_with_buffers};
use crate::command::submission::Submission;
use crate::command::{Command, Enqueue, Request, submit};
use crate::driver::Driver;
use crate::graph::command_buffer::{CommandBuffer, Executable};
use crate::graph::memory_uses::Used;
use crate::image::argument::ImageArguments;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::queue::Queue;
use crate::stream::event::WaitList;
use crate::sync::mutation;

/// `urEnqueueCommandBufferExp`.
///
/// # Errors
/// `INVALID_OPERATION` for a buffer that is not finalised; `INVALID_QUEUE` for a queue of another context or device than the
/// buffer's; what the native library answers.
pub fn enqueue<D: Driver>(enqueue: Enqueue<'_, D>, buffer: &Object<CommandBuffer<D>>) -> Result<()> {
    let mut request = enqueue.request(ur_command_t::ENQUEUE_COMMAND_BUFFER_EXP);
    if mutation::is(mutation::Bug::GraphLaunchWithoutWaits) {
        request.waits = WaitList::none();
    }
    let executable = buffer.executable()?;
    if !Arc::ptr_eq(&request.queue.device, buffer.state()) {
        return Err(not_on(request.queue, buffer));
    }
    match buffer.memory().list() {
        None => submit(&request, LaunchGraph { executable }),
        Some(uses) => {
            launch_over_memory(&request, executable, &uses)?;
            buffer.note_launch();
            Ok(())
        }
    }
}

/// A launch whose commands work with buffers and images: their contents are brought to the device first, and what the commands
/// write is current nowhere else afterwards.
pub(super) fn launch_over_memory<D: Driver>(
    request: &Request<'_, D>,
    executable: &Executable<D>,
    uses: &[Used<D>],
) -> Result<()> {
    request.refuse_in_capture("the launch of a graph")?;
    let accesses = uses.iter().filter_map(|used| match used {
        Used::Bytes { storage, access } => Some(BufferAccess::on_device(storage, access.clone())),
        Used::Image { .. } => None,
    });
    let accesses: SmallVec<[_; 8]> = accesses.collect();
    let mut images = ImageArguments::new(request.queue);
    for used in uses.iter().filter_map(Used::image) {
        let (image, is_written) = used?;
        images.add(image, is_written);
    }
    // The addresses and objects are those that the nodes name.
    submit_with_buffers(request, false, &accesses, |_, stream, _| {
        images.make_current(stream)?;
        executable.with(|driver, exec| driver.launch_graph(exec, stream))?;
        images.note_writes();
        Ok(())
    })
}

#[cold]
fn not_on<D: Driver>(queue: &Queue<D>, buffer: &CommandBuffer<D>) -> Error {
    let same_context = Arc::ptr_eq(&queue.context, &buffer.context);
    let what = if same_context { "device" } else { "context" };
    let text = format!(
        "urEnqueueCommandBufferExp: the queue is of another {what} than the command buffer; give one of its own"
    );
    Error::new(ur_result_t::ERROR_INVALID_QUEUE, text)
}

/// A launch of all that a graph recorded.
pub(super) struct LaunchGraph<'b, D: Driver> {
    /// What is launched.
    pub(super) executable: &'b Executable<D>,
}

impl<D: Driver> Command<D> for LaunchGraph<'_, D> {
    type Output = ();

    #[inline]
    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        self.executable.with(|driver, exec| driver.launch_graph(exec, submission.native()))
    }
}
