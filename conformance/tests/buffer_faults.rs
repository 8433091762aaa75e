//! Every native call of work with buffers fails in turn, on one device and on two: the caller gets a code that fits,
//! nothing is left behind, what was current on the thread still is, and the next attempt works. As `faults`, which does
//! so for everything else. Needs the simulated driver.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::{null, null_mut};

use ur_conformance::buffer::create;
use ur_conformance::control::Control;
use ur_conformance::current::{Current, Place};
use ur_conformance::ffi::{
    CBool, ur_event_handle_t, ur_map_flags_t, ur_mem_flags_t as Mem, ur_queue_flags_t as Flags, ur_queue_properties_t,
    ur_rect_offset_t, ur_rect_region_t, ur_result_t as Code,
};
use ur_conformance::sim::status;
use ur_conformance::{Buffer, Context, Environment, Event, Fixture, Kernel, Launch, Program, Queue, Sim, ur};

const WORDS: usize = 64;
const BYTES: usize = 4 * WORDS;

/// The first call that failed, and its answer.
type Attempt<T> = Result<T, (&'static str, Code)>;

fn tried<T>(name: &'static str, answer: Code, value: impl FnOnce() -> T) -> Attempt<T> {
    if answer == Code::SUCCESS { Ok(value()) } else { Err((name, answer)) }
}

/// Waits for the queue before anything it uses goes, whatever happened.
struct Finish<'q>(&'q Queue);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        if ur!(Queue.pfnFinish(self.0.handle())) != Code::SUCCESS {
            let _ = ur!(Queue.pfnFinish(self.0.handle()));
        }
    }
}

fn make_queue(context: &Context, fixture: &Fixture, device: usize, flags: Flags) -> Attempt<Queue> {
    let properties = ur_queue_properties_t { flags, ..Default::default() };
    let mut queue = null_mut();
    let answer = ur!(Queue.pfnCreate(context.handle(), fixture.devices[device], &raw const properties, &raw mut queue));
    tried("urQueueCreate", answer, || Queue::take(queue))
}

fn make_buffer(context: &Context, flags: Mem, host: &mut [u32]) -> Attempt<Buffer> {
    let mut mem = null_mut();
    let wants = flags.intersects(Mem::USE_HOST_POINTER | Mem::ALLOC_COPY_HOST_POINTER);
    let pointer = if wants { host.as_mut_ptr().cast() } else { null_mut() };
    let answer = create(context.handle(), flags, BYTES, pointer, &raw mut mem);
    assert_eq!(mem.is_null(), answer != Code::SUCCESS, "urMemBufferCreate's output");
    tried("urMemBufferCreate", answer, || Buffer::take(mem, BYTES))
}

fn make_kernel(context: &Context, devices: &[*mut ur_conformance::ffi::ur_device_handle_t_]) -> Attempt<Kernel> {
    let image = Environment::get().image("basic.ptx");
    let (mut devices, count) = (devices.to_vec(), devices.len());
    let (mut lengths, mut images) = (vec![image.len(); count], vec![image.as_ptr(); count]);
    let (mut program, mut kernel, c) = (null_mut(), null_mut(), context.handle());
    let (devices, lengths, images) = (devices.as_mut_ptr(), lengths.as_mut_ptr(), images.as_mut_ptr());
    let answer = ur!(Program.pfnCreateWithBinary(c, count as u32, devices, lengths, images, null(), &raw mut program));
    let program = tried("urProgramCreateWithBinary", answer, || Program::take(program))?;
    tried("urProgramBuild", ur!(Program.pfnBuild(c, program.handle(), null())), || ())?;
    let answer = ur!(Kernel.pfnCreate(program.handle(), c"add_constant".as_ptr(), &raw mut kernel));
    tried("urKernelCreate", answer, || Kernel::take(kernel))
}

fn enqueue(name: &'static str, call: impl FnOnce(*mut ur_event_handle_t) -> Code) -> Attempt<Event> {
    let mut event = null_mut();
    let answer = call(&raw mut event);
    assert!(answer == Code::SUCCESS || event.is_null(), "{name} failed and handed out an event");
    tried(name, answer, || Event::take(event))
}

/// Host memory that a map of a scenario writes.
fn set(pointer: *mut core::ffi::c_void, word: usize, value: u32) {
    // SAFETY: a word of a map that has finished.
    unsafe { pointer.cast::<u32>().add(word).write(value) };
}

