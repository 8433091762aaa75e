//! Graphs and capture.
//!
//! Kernel nodes take functions of modules from ROCm 6 on; before, some releases take those of compiled host code alone, so
//! graphs are said to be there from then on. Copies are told the runtime's own guess of a direction, as in streams.
//!
//! AMD's runtime finds a node of an executable graph by the node that it was copied from, so the graph that was recorded
//! has to live as long as its nodes are to be changed. `hipGraphExecUpdate` is not called: AMD's runtime changes node after node until one differs, and leaves what it changed.

use core::ffi::{CStr, c_uint, c_void};

use ur_adapter::driver::graphs::{CaptureInfo, CaptureMode, CaptureStatus, CopyNode, FillNode, Graphs, KernelNode};
use ur_adapter::driver::images::BoxCopy;
use ur_adapter::driver::{MemoryKind, NativeName as _};
use ur_adapter::object::error::{Error, Result};
use ur_ffi::ur_result_t;

use super::Hip;
use crate::map::pool_properties;
use crate::sys::graphs::{
    AttributeValue, BoxParams, HostNodeParams, KernelNodeParams, MemAllocNodeParams, MemsetParams,
};
use crate::sys::{
    HipError, HipEvent, HipFunction, HipGraph, HipGraphExec, HipGraphNode, HipStream, MemAccess, MemLocation, Ordinal,
    flag,
};

/// A symbol that older runtimes lack.
fn symbol<T>(symbol: Option<T>, name: &str) -> Result<T> {
    symbol.ok_or_else(|| Error::unsupported(&format!("{name} by this release of HIP")))
}

/// The nodes before, null for none: the runtime takes no list of nothing everywhere.
fn list(after: &[HipGraphNode]) -> *const HipGraphNode {
    if after.is_empty() { core::ptr::null() } else { after.as_ptr() }
}

fn kernel_params(kernel: &KernelNode<HipFunction>, arguments: *const *const c_void) -> Result<KernelNodeParams> {
    if kernel.cluster.is_some() {
        return Err(Error::unsupported("a launch in clusters (AMD's devices have none)"));
    }
    Ok(KernelNodeParams {
        block: kernel.shape.block,
        extra: core::ptr::null_mut(),
        function: kernel.function,
        grid: kernel.shape.grid,
        // The runtime reads the arguments only; C has no `const` there.
        arguments: arguments.cast_mut().cast(),
        shared: kernel.shape.dynamic_shared,
    })
}

fn box_params(copy: &BoxCopy) -> Result<BoxParams> {
    BoxParams::new(copy).ok_or_else(|| Error::unsupported("a copy of an image's elements in a graph"))
}

fn fill_params(fill: &FillNode) -> MemsetParams {
    MemsetParams {
        to: fill.rows.first,
        // 1, 2 or 4.
        element_size: fill.width as c_uint,
        height: fill.rows.count,
        pitch: fill.rows.pitch,
        value: fill.value,
        width: fill.rows.length,
    }
}

impl Hip {
    /// The node that a call writes where it is told to.
    #[inline]
    fn add_node(&self, call: &'static str, add: impl FnOnce(*mut HipGraphNode) -> HipError) -> Result<HipGraphNode> {
        let mut node = HipGraphNode::default();
        let status = add(&raw mut node);
        self.check(call, status)?;
        Ok(node)
    }
}

impl Graphs for Hip {
    type Graph = HipGraph;
    type GraphExec = HipGraphExec;
    type GraphNode = HipGraphNode;

    /// # Unsupported
    /// - needs: ROCm 6 for graphs
    fn has_graphs(&self) -> bool {
        self.is_rocm_6()
    }

    fn changes_kernels(&self) -> bool {
        self.is_rocm_6()
    }

    fn has_event_nodes(&self) -> bool {
        self.is_rocm_6()
    }

