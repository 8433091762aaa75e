//! Host tasks that give memory, images, programs and contexts back while their own queue waits for them: none may wait for
//! its own stream, which the native library's frees do. Each test runs in a process that ends itself if it hangs.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::mpsc::{Receiver, channel};

use ur_conformance::ffi::{
    CBool, ur_device_info_t, ur_event_handle_t, ur_map_flags_t, ur_mem_flags_t, ur_queue_flags_t as Flags,
    ur_result_t as Code, ur_usm_alloc_info_t as Info, ur_usm_type_t,
};
use ur_conformance::memory::{Kind, allocate, pattern};
use ur_conformance::owned::event_of;
use ur_conformance::{
    Buffer, Event, Fixture, Gate, Image, Queue, Shape, ask, child, expect_success, needs_sim, ok, query, ur,
};

const ORDERS: [Flags; 2] = [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE];

type Work = Box<dyn FnOnce() + Send>;

extern "C" fn run(data: *mut c_void) {
    // SAFETY: `task` gave the work away for one call.
    let work = unsafe { Box::from_raw(data.cast::<Work>()) };
    work();
}

/// Puts a task on a queue, whose result comes to the receiver; `None` where the device has no host tasks.
pub(super) fn task<R: Send + 'static>(
    fixture: &Fixture,
    queue: &Queue,
    waits: &[ur_event_handle_t],
    work: impl FnOnce() -> R + Send + 'static,
) -> Option<(Receiver<R>, Event)> {
    let property = ur_device_info_t::ENQUEUE_HOST_TASK_SUPPORT_EXP;
    if query::get::<u8>(ask!(Device.pfnGetInfo(fixture.device(), property))) == 0 {
        return None;
    }
    let (sender, results) = channel();
    let work: Work = Box::new(move || drop(sender.send(work())));
    let data = Box::into_raw(Box::new(work)).cast();
    let (count, list) = (waits.len() as u32, if waits.is_empty() { null() } else { waits.as_ptr() });
    let event =
        event_of(|event| ur!(EnqueueExp.pfnHostTaskExp(queue.handle(), Some(run), data, null(), count, list, event)));
    Some((results, event))
}

/// A number for another thread, and the pointer again.
pub(super) fn far<T>(pointer: *mut T) -> usize {
    pointer.expose_provenance()
}

pub(super) fn near<T>(address: usize) -> *mut T {
    core::ptr::with_exposed_provenance_mut(address)
}

fn in_a_process(test: &str, body: impl Fn(&Fixture, &Queue)) {
    child::in_time(test, &[] as &[(&str, &str)], || {
        let fixture = Fixture::new();
        fixture.allow_late_releases();
        for flags in ORDERS {
            let queue = fixture.queue(flags);
            body(&fixture, &queue);
            queue.finish();
        }
    });
}

fn plain(fixture: &Fixture, kind: Kind) -> *mut c_void {
    let mut pointer = null_mut();
    let answer = allocate(kind, fixture.context(), fixture.device(), null(), 4096, &raw mut pointer);
    expect_success(answer, "an allocation");
    pointer
}

#[test]
fn urUSMFree_in_a_host_task_does_not_wait_for_the_task_s_own_queue() {
    in_a_process("urUSMFree_in_a_host_task_does_not_wait_for_the_task_s_own_queue", |fixture, queue| {
        for kind in Kind::ALL {
            let pointer = plain(fixture, kind);
            let value = 3u32;
            let from = (&raw const value).cast();
            ok!(Enqueue.pfnUSMFill(queue.handle(), pointer, 4, from, 4096, 0, null(), null_mut()));
            queue.finish();
            let (context, memory) = (far(fixture.context()), far(pointer));
            let free = move || {
                let first = ur!(USM.pfnFree(near(context), near(memory)));
                (first, ur!(USM.pfnFree(near(context), near(memory))))
            };
            let Some((answers, event)) = task(fixture, queue, &[], free) else { return };
            event.wait();
            assert_eq!(answers.recv(), Ok((Code::SUCCESS, Code::ERROR_INVALID_MEM_OBJECT)), "{kind:?}, freed twice");
        }
    });
}

