//! Queues that capture: the entry points that begin and end a capture, and tell of one.
//!
//! A queue out of order captures on its first stream, where the native library can be told what each command comes after.

use std::sync::Arc;

use ur_ffi::{CBool, ur_exp_graph_handle_t, ur_result_t};

use crate::driver::Driver;
use crate::graph::native::graph::Graph;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::Out;
use crate::queue::Queue;
use crate::stream::capture::{self, Capture, Retained, not_capturing};

/// `urQueueBeginGraphCaptureExp`: into a new graph, which the end of the capture gives to the application.
///
/// # Errors
/// As [`begin_into`].
pub fn begin<D: Driver>(queue: &Object<Queue<D>>) -> Result<()> {
    begin_on(queue, Graph::new(&queue.context))
}

/// `urQueueBeginCaptureIntoGraphExp`: behind what the graph has already.
///
/// # Errors
/// `INVALID_OPERATION` for a queue that captures already and for a graph that another queue captures into;
/// `INVALID_CONTEXT` for a graph of another context; `UNSUPPORTED_FEATURE` where the native library
/// has no capture, and for a queue out of order where it cannot be told the order in one; what it answers.
pub fn begin_into<D: Driver>(queue: &Object<Queue<D>>, graph: &Object<Graph<D>>) -> Result<()> {
    if !Arc::ptr_eq(&queue.context, &graph.context) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_CONTEXT,
            "urQueueBeginCaptureIntoGraphExp: the graph is of another context than the queue",
        ));
    }
    begin_on(queue, graph.to_arc())
}

fn begin_on<D: Driver>(queue: &Object<Queue<D>>, graph: Arc<Object<Graph<D>>>) -> Result<()> {
    if !queue.is_in_order() && !queue.device.driver.orders_captures() {
        return Err(Error::unsupported(
            "the capture of a queue out of order (the native library orders no captures; create it without that property)",
        ));
    }
    if !queue.target.properties.graph_capture {
        return Err(Error::unsupported("the capture of a queue (the native library has none)"));
    }
    if queue.capture().is_some() {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_OPERATION,
            "the queue captures into a graph already; end that capture first (urQueueEndGraphCaptureExp)",
        ));
    }
    if queue.is_deferring() {
        return Err(capture::unsupported("a queue whose commands wait for a timeline (finish it first)"));
    }
    let memory_device = graph.begin_capture()?;
    let cancel = |target: &Retained| {
        if let Some(graph) = target.downcast_ref::<Object<Graph<D>>>() {
            graph.cancel_capture();
        }
    };
    let target = Arc::clone(&graph) as Retained;
    let capture = Capture::begin(queue.first(), memory_device, target, cancel);
    let capture = capture.inspect_err(|_| graph.cancel_capture())?;
    queue.set_capture(&capture);
    Ok(())
}

/// `urQueueEndGraphCaptureExp`. The queue is as before, also after an error.
///
/// # Errors
/// `COMMAND_LIST_NOT_CAPTURING` for a queue that began no capture; `GRAPH_UNJOINED_FORKS` when another queue joined and
/// nothing waits for its last command; `GRAPH_CAPTURE_INVALIDATED`; what else the native library answers.
pub fn end<D: Driver>(queue: &Object<Queue<D>>, out: Out<'_, ur_exp_graph_handle_t>) -> Result<()> {
    let capture = queue.capture().ok_or_else(not_capturing)?;
    if !capture.began_on(queue.first()) {
        return Err(Error::new(
            ur_result_t::ERROR_COMMAND_LIST_NOT_CAPTURING,
            "urQueueEndGraphCaptureExp: the queue joined a capture that another queue began; end it there",
        ));
    }
    let ended = capture.end();
    // The queue sees that it has ended, and is as before.
    let _ = queue.capture();
    let graph = capture.take_target().and_then(|target| target.downcast::<Object<Graph<D>>>().ok());
    let graph = graph.ok_or_else(not_capturing)?;
    match ended {
        Ok(captured) => graph.end_capture(captured, &queue.device)?,
        Err(error) => {
            graph.cancel_capture();
            return Err(error);
        }
    }
    // A graph of the application's own has its reference.
    out.write(if graph.references() == 0 { Object::into_handle(graph) } else { graph.handle() });
    Ok(())
}

/// `urQueueIsGraphCaptureEnabledExp`: also of a queue that joined the capture of another one.
///
/// # Errors
/// None.
pub fn is_enabled<D: Driver>(queue: &Object<Queue<D>>, out: Out<'_, CBool>) -> Result<()> {
    out.write(queue.capture().is_some().into());
    Ok(())
}

/// `urQueueGetGraphExp`: the graph that the end of the capture will give, without a reference.
///
/// # Errors
/// `INVALID_OPERATION` for a queue that does not capture.
pub fn get_graph<D: Driver>(queue: &Object<Queue<D>>, out: Out<'_, ur_exp_graph_handle_t>) -> Result<()> {
    let target = queue.capture().and_then(|capture| capture.target());
    let graph = target.and_then(|target| target.downcast::<Object<Graph<D>>>().ok());
    let graph = graph.ok_or_else(|| {
        Error::new(
            ur_result_t::ERROR_INVALID_OPERATION,
            "urQueueGetGraphExp: the queue does not capture into a graph; begin with urQueueBeginGraphCaptureExp",
        )
    })?;
    out.write(graph.handle());
    Ok(())
}
