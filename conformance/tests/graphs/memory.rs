//! Stream-ordered memory in captures: free lists have no part in it, each launch allocates and frees.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use ur_conformance::ffi::ur_result_t as Code;
use ur_conformance::native::Streams;
use ur_conformance::native_graph::NativeGraph;
use ur_conformance::pool::{Plan, Take, free, give, known_reuse, trim};
use ur_conformance::sim::status;
use ur_conformance::{
    Fixture, Gate, Graph, Image, Kind, Launch, Queue, Shape, child, expect_code, graph, memory, needs_capture,
    needs_sim, ok, refused, ur,
};

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
fn urUSMFree_of_memory_that_a_launch_allocates_ends_it_for_frees_and_launches_behind_it() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let (context, queue) = (fixture.context(), fixture.in_order());
    let iota = fixture.basic(c"iota");
    let mut block = core::ptr::null_mut();
    let graph = Graph::captured(&queue, || {
        block = Take::new(COUNT * 4).on(&queue);
        Launch::new(&iota, &[COUNT]).pointer(block).value(COUNT as u32).on(&queue);
    });
    let executable = graph.instantiate();
    refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(context, block));
    for _ in 0..2 {
        executable.on(&queue);
        assert_eq!(memory::read::<u32>(&queue, block, COUNT), (0..COUNT as u32).collect::<Vec<_>>());
        ok!(USM.pfnFree(context, block));
        assert_eq!(free(&queue, block), Code::ERROR_INVALID_MEM_OBJECT);
        refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(context, block));
    }
    executable.on(&queue);
    queue.finish();
    drop((graph, executable));
    ok!(USM.pfnFree(context, block));
    assert_eq!(free(&queue, block), Code::ERROR_INVALID_MEM_OBJECT, "nothing is remembered of the address");
}

#[test]
fn urMemBufferCreateWithNativeHandle_refuses_to_own_memory_that_a_launch_allocates() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let mut block = core::ptr::null_mut();
    let graph = Graph::captured(&queue, || block = Take::new(COUNT * 4).on(&queue));
    graph.instantiate().on(&queue);
    queue.finish();
    memory::expect_not_to_be_owned(fixture.context(), block);
    ok!(USM.pfnFree(fixture.context(), block));
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
        trim(&fixture, pool.handle(), 0);
        // The end of the pool takes them back when the capture has ended.
        drop(pool);
    });
    assert_eq!(node_count(&graph), 1);
    graph.instantiate().on(&queue);
    queue.finish();
}

/// The release of an image waits for the queues that used it, and a wait gives kept blocks back that a pool would not keep.
#[test]
fn kept_blocks_stay_where_they_are_when_an_image_of_a_capturing_queue_is_released() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let sim = needs_sim!(fixture);
    let (queue, image) = (fixture.in_order(), Image::new(&fixture, Shape::word(&[16, 8])));
    image.write(&queue, &[3u32; 128]);
    queue.finish();
    give(&queue, Take::new(COUNT * 4).on(&queue));
    graph::begin(&queue);
    let ((), calls) = sim.calls_of(|| drop(image));
    drop(Graph::take(graph::end(&queue)));
    assert_eq!(calls.get("cuMemFreeAsync"), None, "{calls:?}");
    queue.finish();
}

/// A thread that finishes the queue finds it plain, and gets the stream when it captures. If that thread comes late this shows nothing.
#[test]
fn kept_blocks_stay_where_they_are_when_a_capture_begins_before_urQueueFinish_has_got_the_stream() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    give(&queue, Take::new(COUNT * 4).on(&queue));
    let freed = || sim.calls_so_far("cuMemFreeAsync");
    let before = freed();
    let (say, said) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let held = sim.hold_calls("cuStreamBeginCapture_v2");
        let capturing = scope.spawn(|| graph::begin(&queue));
        held.wait_for_one(|| capturing.is_finished());
        let finishing = scope.spawn(|| {
            say.send(()).expect("the test listens");
            ur!(Queue.pfnFinish(queue.handle()))
        });
        said.recv().expect("a thread");
        (0..1000).for_each(|_| std::thread::yield_now());
        drop(held);
        capturing.join().expect("a capture");
        let codes = [Code::SUCCESS, Code::ERROR_GRAPH_CAPTURE_UNSUPPORTED];
        expect_code(finishing.join().expect("a finish"), &codes, "urQueueFinish");
    });
    assert_eq!(freed(), before, "frees on a stream that captures");
    drop(Graph::take(graph::end(&queue)));
    queue.finish();
}

