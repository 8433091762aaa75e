//! Captures over several queues: a queue that waits for an event of a capture joins it.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::ur_queue_flags_t as Flags;
use ur_conformance::graph::{begin, end, is_capturing};
use ur_conformance::native_graph::NativeGraph;
use ur_conformance::owned::event_of;
use ur_conformance::{Event, Fixture, Graph, Kernel, Kind, Launch, Memory, Queue, needs_capture, ok, refused, ur};

const COUNT: usize = 16;

fn native(graph: &Graph) -> NativeGraph {
    let mut value = 0;
    ur_conformance::ok!(GraphExp.pfnGetNativeHandleExp(graph.handle(), &raw mut value));
    NativeGraph::named(value)
}

fn add<'k>(kernel: &'k Kernel, memory: &Memory<'_>, value: u32) -> Launch<'k> {
    Launch::new(kernel, &[COUNT]).pointer(memory.pointer()).value(value).value(COUNT as u32)
}

fn join(queue: &Queue, event: &Event) {
    let waits = [event.handle()];
    ur_conformance::ok!(Enqueue.pfnEventsWait(queue.handle(), 1, waits.as_ptr(), null_mut()));
}

#[test]
fn a_queue_that_waits_for_an_event_of_a_capture_joins_it_until_the_capture_ends() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    for flags in [Flags::empty(), Flags::PROFILING_ENABLE] {
        let (queue, other) = (fixture.in_order(), fixture.queue(flags));
        let kernel = fixture.basic(c"add_constant");
        let (one, two) = (fixture.memory(Kind::Device, COUNT * 4), fixture.memory(Kind::Device, COUNT * 4));
        one.write(&queue, &[0u32; COUNT]);
        two.write(&queue, &[0u32; COUNT]);
        // What the other queue did before is its own matter.
        let before = add(&kernel, &two, 100).event_on(&other);
        begin(&queue);
        let root = add(&kernel, &one, 1).event_on(&queue);
        let forked = add(&kernel, &two, 2).after(&[&root]).event_on(&other);
        assert!(is_capturing(&other) && is_capturing(&queue));
        add(&kernel, &one, 4).on(&queue);
        add(&kernel, &two, 8).after(&[&forked]).on(&other);
        let last = add(&kernel, &two, 16).event_on(&other);
        add(&kernel, &one, 32).after(&[&last]).on(&queue);
        let graph = Graph::take(end(&queue));
        assert!(!is_capturing(&other) && !is_capturing(&queue));
        before.wait();
        let tree = native(&graph);
        assert_eq!((tree.nodes().len(), tree.edges().len()), (6, 6), "a diamond: 1 > 4 > 32, 1 > 2 > 8 > 16 > 32");
        let executable = graph.instantiate();
        for round in 1..3 {
            executable.on(&queue);
            assert_eq!(one.read::<u32>(&queue, COUNT), vec![37 * round; COUNT]);
            assert_eq!(two.read::<u32>(&queue, COUNT), vec![100 + 26 * round; COUNT]);
        }
        // Both queues execute again.
        add(&kernel, &one, 1).event_on(&other).wait();
        other.finish();
    }
}

#[test]
fn a_fork_of_a_fork_is_joined_by_whoever_waits_for_it() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queues: Vec<Queue> = (0..4).map(|_| fixture.in_order()).collect();
    let kernel = fixture.basic(c"add_constant");
    let memory = fixture.memory(Kind::Device, COUNT * 4);
    memory.write(&queues[0], &[0u32; COUNT]);
    let graph = Graph::captured(&queues[0], || {
        let mut event = add(&kernel, &memory, 1).event_on(&queues[0]);
        for queue in &queues[1..] {
            event = add(&kernel, &memory, 1).after(&[&event]).event_on(queue);
        }
        join(&queues[0], &event);
        add(&kernel, &memory, 1).on(&queues[0]);
    });
    assert_eq!(native(&graph).nodes().len(), 5, "nothing but the kernels");
    graph.instantiate().on(&queues[2]);
    queues[2].finish();
    assert_eq!(memory.read::<u32>(&queues[0], COUNT), vec![5; COUNT]);
}

#[test]
fn waits_between_commands_of_one_capturing_queue_add_nothing() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let kernel = fixture.basic(c"empty");
    let graph = Graph::captured(&queue, || {
        let first = Launch::new(&kernel, &[1]).event_on(&queue);
        let second = Launch::new(&kernel, &[1]).after(&[&first]).event_on(&queue);
        join(&queue, &second);
        let all = event_of(|event| ur!(Enqueue.pfnEventsWaitWithBarrier(queue.handle(), 0, null(), event)));
        Launch::new(&kernel, &[1]).after(&[&first, &all]).on(&queue);
    });
    let graph = native(&graph);
    assert_eq!((graph.nodes().len(), graph.edges().len()), (3, 2));
}

