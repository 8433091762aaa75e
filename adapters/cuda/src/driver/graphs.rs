//! Graphs and capture.
//!
//! What came with CUDA 12.0 or before and is not needed by every command buffer is optional all the same: a driver that is
//! imitated need not have it.

use core::ffi::{CStr, c_uint, c_void};

use ur_adapter::driver::graphs::{
    CaptureInfo, CaptureMode, CaptureStatus, CopyNode, FillNode, GraphUpdate, Graphs, KernelNode,
};
use ur_adapter::driver::{MemoryKind, NativeName as _};
use ur_adapter::object::error::{Error, Result};
use ur_ffi::ur_result_t;

use super::Cuda;
use crate::map::pool_properties;
use crate::sys::graphs::{
    DUMP_VERBOSE, HostNodeParams, KernelNodeParams, MemAllocNodeParams, MemsetNodeParams, UpdateResultInfo,
};
use crate::sys::{
    self, CUcontext, CUdevice, CUevent, CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUlaunchAttribute,
    CUmemAccessDesc, CUmemLocation, CUresult, CUstream, Memcpy3D, Memcpy3DSide,
};

/// A symbol that older drivers lack.
fn symbol<T>(symbol: Option<T>, name: &str) -> Result<T> {
    symbol.ok_or_else(|| Error::unsupported(&format!("{name} by this driver")))
}

#[inline(always)]
fn kernel_params(
    kernel: &KernelNode<CUfunction>,
    arguments: *const *const c_void,
    context: CUcontext,
) -> KernelNodeParams {
    KernelNodeParams {
        function: kernel.function,
        grid: kernel.shape.grid,
        block: kernel.shape.block,
        shared: kernel.shape.dynamic_shared,
        // The driver reads the arguments only; C has no `const` there.
        arguments: arguments.cast_mut().cast(),
        extra: core::ptr::null_mut(),
        kernel: 0,
        context,
    }
}

fn copy_params(copy: &CopyNode) -> Memcpy3D {
    match *copy {
        CopyNode::Range { to, from, size } => {
            Memcpy3D { src: Memcpy3DSide::bytes(from), dst: Memcpy3DSide::bytes(to), width: size, height: 1, depth: 1 }
        }
        CopyNode::Box(copy) => {
            let [width, height, depth] = copy.extent;
            Memcpy3D { src: copy.from.into(), dst: copy.to.into(), width, height, depth }
        }
    }
}

fn fill_params(fill: &FillNode) -> MemsetNodeParams {
    MemsetNodeParams {
        to: fill.rows.first,
        pitch: fill.rows.pitch,
        value: fill.value,
        // 1, 2 or 4.
        element_size: fill.width as c_uint,
        width: fill.rows.length,
        height: fill.rows.count,
    }
}

fn capture_mode(mode: c_uint) -> CaptureMode {
    match mode {
        0 => CaptureMode::Global,
        1 => CaptureMode::ThreadLocal,
        _ => CaptureMode::Relaxed,
    }
}

impl Cuda {
    /// The node that a call writes where it is told to.
    #[inline]
    fn add_node(&self, call: &'static str, add: impl FnOnce(*mut CUgraphNode) -> CUresult) -> Result<CUgraphNode> {
        let mut node = CUgraphNode::default();
        let status = add(&raw mut node);
        self.check(call, status)?;
        Ok(node)
    }

    /// Gives a node that was just added its attributes, or takes it out again: the caller learns of no node that failed.
    #[cold]
    fn with_launch_attributes(
        &self,
        graph: &CUgraph,
        node: CUgraphNode,
        kernel: &KernelNode<CUfunction>,
    ) -> Result<CUgraphNode> {
        self.set_launch_attributes(node, kernel).map(|()| node).inspect_err(|_| {
            // The failure that led here is the one to tell of.
            let _ = self.destroy_node(graph, node);
        })
    }

