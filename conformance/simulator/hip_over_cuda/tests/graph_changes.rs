//! Executable graphs that are changed in place, and what is told of a graph: edges, clones, its text.

#![allow(missing_docs, reason = "a test")]

#[macro_use]
mod support;

use core::ptr::{null, null_mut};

use hip_on_cuda::sys::graph::*;
use hip_on_cuda::sys::layout::*;
use hip_on_cuda::sys::status::*;
use hip_on_cuda::sys::value::enumerator::*;
use hip_on_cuda::sys::value::enumerator7::*;
use support::graphs::*;
use support::*;

#[test]
fn a_kernel_that_is_changed_runs_with_its_new_arguments_from_the_next_launch_on() {
    let _alone = alone();
    let (function, module) = saxpy();
    let (fixture, x): (_, usize) = (Fixture::new(), get!(hipMalloc(_, COUNT * 4)));
    ok!(hipMemcpyHtoD(x, at(&[1.0_f32; COUNT]), COUNT * 4));
    let mut arguments = Arguments { factor: 2.0, x, y: fixture.memory, count: COUNT as u32 };
    let mut list = arguments.list();
    let params = launch(function, &mut list);
    let node: usize = get!(hipGraphAddKernelNode(_, fixture.graph, null(), 0, &raw const params));
    let exec = fixture.instantiate();
    fixture.run(exec);
    assert_eq!(fixture.contents(), [2.0_f32.to_bits(); COUNT]);
    arguments.factor = 5.0;
    assert_eq!(arguments.list(), list);
    ok!(hipGraphExecKernelNodeSetParams(exec, node, &raw const params));
    fixture.run(exec);
    assert_eq!(fixture.contents(), [7.0_f32.to_bits(); COUNT]);
    let none = hipKernelNodeParams { func: 0, ..params };
    err!(hipErrorInvalidValue, hipGraphExecKernelNodeSetParams(exec, node, &raw const none));
    err!(hipErrorInvalidValue, hipGraphExecKernelNodeSetParams(exec, 0, &raw const params));
    ok!(hipGraphExecDestroy(exec));
    ok!(hipFree(x));
    ok!(hipModuleUnload(module));
}

#[test]
fn fills_and_copies_are_changed_and_switched_off() {
    let _alone = alone();
    let (fixture, other): (_, usize) = (Fixture::new(), get!(hipMalloc(_, COUNT * 4)));
    let bytes = COUNT * 4;
    let fill = fixture.add_fill(&[], 3);
    let copy = get!(hipGraphAddMemcpyNode1D(
        _,
        fixture.graph,
        &raw const fill,
        1,
        other,
        fixture.memory,
        bytes,
        hipMemcpyDefault
    ));
    let exec = fixture.instantiate();
    fixture.run(exec);
    ok!(hipGraphExecMemsetNodeSetParams(exec, fill, &fixture.fill(4)));
    fixture.run(exec);
    let mut back = [0_u32; COUNT];
    ok!(hipMemcpyDtoH(into(&mut back), other, bytes));
    assert_eq!(back, [4; COUNT]);
    // Half as much, to the other half.
    let (half, to) = (bytes / 2, other + bytes / 2);
    ok!(hipGraphExecMemcpyNodeSetParams1D(exec, copy, to, fixture.memory, half, hipMemcpyDefault));
    ok!(hipGraphExecMemsetNodeSetParams(exec, fill, &fixture.fill(9)));
    fixture.run(exec);
    ok!(hipMemcpyDtoH(into(&mut back), other, bytes));
    assert_eq!((back[0], back[COUNT - 1]), (4, 9));
    ok!(hipGraphNodeSetEnabled(exec, fill, 0));
    let mut enabled = 7;
    ok!(hipGraphNodeGetEnabled(exec, fill, &raw mut enabled));
    assert_eq!(enabled, 0);
    ok!(hipMemset(fixture.memory, 0, bytes));
    fixture.run(exec);
    assert_eq!(fixture.contents(), [0; COUNT], "the fill was switched off");
    let same = fixture.memory;
    err!(hipErrorInvalidValue, hipGraphExecMemcpyNodeSetParams1D(exec, copy, same, same, half, hipMemcpyDefault));
    err!(hipErrorInvalidValue, hipGraphExecMemcpyNodeSetParams1D(exec, copy, to, same, 0, hipMemcpyDefault));
    err!(hipErrorInvalidValue, hipGraphExecMemsetNodeSetParams(exec, copy, &fixture.fill(1)));
    ok!(hipGraphExecDestroy(exec));
    ok!(hipFree(other));
}

