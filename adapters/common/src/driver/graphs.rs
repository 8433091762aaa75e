//! Graphs: commands with their dependencies, recorded once, launched by one call, changed in place; and capture, which
//! records what streams are given.
//!
//! Manuals: CUDA Driver API, Graph Management and Stream Management (`cuStreamBeginCapture` and its kin); HIP runtime API,
//! Graph Management. Which edges there are, and what may be changed, is decided in [`crate::graph`].
//!
//! # What a recorded node promises
//! Adding a node or changing one submits nothing, and every launch afterwards does what the node says. So whoever adds or
//! changes a node vouches for the memory of every launch to come, and a launch itself has nothing left to promise.
//!
//! Nodes are named, and not owned: a node lives as long as its graph, and an executable graph knows the nodes of the graph
//! that it was made of, though that graph has ended.

use core::ffi::{CStr, c_void};
use std::collections::HashSet;

use super::images::BoxCopy;
use super::{
    Events, Handle, Images, Kernels, LaunchShape, Memory, MemoryKind, NativeName, Pools, Rows, Transfers, unsupported,
};
use crate::object::error::Result;

/// A kernel as a node.
#[derive(Clone, Copy, Debug)]
pub struct KernelNode<F> {
    /// The function.
    pub function: F,
    /// Grid, block and dynamic work-group memory.
    pub shape: LaunchShape,
    /// Blocks of a cluster in x, y and z.
    pub cluster: Option<[u32; 3]>,
    /// Whether all blocks are resident at once.
    pub cooperative: bool,
}

/// A copy as a node.
#[derive(Clone, Copy, Debug)]
pub enum CopyNode {
    /// Bytes that follow each other, between any two pointers that the library can reach.
    Range {
        /// Address of the destination.
        to: usize,
        /// Address of the source.
        from: usize,
        /// Bytes.
        size: usize,
    },
    /// Rows and slices of memory, or elements of arrays.
    Box(BoxCopy),
}

/// A fill as a node: `value` of `width` bytes (1, 2 or 4) in every unit of the rows. More than one row has a pitch that is a
/// multiple of the width.
#[derive(Clone, Copy, Debug)]
pub struct FillNode {
    /// Where; lengths are counted in units of `width`.
    pub rows: Rows,
    /// Bytes of a unit.
    pub width: usize,
    /// What is written.
    pub value: u32,
}

/// Whose calls a capture refuses, by the number that `CU_STREAM_CAPTURE_MODE_*` and `hipStreamCaptureMode*` share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum CaptureMode {
    /// Unsafe calls of every thread.
    #[default]
    Global = 0,
    /// Unsafe calls of the thread that began the capture.
    ThreadLocal = 1,
    /// Nobody's.
    Relaxed = 2,
}

/// Whether a stream records, by the number that `CU_STREAM_CAPTURE_STATUS_*` and `hipStreamCaptureStatus*` share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum CaptureStatus {
    /// It executes what it is given.
    #[default]
    None = 0,
    /// It records what it is given.
    Active = 1,
    /// It recorded, and something broke the capture, which has to be ended.
    Invalidated = 2,
}

/// What is known of a stream's capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureInfo {
    /// Whether there is one.
    pub status: CaptureStatus,
    /// Its number, which no other capture of the process has; 0 where there is none.
    pub id: u64,
    /// Handle value of the graph that is recorded, where the library tells it.
    pub graph: Option<usize>,
}

/// How much of an executable graph could be changed to what another graph says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphUpdate {
    /// All of it.
    Done,
    /// None: the other graph differs in more than a graph can be changed by. The executable graph is as before.
    Differs,
}

/// Graphs. A device has them if [`Graphs::has_graphs`] says so.
///
/// Methods that add or change kernels, copies and fills take the context whose device does them; they need it to be current where
/// [`super::Driver::TRANSFERS_NEED_CONTEXT`] says so. `after` are nodes of the same graph, each once.
pub trait Graphs: Events + Images + Kernels + Memory + Pools + Transfers {
    /// `CUgraph` / `hipGraph_t`.
    type Graph: Handle;
    /// `CUgraphExec` / `hipGraphExec_t`.
    type GraphExec: Handle;
    /// `CUgraphNode` / `hipGraphNode_t`.
    type GraphNode: NativeName + Copy;

    /// Whether the library has what command buffers need: graphs, the nodes of kernels, copies and fills, and launches.
    fn has_graphs(&self) -> bool {
        false
    }
    /// Whether kernel nodes of an executable graph can be changed in place ([`Graphs::set_kernel`]).
    fn changes_kernels(&self) -> bool {
        false
    }

