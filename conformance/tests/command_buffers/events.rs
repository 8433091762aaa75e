//! Events outside of a buffer: what a recorded command signals at each launch, and what it waits for.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::command_buffer::{Command, CommandBuffer, SyncPoint, device_can, list};
use ur_conformance::ffi::{
    ur_device_info_t, ur_event_handle_t, ur_event_info_t, ur_event_native_properties_t, ur_event_status_t as Status,
    ur_exp_event_desc_t, ur_result_t,
};
use ur_conformance::{
    Event, Fixture, Gate, Kind, Memory, Timeline, ask, expect_success, needs_function, needs_sim, ok, query, refused,
    timeline, ur,
};

/// Appends a copy of 4 bytes that waits for events, and asks for its event and its handle where they are wanted.
fn copy(
    buffer: &CommandBuffer,
    to: *mut c_void,
    from: *const c_void,
    waits: &[ur_event_handle_t],
    event: *mut ur_event_handle_t,
    command: *mut Command,
) -> ur_result_t {
    let ((count, waits), mut point) = (list(waits), SyncPoint::MAX);
    ur!(CommandBufferExp.pfnAppendUSMMemcpyExp(
        buffer.handle(),
        to,
        from,
        4,
        0,
        null(),
        count,
        waits,
        &raw mut point,
        event,
        command
    ))
}

fn status(event: &Event) -> Status {
    Status(query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS))))
}

fn are_there(fixture: &Fixture) -> bool {
    let are_there = device_can(fixture, ur_device_info_t::COMMAND_BUFFER_EVENT_SUPPORT_EXP);
    if !are_there {
        println!("skipped: commands of a buffer have no events here");
    }
    are_there
}

#[test]
fn the_event_of_a_recorded_command_stands_for_it_in_the_last_launch() {
    let fixture = Fixture::new();
    if !are_there(&fixture) {
        return;
    }
    let (one, other) = (fixture.in_order(), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 12);
    let buffer = CommandBuffer::new(&fixture);
    let mut event = null_mut();
    let answer = copy(&buffer, memory.at(4), memory.pointer(), &[], &raw mut event, null_mut());
    expect_success(answer, "urCommandBufferAppendUSMMemcpyExp");
    let event = Event::take(event);
    assert_eq!(status(&event), Status::COMPLETE, "nothing was launched yet");
    buffer.finalize();
    for value in 1..4u32 {
        memory.write(&one, &[value, 0, 0]);
        let mut gate = Gate::new(&fixture);
        gate.block(&one);
        buffer.on(&one);
        assert_ne!(status(&event), Status::COMPLETE, "the launch waits for the gate");
        let waits = [event.handle()];
        let (queue, to, from) = (other.handle(), memory.at(8), memory.at(4));
        ok!(Enqueue.pfnUSMMemcpy(queue, false.into(), to, from, 4, 1, waits.as_ptr(), null_mut()));
        gate.open();
        event.wait();
        assert_eq!(status(&event), Status::COMPLETE);
        other.finish();
        assert_eq!(memory.read::<u32>(&other, 3), [value; 3]);
    }
}

#[test]
fn a_recorded_command_waits_for_its_events_at_the_launch() {
    let fixture = Fixture::new();
    if !are_there(&fixture) {
        return;
    }
    let (one, other) = (fixture.in_order(), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 8);
    memory.write(&one, &[1u32, 0]);
    let mut gate = Gate::new(&fixture);
    gate.block(&one);
    let five = 5u32.to_ne_bytes();
    let mut event = null_mut();
    let (from, to) = (five.as_ptr().cast(), memory.pointer());
    ok!(Enqueue.pfnUSMFill(one.handle(), to, 4, from, 4, 0, null(), &raw mut event));
    let event = Event::take(event);
    let buffer = CommandBuffer::in_order(&fixture);
    let answer = copy(&buffer, memory.at(4), memory.pointer(), &[event.handle()], null_mut(), null_mut());
    expect_success(answer, "urCommandBufferAppendUSMMemcpyExp");
    drop(event);
    buffer.finalize();
    let done = buffer.event_on(&other, &[]);
    assert_ne!(status(&done), Status::COMPLETE, "the launch waits for the event");
    gate.open();
    done.wait();
    assert_eq!(memory.read::<u32>(&other, 2), [5; 2]);
}