/// There a free is handed over, and nobody would hear what the native library makes of it.
#[test]
fn urUSMFree_in_a_host_task_refuses_registered_memory_which_stays_what_it_is() {
    let test = "urUSMFree_in_a_host_task_refuses_registered_memory_which_stays_what_it_is";
    in_a_process(test, |fixture, queue| {
        let mut bytes = vec![0u8; 65536];
        let start = bytes.as_mut_ptr().cast::<c_void>();
        ok!(USMExp.pfnImportExp(fixture.context(), start, 32768));
        let (context, memory) = (far(fixture.context()), far(start));
        let free = move || {
            let answer = ur!(USM.pfnFree(near(context), near(memory)));
            let inside = near::<c_void>(memory + 64).cast_const();
            (answer, query::get::<u32>(ask!(USM.pfnGetMemAllocInfo(near(context), inside, Info::TYPE))))
        };
        if let Some((answers, event)) = task(fixture, queue, &[], free) {
            event.wait();
            assert_eq!(answers.recv(), Ok((Code::ERROR_INVALID_MEM_OBJECT, ur_usm_type_t::HOST.0)));
        }
        ok!(USMExp.pfnReleaseExp(fixture.context(), start));
    });
}

#[test]
fn urUSMFree_in_a_host_task_ends_the_allocation_at_once() {
    in_a_process("urUSMFree_in_a_host_task_ends_the_allocation_at_once", |fixture, queue| {
        for kind in Kind::ALL {
            let (context, memory) = (far(fixture.context()), far(plain(fixture, kind)));
            let free = move || {
                expect_success(ur!(USM.pfnFree(near(context), near(memory))), "urUSMFree");
                let inside = near::<c_void>(memory + 64).cast_const();
                query::get(ask!(USM.pfnGetMemAllocInfo(near(context), inside, Info::TYPE)))
            };
            let Some((types, event)) = task(fixture, queue, &[], free) else { return };
            event.wait();
            assert_eq!(types.recv().map(ur_usm_type_t), Ok(ur_usm_type_t::UNKNOWN), "{kind:?}");
        }
    });
}

#[test]
fn urUSMFree_in_a_host_task_gives_the_memory_back() {
    in_a_process("urUSMFree_in_a_host_task_gives_the_memory_back", |fixture, queue| {
        let property = ur_device_info_t::GLOBAL_MEM_SIZE;
        let total: u64 = query::get(ask!(Device.pfnGetInfo(fixture.device(), property)));
        if fixture.sim().is_none() {
            return;
        }
        let most = (total / 4 * 3) as usize;
        for _ in 0..3 {
            let mut pointer = null_mut();
            let answer = allocate(Kind::Device, fixture.context(), fixture.device(), null(), most, &raw mut pointer);
            expect_success(answer, "most of the device's memory");
            let (context, memory) = (far(fixture.context()), far(pointer));
            let Some((answers, event)) =
                task(fixture, queue, &[], move || ur!(USM.pfnFree(near(context), near(memory))))
            else {
                return;
            };
            event.wait();
            assert_eq!(answers.recv(), Ok(Code::SUCCESS));
        }
    });
}

#[test]
fn urMemRelease_of_the_last_reference_of_an_image_in_a_host_task_does_not_wait_for_its_queue() {
    let test = "urMemRelease_of_the_last_reference_of_an_image_in_a_host_task_does_not_wait_for_its_queue";
    in_a_process(test, |fixture, queue| {
        let image = Image::new(fixture, Shape::word(&[8, 4]));
        image.write(queue, &pattern(1, image.shape.bytes()));
        let mem = far(image.mem.handle());
        core::mem::forget(image);
        let Some((answers, event)) = task(fixture, queue, &[], move || ur!(Mem.pfnRelease(near(mem)))) else { return };
        event.wait();
        assert_eq!(answers.recv(), Ok(Code::SUCCESS));
    });
}

