//! `urProgramCreateWithIL` and what follows: building, linking, constants, what a program and its kernels tell, launches.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::CStr;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    ur_bool_t, ur_device_binary_t, ur_device_info_t, ur_exp_program_flags_t as Flags, ur_kernel_group_info_t,
    ur_kernel_info_t, ur_kernel_sub_group_info_t, ur_program_binary_type_t as Type,
    ur_program_build_info_t as build_info, ur_program_build_status_t as Status, ur_program_info_t as info,
    ur_result_t as Code, ur_specialization_constant_info_t,
};
use ur_conformance::launch::Arg;
use ur_conformance::{Environment, Fixture, Kind, Launch, Program, ask, child, expect_code, ok, query, refused, ur};

use crate::toolchain::{Toolchain, any, built, module, simulated, unbuilt};

const SCALE: &[&str] = &["scale.ptx"];
/// What `weight` holds before anybody writes it.
const WEIGHT: u32 = 1000;

/// Launches `scale` over ten items and expects what it writes with that factor.
fn expect_scaled(fixture: &Fixture, program: &Program, factor: u32, weight: u32) {
    let (kernel, queue) = (fixture.kernel(program, c"scale"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 40);
    Launch::new(&kernel, &[10]).pointer(out.pointer()).value(7u32).on(&queue);
    let expected: Vec<u32> = (0..10).map(|index| index * factor + 7 + weight).collect();
    assert_eq!(out.read::<u32>(&queue, 10), expected);
}

fn log(fixture: &Fixture, program: &Program) -> String {
    query::text(ask!(Program.pfnGetBuildInfo(program.handle(), fixture.device(), build_info::LOG)))
}

fn state(fixture: &Fixture, program: &Program) -> (Status, Type) {
    let answer = |property| query::get(ask!(Program.pfnGetBuildInfo(program.handle(), fixture.device(), property)));
    (Status(answer(build_info::STATUS)), Type(answer(build_info::BINARY_TYPE)))
}

/// The program's image for its only device.
fn image(program: &Program) -> Vec<u8> {
    let sizes: Vec<usize> = query::list(ask!(Program.pfnGetInfo(program.handle(), info::BINARY_SIZES)));
    assert_eq!(sizes.len(), 1);
    let mut image = vec![0u8; sizes[0]];
    let mut list = [image.as_mut_ptr()];
    ok!(Program.pfnGetInfo(program.handle(), info::BINARIES, 8, list.as_mut_ptr().cast(), null_mut()));
    image
}

#[test]
fn urProgramCreateWithIL_gives_a_program_whose_kernels_run() {
    any("urProgramCreateWithIL_gives_a_program_whose_kernels_run", SCALE, || {
        let fixture = Fixture::new();
        let program = unbuilt(&fixture, "scale");
        assert_eq!(state(&fixture, &program), (Status::NONE, Type::NONE));
        ok!(Program.pfnBuild(fixture.context(), program.handle(), null()));
        assert_eq!(state(&fixture, &program), (Status::SUCCESS, Type::EXECUTABLE));
        expect_scaled(&fixture, &program, 3, WEIGHT);
        refused!(ERROR_INVALID_OPERATION, Program.pfnBuild(fixture.context(), program.handle(), null()));
        assert_eq!(state(&fixture, &program), (Status::SUCCESS, Type::EXECUTABLE));
    });
}

#[test]
fn urProgramCreateWithBinary_takes_SPIR_V_by_its_first_word() {
    any("urProgramCreateWithBinary_takes_SPIR_V_by_its_first_word", SCALE, || {
        let fixture = Fixture::new();
        let program = fixture.unbuilt(&module("scale")).expect("SPIR-V is an image");
        ok!(Program.pfnBuild(fixture.context(), program.handle(), null()));
        expect_scaled(&fixture, &program, 3, WEIGHT);
    });
}

#[test]
fn work_group_memory_is_given_as_to_any_kernel() {
    any("work_group_memory_is_given_as_to_any_kernel", SCALE, || {
        let fixture = Fixture::new();
        let program = built(&fixture, "scale");
        let (kernel, queue) = (fixture.kernel(&program, c"reverse"), fixture.in_order());
        let out = fixture.memory(Kind::Device, 128);
        Launch::new(&kernel, &[32]).local(&[32]).pointer(out.pointer()).arg(Arg::local(128)).on(&queue);
        assert_eq!(out.read::<u32>(&queue, 32), (0..32).rev().collect::<Vec<u32>>());
    });
}

/// dpnp's read there, and use nothing of it. The simulated driver tells of what an access behind the launch's memory touches.
#[test]
fn a_kernel_from_SPIR_V_may_touch_a_KiB_behind_its_work_group_memory() {
    any("a_kernel_from_SPIR_V_may_touch_a_KiB_behind_its_work_group_memory", SCALE, || {
        let fixture = Fixture::new();
        let program = built(&fixture, "scale");
        let (kernel, queue) = (fixture.kernel(&program, c"reverse"), fixture.in_order());
        let out = fixture.memory(Kind::Device, 128);
        // It has 32 words, and asks for one.
        Launch::new(&kernel, &[32]).local(&[32]).pointer(out.pointer()).arg(Arg::local(4)).on(&queue);
        assert_eq!(out.read::<u32>(&queue, 32), (0..32).rev().collect::<Vec<u32>>());
    });
}

#[test]
fn urProgramGetInfo_tells_the_module_its_kernels_and_once_built_its_image() {
    any("urProgramGetInfo_tells_the_module_its_kernels_and_once_built_its_image", SCALE, || {
        let fixture = Fixture::new();
        let program = unbuilt(&fixture, "scale");
        let handle = program.handle();
        let bytes: Vec<u8> = query::list(ask!(Program.pfnGetInfo(handle, info::IL)));
        assert_eq!(bytes, module("scale"));
        assert_eq!(image(&program), b"", "nothing is compiled before the build");
        let mut count = 77usize;
        let out = (&raw mut count).cast();
        refused!(ERROR_INVALID_PROGRAM_EXECUTABLE, Program.pfnGetInfo(handle, info::NUM_KERNELS, 8, out, null_mut()));
        assert_eq!(count, 77);
        ok!(Program.pfnBuild(fixture.context(), handle, null()));
        assert_eq!(query::get::<usize>(ask!(Program.pfnGetInfo(handle, info::NUM_KERNELS))), 3);
        assert_eq!(query::text(ask!(Program.pfnGetInfo(handle, info::KERNEL_NAMES))), "scale;sized;reverse");
        let image = image(&program);
        let again = fixture.unbuilt(&image).expect("what was compiled is an image");
        ok!(Program.pfnBuild(fixture.context(), again.handle(), null()));
        expect_scaled(&fixture, &again, 3, WEIGHT);
        let none: Vec<u8> = query::list(ask!(Program.pfnGetInfo(again.handle(), info::IL)));
        assert!(none.is_empty());
    });
}

#[test]
fn the_image_is_in_a_version_that_the_driver_takes() {
    any("the_image_is_in_a_version_that_the_driver_takes", SCALE, || {
        let fixture = Fixture::new();
        let text = String::from_utf8(image(&built(&fixture, "scale"))).expect("PTX is text");
        let line = text.lines().find_map(|line| line.strip_prefix(".version ")).expect("a version");
        // The text that is checked in says 9.5; the driver is for CUDA 13.0. HIP's library does not tell its driver's release, so there
        // it is what the architecture came with.
        let hip = ur_conformance::below::Below::is_hip();
        if fixture.sim().is_some() {
            assert_eq!(line, if hip { "7.8" } else { "9.0" });
        }
    });
}

#[test]
fn kernels_tell_what_the_module_says_of_them() {
    any("kernels_tell_what_the_module_says_of_them", SCALE, || {
        let fixture = Fixture::new();
        let program = built(&fixture, "scale");
        let (scale, sized) = (fixture.kernel(&program, c"scale"), fixture.kernel(&program, c"sized"));
        let device = fixture.device();
        for (kernel, count) in [(&scale, 2u32), (&sized, 1)] {
            assert_eq!(query::get::<u32>(ask!(Kernel.pfnGetInfo(kernel.handle(), ur_kernel_info_t::NUM_ARGS))), count);
        }
        let required = ur_kernel_group_info_t::COMPILE_WORK_GROUP_SIZE;
        let of = |kernel| query::list::<usize>(ask!(Kernel.pfnGetGroupInfo(kernel, device, required)));
        assert_eq!((of(scale.handle()), of(sized.handle())), (vec![0, 0, 0], vec![8, 2, 1]));
        let size = ur_kernel_sub_group_info_t::SUB_GROUP_SIZE_INTEL;
        let of = |kernel| query::get::<u32>(ask!(Kernel.pfnGetSubGroupInfo(kernel, device, size)));
        assert_eq!((of(scale.handle()), of(sized.handle())), (0, 32));

        let (queue, out) = (fixture.in_order(), fixture.memory(Kind::Device, 128));
        let launch = Launch::new(&sized, &[8, 4]).pointer(out.pointer());
        launch.on(&queue);
        assert_eq!(out.read::<u32>(&queue, 32), (0..32).collect::<Vec<u32>>());
        let wrong = Launch::new(&sized, &[8, 4]).local(&[4, 4]).pointer(out.pointer());
        wrong.refused(&[Code::ERROR_INVALID_WORK_GROUP_SIZE], &queue);
        // An argument too few.
        Launch::new(&scale, &[1]).pointer(out.pointer()).refused(&[Code::ERROR_INVALID_KERNEL_ARGS], &queue);
    });
}

#[test]
fn variables_are_found_by_the_name_that_the_module_exports() {
    any("variables_are_found_by_the_name_that_the_module_exports", SCALE, || {
        let fixture = Fixture::new();
        let (program, queue) = (built(&fixture, "scale"), fixture.in_order());
        let (device, handle) = (fixture.device(), program.handle());
        let (mut size, mut pointer) = (0usize, null_mut());
        let name = c"weight".as_ptr();
        ok!(Program.pfnGetGlobalVariablePointer(device, handle, name, &raw mut size, &raw mut pointer));
        assert!(size == 4 && !pointer.is_null());
        let value = 5u32;
        let from = (&raw const value).cast();
        ok!(Enqueue.pfnDeviceGlobalVariableWrite(
            queue.handle(),
            handle,
            name,
            true.into(),
            4,
            0,
            from,
            0,
            null(),
            null_mut()
        ));
        expect_scaled(&fixture, &program, 3, 5);
        let mut function = null_mut();
        let of = |name: &CStr, out| ur!(Program.pfnGetFunctionPointer(device, handle, name.as_ptr(), out));
        let code = of(c"scale", &raw mut function);
        expect_code(code, &[Code::ERROR_FUNCTION_ADDRESS_NOT_AVAILABLE], "urProgramGetFunctionPointer");
        let code = of(c"no such", &raw mut function);
        expect_code(code, &[Code::ERROR_INVALID_KERNEL_NAME], "urProgramGetFunctionPointer");
    });
}

#[test]
fn build_options_reach_the_compiler_and_those_that_mean_nothing_are_in_the_log() {
    simulated("build_options_reach_the_compiler_and_those_that_mean_nothing_are_in_the_log", SCALE, |toolchain| {
        let fixture = Fixture::new();
        let program = unbuilt(&fixture, "scale");
        let options = c"-cl-opt-disable -cl-fast-relaxed-math -ze-nothing";
        ok!(Program.pfnBuild(fixture.context(), program.handle(), options.as_ptr()));
        let compiled = toolchain.compiled();
        assert_eq!(compiled, ["-arch=compute_90 -opt=0 -ftz=1 -prec-div=0 -prec-sqrt=0"]);
        let log = log(&fixture, &program);
        assert!(log.contains("-ze-nothing") && !log.contains("-cl-fast"), "{log}");
        let kept = query::text(ask!(Program.pfnGetBuildInfo(program.handle(), fixture.device(), build_info::OPTIONS)));
        assert_eq!(kept.as_bytes(), options.to_bytes());
        let open = unbuilt(&fixture, "scale");
        refused!(ERROR_INVALID_VALUE, Program.pfnBuild(fixture.context(), open.handle(), c"-I 'a".as_ptr()));
        ok!(Program.pfnBuild(fixture.context(), open.handle(), null()));
    });
}

fn constant<T>(id: u32, value: &T) -> ur_specialization_constant_info_t {
    ur_specialization_constant_info_t { id, size: size_of::<T>(), pValue: (&raw const *value).cast() }
}

fn set(program: &Program, constants: &[ur_specialization_constant_info_t]) -> Code {
    let count = u32::try_from(constants.len()).unwrap();
    ur!(Program.pfnSetSpecializationConstants(program.handle(), count, constants.as_ptr()))
}

#[test]
fn urProgramSetSpecializationConstants_changes_what_is_built() {
    simulated("urProgramSetSpecializationConstants_changes_what_is_built", SCALE, |toolchain| {
        let fixture = Fixture::new();
        let program = unbuilt(&fixture, "scale");
        // A number that the module does not have is passed over.
        let code = set(&program, &[constant(5, &4711u32), constant(77, &1u8)]);
        expect_code(code, &[Code::SUCCESS], "urProgramSetSpecializationConstants");
        ok!(Program.pfnBuild(fixture.context(), program.handle(), null()));
        assert!(toolchain.text().contains("4711"));
        // Another value is another program, for the cache too; the same value is the same.
        for (value, compilations) in [(4712u32, 2), (4711, 2)] {
            let program = unbuilt(&fixture, "scale");
            expect_code(set(&program, &[constant(5, &value)]), &[Code::SUCCESS], "constants");
            ok!(Program.pfnBuild(fixture.context(), program.handle(), null()));
            assert_eq!(toolchain.compiled().len(), compilations);
        }
    });
}

#[test]
fn urProgramSetSpecializationConstants_refuses_wrong_values_and_sets_none_then() {
    simulated("urProgramSetSpecializationConstants_refuses_wrong_values_and_sets_none_then", SCALE, |toolchain| {
        let fixture = Fixture::new();
        let program = unbuilt(&fixture, "scale");
        let wrong = set(&program, &[constant(5, &1u64)]);
        expect_code(wrong, &[Code::ERROR_INVALID_VALUE], "a value of another size");
        let words = ur_conformance::last_error();
        assert!(words.contains("constant 5") && words.contains("urProgramSetSpecialization"), "{words}");
        let null = ur_specialization_constant_info_t { id: 5, size: 4, pValue: null() };
        let code = set(&program, &[constant(5, &4711u32), null]);
        expect_code(code, &[Code::ERROR_INVALID_NULL_POINTER], "no value");
        ok!(Program.pfnBuild(fixture.context(), program.handle(), core::ptr::null()));
        assert!(!toolchain.text().contains("4711"));
        let code = set(&program, &[constant(5, &4711u32)]);
        expect_code(code, &[Code::ERROR_INVALID_OPERATION], "of a program that is built");
        let native = fixture.program("saxpy.ptx");
        let code = set(&native, &[constant(5, &4711u32)]);
        expect_code(code, &[Code::ERROR_UNSUPPORTED_FEATURE], "of device code");
    });
}

/// The program that was linked of `caller` and `callee` computes what both say.
fn expect_linked(fixture: &Fixture, linked: &Program) {
    assert_eq!(state(fixture, linked), (Status::SUCCESS, Type::EXECUTABLE));
    let (kernel, queue) = (fixture.kernel(linked, c"caller"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 4);
    Launch::new(&kernel, &[1]).pointer(out.pointer()).on(&queue);
    assert_eq!(out.read::<u32>(&queue, 1), [42]);
    assert_eq!(query::get::<u32>(ask!(Kernel.pfnGetInfo(kernel.handle(), ur_kernel_info_t::NUM_ARGS))), 1);
}

#[test]
fn urProgramLink_joins_modules() {
    any("urProgramLink_joins_modules", &["linked.ptx"], || {
        let fixture = Fixture::new();
        let (caller, callee) = (unbuilt(&fixture, "caller"), unbuilt(&fixture, "callee"));
        for half in [&caller, &callee] {
            ok!(Program.pfnCompile(fixture.context(), half.handle(), null()));
            assert_eq!(state(&fixture, half), (Status::SUCCESS, Type::COMPILED_OBJECT));
        }
        let (list, mut made) = ([caller.handle(), callee.handle()], null_mut());
        ok!(Program.pfnLink(fixture.context(), 2, list.as_ptr(), null(), &raw mut made));
        let linked = Program::take(made);
        expect_linked(&fixture, &linked);
        if let Some(file) = std::env::var_os("UR_TEST_WRITE_LINKED") {
            std::fs::write(file, image(&linked)).expect("a file");
        }
    });
}

#[test]
fn urProgramCompileExp_and_urProgramLinkExp_join_modules_for_the_devices_they_name() {
    any("urProgramCompileExp_and_urProgramLinkExp_join_modules_for_the_devices_they_name", &["linked.ptx"], || {
        let fixture = Fixture::new();
        let (caller, callee) = (unbuilt(&fixture, "caller"), unbuilt(&fixture, "callee"));
        let mut device = fixture.device();
        for half in [&caller, &callee] {
            ok!(ProgramExp.pfnCompileExp(half.handle(), 1, &raw mut device, Flags::empty(), null()));
            assert_eq!(state(&fixture, half), (Status::SUCCESS, Type::COMPILED_OBJECT));
        }
        let (list, mut made) = ([caller.handle(), callee.handle()], null_mut());
        let (devices, out) = (&raw mut device, &raw mut made);
        ok!(ProgramExp.pfnLinkExp(fixture.context(), 1, devices, Flags::empty(), 2, list.as_ptr(), null(), out));
        expect_linked(&fixture, &Program::take(made));
    });
}

#[test]
fn urProgramLink_joins_a_module_with_PTX_where_the_native_library_links() {
    any("urProgramLink_joins_a_module_with_PTX_where_the_native_library_links", &["caller.ptx"], || {
        let fixture = Fixture::new();
        let caller = unbuilt(&fixture, "caller");
        // A version that the drivers of CUDA 11.8 take, the first that know the architecture.
        let text = String::from_utf8(Environment::get().image("spirv/callee.ptx")).expect("PTX is text");
        let callee = fixture.unbuilt(text.replace(".version 9.5", ".version 7.8").as_bytes()).expect("PTX is an image");
        let (list, mut made) = ([caller.handle(), callee.handle()], null_mut());
        let answer = ur!(Program.pfnLink(fixture.context(), 2, list.as_ptr(), null(), &raw mut made));
        let links: ur_bool_t =
            query::get(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::LINKER_AVAILABLE)));
        if links == 0 {
            expect_code(answer, &[Code::ERROR_UNSUPPORTED_FEATURE], "urProgramLink");
            return;
        }
        expect_code(answer, &[Code::SUCCESS], "urProgramLink");
        let linked = Program::take(made);
        let (kernel, queue) = (fixture.kernel(&linked, c"caller"), fixture.in_order());
        let out = fixture.memory(Kind::Device, 4);
        Launch::new(&kernel, &[1]).pointer(out.pointer()).on(&queue);
        assert_eq!(out.read::<u32>(&queue, 1), [42]);
    });
}

