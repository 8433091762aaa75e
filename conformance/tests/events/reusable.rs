//! `urEventCreateExp` and the barrier that signals such an event: again and again, each time for what came before it.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::mpsc::{TryRecvError, channel};
use std::time::Duration;

use ur_conformance::ffi::{
    ur_device_info_t, ur_event_handle_t, ur_event_info_t, ur_event_status_t as Status, ur_exp_event_desc_t,
    ur_exp_event_flags_t as Flags, ur_profiling_info_t as Time, ur_queue_flags_t as QueueFlags, ur_queue_handle_t,
};
use ur_conformance::native::Hip;
use ur_conformance::owned::event_of;
use ur_conformance::sim::status as status_of;
use ur_conformance::{
    Event, Fixture, Gate, Kind, Launch, Queue, Timeline, ask, needs_function, needs_sim, ok, query, refused, timeline,
    ur,
};

/// So long a call may take that must not wait, at most.
const PATIENCE: Duration = Duration::from_secs(10);
pub(crate) const BOTH: [QueueFlags; 2] = [QueueFlags::empty(), QueueFlags::OUT_OF_ORDER_EXEC_MODE_ENABLE];

pub(crate) fn reusable(fixture: &Fixture) -> Event {
    with_flags(fixture, Flags::empty())
}

pub(crate) fn with_flags(fixture: &Fixture, flags: Flags) -> Event {
    let description = ur_exp_event_desc_t { flags, ..Default::default() };
    let mut event = null_mut();
    ok!(EventExp.pfnCreateExp(fixture.context(), fixture.device(), &raw const description, &raw mut event));
    Event::take(event)
}

/// A barrier that signals the event after a list of others.
#[track_caller]
pub(crate) fn signal(queue: &Queue, event: &Event, waits: &[ur_event_handle_t]) {
    let mut given = event.handle();
    let count = u32::try_from(waits.len()).expect("a short list");
    let list = if waits.is_empty() { null() } else { waits.as_ptr() };
    ok!(Enqueue.pfnEventsWaitWithBarrierExt(queue.handle(), null(), count, list, &raw mut given));
    assert_eq!(given, event.handle(), "the handle stays the same");
}

pub(crate) fn status(event: &Event) -> Status {
    Status(query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS))))
}

#[test]
fn urEventCreateExp_gives_an_event_that_is_complete_until_something_signals_it() {
    needs_function!(urEventCreateExp);
    let fixture = Fixture::new();
    let supported: u8 =
        query::get(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::REUSABLE_EVENTS_SUPPORT_EXP)));
    assert_eq!(supported, 1);
    let (event, queue) = (reusable(&fixture), fixture.in_order());
    assert_eq!(status(&event), Status::COMPLETE);
    event.wait();
    let list = [event.handle()];
    ok!(Enqueue.pfnEventsWait(queue.handle(), 1, list.as_ptr(), null_mut()));
    queue.finish();
    let context: *mut c_void = query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::CONTEXT)));
    assert_eq!(context, fixture.context().cast());
    let references: u32 = query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::REFERENCE_COUNT)));
    assert_eq!(references, 1);
    TIMES.into_iter().for_each(|property| no_time(&event, property));
}

#[test]
fn urEventGetInfo_COMMAND_QUEUE_gives_the_queue_that_signalled_last_which_has_a_native_handle() {
    needs_function!(urEventCreateExp);
    let fixture = Fixture::over_all_devices();
    let event = reusable(&fixture);
    let asked = || -> ur_queue_handle_t {
        let queue: *mut c_void = query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_QUEUE)));
        queue.cast()
    };
    let native = |queue: ur_queue_handle_t| {
        let mut native = 0;
        ok!(Queue.pfnGetNativeHandle(queue, null_mut(), &raw mut native));
        native
    };
    assert!(asked().is_null(), "nothing has signalled it yet");
    for (&device, flags) in fixture.devices.iter().flat_map(|device| BOTH.map(|flags| (device, flags))) {
        let queue = fixture.queue_in(fixture.context(), device, flags);
        signal(&queue, &event, &[]);
        assert_eq!(asked(), queue.handle());
        let stream = native(queue.handle());
        queue.finish();
        drop(queue);
        assert_eq!(native(asked()), stream, "of a queue that was released");
    }
}

