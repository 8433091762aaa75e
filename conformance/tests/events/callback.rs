//! `urEventSetCallback`: who is called, when, how often, and by whom.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use ur_conformance::ffi::{
    ur_event_handle_t, ur_event_info_t, ur_event_status_t, ur_execution_info_t as Status, ur_queue_flags_t as Flags,
    ur_result_t as Code,
};
use ur_conformance::owned::event_of;
use ur_conformance::sim::status;
use ur_conformance::{Event, Fixture, Gate, Launch, Queue, ask, child, expect_code, needs_sim, ok, query, refused, ur};

/// So long a call may take to come, at most.
const PATIENCE: Duration = Duration::from_secs(20);
const ORDERS: [Flags; 3] = [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::PROFILING_ENABLE];

/// One call that came: the event, the status and the thread it came on.
type Call = (usize, Status, std::thread::ThreadId);

extern "C" fn tell(event: ur_event_handle_t, status: Status, data: *mut c_void) {
    // SAFETY: `set` gave the sender away for one call.
    let sender = unsafe { Box::from_raw(data.cast::<Sender<Call>>()) };
    let _ = sender.send((event.addr(), status, std::thread::current().id()));
}

/// Sets a callback whose call arrives at the receiver; the channel closes with it.
fn try_set(event: &Event, status: Status) -> Result<Receiver<Call>, Code> {
    let (sender, receiver) = channel::<Call>();
    let data = Box::into_raw(Box::new(sender)).cast();
    match ur!(Event.pfnSetCallback(event.handle(), status, Some(tell), data)) {
        Code::SUCCESS => Ok(receiver),
        error => {
            // SAFETY: a callback that was refused is never called.
            drop(unsafe { Box::from_raw(data.cast::<Sender<Call>>()) });
            Err(error)
        }
    }
}

#[track_caller]
fn set(event: &Event, status: Status) -> Receiver<Call> {
    try_set(event, status).unwrap_or_else(|code| panic!("urEventSetCallback answers {code:?}"))
}

#[track_caller]
fn expect_call(calls: &Receiver<Call>, event: &Event, status: Status) {
    let (told, reached, thread) = calls.recv_timeout(PATIENCE).expect("the callback is called");
    assert_eq!((told, reached), (event.handle().addr(), status));
    assert_ne!(thread, std::thread::current().id(), "called on the application's thread");
    assert!(calls.recv_timeout(PATIENCE).is_err(), "called twice");
}

/// Callbacks may hold on to what they are about a little longer than their tests.
fn patient() -> Fixture {
    let fixture = Fixture::new();
    fixture.allow_late_releases();
    fixture
}

/// A queue with a command that runs until the gate is opened, and its event.
fn blocked(fixture: &Fixture, flags: Flags) -> (Queue, Gate<'_>, Event) {
    let queue = fixture.queue(flags);
    let gate = Gate::new(fixture);
    let event = gate.block_event(&queue);
    (queue, gate, event)
}

fn marker(queue: &Queue) -> Event {
    event_of(|event| ur!(Enqueue.pfnEventsWait(queue.handle(), 0, null(), event)))
}

#[test]
fn urEventSetCallback_COMPLETE_is_called_after_the_end_and_not_before() {
    let fixture = patient();
    for flags in ORDERS {
        let (queue, mut gate, event) = blocked(&fixture, flags);
        let calls = set(&event, Status::COMPLETE);
        assert_eq!(calls.try_recv(), Err(TryRecvError::Empty));
        gate.open();
        expect_call(&calls, &event, Status::COMPLETE);
        assert!(gate.has_passed());
        let status: ur_event_status_t = ur_event_status_t(query::get(ask!(
            Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS)
        )));
        assert_eq!(status, ur_event_status_t::COMPLETE);
        queue.finish();
    }
}

#[test]
fn urEventSetCallback_of_a_complete_event_is_called_at_once() {
    let fixture = patient();
    let queue = fixture.in_order();
    let event = marker(&queue);
    queue.finish();
    for status in [Status::COMPLETE, Status::RUNNING, Status::SUBMITTED] {
        expect_call(&set(&event, status), &event, status);
    }
}

#[test]
fn urEventSetCallback_SUBMITTED_is_called_while_the_command_runs() {
    let fixture = patient();
    let (queue, mut gate, event) = blocked(&fixture, Flags::empty());
    expect_call(&set(&event, Status::SUBMITTED), &event, Status::SUBMITTED);
    gate.open();
    queue.finish();
}

#[test]
fn urEventSetCallback_RUNNING_of_a_timed_command_is_called_while_it_runs() {
    let fixture = patient();
    let (queue, mut gate, event) = blocked(&fixture, Flags::PROFILING_ENABLE);
    let (running, complete) = (set(&event, Status::RUNNING), set(&event, Status::COMPLETE));
    expect_call(&running, &event, Status::RUNNING);
    assert_eq!(complete.try_recv(), Err(TryRecvError::Empty));
    gate.open();
    expect_call(&complete, &event, Status::COMPLETE);
    queue.finish();
}

