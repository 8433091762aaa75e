//! The ends of processes that share a timeline: what such a process owes fails, and nothing else.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use crate::peers::{self, PATIENCE, told};
use ur_conformance::ffi::ur_result_t as Code;
use ur_conformance::{Event, Gate, Timeline, timeline, ur};

const SUCCESS: Code = Code::SUCCESS;
const LOST: Code = Code::ERROR_PROCESS_LOST_EXT;

fn wait_for_event(event: &Event) -> Code {
    let list = [event.handle()];
    ur!(Event.pfnWait(1, list.as_ptr()))
}

#[test]
fn a_killed_process_that_had_submitted_a_signal_fails_who_waits() {
    let test = "a_killed_process_that_had_submitted_a_signal_fails_who_waits";
    peers::with(test, |fixture, shared, [mut signaller, mut waiter]| {
        let (own, queue) = (Timeline::at_zero(fixture), fixture.in_order());
        signaller.done("submit 2");
        waiter.tell("wait 2");
        let point = shared.event(1);
        queue.wait_for(&shared, 2);
        queue.signal(&own, 1);
        signaller.kill();
        assert_eq!((waiter.answer(), wait_for_event(&point)), (told(LOST), LOST));
        assert_eq!(timeline::wait(&[(&shared, 2)], false, PATIENCE).0, LOST);
        assert_eq!((own.wait(1, PATIENCE), ur!(Queue.pfnFinish(queue.handle()))), (LOST, LOST));
        assert_eq!((shared.value(), shared.status(), waiter.ask("status")), (0, LOST, told(LOST)));
        waiter.end();
    });
}

#[test]
fn a_process_that_was_killed_while_nobody_waited_fails_who_waits_later() {
    let test = "a_process_that_was_killed_while_nobody_waited_fails_who_waits_later";
    peers::with(test, |_, shared, [mut signaller, mut waiter]| {
        signaller.done("submit 2");
        signaller.kill();
        assert_eq!((waiter.ask("wait 1"), shared.wait(2, PATIENCE)), (told(LOST), LOST));
        waiter.end();
    });
}

/// Nobody has ever waited here, so nobody has asked to be told of ends.
#[test]
fn a_process_that_was_killed_while_nobody_waited_is_found_by_who_looks() {
    let test = "a_process_that_was_killed_while_nobody_waited_is_found_by_who_looks";
    peers::with(test, |_, shared, [mut signaller, mut looker]| {
        signaller.done("submit 2");
        signaller.kill();
        assert_eq!((shared.wait(2, 0), shared.status(), looker.ask("status")), (LOST, LOST, told(LOST)));
        looker.end();
    });
}

#[test]
fn a_process_that_was_killed_while_nobody_waited_is_found_by_who_signals() {
    let test = "a_process_that_was_killed_while_nobody_waited_is_found_by_who_signals";
    peers::with(test, |_, shared, [mut signaller]| {
        signaller.done("submit 2");
        signaller.kill();
        let signalled = ur!(TimelineExt.pfnTimelineSignalExt(shared.handle(), 3));
        assert_eq!(signalled, Code::ERROR_INVALID_OPERATION, "the timeline has failed");
    });
}

#[test]
fn a_killed_process_that_owed_nothing_leaves_the_timeline_alone() {
    let test = "a_killed_process_that_owed_nothing_leaves_the_timeline_alone";
    peers::with(test, |_, shared, [mut reached, mut waiter, mut keeper]| {
        let point = shared.event(9);
        reached.done("submit 1");
        reached.done("open");
        assert_eq!(shared.wait(1, PATIENCE), SUCCESS);
        waiter.done("point 9");
        // Its signal is behind a wait that nobody has ended, so it was not submitted.
        keeper.done("keep 5");
        for process in [reached, waiter, keeper] {
            process.kill();
        }
        assert_eq!((shared.wait(2, 1_000_000), shared.status()), (Code::ERROR_TIMEOUT_EXT, SUCCESS));
        shared.signal(9);
        assert_eq!((wait_for_event(&point), shared.value()), (SUCCESS, 9));
    });
}

#[test]
fn a_process_that_exits_at_once_with_a_signal_not_reached_fails_who_waits() {
    let test = "a_process_that_exits_at_once_with_a_signal_not_reached_fails_who_waits";
    peers::with(test, |_, shared, [mut signaller]| {
        let point = shared.event(2);
        signaller.done("submit 2");
        signaller.tell("exit");
        assert_eq!((wait_for_event(&point), shared.status()), (LOST, LOST));
    });
}

/// Whatever a process was told to be reached, the others are told too, so that it may end as soon as it knows.
#[test]
fn a_process_that_knows_its_signal_to_be_reached_may_exit_at_once() {
    let test = "a_process_that_knows_its_signal_to_be_reached_may_exit_at_once";
    let ways =
        ["queue", "event", "status", "host", "watch", "value", "empty", "callback", "blocking command", "device"];
    peers::with(test, |_, shared, signallers: [_; 10]| {
        for ((way, value), mut signaller) in ways.into_iter().zip(1..).zip(signallers) {
            signaller.tell(&format!("learn-and-exit {value} {way}"));
            assert_eq!((shared.wait(value, PATIENCE), shared.status()), (SUCCESS, SUCCESS), "{way}");
            signaller.end();
        }
    });
}

