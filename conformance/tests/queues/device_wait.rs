//! `urDeviceWaitExp`: everything a device was given has finished when it returns.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};

use ur_conformance::ffi::{ur_event_info_t, ur_queue_flags_t as Flags, ur_result_t as Code};
use ur_conformance::owned::event_of;
use ur_conformance::sim::status;
use ur_conformance::{Fixture, Gate, Kind, ask, needs_sim, ok, query, refused, ur};

#[test]
fn urDeviceWaitExp_waits_for_every_queue_of_every_context() {
    let fixture = Fixture::new();
    let context = fixture.context_of(&fixture.devices[..1]);
    let queues = [
        fixture.in_order(),
        fixture.out_of_order(),
        fixture.queue_in(context.handle(), fixture.device(), Flags::empty()),
    ];
    let mut gates = [Gate::new(&fixture), Gate::new(&fixture), Gate::in_context(&fixture, &context)];
    let events: Vec<_> = queues.iter().zip(&gates).map(|(queue, gate)| gate.block_event(queue)).collect();
    let (device, returned) = (fixture.device().expose_provenance(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            ok!(DeviceExp.pfnWaitExp(core::ptr::with_exposed_provenance_mut(device)));
            returned.store(true, Ordering::Release);
        });
        for gate in &mut gates {
            assert!(!returned.load(Ordering::Acquire), "it returned while a queue had work");
            gate.open();
        }
        waiter.join().expect("the wait succeeds");
    });
    for event in &events {
        let status: i32 = query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS)));
        assert_eq!(status, 0);
    }
    assert!(gates.iter().all(Gate::has_passed));
}

#[test]
fn urDeviceWaitExp_of_a_device_without_work_starts_no_native_context() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (_, calls) = sim.calls_of(|| ok!(DeviceExp.pfnWaitExp(fixture.device())));
    assert!(calls.is_empty(), "{calls:?}");
}

#[test]
fn urDeviceWaitExp_leaves_the_queues_usable() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 4);
    for value in 0..3u32 {
        let from = (&raw const value).cast();
        let event =
            event_of(|event| ur!(Enqueue.pfnUSMFill(queue.handle(), memory.pointer(), 4, from, 4, 0, null(), event)));
        ok!(DeviceExp.pfnWaitExp(fixture.device()));
        event.wait();
        assert_eq!(memory.read::<u32>(&queue, 1), [value]);
    }
}

#[test]
fn urDeviceWaitExp_refuses_what_is_no_device() {
    let fixture = Fixture::new();
    refused!(ERROR_INVALID_NULL_HANDLE, DeviceExp.pfnWaitExp(null_mut()));
    refused!(ERROR_INVALID_DEVICE, DeviceExp.pfnWaitExp(fixture.context().cast()));
}

#[test]
fn urDeviceWaitExp_tells_a_native_failure_and_works_the_next_time() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    sim.fail("cuCtxSynchronize", 1, status::UNKNOWN);
    assert_ne!(ur!(DeviceExp.pfnWaitExp(fixture.device())), Code::SUCCESS);
    sim.clear_faults();
    ok!(DeviceExp.pfnWaitExp(fixture.device()));
    queue.finish();
}

#[test]
fn urDeviceWaitExp_of_a_lost_device_says_so() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    sim.lose_device(0);
    refused!(ERROR_DEVICE_LOST, DeviceExp.pfnWaitExp(fixture.device()));
    drop(queue);
}
