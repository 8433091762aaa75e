//! Failing every native call of a scenario in turn: what a sweep does, and what scenarios are made of whatever fails in
//! them. It judges by codes, leftovers, misuse and what is current on the thread, never by what an adapter is inside.

use core::ptr::{null, null_mut};

use ur_ffi::{
    ur_device_handle_t, ur_event_handle_t, ur_queue_flags_t as Flags, ur_queue_properties_t, ur_result_t as Code,
};

use crate::control::{Control, Counts};
use crate::current::{Current, Place};
use crate::native::Hip;
use crate::sim::status;
use crate::{Context, Event, Fixture, Kernel, Program, Queue, Sim, ur};

/// The first call that failed, and its answer.
pub type Attempt<T> = Result<T, (&'static str, Code)>;

/// What a call gave, or that it failed.
///
/// # Errors
/// Any answer but success.
pub fn tried<T>(name: &'static str, answer: Code, value: impl FnOnce() -> T) -> Attempt<T> {
    if answer == Code::SUCCESS { Ok(value()) } else { Err((name, answer)) }
}

/// Waits for the queue before anything it uses goes, whatever happened. What fails is tried once more, since the fault was
/// one call's.
pub struct Finish<'q>(pub &'q Queue);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        if ur!(Queue.pfnFinish(self.0.handle())) != Code::SUCCESS {
            let _ = ur!(Queue.pfnFinish(self.0.handle()));
        }
    }
}

/// An enqueue that is asked for an event.
///
/// # Errors
/// As [`tried`].
pub fn enqueue(name: &'static str, call: impl FnOnce(*mut ur_event_handle_t) -> Code) -> Attempt<Event> {
    let mut event = null_mut();
    let answer = call(&raw mut event);
    assert!(answer == Code::SUCCESS || event.is_null(), "{name} failed and handed out an event");
    tried(name, answer, || Event::take(event))
}

/// A queue.
///
/// # Errors
/// As [`tried`].
pub fn make_queue(context: &Context, device: ur_device_handle_t, flags: Flags) -> Attempt<Queue> {
    let properties = ur_queue_properties_t { flags, ..Default::default() };
    let mut queue = null_mut();
    let answer = ur!(Queue.pfnCreate(context.handle(), device, &raw const properties, &raw mut queue));
    assert_eq!(queue.is_null(), answer != Code::SUCCESS, "urQueueCreate's output");
    tried("urQueueCreate", answer, || Queue::take(queue))
}

/// A built program of one image for all of the devices, and a kernel of it.
///
/// # Errors
/// As [`tried`].
pub fn make_kernel(
    context: &Context,
    devices: &[ur_device_handle_t],
    image: &[u8],
    name: &core::ffi::CStr,
) -> Attempt<(Program, Kernel)> {
    let (mut devices, count) = (devices.to_vec(), devices.len());
    let (mut lengths, mut images) = (vec![image.len(); count], vec![image.as_ptr(); count]);
    let (mut program, mut kernel, c) = (null_mut(), null_mut(), context.handle());
    let (devices, lengths, images) = (devices.as_mut_ptr(), lengths.as_mut_ptr(), images.as_mut_ptr());
    let count = u32::try_from(count).expect("few devices");
    let answer = ur!(Program.pfnCreateWithBinary(c, count, devices, lengths, images, null(), &raw mut program));
    let program = tried("urProgramCreateWithBinary", answer, || Program::take(program))?;
    tried("urProgramBuild", ur!(Program.pfnBuild(c, program.handle(), null())), || ())?;
    let answer = ur!(Kernel.pfnCreate(program.handle(), name.as_ptr(), &raw mut kernel));
    assert_eq!(kernel.is_null(), answer != Code::SUCCESS, "urKernelCreate's output");
    let kernel = tried("urKernelCreate", answer, || Kernel::take(kernel))?;
    Ok((program, kernel))
}

/// Native calls that give something back. When they fail, what they were to give back stays, whoever called them.
fn gives_back(name: &str) -> bool {
    ["Destroy", "Free", "Unload", "Release"].iter().any(|word| name.contains(word))
}