#[test]
fn urEnqueueEventsWaitWithBarrierExt_signals_the_event_after_everything_before_it() {
    needs_function!(urEventCreateExp);
    for flags in BOTH {
        let fixture = Fixture::new();
        let (queue, other) = (fixture.queue(flags), fixture.in_order());
        let (event, fill) = (reusable(&fixture), fixture.basic(c"fill"));
        let result = fixture.memory(Kind::Host, 4);
        for value in 1u32..=3 {
            result.store(0, 0);
            let mut gate = Gate::new(&fixture);
            gate.block(&queue);
            signal(&queue, &event, &[]);
            let after = Launch::new(&fill, &[1]).pointer(result.pointer()).value(value).value(1u32).after(&[&event]);
            let filled = after.event_on(&other);
            assert_eq!((status(&event), result.load(0)), (Status::SUBMITTED, 0), "{flags:?}");
            gate.open();
            event.wait();
            assert_eq!(status(&event), Status::COMPLETE);
            filled.wait();
            assert_eq!(result.load(0), value, "{flags:?}");
        }
    }
}

#[test]
fn a_wait_is_for_the_signal_before_it_and_no_later_one() {
    needs_function!(urEventCreateExp);
    for flags in BOTH {
        let fixture = Fixture::new();
        let (queue, other) = (fixture.queue(flags), fixture.in_order());
        let event = reusable(&fixture);
        let fill = fixture.basic(c"fill");
        let result = fixture.memory(Kind::Host, 8);
        result.store(0, 0);
        result.store(1, 0);
        let (mut first, mut second) = (Gate::new(&fixture), Gate::new(&fixture));
        let write = |at: usize| Launch::new(&fill, &[1]).pointer(result.at(4 * at)).value(7u32).value(1u32);
        first.block(&queue);
        signal(&queue, &event, &[]);
        let one = write(0).after(&[&event]).event_on(&other);
        second.block(&queue);
        signal(&queue, &event, &[]);
        first.open();
        one.wait();
        assert_eq!((result.load(0), result.load(1), status(&event)), (7, 0, Status::SUBMITTED), "{flags:?}");
        let two = write(1).after(&[&event]).event_on(&other);
        assert_eq!(result.load(1), 0, "the second signal waits for its gate");
        second.open();
        two.wait();
        assert_eq!((result.load(1), status(&event)), (7, Status::COMPLETE), "{flags:?}");
    }
}

#[test]
fn the_signal_comes_after_the_barrier_s_wait_list_which_may_hold_the_event_itself() {
    needs_function!(urEventCreateExp);
    for flags in BOTH {
        let fixture = Fixture::new();
        let (queue, other) = (fixture.queue(flags), fixture.in_order());
        let event = reusable(&fixture);
        let mut gate = Gate::new(&fixture);
        let blocked = gate.block_event(&other);
        signal(&queue, &event, &[blocked.handle()]);
        signal(&queue, &event, &[event.handle()]);
        assert_eq!(status(&event), Status::SUBMITTED, "{flags:?}");
        gate.open();
        event.wait();
        assert!(gate.has_passed(), "{flags:?}");
    }
}

#[test]
fn later_commands_of_an_out_of_order_queue_come_after_the_barrier_that_signals() {
    needs_function!(urEventCreateExp);
    let fixture = Fixture::new();
    let (queue, other) = (fixture.out_of_order(), fixture.in_order());
    let (event, fill) = (reusable(&fixture), fixture.basic(c"fill"));
    let result = fixture.memory(Kind::Host, 4);
    result.store(0, 0);
    let mut gate = Gate::new(&fixture);
    let blocked = gate.block_event(&other);
    signal(&queue, &event, &[blocked.handle()]);
    let later = Launch::new(&fill, &[1]).pointer(result.pointer()).value(5u32).value(1u32).event_on(&queue);
    assert_eq!((status(&later), result.load(0)), (Status::SUBMITTED, 0));
    gate.open();
    later.wait();
    assert_eq!(result.load(0), 5);
}

#[test]
fn a_signal_records_the_event_and_makes_none() {
    needs_function!(urEventCreateExp);
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (queue, event) = (fixture.in_order(), reusable(&fixture));
    queue.finish();
    let name = if Hip::loaded().is_some() { "hipEventRecord" } else { "cuEventRecord" };
    for _ in 0..3 {
        let ((), calls) = sim.calls_of(|| signal(&queue, &event, &[]));
        let recorded: u64 =
            calls.iter().filter(|(call, _)| call.contains("EventRecord")).map(|(_, count)| *count).sum();
        assert!(recorded > 0 && !calls.keys().any(|call| call.contains("EventCreate")), "{name}: {calls:?}");
    }
    sim.fail("cuEventRecord", 1, status_of::UNKNOWN);
    let mut given = event.handle();
    refused!(
        ERROR_ADAPTER_SPECIFIC,
        Enqueue.pfnEventsWaitWithBarrierExt(queue.handle(), null(), 0, null(), &raw mut given)
    );
    assert_eq!(given, event.handle());
    event.wait();
    signal(&queue, &event, &[]);
    event.wait();
}

