//! Nodes of graphs: those of any kind, what they do, and changing that before a graph is instantiated.

use super::args::{In, InOut, Out, Slice};
use super::graph::{
    child_work, copy_work, fill_work, free_work, host_work, kernel_like, kernel_work, record_work, wait_work,
};
use super::guard::call;
use crate::graph::alloc::Block;
use crate::graph::node::Work;
use crate::graph::{Graph, graph_of};
use crate::kernel::Shape;
use crate::sys::*;
use core::ffi::{c_int, c_uint};
use std::sync::Arc;

const ATTRIBUTE_COOPERATIVE: c_uint = 2;
const ATTRIBUTE_CLUSTER_DIMENSION: c_uint = 4;
const ATTRIBUTES: c_uint = 19;

/// What a node of any kind is to do. Answers the parameters with what is to be told of them, too.
fn work_of(params: &CUgraphNodeParams, graph: Handle) -> Result<(Work, CUgraphNodeParams)> {
    if params.reserved0 != [0; 3] || params.reserved2 != 0 {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    let mut told = *params;
    let words = &params.of_kind;
    let work = match params.kind {
        0 => kernel_work(&params.read())?,
        1 => copy_work(&params.read_behind::<CUDA_MEMCPY3D, 2>(), words[1])?,
        2 => fill_work(&params.read(), words[5])?,
        3 => host_work(&params.read())?,
        4 => child_work(words[0], graph)?,
        5 => Work::Empty,
        6 => wait_work(words[0])?,
        7 => record_work(words[0])?,
        10 => {
            let wanted: CUDA_MEM_ALLOC_NODE_PARAMS = params.read();
            let block = Block::create(&wanted.pool_props, wanted.byte_size)?;
            told.of_kind[ADDRESS_WORD] = block.address;
            Work::Alloc(block)
        }
        11 => free_work(words[0])?,
        _ => return Err(CUDA_ERROR_INVALID_VALUE),
    };
    Ok((work, told))
}

/// Where an allocation node's parameters have the address.
const ADDRESS_WORD: usize = core::mem::offset_of!(CUDA_MEM_ALLOC_NODE_PARAMS, dptr) / 8;

fn add(out: &Out<Handle>, graph: Handle, after: &[Handle], params: &InOut<CUgraphNodeParams>) -> Result {
    out.required()?;
    let found = Graph::lookup(graph)?;
    let (work, told) = work_of(&params.get()?, graph)?;
    let is_memory = matches!(work, Work::Alloc(_));
    let node = found.add(after, work)?;
    if is_memory {
        params.put(told)?;
    }
    out.put(node)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphAddNode(
    out: Out<Handle>,
    graph: Handle,
    after: Slice<Handle>,
    count: usize,
    params: InOut<CUgraphNodeParams>,
) -> CUresult {
    call!(cuGraphAddNode, { add(&out, graph, &after.read(count)?, &params) })
}

/// Fails for edges of any kind but the plain one: no node here has several ports.
pub fn check_edges(data: &Slice<CUgraphEdgeData>, count: usize) -> Result {
    if data.is_given() && data.read(count)?.iter().any(|edge| *edge != CUgraphEdgeData::default()) {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphAddNode_v2(
    out: Out<Handle>,
    graph: Handle,
    after: Slice<Handle>,
    data: Slice<CUgraphEdgeData>,
    count: usize,
    params: InOut<CUgraphNodeParams>,
) -> CUresult {
    call!(cuGraphAddNode_v2, {
        check_edges(&data, count)?;
        add(&out, graph, &after.read(count)?, &params)
    })
}

fn set(node: Handle, work: impl FnOnce(&Work) -> Result<Work>) -> Result {
    let graph = graph_of(node)?;
    let work = work(&graph.work(node)?)?;
    graph.set_work(node, work)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphNodeSetParams(node: Handle, params: In<CUgraphNodeParams>) -> CUresult {
    call!(cuGraphNodeSetParams, {
        let params = params.get()?;
        set(node, |old| match params.kind {
            0 => kernel_like(&params.read(), old),
            4 | 10 | 11 => Err(CUDA_ERROR_INVALID_VALUE),
            _ => work_of(&params, 0).map(|(work, _)| work),
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphKernelNodeSetParams_v2(node: Handle, params: In<CUDA_KERNEL_NODE_PARAMS>) -> CUresult {
    call!(cuGraphKernelNodeSetParams_v2, { set(node, |old| kernel_like(&params.get()?, old)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphMemcpyNodeSetParams(node: Handle, params: In<CUDA_MEMCPY3D>) -> CUresult {
    call!(cuGraphMemcpyNodeSetParams, {
        set(node, |old| copy_work(&params.get()?, old.context().map_or(0, |context| context.handle)))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphMemsetNodeSetParams(node: Handle, params: In<CUDA_MEMSET_NODE_PARAMS>) -> CUresult {
    call!(cuGraphMemsetNodeSetParams, {
        set(node, |old| fill_work(&params.get()?, old.context().map_or(0, |context| context.handle)))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphHostNodeSetParams(node: Handle, params: In<CUDA_HOST_NODE_PARAMS>) -> CUresult {
    call!(cuGraphHostNodeSetParams, { set(node, |_| host_work(&params.get()?)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphEventRecordNodeSetEvent(node: Handle, event: Handle) -> CUresult {
    call!(cuGraphEventRecordNodeSetEvent, { set(node, |_| record_work(event)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphEventWaitNodeSetEvent(node: Handle, event: Handle) -> CUresult {
    call!(cuGraphEventWaitNodeSetEvent, { set(node, |_| wait_work(event)) })
}

fn event_of(node: Handle, out: &Out<Handle>, records: bool) -> Result {
    match (graph_of(node)?.work(node)?, records) {
        (Work::Record(event), true) | (Work::Wait(event), false) => out.put(event.handle),
        _ => Err(CUDA_ERROR_INVALID_VALUE),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphEventRecordNodeGetEvent(node: Handle, out: Out<Handle>) -> CUresult {
    call!(cuGraphEventRecordNodeGetEvent, { event_of(node, &out, true) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphEventWaitNodeGetEvent(node: Handle, out: Out<Handle>) -> CUresult {
    call!(cuGraphEventWaitNodeGetEvent, { event_of(node, &out, false) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphChildGraphNodeGetGraph(node: Handle, out: Out<Handle>) -> CUresult {
    call!(cuGraphChildGraphNodeGetGraph, {
        match graph_of(node)?.work(node)? {
            Work::Child(child) => out.put(child.handle),
            _ => Err(CUDA_ERROR_INVALID_VALUE),
        }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphMemFreeNodeGetParams(node: Handle, out: Out<CUdeviceptr>) -> CUresult {
    call!(cuGraphMemFreeNodeGetParams, {
        match graph_of(node)?.work(node)? {
            Work::Free(address) => out.put(address),
            _ => Err(CUDA_ERROR_INVALID_VALUE),
        }
    })
}

/// Of the attributes, clusters and cooperation mean something here.
#[unsafe(no_mangle)]
pub extern "C" fn cuGraphKernelNodeSetAttribute(node: Handle, attribute: c_uint, value: In<[u64; 8]>) -> CUresult {
    call!(cuGraphKernelNodeSetAttribute, {
        if attribute >= ATTRIBUTES {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        let graph = graph_of(node)?;
        let Work::Kernel(kernel) = graph.work(node)? else { return Err(CUDA_ERROR_INVALID_VALUE) };
        let (value, old) = (value.get()?, kernel.shape());
        let shape = match attribute {
            ATTRIBUTE_COOPERATIVE => Shape { cooperative: value[0] as u32 != 0, ..old },
            ATTRIBUTE_CLUSTER_DIMENSION => {
                Shape { cluster: [value[0] as u32, (value[0] >> 32) as u32, value[1] as u32], ..old }
            }
            _ => return Ok(()),
        };
        let kernel = kernel.shaped(shape);
        kernel.check()?;
        graph.set_work(node, Work::Kernel(Arc::new(kernel)))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphKernelNodeGetAttribute(node: Handle, attribute: c_uint, value: Out<[u64; 8]>) -> CUresult {
    call!(cuGraphKernelNodeGetAttribute, {
        let Work::Kernel(kernel) = graph_of(node)?.work(node)? else { return Err(CUDA_ERROR_INVALID_VALUE) };
        let (shape, mut words) = (kernel.shape(), [0; 8]);
        match attribute {
            ATTRIBUTE_COOPERATIVE => words[0] = shape.cooperative.into(),
            ATTRIBUTE_CLUSTER_DIMENSION => {
                words[0] = u64::from(shape.cluster[0]) | u64::from(shape.cluster[1]) << 32;
                words[1] = shape.cluster[2].into();
            }
            0..ATTRIBUTES => {}
            _ => return Err(CUDA_ERROR_INVALID_VALUE),
        }
        value.put(words)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphNodeGetType(node: Handle, kind: Out<c_int>) -> CUresult {
    call!(cuGraphNodeGetType, { kind.put(graph_of(node)?.work(node)?.kind()) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphDestroyNode(node: Handle) -> CUresult {
    call!(cuGraphDestroyNode, { graph_of(node)?.remove(node) })
}