    /// Whether nodes can wait for events and record them, and be changed to others.
    fn has_event_nodes(&self) -> bool {
        false
    }

    /// An empty graph. `cuGraphCreate`.
    fn create_graph(&self) -> Result<Self::Graph> {
        unsupported("graphs")
    }
    /// Ends a graph with its nodes; what was instantiated from it stays. `cuGraphDestroy`.
    fn destroy_graph(&self, _graph: Self::Graph) -> Result<()> {
        unsupported("graphs")
    }
    /// All nodes of a graph, in no order that the library promises. `cuGraphGetNodes`.
    ///
    /// As dear as the graph is large: for what somebody else has recorded.
    fn nodes(&self, _graph: &Self::Graph) -> Result<Vec<Self::GraphNode>> {
        unsupported("the nodes of a graph")
    }
    /// All edges of a graph: the node before and the node after. `cuGraphGetEdges`.
    ///
    /// As dear as [`Graphs::nodes`].
    fn edges(&self, _graph: &Self::Graph) -> Result<Vec<(Self::GraphNode, Self::GraphNode)>> {
        unsupported("the edges of a graph")
    }
    /// The nodes that no other comes after. As dear as [`Graphs::nodes`].
    ///
    /// # Errors
    /// What the native library answers.
    fn last_nodes(&self, graph: &Self::Graph) -> Result<Vec<Self::GraphNode>> {
        let before: HashSet<usize> = self.edges(graph)?.into_iter().map(|(from, _)| from.value()).collect();
        let mut last = self.nodes(graph)?;
        last.retain(|node| !before.contains(&node.value()));
        Ok(last)
    }
    /// Writes a graph in DOT format to a file; `verbose` tells all that is known of each node. `cuGraphDebugDotPrint`.
    fn dump_graph(&self, _graph: &Self::Graph, _path: &CStr, _verbose: bool) -> Result<()> {
        unsupported("the dump of a graph")
    }

