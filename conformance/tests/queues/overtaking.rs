//! What threads that use one queue or one timeline at a time must not do to each other: overtake an unresolved barrier, hold up a
//! signal or a question by a stream that is being made, or end another one's wait for a value.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::null;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use ur_conformance::ffi::{ur_event_info_t, ur_event_status_t as Status, ur_queue_info_t, ur_result_t as Code};
use ur_conformance::owned::event_of;
use ur_conformance::{Event, Fixture, Gate, Launch, Queue, Timeline, ask, needs_sim, query, timeline, ur};

/// So long a call may take that must not wait, at most.
const PATIENCE: Duration = Duration::from_secs(10);
/// The call that makes a stream.
const MAKE: &str = "cuStreamCreateWithPriority";

fn status(event: &Event) -> Status {
    Status(query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS))))
}

fn barrier(queue: &Queue) -> Event {
    event_of(|event| ur!(Enqueue.pfnEventsWaitWithBarrier(queue.handle(), 0, null(), event)))
}

/// Has the queue wait for a value; the event of that.
fn wait_for(queue: &Queue, timeline: &Timeline, value: u64) -> Event {
    let (queue, handle, value) = (queue.handle(), timeline.handle(), &raw const value);
    event_of(|event| ur!(TimelineExt.pfnEnqueueTimelineWaitExt(queue, 1, &raw const handle, value, 0, null(), event)))
}

fn hear<T>(answers: &Receiver<T>) -> Option<T> {
    answers.recv_timeout(PATIENCE).ok()
}

#[test]
fn a_barrier_behind_an_unresolved_wait_is_waited_for_by_streams_that_were_made_meanwhile() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    if !timeline::are_there() {
        return;
    }
    let (queue, other, timeline) = (fixture.out_of_order(), fixture.in_order(), Timeline::at_zero(&fixture));
    let kernel = fixture.basic(c"empty");
    let launch = || Launch::new(&kernel, &[1]);
    launch().on(&queue);
    let behind = std::thread::scope(|scope| {
        let streams = sim.hold_calls(MAKE);
        // It finds no barrier, and has one when it has its stream.
        let launching = scope.spawn(|| launch().on(&queue));
        streams.wait_for_one(|| launching.is_finished());
        let behind = wait_for(&queue, &timeline, 1);
        drop(streams);
        launching.join().expect("a launch");
        behind
    });
    assert_eq!(status(&behind), Status::QUEUED, "the timeline is not signalled");
    let mut gate = Gate::new(&fixture);
    gate.block(&other);
    other.signal(&timeline, 1);
    while status(&behind) == Status::QUEUED {
        std::thread::yield_now();
    }
    // As many as make every stream's turn come twice.
    let launched: Vec<_> = (0..16).map(|_| launch().event_on(&queue)).collect();
    // What does not wait has run by then.
    let second = fixture.in_order();
    launch().event_on(&second).wait();
    while !is_empty(&second) {
        std::thread::yield_now();
    }
    let early = launched.iter().filter(|event| status(event) == Status::COMPLETE).count();
    assert_eq!(early, 0, "launches that came before the barrier");
    assert!(!gate.has_passed());
    gate.open();
    queue.finish();
    other.finish();
}

fn is_empty(queue: &Queue) -> bool {
    query::get::<u8>(ask!(Queue.pfnGetInfo(queue.handle(), ur_queue_info_t::EMPTY))) != 0
}

