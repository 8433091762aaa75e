//! Copies out of the process's own memory, which native libraries copy at the call: behind a host task they are of what its
//! function has written there.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use ur_conformance::ffi::{
    CBool, ur_device_info_t, ur_event_handle_t, ur_map_flags_t as Map, ur_mem_flags_t as MemFlags,
    ur_queue_flags_t as Flags, ur_rect_offset_t, ur_rect_region_t, ur_result_t as Code,
};
use ur_conformance::image::{Image, Shape};
use ur_conformance::memory::Kind;
use ur_conformance::owned::event_of;
use ur_conformance::{Buffer, Event, Fixture, Queue, Timeline, ask, child, expect_success, needs_sim, ok, query, ur};

const PATIENCE: Duration = Duration::from_secs(20);
const BYTES: usize = 64;
const NEW: [u8; BYTES] = [7; BYTES];

/// What the task's function writes, once it may.
struct Work {
    to: *mut u8,
    go: Receiver<()>,
}

extern "C" fn write(data: *mut c_void) {
    // SAFETY: `task` gave the work away for one call.
    let work = unsafe { Box::from_raw(data.cast::<Work>()) };
    let _ = work.go.recv_timeout(PATIENCE);
    // SAFETY: as many bytes are there, which nobody uses until the task has ended.
    unsafe { work.to.copy_from_nonoverlapping(NEW.as_ptr(), BYTES) };
}

/// Enqueues a task that writes when it is told to.
fn task(queue: &Queue, to: *mut u8) -> (Sender<()>, Event) {
    let (sender, go) = channel();
    let data = Box::into_raw(Box::new(Work { to, go })).cast();
    let q = queue.handle();
    let event = event_of(|event| ur!(EnqueueExp.pfnHostTaskExp(q, Some(write), data, null(), 0, null(), event)));
    (sender, event)
}

fn can(fixture: &Fixture) -> bool {
    query::get::<u8>(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::ENQUEUE_HOST_TASK_SUPPORT_EXP))) != 0
}

/// Has a task of another queue or of the same one write the process's memory, and `copy` enqueue a copy from there meanwhile; then
/// `read` has to find what the task wrote.
fn check(
    copy: impl Fn(&Fixture, &Queue, *mut c_void, ur_event_handle_t) -> Code,
    read: impl Fn(&Fixture, &Queue) -> Vec<u8>,
    fixture: &Fixture,
) {
    if !can(fixture) {
        println!("skipped: the device has no host tasks");
        return;
    }
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        for is_deferred in [false, true] {
            let (first, second) = (fixture.queue(flags), fixture.queue(flags));
            for queue in [&first, &second] {
                let mut memory = Box::new([1u8; BYTES]);
                let timeline =
                    (is_deferred && ur_conformance::timeline::are_there()).then(|| Timeline::at_zero(fixture));
                if let Some(timeline) = &timeline {
                    first.wait_for(timeline, 1);
                }
                let (go, written) = task(&first, memory.as_mut_ptr());
                // Returns though the task stands.
                expect_success(copy(fixture, queue, memory.as_mut_ptr().cast(), written.handle()), "the copy");
                if let Some(timeline) = &timeline {
                    timeline.signal(1);
                }
                let _ = go.send(());
                queue.finish();
                first.finish();
                let what = format!("{flags:?}, deferred: {is_deferred}, same queue: {}", core::ptr::eq(queue, &first));
                assert_eq!(read(fixture, queue), NEW, "{what}");
            }
        }
    }
}

#[test]
fn urEnqueueUSMMemcpy_copies_what_the_task_before_it_has_written() {
    let fixture = Fixture::new();
    let to = fixture.memory(Kind::Device, BYTES);
    check(
        |_, queue, from, after| {
            let (q, list) = (queue.handle(), [after]);
            ur!(Enqueue.pfnUSMMemcpy(q, CBool::FALSE, to.pointer(), from, BYTES, 1, list.as_ptr(), null_mut()))
        },
        |_, queue| to.read::<u8>(queue, BYTES),
        &fixture,
    );
}

/// Where nothing comes before it, there is nothing to keep it for: what cannot be kept may come behind it.
#[test]
fn urEnqueueUSMMemcpy_on_a_queue_without_work_is_not_kept_for_another_queue_s_task() {
    let test = "urEnqueueUSMMemcpy_on_a_queue_without_work_is_not_kept_for_another_queue_s_task";
    child::in_time(test, &[("", ""); 0], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        if !can(&fixture) {
            println!("skipped: the device has no host tasks");
            return;
        }
        let to = fixture.memory(Kind::Device, BYTES);
        let (busy, idle) = (fixture.in_order(), fixture.in_order());
        let mut written = Box::new([1u8; BYTES]);
        let (go, _written) = task(&busy, written.as_mut_ptr());
        let copy = || {
            let q = idle.handle();
            ok!(Enqueue.pfnUSMMemcpy(q, CBool::FALSE, to.pointer(), NEW.as_ptr().cast(), BYTES, 0, null(), null_mut()));
        };
        let is_own = std::thread::scope(|scope| {
            let held = sim.hold_calls("cuMemcpyAsync");
            let copying = scope.spawn(copy);
            held.wait_for_one(|| false);
            !copying.is_finished()
        });
        idle.finish();
        let copied = to.read::<u8>(&idle, BYTES);
        // The task writes no memory that a failure has freed.
        go.send(()).expect("the task waits");
        busy.finish();
        assert!(is_own, "the native call is another thread's");
        assert_eq!(copied, NEW);
    });
}

