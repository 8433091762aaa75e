//! What is wrong with a module or with libnvvm: the code, and words that name the place or the remedy.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};
use std::ffi::OsString;

use ur_conformance::ffi::{
    ur_device_info_t, ur_program_build_info_t as build_info, ur_program_build_status_t as Status, ur_result_t as Code,
};
use ur_conformance::{Fixture, Program, ask, child, expect_code, last_error, ok, query, refused, ur};

use crate::toolchain::{any, module, simulated, unbuilt};

const SCALE: &[&str] = &["scale.ptx"];

fn create(fixture: &Fixture, bytes: &[u8]) -> Result<Program, Code> {
    let mut program = null_mut();
    let answer =
        ur!(Program.pfnCreateWithIL(fixture.context(), bytes.as_ptr().cast(), bytes.len(), null(), &raw mut program));
    assert_eq!(program.is_null(), answer != Code::SUCCESS);
    if answer == Code::SUCCESS { Ok(Program::take(program)) } else { Err(answer) }
}

fn log(fixture: &Fixture, program: &Program) -> String {
    query::text(ask!(Program.pfnGetBuildInfo(program.handle(), fixture.device(), build_info::LOG)))
}

/// A build that fails with this code and leaves nothing but its log.
#[track_caller]
fn fails(fixture: &Fixture, program: &Program, code: Code) -> String {
    let answer = ur!(Program.pfnBuild(fixture.context(), program.handle(), null()));
    expect_code(answer, &[code], "urProgramBuild");
    let status = query::get(ask!(Program.pfnGetBuildInfo(program.handle(), fixture.device(), build_info::STATUS)));
    assert_eq!(Status(status), Status::ERROR);
    let mut kernel = null_mut();
    refused!(ERROR_INVALID_PROGRAM_EXECUTABLE, Kernel.pfnCreate(program.handle(), c"scale".as_ptr(), &raw mut kernel));
    let log = log(fixture, program);
    assert!(!log.is_empty());
    log
}

#[test]
fn a_module_that_is_not_whole_is_refused_with_the_word() {
    let fixture = Fixture::new();
    let whole = module("scale");
    for (bytes, words) in [
        (whole[..whole.len() - 2].to_vec(), "no multiple of 4"),
        (whole[..whole.len() - 4].to_vec(), "word "),
        (whole[..16].to_vec(), "five words"),
        (whole[..4].to_vec(), "five words"),
        (b"hello".to_vec(), "magic number"),
        ([&whole[..12], &[255; 4], &whole[16..]].concat(), "bound"),
    ] {
        assert_eq!(create(&fixture, &bytes).err(), Some(Code::ERROR_INVALID_BINARY), "{words}");
        let told = last_error();
        assert!(told.contains("urProgramCreateWithIL") && told.contains(words), "{told}");
    }
    assert_eq!(create(&fixture, &[]).err(), Some(Code::ERROR_INVALID_SIZE));
    // The same bytes as a binary.
    let code = fixture.unbuilt(&whole[..whole.len() - 4]).err();
    assert_eq!(code, Some(Code::ERROR_INVALID_BINARY));
    assert!(last_error().contains("urProgramCreateWithBinary"), "{}", last_error());
}

#[test]
fn every_truncation_is_refused_or_a_smaller_module() {
    let fixture = Fixture::new();
    let whole = module("scale");
    for end in (0..whole.len()).step_by(4).filter(|end| *end > 0) {
        let part: Box<[u8]> = whole[..end].into();
        if let Err(code) = create(&fixture, &part) {
            expect_code(code, &[Code::ERROR_INVALID_BINARY], "a truncated module");
        }
    }
}

#[test]
fn a_version_that_nobody_knows_is_refused() {
    let fixture = Fixture::new();
    let mut bytes = module("scale");
    bytes[6] = 2;
    assert_eq!(create(&fixture, &bytes).err(), Some(Code::ERROR_UNSUPPORTED_FEATURE));
    assert!(last_error().contains("1.0 to 1.6"), "{}", last_error());
}

