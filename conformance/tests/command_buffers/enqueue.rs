//! `urEnqueueCommandBufferExp`: wait list, event, times, native calls, and what it refuses.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::command_buffer::description;
use ur_conformance::current::{Current, Place};
use ur_conformance::ffi::{
    ur_command_t, ur_event_handle_t, ur_event_info_t, ur_profiling_info_t as Time, ur_queue_flags_t as Flags,
    ur_result_t as Code,
};
use ur_conformance::{CommandBuffer, Event, Fixture, Gate, Kind, Launch, ask, needs_sim, query, refused};

const QUEUES: [Flags; 4] = [
    Flags::empty(),
    Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE,
    Flags::PROFILING_ENABLE,
    Flags::PROFILING_ENABLE.union(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE),
];

fn is_complete(event: &Event) -> bool {
    query::get::<i32>(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS))) == 0
}

#[test]
fn urEnqueueCommandBufferExp_waits_for_its_list_and_its_event_covers_all_commands() {
    let fixture = Fixture::new();
    for flags in QUEUES {
        let (queue, other) = (fixture.queue(flags), fixture.in_order());
        let memory = fixture.memory(Kind::Host, 4 * 8);
        let buffer = CommandBuffer::new(&fixture);
        for word in 0..8 {
            buffer.fill(memory.at(4 * word), &[word as u32 + 1], 4, &[]);
        }
        buffer.finalize();
        // A first launch may load code of the library's, which waits for kernels that run.
        buffer.event_on(&queue, &[]).wait();
        (0..8).for_each(|word| memory.store(word, 0));
        let mut gate = Gate::new(&fixture);
        // Making a context and ending one wait for kernels that run on its device: on an H200 for the gate.
        let current = Current::at(Place::LastDevice);
        let blocked = gate.block_event(&other);
        let event = current.after("urEnqueueCommandBufferExp", || buffer.event_on(&queue, &[&blocked]));
        assert!(!is_complete(&event), "{flags:?}");
        assert_eq!((0..8).map(|word| memory.load(word)).sum::<u32>(), 0, "{flags:?}: a command did not wait");
        let command = ur_command_t(query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_TYPE))));
        assert_eq!(command, ur_command_t::ENQUEUE_COMMAND_BUFFER_EXP);
        gate.open();
        drop(current);
        event.wait();
        assert_eq!((0..8).map(|word| memory.load(word)).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7, 8], "{flags:?}");
        queue.finish();
        other.finish();
    }
}

#[test]
fn a_launch_keeps_its_place_among_an_in_order_queue_s_commands() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"add_constant"), fixture.in_order());
    let memory = fixture.memory(Kind::Device, 4);
    let buffer = CommandBuffer::new(&fixture);
    buffer.launch(&Launch::new(&kernel, &[1]).pointer(memory.pointer()).value(1u32).value(1u32), &[]);
    buffer.finalize();
    memory.write(&queue, &[0u32]);
    let double = fixture.basic(c"add_constant");
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    for round in 0..10 {
        buffer.on(&queue);
        Launch::new(&double, &[1]).pointer(memory.pointer()).value(100u32).value(1u32).on(&queue);
        if round % 3 == 0 {
            let zero = 0u8;
            let from = (&raw const zero).cast();
            ur_conformance::ok!(Enqueue.pfnUSMFill(
                queue.handle(),
                memory.pointer(),
                1,
                from,
                4,
                0,
                null(),
                null_mut()
            ));
        }
    }
    gate.open();
    assert_eq!(memory.read::<u32>(&queue, 1), [0]);
    buffer.on(&queue);
    assert_eq!(memory.read::<u32>(&queue, 1), [1]);
}

