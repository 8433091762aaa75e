//! Timelines over a driver that does everything at once: what is checked is when the engine gives it something to do.

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::time::Duration;

use parking_lot::MutexGuard;
use ur_adapter::api::generated::*;
use ur_adapter::api::noop::Noop;
use ur_adapter::command::testing;
use ur_adapter::device::adapter;
use ur_adapter::object::borrow;
use ur_adapter::timeline::host_wait;
use ur_ffi::*;

use super::handles::{Handles, turn};

const SUCCESS: ur_result_t = ur_result_t::SUCCESS;
const CAUSE: ur_result_t = ur_result_t::ERROR_DEVICE_NOT_FOUND;

#[track_caller]
pub(super) fn ok(code: ur_result_t) {
    assert_eq!(code, SUCCESS);
}

/// Something that threads share.
#[derive(Clone, Copy)]
struct Shared<T>(T);

// SAFETY: the API lets handles be used from every thread.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

pub(super) type Timeline = ur_ext_timeline_handle_t;

/// Handles, and calls with fewer parameters.
pub(super) struct Test {
    pub(super) handles: Handles,
    _turn: MutexGuard<'static, ()>,
}

impl Test {
    pub(super) fn new() -> Self {
        let turn = turn();
        Self { handles: Handles::new(), _turn: turn }
    }

    pub(super) fn timeline(&self) -> Timeline {
        let mut made = null_mut();
        // SAFETY: a live handle, a writable output.
        ok(unsafe { urTimelineCreateExt::<Noop>(self.handles.context(), null(), &raw mut made) });
        made
    }
}

pub(super) fn release(timeline: Timeline) {
    // SAFETY: a live handle, released once.
    ok(unsafe { urTimelineReleaseExt::<Noop>(timeline) });
}

pub(super) fn value(timeline: Timeline) -> u64 {
    let mut value = 0u64;
    let place = (&raw mut value).cast::<c_void>();
    // SAFETY: a live handle, a writable output.
    ok(unsafe { urTimelineGetInfoExt::<Noop>(timeline, ur_ext_timeline_info_t::VALUE, 8, place, null_mut()) });
    value
}

pub(super) fn status(timeline: Timeline) -> ur_result_t {
    let mut status = SUCCESS;
    let place = (&raw mut status).cast::<c_void>();
    // SAFETY: a live handle, a writable output.
    ok(unsafe { urTimelineGetInfoExt::<Noop>(timeline, ur_ext_timeline_info_t::STATUS, 4, place, null_mut()) });
    status
}

pub(super) fn signal(timeline: Timeline, value: u64) -> ur_result_t {
    // SAFETY: a live handle.
    unsafe { urTimelineSignalExt::<Noop>(timeline, value) }
}

fn fail(timeline: Timeline) -> ur_result_t {
    // SAFETY: a live handle.
    unsafe { urTimelineFailExt::<Noop>(timeline, CAUSE) }
}

pub(super) fn enqueue_wait(queue: ur_queue_handle_t, timeline: Timeline, value: u64) -> ur_result_t {
    // SAFETY: live handles.
    unsafe { urEnqueueTimelineWaitExt::<Noop>(queue, 1, &raw const timeline, &raw const value, 0, null(), null_mut()) }
}

pub(super) fn enqueue_signal(queue: ur_queue_handle_t, timeline: Timeline, value: u64) -> ur_result_t {
    // SAFETY: live handles.
    unsafe {
        urEnqueueTimelineSignalExt::<Noop>(queue, 1, &raw const timeline, &raw const value, 0, null(), null_mut())
    }
}

fn wait_for(timeline: Timeline, value: u64, timeout_ns: u64) -> ur_result_t {
    wait_for_some(&[timeline], &[value], false, timeout_ns).0
}

