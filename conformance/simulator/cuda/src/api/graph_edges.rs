//! What graphs consist of: nodes, edges, and the text of them.

use super::args::{Buffer, InOut, Out, Raw, Slice, Text};
use super::graph_node::check_edges;
use super::guard::call;
use crate::graph::{Graph, dot, graph_of};
use crate::sys::*;
use core::ffi::c_uint;

/// Answers how many there are, or writes as many as there is room for, nulls the rest, and answers how many it wrote.
fn list(found: &[Handle], out: &Buffer<Handle>, count: &InOut<usize>) -> Result {
    let room = count.get()?;
    if !out.is_given() {
        return count.put(found.len());
    }
    let mut all = found.to_vec();
    all.resize(room.max(found.len()), 0);
    out.write(&all, room)?;
    count.put(found.len().min(room))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphGetNodes(graph: Handle, nodes: Buffer<Handle>, count: InOut<usize>) -> CUresult {
    call!(cuGraphGetNodes, { list(&Graph::lookup(graph)?.nodes(), &nodes, &count) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphGetRootNodes(graph: Handle, nodes: Buffer<Handle>, count: InOut<usize>) -> CUresult {
    call!(cuGraphGetRootNodes, { list(&Graph::lookup(graph)?.roots(), &nodes, &count) })
}

fn edges(
    graph: Handle,
    from: &Buffer<Handle>,
    to: &Buffer<Handle>,
    data: Option<&Buffer<CUgraphEdgeData>>,
    count: &InOut<usize>,
) -> Result {
    let (before, after): (Vec<_>, Vec<_>) = Graph::lookup(graph)?.edges().into_iter().unzip();
    let room = count.get()?;
    if from.is_given() != to.is_given() {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    list(&before, from, count)?;
    if to.is_given() {
        count.put(room)?;
        list(&after, to, count)?;
    }
    match data {
        Some(data) if data.is_given() => data.write(&vec![CUgraphEdgeData::default(); before.len()], room),
        _ => Ok(()),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphGetEdges(
    graph: Handle,
    from: Buffer<Handle>,
    to: Buffer<Handle>,
    count: InOut<usize>,
) -> CUresult {
    call!(cuGraphGetEdges, { edges(graph, &from, &to, None, &count) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphGetEdges_v2(
    graph: Handle,
    from: Buffer<Handle>,
    to: Buffer<Handle>,
    data: Buffer<CUgraphEdgeData>,
    count: InOut<usize>,
) -> CUresult {
    call!(cuGraphGetEdges_v2, { edges(graph, &from, &to, Some(&data), &count) })
}

fn neighbours(
    node: Handle,
    waiting: bool,
    out: &Buffer<Handle>,
    data: Option<&Buffer<CUgraphEdgeData>>,
    count: &InOut<usize>,
) -> Result {
    let found = graph_of(node)?.neighbours(node, waiting)?;
    let room = count.get()?;
    list(&found, out, count)?;
    match data {
        Some(data) if data.is_given() => data.write(&vec![CUgraphEdgeData::default(); found.len()], room),
        _ => Ok(()),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphNodeGetDependencies(node: Handle, out: Buffer<Handle>, count: InOut<usize>) -> CUresult {
    call!(cuGraphNodeGetDependencies, { neighbours(node, false, &out, None, &count) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphNodeGetDependencies_v2(
    node: Handle,
    out: Buffer<Handle>,
    data: Buffer<CUgraphEdgeData>,
    count: InOut<usize>,
) -> CUresult {
    call!(cuGraphNodeGetDependencies_v2, { neighbours(node, false, &out, Some(&data), &count) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphNodeGetDependentNodes(node: Handle, out: Buffer<Handle>, count: InOut<usize>) -> CUresult {
    call!(cuGraphNodeGetDependentNodes, { neighbours(node, true, &out, None, &count) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphNodeGetDependentNodes_v2(
    node: Handle,
    out: Buffer<Handle>,
    data: Buffer<CUgraphEdgeData>,
    count: InOut<usize>,
) -> CUresult {
    call!(cuGraphNodeGetDependentNodes_v2, { neighbours(node, true, &out, Some(&data), &count) })
}

/// The node of a clone that stands where a node of the original does.
#[unsafe(no_mangle)]
pub extern "C" fn cuGraphNodeFindInClone(out: Out<Handle>, original: Handle, clone: Handle) -> CUresult {
    call!(cuGraphNodeFindInClone, {
        let place = graph_of(original)?.nodes().iter().position(|&node| node == original);
        let nodes = Graph::lookup(clone)?.nodes();
        out.put(place.and_then(|place| nodes.get(place).copied()).ok_or(CUDA_ERROR_INVALID_VALUE)?)
    })
}

fn pairs(from: &Slice<Handle>, to: &Slice<Handle>, count: usize) -> Result<Vec<(Handle, Handle)>> {
    Ok(from.read(count)?.into_iter().zip(to.read(count)?).collect())
}

fn depend(graph: Handle, pairs: Vec<(Handle, Handle)>) -> Result {
    let graph = Graph::lookup(graph)?;
    pairs.into_iter().try_for_each(|(from, to)| graph.depend(from, to))
}

fn undepend(graph: Handle, pairs: Vec<(Handle, Handle)>) -> Result {
    let graph = Graph::lookup(graph)?;
    pairs.into_iter().try_for_each(|(from, to)| graph.undepend(from, to))
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphAddDependencies(
    graph: Handle,
    from: Slice<Handle>,
    to: Slice<Handle>,
    count: usize,
) -> CUresult {
    call!(cuGraphAddDependencies, { depend(graph, pairs(&from, &to, count)?) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphAddDependencies_v2(
    graph: Handle,
    from: Slice<Handle>,
    to: Slice<Handle>,
    data: Slice<CUgraphEdgeData>,
    count: usize,
) -> CUresult {
    call!(cuGraphAddDependencies_v2, {
        check_edges(&data, count)?;
        depend(graph, pairs(&from, &to, count)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphRemoveDependencies(
    graph: Handle,
    from: Slice<Handle>,
    to: Slice<Handle>,
    count: usize,
) -> CUresult {
    call!(cuGraphRemoveDependencies, { undepend(graph, pairs(&from, &to, count)?) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphRemoveDependencies_v2(
    graph: Handle,
    from: Slice<Handle>,
    to: Slice<Handle>,
    _data: Raw,
    count: usize,
) -> CUresult {
    call!(cuGraphRemoveDependencies_v2, { undepend(graph, pairs(&from, &to, count)?) })
}

const VERBOSE: c_uint = 1;

#[unsafe(no_mangle)]
pub extern "C" fn cuGraphDebugDotPrint(graph: Handle, path: Text, flags: c_uint) -> CUresult {
    call!(cuGraphDebugDotPrint, {
        let text = dot::text(&*Graph::lookup(graph)?, flags & VERBOSE != 0);
        std::fs::write(path.get()?, text).map_err(|_| CUDA_ERROR_OPERATING_SYSTEM)
    })
}
