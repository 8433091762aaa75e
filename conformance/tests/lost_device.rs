//! A device that goes away while it has work: what is queued fails, what is asked fails, everything can be given back.
//! Needs the simulated driver.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::{null, null_mut};

use ur_conformance::current::{Current, Place};
use ur_conformance::ffi::{CBool, ur_queue_flags_t as Flags, ur_result_t as Code};
use ur_conformance::owned::event_of;
use ur_conformance::{Event, Fixture, Kind, Launch, expect_code, needs_sim, ur};

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
