//! `urEnqueueCommandBufferExp`: a command of one native call. What the graph's commands do with the memory of buffers is seen to behind
//! the lock of the executable graph ([`crate::graph::executable`]). While another thread's launch has that, a launch is kept: must
//! not wait for it with its stream locked, nor for long, since that launch may wait for what the caller does next.

use core::ops::ControlFlow;
use std::sync::Arc;

use parking_lot::MutexGuard;
use ur_ffi::{ur_command_t, ur_result_t};

use crate::command::deferral::{Deferring, Owned, by_blocking_function, placing};
use crate::command::submission::Submission;
use crate::command::{Command, Enqueue, Request, erased, keep, submit};
use crate::driver::Driver;
use crate::graph::command_buffer::CommandBuffer;
use crate::graph::executable::snapshot::Snapshot;
use crate::graph::executable::{Executable, Native};
use crate::graph::native::executable::ExecutableGraph;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::queue::Queue;
use crate::stream::StreamState;
use crate::stream::event::WaitList;
use crate::sync::mutation;
use crate::sync::unlikely::unlikely;

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
    if unlikely!(matches!(submit(request, LaunchGraph::new(request, executable, owner))?, Launched::NotYet)) {
        launch_behind_another(request, executable, owner)?;
    }
    executable.drop_leftovers();
    Ok(())
}

/// As [`launch`], while another thread launches the graph. That one may wait in the driver for what the caller does next, so the
/// launch is kept where a moment is not enough. What is not kept waits: what was before, in its turn, and what cannot be.
#[cold]
#[inline(never)]
fn launch_behind_another<D: Driver>(
    request: &Request<'_, D>,
    executable: &Executable<D>,
    owner: Owner<'_, D>,
) -> Result<()> {
    let mut waits = placing(request.queue).is_some();
    loop {
        if waits {
            executable.wait_until_free();
        } else if !executable.is_free_soon() {
            match keep(request, false, LaunchGraph::new(request, executable, owner)) {
                Err(error) if error.code() == ur_result_t::ERROR_UNSUPPORTED_FEATURE => waits = true,
                kept => return kept.map(drop),
            }
        }
        if let Launched::Yes = erased::submit(request, LaunchGraph::new(request, executable, owner))? {
            return Ok(());
        }
    }
}

/// Whether a launch is on its stream, or kept.
enum Launched {
    Yes,
    /// Another thread launches the graph; nothing has happened.
    NotYet,
}

impl Launched {
    fn prepared<G>(native: Option<&G>) -> ControlFlow<Self> {
        if native.is_some() { ControlFlow::Continue(()) } else { ControlFlow::Break(Self::NotYet) }
    }
}

/// A launch of all that a graph recorded.
struct LaunchGraph<'b, D: Driver> {
    queue: &'b Object<Queue<D>>,
    executable: &'b Executable<D>,
    /// What it is kept alive by.
    owner: Owner<'b, D>,
    /// The native graph, once the stream is locked.
    native: Option<MutexGuard<'b, Native<D>>>,
}

impl<'b, D: Driver> LaunchGraph<'b, D> {
    #[inline(always)]
    fn new(request: &Request<'b, D>, executable: &'b Executable<D>, owner: Owner<'b, D>) -> Self {
        Self { queue: request.queue, executable, owner, native: None }
    }
}

/// What an executable graph belongs to.
pub(super) enum Owner<'b, D: Driver> {
    /// A command buffer.
    Buffer(&'b Object<CommandBuffer<D>>),
    /// A graph that a queue captured.
    Graph(&'b Object<ExecutableGraph<D>>),
}

// Not derived: that would ask the driver to be copied.
impl<D: Driver> Clone for Owner<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D: Driver> Copy for Owner<'_, D> {}

impl<D: Driver> Command<D> for LaunchGraph<'_, D> {
    type Output = Launched;

    #[inline(always)]
    fn prepare(&mut self, _: &mut StreamState<D>) -> Result<ControlFlow<Launched>> {
        self.native = self.executable.try_native();
        Ok(Launched::prepared(self.native.as_ref()))
    }

    #[inline(always)]
    fn undo(&mut self, _: &mut StreamState<D>) {
        self.native = None;
    }

    #[inline(always)]
    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<Launched> {
        let Some(native) = self.native else { return Ok(Launched::NotYet) };
        self.executable.launch(native, self.queue, (submission.stream(), submission.position()))?;
        Ok(Launched::Yes)
    }

    /// A change before the launch's turn is not for it: one of a buffer that can be changed keeps what it was enqueued with.
    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, Launched)> {
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
        Ok((owned, Launched::Yes))
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

/// A deferred launch of a buffer as it was at its enqueue. In its turn it waits for other threads' launches, with nothing locked.
fn launch_later<D: Driver>(buffer: Arc<Object<CommandBuffer<D>>>, snapshot: Arc<Snapshot<D>>) -> Box<dyn Owned<D>> {
    by_blocking_function(move |request| {
        let executable = buffer.executable()?;
        let launch =
            || LaunchSnapshot { queue: request.queue, executable, buffer: &buffer, snapshot: &snapshot, native: None };
        while let Launched::NotYet = erased::submit(request, launch())? {
            executable.wait_until_free();
        }
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
    /// As a [`LaunchGraph`]'s.
    native: Option<MutexGuard<'b, Native<D>>>,
}

impl<D: Driver> Command<D> for LaunchSnapshot<'_, D> {
    type Output = Launched;

    fn prepare(&mut self, _: &mut StreamState<D>) -> Result<ControlFlow<Launched>> {
        self.native = self.executable.try_native();
        Ok(Launched::prepared(self.native.as_ref()))
    }

    fn undo(&mut self, _: &mut StreamState<D>) {
        self.native = None;
    }

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<Launched> {
        let Some(native) = self.native else { return Ok(Launched::NotYet) };
        self.executable.launch_as(native, self.snapshot, self.queue, (submission.stream(), submission.position()))?;
        Ok(Launched::Yes)
    }

    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, Launched)> {
        Ok((launch_later(Arc::clone(self.buffer), Arc::clone(self.snapshot)), Launched::Yes))
    }
}
