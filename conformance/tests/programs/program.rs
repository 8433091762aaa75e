//! `urProgram*`: images good and bad, building, and what a program says of itself.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::CStr;
use core::ptr::{null, null_mut};
use std::sync::mpsc::channel;
use std::time::Duration;

use ur_conformance::ffi::{
    ur_program_binary_type_t, ur_program_build_info_t as build_info, ur_program_build_status_t as Status,
    ur_program_info_t as info, ur_program_properties_t, ur_result_t as Code,
};
use ur_conformance::sim::status as status_of;
use ur_conformance::{
    Environment, Fixture, Kind, Launch, Program, ask, check_every_property, expect_code, needs_sim, ok, query, refused,
    ur,
};

/// So long a call may take that must not wait, at most.
const PATIENCE: Duration = Duration::from_secs(10);

fn build(fixture: &Fixture, program: &Program) -> Code {
    ur!(Program.pfnBuild(fixture.context(), program.handle(), null()))
}

fn log(fixture: &Fixture, program: &Program) -> String {
    query::text(ask!(Program.pfnGetBuildInfo(program.handle(), fixture.device(), build_info::LOG)))
}

fn status(fixture: &Fixture, program: &Program) -> Status {
    Status(query::get(ask!(Program.pfnGetBuildInfo(program.handle(), fixture.device(), build_info::STATUS))))
}

fn saxpy_runs(fixture: &Fixture, program: &Program) {
    let queue = fixture.in_order();
    let kernel = fixture.kernel(program, c"saxpy");
    let (x, y) = (fixture.memory(Kind::Device, 4000), fixture.memory(Kind::Device, 4000));
    let values: Vec<f32> = (0..1000u16).map(f32::from).collect();
    x.write(&queue, &values);
    y.write(&queue, &vec![1.0f32; 1000]);
    Launch::new(&kernel, &[1000]).value(2.0f32).pointer(x.pointer()).pointer(y.pointer()).value(1000u32).on(&queue);
    let found = y.read::<f32>(&queue, 1000);
    assert!(found.iter().zip(&values).all(|(&found, &x)| found == 2.0f32.mul_add(x, 1.0)));
}

#[test]
fn urProgramBuild_makes_PTX_text_into_code_that_runs() {
    let fixture = Fixture::new();
    let program = fixture.program("saxpy.ptx");
    assert_eq!(status(&fixture, &program), Status::SUCCESS);
    saxpy_runs(&fixture, &program);
}

#[test]
fn urProgramBuild_takes_PTX_with_and_without_a_NUL_at_its_end() {
    let fixture = Fixture::new();
    let mut image = Environment::get().image("saxpy.ptx");
    while image.last() == Some(&0) {
        image.pop();
    }
    for _ in 0..2 {
        let program = fixture.unbuilt(&image).expect("PTX is an image");
        assert_eq!(build(&fixture, &program), Code::SUCCESS, "{}", log(&fixture, &program));
        image.push(0);
    }
}

#[test]
fn urProgramCreateWithBinary_copies_the_image() {
    let fixture = Fixture::new();
    let mut image = Environment::get().image("saxpy.ptx");
    let program = fixture.unbuilt(&image).expect("PTX is an image");
    image.fill(b'!');
    drop(image);
    assert_eq!(build(&fixture, &program), Code::SUCCESS);
    saxpy_runs(&fixture, &program);
}

#[test]
fn urProgramBuild_takes_fat_binaries_compressed_and_not() {
    let fixture = Fixture::new();
    for name in ["fatbin/saxpy.plain.fatbin", "fatbin/saxpy.fatbin", "fatbin/saxpy.speed.fatbin"] {
        let program = fixture.program(name);
        saxpy_runs(&fixture, &program);
    }
}

/// Machine code runs on its own hardware alone; the simulated driver has none.
#[test]
fn urProgramBuild_of_machine_code_runs_on_its_hardware_and_says_why_it_does_not_elsewhere() {
    let fixture = Fixture::new();
    let program = fixture.unbuilt(&Environment::get().image("cubin/saxpy.sm_90.cubin")).expect("a whole image");
    let property = ur_conformance::ffi::ur_device_info_t::VERSION;
    let version = query::text(ask!(Device.pfnGetInfo(fixture.device(), property)));
    if fixture.sim().is_none() && version == "9.0" {
        assert_eq!(build(&fixture, &program), Code::SUCCESS);
        saxpy_runs(&fixture, &program);
    } else {
        let code = build(&fixture, &program);
        expect_code(code, &[Code::ERROR_PROGRAM_BUILD_FAILURE, Code::ERROR_INVALID_BINARY], "a foreign cubin");
        assert!(!log(&fixture, &program).is_empty());
        assert!(!ur_conformance::last_error().is_empty());
    }
}