    fn create_graph(&self) -> Result<HipGraph> {
        let mut graph = HipGraph::default();
        // SAFETY: the output is a live local; flags must be 0.
        self.check("hipGraphCreate", unsafe { (self.symbols.graph_create)(&raw mut graph, 0) })?;
        Ok(graph)
    }

    fn destroy_graph(&self, graph: HipGraph) -> Result<()> {
        // SAFETY: the handle was the graph's owner.
        self.check("hipGraphDestroy", unsafe { (self.symbols.graph_destroy)(graph) })
    }

    fn nodes(&self, graph: &HipGraph) -> Result<Vec<HipGraphNode>> {
        let mut count = 0;
        // SAFETY: without a list the call tells the number alone, to a live local.
        self.check("hipGraphGetNodes", unsafe {
            (self.symbols.graph_nodes)(*graph, core::ptr::null_mut(), &raw mut count)
        })?;
        // A list without room is refused.
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut nodes = vec![HipGraphNode::default(); count];
        // SAFETY: the list has room for as many nodes as the count says.
        self.check("hipGraphGetNodes", unsafe {
            (self.symbols.graph_nodes)(*graph, nodes.as_mut_ptr(), &raw mut count)
        })?;
        nodes.truncate(count);
        Ok(nodes)
    }

    fn edges(&self, graph: &HipGraph) -> Result<Vec<(HipGraphNode, HipGraphNode)>> {
        let (mut count, null) = (0, core::ptr::null_mut());
        // SAFETY: without lists the call tells the number alone, to a live local.
        self.check("hipGraphGetEdges", unsafe { (self.symbols.graph_edges)(*graph, null, null, &raw mut count) })?;
        // As above.
        if count == 0 {
            return Ok(Vec::new());
        }
        let (mut from, mut to) = (vec![HipGraphNode::default(); count], vec![HipGraphNode::default(); count]);
        // SAFETY: both lists have room for as many nodes as the count says.
        self.check("hipGraphGetEdges", unsafe {
            (self.symbols.graph_edges)(*graph, from.as_mut_ptr(), to.as_mut_ptr(), &raw mut count)
        })?;
        Ok(from.into_iter().zip(to).take(count).collect())
    }

    /// # Unsupported
    /// - needs: a runtime with `hipGraphDebugDotPrint`, for the dump of a graph
    fn dump_graph(&self, graph: &HipGraph, path: &CStr, verbose: bool) -> Result<()> {
        let dump = symbol(self.symbols.graph_dump, "hipGraphDebugDotPrint")?;
        let flags = if verbose { flag::hipGraphDebugDotFlagsVerbose } else { 0 };
        // SAFETY: the graph is borrowed, and the path ends with its NUL.
        self.check("hipGraphDebugDotPrint", unsafe { dump(*graph, path.as_ptr(), flags) })
    }

    /// # Unsupported
    /// - launches in clusters: AMD's devices have none
    /// - needs: a runtime with `hipGraphKernelNodeSetAttribute`, for a cooperative launch
    unsafe fn add_kernel(
        &self,
        graph: &HipGraph,
        after: &[HipGraphNode],
        kernel: &KernelNode<HipFunction>,
        arguments: *const *const c_void,
        _context: &Ordinal,
    ) -> Result<HipGraphNode> {
        let params = kernel_params(kernel, arguments)?;
        let cooperate = match kernel.cooperative {
            true => Some(symbol(self.symbols.graph_kernel_attribute, "hipGraphKernelNodeSetAttribute")?),
            false => None,
        };
        // SAFETY: list and parameters are live locals; the caller vouches for function and arguments.
        let node = self.add_node("hipGraphAddKernelNode", |node| unsafe {
            (self.symbols.graph_add_kernel)(node, *graph, list(after), after.len(), &raw const params)
        })?;
        if let Some(set) = cooperate {
            let mut value = AttributeValue([0; 16]);
            value.0[0] = 1;
            // SAFETY: the node was just added, and the value has the bytes of every attribute.
            let done = self.check("hipGraphKernelNodeSetAttribute", unsafe {
                set(node, flag::hipKernelNodeAttributeCooperative, &raw const value)
            });
            if let Err(error) = done {
                // The caller learns of no node that failed, and of this failure alone.
                let _ = self.destroy_node(graph, node);
                return Err(error);
            }
        }
        Ok(node)
    }

