//! Changes of a buffer while a launch of it waits inside the driver until its stream has room: they do not wait for that, and
//! are for later launches.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::command_buffer::{Command, list};
use ur_conformance::ffi::{
    ur_device_info_t, ur_event_info_t, ur_event_status_t as Status, ur_mem_flags_t, ur_result_t,
};
use ur_conformance::sim::{Sim, status};
use ur_conformance::{
    Buffer, Change, CommandBuffer, Event, Fixture, Gate, Kind, Launch, Memory, Queue, ask, child, expect_code,
    expect_success, needs_function, needs_sim, ok, query, ur,
};

/// Launches that the simulated driver takes behind a closed gate, the gate's own kernel among them.
const ROOM: u64 = 1020;
const SETTER: &str = "cuGraphExecKernelNodeSetParams_v2";

/// Runs `meanwhile` while another thread's launch waits for room behind a closed gate. The gate fails the test if anything in
/// it waits for that launch.
fn beside_a_launch(fixture: &Fixture, sim: &Sim, buffer: &CommandBuffer, queue: &Queue, meanwhile: impl FnOnce()) {
    let launches = || sim.calls_so_far("cuGraphLaunch");
    let before = launches();
    let mut gate = Gate::new(fixture);
    gate.block(queue);
    std::thread::scope(|scope| {
        let launching = scope.spawn(|| (0..ROOM).for_each(|_| buffer.on(queue)));
        while launches() < before + ROOM {
            std::thread::yield_now();
        }
        meanwhile();
        gate.open();
        launching.join().unwrap();
    });
    queue.finish();
}

/// A finalised buffer of one launch of `fill` over a word.
fn storing(fixture: &Fixture, memory: &Memory<'_>, value: u32) -> (CommandBuffer, Command) {
    let kernel = fixture.basic(c"fill");
    let buffer = CommandBuffer::updatable(fixture);
    let launch = Launch::new(&kernel, &[1]).pointer(memory.pointer()).value(value).value(1u32);
    let (_, command) = buffer.command(&launch, &[]);
    buffer.finalize();
    (buffer, command)
}

#[test]
fn urCommandBufferUpdateKernelLaunchExp_does_not_wait_for_a_launch_that_waits() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 8);
    let (buffer, command) = storing(&fixture, &memory, 1);
    memory.write(&queue, &[0u32, 0]);
    beside_a_launch(&fixture, sim, &buffer, &queue, || {
        buffer.update(&[Change::of(command).value(1, 2u32)]);
        expect_code(
            buffer.change(&[Change::of(command).value(1, 9u32), Change::of(command).global(&[1; 4])]),
            &[ur_result_t::ERROR_INVALID_WORK_DIMENSION],
            "four dimensions",
        );
        buffer.update(&[Change::of(command).value(2, 2u32).global(&[2])]);
    });
    assert_eq!(memory.read::<u32>(&queue, 2), [1, 0], "a launch before the change did what it was changed to");
    buffer.on(&queue);
    assert_eq!(memory.read::<u32>(&queue, 2), [2, 2]);
}

#[test]
fn a_change_beside_a_launch_that_the_driver_refuses_is_answered_by_the_next_launch() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 4);
    let (buffer, command) = storing(&fixture, &memory, 1);
    beside_a_launch(&fixture, sim, &buffer, &queue, || buffer.update(&[Change::of(command).value(1, 2u32)]));
    let mut event = null_mut();
    sim.fail(SETTER, 1, status::UNKNOWN);
    let answer = buffer.enqueue(&queue, &[], &raw mut event);
    sim.clear_faults();
    assert_eq!((answer, event.is_null()), (ur_result_t::ERROR_ADAPTER_SPECIFIC, true));
    assert_eq!(memory.read::<u32>(&queue, 1), [1], "a launch that failed has run");
    let (_, calls) = sim.calls_of(|| buffer.on(&queue));
    assert_eq!((calls.get(SETTER), calls.get("cuGraphLaunch")), (Some(&1), Some(&1)), "{calls:?}");
    assert_eq!(memory.read::<u32>(&queue, 1), [2]);
    sim.expect_calls(&[("cuGraphLaunch", 1)], || buffer.on(&queue));
}

#[test]
fn a_memory_object_that_is_changed_beside_a_launch_is_the_next_launch_s() {
    let fixture = Fixture::over_all_devices();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let (one, two) = (Buffer::new(&fixture, 4), Buffer::new(&fixture, 4));
    one.write(&queue, &[0u32]);
    two.write(&queue, &[0u32]);
    let kernel = fixture.basic(c"fill");
    let buffer = CommandBuffer::updatable(&fixture);
    let launch = Launch::new(&kernel, &[1]).buffer(&one, ur_mem_flags_t::READ_WRITE).value(1u32).value(1u32);
    let (_, command) = buffer.command(&launch, &[]);
    buffer.finalize();
    beside_a_launch(&fixture, sim, &buffer, &queue, || {
        buffer.update(&[Change::of(command).memory(0, two.handle()).value(1, 2u32)]);
        // The launches on their way keep it.
        drop(one);
    });
    assert_eq!(two.read::<u32>(&queue), [0]);
    buffer.on(&queue);
    assert_eq!(two.read::<u32>(&queue), [2]);
}

