//! The list of every property of every query: each is answered, or is named here with the reason why it is not. The
//! properties come from the specification's own lists, so one that a later release adds fails here until somebody has
//! thought about it.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::fmt::Debug;

use ur_conformance::below::Below;
use ur_conformance::ffi::{
    ur_adapter_info_t, ur_context_info_t, ur_device_info_t as device, ur_event_info_t, ur_kernel_group_info_t,
    ur_kernel_info_t as kernel, ur_kernel_sub_group_info_t, ur_platform_info_t, ur_profiling_info_t,
    ur_program_build_info_t, ur_program_info_t as program, ur_queue_flags_t, ur_queue_info_t as queue,
};
use ur_conformance::{Fixture, Launch, adapter, check_every_property, every_property};

/// What no device of a CUDA driver or a HIP runtime tells: terms of other vendors' architectures, and of Windows.
const NO_DEVICE: &[device] = &[
    device::IP_VERSION,
    device::GPU_EU_COUNT,
    device::GPU_EU_SIMD_WIDTH,
    device::GPU_EU_SLICES,
    device::GPU_EU_COUNT_PER_SUBSLICE,
    device::GPU_SUBSLICES_PER_SLICE,
    device::GPU_HW_THREADS_PER_EU,
    device::XE_STACK_COUNT,
    device::XE_REGIONS_PER_STACK,
    device::XE_CLUSTERS_PER_REGION,
    device::XE_CORES_PER_CLUSTER,
    device::EUS_PER_XE_CORE,
    device::MAX_LANES_PER_HW_THREAD,
    device::LUID,
    device::NODE_MASK,
];

/// What a driver of an older release, of another system, of a device without it, or without its management library does
/// not tell.
const SOME_DEVICES: &[device] = &[
    device::DEVICE_ID,
    device::UUID,
    device::PCI_ADDRESS,
    device::MAX_CLOCK_FREQUENCY,
    device::MEMORY_CLOCK_RATE,
    device::MEMORY_BUS_WIDTH,
    device::MAX_MEMORY_BANDWIDTH,
    device::CURRENT_CLOCK_THROTTLE_REASONS,
    device::FAN_SPEED,
    device::MIN_POWER_LIMIT,
    device::MAX_POWER_LIMIT,
];

/// Fails when a property was not answered that is not listed, or was answered though it is listed as never told.
#[track_caller]
fn expect_listed<P: Copy + PartialEq + Debug>(all: &[P], answered: &[(P, Vec<u8>)], never: &[P], may_lack: &[P]) {
    let is_answered = |property: &P| answered.iter().any(|(known, _)| known == property);
    let missing: Vec<P> = all.iter().copied().filter(|property| !is_answered(property)).collect();
    let unlisted: Vec<&P> =
        missing.iter().filter(|property| !never.contains(property) && !may_lack.contains(property)).collect();
    assert!(unlisted.is_empty(), "not answered, and no reason is listed: {unlisted:?}");
    let wrongly: Vec<&P> = never.iter().filter(|property| is_answered(property)).collect();
    assert!(wrongly.is_empty(), "listed as never told, and told: {wrongly:?}");
}

#[test]
fn every_property_of_a_device_is_answered_or_listed() {
    let fixture = Fixture::new();
    for &handle in &fixture.devices {
        let changing = [device::GLOBAL_MEM_FREE];
        let answered = check_every_property!(ur_device_info_t, &changing, Device.pfnGetInfo(handle));
        let all: Vec<device> = every_property!(ur_device_info_t).map(|(property, _)| property).collect();
        expect_listed(&all, &answered, NO_DEVICE, SOME_DEVICES);
    }
}

#[test]
fn every_property_of_adapter_platform_and_context_is_answered() {
    let fixture = Fixture::new();
    let answered = check_every_property!(ur_adapter_info_t, &[], Adapter.pfnGetInfo(adapter()));
    expect_listed(ur_adapter_info_t::VALUES, &answered, &[], &[]);
    let answered = check_every_property!(ur_platform_info_t, &[], Platform.pfnGetInfo(fixture.platform));
    expect_listed(ur_platform_info_t::VALUES, &answered, &[], &[]);
    let answered = check_every_property!(ur_context_info_t, &[], Context.pfnGetInfo(fixture.context()));
    expect_listed(ur_context_info_t::VALUES, &answered, &[], &[]);
}

