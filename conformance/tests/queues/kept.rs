//! What a queue owes while it keeps commands behind a timeline's value: to those commands, to the functions that they call, to events
//! from before, and to a capture.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use ur_conformance::ffi::{
    ur_event_handle_t, ur_event_info_t, ur_event_status_t as Status, ur_exp_host_task_properties_t,
    ur_ext_host_task_status_t, ur_profiling_info_t, ur_queue_flags_t as Flags, ur_queue_handle_t, ur_result_t as Code,
};
use ur_conformance::graph::{self, begin, end, is_capturing};
use ur_conformance::owned::event_of;
use ur_conformance::{
    Event, Fixture, Gate, Graph, Kernel, Kind, Launch, Queue, Timeline, ask, child, ok, query, refused, timeline, ur,
};

/// So long what must not wait may take, at most.
const PATIENCE: Duration = Duration::from_secs(10);
/// As many commands as make every stream's turn come.
const MANY: usize = 8;

fn status(event: &Event) -> Status {
    Status(query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS))))
}

type Function = extern "C" fn(ur_queue_handle_t, *mut c_void);

fn native_command<T>(queue: &Queue, function: Function, data: &mut T) -> Event {
    let (q, data) = (queue.handle(), core::ptr::from_mut(data).cast());
    event_of(|event| ur!(EnqueueExp.pfnNativeCommandExp(q, Some(function), data, 0, null(), null(), 0, null(), event)))
}

/// What a native command's function fills, with the events of that.
struct Fills {
    memory: *mut c_void,
    told: Sender<Vec<usize>>,
}

extern "C" fn fill(queue: ur_queue_handle_t, data: *mut c_void) {
    // SAFETY: the test's own, alive until the queue is finished.
    let fills = unsafe { &mut *data.cast::<Fills>() };
    let value = 7u32;
    let events = (0..MANY).map(|at| {
        let (to, from) = (fills.memory.cast::<u32>().wrapping_add(at).cast(), (&raw const value).cast());
        let mut event: ur_event_handle_t = null_mut();
        ok!(Enqueue.pfnUSMFill(queue, to, 4, from, 4, 0, null(), &raw mut event));
        event.expose_provenance()
    });
    // Whoever listens no longer has failed already.
    let _ = fills.told.send(events.collect());
}

/// A kernel that was launched on a queue: the first launch of one, and the first fill, load code, which waits for gates.
fn warm(fixture: &Fixture) -> (Kernel, Queue) {
    let (kernel, queue) = (fixture.basic(c"empty"), fixture.in_order());
    Launch::new(&kernel, &[1]).on(&queue);
    queue.finish();
    (kernel, queue)
}

fn heard<T>(answers: &Receiver<T>, what: &str) -> T {
    answers.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{what}"))
}

/// The events of the commands that [`fill`] enqueued.
fn events_of(fills: &Receiver<Vec<usize>>) -> Vec<Event> {
    let events = heard(fills, "the function was not called");
    events.into_iter().map(|event| Event::take(core::ptr::with_exposed_provenance_mut(event))).collect()
}

/// None of them is complete while the gate is closed, which this opens; `free` is a queue that goes on.
#[track_caller]
fn expect_none_early(events: &[Event], gate: &mut Gate<'_>, kernel: &Kernel, free: &Queue) {
    // What does not wait has run by then.
    for _ in 0..MANY {
        Launch::new(kernel, &[1]).event_on(free).wait();
    }
    let early = events.iter().filter(|event| status(event) == Status::COMPLETE).count();
    assert!(!gate.has_passed());
    gate.open();
    assert_eq!(early, 0, "commands that came before what their queue waits for");
}