#[test]
fn urMemRelease_of_the_last_reference_of_a_buffer_in_a_host_task_does_not_wait_for_its_queue() {
    let test = "urMemRelease_of_the_last_reference_of_a_buffer_in_a_host_task_does_not_wait_for_its_queue";
    in_a_process(test, |fixture, queue| {
        let mut host = vec![5u8; 4096];
        let sources = [ur_mem_flags_t::empty(), ur_mem_flags_t::ALLOC_HOST_POINTER, ur_mem_flags_t::USE_HOST_POINTER];
        for source in sources {
            let uses = source.contains(ur_mem_flags_t::USE_HOST_POINTER);
            let pointer = if uses { host.as_mut_ptr().cast() } else { null_mut() };
            let buffer = Buffer::of(fixture.context(), source, 4096, pointer);
            buffer.write(queue, &[9u8; 4096]);
            let mem = far(buffer.handle());
            core::mem::forget(buffer);
            let Some((answers, event)) = task(fixture, queue, &[], move || ur!(Mem.pfnRelease(near(mem)))) else {
                return;
            };
            event.wait();
            assert_eq!(answers.recv(), Ok(Code::SUCCESS), "{source:?}");
        }
        assert_eq!(host, [9; 4096], "the bytes are where the application's memory is");
    });
}

#[test]
fn a_context_over_the_same_device_can_be_made_and_released_in_a_host_task() {
    in_a_process("a_context_over_the_same_device_can_be_made_and_released_in_a_host_task", |fixture, queue| {
        let device = far(fixture.device());
        let work = move || {
            let (mut device, mut context, mut queue, mut memory) = (near(device), null_mut(), null_mut(), null_mut());
            ok!(Context.pfnCreate(1, &raw mut device, null(), &raw mut context));
            ok!(Queue.pfnCreate(context, device, null(), &raw mut queue));
            ok!(USM.pfnDeviceAlloc(context, device, null(), null_mut(), 4096, &raw mut memory));
            let value = 1u32;
            let from = (&raw const value).cast();
            ok!(Enqueue.pfnUSMFill(queue, memory, 4, from, 4096, 0, null(), null_mut()));
            ok!(Queue.pfnFinish(queue));
            ok!(USM.pfnFree(context, memory));
            ok!(Queue.pfnRelease(queue));
            ok!(Context.pfnRelease(context));
        };
        let Some((done, event)) = task(fixture, queue, &[], work) else { return };
        event.wait();
        assert_eq!(done.recv(), Ok(()));
    });
}

#[test]
fn a_context_s_last_objects_can_be_released_in_a_host_task_of_their_own_queue() {
    in_a_process("a_context_s_last_objects_can_be_released_in_a_host_task_of_their_own_queue", |fixture, _| {
        let context = fixture.context_of(&fixture.devices[..1]);
        let queue = fixture.queue_in(context.handle(), fixture.device(), Flags::empty());
        let mut pool_memory = null_mut();
        let (q, out) = (queue.handle(), &raw mut pool_memory);
        ok!(EnqueueExp.pfnUSMDeviceAllocExp(q, null_mut(), 4096, null(), 0, null(), out, null_mut()));
        ok!(EnqueueExp.pfnUSMFreeExp(q, null_mut(), pool_memory, 0, null(), null_mut()));
        let handles = (far(context.handle()), far(queue.handle()));
        let work = move || {
            ok!(Queue.pfnRelease(near(handles.1)));
            ok!(Context.pfnRelease(near(handles.0)));
        };
        let Some((done, event)) = task(fixture, &queue, &[], work) else { return };
        core::mem::forget((queue, context));
        event.wait();
        assert_eq!(done.recv(), Ok(()));
    });
}