#[test]
fn urEnqueueUSMMemcpy2D_copies_what_the_task_before_it_has_written() {
    let fixture = Fixture::new();
    let to = fixture.memory(Kind::Device, 2 * BYTES);
    check(
        |_, queue, from, after| {
            let (q, list, at) = (queue.handle(), [after], to.pointer());
            ur!(Enqueue.pfnUSMMemcpy2D(q, CBool::FALSE, at, 32, from, 16, 16, 4, 1, list.as_ptr(), null_mut()))
        },
        |_, queue| to.read::<u8>(queue, 128).chunks(32).flat_map(|row| row[..16].to_vec()).collect(),
        &fixture,
    );
}

#[test]
fn urEnqueueMemBufferWrite_copies_what_the_task_before_it_has_written() {
    let fixture = Fixture::new();
    let buffer = Buffer::new(&fixture, BYTES);
    check(
        |_, queue, from, after| {
            let (q, m, list, no) = (queue.handle(), buffer.handle(), [after], CBool::FALSE);
            ur!(Enqueue.pfnMemBufferWrite(q, m, no, 0, BYTES, from, 1, list.as_ptr(), null_mut()))
        },
        |_, queue| buffer.read::<u8>(queue),
        &fixture,
    );
}

#[test]
fn urEnqueueMemBufferWriteRect_copies_what_the_task_before_it_has_written() {
    let fixture = Fixture::new();
    let buffer = Buffer::new(&fixture, 2 * BYTES);
    check(
        |_, queue, from, after| {
            let (q, m, list, no) = (queue.handle(), buffer.handle(), [after], CBool::FALSE);
            let (here, region) = (ur_rect_offset_t::default(), ur_rect_region_t { width: 16, height: 4, depth: 1 });
            ur!(Enqueue.pfnMemBufferWriteRect(
                q,
                m,
                no,
                here,
                here,
                region,
                32,
                0,
                16,
                0,
                from,
                1,
                list.as_ptr(),
                null_mut()
            ))
        },
        |_, queue| buffer.read::<u8>(queue).chunks(32).flat_map(|row| row[..16].to_vec()).collect(),
        &fixture,
    );
}

#[test]
fn urEnqueueDeviceGlobalVariableWrite_copies_what_the_task_before_it_has_written() {
    let fixture = Fixture::new();
    let program = fixture.program("basic.ptx");
    let (name, size) = (c"table".as_ptr(), 32);
    check(
        |_, queue, from, after| {
            let (q, p, list, no) = (queue.handle(), program.handle(), [after], CBool::FALSE);
            ur!(Enqueue.pfnDeviceGlobalVariableWrite(q, p, name, no, size, 0, from, 1, list.as_ptr(), null_mut()))
        },
        |_, queue| {
            let mut found = vec![0u8; size];
            let (q, p, to) = (queue.handle(), program.handle(), found.as_mut_ptr().cast());
            let yes = CBool::TRUE;
            ok!(Enqueue.pfnDeviceGlobalVariableRead(q, p, name, yes, size, 0, to, 0, null(), null_mut()));
            [found.clone(), found].concat()
        },
        &fixture,
    );
}

#[test]
fn urEnqueueMemImageWrite_copies_what_the_task_before_it_has_written() {
    let fixture = Fixture::new();
    let image = Image::new(&fixture, Shape::words(&[2, 2]));
    check(
        |_, queue, from, after| {
            let (part, list, mut event) = (image.whole(), [after], null_mut());
            let answer = image.write_box(queue, &part, [0, 0], from, &list, &raw mut event);
            drop((answer == Code::SUCCESS).then(|| Event::take(event)));
            answer
        },
        |_, queue| image.read::<u8>(queue),
        &fixture,
    );
}

/// The memory of a buffer over `USE_HOST_POINTER` is the map's, and a task may be what writes there before the unmap.
#[test]
fn urEnqueueMemUnmap_brings_back_what_the_task_before_it_has_written() {
    let fixture = Fixture::new();
    if !can(&fixture) {
        println!("skipped: the device has no host tasks");
        return;
    }
    let add = fixture.basic(c"add_bytes");
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = fixture.queue(flags);
        let mut host = Box::new([1u8; BYTES]);
        let buffer = Buffer::of(fixture.context(), MemFlags::USE_HOST_POINTER, BYTES, host.as_mut_ptr().cast());
        let (q, m, mut pointer) = (queue.handle(), buffer.handle(), null_mut());
        let (yes, flags, out) = (CBool::TRUE, Map::WRITE, &raw mut pointer);
        ok!(Enqueue.pfnMemBufferMap(q, m, yes, flags, 0, BYTES, 0, null(), null_mut(), out));
        let (go, written) = task(&queue, pointer.cast());
        let after = [written.handle()];
        let unmapped = event_of(|event| ur!(Enqueue.pfnMemUnmap(q, m, pointer, 1, after.as_ptr(), event)));
        let launch = ur_conformance::Launch::new(&add, &[BYTES]).buffer(&buffer, MemFlags::READ_WRITE);
        launch.value(1u8).value(BYTES as u32).after(&[&unmapped]).on(&queue);
        let _ = go.send(());
        queue.finish();
        assert_eq!(buffer.read::<u8>(&queue), vec![8; BYTES], "{flags:?}");
        drop(buffer);
        assert_eq!(*host, [8; BYTES]);
    }
}
