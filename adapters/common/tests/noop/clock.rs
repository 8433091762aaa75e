//! The device's time on the host's clock, over a driver whose device time the test sets and whose elapsed times are floats
//! of milliseconds, as real ones are.

use core::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::handles::{Handles, turn};
use ur_adapter::api::generated::{urEnqueueEventsWait, urEventGetProfilingInfo, urEventRelease};
use ur_adapter::api::noop::{Noop, NoopStream};
use ur_adapter::context::DeviceState;
use ur_adapter::device::adapter;
use ur_adapter::device::clock::host_time_ns;
use ur_adapter::device::event_pool::PooledEvent;
use ur_adapter::{object, queue};
use ur_ffi::{
    ur_event_handle_t, ur_profiling_info_t as info, ur_queue_flags_t as Flags, ur_queue_handle_t, ur_result_t,
};

/// So long a call may take that must not wait, at most.
const PATIENCE: Duration = Duration::from_secs(10);
const HOUR_NS: u64 = 3_600_000_000_000;

fn with_clock(body: impl FnOnce(&'static Noop, &Arc<DeviceState<Noop>>)) {
    let _turn = turn();
    let handles = Handles::new();
    let made = handles.queue();
    let driver = adapter::driver::<Noop>().expect("an open driver");
    // SAFETY: a live queue.
    let state = Arc::clone(&unsafe { object::borrow::<queue::Queue<Noop>>(made) }.expect("the queue").device);
    assert!(state.time_base().is_none(), "nobody asked for times");
    driver.controls.time_ns.store(0, Ordering::Relaxed);
    state.start_own_clock().expect("a clock");
    body(driver, &state);
    driver.controls.is_slow.store(false, Ordering::Relaxed);
    handles.release_queue(made);
}

fn mark(driver: &Noop, state: &Arc<DeviceState<Noop>>, time_ns: u64) -> PooledEvent<Noop> {
    driver.controls.time_ns.store(time_ns, Ordering::Relaxed);
    PooledEvent::record(state, &NoopStream::default(), true).expect("a record")
}

#[test]
fn times_stay_exact_however_long_the_device_runs() {
    with_clock(|driver, state| {
        let early = state.time_base().expect("a base");
        let (one, two) = (mark(driver, state, HOUR_NS + 200), mark(driver, state, HOUR_NS + 1_200));
        // What the first anchor makes of them: the float has no room for a microsecond.
        assert_eq!(early.time_of(&one).expect("a time"), early.time_of(&two).expect("a time"));
        driver.controls.time_ns.store(HOUR_NS, Ordering::Relaxed);
        state.native.clock.expire();
        let base = state.time_base().expect("a base");
        let times = [&one, &two].map(|marker| base.time_of(marker).expect("a time"));
        assert_eq!(times[1] - times[0], 1_000);
    });
}

/// Submitting takes longer than seeing that the device is there, so an earlier moment would make commands start before they were
/// submitted.
#[test]
fn a_new_anchor_is_of_the_moment_at_which_the_host_sees_it() {
    with_clock(|driver, state| {
        let mut hour = 0;
        // An anchor that a busy machine gets too late is not taken.
        let is_new = || {
            hour += HOUR_NS;
            let marker = mark(driver, state, hour);
            let before = host_time_ns();
            driver.controls.looks_until_complete.store(50, Ordering::Relaxed);
            state.native.clock.expire();
            let time = state.time_of(&marker).expect("a time");
            (time < before + HOUR_NS / 2).then(|| (time, driver.controls.complete_at_ns.load(Ordering::Relaxed)))
        };
        let (time, complete) = std::iter::repeat_with(is_new).take(1000).flatten().next().expect("a new anchor");
        assert!(time >= complete, "seen at {complete}, and told as {time}");
    });
}

/// Making one waits for whatever copy of another thread blocks, which may wait for the command that wants the anchor.
#[test]
fn a_new_anchor_takes_an_event_that_was_made_ahead() {
    with_clock(|driver, state| {
        drop(mark(driver, state, 1_000));
        let made = || driver.controls.events_made.load(Ordering::Relaxed);
        let before = made();
        for hour in 1..10 {
            driver.controls.time_ns.store(hour * HOUR_NS, Ordering::Relaxed);
            state.native.clock.expire();
            drop(state.time_base());
        }
        assert_eq!(made(), before);
    });
}

#[test]
fn an_old_base_tells_the_same_times_after_a_new_anchor() {
    with_clock(|driver, state| {
        let base = state.time_base().expect("a base");
        let marker = mark(driver, state, 5_000);
        let before = base.time_of(&marker).expect("a time");
        driver.controls.time_ns.store(HOUR_NS, Ordering::Relaxed);
        state.native.clock.expire();
        drop(state.time_base());
        assert_eq!(base.time_of(&marker).expect("a time"), before);
    });
}

/// A timed queue of a device whose clock stands until the test moves it, while the host's goes on.
struct TimedQueue<'h> {
    handles: &'h Handles,
    driver: &'static Noop,
    handle: ur_queue_handle_t,
}

impl<'h> TimedQueue<'h> {
    fn new(handles: &'h Handles) -> Self {
        let driver = adapter::driver::<Noop>().expect("an open driver");
        // The first anchor is the new queue's.
        driver.controls.time_ns.store(0, Ordering::Relaxed);
        Self { handles, driver, handle: handles.queue_with(Flags::PROFILING_ENABLE) }
    }

    /// A command that takes so long on the device.
    fn command(&self, takes_ns: u64) -> ur_event_handle_t {
        self.driver.controls.time_step_ns.store(takes_ns, Ordering::Relaxed);
        let mut event = null_mut();
        // SAFETY: a live queue and a writable output.
        let enqueued = unsafe { urEnqueueEventsWait::<Noop>(self.handle, 0, null(), &raw mut event) };
        self.driver.controls.time_step_ns.store(0, Ordering::Relaxed);
        assert_eq!(enqueued, ur_result_t::SUCCESS);
        event
    }

