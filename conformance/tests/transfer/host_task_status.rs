//! Host tasks that report a status: a failure reaches what comes after the task, and nothing else.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::mpsc::{Sender, channel};

use ur_conformance::ffi::{
    CBool, ur_base_properties_t, ur_command_t, ur_event_handle_t, ur_event_info_t, ur_event_status_t as Status,
    ur_execution_info_t, ur_exp_host_task_properties_t, ur_ext_host_task_status_t, ur_queue_flags_t as Flags,
    ur_result_t as Code, ur_structure_type_t as Structure,
};
use ur_conformance::owned::event_of;
use ur_conformance::{
    Cells, Event, Fixture, Gate, Launch, Queue, Timeline, ask, child, needs_sim, ok, query, sim, timeline, ur,
};

const ORDERS: [Flags; 4] = [
    Flags::empty(),
    Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE,
    Flags::PROFILING_ENABLE,
    Flags::PROFILING_ENABLE.union(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE),
];
const CAUSE: Code = Code::ERROR_INVALID_ARGUMENT;

/// What a task reads and writes; stays where it is until the task is complete.
struct Report {
    /// What the task's function is to report.
    answer: i32,
    calls: u32,
    /// What the number was when the function was called.
    found: i32,
    status: i32,
}

impl Report {
    fn new(answer: Code) -> Box<Self> {
        Box::new(Self { answer: answer.0.cast_signed(), calls: 0, found: -1, status: 77 })
    }

    /// Enqueues a task that reports.
    fn enqueue(&mut self, queue: &Queue, waits: &[&Event]) -> Event {
        let place = &raw mut self.status;
        event_of(|event| self.enqueue_to(queue, waits, place, event))
    }

    fn enqueue_to(&mut self, queue: &Queue, waits: &[&Event], status: *mut i32, event: *mut ur_event_handle_t) -> Code {
        let stype = Structure::EXT_HOST_TASK_STATUS;
        let mut status = ur_ext_host_task_status_t { stype, pStatus: status, ..Default::default() };
        let properties = ur_exp_host_task_properties_t {
            stype: Structure::EXP_HOST_TASK_PROPERTIES,
            pNext: (&raw mut status).cast(),
            ..Default::default()
        };
        let list: Vec<_> = waits.iter().map(|event| event.handle()).collect();
        let (count, list) = (list.len() as u32, if list.is_empty() { null() } else { list.as_ptr() });
        let (queue, data) = (queue.handle(), core::ptr::from_mut(self).cast());
        let answer =
            ur!(EnqueueExp.pfnHostTaskExp(queue, Some(report), data, &raw const properties, count, list, event));
        // What the call was given besides the number is not looked at again.
        status.stype = Structure(0);
        core::hint::black_box::<*const ur_base_properties_t>((&raw const status).cast());
        answer
    }

    fn calls(&self) -> u32 {
        // SAFETY: a number of this object, which the task's thread has written.
        unsafe { (&raw const self.calls).read_volatile() }
    }
}

extern "C" fn report(data: *mut c_void) {
    // SAFETY: the test's own, which nobody else touches until the task's event is complete.
    let report = unsafe { &mut *data.cast::<Report>() };
    report.calls += 1;
    report.found = report.status;
    report.status = report.answer;
}

fn status(event: &Event) -> Status {
    Status(query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS))))
}

fn wait_for_event(event: &Event) -> Code {
    let list = [event.handle()];
    ur!(Event.pfnWait(1, list.as_ptr()))
}

fn finish(queue: &Queue) -> Code {
    ur!(Queue.pfnFinish(queue.handle()))
}

fn copy(queue: &Queue, to: *mut c_void, from: *const c_void, after: &[&Event]) -> Event {
    let list: Vec<ur_event_handle_t> = after.iter().map(|event| event.handle()).collect();
    let (count, waits) = (list.len() as u32, if list.is_empty() { null() } else { list.as_ptr() });
    event_of(|event| ur!(Enqueue.pfnUSMMemcpy(queue.handle(), CBool::FALSE, to, from, 4, count, waits, event)))
}

fn fixture() -> Option<Fixture> {
    let fixture = Fixture::new();
    // What a worker resolved it may hold a moment longer than the application.
    fixture.allow_late_releases();
    timeline::are_there().then_some(fixture)
}

