//! SPIR-V on devices that say they are AMD's: the way through libamd_comgr. HIP over CUDA plays the device and takes the simulated comgr's
//! code objects, which hold PTX, so that kernels run. Whether AMD's machine code does what it should is nothing that this can tell.

use core::ptr::null;
use std::ffi::OsString;

use ur_conformance::below::Below;
use ur_conformance::ffi::{
    ur_device_info_t, ur_program_build_info_t as build_info, ur_program_info_t as info, ur_result_t as Code,
};
use ur_conformance::launch::Arg;
use ur_conformance::{Fixture, Kind, Launch, ask, child, expect_code, ok, query, ur};

use crate::toolchain::{Toolchain, built, unbuilt};

/// Waves of 32 lanes, as the simulated device has them.
const ARCHITECTURE: &str = "gfx1030";

/// Runs `body` in a process whose HIP devices say that they are AMD's; the CUDA adapter has none.
#[track_caller]
fn on_amd(test: &str, comgr: Option<&str>, body: impl FnOnce(&Toolchain)) {
    // A runtime of AMD's own plays nothing.
    if !Below::is_hip() || !Below::the_adapter().named().to_string_lossy().contains("hip_on_cuda") {
        return;
    }
    let toolchain = Toolchain::inherited().unwrap_or_else(|| Toolchain::new(&["scale.ptx", "linked.ptx"]));
    let library = comgr.map_or_else(|| toolchain.folder().join("libnvvm.so.4").into(), OsString::from);
    let mut variables = toolchain.variables();
    variables.extend([("UR_COMGR_LIBRARY", library), ("HIP_ON_CUDA_ARCHITECTURE", ARCHITECTURE.into())]);
    child::in_process(test, &variables, || body(&toolchain));
}

#[test]
fn a_module_becomes_a_code_object_whose_kernels_run() {
    on_amd("a_module_becomes_a_code_object_whose_kernels_run", None, |toolchain| {
        let fixture = Fixture::new();
        assert!(!query::text(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::IL_VERSION))).is_empty());
        let program = built(&fixture, "scale");
        let sizes: Vec<usize> = query::list(ask!(Program.pfnGetInfo(program.handle(), info::BINARY_SIZES)));
        assert!(sizes[0] > 64);
        assert_eq!(query::text(ask!(Program.pfnGetInfo(program.handle(), info::KERNEL_NAMES))), "scale;sized;reverse");
        let (scale, reverse) = (fixture.kernel(&program, c"scale"), fixture.kernel(&program, c"reverse"));
        let (queue, out) = (fixture.in_order(), fixture.memory(Kind::Device, 128));
        Launch::new(&scale, &[10]).pointer(out.pointer()).value(7u32).on(&queue);
        assert_eq!(out.read::<u32>(&queue, 10), (0..10).map(|index| index * 3 + 7 + 1000).collect::<Vec<u32>>());
        Launch::new(&reverse, &[32]).local(&[32]).pointer(out.pointer()).arg(Arg::local(128)).on(&queue);
        assert_eq!(out.read::<u32>(&queue, 32), (0..32).rev().collect::<Vec<u32>>());
        // What was compiled, and how.
        assert!(toolchain.text().contains("define amdgpu_kernel void @scale("), "{}", toolchain.text());
        assert_eq!(toolchain.compiled(), ["amdgcn-amd-amdhsa--gfx1030 -O3"]);
        // The disk has it now.
        let again = built(&fixture, "scale");
        assert_eq!(toolchain.compiled().len(), 1);
        drop(again);
    });
}

#[test]
fn options_reach_comgr_and_its_log_the_program() {
    on_amd("options_reach_comgr_and_its_log_the_program", None, |toolchain| {
        let fixture = Fixture::new();
        let program = unbuilt(&fixture, "scale");
        toolchain.refuse(Some("these words"));
        let answer = ur!(Program.pfnBuild(fixture.context(), program.handle(), c"-O0".as_ptr()));
        expect_code(answer, &[Code::ERROR_PROGRAM_BUILD_FAILURE], "urProgramBuild");
        let log = query::text(ask!(Program.pfnGetBuildInfo(program.handle(), fixture.device(), build_info::LOG)));
        assert!(log.contains("these words") && log.contains("gfx1030"), "{log}");
        assert_eq!(toolchain.compiled(), ["amdgcn-amd-amdhsa--gfx1030 -O0"]);
        toolchain.refuse(None);
        ok!(Program.pfnBuild(fixture.context(), program.handle(), null()));
    });
}

#[test]
fn without_comgr_a_build_names_the_package() {
    on_amd("without_comgr_a_build_names_the_package", Some("/nowhere/libamd_comgr.so.2"), |_| {
        let fixture = Fixture::new();
        let program = unbuilt(&fixture, "scale");
        let answer = ur!(Program.pfnBuild(fixture.context(), program.handle(), null()));
        expect_code(answer, &[Code::ERROR_COMPILER_NOT_AVAILABLE], "urProgramBuild");
        let log = query::text(ask!(Program.pfnGetBuildInfo(program.handle(), fixture.device(), build_info::LOG)));
        assert!(log.contains("libamd-comgr2") && log.contains("/nowhere/libamd_comgr.so.2"), "{log}");
        assert_eq!(query::text(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::IL_VERSION))), "");
    });
}