#[test]
fn urQueueEndGraphCaptureExp_refuses_forks_that_nobody_joined_and_leaves_both_queues_as_before() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let (queue, other) = (fixture.in_order(), fixture.in_order());
    let kernel = fixture.basic(c"empty");
    begin(&queue);
    let root = Launch::new(&kernel, &[1]).event_on(&queue);
    let forked = Launch::new(&kernel, &[1]).after(&[&root]).event_on(&other);
    let mut graph = null_mut();
    refused!(ERROR_GRAPH_UNJOINED_FORKS, QueueExp.pfnEndGraphCaptureExp(queue.handle(), &raw mut graph));
    assert!(graph.is_null() && !is_capturing(&queue) && !is_capturing(&other));
    let waits = [forked.handle()];
    refused!(ERROR_GRAPH_INTERNAL_EVENT, Event.pfnWait(1, waits.as_ptr()));
    for queue in [&queue, &other] {
        Launch::new(&kernel, &[1]).event_on(queue).wait();
        queue.finish();
    }
}

#[test]
fn a_queue_ends_only_the_capture_that_it_began() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let (queue, other) = (fixture.in_order(), fixture.in_order());
    let kernel = fixture.basic(c"empty");
    let mut graph = null_mut();
    refused!(ERROR_COMMAND_LIST_NOT_CAPTURING, QueueExp.pfnEndGraphCaptureExp(queue.handle(), &raw mut graph));
    begin(&queue);
    let root = Launch::new(&kernel, &[1]).event_on(&queue);
    let forked = Launch::new(&kernel, &[1]).after(&[&root]).event_on(&other);
    refused!(ERROR_COMMAND_LIST_NOT_CAPTURING, QueueExp.pfnEndGraphCaptureExp(other.handle(), &raw mut graph));
    refused!(ERROR_INVALID_OPERATION, QueueExp.pfnBeginGraphCaptureExp(other.handle()));
    join(&queue, &forked);
    let graph = Graph::take(end(&queue));
    assert_eq!(native(&graph).nodes().len(), 2);
}

#[test]
fn two_captures_do_not_meet() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let (queue, other, third) = (fixture.in_order(), fixture.in_order(), fixture.in_order());
    let kernel = fixture.basic(c"empty");
    begin(&queue);
    begin(&other);
    let one = Launch::new(&kernel, &[1]).event_on(&queue);
    let two = Launch::new(&kernel, &[1]).event_on(&other);
    let merge = [ur_conformance::ffi::ur_result_t::ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT];
    Launch::new(&kernel, &[1]).after(&[&one]).refused(&merge, &other);
    Launch::new(&kernel, &[1]).after(&[&one, &two]).refused(&merge, &third);
    assert!(!is_capturing(&third));
    for queue in [&queue, &other] {
        let graph = Graph::take(end(queue));
        assert_eq!(native(&graph).nodes().len(), 1, "the refusal broke nothing");
    }
}

#[test]
fn a_queue_may_be_released_while_it_captures() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let kernel = fixture.basic(c"empty");
    let (queue, survivor) = (fixture.in_order(), fixture.in_order());
    // One that began a capture takes it along.
    let alone = fixture.in_order();
    begin(&alone);
    Launch::new(&kernel, &[1]).on(&alone);
    drop(alone);
    // One that joined stays part of it.
    let joined = fixture.in_order();
    begin(&queue);
    let root = Launch::new(&kernel, &[1]).event_on(&queue);
    let forked = Launch::new(&kernel, &[1]).after(&[&root]).event_on(&joined);
    drop(joined);
    join(&queue, &forked);
    let graph = Graph::take(end(&queue));
    assert_eq!(native(&graph).nodes().len(), 2);
    graph.instantiate().on(&survivor);
    survivor.finish();
}

#[test]
fn urQueueRelease_of_a_queue_that_captures_into_a_graph_leaves_the_graph_as_it_was() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let (kernel, other) = (fixture.basic(c"empty"), fixture.in_order());
    let into = |queue: &Queue, graph: &Graph| {
        ok!(QueueExp.pfnBeginCaptureIntoGraphExp(queue.handle(), graph.handle()));
        Launch::new(&kernel, &[1]).on(queue);
    };
    for queue in [fixture.in_order(), fixture.out_of_order()] {
        let graph = Graph::empty(&fixture);
        into(&queue, &graph);
        drop(queue);
        assert!(graph.is_empty());
        into(&other, &graph);
        assert_eq!(end(&other), graph.handle());
        assert_eq!(native(&graph).nodes().len(), 1);
        graph.instantiate().on(&other);
    }
    other.finish();
}
