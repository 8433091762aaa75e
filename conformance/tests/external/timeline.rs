//! Timelines over another API's semaphores: `urTimelineCreateWithExternalSemaphoreExt`.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    ur_context_handle_t, ur_event_handle_t, ur_event_info_t, ur_event_status_t as Status, ur_ext_timeline_handle_t,
    ur_ext_timeline_info_t, ur_queue_flags_t as Flags, ur_result_t as Code,
};
use ur_conformance::foreign::SemaphoreKind;
use ur_conformance::owned::event_of;
use ur_conformance::{
    Event, Fixture, Gate, Kind, Launch, Queue, Timeline, ask, needs_sim, query, refused, sim, timeline, ur,
};

use crate::import::Semaphore;

const ORDERS: [Flags; 4] = [
    Flags::empty(),
    Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE,
    Flags::PROFILING_ENABLE,
    Flags::PROFILING_ENABLE.union(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE),
];
const FOREVER: u64 = u64::MAX;

fn try_over(context: ur_context_handle_t, semaphore: &Semaphore<'_>) -> Result<Timeline, Code> {
    let mut made: ur_ext_timeline_handle_t = null_mut();
    let (semaphore, out) = (semaphore.handle, &raw mut made);
    let answer = ur!(TimelineExt.pfnTimelineCreateWithExternalSemaphoreExt(context, semaphore, out));
    assert_eq!(made.is_null(), answer != Code::SUCCESS);
    if answer == Code::SUCCESS { Ok(Timeline::take(made)) } else { Err(answer) }
}

#[track_caller]
fn over(fixture: &Fixture, semaphore: &Semaphore<'_>) -> Timeline {
    fixture.allow_late_releases();
    try_over(fixture.context(), semaphore).expect("a timeline over a semaphore")
}

fn status(event: &Event) -> Status {
    Status(query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS))))
}

#[test]
fn a_queue_waits_for_what_the_other_api_signals() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let sim = needs_sim!(fixture);
    let (control, kernel) = (sim.foreign_semaphores(), fixture.basic(c"add_constant"));
    for flags in ORDERS {
        let own = sim.foreign_semaphore(true);
        let semaphore = Semaphore::new(&fixture, SemaphoreKind::Timeline, own.try_clone().expect("a descriptor"));
        let timeline = over(&fixture, &semaphore);
        let (queue, memory) = (fixture.queue(flags), fixture.memory(Kind::Host, 4));
        memory.store(0, 1);
        queue.wait_for(&timeline, 5);
        // Out of order, too, whichever streams they are on.
        let add = || Launch::new(&kernel, &[1]).local(&[1]).pointer(memory.pointer()).value(6u32).value(1u32);
        let mut last = add().event_on(&queue);
        for _ in 0..9 {
            last = add().after(&[&last]).event_on(&queue);
        }
        control.signal(&own, 4);
        assert_ne!(status(&last), Status::COMPLETE);
        assert_eq!(memory.load(0), 1, "{flags:?}");
        control.signal(&own, 5);
        queue.finish();
        assert_eq!(memory.load(0), 61, "{flags:?}");
    }
}

#[test]
fn what_queues_and_the_host_signal_is_seen_by_the_other_api_and_waited_for_here() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let sim = needs_sim!(fixture);
    let control = sim.foreign_semaphores();
    for flags in ORDERS {
        let own = sim.foreign_semaphore(true);
        let semaphore = Semaphore::new(&fixture, SemaphoreKind::Timeline, own.try_clone().expect("a descriptor"));
        let timeline = over(&fixture, &semaphore);
        let (queue, other) = (fixture.queue(flags), fixture.queue(flags));
        let mut gate = Gate::new(&fixture);
        gate.block(&queue);
        // After everything before it, out of order too.
        queue.signal(&timeline, 3);
        other.wait_for(&timeline, 2);
        let (point, q) = (timeline.event(3), other.handle());
        let behind = event_of(|event| ur!(Enqueue.pfnEventsWait(q, 0, null(), event)));
        assert_eq!(timeline.wait(3, 1_000_000), Code::ERROR_TIMEOUT_EXT);
        assert!(!control.wait(&own, 3, 0) && status(&point) != Status::COMPLETE && status(&behind) != Status::COMPLETE);
        gate.open();
        assert!(control.wait(&own, 3, 10_000));
        assert_eq!(timeline.wait(3, FOREVER), Code::SUCCESS);
        [&point, &behind].into_iter().for_each(Event::wait);
        timeline.signal(7);
        assert!(control.wait(&own, 7, 0), "a signal of the host is reached when the call returns");
        assert_eq!(timeline.wait(6, 0), Code::SUCCESS);
        [queue, other].iter().for_each(Queue::finish);
    }
}

