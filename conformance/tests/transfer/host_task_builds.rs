//! Programs that are built while host tasks are in flight. The native library loads code when the device has done all that it was
//! given, a task's stream too, and while it waits whatever a task enqueues waits behind it. Each test runs in a process that ends itself
//! if it hangs.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use ur_conformance::environment::Environment;
use ur_conformance::ffi::ur_result_t as Code;
use ur_conformance::{Event, Fixture, Kind, Launch, Program, Queue, Sim, child, needs_sim, ok, ur};

use super::host_task_releases::{far, near, task};

/// So long a task looks whether code is loaded beside it. One that does not look long enough fails nothing.
const LOOKS: Duration = Duration::from_millis(200);
/// The calls that load code.
const LOADS: [&str; 2] = ["cuModuleLoadDataEx", "cuModuleLoadData"];

/// A program with an image that is not loaded yet.
fn unbuilt(fixture: &Fixture) -> Program {
    fixture.unbuilt(&Environment::get().image("basic.ptx")).expect("a program")
}

#[test]
fn urProgramBuild_in_a_host_task_is_refused_and_builds_once_the_task_has_ended() {
    let test = "urProgramBuild_in_a_host_task_is_refused_and_builds_once_the_task_has_ended";
    child::in_time(test, &[] as &[(&str, &str)], || {
        let fixture = Fixture::new();
        let (queue, program) = (fixture.in_order(), unbuilt(&fixture));
        let (context, handle) = (far(fixture.context()), far(program.handle()));
        let build = move || ur!(Program.pfnBuild(near(context), near(handle), null()));
        let Some((answers, event)) = task(&fixture, &queue, &[], build) else { return };
        event.wait();
        assert_eq!(answers.recv(), Ok(Code::ERROR_INVALID_OPERATION));
        ok!(Program.pfnBuild(fixture.context(), program.handle(), null()));
        queue.finish();
    });
}

/// The build has the program and waits for the task.
#[test]
fn urProgramCompile_in_a_host_task_does_not_wait_for_a_build_of_the_same_program() {
    let test = "urProgramCompile_in_a_host_task_does_not_wait_for_a_build_of_the_same_program";
    child::in_time(test, &[] as &[(&str, &str)], || {
        let fixture = Fixture::new();
        let (queue, program) = (fixture.in_order(), unbuilt(&fixture));
        let (context, handle) = (far(fixture.context()), far(program.handle()));
        let (goes_on, may_go_on) = channel::<()>();
        let compile = move || {
            may_go_on.recv().expect("the test goes on");
            // Until the build has begun it is compiled, where the native library can.
            loop {
                match ur!(Program.pfnCompile(near(context), near(handle), null())) {
                    Code::SUCCESS | Code::ERROR_UNSUPPORTED_FEATURE => std::thread::yield_now(),
                    answer => return answer,
                }
            }
        };
        let Some((answers, event)) = task(&fixture, &queue, &[], compile) else { return };
        std::thread::scope(|scope| {
            let building = scope.spawn(|| ok!(Program.pfnBuild(fixture.context(), program.handle(), null())));
            goes_on.send(()).expect("the task waits");
            event.wait();
            assert_eq!(answers.recv(), Ok(Code::ERROR_INVALID_OPERATION));
            building.join().expect("the build");
        });
        queue.finish();
    });
}

