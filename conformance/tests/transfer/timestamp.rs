//! `urEnqueueTimestampRecordingExp`: a time on any queue, in the order of the queue.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    CBool, ur_command_t, ur_event_handle_t, ur_event_info_t, ur_profiling_info_t as info, ur_queue_flags_t as Flags,
    ur_result_t as Code,
};
use ur_conformance::owned::event_of;
use ur_conformance::sim::status;
use ur_conformance::{Event, Fixture, Gate, Launch, Queue, ask, needs_sim, query, refused, renew_adapter, ur};

const ORDERS: [Flags; 4] = [
    Flags::empty(),
    Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE,
    Flags::PROFILING_ENABLE,
    Flags::PROFILING_ENABLE.union(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE),
];
const ALL: [info; 5] =
    [info::COMMAND_QUEUED, info::COMMAND_SUBMIT, info::COMMAND_START, info::COMMAND_END, info::COMMAND_COMPLETE];

fn times(event: &Event) -> [u64; 5] {
    ALL.map(|property| query::get(ask!(Event.pfnGetProfilingInfo(event.handle(), property))))
}

fn record(queue: &Queue, blocking: bool, waits: &[ur_event_handle_t]) -> Event {
    let (count, list) = (waits.len() as u32, if waits.is_empty() { null() } else { waits.as_ptr() });
    let blocking = if blocking { CBool::TRUE } else { CBool::FALSE };
    event_of(|event| ur!(EnqueueExp.pfnTimestampRecordingExp(queue.handle(), blocking, count, list, event)))
}

#[test]
fn urEnqueueTimestampRecordingExp_gives_one_moment_on_every_queue() {
    let fixture = Fixture::new();
    for flags in ORDERS {
        let queue = fixture.queue(flags);
        let event = record(&queue, true, &[]);
        let times = times(&event);
        assert!(times.is_sorted() && times[0] > 0, "{flags:?}: {times:?}");
        assert_eq!(times[0], times[1], "a recording is submitted when it is enqueued");
        assert_eq!(times[2], times[3], "a recording takes no time");
        let command = ur_command_t(query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_TYPE))));
        assert_eq!(command, ur_command_t::TIMESTAMP_RECORDING_EXP);
        queue.finish();
    }
}

/// Whichever of the queue's streams it is on.
#[test]
fn urEnqueueTimestampRecordingExp_on_an_out_of_order_queue_comes_after_the_barrier_before_it() {
    let fixture = Fixture::new();
    let queue = fixture.out_of_order();
    let mut gate = Gate::new(&fixture);
    let list = [gate.block_event(&queue)];
    let waits = [list[0].handle()];
    record(&queue, false, &[]).wait();
    let barrier = event_of(|event| ur!(Enqueue.pfnEventsWaitWithBarrier(queue.handle(), 1, waits.as_ptr(), event)));
    let events: Vec<Event> = (0..8).map(|_| record(&queue, false, &[])).collect();
    let is_complete = |event: &Event| {
        query::get::<i32>(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS))) == 0
    };
    // What does not wait has been reached by the last of so many questions. Another queue's work is no witness: it may need code
    // that is loaded behind the gate, or share a channel with what waits here.
    let mut early = 0;
    for _ in 0..1000 {
        early = events.iter().filter(|event| is_complete(event)).count();
    }
    assert!(!gate.has_passed());
    gate.open();
    assert_eq!(early, 0, "recordings that came before the barrier");
    barrier.wait();
    queue.finish();
}

#[test]
fn urEnqueueTimestampRecordingExp_keeps_the_order_of_the_queue() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"empty");
    for flags in [Flags::empty(), Flags::PROFILING_ENABLE] {
        let queue = fixture.queue(flags);
        let events: Vec<Event> = (0..20)
            .map(|_| {
                Launch::new(&kernel, &[1]).on(&queue);
                record(&queue, false, &[])
            })
            .collect();
        queue.finish();
        let ends: Vec<u64> = events.iter().map(|event| times(event)[3]).collect();
        assert!(ends.is_sorted(), "{ends:?}");
    }
}

#[test]
fn urEnqueueTimestampRecordingExp_comes_after_its_wait_list() {
    let fixture = Fixture::new();
    for flags in ORDERS {
        let (queue, other) = (fixture.queue(flags), fixture.queue(Flags::PROFILING_ENABLE));
        // The first recording of a device starts its clock.
        drop(record(&queue, true, &[]));
        let mut gate = Gate::new(&fixture);
        let blocked = gate.block_event(&other);
        let event = record(&queue, false, &[blocked.handle()]);
        let mut value = 0u64;
        let out = (&raw mut value).cast();
        refused!(
            ERROR_PROFILING_INFO_NOT_AVAILABLE,
            Event.pfnGetProfilingInfo(event.handle(), info::COMMAND_END, 8, out, null_mut())
        );
        gate.open();
        event.wait();
        assert!(times(&blocked)[3] <= times(&event)[3]);
        queue.finish();
        other.finish();
    }
}

/// With the queue full of work: the clock starts beside it.
#[test]
fn urEnqueueTimestampRecordingExp_does_not_wait_when_it_is_not_blocking() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    let event = record(&queue, false, &[]);
    gate.open();
    event.wait();
    assert!(gate.has_passed());
    assert!(times(&event).is_sorted());
}

#[test]
fn urEnqueueTimestampRecordingExp_refuses_bad_input() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (q, no) = (queue.handle(), CBool::FALSE);
    let mut event = null_mut();
    let e = &raw mut event;
    let foreign: [ur_event_handle_t; 1] = [q.cast()];
    refused!(ERROR_INVALID_NULL_HANDLE, EnqueueExp.pfnTimestampRecordingExp(null_mut(), no, 0, null(), e));
    refused!(ERROR_INVALID_NULL_POINTER, EnqueueExp.pfnTimestampRecordingExp(q, no, 0, null(), null_mut()));
    refused!(ERROR_INVALID_EVENT_WAIT_LIST, EnqueueExp.pfnTimestampRecordingExp(q, no, 1, null(), e));
    refused!(ERROR_INVALID_EVENT_WAIT_LIST, EnqueueExp.pfnTimestampRecordingExp(q, no, 0, foreign.as_ptr(), e));
    refused!(ERROR_INVALID_EVENT, EnqueueExp.pfnTimestampRecordingExp(q, no, 1, foreign.as_ptr(), e));
    assert!(event.is_null());
}

#[test]
fn urEnqueueTimestampRecordingExp_that_fails_natively_leaves_nothing_and_works_the_next_time() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    for (call, nth) in [
        ("cuStreamCreateWithPriority", 1),
        // Further ones are made for later commands, which make them themselves if that fails.
        ("cuEventCreate", 1),
        ("cuEventRecord", 1),
        ("cuEventRecord", 2),
        // The clock's own look for its first moment.
        ("cuEventQuery", 1),
    ] {
        // The first command that wants times fixes what they are counted from.
        renew_adapter();
        let context = fixture.context_of(&fixture.devices[..1]);
        let queue = fixture.queue_in(context.handle(), fixture.device(), Flags::empty());
        let mut event = null_mut();
        sim.fail(call, nth, status::UNKNOWN);
        let answer = ur!(EnqueueExp.pfnTimestampRecordingExp(queue.handle(), CBool::FALSE, 0, null(), &raw mut event));
        sim.clear_faults();
        assert_ne!(answer, Code::SUCCESS, "{call} {nth}");
        assert!(event.is_null());
        let event = record(&queue, true, &[]);
        assert!(times(&event).is_sorted());
        queue.finish();
    }
}