fn wait_for_some(timelines: &[Timeline], values: &[u64], any: bool, timeout_ns: u64) -> (ur_result_t, Option<u32>) {
    let flags = if any { ur_ext_timeline_wait_flags_t::ANY } else { ur_ext_timeline_wait_flags_t::empty() };
    let (count, mut index) = (timelines.len() as u32, u32::MAX);
    // SAFETY: live handles, as many values, a writable output.
    let code = unsafe {
        let (timelines, values) = (timelines.as_ptr(), values.as_ptr());
        urTimelineWaitExt::<Noop>(count, timelines, values, flags, timeout_ns, &raw mut index)
    };
    (code, (index != u32::MAX).then_some(index))
}

/// A copy of a number, whose event the caller gets if it wants one.
pub(super) fn copy(
    queue: ur_queue_handle_t,
    to: &mut u64,
    from: &u64,
    waits: &[ur_event_handle_t],
) -> ur_event_handle_t {
    let mut event = null_mut();
    ok(try_copy(queue, to, from, waits, Some(&mut event)));
    event
}

fn try_copy(
    queue: ur_queue_handle_t,
    to: *mut u64,
    from: *const u64,
    waits: &[ur_event_handle_t],
    event: Option<&mut ur_event_handle_t>,
) -> ur_result_t {
    let (list, count) = (if waits.is_empty() { null() } else { waits.as_ptr() }, waits.len() as u32);
    let event = event.map_or(null_mut(), core::ptr::from_mut);
    // SAFETY: numbers that outlive the copy, live handles.
    unsafe { urEnqueueUSMMemcpy::<Noop>(queue, false.into(), to.cast(), from.cast(), 8, count, list, event) }
}

pub(super) fn event_status(event: ur_event_handle_t) -> ur_event_status_t {
    let mut status = ur_event_status_t::QUEUED;
    let (property, place) = (ur_event_info_t::COMMAND_EXECUTION_STATUS, (&raw mut status).cast::<c_void>());
    // SAFETY: a live handle, a writable output.
    ok(unsafe { urEventGetInfo::<Noop>(event, property, size_of_val(&status), place, null_mut()) });
    status
}

pub(super) fn event_wait(event: ur_event_handle_t) -> ur_result_t {
    // SAFETY: a live handle.
    unsafe { urEventWait::<Noop>(1, &raw const event) }
}

pub(super) fn event_release(event: ur_event_handle_t) {
    // SAFETY: a live handle, released once.
    ok(unsafe { urEventRelease::<Noop>(event) });
}

pub(super) fn finish(queue: ur_queue_handle_t) -> ur_result_t {
    // SAFETY: a live handle.
    unsafe { urQueueFinish::<Noop>(queue) }
}

#[test]
fn urTimelineSignalExt_takes_values_that_grow_and_no_others() {
    let test = Test::new();
    let timeline = test.timeline();
    assert_eq!(value(timeline), 0);
    ok(signal(timeline, 5));
    for refused in [0, 4, 5] {
        assert_eq!(signal(timeline, refused), ur_result_t::ERROR_INVALID_VALUE);
    }
    let queue = test.handles.queue();
    assert_eq!(enqueue_signal(queue, timeline, 5), ur_result_t::ERROR_INVALID_VALUE);
    ok(enqueue_signal(queue, timeline, 6));
    assert_eq!(signal(timeline, 6), ur_result_t::ERROR_INVALID_VALUE);
    ok(wait_for(timeline, 6, 0));
    assert_eq!(value(timeline), 6);
    ok(signal(timeline, u64::MAX));
    assert_eq!((value(timeline), signal(timeline, u64::MAX)), (u64::MAX, ur_result_t::ERROR_INVALID_VALUE));
    test.handles.release_queue(queue);
    release(timeline);
}

#[test]
fn urEnqueueTimelineWaitExt_keeps_what_comes_after_it_until_the_host_signals() {
    let test = Test::new();
    let (timeline, queue) = (test.timeline(), test.handles.queue());
    let (mut to, from) = ([0; 2], [7, 8]);
    ok(enqueue_wait(queue, timeline, 1));
    let event = copy(queue, &mut to[0], &from[0], &[]);
    let other = copy(queue, &mut to[1], &from[1], &[event]);
    assert_eq!((to, event_status(event)), ([0, 0], ur_event_status_t::QUEUED));
    ok(signal(timeline, 2));
    // A worker has the copies: the native library makes the caller of a copy between heap memory wait.
    ok(event_wait(other));
    assert_eq!((to, event_status(other)), ([7, 8], ur_event_status_t::COMPLETE));
    ok(event_wait(event));
    ok(finish(queue));
    [event, other].into_iter().for_each(event_release);
    test.handles.release_queue(queue);
    release(timeline);
}