/// Streams that wait occupy hardware channels, so the queue that goes on has one of its own.
#[test]
fn urEnqueueNativeCommandExp_that_was_kept_has_its_function_s_commands_wait_for_the_queue_s_barrier() {
    let test = "urEnqueueNativeCommandExp_that_was_kept_has_its_function_s_commands_wait_for_the_queue_s_barrier";
    child::in_time(test, &[("CUDA_DEVICE_MAX_CONNECTIONS", "32")], || {
        let fixture = Fixture::new();
        if !timeline::are_there() {
            return;
        }
        let (queue, other, timeline) = (fixture.out_of_order(), fixture.in_order(), Timeline::at_zero(&fixture));
        let (kernel, free) = warm(&fixture);
        let (memory, (told, fills)) = (fixture.memory(Kind::Device, MANY * 4), channel());
        let mut data = Fills { memory: memory.pointer(), told };
        let zero = 0u32;
        ok!(Enqueue.pfnUSMFill(free.handle(), data.memory, 4, (&raw const zero).cast(), 4, 0, null(), null_mut()));
        free.finish();
        let mut gate = Gate::new(&fixture);
        queue.wait_for(&timeline, 1);
        let call = native_command(&queue, fill, &mut data);
        gate.block(&other);
        other.signal(&timeline, 1);
        let events = events_of(&fills);
        expect_none_early(&events, &mut gate, &kernel, &free);
        call.wait();
        queue.finish();
        other.finish();
    });
}

/// The barrier that is kept while the function of a native command runs is none yet for what that enqueues, and one for what comes later.
#[test]
fn urEnqueueTimelineWaitExt_that_is_kept_while_a_kept_function_runs_holds_back_everything_later() {
    let test = "urEnqueueTimelineWaitExt_that_is_kept_while_a_kept_function_runs_holds_back_everything_later";
    child::in_time(test, &[("CUDA_DEVICE_MAX_CONNECTIONS", "32")], || {
        let fixture = Fixture::new();
        if !timeline::are_there() {
            return;
        }
        let (queue, other, timeline) = (fixture.out_of_order(), fixture.in_order(), Timeline::at_zero(&fixture));
        let (kernel, free) = warm(&fixture);
        let (memory, (told, fills)) = (fixture.memory(Kind::Device, MANY * 4), channel());
        let mut data = Fills { memory: memory.pointer(), told };
        let zero = 0u32;
        ok!(Enqueue.pfnUSMFill(free.handle(), data.memory, 4, (&raw const zero).cast(), 4, 0, null(), null_mut()));
        free.finish();
        let mut gate = Gate::new(&fixture);
        queue.wait_for(&timeline, 1);
        let call = native_command(&queue, fill, &mut data);
        let (q, handle, value) = (queue.handle(), timeline.handle(), 2);
        let (handle, value) = (&raw const handle, &raw const value);
        let barrier =
            event_of(|event| ur!(TimelineExt.pfnEnqueueTimelineWaitExt(q, 1, handle, value, 0, null(), event)));
        timeline.signal(1);
        // The function's commands are on every stream of the queue, and do not wait for the second value.
        let events = events_of(&fills);
        events.iter().for_each(Event::wait);
        call.wait();
        gate.block(&other);
        other.signal(&timeline, 2);
        while status(&barrier) == Status::QUEUED {
            std::thread::yield_now();
        }
        let later: Vec<Event> = (0..MANY).map(|_| Launch::new(&kernel, &[1]).event_on(&queue)).collect();
        expect_none_early(&later, &mut gate, &kernel, &free);
        queue.finish();
        other.finish();
    });
}

/// The queue's end is not the end of what its barrier promised to what is kept.
#[test]
fn urQueueRelease_leaves_the_function_of_a_kept_native_command_the_queue_s_barrier() {
    let test = "urQueueRelease_leaves_the_function_of_a_kept_native_command_the_queue_s_barrier";
    child::in_time(test, &[("CUDA_DEVICE_MAX_CONNECTIONS", "32")], || {
        let fixture = Fixture::new();
        if !timeline::are_there() {
            return;
        }
        let (queue, timeline) = (fixture.out_of_order(), Timeline::at_zero(&fixture));
        let (kernel, free) = warm(&fixture);
        let (memory, (told, fills)) = (fixture.memory(Kind::Device, MANY * 4), channel());
        let mut data = Fills { memory: memory.pointer(), told };
        let zero = 0u32;
        ok!(Enqueue.pfnUSMFill(free.handle(), data.memory, 4, (&raw const zero).cast(), 4, 0, null(), null_mut()));
        free.finish();
        let mut gate = Gate::new(&fixture);
        gate.block(&queue);
        ok!(Enqueue.pfnEventsWaitWithBarrier(queue.handle(), 0, null(), null_mut()));
        queue.wait_for(&timeline, 1);
        let call = native_command(&queue, fill, &mut data);
        drop(queue);
        timeline.signal(1);
        let events = events_of(&fills);
        expect_none_early(&events, &mut gate, &kernel, &free);
        events.iter().for_each(Event::wait);
        call.wait();
    });
}

