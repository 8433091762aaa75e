//! A device that goes away while it has work: what is queued fails, what is asked fails, everything can be given back.
//! Needs the simulated driver.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::mpsc::{Sender, channel};

use ur_conformance::current::{Current, Place};
use ur_conformance::ffi::{
    CBool, ur_event_handle_t, ur_execution_info_t, ur_exp_event_desc_t, ur_queue_flags_t as Flags, ur_queue_handle_t,
    ur_result_t as Code,
};
use ur_conformance::owned::event_of;
use ur_conformance::{
    Event, Fixture, Gate, Kind, Launch, child, expect_code, needs_function, needs_sim, ok, refused, ur,
};

fn lose_in_mid_work(flags: Flags) {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let current = Current::at(Place::LastDevice);
    let (kernel, queue) = (fixture.basic(c"iota"), fixture.queue(flags));
    let (device, host) = (fixture.memory(Kind::Device, 64), fixture.memory(Kind::Host, 64));
    let q = queue.handle();
    let launch = Launch::new(&kernel, &[8]).pointer(device.pointer()).value(8u32);
    let held = sim.hold();
    let launched = launch.event_on(&queue);
    let list = [launched.handle()];
    let copied = event_of(|event| {
        let (to, from) = (host.pointer(), device.pointer());
        ur!(Enqueue.pfnUSMMemcpy(q, CBool::FALSE, to, from, 32, 1, list.as_ptr(), event))
    });
    sim.lose_device(0);
    drop(held);
    for event in [&launched, &copied] {
        let list = [event.handle()];
        current.after("urEventWait", || {
            expect_code(ur!(Event.pfnWait(1, list.as_ptr())), &[Code::ERROR_DEVICE_LOST], "urEventWait")
        });
        assert!(!ur_conformance::last_error().is_empty());
    }
    current
        .after("urQueueFinish", || expect_code(ur!(Queue.pfnFinish(q)), &[Code::ERROR_DEVICE_LOST], "urQueueFinish"));
    let mut event = null_mut();
    current.after("a launch", || {
        expect_code(launch.enqueue(&queue, &raw mut event), &[Code::ERROR_DEVICE_LOST], "a launch")
    });
    assert!(event.is_null());
    current.after("a copy", || {
        let (to, from) = (host.pointer(), device.pointer());
        let answer = ur!(Enqueue.pfnUSMMemcpy(q, CBool::TRUE, to, from, 32, 0, null(), &raw mut event));
        expect_code(answer, &[Code::ERROR_DEVICE_LOST], "a copy");
    });
    assert!(event.is_null());
    let handles: [Event; 2] = [launched, copied];
    current.after("the releases", || drop((handles, queue, kernel)));
    // The device's memory went with it; only the address remains to be given back.
    current.after("urUSMFree", || drop((device, host)));
    drop(current);
}

#[test]
fn queued_work_of_an_in_order_queue_fails_with_DEVICE_LOST_and_everything_can_be_released() {
    lose_in_mid_work(Flags::empty());
}

