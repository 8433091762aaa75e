//! `urDeviceSelectBinary`, `urDevicePartition`, `urDeviceGetGlobalTimestamps`.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::CStr;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    ur_device_binary_t, ur_device_info_t, ur_device_partition_properties_t, ur_device_partition_property_t,
    ur_device_partition_t, ur_profiling_info_t as times, ur_queue_flags_t, ur_structure_type_t,
};
use ur_conformance::{Fixture, Launch, ask, ok, query, refused};

/// Target strings that runtimes give, all in the order of the API's definitions.
const TARGETS: [&CStr; 8] =
    [c"<unknown>", c"spir", c"spir64", c"spir64_x86_64", c"spir64_gen", c"nvptx64", c"amdgcn", c"native_cpu"];

fn binaries(targets: &[&CStr]) -> Vec<ur_device_binary_t> {
    let binary = |target: &&CStr| ur_device_binary_t {
        stype: ur_structure_type_t::DEVICE_BINARY,
        pNext: null(),
        pDeviceTargetSpec: target.as_ptr(),
    };
    targets.iter().map(binary).collect()
}

/// The target of images for the device: of PTX where its version is a compute capability, else of AMD's machine code.
fn own_target(fixture: &Fixture) -> &'static CStr {
    let version = query::text(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::VERSION)));
    if version.starts_with("gfx") { c"amdgcn" } else { c"nvptx64" }
}

fn select(fixture: &Fixture, targets: &[&CStr]) -> u32 {
    let list = binaries(targets);
    let (count, mut chosen) = (u32::try_from(list.len()).unwrap(), 77);
    ok!(Device.pfnSelectBinary(fixture.device(), list.as_ptr(), count, &raw mut chosen));
    chosen
}

#[test]
fn urDeviceSelectBinary_takes_the_first_image_for_the_device() {
    let fixture = Fixture::new();
    let own = own_target(&fixture);
    let at = TARGETS.iter().position(|target| *target == own).unwrap();
    assert_eq!(select(&fixture, &TARGETS) as usize, at);
    assert_eq!(select(&fixture, &[own]), 0);
    assert_eq!(select(&fixture, &[c"spir64", own, own]), 1);
}

#[test]
fn urDeviceSelectBinary_refuses_lists_without_one_and_touches_no_output() {
    let fixture = Fixture::new();
    let (device, own) = (fixture.device(), own_target(&fixture));
    let others: Vec<&CStr> = TARGETS.into_iter().filter(|target| *target != own).collect();
    let mut chosen = 77;
    let out = &raw mut chosen;
    // Only the whole string is the target.
    let nearly = [c"nvptx", c"nvptx64 ", c"NVPTX64", c"amdgcn-amd-amdhsa", c""];
    for wrong in [&others[..], &nearly[..]] {
        let (list, count) = (binaries(wrong), u32::try_from(wrong.len()).unwrap());
        refused!(ERROR_INVALID_BINARY, Device.pfnSelectBinary(device, list.as_ptr(), count, out));
    }
    let mut list = binaries(&[own]);
    refused!(ERROR_INVALID_SIZE, Device.pfnSelectBinary(device, list.as_ptr(), 0, out));
    refused!(ERROR_INVALID_NULL_POINTER, Device.pfnSelectBinary(device, null(), 1, out));
    refused!(ERROR_INVALID_NULL_POINTER, Device.pfnSelectBinary(device, list.as_ptr(), 1, null_mut()));
    list[0].pDeviceTargetSpec = null();
    refused!(ERROR_INVALID_NULL_POINTER, Device.pfnSelectBinary(device, list.as_ptr(), 1, out));
    assert_eq!(chosen, 77);
}

#[test]
fn urDevicePartition_says_that_devices_are_whole() {
    let fixture = Fixture::new();
    let partitions: Vec<u32> =
        query::list(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::SUPPORTED_PARTITIONS)));
    if !partitions.is_empty() {
        println!("skipped: the device has parts");
        return;
    }
    let equally = ur_device_partition_property_t { type_: ur_device_partition_t::EQUALLY, ..Default::default() };
    let properties = ur_device_partition_properties_t {
        stype: ur_structure_type_t::DEVICE_PARTITION_PROPERTIES,
        pNext: null_mut(),
        pProperties: &raw const equally,
        PropCount: 1,
    };
    let (device, mut count, mut part) = (fixture.device(), 77, null_mut());
    let (out, parts) = (&raw mut count, &raw mut part);
    refused!(ERROR_UNSUPPORTED_FEATURE, Device.pfnPartition(device, &raw const properties, 1, parts, out));
    refused!(ERROR_INVALID_NULL_POINTER, Device.pfnPartition(device, null(), 1, parts, out));
    let nothing = ur_device_partition_properties_t { pProperties: null(), ..properties };
    refused!(ERROR_INVALID_NULL_POINTER, Device.pfnPartition(device, &raw const nothing, 1, parts, out));
    assert!(part.is_null() && count == 77);
}

#[test]
fn urDeviceGetGlobalTimestamps_is_on_the_timeline_of_profiled_commands() {
    let fixture = Fixture::new();
    let (queue, kernel) = (fixture.queue(ur_queue_flags_t::PROFILING_ENABLE), fixture.basic(c"empty"));
    let now = || {
        let (mut device, mut host) = (0u64, 0u64);
        ok!(Device.pfnGetGlobalTimestamps(fixture.device(), &raw mut device, &raw mut host));
        (device, host)
    };
    let before = now();
    let event = Launch::new(&kernel, &[1]).event_on(&queue);
    event.wait();
    let after = now();
    let time = |property| query::get::<u64>(ask!(Event.pfnGetProfilingInfo(event.handle(), property)));
    let (queued, submitted, started) =
        (time(times::COMMAND_QUEUED), time(times::COMMAND_SUBMIT), time(times::COMMAND_START));
    assert!(before.0 <= queued && queued <= submitted && submitted <= after.0, "{before:?} {queued} {after:?}");
    assert!(before.0 <= started, "{before:?} {started}");
    assert_eq!(after.0.abs_diff(before.0), after.1.abs_diff(before.1), "the clocks do not drift apart");
}

#[test]
fn urDeviceGetGlobalTimestamps_gives_either_alone() {
    let fixture = Fixture::new();
    let (mut device, mut host) = (0u64, 0u64);
    ok!(Device.pfnGetGlobalTimestamps(fixture.device(), &raw mut device, null_mut()));
    ok!(Device.pfnGetGlobalTimestamps(fixture.device(), null_mut(), &raw mut host));
    assert!(device > 0 && host >= device);
    ok!(Device.pfnGetGlobalTimestamps(fixture.device(), null_mut(), null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, Device.pfnGetGlobalTimestamps(null_mut(), null_mut(), &raw mut host));
}