extern "C" fn finish(queue: ur_queue_handle_t, data: *mut c_void) {
    // SAFETY: the test's own, alive until the queue is finished.
    let told = unsafe { &*data.cast::<Sender<Code>>() };
    // As above.
    let _ = told.send(ur!(Queue.pfnFinish(queue)));
}

#[test]
fn urQueueFinish_in_the_function_of_a_kept_native_command_does_not_wait_for_that_command() {
    let test = "urQueueFinish_in_the_function_of_a_kept_native_command_does_not_wait_for_that_command";
    child::in_time(test, &[("UR_TEST_OF_FINISH", "1")], || {
        let fixture = Fixture::new();
        if !timeline::are_there() {
            return;
        }
        for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
            let (queue, timeline) = (fixture.queue(flags), Timeline::at_zero(&fixture));
            let (mut told, answers) = channel::<Code>();
            queue.wait_for(&timeline, 1);
            let call = native_command(&queue, finish, &mut told);
            timeline.signal(1);
            assert_eq!(answers.recv().expect("the function was called"), Code::SUCCESS);
            call.wait();
            queue.finish();
        }
    });
}

/// What the function of a kept native command does to another queue, and hears of that.
struct Signals {
    timeline: usize,
    queue: usize,
    told: Sender<[Code; 2]>,
}

extern "C" fn signal_and_finish(_: ur_queue_handle_t, data: *mut c_void) {
    // SAFETY: the test's own, alive until the queue is finished.
    let signals = unsafe { &*data.cast::<Signals>() };
    let (timeline, queue) = (signals.timeline, signals.queue);
    let signalled = ur!(TimelineExt.pfnTimelineSignalExt(core::ptr::with_exposed_provenance_mut(timeline), 1));
    // As above.
    let _ = signals.told.send([signalled, ur!(Queue.pfnFinish(core::ptr::with_exposed_provenance_mut(queue)))]);
}

#[test]
fn urTimelineSignalExt_in_the_function_of_a_kept_native_command_submits_what_another_queue_keeps() {
    let test = "urTimelineSignalExt_in_the_function_of_a_kept_native_command_submits_what_another_queue_keeps";
    child::in_time(test, &[("UR_TEST_OF_SIGNAL", "1")], || {
        let fixture = Fixture::new();
        if !timeline::are_there() {
            return;
        }
        let (queue, other) = (fixture.in_order(), fixture.in_order());
        let timelines = [(); 2].map(|()| Timeline::at_zero(&fixture));
        let kernel = fixture.basic(c"empty");
        other.wait_for(&timelines[1], 1);
        Launch::new(&kernel, &[1]).on(&other);
        let (told, answers) = channel();
        let [timeline, handle] = [timelines[1].handle().expose_provenance(), other.handle().expose_provenance()];
        let mut signals = Signals { timeline, queue: handle, told };
        queue.wait_for(&timelines[0], 1);
        let call = native_command(&queue, signal_and_finish, &mut signals);
        timelines[0].signal(1);
        assert_eq!(answers.recv().expect("the function was called"), [Code::SUCCESS; 2]);
        call.wait();
        queue.finish();
    });
}

/// What the function of a kept native command enqueues behind an unresolved event.
struct Launches {
    event: usize,
    told: Sender<Code>,
}

extern "C" fn wait_for_what_nobody_submits(queue: ur_queue_handle_t, data: *mut c_void) {
    // SAFETY: the test's own, alive until the queue is finished.
    let launches = unsafe { &*data.cast::<Launches>() };
    let waits: [ur_event_handle_t; 1] = [core::ptr::with_exposed_provenance_mut(launches.event)];
    // As above.
    let _ = launches.told.send(ur!(Enqueue.pfnEventsWait(queue, 1, waits.as_ptr(), null_mut())));
}