/// Another thread could find the queue without deferred commands, and signal, before those who wait hear of the last one.
#[test]
fn urEnqueueTimelineSignalExt_right_behind_a_deferred_signal_finds_its_value_signalled() {
    let test = Test::new();
    let (timelines, queue) = ([test.timeline(), test.timeline()], test.handles.queue());
    ok(enqueue_wait(queue, timelines[0], 1));
    ok(enqueue_signal(queue, timelines[1], 4));
    let answer = Rc::new(Cell::new((0, SUCCESS)));
    let told = Rc::clone(&answer);
    testing::when_ended(move || {
        let (ended, _) = told.get();
        let code = if ended == 1 { enqueue_signal(queue, timelines[1], 5) } else { SUCCESS };
        told.set((ended + 1, code));
    });
    ok(signal(timelines[0], 1));
    assert_eq!((answer.get(), status(timelines[1])), ((2, SUCCESS), SUCCESS));
    ok(wait_for(timelines[1], 5, u64::MAX));
    assert_eq!(value(timelines[1]), 5);
    testing::when_ended(|| ());
    ok(finish(queue));
    test.handles.release_queue(queue);
    timelines.into_iter().for_each(release);
}

#[test]
fn urEnqueueTimelineWaitExt_before_the_signal_of_another_queue() {
    let test = Test::new();
    let (timeline, queues) = (test.timeline(), [test.handles.queue(), test.handles.queue()]);
    let (mut to, from) = (0, 7);
    ok(enqueue_wait(queues[0], timeline, 3));
    event_release(copy(queues[0], &mut to, &from, &[]));
    ok(enqueue_signal(queues[0], timeline, 9));
    assert_eq!((to, value(timeline)), (0, 0));
    ok(enqueue_signal(queues[1], timeline, 4));
    ok(wait_for(timeline, 9, u64::MAX));
    assert_eq!((to, value(timeline)), (7, 9));
    queues.into_iter().for_each(|queue| test.handles.release_queue(queue));
    release(timeline);
}

#[test]
fn urEventWait_of_a_kept_command_s_event_and_urQueueFinish_wait_for_the_signal() {
    let test = Test::new();
    let (timeline, queue) = (test.timeline(), test.handles.queue());
    let (mut to, from) = (0, 7);
    ok(enqueue_wait(queue, timeline, 1));
    let event = copy(queue, &mut to, &from, &[]);
    let (shared, (done, is_done)) = (Shared((queue, event)), channel());
    std::thread::scope(|scope| {
        for number in 0..2 {
            let done = done.clone();
            scope.spawn(move || {
                let Shared((queue, event)) = { shared };
                done.send(if number == 0 { finish(queue) } else { event_wait(event) }).unwrap();
            });
        }
        assert!(
            is_done.try_recv().is_err() && event_status(event) == ur_event_status_t::QUEUED,
            "nobody has signalled"
        );
        ok(signal(timeline, 1));
        ok(is_done.recv().unwrap());
        ok(is_done.recv().unwrap());
    });
    assert_eq!(to, 7);
    event_release(event);
    test.handles.release_queue(queue);
    release(timeline);
}