#[test]
fn urCommandBufferUpdateSignalEventExp_and_WaitEventsExp_exchange_the_events_of_later_launches() {
    let fixture = Fixture::new();
    if !are_there(&fixture) {
        return;
    }
    let (one, other) = (fixture.in_order(), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 8);
    memory.write(&one, &[7u32, 0]);
    let mut first = null_mut();
    ok!(Enqueue.pfnEventsWait(one.handle(), 0, null(), &raw mut first));
    let first = Event::take(first);
    let buffer = CommandBuffer::updatable(&fixture);
    let (mut signal, mut command) = (null_mut(), null_mut());
    let waits = [first.handle()];
    let answer = copy(&buffer, memory.at(4), memory.pointer(), &waits, &raw mut signal, &raw mut command);
    expect_success(answer, "urCommandBufferAppendUSMMemcpyExp");
    let signal = Event::take(signal);
    let mut event = null_mut();
    refused!(ERROR_INVALID_OPERATION, CommandBufferExp.pfnUpdateSignalEventExp(command, &raw mut event));
    buffer.finalize();
    refused!(ERROR_INVALID_EVENT_WAIT_LIST, CommandBufferExp.pfnUpdateWaitEventsExp(command, 0, null()));
    assert!(event.is_null());

    ok!(CommandBufferExp.pfnUpdateSignalEventExp(command, &raw mut event));
    let new_signal = Event::take(event);
    let mut gate = Gate::new(&fixture);
    gate.block(&one);
    let mut second = null_mut();
    let (five, to) = (5u32.to_ne_bytes(), memory.pointer());
    ok!(Enqueue.pfnUSMFill(one.handle(), to, 4, five.as_ptr().cast(), 4, 0, null(), &raw mut second));
    let second = Event::take(second);
    let waits = [second.handle()];
    ok!(CommandBufferExp.pfnUpdateWaitEventsExp(command, 1, waits.as_ptr()));
    buffer.on(&other);
    assert_eq!(status(&signal), Status::COMPLETE, "the old event is signalled no more");
    assert_ne!(status(&new_signal), Status::COMPLETE, "the launch waits for the new event");
    gate.open();
    new_signal.wait();
    assert_eq!(memory.read::<u32>(&other, 2), [5; 2]);
}

/// A finalised buffer of one copy whose signal can be changed.
fn signalling(fixture: &Fixture, memory: &Memory<'_>) -> (CommandBuffer, Command) {
    let buffer = CommandBuffer::updatable(fixture);
    let (mut signal, mut command) = (null_mut(), null_mut());
    let answer = copy(&buffer, memory.at(4), memory.pointer(), &[], &raw mut signal, &raw mut command);
    expect_success(answer, "urCommandBufferAppendUSMMemcpyExp");
    buffer.finalize();
    drop(Event::take(signal));
    (buffer, command)
}

fn new_signal(command: Command) -> Event {
    let mut event = null_mut();
    ok!(CommandBufferExp.pfnUpdateSignalEventExp(command, &raw mut event));
    Event::take(event)
}

#[test]
fn events_that_were_exchanged_go_when_the_launches_that_use_them_have_finished() {
    const ROUNDS: u64 = 200;
    let fixture = Fixture::new();
    if !are_there(&fixture) {
        return;
    }
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 8);
    let (buffer, command) = signalling(&fixture, &memory);
    let events = || sim.objects().iter().filter(|(kind, _)| kind.contains("vent")).map(|(_, count)| count).sum::<u64>();
    let round = |launches: usize| {
        let event = new_signal(command);
        (0..launches).for_each(|_| buffer.on(&queue));
        event.wait();
    };
    (0..10).for_each(|_| round(1));
    let before = events();
    assert!(before > 0, "the simulated driver tells no events: {:?}", sim.objects());
    for number in 0..ROUNDS {
        // Nobody finishes the queue: the event of the last launch is all that is waited for.
        round((number % 3) as usize);
    }
    let after = events();
    assert!(after < before + 32, "{ROUNDS} changes, and {before} native events became {after}");
}

#[test]
fn an_event_that_was_exchanged_stays_for_the_launch_that_is_on_its_way() {
    let fixture = Fixture::new();
    if !are_there(&fixture) {
        return;
    }
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 8);
    memory.write(&queue, &[3u32, 0]);
    let (buffer, command) = signalling(&fixture, &memory);
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    let mut last = None;
    for _ in 0..20 {
        // The one before is the buffer's alone, with a launch of it behind the gate.
        last = Some(new_signal(command));
        buffer.on(&queue);
    }
    let last = last.unwrap();
    assert_ne!(status(&last), Status::COMPLETE, "the launch waits for the gate");
    gate.open();
    last.wait();
    queue.finish();
    assert_eq!(memory.read::<u32>(&queue, 2), [3; 2]);
}

extern "C" fn add_nothing(_data: *mut c_void) {}