#[test]
fn urEventSetCallback_on_a_signalled_event_is_called_once_for_that_signal() {
    needs_function!(urEventCreateExp);
    let fixture = Fixture::new();
    fixture.allow_late_releases();
    let (queue, event) = (fixture.in_order(), reusable(&fixture));
    for _ in 0..2 {
        let mut gate = Gate::new(&fixture);
        gate.block(&queue);
        signal(&queue, &event, &[]);
        let called = event.call_back();
        assert_eq!(called.try_recv(), Err(TryRecvError::Empty), "the gate is closed");
        gate.open();
        assert_eq!(called.recv(), Ok(()));
        assert!(called.recv().is_err(), "once");
    }
}

#[test]
fn urEventSetCallback_of_a_later_signal_does_not_wait_for_an_earlier_one_of_another_queue() {
    needs_function!(urEventCreateExp);
    let fixture = Fixture::new();
    fixture.allow_late_releases();
    let (slow, fast, event) = (fixture.in_order(), fixture.in_order(), reusable(&fixture));
    let (mut gate, mut other) = (Gate::new(&fixture), Gate::new(&fixture));
    gate.block(&slow);
    signal(&slow, &event, &[]);
    let first = event.call_back();
    other.block(&fast);
    signal(&fast, &event, &[]);
    let second = event.call_back();
    other.open();
    assert_eq!(second.recv(), Ok(()));
    assert!(!gate.has_passed());
    assert_eq!(first.try_recv(), Err(TryRecvError::Empty), "the first signal is behind its gate");
    gate.open();
    assert_eq!(first.recv(), Ok(()));
}

#[test]
fn an_event_may_be_released_while_its_signal_is_on_its_way() {
    needs_function!(urEventCreateExp);
    for flags in BOTH {
        let fixture = Fixture::new();
        let (queue, other) = (fixture.queue(flags), fixture.in_order());
        let mut gate = Gate::new(&fixture);
        gate.block(&queue);
        let event = reusable(&fixture);
        signal(&queue, &event, &[]);
        let list = [event.handle()];
        ok!(Enqueue.pfnEventsWait(other.handle(), 1, list.as_ptr(), null_mut()));
        drop(event);
        gate.open();
        other.finish();
        queue.finish();
        assert!(gate.has_passed(), "{flags:?}");
    }
}

const TIMES: [Time; 5] =
    [Time::COMMAND_QUEUED, Time::COMMAND_SUBMIT, Time::COMMAND_START, Time::COMMAND_END, Time::COMMAND_COMPLETE];

#[track_caller]
pub(crate) fn times(event: &Event) -> [u64; 5] {
    TIMES.map(|property| query::get(ask!(Event.pfnGetProfilingInfo(event.handle(), property))))
}

#[track_caller]
fn no_time(event: &Event, property: Time) {
    let (mut time, mut size) = (0u64, 7usize);
    let (out, size_out) = ((&raw mut time).cast(), &raw mut size);
    refused!(ERROR_PROFILING_INFO_NOT_AVAILABLE, Event.pfnGetProfilingInfo(event.handle(), property, 8, out, size_out));
    assert_eq!((time, size), (0, 7));
}

