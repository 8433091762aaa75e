//! Captures of queues out of order: commands are ordered by wait lists and barriers alone, and the graph has just these edges.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::collections::BTreeSet;
use std::sync::Mutex;

use ur_conformance::ffi::{ur_exp_event_desc_t, ur_queue_flags_t as Flags, ur_queue_handle_t, ur_result_t as Code};
use ur_conformance::graph::{begin, end, is_capturing};
use ur_conformance::native::Streams;
use ur_conformance::native_graph::{NativeGraph, NodeKind};
use ur_conformance::owned::event_of;
use ur_conformance::{
    Event, Fixture, Gate, Graph, Kernel, Kind, Launch, Memory, Queue, has_function, needs_capture, ok, refused, told,
    ur,
};

use crate::memory::native_of;

const COUNT: usize = 16;

fn native(graph: &Graph) -> NativeGraph {
    let mut value = 0;
    ok!(GraphExp.pfnGetNativeHandleExp(graph.handle(), &raw mut value));
    NativeGraph::named(value)
}

/// Nodes, edges, and nodes that do nothing.
fn shape(graph: &Graph) -> (usize, usize, usize) {
    let graph = native(graph);
    (graph.nodes().len(), graph.edges().len(), graph.kinds().get(&NodeKind::Empty).copied().unwrap_or(0))
}

fn add<'k>(kernel: &'k Kernel, memory: &Memory<'_>, value: u32) -> Launch<'k> {
    Launch::new(kernel, &[COUNT]).pointer(memory.pointer()).value(value).value(COUNT as u32)
}

fn wait(queue: &Queue, events: &[&Event]) -> Event {
    let list: Vec<_> = events.iter().map(|event| event.handle()).collect();
    let (count, list) = ur_conformance::command_buffer::list(&list);
    event_of(|event| ur!(Enqueue.pfnEventsWait(queue.handle(), count, list, event)))
}

fn barrier(queue: &Queue, events: &[&Event]) -> Event {
    let list: Vec<_> = events.iter().map(|event| event.handle()).collect();
    let (count, list) = ur_conformance::command_buffer::list(&list);
    event_of(|event| ur!(Enqueue.pfnEventsWaitWithBarrier(queue.handle(), count, list, event)))
}

#[test]
fn commands_without_a_wait_list_have_no_edges_however_many_there_are() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.out_of_order();
    let kernel = fixture.basic(c"add_constant");
    let memories: Vec<_> = (0..40).map(|_| fixture.memory(Kind::Device, COUNT * 4)).collect();
    memories.iter().for_each(|memory| memory.write(&queue, &[0u32; COUNT]));
    begin(&queue);
    assert!(is_capturing(&queue));
    for (value, memory) in (1u32..).zip(&memories) {
        add(&kernel, memory, value).on(&queue);
    }
    let graph = Graph::take(end(&queue));
    assert!(!is_capturing(&queue));
    assert_eq!(shape(&graph), (40, 0, 0));
    let executable = graph.instantiate();
    for round in 1..3 {
        executable.event_on(&queue).wait();
        for (value, memory) in (1u32..).zip(&memories) {
            assert_eq!(memory.read::<u32>(&queue, COUNT), [value * round; COUNT]);
        }
    }
}

