//! `urProgramCompile`, `urProgramLink` and their kin for a list of devices.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    ur_device_info_t, ur_exp_program_flags_t as Flags, ur_kernel_group_info_t, ur_program_binary_type_t as Type,
    ur_program_build_info_t as build_info, ur_program_build_status_t as Status, ur_program_handle_t,
    ur_program_info_t as info, ur_program_metadata_t, ur_program_metadata_type_t, ur_program_metadata_value_t,
    ur_program_properties_t, ur_result_t as Code,
};
use ur_conformance::{Environment, Fixture, Kind, Launch, Program, ask, expect_code, ok, query, refused, ur};

fn unbuilt(fixture: &Fixture, image: &str) -> Program {
    fixture.unbuilt(&Environment::get().image(image)).expect("PTX is an image")
}

/// Whether the device says that it links. Where it does not, compiling and linking must answer so, which is checked.
fn supported(fixture: &Fixture) -> bool {
    let mut there: ur_conformance::ffi::ur_bool_t =
        query::get(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::LINKER_AVAILABLE)));
    let exp: ur_conformance::ffi::ur_bool_t =
        query::get(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::MULTI_DEVICE_COMPILE_SUPPORT_EXP)));
    assert_eq!(there, exp, "both linkers are the same");
    if there == 0 {
        let program = unbuilt(fixture, "saxpy.ptx");
        refused!(ERROR_UNSUPPORTED_FEATURE, Program.pfnCompile(fixture.context(), program.handle(), null()));
        let (list, mut made) = ([program.handle()], garbage());
        refused!(
            ERROR_UNSUPPORTED_FEATURE,
            Program.pfnLink(fixture.context(), 1, list.as_ptr(), null(), &raw mut made)
        );
        assert!(made.is_null());
        println!("skipped: the native library links nothing");
        there = 0;
    }
    there != 0
}

/// What an output held before.
fn garbage() -> ur_program_handle_t {
    core::ptr::without_provenance_mut(0x5a5a)
}

fn answer<T: query::Plain>(fixture: &Fixture, program: &Program, property: build_info) -> T {
    query::get(ask!(Program.pfnGetBuildInfo(program.handle(), fixture.device(), property)))
}

fn state(fixture: &Fixture, program: &Program) -> (Status, Type) {
    (Status(answer(fixture, program, build_info::STATUS)), Type(answer(fixture, program, build_info::BINARY_TYPE)))
}

fn compiled(fixture: &Fixture, image: &str) -> Program {
    let program = unbuilt(fixture, image);
    assert_eq!(state(fixture, &program), (Status::NONE, Type::NONE));
    ok!(Program.pfnCompile(fixture.context(), program.handle(), null()));
    assert_eq!(state(fixture, &program), (Status::SUCCESS, Type::COMPILED_OBJECT));
    program
}

fn link(fixture: &Fixture, programs: &[ur_program_handle_t]) -> (Code, ur_program_handle_t) {
    let mut made = garbage();
    let count = u32::try_from(programs.len()).unwrap();
    let answer = ur!(Program.pfnLink(fixture.context(), count, programs.as_ptr(), null(), &raw mut made));
    (answer, made)
}