/// Nobody else has the stream that waits for the task, and HIP waits for a stream's work before it ends the stream.
#[test]
fn urQueueRelease_and_urEventRelease_in_a_host_task_do_not_wait_for_the_task_s_own_stream() {
    let test = "urQueueRelease_and_urEventRelease_in_a_host_task_do_not_wait_for_the_task_s_own_stream";
    in_a_process(test, |fixture, _| {
        for flags in ORDERS {
            let queue = fixture.queue(flags);
            let ((give, given), handle) = (channel(), far(queue.handle()));
            let work = move || {
                let queue = ur!(Queue.pfnRelease(near(handle)));
                given.recv().map(|event| (queue, ur!(Event.pfnRelease(near(event)))))
            };
            let Some((answers, event)) = task(fixture, &queue, &[], work) else { return };
            give.send(far(event.handle())).expect("the task waits for it");
            core::mem::forget((queue, event));
            assert_eq!(answers.recv(), Ok(Ok((Code::SUCCESS, Code::SUCCESS))), "{flags:?}");
        }
    });
}

#[test]
fn urProgramRelease_in_a_host_task_does_not_wait_for_the_task_s_own_queue() {
    in_a_process("urProgramRelease_in_a_host_task_does_not_wait_for_the_task_s_own_queue", |fixture, queue| {
        let program = fixture.program("basic.ptx");
        let handle = far(program.handle());
        core::mem::forget(program);
        let Some((answers, event)) = task(fixture, queue, &[], move || ur!(Program.pfnRelease(near(handle)))) else {
            return;
        };
        event.wait();
        assert_eq!(answers.recv(), Ok(Code::SUCCESS));
    });
}

#[test]
fn urAdapterRelease_in_a_host_task_does_not_wait_for_the_task_s_own_queue() {
    in_a_process("urAdapterRelease_in_a_host_task_does_not_wait_for_the_task_s_own_queue", |fixture, queue| {
        let Some((done, event)) = task(fixture, queue, &[], ur_conformance::renew_adapter) else { return };
        event.wait();
        assert_eq!(done.recv(), Ok(()));
    });
}

/// A callback runs where host tasks do, and must not wait either.
#[test]
fn urUSMFree_in_an_event_s_callback_does_not_wait_for_a_host_task() {
    in_a_process("urUSMFree_in_an_event_s_callback_does_not_wait_for_a_host_task", |fixture, queue| {
        let other = fixture.in_order();
        let (open, opened) = channel::<()>();
        let Some((_, event)) = task(fixture, queue, &[], move || opened.recv()) else { return };
        let (context, memory) = (far(fixture.context()), far(plain(fixture, Kind::Device)));
        let free: Work = Box::new(move || {
            expect_success(ur!(USM.pfnFree(near(context), near(memory))), "urUSMFree");
            // The task on the other queue ends after the free has returned.
            drop(open);
        });
        unsafe extern "C" fn call(
            _: ur_event_handle_t,
            _: ur_conformance::ffi::ur_execution_info_t,
            data: *mut c_void,
        ) {
            run(data);
        }
        let empty = event_of(|event| ur!(Enqueue.pfnEventsWait(other.handle(), 0, null(), event)));
        let data = Box::into_raw(Box::new(free)).cast();
        let complete = ur_conformance::ffi::ur_execution_info_t::COMPLETE;
        ok!(Event.pfnSetCallback(empty.handle(), complete, Some(call), data));
        event.wait();
    });
}