#[test]
fn urProgramBuild_loads_no_code_beside_a_host_task_which_may_give_the_device_work() {
    let test = "urProgramBuild_loads_no_code_beside_a_host_task_which_may_give_the_device_work";
    child::in_time(test, &[] as &[(&str, &str)], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let (queue, other, program) = (fixture.in_order(), fixture.in_order(), unbuilt(&fixture));
        let memory = fixture.memory(Kind::Device, 4);
        let (goes_on, may_go_on) = channel();
        let (q, to) = (far(other.handle()), far(memory.pointer()));
        let work = move || {
            may_go_on.recv().expect("the test goes on");
            let value = 3u32;
            let from = (&raw const value).cast();
            ok!(Enqueue.pfnUSMFill(near(q), near(to), 4, from, 4, 0, null(), null_mut()));
            ok!(Queue.pfnFinish(near(q)));
        };
        let Some((done, event)) = task(&fixture, &queue, &[], work) else { return };
        let loads = || LOADS.iter().map(|name| sim.calls_so_far(name)).sum::<u64>();
        let (before, since) = (loads(), Instant::now());
        std::thread::scope(|scope| {
            let building = scope.spawn(|| ok!(Program.pfnBuild(fixture.context(), program.handle(), null())));
            while loads() == before && since.elapsed() < LOOKS {
                std::thread::yield_now();
            }
            let beside = loads() - before;
            goes_on.send(()).expect("the task waits");
            event.wait();
            assert_eq!((beside, done.recv()), (0, Ok(())), "code was loaded while the task ran");
            building.join().expect("the build");
        });
        assert!(loads() > before);
        assert_eq!(memory.read::<u32>(&other, 1), [3]);
    });
}

/// Puts a task on a queue of a device that is lost before it gets there. The task never runs.
fn lose_with_a_task(fixture: &Fixture, sim: &Sim, queue: &Queue) -> Option<Event> {
    let kernel = fixture.basic(c"empty");
    let held = sim.hold();
    Launch::new(&kernel, &[1]).on(queue);
    let (_, event) = task(fixture, queue, &[], || panic!("a task of a lost device runs"))?;
    sim.lose_device(0);
    drop(held);
    Some(event)
}

#[test]
fn urProgramBuild_does_not_wait_for_a_host_task_of_a_lost_device() {
    let test = "urProgramBuild_does_not_wait_for_a_host_task_of_a_lost_device";
    child::in_time(test, &[] as &[(&str, &str)], || {
        let fixture = Fixture::new();
        fixture.allow_late_releases();
        let sim = needs_sim!(fixture);
        let (queue, program) = (fixture.in_order(), unbuilt(&fixture));
        let Some(_event) = lose_with_a_task(&fixture, sim, &queue) else { return };
        assert_ne!(ur!(Program.pfnBuild(fixture.context(), program.handle(), null())), Code::SUCCESS);
    });
}

#[test]
fn urProgramBuild_for_a_device_does_not_wait_for_a_host_task_of_another_one_that_was_lost() {
    let test = "urProgramBuild_for_a_device_does_not_wait_for_a_host_task_of_another_one_that_was_lost";
    child::in_time(test, &[] as &[(&str, &str)], || {
        let fixture = Fixture::over_all_devices();
        fixture.allow_late_releases();
        let sim = needs_sim!(fixture);
        let &[_, second, ..] = &*fixture.devices else { return };
        let queue = fixture.in_order();
        let Some(_event) = lose_with_a_task(&fixture, sim, &queue) else { return };
        drop(fixture.program_on("basic.ptx", second));
    });
}

/// Nothing but the call that was told so asks the device.
#[test]
fn urUSMFree_gives_memory_of_a_device_back_once_another_one_is_told_to_be_lost_with_a_host_task() {
    let test = "urUSMFree_gives_memory_of_a_device_back_once_another_one_is_told_to_be_lost_with_a_host_task";
    child::in_time(test, &[("UR_USM_POOL", "0")], || {
        let fixture = Fixture::over_all_devices();
        fixture.allow_late_releases();
        let sim = needs_sim!(fixture);
        let &[first, second, ..] = &*fixture.devices else { return };
        let (queue, context) = (fixture.in_order(), fixture.context());
        let mut memory = null_mut();
        ok!(USM.pfnDeviceAlloc(context, second, null(), null_mut(), 1 << 20, &raw mut memory));
        let Some(_event) = lose_with_a_task(&fixture, sim, &queue) else { return };
        let freed = sim.calls_so_far("cuMemFree_v2");
        assert_eq!(ur!(DeviceExp.pfnWaitExp(first)), Code::ERROR_DEVICE_LOST);
        ok!(USM.pfnFree(context, memory));
        while sim.calls_so_far("cuMemFree_v2") == freed {
            std::thread::yield_now();
        }
    });
}
