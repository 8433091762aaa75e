//! `urContext*`.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::below::Below;
use ur_conformance::ffi::{
    UR_CONTEXT_FLAGS_MASK, ur_context_flags_t, ur_context_info_t as info, ur_context_properties_t, ur_structure_type_t,
};
use ur_conformance::{
    Context, Fixture, ask, check_every_property, needs_ours, needs_sim, ok, query, refused, renew_adapter,
};

#[test]
fn urContextCreate_takes_one_device_or_all() {
    let fixture = Fixture::new();
    for count in 1..=fixture.devices.len() {
        let devices = &fixture.devices[..count];
        let context = fixture.context_of(devices);
        let handle = context.handle();
        assert_eq!(query::get::<u32>(ask!(Context.pfnGetInfo(handle, info::NUM_DEVICES))) as usize, count);
        let listed: Vec<*mut _> = query::list(ask!(Context.pfnGetInfo(handle, info::DEVICES)));
        assert_eq!(listed, devices);
    }
}

#[test]
fn urContextCreate_takes_properties_whose_tag_is_left_out() {
    let fixture = Fixture::new();
    let properties = ur_context_properties_t { stype: ur_structure_type_t(0), ..Default::default() };
    let mut context = null_mut();
    ok!(Context.pfnCreate(1, fixture.devices.as_ptr(), &raw const properties, &raw mut context));
    drop(Context::take(context));
}

#[test]
fn urContextCreate_refuses_unknown_flags() {
    let fixture = Fixture::new();
    let lowest = UR_CONTEXT_FLAGS_MASK & UR_CONTEXT_FLAGS_MASK.wrapping_neg();
    for bits in [lowest, 0x8000_0000, UR_CONTEXT_FLAGS_MASK] {
        let flags = ur_context_flags_t::from_bits_retain(bits);
        let properties = ur_context_properties_t { flags, ..Default::default() };
        let mut context = null_mut();
        refused!(
            ERROR_INVALID_ENUMERATION,
            Context.pfnCreate(1, fixture.devices.as_ptr(), &raw const properties, &raw mut context)
        );
        assert!(context.is_null());
    }
}

#[test]
fn urContextCreate_refuses_bad_lists_and_a_missing_output() {
    let fixture = Fixture::new();
    needs_ours!("refuse nulls themselves; others leave them to a layer of the loader");
    let device = fixture.device();
    let mut context = null_mut();
    refused!(ERROR_INVALID_SIZE, Context.pfnCreate(0, &raw const device, null(), &raw mut context));
    refused!(ERROR_INVALID_NULL_POINTER, Context.pfnCreate(1, null(), null(), &raw mut context));
    refused!(ERROR_INVALID_NULL_POINTER, Context.pfnCreate(1, &raw const device, null(), null_mut()));
    let with_null = [device, null_mut()];
    refused!(ERROR_INVALID_NULL_HANDLE, Context.pfnCreate(2, with_null.as_ptr(), null(), &raw mut context));
    let twice = [device, device];
    refused!(ERROR_INVALID_VALUE, Context.pfnCreate(2, twice.as_ptr(), null(), &raw mut context));
    assert!(context.is_null());
}

#[test]
fn urContextCreate_makes_no_native_call() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    sim.expect_calls(&[], || drop(fixture.context_of(&fixture.devices)));
}

#[test]
fn urContextRetain_and_urContextRelease_count() {
    let fixture = Fixture::new();
    let context = fixture.context_of(&fixture.devices);
    let references = || query::get::<u32>(ask!(Context.pfnGetInfo(context.handle(), info::REFERENCE_COUNT)));
    assert_eq!(references(), 1);
    ok!(Context.pfnRetain(context.handle()));
    assert_eq!(references(), 2);
    ok!(Context.pfnRelease(context.handle()));
    assert_eq!(references(), 1);
}

#[test]
fn urContextGetInfo_answers_every_property_by_the_rules() {
    let fixture = Fixture::new();
    check_every_property!(ur_context_info_t, &[], Context.pfnGetInfo(fixture.context()));
}