#[test]
fn names_that_no_module_defines_are_told_by_link_and_build() {
    any("names_that_no_module_defines_are_told_by_link_and_build", &["linked.ptx"], || {
        let fixture = Fixture::new();
        let caller = unbuilt(&fixture, "caller");
        let (list, mut made) = ([caller.handle()], core::ptr::without_provenance_mut(0x5a));
        refused!(
            ERROR_PROGRAM_LINK_FAILURE,
            Program.pfnLink(fixture.context(), 1, list.as_ptr(), null(), &raw mut made)
        );
        assert!(made.is_null());
        let words = ur_conformance::last_error();
        assert!(words.contains("`factor`, `twice`"), "{words}");
        refused!(ERROR_PROGRAM_BUILD_FAILURE, Program.pfnBuild(fixture.context(), caller.handle(), null()));
        assert!(log(&fixture, &caller).contains("`factor`, `twice`"));
        assert_eq!(state(&fixture, &caller).0, Status::ERROR);
    });
}

#[test]
fn a_program_of_several_devices_is_compiled_once() {
    let toolchain = Toolchain::inherited().unwrap_or_else(|| Toolchain::new(SCALE));
    let mut variables = toolchain.variables();
    // Or the second device could find what the first has kept.
    variables.push(("UR_CACHE", "0".into()));
    child::in_process("a_program_of_several_devices_is_compiled_once", &variables, || {
        let fixture = Fixture::over_all_devices();
        let program = unbuilt(&fixture, "scale");
        let handle = program.handle();
        ok!(Program.pfnBuild(fixture.context(), handle, null()));
        // The simulated devices are alike.
        assert_eq!(toolchain.compiled().len(), 1);
        let sizes: Vec<usize> = query::list(ask!(Program.pfnGetInfo(handle, info::BINARY_SIZES)));
        assert!(sizes.len() == fixture.devices.len() && sizes.iter().all(|size| *size == sizes[0]));
        for &device in &fixture.devices {
            let status = query::get(ask!(Program.pfnGetBuildInfo(handle, device, build_info::STATUS)));
            assert_eq!(Status(status), Status::SUCCESS);
        }
        expect_scaled(&fixture, &program, 3, WEIGHT);
    });
}

