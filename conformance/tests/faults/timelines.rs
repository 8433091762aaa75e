//! Every native call fails in turn while queues keep commands behind timelines: whoever waits hears of it, also where the call
//! was another thread's or came later than the enqueue, and nothing is left. Needs the simulated driver.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use crate::commands::{WORDS, make_block};
use ur_conformance::faults::{Attempt, Finish, Sweep, enqueue, make_kernel, make_queue, tried};
use ur_conformance::ffi::{
    CBool, ur_event_handle_t, ur_execution_info_t, ur_exp_host_task_properties_t, ur_ext_host_task_status_t,
    ur_ext_timeline_desc_t, ur_ext_timeline_flags_t as Sharing, ur_ext_timeline_wait_flags_t,
    ur_queue_flags_t as Flags, ur_result_t as Code, ur_structure_type_t as Structure,
};
use ur_conformance::sim::status;
use ur_conformance::{
    Context, Environment, Event, Fixture, Gate, Kind, Launch, Queue, Sim, Timeline, needs_sim, ok, timeline, ur,
};

/// So long a call may take to come, at most.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn make_timeline(context: &Context) -> Attempt<Timeline> {
    make_timeline_with(context, Sharing::empty())
}

fn make_timeline_with(context: &Context, flags: Sharing) -> Attempt<Timeline> {
    let description = ur_ext_timeline_desc_t { flags, ..Default::default() };
    let mut made = null_mut();
    let answer = ur!(TimelineExt.pfnTimelineCreateExt(context.handle(), &raw const description, &raw mut made));
    assert_eq!(made.is_null(), answer != Code::SUCCESS, "urTimelineCreateExt's output");
    tried("urTimelineCreateExt", answer, || Timeline::take(made))
}

extern "C" fn succeed(_data: *mut c_void) {}

/// Enqueues a host task that reports to a number.
fn report(queue: &Queue, number: &mut i32, after: &Event) -> Attempt<Event> {
    let stype = Structure::EXT_HOST_TASK_STATUS;
    let mut status = ur_ext_host_task_status_t { stype, pStatus: number, ..Default::default() };
    let properties = ur_exp_host_task_properties_t { pNext: (&raw mut status).cast(), ..Default::default() };
    let (queue, list, properties) = (queue.handle(), [after.handle()], &raw const properties);
    enqueue("urEnqueueHostTaskExp", |event| {
        ur!(EnqueueExp.pfnHostTaskExp(queue, Some(succeed), null_mut(), properties, 1, list.as_ptr(), event))
    })
}