const BROKEN: &str = "//
.version 7.0
.target sm_70
.address_size 64
.visible .entry broken()
{
    .reg .b32 %r<2>;
    no.such.instruction %r1;
    ret;
}
";

#[test]
fn urProgramBuild_of_a_syntax_error_fails_and_the_build_log_names_the_line() {
    let fixture = Fixture::new();
    let program = fixture.unbuilt(BROKEN.as_bytes()).expect("text that begins like PTX is an image");
    assert_eq!(status(&fixture, &program), Status::NONE);
    for _ in 0..2 {
        assert_eq!(build(&fixture, &program), Code::ERROR_PROGRAM_BUILD_FAILURE);
        let log = log(&fixture, &program);
        assert!(log.contains("line 8"), "{log}");
        assert_eq!(status(&fixture, &program), Status::ERROR);
    }
    let message = ur_conformance::last_error();
    assert!(message.contains("line 8"), "the message has the log: {message}");
    let mut kernel = null_mut();
    refused!(ERROR_INVALID_PROGRAM_EXECUTABLE, Kernel.pfnCreate(program.handle(), c"broken".as_ptr(), &raw mut kernel));
    assert!(kernel.is_null());
}

#[test]
fn urProgramCreateWithBinary_refuses_truncated_images_wherever_they_end() {
    let fixture = Fixture::new();
    for name in ["fatbin/saxpy.plain.fatbin", "fatbin/saxpy.fatbin", "cubin/saxpy.sm_90.cubin"] {
        let image = Environment::get().image(name);
        let ends = (0..64).chain((64..image.len()).step_by(97)).chain([image.len() - 1]);
        for end in ends.filter(|&end| end < image.len()) {
            // A copy of its own, so that reading past the end is out of bounds.
            let part: Box<[u8]> = image[..end].into();
            match fixture.unbuilt(&part) {
                Err(code) => expect_code(
                    code,
                    &[Code::ERROR_INVALID_BINARY, Code::ERROR_INVALID_NATIVE_BINARY, Code::ERROR_INVALID_SIZE],
                    name,
                ),
                Ok(_) => panic!("{name} cut at {end} of {} bytes is taken for whole", image.len()),
            }
            assert!(!ur_conformance::last_error().is_empty());
        }
    }
}

#[test]
fn urProgramCreateWithBinary_refuses_garbage_or_its_build_fails() {
    let fixture = Fixture::new();
    let bad = [Code::ERROR_INVALID_BINARY, Code::ERROR_INVALID_NATIVE_BINARY, Code::ERROR_INVALID_SIZE];
    let random = ur_conformance::memory::pattern(1, 4096);
    let foreign = std::fs::read(std::env::current_exe().expect("a path")).expect("this test's own program");
    let images: [(&str, &[u8]); 6] = [
        ("no bytes", b""),
        ("one NUL", b"\0"),
        ("text", b"this is no device image"),
        ("random bytes", &random),
        ("a host program", &foreign[..foreign.len().min(1 << 16)]),
        ("an ELF header alone", b"\x7fELF"),
    ];
    for (name, image) in images {
        match fixture.unbuilt(image) {
            Err(code) => expect_code(code, &bad, name),
            Ok(program) => {
                let code = build(&fixture, &program);
                assert_eq!(code, Code::ERROR_PROGRAM_BUILD_FAILURE, "{name}");
                assert!(!log(&fixture, &program).is_empty(), "{name}");
            }
        }
    }
}