#[test]
fn urEventSetCallback_calls_every_function_of_an_event() {
    let fixture = patient();
    let (queue, mut gate, event) = blocked(&fixture, Flags::empty());
    let calls: Vec<_> = (0..10).map(|_| set(&event, Status::COMPLETE)).collect();
    gate.open();
    for calls in &calls {
        expect_call(calls, &event, Status::COMPLETE);
    }
    queue.finish();
}

/// Neither later commands of the queue nor another event's wait hold a callback up.
#[test]
fn urEventSetCallback_waits_for_nothing_but_its_own_event() {
    let fixture = patient();
    let (one, two) = (fixture.in_order(), fixture.in_order());
    let (mut first, mut second, mut other) = (Gate::new(&fixture), Gate::new(&fixture), Gate::new(&fixture));
    let blocked = other.block_event(&two);
    let (early, late) = (first.block_event(&one), second.block_event(&one));
    // The later ones first, so that waiting for them in this order would hold up the first.
    let calls = [&blocked, &late, &early].map(|event| set(event, Status::COMPLETE));
    first.open();
    expect_call(&calls[2], &early, Status::COMPLETE);
    assert_eq!(calls[1].try_recv(), Err(TryRecvError::Empty));
    second.open();
    expect_call(&calls[1], &late, Status::COMPLETE);
    assert_eq!(calls[0].try_recv(), Err(TryRecvError::Empty));
    other.open();
    expect_call(&calls[0], &blocked, Status::COMPLETE);
    one.finish();
    two.finish();
}

/// A stream that waited for the event would stand before everything that the channel is given later.
#[test]
fn urEventSetCallback_holds_up_no_other_queue_where_all_streams_share_one_hardware_channel() {
    let test = "urEventSetCallback_holds_up_no_other_queue_where_all_streams_share_one_hardware_channel";
    child::in_time(test, &[("CUDA_DEVICE_MAX_CONNECTIONS", "1")], || {
        let fixture = patient();
        // What else a device with one channel makes wait is not known: an H200's other queue waited.
        let _sim = needs_sim!(fixture);
        let (queue, mut gate, event) = blocked(&fixture, Flags::empty());
        let calls = set(&event, Status::COMPLETE);
        let (other, empty) = (fixture.in_order(), fixture.basic(c"empty"));
        Launch::new(&empty, &[1]).on(&other);
        other.finish();
        assert_eq!(calls.try_recv(), Err(TryRecvError::Empty));
        gate.open();
        expect_call(&calls, &event, Status::COMPLETE);
        queue.finish();
    });
}

#[test]
fn urEventSetCallback_keeps_a_released_event_and_queue_until_it_was_called() {
    let fixture = patient();
    let (queue, mut gate, event) = blocked(&fixture, Flags::empty());
    let address = event.handle().addr();
    let calls = set(&event, Status::COMPLETE);
    drop((event, queue));
    gate.open();
    let (told, status, _) = calls.recv_timeout(PATIENCE).expect("the callback is called");
    assert_eq!((told, status), (address, Status::COMPLETE));
}

extern "C" fn enqueue_more(event: ur_event_handle_t, _: Status, data: *mut c_void) {
    // SAFETY: the test gave the sender for one call.
    let sender = unsafe { Box::from_raw(data.cast::<Sender<Code>>()) };
    let queue: *mut _ = query::get(ask!(Event.pfnGetInfo(event, ur_event_info_t::COMMAND_QUEUE)));
    let mut made = null_mut();
    let list = [event];
    let answers = [
        ur!(Enqueue.pfnEventsWaitWithBarrier(queue, 1, list.as_ptr(), &raw mut made)),
        ur!(Event.pfnWait(1, &raw const made)),
        ur!(Event.pfnRelease(made)),
        ur!(Queue.pfnFinish(queue)),
    ];
    let _ = sender.send(answers.into_iter().find(|code| *code != Code::SUCCESS).unwrap_or(Code::SUCCESS));
}

#[test]
fn urEventSetCallback_s_function_may_call_UR() {
    let fixture = patient();
    for flags in ORDERS {
        let (queue, mut gate, event) = blocked(&fixture, flags);
        let (sender, answers) = channel::<Code>();
        let data = Box::into_raw(Box::new(sender)).cast();
        ok!(Event.pfnSetCallback(event.handle(), Status::COMPLETE, Some(enqueue_more), data));
        gate.open();
        assert_eq!(answers.recv_timeout(PATIENCE), Ok(Code::SUCCESS));
        queue.finish();
    }
}

extern "C" fn count_references(event: ur_event_handle_t, _: Status, data: *mut c_void) {
    // SAFETY: the test gave the sender for one call.
    let sender = unsafe { Box::from_raw(data.cast::<Sender<u32>>()) };
    let _ = sender.send(query::get(ask!(Event.pfnGetInfo(event, ur_event_info_t::REFERENCE_COUNT))));
}