#[test]
fn commands_behind_the_event_of_a_launch_see_what_it_did_on_any_queue() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"spin");
    for flags in QUEUES {
        let (queue, other) = (fixture.queue(flags), fixture.queue(flags));
        let (memory, copy) = (fixture.memory(Kind::Device, 4), fixture.memory(Kind::Device, 4));
        memory.write(&queue, &[0u32]);
        let buffer = CommandBuffer::new(&fixture);
        let spun = buffer.launch(
            &Launch::new(&kernel, &[1]).local(&[1]).pointer(memory.pointer()).value(20_000u32).value(1u32),
            &[],
        );
        buffer.fill(memory.pointer(), &[77u32], 4, &[spun]);
        buffer.finalize();
        let event = buffer.event_on(&queue, &[]);
        let copied = ur_conformance::owned::event_of(|out| {
            let (list, to, from) = ([event.handle()], copy.pointer(), memory.pointer());
            let no = ur_conformance::ffi::CBool::FALSE;
            ur_conformance::ur!(Enqueue.pfnUSMMemcpy(other.handle(), no, to, from, 4, 1, list.as_ptr(), out))
        });
        copied.wait();
        assert_eq!(copy.read::<u32>(&other, 1), [77], "{flags:?}");
        queue.finish();
    }
}

#[test]
fn a_launch_s_times_go_forward_where_they_are_kept() {
    let fixture = Fixture::new();
    let memory = fixture.memory(Kind::Device, 64);
    for profiled in [false, true] {
        let buffer = CommandBuffer::with(&fixture, description(false, false, profiled));
        let first = buffer.fill(memory.pointer(), &[1u8], 64, &[]);
        buffer.fill(memory.pointer(), &[2u8], 64, &[first]);
        buffer.finalize();
        for flags in QUEUES {
            let queue = fixture.queue(flags);
            let event = buffer.event_on(&queue, &[]);
            event.wait();
            let ask = |property, value: *mut u64| {
                ur_conformance::ur!(Event.pfnGetProfilingInfo(event.handle(), property, 8, value.cast(), null_mut()))
            };
            let kept = flags.contains(Flags::PROFILING_ENABLE);
            let mut times = [0u64; 4];
            let all = [Time::COMMAND_QUEUED, Time::COMMAND_SUBMIT, Time::COMMAND_START, Time::COMMAND_END];
            for (property, time) in all.into_iter().zip(&mut times) {
                let answer = ask(property, time);
                if kept {
                    assert_eq!(answer, Code::SUCCESS, "{flags:?}");
                } else {
                    let codes = [Code::SUCCESS, Code::ERROR_PROFILING_INFO_NOT_AVAILABLE];
                    assert!(codes.contains(&answer), "{flags:?}: {answer:?}");
                }
            }
            assert!(!kept || (times.is_sorted() && times[0] > 0), "{flags:?}: {times:?}");
            queue.finish();
        }
    }
}

#[test]
fn a_launch_on_an_in_order_queue_is_one_native_call() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 4 * 100);
    let sim = needs_sim!(fixture);
    let buffer = CommandBuffer::new(&fixture);
    for word in 0..100 {
        buffer.fill(memory.at(4 * word), &[1u32], 4, &[]);
    }
    buffer.finalize();
    buffer.on(&queue);
    for _ in 0..3 {
        sim.expect_calls(&[("cuGraphLaunch", 1)], || buffer.on(&queue));
        // An event that nobody looks at costs none.
        sim.expect_calls(&[("cuGraphLaunch", 1)], || drop(buffer.event_on(&queue, &[])));
    }
    queue.finish();
}