    /// Adds a kernel; the values behind `arguments` are copied. **Needs the context.** `cuGraphAddKernelNode_v2`, and `cuGraphKernelNodeSetAttribute`
    /// for clusters and cooperation / `hipGraphAddKernelNode`.
    ///
    /// # Safety
    /// As [`Kernels::launch`], and for every launch of the graph: the module stays loaded, and memory that the arguments
    /// name is valid.
    unsafe fn add_kernel(
        &self,
        _graph: &Self::Graph,
        _after: &[Self::GraphNode],
        _kernel: &KernelNode<Self::Function>,
        _arguments: *const *const c_void,
        _context: &Self::Context,
    ) -> Result<Self::GraphNode> {
        unsupported("a kernel in a graph")
    }
    /// Adds a copy. `cuGraphAddMemcpyNode`.
    ///
    /// # Safety
    /// As [`Transfers::copy_async`] or [`Images::copy_box_async`], for every launch of the graph.
    unsafe fn add_copy(
        &self,
        _graph: &Self::Graph,
        _after: &[Self::GraphNode],
        _copy: &CopyNode,
        _context: &Self::Context,
    ) -> Result<Self::GraphNode> {
        unsupported("a copy in a graph")
    }
    /// Adds a fill. `cuGraphAddMemsetNode`.
    ///
    /// # Safety
    /// As [`Transfers::fill_strided_async`], for every launch of the graph.
    unsafe fn add_fill(
        &self,
        _graph: &Self::Graph,
        _after: &[Self::GraphNode],
        _fill: &FillNode,
        _context: &Self::Context,
    ) -> Result<Self::GraphNode> {
        unsupported("a fill in a graph")
    }
    /// Adds a node that does nothing and joins dependencies. `cuGraphAddEmptyNode`.
    fn add_empty(&self, _graph: &Self::Graph, _after: &[Self::GraphNode]) -> Result<Self::GraphNode> {
        unsupported("an empty node in a graph")
    }
    /// Adds a copy of all of another graph. `cuGraphAddChildGraphNode`.
    fn add_child(
        &self,
        _graph: &Self::Graph,
        _after: &[Self::GraphNode],
        _child: &Self::Graph,
    ) -> Result<Self::GraphNode> {
        unsupported("a graph in a graph")
    }
    /// Adds the record of an event, which a launch then records when its turn comes. The event stays alive as long as the
    /// graph and what was instantiated from it. `cuGraphAddEventRecordNode`.
    fn add_event_record(
        &self,
        _graph: &Self::Graph,
        _after: &[Self::GraphNode],
        _event: &Self::Event,
    ) -> Result<Self::GraphNode> {
        unsupported("the record of an event in a graph")
    }
    /// Adds a wait for what an event was last recorded for when the graph is launched. The event stays alive as long as
    /// the graph and what was instantiated from it. `cuGraphAddEventWaitNode`.
    fn add_event_wait(
        &self,
        _graph: &Self::Graph,
        _after: &[Self::GraphNode],
        _event: &Self::Event,
    ) -> Result<Self::GraphNode> {
        unsupported("a wait for an event in a graph")
    }
    /// Adds a call on a thread of the library's. `cuGraphAddHostNode`.
    ///
    /// # Safety
    /// As [`super::Streams::launch_host_function`], for every launch of the graph.
    unsafe fn add_host_function(
        &self,
        _graph: &Self::Graph,
        _after: &[Self::GraphNode],
        _function: unsafe extern "C" fn(*mut c_void),
        _data: *mut c_void,
    ) -> Result<Self::GraphNode> {
        unsupported("a host function in a graph")
    }
    /// Adds an allocation of memory that the device can reach, and tells the address that it has in every launch.
    /// `cuGraphAddMemAllocNode`.
    fn add_allocation(
        &self,
        _graph: &Self::Graph,
        _after: &[Self::GraphNode],
        _kind: MemoryKind,
        _device: Self::Device,
        _size: usize,
    ) -> Result<(Self::GraphNode, usize)> {
        unsupported("an allocation in a graph")
    }
    /// Adds the free of an allocation of [`Graphs::add_allocation`]. `cuGraphAddMemFreeNode`.
    ///
    /// # Safety
    /// The address is one of an allocation of a graph, which is freed once for each time that it is made; nothing uses it
    /// that is not ordered before.
    unsafe fn add_free(
        &self,
        _graph: &Self::Graph,
        _after: &[Self::GraphNode],
        _address: usize,
    ) -> Result<Self::GraphNode> {
        unsupported("a free in a graph")
    }
    /// Takes a node out of a graph that nothing was instantiated from yet. `cuGraphDestroyNode`.
    fn destroy_node(&self, _graph: &Self::Graph, _node: Self::GraphNode) -> Result<()> {
        unsupported("taking a node out of a graph")
    }
    /// Adds edges: each node of `to` comes after the node of `from` at its place. `cuGraphAddDependencies`.
    fn add_dependencies(&self, _graph: &Self::Graph, _from: &[Self::GraphNode], _to: &[Self::GraphNode]) -> Result<()> {
        unsupported("edges of a graph")
    }

    /// What can be launched of a graph, as it is now. `cuGraphInstantiateWithFlags` / `hipGraphInstantiate`.
    fn instantiate(&self, _graph: &Self::Graph) -> Result<Self::GraphExec> {
        unsupported("graphs")
    }
    /// Ends an executable graph; launches in flight run to their end. `cuGraphExecDestroy`.
    fn destroy_exec(&self, _exec: Self::GraphExec) -> Result<()> {
        unsupported("graphs")
    }
    /// Launches in the stream's order; one launch of an executable graph runs at a time. `cuGraphLaunch`.
    fn launch_graph(&self, _exec: &Self::GraphExec, _stream: &Self::Stream) -> Result<()> {
        unsupported("graphs")
    }
    /// Does in the stream's order what the first launch would do before it runs. `cuGraphUpload`.
    fn upload_graph(&self, _exec: &Self::GraphExec, _stream: &Self::Stream) -> Result<()> {
        unsupported("the upload of a graph")
    }