#[test]
fn an_update_takes_a_graph_of_the_same_shape_and_refuses_another() {
    let _alone = alone();
    let fixture = Fixture::new();
    let first = fixture.add_fill(&[], 1);
    let exec = fixture.instantiate();
    let (mut node, mut result) = (7, -1);
    let other: usize = get!(hipGraphCreate(_, 0));
    let _: usize = get!(hipGraphAddMemsetNode(_, other, null(), 0, &fixture.fill(6)));
    ok!(hipGraphExecUpdate(exec, other, &raw mut node, &raw mut result));
    assert_eq!((result, node), (hipGraphExecUpdateSuccess, 0));
    fixture.run(exec);
    assert_eq!(fixture.contents(), [6; COUNT]);
    let second = fixture.add_fill(&[first], 2);
    err!(hipErrorGraphExecUpdateFailure, hipGraphExecUpdate(exec, fixture.graph, &raw mut node, &raw mut result));
    assert_eq!(result, hipGraphExecUpdateErrorTopologyChanged);
    err!(hipErrorInvalidValue, hipGraphExecUpdate(exec, other, null_mut(), &raw mut result));
    fixture.run(exec);
    assert_eq!(fixture.contents(), [6; COUNT], "a refused update changed something");
    assert_eq!(node_type(second), hipGraphNodeTypeMemset);
    ok!(hipGraphDestroy(other));
    ok!(hipGraphExecDestroy(exec));
}

#[test]
fn events_are_recorded_and_waited_for_by_nodes_and_can_be_others() {
    let _alone = alone();
    let fixture = Fixture::new();
    let (first, second): (usize, usize) = (get!(hipEventCreate(_)), get!(hipEventCreate(_)));
    let wait = get!(hipGraphAddEventWaitNode(_, fixture.graph, null(), 0, first));
    let fill = fixture.add_fill(&[wait], 8);
    let record = get!(hipGraphAddEventRecordNode(_, fixture.graph, &raw const fill, 1, second));
    assert_eq!([wait, record].map(node_type), [hipGraphNodeTypeWaitEvent, hipGraphNodeTypeEventRecord]);
    let exec = fixture.instantiate();
    fixture.run(exec);
    ok!(hipEventQuery(second));
    assert_eq!(fixture.contents(), [8; COUNT]);
    // The other way round, behind work that is held.
    let earlier = stream();
    ok!(hipGraphExecEventWaitNodeSetEvent(exec, wait, second));
    ok!(hipGraphExecEventRecordNodeSetEvent(exec, record, first));
    simcudaHoldWork();
    ok!(hipMemsetAsync(fixture.memory, 0, COUNT * 4, earlier));
    ok!(hipEventRecord(second, earlier));
    ok!(hipGraphLaunch(exec, fixture.stream));
    err!(hipErrorNotReady, hipEventQuery(first));
    simcudaReleaseWork();
    ok!(hipEventSynchronize(first));
    assert_eq!(fixture.contents(), [8; COUNT]);
    err!(hipErrorInvalidValue, hipGraphExecEventWaitNodeSetEvent(exec, record, first));
    err!(hipErrorInvalidValue, hipGraphExecEventRecordNodeSetEvent(exec, record, 0));
    ok!(hipGraphExecDestroy(exec));
    ok!(hipStreamDestroy(earlier));
    ok!(hipEventDestroy(first));
    ok!(hipEventDestroy(second));
}

