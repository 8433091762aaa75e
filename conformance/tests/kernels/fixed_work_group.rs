//! Sizes of work-groups that an image fixes by itself: `.reqntid` and `.maxntid` of PTX, `.nv.info` of a cubin.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::CStr;
use core::ptr::null;

use ur_conformance::ffi::{ur_kernel_group_info_t as group, ur_result_t as Code};
use ur_conformance::{Environment, Fixture, Kernel, Kind, Launch, Program, Queue, ask, ok, query, ur};

/// The program of each image that the device loads: PTX, a fat binary, a cubin.
fn programs(fixture: &Fixture) -> Vec<(&'static str, Program)> {
    let built = |name| {
        let program = fixture.unbuilt(&Environment::get().image(name)).ok()?;
        let answer = ur!(Program.pfnBuild(fixture.context(), program.handle(), null()));
        if answer == Code::SUCCESS {
            return Some((name, program));
        }
        println!("skipped in part: the device does not load {name}");
        None
    };
    let programs: Vec<_> =
        ["fixed.ptx", "fatbin/fixed.fatbin", "cubin/fixed.sm_90.cubin"].into_iter().filter_map(built).collect();
    assert!(!programs.is_empty());
    programs
}

fn of_kernel(fixture: &Fixture, kernel: &Kernel, property: group) -> Vec<usize> {
    query::list(ask!(Kernel.pfnGetGroupInfo(kernel.handle(), fixture.device(), property)))
}

fn suggested(kernel: &Kernel, queue: &Queue, global: &[usize]) -> Vec<usize> {
    let (mut found, zero) = (vec![0; global.len()], vec![0; global.len()]);
    let (k, q, dimensions) = (kernel.handle(), queue.handle(), u32::try_from(global.len()).unwrap());
    let (offset, out) = (zero.as_ptr(), found.as_mut_ptr());
    ok!(Kernel.pfnGetSuggestedLocalWorkSize(k, q, dimensions, offset, global.as_ptr(), out));
    found
}

fn each(name: &CStr, test: impl Fn(&Fixture, &Kernel, &Queue, &str)) {
    let fixture = Fixture::new();
    for (image, program) in programs(&fixture) {
        let (kernel, queue) = (fixture.kernel(&program, name), fixture.in_order());
        test(&fixture, &kernel, &queue, image);
        queue.finish();
    }
}

#[test]
fn a_size_that_the_image_requires_is_told_suggested_used_and_enforced() {
    each(c"required", |fixture, kernel, queue, image| {
        assert_eq!(of_kernel(fixture, kernel, group::COMPILE_WORK_GROUP_SIZE), [16, 2, 1], "{image}");
        assert_eq!(of_kernel(fixture, kernel, group::WORK_GROUP_SIZE), [32], "{image}");
        assert_eq!(suggested(kernel, queue, &[64, 4]), [16, 2], "{image}");
        let out = fixture.memory(Kind::Device, 12);
        let launch = Launch::new(kernel, &[64, 4]).pointer(out.pointer());
        for launch in [launch.clone(), launch.clone().local(&[16, 2])] {
            out.write(queue, &[0u32; 3]);
            launch.on(queue);
            assert_eq!(out.read::<u32>(queue, 3), [16, 2, 1], "{image}");
        }
        for wrong in [[32, 1], [2, 16], [16, 1], [8, 2], [64, 4]] {
            launch.clone().local(&wrong).refused(&[Code::ERROR_INVALID_WORK_GROUP_SIZE], queue);
        }
        let odd = Launch::new(kernel, &[63, 4]).pointer(out.pointer());
        odd.refused(&[Code::ERROR_INVALID_WORK_GROUP_SIZE], queue);
    });
}

/// PTX limits the product of the three, and no dimension by itself.
#[test]
fn most_work_items_that_the_image_allows_are_told_and_enforced() {
    each(c"limited", |fixture, kernel, queue, image| {
        assert_eq!(of_kernel(fixture, kernel, group::COMPILE_MAX_WORK_GROUP_SIZE), [64, 2, 1], "{image}");
        assert_eq!(of_kernel(fixture, kernel, group::COMPILE_MAX_LINEAR_WORK_GROUP_SIZE), [128], "{image}");
        assert_eq!(of_kernel(fixture, kernel, group::WORK_GROUP_SIZE), [128], "{image}");
        assert_eq!(of_kernel(fixture, kernel, group::COMPILE_WORK_GROUP_SIZE), [0; 3], "{image}");
        let local = suggested(kernel, queue, &[256, 8]);
        assert!(local.iter().product::<usize>() <= 128, "{image}: {local:?}");
        let out = fixture.memory(Kind::Device, 12);
        let launch = Launch::new(kernel, &[256, 8]).pointer(out.pointer());
        launch.on(queue);
        for right in [[64, 2], [128, 1], [16, 8]] {
            launch.clone().local(&right).on(queue);
            assert_eq!(out.read::<u32>(queue, 3), [right[0] as u32, right[1] as u32, 1], "{image}");
        }
        for wrong in [[256, 1], [64, 4], [32, 8]] {
            launch.clone().local(&wrong).refused(&[Code::ERROR_INVALID_WORK_GROUP_SIZE], queue);
        }
    });
}

#[test]
fn of_a_kernel_that_the_image_fixes_nothing_of_nothing_is_told() {
    each(c"unfixed", |fixture, kernel, queue, image| {
        assert_eq!(of_kernel(fixture, kernel, group::COMPILE_WORK_GROUP_SIZE), [0; 3], "{image}");
        assert_eq!(of_kernel(fixture, kernel, group::COMPILE_MAX_WORK_GROUP_SIZE), [0; 3], "{image}");
        assert_eq!(of_kernel(fixture, kernel, group::COMPILE_MAX_LINEAR_WORK_GROUP_SIZE), [0], "{image}");
        let out = fixture.memory(Kind::Device, 12);
        Launch::new(kernel, &[256]).local(&[256]).pointer(out.pointer()).on(queue);
        assert_eq!(out.read::<u32>(queue, 3), [256, 1, 1], "{image}");
    });
}
