//! What was instantiated from a graph, and its launch: a command of one native call.
//!
//! An executable graph keeps what the graph's commands use, so it outlives the graph.

use std::sync::Arc;

use ur_ffi::{
    ur_command_t, ur_exp_executable_graph_handle_t, ur_exp_executable_graph_handle_t_, ur_native_handle_t, ur_result_t,
};

use crate::command::{Enqueue, submit};
use crate::context::{Context, DeviceState};
use crate::device::deferred;
use crate::driver::{Driver, NativeName};
use crate::graph::command_buffer::Executable;
use crate::graph::enqueue::{LaunchGraph, Owner};
use crate::graph::native::graph::{Allocations, Graph};
use crate::object::error::{Error, Result};
use crate::object::params::Out;
use crate::object::{Body, Object, TableAddress};
use crate::stream::capture::Retained;

/// What of it lives in the native library, with what it needs; in the order in which that ends.
struct Parts<D: Driver> {
    executable: Executable<D>,
    _kept: Vec<Retained>,
    allocations: Vec<Arc<Allocations<D>>>,
    /// Keeps the native context.
    _state: Arc<DeviceState<D>>,
}

/// What an executable graph's handle names.
pub struct ExecutableGraph<D: Driver> {
    context: Arc<Object<Context<D>>>,
    /// There until it is dropped.
    parts: Option<Box<Parts<D>>>,
}

impl<D: Driver> Body for ExecutableGraph<D> {
    type Opaque = ur_exp_executable_graph_handle_t_;
    const TAG: u32 = 0x5552_0031;
    const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_GRAPH;
    const NAME: &'static str = "executable graph";

    fn table() -> TableAddress {
        D::cell().table()
    }
}

impl<D: Driver> Drop for ExecutableGraph<D> {
    fn drop(&mut self) {
        if let Some(parts) = self.parts.take() {
            deferred::run(move || drop(parts));
        }
    }
}

impl<D: Driver> ExecutableGraph<D> {
    /// What can be launched.
    pub(in crate::graph) fn executable(&self) -> &Executable<D> {
        &self.parts().executable
    }

    /// Whether launches allocate memory.
    pub(in crate::graph) fn allocates(&self) -> bool {
        !self.parts().allocations.is_empty()
    }

    #[inline]
    fn parts(&self) -> &Parts<D> {
        let Some(parts) = &self.parts else { unreachable!("an executable graph has its parts until it is dropped") };
        parts
    }
}

/// `urGraphInstantiateGraphExp`.
///
/// # Errors
/// `INVALID_GRAPH` while a queue captures into the graph; `UNSUPPORTED_FEATURE` for a second one of a graph that allocates
/// memory; what the native library answers.
pub fn instantiate<D: Driver>(graph: &Object<Graph<D>>, out: Out<'_, ur_exp_executable_graph_handle_t>) -> Result<()> {
    let parts = graph.with_recorded(|recorded| {
        let (driver, state) = (recorded.state.driver, Arc::clone(recorded.state));
        let executable = Executable::new(driver, driver.instantiate(recorded.graph)?);
        Ok(Parts {
            executable,
            _kept: recorded.kept.to_vec(),
            allocations: recorded.allocations.to_vec(),
            _state: state,
        })
    })?;
    out.write_object(Object::new(ExecutableGraph {
        context: Arc::clone(&graph.context),
        parts: Some(Box::new(parts)),
    }));
    Ok(())
}

/// `urEnqueueGraphExp`.
///
/// # Errors
/// `INVALID_CONTEXT` for a queue of another context than the graph's; `GRAPH_CAPTURE_UNSUPPORTED` for one that captures; what
/// the native library answers.
pub fn enqueue<D: Driver>(enqueue: Enqueue<'_, D>, graph: &Object<ExecutableGraph<D>>) -> Result<()> {
    let request = enqueue.request(ur_command_t::ENQUEUE_GRAPH_EXP);
    if !Arc::ptr_eq(&request.queue.context, &graph.context) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_CONTEXT,
            "urEnqueueGraphExp: the queue is of another context than the graph; give one of its own",
        ));
    }
    let parts = graph.parts();
    submit(&request, LaunchGraph { executable: &parts.executable, owner: Owner::Graph(graph) })?;
    parts.allocations.iter().for_each(|allocations| allocations.note_launch());
    Ok(())
}

/// `urGraphExecutableGraphGetNativeHandleExp`. It stays the executable graph's.
///
/// # Errors
/// None.
pub fn get_native_handle<D: Driver>(
    graph: &Object<ExecutableGraph<D>>,
    out: Out<'_, ur_native_handle_t>,
) -> Result<()> {
    out.write(graph.parts().executable.with(|_, exec| Ok(exec.value()))?);
    Ok(())
}
