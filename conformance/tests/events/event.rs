//! `urEvent*`: status, waiting, properties, and how long an event lives.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    CBool, ur_command_t, ur_event_handle_t, ur_event_info_t as info, ur_event_status_t as Status,
    ur_queue_flags_t as Flags, ur_result_t,
};
use ur_conformance::owned::event_of;
use ur_conformance::{
    Event, Fixture, Gate, Kind, Launch, Queue, ask, check_every_property, child, expect_code, needs_sim, ok, query,
    refused, ur,
};

fn status(event: &Event) -> Status {
    Status(query::get(ask!(Event.pfnGetInfo(event.handle(), info::COMMAND_EXECUTION_STATUS))))
}

fn marker(queue: &Queue) -> Event {
    event_of(|event| ur!(Enqueue.pfnEventsWait(queue.handle(), 0, null(), event)))
}

#[test]
fn urEventGetInfo_tells_that_work_is_not_complete_until_it_is() {
    let fixture = Fixture::new();
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::PROFILING_ENABLE] {
        let queue = fixture.queue(flags);
        let mut gate = Gate::new(&fixture);
        let event = gate.block_event(&queue);
        let running = status(&event);
        assert!([Status::QUEUED, Status::SUBMITTED, Status::RUNNING].contains(&running), "{running:?}");
        gate.open();
        event.wait();
        assert_eq!(status(&event), Status::COMPLETE);
    }
}

#[test]
fn urEventGetInfo_sees_completion_without_a_wait() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let mut gate = Gate::new(&fixture);
    let (early, late) = (gate.block_event(&queue), marker(&queue));
    gate.open();
    queue.finish();
    assert_eq!((status(&early), status(&late)), (Status::COMPLETE, Status::COMPLETE));
}

/// In a chain each event is held when the next command comes, and the object of one that was released may serve another.
#[test]
fn an_event_of_a_chain_tells_of_its_own_command_whatever_its_object_stood_for_before() {
    let fixture = Fixture::new();
    let (queue, kernel) = (fixture.in_order(), fixture.basic(c"empty"));
    let mut gate = Gate::new(&fixture);
    let launch = || Launch::new(&kernel, &[1]).event_on(&queue);
    let mut held = launch();
    for _ in 0..4 {
        let next = launch();
        drop(std::mem::replace(&mut held, next));
    }
    queue.finish();
    let closed = gate.block_event(&queue);
    drop(held);
    let behind = launch();
    let last = launch();
    for event in [&closed, &behind, &last] {
        assert_ne!(status(event), Status::COMPLETE, "the gate is closed");
    }
    gate.open();
    closed.wait();
    assert_eq!(status(&closed), Status::COMPLETE);
    last.wait();
    assert_eq!((status(&behind), status(&last)), (Status::COMPLETE, Status::COMPLETE));
}

#[test]
fn urEventGetInfo_answers_every_property_by_the_rules() {
    let fixture = Fixture::new();
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = fixture.queue(flags);
        let event = marker(&queue);
        queue.finish();
        check_every_property!(ur_event_info_t, &[], Event.pfnGetInfo(event.handle()));
        let owner: *mut _ = query::get(ask!(Event.pfnGetInfo(event.handle(), info::COMMAND_QUEUE)));
        let context: *mut _ = query::get(ask!(Event.pfnGetInfo(event.handle(), info::CONTEXT)));
        assert_eq!((owner, context), (queue.handle(), fixture.context()));
    }
}