#[test]
fn urTimelineGetEventExt_gives_an_event_for_any_wait_list() {
    let test = Test::new();
    let (timeline, queue) = (test.timeline(), test.handles.queue());
    let mut event = null_mut();
    // SAFETY: a live handle, a writable output.
    ok(unsafe { urTimelineGetEventExt::<Noop>(timeline, 2, &raw mut event) });
    let (mut to, from) = (0, 7);
    let copied = copy(queue, &mut to, &from, &[event]);
    assert_eq!(
        (to, event_status(event), event_status(copied)),
        (0, ur_event_status_t::QUEUED, ur_event_status_t::QUEUED)
    );
    ok(signal(timeline, 2));
    ok(event_wait(copied));
    assert_eq!(
        (to, event_status(event), event_status(copied)),
        (7, ur_event_status_t::COMPLETE, ur_event_status_t::COMPLETE)
    );
    let mut later = null_mut();
    // SAFETY: as above.
    ok(unsafe { urTimelineGetEventExt::<Noop>(timeline, 1, &raw mut later) });
    ok(event_wait(later));
    [event, copied, later].into_iter().for_each(event_release);
    test.handles.release_queue(queue);
    release(timeline);
}

#[test]
fn urTimelineWaitExt_waits_for_all_or_any_and_no_longer_than_it_may() {
    let test = Test::new();
    let timelines = [test.timeline(), test.timeline()];
    let timeout = ur_result_t::ERROR_TIMEOUT_EXT;
    assert_eq!(wait_for_some(&timelines, &[1, 1], true, 0), (timeout, None));
    assert_eq!(wait_for_some(&timelines, &[1, 1], true, 1_000_000), (timeout, None));
    ok(signal(timelines[1], 1));
    assert_eq!(wait_for_some(&timelines, &[1, 1], true, 0), (SUCCESS, Some(1)));
    assert_eq!(wait_for_some(&timelines, &[1, 1], false, 1_000_000), (timeout, None));
    let shared = Shared(timelines);
    std::thread::scope(|scope| {
        let waiting = [u64::MAX, 60_000_000_000].map(|timeout_ns| {
            scope.spawn(move || {
                let Shared(timelines) = { shared };
                [wait_for_some(&timelines, &[1, 1], false, timeout_ns).0, wait_for(timelines[0], 1, timeout_ns)]
            })
        });
        ok(signal(timelines[0], 1));
        waiting.into_iter().flat_map(|thread| thread.join().unwrap()).for_each(ok);
    });
    timelines.into_iter().for_each(release);
}

/// Another thread asks the timeline between this one's look and its watch, and there is no signal left to watch. On two H100s under
/// load the wait slept until another timeline's signal came.
#[test]
fn urTimelineWaitExt_hears_of_a_value_that_another_thread_finds_reached_before_the_wait_watches() {
    let test = Test::new();
    let (timelines, queue) = ([test.timeline(), test.timeline()], test.handles.queue());
    let controls = &adapter::driver::<Noop>().expect("an open driver").controls;
    controls.is_slow.store(true, Ordering::Release);
    let (mut to, from) = (0, 7);
    ok(try_copy(queue, &raw mut to, &raw const from, &[], None));
    ok(enqueue_signal(queue, timelines[0], 1));
    let (told, answers) = channel();
    std::thread::scope(|scope| {
        let shared = Shared(timelines);
        scope.spawn(move || {
            let timelines = { shared }.0;
            host_wait::testing::when_looked(move || {
                controls.is_slow.store(false, Ordering::Release);
                assert_eq!(value(timelines[0]), 1);
            });
            told.send(wait_for_some(&timelines, &[1, 1], true, u64::MAX))
        });
        let answer = answers.recv_timeout(Duration::from_secs(10));
        // Ends the thread, whatever came of it.
        ok(signal(timelines[1], 1));
        assert_eq!(answer, Ok((SUCCESS, Some(0))));
    });
    ok(finish(queue));
    test.handles.release_queue(queue);
    timelines.into_iter().for_each(release);
}

