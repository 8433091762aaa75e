//! `urEnqueueCommandBufferExp`: a command of one native call.

use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{ur_command_t, ur_result_t};

use crate::buffer::storage::{BufferAccess, submit_with_buffers};
use crate::command::deferral::{Keeping, Owned, by_function, not_deferrable};
use crate::command::submission::Submission;
use crate::command::{Command, Enqueue, Request, submit};
use crate::driver::Driver;
use crate::graph::command_buffer::{CommandBuffer, Executable};
use crate::graph::memory_uses::Used;
use crate::graph::native::executable::ExecutableGraph;
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
        None => submit(&request, LaunchGraph { executable, owner: Owner::Buffer(buffer) }),
        Some(uses) => launch_over_memory(&request, executable, &uses),
    }
}

/// A launch whose commands work with buffers: their bytes are brought to the device first, and what the commands write is
/// current nowhere else afterwards.
fn launch_over_memory<D: Driver>(request: &Request<'_, D>, executable: &Executable<D>, uses: &[Used<D>]) -> Result<()> {
    request.refuse_in_capture("a launch of a command buffer")?;
    let accesses: SmallVec<[_; 8]> =
        uses.iter().map(|used| BufferAccess::on_device(&used.storage, used.access.clone())).collect();
    // The addresses are those that the nodes name.
    submit_with_buffers(request, false, &accesses, |_, stream, _| {
        executable.with(|driver, exec| driver.launch_graph(exec, stream))
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
    /// What it is kept alive by.
    pub(super) owner: Owner<'b, D>,
}

/// What an executable graph belongs to.
#[derive(Clone, Copy)]
pub(super) enum Owner<'b, D: Driver> {
    /// A command buffer.
    Buffer(&'b Object<CommandBuffer<D>>),
    /// A graph that a queue captured.
    Graph(&'b Object<ExecutableGraph<D>>),
}

impl<D: Driver> Command<D> for LaunchGraph<'_, D> {
    type Output = ();

    #[inline]
    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        self.executable.with(|driver, exec| driver.launch_graph(exec, submission.native()))
    }

    /// A buffer that can be updated cannot be kept: what an update changes before the launch's turn would change the launch.
    fn into_owned(self, _: &Keeping<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        let owned = match self.owner {
            Owner::Buffer(buffer) if buffer.properties.is_updatable => {
                return not_deferrable("a launch of an updatable command buffer");
            }
            Owner::Buffer(buffer) => {
                let buffer = buffer.to_arc();
                by_function(move |request: &Request<'_, D>| {
                    submit(request, LaunchGraph { executable: buffer.executable()?, owner: Owner::Buffer(&buffer) })
                })
            }
            Owner::Graph(graph) if graph.allocates() => {
                return not_deferrable("a launch of a graph that allocates memory");
            }
            Owner::Graph(graph) => {
                let graph = graph.to_arc();
                by_function(move |request: &Request<'_, D>| {
                    submit(request, LaunchGraph { executable: graph.executable(), owner: Owner::Graph(&graph) })
                })
            }
        };
        Ok((owned, ()))
    }
}