/// The end of the capture does what was left to the stream; whoever finds a capture must not look again at once.
#[test]
fn urUSMPoolRelease_returns_while_a_queue_captures_that_several_threads_use() {
    let test = "urUSMPoolRelease_returns_while_a_queue_captures_that_several_threads_use";
    child::in_time::<&str>(test, &[], || {
        let fixture = Fixture::new();
        needs_capture!(fixture);
        let (queue, pool, kernel) = (fixture.in_order(), Plan::new().of(&fixture), fixture.basic(c"empty"));
        give(&queue, Take::new(1 << 16).from(&pool).on(&queue));
        std::thread::scope(|scope| {
            scope.spawn(|| Launch::new(&kernel, &[1]).on(&queue));
        });
        let graph = Graph::captured(&queue, || {
            Launch::new(&kernel, &[1]).on(&queue);
            drop(pool);
        });
        assert_eq!(node_count(&graph), 1);
        queue.finish();
    });
}

/// The native stream of a queue, and calls to use it beside the adapter.
pub fn native_of(fixture: &Fixture, queue: &Queue) -> (usize, Streams) {
    let (mut stream, mut context) = (0, 0);
    ok!(Queue.pfnGetNativeHandle(queue.handle(), core::ptr::null_mut(), &raw mut stream));
    let has_context = ur!(Context.pfnGetNativeHandle(fixture.context(), &raw mut context)) == Code::SUCCESS;
    (stream, Streams::of(has_context.then_some(context)))
}

/// Each of them would ask the stream whether it is idle, and free there.
#[test]
fn a_trim_a_full_device_and_the_end_of_a_pool_leave_a_stream_alone_that_the_application_captures() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let sim = needs_sim!(fixture);
    let (queue, other, pool) = (fixture.in_order(), fixture.in_order(), Plan::new().of(&fixture));
    let (stream, native) = native_of(&fixture, &queue);
    give(&queue, Take::new(1 << 16).from(&pool).on(&queue));
    let mut block = core::ptr::null_mut();
    let nodes_of_trim = native.nodes_of_capture(stream, || trim(&fixture, pool.handle(), 0));
    let nodes_of_relief = native.nodes_of_capture(stream, || {
        sim.fail("cuMemAllocFromPoolAsync", 1, status::OUT_OF_MEMORY);
        block = Take::new(1 << 20).on(&other);
        sim.clear_faults();
    });
    let nodes_of_end = native.nodes_of_capture(stream, || drop(pool));
    assert_eq!([nodes_of_trim, nodes_of_relief, nodes_of_end], [0; 3]);
    give(&other, block);
    other.finish();
    queue.finish();
}

/// The thread that uses the queue is the one that left it the pool's end; it need not finish the queue.
#[test]
fn urUSMPoolRelease_while_the_application_captures_a_stream_is_done_with_the_queue_s_next_command() {
    let test = "urUSMPoolRelease_while_the_application_captures_a_stream_is_done_with_the_queue_s_next_command";
    child::with_native_pools(test, || {
        let fixture = Fixture::new();
        needs_capture!(fixture);
        let sim = needs_sim!(fixture);
        let (queue, pool, kernel) = (fixture.in_order(), Plan::new().of(&fixture), fixture.basic(c"empty"));
        give(&queue, Take::new(1 << 16).from(&pool).on(&queue));
        // The thread has its quick way to the stream by now.
        let (stream, native) = native_of(&fixture, &queue);
        let freed = || sim.calls_so_far("cuMemFreeAsync");
        let before = freed();
        assert_eq!(native.nodes_of_capture(stream, || drop(pool)), 0);
        assert_eq!(freed() - before, 0, "frees while the application captures");
        Launch::new(&kernel, &[1]).on(&queue);
        assert_eq!(freed() - before, 1, "frees of what the pool kept");
        queue.finish();
    });
}

/// What queues got past is asked of each of them when a pool's slabs are looked at.
#[test]
fn a_look_at_slabs_leaves_a_stream_alone_that_the_application_captures() {
    /// More than a queue keeps, so that it goes back to the slab, which waits for the queue.
    const LARGE: usize = 80 << 20;
    let fixture = Fixture::new();
    needs_capture!(fixture);
    // Who finds no room asks, then, before there is a new slab.
    let pool = Plan::new().reuse(known_reuse()).of(&fixture);
    let (queue, other) = (fixture.in_order(), fixture.in_order());
    let (stream, native) = native_of(&fixture, &queue);
    let take = || Take::new(LARGE).kind(Kind::Host).from(&pool);
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    give(&queue, take().on(&queue));
    let mut block = core::ptr::null_mut();
    let nodes = native.nodes_of_capture(stream, || {
        block = take().on(&other);
        trim(&fixture, pool.handle(), 0);
    });
    gate.open();
    queue.finish();
    assert_eq!(nodes, 0);
    give(&other, block);
    other.finish();
}
