//! Signals of reusable events behind waits for what nobody has signalled: kept like any command, and waited for like any signal.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::null;
use std::sync::mpsc::TryRecvError;

use ur_conformance::ffi::{
    ur_event_status_t as Status, ur_exp_event_flags_t as Flags, ur_profiling_info_t as Time, ur_queue_flags_t,
    ur_result_t as Code,
};
use ur_conformance::{
    Event, Fixture, Gate, Kind, Launch, Memory, Queue, Timeline, ask, last_error, needs_function, query, timeline, ur,
};

use crate::reusable::{BOTH, reusable, signal, status, times, with_flags};

/// A word for each of several commands to write a 1 to.
struct Words<'f> {
    memory: Memory<'f>,
    fill: ur_conformance::Kernel,
}

impl<'f> Words<'f> {
    fn new(fixture: &'f Fixture) -> Self {
        let memory = fixture.memory(Kind::Host, 16);
        (0..4).for_each(|at| memory.store(at, 0));
        Self { memory, fill: fixture.basic(c"fill") }
    }

    /// Writes a word on a queue, after an event.
    fn write_after(&self, queue: &Queue, at: usize, event: &Event) -> Event {
        let launch = Launch::new(&self.fill, &[1]).pointer(self.memory.at(4 * at)).value(1u32).value(1u32);
        launch.after(&[event]).event_on(queue)
    }

    fn are(&self) -> [u32; 4] {
        [0, 1, 2, 3].map(|at| self.memory.load(at))
    }
}

/// Runs a test for queues in order and out of order, where there are reusable events and timelines.
fn on_both_kinds_of_queue(test: impl Fn(&Fixture, ur_queue_flags_t)) {
    needs_function!(urEventCreateExp);
    if !timeline::are_there() {
        return;
    }
    for flags in BOTH {
        test(&Fixture::new(), flags);
    }
}

#[test]
fn a_signal_behind_an_unresolved_wait_is_submitted_with_its_queue_and_comes_after_what_is_before_it() {
    on_both_kinds_of_queue(|fixture, flags| {
        let (queue, other) = (fixture.queue(flags), fixture.in_order());
        let (event, timeline, words) = (reusable(fixture), Timeline::at_zero(fixture), Words::new(fixture));
        for value in 1..=3 {
            words.memory.store(0, 0);
            let mut gate = Gate::new(fixture);
            queue.wait_for(&timeline, value);
            gate.block(&queue);
            signal(&queue, &event, &[]);
            let after = words.write_after(&other, 0, &event);
            assert_eq!((status(&event), status(&after)), (Status::QUEUED, Status::QUEUED), "{flags:?}");
            timeline.signal(value);
            assert_eq!((status(&event), status(&after)), (Status::SUBMITTED, Status::SUBMITTED), "{flags:?}");
            assert_eq!(words.are()[0], 0, "{flags:?}");
            gate.open();
            event.wait();
            after.wait();
            assert_eq!((status(&event), words.are()[0]), (Status::COMPLETE, 1), "{flags:?}");
            queue.finish();
        }
    });
}

#[test]
fn a_wait_before_a_kept_signal_is_for_the_signal_before_it() {
    on_both_kinds_of_queue(|fixture, flags| {
        let [first, kept, waiting] = [fixture.in_order(), fixture.queue(flags), fixture.in_order()];
        let (event, timeline, words) = (reusable(fixture), Timeline::at_zero(fixture), Words::new(fixture));
        let mut gate = Gate::new(fixture);
        gate.block(&first);
        signal(&first, &event, &[]);
        let before = words.write_after(&waiting, 0, &event);
        kept.wait_for(&timeline, 1);
        signal(&kept, &event, &[]);
        let behind = words.write_after(&waiting, 1, &event);
        assert_eq!((status(&before), status(&behind)), (Status::SUBMITTED, Status::QUEUED), "{flags:?}");
        gate.open();
        before.wait();
        assert_eq!((words.are(), status(&event)), ([1, 0, 0, 0], Status::QUEUED), "{flags:?}");
        timeline.signal(1);
        behind.wait();
        assert_eq!((words.are(), status(&event)), ([1, 1, 0, 0], Status::COMPLETE), "{flags:?}");
    });
}