    /// Changes a kernel for later launches. **Needs the context.** The values behind `arguments` are copied, and clusters and cooperation stay as they
    /// were added. `cuGraphExecKernelNodeSetParams_v2`.
    ///
    /// # Safety
    /// As [`Graphs::add_kernel`], for every later launch; `node` is a kernel of the graph that `exec` was made of.
    unsafe fn set_kernel(
        &self,
        _exec: &Self::GraphExec,
        _node: Self::GraphNode,
        _kernel: &KernelNode<Self::Function>,
        _arguments: *const *const c_void,
        _context: &Self::Context,
    ) -> Result<()> {
        unsupported("the change of a kernel in a graph")
    }
    /// Changes a copy for later launches; kind of memory and shape stay. `cuGraphExecMemcpyNodeSetParams`.
    ///
    /// # Safety
    /// As [`Graphs::add_copy`], for every later launch; `node` is a copy of the graph that `exec` was made of.
    unsafe fn set_copy(
        &self,
        _exec: &Self::GraphExec,
        _node: Self::GraphNode,
        _copy: &CopyNode,
        _context: &Self::Context,
    ) -> Result<()> {
        unsupported("the change of a copy in a graph")
    }
    /// Changes a fill for later launches. `cuGraphExecMemsetNodeSetParams`.
    ///
    /// # Safety
    /// As [`Graphs::add_fill`], for every later launch; `node` is a fill of the graph that `exec` was made of.
    unsafe fn set_fill(
        &self,
        _exec: &Self::GraphExec,
        _node: Self::GraphNode,
        _fill: &FillNode,
        _context: &Self::Context,
    ) -> Result<()> {
        unsupported("the change of a fill in a graph")
    }
    /// Whether later launches do what a node says; without, it only keeps the order. `cuGraphNodeSetEnabled`.
    fn enable_node(&self, _exec: &Self::GraphExec, _node: Self::GraphNode, _enabled: bool) -> Result<()> {
        unsupported("switching a node of a graph")
    }
    /// The event that later launches record at a node of [`Graphs::add_event_record`]. `cuGraphExecEventRecordNodeSetEvent`.
    fn set_recorded_event(&self, _exec: &Self::GraphExec, _node: Self::GraphNode, _event: &Self::Event) -> Result<()> {
        unsupported("the change of an event in a graph")
    }
    /// The event that later launches wait for at a node of [`Graphs::add_event_wait`]. `cuGraphExecEventWaitNodeSetEvent`.
    fn set_awaited_event(&self, _exec: &Self::GraphExec, _node: Self::GraphNode, _event: &Self::Event) -> Result<()> {
        unsupported("the change of an event in a graph")
    }
    /// Makes an executable graph do what a graph of the same nodes and edges says. `cuGraphExecUpdate_v2`.
    fn update_exec(&self, _exec: &Self::GraphExec, _graph: &Self::Graph) -> Result<GraphUpdate> {
        unsupported("the change of a graph")
    }

    /// The stream records from now on. `cuStreamBeginCapture_v2`.
    fn begin_capture(&self, _stream: &Self::Stream, _mode: CaptureMode) -> Result<()> {
        unsupported("the capture of a stream")
    }
    /// As [`Graphs::begin_capture`], into a graph that there is; the first command comes after those nodes.
    /// `cuStreamBeginCaptureToGraph`.
    fn begin_capture_into(
        &self,
        _stream: &Self::Stream,
        _graph: &Self::Graph,
        _after: &[Self::GraphNode],
        _mode: CaptureMode,
    ) -> Result<()> {
        unsupported("the capture of a stream into a graph")
    }
    /// Ends a capture, on the stream that it began on. The graph is new and the caller's after [`Graphs::begin_capture`];
    /// after [`Graphs::begin_capture_into`] the value names the graph that was given, and is not to be ended.
    /// `cuStreamEndCapture`.
    fn end_capture(&self, _stream: &Self::Stream) -> Result<Self::Graph> {
        unsupported("the capture of a stream")
    }
    /// Whether and what a stream records. `cuStreamGetCaptureInfo_v2` / `hipStreamGetCaptureInfo_v2`.
    fn capture_info(&self, _stream: &Self::Stream) -> Result<CaptureInfo> {
        Ok(CaptureInfo::default())
    }
    /// Whether what a capture's next node comes after can be told and set: [`Graphs::capture_dependencies`] and
    /// [`Graphs::set_capture_dependencies`].
    fn orders_captures(&self) -> bool {
        false
    }
    /// The graph that a stream records into, which is not to be ended, and what the stream's next node comes after.
    /// `cuStreamGetCaptureInfo_v2`.
    fn capture_dependencies(&self, _stream: &Self::Stream) -> Result<(Self::Graph, Vec<Self::GraphNode>)> {
        unsupported("the order in a capture")
    }
    /// Sets what the next node of a stream that records comes after. Whatever came before it needs not be joined by the end of
    /// the capture. `cuStreamUpdateCaptureDependencies`.
    fn set_capture_dependencies(&self, _stream: &Self::Stream, _after: &[Self::GraphNode]) -> Result<()> {
        unsupported("the order in a capture")
    }
    /// Sets whose calls captures refuse for the calling thread, and tells what it was.
    /// `cuThreadExchangeStreamCaptureMode`.
    fn exchange_capture_mode(&self, _mode: CaptureMode) -> Result<CaptureMode> {
        unsupported("the capture of a stream")
    }
}
