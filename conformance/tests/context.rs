//! `urContext*`.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    UR_CONTEXT_FLAGS_MASK, ur_context_flags_t, ur_context_info_t as info, ur_context_properties_t, ur_structure_type_t,
};
use ur_conformance::{Context, Fixture, ask, check_every_property, needs_sim, ok, query, refused};

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