    /// # Unsupported
    /// - copies of an image's elements: the runtime counts elements there, whose size a copy does not say
    unsafe fn add_copy(
        &self,
        graph: &HipGraph,
        after: &[HipGraphNode],
        copy: &CopyNode,
        _context: &Ordinal,
    ) -> Result<HipGraphNode> {
        match *copy {
            // SAFETY: the list is a live local; the caller vouches for both ranges.
            CopyNode::Range { to, from, size } => self.add_node("hipGraphAddMemcpyNode1D", |node| unsafe {
                let kind = flag::hipMemcpyDefault;
                (self.symbols.graph_add_range)(node, *graph, list(after), after.len(), to, from, size, kind)
            }),
            CopyNode::Box(ref copy) => {
                let params = box_params(copy)?;
                // SAFETY: list and description are live locals; the caller vouches for every row.
                self.add_node("hipGraphAddMemcpyNode", |node| unsafe {
                    (self.symbols.graph_add_box)(node, *graph, list(after), after.len(), &raw const params)
                })
            }
        }
    }

    unsafe fn add_fill(
        &self,
        graph: &HipGraph,
        after: &[HipGraphNode],
        fill: &FillNode,
        _context: &Ordinal,
    ) -> Result<HipGraphNode> {
        let params = fill_params(fill);
        // SAFETY: list and description are live locals; the caller vouches for the rows.
        self.add_node("hipGraphAddMemsetNode", |node| unsafe {
            (self.symbols.graph_add_fill)(node, *graph, list(after), after.len(), &raw const params)
        })
    }

    fn add_empty(&self, graph: &HipGraph, after: &[HipGraphNode]) -> Result<HipGraphNode> {
        // SAFETY: the list is a live local, and the graph is borrowed.
        self.add_node("hipGraphAddEmptyNode", |node| unsafe {
            (self.symbols.graph_add_empty)(node, *graph, list(after), after.len())
        })
    }

    fn add_child(&self, graph: &HipGraph, after: &[HipGraphNode], child: &HipGraph) -> Result<HipGraphNode> {
        // SAFETY: the list is a live local, and both graphs are borrowed.
        self.add_node("hipGraphAddChildGraphNode", |node| unsafe {
            (self.symbols.graph_add_child)(node, *graph, list(after), after.len(), *child)
        })
    }

    fn add_event_record(&self, graph: &HipGraph, after: &[HipGraphNode], event: &HipEvent) -> Result<HipGraphNode> {
        // SAFETY: the list is a live local; graph and event are borrowed.
        self.add_node("hipGraphAddEventRecordNode", |node| unsafe {
            (self.symbols.graph_add_record)(node, *graph, list(after), after.len(), *event)
        })
    }

    fn add_event_wait(&self, graph: &HipGraph, after: &[HipGraphNode], event: &HipEvent) -> Result<HipGraphNode> {
        // SAFETY: the list is a live local; graph and event are borrowed.
        self.add_node("hipGraphAddEventWaitNode", |node| unsafe {
            (self.symbols.graph_add_wait)(node, *graph, list(after), after.len(), *event)
        })
    }

    unsafe fn add_host_function(
        &self,
        graph: &HipGraph,
        after: &[HipGraphNode],
        function: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
    ) -> Result<HipGraphNode> {
        let params = HostNodeParams { function, data };
        // SAFETY: list and description are live locals; the caller vouches for function and data.
        self.add_node("hipGraphAddHostNode", |node| unsafe {
            (self.symbols.graph_add_host)(node, *graph, list(after), after.len(), &raw const params)
        })
    }

