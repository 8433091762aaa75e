//! What others may do while a module is compiled: everything but to have it.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::null;

use ur_conformance::ffi::{
    ur_program_build_info_t as build_info, ur_program_build_status_t as Status, ur_program_info_t as info,
    ur_result_t as Code, ur_specialization_constant_info_t,
};
use ur_conformance::{Change, CommandBuffer, Fixture, Kind, Launch, Program, ask, child, needs_sim, ok, query, ur};

use crate::toolchain::{Toolchain, built, unbuilt};

fn status(fixture: &Fixture, program: &Program) -> Status {
    Status(query::get(ask!(Program.pfnGetBuildInfo(program.handle(), fixture.device(), build_info::STATUS))))
}

fn build(fixture: &Fixture, program: &Program) -> Code {
    ur!(Program.pfnBuild(fixture.context(), program.handle(), null()))
}

#[test]
fn nobody_waits_for_a_compilation_but_who_builds_the_same_program() {
    const NAME: &str = "nobody_waits_for_a_compilation_but_who_builds_the_same_program";
    let toolchain = Toolchain::inherited().unwrap_or_else(|| Toolchain::new(&["scale.ptx"]));
    child::in_time(NAME, &toolchain.variables(), || {
        let fixture = Fixture::new();
        let mut gate = toolchain.gate();
        let (program, other) = (unbuilt(&fixture, "scale"), unbuilt(&fixture, "scale"));
        let answers = std::thread::scope(|scope| {
            let builders = [0; 2].map(|_| scope.spawn(|| build(&fixture, &program)));
            gate.wait_for::<1>();
            // One of the two compiles and the other waits for it. The program answers meanwhile, ...
            assert_eq!(status(&fixture, &program), Status::IN_PROGRESS);
            let sizes: Vec<usize> = query::list(ask!(Program.pfnGetInfo(program.handle(), info::BINARY_SIZES)));
            assert_eq!(sizes, [0]);
            let value = 9u32;
            let constant = ur_specialization_constant_info_t { id: 5, size: 4, pValue: (&raw const value).cast() };
            let set = |program: &Program| {
                ur!(Program.pfnSetSpecializationConstants(program.handle(), 1, &raw const constant))
            };
            assert_eq!(set(&program), Code::ERROR_INVALID_OPERATION);
            // ... other programs are made, changed and compiled, ...
            assert_eq!(set(&other), Code::SUCCESS);
            let third = scope.spawn(|| build(&fixture, &other));
            gate.wait_for::<1>();
            // ... and kernels run.
            let native = fixture.program("saxpy.ptx");
            let (kernel, queue) = (fixture.kernel(&native, c"saxpy"), fixture.in_order());
            let (x, y) = (fixture.memory(Kind::Device, 40), fixture.memory(Kind::Device, 40));
            let launch = Launch::new(&kernel, &[10]).value(2.0f32).pointer(x.pointer()).pointer(y.pointer());
            launch.value(10u32).on(&queue);
            ok!(Queue.pfnFinish(queue.handle()));
            gate.let_go::<2>();
            assert_eq!(third.join().expect("no panic"), Code::SUCCESS);
            builders.map(|builder| builder.join().expect("no panic"))
        });
        let built = answers.iter().filter(|answer| **answer == Code::SUCCESS).count();
        let refused = answers.iter().filter(|answer| **answer == Code::ERROR_INVALID_OPERATION).count();
        assert_eq!((built, refused), (1, 1), "{answers:?}");
        assert_eq!(toolchain.compiled().len(), 2);
        for program in [&program, &other] {
            assert_eq!(status(&fixture, program), Status::SUCCESS);
            drop(fixture.kernel(program, c"scale"));
        }
    });
}

#[test]
fn two_modules_are_compiled_side_by_side() {
    const NAME: &str = "two_modules_are_compiled_side_by_side";
    let toolchain = Toolchain::inherited().unwrap_or_else(|| Toolchain::new(&["linked.ptx", "scale.ptx"]));
    child::in_time(NAME, &toolchain.variables(), || {
        let fixture = Fixture::new();
        let mut gate = toolchain.gate();
        let programs = [unbuilt(&fixture, "scale"), unbuilt(&fixture, "callee")];
        std::thread::scope(|scope| {
            let builders = programs.each_ref().map(|program| scope.spawn(|| build(&fixture, program)));
            // Both are inside at once, or this waits for ever.
            gate.wait_for::<2>();
            gate.let_go::<2>();
            for builder in builders {
                assert_eq!(builder.join().expect("no panic"), Code::SUCCESS);
            }
        });
    });
}

/// A first offset has the variant of the kernel compiled and loaded, for which whoever asked for it waits alone.
#[test]
fn a_change_of_a_command_buffer_does_not_wait_for_the_variant_that_another_change_makes() {
    const NAME: &str = "a_change_of_a_command_buffer_does_not_wait_for_the_variant_that_another_change_makes";
    let texts = ["moved.ptx", "moved_with_offset.ptx"];
    let toolchain = Toolchain::inherited().unwrap_or_else(|| Toolchain::new(&texts));
    child::in_time(NAME, &toolchain.variables(), || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let program = built(&fixture, "moved");
        let (kernel, queue) = (fixture.kernel(&program, c"moved"), fixture.in_order());
        let memory = fixture.memory(Kind::Device, 40);
        let buffer = CommandBuffer::updatable(&fixture);
        let launch = Launch::new(&kernel, &[6]).pointer(memory.pointer()).value(7u32);
        let (_, command) = buffer.command(&launch, &[]);
        buffer.finalize();
        let address = command.expose_provenance();
        std::thread::scope(|scope| {
            let held = sim.hold_calls("cuModuleLoadDataEx");
            let buffer = &buffer;
            let moving = scope.spawn(move || {
                let command = core::ptr::with_exposed_provenance_mut(address);
                buffer.update(&[Change::of(command).offset(&[4]).global(&[6])]);
            });
            held.wait_for_one(|| moving.is_finished());
            buffer.update(&[Change::of(command).value(1, 8u32)]);
            drop(held);
        });
        memory.write(&queue, &[0u32; 10]);
        buffer.on(&queue);
        assert_eq!(memory.read::<u32>(&queue, 10)[4..], [4, 5, 6, 7, 8, 9].map(|index| index * 3 + 8));
    });
}
