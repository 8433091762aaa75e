//! Graphs: making them, and adding nodes of each kind.

use super::args::{In, InOut, Out, Slice};
use super::guard::call;
use super::{copy, set};
use crate::command::UserData;
use crate::context::{self, Context};
use crate::event::EVENTS;
use crate::graph::alloc::{self, Block};
use crate::graph::node::{self, Work};
use crate::graph::{Graph, capture};
use crate::kernel::{Kernel, Shape};
use crate::module;
use crate::sys::*;
use core::ffi::c_uint;
use std::sync::Arc;

fn add(
    out: &Out<Handle>,
    graph: Handle,
    after: &Slice<Handle>,
    count: usize,
    work: impl FnOnce() -> Result<Work>,
) -> Result {
    out.required()?;
    let graph = Graph::lookup(graph)?;
    let after = after.read(count)?;
    out.put(graph.add(&after, work()?)?)
}

/// The context that a node's parameters name, or else the current one.
fn context_of(handle: Handle) -> Result<Arc<Context>> {
    let context = if handle == 0 { context::current()? } else { context::lookup(handle)? };
    context.usable()?;
    Ok(context)
}

/// The kernel that a node's parameters describe.
pub fn kernel_work(params: &CUDA_KERNEL_NODE_PARAMS) -> Result<Work> {
    kernel_shaped(params, false, [1; 3])
}

fn kernel_shaped(params: &CUDA_KERNEL_NODE_PARAMS, cooperative: bool, cluster: [u32; 3]) -> Result<Work> {
    let handle = if params.func == 0 { params.kern } else { params.func };
    if handle == 0 {
        return Err(CUDA_ERROR_INVALID_HANDLE);
    }
    let context = context_of(params.ctx)?;
    let function = module::resolve_function(handle, &context)?;
    let shape = Shape { grid: params.grid, block: params.block, shared: params.shared_mem_bytes, cooperative, cluster };
    // SAFETY: the client gives the arguments that the function takes.
    let kernel = unsafe { Kernel::prepare(function, shape, params.kernel_params, params.extra)? };
    Ok(Work::Kernel(Arc::new(kernel)))
}

/// The same with the attributes that a node has already: parameters do not change them.
pub fn kernel_like(params: &CUDA_KERNEL_NODE_PARAMS, old: &Work) -> Result<Work> {
    let Work::Kernel(old) = old else { return Err(CUDA_ERROR_INVALID_VALUE) };
    kernel_shaped(params, old.shape().cooperative, old.shape().cluster)
}

/// The copy that a node's parameters describe.
pub fn copy_work(params: &CUDA_MEMCPY3D, context: Handle) -> Result<Work> {
    node::copy_node(copy::of_3d(params)?, context_of(context)?, [params.dst_type, params.src_type])
}

