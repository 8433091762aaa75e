//! Executable graphs: making, launching and changing them, and the memory of graphs.

use super::args::{Buffer, In, InOut, Out, Raw};
use super::graph::{copy_work, fill_work, host_work, kernel_like, record_work, wait_work};
use super::guard::call;
use crate::command::Command;
use crate::device;
use crate::graph::exec::{Exec, UPLOAD};
use crate::graph::node::Work;
use crate::graph::update::Misfit;
use crate::graph::{Graph, alloc, capture};
use crate::stream;
use crate::sys::*;
use core::ffi::{c_char, c_int, c_uint};
use std::sync::Arc;

fn instantiate(out: &Out<Handle>, graph: Handle, flags: u64) -> Result<Arc<Exec>> {
    out.required()?;
    let exec = Exec::create(&*Graph::lookup(graph)?, flags)?;
    out.put(exec.handle)?;
    Ok(exec)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphInstantiateWithFlags(out: Out<Handle>, graph: Handle, flags: u64) -> CUresult {
    call!(cuGraphInstantiateWithFlags, {
        if flags & UPLOAD != 0 {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        instantiate(&out, graph, flags).map(drop)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphInstantiateWithParams(
    out: Out<Handle>,
    graph: Handle,
    params: InOut<CUDA_GRAPH_INSTANTIATE_PARAMS>,
) -> CUresult {
    call!(cuGraphInstantiateWithParams, {
        const DONE: c_int = 0;
        const FAILED: c_int = 1;
        const INVALID_STRUCTURE: c_int = 2;
        let wanted = params.get()?;
        let result = instantiate(&out, graph, wanted.flags);
        let told = match &result {
            Ok(_) => DONE,
            Err(CUDA_ERROR_INVALID_VALUE) => INVALID_STRUCTURE,
            Err(_) => FAILED,
        };
        params.put(CUDA_GRAPH_INSTANTIATE_PARAMS { error_node: 0, result: told, ..wanted })?;
        let exec = result?;
        if wanted.flags & UPLOAD != 0 { upload(&exec, wanted.upload_stream) } else { Ok(()) }
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
    call!(cuGraphInstantiate_v2, { instantiate(&out, graph, 0).map(drop) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphLaunch(exec: Handle, stream: Handle) -> CUresult {
    call!(cuGraphLaunch, {
        let exec = Exec::lookup(exec)?;
        let stream = stream::resolve(stream)?;
        capture::refuse_on(&stream)?;
        exec.launch(&stream)
    })
}

fn upload(exec: &Exec, stream: Handle) -> Result {
    let stream = stream::resolve(stream)?;
    capture::refuse_on(&stream)?;
    exec.reserve()?;
    stream.submit(|_| Command::Nothing);
    Ok(())
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphUpload(exec: Handle, stream: Handle) -> CUresult {
    call!(cuGraphUpload, { upload(&*Exec::lookup(exec)?, stream) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphExecDestroy(exec: Handle) -> CUresult {
    call!(cuGraphExecDestroy, {
        Exec::lookup(exec)?.destroy();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphExecGetFlags(exec: Handle, flags: Out<u64>) -> CUresult {
    call!(cuGraphExecGetFlags, { flags.put(Exec::lookup(exec)?.flags & !UPLOAD) })
}

/// Changes one node of a live graph, of which the executable graph has a step.
fn set(exec: Handle, node: Handle, work: impl FnOnce(&Work) -> Result<Work>) -> Result {
    let exec = Exec::lookup(exec)?;
    crate::graph::graph_of(node)?;
    let old = exec.step(exec.step_of(node)?).work;
    exec.set_work(node, work(&old)?)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphExecKernelNodeSetParams_v2(
    exec: Handle,
    node: Handle,
    params: In<CUDA_KERNEL_NODE_PARAMS>,
) -> CUresult {
    call!(cuGraphExecKernelNodeSetParams_v2, { set(exec, node, |old| kernel_like(&params.get()?, old)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphExecMemcpyNodeSetParams(
    exec: Handle,
    node: Handle,
    params: In<CUDA_MEMCPY3D>,
    ctx: Handle,
) -> CUresult {
    call!(cuGraphExecMemcpyNodeSetParams, { set(exec, node, |_| copy_work(&params.get()?, ctx)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphExecMemsetNodeSetParams(
    exec: Handle,
    node: Handle,
    params: In<CUDA_MEMSET_NODE_PARAMS>,
    ctx: Handle,
) -> CUresult {
    call!(cuGraphExecMemsetNodeSetParams, { set(exec, node, |_| fill_work(&params.get()?, ctx)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphExecHostNodeSetParams(
    exec: Handle,
    node: Handle,
    params: In<CUDA_HOST_NODE_PARAMS>,
) -> CUresult {
    call!(cuGraphExecHostNodeSetParams, { set(exec, node, |_| host_work(&params.get()?)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphExecChildGraphNodeSetParams(exec: Handle, node: Handle, child: Handle) -> CUresult {
    call!(cuGraphExecChildGraphNodeSetParams, { Exec::lookup(exec)?.set_child(node, &*Graph::lookup(child)?) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphExecEventRecordNodeSetEvent(exec: Handle, node: Handle, event: Handle) -> CUresult {
    call!(cuGraphExecEventRecordNodeSetEvent, { set(exec, node, |_| record_work(event)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphExecEventWaitNodeSetEvent(exec: Handle, node: Handle, event: Handle) -> CUresult {
    call!(cuGraphExecEventWaitNodeSetEvent, { set(exec, node, |_| wait_work(event)) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphExecNodeSetParams(exec: Handle, node: Handle, params: In<CUgraphNodeParams>) -> CUresult {
    call!(cuGraphExecNodeSetParams, {
        let params = params.get()?;
        let words = &params.of_kind;
        match params.kind {
            4 => Exec::lookup(exec)?.set_child(node, &*Graph::lookup(words[0])?),
            _ => set(exec, node, |old| match params.kind {
                0 => kernel_like(&params.read(), old),
                1 => copy_work(&params.read_behind::<CUDA_MEMCPY3D, 2>(), words[1]),
                2 => fill_work(&params.read(), words[5]),
                3 => host_work(&params.read()),
                6 => wait_work(words[0]),
                7 => record_work(words[0]),
                _ => Err(CUDA_ERROR_INVALID_VALUE),
            }),
        }
    })
}

/// The step of a node that can be switched off: kernels, copies and fills.
fn switchable(exec: &Exec, node: Handle) -> Result<usize> {
    crate::graph::graph_of(node)?;
    let step = exec.step_of(node)?;
    match exec.step(step).work {
        Work::Kernel(_) | Work::Copy(_) | Work::Fill(_) => Ok(step),
        _ => Err(CUDA_ERROR_INVALID_VALUE),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphNodeSetEnabled(exec: Handle, node: Handle, enabled: c_uint) -> CUresult {
    call!(cuGraphNodeSetEnabled, {
        let exec = Exec::lookup(exec)?;
        let step = switchable(&exec, node)?;
        exec.change(|plan| plan.steps[step].enabled = enabled != 0);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphNodeGetEnabled(exec: Handle, node: Handle, enabled: Out<c_uint>) -> CUresult {
    call!(cuGraphNodeGetEnabled, {
        let exec = Exec::lookup(exec)?;
        enabled.put(exec.step(switchable(&exec, node)?).enabled.into())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphExecUpdate_v2(
    exec: Handle,
    graph: Handle,
    info: Out<CUgraphExecUpdateResultInfo>,
) -> CUresult {
    call!(cuGraphExecUpdate_v2, {
        info.required()?;
        let (result, error_node, answer) = match Exec::lookup(exec)?.update(&*Graph::lookup(graph)?) {
            Ok(()) => (0, 0, Ok(())),
            Err(Misfit { refusal, node }) => (refusal as c_int, node, Err(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)),
        };
        info.put(CUgraphExecUpdateResultInfo { result, error_node, error_from_node: 0 })?;
        answer
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGraphMemTrim(ordinal: CUdevice) -> CUresult {
    call!(cuDeviceGraphMemTrim, {
        alloc::trim(device::get(ordinal)?.ordinal);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGetGraphMemAttribute(ordinal: CUdevice, attribute: c_int, value: Raw) -> CUresult {
    call!(cuDeviceGetGraphMemAttribute, { value.put(alloc::attribute(device::get(ordinal)?.ordinal, attribute)?) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceSetGraphMemAttribute(ordinal: CUdevice, attribute: c_int, value: Raw) -> CUresult {
    call!(cuDeviceSetGraphMemAttribute, {
        if value.get::<u64>()? != 0 {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        alloc::reset(device::get(ordinal)?.ordinal, attribute)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphMemAllocNodeGetParams(node: Handle, out: Out<CUDA_MEM_ALLOC_NODE_PARAMS>) -> CUresult {
    call!(cuGraphMemAllocNodeGetParams, {
        let Work::Alloc(block) = crate::graph::graph_of(node)?.work(node)? else {
            return Err(CUDA_ERROR_INVALID_VALUE);
        };
        out.put(block.params())
    })
}