#[test]
fn edges_are_the_wait_lists() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    for flags in [Flags::empty(), Flags::PROFILING_ENABLE] {
        let queue = fixture.queue(flags | Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE);
        let kernel = fixture.basic(c"add_constant");
        let memory = fixture.memory(Kind::Device, COUNT * 4);
        memory.write(&queue, &[0u32; COUNT]);
        let (fill, copied) = (fixture.memory(Kind::Device, COUNT * 4), fixture.memory(Kind::Device, COUNT * 4));
        let graph = Graph::captured(&queue, || {
            // A diamond whose sides are ordered too, or they would race: 1 > 2, 1 > 4, 2 > 4, and both before 8.
            let first = add(&kernel, &memory, 1).event_on(&queue);
            let second = add(&kernel, &memory, 2).after(&[&first]).event_on(&queue);
            let third = add(&kernel, &memory, 4).after(&[&first, &second]).event_on(&queue);
            add(&kernel, &memory, 8).after(&[&second, &third]).on(&queue);
            // Beside it a fill and a copy of what it filled.
            let (unit, q) = (7u32, queue.handle());
            let from = (&raw const unit).cast();
            let filled =
                event_of(|event| ur!(Enqueue.pfnUSMFill(q, fill.pointer(), 4, from, COUNT * 4, 0, null(), event)));
            let waits = [filled.handle()];
            let (to, from, no) = (copied.pointer(), fill.pointer(), false.into());
            ok!(Enqueue.pfnUSMMemcpy(q, no, to, from, COUNT * 4, 1, waits.as_ptr(), null_mut()));
        });
        assert_eq!(shape(&graph), (6, 6, 0), "{flags:?}");
        let executable = graph.instantiate();
        for round in 1..3 {
            executable.event_on(&queue).wait();
            assert_eq!(memory.read::<u32>(&queue, COUNT), [15 * round; COUNT]);
            assert_eq!(copied.read::<u32>(&queue, COUNT), [7; COUNT]);
        }
    }
}

/// As many edges as there are commands on both sides of a barrier, and not their product.
#[test]
fn a_barrier_comes_after_everything_and_before_everything() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.out_of_order();
    let kernel = fixture.basic(c"add_constant");
    let memory = fixture.memory(Kind::Device, COUNT * 4);
    memory.write(&queue, &[0u32; COUNT]);
    let empty = fixture.basic(c"empty");
    let graph = Graph::captured(&queue, || {
        for _ in 0..9 {
            Launch::new(&empty, &[1]).on(&queue);
        }
        let last = add(&kernel, &memory, 1).event_on(&queue);
        add(&kernel, &memory, 2).after(&[&last]).on(&queue);
        ok!(Enqueue.pfnEventsWaitWithBarrier(queue.handle(), 0, null(), null_mut()));
        add(&kernel, &memory, 4).on(&queue);
        for _ in 0..9 {
            Launch::new(&empty, &[1]).on(&queue);
        }
    });
    // 1 > 2; the 9 and 2 before the empty node; 4 and the other 9 behind it.
    assert_eq!(shape(&graph), (9 + 2 + 1 + 10, 1 + 10 + 10, 1));
    graph.instantiate().event_on(&queue).wait();
    assert_eq!(memory.read::<u32>(&queue, COUNT), [7; COUNT]);
}

#[test]
fn a_barrier_with_a_list_comes_after_the_list_alone_and_a_later_one_after_everything() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.out_of_order();
    let kernel = fixture.basic(c"empty");
    let launch = || Launch::new(&kernel, &[1]);
    let graph = Graph::captured(&queue, || {
        let one = launch().event_on(&queue);
        launch().on(&queue);
        // One event needs no node.
        let passed = barrier(&queue, &[&one]);
        launch().on(&queue);
        launch().after(&[&passed]).on(&queue);
        // What is left: the second, and the two behind the barrier.
        let all = wait(&queue, &[]);
        launch().after(&[&all]).on(&queue);
        launch().on(&queue);
    });
    // Behind the barrier: two launches; before the empty node: three; the last but one comes after both, the last after the
    // barrier alone.
    assert_eq!(shape(&graph), (4 + 1 + 2, 2 + 3 + 2 + 1, 1));
}

#[test]
fn waits_in_an_empty_capture_add_nothing() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.out_of_order();
    let kernel = fixture.basic(c"empty");
    let graph = Graph::captured(&queue, || {
        let one = wait(&queue, &[]);
        let two = barrier(&queue, &[]);
        let three = barrier(&queue, &[&one, &two]);
        Launch::new(&kernel, &[1]).after(&[&one, &three]).on(&queue);
        ok!(Enqueue.pfnEventsWait(queue.handle(), 0, null(), null_mut()));
    });
    assert_eq!(shape(&graph), (1, 0, 0));
}

