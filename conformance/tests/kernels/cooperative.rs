//! Launches whose work-groups are all resident at once, and how many that can be.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    ur_device_info_t, ur_kernel_group_info_t, ur_kernel_launch_ext_properties_t, ur_kernel_launch_flags_t as Flags,
    ur_kernel_launch_properties_flags_t as Capabilities, ur_kernel_launch_workgroup_property_t, ur_result_t as Code,
    ur_structure_type_t,
};
use ur_conformance::{Arg, Fixture, Kernel, Kind, Launch, ask, ok, query, refused};

fn cooperative() -> ur_kernel_launch_ext_properties_t {
    ur_kernel_launch_ext_properties_t { flags: Flags::COOPERATIVE, ..Default::default() }
}

/// Whether the device says that it can; otherwise a cooperative launch must be refused, which is checked here.
fn supported(fixture: &Fixture) -> bool {
    let property = ur_device_info_t::KERNEL_LAUNCH_CAPABILITIES;
    let told: u32 = query::get(ask!(Device.pfnGetInfo(fixture.device(), property)));
    let there = told & Capabilities::COOPERATIVE.bits() != 0;
    if !there {
        let (queue, kernel) = (fixture.in_order(), fixture.basic(c"empty"));
        Launch::new(&kernel, &[1]).properties(cooperative()).refused(&[Code::ERROR_UNSUPPORTED_FEATURE], &queue);
        println!("skipped: the device has no cooperative launches");
    }
    there
}

fn most_groups(fixture: &Fixture, kernel: &Kernel, local: &[usize], shared: usize) -> u32 {
    let mut groups = 0;
    ok!(Kernel.pfnSuggestMaxCooperativeGroupCount(
        kernel.handle(),
        fixture.device(),
        u32::try_from(local.len()).unwrap(),
        local.as_ptr(),
        shared,
        &raw mut groups
    ));
    groups
}

#[test]
fn all_groups_of_a_cooperative_launch_can_wait_for_each_other() {
    let fixture = Fixture::new();
    if !supported(&fixture) {
        return;
    }
    let program = fixture.program("grid.ptx");
    let (kernel, queue) = (fixture.kernel(&program, c"grid_sum"), fixture.in_order());
    let groups = most_groups(&fixture, &kernel, &[32], 0).min(64);
    assert!(groups > 1, "{groups} groups at once");
    let (state, out) = (fixture.memory(Kind::Device, 8), fixture.memory(Kind::Device, 4 * groups as usize));
    state.write(&queue, &[0u32, 0]);
    let launch = Launch::new(&kernel, &[32 * groups as usize]).local(&[32]);
    launch.pointer(state.pointer()).pointer(out.pointer()).properties(cooperative()).on(&queue);
    let sum = groups * (groups + 1) / 2;
    assert_eq!(out.read::<u32>(&queue, groups as usize), vec![sum; groups as usize]);
}

#[test]
fn more_groups_than_fit_at_once_are_refused_and_the_queue_goes_on() {
    let fixture = Fixture::new();
    if !supported(&fixture) {
        return;
    }
    let (kernel, queue) = (fixture.basic(c"empty"), fixture.in_order());
    let most = most_groups(&fixture, &kernel, &[64], 0) as usize;
    Launch::new(&kernel, &[64 * most]).local(&[64]).properties(cooperative()).on(&queue);
    let launch = Launch::new(&kernel, &[64 * (most + 1)]).local(&[64]).properties(cooperative());
    launch.refused(&[Code::ERROR_OUT_OF_RESOURCES], &queue);
    Launch::new(&kernel, &[1]).event_on(&queue).wait();
    queue.finish();
}

#[test]
fn urKernelSuggestMaxCooperativeGroupCount_falls_with_memory_and_work_items() {
    let fixture = Fixture::new();
    if !supported(&fixture) {
        return;
    }
    let kernel = fixture.basic(c"reverse_dynamic");
    let small = most_groups(&fixture, &kernel, &[32], 0);
    let large = most_groups(&fixture, &kernel, &[16, 32], 0);
    let greedy = most_groups(&fixture, &kernel, &[32], 40 << 10);
    let units: u32 = query::get(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::MAX_COMPUTE_UNITS)));
    assert!(large < small && greedy < small, "{small} groups of 32, {large} of 512, {greedy} with 40 KiB");
    for groups in [small, large, greedy] {
        assert!(groups >= units && groups.is_multiple_of(units), "{groups} groups on {units} units");
    }
}

#[test]
fn urKernelSuggestMaxCooperativeGroupCount_refuses_wrong_sizes_and_touches_no_output() {
    let fixture = Fixture::new();
    if !supported(&fixture) {
        return;
    }
    let (kernel, device) = (fixture.basic(c"empty"), fixture.device());
    let mut groups = 77;
    let out = &raw mut groups;
    let sizes = [1usize; 3];
    let (k, list) = (kernel.handle(), sizes.as_ptr());
    for dimensions in [0, 4] {
        refused!(
            ERROR_INVALID_WORK_DIMENSION,
            Kernel.pfnSuggestMaxCooperativeGroupCount(k, device, dimensions, list, 0, out)
        );
    }
    refused!(ERROR_INVALID_NULL_POINTER, Kernel.pfnSuggestMaxCooperativeGroupCount(k, device, 1, null(), 0, out));
    refused!(ERROR_INVALID_NULL_POINTER, Kernel.pfnSuggestMaxCooperativeGroupCount(k, device, 1, list, 0, null_mut()));
    for local in [[0usize, 1, 1], [1 << 20, 1, 1], [usize::MAX, 2, 1], [1, 1, 1 << 16]] {
        refused!(
            ERROR_INVALID_WORK_GROUP_SIZE,
            Kernel.pfnSuggestMaxCooperativeGroupCount(k, device, 3, local.as_ptr(), 0, out)
        );
    }
    refused!(ERROR_OUT_OF_RESOURCES, Kernel.pfnSuggestMaxCooperativeGroupCount(k, device, 1, list, usize::MAX, out));
    assert_eq!(groups, 77);
}

