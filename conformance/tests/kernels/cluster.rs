//! Launches in clusters of work-groups.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::null_mut;

use ur_conformance::ffi::{
    ur_device_info_t, ur_kernel_launch_cluster_property_t, ur_kernel_launch_ext_properties_t,
    ur_kernel_launch_flags_t as Flags, ur_kernel_launch_properties_flags_t as Capabilities, ur_result_t as Code,
    ur_structure_type_t,
};
use ur_conformance::{Fixture, Kernel, Kind, Launch, ask, needs_sim, ok, query, ur};

/// Each block's first thread writes the cluster's number of blocks and its own rank in it. Only devices that have
/// clusters can read those registers.
const PLACES: &[u8] = b".version 7.8
.target sm_90
.address_size 64
.visible .entry places(.param .u64 places_param_0)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<5>;
    mov.u32 %r1, %tid.x;
    setp.ne.s32 %p1, %r1, 0;
    @%p1 bra END;
    ld.param.u64 %rd1, [places_param_0];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r2, %ctaid.x;
    mul.wide.u32 %rd3, %r2, 8;
    add.s64 %rd4, %rd2, %rd3;
    mov.u32 %r3, %cluster_nctarank;
    mov.u32 %r4, %cluster_ctarank;
    st.global.u32 [%rd4], %r3;
    st.global.u32 [%rd4+4], %r4;
END:
    ret;
}
";

fn cluster(size: [u32; 3]) -> ur_kernel_launch_cluster_property_t {
    ur_kernel_launch_cluster_property_t {
        stype: ur_structure_type_t::KERNEL_LAUNCH_CLUSTER_PROPERTY,
        pNext: null_mut(),
        clusterDim: size,
    }
}

fn behind(cluster: &mut ur_kernel_launch_cluster_property_t, flags: Flags) -> ur_kernel_launch_ext_properties_t {
    ur_kernel_launch_ext_properties_t { pNext: core::ptr::from_mut(cluster).cast(), flags, ..Default::default() }
}

/// Whether the device says that it has clusters; otherwise a launch in some must be refused, which is checked here.
fn supported(fixture: &Fixture) -> bool {
    let property = ur_device_info_t::KERNEL_LAUNCH_CAPABILITIES;
    let told: u32 = query::get(ask!(Device.pfnGetInfo(fixture.device(), property)));
    let there = told & Capabilities::CLUSTER_DIMENSION.bits() != 0;
    if !there {
        let (queue, kernel) = (fixture.in_order(), fixture.basic(c"empty"));
        let launch = Launch::new(&kernel, &[4]).local(&[1]);
        let mut two = cluster([2, 1, 1]);
        launch.properties(behind(&mut two, Flags::empty())).refused(&[Code::ERROR_UNSUPPORTED_FEATURE], &queue);
        println!("skipped: the device has no clusters");
    }
    there
}

fn places(fixture: &Fixture) -> Kernel {
    let program = match fixture.unbuilt(PLACES) {
        Ok(program) => program,
        Err(answer) => panic!("{answer:?}: {}", ur_conformance::last_error()),
    };
    ok!(Program.pfnBuild(fixture.context(), program.handle(), core::ptr::null()));
    fixture.kernel(&program, c"places")
}

#[test]
fn every_group_knows_its_place_in_its_cluster() {
    let fixture = Fixture::new();
    if !supported(&fixture) {
        return;
    }
    let (kernel, queue) = (places(&fixture), fixture.in_order());
    let out = fixture.memory(Kind::Device, 8 * 16);
    for (size, flags) in [(2, Flags::empty()), (4, Flags::empty()), (8, Flags::empty()), (4, Flags::COOPERATIVE)] {
        out.write(&queue, &[u32::MAX; 32]);
        let mut property = cluster([size, 1, 1]);
        let launch = Launch::new(&kernel, &[16 * 32]).local(&[32]).pointer(out.pointer());
        launch.properties(behind(&mut property, flags)).on(&queue);
        let expected: Vec<u32> = (0..16).flat_map(|block| [size, block % size]).collect();
        assert_eq!(out.read::<u32>(&queue, 32), expected, "clusters of {size}, {flags:?}");
    }
}

/// More work-groups than 8 are more than every device with clusters has; a device that can have 16 runs them.
#[test]
fn clusters_of_more_than_8_groups_run_where_the_device_can() {
    let fixture = Fixture::new();
    if !supported(&fixture) {
        return;
    }
    let (kernel, queue) = (places(&fixture), fixture.in_order());
    let out = fixture.memory(Kind::Device, 8 * 32);
    for size in [[16, 1, 1], [4, 1, 1], [2, 4, 2], [16, 1, 1]] {
        out.write(&queue, &[u32::MAX; 64]);
        let mut property = cluster(size);
        let global: Vec<usize> = if size[1] == 1 { vec![32 * 32] } else { vec![4 * 32, 4, 2] };
        let local: Vec<usize> = [32, 1, 1][..global.len()].to_vec();
        let launch = Launch::new(&kernel, &global).local(&local).pointer(out.pointer());
        let launch = launch.properties(behind(&mut property, Flags::empty()));
        let answer = launch.enqueue(&queue, null_mut());
        if fixture.sim().is_none() && answer == Code::ERROR_INVALID_WORK_GROUP_SIZE {
            println!("skipped: the device has no clusters of {size:?}");
            continue;
        }
        assert_eq!(answer, Code::SUCCESS, "clusters of {size:?}: {}", ur_conformance::last_error());
        let found = out.read::<u32>(&queue, 64);
        if size[1] == 1 {
            let expected: Vec<u32> = (0..32).flat_map(|block| [size[0], block % size[0]]).collect();
            assert_eq!(found, expected, "clusters of {size:?}");
        } else {
            // Blocks write by their x alone.
            assert!(found[..8].chunks(2).all(|place| place[0] == 16 && place[1] < 16), "{found:?}");
        }
    }
}

