//! The C ABI of graphs and stream capture.

use core::ffi::{c_char, c_int, c_uint, c_void};
use simcuda::sys::*;

unsafe extern "C" {
    pub fn cuGraphClone(out: *mut Handle, graph: Handle) -> CUresult;
    pub fn cuGraphDestroyNode(node: Handle) -> CUresult;
    pub fn cuGraphAddKernelNode_v2(
        out: *mut Handle,
        graph: Handle,
        after: *const Handle,
        n: usize,
        params: *const CUDA_KERNEL_NODE_PARAMS,
    ) -> CUresult;
    pub fn cuGraphAddHostNode(
        out: *mut Handle,
        graph: Handle,
        after: *const Handle,
        n: usize,
        params: *const CUDA_HOST_NODE_PARAMS,
    ) -> CUresult;
    pub fn cuGraphAddChildGraphNode(
        out: *mut Handle,
        graph: Handle,
        after: *const Handle,
        n: usize,
        child: Handle,
    ) -> CUresult;
    pub fn cuGraphAddEventRecordNode(
        out: *mut Handle,
        graph: Handle,
        after: *const Handle,
        n: usize,
        event: Handle,
    ) -> CUresult;
    pub fn cuGraphAddEventWaitNode(
        out: *mut Handle,
        graph: Handle,
        after: *const Handle,
        n: usize,
        event: Handle,
    ) -> CUresult;
    pub fn cuGraphAddMemAllocNode(
        out: *mut Handle,
        graph: Handle,
        after: *const Handle,
        n: usize,
        params: *mut CUDA_MEM_ALLOC_NODE_PARAMS,
    ) -> CUresult;
    pub fn cuGraphAddMemFreeNode(
        out: *mut Handle,
        graph: Handle,
        after: *const Handle,
        n: usize,
        address: CUdeviceptr,
    ) -> CUresult;
    pub fn cuGraphAddNode_v2(
        out: *mut Handle,
        graph: Handle,
        after: *const Handle,
        data: *const CUgraphEdgeData,
        n: usize,
        params: *mut CUgraphNodeParams,
    ) -> CUresult;
    pub fn cuGraphRemoveDependencies(graph: Handle, from: *const Handle, to: *const Handle, n: usize) -> CUresult;
    pub fn cuGraphGetNodes(graph: Handle, nodes: *mut Handle, n: *mut usize) -> CUresult;
    pub fn cuGraphGetRootNodes(graph: Handle, nodes: *mut Handle, n: *mut usize) -> CUresult;
    pub fn cuGraphGetEdges(graph: Handle, from: *mut Handle, to: *mut Handle, n: *mut usize) -> CUresult;
    pub fn cuGraphNodeGetType(node: Handle, kind: *mut c_int) -> CUresult;
    pub fn cuGraphNodeFindInClone(out: *mut Handle, original: Handle, clone: Handle) -> CUresult;
    pub fn cuGraphChildGraphNodeGetGraph(node: Handle, out: *mut Handle) -> CUresult;
    pub fn cuGraphKernelNodeSetAttribute(node: Handle, attribute: c_uint, value: *const [u64; 8]) -> CUresult;
    pub fn cuGraphUpload(exec: Handle, stream: Handle) -> CUresult;
    pub fn cuGraphExecUpdate_v2(exec: Handle, graph: Handle, info: *mut CUgraphExecUpdateResultInfo) -> CUresult;
    pub fn cuGraphExecKernelNodeSetParams_v2(
        exec: Handle,
        node: Handle,
        params: *const CUDA_KERNEL_NODE_PARAMS,
    ) -> CUresult;
    pub fn cuGraphExecMemcpyNodeSetParams(
        exec: Handle,
        node: Handle,
        params: *const CUDA_MEMCPY3D,
        ctx: Handle,
    ) -> CUresult;
    pub fn cuGraphExecMemsetNodeSetParams(
        exec: Handle,
        node: Handle,
        params: *const CUDA_MEMSET_NODE_PARAMS,
        ctx: Handle,
    ) -> CUresult;
    pub fn cuGraphExecChildGraphNodeSetParams(exec: Handle, node: Handle, child: Handle) -> CUresult;
    pub fn cuGraphNodeSetEnabled(exec: Handle, node: Handle, enabled: c_uint) -> CUresult;
    pub fn cuGraphDebugDotPrint(graph: Handle, path: *const c_char, flags: c_uint) -> CUresult;
    pub fn cuDeviceGraphMemTrim(device: CUdevice) -> CUresult;
    pub fn cuDeviceGetGraphMemAttribute(device: CUdevice, attribute: c_int, value: *mut c_void) -> CUresult;
    pub fn cuStreamBeginCapture_v2(stream: Handle, mode: c_int) -> CUresult;
    pub fn cuStreamBeginCaptureToGraph(
        stream: Handle,
        graph: Handle,
        after: *const Handle,
        data: *const CUgraphEdgeData,
        n: usize,
        mode: c_int,
    ) -> CUresult;
    pub fn cuStreamEndCapture(stream: Handle, out: *mut Handle) -> CUresult;
    pub fn cuStreamIsCapturing(stream: Handle, status: *mut c_int) -> CUresult;
    pub fn cuStreamGetCaptureInfo_v2(
        stream: Handle,
        status: *mut c_int,
        id: *mut u64,
        graph: *mut Handle,
        tail: *mut *const Handle,
        n: *mut usize,
    ) -> CUresult;
    pub fn cuStreamUpdateCaptureDependencies(stream: Handle, tail: *const Handle, n: usize, flags: c_uint) -> CUresult;
    pub fn cuThreadExchangeStreamCaptureMode(mode: *mut c_int) -> CUresult;
    pub fn cuMemcpyDtoDAsync_v2(dst: u64, src: u64, n: usize, stream: Handle) -> CUresult;
    pub fn cuStreamWriteValue32_v2(stream: Handle, at: u64, value: u32, flags: c_uint) -> CUresult;
    pub fn cuMemPrefetchAsync(at: u64, n: usize, device: CUdevice, stream: Handle) -> CUresult;
    pub fn cuEventRecordWithFlags(event: Handle, stream: Handle, flags: c_uint) -> CUresult;
}

