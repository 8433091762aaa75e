//! `urPhysicalMem*`.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    ur_physical_mem_flags_t, ur_physical_mem_handle_t, ur_physical_mem_info_t as info, ur_physical_mem_properties_t,
    ur_structure_type_t, ur_virtual_mem_granularity_info_t as Granularity,
};
use ur_conformance::sim::status;
use ur_conformance::{Fixture, ask, check_every_property, needs_sim, ok, query, refused, release, ur};

fn granularity(fixture: &Fixture) -> usize {
    let (context, device) = (fixture.context(), fixture.device());
    query::get(ask!(VirtualMem.pfnGranularityGetInfo(context, device, 1, Granularity::MINIMUM)))
}

fn create(fixture: &Fixture, size: usize) -> ur_physical_mem_handle_t {
    let mut physical = null_mut();
    ok!(PhysicalMem.pfnCreate(fixture.context(), fixture.device(), size, null(), &raw mut physical));
    assert!(!physical.is_null());
    physical
}

#[test]
fn urPhysicalMemGetInfo_answers_every_property_as_the_memory_was_made() {
    let fixture = Fixture::new();
    let size = 2 * granularity(&fixture);
    let properties = ur_physical_mem_properties_t::default();
    let mut physical = null_mut();
    let (context, device) = (fixture.context(), fixture.device());
    ok!(PhysicalMem.pfnCreate(context, device, size, &raw const properties, &raw mut physical));
    check_every_property!(ur_physical_mem_info_t, &[], PhysicalMem.pfnGetInfo(physical));
    let of = |property| query::get::<usize>(ask!(PhysicalMem.pfnGetInfo(physical, property)));
    assert_eq!(of(info::CONTEXT), fixture.context().addr());
    assert_eq!(of(info::DEVICE), fixture.device().addr());
    assert_eq!(of(info::SIZE), size);
    let words: [u32; 6] = query::get(ask!(PhysicalMem.pfnGetInfo(physical, info::PROPERTIES)));
    assert_eq!(words, [ur_structure_type_t::PHYSICAL_MEM_PROPERTIES.0, 0, 0, 0, 0, 0]);
    ok!(PhysicalMem.pfnRelease(physical));
}

#[test]
fn urPhysicalMemRetain_and_urPhysicalMemRelease_count() {
    let fixture = Fixture::new();
    let physical = create(&fixture, granularity(&fixture));
    let count = || query::get::<u32>(ask!(PhysicalMem.pfnGetInfo(physical, info::REFERENCE_COUNT)));
    assert_eq!(count(), 1);
    ok!(PhysicalMem.pfnRetain(physical));
    assert_eq!(count(), 2);
    ok!(PhysicalMem.pfnRelease(physical));
    assert_eq!(count(), 1);
    ok!(PhysicalMem.pfnRelease(physical));
    if let Some(sim) = fixture.sim() {
        assert_eq!(sim.objects().get("physical memory"), None);
    }
    refused!(ERROR_INVALID_NULL_HANDLE, PhysicalMem.pfnRetain(null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, PhysicalMem.pfnRelease(null_mut()));
    // A handle of another kind.
    refused!(ERROR_INVALID_VALUE, PhysicalMem.pfnRetain(fixture.context().cast()));
}

#[test]
fn urPhysicalMemCreate_keeps_its_context_alive() {
    let fixture = Fixture::new();
    let context = fixture.context_of(&[fixture.device()]);
    let mut physical = null_mut();
    let size = granularity(&fixture);
    ok!(PhysicalMem.pfnCreate(context.handle(), fixture.device(), size, null(), &raw mut physical));
    let handle = context.handle();
    drop(context);
    assert_eq!(query::get::<usize>(ask!(PhysicalMem.pfnGetInfo(physical, info::CONTEXT))), handle.addr());
    ok!(PhysicalMem.pfnRelease(physical));
}

#[test]
fn urPhysicalMemCreate_refuses_bad_sizes_flags_devices_and_outputs() {
    let fixture = Fixture::new();
    let size = granularity(&fixture);
    let (c, d) = (fixture.context(), fixture.device());
    let mut physical = null_mut();
    let out = &raw mut physical;
    for size in [0, 1, size - 1, size + 1, usize::MAX] {
        refused!(ERROR_INVALID_SIZE, PhysicalMem.pfnCreate(c, d, size, null(), out));
    }
    let endless = usize::MAX / size * size;
    refused!(
        ERROR_OUT_OF_DEVICE_MEMORY | ERROR_OUT_OF_RESOURCES | ERROR_INVALID_SIZE,
        PhysicalMem.pfnCreate(c, d, endless, null(), out)
    );
    refused!(ERROR_INVALID_NULL_POINTER, PhysicalMem.pfnCreate(c, d, size, null(), null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, PhysicalMem.pfnCreate(null_mut(), d, size, null(), out));
    refused!(ERROR_INVALID_NULL_HANDLE, PhysicalMem.pfnCreate(c, null_mut(), size, null(), out));
    // A flag that only another release has is among them.
    let unknown = ur_physical_mem_flags_t::mask(release());
    for bit in (0..u32::BITS).map(|bit| 1 << bit).filter(|bit| unknown & bit != 0) {
        let flags = ur_physical_mem_flags_t::from_bits_retain(bit);
        let properties = ur_physical_mem_properties_t { flags, ..Default::default() };
        refused!(ERROR_INVALID_ENUMERATION, PhysicalMem.pfnCreate(c, d, size, &raw const properties, out));
    }
    if let Some(&other) = fixture.devices.get(1) {
        refused!(ERROR_INVALID_DEVICE, PhysicalMem.pfnCreate(c, other, size, null(), out));
    }
    assert!(physical.is_null());
}

#[test]
fn a_native_failure_of_physical_memory_leaves_nothing() {
    let fixture = Fixture::new();
    let size = granularity(&fixture);
    let (c, d) = (fixture.context(), fixture.device());
    let sim = needs_sim!(fixture);
    let mut physical = null_mut();
    sim.fail("cuMemGetAllocationGranularity", 1, status::UNKNOWN);
    refused!(ERROR_ADAPTER_SPECIFIC, PhysicalMem.pfnCreate(c, d, size, null(), &raw mut physical));
    sim.fail("cuMemCreate", 1, status::UNKNOWN);
    refused!(ERROR_ADAPTER_SPECIFIC, PhysicalMem.pfnCreate(c, d, size, null(), &raw mut physical));
    assert!(physical.is_null());
    assert_eq!(sim.objects().get("physical memory"), None);
}

#[test]
fn physical_memory_ends_where_the_device_s_does() {
    let fixture = Fixture::new();
    let _sim = needs_sim!(fixture);
    let (c, d) = (fixture.context(), fixture.device());
    let step = 256 * granularity(&fixture);
    let mut made: Vec<ur_physical_mem_handle_t> = Vec::new();
    loop {
        let mut physical = null_mut();
        let answer = ur!(PhysicalMem.pfnCreate(c, d, step, null(), &raw mut physical));
        if answer != ur_conformance::ffi::ur_result_t::SUCCESS {
            assert_eq!(answer, ur_conformance::ffi::ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY);
            break;
        }
        made.push(physical);
        assert!(made.len() < 1000, "a device without end");
    }
    made.into_iter().for_each(|physical| ok!(PhysicalMem.pfnRelease(physical)));
}
