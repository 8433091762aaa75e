//! `urKernel*`: finding kernels and what they say of themselves.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    ur_kernel_cache_config_t, ur_kernel_exec_info_t as exec, ur_kernel_group_info_t as group, ur_kernel_info_t as info,
    ur_kernel_sub_group_info_t as sub_group,
};
use ur_conformance::{Environment, Fixture, ask, check_every_property, ok, query, refused};

#[test]
fn urKernelCreate_finds_a_kernel_by_its_exact_name() {
    let fixture = Fixture::new();
    let program = fixture.program("basic.ptx");
    let kernel = fixture.kernel(&program, c"iota");
    assert_eq!(query::text(ask!(Kernel.pfnGetInfo(kernel.handle(), info::FUNCTION_NAME))), "iota");
    for name in [c"", c"iot", c"iota ", c"IOTA", c"no_such_kernel", c"counter"] {
        let mut kernel = null_mut();
        refused!(ERROR_INVALID_KERNEL_NAME, Kernel.pfnCreate(program.handle(), name.as_ptr(), &raw mut kernel));
        assert!(kernel.is_null());
    }
    let message = ur_conformance::last_error();
    assert!(message.contains("counter"), "the message names what was looked for: {message}");
}

#[test]
fn urKernelCreate_refuses_a_program_that_is_not_built_and_missing_pointers() {
    let fixture = Fixture::new();
    let unbuilt = fixture.unbuilt(&Environment::get().image("basic.ptx")).expect("PTX is an image");
    let mut kernel = null_mut();
    refused!(ERROR_INVALID_PROGRAM_EXECUTABLE, Kernel.pfnCreate(unbuilt.handle(), c"iota".as_ptr(), &raw mut kernel));
    let program = fixture.program("basic.ptx");
    refused!(ERROR_INVALID_NULL_POINTER, Kernel.pfnCreate(program.handle(), null(), &raw mut kernel));
    refused!(ERROR_INVALID_NULL_POINTER, Kernel.pfnCreate(program.handle(), c"iota".as_ptr(), null_mut()));
    assert!(kernel.is_null());
}

#[test]
fn urKernelRetain_and_urKernelRelease_count() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"empty");
    let references = || query::get::<u32>(ask!(Kernel.pfnGetInfo(kernel.handle(), info::REFERENCE_COUNT)));
    assert_eq!(references(), 1);
    ok!(Kernel.pfnRetain(kernel.handle()));
    assert_eq!(references(), 2);
    ok!(Kernel.pfnRelease(kernel.handle()));
    assert_eq!(references(), 1);
}

#[test]
fn urKernelGetInfo_answers_every_property_by_the_rules() {
    let fixture = Fixture::new();
    let program = fixture.program("basic.ptx");
    for name in [c"empty", c"fill", c"local_array", c"large_argument"] {
        let kernel = fixture.kernel(&program, name);
        check_every_property!(ur_kernel_info_t, &[], Kernel.pfnGetInfo(kernel.handle()));
        let owner: *mut _ = query::get(ask!(Kernel.pfnGetInfo(kernel.handle(), info::PROGRAM)));
        let context: *mut _ = query::get(ask!(Kernel.pfnGetInfo(kernel.handle(), info::CONTEXT)));
        assert_eq!((owner, context), (program.handle(), fixture.context()));
    }
}

#[test]
fn urKernelGetInfo_NUM_ARGS_counts_the_parameters() {
    let fixture = Fixture::new();
    let program = fixture.program("basic.ptx");
    for (name, count) in [(c"empty", 0), (c"ids", 1), (c"iota", 2), (c"fill", 3), (c"arguments", 7)] {
        let kernel = fixture.kernel(&program, name);
        let mut told = 0u32;
        let out = (&raw mut told).cast();
        let answer = ur_conformance::ur!(Kernel.pfnGetInfo(kernel.handle(), info::NUM_ARGS, 4, out, null_mut()));
        if answer == ur_conformance::ffi::ur_result_t::ERROR_UNSUPPORTED_ENUMERATION {
            println!("skipped: the native library does not tell");
            return;
        }
        assert_eq!(told, count, "{name:?}");
    }
}

#[test]
fn urKernelGetGroupInfo_answers_every_property_by_the_rules() {
    let fixture = Fixture::new();
    for name in [c"empty", c"reverse_static", c"block_sum"] {
        let kernel = fixture.basic(name);
        let (handle, device) = (kernel.handle(), fixture.device());
        check_every_property!(ur_kernel_group_info_t, &[], Kernel.pfnGetGroupInfo(handle, device));
        let most: usize = query::get(ask!(Kernel.pfnGetGroupInfo(handle, device, group::WORK_GROUP_SIZE)));
        assert!((1..=1024).contains(&most), "{name:?}: {most}");
    }
    let kernel = fixture.basic(c"reverse_static");
    let local: usize =
        query::get(ask!(Kernel.pfnGetGroupInfo(kernel.handle(), fixture.device(), group::LOCAL_MEM_SIZE)));
    assert!(local >= 1024, "256 words of static work-group memory, and {local} bytes are told");
}

#[test]
fn urKernelGetSubGroupInfo_answers_every_property_by_the_rules() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"empty");
    let (handle, device) = (kernel.handle(), fixture.device());
    check_every_property!(ur_kernel_sub_group_info_t, &[], Kernel.pfnGetSubGroupInfo(handle, device));
    let most: u32 = query::get(ask!(Kernel.pfnGetSubGroupInfo(handle, device, sub_group::MAX_SUB_GROUP_SIZE)));
    assert!(most > 0);
}

#[test]
fn urKernelGetGroupInfo_refuses_a_device_that_the_program_has_no_code_for() {
    let fixture = Fixture::over_all_devices();
    let Some(&other) = fixture.devices.get(1) else {
        println!("skipped: needs a second device");
        return;
    };
    let kernel = fixture.basic(c"empty");
    let mut size = 0;
    refused!(
        ERROR_INVALID_KERNEL | ERROR_INVALID_DEVICE,
        Kernel.pfnGetGroupInfo(kernel.handle(), other, group::WORK_GROUP_SIZE, 0, null_mut(), &raw mut size)
    );
}

#[test]
fn urKernelSetExecInfo_takes_what_front_ends_set_and_checks_its_size() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"empty");
    let k = kernel.handle();
    let (yes, pointers) = (1u8, [null::<u8>(); 2]);
    let cache = ur_kernel_cache_config_t::LARGE_SLM;
    let (y, p, c) = ((&raw const yes).cast(), pointers.as_ptr().cast(), (&raw const cache).cast());
    ok!(Kernel.pfnSetExecInfo(k, exec::USM_INDIRECT_ACCESS, 1, null(), y));
    ok!(Kernel.pfnSetExecInfo(k, exec::USM_PTRS, 16, null(), p));
    ok!(Kernel.pfnSetExecInfo(k, exec::CACHE_CONFIG, 4, null(), c));
    refused!(ERROR_INVALID_SIZE, Kernel.pfnSetExecInfo(k, exec::CACHE_CONFIG, 3, null(), c));
    refused!(ERROR_INVALID_NULL_POINTER, Kernel.pfnSetExecInfo(k, exec::USM_INDIRECT_ACCESS, 1, null(), null()));
    refused!(ERROR_INVALID_ENUMERATION, Kernel.pfnSetExecInfo(k, exec(0x7777), 1, null(), y));
}
