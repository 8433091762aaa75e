//! Commands of a queue that captures: recorded into a graph by the native library, as they are put on the stream.
//!
//! All that a capture cannot hold is refused before anything native happens, since the native library ends a capture for it:
//! a command that does not say of itself that it can be captured ([`Command::check_capture`]), an order with what is outside,
//! and an order between two captures. A queue that waits for an event of a capture joins it.
//!
//! A queue out of order captures on its first stream alone. That stream is told what each command comes after
//! ([`crate::stream::capture::order`]), so commands have the edges that the application asked for and no others.
//!
//! Nothing here is counted or timed, since nothing runs. Events are given their native event at once: that costs no node, and
//! an event that stands for "the last command" would end with the capture.

use std::collections::HashSet;
use std::sync::Arc;

use ur_ffi::ur_result_t;

use crate::command::erased::Erased;
use crate::command::submission::Submission;
use crate::command::{Command, Request};
use crate::driver::Driver;
use crate::object::error::{Error, Result};
use crate::stream::capture::{self, Capture, InFunction, SetAside};

/// What a command answers that a capture cannot hold; `path` is its type's.
#[cold]
pub(super) fn not_capturable(path: &str) -> Error {
    let name = path.split('<').next().and_then(|path| path.rsplit("::").next()).unwrap_or(path);
    capture::unsupported(&format!("the command {name}"))
}

/// Puts a command into the capture of its queue, or the one that its wait list has an event of.
///
/// # Errors
/// As [`capture_of`] and [`Command::check_capture`]; what the native library answers.
#[cold]
#[inline(never)]
pub(super) fn submit<D: Driver>(request: &Request<'_, D>, command: Erased<'_, D>) -> Result<()> {
    let capture = capture_of(request)?;
    command.check_capture(&capture)?;
    // A call that the library refuses ends the capture, so none is tried without what it may need.
    let _scope = request.queue.device.enter()?;
    let (mut submission, set_aside) = Submission::in_capture(request, &capture)?;
    let captured = CapturedCommand::new(request, &submission, Arc::clone(&capture), set_aside)?;
    command.put_in_capture(&mut submission, &capture)?;
    captured.end(request, submission)
}

/// Makes the stream of a queue that captures come after the wait list, for work that a native command's function captures there.
///
/// # Errors
/// As [`capture_of`]; what the native library answers.
#[cold]
pub(crate) fn come_after<D: Driver>(request: &Request<'_, D>) -> Result<CapturedCommand<D>> {
    let capture = capture_of(request)?;
    let _scope = request.queue.device.enter()?;
    let (submission, set_aside) = Submission::in_capture(request, &capture)?;
    let mut command = CapturedCommand::new(request, &submission, capture, set_aside)?;
    if command.after.is_some() {
        command.function = Some(command.capture.enter_function(submission.stream()));
    }
    Ok(command)
}

/// Whether a command belongs to a capture: its queue's, or one that an event of its wait list is of.
#[inline]
pub(super) fn is_wanted<D: Driver>(request: &Request<'_, D>) -> bool {
    request.queue.capture().is_some() || request.waits.iter().any(|event| event.as_captured().is_some())
}

/// A wait of a queue out of order: it comes after the wait list, or after everything without one. Every later command comes
/// after a barrier. What has several nodes before it gets an empty one, so that whoever comes after it needs one edge.
///
/// # Errors
/// As [`capture_of`]; what the native library answers.
#[cold]
pub(super) fn wait_out_of_order<D: Driver>(request: &Request<'_, D>, is_barrier: bool) -> Result<()> {
    let capture = capture_of(request)?;
    let _scope = request.queue.device.enter()?;
    let (submission, set_aside) = Submission::in_capture(request, &capture)?;
    let (driver, stream) = (submission.driver(), submission.native());
    capture.with_order(submission.stream(), |order| -> Result<()> {
        if request.waits.is_empty() {
            let last = order.last().into_iter().chain(set_aside.nodes().iter().copied());
            let last: HashSet<_> = last.collect();
            driver.set_capture_dependencies(stream, &last.into_iter().collect::<Vec<_>>())?;
        }
        let (graph, after) = driver.capture_dependencies(stream)?;
        let joint = match after[..] {
            [] => return Ok(()),
            [one] => one,
            _ => driver.add_empty(&graph, &after)?,
        };
        driver.set_capture_dependencies(stream, &[joint])?;
        order.add(&after, &[joint]);
        if is_barrier {
            order.set_barrier(joint);
        }
        Ok(())
    })?;
    let returned = submission.return_captured_event(request, &capture);
    drop(set_aside);
    returned
}