#[test]
fn queued_work_of_an_out_of_order_queue_fails_with_DEVICE_LOST_and_everything_can_be_released() {
    lose_in_mid_work(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

#[test]
fn the_device_can_be_used_again_when_it_comes_back() {
    for _ in 0..2 {
        lose_in_mid_work(Flags::empty());
        let fixture = Fixture::new();
        let (kernel, queue) = (fixture.basic(c"iota"), fixture.in_order());
        let memory = fixture.memory(Kind::Device, 32);
        Launch::new(&kernel, &[8]).pointer(memory.pointer()).value(8u32).on(&queue);
        assert_eq!(memory.read::<u32>(&queue, 8), [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}

extern "C" fn never(_: *mut c_void) {
    panic!("a task of a lost device runs");
}

extern "C" fn end_of_event(_: ur_event_handle_t, _: ur_execution_info_t, _: *mut c_void) {}

extern "C" fn native_command(_: ur_queue_handle_t, _: *mut c_void) {}

/// Every command and every wait of a queue whose device a kernel has brought down.
fn expect_everything_lost(fixture: &Fixture, flags: Flags) {
    let kernel = fixture.basic(c"trap_if");
    let (queue, other) = (fixture.queue(flags), fixture.queue(flags));
    let memory = fixture.memory(Kind::Host, 64);
    let (q, to, from) = (queue.handle(), memory.pointer(), memory.at(32));
    let done = event_of(|event| ur!(Enqueue.pfnEventsWaitWithBarrier(q, 0, null(), event)));
    done.wait();
    let failing = Launch::new(&kernel, &[1]).value(1u32).event_on(&queue);
    let pending = failing.handle();
    let complete = ur_execution_info_t::COMPLETE;
    // Whether the device gets to these before it falls is its own matter.
    let _ = ur!(Event.pfnSetCallback(pending, complete, Some(end_of_event), null_mut()));
    let list = [pending];
    let lost = |name: &str, answer: Code| expect_code(answer, &[Code::ERROR_DEVICE_LOST], name);
    for _ in 0..2 {
        lost("urEventWait", ur!(Event.pfnWait(1, list.as_ptr())));
        lost("urQueueFinish", ur!(Queue.pfnFinish(q)));
    }
    let mut event = null_mut();
    let e = &raw mut event;
    let no = CBool::FALSE;
    lost("a launch", Launch::new(&kernel, &[1]).value(0u32).enqueue(&queue, e));
    lost("a copy", ur!(Enqueue.pfnUSMMemcpy(q, no, to, from, 32, 0, null(), e)));
    lost("a blocking copy", ur!(Enqueue.pfnUSMMemcpy(q, CBool::TRUE, to, from, 32, 0, null(), e)));
    lost("a fill", ur!(Enqueue.pfnUSMFill(q, to, 1, (&raw const *b"x").cast(), 32, 0, null(), e)));
    lost("a host task", ur!(EnqueueExp.pfnHostTaskExp(q, Some(never), null_mut(), null(), 0, null(), e)));
    lost("a timestamp", ur!(EnqueueExp.pfnTimestampRecordingExp(q, no, 0, null(), e)));
    lost("a callback", ur!(Event.pfnSetCallback(pending, complete, Some(end_of_event), null_mut())));
    let (none, o) = (null(), other.handle());
    let native = Some(native_command as extern "C" fn(ur_queue_handle_t, *mut c_void));
    let native = native.map(|function| function as unsafe extern "C" fn(ur_queue_handle_t, *mut c_void));
    lost(
        "a native command",
        ur!(EnqueueExp.pfnNativeCommandExp(o, native, null_mut(), 0, none, null(), 1, list.as_ptr(), e)),
    );
    lost("a wait of another queue", ur!(Enqueue.pfnEventsWait(o, 1, list.as_ptr(), e)));
    lost("urDeviceWaitExp", ur!(DeviceExp.pfnWaitExp(fixture.device())));
    assert!(event.is_null(), "a failed command handed out an event");
    // What had finished has.
    done.wait();
    memory.free_lost();
}

#[test]
fn after_a_kernel_s_fault_every_command_and_wait_answers_DEVICE_LOST_and_the_process_ends_well() {
    let test = "after_a_kernel_s_fault_every_command_and_wait_answers_DEVICE_LOST_and_the_process_ends_well";
    for (name, flags) in [("in", Flags::empty()), ("out", Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE)] {
        child::in_process(test, &[("UR_TEST_ORDER", name)], || {
            if std::env::var("UR_TEST_ORDER").is_ok_and(|order| order != name) {
                return;
            }
            let fixture = Fixture::new();
            fixture.allow_late_releases();
            expect_everything_lost(&fixture, flags);
            let sim = needs_sim!(fixture);
            sim.expect_reports("kernel-fault");
        });
    }
}

/// Nothing waits for the lost work, and nothing is given back.
#[test]
fn a_process_that_leaves_a_lost_device_s_tasks_and_callbacks_behind_ends_well() {
    let test = "a_process_that_leaves_a_lost_device_s_tasks_and_callbacks_behind_ends_well";
    child::in_process::<&str>(test, &[], || {
        let mut fixture = Fixture::new();
        let kernel = fixture.basic(c"trap_if");
        let queue = fixture.in_order();
        let failing = Launch::new(&kernel, &[1]).value(1u32).event_on(&queue);
        let q = queue.handle();
        let complete = ur_execution_info_t::COMPLETE;
        let _ = ur!(Event.pfnSetCallback(failing.handle(), complete, Some(end_of_event), null_mut()));
        let _ = ur!(EnqueueExp.pfnHostTaskExp(q, Some(never), null_mut(), null(), 0, null(), null_mut()));
        std::mem::forget((kernel, queue, failing));
        expect_code(ur!(DeviceExp.pfnWaitExp(fixture.device())), &[Code::ERROR_DEVICE_LOST], "urDeviceWaitExp");
        fixture.accept_objects();
        if let Some(sim) = fixture.sim() {
            sim.clear_reports();
        }
    });
}

/// The last release of the queue finds out that the device is lost, and ends what waits for it.
#[test]
fn a_lost_device_s_tasks_and_callbacks_go_with_their_queue() {
    let fixture = Fixture::new();
    fixture.allow_late_releases();
    let sim = needs_sim!(fixture);
    let (kernel, queue) = (fixture.basic(c"empty"), fixture.in_order());
    let held = sim.hold();
    let event = Launch::new(&kernel, &[1]).event_on(&queue);
    let complete = ur_execution_info_t::COMPLETE;
    let answer = ur!(Event.pfnSetCallback(event.handle(), complete, Some(end_of_event), null_mut()));
    assert_eq!(answer, Code::SUCCESS);
    let q = queue.handle();
    assert_eq!(
        ur!(EnqueueExp.pfnHostTaskExp(q, Some(never), null_mut(), null(), 0, null(), null_mut())),
        Code::SUCCESS
    );
    sim.lose_device(0);
    drop(held);
    drop((event, queue, kernel));
}

extern "C" fn tell(data: *mut c_void) {
    // SAFETY: the sender was given away for one call.
    let _ = unsafe { Box::from_raw(data.cast::<Sender<()>>()) }.send(());
}

/// The event was made for the first device, and a queue of the second one has signalled it.
#[test]
fn urEventWait_for_a_reusable_event_of_a_lost_device_ends_no_host_task_of_another_one() {
    needs_function!(urEventCreateExp);
    let fixture = Fixture::over_all_devices();
    fixture.allow_late_releases();
    let sim = needs_sim!(fixture);
    let &[first, second, ..] = &*fixture.devices else { return };
    let (queue, other) = (fixture.in_order(), fixture.queue_in(fixture.context(), second, Flags::empty()));
    let mut event = null_mut();
    let description = ur_exp_event_desc_t::default();
    ok!(EventExp.pfnCreateExp(fixture.context(), first, &raw const description, &raw mut event));
    let event = Event::take(event);
    let (sender, calls) = channel::<()>();
    let data = Box::into_raw(Box::new(sender)).cast();
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    ok!(EnqueueExp.pfnHostTaskExp(queue.handle(), Some(tell), data, null(), 0, null(), null_mut()));
    let mut given = event.handle();
    ok!(Enqueue.pfnEventsWaitWithBarrierExt(other.handle(), null(), 0, null(), &raw mut given));
    sim.lose_device(1);
    let list = [event.handle()];
    refused!(ERROR_DEVICE_LOST, Event.pfnWait(1, list.as_ptr()));
    gate.open();
    queue.finish();
    assert_eq!(calls.try_recv(), Ok(()), "the task of a device that is well was not run");
}