/// A thread that waits for the value knows of the signal before the one that signals has returned.
#[test]
fn a_process_may_exit_as_soon_as_one_thread_knows_another_one_s_signal_to_be_reached() {
    let test = "a_process_may_exit_as_soon_as_one_thread_knows_another_one_s_signal_to_be_reached";
    peers::with(test, |_, shared, [mut signaller]| {
        signaller.tell("learn-from-another-and-exit 1");
        assert_eq!((shared.wait(1, PATIENCE), shared.status()), (SUCCESS, SUCCESS));
        signaller.end();
    });
}

#[test]
fn a_process_may_exit_as_soon_as_it_knows_that_another_timeline_is_signalled_by_the_same_command() {
    let test = "a_process_may_exit_as_soon_as_it_knows_that_another_timeline_is_signalled_by_the_same_command";
    peers::with(test, |_, shared, [mut signaller]| {
        signaller.tell("learn-by-the-other-and-exit 1");
        assert_eq!((shared.wait(1, PATIENCE), shared.status()), (SUCCESS, SUCCESS));
        signaller.end();
    });
}

#[test]
fn a_process_that_knows_its_first_signal_to_be_reached_still_owes_the_second() {
    let test = "a_process_that_knows_its_first_signal_to_be_reached_still_owes_the_second";
    peers::with(test, |_, shared, [mut signaller]| {
        signaller.tell("learn-and-exit 1 event, with a signal behind it");
        assert_eq!((shared.wait(2, PATIENCE), shared.value()), (LOST, 1));
    });
}

#[test]
fn a_process_that_releases_its_handle_still_reaches_what_it_has_submitted() {
    let test = "a_process_that_releases_its_handle_still_reaches_what_it_has_submitted";
    peers::with(test, |fixture, shared, [mut other]| {
        let (queue, mut gate) = (fixture.in_order(), Gate::new(fixture));
        gate.block(&queue);
        queue.signal(&shared, 4);
        drop(shared);
        other.tell("wait 4");
        gate.open();
        assert_eq!((other.answer(), other.ask("value")), (told(SUCCESS), "4".to_owned()));
        queue.finish();
        other.end();
    });
}

#[test]
fn a_wait_outlives_the_handle_as_long_as_another_process_could_signal() {
    let test = "a_wait_outlives_the_handle_as_long_as_another_process_could_signal";
    peers::with(test, |_, shared, [mut one, mut other]| {
        let (near, far) = (shared.event(1), shared.event(2));
        drop(shared);
        assert_eq!(one.ask("release"), "released");
        other.done("signal 1");
        assert_eq!(wait_for_event(&near), SUCCESS);
        assert_eq!(other.ask("release"), "released");
        assert_eq!(wait_for_event(&far), Code::ERROR_INVALID_OPERATION, "nobody is left who could signal");
        one.end();
        other.end();
    });
}

#[test]
fn a_wait_outlives_the_handle_while_handle_data_are_out_and_ends_with_them() {
    if !peers::are_there() {
        return;
    }
    let fixture = ur_conformance::Fixture::new();
    let shared = Timeline::shared(&fixture, 0);
    let ((data, bytes), near, far) = (shared.share(), shared.event(1), shared.event(2));
    drop(shared);
    let again = Timeline::open(&fixture, &bytes);
    again.signal(1);
    assert_eq!(wait_for_event(&near), SUCCESS);
    drop(again);
    ur_conformance::ok!(TimelineExt.pfnIPCPutTimelineHandleExt(fixture.context(), data));
    assert_eq!(wait_for_event(&far), Code::ERROR_INVALID_OPERATION);
}

#[test]
fn a_process_ends_as_a_program_does_while_others_wait() {
    let test = "a_process_ends_as_a_program_does_while_others_wait";
    peers::with(test, |_, shared, [mut one, mut other]| {
        let point = shared.event(3);
        other.tell("wait 3");
        one.done("signal 1");
        // Its adapter goes while the two others wait.
        one.end();
        assert_eq!((shared.wait(2, 1_000_000), shared.status()), (Code::ERROR_TIMEOUT_EXT, SUCCESS));
        shared.signal(3);
        assert_eq!((other.answer(), wait_for_event(&point)), (told(SUCCESS), SUCCESS));
        other.end();
    });
}

/// Kills a process of this number, which a process of the test's has started.
fn kill(process: &str) {
    let process = process.parse().expect("a process's number");
    // SAFETY: no precondition.
    assert_eq!(unsafe { libc::kill(process, libc::SIGKILL) }, 0);
}

#[test]
fn a_forked_child_s_end_is_not_its_parent_s() {
    let test = "a_forked_child_s_end_is_not_its_parent_s";
    peers::with(test, |_, shared, [mut signaller]| {
        signaller.done("submit 2");
        let child = signaller.ask("fork");
        let point = shared.event(2);
        kill(&child);
        assert_eq!((shared.wait(2, 1_000_000), shared.status()), (Code::ERROR_TIMEOUT_EXT, SUCCESS));
        signaller.done("open");
        assert_eq!(wait_for_event(&point), SUCCESS);
        signaller.end();
    });
}

#[test]
fn a_forked_child_keeps_nothing_of_a_killed_parent() {
    let test = "a_forked_child_keeps_nothing_of_a_killed_parent";
    peers::with(test, |_, shared, [mut signaller]| {
        signaller.done("submit 2");
        let child = signaller.ask("fork");
        let point = shared.event(2);
        signaller.kill();
        assert_eq!(wait_for_event(&point), LOST, "though its child lives");
        kill(&child);
    });
}