    /// # Unsupported
    /// - allocations of host and of shared memory: the runtime has pools of device memory alone
    /// - needs: a runtime with `hipGraphAddMemAllocNode`, for an allocation in a graph
    fn add_allocation(
        &self,
        graph: &HipGraph,
        after: &[HipGraphNode],
        kind: MemoryKind,
        device: Ordinal,
        size: usize,
    ) -> Result<(HipGraphNode, usize)> {
        let add = symbol(self.symbols.graph_add_allocation, "hipGraphAddMemAllocNode")?;
        if kind != MemoryKind::Device {
            return Err(Error::unsupported("an allocation in a graph that is not of device memory"));
        }
        let location = MemLocation { kind: flag::hipMemLocationTypeDevice, device };
        let access = MemAccess { location, flags: flag::hipMemAccessFlagsProtReadWrite };
        let pool = pool_properties(device, 0);
        let mut params = MemAllocNodeParams { pool, access: &raw const access, access_count: 1, size, address: 0 };
        // SAFETY: list, description and access are live locals, and the graph is borrowed.
        let node = self.add_node("hipGraphAddMemAllocNode", |node| unsafe {
            add(node, *graph, list(after), after.len(), &raw mut params)
        })?;
        Ok((node, params.address))
    }

    unsafe fn add_free(&self, graph: &HipGraph, after: &[HipGraphNode], address: usize) -> Result<HipGraphNode> {
        let add = symbol(self.symbols.graph_add_free, "hipGraphAddMemFreeNode")?;
        // SAFETY: the list is a live local, the graph is borrowed, and the caller vouches for the address.
        self.add_node("hipGraphAddMemFreeNode", |node| unsafe { add(node, *graph, list(after), after.len(), address) })
    }

    fn destroy_node(&self, _graph: &HipGraph, node: HipGraphNode) -> Result<()> {
        // SAFETY: a node of a graph that is borrowed, which was not taken out before.
        self.check("hipGraphDestroyNode", unsafe { (self.symbols.graph_destroy_node)(node) })
    }

    fn add_dependencies(&self, graph: &HipGraph, from: &[HipGraphNode], to: &[HipGraphNode]) -> Result<()> {
        let count = from.len().min(to.len());
        // SAFETY: both lists have that many nodes, and the graph is borrowed.
        self.check("hipGraphAddDependencies", unsafe {
            (self.symbols.graph_add_dependencies)(*graph, from.as_ptr(), to.as_ptr(), count)
        })
    }

    fn instantiate(&self, graph: &HipGraph) -> Result<HipGraphExec> {
        let mut exec = HipGraphExec::default();
        // SAFETY: the output is a live local, and the graph is borrowed.
        self.check("hipGraphInstantiateWithFlags", unsafe {
            (self.symbols.graph_instantiate)(&raw mut exec, *graph, 0)
        })?;
        Ok(exec)
    }

    fn destroy_exec(&self, exec: HipGraphExec) -> Result<()> {
        // SAFETY: the handle was the executable graph's owner.
        self.check("hipGraphExecDestroy", unsafe { (self.symbols.exec_destroy)(exec) })
    }

    #[inline]
    fn launch_graph(&self, exec: &HipGraphExec, stream: &HipStream) -> Result<()> {
        // SAFETY: both are borrowed; whoever recorded the nodes vouched for what they touch.
        self.check("hipGraphLaunch", unsafe { (self.symbols.graph_launch)(*exec, *stream) })
    }

    /// # Unsupported
    /// - note: a runtime without `hipGraphUpload` does it all at the first launch
    fn upload_graph(&self, exec: &HipGraphExec, stream: &HipStream) -> Result<()> {
        let Some(upload) = self.symbols.graph_upload else { return Ok(()) };
        // SAFETY: both are borrowed.
        self.check("hipGraphUpload", unsafe { upload(*exec, *stream) })
    }