#[test]
fn urTimelineFailExt_fails_what_waits_on_every_queue_and_nothing_else() {
    let test = Test::new();
    let (timelines, queues) = ([(); 3].map(|()| test.timeline()), [(); 3].map(|()| test.handles.queue()));
    let (mut to, from) = ([0; 4], [1, 2, 3, 4]);
    ok(enqueue_wait(queues[0], timelines[0], 1));
    let first = copy(queues[0], &mut to[0], &from[0], &[]);
    ok(enqueue_signal(queues[0], timelines[1], 1));
    ok(enqueue_wait(queues[1], timelines[1], 1));
    let second = copy(queues[1], &mut to[1], &from[1], &[]);
    ok(enqueue_wait(queues[2], timelines[2], 1));
    let unrelated = copy(queues[2], &mut to[2], &from[2], &[]);
    ok(fail(timelines[0]));
    for event in [first, second] {
        assert_eq!((event_status(event), event_wait(event)), (ur_event_status_t::ERROR, CAUSE));
    }
    assert_eq!((status(timelines[0]), status(timelines[1]), status(timelines[2])), (CAUSE, CAUSE, SUCCESS));
    assert_eq!(
        (wait_for(timelines[1], 1, u64::MAX), signal(timelines[1], 1)),
        (CAUSE, ur_result_t::ERROR_INVALID_OPERATION)
    );
    assert_eq!(fail(timelines[0]), ur_result_t::ERROR_INVALID_OPERATION);
    // The queue goes on with what comes later, and its finish tells of the failure once.
    let later = copy(queues[0], &mut to[3], &from[3], &[]);
    assert_eq!((finish(queues[0]), finish(queues[0])), (CAUSE, SUCCESS));
    assert_eq!(try_copy(queues[2], &mut to[3], &from[3], &[first], None), ur_result_t::ERROR_IN_EVENT_LIST_EXEC_STATUS);
    assert_eq!(enqueue_wait(queues[0], timelines[0], 1), ur_result_t::ERROR_IN_EVENT_LIST_EXEC_STATUS);
    assert_eq!(event_status(unrelated), ur_event_status_t::QUEUED);
    ok(signal(timelines[2], 1));
    ok(event_wait(unrelated));
    assert_eq!(to, [0, 0, 3, 4]);
    [first, second, unrelated, later].into_iter().for_each(event_release);
    queues.into_iter().for_each(|queue| test.handles.release_queue(queue));
    timelines.into_iter().for_each(release);
}

#[test]
fn urTimelineWaitExt_for_any_fails_when_the_last_has_failed_and_for_all_with_the_first() {
    let test = Test::new();
    let timelines = [(); 3].map(|()| test.timeline());
    ok(fail(timelines[1]));
    assert_eq!(wait_for_some(&timelines, &[1; 3], false, u64::MAX), (CAUSE, Some(1)));
    assert_eq!(wait_for_some(&timelines, &[1; 3], true, 0), (ur_result_t::ERROR_TIMEOUT_EXT, None));
    ok(fail(timelines[0]));
    let shared = Shared(timelines);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || {
            let Shared(timelines) = { shared };
            wait_for_some(&timelines, &[1; 3], true, u64::MAX)
        });
        ok(fail(timelines[2]));
        assert_eq!(waiting.join().unwrap(), (CAUSE, Some(0)));
    });
    timelines.into_iter().for_each(release);
}

#[test]
fn urTimelineReleaseExt_of_the_last_reference_fails_waits_that_nobody_can_end_any_more() {
    let test = Test::new();
    let (timelines, queues) = ([test.timeline(), test.timeline()], [test.handles.queue(), test.handles.queue()]);
    let (mut to, from) = ([0; 2], [1, 2]);
    ok(enqueue_wait(queues[0], timelines[0], 1));
    let kept = copy(queues[0], &mut to[0], &from[0], &[]);
    // A signal that is kept can still come.
    ok(enqueue_signal(queues[0], timelines[1], 1));
    ok(enqueue_wait(queues[1], timelines[1], 1));
    let behind = copy(queues[1], &mut to[1], &from[1], &[]);
    release(timelines[1]);
    assert_eq!(event_status(behind), ur_event_status_t::QUEUED);
    release(timelines[0]);
    for event in [kept, behind] {
        assert_eq!(event_wait(event), ur_result_t::ERROR_INVALID_OPERATION);
    }
    [kept, behind].into_iter().for_each(event_release);
    queues.into_iter().for_each(|queue| test.handles.release_queue(queue));
}

