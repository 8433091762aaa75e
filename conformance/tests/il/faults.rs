//! Every native call behind a program of SPIR-V fails in turn: the caller gets an error, nothing is left behind, and the next
//! attempt works. Needs the simulated driver.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::{null, null_mut};

use ur_conformance::faults::{Attempt, Sweep, tried};
use ur_conformance::ffi::ur_specialization_constant_info_t;
use ur_conformance::sim::status;
use ur_conformance::{Context, Fixture, Kernel, Program, needs_sim, ur};

use crate::toolchain::{module, simulated};

fn create(context: &Context, name: &str) -> Attempt<Program> {
    let (bytes, mut program) = (module(name), null_mut());
    let (pointer, length) = (bytes.as_ptr().cast(), bytes.len());
    let answer = ur!(Program.pfnCreateWithIL(context.handle(), pointer, length, null(), &raw mut program));
    tried("urProgramCreateWithIL", answer, || Program::take(program))
}

/// A program for all devices, built, with a kernel; and two programs linked.
fn scenario(fixture: &Fixture) -> Attempt<()> {
    let context = fixture.context_of(&fixture.devices);
    let program = create(&context, "scale")?;
    let value = 4u32;
    let constant = ur_specialization_constant_info_t { id: 5, size: 4, pValue: (&raw const value).cast() };
    let answer = ur!(Program.pfnSetSpecializationConstants(program.handle(), 1, &raw const constant));
    tried("urProgramSetSpecializationConstants", answer, || ())?;
    tried("urProgramBuild", ur!(Program.pfnBuild(context.handle(), program.handle(), null())), || ())?;
    let mut kernel = null_mut();
    let answer = ur!(Kernel.pfnCreate(program.handle(), c"sized".as_ptr(), &raw mut kernel));
    tried("urKernelCreate", answer, || drop(Kernel::take(kernel)))?;

    let (caller, callee) = (create(&context, "caller")?, create(&context, "callee")?);
    for half in [&caller, &callee] {
        tried("urProgramCompile", ur!(Program.pfnCompile(context.handle(), half.handle(), null())), || ())?;
    }
    let (list, mut linked) = ([caller.handle(), callee.handle()], null_mut());
    let answer = ur!(Program.pfnLink(context.handle(), 2, list.as_ptr(), null(), &raw mut linked));
    tried("urProgramLink", answer, || drop(Program::take(linked)))
}

fn sweep(test: &str, error: i32, least: usize) {
    simulated(test, &["linked.ptx", "scale.ptx"], |_| {
        let mut fixture = Fixture::over_all_devices();
        needs_sim!(fixture);
        let sweep = Sweep {
            error,
            returning: false,
            least,
            may_also: |call, code| {
                let link = ur_conformance::ffi::ur_result_t::ERROR_PROGRAM_LINK_FAILURE;
                call == "urProgramLink" && code == link
            },
        };
        sweep.over(&mut fixture, scenario);
    });
}

#[test]
fn a_program_of_SPIR_V_gives_everything_back_whatever_fails() {
    sweep("a_program_of_SPIR_V_gives_everything_back_whatever_fails", status::UNKNOWN, 4);
}

#[test]
fn a_program_of_SPIR_V_gives_everything_back_when_memory_runs_out() {
    sweep("a_program_of_SPIR_V_gives_everything_back_when_memory_runs_out", status::OUT_OF_MEMORY, 4);
}