    unsafe fn set_kernel(
        &self,
        exec: &HipGraphExec,
        node: HipGraphNode,
        kernel: &KernelNode<HipFunction>,
        arguments: *const *const c_void,
        _context: &Ordinal,
    ) -> Result<()> {
        let params = kernel_params(kernel, arguments)?;
        // SAFETY: the parameters are a live local; the caller vouches for node, function and arguments.
        self.check("hipGraphExecKernelNodeSetParams", unsafe {
            (self.symbols.exec_set_kernel)(*exec, node, &raw const params)
        })
    }

    unsafe fn set_copy(
        &self,
        exec: &HipGraphExec,
        node: HipGraphNode,
        copy: &CopyNode,
        _context: &Ordinal,
    ) -> Result<()> {
        match *copy {
            // SAFETY: the caller vouches for node and ranges.
            CopyNode::Range { to, from, size } => self.check("hipGraphExecMemcpyNodeSetParams1D", unsafe {
                (self.symbols.exec_set_range)(*exec, node, to, from, size, flag::hipMemcpyDefault)
            }),
            CopyNode::Box(ref copy) => {
                let params = box_params(copy)?;
                // SAFETY: the description is a live local; the caller vouches for node and rows.
                self.check("hipGraphExecMemcpyNodeSetParams", unsafe {
                    (self.symbols.exec_set_box)(*exec, node, &raw const params)
                })
            }
        }
    }

    unsafe fn set_fill(
        &self,
        exec: &HipGraphExec,
        node: HipGraphNode,
        fill: &FillNode,
        _context: &Ordinal,
    ) -> Result<()> {
        let params = fill_params(fill);
        // SAFETY: the description is a live local; the caller vouches for node and rows.
        self.check("hipGraphExecMemsetNodeSetParams", unsafe {
            (self.symbols.exec_set_fill)(*exec, node, &raw const params)
        })
    }

    /// # Unsupported
    /// - needs: a runtime with `hipGraphNodeSetEnabled`, for switching a node
    fn enable_node(&self, exec: &HipGraphExec, node: HipGraphNode, enabled: bool) -> Result<()> {
        let set = symbol(self.symbols.exec_enable, "hipGraphNodeSetEnabled")?;
        // SAFETY: the executable graph is borrowed; a node that is not of its graph is refused.
        self.check("hipGraphNodeSetEnabled", unsafe { set(*exec, node, c_uint::from(enabled)) })
    }

    fn set_recorded_event(&self, exec: &HipGraphExec, node: HipGraphNode, event: &HipEvent) -> Result<()> {
        // SAFETY: both are borrowed; a node that is not of the graph is refused.
        self.check("hipGraphExecEventRecordNodeSetEvent", unsafe {
            (self.symbols.exec_set_record)(*exec, node, *event)
        })
    }

    fn set_awaited_event(&self, exec: &HipGraphExec, node: HipGraphNode, event: &HipEvent) -> Result<()> {
        // SAFETY: both are borrowed; a node that is not of the graph is refused.
        self.check("hipGraphExecEventWaitNodeSetEvent", unsafe { (self.symbols.exec_set_wait)(*exec, node, *event) })
    }

    fn begin_capture(&self, stream: &HipStream, mode: CaptureMode) -> Result<()> {
        // SAFETY: the stream is borrowed.
        self.check("hipStreamBeginCapture", unsafe { (self.symbols.capture_begin)(*stream, mode as c_uint) })
    }

    /// # Unsupported
    /// - needs: a runtime with `hipStreamBeginCaptureToGraph` (ROCm 6.2), for a capture into a graph that there is
    fn begin_capture_into(
        &self,
        stream: &HipStream,
        graph: &HipGraph,
        after: &[HipGraphNode],
        mode: CaptureMode,
    ) -> Result<()> {
        let begin = symbol(self.symbols.capture_begin_into, "hipStreamBeginCaptureToGraph")?;
        let no_data = core::ptr::null();
        // SAFETY: the list is live, edges may have no data, and stream and graph are borrowed.
        self.check("hipStreamBeginCaptureToGraph", unsafe {
            begin(*stream, *graph, list(after), no_data, after.len(), mode as c_uint)
        })
    }