/// One queue waits for the host, the other for the first; each has a launch and a copy behind its wait, and the first a task
/// that reports. When nothing is kept any more, the first hands over to the other once more.
fn scenario(fixture: &Fixture, image: &[u8], flags: Flags, sharing: Sharing) -> Attempt<()> {
    let context = fixture.context_of(&fixture.devices[..1]);
    let (from, to) = (make_block(Kind::Host, &context, fixture)?, make_block(Kind::Host, &context, fixture)?);
    let (first, second) =
        (make_queue(&context, fixture.device(), flags)?, make_queue(&context, fixture.device(), flags)?);
    let (_program, kernel) = make_kernel(&context, &fixture.devices[..1], image, c"iota")?;
    let (begin, middle) = (make_timeline_with(&context, sharing)?, make_timeline_with(&context, sharing)?);
    let mut number = 0;
    let _finish = (Finish(&first), Finish(&second));
    // Whatever has failed, nothing waits for ever.
    let _fail = (Fail(&begin), Fail(&middle));
    let (q1, q2, one) = (first.handle(), second.handle(), 1u64);
    let (begin_at, middle_at, one) = ([begin.handle()], [middle.handle()], &raw const one);
    let waited = enqueue("urEnqueueTimelineWaitExt", |event| {
        ur!(TimelineExt.pfnEnqueueTimelineWaitExt(q1, 1, begin_at.as_ptr(), one, 0, null(), event))
    })?;
    let launch = Launch::new(&kernel, &[WORDS]).pointer(from.pointer).value(WORDS as u32).after(&[&waited]);
    let filled = enqueue("urEnqueueKernelLaunchWithArgsExp", |event| launch.enqueue(&first, event))?;
    let reported = report(&first, &mut number, &filled)?;
    let list = [reported.handle()];
    let signalled = enqueue("urEnqueueTimelineSignalExt", |event| {
        ur!(TimelineExt.pfnEnqueueTimelineSignalExt(q1, 1, middle_at.as_ptr(), one, 1, list.as_ptr(), event))
    })?;
    let point =
        enqueue("urTimelineGetEventExt", |event| ur!(TimelineExt.pfnTimelineGetEventExt(middle.handle(), 1, event)))?;
    let list = [point.handle()];
    let copied = enqueue("urEnqueueUSMMemcpy", |event| {
        ur!(Enqueue.pfnUSMMemcpy(q2, CBool::FALSE, to.pointer, from.pointer, 4 * WORDS, 1, list.as_ptr(), event))
    })?;
    tried("urTimelineSignalExt", ur!(TimelineExt.pfnTimelineSignalExt(begin.handle(), 1)), || ())?;
    let (all, minute) = (ur_ext_timeline_wait_flags_t::empty(), 60_000_000_000);
    let answer = ur!(TimelineExt.pfnTimelineWaitExt(1, middle_at.as_ptr(), one, all, minute, null_mut()));
    tried("urTimelineWaitExt", answer, || ())?;
    let list = [signalled.handle(), copied.handle()];
    tried("urEventWait", ur!(Event.pfnWait(2, list.as_ptr())), || ())?;
    let two = 2u64;
    let (two, none) = (&raw const two, null_mut());
    tried("urEnqueueKernelLaunchWithArgsExp", launch.enqueue(&first, null_mut()), || ())?;
    let answer = ur!(TimelineExt.pfnEnqueueTimelineSignalExt(q1, 1, middle_at.as_ptr(), two, 0, null(), none));
    tried("urEnqueueTimelineSignalExt", answer, || ())?;
    let answer = ur!(TimelineExt.pfnEnqueueTimelineWaitExt(q2, 1, middle_at.as_ptr(), two, 0, null(), none));
    tried("urEnqueueTimelineWaitExt", answer, || ())?;
    tried("urQueueFinish", ur!(Queue.pfnFinish(q1)), || ())?;
    tried("urQueueFinish", ur!(Queue.pfnFinish(q2)), || ())?;
    // SAFETY: host memory of that many words, and the copy into it has finished.
    let words = unsafe { core::slice::from_raw_parts(to.pointer.cast::<u32>(), WORDS) };
    let right = words.iter().enumerate().all(|(at, word)| *word as usize == at);
    assert!(right, "every call succeeded and the result is wrong: {words:?}");
    Ok(())
}

/// Ends what still waits for a timeline.
pub(crate) struct Fail<'t>(pub(crate) &'t Timeline);

impl Drop for Fail<'_> {
    fn drop(&mut self) {
        let _ = ur!(TimelineExt.pfnTimelineFailExt(self.0.handle(), Code::ERROR_UNKNOWN));
    }
}

fn sweep(flags: Flags, error: i32, sharing: Sharing) {
    let mut fixture = Fixture::new();
    if fixture.sim().is_none() || !timeline::are_there() {
        println!("skipped: needs the simulated driver and timelines");
        return;
    }
    // The thread that ran a task holds what its report has made ready a moment longer than the application.
    fixture.allow_late_releases();
    let image = Environment::get().image("basic.ptx");
    // A thread finds out how a signal ended that other processes wait for. If it cannot, the timeline has failed before the next one.
    let may_also = |call: &str, code| call == "urEnqueueTimelineSignalExt" && code == Code::ERROR_INVALID_OPERATION;
    let may_also: fn(&str, Code) -> bool = if sharing == Sharing::IPC { may_also } else { |_, _| false };
    let sweep = Sweep { error, returning: false, least: 5, may_also };
    sweep.over(&mut fixture, |fixture| scenario(fixture, &image, flags, sharing));
}

#[test]
fn out_of_memory_in_any_native_call_of_kept_commands_is_reported_and_leaves_nothing() {
    sweep(Flags::empty(), status::OUT_OF_MEMORY, Sharing::empty());
}

#[test]
fn an_unknown_failure_in_any_native_call_of_kept_commands_out_of_order_is_reported_and_leaves_nothing() {
    sweep(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, status::UNKNOWN, Sharing::empty());
}

#[test]
fn a_lost_context_in_any_native_call_of_kept_commands_is_reported_as_a_lost_device() {
    sweep(Flags::PROFILING_ENABLE, status::ILLEGAL_ADDRESS, Sharing::empty());
}

/// What tells other processes is made of native calls too; where those fail, a thread waits, or the timeline fails.
#[test]
fn out_of_memory_in_any_native_call_around_shared_timelines_is_reported_and_leaves_nothing() {
    sweep(Flags::empty(), status::OUT_OF_MEMORY, Sharing::IPC);
}

