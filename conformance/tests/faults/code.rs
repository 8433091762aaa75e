//! Every native call behind linking, cooperative launches and native handles fails in turn: the caller gets an error,
//! nothing is left behind, what was current on the thread still is, and the next attempt works. Needs the simulated
//! driver.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::{null, null_mut};

use ur_conformance::below::Below;
use ur_conformance::current::{Current, Place};
use ur_conformance::faults::Finish;
use ur_conformance::ffi::{
    CBool, ur_kernel_launch_ext_properties_t, ur_kernel_launch_flags_t, ur_program_native_properties_t,
    ur_queue_native_properties_t, ur_result_t as Code, ur_structure_type_t as Tag,
};
use ur_conformance::sim::status;
use ur_conformance::{Context, Environment, Event, Fixture, Kernel, Launch, Program, Queue, needs_sim, ur};

type Attempt<T> = Result<T, Code>;

fn tried(answer: Code) -> Attempt<()> {
    if answer == Code::SUCCESS { Ok(()) } else { Err(answer) }
}

fn made<T, R>(call: impl FnOnce(*mut *mut T) -> Code, take: impl FnOnce(*mut T) -> R) -> Attempt<R> {
    let mut handle = null_mut();
    let answer = call(&raw mut handle);
    assert_eq!(handle.is_null(), answer != Code::SUCCESS, "an output of a call that answers {answer:?}");
    tried(answer).map(|()| take(handle))
}

fn program(context: &Context, fixture: &Fixture, image: &[u8]) -> Attempt<Program> {
    let (mut device, mut length, mut bytes) = (fixture.device(), image.len(), image.as_ptr());
    let (device, length, bytes) = (&raw mut device, &raw mut length, &raw mut bytes);
    let c = context.handle();
    made(|out| ur!(Program.pfnCreateWithBinary(c, 1, device, length, bytes, null(), out)), Program::take)
}

fn kernel(program: &Program, name: &core::ffi::CStr) -> Attempt<Kernel> {
    made(|out| ur!(Kernel.pfnCreate(program.handle(), name.as_ptr(), out)), Kernel::take)
}

/// Two programs into one, where the library links.
fn linking(fixture: &Fixture, images: &[Vec<u8>; 3]) -> Attempt<()> {
    let context = fixture.context_of(&[fixture.device()]);
    let c = context.handle();
    let (caller, callee) = (program(&context, fixture, &images[1])?, program(&context, fixture, &images[2])?);
    for half in [&caller, &callee] {
        match ur!(Program.pfnCompile(c, half.handle(), null())) {
            Code::ERROR_UNSUPPORTED_FEATURE => return Ok(()),
            answer => tried(answer)?,
        }
    }
    let list = [caller.handle(), callee.handle()];
    let linked = made(|out| ur!(Program.pfnLink(c, 2, list.as_ptr(), null(), out)), Program::take)?;
    kernel(&linked, c"call_far_away").map(drop)
}