#[test]
fn urEnqueueCommandBufferExp_refuses_bad_input_and_gives_no_event() {
    let fixture = Fixture::over_all_devices();
    let (context, device) = (fixture.context(), fixture.device());
    let queue = fixture.queue_in(context, device, Flags::empty());
    let buffer = CommandBuffer::new(&fixture);
    let (q, b, mut event) = (queue.handle(), buffer.handle(), null_mut());
    let e = &raw mut event;
    refused!(ERROR_INVALID_OPERATION, EnqueueExp.pfnCommandBufferExp(q, b, 0, null(), e));
    buffer.finalize();
    let foreign: [ur_event_handle_t; 1] = [q.cast()];
    let nothing: [ur_event_handle_t; 1] = [null_mut()];
    let list = foreign.as_ptr();
    refused!(ERROR_INVALID_NULL_HANDLE, EnqueueExp.pfnCommandBufferExp(null_mut(), b, 0, null(), e));
    refused!(ERROR_INVALID_NULL_HANDLE, EnqueueExp.pfnCommandBufferExp(q, null_mut(), 0, null(), e));
    refused!(ERROR_INVALID_QUEUE, EnqueueExp.pfnCommandBufferExp(b.cast(), b, 0, null(), e));
    refused!(ERROR_INVALID_COMMAND_BUFFER_EXP, EnqueueExp.pfnCommandBufferExp(q, q.cast(), 0, null(), e));
    refused!(ERROR_INVALID_EVENT_WAIT_LIST, EnqueueExp.pfnCommandBufferExp(q, b, 1, null(), e));
    refused!(ERROR_INVALID_EVENT_WAIT_LIST, EnqueueExp.pfnCommandBufferExp(q, b, 0, list, e));
    refused!(ERROR_INVALID_EVENT, EnqueueExp.pfnCommandBufferExp(q, b, 1, list, e));
    let none = nothing.as_ptr();
    refused!(ERROR_INVALID_EVENT_WAIT_LIST | ERROR_INVALID_EVENT, EnqueueExp.pfnCommandBufferExp(q, b, 1, none, e));
    let elsewhere = fixture.context_of(&[device]);
    let other = fixture.queue_in(elsewhere.handle(), device, Flags::empty());
    refused!(
        ERROR_INVALID_QUEUE | ERROR_INVALID_CONTEXT,
        EnqueueExp.pfnCommandBufferExp(other.handle(), b, 0, null(), e)
    );
    if let Some(&second) = fixture.devices.get(1) {
        let other = fixture.queue_in(context, second, Flags::empty());
        refused!(
            ERROR_INVALID_QUEUE | ERROR_INVALID_DEVICE,
            EnqueueExp.pfnCommandBufferExp(other.handle(), b, 0, null(), e)
        );
    }
    assert!(event.is_null());
    buffer.on(&queue);
    queue.finish();
}

#[test]
fn a_launch_that_fails_gives_no_event_and_leaves_the_queue_usable() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let sim = needs_sim!(fixture);
    let memory = fixture.memory(Kind::Device, 4);
    let buffer = CommandBuffer::new(&fixture);
    buffer.fill(memory.pointer(), &[8u32], 4, &[]);
    buffer.finalize();
    let mut event = null_mut();
    sim.fail("cuGraphLaunch", 1, ur_conformance::sim::status::UNKNOWN);
    let answer = buffer.enqueue(&queue, &[], &raw mut event);
    assert_eq!((answer, event.is_null()), (Code::ERROR_ADAPTER_SPECIFIC, true));
    buffer.on(&queue);
    assert_eq!(memory.read::<u32>(&queue, 1), [8]);
}

/// Every thread launches the same buffer on a queue of its own.
#[test]
fn one_buffer_can_be_launched_by_many_threads() {
    const LAUNCHES: u32 = 50;
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"add_constant");
    let memory = fixture.memory(Kind::Device, 4);
    let looking = fixture.in_order();
    memory.write(&looking, &[0u32]);
    let buffer = CommandBuffer::new(&fixture);
    buffer.launch(&Launch::new(&kernel, &[1]).pointer(memory.pointer()).value(1u32).value(1u32), &[]);
    buffer.finalize();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let (fixture, buffer) = (&fixture, &buffer);
            scope.spawn(move || {
                let queue = fixture.in_order();
                (0..LAUNCHES).for_each(|_| buffer.on(&queue));
                queue.finish();
            });
        }
    });
    // Launches of one executable graph never overlap, so none of the additions is lost.
    assert_eq!(memory.read::<u32>(&looking, 1), [4 * LAUNCHES]);
}