/// SYCL asks with the last dimension fastest, as it does nowhere else.
#[test]
fn urKernelSuggestMaxCooperativeGroupCount_takes_sizes_in_either_order_of_dimensions() {
    let fixture = Fixture::new();
    if !supported(&fixture) {
        return;
    }
    let (kernel, device) = (fixture.basic(c"empty"), fixture.device());
    let most: usize =
        query::get(ask!(Kernel.pfnGetGroupInfo(kernel.handle(), device, ur_kernel_group_info_t::WORK_GROUP_SIZE)));
    let count = |local: [usize; 3]| {
        let mut groups = 0;
        let at = local.as_ptr();
        ok!(Kernel.pfnSuggestMaxCooperativeGroupCount(kernel.handle(), device, 3, at, 0, &raw mut groups));
        groups
    };
    assert!(count([most, 1, 1]) > 0);
    assert_eq!([count([1, 1, most]), count([1, most, 1])], [count([most, 1, 1]); 2]);
}

#[test]
fn work_group_memory_of_a_launch_is_there_for_the_kernel() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"reverse_dynamic"), fixture.in_order());
    let mut property = ur_kernel_launch_workgroup_property_t {
        stype: ur_structure_type_t::KERNEL_LAUNCH_WORKGROUP_PROPERTY,
        pNext: null_mut(),
        workgroup_mem_size: 4 * 256,
    };
    let data = fixture.memory(Kind::Device, 4 * 512);
    let numbers: Vec<u32> = (0..512).collect();
    data.write(&queue, &numbers);
    let with = |property: &mut ur_kernel_launch_workgroup_property_t| ur_kernel_launch_ext_properties_t {
        pNext: core::ptr::from_mut(property).cast(),
        ..Default::default()
    };
    let launch = Launch::new(&kernel, &[512]).local(&[256]).pointer(data.pointer());
    launch.clone().properties(with(&mut property)).on(&queue);
    let mut expected = numbers;
    expected.chunks_mut(256).for_each(<[u32]>::reverse);
    assert_eq!(data.read::<u32>(&queue, 512), expected);

    property.workgroup_mem_size = usize::MAX;
    launch.properties(with(&mut property)).refused(&[Code::ERROR_OUT_OF_RESOURCES], &queue);
}

#[test]
fn work_group_memory_of_a_launch_comes_before_that_of_its_arguments() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"two_locals"), fixture.in_order());
    let mut property = ur_kernel_launch_workgroup_property_t {
        stype: ur_structure_type_t::KERNEL_LAUNCH_WORKGROUP_PROPERTY,
        pNext: null_mut(),
        workgroup_mem_size: 100,
    };
    let properties = ur_kernel_launch_ext_properties_t { pNext: (&raw mut property).cast(), ..Default::default() };
    let out = fixture.memory(Kind::Device, 4 * 32);
    let launch = Launch::new(&kernel, &[32]).local(&[32]).arg(ur_conformance::Arg::local(128));
    launch.arg(ur_conformance::Arg::local(128)).pointer(out.pointer()).properties(properties).on(&queue);
    let expected: Vec<u32> = (0..32).map(|t| (31 - t) * 10000 + 1000 + 31 - t).collect();
    assert_eq!(out.read::<u32>(&queue, 32), expected);
}

#[test]
fn an_unknown_structure_behind_the_launch_s_properties_is_refused() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"empty"), fixture.in_order());
    let mut stranger =
        ur_kernel_launch_ext_properties_t { stype: ur_structure_type_t(0x7fff_0001), ..Default::default() };
    let properties = ur_kernel_launch_ext_properties_t { pNext: (&raw mut stranger).cast(), ..Default::default() };
    Launch::new(&kernel, &[1]).properties(properties).refused(&[Code::ERROR_UNSUPPORTED_FEATURE], &queue);
}

#[test]
fn a_cooperative_launch_has_the_work_group_memory_of_its_arguments() {
    let fixture = Fixture::new();
    if !supported(&fixture) {
        return;
    }
    let (kernel, queue) = (fixture.basic(c"two_locals"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 4 * 64);
    let launch = Launch::new(&kernel, &[64]).local(&[64]).arg(Arg::local(4 * 64)).arg(Arg::local(4 * 64));
    launch.pointer(out.pointer()).properties(cooperative()).on(&queue);
    let found = out.read::<u32>(&queue, 64);
    assert!((0..64u32).all(|index| found[index as usize] == (63 - index) * 10000 + 1000 + 63 - index), "{found:?}");
}