fn text_of(fixture: &Fixture, property: ur_device_info_t) -> String {
    query::text(ask!(Device.pfnGetInfo(fixture.device(), property)))
}

#[test]
fn a_device_tells_that_it_takes_SPIR_V_where_libnvvm_is() {
    any("a_device_tells_that_it_takes_SPIR_V_where_libnvvm_is", SCALE, || {
        let fixture = Fixture::new();
        let versions = text_of(&fixture, ur_device_info_t::IL_VERSION);
        assert!(versions.starts_with("SPIR-V_1.0 ") && versions.ends_with(" SPIR-V_1.6"), "{versions}");
        let property = ur_device_info_t::PROGRAM_SET_SPECIALIZATION_CONSTANTS;
        let constants: ur_bool_t = query::get(ask!(Device.pfnGetInfo(fixture.device(), property)));
        assert_eq!(constants, 1);
    });
}

#[test]
fn urDeviceSelectBinary_leaves_spir64_images_to_others() {
    let fixture = Fixture::new();
    let select = |targets: &[&CStr]| {
        let list: Vec<ur_device_binary_t> = targets
            .iter()
            .map(|target| ur_device_binary_t { pDeviceTargetSpec: target.as_ptr(), ..Default::default() })
            .collect();
        let mut chosen = 77;
        let count = u32::try_from(list.len()).unwrap();
        let answer = ur!(Device.pfnSelectBinary(fixture.device(), list.as_ptr(), count, &raw mut chosen));
        (answer, chosen)
    };
    assert_eq!(select(&[c"spir64", c"nvptx64"]), (Code::SUCCESS, 1));
    assert_eq!(select(&[c"nvptx64", c"spir64"]), (Code::SUCCESS, 0));
    // libsycl would put an image that is taken into a kernel bundle, and refuse it there.
    assert_eq!(select(&[c"spir64"]), (Code::ERROR_INVALID_BINARY, 77));
    assert_eq!(select(&[c"spir64_x86_64", c"spir64"]), (Code::ERROR_INVALID_BINARY, 77));
}

