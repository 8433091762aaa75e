//! `urEnqueueCommandBufferExp`: a command of one native call. What the graph's commands do with the memory of buffers is seen to behind
//! the lock of the executable graph ([`crate::graph::executable`]).

use std::sync::Arc;

use ur_ffi::{ur_command_t, ur_result_t};

use crate::command::submission::Submission;
use crate::command::{Command, Enqueue, Request, submit};
use crate::driver::Driver;
use crate::graph::command_buffer::CommandBuffer;
use crate::graph::executable::Executable;
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
    launch(&request, executable)
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

/// Launches all that a graph recorded.
///
/// # Errors
/// What the native library answers.
#[inline(always)]
pub(super) fn launch<D: Driver>(request: &Request<'_, D>, executable: &Executable<D>) -> Result<()> {
    submit(request, LaunchGraph { queue: request.queue, executable })?;
    executable.drop_leftovers();
    Ok(())
}

/// A launch of all that a graph recorded.
struct LaunchGraph<'b, D: Driver> {
    queue: &'b Object<Queue<D>>,
    executable: &'b Executable<D>,
}

impl<D: Driver> Command<D> for LaunchGraph<'_, D> {
    type Output = ();

    #[inline(always)]
    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        self.executable.launch(self.queue, (submission.stream(), submission.position()))
    }
}