#[test]
fn a_barrier_waits_for_the_one_before_that_another_thread_has_just_kept() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    if !timeline::are_there() {
        return;
    }
    let (queue, timeline) = (fixture.out_of_order(), Timeline::at_zero(&fixture));
    let kernel = fixture.basic(c"empty");
    // Two streams, so that a barrier records an event of the second one, behind a lock that other barriers want.
    (0..2).for_each(|_| Launch::new(&kernel, &[1]).on(&queue));
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    gate.block(&queue);
    std::thread::scope(|scope| {
        let records = sim.hold_calls("cuEventRecord");
        let first = scope.spawn(|| drop(barrier(&queue)));
        records.wait_for_one(|| first.is_finished());
        // Both want what the first barrier has. Which one gets it first is open; either way the timeline comes before what is
        // enqueued when both have returned.
        let waiting = scope.spawn(|| queue.wait_for(&timeline, 1));
        let second = scope.spawn(|| drop(barrier(&queue)));
        drop(records);
        [first, waiting, second].into_iter().for_each(|thread| thread.join().expect("a barrier"));
    });
    let behind = Launch::new(&kernel, &[1]).event_on(&queue);
    assert_eq!(status(&behind), Status::QUEUED, "the timeline is not signalled");
    gate.open();
    timeline.signal(1);
    behind.wait();
    queue.finish();
}

#[test]
fn urQueueGetInfo_EMPTY_does_not_wait_for_a_stream_that_another_thread_makes() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (queue, kernel) = (fixture.out_of_order(), fixture.basic(c"empty"));
    Launch::new(&kernel, &[1]).on(&queue);
    std::thread::scope(|scope| {
        let streams = sim.hold_calls(MAKE);
        let launching = scope.spawn(|| Launch::new(&kernel, &[1]).on(&queue));
        streams.wait_for_one(|| launching.is_finished());
        let (told, answers) = channel();
        let queue = &queue;
        scope.spawn(move || told.send(is_empty(queue)));
        let answer = hear(&answers);
        drop(streams);
        assert!(answer.is_some(), "the question waits for the stream");
    });
    queue.finish();
}

#[test]
fn urTimelineSignalExt_does_not_wait_for_a_stream_that_a_kept_command_needs() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    if !timeline::are_there() {
        return;
    }
    fixture.allow_late_releases();
    let (queue, timeline) = (fixture.out_of_order(), Timeline::at_zero(&fixture));
    let kernel = fixture.basic(c"empty");
    std::thread::scope(|scope| {
        let (told, answers) = channel();
        let (go, may_go) = channel();
        let (queue, timeline, kernel) = (&queue, &timeline, &kernel);
        // One thread, so that the queue's streams are its own.
        scope.spawn(move || {
            Launch::new(kernel, &[1]).on(queue);
            let kept = Launch::new(kernel, &[1]).after(&[&timeline.event(1)]).event_on(queue);
            let _ = told.send(());
            let _ = may_go.recv();
            timeline.signal(1);
            let _ = told.send(());
            kept.wait();
        });
        assert!(hear(&answers).is_some());
        let streams = sim.hold_calls(MAKE);
        let _ = go.send(());
        let answer = hear(&answers);
        drop(streams);
        assert!(answer.is_some(), "the signal waits for the stream");
    });
    queue.finish();
}

#[test]
fn urTimelineWaitExt_hears_of_a_signal_whose_event_stands_for_another_one_already() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    if !timeline::are_there() {
        return;
    }
    fixture.allow_late_releases();
    let queue = fixture.in_order();
    for _ in 0..20 {
        let [first, never, next] = [(); 3].map(|()| Timeline::at_zero(&fixture));
        let mut gates = [(); 2].map(|()| Gate::new(&fixture));
        gates[0].block(&queue);
        queue.signal(&first, 1);
        gates[1].block(&queue);
        std::thread::scope(|scope| {
            let asked = sim.calls_so_far("cuEventQuery");
            let waiting = scope.spawn(|| timeline::wait(&[(&first, 1), (&never, 1)], true, u64::MAX));
            // It has looked twice, and is watched from then on.
            while sim.calls_so_far("cuEventQuery") < asked + 4 {
                std::thread::yield_now();
            }
            gates[0].open();
            while first.value() != 1 {}
            queue.signal(&next, 1);
            assert_eq!(waiting.join().expect("a wait"), (Code::SUCCESS, Some(0)));
        });
        assert!(!gates[1].has_passed(), "the wait was for the signal behind the second gate");
        gates[1].open();
        queue.finish();
    }
}