    /// What of a launch the parameters of its node do not say.
    #[cold]
    fn set_launch_attributes(&self, node: CUgraphNode, kernel: &KernelNode<CUfunction>) -> Result<()> {
        if let Some(cluster) = kernel.cluster {
            let id = sys::launch_attribute::CLUSTER_DIMENSION;
            self.set_launch_attribute(node, &CUlaunchAttribute::new(id, &cluster))?;
        }
        if kernel.cooperative {
            self.set_launch_attribute(node, &CUlaunchAttribute::new(sys::launch_attribute::COOPERATIVE, &[1]))?;
        }
        Ok(())
    }

    fn set_launch_attribute(&self, node: CUgraphNode, attribute: &CUlaunchAttribute) -> Result<()> {
        let set = symbol(self.symbols.graph_kernel_attribute, "cuGraphKernelNodeSetAttribute")?;
        // SAFETY: the node was just added, and the value has the 64 bytes of every attribute.
        self.check("cuGraphKernelNodeSetAttribute", unsafe {
            set(node, attribute.id, (&raw const attribute.value).cast())
        })
    }
}

impl Graphs for Cuda {
    type Graph = CUgraph;
    type GraphExec = CUgraphExec;
    type GraphNode = CUgraphNode;

    fn has_graphs(&self) -> bool {
        true
    }

    fn changes_kernels(&self) -> bool {
        self.symbols.exec_set_kernel.is_some()
    }

    fn has_event_nodes(&self) -> bool {
        let added = self.symbols.graph_add_record.is_some() && self.symbols.graph_add_wait.is_some();
        added && self.symbols.exec_set_record.is_some() && self.symbols.exec_set_wait.is_some()
    }

    fn create_graph(&self) -> Result<CUgraph> {
        let mut graph = CUgraph::default();
        // SAFETY: the output is a live local; flags must be 0.
        self.check("cuGraphCreate", unsafe { (self.symbols.graph_create)(&raw mut graph, 0) })?;
        Ok(graph)
    }

    fn destroy_graph(&self, graph: CUgraph) -> Result<()> {
        // SAFETY: the handle was the graph's owner.
        self.check("cuGraphDestroy", unsafe { (self.symbols.graph_destroy)(graph) })
    }

    fn nodes(&self, graph: &CUgraph) -> Result<Vec<CUgraphNode>> {
        let mut count = 0;
        // SAFETY: without a list the call tells the number alone, to a live local.
        self.check("cuGraphGetNodes", unsafe {
            (self.symbols.graph_nodes)(*graph, core::ptr::null_mut(), &raw mut count)
        })?;
        // The driver refuses a list without room.
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut nodes = vec![CUgraphNode::default(); count];
        // SAFETY: the list has room for as many nodes as the count says.
        self.check("cuGraphGetNodes", unsafe {
            (self.symbols.graph_nodes)(*graph, nodes.as_mut_ptr(), &raw mut count)
        })?;
        nodes.truncate(count);
        Ok(nodes)
    }

    fn edges(&self, graph: &CUgraph) -> Result<Vec<(CUgraphNode, CUgraphNode)>> {
        let ask = symbol(self.symbols.graph_edges, "cuGraphGetEdges")?;
        let (mut count, null) = (0, core::ptr::null_mut());
        // SAFETY: without lists the call tells the number alone, to a live local.
        self.check("cuGraphGetEdges", unsafe { ask(*graph, null, null, &raw mut count) })?;
        // As above.
        if count == 0 {
            return Ok(Vec::new());
        }
        let (mut from, mut to) = (vec![CUgraphNode::default(); count], vec![CUgraphNode::default(); count]);
        // SAFETY: both lists have room for as many nodes as the count says.
        self.check("cuGraphGetEdges", unsafe { ask(*graph, from.as_mut_ptr(), to.as_mut_ptr(), &raw mut count) })?;
        Ok(from.into_iter().zip(to).take(count).collect())
    }

    fn dump_graph(&self, graph: &CUgraph, path: &CStr, verbose: bool) -> Result<()> {
        let dump = symbol(self.symbols.graph_dump, "cuGraphDebugDotPrint")?;
        let flags = if verbose { DUMP_VERBOSE } else { 0 };
        // SAFETY: the graph is borrowed, and the path ends with its NUL.
        self.check("cuGraphDebugDotPrint", unsafe { dump(*graph, path.as_ptr(), flags) })
    }

