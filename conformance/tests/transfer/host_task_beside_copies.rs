//! Host tasks behind whose queue a copy to the heap waits in the driver until they are over: what a task's function frees, asks
//! and makes meanwhile waits neither for the copy nor for who enqueues it. New native memory would, by the driver's own lock
//! (`docs/native-facts.md`), so the functions allocate none. The test runs in a process that ends itself if it hangs.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::mpsc::channel;
use std::time::Duration;

use ur_conformance::ffi::{
    CBool, ur_context_handle_t, ur_device_handle_t, ur_queue_flags_t as Flags, ur_result_t as Code,
    ur_usm_alloc_info_t as Info, ur_usm_type_t,
};
use ur_conformance::memory::{Kind, allocate};
use ur_conformance::pool::Take;
use ur_conformance::{Fixture, ask, child, expect_success, ok, query, ur};

use crate::host_task_releases::{far, near, task};

const PATIENCE: Duration = Duration::from_secs(20);
/// So many times a thing is asked while another thread enqueues the copy: it is inside the driver long before the last.
const ROUNDS: usize = 2000;
const BYTES: usize = 4096;

fn plain(context: ur_context_handle_t, device: ur_device_handle_t, kind: Kind) -> *mut c_void {
    let mut pointer = null_mut();
    expect_success(allocate(kind, context, device, null(), BYTES, &raw mut pointer), "an allocation");
    pointer
}

fn type_of(context: ur_context_handle_t, pointer: *mut c_void) -> ur_usm_type_t {
    ur_usm_type_t(query::get(ask!(USM.pfnGetMemAllocInfo(context, pointer, Info::TYPE))))
}

/// A context from its beginning to its end.
fn live_and_die(device: ur_device_handle_t) {
    let mut context = null_mut();
    ok!(Context.pfnCreate(1, &raw const device, null(), &raw mut context));
    ok!(Context.pfnRelease(context));
}

#[test]
fn urUSMFree_queries_and_contexts_in_a_host_task_do_not_wait_for_the_copy_behind_it_that_waits_in_the_driver() {
    let test =
        "urUSMFree_queries_and_contexts_in_a_host_task_do_not_wait_for_the_copy_behind_it_that_waits_in_the_driver";
    // What debug mode fills is filled by the device, on streams that the driver makes for nobody meanwhile.
    child::in_time(test, &[("UR_USM_POOL_DEBUG", "0")], || {
        let fixture = Fixture::new();
        fixture.allow_late_releases();
        for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
            let queue = fixture.queue(flags);
            let (source, block) = (fixture.memory(Kind::Device, BYTES), Take::new(BYTES).on(&queue));
            queue.finish();
            let kinds = Kind::ALL.map(|kind| far(plain(fixture.context(), fixture.device(), kind)));
            let (context, device, block) = (far(fixture.context()), far(fixture.device()), far(block));
            let (go, may_go) = channel::<()>();
            let function = move || {
                let _ = may_go.recv_timeout(PATIENCE);
                let (context, device) = (near(context), near(device));
                let pointers = kinds.into_iter().chain([block]);
                let freed = pointers.map(|pointer| {
                    let known = type_of(context, near(pointer)) != ur_usm_type_t::UNKNOWN;
                    (known, ur!(USM.pfnFree(context, near(pointer))))
                });
                let freed: Vec<_> = freed.collect();
                live_and_die(device);
                freed
            };
            let Some((answers, event)) = task(&fixture, &queue, &[], function) else { return };
            let mut heap = vec![0u8; BYTES];
            let (to, from) = (far(heap.as_mut_ptr()), far(source.pointer()));
            std::thread::scope(|scope| {
                let (begin, begun) = channel();
                let copying = scope.spawn({
                    let (queue, event) = (&queue, &event);
                    move || {
                        let list = [event.handle()];
                        begin.send(()).expect("somebody waits for this");
                        let (q, to, from) = (queue.handle(), near::<c_void>(to), near::<c_void>(from).cast_const());
                        ok!(Enqueue.pfnUSMMemcpy(q, CBool::FALSE, to, from, BYTES, 1, list.as_ptr(), null_mut()));
                    }
                });
                begun.recv().expect("a copy begins");
                for _ in 0..ROUNDS {
                    assert_eq!(type_of(fixture.context(), source.pointer()), ur_usm_type_t::DEVICE);
                }
                go.send(()).expect("the task waits for this");
                let freed = answers.recv().expect("the function ends");
                assert!(freed.iter().all(|answer| *answer == (true, Code::SUCCESS)), "{flags:?}: {freed:?}");
                copying.join().expect("a copy");
            });
            event.wait();
            queue.finish();
        }
    });
}