fn expect_runs(fixture: &Fixture, program: &Program) {
    let (kernel, queue) = (fixture.kernel(program, c"call_far_away"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 4 * 100);
    Launch::new(&kernel, &[100]).pointer(out.pointer()).value(100u32).on(&queue);
    assert_eq!(out.read::<u32>(&queue, 100), (0..100).map(|i| 3 * i + 1).collect::<Vec<u32>>());
}

#[test]
fn urProgramLink_makes_one_program_of_two_that_lives_on_its_own() {
    let fixture = Fixture::new();
    if !supported(&fixture) {
        return;
    }
    let (caller, callee) = (compiled(&fixture, "link_caller.ptx"), compiled(&fixture, "link_callee.ptx"));
    let (answer, made) = link(&fixture, &[caller.handle(), callee.handle()]);
    expect_code(answer, &[Code::SUCCESS], "urProgramLink");
    let program = Program::take(made);
    assert_eq!([caller.release(), callee.release()], [Code::SUCCESS; 2]);
    assert_eq!(state(&fixture, &program), (Status::SUCCESS, Type::EXECUTABLE));
    expect_runs(&fixture, &program);
    let sizes: Vec<usize> = query::list(ask!(Program.pfnGetInfo(program.handle(), info::BINARY_SIZES)));
    assert!(sizes.len() == 1 && sizes[0] > 0, "{sizes:?}");
    // The linked image is an image.
    let mut image = vec![0u8; sizes[0]];
    let mut list = [image.as_mut_ptr()];
    ok!(Program.pfnGetInfo(program.handle(), info::BINARIES, 8, list.as_mut_ptr().cast(), null_mut()));
    let again = fixture.unbuilt(&image).expect("what a link made is an image");
    ok!(Program.pfnBuild(fixture.context(), again.handle(), null()));
    expect_runs(&fixture, &again);
}

/// Compilers say of an image what the linked one must keep.
#[test]
fn urProgramLink_keeps_the_metadata_of_its_programs() {
    let fixture = Fixture::new();
    if !supported(&fixture) {
        return;
    }
    // A byte array as compilers write it: its size in 8 bytes, then the sizes of a work-group.
    let value = [8u64.to_le_bytes().as_slice(), &20u32.to_le_bytes(), &1u32.to_le_bytes()].concat();
    let entry = ur_program_metadata_t {
        pName: c"call_far_away@reqd_work_group_size".as_ptr(),
        type_: ur_program_metadata_type_t::BYTE_ARRAY,
        size: value.len(),
        value: ur_program_metadata_value_t { pData: value.as_ptr().cast_mut().cast() },
    };
    let properties = ur_program_properties_t { count: 1, pMetadatas: &raw const entry, ..Default::default() };
    let caller = fixture.unbuilt_with(&Environment::get().image("link_caller.ptx"), &raw const properties);
    let (caller, callee) = (caller.expect("PTX is an image"), compiled(&fixture, "link_callee.ptx"));
    ok!(Program.pfnCompile(fixture.context(), caller.handle(), null()));
    let (answer, made) = link(&fixture, &[callee.handle(), caller.handle()]);
    expect_code(answer, &[Code::SUCCESS], "urProgramLink");
    let program = Program::take(made);
    let kernel = fixture.kernel(&program, c"call_far_away");
    let property = ur_kernel_group_info_t::COMPILE_WORK_GROUP_SIZE;
    let told: Vec<usize> = query::list(ask!(Kernel.pfnGetGroupInfo(kernel.handle(), fixture.device(), property)));
    assert_eq!(told, [20, 1, 1]);
    expect_runs(&fixture, &program);
}

#[test]
fn urProgramLink_tells_what_is_missing_and_sets_its_output_to_null() {
    let fixture = Fixture::new();
    if !supported(&fixture) {
        return;
    }
    let caller = compiled(&fixture, "link_caller.ptx");
    let (answer, made) = link(&fixture, &[caller.handle()]);
    expect_code(answer, &[Code::ERROR_PROGRAM_LINK_FAILURE], "urProgramLink");
    assert!(made.is_null());
    let words = ur_conformance::last_error();
    assert!(words.contains("far_away"), "the message names the symbol: {words}");
    let (mut device, list, mut made) = (fixture.device(), [caller.handle()], garbage());
    let (devices, out) = (&raw mut device, &raw mut made);
    let c = fixture.context();
    let answer = ur!(ProgramExp.pfnLinkExp(c, 1, devices, Flags::empty(), 1, list.as_ptr(), null(), out));
    expect_code(answer, &[Code::ERROR_PROGRAM_LINK_FAILURE], "urProgramLinkExp");
    assert!(made.is_null());
    let callee = compiled(&fixture, "link_callee.ptx");
    let (answer, made) = link(&fixture, &[callee.handle(), callee.handle(), caller.handle()]);
    expect_code(answer, &[Code::ERROR_PROGRAM_LINK_FAILURE], "urProgramLink of a symbol twice");
    assert!(made.is_null());
}

#[test]
fn urProgramCompile_keeps_the_compiler_s_words_and_may_be_tried_again() {
    let fixture = Fixture::new();
    if !supported(&fixture) {
        return;
    }
    let mut image = Environment::get().image("saxpy.ptx");
    let at = image.windows(4).position(|part| part == b"fma.").expect("saxpy multiplies and adds");
    image[at..at + 4].copy_from_slice(b"fmx.");
    let broken = fixture.unbuilt(&image).expect("the text is whole");
    for _ in 0..2 {
        refused!(ERROR_PROGRAM_BUILD_FAILURE, Program.pfnCompile(fixture.context(), broken.handle(), c"-O2".as_ptr()));
        assert_eq!(state(&fixture, &broken).0, Status::ERROR);
        let ask = |property| query::text(ask!(Program.pfnGetBuildInfo(broken.handle(), fixture.device(), property)));
        assert!(!ask(build_info::LOG).is_empty());
        assert_eq!(ask(build_info::OPTIONS), "-O2");
    }
}

#[test]
fn a_compiled_program_can_be_built_and_a_built_one_not_compiled() {
    let fixture = Fixture::new();
    if !supported(&fixture) {
        return;
    }
    let program = compiled(&fixture, "saxpy.ptx");
    let mut kernel = null_mut();
    refused!(ERROR_INVALID_PROGRAM_EXECUTABLE, Kernel.pfnCreate(program.handle(), c"saxpy".as_ptr(), &raw mut kernel));
    ok!(Program.pfnBuild(fixture.context(), program.handle(), null()));
    assert_eq!(state(&fixture, &program), (Status::SUCCESS, Type::EXECUTABLE));
    drop(fixture.kernel(&program, c"saxpy"));
    refused!(ERROR_INVALID_OPERATION, Program.pfnCompile(fixture.context(), program.handle(), null()));
}

#[test]
fn urProgramLink_and_urProgramLinkExp_set_their_output_to_null_when_they_refuse_an_argument() {
    let fixture = Fixture::new();
    let program = unbuilt(&fixture, "saxpy.ptx");
    let other = fixture.context_of(&[fixture.device()]);
    let (list, nobody) = ([program.handle()], [null_mut()]);
    let (context, programs) = (fixture.context(), list.as_ptr());
    let of_null = |code: Code, call: &str, link: &dyn Fn(*mut ur_program_handle_t) -> Code| {
        let mut made = garbage();
        expect_code(link(&raw mut made), &[code], call);
        assert!(made.is_null(), "{call} left {made:p}, {code:?}");
    };
    let link = |code, context, count, programs| {
        of_null(code, "urProgramLink", &|out| ur!(Program.pfnLink(context, count, programs, null(), out)));
    };
    link(Code::ERROR_INVALID_SIZE, context, 0, programs);
    link(Code::ERROR_INVALID_NULL_POINTER, context, 1, null());
    link(Code::ERROR_INVALID_PROGRAM, other.handle(), 1, programs);
    link(Code::ERROR_INVALID_NULL_HANDLE, context, 1, nobody.as_ptr());
    refused!(ERROR_INVALID_NULL_POINTER, Program.pfnLink(context, 1, programs, null(), null_mut()));
    refused!(ERROR_INVALID_CONTEXT, Program.pfnCompile(other.handle(), program.handle(), null()));

    let mut device = fixture.device();
    let devices = &raw mut device;
    let (none, unknown) = (Flags::empty(), Flags::from_bits_retain(1 << 30));
    let link = |code, devices, device_count, flags, count, programs| {
        of_null(code, "urProgramLinkExp", &|out| {
            ur!(ProgramExp.pfnLinkExp(context, device_count, devices, flags, count, programs, null(), out))
        });
    };
    link(Code::ERROR_INVALID_ENUMERATION, devices, 1, unknown, 1, programs);
    link(Code::ERROR_INVALID_SIZE, devices, 0, none, 1, programs);
    link(Code::ERROR_INVALID_SIZE, devices, 1, none, 0, programs);
    link(Code::ERROR_INVALID_NULL_POINTER, null_mut(), 1, none, 1, programs);
    link(Code::ERROR_INVALID_NULL_POINTER, devices, 1, none, 1, null());
    link(Code::ERROR_INVALID_NULL_HANDLE, devices, 1, none, 1, nobody.as_ptr());
}

#[test]
fn urProgramBuildExp_builds_for_the_devices_listed_and_no_others() {
    let fixture = Fixture::over_all_devices();
    let image = Environment::get().image("saxpy.ptx");
    let mut devices = fixture.devices.clone();
    let count = u32::try_from(devices.len()).unwrap();
    let (mut lengths, mut images) = (vec![image.len(); devices.len()], vec![image.as_ptr(); devices.len()]);
    let mut program = null_mut();
    ok!(Program.pfnCreateWithBinary(
        fixture.context(),
        count,
        devices.as_mut_ptr(),
        lengths.as_mut_ptr(),
        images.as_mut_ptr(),
        null(),
        &raw mut program
    ));
    let program = Program::take(program);
    let handle = program.handle();
    let status = |device| Status(query::get(ask!(Program.pfnGetBuildInfo(handle, device, build_info::STATUS))));
    let build = |devices: &mut [_]| {
        let count = u32::try_from(devices.len()).unwrap();
        ur!(ProgramExp.pfnBuildExp(handle, count, devices.as_mut_ptr(), Flags::empty(), null()))
    };
    let last = devices.len() - 1;
    expect_code(build(&mut devices[last..]), &[Code::SUCCESS], "urProgramBuildExp");
    assert_eq!(status(devices[last]), Status::SUCCESS);
    for &device in &devices[..last] {
        assert_eq!(status(device), Status::NONE, "a device that was not listed");
    }
    let answer = build(&mut devices[last..]);
    expect_code(answer, &[Code::ERROR_INVALID_OPERATION], "urProgramBuildExp of what is built");
    if last > 0 {
        expect_code(build(&mut devices[..last]), &[Code::SUCCESS], "urProgramBuildExp of the others");
        assert!(devices.iter().all(|&device| status(device) == Status::SUCCESS));
    }
    expect_code(build(&mut []), &[Code::ERROR_INVALID_SIZE], "urProgramBuildExp of no device");
    refused!(ERROR_INVALID_NULL_POINTER, ProgramExp.pfnBuildExp(handle, 1, null_mut(), Flags::empty(), null()));
    let unknown = Flags::from_bits_retain(1 << 30);
    refused!(ERROR_INVALID_ENUMERATION, ProgramExp.pfnBuildExp(handle, 1, devices.as_mut_ptr(), unknown, null()));
    let open = Flags::ALLOW_UNRESOLVED_SYMBOLS;
    refused!(ERROR_UNSUPPORTED_FEATURE, ProgramExp.pfnBuildExp(handle, 1, devices.as_mut_ptr(), open, null()));
}

#[test]
fn urProgramCompileExp_and_urProgramLinkExp_do_what_their_older_kin_do() {
    let fixture = Fixture::new();
    if !supported(&fixture) {
        return;
    }
    let programs = [unbuilt(&fixture, "link_caller.ptx"), unbuilt(&fixture, "link_callee.ptx")];
    let mut device = fixture.device();
    for program in &programs {
        ok!(ProgramExp.pfnCompileExp(program.handle(), 1, &raw mut device, Flags::empty(), null()));
        assert_eq!(state(&fixture, program), (Status::SUCCESS, Type::COMPILED_OBJECT));
    }
    let list = [programs[0].handle(), programs[1].handle()];
    let mut made = null_mut();
    let (devices, out) = (&raw mut device, &raw mut made);
    ok!(ProgramExp.pfnLinkExp(fixture.context(), 1, devices, Flags::empty(), 2, list.as_ptr(), null(), out));
    expect_runs(&fixture, &Program::take(made));
}

#[test]
fn urProgramDynamicLinkExp_says_that_modules_are_linked_when_they_are_loaded() {
    let fixture = Fixture::new();
    let there: ur_conformance::ffi::ur_bool_t =
        query::get(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::DYNAMIC_LINK_SUPPORT_EXP)));
    if there != 0 {
        println!("skipped: supported");
        return;
    }
    let program = fixture.program("saxpy.ptx");
    let list = [program.handle()];
    let context = fixture.context();
    refused!(ERROR_UNSUPPORTED_FEATURE, ProgramExp.pfnDynamicLinkExp(context, 1, list.as_ptr()));
    refused!(ERROR_INVALID_SIZE, ProgramExp.pfnDynamicLinkExp(context, 0, list.as_ptr()));
    refused!(ERROR_INVALID_NULL_POINTER, ProgramExp.pfnDynamicLinkExp(context, 1, null()));
}