#[test]
fn urCommandBufferUpdateSignalEventExp_and_WaitEventsExp_do_not_wait_for_a_launch_that_waits() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    if !ur_conformance::command_buffer::device_can(&fixture, ur_device_info_t::COMMAND_BUFFER_EVENT_SUPPORT_EXP) {
        println!("skipped: commands of a buffer have no events here");
        return;
    }
    let (queue, other) = (fixture.in_order(), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 8);
    memory.write(&queue, &[7u32, 0]);
    let event = |queue: &Queue| {
        let mut event = null_mut();
        ok!(Enqueue.pfnEventsWait(queue.handle(), 0, null(), &raw mut event));
        Event::take(event)
    };
    let (first, second) = (event(&other), event(&other));
    let buffer = CommandBuffer::updatable(&fixture);
    let (mut signal, mut command, mut point) = (null_mut(), null_mut(), 0);
    let waits = [first.handle()];
    let (count, waits) = list(&waits);
    let (b, to, from) = (buffer.handle(), memory.at(4), memory.pointer());
    let (s, c) = (&raw mut signal, &raw mut command);
    let answer =
        ur!(CommandBufferExp.pfnAppendUSMMemcpyExp(b, to, from, 4, 0, null(), count, waits, &raw mut point, s, c));
    expect_success(answer, "urCommandBufferAppendUSMMemcpyExp");
    buffer.finalize();
    let old = Event::take(signal);
    let status = |event: &Event| {
        Status(query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS))))
    };
    let mut new = None;
    beside_a_launch(&fixture, sim, &buffer, &queue, || {
        let (mut signal, waits) = (null_mut(), [second.handle()]);
        ok!(CommandBufferExp.pfnUpdateSignalEventExp(command, &raw mut signal));
        ok!(CommandBufferExp.pfnUpdateWaitEventsExp(command, 1, waits.as_ptr()));
        new = Some(Event::take(signal));
    });
    let new = new.unwrap();
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    buffer.on(&queue);
    assert_eq!(status(&old), Status::COMPLETE, "the old event is signalled no more");
    assert_ne!(status(&new), Status::COMPLETE, "the launch waits for the gate");
    gate.open();
    new.wait();
    assert_eq!(memory.read::<u32>(&queue, 2), [7; 2]);
}

/// What waits for other threads' native calls, so that a host task which changes the buffer would wait for them too: events that
/// are made for a launch.
#[test]
fn a_change_does_not_wait_for_a_launch_that_records_behind_itself() {
    let test = "a_change_does_not_wait_for_a_launch_that_records_behind_itself";
    child::in_time::<&str>(test, &[], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        if !ur_conformance::command_buffer::device_can(&fixture, ur_device_info_t::COMMAND_BUFFER_EVENT_SUPPORT_EXP) {
            println!("skipped: commands of a buffer have no events here");
            return;
        }
        let (queue, kernel) = (fixture.in_order(), fixture.basic(c"fill"));
        let memory = fixture.memory(Kind::Device, 8);
        let buffer = CommandBuffer::updatable(&fixture);
        let launch = Launch::new(&kernel, &[1]).pointer(memory.pointer()).value(1u32).value(1u32);
        let (_, command) = buffer.command(&launch, &[]);
        let (mut signal, mut signalling, mut point) = (null_mut(), null_mut(), 0);
        let (b, to, from) = (buffer.handle(), memory.at(4), memory.pointer());
        let (p, s, c) = (&raw mut point, &raw mut signal, &raw mut signalling);
        ok!(CommandBufferExp.pfnAppendUSMMemcpyExp(b, to, from, 4, 0, null(), 0, null(), p, s, c));
        buffer.finalize();
        let old = Event::take(signal);
        buffer.on(&queue);
        queue.finish();
        let mut signal = null_mut();
        ok!(CommandBufferExp.pfnUpdateSignalEventExp(signalling, &raw mut signal));
        let new = Event::take(signal);
        std::thread::scope(|scope| {
            let held = sim.hold_calls("cuEventRecord");
            let launching = scope.spawn(|| buffer.on(&queue));
            held.wait_for_one(|| launching.is_finished());
            buffer.update(&[Change::of(command).value(1, 2u32)]);
            drop(held);
        });
        buffer.on(&queue);
        assert_eq!(memory.read::<u32>(&queue, 1), [2]);
        drop((old, new));
    });
}

/// Buffers that are set on the new kernel get their memory at the buffer's device before anybody else's change has to wait.
#[test]
fn a_change_does_not_wait_for_memory_that_another_change_makes() {
    needs_function!(urKernelSetArgValue);
    let test = "a_change_does_not_wait_for_memory_that_another_change_makes";
    child::in_time(test, &[("UR_USM_POOL", "0")], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let (queue, fill, other) = (fixture.in_order(), fixture.basic(c"fill"), fixture.basic(c"add_constant"));
        let memory = fixture.memory(Kind::Device, 4);
        let buffer = CommandBuffer::updatable(&fixture);
        let launch = Launch::new(&fill, &[1]).pointer(memory.pointer()).value(1u32).value(1u32);
        let (_, changing) = buffer.command_of(&launch, &[&other], &[]);
        let (_, command) = buffer.command(&launch, &[]);
        buffer.finalize();
        let new = Buffer::new(&fixture, 4);
        ok!(Kernel.pfnSetArgMemObj(other.handle(), 0, null(), new.handle()));
        std::thread::scope(|scope| {
            let held = sim.hold_calls("cuMemAlloc_v2");
            let (changing, buffer, other) = (changing.expose_provenance(), &buffer, &other);
            let making = scope.spawn(move || {
                let changing = core::ptr::with_exposed_provenance_mut(changing);
                buffer.update(&[Change::of(changing).kernel(other)]);
            });
            held.wait_for_one(|| making.is_finished());
            buffer.update(&[Change::of(command).value(1, 2u32)]);
            drop(held);
        });
        buffer.on(&queue);
        assert_eq!((memory.read::<u32>(&queue, 1), new.read::<u32>(&queue).len()), (vec![2], 1));
    });
}