#[test]
fn a_task_that_reports_success_is_like_any_other() {
    let Some(fixture) = fixture() else { return };
    for flags in ORDERS {
        let (queue, other) = (fixture.queue(flags), fixture.in_order());
        let (cells, source) = (Cells::new(&fixture, 2), Cells::new(&fixture, 1));
        source.store(0, 7);
        let mut report = Report::new(Code::SUCCESS);
        let before = copy(&queue, cells.at(0), source.at(0), &[]);
        let event = report.enqueue(&queue, &[&before]);
        let command = ur_command_t(query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_TYPE))));
        assert_eq!(command, ur_command_t::HOST_TASK_EXP);
        let after = copy(&other, cells.at(1), cells.at(0), &[&event]);
        assert_eq!((wait_for_event(&after), cells.load(1)), (Code::SUCCESS, 7));
        assert_eq!((status(&event), report.calls(), report.found, report.status), (Status::COMPLETE, 1, 0, 0));
        [queue, other].iter().for_each(Queue::finish);
    }
}

#[test]
fn a_task_that_reports_a_failure_keeps_back_what_comes_after_it_and_nothing_else() {
    let Some(fixture) = fixture() else { return };
    for flags in ORDERS {
        let queues = [(); 3].map(|()| fixture.queue(flags));
        let (cells, source, timeline) = (Cells::new(&fixture, 4), Cells::new(&fixture, 1), Timeline::at_zero(&fixture));
        source.store(0, 7);
        let mut report = Report::new(CAUSE);
        let mut gate = Gate::new(&fixture);
        let failed = report.enqueue(&queues[0], &[&gate.block_event(&queues[0])]);
        // In order, and by a wait list.
        let next = copy(&queues[0], cells.at(0), source.at(0), &[&failed]);
        let signalled = queues[0].signal_after(&timeline, 1, &[&next]);
        let far = copy(&queues[1], cells.at(1), source.at(0), &[&signalled]);
        drop(copy(&queues[2], cells.at(2), source.at(0), &[]));
        queues[2].finish();
        assert_eq!([&failed, &next, &signalled, &far].map(status), [Status::QUEUED; 4]);
        gate.open();
        for event in [&failed, &next, &signalled, &far] {
            assert_eq!((wait_for_event(event), status(event)), (CAUSE, Status::ERROR));
        }
        assert_eq!((timeline.wait(1, u64::MAX), timeline.status()), (CAUSE, CAUSE));
        assert_eq!((finish(&queues[0]), finish(&queues[0]), finish(&queues[1])), (CAUSE, Code::SUCCESS, CAUSE));
        // Told once, it is over.
        drop(copy(&queues[0], cells.at(3), source.at(0), &[]));
        queues[0].finish();
        assert_eq!([0, 1, 2, 3].map(|at| cells.load(at)), [0, 0, 7, 7]);
        assert_eq!((report.calls(), report.found), (1, 0));
    }
}

#[test]
fn a_task_behind_a_timeline_reports_once_it_has_run_and_never_runs_behind_a_failure() {
    let Some(fixture) = fixture() else { return };
    for flags in ORDERS {
        for (number, told) in [Code::SUCCESS, CAUSE].into_iter().enumerate() {
            let (queue, timelines) = (fixture.queue(flags), [(); 2].map(|()| Timeline::at_zero(&fixture)));
            let (mut first, mut second) = (Report::new(told), Report::new(Code::SUCCESS));
            let point = timelines[0].event(1);
            let event = first.enqueue(&queue, &[&point]);
            let later = second.enqueue(&queue, &[&event, &timelines[1].event(1)]);
            assert_eq!([&event, &later].map(status), [Status::QUEUED; 2]);
            assert_eq!((first.calls(), first.status), (0, 77));
            timelines[0].signal(1);
            timelines[1].signal(1);
            assert_eq!([&event, &later].map(wait_for_event), [told; 2]);
            assert_eq!((first.calls(), second.calls()), (1, 1 - number as u32));
            assert_eq!(finish(&queue), told);
        }
        let (queue, timeline, mut report) = (fixture.queue(flags), Timeline::at_zero(&fixture), Report::new(CAUSE));
        let event = report.enqueue(&queue, &[&timeline.event(1)]);
        timeline.fail(Code::ERROR_INVALID_OPERATION);
        assert_eq!(wait_for_event(&event), Code::ERROR_INVALID_OPERATION);
        assert_eq!((report.calls(), report.status), (0, 77));
        assert_eq!(finish(&queue), Code::ERROR_INVALID_OPERATION);
    }
}