/// The fill that a node's parameters describe.
pub fn fill_work(params: &CUDA_MEMSET_NODE_PARAMS, context: Handle) -> Result<Work> {
    if !matches!(params.element_size, 1 | 2 | 4) {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    let extent = [params.width, params.height];
    let fill = set::fill(params.dst, params.pitch, params.value, params.element_size as usize, extent)?;
    node::fill_node(fill, context_of(context)?)
}

/// The host function that a node's parameters describe.
pub fn host_work(params: &CUDA_HOST_NODE_PARAMS) -> Result<Work> {
    if params.func.is_none() {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    Ok(Work::Host(params.func, UserData(params.user_data)))
}

/// The child graph that a node gets: a copy of its own.
pub fn child_work(child: Handle, graph: Handle) -> Result<Work> {
    if child == graph {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    Ok(Work::Child(Graph::lookup(child)?.copy(true)?))
}

/// The record of an event.
pub fn record_work(event: Handle) -> Result<Work> {
    Ok(Work::Record(EVENTS.lookup(event, CUDA_ERROR_INVALID_HANDLE)?))
}

/// The wait for an event.
pub fn wait_work(event: Handle) -> Result<Work> {
    Ok(Work::Wait(EVENTS.lookup(event, CUDA_ERROR_INVALID_HANDLE)?))
}

/// The free of a block that a graph allocates.
pub fn free_work(address: CUdeviceptr) -> Result<Work> {
    alloc::block(address).map(|_| Work::Free(address)).ok_or(CUDA_ERROR_INVALID_VALUE)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphCreate(out: Out<Handle>, flags: c_uint) -> CUresult {
    call!(cuGraphCreate, {
        out.required()?;
        if flags != 0 {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        out.put(Graph::create().handle)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphClone(out: Out<Handle>, graph: Handle) -> CUresult {
    call!(cuGraphClone, {
        out.required()?;
        out.put(Graph::lookup(graph)?.copy(false)?.handle)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphDestroy(graph: Handle) -> CUresult {
    call!(cuGraphDestroy, {
        let graph = Graph::lookup(graph)?;
        if graph.embedded {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        if capture::is_recorded(&graph) {
            return Err(CUDA_ERROR_ILLEGAL_STATE);
        }
        graph.destroy();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphAddKernelNode_v2(
    out: Out<Handle>,
    graph: Handle,
    after: Slice<Handle>,
    count: usize,
    params: In<CUDA_KERNEL_NODE_PARAMS>,
) -> CUresult {
    call!(cuGraphAddKernelNode_v2, { add(&out, graph, &after, count, || kernel_work(&params.get()?)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphAddMemcpyNode(
    out: Out<Handle>,
    graph: Handle,
    after: Slice<Handle>,
    count: usize,
    params: In<CUDA_MEMCPY3D>,
    ctx: Handle,
) -> CUresult {
    call!(cuGraphAddMemcpyNode, { add(&out, graph, &after, count, || copy_work(&params.get()?, ctx)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphAddMemsetNode(
    out: Out<Handle>,
    graph: Handle,
    after: Slice<Handle>,
    count: usize,
    params: In<CUDA_MEMSET_NODE_PARAMS>,
    ctx: Handle,
) -> CUresult {
    call!(cuGraphAddMemsetNode, { add(&out, graph, &after, count, || fill_work(&params.get()?, ctx)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphAddHostNode(
    out: Out<Handle>,
    graph: Handle,
    after: Slice<Handle>,
    count: usize,
    params: In<CUDA_HOST_NODE_PARAMS>,
) -> CUresult {
    call!(cuGraphAddHostNode, { add(&out, graph, &after, count, || host_work(&params.get()?)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphAddEmptyNode(out: Out<Handle>, graph: Handle, after: Slice<Handle>, count: usize) -> CUresult {
    call!(cuGraphAddEmptyNode, { add(&out, graph, &after, count, || Ok(Work::Empty)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphAddChildGraphNode(
    out: Out<Handle>,
    graph: Handle,
    after: Slice<Handle>,
    count: usize,
    child: Handle,
) -> CUresult {
    call!(cuGraphAddChildGraphNode, { add(&out, graph, &after, count, || child_work(child, graph)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphAddEventRecordNode(
    out: Out<Handle>,
    graph: Handle,
    after: Slice<Handle>,
    count: usize,
    event: Handle,
) -> CUresult {
    call!(cuGraphAddEventRecordNode, { add(&out, graph, &after, count, || record_work(event)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphAddEventWaitNode(
    out: Out<Handle>,
    graph: Handle,
    after: Slice<Handle>,
    count: usize,
    event: Handle,
) -> CUresult {
    call!(cuGraphAddEventWaitNode, { add(&out, graph, &after, count, || wait_work(event)) })
}

/// Writes the address into the parameters, which are the caller's.
#[unsafe(no_mangle)]
pub extern "C" fn cuGraphAddMemAllocNode(
    out: Out<Handle>,
    graph: Handle,
    after: Slice<Handle>,
    count: usize,
    params: InOut<CUDA_MEM_ALLOC_NODE_PARAMS>,
) -> CUresult {
    call!(cuGraphAddMemAllocNode, {
        let mut wanted = params.get()?;
        let block = Block::create(&wanted.pool_props, wanted.byte_size)?;
        wanted.dptr = block.address;
        add(&out, graph, &after, count, || Ok(Work::Alloc(block)))?;
        params.put(wanted)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphAddMemFreeNode(
    out: Out<Handle>,
    graph: Handle,
    after: Slice<Handle>,
    count: usize,
    address: CUdeviceptr,
) -> CUresult {
    call!(cuGraphAddMemFreeNode, { add(&out, graph, &after, count, || free_work(address)) })
}
