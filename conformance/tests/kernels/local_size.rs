//! `urKernelGetSuggestedLocalWorkSize` and its variant with arguments.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{ur_kernel_group_info_t, ur_result_t as Code};
use ur_conformance::{Fixture, Kernel, Kind, Launch, Queue, ask, needs_function, query, refused, ur};

static ZERO: usize = 0;

fn suggest(kernel: &Kernel, queue: &Queue, global: &[usize]) -> Result<Vec<usize>, Code> {
    let mut local = vec![0; global.len() + 1];
    let dimensions = u32::try_from(global.len()).expect("few");
    let (k, q, out) = (kernel.handle(), queue.handle(), local.as_mut_ptr());
    let offset = [0; 4];
    let answer = ur!(Kernel.pfnGetSuggestedLocalWorkSize(k, q, dimensions, offset.as_ptr(), global.as_ptr(), out));
    assert_eq!(local.pop(), Some(0), "no more dimensions than were asked for");
    if answer == Code::SUCCESS { Ok(local) } else { Err(answer) }
}

#[test]
fn urKernelGetSuggestedLocalWorkSize_divides_the_global_size_and_can_be_launched() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for name in [c"ids", c"reverse_static"] {
        let kernel = fixture.basic(name);
        let property = ur_kernel_group_info_t::WORK_GROUP_SIZE;
        let most: usize = query::get(ask!(Kernel.pfnGetGroupInfo(kernel.handle(), fixture.device(), property)));
        let sizes: [&[usize]; 11] = [
            &[1],
            &[2],
            &[300],
            &[1009],
            &[1 << 20],
            &[1 << 40],
            &[17, 31],
            &[1, 65536],
            &[1000, 1000],
            &[7, 8, 9],
            &[1, 1, 65536],
        ];
        for global in sizes {
            let local = match suggest(&kernel, &queue, global) {
                Ok(local) => local,
                // Not every device can launch so much.
                Err(code) => {
                    assert_eq!(code, Code::ERROR_INVALID_GLOBAL_WIDTH_DIMENSION, "{global:?}");
                    assert!(global[0] >= 1 << 32);
                    continue;
                }
            };
            assert!(local.iter().zip(global).all(|(&local, &global)| local > 0 && global % local == 0), "{local:?}");
            assert!(local.iter().product::<usize>() <= most, "{local:?} for {global:?}");
            let small = global.iter().product::<usize>() <= 1 << 12;
            if small && name == c"ids" {
                let out = fixture.memory(Kind::Device, 4 << 12);
                Launch::new(&kernel, global).local(&local).pointer(out.pointer()).on(&queue);
                queue.finish();
            }
        }
    }
}

#[test]
fn urKernelGetSuggestedLocalWorkSize_fills_groups_where_it_can() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"empty"), fixture.in_order());
    let local = suggest(&kernel, &queue, &[1 << 20]).expect("a common size");
    let warp: usize = {
        let property = ur_kernel_group_info_t::PREFERRED_WORK_GROUP_SIZE_MULTIPLE;
        query::get(ask!(Kernel.pfnGetGroupInfo(kernel.handle(), fixture.device(), property)))
    };
    assert!(local[0] >= warp && local[0].is_multiple_of(warp), "{local:?} for sub-groups of {warp}");
}

#[test]
fn urKernelGetSuggestedLocalWorkSize_refuses_what_a_launch_refuses() {
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"empty"), fixture.in_order());
    assert_eq!(suggest(&kernel, &queue, &[]), Err(Code::ERROR_INVALID_WORK_DIMENSION));
    assert_eq!(suggest(&kernel, &queue, &[1; 4]), Err(Code::ERROR_INVALID_WORK_DIMENSION));
    assert_eq!(suggest(&kernel, &queue, &[0]), Err(Code::ERROR_INVALID_WORK_DIMENSION));
    assert_eq!(suggest(&kernel, &queue, &[8, 0]), Err(Code::ERROR_INVALID_WORK_DIMENSION));
    let (k, q, global) = (kernel.handle(), queue.handle(), 8usize);
    let (mut out, zero) = (0, &raw const ZERO);
    refused!(ERROR_INVALID_NULL_POINTER, Kernel.pfnGetSuggestedLocalWorkSize(k, q, 1, zero, null(), &raw mut out));
    refused!(
        ERROR_INVALID_NULL_POINTER,
        Kernel.pfnGetSuggestedLocalWorkSize(k, q, 1, zero, &raw const global, null_mut())
    );
    refused!(
        ERROR_INVALID_NULL_POINTER,
        Kernel.pfnGetSuggestedLocalWorkSize(k, q, 1, null(), &raw const global, &raw mut out)
    );
    assert_eq!(out, 0);
}

#[test]
fn urKernelGetSuggestedLocalWorkSizeWithArgs_agrees_and_checks_its_list() {
    needs_function!(urKernelGetSuggestedLocalWorkSizeWithArgs);
    let fixture = Fixture::new();
    let (kernel, queue) = (fixture.basic(c"empty"), fixture.in_order());
    let (k, q, global) = (kernel.handle(), queue.handle(), 4096usize);
    let mut out = 0;
    let (sizes, zero, to) = (&raw const global, &raw const ZERO, &raw mut out);
    refused!(
        ERROR_INVALID_NULL_POINTER,
        Kernel.pfnGetSuggestedLocalWorkSizeWithArgs(k, q, 1, null(), sizes, 0, null(), to)
    );
    ur_conformance::ok!(Kernel.pfnGetSuggestedLocalWorkSizeWithArgs(k, q, 1, zero, sizes, 0, null(), to));
    assert_eq!(suggest(&kernel, &queue, &[4096]), Ok(vec![out]));
    refused!(
        ERROR_INVALID_NULL_POINTER,
        Kernel.pfnGetSuggestedLocalWorkSizeWithArgs(k, q, 1, zero, sizes, 1, null(), to)
    );
    let unknown = ur_conformance::ffi::ur_exp_kernel_arg_properties_t {
        type_: ur_conformance::ffi::ur_exp_kernel_arg_type_t(0x7777),
        ..Default::default()
    };
    refused!(
        ERROR_INVALID_ENUMERATION,
        Kernel.pfnGetSuggestedLocalWorkSizeWithArgs(k, q, 1, zero, sizes, 1, &raw const unknown, to)
    );
}