/// A command in a capture: its stream comes after all that the command waits for.
pub(crate) struct CapturedCommand<D: Driver> {
    capture: Arc<Capture<D>>,
    /// What a command of a queue out of order comes after.
    after: Option<Vec<D::GraphNode>>,
    /// Of a native command of such a queue, its function's call.
    function: Option<InFunction<D>>,
    set_aside: SetAside<D>,
}

impl<D: Driver> CapturedCommand<D> {
    fn new(
        request: &Request<'_, D>,
        submission: &Submission<'_, D>,
        capture: Arc<Capture<D>>,
        set_aside: SetAside<D>,
    ) -> Result<Self> {
        let after = match request.queue.is_in_order() {
            true => None,
            false => Some(submission.driver().capture_dependencies(submission.native())?.1),
        };
        Ok(Self { capture, after, function: None, set_aside })
    }

    /// Notes what was captured here, and gives the application its event.
    ///
    /// # Errors
    /// What the native library answers; the command is part of the capture then, and its event is not there.
    pub(crate) fn end(self, request: &Request<'_, D>, submission: Submission<'_, D>) -> Result<()> {
        let Self { capture, after, function, set_aside } = self;
        drop(function);
        if let Some(after) = after {
            let (_, ends) = submission.driver().capture_dependencies(submission.native())?;
            capture.with_order(submission.stream(), |order| order.add(&after, &ends));
        }
        let returned = submission.return_captured_event(request, &capture);
        // Under the stream's lock still.
        drop(set_aside);
        returned
    }
}

/// The capture that a command belongs to.
///
/// # Errors
/// `GRAPH_INTERNAL_EVENT` for an event of a capture that has ended, `GRAPH_CAPTURE_MERGE_ATTEMPT` for one of another capture
/// than the queue's, `GRAPH_CAPTURE_UNSUPPORTED` for one from outside that is not complete, and for a queue out of order where
/// the native library cannot be told the order in a capture.
fn capture_of<D: Driver>(request: &Request<'_, D>) -> Result<Arc<Capture<D>>> {
    let mut found = request.queue.capture();
    for event in request.waits.iter() {
        let Some(captured) = event.as_captured() else { continue };
        let capture = &captured.capture;
        if capture.has_ended() {
            return Err(capture::internal_event());
        }
        if !Arc::ptr_eq(found.get_or_insert_with(|| Arc::clone(capture)), capture) {
            return Err(Error::new(
                ur_result_t::ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT,
                "the wait list has events of two captures, or one of another capture than the queue's",
            ));
        }
    }
    // The capture may have ended since the caller looked.
    let found = found.ok_or_else(capture::internal_event)?;
    let queue = request.queue;
    if queue.is_deferring() {
        // What is kept would be captured when its turn comes, and never run.
        return Err(capture::unsupported("a queue whose commands wait for a timeline (finish it first)"));
    }
    if !queue.is_in_order() && !queue.device.driver.orders_captures() {
        return Err(capture::unsupported("a command of a queue out of order (the native library orders no captures)"));
    }
    for event in request.waits.iter() {
        // The order of one stream crosses a capture's border by itself.
        let is_inside =
            event.as_captured().is_some() || queue.is_in_order() && Arc::ptr_eq(&event.stream, queue.first());
        if !is_inside && !event.is_complete()? {
            return Err(capture::unsupported("a wait for an event from outside of the capture that is not complete"));
        }
    }
    Ok(found)
}
