//! The object behind a graph's handle: what captures recorded into it, and what its commands use.
//!
//! A capture records into a native graph of its own. At its end that becomes the graph's, if nothing was in it and nobody has
//! its native handle; otherwise it is added as one node behind all that is there. So a capture that fails leaves a graph as
//! it was. The lock of the content is a leaf but for the native library's own locks.

use core::ffi::{CStr, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use ur_ffi::{CBool, ur_exp_graph_handle_t, ur_exp_graph_handle_t_, ur_native_handle_t, ur_result_t};

use crate::command::graph::NativeGraph;
use crate::context::{Context, DeviceState};
use crate::device::deferred;
use crate::driver::{Driver, NativeName};
use crate::object::error::{Error, Result};
use crate::object::params::Out;
use crate::object::{Body, Held, Object, TableAddress, release};
use crate::stream::capture::{Captured, Retained};

/// What was recorded.
struct Content<D: Driver> {
    /// Declared before the native graph: the context forgets the addresses before the native library may give them out again.
    allocations: Vec<Arc<Allocations<D>>>,
    /// Made when it is first needed.
    native: Option<NativeGraph<D>>,
    /// Whether the application knows the native graph.
    is_known: bool,
    /// Whether a queue captures into it.
    is_captured_into: bool,
    kept: Vec<Retained>,
    /// Where launches bring the memory that moves, once a command uses any.
    memory_device: Option<Arc<DeviceState<D>>>,
    /// Keeps the native context; declared behind what lives in it.
    state: Option<Arc<DeviceState<D>>>,
}

/// Memory that launches allocate, known to the context as long as this lives.
pub struct Allocations<D: Driver> {
    context: Arc<Object<Context<D>>>,
    addresses: Vec<usize>,
}

impl<D: Driver> Allocations<D> {
    /// Lets a context know of memory that launches leave allocated.
    pub fn new(context: &Arc<Object<Context<D>>>, addresses: Vec<usize>) -> Arc<Self> {
        context.graph_memory.add(&addresses);
        Arc::new(Self { context: Arc::clone(context), addresses })
    }

    /// Notes that a launch allocates them.
    pub fn note_launch(&self) {
        self.context.graph_memory.note_launch(&self.addresses);
    }
}

impl<D: Driver> Drop for Allocations<D> {
    fn drop(&mut self) {
        self.context.graph_memory.forget(&self.addresses);
    }
}

/// What the application wants called when the graph is destroyed.
struct Callback {
    function: unsafe extern "C" fn(*mut c_void),
    /// Its argument, an address that only the application looks behind.
    data: usize,
}

impl Callback {
    fn call(self) {
        // SAFETY: the application gave the function for its data, to be called once the graph is destroyed.
        unsafe { (self.function)(core::ptr::with_exposed_provenance_mut(self.data)) };
    }
}

/// What a graph's handle names.
pub struct Graph<D: Driver> {
    /// The context that it was made in.
    pub context: Arc<Object<Context<D>>>,
    id: u64,
    /// There until the graph is dropped.
    content: Mutex<Option<Content<D>>>,
    callbacks: Mutex<Vec<Callback>>,
}

impl<D: Driver> Body for Graph<D> {
    type Opaque = ur_exp_graph_handle_t_;
    const TAG: u32 = 0x5552_0030;
    const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_GRAPH;
    const NAME: &'static str = "graph";

    fn table() -> TableAddress {
        D::cell().table()
    }
}

impl<D: Driver> Drop for Graph<D> {
    fn drop(&mut self) {
        let (content, callbacks) = (self.content.get_mut().take(), core::mem::take(self.callbacks.get_mut()));
        // Images that are kept wait for streams, and callbacks may enqueue host tasks: no part of a native free, which those wait for. What
        // was recorded is the host's alone.
        deferred::wait(move || {
            drop(content);
            callbacks.into_iter().for_each(Callback::call);
        });
    }
}

/// What can be instantiated of a graph.
pub struct Recorded<'g, D: Driver> {
    /// The native graph.
    pub graph: &'g D::Graph,
    /// What its commands use.
    pub kept: &'g [Retained],
    /// What a launch allocates.
    pub allocations: &'g [Arc<Allocations<D>>],
    /// Where launches bring the memory that moves, if a command uses any.
    pub memory_device: Option<&'g Arc<DeviceState<D>>>,
    /// The device state that it was recorded with last.
    pub state: &'g Arc<DeviceState<D>>,
}