#[test]
fn a_signal_after_a_kept_one_is_not_waited_for_by_whoever_waits_for_that() {
    on_both_kinds_of_queue(|fixture, flags| {
        let [kept, later, waiting, last] =
            [fixture.queue(flags), fixture.in_order(), fixture.in_order(), fixture.in_order()];
        let (event, timeline, words) = (reusable(fixture), Timeline::at_zero(fixture), Words::new(fixture));
        kept.wait_for(&timeline, 1);
        signal(&kept, &event, &[]);
        let behind = words.write_after(&waiting, 0, &event);
        let mut gate = Gate::new(fixture);
        gate.block(&later);
        signal(&later, &event, &[]);
        let behind_later = words.write_after(&last, 1, &event);
        assert_eq!((status(&event), status(&behind)), (Status::SUBMITTED, Status::QUEUED), "{flags:?}");
        timeline.signal(1);
        behind.wait();
        // The kept signal has had its turn, and the event still stands for the later one.
        assert_eq!((words.are(), status(&event)), ([1, 0, 0, 0], Status::SUBMITTED), "{flags:?}");
        gate.open();
        behind_later.wait();
        assert_eq!((words.are(), status(&event)), ([1, 1, 0, 0], Status::COMPLETE), "{flags:?}");
        kept.finish();
    });
}

#[test]
fn a_kept_command_waits_for_the_signal_that_was_the_last_one_when_it_was_enqueued() {
    on_both_kinds_of_queue(|fixture, flags| {
        let [first, later, waiting] = [fixture.in_order(), fixture.in_order(), fixture.queue(flags)];
        let (event, timeline, words) = (reusable(fixture), Timeline::at_zero(fixture), Words::new(fixture));
        let (mut gate, mut later_gate) = (Gate::new(fixture), Gate::new(fixture));
        gate.block(&first);
        signal(&first, &event, &[]);
        waiting.wait_for(&timeline, 1);
        let kept = words.write_after(&waiting, 0, &event);
        later_gate.block(&later);
        signal(&later, &event, &[]);
        timeline.signal(1);
        assert_eq!((status(&kept), words.are()[0]), (Status::SUBMITTED, 0), "{flags:?}");
        gate.open();
        kept.wait();
        assert_eq!((words.are()[0], status(&event)), (1, Status::SUBMITTED), "{flags:?}");
        later_gate.open();
        event.wait();
        waiting.finish();
    });
}

#[test]
fn of_two_kept_signals_each_is_for_those_who_waited_for_it_whichever_comes_first() {
    on_both_kinds_of_queue(|fixture, flags| {
        for is_first_first in [true, false] {
            let queues = [(); 2].map(|()| fixture.queue(flags));
            let waiting = [(); 2].map(|()| fixture.in_order());
            let timelines = [(); 2].map(|()| Timeline::at_zero(fixture));
            let (event, words) = (reusable(fixture), Words::new(fixture));
            let behind = [0, 1].map(|at| {
                queues[at].wait_for(&timelines[at], 1);
                signal(&queues[at], &event, &[]);
                words.write_after(&waiting[at], at, &event)
            });
            let order = if is_first_first { [0, 1] } else { [1, 0] };
            for (step, at) in order.into_iter().enumerate() {
                timelines[at].signal(1);
                behind[at].wait();
                let is_last_there = at == 1 || step == 1;
                assert_eq!(status(&event) == Status::COMPLETE, is_last_there, "{flags:?}, {order:?}, {step}");
                let mut expected = [0; 4];
                order[..=step].iter().for_each(|at| expected[*at] = 1);
                assert_eq!(words.are(), expected, "{flags:?}, {order:?}");
            }
            event.wait();
            queues.iter().for_each(Queue::finish);
        }
    });
}

#[test]
fn a_kept_signal_that_fails_is_told_to_whoever_waits_for_it_and_ends_with_the_next_signal() {
    on_both_kinds_of_queue(|fixture, flags| {
        let (queue, other) = (fixture.queue(flags), fixture.in_order());
        let (event, timeline, words) = (reusable(fixture), Timeline::at_zero(fixture), Words::new(fixture));
        queue.wait_for(&timeline, 1);
        signal(&queue, &event, &[]);
        timeline.fail(Code::ERROR_OUT_OF_RESOURCES);
        let handle = event.handle();
        assert_eq!(ur!(Event.pfnWait(1, &raw const handle)), Code::ERROR_OUT_OF_RESOURCES, "{flags:?}");
        assert_eq!(status(&event), Status::ERROR, "{flags:?}");
        let refused = ur!(Enqueue.pfnEventsWait(other.handle(), 1, &raw const handle, core::ptr::null_mut()));
        assert_eq!(refused, Code::ERROR_IN_EVENT_LIST_EXEC_STATUS, "{flags:?}");
        // The queue tells of it once.
        let _ = ur!(Queue.pfnFinish(queue.handle()));
        signal(&queue, &event, &[]);
        words.write_after(&other, 0, &event).wait();
        assert_eq!((status(&event), words.are()[0]), (Status::COMPLETE, 1), "{flags:?}");
    });
}

