//! Graphs that queues capture, which destroy themselves.
//!
//! Must not hide what an entry point answers from tests of bad input: those call the entry points themselves.

use core::ptr::null_mut;

use ur_ffi::{
    CBool, ur_device_info_t, ur_event_handle_t, ur_exp_executable_graph_handle_t_, ur_exp_graph_handle_t_, ur_result_t,
};

use crate::owned::{Handle, event_of};
use crate::{Event, Fixture, Owned, Queue, ask, expect_success, loader, ok, query, ur};

/// A graph.
pub type Graph = Owned<ur_exp_graph_handle_t_>;
/// What was instantiated from one.
pub type ExecutableGraph = Owned<ur_exp_executable_graph_handle_t_>;

/// Whether queues of the fixture's device can capture.
#[must_use]
pub fn are_there(fixture: &Fixture) -> bool {
    let property = ur_device_info_t::GRAPH_RECORD_AND_REPLAY_SUPPORT_EXP;
    query::get::<u8>(ask!(Device.pfnGetInfo(fixture.device(), property))) != 0
}

/// The end of the test, with a line that says so, where the device's queues cannot capture; the entry points say so too.
#[macro_export]
macro_rules! needs_capture {
    ($fixture:expr) => {
        if !$crate::graph::are_there(&$fixture) {
            let queue = $fixture.in_order();
            $crate::refused!(ERROR_UNSUPPORTED_FEATURE, QueueExp.pfnBeginGraphCaptureExp(queue.handle()));
            println!("skipped from {}:{} on: the native library has no capture", file!(), line!());
            return;
        }
    };
}

impl Graph {
    /// Takes over the one reference.
    #[must_use]
    pub fn take(handle: <Self as Handle>::Raw) -> Self {
        Self::new(handle, loader().table.GraphExp.pfnDestroyExp)
    }

    /// A graph without commands.
    #[track_caller]
    #[must_use]
    pub fn empty(fixture: &Fixture) -> Self {
        let mut graph = null_mut();
        ok!(GraphExp.pfnCreateExp(fixture.context(), &raw mut graph));
        Self::take(graph)
    }

    /// What a queue is given by `work`.
    #[track_caller]
    #[must_use]
    pub fn captured(queue: &Queue, work: impl FnOnce()) -> Self {
        begin(queue);
        work();
        Self::take(end(queue))
    }

    /// What can be launched of it.
    #[track_caller]
    #[must_use]
    pub fn instantiate(&self) -> ExecutableGraph {
        let mut executable = null_mut();
        ok!(GraphExp.pfnInstantiateGraphExp(self.handle(), &raw mut executable));
        ExecutableGraph::take(executable)
    }

    /// Whether it has no commands.
    #[track_caller]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let mut is_empty = CBool::from(false);
        ok!(GraphExp.pfnIsEmptyExp(self.handle(), &raw mut is_empty));
        is_empty.get()
    }
}

impl ExecutableGraph {
    /// Takes over the one reference.
    #[must_use]
    pub fn take(handle: <Self as Handle>::Raw) -> Self {
        Self::new(handle, loader().table.GraphExp.pfnExecutableGraphDestroyExp)
    }

    /// Enqueues a launch and gives the answer.
    pub fn enqueue(&self, queue: &Queue, waits: &[ur_event_handle_t], event: *mut ur_event_handle_t) -> ur_result_t {
        let (count, list) = crate::command_buffer::list(waits);
        ur!(EnqueueExp.pfnGraphExp(queue.handle(), self.handle(), count, list, event))
    }

    /// Enqueues a launch that must succeed.
    #[track_caller]
    pub fn on(&self, queue: &Queue) {
        expect_success(self.enqueue(queue, &[], null_mut()), "urEnqueueGraphExp");
    }

    /// As [`ExecutableGraph::on`], with the launch's event.
    #[track_caller]
    #[must_use]
    pub fn event_on(&self, queue: &Queue) -> Event {
        event_of(|event| self.enqueue(queue, &[], event))
    }
}

/// Begins a capture.
#[track_caller]
pub fn begin(queue: &Queue) {
    ok!(QueueExp.pfnBeginGraphCaptureExp(queue.handle()));
}

/// Ends a capture.
#[track_caller]
pub fn end(queue: &Queue) -> <Graph as Handle>::Raw {
    let mut graph = null_mut();
    ok!(QueueExp.pfnEndGraphCaptureExp(queue.handle(), &raw mut graph));
    graph
}

/// Whether a queue captures.
#[track_caller]
#[must_use]
pub fn is_capturing(queue: &Queue) -> bool {
    let mut result = CBool::from(false);
    ok!(QueueExp.pfnIsGraphCaptureEnabledExp(queue.handle(), &raw mut result));
    result.get()
}