/// One buffer from its making to its end, used by both queues, of two devices where there are two. Whatever fails ends
/// it, and everything is given back.
fn scenario(fixture: &Fixture, devices: usize, flags: Flags, source: Mem) -> Attempt<()> {
    let mut host = vec![1u32; WORDS];
    let mut expected = host.clone();
    let mut found = vec![0u32; WORDS];
    let context = fixture.context_of(&fixture.devices[..devices]);
    let kernel = make_kernel(&context, &fixture.devices[..devices])?;
    {
        let (first, second) =
            (make_queue(&context, fixture, 0, flags)?, make_queue(&context, fixture, devices - 1, flags)?);
        let buffer = make_buffer(&context, source, &mut host)?;
        let other = make_buffer(&context, Mem::empty(), &mut [])?;
        let _finish = (Finish(&first), Finish(&second));
        let (q1, q2, m, o, yes, no) =
            (first.handle(), second.handle(), buffer.handle(), other.handle(), CBool::TRUE, CBool::FALSE);
        let written = enqueue("urEnqueueMemBufferWrite", |event| {
            ur!(Enqueue.pfnMemBufferWrite(q1, m, no, 0, BYTES, expected.as_ptr().cast(), 0, null(), event))
        })?;
        let launch =
            |value: u32| Launch::new(&kernel, &[WORDS]).local(&[8]).buffer(&buffer, Mem::READ_WRITE).value(value);
        let add = launch(10).value(WORDS as u32).after(&[&written]);
        let added = enqueue("a launch", |event| add.enqueue(&second, event))?;
        expected.iter_mut().for_each(|word| *word += 10);
        let byte = 0u8;
        let list = [added.handle()];
        let filled = enqueue("urEnqueueMemBufferFill", |event| {
            ur!(Enqueue.pfnMemBufferFill(q1, m, (&raw const byte).cast(), 1, 0, 4, 1, list.as_ptr(), event))
        })?;
        expected[0] = 0;
        let list = [filled.handle()];
        let copied = enqueue("urEnqueueMemBufferCopy", |event| {
            ur!(Enqueue.pfnMemBufferCopy(q2, m, o, 0, 0, BYTES, 1, list.as_ptr(), event))
        })?;
        let (here, there) = (ur_rect_offset_t::default(), ur_rect_offset_t { x: 128, ..Default::default() });
        let size = ur_rect_region_t { width: 4, height: 2, depth: 1 };
        let list = [copied.handle()];
        let moved = enqueue("urEnqueueMemBufferCopyRect", |event| {
            ur!(Enqueue.pfnMemBufferCopyRect(q1, o, m, here, there, size, 8, 0, 8, 0, 1, list.as_ptr(), event))
        })?;
        (expected[32], expected[34]) = (expected[0], expected[2]);
        tried("urEventWait", ur!(Event.pfnWait(1, [moved.handle()].as_ptr())), || ())?;

        let mut pointer = null_mut();
        let (access, out) = (ur_map_flags_t::READ | ur_map_flags_t::WRITE, &raw mut pointer);
        let answer = ur!(Enqueue.pfnMemBufferMap(q2, m, yes, access, 4, 128, 0, null(), null_mut(), out));
        assert_eq!(pointer.is_null(), answer != Code::SUCCESS, "urEnqueueMemBufferMap's output");
        tried("urEnqueueMemBufferMap", answer, || ())?;
        set(pointer, 0, 77);
        expected[1] = 77;
        let unmap = |event| ur!(Enqueue.pfnMemUnmap(q1, m, pointer, 0, null(), event));
        let unmapped = enqueue("urEnqueueMemUnmap", unmap)?;
        let mut native = 0;
        tried("urEventWait", ur!(Event.pfnWait(1, [unmapped.handle()].as_ptr())), || ())?;
        let device = fixture.devices[0];
        tried("urMemGetNativeHandle", ur!(Mem.pfnGetNativeHandle(m, device, &raw mut native)), || ())?;
        tried("a launch", launch(5).value(WORDS as u32).enqueue(&second, null_mut()), || ())?;
        tried("urQueueFinish", ur!(Queue.pfnFinish(q2)), || ())?;
        expected.iter_mut().for_each(|word| *word += 5);
        let to = found.as_mut_ptr().cast();
        let answer = ur!(Enqueue.pfnMemBufferRead(q1, m, yes, 0, BYTES, to, 0, null(), null_mut()));
        tried("urEnqueueMemBufferRead", answer, || ())?;
        assert_eq!(found, expected, "every call succeeded and the result is wrong");
        tried("urQueueFinish", ur!(Queue.pfnFinish(q1)), || ())?;
    }
    Ok(())
}

fn gives_back(name: &str) -> bool {
    ["Destroy", "Free", "Unload", "Release"].iter().any(|word| name.contains(word))
}

