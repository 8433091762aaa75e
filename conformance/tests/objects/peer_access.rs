//! `urUsmP2P*`: access of one device's kernels to memory of another.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{ur_device_handle_t, ur_device_info_t, ur_exp_peer_info_t as Peer};
use ur_conformance::memory::{self, pattern};
use ur_conformance::native::Hip;
use ur_conformance::sim::status;
use ur_conformance::{Fixture, Kind, ask, child, needs_ours, needs_sim, ok, query, refused, ur};

/// `CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED`.
const PEER_ACCESS_ALREADY_ENABLED: i32 = 704;

/// The first two devices, or the end of the test.
macro_rules! two_devices {
    ($fixture:expr) => {
        match $fixture.devices[..] {
            [one, other, ..] => (one, other),
            _ => {
                println!("skipped: needs a second device");
                return;
            }
        }
    };
}

fn can(device: ur_device_handle_t, peer: ur_device_handle_t, property: Peer) -> i32 {
    query::get(ask!(UsmP2PExp.pfnPeerAccessGetInfoExp(device, peer, property)))
}

#[test]
fn urUsmP2PPeerAccessGetInfoExp_answers_numbers_for_every_pair() {
    let fixture = Fixture::new();
    let property = ur_device_info_t::USM_P2P_SUPPORT_EXP;
    assert_eq!(query::get::<u8>(ask!(Device.pfnGetInfo(fixture.device(), property))), 1);
    for &one in &fixture.devices {
        for &other in &fixture.devices {
            for property in [Peer::UR_PEER_ACCESS_SUPPORT, Peer::UR_PEER_ATOMICS_SUPPORT] {
                let answer = can(one, other, property);
                assert!((0..=1).contains(&answer));
                assert!(one != other || answer == 0, "a device is no peer of its own");
                assert_eq!(answer, can(other, one, property), "links of these machines go both ways");
            }
        }
    }
    let (one, mut size) = (fixture.device(), 0);
    refused!(
        ERROR_INVALID_ENUMERATION,
        UsmP2PExp.pfnPeerAccessGetInfoExp(one, one, Peer(77), 0, null_mut(), &raw mut size)
    );
    let access = Peer::UR_PEER_ACCESS_SUPPORT;
    refused!(
        ERROR_INVALID_NULL_HANDLE,
        UsmP2PExp.pfnPeerAccessGetInfoExp(null_mut(), one, access, 0, null_mut(), &raw mut size)
    );
    let mut small = 0u8;
    refused!(
        ERROR_INVALID_SIZE,
        UsmP2PExp.pfnPeerAccessGetInfoExp(one, one, access, 1, (&raw mut small).cast(), null_mut())
    );
}

/// A kernel of the first device that reads memory of the second.
fn reads_the_peer(fixture: &Fixture) {
    let (one, other) = (fixture.devices[0], fixture.devices[1]);
    let context = fixture.context();
    let (near, far) =
        (fixture.queue_in(context, one, Default::default()), fixture.queue_in(context, other, Default::default()));
    let mut there = null_mut();
    let answer = memory::allocate(Kind::Device, context, other, null(), 4096, &raw mut there);
    ur_conformance::expect_success(answer, "memory of the other device");
    memory::write(&far, there, &pattern(3, 4096));
    let here = fixture.memory(Kind::Device, 4096);
    let kernel = fixture.basic(c"copy");
    let launch = ur_conformance::Launch::new(&kernel, &[1024]).pointer(here.pointer()).pointer(there);
    launch.value(1024u32).on(&near);
    assert_eq!(here.read::<u8>(&near, 4096), pattern(3, 4096));
    ok!(USM.pfnFree(context, there));
}

#[test]
fn a_kernel_reads_memory_of_a_peer_while_access_is_enabled() {
    let fixture = Fixture::over_all_devices();
    let (one, other) = two_devices!(fixture);
    if can(one, other, Peer::UR_PEER_ACCESS_SUPPORT) == 0 {
        refused!(ERROR_UNSUPPORTED_FEATURE, UsmP2PExp.pfnEnablePeerAccessExp(one, other));
        return;
    }
    ok!(UsmP2PExp.pfnEnablePeerAccessExp(one, other));
    reads_the_peer(&fixture);
    ok!(UsmP2PExp.pfnDisablePeerAccessExp(one, other));
}

