//! Copies out of memory of the application's that the native library does not know, behind what may still write there.
//!
//! The library takes such bytes inside of the call that copies them to a device, whatever its stream has still to do
//! (`docs/native-facts.md`). So a copy that comes after a host task would copy what was there before the task's function has
//! written, and one that comes after a graph what was there before the graph's own copy. While any function is on its way or
//! runs, and out of memory that a graph writes ([`super::graph_writes`]), such a copy is kept, if it comes after anything that is
//! not over: a worker waits for that, and submits it then. Which task or launch a copy comes after nobody asks: it is kept beside
//! those that it does not come after too, and waits for none of them.
//!
//! Must never wait on the thread of whoever enqueues.

use core::ops::{ControlFlow, Range};

use crate::command::deferral::{Deferring, Owned, barrier_of, placing};
use crate::command::erased::{Erased, with_erased};
use crate::command::graph::GraphBuilder;
use crate::command::submission::Submission;
use crate::command::{Command, Request, keep, submit, submit_and_wait};
use crate::device::deferred;
use crate::driver::Driver;
use crate::object::error::{Error, Result};
use crate::queue::Queue;
use crate::stream::StreamState;
use crate::stream::capture::Capture;
use crate::sync::unlikely::unlikely;
use crate::usm::graph_writes;

/// Submits a command that copies from an address of the application's.
///
/// # Errors
/// As [`submit`].
#[inline(always)]
pub(crate) fn submit_from<D: Driver, C: Command<D>>(
    request: &Request<'_, D>,
    blocking: bool,
    from: Range<usize>,
    command: C,
) -> Result<C::Output> {
    let command = FromApplication { command, from: from.start };
    if unlikely!(may_be_written(&from)) && is_taken_early(request, from.start) {
        return keep(request, blocking, command);
    }
    if unlikely!(blocking) { submit_and_wait(request, command) } else { submit(request, command) }
}

/// As [`submit_from`], for a command that nobody enqueues so often that an indirect call counts.
///
/// # Errors
/// As [`submit_from`].
pub(crate) fn submit_erased_from<D: Driver, C: Command<D>>(
    request: &Request<'_, D>,
    blocking: bool,
    from: Range<usize>,
    command: C,
) -> Result<C::Output> {
    with_erased(command, |command| submit_one_from(request, blocking, from, command))
}

#[inline(never)]
fn submit_one_from<D: Driver>(
    request: &Request<'_, D>,
    blocking: bool,
    from: Range<usize>,
    command: Erased<'_, D>,
) -> Result<()> {
    submit_from(request, blocking, from, command)
}

/// Whether something that is on its way may write the bytes: a host task anything, a graph what it was told to.
#[inline(always)]
fn may_be_written(from: &Range<usize>) -> bool {
    deferred::has_task_in_flight() || graph_writes::include(from)
}

/// Whether the copy would be of bytes that are there at the call, and can be kept. In a capture it is done at the launch.
#[cold]
fn is_taken_early<D: Driver>(request: &Request<'_, D>, from: usize) -> bool {
    let is_captured =
        || request.queue.capture().is_some() || request.waits.iter().any(|event| event.as_captured().is_some());
    placing(request.queue).is_none() && !is_captured() && comes_after_work(request) && is_unknown(request.queue, from)
}

/// Whether anything that is not over comes before the command.
fn comes_after_work<D: Driver>(request: &Request<'_, D>) -> bool {
    let queue = request.queue;
    let own = || match queue.is_in_order() {
        true => !queue.first().is_idle().unwrap_or(false),
        false => barrier_of(queue).1.is_some_and(|barrier| !barrier.is_known_complete()),
    };
    request.waits.iter().any(|event| !event.is_known_complete()) || own()
}

/// Whether the native library does not know the memory.
fn is_unknown<D: Driver>(queue: &Queue<D>, address: usize) -> bool {
    graph_writes::is_unknown(&queue.context, queue.device.driver, address)
}

/// A command that copies from an address of the application's.
struct FromApplication<C> {
    command: C,
    from: usize,
}

impl<D: Driver, C: Command<D>> Command<D> for FromApplication<C> {
    type Output = C::Output;

    #[inline(always)]
    fn touches_stream(&self) -> bool {
        self.command.touches_stream()
    }

    #[inline(always)]
    fn prepare(&mut self, state: &mut StreamState<D>) -> Result<ControlFlow<Self::Output>> {
        self.command.prepare(state)
    }

    #[inline(always)]
    fn undo(&mut self, state: &mut StreamState<D>) {
        self.command.undo(state);
    }

    #[inline(always)]
    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<Self::Output> {
        self.command.put_on(submission)
    }

    fn check_capture(&self, capture: &Capture<D>) -> Result<()> {
        self.command.check_capture(capture)
    }

    fn put_in_capture(self, submission: &mut Submission<'_, D>, capture: &Capture<D>) -> Result<Self::Output> {
        self.command.put_in_capture(submission, capture)
    }

    fn into_owned(self, deferring: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, Self::Output)> {
        let (owned, output) = self.command.into_owned(deferring)?;
        if is_unknown(deferring.request.queue, self.from) {
            return Ok((Box::new(BehindWrites { command: owned, from: self.from }), output));
        }
        Ok((owned, output))
    }

    fn add_to(self, graph: &mut GraphBuilder<'_, D>) -> Result<()> {
        self.command.add_to(graph)
    }
}

/// A deferred command that waits for what it comes after, in its turn.
struct BehindWrites<D: Driver> {
    command: Box<dyn Owned<D>>,
    from: usize,
}

impl<D: Driver> Owned<D> for BehindWrites<D> {
    fn place(self: Box<Self>, request: &Request<'_, D>) -> Result<()> {
        // A task that was deferred too is in flight by now, or is over. The end, which every copy would carry for this, is not known.
        if may_be_written(&(self.from..usize::MAX)) {
            request.waits.iter().try_for_each(|event| event.wait())?;
            if request.queue.is_in_order() {
                request.queue.first().finish()?;
            }
        }
        self.command.place(request)
    }

    fn may_block(&self) -> bool {
        true
    }

    fn fail(self: Box<Self>, cause: &Error) {
        self.command.fail(cause);
    }
}