/// A queue fills events anew that have no reference, and the function may retain the one it is given.
#[test]
fn urEventSetCallback_s_function_is_given_a_reference_for_as_long_as_it_runs() {
    let fixture = patient();
    for flags in ORDERS {
        let (queue, mut gate, event) = blocked(&fixture, flags);
        let (sender, answers) = channel::<u32>();
        let data = Box::into_raw(Box::new(sender)).cast();
        ok!(Event.pfnSetCallback(event.handle(), Status::COMPLETE, Some(count_references), data));
        drop(event);
        gate.open();
        assert_eq!(answers.recv_timeout(PATIENCE), Ok(1), "{flags:?}");
        queue.finish();
    }
}

#[test]
fn urEventSetCallback_refuses_bad_input_and_calls_nobody() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let event = marker(&queue);
    queue.finish();
    let e = event.handle();
    refused!(ERROR_INVALID_NULL_HANDLE, Event.pfnSetCallback(null_mut(), Status::COMPLETE, Some(tell), null_mut()));
    refused!(
        ERROR_INVALID_EVENT,
        Event.pfnSetCallback(queue.handle().cast(), Status::COMPLETE, Some(tell), null_mut())
    );
    refused!(ERROR_INVALID_NULL_POINTER, Event.pfnSetCallback(e, Status::COMPLETE, None, null_mut()));
    refused!(ERROR_UNSUPPORTED_ENUMERATION, Event.pfnSetCallback(e, Status::QUEUED, Some(tell), null_mut()));
    for unknown in [4, 5, u32::MAX] {
        refused!(ERROR_INVALID_ENUMERATION, Event.pfnSetCallback(e, Status(unknown), Some(tell), null_mut()));
    }
}

#[test]
fn urEventSetCallback_that_fails_natively_calls_nobody_and_works_the_next_time() {
    let fixture = patient();
    let sim = needs_sim!(fixture);
    for call in ["cuEventQuery", "cuStreamQuery", "cuEventRecord"] {
        let (queue, mut gate, event) = blocked(&fixture, Flags::empty());
        sim.fail(call, 1, status::UNKNOWN);
        let failed = try_set(&event, Status::COMPLETE);
        sim.clear_faults();
        if let Err(code) = &failed {
            expect_code(*code, &[Code::ERROR_UNKNOWN, Code::ERROR_ADAPTER_SPECIFIC], call);
        }
        let again = set(&event, Status::COMPLETE);
        gate.open();
        expect_call(&again, &event, Status::COMPLETE);
        // A call that the engine had no need of does not fail.
        if let Ok(calls) = failed {
            expect_call(&calls, &event, Status::COMPLETE);
        }
        queue.finish();
    }
}

#[test]
fn urEventSetCallback_that_fails_natively_leaves_the_callbacks_of_other_events_alone() {
    let fixture = patient();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    for call in ["cuEventQuery", "cuStreamQuery", "cuEventRecord"] {
        let (queue, mut gate, event) = blocked(&fixture, Flags::empty());
        let [before, behind] = [(); 2].map(|()| Launch::new(&kernel, &[1]).event_on(&queue));
        let calls = set(&before, Status::COMPLETE);
        sim.fail(call, 1, status::UNKNOWN);
        let failed = try_set(&event, Status::COMPLETE);
        sim.clear_faults();
        let later = set(&behind, Status::COMPLETE);
        gate.open();
        expect_call(&calls, &before, Status::COMPLETE);
        expect_call(&later, &behind, Status::COMPLETE);
        if let Ok(calls) = failed {
            expect_call(&calls, &event, Status::COMPLETE);
        }
        queue.finish();
    }
}

/// More than a stream would take before its next entry has to wait for room.
#[test]
fn urEventSetCallback_calls_thousands_of_functions_of_one_event() {
    let fixture = patient();
    let (queue, mut gate, event) = blocked(&fixture, Flags::empty());
    let calls: Vec<_> = (0..3000).map(|_| set(&event, Status::COMPLETE)).collect();
    gate.open();
    calls.iter().for_each(|calls| expect_call(calls, &event, Status::COMPLETE));
    queue.finish();
}

#[test]
fn a_lost_device_s_callbacks_are_called_too() {
    let fixture = patient();
    let sim = needs_sim!(fixture);
    let (kernel, queue) = (fixture.basic(c"empty"), fixture.in_order());
    let held = sim.hold();
    let event = Launch::new(&kernel, &[1]).event_on(&queue);
    let calls = set(&event, Status::COMPLETE);
    sim.lose_device(0);
    drop(held);
    let list = [event.handle()];
    refused!(ERROR_DEVICE_LOST, Event.pfnWait(1, list.as_ptr()));
    expect_call(&calls, &event, Status::COMPLETE);
    assert_eq!(try_set(&event, Status::COMPLETE).err(), Some(Code::ERROR_DEVICE_LOST));
}