    #[inline(always)]
    unsafe fn add_kernel(
        &self,
        graph: &CUgraph,
        after: &[CUgraphNode],
        kernel: &KernelNode<CUfunction>,
        arguments: *const *const c_void,
        context: &CUcontext,
    ) -> Result<CUgraphNode> {
        let params = kernel_params(kernel, arguments, *context);
        // SAFETY: list and parameters are live locals; the caller vouches for function and arguments.
        let node = self.add_node("cuGraphAddKernelNode", |node| unsafe {
            (self.symbols.graph_add_kernel)(node, *graph, after.as_ptr(), after.len(), &raw const params)
        })?;
        if kernel.cluster.is_some() || kernel.cooperative {
            return self.with_launch_attributes(graph, node, kernel);
        }
        Ok(node)
    }

    unsafe fn add_copy(
        &self,
        graph: &CUgraph,
        after: &[CUgraphNode],
        copy: &CopyNode,
        context: &CUcontext,
    ) -> Result<CUgraphNode> {
        let params = copy_params(copy);
        // SAFETY: list and description are live locals; the caller vouches for arrays and memory.
        self.add_node("cuGraphAddMemcpyNode", |node| unsafe {
            (self.symbols.graph_add_copy)(node, *graph, after.as_ptr(), after.len(), &raw const params, *context)
        })
    }

    unsafe fn add_fill(
        &self,
        graph: &CUgraph,
        after: &[CUgraphNode],
        fill: &FillNode,
        context: &CUcontext,
    ) -> Result<CUgraphNode> {
        let params = fill_params(fill);
        // SAFETY: list and description are live locals; the caller vouches for the rows.
        self.add_node("cuGraphAddMemsetNode", |node| unsafe {
            (self.symbols.graph_add_fill)(node, *graph, after.as_ptr(), after.len(), &raw const params, *context)
        })
    }

    fn add_empty(&self, graph: &CUgraph, after: &[CUgraphNode]) -> Result<CUgraphNode> {
        // SAFETY: the list is a live local, and the graph is borrowed.
        self.add_node("cuGraphAddEmptyNode", |node| unsafe {
            (self.symbols.graph_add_empty)(node, *graph, after.as_ptr(), after.len())
        })
    }

    fn add_child(&self, graph: &CUgraph, after: &[CUgraphNode], child: &CUgraph) -> Result<CUgraphNode> {
        // SAFETY: the list is a live local, and both graphs are borrowed.
        self.add_node("cuGraphAddChildGraphNode", |node| unsafe {
            (self.symbols.graph_add_child)(node, *graph, after.as_ptr(), after.len(), *child)
        })
    }

    fn add_event_record(&self, graph: &CUgraph, after: &[CUgraphNode], event: &CUevent) -> Result<CUgraphNode> {
        let add = symbol(self.symbols.graph_add_record, "cuGraphAddEventRecordNode")?;
        // SAFETY: the list is a live local; graph and event are borrowed.
        self.add_node("cuGraphAddEventRecordNode", |node| unsafe {
            add(node, *graph, after.as_ptr(), after.len(), *event)
        })
    }

    fn add_event_wait(&self, graph: &CUgraph, after: &[CUgraphNode], event: &CUevent) -> Result<CUgraphNode> {
        let add = symbol(self.symbols.graph_add_wait, "cuGraphAddEventWaitNode")?;
        // SAFETY: the list is a live local; graph and event are borrowed.
        self.add_node("cuGraphAddEventWaitNode", |node| unsafe {
            add(node, *graph, after.as_ptr(), after.len(), *event)
        })
    }

