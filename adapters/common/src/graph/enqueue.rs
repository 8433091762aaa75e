//! `urEnqueueCommandBufferExp`: a command of one native call. What the graph's commands do with the memory of buffers is seen to behind
//! the lock of the executable graph ([`crate::graph::executable`]).

use std::sync::Arc;

use ur_ffi::{ur_command_t, ur_result_t};

use crate::command::deferral::{Deferring, Owned, by_blocking_function};
use crate::command::submission::Submission;
use crate::command::{Command, Enqueue, Request, submit};
use crate::driver::Driver;
use crate::graph::command_buffer::CommandBuffer;
use crate::graph::executable::Executable;
use crate::graph::executable::snapshot::Snapshot;
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
    launch(&request, executable, Owner::Buffer(buffer))
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
pub(super) fn launch<D: Driver>(
    request: &Request<'_, D>,
    executable: &Executable<D>,
    owner: Owner<'_, D>,
) -> Result<()> {
    submit(request, LaunchGraph { queue: request.queue, executable, owner })?;
    executable.drop_leftovers();
    Ok(())
}

/// A launch of all that a graph recorded.
struct LaunchGraph<'b, D: Driver> {
    queue: &'b Object<Queue<D>>,
    executable: &'b Executable<D>,
    /// What it is kept alive by.
    owner: Owner<'b, D>,
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

    #[inline(always)]
    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        self.executable.launch(self.queue, (submission.stream(), submission.position()))
    }

    /// A change before the launch's turn is not for it: one of a buffer that can be changed keeps what it was enqueued with.
    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        if self.executable.signals_events() {
            return Err(Error::unsupported(
                "a command buffer whose commands have events, behind a wait for what nobody has submitted yet: the events would not \
                 stand for this launch (append without phEvent, or wait for the timeline on the host first)",
            ));
        }
        if self.executable.follows_signals() {
            return Err(follows_signals());
        }
        let owned = match self.owner {
            Owner::Buffer(buffer) if buffer.properties.is_updatable => {
                let snapshot = self.executable.changes().snapshot();
                if snapshot.follows_signals() {
                    return Err(follows_signals());
                }
                launch_later(buffer.to_arc(), snapshot)
            }
            Owner::Buffer(buffer) => {
                let buffer = buffer.to_arc();
                by_blocking_function(move |request| launch(request, buffer.executable()?, Owner::Buffer(&buffer)))
            }
            Owner::Graph(graph) => {
                let graph = graph.to_arc();
                by_blocking_function(move |request| launch(request, graph.executable(), Owner::Graph(&graph)))
            }
        };
        Ok((owned, ()))
    }
}

/// The nodes name events and no signals, so in the launch's turn they would wait for what the events stand for by then.
#[cold]
fn follows_signals() -> Error {
    Error::unsupported(
        "a command buffer whose commands wait for an event that can be signalled again (of urEventCreateExp, of another command \
         buffer's command, or over a native event of the application's), behind a wait for what nobody has submitted yet: the \
         launch would wait for a later signal than the one before it (give the event to the launch's phEventWaitList instead of \
         the command's, or wait for the timeline on the host first)",
    )
}

/// A deferred launch of a buffer as it was at its enqueue. Launches of one graph wait for each other, over native calls too.
fn launch_later<D: Driver>(buffer: Arc<Object<CommandBuffer<D>>>, snapshot: Arc<Snapshot<D>>) -> Box<dyn Owned<D>> {
    by_blocking_function(move |request| {
        let executable = buffer.executable()?;
        submit(request, LaunchSnapshot { queue: request.queue, executable, buffer: &buffer, snapshot: &snapshot })?;
        executable.drop_leftovers();
        Ok(())
    })
}

/// A launch of all that a graph recorded, as it was when the launch was enqueued.
struct LaunchSnapshot<'b, D: Driver> {
    queue: &'b Object<Queue<D>>,
    executable: &'b Executable<D>,
    buffer: &'b Arc<Object<CommandBuffer<D>>>,
    snapshot: &'b Arc<Snapshot<D>>,
}

impl<D: Driver> Command<D> for LaunchSnapshot<'_, D> {
    type Output = ();

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        self.executable.launch_as(self.snapshot, self.queue, (submission.stream(), submission.position()))
    }

    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        Ok((launch_later(Arc::clone(self.buffer), Arc::clone(self.snapshot)), ()))
    }
}