#[test]
fn urEventGetProfilingInfo_tells_the_times_of_a_kept_signal() {
    on_both_kinds_of_queue(|fixture, flags| {
        for flags in [flags, flags | ur_queue_flags_t::PROFILING_ENABLE] {
            let (queue, timeline) = (fixture.queue(flags), Timeline::at_zero(fixture));
            let event = with_flags(fixture, Flags::ENABLE_PROFILING);
            signal(&queue, &event, &[]);
            event.wait();
            let before = times(&event);
            queue.wait_for(&timeline, 1);
            signal(&queue, &event, &[]);
            let mut time = 0u64;
            let asked = ur!(Event.pfnGetProfilingInfo(
                event.handle(),
                Time::COMMAND_END,
                8,
                (&raw mut time).cast(),
                core::ptr::null_mut()
            ));
            assert_eq!(asked, Code::ERROR_PROFILING_INFO_NOT_AVAILABLE, "{flags:?}");
            timeline.signal(1);
            event.wait();
            let now = times(&event);
            // The device's moments are only as exact as the host saw the clocks' common one; the host's own are.
            assert!(now.is_sorted() && now[0] > before[0] && now[1] > now[0], "{flags:?}: {now:?} after {before:?}");
            assert_eq!(now[2], now[3], "a signal takes no time");
            // A later signal has times of its own again.
            signal(&queue, &event, &[]);
            event.wait();
            assert!(times(&event)[0] > now[0], "{flags:?}");
        }
    });
}

#[test]
fn urEventSetCallback_on_a_kept_signal_is_called_once_when_that_is_reached() {
    on_both_kinds_of_queue(|fixture, flags| {
        fixture.allow_late_releases();
        let (queue, event, timeline) = (fixture.queue(flags), reusable(fixture), Timeline::at_zero(fixture));
        let mut gate = Gate::new(fixture);
        queue.wait_for(&timeline, 1);
        gate.block(&queue);
        signal(&queue, &event, &[]);
        let called = event.call_back();
        timeline.signal(1);
        assert_eq!(called.try_recv(), Err(TryRecvError::Empty), "{flags:?}: the gate is closed");
        gate.open();
        assert_eq!(called.recv(), Ok(()), "{flags:?}");
        assert!(called.recv().is_err(), "once");
        queue.finish();
    });
}

#[test]
fn an_event_may_be_released_while_its_signal_is_kept() {
    on_both_kinds_of_queue(|fixture, flags| {
        let (queue, other) = (fixture.queue(flags), fixture.in_order());
        let (event, timeline, words) = (reusable(fixture), Timeline::at_zero(fixture), Words::new(fixture));
        queue.wait_for(&timeline, 1);
        signal(&queue, &event, &[]);
        let behind = words.write_after(&other, 0, &event);
        drop(event);
        timeline.signal(1);
        behind.wait();
        assert_eq!(words.are()[0], 1, "{flags:?}");
        queue.finish();
    });
}

/// Neither other processes nor who has the native event would see the signal.
#[test]
fn a_signal_that_others_have_to_see_natively_says_why_it_is_not_kept() {
    on_both_kinds_of_queue(|fixture, flags| {
        let (queue, timeline) = (fixture.queue(flags), Timeline::at_zero(fixture));
        let given_out = reusable(fixture);
        let _: usize = native_handle(&given_out).expect("of an event that nothing has signalled");
        let mut events = vec![(given_out, "native event")];
        let shares: u8 = query::get(ask!(
            Device.pfnGetInfo(fixture.device(), ur_conformance::ffi::ur_device_info_t::IPC_EVENT_SUPPORT_EXP)
        ));
        if shares != 0 {
            events.push((with_flags(fixture, Flags::IPC_EXP), "processes"));
        }
        queue.wait_for(&timeline, 1);
        for (event, why) in &events {
            let mut handle = event.handle();
            let answer = ur!(Enqueue.pfnEventsWaitWithBarrierExt(queue.handle(), null(), 0, null(), &raw mut handle));
            let text = last_error();
            let says = text.contains(why) && text.contains("wait for the timeline on the host first");
            assert!(answer == Code::ERROR_UNSUPPORTED_FEATURE && says, "{flags:?}: {answer:?}: {text}");
            assert_eq!(status(event), Status::COMPLETE, "{flags:?}: it stands for what it stood for");
        }
        // The other way round: nobody gets the native event while it does not stand for the last signal.
        let kept = reusable(fixture);
        signal(&queue, &kept, &[]);
        assert_eq!(native_handle(&kept), Err(Code::ERROR_UNSUPPORTED_FEATURE), "{flags:?}");
        // Nobody has it, so the next signal is kept as well.
        signal(&queue, &kept, &[]);
        timeline.signal(1);
        kept.wait();
        assert!(native_handle(&kept).is_ok(), "{flags:?}: {}", last_error());
        queue.finish();
    });
}

fn native_handle(event: &Event) -> Result<usize, Code> {
    let mut native = 0;
    let code = ur!(Event.pfnGetNativeHandle(event.handle(), &raw mut native));
    if code == Code::SUCCESS { Ok(native) } else { Err(code) }
}