#[test]
fn a_graph_tells_its_nodes_edges_and_roots_and_so_does_its_clone() {
    let _alone = alone();
    let fixture = Fixture::new();
    let root = fixture.add_fill(&[], 1);
    let sides = [fixture.add_fill(&[root], 2), fixture.add_fill(&[root], 3)];
    let end: usize = get!(hipGraphAddEmptyNode(_, fixture.graph, sides.as_ptr(), 1));
    ok!(hipGraphAddDependencies(fixture.graph, &raw const sides[1], &raw const end, 1));
    err!(hipErrorInvalidValue, hipGraphAddDependencies(fixture.graph, &raw const end, &raw const end, 1));
    let clone: usize = get!(hipGraphClone(_, fixture.graph));
    for graph in [fixture.graph, clone] {
        let (mut from, mut to, mut count) = ([0; 8], [0; 8], 8);
        ok!(hipGraphGetEdges(graph, from.as_mut_ptr(), to.as_mut_ptr(), &raw mut count));
        assert_eq!(count, 4);
        err!(hipErrorInvalidValue, hipGraphGetEdges(graph, from.as_mut_ptr(), null_mut(), &raw mut count));
        let mut roots = 0;
        ok!(hipGraphGetRootNodes(graph, null_mut(), &raw mut roots));
        let mut nodes = 0;
        ok!(hipGraphGetNodes(graph, null_mut(), &raw mut nodes));
        assert_eq!((roots, nodes), (1, 4));
        if graph == fixture.graph {
            let mut edges: Vec<_> = from.into_iter().zip(to).take(count).collect();
            edges.sort_unstable();
            let mut expected = vec![(root, sides[0]), (root, sides[1]), (sides[0], end), (sides[1], end)];
            expected.sort_unstable();
            assert_eq!(edges, expected);
        }
    }
    let twin = get!(hipGraphNodeFindInClone(_, end, clone));
    assert_ne!(twin, end);
    assert_eq!(node_type(twin), hipGraphNodeTypeEmpty);
    ok!(hipGraphDestroy(clone));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.dot");
    let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    ok!(hipGraphDebugDotPrint(fixture.graph, name.as_ptr(), 1));
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains("digraph") && text.matches("->").count() == 4, "{text}");
}

#[test]
fn memory_of_a_graph_has_its_address_when_the_node_is_added() {
    let _alone = alone();
    let fixture = Fixture::new();
    let bytes = COUNT * 4;
    let location = hipMemLocation { r#type: hipMemLocationTypeDevice, id: 0 };
    let access = hipMemAccessDesc { location, flags: hipMemAccessFlagsProtReadWrite };
    let mut asked = hipMemAllocNodeParams {
        poolProps: hipMemPoolProps {
            allocType: hipMemAllocationTypePinned,
            handleTypes: 0,
            location,
            win32SecurityAttributes: null_mut(),
            maxSize: 0,
            reserved: [0; 56],
        },
        accessDescs: &raw const access,
        accessDescCount: 1,
        bytesize: bytes,
        dptr: 0,
    };
    let allocation = get!(hipGraphAddMemAllocNode(_, fixture.graph, null(), 0, &raw mut asked));
    let address = asked.dptr;
    assert_ne!(address, 0);
    let fill = hipMemsetParams { dst: address, ..fixture.fill(5) };
    let fill = get!(hipGraphAddMemsetNode(_, fixture.graph, &raw const allocation, 1, &raw const fill));
    let kind = hipMemcpyDefault;
    let copy =
        get!(hipGraphAddMemcpyNode1D(_, fixture.graph, &raw const fill, 1, fixture.memory, address, bytes, kind));
    let free = get!(hipGraphAddMemFreeNode(_, fixture.graph, &raw const copy, 1, address));
    assert_eq!([allocation, free].map(node_type), [hipGraphNodeTypeMemAlloc, hipGraphNodeTypeMemFree]);
    let exec = fixture.instantiate();
    for _ in 0..2 {
        ok!(hipMemset(fixture.memory, 0, bytes));
        fixture.run(exec);
        assert_eq!(fixture.contents(), [5; COUNT]);
    }
    ok!(hipGraphExecDestroy(exec));
    let mut out = 0;
    asked.poolProps.location.r#type = hipMemLocationTypeHost;
    err!(hipErrorInvalidValue, hipGraphAddMemAllocNode(&raw mut out, fixture.graph, null(), 0, &raw mut asked));
    assert_eq!((out, asked.dptr), (0, 0));
}