#[test]
fn an_unknown_failure_in_any_native_call_around_shared_timelines_is_reported_and_leaves_nothing() {
    sweep(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, status::UNKNOWN, Sharing::IPC);
}

#[test]
fn a_lost_context_in_any_native_call_around_shared_timelines_is_reported_as_a_lost_device() {
    sweep(Flags::empty(), status::ILLEGAL_ADDRESS, Sharing::IPC);
}

extern "C" fn tell(_event: ur_event_handle_t, _status: ur_execution_info_t, data: *mut c_void) {
    // SAFETY: the sender was given away for one call.
    let _ = unsafe { Box::from_raw(data.cast::<Sender<()>>()) }.send(());
}

#[test]
fn urEventSetCallback_of_a_kept_command_is_called_although_its_end_cannot_be_watched() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    if !timeline::are_there() {
        return;
    }
    fixture.allow_late_releases();
    let (queue, timeline) = (fixture.in_order(), Timeline::at_zero(&fixture));
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    queue.wait_for(&timeline, 1);
    let kept = Launch::new(&fixture.basic(c"empty"), &[1]).event_on(&queue);
    let (sender, calls) = channel::<()>();
    let (data, complete) = (Box::into_raw(Box::new(sender)).cast(), ur_execution_info_t::COMPLETE);
    ok!(Event.pfnSetCallback(kept.handle(), complete, Some(tell), data));
    let recorded = sim.calls_so_far("cuEventRecord");
    sim.fail("cuEventRecord", 1, status::OUT_OF_MEMORY);
    timeline.signal(1);
    assert!(sim.calls_so_far("cuEventRecord") > recorded, "nothing has failed");
    sim.clear_faults();
    gate.open();
    queue.finish();
    assert!(calls.recv_timeout(PATIENCE).is_ok(), "nobody is told of the end");
}

#[test]
fn urTimelineWaitExt_for_any_value_hears_of_a_signal_whose_end_another_call_could_not_watch() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    if !timeline::are_there() {
        return;
    }
    fixture.allow_late_releases();
    let (queue, timelines) = (fixture.in_order(), [(); 2].map(|()| Timeline::at_zero(&fixture)));
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    queue.signal(&timelines[0], 1);
    let wanted = [(&timelines[0], 1), (&timelines[1], 1)];
    // Two looks, then the watch.
    sim.fail("cuEventQuery", 3, status::OUT_OF_MEMORY);
    let (answer, _) = timeline::wait(&wanted, true, u64::MAX);
    sim.clear_faults();
    assert_ne!(answer, Code::SUCCESS);
    expect_the_signal(sim, &timelines, &mut gate, 2);
    queue.finish();
}

/// Waits for 1 of either timeline on a thread, and is told of the first's, whose signal is behind the gate that opens after so many
/// questions for events.
fn expect_the_signal(sim: &Sim, timelines: &[Timeline; 2], gate: &mut Gate<'_>, questions: u64) {
    let asked = || sim.calls_so_far("cuEventQuery");
    let before = asked();
    std::thread::scope(|scope| {
        let (told, answers) = channel();
        scope.spawn(move || told.send(timeline::wait(&[(&timelines[0], 1), (&timelines[1], 1)], true, u64::MAX)));
        while asked() < before + questions {
            std::thread::yield_now();
        }
        gate.open();
        let answer = answers.recv_timeout(PATIENCE);
        // Ends the thread, whatever came of it.
        timelines[1].signal(1);
        assert_eq!(answer, Ok((Code::SUCCESS, Some(0))));
    });
}

/// The first question fails that `ask` makes, beside a signal that is on its way.
fn fail_a_question(ask: impl Fn(&Timeline)) {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    if !timeline::are_there() {
        return;
    }
    let (queue, other, timeline) = (fixture.in_order(), fixture.in_order(), Timeline::at_zero(&fixture));
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    queue.signal(&timeline, 1);
    other.wait_for(&timeline, 2);
    let kept = Launch::new(&fixture.basic(c"empty"), &[1]).event_on(&other);
    let asked = sim.calls_so_far("cuEventQuery");
    sim.fail("cuEventQuery", 1, status::OUT_OF_MEMORY);
    ask(&timeline);
    assert!(sim.calls_so_far("cuEventQuery") > asked, "nothing has failed");
    sim.clear_faults();
    assert_eq!(timeline.status(), Code::SUCCESS);
    gate.open();
    queue.finish();
    assert_eq!((timeline.value(), timeline.status()), (1, Code::SUCCESS));
    timeline.signal(2);
    kept.wait();
    other.finish();
}