impl<D: Driver> Graph<D> {
    /// A graph without commands.
    pub fn new(context: &Object<Context<D>>) -> Arc<Object<Self>> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let content = Content {
            allocations: Vec::new(),
            native: None,
            is_known: false,
            is_captured_into: false,
            kept: Vec::new(),
            memory_device: None,
            state: None,
        };
        Object::new(Self {
            context: context.to_arc(),
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            content: Mutex::new(Some(content)),
            callbacks: Mutex::default(),
        })
    }

    fn with_content<R>(&self, work: impl FnOnce(&mut Content<D>) -> Result<R>) -> Result<R> {
        let mut content = self.content.lock();
        let Some(content) = &mut *content else { unreachable!("a graph has its content until it is dropped") };
        work(content)
    }

    /// Lets `work` look at what is recorded.
    ///
    /// # Errors
    /// `INVALID_GRAPH` while a queue captures into the graph; as `work`; what the native library answers.
    pub fn with_recorded<R>(&self, work: impl FnOnce(Recorded<'_, D>) -> Result<R>) -> Result<R> {
        self.with_content(|content| self.look(content, work))
    }

    /// The native graph's handle, which the application knows from now on: no capture replaces the graph any more. Told and noted
    /// under one lock, since a capture could end in between.
    fn tell_native(&self) -> Result<ur_native_handle_t> {
        self.with_content(|content| {
            let value = self.look(content, |recorded| Ok(recorded.graph.value()))?;
            content.is_known = true;
            Ok(value)
        })
    }

    fn look<R>(&self, content: &mut Content<D>, work: impl FnOnce(Recorded<'_, D>) -> Result<R>) -> Result<R> {
        if content.is_captured_into {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_GRAPH,
                "a queue captures into the graph; end the capture first (urQueueEndGraphCaptureExp)",
            ));
        }
        let state = match &content.state {
            Some(state) => state,
            None => content.state.insert(self.context.first_state()?),
        };
        let _scope = state.enter()?;
        let native = match &content.native {
            Some(native) => native,
            None => content.native.insert(NativeGraph::new(state.driver)?),
        };
        let memory_device = content.memory_device.as_ref();
        let (kept, allocations) = (&content.kept[..], &content.allocations[..]);
        work(Recorded { graph: native.raw(), kept, allocations, memory_device, state })
    }

    /// Notes that a queue captures into it. Gives the device where launches bring the memory that moves, if a command uses any.
    ///
    /// # Errors
    /// `INVALID_OPERATION` if one does already.
    pub fn begin_capture(&self) -> Result<Option<Arc<DeviceState<D>>>> {
        self.with_content(|content| {
            if core::mem::replace(&mut content.is_captured_into, true) {
                return Err(Error::new(
                    ur_result_t::ERROR_INVALID_OPERATION,
                    "another queue captures into the graph; give each capture a graph of its own",
                ));
            }
            Ok(content.memory_device.clone())
        })
    }

    /// Notes that the capture into it came to nothing.
    pub fn cancel_capture(&self) {
        let _ = self.with_content(|content| {
            content.is_captured_into = false;
            Ok(())
        });
    }

    /// Takes what a capture recorded.
    ///
    /// # Errors
    /// What the native library answers to a graph in a graph; the graph is as before then.
    pub fn end_capture(&self, captured: Captured<D>, state: &Arc<DeviceState<D>>) -> Result<()> {
        let Captured { graph, kept, memory_device, allocations } = captured;
        let new = NativeGraph::own(state.driver, graph);
        let before = self.with_content(|content| {
            content.is_captured_into = false;
            let _scope = state.enter()?;
            let before = match &content.native {
                Some(native) if content.is_known || !state.driver.nodes(native.raw())?.is_empty() => {
                    let last = state.driver.last_nodes(native.raw())?;
                    state.driver.add_child(native.raw(), &last, new.raw())?;
                    // The node has a copy.
                    Some(new)
                }
                _ => content.native.replace(new),
            };
            content.kept.extend(kept);
            content.memory_device = memory_device.or(content.memory_device.take());
            if !allocations.is_empty() {
                content.allocations.push(Allocations::new(&self.context, allocations));
            }
            content.state = Some(Arc::clone(state));
            Ok(before)
        })?;
        drop(before);
        Ok(())
    }
}