#[test]
fn urEventGetInfo_COMMAND_TYPE_names_the_command() {
    let fixture = Fixture::new();
    let memory = fixture.memory(Kind::Device, 64);
    let (to, from) = (memory.pointer(), memory.at(32));
    let kernel = fixture.basic(c"empty");
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::PROFILING_ENABLE] {
        let queue = fixture.queue(flags);
        let q = queue.handle();
        let command =
            |event: &Event| ur_command_t(query::get(ask!(Event.pfnGetInfo(event.handle(), info::COMMAND_TYPE))));
        let mut block = null_mut();
        let events = [
            (ur_command_t::KERNEL_LAUNCH, Launch::new(&kernel, &[1]).event_on(&queue)),
            (ur_command_t::EVENTS_WAIT, marker(&queue)),
            (
                ur_command_t::EVENTS_WAIT_WITH_BARRIER,
                event_of(|event| ur!(Enqueue.pfnEventsWaitWithBarrier(q, 0, null(), event))),
            ),
            (
                ur_command_t::USM_MEMCPY,
                event_of(|event| ur!(Enqueue.pfnUSMMemcpy(q, CBool::FALSE, to, from, 32, 0, null(), event))),
            ),
            (
                ur_command_t::USM_FILL,
                event_of(|event| ur!(Enqueue.pfnUSMFill(q, to, 1, (&raw const *b"x").cast(), 32, 0, null(), event))),
            ),
            (
                ur_command_t::ENQUEUE_USM_DEVICE_ALLOC_EXP,
                event_of(|event| {
                    let out = &raw mut block;
                    ur!(EnqueueExp.pfnUSMDeviceAllocExp(q, null_mut(), 64, null(), 0, null(), out, event))
                }),
            ),
        ];
        events[5].1.wait();
        let freed = event_of(|event| ur!(EnqueueExp.pfnUSMFreeExp(q, null_mut(), block, 0, null(), event)));
        assert_eq!(command(&freed), ur_command_t::ENQUEUE_USM_FREE_EXP);
        for (expected, event) in &events {
            assert_eq!(command(event), *expected, "{flags:?}");
        }
        queue.finish();
    }
}

#[test]
fn urEventRetain_and_urEventRelease_count() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let event = marker(&queue);
    let references = || query::get::<u32>(ask!(Event.pfnGetInfo(event.handle(), info::REFERENCE_COUNT)));
    assert_eq!(references(), 1);
    ok!(Event.pfnRetain(event.handle()));
    assert_eq!(references(), 2);
    ok!(Event.pfnRelease(event.handle()));
    assert_eq!(references(), 1);
}

#[test]
fn urEventRelease_of_an_unfinished_event_leaves_the_command_running() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let mut gate = Gate::new(&fixture);
    drop(gate.block_event(&queue));
    gate.open();
    queue.finish();
    assert!(gate.has_passed());
}

#[test]
fn urEventWait_returns_when_all_of_the_list_are_complete() {
    let fixture = Fixture::new();
    let (first, second) = (fixture.in_order(), fixture.out_of_order());
    let (mut one, mut two) = (Gate::new(&fixture), Gate::new(&fixture));
    let events = [one.block_event(&first), two.block_event(&second), marker(&first)];
    one.open();
    two.open();
    let list: Vec<_> = events.iter().map(Event::handle).collect();
    ok!(Event.pfnWait(3, list.as_ptr()));
    assert!(one.has_passed() && two.has_passed());
    assert!(events.iter().all(|event| status(event) == Status::COMPLETE));
}

#[test]
fn urEventWait_refuses_empty_lists_and_entries_that_are_no_events() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let event = marker(&queue);
    let list = [event.handle(), null_mut()];
    refused!(ERROR_INVALID_VALUE, Event.pfnWait(0, list.as_ptr()));
    refused!(ERROR_INVALID_NULL_POINTER, Event.pfnWait(1, null()));
    refused!(ERROR_INVALID_EVENT_WAIT_LIST | ERROR_INVALID_EVENT, Event.pfnWait(2, list.as_ptr()));
    let list = [event.handle(), queue.handle().cast()];
    refused!(ERROR_INVALID_EVENT, Event.pfnWait(2, list.as_ptr()));
}

#[test]
fn an_event_outlives_its_queue_and_its_context_s_handle() {
    let fixture = Fixture::new();
    let context = fixture.context_of(&fixture.devices[..1]);
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::PROFILING_ENABLE] {
        let queue = fixture.queue_in(context.handle(), fixture.device(), flags);
        let event = marker(&queue);
        drop(queue);
        event.wait();
        assert_eq!(status(&event), Status::COMPLETE);
    }
}

#[test]
fn an_event_whose_queue_was_released_while_it_ran_still_completes() {
    let fixture = Fixture::new();
    let other = fixture.in_order();
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = fixture.queue(flags);
        let mut gate = Gate::new(&fixture);
        let event = gate.block_event(&queue);
        drop(queue);
        assert_ne!(status(&event), Status::COMPLETE);
        let list = [event.handle()];
        ok!(Enqueue.pfnEventsWait(other.handle(), 1, list.as_ptr(), null_mut()));
        gate.open();
        other.finish();
        assert_eq!(status(&event), Status::COMPLETE);
    }
}