#[test]
fn an_instruction_that_is_not_supported_is_in_the_build_log() {
    any("an_instruction_that_is_not_supported_is_in_the_build_log", SCALE, || {
        let fixture = Fixture::new();
        let mut bytes = module("scale");
        // `OpExecutionMode %s SubgroupSize 32`: no device here has sub-groups of 16.
        let word = |at: usize| u32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().unwrap());
        let at = (5..bytes.len() / 4 - 4).find(|&at| word(at) == (4 << 16) + 16 && word(at + 2) == 35).unwrap();
        bytes[4 * at + 12] = 16;
        let program = create(&fixture, &bytes).expect("the module is whole");
        let log = fails(&fixture, &program, Code::ERROR_UNSUPPORTED_FEATURE);
        assert!(log.contains("16") && log.contains("sized"), "{log}");
    });
}

#[test]
fn without_libnvvm_a_build_names_the_package() {
    let variables: [(&str, OsString); 2] =
        [("UR_NVVM_LIBRARY", "/nowhere/libnvvm.so.4".into()), ("UR_CACHE", "0".into())];
    child::in_process("without_libnvvm_a_build_names_the_package", &variables, || {
        let fixture = Fixture::new();
        let program = unbuilt(&fixture, "scale");
        for _ in 0..2 {
            let log = fails(&fixture, &program, Code::ERROR_COMPILER_NOT_AVAILABLE);
            assert!(log.contains("nvidia-nvvm") && log.contains("/nowhere/libnvvm.so.4"), "{log}");
        }
        assert_eq!(query::text(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::IL_VERSION))), "");
    });
}

#[test]
fn a_library_that_is_no_libnvvm_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("libnvvm.so.4");
    std::fs::write(&file, b"text").expect("a file");
    let variables: [(&str, OsString); 2] = [("UR_NVVM_LIBRARY", file.into()), ("UR_CACHE", "0".into())];
    child::in_process("a_library_that_is_no_libnvvm_is_named", &variables, || {
        let fixture = Fixture::new();
        let program = unbuilt(&fixture, "scale");
        let log = fails(&fixture, &program, Code::ERROR_COMPILER_NOT_AVAILABLE);
        assert!(log.contains("libnvvm.so.4"), "{log}");
    });
}

#[test]
fn what_libnvvm_refuses_is_in_the_build_log_and_may_be_built_again() {
    simulated("what_libnvvm_refuses_is_in_the_build_log_and_may_be_built_again", SCALE, |toolchain| {
        let fixture = Fixture::new();
        let program = unbuilt(&fixture, "scale");
        toolchain.refuse(Some("module 0 (7, 3): parse expected something else"));
        for _ in 0..2 {
            let log = fails(&fixture, &program, Code::ERROR_PROGRAM_BUILD_FAILURE);
            assert!(log.contains("NVVM_ERROR_COMPILATION") && log.contains("(7, 3)"), "{log}");
        }
        assert_eq!(toolchain.compiled().len(), 2, "a failure is not kept");
        toolchain.refuse(None);
        ok!(Program.pfnBuild(fixture.context(), program.handle(), null()));
        drop(fixture.kernel(&program, c"scale"));
    });
}

#[test]
fn text_that_the_driver_refuses_is_told_as_any_program_s() {
    simulated("text_that_the_driver_refuses_is_told_as_any_program_s", SCALE, |toolchain| {
        let fixture = Fixture::new();
        let file = toolchain.folder().join("scale.ptx");
        let text = std::fs::read_to_string(&file).expect("a file");
        std::fs::write(&file, text.replacen("mad.lo.s32", "mad.no.s32", 1)).expect("a file");
        let program = unbuilt(&fixture, "scale");
        let log = fails(&fixture, &program, Code::ERROR_PROGRAM_BUILD_FAILURE);
        assert!(log.contains("line "), "{log}");
    });
}
