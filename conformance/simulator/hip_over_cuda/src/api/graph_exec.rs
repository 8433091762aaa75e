//! Executable graphs: instantiation, launches, and changes in place.

use core::ffi::{c_char, c_int, c_uint, c_ulonglong};

use super::graph_node::{check_event, context_of};
use crate::args::{In, Out, Raw};
use crate::copy;
use crate::cuda::{Instantiation, Update};
use crate::current::Scope;
use crate::graph::{self, Place};
use crate::guard::call;
use crate::sys::graph::*;
use crate::sys::layout::HIP_MEMCPY3D;
use crate::sys::status::*;
use crate::sys::value::enumerator::hipGraphInstantiateFlagAutoFreeOnLaunch;
use crate::sys::value::enumerator7::{
    hipGraphInstantiateFlagDeviceLaunch, hipGraphInstantiateFlagUpload, hipGraphInstantiateFlagUseNodePriority,
};

/// AMD's runtime leaves node and log as they are.
#[unsafe(no_mangle)]
pub extern "C" fn hipGraphInstantiate(
    out: Out<usize>,
    graph: usize,
    _error_node: Out<usize>,
    _log: Out<c_char>,
    _length: usize,
) -> hipError_t {
    call!(hipGraphInstantiate, {
        out.required().and(graph::required(graph))?;
        let _scope = Scope::here()?;
        cu!(exec_instantiate(out.raw(), graph, 0))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphInstantiateWithFlags(out: Out<usize>, graph: usize, flags: c_ulonglong) -> hipError_t {
    const KNOWN: &[c_int] = &[hipGraphInstantiateFlagAutoFreeOnLaunch, hipGraphInstantiateFlagUseNodePriority];
    call!(hipGraphInstantiateWithFlags, {
        out.required().and(graph::required(graph))?;
        graph::check_flags(flags, KNOWN)?;
        let _scope = Scope::here()?;
        cu!(exec_instantiate(out.raw(), graph, flags))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphInstantiateWithParams(
    out: Out<usize>,
    graph: usize,
    parameters: Out<hipGraphInstantiateParams>,
) -> hipError_t {
    const KNOWN: &[c_int] = &[
        hipGraphInstantiateFlagAutoFreeOnLaunch,
        hipGraphInstantiateFlagUpload,
        hipGraphInstantiateFlagDeviceLaunch,
        hipGraphInstantiateFlagUseNodePriority,
    ];
    const ERROR: c_int = 1;
    call!(hipGraphInstantiateWithParams, {
        out.required().and(graph::required(graph)).and(parameters.required())?;
        // SAFETY: not null, and the caller gives a structure to be read and written.
        let asked = unsafe { In::of(parameters.raw().cast_const()) }.get()?;
        let hipGraphInstantiateParams { flags, uploadStream: upload_stream, .. } = asked;
        if let Err(error) = graph::check_flags(flags, KNOWN) {
            parameters.put(hipGraphInstantiateParams { result_out: ERROR, ..asked })?;
            return Err(error);
        }
        let mut answer = Instantiation { flags, upload_stream, error_node: 0, result: 0 };
        let _scope = Scope::here()?;
        let made = cu!(exec_instantiate_with(out.raw(), graph, &raw mut answer));
        let Instantiation { error_node, result, .. } = answer;
        parameters.put(hipGraphInstantiateParams { errNode_out: error_node, result_out: result, ..asked })?;
        made
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphExecDestroy(exec: usize) -> hipError_t {
    call!(hipGraphExecDestroy, {
        graph::required(exec)?;
        cu!(exec_destroy(exec))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphExecGetFlags(exec: usize, flags: Out<c_ulonglong>) -> hipError_t {
    call!(hipGraphExecGetFlags, {
        graph::required(exec).and(flags.required())?;
        cu!(exec_flags(exec, flags.raw()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphUpload(exec: usize, stream: usize) -> hipError_t {
    call!(hipGraphUpload, {
        graph::required(exec)?;
        let _scope = Scope::for_stream(stream)?;
        cu!(exec_upload(exec, stream))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphLaunch(exec: usize, stream: usize) -> hipError_t {
    call!(hipGraphLaunch, {
        graph::required(exec)?;
        let _scope = Scope::for_stream(stream)?;
        cu!(exec_launch(exec, stream))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphExecUpdate(
    exec: usize,
    graph: usize,
    error_node: Out<usize>,
    result: Out<c_int>,
) -> hipError_t {
    call!(hipGraphExecUpdate, {
        graph::required(exec).and(graph::required(graph))?;
        error_node.required().and(result.required())?;
        let mut answer = Update::default();
        let _scope = Scope::here()?;
        let updated = cu!(exec_update(exec, graph, &raw mut answer));
        error_node.put(answer.error_node)?;
        result.put(graph::update_result(answer.result))?;
        updated
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphExecKernelNodeSetParams(
    exec: usize,
    node: usize,
    parameters: In<hipKernelNodeParams>,
) -> hipError_t {
    call!(hipGraphExecKernelNodeSetParams, {
        let place = Place::of_change(exec, node)?;
        let kernel = graph::Kernel::read(&parameters)?;
        cu!(exec_set_kernel(exec, node, &kernel.node(&place)))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphExecMemcpyNodeSetParams(
    exec: usize,
    node: usize,
    parameters: In<hipMemcpy3DParms>,
) -> hipError_t {
    call!(hipGraphExecMemcpyNodeSetParams, {
        let place = Place::of_change(exec, node)?;
        let copy = graph::rows(&parameters)?;
        cu!(exec_set_copy(exec, node, &raw const copy, place.context))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphExecMemcpyNodeSetParams1D(
    exec: usize,
    node: usize,
    to: Raw,
    from: Raw,
    size: usize,
    kind: c_int,
) -> hipError_t {
    call!(hipGraphExecMemcpyNodeSetParams1D, {
        let place = Place::of_change(exec, node)?;
        if to.address() == from.address() {
            return Err(hipErrorInvalidValue);
        }
        let copy = graph::range(to.address(), from.address(), size, kind)?;
        cu!(exec_set_copy(exec, node, &raw const copy, place.context))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDrvGraphExecMemcpyNodeSetParams(
    exec: usize,
    node: usize,
    parameters: In<HIP_MEMCPY3D>,
    context: usize,
) -> hipError_t {
    call!(hipDrvGraphExecMemcpyNodeSetParams, {
        let _place = Place::of_change(exec, node)?;
        let copy = copy::described_box(&parameters.get()?)?;
        cu!(exec_set_copy(exec, node, &raw const copy, context_of(context)?))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphExecMemsetNodeSetParams(
    exec: usize,
    node: usize,
    parameters: In<hipMemsetParams>,
) -> hipError_t {
    call!(hipGraphExecMemsetNodeSetParams, {
        let place = Place::of_change(exec, node)?;
        let fill = graph::fill(&parameters)?;
        cu!(exec_set_fill(exec, node, &raw const fill, place.context))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDrvGraphExecMemsetNodeSetParams(
    exec: usize,
    node: usize,
    parameters: In<hipMemsetParams>,
    context: usize,
) -> hipError_t {
    call!(hipDrvGraphExecMemsetNodeSetParams, {
        let _place = Place::of_change(exec, node)?;
        let fill = graph::fill(&parameters)?;
        cu!(exec_set_fill(exec, node, &raw const fill, context_of(context)?))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphExecHostNodeSetParams(
    exec: usize,
    node: usize,
    parameters: In<hipHostNodeParams>,
) -> hipError_t {
    call!(hipGraphExecHostNodeSetParams, {
        let _place = Place::of_change(exec, node)?;
        let host = graph::host(&parameters)?;
        cu!(exec_set_host(exec, node, &raw const host))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphExecChildGraphNodeSetParams(exec: usize, node: usize, child: usize) -> hipError_t {
    call!(hipGraphExecChildGraphNodeSetParams, {
        graph::required(child)?;
        let _place = Place::of_change(exec, node)?;
        cu!(exec_set_child(exec, node, child))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphExecEventRecordNodeSetEvent(exec: usize, node: usize, event: usize) -> hipError_t {
    call!(hipGraphExecEventRecordNodeSetEvent, {
        check_event(event)?;
        let _place = Place::of_change(exec, node)?;
        cu!(exec_set_record(exec, node, event))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphExecEventWaitNodeSetEvent(exec: usize, node: usize, event: usize) -> hipError_t {
    call!(hipGraphExecEventWaitNodeSetEvent, {
        check_event(event)?;
        let _place = Place::of_change(exec, node)?;
        cu!(exec_set_wait(exec, node, event))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphNodeSetEnabled(exec: usize, node: usize, enabled: c_uint) -> hipError_t {
    call!(hipGraphNodeSetEnabled, {
        let _place = Place::of_change(exec, node)?;
        cu!(exec_set_enabled(exec, node, enabled))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphNodeGetEnabled(exec: usize, node: usize, enabled: Out<c_uint>) -> hipError_t {
    call!(hipGraphNodeGetEnabled, {
        graph::required(exec).and(graph::required(node)).and(enabled.required())?;
        cu!(exec_enabled(exec, node, enabled.raw()))
    })
}