/// `urGraphCreateExp`.
///
/// # Errors
/// `UNSUPPORTED_FEATURE` where the native library has no graphs; what it answers.
pub fn create<D: Driver>(context: &Object<Context<D>>, out: Out<'_, ur_exp_graph_handle_t>) -> Result<()> {
    let graph = Graph::new(context);
    // A library without graphs says so here.
    graph.with_recorded(|_| Ok(()))?;
    out.write_object(graph);
    Ok(())
}

/// `urGraphDestroyExp`. What was instantiated from it stays.
///
/// # Errors
/// `INVALID_OPERATION` while a queue captures into it.
pub fn destroy<D: Driver>(graph: Held<Graph<D>>) -> Result<()> {
    graph.object().with_content(|content| {
        if content.is_captured_into {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_OPERATION,
                "urGraphDestroyExp: a queue captures into the graph; end the capture first (urQueueEndGraphCaptureExp)",
            ));
        }
        Ok(())
    })?;
    release(graph)
}

/// `urGraphIsEmptyExp`.
///
/// # Errors
/// `INVALID_GRAPH` while a queue captures into it; what the native library answers.
pub fn is_empty<D: Driver>(graph: &Object<Graph<D>>, out: Out<'_, CBool>) -> Result<()> {
    let is_empty = graph.with_recorded(|recorded| Ok(recorded.state.driver.nodes(recorded.graph)?.is_empty()))?;
    out.write(is_empty.into());
    Ok(())
}

/// `urGraphGetIdExp`: a number that no other graph of the process has.
///
/// # Errors
/// None.
pub fn get_id<D: Driver>(graph: &Object<Graph<D>>, out: Out<'_, u64>) -> Result<()> {
    out.write(graph.id);
    Ok(())
}

/// `urGraphSetDestructionCallbackExp`. Several are called in the order in which they were given.
///
/// # Errors
/// None.
pub fn set_destruction_callback<D: Driver>(
    graph: &Object<Graph<D>>,
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
) -> Result<()> {
    graph.callbacks.lock().push(Callback { function, data: data.expose_provenance() });
    Ok(())
}

/// `urGraphDumpContentsExp`: the native library's own description, in DOT.
///
/// # Errors
/// `INVALID_GRAPH` while a queue captures into it; what the native library answers, to a file that it cannot write too.
pub fn dump<D: Driver>(graph: &Object<Graph<D>>, path: &CStr) -> Result<()> {
    graph.with_recorded(|recorded| recorded.state.driver.dump_graph(recorded.graph, path, true))
}

/// `urGraphGetNativeHandleExp`. It stays the graph's.
///
/// # Errors
/// `INVALID_GRAPH` while a queue captures into it; what the native library answers.
pub fn get_native_handle<D: Driver>(graph: &Object<Graph<D>>, out: Out<'_, ur_native_handle_t>) -> Result<()> {
    out.write(graph.tell_native()?);
    Ok(())
}