#[test]
fn urProgramCreateWithBinary_refuses_bad_lists() {
    let fixture = Fixture::new();
    let image = Environment::get().image("saxpy.ptx");
    let (mut devices, mut lengths) = ([fixture.device(); 2], [image.len(); 2]);
    let mut images = [image.as_ptr(); 2];
    let mut program = null_mut();
    let (c, d, l, i, out) =
        (fixture.context(), devices.as_mut_ptr(), lengths.as_mut_ptr(), images.as_mut_ptr(), &raw mut program);
    refused!(ERROR_INVALID_SIZE, Program.pfnCreateWithBinary(c, 0, d, l, i, null(), out));
    refused!(ERROR_INVALID_NULL_POINTER, Program.pfnCreateWithBinary(c, 1, null_mut(), l, i, null(), out));
    refused!(ERROR_INVALID_NULL_POINTER, Program.pfnCreateWithBinary(c, 1, d, null_mut(), i, null(), out));
    refused!(ERROR_INVALID_NULL_POINTER, Program.pfnCreateWithBinary(c, 1, d, l, null_mut(), null(), out));
    refused!(ERROR_INVALID_NULL_POINTER, Program.pfnCreateWithBinary(c, 1, d, l, i, null(), null_mut()));
    refused!(ERROR_INVALID_DEVICE | ERROR_INVALID_VALUE, Program.pfnCreateWithBinary(c, 2, d, l, i, null(), out));
    let properties = ur_program_properties_t { count: 1, ..Default::default() };
    let given = &raw const properties;
    refused!(ERROR_INVALID_NULL_POINTER, Program.pfnCreateWithBinary(c, 1, d, l, i, given, out));
    let mut none = [core::ptr::null(); 1];
    let missing = none.as_mut_ptr();
    refused!(ERROR_INVALID_NULL_POINTER, Program.pfnCreateWithBinary(c, 1, d, l, missing, null(), out));
    if let Some(&other) = fixture.devices.get(1) {
        let mut foreign = [other];
        let d = foreign.as_mut_ptr();
        refused!(ERROR_INVALID_DEVICE, Program.pfnCreateWithBinary(c, 1, d, l, i, null(), out));
    }
    assert!(program.is_null());
}

#[test]
fn urProgramBuild_a_second_time_is_an_invalid_operation_and_changes_nothing() {
    let fixture = Fixture::new();
    let program = fixture.program("saxpy.ptx");
    assert_eq!(build(&fixture, &program), Code::ERROR_INVALID_OPERATION);
    assert_eq!(status(&fixture, &program), Status::SUCCESS);
    saxpy_runs(&fixture, &program);
}

#[test]
fn urProgramBuild_refuses_another_context_and_options_that_do_not_end() {
    let fixture = Fixture::new();
    let other = fixture.context_of(&fixture.devices[..1]);
    let program = fixture.unbuilt(&Environment::get().image("saxpy.ptx")).expect("PTX is an image");
    refused!(ERROR_INVALID_CONTEXT | ERROR_INVALID_PROGRAM, Program.pfnBuild(other.handle(), program.handle(), null()));
    let open = c"-I \"never closed".as_ptr();
    refused!(ERROR_INVALID_VALUE, Program.pfnBuild(fixture.context(), program.handle(), open));
    assert_eq!(status(&fixture, &program), Status::NONE);
    assert_eq!(build(&fixture, &program), Code::SUCCESS);
}

#[test]
fn urProgramBuild_for_every_device_of_a_context() {
    let fixture = Fixture::over_all_devices();
    let image = Environment::get().image("basic.ptx");
    let mut devices = fixture.devices.clone();
    let mut lengths = vec![image.len(); devices.len()];
    let mut images = vec![image.as_ptr(); devices.len()];
    let count = u32::try_from(devices.len()).expect("few");
    let mut program = null_mut();
    let (d, l, i) = (devices.as_mut_ptr(), lengths.as_mut_ptr(), images.as_mut_ptr());
    ok!(Program.pfnCreateWithBinary(fixture.context(), count, d, l, i, null(), &raw mut program));
    let program = Program::take(program);
    ok!(Program.pfnBuild(fixture.context(), program.handle(), c"".as_ptr()));
    let kernel = fixture.kernel(&program, c"iota");
    for &device in &fixture.devices {
        let queue = fixture.queue_in(fixture.context(), device, Default::default());
        let out = fixture.memory(Kind::Host, 400);
        Launch::new(&kernel, &[100]).pointer(out.pointer()).value(100u32).on(&queue);
        queue.finish();
        assert!((0..100).all(|index| out.load(index) == index as u32));
    }
    let listed: Vec<*mut _> = query::list(ask!(Program.pfnGetInfo(program.handle(), info::DEVICES)));
    assert_eq!(listed, fixture.devices);
}