/// A launch with an offset may be another native function than one without, and each takes the permission.
#[test]
fn clusters_of_more_than_8_groups_run_with_an_offset_too() {
    let fixture = Fixture::new();
    if !supported(&fixture) {
        return;
    }
    let (kernel, queue) = (fixture.basic(c"fill"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 4 * 64);
    for (offset, value) in [(0, 3u32), (32, 4), (0, 5)] {
        out.write(&queue, &[0u32; 64]);
        let mut property = cluster([16, 1, 1]);
        let launch = Launch::new(&kernel, &[32]).local(&[1]).offset(&[offset]);
        let launch = launch.pointer(out.pointer()).value(value).value(64u32);
        let launch = launch.properties(behind(&mut property, Flags::empty()));
        let answer = launch.enqueue(&queue, null_mut());
        if fixture.sim().is_none() && answer == Code::ERROR_INVALID_WORK_GROUP_SIZE {
            println!("skipped: the device has no clusters of 16 groups");
            return;
        }
        assert_eq!(answer, Code::SUCCESS, "from {offset} on: {}", ur_conformance::last_error());
        assert_eq!(out.read::<u32>(&queue, 64)[offset..offset + 32], [value; 32], "from {offset} on");
    }
}

#[test]
fn the_permission_for_large_clusters_is_asked_for_once() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    if !supported(&fixture) {
        return;
    }
    let (kernel, queue) = (fixture.basic(c"empty"), fixture.in_order());
    for (size, asked) in [(8, None), (16, Some(&1)), (16, None), (2, None)] {
        let mut property = cluster([size, 1, 1]);
        let launch = Launch::new(&kernel, &[32]).local(&[1]);
        let launch = launch.properties(behind(&mut property, Flags::empty()));
        let (_, calls) = sim.calls_of(|| launch.on(&queue));
        assert_eq!((calls.get("cuFuncSetAttribute"), calls.get("cuLaunchKernelEx")), (asked, Some(&1)), "{size}");
    }
    queue.finish();
}

#[test]
fn clusters_that_the_grid_is_not_made_of_are_refused_and_leave_nothing() {
    let fixture = Fixture::new();
    if !supported(&fixture) {
        return;
    }
    let (kernel, queue) = (fixture.basic(c"empty"), fixture.in_order());
    for (size, code) in [
        ([3, 1, 1], Code::ERROR_INVALID_WORK_GROUP_SIZE),
        ([1, 2, 1], Code::ERROR_INVALID_WORK_GROUP_SIZE),
        ([0, 1, 1], Code::ERROR_INVALID_VALUE),
        // More than every device with clusters has.
        ([64, 1, 1], Code::ERROR_INVALID_WORK_GROUP_SIZE),
    ] {
        let mut property = cluster(size);
        let launch = Launch::new(&kernel, &[64]).local(&[1]);
        launch.properties(behind(&mut property, Flags::empty())).refused(&[code], &queue);
    }
    let mut empty = true;
    let out = (&raw mut empty).cast();
    let property = ur_conformance::ffi::ur_queue_info_t::EMPTY;
    assert_eq!(ur!(Queue.pfnGetInfo(queue.handle(), property, 1, out, null_mut())), Code::SUCCESS);
    Launch::new(&kernel, &[1]).on(&queue);
    queue.finish();
}

#[test]
fn more_groups_of_a_cooperative_launch_in_clusters_than_fit_at_once_are_refused() {
    let fixture = Fixture::new();
    if !supported(&fixture) {
        return;
    }
    let (kernel, queue) = (fixture.basic(c"empty"), fixture.in_order());
    let (local, mut most) = (64, 0);
    let (k, d) = (kernel.handle(), fixture.device());
    ok!(Kernel.pfnSuggestMaxCooperativeGroupCount(k, d, 1, &raw const local, 0, &raw mut most));
    let groups = 2 * most as usize;
    for (flags, codes) in [
        (Flags::empty(), [Code::SUCCESS; 2]),
        (Flags::COOPERATIVE, [Code::ERROR_OUT_OF_RESOURCES, Code::ERROR_INVALID_WORK_GROUP_SIZE]),
    ] {
        let mut property = cluster([2, 1, 1]);
        let launch = Launch::new(&kernel, &[local * groups]).local(&[local]);
        let answer = launch.properties(behind(&mut property, flags)).enqueue(&queue, null_mut());
        ur_conformance::expect_code(answer, &codes, "a launch in clusters");
    }
    queue.finish();
}
