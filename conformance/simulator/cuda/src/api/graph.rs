//! Graphs.

use super::args::{Buffer, In, Out, Slice};
use super::copy;
use super::guard::call;
use super::set;
use crate::command::{Command, UserData};
use crate::context;
use crate::graph::{EXECS, GRAPHS, Graph, NODES, Work};
use crate::kernel::{Kernel, Shape};
use crate::module;
use crate::stream;
use crate::sys::*;
use core::ffi::{c_char, c_int, c_uint};
use std::sync::Arc;

fn lookup(handle: Handle) -> Result<Arc<Graph>> {
    GRAPHS.lookup(handle, CUDA_ERROR_INVALID_VALUE)
}

fn add(
    out: &Out<Handle>,
    graph: Handle,
    after: &Slice<Handle>,
    count: usize,
    work: impl FnOnce() -> Result<Work>,
) -> Result {
    out.required()?;
    let graph = lookup(graph)?;
    let after = after.read(count)?;
    out.put(graph.add(&after, work()?)?)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphCreate(out: Out<Handle>, flags: c_uint) -> CUresult {
    call!(cuGraphCreate, {
        out.required()?;
        if flags != 0 {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        out.put(Graph::create())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphDestroy(graph: Handle) -> CUresult {
    call!(cuGraphDestroy, {
        lookup(graph)?.destroy();
        Ok(())
    })
}

fn kernel_work(params: &CUDA_KERNEL_NODE_PARAMS) -> Result<Work> {
    let context = if params.ctx == 0 { context::current()? } else { context::lookup(params.ctx)? };
    let handle = if params.func == 0 { params.kern } else { params.func };
    let function = module::resolve_function(handle, &context)?;
    let shape = Shape {
        grid: params.grid,
        block: params.block,
        shared: params.shared_mem_bytes,
        cooperative: false,
        cluster: [1; 3],
    };
    // SAFETY: the client gives the arguments that the function takes.
    let kernel = unsafe { Kernel::prepare(function, shape, params.kernel_params, params.extra)? };
    Ok(Work::Kernel(Arc::new(kernel)))
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
    call!(cuGraphAddMemcpyNode, {
        context::lookup(ctx)?;
        add(&out, graph, &after, count, || Ok(Work::Copy(Arc::new(copy::of_3d(&params.get()?)?))))
    })
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
    call!(cuGraphAddMemsetNode, {
        context::lookup(ctx)?;
        add(&out, graph, &after, count, || {
            let params = params.get()?;
            if !matches!(params.element_size, 1 | 2 | 4) {
                return Err(CUDA_ERROR_INVALID_VALUE);
            }
            let extent = [params.width, params.height];
            let fill = set::fill(params.dst, params.pitch, params.value, params.element_size as usize, extent)?;
            Ok(Work::Fill(Arc::new(fill)))
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphAddHostNode(
    out: Out<Handle>,
    graph: Handle,
    after: Slice<Handle>,
    count: usize,
    params: In<CUDA_HOST_NODE_PARAMS>,
) -> CUresult {
    call!(cuGraphAddHostNode, {
        add(&out, graph, &after, count, || {
            let params = params.get()?;
            if params.func.is_none() {
                return Err(CUDA_ERROR_INVALID_VALUE);
            }
            Ok(Work::Host(params.func, UserData(params.user_data)))
        })
    })
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
    call!(cuGraphAddChildGraphNode, {
        if child == graph {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        add(&out, graph, &after, count, || Ok(Work::Child(lookup(child)?.as_child()?)))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphKernelNodeSetParams_v2(node: Handle, params: In<CUDA_KERNEL_NODE_PARAMS>) -> CUresult {
    call!(cuGraphKernelNodeSetParams_v2, {
        let node = NODES.lookup(node, CUDA_ERROR_INVALID_VALUE)?;
        let work = kernel_work(&params.get()?)?;
        let mut present = node.work.lock();
        if !matches!(*present, Work::Kernel(_)) {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        *present = work;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphNodeGetType(node: Handle, kind: Out<c_int>) -> CUresult {
    call!(cuGraphNodeGetType, { kind.put(NODES.lookup(node, CUDA_ERROR_INVALID_VALUE)?.work.lock().kind()) })
}

/// Answers the number of nodes, and the nodes themselves where there is room for them.
#[unsafe(no_mangle)]
pub extern "C" fn cuGraphGetNodes(graph: Handle, nodes: Buffer<Handle>, count: *mut usize) -> CUresult {
    let count = crate::command::UserData(count.cast());
    call!(cuGraphGetNodes, {
        let found = lookup(graph)?.nodes();
        let count = count.0.cast::<usize>();
        if count.is_null() {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        if nodes.is_given() {
            // SAFETY: the caller gives the length of its array here, and takes the number written from here.
            nodes.write(&found, unsafe { count.read() })?;
        }
        // SAFETY: as above.
        unsafe { count.write(found.len()) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphAddDependencies(
    graph: Handle,
    from: Slice<Handle>,
    to: Slice<Handle>,
    count: usize,
) -> CUresult {
    call!(cuGraphAddDependencies, { add_dependencies(graph, &from, &to, count) })
}

/// The second version adds data to each edge, which nothing here has a use for.
#[unsafe(no_mangle)]
pub extern "C" fn cuGraphAddDependencies_v2(
    graph: Handle,
    from: Slice<Handle>,
    to: Slice<Handle>,
    _data: super::args::Raw,
    count: usize,
) -> CUresult {
    call!(cuGraphAddDependencies_v2, { add_dependencies(graph, &from, &to, count) })
}

fn add_dependencies(graph: Handle, from: &Slice<Handle>, to: &Slice<Handle>, count: usize) -> Result {
    let graph = lookup(graph)?;
    for (from, to) in from.read(count)?.into_iter().zip(to.read(count)?) {
        graph.depend(from, to)?;
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphDestroyNode(node: Handle) -> CUresult {
    call!(cuGraphDestroyNode, {
        let found = NODES.lookup(node, CUDA_ERROR_INVALID_VALUE)?;
        lookup(found.graph)?.remove(node);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphInstantiateWithFlags(out: Out<Handle>, graph: Handle, _flags: u64) -> CUresult {
    call!(cuGraphInstantiateWithFlags, {
        out.required()?;
        out.put(lookup(graph)?.instantiate()?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphInstantiate_v2(
    out: Out<Handle>,
    graph: Handle,
    _error_node: Out<Handle>,
    _log: Buffer<c_char>,
    _len: usize,
) -> CUresult {
    call!(cuGraphInstantiate_v2, {
        out.required()?;
        out.put(lookup(graph)?.instantiate()?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphLaunch(exec: Handle, stream: Handle) -> CUresult {
    call!(cuGraphLaunch, {
        let exec = EXECS.lookup(exec, CUDA_ERROR_INVALID_VALUE)?;
        stream::resolve(stream)?.submit(|_| Command::Graph(exec));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphUpload(exec: Handle, stream: Handle) -> CUresult {
    call!(cuGraphUpload, {
        EXECS.lookup(exec, CUDA_ERROR_INVALID_VALUE)?;
        stream::resolve(stream)?.submit(|_| Command::Nothing);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphExecDestroy(exec: Handle) -> CUresult {
    call!(cuGraphExecDestroy, { EXECS.take(exec, CUDA_ERROR_INVALID_VALUE).map(drop) })
}
