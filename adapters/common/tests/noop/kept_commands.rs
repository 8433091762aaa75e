//! The moment between the end of a kept command and its event's word of that, over a driver that does everything at once.

use core::cell::RefCell;
use core::ffi::c_void;
use core::ptr::null_mut;
use std::rc::Rc;

use ur_adapter::api::generated::urQueueGetInfo;
use ur_adapter::api::noop::Noop;
use ur_adapter::command::testing;
use ur_ffi::{ur_event_status_t as Status, ur_queue_flags_t as Flags, ur_queue_handle_t, ur_queue_info_t};

use super::timelines::{
    Test, copy, enqueue_signal, enqueue_wait, event_release, event_status, event_wait, finish, ok, release, signal,
    value,
};

/// What is copied, which stays until the copies are through.
static FROM: [u64; 2] = [7, 8];

fn is_empty(queue: ur_queue_handle_t) -> bool {
    let mut empty = 0u8;
    let place = (&raw mut empty).cast::<c_void>();
    // SAFETY: a live handle, a writable output.
    ok(unsafe { urQueueGetInfo::<Noop>(queue, ur_queue_info_t::EMPTY, 1, place, null_mut()) });
    empty != 0
}

/// The queue keeps nothing any more, and the barrier is not known to be there.
#[test]
fn a_command_out_of_order_does_not_overtake_a_kept_barrier_whose_end_nobody_has_heard_of() {
    let test = Test::new();
    let (timeline, queue) = (test.timeline(), test.handles.queue_with(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE));
    ok(enqueue_wait(queue, timeline, 1));
    let to = Rc::new(RefCell::new([0; 2]));
    let told = Rc::new(RefCell::new(Vec::new()));
    let (places, events) = (Rc::clone(&to), Rc::clone(&told));
    testing::when_ended(move || {
        // Two, so that one is not on the barrier's own stream.
        for (to, from) in places.borrow_mut().iter_mut().zip(&FROM) {
            let event = copy(queue, to, from, &[]);
            events.borrow_mut().push((event, event_status(event)));
        }
    });
    ok(signal(timeline, 1));
    testing::when_ended(|| ());
    for (event, status) in told.take() {
        assert_eq!(status, Status::QUEUED, "it went before the barrier");
        ok(event_wait(event));
        event_release(event);
    }
    assert_eq!(*to.borrow(), FROM);
    ok(finish(queue));
    test.handles.release_queue(queue);
    release(timeline);
}

#[test]
fn urQueueGetInfo_EMPTY_of_a_queue_whose_kept_signal_is_not_told_yet_is_false() {
    let test = Test::new();
    let (timelines, queue) = ([test.timeline(), test.timeline()], test.handles.queue());
    ok(enqueue_wait(queue, timelines[0], 1));
    ok(enqueue_signal(queue, timelines[1], 4));
    let told = Rc::new(RefCell::new(Vec::new()));
    let answers = Rc::clone(&told);
    testing::when_ended(move || answers.borrow_mut().push((is_empty(queue), value(timelines[1]))));
    ok(signal(timelines[0], 1));
    testing::when_ended(|| ());
    assert_eq!(told.take(), [(false, 0); 2]);
    assert_eq!((is_empty(queue), value(timelines[1])), (true, 4));
    ok(finish(queue));
    test.handles.release_queue(queue);
    timelines.into_iter().for_each(release);
}