#[test]
fn a_released_queue_still_drains_what_it_keeps() {
    let test = Test::new();
    let (timeline, queue) = (test.timeline(), test.handles.queue());
    let (mut to, from) = (0, 7);
    ok(enqueue_wait(queue, timeline, 1));
    let event = copy(queue, &mut to, &from, &[]);
    test.handles.release_queue(queue);
    ok(signal(timeline, 1));
    ok(event_wait(event));
    assert_eq!(to, 7);
    event_release(event);
    release(timeline);
}

#[test]
fn a_hundred_thousand_commands_behind_a_wait_go_out_in_order() {
    const COMMANDS: usize = 100_000;
    let test = Test::new();
    let (timeline, queue) = (test.timeline(), test.handles.queue());
    let (mut numbers, seen) = (vec![0u64; COMMANDS + 1], COMMANDS as u64);
    numbers[0] = seen;
    ok(enqueue_wait(queue, timeline, 1));
    let memory = numbers.as_mut_ptr();
    for at in 0..COMMANDS {
        // SAFETY: numbers of the list, each of which takes over the one before it.
        let (to, from) = unsafe { (memory.add(at + 1), memory.add(at)) };
        ok(try_copy(queue, to, from, &[], None));
    }
    ok(signal(timeline, 1));
    ok(finish(queue));
    assert!(numbers.iter().all(|number| *number == seen));
    test.handles.release_queue(queue);
    release(timeline);
}

#[test]
fn a_chain_of_queues_of_which_each_waits_for_the_next_resolves_from_its_end() {
    const QUEUES: usize = 64;
    let test = Test::new();
    let timelines: Vec<_> = (0..=QUEUES).map(|_| test.timeline()).collect();
    let queues: Vec<_> = (0..QUEUES).map(|_| test.handles.queue()).collect();
    for (number, queue) in queues.iter().enumerate() {
        ok(enqueue_wait(*queue, timelines[number + 1], 1));
        ok(enqueue_signal(*queue, timelines[number], 1));
    }
    assert_eq!(value(timelines[0]), 0);
    ok(signal(timelines[QUEUES], 1));
    ok(wait_for(timelines[0], 1, u64::MAX));
    queues.into_iter().for_each(|queue| test.handles.release_queue(queue));
    timelines.into_iter().for_each(release);
}

#[test]
fn a_million_signals_keep_no_events_but_the_last() {
    const SIGNALS: u64 = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
    let test = Test::new();
    let (timeline, queue) = (test.timeline(), test.handles.queue());
    for number in 1..=SIGNALS {
        ok(enqueue_signal(queue, timeline, number));
    }
    // SAFETY: a live handle.
    let open = unsafe { borrow::<ur_adapter::timeline::Timeline<Noop>>(timeline) }.expect("a timeline").values().open();
    assert!(open <= 64, "{open} signals are kept");
    ok(wait_for(timeline, SIGNALS, u64::MAX));
    test.handles.release_queue(queue);
    release(timeline);
}

/// Threads enqueue on queues of their own that wait for each other's values while they are kept and while they are drained.
#[test]
fn threads_that_wait_for_each_other_s_values_in_a_ring_all_get_through() {
    const THREADS: usize = 4;
    const ROUNDS: u64 = if cfg!(debug_assertions) { 500 } else { 5_000 };
    let test = Test::new();
    let timelines = Shared([(); THREADS].map(|()| test.timeline()));
    let queues = Shared([(); THREADS].map(|()| test.handles.queue()));
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            scope.spawn(move || {
                let (Shared(timelines), Shared(queues)) = ({ timelines }, { queues });
                let before = timelines[(number + THREADS - 1) % THREADS];
                for round in 1..=ROUNDS {
                    // The first begins each round.
                    ok(enqueue_wait(queues[number], before, if number == 0 { round - 1 } else { round }));
                    ok(enqueue_signal(queues[number], timelines[number], round));
                }
                ok(finish(queues[number]));
            });
        }
    });
    timelines.0.into_iter().for_each(|timeline| assert_eq!(value(timeline), ROUNDS));
    queues.0.into_iter().for_each(|queue| test.handles.release_queue(queue));
    timelines.0.into_iter().for_each(release);
}
