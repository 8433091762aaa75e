//! What must not wait while a native call of somebody else's blocks: a copy from the device to the heap waits inside the
//! driver until its stream gets there, and meanwhile other threads ask, free, wait and release.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::mpsc::channel;

use ur_conformance::ffi::{
    CBool, ur_event_info_t, ur_event_status_t, ur_queue_flags_t as Flags, ur_queue_info_t, ur_result_t as Code,
    ur_usm_alloc_info_t, ur_usm_type_t,
};
use ur_conformance::owned::event_of;
use ur_conformance::pool::{self, Plan, Take};
use ur_conformance::{Event, Fixture, Gate, Kind, Queue, ask, expect_success, ok, query, ur};

/// So many times a thing is asked while a copy is on its way: the copying thread is inside the driver long before the last.
const ROUNDS: usize = 2000;

/// Runs `meanwhile` while another thread copies from the device to the heap behind a closed gate. The gate fails the test
/// if anything in it waits for the copy.
fn beside_a_copy(fixture: &Fixture, queue: &Queue, meanwhile: impl FnOnce()) {
    let memory = fixture.memory(Kind::Device, 4096);
    let mut heap = vec![0u8; 4096];
    let (to, from) = (heap.as_mut_ptr().expose_provenance(), memory.pointer().expose_provenance());
    let mut gate = Gate::new(fixture);
    gate.block(queue);
    std::thread::scope(|scope| {
        let (begin, begun) = channel();
        let copying = scope.spawn(move || {
            begin.send(()).unwrap();
            let (to, from) = (core::ptr::with_exposed_provenance_mut(to), core::ptr::with_exposed_provenance(from));
            ok!(Enqueue.pfnUSMMemcpy(queue.handle(), CBool::FALSE, to, from, 4096, 0, null(), null_mut()));
        });
        begun.recv().unwrap();
        meanwhile();
        gate.open();
        copying.join().unwrap();
    });
    queue.finish();
}

fn kind_of(fixture: &Fixture, pointer: *mut c_void) -> ur_usm_type_t {
    ur_usm_type_t(query::get(ask!(USM.pfnGetMemAllocInfo(fixture.context(), pointer, ur_usm_alloc_info_t::TYPE))))
}

#[test]
fn urUSMGetMemAllocInfo_does_not_wait_for_another_thread_s_copy() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let block = Take::new(4096).on(&queue);
    let plain = fixture.memory(Kind::Device, 64);
    beside_a_copy(&fixture, &queue, || {
        for _ in 0..ROUNDS {
            assert_eq!(kind_of(&fixture, block), ur_usm_type_t::DEVICE);
            assert_eq!(kind_of(&fixture, plain.pointer()), ur_usm_type_t::DEVICE);
            assert_eq!(kind_of(&fixture, (&raw const fixture).cast_mut().cast()), ur_usm_type_t::UNKNOWN);
        }
    });
    pool::give(&queue, block);
    queue.finish();
}

/// The blocks' own stream is the one that cannot get on: they go back to it when it can.
#[test]
fn urUSMFree_of_a_pool_s_block_does_not_wait_for_another_thread_s_copy() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let made = Plan::new().of(&fixture);
    let blocks: Vec<_> = (0..200).map(|_| Take::new(4096).from(&made).on(&queue)).collect();
    queue.finish();
    beside_a_copy(&fixture, &queue, || {
        for &block in &blocks {
            for _ in 0..10 {
                assert_eq!(kind_of(&fixture, block), ur_usm_type_t::DEVICE);
            }
            ok!(USM.pfnFree(fixture.context(), block));
            assert_eq!(kind_of(&fixture, block), ur_usm_type_t::UNKNOWN);
            assert_eq!(ur!(USM.pfnFree(fixture.context(), block)), Code::ERROR_INVALID_MEM_OBJECT);
        }
        assert_eq!(pool::used(made.handle()).0, 0);
    });
    // They came back whole: the pool serves as many again, and is empty when those are gone.
    let again: Vec<_> = (0..200).map(|_| Take::new(4096).from(&made).on(&queue)).collect();
    assert_eq!(pool::used(made.handle()).0, 200 * 4096);
    again.into_iter().for_each(|block| pool::give(&queue, block));
    queue.finish();
    pool::trim(&fixture, made.handle(), 0);
    assert_eq!(pool::used(made.handle()).0, 0);
}