/// A program of `basic.ptx` for every device.
fn for_all_devices(fixture: &Fixture) -> Program {
    let (image, count) = (Environment::get().image("basic.ptx"), fixture.devices.len());
    let mut devices = fixture.devices.clone();
    let (mut lengths, mut images) = (vec![image.len(); count], vec![image.as_ptr(); count]);
    let (d, l, i) = (devices.as_mut_ptr(), lengths.as_mut_ptr(), images.as_mut_ptr());
    let mut program = null_mut();
    ok!(Program.pfnCreateWithBinary(fixture.context(), count as u32, d, l, i, null(), &raw mut program));
    Program::take(program)
}

/// Everything that is told of the first device's image.
fn told(fixture: &Fixture, program: &Program) -> (Status, String, String, u32) {
    let (handle, device) = (program.handle(), fixture.device());
    let options = query::text(ask!(Program.pfnGetBuildInfo(handle, device, build_info::OPTIONS)));
    let kind: u32 = query::get(ask!(Program.pfnGetBuildInfo(handle, device, build_info::BINARY_TYPE)));
    (status(fixture, program), log(fixture, program), options, kind)
}

#[test]
fn urProgramBuild_that_fails_for_one_of_several_devices_builds_for_none_and_can_be_repeated() {
    let fixture = Fixture::over_all_devices();
    let sim = needs_sim!(fixture);
    let (program, count) = (for_all_devices(&fixture), fixture.devices.len());
    // Whatever comes of it where native images are not compiled first, it is told again afterwards.
    let _ = ur!(Program.pfnCompile(fixture.context(), program.handle(), c"-lineinfo".as_ptr()));
    let before = told(&fixture, &program);
    sim.fail("cuModuleLoadDataEx", count as u64, status_of::UNKNOWN);
    let answer = build(&fixture, &program);
    sim.clear_faults();
    assert_ne!(answer, Code::SUCCESS);
    if count > 1 {
        assert_eq!(told(&fixture, &program), before);
    }
    assert_eq!(build(&fixture, &program), Code::SUCCESS);
    let kernel = fixture.kernel(&program, c"empty");
    for &device in &fixture.devices {
        let queue = fixture.queue_in(fixture.context(), device, Default::default());
        Launch::new(&kernel, &[1]).on(&queue);
        queue.finish();
    }
}

/// The first device's module is loaded behind a relief, and goes because of the second device.
#[test]
fn urProgramBuild_that_is_taken_back_tells_what_was_told_before_though_a_module_first_found_no_memory() {
    let fixture = Fixture::over_all_devices();
    let sim = needs_sim!(fixture);
    if fixture.devices.len() < 2 {
        println!("skipped: needs two devices");
        return;
    }
    let program = for_all_devices(&fixture);
    let before = told(&fixture, &program);
    sim.fail("cuModuleLoadDataEx", 1, status_of::OUT_OF_MEMORY);
    sim.fail("cuModuleLoadDataEx", 3, status_of::UNKNOWN);
    let answer = build(&fixture, &program);
    sim.clear_faults();
    assert_ne!(answer, Code::SUCCESS);
    assert_eq!(told(&fixture, &program), before);
    assert_eq!(build(&fixture, &program), Code::SUCCESS);
}

#[test]
fn urProgramGetBuildInfo_STATUS_tells_that_a_module_is_being_loaded_and_does_not_wait_for_it() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let image = Environment::get().image("saxpy.ptx");
    let program = fixture.unbuilt(&image).expect("a program");
    let before = fixture.program("saxpy.ptx");
    std::thread::scope(|scope| {
        let loads = sim.hold_calls("cuModuleLoadDataEx");
        let building = scope.spawn(|| build(&fixture, &program));
        loads.wait_for_one(|| building.is_finished());
        let (told, answers) = channel();
        let (fixture, program) = (&fixture, &program);
        scope.spawn(move || told.send(status(fixture, program)));
        let answer = answers.recv_timeout(PATIENCE);
        drop(loads);
        assert_eq!(answer, Ok(Status::IN_PROGRESS));
        assert_eq!(building.join().expect("a build"), Code::SUCCESS);
    });
    [&before, &program].into_iter().for_each(|program| saxpy_runs(&fixture, program));
}