    fn time(&self, event: ur_event_handle_t, which: info) -> u64 {
        let mut time = 0u64;
        // SAFETY: a live event, and a writable output of the size that is told.
        let answer = unsafe { urEventGetProfilingInfo::<Noop>(event, which, 8, (&raw mut time).cast(), null_mut()) };
        assert_eq!(answer, ur_result_t::SUCCESS);
        time
    }

    fn end(self, events: &[ur_event_handle_t]) {
        // SAFETY: live events, each released once.
        events.iter().for_each(|event| assert_eq!(unsafe { urEventRelease::<Noop>(*event) }, ur_result_t::SUCCESS));
        self.handles.release_queue(self.handle);
    }
}

/// A device's clock that falls behind the host's counts starts that are before their submission. An H100 told kernels of five
/// microseconds as none by the end of each second.
#[test]
fn a_command_that_is_counted_to_start_before_its_submission_keeps_its_duration() {
    let _turn = turn();
    let handles = Handles::new();
    let queue = TimedQueue::new(&handles);
    let events: [_; 3] = core::array::from_fn(|_| queue.command(5_000));
    for event in events {
        let [submitted, start, end] =
            [info::COMMAND_SUBMIT, info::COMMAND_START, info::COMMAND_END].map(|which| queue.time(event, which));
        assert!(start >= submitted, "submitted at {submitted}, started at {start}");
        assert_eq!(end - start, 5_000);
    }
    queue.end(&events);
}

#[test]
fn the_times_of_a_command_stay_as_they_were_told_whatever_later_ones_show_of_the_clock() {
    let _turn = turn();
    let handles = Handles::new();
    let queue = TimedQueue::new(&handles);
    let first = queue.command(5_000);
    let started = queue.time(first, info::COMMAND_START);
    let second = queue.command(5_000);
    let later = queue.time(second, info::COMMAND_START);
    assert!(later >= started + 5_000, "{started}, then {later}");
    assert_eq!(queue.time(first, info::COMMAND_START), started);
    assert_eq!(queue.time(first, info::COMMAND_END), started + 5_000);
    queue.end(&[first, second]);
}

/// An event that is filled again keeps what its times are counted from as long as that serves.
#[test]
fn an_event_that_is_filled_again_is_counted_from_a_new_anchor_when_one_is_due() {
    let _turn = turn();
    let handles = Handles::new();
    let driver = adapter::driver::<Noop>().expect("an open driver");
    // The first anchor is the new queue's.
    driver.controls.time_ns.store(0, Ordering::Relaxed);
    let queue = handles.queue_with(Flags::PROFILING_ENABLE);
    // SAFETY: a live queue.
    let state = Arc::clone(&unsafe { object::borrow::<queue::Queue<Noop>>(queue) }.expect("the queue").device);
    let times = |device_ns: u64| {
        driver.controls.time_ns.store(device_ns, Ordering::Relaxed);
        let mut event = null_mut();
        let (mut submitted, mut end) = (0u64, 0u64);
        // SAFETY: a live queue, writable outputs of the sizes that are told, an event that is released once.
        unsafe {
            assert_eq!(urEnqueueEventsWait::<Noop>(queue, 0, null(), &raw mut event), ur_result_t::SUCCESS);
            for (what, out) in [(info::COMMAND_SUBMIT, &raw mut submitted), (info::COMMAND_END, &raw mut end)] {
                let answer = urEventGetProfilingInfo::<Noop>(event, what, 8, out.cast(), null_mut());
                assert_eq!(answer, ur_result_t::SUCCESS);
            }
            assert_eq!(urEventRelease::<Noop>(event), ur_result_t::SUCCESS);
        }
        (event, submitted, end)
    };
    let (first, ..) = times(1_000);
    driver.controls.time_ns.store(HOUR_NS, Ordering::Relaxed);
    state.native.clock.expire();
    let (again, submitted, end) = times(HOUR_NS);
    assert_eq!(again, first, "nobody has the event any more");
    // From the first anchor it would end in an hour.
    assert!(end < submitted + HOUR_NS / 2, "submitted at {submitted}, and ends at {end}");
    drop(state);
    handles.release_queue(queue);
}

#[test]
fn a_device_that_is_busy_keeps_its_anchor() {
    with_clock(|driver, state| {
        let marker = mark(driver, state, 5_000);
        let before = state.time_of(&marker).expect("a time");
        driver.controls.time_ns.store(HOUR_NS, Ordering::Relaxed);
        driver.controls.is_slow.store(true, Ordering::Relaxed);
        state.native.clock.expire();
        assert_eq!(state.time_of(&marker).expect("a time"), before);
    });
}

/// Who makes an anchor may wait in the native library, as long as another thread's copy takes.
#[test]
fn a_timed_command_does_not_wait_for_the_thread_that_makes_the_next_anchor() {
    with_clock(|driver, state| {
        let controls = &driver.controls;
        let before = controls.held_records.load(Ordering::Acquire);
        controls.holds_records.store(true, Ordering::Release);
        state.native.clock.expire();
        std::thread::scope(|scope| {
            scope.spawn(|| state.time_base().is_some());
            while controls.held_records.load(Ordering::Acquire) == before {
                std::thread::yield_now();
            }
            let (told, answers) = channel();
            scope.spawn(move || told.send(state.time_base().is_some()));
            let answer = answers.recv_timeout(PATIENCE);
            controls.holds_records.store(false, Ordering::Release);
            assert_eq!(answer, Ok(true), "the other thread has the clock");
        });
    });
}