#[test]
fn a_global_offset_is_compiled_for_when_a_launch_has_one() {
    let name = "a_global_offset_is_compiled_for_when_a_launch_has_one";
    simulated(name, &["moved.ptx", "moved_with_offset.ptx"], |toolchain| {
        let fixture = Fixture::new();
        let program = built(&fixture, "moved");
        let (kernel, queue) = (fixture.kernel(&program, c"moved"), fixture.in_order());
        let out = fixture.memory(Kind::Device, 40);
        out.write(&queue, &[0u32; 10]);
        for _ in 0..2 {
            Launch::new(&kernel, &[6]).offset(&[4]).pointer(out.pointer()).value(7u32).on(&queue);
            let expected: Vec<u32> = (4..10).map(|index| index * 3 + 7).collect();
            assert_eq!(out.read::<u32>(&queue, 10), [vec![0; 4], expected].concat());
        }
        assert_eq!(toolchain.compiled().len(), 2, "once without and once with it");
        Launch::new(&kernel, &[10]).pointer(out.pointer()).value(7u32).on(&queue);
        assert_eq!(out.read::<u32>(&queue, 10), (0..10).map(|index| index * 3 + 7).collect::<Vec<u32>>());
        // The launch outlives program and kernel.
        let event = Launch::new(&kernel, &[6]).offset(&[4]).pointer(out.pointer()).value(8u32).event_on(&queue);
        drop((kernel, program));
        event.wait();
        assert_eq!(out.read::<u32>(&queue, 10)[9], 27 + 8);
        // Work-group memory in a kernel that takes an offset.
        let program = built(&fixture, "moved");
        expect_reversed(&fixture, &program);
    });
}