/// The kinds of a graph's nodes in the order of adding, and its edges by the nodes' places.
pub fn shape(graph: Handle) -> (Vec<c_int>, Vec<(usize, usize)>) {
    let mut count = 0;
    ok!(cuGraphGetNodes(graph, core::ptr::null_mut(), &mut count));
    let mut nodes = vec![0; count];
    // A list without room is refused.
    if count > 0 {
        ok!(cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count));
    }
    let kind_of = |&node: &Handle| {
        let mut kind = -1;
        ok!(cuGraphNodeGetType(node, &mut kind));
        kind
    };
    let mut edges = 0;
    ok!(cuGraphGetEdges(graph, core::ptr::null_mut(), core::ptr::null_mut(), &mut edges));
    let (mut from, mut to) = (vec![0; edges], vec![0; edges]);
    if edges > 0 {
        ok!(cuGraphGetEdges(graph, from.as_mut_ptr(), to.as_mut_ptr(), &mut edges));
    }
    let place = |node: Handle| nodes.iter().position(|&known| known == node).expect("edges are between nodes");
    let edges = from.into_iter().zip(to).map(|(from, to)| (place(from), place(to))).collect();
    (nodes.iter().map(kind_of).collect(), edges)
}

/// Whether a stream records: 0 no, 1 yes, 2 what it recorded is broken.
pub fn status_of(stream: Handle) -> c_int {
    let mut status = -1;
    ok!(cuStreamIsCapturing(stream, &mut status));
    status
}

/// A fill of bytes.
pub fn bytes_filled(dst: u64, value: u32, width: usize) -> CUDA_MEMSET_NODE_PARAMS {
    CUDA_MEMSET_NODE_PARAMS { dst, pitch: 0, value, element_size: 1, width, height: 1 }
}

/// A copy of bytes from device memory to device memory.
pub fn bytes_copied(dst: u64, src: u64, width: usize) -> CUDA_MEMCPY3D {
    CUDA_MEMCPY3D {
        src_x: 0,
        src_y: 0,
        src_z: 0,
        src_lod: 0,
        src_type: CU_MEMORYTYPE_DEVICE,
        src_host: 0,
        src_device: src,
        src_array: 0,
        reserved0: 0,
        src_pitch: 0,
        src_height: 0,
        dst_x: 0,
        dst_y: 0,
        dst_z: 0,
        dst_lod: 0,
        dst_type: CU_MEMORYTYPE_DEVICE,
        dst_host: 0,
        dst_device: dst,
        dst_array: 0,
        reserved1: 0,
        dst_pitch: 0,
        dst_height: 0,
        width,
        height: 1,
        depth: 1,
    }
}
