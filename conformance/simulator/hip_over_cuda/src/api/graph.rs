//! Graphs as such: their making and end, their nodes and edges, their text.

use core::ffi::{c_int, c_uint};

use crate::args::{In, Out, Raw, Text};
use crate::device;
use crate::graph;
use crate::guard::call;
use crate::sys::status::*;
use crate::sys::value::enumerator7::{hipGraphMemAttrReservedMemHigh, hipGraphMemAttrUsedMemCurrent};

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphCreate(out: Out<usize>, flags: c_uint) -> hipError_t {
    call!(hipGraphCreate, {
        out.required()?;
        if flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        device::all()?;
        cu!(graph_create(out.raw(), flags))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphDestroy(graph: usize) -> hipError_t {
    call!(hipGraphDestroy, {
        graph::required(graph)?;
        cu!(graph_destroy(graph))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphClone(out: Out<usize>, original: usize) -> hipError_t {
    call!(hipGraphClone, {
        out.required()?;
        graph::required(original)?;
        cu!(graph_clone(out.raw(), original))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphNodeFindInClone(out: Out<usize>, original: usize, clone: usize) -> hipError_t {
    call!(hipGraphNodeFindInClone, {
        out.required()?;
        graph::required(original).and(graph::required(clone))?;
        cu!(graph_find_in_clone(out.raw(), original, clone))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphAddDependencies(graph: usize, from: In<usize>, to: In<usize>, count: usize) -> hipError_t {
    call!(hipGraphAddDependencies, {
        graph::required(graph)?;
        let (from, to) = (from.list(count)?, to.list(count)?);
        cu!(graph_add_dependencies(graph, from.as_ptr(), to.as_ptr(), count))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphRemoveDependencies(graph: usize, from: In<usize>, to: In<usize>, count: usize) -> hipError_t {
    call!(hipGraphRemoveDependencies, {
        graph::required(graph)?;
        let (from, to) = (from.list(count)?, to.list(count)?);
        cu!(graph_remove_dependencies(graph, from.as_ptr(), to.as_ptr(), count))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphGetNodes(graph: usize, nodes: Out<usize>, count: Out<usize>) -> hipError_t {
    call!(hipGraphGetNodes, {
        graph::required(graph).and(count.required())?;
        cu!(graph_nodes(graph, nodes.raw(), count.raw()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphGetRootNodes(graph: usize, nodes: Out<usize>, count: Out<usize>) -> hipError_t {
    call!(hipGraphGetRootNodes, {
        graph::required(graph).and(count.required())?;
        cu!(graph_roots(graph, nodes.raw(), count.raw()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGraphGetEdges(graph: usize, from: Out<usize>, to: Out<usize>, count: Out<usize>) -> hipError_t {
    call!(hipGraphGetEdges, {
        graph::required(graph).and(count.required())?;
        if from.raw().is_null() != to.raw().is_null() {
            return Err(hipErrorInvalidValue);
        }
        cu!(graph_edges(graph, from.raw(), to.raw(), count.raw()))
    })
}

/// The flags have CUDA's numbers.
#[unsafe(no_mangle)]
pub extern "C" fn hipGraphDebugDotPrint(graph: usize, path: Text, flags: c_uint) -> hipError_t {
    call!(hipGraphDebugDotPrint, {
        graph::required(graph)?;
        path.get()?;
        cu!(graph_print(graph, path.raw(), flags))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceGraphMemTrim(device: c_int) -> hipError_t {
    call!(hipDeviceGraphMemTrim, { cu!(graph_memory_trim(device::get(device)?.cuda)) })
}

fn check_attribute(attribute: c_int) -> Result {
    let known = hipGraphMemAttrUsedMemCurrent..=hipGraphMemAttrReservedMemHigh;
    if known.contains(&attribute) { Ok(()) } else { Err(hipErrorInvalidValue) }
}

/// The numbers are CUDA's.
#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceGetGraphMemAttribute(device: c_int, attribute: c_int, value: Raw) -> hipError_t {
    call!(hipDeviceGetGraphMemAttribute, {
        let device = device::get(device)?.cuda;
        value.required()?;
        check_attribute(attribute)?;
        cu!(graph_memory_attribute(device, attribute, value.raw()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceSetGraphMemAttribute(device: c_int, attribute: c_int, value: Raw) -> hipError_t {
    call!(hipDeviceSetGraphMemAttribute, {
        let device = device::get(device)?.cuda;
        value.required()?;
        check_attribute(attribute)?;
        cu!(graph_memory_set_attribute(device, attribute, value.raw()))
    })
}