#[test]
fn urTimelineGetInfoExt_of_a_value_that_cannot_be_asked_for_does_not_make_the_timeline_fail() {
    fail_a_question(|timeline| assert_eq!(timeline.value(), 0));
}

#[test]
fn urTimelineWaitExt_that_cannot_ask_for_a_value_does_not_make_the_timeline_fail() {
    fail_a_question(|timeline| {
        let answer = timeline.wait(1, 0);
        assert!([Code::ERROR_OUT_OF_DEVICE_MEMORY, Code::ERROR_TIMEOUT_EXT].contains(&answer), "{answer:?}");
    });
}

/// What watches a signal takes such an answer for its end.
#[test]
fn urTimelineWaitExt_hears_of_a_signal_of_which_the_watch_was_told_once_that_the_device_is_lost() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    if !timeline::are_there() {
        return;
    }
    fixture.allow_late_releases();
    let (queue, timelines) = (fixture.in_order(), [(); 2].map(|()| Timeline::at_zero(&fixture)));
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    queue.signal(&timelines[0], 1);
    // Two looks, and one that begins the watch.
    sim.fail("cuEventQuery", 4, status::ILLEGAL_ADDRESS);
    // The watch's, and the look that follows.
    expect_the_signal(sim, &timelines, &mut gate, 5);
    sim.clear_faults();
    queue.finish();
}

/// Two threads signal, and neither signal is submitted: the smaller value's thread hears of that while the larger one's is still in
/// its native call.
fn fail_both_signals(make: impl FnOnce(&Fixture) -> Timeline) {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    if !timeline::are_there() {
        return;
    }
    fixture.allow_late_releases();
    let (timed, plain, busy, witness) =
        (fixture.queue(Flags::PROFILING_ENABLE), fixture.in_order(), fixture.in_order(), fixture.in_order());
    let timeline = make(&fixture);
    timeline.signal(3);
    let mut gate = Gate::new(&fixture);
    let open = gate.block_event(&busy);
    // Now it has a native event: who waits for it only waits.
    ok!(Enqueue.pfnEventsWaitWithBarrier(witness.handle(), 1, [open.handle()].as_ptr(), null_mut()));
    let signal = |queue: &Queue, value: u64, waits: &[ur_event_handle_t]| {
        let (handle, queue) = (timeline.handle(), queue.handle());
        let (count, list) = (waits.len() as u32, if waits.is_empty() { null() } else { waits.as_ptr() });
        ur!(TimelineExt.pfnEnqueueTimelineSignalExt(
            queue,
            1,
            &raw const handle,
            &raw const value,
            count,
            list,
            null_mut()
        ))
    };
    std::thread::scope(|scope| {
        let (records, waits) = (sim.hold_calls("cuEventRecord"), sim.hold_calls("cuStreamWaitEvent"));
        // Nothing is tried again, as where there was no memory.
        sim.fail("cuEventRecord", 1, status::UNKNOWN);
        sim.fail("cuStreamWaitEvent", 1, status::UNKNOWN);
        let smaller = scope.spawn(|| signal(&timed, 5, &[]));
        records.wait_for_one(|| smaller.is_finished());
        let larger = scope.spawn(|| signal(&plain, 7, &[open.handle()]));
        waits.wait_for_one(|| larger.is_finished());
        drop(records);
        assert_ne!(smaller.join().expect("a signal"), Code::SUCCESS);
        drop(waits);
        assert_ne!(larger.join().expect("a signal"), Code::SUCCESS);
    });
    sim.clear_faults();
    // Nobody has signalled 5.
    timeline.signal(4);
    timeline.signal(5);
    gate.open();
    for queue in [&timed, &plain, &busy, &witness] {
        queue.finish();
    }
    assert_eq!((timeline.value(), timeline.status()), (5, Code::SUCCESS));
}

#[test]
fn urEnqueueTimelineSignalExt_that_fails_leaves_no_value_that_another_one_that_failed_had_noted() {
    fail_both_signals(Timeline::at_zero);
}

#[test]
fn urEnqueueTimelineSignalExt_that_fails_on_a_shared_timeline_leaves_no_value_that_another_one_that_failed_had_noted() {
    fail_both_signals(|fixture| Timeline::shared(fixture, 0));
}