#[test]
fn urEventGetProfilingInfo_tells_when_the_last_signal_of_an_event_with_times_was_reached() {
    needs_function!(urEventCreateExp);
    let timed = [
        QueueFlags::empty(),
        QueueFlags::OUT_OF_ORDER_EXEC_MODE_ENABLE,
        QueueFlags::PROFILING_ENABLE,
        QueueFlags::PROFILING_ENABLE | QueueFlags::OUT_OF_ORDER_EXEC_MODE_ENABLE,
    ];
    for flags in timed {
        let fixture = Fixture::new();
        let property = ur_device_info_t::PER_EVENT_PROFILING_SUPPORT_EXP;
        assert_eq!(query::get::<u8>(ask!(Device.pfnGetInfo(fixture.device(), property))), 1);
        let queue = fixture.queue(flags);
        let event = with_flags(&fixture, Flags::ENABLE_PROFILING);
        TIMES.into_iter().for_each(|property| no_time(&event, property));
        let mut last = 0;
        for round in 0..3 {
            let mut gate = Gate::new(&fixture);
            gate.block(&queue);
            signal(&queue, &event, &[]);
            no_time(&event, Time::COMMAND_END);
            let mut before = 0;
            ok!(Device.pfnGetGlobalTimestamps(fixture.device(), &raw mut before, null_mut()));
            gate.open();
            event.wait();
            let now = times(&event);
            assert!(now.is_sorted() && now[0] > last, "{flags:?} {round}: {now:?} after {last}");
            assert_eq!(now[2], now[3], "a signal takes no time");
            // The clocks are set by each other to well within a millisecond.
            assert!(
                now[3] + 1_000_000 > before,
                "{flags:?}: reached at {} and the gate was closed at {before}",
                now[3]
            );
            last = now[3];
            assert_eq!(times(&event), now, "asked once more");
        }
    }
}

#[test]
fn urEventGetProfilingInfo_does_not_wait_for_a_signal_that_another_thread_is_making() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    needs_function!(urEventCreateExp);
    let (queue, event) = (fixture.in_order(), with_flags(&fixture, Flags::ENABLE_PROFILING));
    std::thread::scope(|scope| {
        let records = sim.hold_calls("cuEventRecord");
        let signalling = scope.spawn(|| signal(&queue, &event, &[]));
        records.wait_for_one(|| signalling.is_finished());
        let (told, answers) = channel();
        let event = &event;
        scope.spawn(move || {
            no_time(event, Time::COMMAND_END);
            let _ = told.send(());
        });
        let answer = answers.recv_timeout(PATIENCE);
        drop(records);
        assert!(answer.is_ok(), "the question waits for the signal");
    });
    queue.finish();
}

/// A queue that is full makes the call wait for what the queue waits for: the host task, perhaps, that signals the event on another.
#[test]
fn urEnqueueEventsWaitWithBarrierExt_does_not_wait_for_a_signal_of_the_event_that_another_queue_is_being_given() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    needs_function!(urEventCreateExp);
    if !timeline::are_there() {
        return;
    }
    let (full, other, timeline) = (fixture.in_order(), fixture.in_order(), Timeline::at_zero(&fixture));
    let event = with_flags(&fixture, Flags::ENABLE_PROFILING);
    // What it is given makes no native call, so this test can hold all of them.
    other.wait_for(&timeline, 1);
    let answer = std::thread::scope(|scope| {
        let records = sim.hold_calls("cuEventRecord");
        let signalling = scope.spawn(|| signal(&full, &event, &[]));
        records.wait_for_one(|| signalling.is_finished());
        let (told, answers) = channel();
        let (event, other) = (&event, &other);
        scope.spawn(move || {
            signal(other, event, &[]);
            let _ = told.send(());
        });
        let answer = answers.recv_timeout(PATIENCE);
        drop(records);
        answer
    });
    timeline.signal(1);
    [&full, &other].into_iter().for_each(Queue::finish);
    assert!(answer.is_ok(), "one signal waits for the other");
    event.wait();
    times(&event);
}

#[test]
fn queues_of_every_device_of_the_context_signal_an_event() {
    needs_function!(urEventCreateExp);
    let fixture = Fixture::over_all_devices();
    let Some(&second) = fixture.devices.get(1) else { return };
    for kind in [Flags::empty(), Flags::ENABLE_PROFILING] {
        for flags in BOTH {
            let event = with_flags(&fixture, kind);
            let near = fixture.queue(flags);
            let far = fixture.queue_in(fixture.context(), second, flags);
            for _ in 0..2 {
                let mut gate = Gate::new(&fixture);
                let blocked = gate.block_event(&near);
                signal(&far, &event, &[blocked.handle()]);
                assert_eq!(status(&event), Status::SUBMITTED, "{kind:?} {flags:?}");
                let list = [event.handle()];
                let after = event_of(|out| ur!(Enqueue.pfnEventsWait(near.handle(), 1, list.as_ptr(), out)));
                gate.open();
                event.wait();
                after.wait();
                let far_end = (kind == Flags::ENABLE_PROFILING).then(|| times(&event)[3]);

                let mut gate = Gate::new(&fixture);
                gate.block(&near);
                signal(&near, &event, &[]);
                let after = event_of(|out| ur!(Enqueue.pfnEventsWait(far.handle(), 1, list.as_ptr(), out)));
                assert_eq!(
                    (status(&event), status(&after)),
                    (Status::SUBMITTED, Status::SUBMITTED),
                    "{kind:?} {flags:?}"
                );
                gate.open();
                after.wait();
                assert_eq!(status(&event), Status::COMPLETE);
                if let Some(far_end) = far_end {
                    assert!(times(&event)[0] > far_end, "the times are the last signal's");
                }
            }
            near.finish();
            far.finish();
        }
    }
}