/// Symbols, occupancy, a cooperative launch, and every native handle there and back.
fn handles(fixture: &Fixture, images: &[Vec<u8>; 3]) -> Attempt<()> {
    let context = fixture.context_of(&[fixture.device()]);
    let (c, d) = (context.handle(), fixture.device());
    let basic = program(&context, fixture, &images[0])?;
    tried(ur!(Program.pfnBuild(c, basic.handle(), null())))?;
    let (mut pointer, mut native, mut groups, local) = (null_mut(), 0, 0, 32usize);
    let table = c"table".as_ptr();
    tried(ur!(Program.pfnGetGlobalVariablePointer(d, basic.handle(), table, null_mut(), &raw mut pointer)))?;
    let empty = kernel(&basic, c"empty")?;
    let (k, size) = (empty.handle(), &raw const local);
    tried(ur!(Kernel.pfnSuggestMaxCooperativeGroupCount(k, d, 1, size, 0, &raw mut groups)))?;
    tried(ur!(Kernel.pfnGetNativeHandle(k, &raw mut native)))?;
    let again = |out| ur!(Kernel.pfnCreateWithNativeHandle(native, c, basic.handle(), null(), out));
    drop(made(again, Kernel::take)?);
    tried(ur!(Program.pfnGetNativeHandle(basic.handle(), &raw mut native)))?;
    let properties = ur_program_native_properties_t { stype: Tag::PROGRAM_NATIVE_PROPERTIES, ..Default::default() };
    let again = |out| ur!(Program.pfnCreateWithNativeHandle(native, c, &raw const properties, out));
    drop(made(again, Program::take)?);

    let queue = made(|out| ur!(Queue.pfnCreate(c, d, null(), out)), Queue::take)?;
    let _finish = Finish(&queue);
    let launch = Launch::new(&empty, &[64]).local(&[32]).properties(ur_kernel_launch_ext_properties_t {
        flags: ur_kernel_launch_flags_t::COOPERATIVE,
        ..Default::default()
    });
    let event = made(|out| launch.enqueue(&queue, out), Event::take)?;
    tried(ur!(Event.pfnGetNativeHandle(event.handle(), &raw mut native)))?;
    let again = |out| ur!(Event.pfnCreateWithNativeHandle(native, c, null(), out));
    let adopted = made(again, Event::take)?;
    tried(ur!(Queue.pfnGetNativeHandle(queue.handle(), null_mut(), &raw mut native)))?;
    let properties = ur_queue_native_properties_t {
        stype: Tag::QUEUE_NATIVE_PROPERTIES,
        isNativeHandleOwned: CBool::FALSE,
        ..Default::default()
    };
    let again = |out| ur!(Queue.pfnCreateWithNativeHandle(native, c, null_mut(), &raw const properties, out));
    drop(made(again, Queue::take)?);
    let list = [adopted.handle()];
    tried(ur!(Event.pfnWait(1, list.as_ptr())))?;
    match ur!(Context.pfnGetNativeHandle(c, &raw mut native)) {
        Code::ERROR_UNSUPPORTED_FEATURE => Ok(()),
        answer => {
            tried(answer)?;
            let a = ur_conformance::adapter();
            let again = |out| ur!(Context.pfnCreateWithNativeHandle(native, a, 0, null(), null(), out));
            made(again, Context::take).map(drop)
        }
    }
}

/// Calls whose failure is nobody's to hear: what is given back or restored, and questions that a default answers.
fn may_pass(name: &str) -> bool {
    let silent = ["Destroy", "Unload", "Release", "SetCurrent", "Free", "GetErrorName", "GetErrorString"];
    silent.iter().any(|word| name.contains(word)) || name == "cuOccupancyMaxPotentialBlockSize"
}

fn fail_each(scenario: fn(&Fixture, &[Vec<u8>; 3]) -> Attempt<()>) {
    let mut fixture = Fixture::new();
    let current = Current::at(Place::LastDevice);
    // The context that is current is the test's own.
    fixture.accept_objects();
    let sim = needs_sim!(fixture);
    let images = ["basic.ptx", "link_caller.ptx", "link_callee.ptx"].map(|name| Environment::get().image(name));
    let (result, calls) = sim.calls_of(|| scenario(&fixture, &images));
    assert_eq!(result, Ok(()), "{}", ur_conformance::last_error());
    let mut failed = 0;
    for (name, count) in &calls {
        if may_pass(name) {
            continue;
        }
        for nth in 1..=*count {
            sim.fail(name, nth, status::UNKNOWN);
            let what = format!("call {nth} of {name} failed");
            let result = current.after(&what, || scenario(&fixture, &images));
            sim.clear_faults();
            fixture.expect_none_left(&what);
            failed += u32::from(result.is_err());
        }
    }
    assert!(failed > 0, "no failure was heard of");
    let result = current.after("the end", || scenario(&fixture, &images));
    assert_eq!(result, Ok(()), "{}", ur_conformance::last_error());
}

#[test]
fn linking_gives_everything_back_whatever_fails() {
    if Below::is_hip() {
        println!("skipped: HIP links nothing");
        return;
    }
    fail_each(linking);
}

#[test]
fn symbols_launches_and_native_handles_give_everything_back_whatever_fails() {
    fail_each(handles);
}