/// A finalised buffer with another one in it.
fn around(fixture: &Fixture, inner: &CommandBuffer) -> CommandBuffer {
    let outer = CommandBuffer::new(fixture);
    let (b, child, mut point) = (outer.handle(), inner.handle(), SyncPoint::MAX);
    let (none, out) = (null_mut(), &raw mut point);
    ok!(CommandBufferExp.pfnAppendNativeCommandExp(b, Some(add_nothing), none, child, 0, null(), out));
    outer.finalize();
    outer
}

#[test]
fn a_launch_behind_an_unresolved_wait_is_refused_where_its_commands_have_events() {
    let fixture = Fixture::new();
    if !are_there(&fixture) || !timeline::are_there() {
        return;
    }
    let (queue, timeline) = (fixture.in_order(), Timeline::at_zero(&fixture));
    let memory = fixture.memory(Kind::Device, 8);
    let inner = CommandBuffer::new(&fixture);
    let mut event = null_mut();
    let answer = copy(&inner, memory.at(4), memory.pointer(), &[], &raw mut event, null_mut());
    expect_success(answer, "urCommandBufferAppendUSMMemcpyExp");
    let event = Event::take(event);
    inner.finalize();
    // The outer one's launches signal the inner one's event.
    let outer = around(&fixture, &inner);
    queue.wait_for(&timeline, 1);
    for buffer in [&inner, &outer] {
        // Who waits for the event after the call would not wait for the launch.
        assert_eq!(buffer.enqueue(&queue, &[], null_mut()), ur_result_t::ERROR_UNSUPPORTED_FEATURE);
    }
    timeline.signal(1);
    queue.finish();
    [&inner, &outer].into_iter().for_each(|buffer| buffer.on(&queue));
    event.wait();
    queue.finish();
}

fn reusable(fixture: &Fixture) -> Event {
    let (description, mut event) = (ur_exp_event_desc_t::default(), null_mut());
    ok!(EventExp.pfnCreateExp(fixture.context(), fixture.device(), &raw const description, &raw mut event));
    Event::take(event)
}

/// An event over a native one that stays the application's.
fn lent(fixture: &Fixture, native: &Event) -> Event {
    let (mut value, mut event) = (0, null_mut());
    ok!(Event.pfnGetNativeHandle(native.handle(), &raw mut value));
    let properties = ur_event_native_properties_t::default();
    ok!(Event.pfnCreateWithNativeHandle(value, fixture.context(), &raw const properties, &raw mut event));
    Event::take(event)
}

/// A node names the event and no signal: in its turn the launch would wait for what the event stands for by then.
#[test]
fn a_launch_behind_an_unresolved_wait_is_refused_where_its_commands_wait_for_what_can_be_signalled_again() {
    needs_function!(urEventCreateExp);
    let fixture = Fixture::new();
    if !are_there(&fixture) || !timeline::are_there() {
        return;
    }
    let (queue, timeline) = (fixture.in_order(), Timeline::at_zero(&fixture));
    let memory = fixture.memory(Kind::Device, 8);
    let mut plain = null_mut();
    ok!(Enqueue.pfnEventsWait(queue.handle(), 0, null(), &raw mut plain));
    let (plain, again) = (Event::take(plain), reusable(&fixture));
    let over_native = lent(&fixture, &plain);
    let waiting = |buffer: &CommandBuffer, event: &Event, command: *mut Command| {
        let answer = copy(buffer, memory.at(4), memory.pointer(), &[event.handle()], null_mut(), command);
        expect_success(answer, "urCommandBufferAppendUSMMemcpyExp");
        buffer.finalize();
    };
    let [one, of_the_application, none] = [(); 3].map(|()| CommandBuffer::new(&fixture));
    waiting(&one, &again, null_mut());
    waiting(&of_the_application, &over_native, null_mut());
    waiting(&none, &plain, null_mut());
    let outer = around(&fixture, &one);
    let (changed, mut command) = (CommandBuffer::updatable(&fixture), null_mut());
    waiting(&changed, &again, &raw mut command);

    queue.wait_for(&timeline, 1);
    for buffer in [&one, &of_the_application, &outer, &changed] {
        assert_eq!(buffer.enqueue(&queue, &[], null_mut()), ur_result_t::ERROR_UNSUPPORTED_FEATURE);
    }
    none.on(&queue);
    let change = |event: &Event| {
        let list = [event.handle()];
        ok!(CommandBufferExp.pfnUpdateWaitEventsExp(command, 1, list.as_ptr()));
    };
    change(&plain);
    changed.on(&queue);
    change(&again);
    assert_eq!(changed.enqueue(&queue, &[], null_mut()), ur_result_t::ERROR_UNSUPPORTED_FEATURE);
    timeline.signal(1);
    queue.finish();
    [&one, &of_the_application, &outer, &changed].into_iter().for_each(|buffer| buffer.on(&queue));
    queue.finish();
}