/// Work-group memory in a kernel that takes an offset, more of it than kernels may have without being asked for.
fn expect_reversed(fixture: &Fixture, program: &Program) {
    let (kernel, queue) = (fixture.kernel(program, c"reverse"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 128);
    let launch = Launch::new(&kernel, &[32]).local(&[32]).offset(&[64]);
    launch.pointer(out.pointer()).arg(Arg::local(200 << 10)).on(&queue);
    assert_eq!(out.read::<u32>(&queue, 32), (0..32).rev().collect::<Vec<u32>>());
}

/// The image of a program with a variable has each kernel twice, and the second is the engine's.
#[test]
fn urKernelCreate_and_urProgramGetFunctionPointer_know_the_module_s_kernels_alone() {
    let name = "urKernelCreate_and_urProgramGetFunctionPointer_know_the_module_s_kernels_alone";
    simulated(name, SCALE, |_| {
        let fixture = Fixture::new();
        let program = built(&fixture, "scale");
        let (mut kernel, mut address) = (null_mut(), null_mut());
        let (p, variant) = (program.handle(), c"scale_with_offset".as_ptr());
        refused!(ERROR_INVALID_KERNEL_NAME, Kernel.pfnCreate(p, variant, &raw mut kernel));
        let device = fixture.device();
        refused!(ERROR_INVALID_KERNEL_NAME, Program.pfnGetFunctionPointer(device, p, variant, &raw mut address));
    });
}

#[test]
fn launches_with_and_without_a_global_offset_work_with_the_same_variables() {
    let name = "launches_with_and_without_a_global_offset_work_with_the_same_variables";
    simulated(name, SCALE, |toolchain| {
        let fixture = Fixture::new();
        let program = built(&fixture, "scale");
        let (kernel, queue) = (fixture.kernel(&program, c"scale"), fixture.in_order());
        let out = fixture.memory(Kind::Device, 40);
        let moved = |weight: u32| {
            Launch::new(&kernel, &[6]).offset(&[4]).pointer(out.pointer()).value(7u32).on(&queue);
            let expected: Vec<u32> = (4..10).map(|index| index * 3 + 7 + weight).collect();
            assert_eq!(out.read::<u32>(&queue, 10)[4..], expected);
        };
        moved(WEIGHT);
        let weight = 5u32;
        let value = (&raw const weight).cast();
        let name = c"weight".as_ptr();
        ok!(Enqueue.pfnDeviceGlobalVariableWrite(
            queue.handle(),
            program.handle(),
            name,
            true.into(),
            4,
            0,
            value,
            0,
            null(),
            null_mut()
        ));
        expect_scaled(&fixture, &program, 3, 5);
        moved(5);
        assert_eq!(toolchain.compiled().len(), 1, "either variant is in the program's image");
        expect_reversed(&fixture, &program);
    });
}