#[test]
fn queues_in_order_and_out_of_order_join_each_other_s_captures() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let kernel = fixture.basic(c"add_constant");
    for [first, second] in [
        [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE],
        [Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::empty()],
        [Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE; 2],
    ] {
        let (queue, other) = (fixture.queue(first), fixture.queue(second));
        let memory = fixture.memory(Kind::Device, COUNT * 4);
        let beside = fixture.memory(Kind::Device, COUNT * 4);
        memory.write(&queue, &[0u32; COUNT]);
        beside.write(&queue, &[0u32; COUNT]);
        // What the other queue did before is its own matter.
        let before = add(&kernel, &beside, 100).event_on(&other);
        begin(&queue);
        let root = add(&kernel, &memory, 1).event_on(&queue);
        let forked = add(&kernel, &memory, 2).after(&[&root]).event_on(&other);
        assert!(is_capturing(&other));
        let free = add(&kernel, &beside, 8).event_on(&other);
        let last = add(&kernel, &memory, 4).after(&[&forked]).event_on(&other);
        let all = wait(&queue, &[&free, &last]);
        add(&kernel, &memory, 16).after(&[&all]).on(&queue);
        let graph = Graph::take(end(&queue));
        assert!(!is_capturing(&queue) && !is_capturing(&other), "{first:?} {second:?}");
        before.wait();
        let executable = graph.instantiate();
        for round in 1..3 {
            executable.on(&queue);
            queue.finish();
            assert_eq!(memory.read::<u32>(&queue, COUNT), [23 * round; COUNT], "{first:?} {second:?}");
            assert_eq!(beside.read::<u32>(&queue, COUNT), [100 + 8 * round; COUNT], "{first:?} {second:?}");
        }
        add(&kernel, &memory, 1).event_on(&other).wait();
        other.finish();
    }
}

/// Every command of a fork has to be joined, and not the last one alone.
#[test]
fn a_command_of_a_joined_queue_that_nobody_waits_for_is_an_unjoined_fork() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let (queue, other) = (fixture.in_order(), fixture.out_of_order());
    let kernel = fixture.basic(c"empty");
    let launch = || Launch::new(&kernel, &[1]);
    begin(&queue);
    let root = launch().event_on(&queue);
    launch().after(&[&root]).on(&other);
    let last = launch().event_on(&other);
    launch().after(&[&last]).on(&queue);
    let mut graph = null_mut();
    refused!(ERROR_GRAPH_UNJOINED_FORKS, QueueExp.pfnEndGraphCaptureExp(queue.handle(), &raw mut graph));
    assert!(graph.is_null() && !is_capturing(&queue) && !is_capturing(&other));
    for queue in [&queue, &other] {
        launch().event_on(queue).wait();
        queue.finish();
    }
}

#[test]
fn a_queue_out_of_order_captures_into_a_graph_behind_all_that_it_has() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.out_of_order();
    let kernel = fixture.basic(c"add_constant");
    let memory = fixture.memory(Kind::Device, COUNT * 4);
    memory.write(&queue, &[0u32; COUNT]);
    let graph = Graph::empty(&fixture);
    for value in [1u32, 2, 4] {
        ok!(QueueExp.pfnBeginCaptureIntoGraphExp(queue.handle(), graph.handle()));
        add(&kernel, &memory, value).on(&queue);
        assert_eq!(end(&queue), graph.handle());
    }
    graph.instantiate().event_on(&queue).wait();
    assert_eq!(memory.read::<u32>(&queue, COUNT), [7; COUNT]);
}

/// The application's own work on the native stream would go between; none is as good for the order around it.
extern "C" fn nothing(_: ur_queue_handle_t, _: *mut c_void) {}

#[test]
fn native_commands_keep_their_wait_list_and_their_event() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.out_of_order();
    let kernel = fixture.basic(c"empty");
    let launch = || Launch::new(&kernel, &[1]);
    let graph = Graph::captured(&queue, || {
        let (one, _two) = (launch().event_on(&queue), launch().event_on(&queue));
        let (q, call, waits) = (queue.handle(), Some(nothing as _), [one.handle()]);
        let native = event_of(|event| {
            ur!(EnqueueExp.pfnNativeCommandExp(q, call, null_mut(), 0, null(), null(), 1, waits.as_ptr(), event))
        });
        launch().after(&[&native]).on(&queue);
    });
    assert_eq!(shape(&graph), (3, 1, 0));
}