    unsafe fn add_host_function(
        &self,
        graph: &CUgraph,
        after: &[CUgraphNode],
        function: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
    ) -> Result<CUgraphNode> {
        let params = HostNodeParams { function, data };
        // SAFETY: list and description are live locals; the caller vouches for function and data.
        self.add_node("cuGraphAddHostNode", |node| unsafe {
            (self.symbols.graph_add_host)(node, *graph, after.as_ptr(), after.len(), &raw const params)
        })
    }

    fn add_allocation(
        &self,
        graph: &CUgraph,
        after: &[CUgraphNode],
        kind: MemoryKind,
        device: CUdevice,
        size: usize,
    ) -> Result<(CUgraphNode, usize)> {
        let add = symbol(self.symbols.graph_add_allocation, "cuGraphAddMemAllocNode")?;
        let location = CUmemLocation { kind: sys::LOCATION_DEVICE, id: device.0 };
        let access = CUmemAccessDesc { location, flags: sys::ACCESS_READ_WRITE };
        let pool = pool_properties(kind, device, 0);
        let mut params = MemAllocNodeParams { pool, access: &raw const access, access_count: 1, size, address: 0 };
        // SAFETY: list, description and access are live locals, and the graph is borrowed.
        let node = self.add_node("cuGraphAddMemAllocNode", |node| unsafe {
            add(node, *graph, after.as_ptr(), after.len(), &raw mut params)
        })?;
        Ok((node, params.address))
    }

    unsafe fn add_free(&self, graph: &CUgraph, after: &[CUgraphNode], address: usize) -> Result<CUgraphNode> {
        let add = symbol(self.symbols.graph_add_free, "cuGraphAddMemFreeNode")?;
        // SAFETY: the list is a live local, the graph is borrowed, and the caller vouches for the address.
        self.add_node("cuGraphAddMemFreeNode", |node| unsafe {
            add(node, *graph, after.as_ptr(), after.len(), address)
        })
    }

    fn destroy_node(&self, _graph: &CUgraph, node: CUgraphNode) -> Result<()> {
        // SAFETY: a node of a graph that is borrowed, which was not taken out before.
        self.check("cuGraphDestroyNode", unsafe { (self.symbols.graph_destroy_node)(node) })
    }

    fn add_dependencies(&self, graph: &CUgraph, from: &[CUgraphNode], to: &[CUgraphNode]) -> Result<()> {
        let count = from.len().min(to.len());
        // SAFETY: both lists have that many nodes, and the graph is borrowed.
        self.check("cuGraphAddDependencies", unsafe {
            (self.symbols.graph_add_dependencies)(*graph, from.as_ptr(), to.as_ptr(), count)
        })
    }

    fn instantiate(&self, graph: &CUgraph) -> Result<CUgraphExec> {
        let mut exec = CUgraphExec::default();
        // SAFETY: the output is a live local, and the graph is borrowed.
        self.check("cuGraphInstantiateWithFlags", unsafe {
            (self.symbols.graph_instantiate)(&raw mut exec, *graph, 0)
        })?;
        Ok(exec)
    }

    fn destroy_exec(&self, exec: CUgraphExec) -> Result<()> {
        // SAFETY: the handle was the executable graph's owner.
        self.check("cuGraphExecDestroy", unsafe { (self.symbols.graph_exec_destroy)(exec) })
    }

    #[inline]
    fn launch_graph(&self, exec: &CUgraphExec, stream: &CUstream) -> Result<()> {
        // SAFETY: both are borrowed; whoever recorded the nodes vouched for what they touch.
        self.check("cuGraphLaunch", unsafe { (self.symbols.graph_launch)(*exec, *stream) })
    }

    fn upload_graph(&self, exec: &CUgraphExec, stream: &CUstream) -> Result<()> {
        // SAFETY: both are borrowed.
        self.check("cuGraphUpload", unsafe { (self.symbols.graph_upload)(*exec, *stream) })
    }