/// While a native free waits, launches of other threads wait behind it: the task's own would wait for the task.
#[test]
fn nothing_that_is_given_back_beside_a_host_task_waits_for_it() {
    in_a_process("nothing_that_is_given_back_beside_a_host_task_waits_for_it", |fixture, queue| {
        let image = Image::new(fixture, Shape::word(&[8, 4]));
        image.write(&fixture.in_order(), &pattern(1, image.shape.bytes()));
        let buffer = Buffer::new(fixture, 4096);
        buffer.write(&fixture.in_order(), &[9u8; 4096]);
        let (program, memory) = (fixture.program("basic.ptx"), Kind::ALL.map(|kind| plain(fixture, kind)));
        let (other, target) = (fixture.in_order(), fixture.memory(Kind::Device, 4096));
        let handles = (far(other.handle()), far(target.pointer()));
        let (open, opened) = channel::<()>();
        let work = move || {
            let _ = opened.recv();
            let value = 1u32;
            let from = (&raw const value).cast();
            ok!(Enqueue.pfnUSMFill(near(handles.0), near(handles.1), 4, from, 4096, 0, null(), null_mut()));
            ok!(Queue.pfnFinish(near(handles.0)));
        };
        let Some((done, event)) = task(fixture, queue, &[], work) else { return };
        for pointer in memory {
            ok!(USM.pfnFree(fixture.context(), pointer));
        }
        drop((image, buffer, program));
        drop(open);
        event.wait();
        assert_eq!(done.recv(), Ok(()));
    });
}

/// The native call waits for the device, which waits for the task; and the application may give the pages back at once, so it is not put off.
#[test]
fn urUSMReleaseExp_in_a_host_task_is_refused_and_releases_once_the_task_has_ended() {
    let test = "urUSMReleaseExp_in_a_host_task_is_refused_and_releases_once_the_task_has_ended";
    child::in_time(test, &[] as &[(&str, &str)], || {
        let fixture = Fixture::new();
        let (queue, mut memory) = (fixture.in_order(), vec![0u8; 1 << 16]);
        let start: *mut c_void = memory.as_mut_ptr().cast();
        ok!(USMExp.pfnImportExp(fixture.context(), start, memory.len()));
        let (context, address) = (far(fixture.context()), far(start));
        let release = move || ur!(USMExp.pfnReleaseExp(near(context), near(address)));
        let Some((answers, event)) = task(&fixture, &queue, &[], release) else { return };
        event.wait();
        assert_eq!(answers.recv(), Ok(Code::ERROR_INVALID_OPERATION));
        ok!(USMExp.pfnReleaseExp(fixture.context(), start));
        queue.finish();
    });
}

/// The thread that gives things back waits for the copy. That is no free, and keeps nobody out.
#[test]
fn urEnqueueHostTaskExp_does_not_wait_for_the_copy_of_a_map_whose_buffer_was_released() {
    let test = "urEnqueueHostTaskExp_does_not_wait_for_the_copy_of_a_map_whose_buffer_was_released";
    child::in_time(test, &[("UR_USM_POOL", "1"), ("UR_USM_POOL_DEBUG", "0")], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        fixture.allow_late_releases();
        let (held_up, queue) = (fixture.in_order(), fixture.in_order());
        let buffer = Buffer::new(&fixture, 4096);
        buffer.write(&queue, &[1_u8; 4096]);
        let mut gate = Gate::new(&fixture);
        gate.block(&held_up);
        let (q, m, no, mut pointer) = (held_up.handle(), buffer.handle(), CBool::FALSE, null_mut());
        let over = ur_map_flags_t::WRITE_INVALIDATE_REGION;
        ok!(Enqueue.pfnMemBufferMap(q, m, no, over, 0, 4096, 0, null(), null_mut(), &raw mut pointer));
        ok!(Enqueue.pfnMemUnmap(q, m, pointer, 0, null(), null_mut()));
        let waits = || sim.calls_so_far("cuStreamSynchronize");
        let before = waits();
        drop(buffer);
        while waits() == before {
            std::thread::yield_now();
        }
        let Some((results, event)) = task(&fixture, &queue, &[], || 7) else { return };
        event.wait();
        assert_eq!(results.recv(), Ok(7));
        gate.open();
        held_up.finish();
    });
}