    fn end_capture(&self, stream: &HipStream) -> Result<HipGraph> {
        let mut graph = HipGraph::default();
        // SAFETY: the output is a live local, and the stream is borrowed.
        self.check("hipStreamEndCapture", unsafe { (self.symbols.capture_end)(*stream, &raw mut graph) })?;
        Ok(graph)
    }

    fn capture_info(&self, stream: &HipStream) -> Result<CaptureInfo> {
        const ACTIVE: c_uint = CaptureStatus::Active as c_uint;
        const INVALIDATED: c_uint = CaptureStatus::Invalidated as c_uint;
        let (mut status, mut id, mut graph): (c_uint, u64, HipGraph) = Default::default();
        let none = core::ptr::null_mut();
        // SAFETY: the outputs are live locals, those that nobody wants are null, and the stream is borrowed.
        self.check("hipStreamGetCaptureInfo_v2", unsafe {
            let count = core::ptr::null_mut();
            (self.symbols.capture_info)(*stream, &raw mut status, &raw mut id, &raw mut graph, none, count)
        })?;
        Ok(match status {
            ACTIVE => CaptureInfo { status: CaptureStatus::Active, id, graph: Some(graph.value()) },
            INVALIDATED => CaptureInfo { status: CaptureStatus::Invalidated, id: 0, graph: None },
            _ => CaptureInfo::default(),
        })
    }

    fn orders_captures(&self) -> bool {
        self.symbols.capture_set_dependencies.is_some()
    }

    fn capture_dependencies(&self, stream: &HipStream) -> Result<(HipGraph, Vec<HipGraphNode>)> {
        let (mut status, mut graph, mut nodes, mut count) = (0, HipGraph::default(), core::ptr::null(), 0);
        let no_id = core::ptr::null_mut();
        // SAFETY: the outputs are live locals, the one that nobody wants is null, and the stream is borrowed.
        self.check("hipStreamGetCaptureInfo_v2", unsafe {
            let ask = self.symbols.capture_info;
            ask(*stream, &raw mut status, no_id, &raw mut graph, &raw mut nodes, &raw mut count)
        })?;
        if status == CaptureStatus::Invalidated as c_uint {
            return Err(Error::code_only(ur_result_t::ERROR_GRAPH_CAPTURE_INVALIDATED));
        }
        if count == 0 {
            return Ok((graph, Vec::new()));
        }
        // SAFETY: the runtime's own list of that many nodes, which stands until the stream's next call.
        Ok((graph, unsafe { core::slice::from_raw_parts(nodes, count) }.to_vec()))
    }

    fn set_capture_dependencies(&self, stream: &HipStream, after: &[HipGraphNode]) -> Result<()> {
        const REPLACE: c_uint = 1;
        let set = symbol(self.symbols.capture_set_dependencies, "hipStreamUpdateCaptureDependencies")?;
        // SAFETY: the list is live, and the runtime only reads it; the stream is borrowed.
        self.check("hipStreamUpdateCaptureDependencies", unsafe {
            set(*stream, after.as_ptr().cast_mut(), after.len(), REPLACE)
        })
    }

    fn exchange_capture_mode(&self, mode: CaptureMode) -> Result<CaptureMode> {
        const GLOBAL: c_uint = CaptureMode::Global as c_uint;
        const THREAD_LOCAL: c_uint = CaptureMode::ThreadLocal as c_uint;
        let mut mode = mode as c_uint;
        // SAFETY: the call swaps what a live local holds.
        self.check("hipThreadExchangeStreamCaptureMode", unsafe {
            (self.symbols.capture_exchange_mode)(&raw mut mode)
        })?;
        Ok(match mode {
            GLOBAL => CaptureMode::Global,
            THREAD_LOCAL => CaptureMode::ThreadLocal,
            _ => CaptureMode::Relaxed,
        })
    }
}