/// Nobody else tells what comes after the task.
#[test]
fn a_task_behind_a_timeline_that_fails_natively_in_its_turn_reports_that() {
    let test = "a_task_behind_a_timeline_that_fails_natively_in_its_turn_reports_that";
    child::in_time::<&str>(test, &[], || {
        let Some(fixture) = fixture() else { return };
        let sim = needs_sim!(fixture);
        for flags in ORDERS {
            let (queue, timeline, mut report) = (fixture.queue(flags), Timeline::at_zero(&fixture), Report::new(CAUSE));
            let event = report.enqueue(&queue, &[&timeline.event(1)]);
            sim.fail("cuLaunchHostFunc", 1, sim::status::UNKNOWN);
            timeline.signal(1);
            assert_eq!(wait_for_event(&event), Code::ERROR_ADAPTER_SPECIFIC, "{flags:?}");
            assert_eq!((report.calls(), report.status), (0, 77));
            assert_eq!(finish(&queue), Code::ERROR_ADAPTER_SPECIFIC, "{flags:?}");
            sim.clear_faults();
        }
    });
}

/// A quick task can report before its call has returned: the call succeeds all the same, and its event fails.
#[test]
fn a_quick_failure_is_told_by_the_event_and_not_by_the_call() {
    let Some(fixture) = fixture() else { return };
    let (queue, mut report) = (fixture.in_order(), Report::new(CAUSE));
    for _ in 0..500 {
        let event = report.enqueue(&queue, &[]);
        assert_eq!((wait_for_event(&event), finish(&queue)), (CAUSE, CAUSE));
    }
    assert_eq!(report.calls(), 500);
}

#[test]
fn a_status_without_a_place_is_refused() {
    let Some(fixture) = fixture() else { return };
    let (queue, mut report, mut event) = (fixture.in_order(), Report::new(CAUSE), null_mut());
    let answer = report.enqueue_to(&queue, &[], null_mut(), &raw mut event);
    assert_eq!((answer, event.is_null()), (Code::ERROR_INVALID_NULL_POINTER, true));
    queue.finish();
    assert_eq!(report.calls(), 0);
    ok!(Queue.pfnFinish(queue.handle()));
}

extern "C" fn tell(_: ur_event_handle_t, _: ur_execution_info_t, data: *mut c_void) {
    // SAFETY: the sender was given away for one call.
    let _ = unsafe { Box::from_raw(data.cast::<Sender<()>>()) }.send(());
}

/// Waits for a callback of the event's end.
fn wait_for_callback(event: &Event) {
    let (sender, calls) = channel::<()>();
    let (data, complete) = (Box::into_raw(Box::new(sender)).cast(), ur_execution_info_t::COMPLETE);
    ok!(Event.pfnSetCallback(event.handle(), complete, Some(tell), data));
    calls.recv().expect("the callback is called");
}

/// Loses the device before it gets to a task that reports, and has nobody but `learn` ask for anything.
fn lose_before_a_report(flags: Flags, learn: impl FnOnce(&Queue, &Event)) {
    let Some(fixture) = fixture() else { return };
    let sim = needs_sim!(fixture);
    let (kernel, queue) = (fixture.basic(c"empty"), fixture.queue(flags));
    let mut report = Report::new(Code::SUCCESS);
    let held = sim.hold();
    let before = Launch::new(&kernel, &[1]).event_on(&queue);
    let event = report.enqueue(&queue, &[&before]);
    sim.lose_device(0);
    drop(held);
    learn(&queue, &event);
    assert_eq!((wait_for_event(&event), status(&event)), (Code::ERROR_DEVICE_LOST, Status::ERROR));
    assert_eq!((finish(&queue), report.calls()), (Code::ERROR_DEVICE_LOST, 0), "{flags:?}");
}

#[test]
fn urEventWait_urQueueFinish_and_callbacks_learn_that_the_device_of_a_task_that_reports_was_lost() {
    let test = "urEventWait_urQueueFinish_and_callbacks_learn_that_the_device_of_a_task_that_reports_was_lost";
    child::in_time::<&str>(test, &[], || {
        for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
            lose_before_a_report(flags, |_, event| assert_eq!(wait_for_event(event), Code::ERROR_DEVICE_LOST));
            lose_before_a_report(flags, |queue, _| assert_eq!(finish(queue), Code::ERROR_DEVICE_LOST));
            lose_before_a_report(flags, |_, event| wait_for_callback(event));
            lose_before_a_report(flags, |_, event| {
                while status(event) != Status::ERROR {
                    std::thread::yield_now();
                }
            });
        }
    });
}