#[test]
fn enables_count_and_the_last_disable_withdraws() {
    let fixture = Fixture::over_all_devices();
    let (one, other) = two_devices!(fixture);
    if can(one, other, Peer::UR_PEER_ACCESS_SUPPORT) == 0 {
        return;
    }
    refused!(ERROR_INVALID_OPERATION, UsmP2PExp.pfnDisablePeerAccessExp(one, other));
    ok!(UsmP2PExp.pfnEnablePeerAccessExp(one, other));
    ok!(UsmP2PExp.pfnEnablePeerAccessExp(one, other));
    // The other direction is another matter.
    refused!(ERROR_INVALID_OPERATION, UsmP2PExp.pfnDisablePeerAccessExp(other, one));
    ok!(UsmP2PExp.pfnDisablePeerAccessExp(one, other));
    reads_the_peer(&fixture);
    ok!(UsmP2PExp.pfnDisablePeerAccessExp(one, other));
    refused!(ERROR_INVALID_OPERATION, UsmP2PExp.pfnDisablePeerAccessExp(one, other));
}

#[test]
fn access_is_native_once_and_its_contexts_are_given_back() {
    let fixture = Fixture::over_all_devices();
    let (one, other) = two_devices!(fixture);
    let sim = needs_sim!(fixture);
    let (_, calls) = sim.calls_of(|| {
        for _ in 0..3 {
            ok!(UsmP2PExp.pfnEnablePeerAccessExp(one, other));
        }
        for _ in 0..3 {
            ok!(UsmP2PExp.pfnDisablePeerAccessExp(one, other));
        }
    });
    assert_eq!(calls.get("cuCtxEnablePeerAccess"), Some(&1), "{calls:?}");
    assert_eq!(calls.get("cuCtxDisablePeerAccess"), Some(&1), "{calls:?}");
    if Hip::loaded().is_none() {
        assert_eq!(calls.get("cuDevicePrimaryCtxRetain"), calls.get("cuDevicePrimaryCtxRelease_v2"));
    }
}

#[test]
fn urUsmP2PDisablePeerAccessExp_leaves_the_native_access_that_was_there_before() {
    let fixture = Fixture::over_all_devices();
    let (one, other) = two_devices!(fixture);
    let sim = needs_sim!(fixture);
    // What the library answers an application that has enabled the access itself.
    sim.fail("cuCtxEnablePeerAccess", 1, PEER_ACCESS_ALREADY_ENABLED);
    ok!(UsmP2PExp.pfnEnablePeerAccessExp(one, other));
    let (_, calls) = sim.calls_of(|| ok!(UsmP2PExp.pfnDisablePeerAccessExp(one, other)));
    assert_eq!(calls.get("cuCtxDisablePeerAccess"), None, "{calls:?}");
    refused!(ERROR_INVALID_OPERATION, UsmP2PExp.pfnDisablePeerAccessExp(one, other));
}