    #[inline(always)]
    unsafe fn set_kernel(
        &self,
        exec: &CUgraphExec,
        node: CUgraphNode,
        kernel: &KernelNode<CUfunction>,
        arguments: *const *const c_void,
        context: &CUcontext,
    ) -> Result<()> {
        let set = symbol(self.symbols.exec_set_kernel, "cuGraphExecKernelNodeSetParams")?;
        let params = kernel_params(kernel, arguments, *context);
        // SAFETY: the parameters are a live local; the caller vouches for node, function and arguments.
        self.check("cuGraphExecKernelNodeSetParams", unsafe { set(*exec, node, &raw const params) })
    }

    unsafe fn set_copy(
        &self,
        exec: &CUgraphExec,
        node: CUgraphNode,
        copy: &CopyNode,
        context: &CUcontext,
    ) -> Result<()> {
        let set = symbol(self.symbols.exec_set_copy, "cuGraphExecMemcpyNodeSetParams")?;
        let params = copy_params(copy);
        // SAFETY: the description is a live local; the caller vouches for node, arrays and memory.
        self.check("cuGraphExecMemcpyNodeSetParams", unsafe { set(*exec, node, &raw const params, *context) })
    }

    unsafe fn set_fill(
        &self,
        exec: &CUgraphExec,
        node: CUgraphNode,
        fill: &FillNode,
        context: &CUcontext,
    ) -> Result<()> {
        let set = symbol(self.symbols.exec_set_fill, "cuGraphExecMemsetNodeSetParams")?;
        let params = fill_params(fill);
        // SAFETY: the description is a live local; the caller vouches for node and rows.
        self.check("cuGraphExecMemsetNodeSetParams", unsafe { set(*exec, node, &raw const params, *context) })
    }

    fn enable_node(&self, exec: &CUgraphExec, node: CUgraphNode, enabled: bool) -> Result<()> {
        let set = symbol(self.symbols.exec_enable, "cuGraphNodeSetEnabled")?;
        // SAFETY: the executable graph is borrowed; a node that is not of its graph is refused.
        self.check("cuGraphNodeSetEnabled", unsafe { set(*exec, node, c_uint::from(enabled)) })
    }

    fn set_recorded_event(&self, exec: &CUgraphExec, node: CUgraphNode, event: &CUevent) -> Result<()> {
        let set = symbol(self.symbols.exec_set_record, "cuGraphExecEventRecordNodeSetEvent")?;
        // SAFETY: both are borrowed; a node that is not of the graph is refused.
        self.check("cuGraphExecEventRecordNodeSetEvent", unsafe { set(*exec, node, *event) })
    }

    fn set_awaited_event(&self, exec: &CUgraphExec, node: CUgraphNode, event: &CUevent) -> Result<()> {
        let set = symbol(self.symbols.exec_set_wait, "cuGraphExecEventWaitNodeSetEvent")?;
        // SAFETY: both are borrowed; a node that is not of the graph is refused.
        self.check("cuGraphExecEventWaitNodeSetEvent", unsafe { set(*exec, node, *event) })
    }

    fn update_exec(&self, exec: &CUgraphExec, graph: &CUgraph) -> Result<GraphUpdate> {
        let update = symbol(self.symbols.exec_update, "cuGraphExecUpdate")?;
        let mut told = UpdateResultInfo::default();
        // SAFETY: the output is a live local; both graphs are borrowed.
        match unsafe { update(*exec, *graph, &raw mut told) } {
            CUresult::GRAPH_EXEC_UPDATE_FAILURE => Ok(GraphUpdate::Differs),
            status => self.check("cuGraphExecUpdate", status).map(|()| GraphUpdate::Done),
        }
    }

    fn begin_capture(&self, stream: &CUstream, mode: CaptureMode) -> Result<()> {
        let begin = symbol(self.symbols.capture_begin, "cuStreamBeginCapture")?;
        // SAFETY: the stream is borrowed.
        self.check("cuStreamBeginCapture", unsafe { begin(*stream, mode as c_uint) })
    }