#[test]
fn a_signal_that_fails_leaves_an_event_the_times_it_had() {
    needs_function!(urEventCreateExp);
    let fixture = Fixture::over_all_devices();
    let sim = needs_sim!(fixture);
    let (queue, event) = (fixture.in_order(), with_flags(&fixture, Flags::ENABLE_PROFILING));
    signal(&queue, &event, &[]);
    event.wait();
    let before = times(&event);
    let mut given = event.handle();
    let out = &raw mut given;
    sim.fail("cuEventRecord", 1, status_of::UNKNOWN);
    refused!(ERROR_ADAPTER_SPECIFIC, Enqueue.pfnEventsWaitWithBarrierExt(queue.handle(), null(), 0, null(), out));
    assert_eq!(times(&event), before);
    if let Some(&second) = fixture.devices.get(1) {
        let far = fixture.queue_in(fixture.context(), second, QueueFlags::empty());
        far.finish();
        sim.fail("cuEventCreate", 1, status_of::UNKNOWN);
        refused!(ERROR_ADAPTER_SPECIFIC, Enqueue.pfnEventsWaitWithBarrierExt(far.handle(), null(), 0, null(), out));
        assert_eq!(times(&event), before);
        signal(&far, &event, &[]);
        event.wait();
        // Two devices tell different times.
        assert_ne!(times(&event), before);
    }
}

#[test]
fn an_event_of_a_command_is_an_output_s_old_value_to_a_barrier() {
    needs_function!(urEventCreateExp);
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let old = Launch::new(&fixture.basic(c"empty"), &[1]).event_on(&queue);
    let mut given = old.handle();
    ok!(Enqueue.pfnEventsWaitWithBarrierExt(queue.handle(), null(), 0, null(), &raw mut given));
    assert_ne!(given, old.handle());
    Event::take(given).wait();
}

#[test]
fn wrong_descriptions_devices_and_events_are_refused_and_nothing_is_made() {
    needs_function!(urEventCreateExp);
    let fixture = Fixture::over_all_devices();
    let (context, device) = (fixture.context(), fixture.device());
    let mut event = null_mut();
    let out = &raw mut event;
    let with = |flags| ur_exp_event_desc_t { flags, ..Default::default() };
    let plain = with(Flags::empty());
    refused!(ERROR_INVALID_NULL_HANDLE, EventExp.pfnCreateExp(null_mut(), device, &raw const plain, out));
    refused!(ERROR_INVALID_NULL_HANDLE, EventExp.pfnCreateExp(context, null_mut(), &raw const plain, out));
    refused!(ERROR_INVALID_NULL_POINTER, EventExp.pfnCreateExp(context, device, null(), out));
    refused!(ERROR_INVALID_NULL_POINTER, EventExp.pfnCreateExp(context, device, &raw const plain, null_mut()));
    let unknown = with(Flags::from_bits_retain(1 << 20));
    refused!(ERROR_INVALID_ENUMERATION, EventExp.pfnCreateExp(context, device, &raw const unknown, out));
    if let Some(&second) = fixture.devices.get(1) {
        let one = fixture.context_of(&[device]);
        refused!(ERROR_INVALID_DEVICE, EventExp.pfnCreateExp(one.handle(), second, &raw const plain, out));
    }
    assert!(event.is_null());

    // A queue of another context.
    let elsewhere = fixture.context_of(&[device]);
    let (queue, event) = (fixture.queue_in(elsewhere.handle(), device, QueueFlags::empty()), reusable(&fixture));
    let mut given = event.handle();
    refused!(
        ERROR_INVALID_EVENT,
        Enqueue.pfnEventsWaitWithBarrierExt(queue.handle(), null(), 0, null(), &raw mut given)
    );
    let mut no_event: ur_event_handle_t = queue.handle().cast();
    refused!(
        ERROR_INVALID_EVENT,
        Enqueue.pfnEventsWaitWithBarrierExt(queue.handle(), null(), 0, null(), &raw mut no_event)
    );
    event.wait();
}