/// What a native command's function does: a native fill, and a launch by UR on its queue, before or behind that.
struct Both<'t> {
    native: &'t Streams,
    stream: usize,
    memory: usize,
    launch: &'t dyn Fn(),
    launches_first: bool,
}

extern "C" fn both(_: ur_queue_handle_t, data: *mut c_void) {
    // SAFETY: the test's own, alive during the enqueue, which calls this.
    let both = unsafe { &*data.cast::<Both<'_>>() };
    if both.launches_first {
        (both.launch)();
    }
    both.native.fill(both.stream, both.memory, 7, COUNT);
    if !both.launches_first {
        (both.launch)();
    }
}

fn native_command(
    queue: &Queue,
    function: extern "C" fn(ur_queue_handle_t, *mut c_void),
    data: *mut c_void,
    after: &Event,
) -> Event {
    let (q, waits) = (queue.handle(), [after.handle()]);
    event_of(|event| {
        ur!(EnqueueExp.pfnNativeCommandExp(q, Some(function), data, 0, null(), null(), 1, waits.as_ptr(), event))
    })
}

/// A command of UR that the function enqueues is another command of a queue without an order: the function's own work stays behind the
/// wait list and before the native command's event.
#[test]
fn the_work_of_a_native_command_whose_function_enqueues_keeps_its_wait_list_and_its_event() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let kernel = fixture.basic(c"empty");
    let (memory, target) = (fixture.memory(Kind::Device, COUNT * 4), fixture.memory(Kind::Device, COUNT * 4));
    for launches_first in [false, true] {
        let queue = fixture.out_of_order();
        let (stream, native_library) = native_of(&fixture, &queue);
        let launch = || Launch::new(&kernel, &[1]).on(&queue);
        let graph = Graph::captured(&queue, || {
            let one = Launch::new(&kernel, &[1]).event_on(&queue);
            let native = &native_library;
            let mut does = Both { native, stream, memory: memory.pointer().addr(), launch: &launch, launches_first };
            let filled = native_command(&queue, both, (&raw mut does).cast(), &one);
            let waits = [filled.handle()];
            let (q, to, from, list) = (queue.handle(), target.pointer(), memory.pointer(), waits.as_ptr());
            ok!(Enqueue.pfnUSMMemcpy(q, false.into(), to, from, COUNT * 4, 1, list, null_mut()));
        });
        let graph = native(&graph);
        let kinds: BTreeSet<_> =
            graph.edges().into_iter().map(|(from, to)| (graph.kind(from), graph.kind(to))).collect();
        let wanted = [(NodeKind::Kernel, NodeKind::Fill), (NodeKind::Fill, NodeKind::Copy)];
        assert_eq!((kinds, graph.edges().len()), (BTreeSet::from(wanted), 2), "launches first: {launches_first}");
        assert_eq!(graph.nodes().len(), 4);
    }
}

/// What another thread enqueues meanwhile cannot be told from the function's work, and is refused before it breaks anything.
#[test]
fn a_command_of_another_thread_beside_a_native_command_s_function_is_refused() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let (queue, kernel) = (fixture.out_of_order(), fixture.basic(c"empty"));
    let memory = fixture.memory(Kind::Device, COUNT * 4);
    let (stream, native_library) = native_of(&fixture, &queue);
    let answer = Mutex::new(Code::SUCCESS);
    let launch = || {
        let barrier = || ur!(Enqueue.pfnEventsWaitWithBarrier(queue.handle(), 0, null(), null_mut()));
        std::thread::scope(|scope| scope.spawn(|| *answer.lock().expect("nobody panics") = barrier()).join())
            .expect("it answers");
    };
    let graph = Graph::captured(&queue, || {
        let one = Launch::new(&kernel, &[1]).event_on(&queue);
        let native = &native_library;
        let mut does = Both { native, stream, memory: memory.pointer().addr(), launch: &launch, launches_first: false };
        drop(native_command(&queue, both, (&raw mut does).cast(), &one));
        // The function has returned.
        std::thread::scope(|scope| {
            scope.spawn(|| Launch::new(&kernel, &[1]).on(&queue)).join().expect("it is captured")
        });
    });
    assert_eq!(answer.into_inner().expect("nobody panics"), told(Code::ERROR_GRAPH_CAPTURE_UNSUPPORTED));
    assert_eq!(shape(&graph), (3, 1, 0));
}

