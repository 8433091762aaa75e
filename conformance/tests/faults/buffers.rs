//! Every native call of work with buffers fails in turn, on one device and on two: the caller gets a code that fits,
//! nothing is left behind, what was current on the thread still is, and the next attempt works. As `commands`, which does
//! so for everything else. Needs the simulated driver.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::{null, null_mut};

use ur_conformance::buffer::create;
use ur_conformance::faults::{Attempt, Finish, Sweep, enqueue, make_kernel, make_queue, tried};
use ur_conformance::ffi::{
    CBool, ur_map_flags_t, ur_mem_flags_t as Mem, ur_queue_flags_t as Flags, ur_rect_offset_t, ur_rect_region_t,
    ur_result_t as Code,
};
use ur_conformance::sim::status;
use ur_conformance::{Buffer, Context, Environment, Fixture, Launch, needs_sim, ur};

pub(crate) const WORDS: usize = 64;
pub(crate) const BYTES: usize = 4 * WORDS;

pub(crate) fn make_buffer(context: &Context, flags: Mem, host: &mut [u32]) -> Attempt<Buffer> {
    let mut mem = null_mut();
    let wants = flags.intersects(Mem::USE_HOST_POINTER | Mem::ALLOC_COPY_HOST_POINTER);
    let pointer = if wants { host.as_mut_ptr().cast() } else { null_mut() };
    let answer = create(context.handle(), flags, BYTES, pointer, &raw mut mem);
    assert_eq!(mem.is_null(), answer != Code::SUCCESS, "urMemBufferCreate's output");
    tried("urMemBufferCreate", answer, || Buffer::take(mem, BYTES))
}

/// Host memory that a map of a scenario writes.
pub(crate) fn set(pointer: *mut core::ffi::c_void, word: usize, value: u32) {
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
    let image = Environment::get().image("basic.ptx");
    let (_, kernel) = make_kernel(&context, &fixture.devices[..devices], &image, c"add_constant")?;
    {
        let (first, second) = (
            make_queue(&context, fixture.devices[0], flags)?,
            make_queue(&context, fixture.devices[devices - 1], flags)?,
        );
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

fn sweep(devices: usize, flags: Flags, source: Mem, error: i32) {
    let mut fixture = Fixture::new();
    if fixture.sim().is_none() || fixture.devices.len() < devices {
        println!("skipped: needs the simulated driver with {devices} devices");
        return;
    }
    let sweep = Sweep { error, returning: false, least: 10, may_also: |_, _| false };
    sweep.over(&mut fixture, |fixture| scenario(fixture, devices, flags, source));
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

/// The kernel runs, so what it writes is current nowhere else, whichever of its buffers could not be marked.
#[test]
fn a_launch_of_which_one_buffer_cannot_be_marked_moves_the_others_all_the_same() {
    let fixture = Fixture::over_all_devices();
    let sim = needs_sim!(fixture);
    let &[first, second, ..] = &*fixture.devices else { return };
    let image = Environment::get().image("basic.ptx");
    let context = fixture.context_of(&[first, second]);
    let Ok((_program, kernel)) = make_kernel(&context, &[first, second], &image, c"wait_for_change") else {
        panic!("a kernel")
    };
    let [here, there] = [first, second].map(|device| fixture.queue_in(context.handle(), device, Flags::empty()));
    let [changed, result] = [(); 2].map(|()| Buffer::of(context.handle(), Mem::empty(), BYTES, null_mut()));
    changed.write(&here, &[7u32; WORDS]);
    let launch = Launch::new(&kernel, &[1]).local(&[1]).buffer(&changed, Mem::READ_WRITE).value(0u32);
    let launch = launch.buffer(&result, Mem::READ_WRITE);
    let records = || sim.calls_so_far("cuEventRecord");
    result.write(&here, &[0u32; WORDS]);
    let before = records();
    assert_eq!(launch.enqueue(&there, null_mut()), Code::SUCCESS);
    let usual = records() - before;
    assert_eq!(result.read::<u32>(&here)[0], 7);
    changed.write(&here, &[8u32; WORDS]);
    // The last two are those of the kernel's buffers.
    result.write(&here, &[0u32; WORDS]);
    sim.fail("cuEventRecord", usual - 1, status::UNKNOWN);
    sim.fail("cuStreamSynchronize", 1, status::UNKNOWN);
    let answer = launch.enqueue(&there, null_mut());
    sim.clear_faults();
    assert_eq!((answer, result.read::<u32>(&here)[0]), (Code::ERROR_ADAPTER_SPECIFIC, 8));
}
