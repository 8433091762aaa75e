//! Which queue gets the stream of a queue that was released, over a driver that does nothing.

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::collections::HashSet;

use super::handles::{Handles, turn};
use ur_adapter::api::generated::{urEnqueueEventsWait, urEventRelease, urQueueGetNativeHandle};
use ur_adapter::api::noop::Noop;
use ur_adapter::object::borrow;
use ur_adapter::pool::{stream_ordered, stream_ordered_free};
use ur_adapter::queue::Queue;
use ur_ffi::{ur_event_handle_t, ur_queue_flags_t as Flags, ur_queue_handle_t, ur_result_t};

/// The number of a queue's first stream.
fn stream_of(queue: ur_queue_handle_t) -> u64 {
    // SAFETY: a live queue.
    unsafe { borrow::<Queue<Noop>>(queue) }.expect("a queue").first().key()
}

fn event_of(queue: ur_queue_handle_t) -> ur_event_handle_t {
    let mut event = null_mut();
    // SAFETY: a live queue, a writable output.
    let code = unsafe { urEnqueueEventsWait::<Noop>(queue, 0, null(), &raw mut event) };
    assert_eq!(code, ur_result_t::SUCCESS);
    event
}

fn release_event(event: ur_event_handle_t) {
    // SAFETY: a live event, released once.
    assert_eq!(unsafe { urEventRelease::<Noop>(event) }, ur_result_t::SUCCESS);
}

/// Whether a queue that is made after another one was released has that one's stream; `used` uses the first.
fn is_kept(flags: Flags, next: Flags, used: impl FnOnce(ur_queue_handle_t)) -> bool {
    let _turn = turn();
    let handles = Handles::new();
    let queue = handles.queue_with(flags);
    let stream = stream_of(queue);
    used(queue);
    handles.release_queue(queue);
    let queue = handles.queue_with(next);
    let is_kept = stream_of(queue) == stream;
    handles.release_queue(queue);
    is_kept
}

#[test]
fn urQueueCreate_takes_the_stream_of_a_queue_that_leaves_nothing_in_it() {
    assert!(is_kept(Flags::empty(), Flags::empty(), |_| {}));
    assert!(is_kept(Flags::PRIORITY_HIGH, Flags::PRIORITY_HIGH, |_| {}));
    assert!(is_kept(Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, |queue| release_event(event_of(queue))));
}

#[test]
fn urQueueCreate_takes_no_stream_of_another_kind() {
    assert!(!is_kept(Flags::empty(), Flags::PRIORITY_HIGH, |_| {}));
    assert!(!is_kept(Flags::SYNC_WITH_DEFAULT_STREAM, Flags::empty(), |_| {}));
}

#[test]
fn urQueueCreate_takes_no_stream_of_an_event_that_somebody_holds() {
    let mut held = null_mut();
    assert!(!is_kept(Flags::empty(), Flags::empty(), |queue| held = event_of(queue)));
    release_event(held);
}

#[test]
fn urQueueCreate_takes_no_stream_whose_native_handle_somebody_has() {
    let give_out = |queue| {
        let mut native = 0;
        // SAFETY: a live queue, no description, a writable output.
        let code = unsafe { urQueueGetNativeHandle::<Noop>(queue, null_mut(), &raw mut native) };
        assert_eq!(code, ur_result_t::SUCCESS);
    };
    assert!(!is_kept(Flags::empty(), Flags::empty(), give_out));
}

/// Its lock is everybody's for good, which costs the next queue's commands an exchange each.
#[test]
fn urQueueCreate_takes_no_stream_that_several_threads_have_used() {
    let use_twice = |queue: ur_queue_handle_t| {
        release_event(event_of(queue));
        let address = queue.expose_provenance();
        let other = move || release_event(event_of(core::ptr::with_exposed_provenance_mut(address)));
        std::thread::spawn(other).join().expect("a thread");
    };
    assert!(!is_kept(Flags::empty(), Flags::empty(), use_twice));
}

#[test]
fn urQueueCreate_takes_no_stream_that_has_dealt_with_a_pool() {
    let allocate = |queue| {
        let mut block: *mut c_void = null_mut();
        // SAFETY: a live queue, writable outputs; the block is freed where it was allocated.
        unsafe {
            let (none, out) = (null_mut(), &raw mut block);
            stream_ordered::device_alloc::<Noop>(queue, none, 64, null(), 0, null(), out, null_mut()).expect("a block");
            stream_ordered_free::free::<Noop>(queue, null_mut(), block, 0, null(), null_mut()).expect("a free");
        }
    };
    assert!(!is_kept(Flags::empty(), Flags::empty(), allocate));
}

/// A command that failed may have left a wait behind.
#[test]
fn urQueueCreate_takes_no_stream_that_was_there_when_a_call_failed() {
    let fail = |queue| {
        let mut event = null_mut();
        // SAFETY: a wait list without its count is what is wrong.
        let code = unsafe { urEnqueueEventsWait::<Noop>(queue, 1, null(), &raw mut event) };
        assert_eq!(code, ur_result_t::ERROR_INVALID_EVENT_WAIT_LIST);
    };
    assert!(!is_kept(Flags::empty(), Flags::empty(), fail));
}

#[test]
fn urQueueRelease_of_many_queues_keeps_few_streams_and_the_context_s_end_none() {
    let _turn = turn();
    let handles = Handles::new();
    let make = |count: usize| -> Vec<_> { (0..count).map(|_| handles.queue()).collect() };
    let queues = make(40);
    let first: HashSet<u64> = queues.iter().map(|queue| stream_of(*queue)).collect();
    queues.into_iter().for_each(|queue| handles.release_queue(queue));
    let queues = make(40);
    let kept = queues.iter().filter(|queue| first.contains(&stream_of(**queue))).count();
    assert!((1..=8).contains(&kept), "{kept} streams");
    // SAFETY: a live queue.
    let stream = std::sync::Arc::downgrade(unsafe { borrow::<Queue<Noop>>(queues[0]) }.expect("a queue").first());
    queues.into_iter().for_each(|queue| handles.release_queue(queue));
    drop(handles);
    assert!(stream.upgrade().is_none(), "a stream has outlived its context");
}