type Enqueue<'a> = &'a dyn Fn(u32, *const ur_event_handle_t, *mut ur_event_handle_t) -> ur_result_t;

/// Every command has a wait list, and all of them are read by the same rules.
#[test]
fn every_enqueue_refuses_a_contradictory_wait_list_and_hands_out_no_event() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"empty");
    let memory = fixture.memory(Kind::Device, 64);
    let (to, from) = (memory.pointer(), memory.at(32));
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = fixture.queue(flags);
        let (q, k) = (queue.handle(), kernel.handle());
        let size = 1usize;
        let commands: [(&str, Enqueue<'_>); 8] = [
            ("urEnqueueEventsWait", &|n, list, event| ur!(Enqueue.pfnEventsWait(q, n, list, event))),
            ("urEnqueueEventsWaitWithBarrier", &|n, list, event| {
                ur!(Enqueue.pfnEventsWaitWithBarrier(q, n, list, event))
            }),
            ("urEnqueueEventsWaitWithBarrierExt", &|n, list, event| {
                ur!(Enqueue.pfnEventsWaitWithBarrierExt(q, null(), n, list, event))
            }),
            ("urEnqueueUSMMemcpy", &|n, list, event| {
                ur!(Enqueue.pfnUSMMemcpy(q, CBool::FALSE, to, from, 32, n, list, event))
            }),
            ("urEnqueueUSMFill", &|n, list, event| {
                ur!(Enqueue.pfnUSMFill(q, to, 1, (&raw const *b"x").cast(), 32, n, list, event))
            }),
            ("urEnqueueUSMDeviceAllocExp", &|n, list, event| {
                let mut out = null_mut();
                let answer =
                    ur!(EnqueueExp.pfnUSMDeviceAllocExp(q, null_mut(), 64, null(), n, list, &raw mut out, event));
                assert!(out.is_null(), "a failed allocation gave a pointer");
                answer
            }),
            ("urEnqueueUSMFreeExp", &|n, list, event| ur!(EnqueueExp.pfnUSMFreeExp(q, null_mut(), to, n, list, event))),
            ("urEnqueueKernelLaunchWithArgsExp", &|n, list, event| {
                let (one, none) = (&raw const size, null());
                ur!(EnqueueExp.pfnKernelLaunchWithArgsExp(q, k, 1, none, one, none, 0, null(), null(), n, list, event))
            }),
        ];
        let done = marker(&queue);
        let null_entry: [ur_event_handle_t; 1] = [null_mut()];
        let foreign: [ur_event_handle_t; 2] = [done.handle(), q.cast()];
        use ur_result_t as Code;
        let list = Code::ERROR_INVALID_EVENT_WAIT_LIST;
        for (name, command) in commands {
            let mut event = null_mut();
            expect_code(command(1, null(), &raw mut event), &[list], name);
            expect_code(command(0, [done.handle()].as_ptr(), &raw mut event), &[list], name);
            expect_code(command(1, null_entry.as_ptr(), &raw mut event), &[list, Code::ERROR_INVALID_EVENT], name);
            expect_code(command(2, foreign.as_ptr(), &raw mut event), &[Code::ERROR_INVALID_EVENT], name);
            assert!(event.is_null(), "{name} handed out an event although it failed");
        }
        queue.finish();
    }
}

/// In a process of its own, since a real device's context does not come back.
#[test]
fn a_kernel_that_fails_loses_the_device_and_everything_can_still_be_released() {
    let test = "a_kernel_that_fails_loses_the_device_and_everything_can_still_be_released";
    child::in_process::<&str>(test, &[], || {
        let fixture = Fixture::new();
        let kernel = fixture.basic(c"trap_if");
        let queue = fixture.in_order();
        let event = Launch::new(&kernel, &[1]).value(1u32).event_on(&queue);
        let list = [event.handle()];
        refused!(ERROR_DEVICE_LOST, Event.pfnWait(1, list.as_ptr()));
        assert!(!ur_conformance::last_error().is_empty());
        refused!(ERROR_DEVICE_LOST, Queue.pfnFinish(queue.handle()));
        drop((event, queue, kernel));
        let sim = needs_sim!(fixture);
        sim.expect_reports("kernel-fault");
    });
}