#[test]
fn what_a_capture_cannot_hold_is_refused_and_breaks_nothing() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let (queue, other) = (fixture.out_of_order(), fixture.in_order());
    let kernel = fixture.basic(c"empty");
    let launch = || Launch::new(&kernel, &[1]);
    let mut gate = Gate::new(&fixture);
    gate.block(&other);
    // Two, so that the second is on another stream than the capture's.
    let outside: Vec<_> = (0..2)
        .map(|_| {
            let blocked = wait(&other, &[]);
            launch().after(&[&blocked]).event_on(&queue)
        })
        .collect();
    let unsupported = [Code::ERROR_GRAPH_CAPTURE_UNSUPPORTED];
    begin(&queue);
    launch().on(&queue);
    for event in &outside {
        launch().after(&[event]).refused(&unsupported, &queue);
        let waits = [event.handle()];
        let (q, list) = (queue.handle(), waits.as_ptr());
        refused!(ERROR_GRAPH_CAPTURE_UNSUPPORTED, Enqueue.pfnEventsWait(q, 1, list, null_mut()));
        refused!(ERROR_GRAPH_CAPTURE_UNSUPPORTED, Enqueue.pfnEventsWaitWithBarrier(q, 1, list, null_mut()));
    }
    refused!(ERROR_GRAPH_CAPTURE_UNSUPPORTED, Queue.pfnFinish(queue.handle()));
    refused!(ERROR_INVALID_OPERATION, QueueExp.pfnBeginGraphCaptureExp(queue.handle()));
    if has_function("urEventCreateExp") && has_function("urEnqueueEventsWaitWithBarrierExt") {
        let (description, mut given) = (ur_exp_event_desc_t::default(), null_mut());
        ok!(EventExp.pfnCreateExp(fixture.context(), fixture.device(), &raw const description, &raw mut given));
        let given = Event::take(given);
        let mut handle = given.handle();
        refused!(
            ERROR_GRAPH_CAPTURE_UNSUPPORTED,
            Enqueue.pfnEventsWaitWithBarrierExt(queue.handle(), null(), 0, null(), &raw mut handle)
        );
    }
    gate.open();
    outside.iter().for_each(Event::wait);
    launch().after(&[&outside[0], &outside[1]]).on(&queue);
    let graph = Graph::take(end(&queue));
    assert_eq!(shape(&graph), (2, 0, 0), "the refusals broke nothing");
    graph.instantiate().on(&queue);
    queue.finish();
    // The queue is as before.
    launch().event_on(&queue).wait();
}

#[test]
fn a_queue_out_of_order_may_be_released_while_it_captures() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let kernel = fixture.basic(c"empty");
    let (alone, queue, joined) = (fixture.out_of_order(), fixture.out_of_order(), fixture.out_of_order());
    begin(&alone);
    Launch::new(&kernel, &[1]).on(&alone);
    drop(alone);
    begin(&queue);
    let root = Launch::new(&kernel, &[1]).event_on(&queue);
    let forked = Launch::new(&kernel, &[1]).after(&[&root]).event_on(&joined);
    drop(joined);
    Launch::new(&kernel, &[1]).after(&[&forked]).on(&queue);
    let graph = Graph::take(end(&queue));
    let edges: BTreeSet<_> = native(&graph).edges().into_iter().collect();
    assert_eq!(edges.len(), 2);
    graph.instantiate().on(&queue);
    queue.finish();
}