#[test]
fn every_property_of_a_queue_and_an_event_is_answered_or_listed() {
    let fixture = Fixture::new();
    for flags in [ur_queue_flags_t::empty(), ur_queue_flags_t::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let made = fixture.queue(flags | ur_queue_flags_t::PROFILING_ENABLE);
        let answered = check_every_property!(ur_queue_info_t, &[queue::EMPTY], Queue.pfnGetInfo(made.handle()));
        // Both are about queues on the device, which there are none of.
        expect_listed(queue::VALUES, &answered, &[queue::DEVICE_DEFAULT, queue::SIZE], &[]);

        let event = Launch::new(&fixture.basic(c"empty"), &[1]).event_on(&made);
        event.wait();
        let answered = check_every_property!(ur_event_info_t, &[], Event.pfnGetInfo(event.handle()));
        expect_listed(ur_event_info_t::VALUES, &answered, &[], &[]);
        for &property in ur_profiling_info_t::VALUES {
            let mut time = 0u64;
            let out = (&raw mut time).cast();
            let null = core::ptr::null_mut();
            ur_conformance::ok!(Event.pfnGetProfilingInfo(event.handle(), property, 8, out, null));
        }
    }
}

#[test]
fn every_property_of_a_program_and_a_kernel_is_answered_or_listed() {
    let fixture = Fixture::new();
    // HIP lists no kernels of a module and tells nothing of parameters; CUDA's drivers do since 12.4.
    let (programs, kernels): (&[program], &[kernel]) = if Below::is_hip() {
        (&[program::NUM_KERNELS, program::KERNEL_NAMES], &[kernel::NUM_ARGS])
    } else {
        (&[], &[])
    };
    let built = fixture.program("basic.ptx");
    // The binaries are copied to where the buffer points, which is no question of one value.
    let ask = ur_conformance::ask!(Program.pfnGetInfo(built.handle(), program::BINARIES));
    let mut size = 0;
    assert_eq!(ask(0, core::ptr::null_mut(), &raw mut size), ur_conformance::ffi::ur_result_t::SUCCESS);
    let mut answered = vec![(program::BINARIES, Vec::new())];
    for &property in program::VALUES.iter().filter(|property| **property != program::BINARIES) {
        let name = format!("{property:?}");
        // The intermediate language is bytes, and there are none of it.
        let value_type = property.value_type().filter(|_| property != program::IL);
        let rules = ur_conformance::query::Rules::new(&name, value_type);
        let ask = ur_conformance::ask!(Program.pfnGetInfo(built.handle(), property));
        answered.extend(ur_conformance::query::check(rules, ask).map(|value| (property, value)));
    }
    expect_listed(program::VALUES, &answered, programs, &[]);

    let (handle, of) = (built.handle(), fixture.device());
    let answered = check_every_property!(ur_program_build_info_t, &[], Program.pfnGetBuildInfo(handle, of));
    expect_listed(ur_program_build_info_t::VALUES, &answered, &[], &[]);

    let found = fixture.kernel(&built, c"fill");
    let answered = check_every_property!(ur_kernel_info_t, &[], Kernel.pfnGetInfo(found.handle()));
    expect_listed(kernel::VALUES, &answered, kernels, &[]);
    let answered = check_every_property!(ur_kernel_group_info_t, &[], Kernel.pfnGetGroupInfo(found.handle(), of));
    expect_listed(ur_kernel_group_info_t::VALUES, &answered, &[], &[]);
    let answered =
        check_every_property!(ur_kernel_sub_group_info_t, &[], Kernel.pfnGetSubGroupInfo(found.handle(), of));
    expect_listed(ur_kernel_sub_group_info_t::VALUES, &answered, &[], &[]);
}
