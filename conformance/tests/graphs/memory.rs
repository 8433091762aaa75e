//! Stream-ordered memory in captures: free lists have no part in it, each launch allocates and frees.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use ur_conformance::ffi::ur_result_t as Code;
use ur_conformance::native_graph::NativeGraph;
use ur_conformance::pool::{Plan, Take, free, give};
use ur_conformance::{Fixture, Graph, Kind, Launch, expect_code, memory, needs_capture, ok};

const COUNT: usize = 256;

fn node_count(graph: &Graph) -> usize {
    let mut value = 0;
    ok!(GraphExp.pfnGetNativeHandleExp(graph.handle(), &raw mut value));
    NativeGraph::named(value).nodes().len()
}

#[test]
fn an_allocation_and_its_free_in_a_capture_are_done_by_each_launch() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let (iota, copy) = (fixture.basic(c"iota"), fixture.memory(Kind::Device, COUNT * 4));
    // A kept block is not what a capture may use.
    give(&queue, Take::new(COUNT * 4).on(&queue));
    let graph = Graph::captured(&queue, || {
        let block = Take::new(COUNT * 4).on(&queue);
        Launch::new(&iota, &[COUNT]).pointer(block).value(COUNT as u32).on(&queue);
        ok!(Enqueue.pfnUSMMemcpy(
            queue.handle(),
            false.into(),
            copy.pointer(),
            block,
            COUNT * 4,
            0,
            core::ptr::null(),
            core::ptr::null_mut()
        ));
        give(&queue, block);
        expect_code(free(&queue, block), &[Code::ERROR_GRAPH_CAPTURE_UNSUPPORTED], "a second free");
    });
    assert_eq!(node_count(&graph), 4, "an allocation, a kernel, a copy, a free");
    let executable = graph.instantiate();
    for _ in 0..3 {
        copy.write(&queue, &[0u32; COUNT]);
        executable.on(&queue);
        assert_eq!(copy.read::<u32>(&queue, COUNT), (0..COUNT as u32).collect::<Vec<_>>());
    }
    // What was kept before serves again.
    give(&queue, Take::new(COUNT * 4).on(&queue));
    queue.finish();
}

#[test]
fn memory_that_a_launch_allocates_is_freed_by_the_application() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let iota = fixture.basic(c"iota");
    let mut block = core::ptr::null_mut();
    let graph = Graph::captured(&queue, || {
        block = Take::new(COUNT * 4).on(&queue);
        Launch::new(&iota, &[COUNT]).pointer(block).value(COUNT as u32).on(&queue);
    });
    let executable = graph.instantiate();
    assert_eq!(free(&queue, block), Code::ERROR_INVALID_MEM_OBJECT, "no launch has allocated it");
    for _ in 0..2 {
        executable.on(&queue);
        assert_eq!(memory::read::<u32>(&queue, block, COUNT), (0..COUNT as u32).collect::<Vec<_>>());
        assert_eq!(free(&queue, block), Code::SUCCESS);
        assert_eq!(free(&queue, block), Code::ERROR_INVALID_MEM_OBJECT);
    }
    executable.on(&queue);
    drop((graph, executable));
    assert_eq!(free(&queue, block), Code::SUCCESS, "the memory outlives the graph");
    queue.finish();
}

#[test]
fn a_pool_of_zeros_gives_zeros_in_each_launch() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let pool = Plan::new().zeroed().of(&fixture);
    let (add, copy) = (fixture.basic(c"add_constant"), fixture.memory(Kind::Device, COUNT * 4));
    let graph = Graph::captured(&queue, || {
        let block = Take::new(COUNT * 4).from(&pool).on(&queue);
        Launch::new(&add, &[COUNT]).pointer(block).value(6u32).value(COUNT as u32).on(&queue);
        ok!(Enqueue.pfnUSMMemcpy(
            queue.handle(),
            false.into(),
            copy.pointer(),
            block,
            COUNT * 4,
            0,
            core::ptr::null(),
            core::ptr::null_mut()
        ));
        give(&queue, block);
    });
    let executable = graph.instantiate();
    drop(graph);
    for _ in 0..3 {
        executable.on(&queue);
        assert_eq!(copy.read::<u32>(&queue, COUNT), vec![6; COUNT]);
    }
}

#[test]
fn memory_from_outside_is_not_freed_in_a_capture_nor_the_host_s_allocated() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let block = Take::new(COUNT).on(&queue);
    let graph = Graph::captured(&queue, || {
        expect_code(free(&queue, block), &[Code::ERROR_GRAPH_CAPTURE_UNSUPPORTED], "a free");
        for kind in [Kind::Host, Kind::Shared] {
            Take::new(COUNT).kind(kind).refused(Code::ERROR_GRAPH_CAPTURE_UNSUPPORTED, &queue);
        }
    });
    assert!(graph.is_empty(), "the refusals broke nothing");
    give(&queue, block);
    queue.finish();
}

#[test]
fn a_pool_s_kept_blocks_stay_where_they_are_while_the_queue_captures() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let pool = Plan::new().of(&fixture);
    give(&queue, Take::new(1 << 16).from(&pool).on(&queue));
    let kernel = fixture.basic(c"empty");
    let graph = Graph::captured(&queue, || {
        Launch::new(&kernel, &[1]).on(&queue);
        ur_conformance::pool::trim(&fixture, pool.handle(), 0);
        // The end of the pool takes them back when the capture has ended.
        drop(pool);
    });
    assert_eq!(node_count(&graph), 1);
    graph.instantiate().on(&queue);
    queue.finish();
}