#[test]
fn urEnqueueEventsWait_for_an_event_of_a_queue_does_not_wait_for_another_thread_s_copy_there() {
    let fixture = Fixture::new();
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::PROFILING_ENABLE] {
        let (queue, other) = (fixture.in_order(), fixture.queue(flags));
        let memory = fixture.memory(Kind::Device, 4096);
        let zero = [0u8];
        let fill = |event| {
            ur!(Enqueue.pfnUSMFill(queue.handle(), memory.pointer(), 1, zero.as_ptr().cast(), 4096, 0, null(), event))
        };
        let before: Event = event_of(fill);
        beside_a_copy(&fixture, &queue, || {
            let list = [before.handle()];
            for _ in 0..ROUNDS {
                ok!(Enqueue.pfnEventsWaitWithBarrier(other.handle(), 1, list.as_ptr(), null_mut()));
            }
            before.wait();
            other.finish();
        });
    }
}

#[test]
fn urQueueGetInfo_and_native_handles_do_not_wait_for_another_thread_s_copy() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 4096);
    let zero = [0u8];
    let before: Event = event_of(|event| {
        ur!(Enqueue.pfnUSMFill(queue.handle(), memory.pointer(), 1, zero.as_ptr().cast(), 4096, 0, null(), event))
    });
    before.wait();
    beside_a_copy(&fixture, &queue, || {
        for _ in 0..ROUNDS {
            let empty: u8 = query::get(ask!(Queue.pfnGetInfo(queue.handle(), ur_queue_info_t::EMPTY)));
            assert_eq!(empty, 0, "the queue is not empty");
        }
        let mut native = Default::default();
        ok!(Event.pfnGetNativeHandle(before.handle(), &raw mut native));
        ok!(Queue.pfnGetNativeHandle(queue.handle(), null_mut(), &raw mut native));
    });
}

#[test]
fn urUSMPoolRelease_and_trims_do_not_wait_for_another_thread_s_copy() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for _ in 0..4 {
        let (gone, kept) = (Plan::new().of(&fixture), Plan::new().of(&fixture));
        for made in [&gone, &kept] {
            let block = Take::new(4096).from(made).on(&queue);
            pool::give(&queue, block);
        }
        let out = Take::new(4096).from(&gone).on(&queue);
        beside_a_copy(&fixture, &queue, || {
            pool::trim(&fixture, kept.handle(), 0);
            expect_success(gone.release(), "urUSMPoolRelease");
        });
        pool::give(&queue, out);
        queue.finish();
    }
}

#[test]
fn urContextRelease_does_not_wait_for_another_thread_s_copy_in_another_context() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    beside_a_copy(&fixture, &queue, || {
        for _ in 0..3 {
            let context = fixture.context_of(&[fixture.device()]);
            let memory = pool::Plan::new().create(context.handle(), fixture.device());
            drop(memory);
            drop(context);
        }
    });
}

/// While a stream's handle is somebody else's too, what they put there is not waited for.
#[test]
fn urQueueGetNativeHandle_leaves_events_exact_that_were_made_before_and_after() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 4096);
    let zero = [0u8];
    let fill = || -> Event {
        event_of(|event| {
            ur!(Enqueue.pfnUSMFill(queue.handle(), memory.pointer(), 1, zero.as_ptr().cast(), 4096, 0, null(), event))
        })
    };
    let before = fill();
    let mut native = Default::default();
    ok!(Queue.pfnGetNativeHandle(queue.handle(), null_mut(), &raw mut native));
    // Another queue over the same stream stands for foreign work: the first one knows nothing of it.
    let mut other = null_mut();
    ok!(Queue.pfnCreateWithNativeHandle(native, fixture.context(), fixture.device(), null(), &raw mut other));
    let other = Queue::take(other);
    let after = fill();
    let mut gate = Gate::new(&fixture);
    gate.block(&other);
    before.wait();
    after.wait();
    let status: u32 = query::get(ask!(Event.pfnGetInfo(after.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS)));
    assert_eq!(status, ur_event_status_t::COMPLETE.0);
    gate.open();
    queue.finish();
    other.finish();
}