    /// # Unsupported
    /// - needs: a driver with `cuStreamBeginCaptureToGraph` (CUDA 12.3), for a capture into a graph that there is
    fn begin_capture_into(
        &self,
        stream: &CUstream,
        graph: &CUgraph,
        after: &[CUgraphNode],
        mode: CaptureMode,
    ) -> Result<()> {
        let begin = symbol(self.symbols.capture_begin_into, "cuStreamBeginCaptureToGraph")?;
        let no_data = core::ptr::null();
        // SAFETY: the list is live, edges may have no data, and stream and graph are borrowed.
        self.check("cuStreamBeginCaptureToGraph", unsafe {
            begin(*stream, *graph, after.as_ptr(), no_data, after.len(), mode as c_uint)
        })
    }

    fn end_capture(&self, stream: &CUstream) -> Result<CUgraph> {
        let end = symbol(self.symbols.capture_end, "cuStreamEndCapture")?;
        let mut graph = CUgraph::default();
        // SAFETY: the output is a live local, and the stream is borrowed.
        self.check("cuStreamEndCapture", unsafe { end(*stream, &raw mut graph) })?;
        Ok(graph)
    }

    fn capture_info(&self, stream: &CUstream) -> Result<CaptureInfo> {
        let Some(ask) = self.symbols.capture_info else { return Ok(CaptureInfo::default()) };
        let (mut status, mut id, mut graph): (c_uint, u64, CUgraph) = Default::default();
        let none = core::ptr::null_mut();
        // SAFETY: the outputs are live locals, those that nobody wants are null, and the stream is borrowed.
        self.check("cuStreamGetCaptureInfo", unsafe {
            ask(*stream, &raw mut status, &raw mut id, &raw mut graph, none, core::ptr::null_mut())
        })?;
        Ok(match status {
            1 => CaptureInfo { status: CaptureStatus::Active, id, graph: Some(graph.value()) },
            2 => CaptureInfo { status: CaptureStatus::Invalidated, id: 0, graph: None },
            _ => CaptureInfo::default(),
        })
    }

    fn orders_captures(&self) -> bool {
        self.symbols.capture_info.is_some() && self.symbols.capture_set_dependencies.is_some()
    }

    fn capture_dependencies(&self, stream: &CUstream) -> Result<(CUgraph, Vec<CUgraphNode>)> {
        let ask = symbol(self.symbols.capture_info, "cuStreamGetCaptureInfo")?;
        let (mut status, mut graph, mut nodes, mut count) = (0, CUgraph::default(), core::ptr::null(), 0);
        let no_id = core::ptr::null_mut();
        // SAFETY: the outputs are live locals, the one that nobody wants is null, and the stream is borrowed.
        self.check("cuStreamGetCaptureInfo", unsafe {
            ask(*stream, &raw mut status, no_id, &raw mut graph, &raw mut nodes, &raw mut count)
        })?;
        if status == CaptureStatus::Invalidated as c_uint {
            return Err(Error::code_only(ur_result_t::ERROR_GRAPH_CAPTURE_INVALIDATED));
        }
        if count == 0 {
            return Ok((graph, Vec::new()));
        }
        // SAFETY: the driver's own list of that many nodes, which stands until the stream's next call.
        Ok((graph, unsafe { core::slice::from_raw_parts(nodes, count) }.to_vec()))
    }

    fn set_capture_dependencies(&self, stream: &CUstream, after: &[CUgraphNode]) -> Result<()> {
        const REPLACE: c_uint = 1;
        let set = symbol(self.symbols.capture_set_dependencies, "cuStreamUpdateCaptureDependencies")?;
        // SAFETY: the list is live, and the driver only reads it; the stream is borrowed.
        self.check("cuStreamUpdateCaptureDependencies", unsafe {
            set(*stream, after.as_ptr().cast_mut(), after.len(), REPLACE)
        })
    }

    fn exchange_capture_mode(&self, mode: CaptureMode) -> Result<CaptureMode> {
        let exchange = symbol(self.symbols.capture_exchange_mode, "cuThreadExchangeStreamCaptureMode")?;
        let mut mode = mode as c_uint;
        // SAFETY: the call swaps what a live local holds.
        self.check("cuThreadExchangeStreamCaptureMode", unsafe { exchange(&raw mut mode) })?;
        Ok(capture_mode(mode))
    }
}