#[test]
fn what_only_the_other_api_knows_is_refused_and_changes_nothing() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let sim = needs_sim!(fixture);
    let own = sim.foreign_semaphore(true);
    let control = sim.foreign_semaphores();
    let semaphore = Semaphore::new(&fixture, SemaphoreKind::Timeline, own.try_clone().expect("a descriptor"));
    let binary = Semaphore::new(&fixture, SemaphoreKind::Binary, sim.foreign_semaphore(false));
    let far = fixture.context_of(&fixture.devices[..1]);
    assert_eq!(try_over(fixture.context(), &binary).err(), Some(Code::ERROR_INVALID_VALUE));
    assert_eq!(try_over(far.handle(), &semaphore).err(), Some(Code::ERROR_INVALID_CONTEXT));
    let (timeline, plain, queue) = (over(&fixture, &semaphore), Timeline::at_zero(&fixture), fixture.in_order());
    let (context, device) = (fixture.context(), fixture.device());
    // The import stays as long as the timeline.
    refused!(ERROR_INVALID_VALUE, BindlessImagesExp.pfnReleaseExternalSemaphoreExp(context, device, semaphore.handle));
    assert_eq!(timeline.wait(1, 0), Code::ERROR_UNSUPPORTED_FEATURE);
    let (mut value, mut event): (u64, ur_event_handle_t) = (0, null_mut());
    let (handle, place) = (timeline.handle(), (&raw mut value).cast());
    refused!(ERROR_UNSUPPORTED_FEATURE, TimelineExt.pfnTimelineGetEventExt(handle, 1, &raw mut event));
    let property = ur_ext_timeline_info_t::VALUE;
    refused!(ERROR_UNSUPPORTED_FEATURE, TimelineExt.pfnTimelineGetInfoExt(handle, property, 8, place, null_mut()));
    refused!(ERROR_UNSUPPORTED_FEATURE, TimelineExt.pfnTimelineFailExt(handle, Code::ERROR_UNKNOWN));
    // In a list with others, and on a queue that keeps its commands.
    let (list, values, q) = ([plain.handle(), handle], [1u64, 1], queue.handle());
    let (list, values) = (list.as_ptr(), values.as_ptr());
    let (none, nobody) = (null(), null_mut());
    refused!(ERROR_UNSUPPORTED_FEATURE, TimelineExt.pfnEnqueueTimelineWaitExt(q, 2, list, values, 0, none, nobody));
    refused!(ERROR_UNSUPPORTED_FEATURE, TimelineExt.pfnEnqueueTimelineSignalExt(q, 2, list, values, 0, none, nobody));
    queue.wait_for(&plain, 1);
    let list = &raw const handle;
    refused!(ERROR_UNSUPPORTED_FEATURE, TimelineExt.pfnEnqueueTimelineSignalExt(q, 1, list, values, 0, none, nobody));
    plain.signal(1);
    queue.finish();
    // None of the refused signals has happened.
    assert!(!control.wait(&own, 1, 0));
    queue.signal(&timeline, 1);
    assert!(control.wait(&own, 1, 10_000));
    queue.finish();
}

#[test]
fn urEnqueueTimelineSignalExt_that_fails_natively_leaves_the_value_to_the_next_signal() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let sim = needs_sim!(fixture);
    let own = sim.foreign_semaphore(true);
    let semaphore = Semaphore::new(&fixture, SemaphoreKind::Timeline, own.try_clone().expect("a descriptor"));
    let (timeline, queue) = (over(&fixture, &semaphore), fixture.in_order());
    let (handle, value) = (timeline.handle(), 5);
    let (q, handle, value) = (queue.handle(), &raw const handle, &raw const value);
    sim.fail("cuSignalExternalSemaphoresAsync", 1, sim::status::UNKNOWN);
    refused!(
        ERROR_ADAPTER_SPECIFIC,
        TimelineExt.pfnEnqueueTimelineSignalExt(q, 1, handle, value, 0, null(), null_mut())
    );
    queue.signal(&timeline, 5);
    queue.finish();
    assert!(sim.foreign_semaphores().wait(&own, 5, 0), "the other API sees the signal");
}