fn switches(name: &str) -> bool {
    ["cuCtxSetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "hipSetDevice"].contains(&name)
}

fn allowed(error: i32) -> &'static [Code] {
    match error {
        status::OUT_OF_MEMORY => {
            &[Code::ERROR_OUT_OF_DEVICE_MEMORY, Code::ERROR_OUT_OF_HOST_MEMORY, Code::ERROR_OUT_OF_RESOURCES]
        }
        _ => &[Code::ERROR_ADAPTER_SPECIFIC, Code::ERROR_PROGRAM_BUILD_FAILURE],
    }
}

/// Fails each native call of the scenario in turn.
fn sweep(devices: usize, flags: Flags, source: Mem, error: i32) {
    let mut fixture = Fixture::new();
    let Some(sim) = fixture.sim() else {
        println!("skipped: needs the simulated driver");
        return;
    };
    if fixture.devices.len() < devices {
        println!("skipped: needs {devices} devices");
        return;
    }
    sim.clear_reports();
    let current = Current::at(Place::LastDevice);
    fixture.accept_objects();
    for library in Control::loaded() {
        let (result, calls) = library.calls_of(|| scenario(&fixture, devices, flags, source));
        assert_eq!(result, Ok(()), "the scenario works when nothing fails: {}", ur_conformance::last_error());
        current.expect_unchanged("the scenario");
        let mut failures = 0;
        for (name, count) in calls.iter().filter(|(name, _)| !gives_back(name)) {
            for nth in 1..=*count {
                library.fail(name, nth, error);
                let result = scenario(&fixture, devices, flags, source);
                library.clear_faults();
                let what = format!("{name}, call {nth} of {count}, answers {error}");
                if switches(name) {
                    current.put_back();
                }
                current.expect_unchanged(&what);
                if let Err((call, code)) = result {
                    failures += 1;
                    assert!(allowed(error).contains(&code), "{what}: {call} answers {code:?}");
                }
                let reports = fixture.sim().map(Sim::reports).unwrap_or_default();
                assert!(reports.is_empty(), "{what}: misuse: {reports:#?}");
                fixture.expect_none_left(&what);
                let again = scenario(&fixture, devices, flags, source);
                assert_eq!(again, Ok(()), "{what}; the next time: {}", ur_conformance::last_error());
            }
        }
        assert!(failures > 10, "only {failures} of the injected failures reached the caller");
    }
}

#[test]
fn out_of_memory_in_any_native_call_on_one_device_leaves_nothing() {
    for source in [Mem::empty(), Mem::ALLOC_COPY_HOST_POINTER, Mem::ALLOC_HOST_POINTER] {
        sweep(1, Flags::empty(), source, status::OUT_OF_MEMORY);
    }
}

#[test]
fn out_of_memory_in_any_native_call_on_two_devices_leaves_nothing() {
    sweep(2, Flags::empty(), Mem::empty(), status::OUT_OF_MEMORY);
}

#[test]
fn an_unknown_failure_in_any_native_call_over_host_memory_leaves_nothing() {
    sweep(1, Flags::empty(), Mem::USE_HOST_POINTER, status::UNKNOWN);
    sweep(2, Flags::empty(), Mem::USE_HOST_POINTER, status::UNKNOWN);
}

#[test]
fn an_unknown_failure_in_any_native_call_of_out_of_order_and_profiling_queues_leaves_nothing() {
    sweep(2, Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Mem::ALLOC_COPY_HOST_POINTER, status::UNKNOWN);
    sweep(2, Flags::PROFILING_ENABLE, Mem::empty(), status::UNKNOWN);
}

/// The map is still there when its end could not be enqueued, and can be ended again.
#[test]
fn a_failed_urEnqueueMemUnmap_leaves_the_map() {
    let fixture = Fixture::new();
    let sim = ur_conformance::needs_sim!(fixture);
    let queue = fixture.in_order();
    let buffer = Buffer::new(&fixture, 64);
    buffer.write(&queue, &[1u8; 64]);
    let mut pointer = null_mut();
    let (q, m, out) = (queue.handle(), buffer.handle(), &raw mut pointer);
    let (yes, write) = (CBool::TRUE, ur_map_flags_t::WRITE);
    ur_conformance::ok!(Enqueue.pfnMemBufferMap(q, m, yes, write, 0, 64, 0, null(), null_mut(), out));
    set(pointer, 0, 0x0202_0202);
    sim.fail("cuMemcpyAsync", 1, status::UNKNOWN);
    ur_conformance::refused!(ERROR_ADAPTER_SPECIFIC, Enqueue.pfnMemUnmap(q, m, pointer, 0, null(), null_mut()));
    assert_eq!(buffer.read::<u8>(&queue), [1; 64]);
    ur_conformance::ok!(Enqueue.pfnMemUnmap(q, m, pointer, 0, null(), null_mut()));
    assert_eq!(buffer.read::<u8>(&queue)[..5], [2, 2, 2, 2, 1]);
}
