//! A native context that is adopted, where the program has native contexts of several devices.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::native::{Cuda, Hip};
use ur_conformance::sim::status;
use ur_conformance::{Context, Fixture, adapter, child, needs_sim, ok, refused};

/// The program has the primary contexts of the first two devices, and makes a UR context of the second one's.
fn adopt_second(cuda: &Cuda) -> Context {
    cuda.retain_primary(0);
    let native = cuda.retain_primary(1).addr();
    let mut made = null_mut();
    ok!(Context.pfnCreateWithNativeHandle(native, adapter(), 0, null(), null(), &raw mut made));
    Context::take(made)
}

/// Nothing where the library has no contexts.
fn cuda() -> Option<Cuda> {
    let cuda = Cuda::loaded().filter(|_| Hip::loaded().is_none());
    if cuda.is_none() {
        println!("skipped: the native library has no contexts");
    }
    cuda
}

#[test]
fn urContextCreateWithNativeHandle_keeps_nothing_of_devices_that_it_only_asked() {
    let test = "urContextCreateWithNativeHandle_keeps_nothing_of_devices_that_it_only_asked";
    // A process where nobody has used the first device yet.
    child::in_process::<&str>(test, &[], || {
        let fixture = Fixture::new();
        let _sim = needs_sim!(fixture);
        let Some(cuda) = cuda() else { return };
        let context = adopt_second(&cuda);
        cuda.release_primary(0);
        assert!(!cuda.primary_is_active(0), "the program's was the last reference to the first device's context");
        drop(context);
        cuda.release_primary(1);
    });
}

#[test]
fn urContextCreateWithNativeHandle_finds_the_device_though_another_one_fails() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let Some(cuda) = cuda() else { return };
    // The program takes both contexts before.
    sim.fail("cuDevicePrimaryCtxRetain", 3, status::UNKNOWN);
    drop(adopt_second(&cuda));
    sim.clear_faults();
    cuda.release_primary(0);
    cuda.release_primary(1);
}

/// Another process has the device for itself: nothing is lost, and later the device may be free.
#[test]
fn a_device_that_is_another_process_s_alone_is_not_available_and_not_lost() {
    let test = "a_device_that_is_another_process_s_alone_is_not_available_and_not_lost";
    child::in_process::<&str>(test, &[], || {
        const DEVICE_UNAVAILABLE: i32 = 46;
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        if Hip::loaded().is_some() {
            println!("skipped: HIP has no contexts");
            return;
        }
        let (context, device, mut queue) = (fixture.context(), fixture.device(), null_mut());
        sim.fail("cuDevicePrimaryCtxRetain", 1, DEVICE_UNAVAILABLE);
        refused!(ERROR_DEVICE_NOT_AVAILABLE, Queue.pfnCreate(context, device, null(), &raw mut queue));
        assert!(queue.is_null());
        fixture.in_order().finish();
    });
}
