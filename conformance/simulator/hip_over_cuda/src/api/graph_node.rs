//! Nodes of a graph: how each kind is added, and what is known of a node.

use core::ffi::{c_int, c_uint};

use crate::args::{In, Out, Raw};
use crate::graph::{self, Place};
use crate::guard::call;
use crate::sys::graph::*;
use crate::sys::layout::HIP_MEMCPY3D;
use crate::sys::status::*;
use crate::sys::value::enumerator::{
    hipKernelNodeAttributeAccessPolicyWindow, hipKernelNodeAttributeCooperative, hipMemAllocationTypePinned,
    hipMemLocationTypeDevice,
};
use crate::sys::value::enumerator7::hipLaunchAttributePriority;
use crate::{copy, device, event};

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphAddKernelNode(
    out: Out<usize>,
    graph: usize,
    after: In<usize>,
    count: usize,
    parameters: In<hipKernelNodeParams>,
) -> hipError_t {
    call!(hipGraphAddKernelNode, {
        let place = Place::of_new(&out, graph, &after, count)?;
        let (after, count) = place.list();
        let kernel = graph::Kernel::read(&parameters)?;
        cu!(graph_add_kernel(out.raw(), graph, after, count, &kernel.node(&place)))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphAddMemcpyNode(
    out: Out<usize>,
    graph: usize,
    after: In<usize>,
    count: usize,
    parameters: In<hipMemcpy3DParms>,
) -> hipError_t {
    call!(hipGraphAddMemcpyNode, {
        let place = Place::of_new(&out, graph, &after, count)?;
        let (after, count) = place.list();
        let copy = graph::rows(&parameters)?;
        cu!(graph_add_copy(out.raw(), graph, after, count, &raw const copy, place.context))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphAddMemcpyNode1D(
    out: Out<usize>,
    graph: usize,
    after: In<usize>,
    count: usize,
    to: Raw,
    from: Raw,
    size: usize,
    kind: c_int,
) -> hipError_t {
    call!(hipGraphAddMemcpyNode1D, {
        let place = Place::of_new(&out, graph, &after, count)?;
        let (after, count) = place.list();
        let copy = graph::range(to.address(), from.address(), size, kind)?;
        cu!(graph_add_copy(out.raw(), graph, after, count, &raw const copy, place.context))
    })
}

/// The context of a node that names one: HIP's contexts are its devices.
pub(super) fn context_of(handle: usize) -> Result<usize> {
    if handle == 0 { Err(hipErrorInvalidValue) } else { device::of_handle(handle)?.context() }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDrvGraphAddMemcpyNode(
    out: Out<usize>,
    graph: usize,
    after: In<usize>,
    count: usize,
    parameters: In<HIP_MEMCPY3D>,
    context: usize,
) -> hipError_t {
    call!(hipDrvGraphAddMemcpyNode, {
        let place = Place::of_new(&out, graph, &after, count)?;
        let (after, count) = place.list();
        let copy = copy::described_box(&parameters.get()?)?;
        cu!(graph_add_copy(out.raw(), graph, after, count, &raw const copy, context_of(context)?))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphAddMemsetNode(
    out: Out<usize>,
    graph: usize,
    after: In<usize>,
    count: usize,
    parameters: In<hipMemsetParams>,
) -> hipError_t {
    call!(hipGraphAddMemsetNode, {
        let place = Place::of_new(&out, graph, &after, count)?;
        let (after, count) = place.list();
        let fill = graph::fill(&parameters)?;
        cu!(graph_add_fill(out.raw(), graph, after, count, &raw const fill, place.context))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDrvGraphAddMemsetNode(
    out: Out<usize>,
    graph: usize,
    after: In<usize>,
    count: usize,
    parameters: In<hipMemsetParams>,
    context: usize,
) -> hipError_t {
    call!(hipDrvGraphAddMemsetNode, {
        let place = Place::of_new(&out, graph, &after, count)?;
        let (after, count) = place.list();
        let fill = graph::fill(&parameters)?;
        cu!(graph_add_fill(out.raw(), graph, after, count, &raw const fill, context_of(context)?))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphAddHostNode(
    out: Out<usize>,
    graph: usize,
    after: In<usize>,
    count: usize,
    parameters: In<hipHostNodeParams>,
) -> hipError_t {
    call!(hipGraphAddHostNode, {
        let place = Place::of_new(&out, graph, &after, count)?;
        let (after, count) = place.list();
        let host = graph::host(&parameters)?;
        cu!(graph_add_host(out.raw(), graph, after, count, &raw const host))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphAddEmptyNode(out: Out<usize>, graph: usize, after: In<usize>, count: usize) -> hipError_t {
    call!(hipGraphAddEmptyNode, {
        let place = Place::of_new(&out, graph, &after, count)?;
        let (after, count) = place.list();
        cu!(graph_add_empty(out.raw(), graph, after, count))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphAddChildGraphNode(
    out: Out<usize>,
    graph: usize,
    after: In<usize>,
    count: usize,
    child: usize,
) -> hipError_t {
    call!(hipGraphAddChildGraphNode, {
        let place = Place::of_new(&out, graph, &after, count)?;
        let (after, count) = place.list();
        graph::required(child)?;
        cu!(graph_add_child(out.raw(), graph, after, count, child))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphChildGraphNodeGetGraph(node: usize, child: Out<usize>) -> hipError_t {
    call!(hipGraphChildGraphNodeGetGraph, {
        graph::required(node).and(child.required())?;
        cu!(node_child(node, child.raw()))
    })
}

/// An event of a node; null is another error here than in the calls of events.
pub(super) fn check_event(event: usize) -> Result {
    event::required(event).map_err(|_| hipErrorInvalidValue)
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphAddEventRecordNode(
    out: Out<usize>,
    graph: usize,
    after: In<usize>,
    count: usize,
    event: usize,
) -> hipError_t {
    call!(hipGraphAddEventRecordNode, {
        let place = Place::of_new(&out, graph, &after, count)?;
        let (after, count) = place.list();
        check_event(event)?;
        cu!(graph_add_record(out.raw(), graph, after, count, event))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphAddEventWaitNode(
    out: Out<usize>,
    graph: usize,
    after: In<usize>,
    count: usize,
    event: usize,
) -> hipError_t {
    call!(hipGraphAddEventWaitNode, {
        let place = Place::of_new(&out, graph, &after, count)?;
        let (after, count) = place.list();
        check_event(event)?;
        cu!(graph_add_wait(out.raw(), graph, after, count, event))
    })
}

/// The structure is CUDA's; the address comes back in it.
#[unsafe(no_mangle)]
pub extern "C" fn hipGraphAddMemAllocNode(
    out: Out<usize>,
    graph: usize,
    after: In<usize>,
    count: usize,
    parameters: Out<hipMemAllocNodeParams>,
) -> hipError_t {
    call!(hipGraphAddMemAllocNode, {
        let place = Place::of_new(&out, graph, &after, count)?;
        let (after, count) = place.list();
        parameters.required()?;
        // SAFETY: not null, and the caller gives a structure to be read and written.
        let mut asked = unsafe { In::of(parameters.raw().cast_const()) }.get()?;
        let pool = &asked.poolProps;
        let pinned = pool.allocType == hipMemAllocationTypePinned;
        if asked.bytesize == 0 || !pinned || pool.location.r#type != hipMemLocationTypeDevice {
            asked.dptr = 0;
            parameters.put(asked)?;
            return Err(hipErrorInvalidValue);
        }
        device::get(pool.location.id).map_err(|_| hipErrorInvalidValue)?;
        cu!(graph_add_allocation(out.raw(), graph, after, count, &raw mut asked))?;
        parameters.put(asked)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphAddMemFreeNode(
    out: Out<usize>,
    graph: usize,
    after: In<usize>,
    count: usize,
    pointer: Raw,
) -> hipError_t {
    call!(hipGraphAddMemFreeNode, {
        // AMD's runtime takes no list of nothing here.
        if count == 0 && !after.raw().is_null() {
            return Err(hipErrorInvalidValue);
        }
        let place = Place::of_new(&out, graph, &after, count)?;
        let (after, count) = place.list();
        pointer.required()?;
        cu!(graph_add_free(out.raw(), graph, after, count, pointer.address()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphNodeGetDependencies(node: usize, nodes: Out<usize>, count: Out<usize>) -> hipError_t {
    call!(hipGraphNodeGetDependencies, {
        graph::required(node).and(count.required())?;
        cu!(node_dependencies(node, nodes.raw(), count.raw()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphNodeGetDependentNodes(node: usize, nodes: Out<usize>, count: Out<usize>) -> hipError_t {
    call!(hipGraphNodeGetDependentNodes, {
        graph::required(node).and(count.required())?;
        cu!(node_dependents(node, nodes.raw(), count.raw()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphNodeGetType(node: usize, out: Out<c_int>) -> hipError_t {
    call!(hipGraphNodeGetType, {
        graph::required(node).and(out.required())?;
        let mut kind = 0;
        cu!(node_type(node, &raw mut kind))?;
        out.put(graph::node_type(kind))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphDestroyNode(node: usize) -> hipError_t {
    call!(hipGraphDestroyNode, {
        graph::required(node)?;
        cu!(node_destroy(node))
    })
}

/// `CUlaunchAttributeValue`, of which the attributes here use the first four bytes.
#[repr(C, align(8))]
struct AttributeValue([c_uint; 16]);

/// Fails on an attribute that HIP's kernel nodes do not have; the caches of the third one are AMD's.
fn check_attribute(attribute: c_int) -> Result {
    match attribute {
        hipKernelNodeAttributeCooperative | hipLaunchAttributePriority => Ok(()),
        hipKernelNodeAttributeAccessPolicyWindow => Err(hipErrorNotSupported),
        _ => Err(hipErrorInvalidValue),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphKernelNodeSetAttribute(node: usize, attribute: c_int, value: In<c_uint>) -> hipError_t {
    call!(hipGraphKernelNodeSetAttribute, {
        graph::required(node)?;
        let first = value.get()?;
        check_attribute(attribute)?;
        let mut value = AttributeValue([0; 16]);
        value.0[0] = first;
        cu!(node_set_attribute(node, attribute, (&raw const value).cast()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphKernelNodeGetAttribute(node: usize, attribute: c_int, out: Out<c_uint>) -> hipError_t {
    call!(hipGraphKernelNodeGetAttribute, {
        graph::required(node).and(out.required())?;
        check_attribute(attribute)?;
        let mut value = AttributeValue([0; 16]);
        cu!(node_attribute(node, attribute, (&raw mut value).cast()))?;
        out.put(value.0[0])
    })
}