#[test]
fn urEnqueueEventsWait_for_what_nobody_has_submitted_is_refused_in_the_function_of_a_kept_native_command() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let (queue, timelines) = (fixture.queue(flags), [(); 2].map(|()| Timeline::at_zero(&fixture)));
        let reached = timelines[1].event(1);
        let (told, answers) = channel();
        let mut launches = Launches { event: reached.handle().expose_provenance(), told };
        queue.wait_for(&timelines[0], 1);
        let call = native_command(&queue, wait_for_what_nobody_submits, &mut launches);
        timelines[0].signal(1);
        assert_eq!(heard(&answers, "the function was not called"), Code::ERROR_UNSUPPORTED_FEATURE);
        call.wait();
        timelines[1].signal(1);
        queue.finish();
    }
}

/// A host task with a status, which the function of a kept native command enqueues, and what became of it.
struct Reports {
    called: AtomicUsize,
    told: Sender<Code>,
}

extern "C" fn count(data: *mut c_void) {
    // SAFETY: the test's own, alive until the queue is finished.
    unsafe { &*data.cast::<Reports>() }.called.fetch_add(1, Ordering::Relaxed);
}

extern "C" fn enqueue_task_with_status(queue: ur_queue_handle_t, data: *mut c_void) {
    // SAFETY: as above.
    let reports = unsafe { &*data.cast::<Reports>() };
    let mut place = 0i32;
    let mut status = ur_ext_host_task_status_t { pStatus: &raw mut place, ..Default::default() };
    let properties = ur_exp_host_task_properties_t { pNext: (&raw mut status).cast(), ..Default::default() };
    let (list, event) = (null(), null_mut());
    let answer = ur!(EnqueueExp.pfnHostTaskExp(queue, Some(count), data, &raw const properties, 0, list, event));
    // As above.
    let _ = reports.told.send(answer);
}

#[test]
fn urEnqueueHostTaskExp_with_a_status_that_is_refused_in_the_function_of_a_kept_native_command_never_runs() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let (queue, timeline) = (fixture.queue(flags), Timeline::at_zero(&fixture));
        let (told, answers) = channel();
        let mut reports = Reports { called: AtomicUsize::new(0), told };
        queue.wait_for(&timeline, 1);
        let call = native_command(&queue, enqueue_task_with_status, &mut reports);
        timeline.signal(1);
        assert_eq!(heard(&answers, "the function was not called"), Code::ERROR_UNSUPPORTED_FEATURE);
        call.wait();
        queue.finish();
        assert_eq!(reports.called.load(Ordering::Relaxed), 0, "it ran though it was refused");
    }
}

extern "C" fn nothing(_: ur_queue_handle_t, _: *mut c_void) {}

#[test]
fn COMMAND_QUEUED_of_a_kept_native_command_is_when_it_was_enqueued() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let (queue, timeline) = (fixture.queue(Flags::PROFILING_ENABLE), Timeline::at_zero(&fixture));
    let (kernel, other) = warm(&fixture);
    queue.wait_for(&timeline, 1);
    let call = native_command(&queue, nothing, &mut 0u8);
    // Longer than what the host and the device can tell different times by.
    (0..100).for_each(|_| Launch::new(&kernel, &[1]).event_on(&other).wait());
    let (mut of_device, mut of_host) = (0, 0);
    ok!(Device.pfnGetGlobalTimestamps(fixture.device(), &raw mut of_device, &raw mut of_host));
    timeline.signal(1);
    call.wait();
    let queued = query::get::<u64>(ask!(Event.pfnGetProfilingInfo(call.handle(), ur_profiling_info_t::COMMAND_QUEUED)));
    // The times of events are the device's.
    assert!(queued <= of_device, "queued {} ns after the device was asked for its time", queued - of_device);
    queue.finish();
}