#[test]
fn urContextRelease_leaves_a_queue_s_context_alive() {
    let fixture = Fixture::new();
    let context = fixture.context_of(&fixture.devices[..1]);
    let handle = context.handle();
    let queue = fixture.queue_in(handle, fixture.device(), Default::default());
    drop(context);
    let owner =
        query::get::<*mut _>(ask!(Queue.pfnGetInfo(queue.handle(), ur_conformance::ffi::ur_queue_info_t::CONTEXT)));
    assert_eq!(owner, handle, "the queue keeps its context");
    queue.finish();
}

/// A context, a queue, memory of the device and a small copy, as the only objects that use the device.
fn use_device_once(fixture: &Fixture) {
    let context = fixture.context_of(&fixture.devices[..1]);
    let queue = fixture.queue_in(context.handle(), fixture.device(), Default::default());
    let mut memory = null_mut();
    ok!(USM.pfnDeviceAlloc(context.handle(), fixture.device(), null(), null_mut(), 4096, &raw mut memory));
    ur_conformance::memory::write(&queue, memory, &[7u8; 4096]);
    ok!(USM.pfnFree(context.handle(), memory));
}

#[test]
fn urContextRelease_leaves_the_device_ready_for_the_next_context() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    use_device_once(&fixture);
    for _ in 0..3 {
        let (_, calls) = sim.calls_of(|| use_device_once(&fixture));
        let about = |words: &[&str]| -> Vec<_> {
            calls.iter().filter(|(name, _)| words.iter().any(|word| name.contains(word))).collect()
        };
        let none: Vec<(&String, &u64)> = Vec::new();
        assert_eq!(about(&["PrimaryCtx", "StreamCreate", "StreamDestroy", "Event", "HostAlloc", "FreeHost"]), none);
        // Guards in debug mode have copies of their own.
        if !Below::is_hip() && !ur_conformance::memory::is_guarded() {
            let wanted = ["cuMemAlloc_v2", "cuMemFree_v2", "cuMemcpyAsync", "cuStreamSynchronize"];
            assert!(wanted.iter().all(|name| calls.get(*name) == Some(&1)), "{calls:?}");
            // The context is made current for the allocation and put back.
            assert!(calls.values().sum::<u64>() <= 8, "{calls:?}");
        }
    }
}

#[test]
fn urAdapterRelease_of_the_last_reference_ends_what_the_device_keeps() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    // A HIP runtime makes the device's own context at its first use and keeps it until the process ends.
    use_device_once(&fixture);
    renew_adapter();
    let before = sim.objects();
    use_device_once(&fixture);
    if !Below::is_hip() {
        assert_ne!(sim.objects(), before, "the device's native context is kept");
    }
    renew_adapter();
    assert_eq!(sim.objects(), before);
    use_device_once(&fixture);
}

#[test]
fn urAdapterRelease_of_the_last_reference_leaves_what_is_in_use() {
    let fixture = Fixture::new();
    let context = fixture.context_of(&fixture.devices[..1]);
    let queue = fixture.queue_in(context.handle(), fixture.device(), Default::default());
    let mut memory = null_mut();
    ok!(USM.pfnDeviceAlloc(context.handle(), fixture.device(), null(), null_mut(), 64, &raw mut memory));
    ur_conformance::memory::write(&queue, memory, &[3u8; 64]);
    renew_adapter();
    assert_eq!(ur_conformance::memory::read::<u8>(&queue, memory, 64), [3; 64]);
    let another = fixture.queue_in(context.handle(), fixture.device(), Default::default());
    assert_eq!(ur_conformance::memory::read::<u8>(&another, memory, 64), [3; 64]);
    ok!(USM.pfnFree(context.handle(), memory));
}

/// libsycl keeps its contexts to the end of the process and releases the adapter alone.
#[test]
fn urAdapterRelease_of_the_last_reference_leaves_a_context_no_streams_and_events() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    renew_adapter();
    let of_streams = || ["stream", "event"].map(|kind| sim.objects().get(kind).copied().unwrap_or(0));
    let before = of_streams();
    let context = fixture.context_of(&fixture.devices[..1]);
    let queue = fixture.queue_in(context.handle(), fixture.device(), Default::default());
    queue.finish();
    assert_ne!(of_streams(), before);
    drop(queue);
    renew_adapter();
    assert_eq!(of_streams(), before);
}