#[test]
fn peers_that_are_none_are_refused() {
    let fixture = Fixture::new();
    needs_ours!("refuse devices that are no peers, nulls and handles of other types themselves");
    let one = fixture.device();
    refused!(ERROR_INVALID_VALUE, UsmP2PExp.pfnEnablePeerAccessExp(one, one));
    refused!(ERROR_INVALID_OPERATION, UsmP2PExp.pfnDisablePeerAccessExp(one, one));
    refused!(ERROR_INVALID_NULL_HANDLE, UsmP2PExp.pfnEnablePeerAccessExp(null_mut(), one));
    refused!(ERROR_INVALID_NULL_HANDLE, UsmP2PExp.pfnEnablePeerAccessExp(one, null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, UsmP2PExp.pfnDisablePeerAccessExp(one, null_mut()));
    refused!(ERROR_INVALID_DEVICE, UsmP2PExp.pfnEnablePeerAccessExp(one, fixture.context().cast()));
}

#[test]
fn a_native_failure_of_peer_access_leaves_it_as_it_was() {
    let fixture = Fixture::over_all_devices();
    let (one, other) = two_devices!(fixture);
    let sim = needs_sim!(fixture);
    let retained = || sim.objects().get("primary context retain").copied().unwrap_or(0);
    if Hip::loaded().is_some() {
        // HIP over CUDA keeps a device's context from its first use on.
        ok!(UsmP2PExp.pfnEnablePeerAccessExp(one, other));
        ok!(UsmP2PExp.pfnDisablePeerAccessExp(one, other));
    }
    let before = retained();
    for name in ["cuDeviceCanAccessPeer", "cuCtxEnablePeerAccess"] {
        sim.fail(name, 1, status::UNKNOWN);
        refused!(ERROR_ADAPTER_SPECIFIC, UsmP2PExp.pfnEnablePeerAccessExp(one, other));
        refused!(ERROR_INVALID_OPERATION, UsmP2PExp.pfnDisablePeerAccessExp(one, other));
        assert_eq!(retained(), before, "{name}");
    }
    if Hip::loaded().is_none() {
        for nth in 1..=2 {
            sim.fail("cuDevicePrimaryCtxRetain", nth, status::UNKNOWN);
            refused!(ERROR_ADAPTER_SPECIFIC, UsmP2PExp.pfnEnablePeerAccessExp(one, other));
            sim.clear_faults();
            assert_eq!(retained(), before);
        }
    }
    ok!(UsmP2PExp.pfnEnablePeerAccessExp(one, other));
    sim.fail("cuCtxDisablePeerAccess", 1, status::UNKNOWN);
    refused!(ERROR_ADAPTER_SPECIFIC, UsmP2PExp.pfnDisablePeerAccessExp(one, other));
    ok!(UsmP2PExp.pfnDisablePeerAccessExp(one, other));
    assert_eq!(retained(), before);
}

/// The failure ends the device's native context, so it happens in a process of its own.
#[test]
fn a_kernel_without_access_fails() {
    child::in_process::<&str>("a_kernel_without_access_fails", &[], || {
        let mut fixture = Fixture::over_all_devices();
        let (one, other) = two_devices!(fixture);
        if fixture.sim().is_none() {
            println!("skipped: needs the simulated driver, which survives it");
            return;
        }
        ok!(UsmP2PExp.pfnEnablePeerAccessExp(one, other));
        ok!(UsmP2PExp.pfnDisablePeerAccessExp(one, other));
        {
            let queue = fixture.queue_in(fixture.context(), one, Default::default());
            let mut there = null_mut();
            let answer = memory::allocate(Kind::Device, fixture.context(), other, null(), 4096, &raw mut there);
            ur_conformance::expect_success(answer, "memory of the other device");
            let kernel = fixture.basic(c"fill");
            let launch = ur_conformance::Launch::new(&kernel, &[64]).pointer(there).value(1u32).value(64u32);
            launch.on(&queue);
            refused!(ERROR_DEVICE_LOST, Queue.pfnFinish(queue.handle()));
            let _ = ur!(USM.pfnFree(fixture.context(), there));
        }
        if let Some(sim) = fixture.sim() {
            let reports = sim.reports();
            assert!(reports.iter().any(|(kind, _)| kind == "peer-access"), "{reports:#?}");
            sim.clear_reports();
        }
        fixture.accept_objects();
    });
}

/// Access ends with the native context, which a failed one cannot be asked for: it would live as long as its access.
#[test]
fn urUsmP2PDisablePeerAccessExp_lets_go_of_a_device_that_was_lost() {
    child::in_process::<&str>("urUsmP2PDisablePeerAccessExp_lets_go_of_a_device_that_was_lost", &[], || {
        {
            let fixture = Fixture::over_all_devices();
            let (one, other) = two_devices!(fixture);
            let sim = needs_sim!(fixture);
            if Hip::loaded().is_some() {
                println!("skipped: HIP over CUDA keeps a device's context to the end");
                return;
            }
            ok!(UsmP2PExp.pfnEnablePeerAccessExp(one, other));
            {
                let (kernel, queue) = (fixture.basic(c"trap_if"), fixture.in_order());
                ur_conformance::Launch::new(&kernel, &[1]).value(1u32).on(&queue);
                refused!(ERROR_DEVICE_LOST, Queue.pfnFinish(queue.handle()));
            }
            ok!(UsmP2PExp.pfnDisablePeerAccessExp(one, other));
            refused!(ERROR_INVALID_OPERATION, UsmP2PExp.pfnDisablePeerAccessExp(one, other));
            sim.expect_reports("kernel-fault");
        }
        let fixture = Fixture::over_all_devices();
        let (one, other) = two_devices!(fixture);
        ok!(UsmP2PExp.pfnEnablePeerAccessExp(one, other));
        reads_the_peer(&fixture);
        ok!(UsmP2PExp.pfnDisablePeerAccessExp(one, other));
    });
}