#[test]
fn urProgramGetInfo_answers_every_property_by_the_rules() {
    let fixture = Fixture::new();
    let program = fixture.program("basic.ptx");
    let handle = program.handle();
    for &property in info::VALUES {
        // A list of buffers to be filled, which has its own test.
        if property != info::BINARIES {
            let name = format!("{property:?}");
            // Intermediate language is bytes and no text, though its type says `char`.
            let value_type = property.value_type().filter(|_| property != info::IL);
            query::check(query::Rules::new(&name, value_type), ask!(Program.pfnGetInfo(handle, property)));
        }
    }
    assert_eq!(query::get::<*mut _>(ask!(Program.pfnGetInfo(handle, info::CONTEXT))), fixture.context());
    assert_eq!(query::get::<u32>(ask!(Program.pfnGetInfo(handle, info::NUM_DEVICES))), 1);
}

#[test]
fn urProgramGetInfo_BINARIES_gives_the_image_back() {
    let fixture = Fixture::new();
    let image = Environment::get().image("saxpy.ptx");
    let program = fixture.unbuilt(&image).expect("PTX is an image");
    let sizes: Vec<usize> = query::list(ask!(Program.pfnGetInfo(program.handle(), info::BINARY_SIZES)));
    assert_eq!(sizes, [image.len()]);
    let mut bytes = vec![0u8; sizes[0]];
    let mut buffers = [bytes.as_mut_ptr()];
    let size = size_of_val(&buffers);
    ok!(Program.pfnGetInfo(program.handle(), info::BINARIES, size, buffers.as_mut_ptr().cast(), null_mut()));
    assert!(bytes == image);
    refused!(
        ERROR_INVALID_SIZE,
        Program.pfnGetInfo(program.handle(), info::BINARIES, size - 1, buffers.as_mut_ptr().cast(), null_mut())
    );
}

#[test]
fn urProgramGetBuildInfo_answers_every_property_by_the_rules() {
    let fixture = Fixture::new();
    let program = fixture.unbuilt(&Environment::get().image("basic.ptx")).expect("PTX is an image");
    let handle = program.handle();
    let kind = || {
        let ask: query::Ask<'_> = ask!(Program.pfnGetBuildInfo(handle, fixture.device(), build_info::BINARY_TYPE));
        ur_program_binary_type_t(query::get(ask))
    };
    check_every_property!(ur_program_build_info_t, &[], Program.pfnGetBuildInfo(handle, fixture.device()));
    assert_eq!(kind(), ur_program_binary_type_t::NONE);
    let options: &CStr = c"-O3";
    ok!(Program.pfnBuild(fixture.context(), handle, options.as_ptr()));
    check_every_property!(ur_program_build_info_t, &[], Program.pfnGetBuildInfo(handle, fixture.device()));
    assert_eq!(kind(), ur_program_binary_type_t::EXECUTABLE);
    let told = query::text(ask!(Program.pfnGetBuildInfo(handle, fixture.device(), build_info::OPTIONS)));
    assert_eq!(told, "-O3");
    if let Some(&other) = fixture.devices.get(1) {
        let mut size = 0;
        let log = build_info::LOG;
        refused!(ERROR_INVALID_DEVICE, Program.pfnGetBuildInfo(handle, other, log, 0, null_mut(), &raw mut size));
    }
}

#[test]
fn urProgramRelease_leaves_the_code_of_its_kernels_loaded() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let program = fixture.program("basic.ptx");
    let references = || query::get::<u32>(ask!(Program.pfnGetInfo(program.handle(), info::REFERENCE_COUNT)));
    assert_eq!(references(), 1);
    ok!(Program.pfnRetain(program.handle()));
    assert_eq!(references(), 2);
    ok!(Program.pfnRelease(program.handle()));
    let kernel = fixture.kernel(&program, c"iota");
    drop(program);
    let out = fixture.memory(Kind::Host, 40);
    Launch::new(&kernel, &[10]).pointer(out.pointer()).value(10u32).on(&queue);
    queue.finish();
    assert_eq!(out.load(9), 9);
}