/// Codes that a native failure may be told as.
fn allowed(error: i32) -> &'static [Code] {
    match error {
        status::OUT_OF_MEMORY => {
            &[Code::ERROR_OUT_OF_DEVICE_MEMORY, Code::ERROR_OUT_OF_HOST_MEMORY, Code::ERROR_OUT_OF_RESOURCES]
        }
        status::ILLEGAL_ADDRESS => &[Code::ERROR_DEVICE_LOST],
        _ => &[Code::ERROR_ADAPTER_SPECIFIC, Code::ERROR_PROGRAM_BUILD_FAILURE],
    }
}

/// Native calls that take the thread from one place to another and are not tried once more: those of a stack, and those that
/// the HIP library makes by itself. Where one of them was to put the thread back, the application would have to.
fn switches(name: &str) -> bool {
    ["cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"].contains(&name)
        || (name == "cuCtxSetCurrent" && Hip::loaded().is_some())
}

fn calls_of(library: &Control, work: impl FnOnce() -> Attempt<()>) -> Counts {
    let (result, calls) = library.calls_of(work);
    assert_eq!(result, Ok(()), "the scenario works when nothing fails: {}", crate::last_error());
    calls
}

/// No misuse and nothing left, unless it was the giving back that failed.
#[track_caller]
fn expect_clean(fixture: &Fixture, what: &str, returning: bool) {
    let Some(sim) = fixture.sim() else { return };
    if returning {
        sim.clear_reports();
        return;
    }
    let reports = sim.reports();
    assert!(reports.is_empty(), "{what}: misuse: {reports:#?}");
    fixture.expect_none_left(what);
}

/// Which calls fail, how, and what comes of it.
pub struct Sweep {
    /// What the native call answers.
    pub error: i32,
    /// Whether those that give something back are failed, which leaves things, or all others.
    pub returning: bool,
    /// More failures than that must reach the caller, or the sweep did not do what it is for.
    pub least: usize,
    /// Codes that a call may answer beside those that every call may.
    pub may_also: fn(call: &str, code: Code) -> bool,
}

impl Sweep {
    /// Fails each call of the scenario in turn, in every library that can be made to. The thread's own context and device
    /// are on the last device meanwhile, the work on the first.
    pub fn over(&self, fixture: &mut Fixture, scenario: impl Fn(&Fixture) -> Attempt<()>) {
        let current = Current::at(Place::LastDevice);
        fixture.accept_objects();
        if self.returning {
            // What could not be given back ends with its context, which the fixture's own objects may keep till then.
            fixture.allow_leaks();
        }
        for library in Control::loaded() {
            let calls = current.after("the scenario", || calls_of(&library, || scenario(fixture)));
            let mut failures = 0;
            for (name, count) in calls.iter().filter(|(name, _)| gives_back(name) == self.returning) {
                for nth in 1..=*count {
                    failures += usize::from(self.fail(&library, &current, fixture, &scenario, (name, nth, *count)));
                    if self.returning {
                        fixture.accept_objects();
                        fixture.sim().into_iter().for_each(Sim::clear_reports);
                    }
                }
            }
            let heard = self.returning || failures > self.least;
            assert!(heard, "only {failures} of the injected failures reached the caller");
        }
    }

    /// Fails one call; whether the caller heard of it.
    fn fail(
        &self,
        library: &Control,
        current: &Current,
        fixture: &Fixture,
        scenario: impl Fn(&Fixture) -> Attempt<()>,
        (name, nth, count): (&str, u64, u64),
    ) -> bool {
        library.fail(name, nth, self.error);
        let result = scenario(fixture);
        library.clear_faults();
        let what = format!("{name}, call {nth} of {count}, answers {}", self.error);
        if switches(name) {
            current.put_back();
        }
        current.expect_unchanged(&what);
        if let Err((call, code)) = result {
            let fits = allowed(self.error).contains(&code) || (self.may_also)(call, code);
            assert!(fits, "{what}: {call} answers {code:?}");
        }
        expect_clean(fixture, &what, self.returning);
        let again = scenario(fixture);
        assert_eq!(again, Ok(()), "{what}; the next time: {}", crate::last_error());
        result.is_err()
    }
}
