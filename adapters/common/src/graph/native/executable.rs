//! What was instantiated from a graph, and its launch: a command of one native call.
//!
//! An executable graph keeps what the graph's commands use, so it outlives the graph.

use std::sync::Arc;

use ur_ffi::{
    ur_command_t, ur_exp_executable_graph_handle_t, ur_exp_executable_graph_handle_t_, ur_native_handle_t, ur_result_t,
};

use crate::buffer::storage::CapturedBytes;
use crate::command::Enqueue;
use crate::context::{Context, DeviceState};
use crate::device::deferred;
use crate::driver::Driver;
use crate::graph::enqueue::{Owner, launch};
use crate::graph::executable::Executable;
use crate::graph::executable::changes::Changes;
use crate::graph::memory_uses::{MemoryUses, Used};
use crate::graph::native::graph::Graph;
use crate::memory_object::arguments::CapturedImage;
use crate::object::error::{Error, Result};
use crate::object::params::Out;
use crate::object::{Body, Object, TableAddress};
use crate::stream::capture::Retained;
use crate::sync::unlikely::unlikely;

/// What of it lives in the native library, with what it needs; in the order in which that ends.
struct Parts<D: Driver> {
    executable: Executable<D>,
    _kept: Vec<Retained>,
    /// Where launches bring the images, and the buffers whose bytes move, that the commands use.
    memory_device: Option<Arc<DeviceState<D>>>,
    /// Keeps the native context.
    _state: Arc<DeviceState<D>>,
}

/// What a graph's commands do with memory whose contents a launch has to bring to the device.
fn uses_of<D: Driver>(kept: &[Retained]) -> MemoryUses<D> {
    let mut uses = MemoryUses::default();
    for kept in kept {
        if let Some(image) = kept.downcast_ref::<CapturedImage<D>>() {
            uses.add(Used::Image { memory: Arc::clone(&image.memory), is_written: image.is_written });
        } else if let Some(bytes) = kept.downcast_ref::<CapturedBytes<D>>() {
            uses.add(Used::Bytes { storage: Arc::clone(&bytes.storage), access: bytes.access.clone() });
        }
    }
    uses
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
        let Some(mut parts) = self.parts.take() else { return };
        parts.executable.forget_allocations();
        let end = move || {
            parts.executable.end();
            parts
        };
        // What is kept may wait for streams, and is no part of the native free.
        deferred::run_then(end, drop);
    }
}

impl<D: Driver> ExecutableGraph<D> {
    /// What can be launched.
    pub(in crate::graph) fn executable(&self) -> &Executable<D> {
        &self.parts().executable
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
        let mut executable = Executable::new(driver, driver.instantiate(recorded.graph)?);
        executable.set_changes(Changes::new(Vec::new(), Vec::new(), uses_of(recorded.kept)));
        executable.set_allocations(recorded.allocations.to_vec());
        let memory_device = recorded.memory_device.cloned();
        Ok(Parts { executable, _kept: recorded.kept.to_vec(), memory_device, _state: state })
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
/// `INVALID_CONTEXT` for a queue of another context than the graph's; `INVALID_QUEUE` for one of another device where the graph uses
/// memory that moves; `GRAPH_CAPTURE_UNSUPPORTED` for one that captures; what
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
    if let Some(device) = &parts.memory_device
        && unlikely!(!Arc::ptr_eq(&request.queue.device, device))
    {
        return Err(not_on_device());
    }
    launch(&request, &parts.executable, Owner::Graph(graph))
}

#[cold]
fn not_on_device() -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_QUEUE,
        "urEnqueueGraphExp: the graph uses images, or buffers whose bytes move, at the device that it was captured on; give a \
         queue of that device",
    )
}

/// `urGraphExecutableGraphGetNativeHandleExp`. It stays the executable graph's.
///
/// # Errors
/// None.
pub fn get_native_handle<D: Driver>(
    graph: &Object<ExecutableGraph<D>>,
    out: Out<'_, ur_native_handle_t>,
) -> Result<()> {
    out.write(graph.parts().executable.handle());
    Ok(())
}