#[test]
fn urQueueRelease_of_a_queue_that_keeps_commands_leaves_events_from_before_to_complete_before_those() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let (queue, timeline) = (fixture.in_order(), Timeline::at_zero(&fixture));
    let kernel = fixture.basic(c"empty");
    let mut gate = Gate::new(&fixture);
    let before = Launch::new(&kernel, &[1]).event_on(&queue);
    queue.wait_for(&timeline, 1);
    let blocked = gate.block_event(&queue);
    drop(queue);
    timeline.signal(1);
    let begun = Instant::now();
    while status(&before) != Status::COMPLETE && begun.elapsed() < PATIENCE {
        std::thread::yield_now();
    }
    let (told, has_passed) = (status(&before), gate.has_passed());
    gate.open();
    assert_eq!((told, has_passed), (Status::COMPLETE, false), "it waits for what was kept behind it");
    blocked.wait();
}

#[test]
fn urTimelineWaitExt_and_VALUE_know_a_value_that_a_second_queue_reaches_behind_a_hundred_open_signals_of_the_first() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let (first, (kernel, second), timeline) = (fixture.in_order(), warm(&fixture), Timeline::at_zero(&fixture));
    let mut gate = Gate::new(&fixture);
    gate.block(&first);
    (1..=100).for_each(|value| first.signal(&timeline, value));
    Launch::new(&kernel, &[1]).on(&second);
    second.signal(&timeline, 101);
    second.finish();
    first.signal(&timeline, 102);
    let told = (timeline.wait(1, 0), timeline.value());
    let has_passed = gate.has_passed();
    gate.open();
    first.finish();
    assert_eq!((told, has_passed), ((Code::SUCCESS, 101), false));
    assert_eq!(timeline.value(), 102);
}

#[test]
fn a_queue_out_of_order_that_keeps_commands_joins_no_capture() {
    let fixture = Fixture::new();
    if !timeline::are_there() || !graph::are_there(&fixture) {
        return;
    }
    let (queue, capturing, timeline) = (fixture.out_of_order(), fixture.in_order(), Timeline::at_zero(&fixture));
    let kernel = fixture.basic(c"empty");
    let reached = timeline.event(1);
    let kept = Launch::new(&kernel, &[1]).after(&[&reached]).event_on(&queue);
    begin(&capturing);
    let root = Launch::new(&kernel, &[1]).event_on(&capturing);
    let unsupported = [Code::ERROR_GRAPH_CAPTURE_UNSUPPORTED];
    Launch::new(&kernel, &[1]).after(&[&root]).refused(&unsupported, &queue);
    let (q, waits) = (queue.handle(), [root.handle()]);
    refused!(ERROR_GRAPH_CAPTURE_UNSUPPORTED, Enqueue.pfnEventsWait(q, 1, waits.as_ptr(), null_mut()));
    refused!(ERROR_GRAPH_CAPTURE_UNSUPPORTED, Enqueue.pfnEventsWaitWithBarrier(q, 1, waits.as_ptr(), null_mut()));
    assert!(!is_capturing(&queue));
    drop(Graph::take(end(&capturing)));
    timeline.signal(1);
    kept.wait();
    queue.finish();
}

extern "C" fn never(_: ur_queue_handle_t, _: *mut c_void) {
    unreachable!("it was refused");
}

extern "C" fn never_a_task(_: *mut c_void) {
    unreachable!("it was refused");
}

#[test]
fn a_queue_that_captures_keeps_no_host_task_and_no_native_command() {
    let fixture = Fixture::new();
    if !timeline::are_there() || !graph::are_there(&fixture) {
        return;
    }
    let (queue, timeline) = (fixture.in_order(), Timeline::at_zero(&fixture));
    let reached = timeline.event(1);
    begin(&queue);
    let (q, waits) = (queue.handle(), [reached.handle()]);
    let (list, event) = (waits.as_ptr(), null_mut());
    refused!(
        ERROR_GRAPH_CAPTURE_UNSUPPORTED,
        EnqueueExp.pfnHostTaskExp(q, Some(never_a_task), null_mut(), null(), 1, list, event)
    );
    refused!(
        ERROR_GRAPH_CAPTURE_UNSUPPORTED,
        EnqueueExp.pfnNativeCommandExp(q, Some(never), null_mut(), 0, null(), null(), 1, list, event)
    );
    drop(Graph::take(end(&queue)));
    timeline.signal(1);
    queue.finish();
}
