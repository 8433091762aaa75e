//! `urIPC*TimelineHandleExt`: timelines that several processes signal and wait for.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use crate::peers::{self, CAUSE, PATIENCE, are_there, told};
use ur_conformance::ffi::{
    ur_event_info_t, ur_event_status_t as Status, ur_ext_timeline_info_t, ur_queue_flags_t as Flags,
    ur_result_t as Code,
};
use ur_conformance::{
    Event, Fixture, Gate, Kind, Memory, Queue, Timeline, ask, needs_function, ok, query, refused, timeline, ur,
};

const SUCCESS: Code = Code::SUCCESS;
const FOREVER: u64 = u64::MAX;

fn status(event: &Event) -> Status {
    Status(query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS))))
}

fn flags(timeline: &Timeline) -> u32 {
    query::get(ask!(TimelineExt.pfnTimelineGetInfoExt(timeline.handle(), ur_ext_timeline_info_t::FLAGS)))
}

fn wait_for_event(event: &Event) -> Code {
    let list = [event.handle()];
    ur!(Event.pfnWait(1, list.as_ptr()))
}

fn put(fixture: &Fixture, data: *mut c_void) {
    ok!(TimelineExt.pfnIPCPutTimelineHandleExt(fixture.context(), data));
}

fn open(fixture: &Fixture, data: &[u8]) -> Code {
    let mut opened = null_mut();
    let (at, size) = (data.as_ptr().cast(), data.len());
    let answer = ur!(TimelineExt.pfnIPCOpenTimelineHandleExt(fixture.context(), at, size, &raw mut opened));
    if answer == SUCCESS {
        drop(Timeline::take(opened));
    } else {
        assert!(opened.is_null(), "an output of what was refused");
    }
    answer
}

#[test]
fn urTimelineGetInfoExt_tells_whether_a_timeline_can_be_shared() {
    if !are_there() {
        return;
    }
    let fixture = Fixture::new();
    let (shared, own) = (Timeline::shared(&fixture, 7), Timeline::at_zero(&fixture));
    assert_eq!((flags(&shared), shared.value(), flags(&own)), (1, 7, 0));
    let (data, bytes) = shared.share();
    assert_eq!(flags(&Timeline::open(&fixture, &bytes)), 1);
    put(&fixture, data);
    let (mut data, mut size) = (null_mut(), 7usize);
    let (handle, pointer) = (own.handle(), &raw mut data);
    refused!(
        ERROR_INVALID_SYNCHRONIZATION_OBJECT,
        TimelineExt.pfnIPCGetTimelineHandleExt(handle, pointer, &raw mut size)
    );
    assert!(data.is_null() && size == 7);
}

#[test]
fn urIPCOpenTimelineHandleExt_refuses_what_is_not_handle_data() {
    if !are_there() {
        return;
    }
    let fixture = Fixture::new();
    let timeline = Timeline::shared(&fixture, 3);
    let (data, bytes) = timeline.share();
    assert_eq!(open(&fixture, &bytes), SUCCESS);
    for size in [0, 1, 8, bytes.len() - 1] {
        assert_eq!(open(&fixture, &bytes[..size]), Code::ERROR_INVALID_VALUE, "{size} bytes");
    }
    assert_eq!(open(&fixture, &[&*bytes, &[0]].concat()), Code::ERROR_INVALID_VALUE);
    // The kind, the backend, the address and the part; the device in between is nobody's business.
    let meant = |at: &usize| !(12..32).contains(at) && !(80..96).contains(at);
    for at in (0..bytes.len()).filter(meant) {
        for bit in [0x01, 0x80] {
            let mut forged = bytes.clone();
            forged[at] ^= bit;
            let answer = open(&fixture, &forged);
            let refused = [Code::ERROR_INVALID_VALUE, Code::ERROR_INVALID_OPERATION].contains(&answer);
            assert!(refused, "byte {at} changed: {answer:?}");
        }
    }
    put(&fixture, data);
    refused!(ERROR_INVALID_VALUE, TimelineExt.pfnIPCPutTimelineHandleExt(fixture.context(), data));
    assert_eq!(open(&fixture, &bytes), Code::ERROR_INVALID_VALUE, "the data are given back");
    let mut opened = null_mut();
    let (c, at, out) = (fixture.context(), bytes.as_ptr().cast(), &raw mut opened);
    refused!(ERROR_INVALID_NULL_POINTER, TimelineExt.pfnIPCOpenTimelineHandleExt(c, null(), bytes.len(), out));
    refused!(ERROR_INVALID_NULL_POINTER, TimelineExt.pfnIPCOpenTimelineHandleExt(c, at, bytes.len(), null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, TimelineExt.pfnIPCOpenTimelineHandleExt(null_mut(), at, bytes.len(), out));
    assert_eq!((timeline.value(), timeline.status()), (3, SUCCESS));
}

#[test]
fn handle_data_of_an_event_open_no_timeline() {
    needs_function!(urEventCreateExp);
    if !are_there() {
        return;
    }
    let fixture = Fixture::new();
    let timeline = Timeline::shared(&fixture, 0);
    let (data, bytes) = timeline.share();
    let exported = ur_conformance::ffi::ur_exp_event_desc_t {
        flags: ur_conformance::ffi::ur_exp_event_flags_t::IPC_EXP,
        ..Default::default()
    };
    let mut event = null_mut();
    let made = ur!(EventExp.pfnCreateExp(fixture.context(), fixture.device(), &raw const exported, &raw mut event));
    if made == SUCCESS {
        let event = Event::take(event);
        let (mut pointer, mut size) = (null_mut(), 0);
        ok!(IPCExp.pfnGetEventHandleExp(event.handle(), &raw mut pointer, &raw mut size));
        // SAFETY: the adapter gave as many bytes until they are put back.
        let mut other = unsafe { core::slice::from_raw_parts(pointer.cast::<u8>(), size) }.to_vec();
        assert_eq!(open(&fixture, &other), Code::ERROR_INVALID_VALUE);
        other[..8].copy_from_slice(&bytes[..8]);
        assert_eq!(open(&fixture, &other), Code::ERROR_INVALID_VALUE, "with a timeline's first word");
        refused!(ERROR_INVALID_VALUE, TimelineExt.pfnIPCPutTimelineHandleExt(fixture.context(), pointer));
        ok!(IPCExp.pfnPutEventHandleExp(fixture.context(), pointer));
    }
    put(&fixture, data);
}

#[test]
fn a_timeline_that_its_own_process_opens_is_the_same_one() {
    if !are_there() {
        return;
    }
    let fixture = Fixture::new();
    let timeline = Timeline::shared(&fixture, 0);
    let (data, bytes) = timeline.share();
    let [first, second] = [(); 2].map(|()| Timeline::open(&fixture, &bytes));
    let queue = fixture.in_order();
    queue.wait_for(&first, 2);
    let signalled = queue.signal_after(&timeline, 5, &[]);
    assert_eq!(second.wait(1, 0), Code::ERROR_TIMEOUT_EXT);
    second.signal(2);
    assert_eq!((timeline.wait(5, PATIENCE), first.wait(5, PATIENCE)), (SUCCESS, SUCCESS));
    assert_eq!((wait_for_event(&signalled), second.value()), (SUCCESS, 5));
    refused!(ERROR_INVALID_VALUE, TimelineExt.pfnTimelineSignalExt(first.handle(), 5));
    drop(timeline);
    put(&fixture, data);
    let late = first.event(6);
    drop(first);
    second.signal(6);
    assert_eq!(wait_for_event(&late), SUCCESS);
    queue.finish();
}

#[test]
fn hosts_of_two_processes_signal_and_see_each_other() {
    let test = "hosts_of_two_processes_signal_and_see_each_other";
    peers::with(test, |_, timeline, [mut other]| {
        other.done("signal 3");
        assert_eq!((timeline.value(), timeline.wait(3, 0), timeline.wait(4, 0)), (3, SUCCESS, Code::ERROR_TIMEOUT_EXT));
        for value in [0, 2, 3] {
            refused!(ERROR_INVALID_VALUE, TimelineExt.pfnTimelineSignalExt(timeline.handle(), value));
        }
        timeline.signal(1 << 40);
        assert_eq!(other.ask("value"), (1u64 << 40).to_string());
        assert_eq!(other.ask(&format!("signal {}", 1u64 << 40)), told(Code::ERROR_INVALID_VALUE));
        other.done(&format!("signal {}", u64::MAX));
        assert_eq!((timeline.value(), timeline.wait(u64::MAX, 0)), (u64::MAX, SUCCESS));
        other.end();
    });
}

#[test]
fn every_kind_of_wait_may_come_before_the_signal_of_another_process() {
    let test = "every_kind_of_wait_may_come_before_the_signal_of_another_process";
    peers::with(test, |fixture, shared, [mut other]| {
        let own = Timeline::at_zero(fixture);
        let point = shared.event(1);
        let called = point.call_back();
        assert_eq!(status(&point), Status::QUEUED);
        let host = Memory::of(fixture);
        let orders = [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE];
        let queues = orders.map(|flags| fixture.queue(flags));
        for (at, queue) in queues.iter().enumerate() {
            queue.wait_for(&shared, 2);
            host.set(queue, at, 7);
        }
        std::thread::scope(|scope| {
            let all = scope.spawn(|| timeline::wait(&[(&shared, 3)], false, FOREVER));
            let any = scope.spawn(|| timeline::wait(&[(&own, 1), (&shared, 3)], true, FOREVER));
            let timed = scope.spawn(|| timeline::wait(&[(&shared, 3)], false, PATIENCE));
            assert_eq!(timeline::wait(&[(&own, 1), (&shared, 3)], true, 1_000_000).0, Code::ERROR_TIMEOUT_EXT);
            other.done("signal 1");
            assert_eq!((wait_for_event(&point), called.recv()), (SUCCESS, Ok(())));
            assert_eq!((host.get(0), host.get(1)), (0, 0), "2 is not signalled");
            other.done("signal 2");
            queues.iter().for_each(Queue::finish);
            assert_eq!((host.get(0), host.get(1)), (7, 7));
            other.done("signal 3");
            assert_eq!(all.join().expect("a wait"), (SUCCESS, None));
            assert_eq!(any.join().expect("a wait"), (SUCCESS, Some(1)));
            assert_eq!(timed.join().expect("a wait"), (SUCCESS, None));
        });
        other.end();
    });
}

/// Words that commands of a queue set and the host reads.
trait Words<'f>: Sized {
    fn of(fixture: &'f Fixture) -> Self;
    fn set(&self, queue: &Queue, at: usize, value: u32);
    fn get(&self, at: usize) -> u32;
}

impl<'f> Words<'f> for Memory<'f> {
    fn of(fixture: &'f Fixture) -> Self {
        let memory = fixture.memory(Kind::Host, 64);
        (0..16).for_each(|at| memory.store(at, 0));
        memory
    }

    fn set(&self, queue: &Queue, at: usize, value: u32) {
        let (to, pattern) = (self.at(4 * at), (&raw const value).cast());
        ok!(Enqueue.pfnUSMFill(queue.handle(), to, 4, pattern, 4, 0, null(), null_mut()));
    }

    fn get(&self, at: usize) -> u32 {
        self.load(at)
    }
}

#[test]
fn a_queue_s_signal_is_seen_by_another_process_when_its_command_is_complete_and_not_before() {
    let test = "a_queue_s_signal_is_seen_by_another_process_when_its_command_is_complete_and_not_before";
    peers::with(test, |fixture, timeline, [mut other]| {
        for (round, flags) in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE].into_iter().enumerate() {
            let (queue, mut gate, value) = (fixture.queue(flags), Gate::new(fixture), round as u64 + 1);
            let blocked = gate.block_event(&queue);
            drop(queue.signal_after(&timeline, value, &[&blocked]));
            assert_eq!(other.ask("value"), (value - 1).to_string());
            assert_eq!(other.ask(&format!("signal {value}")), told(Code::ERROR_INVALID_VALUE), "it is submitted");
            other.tell(&format!("wait {value}"));
            gate.open();
            assert_eq!(other.answer(), told(SUCCESS));
            assert_eq!(other.ask("value"), value.to_string());
            queue.finish();
        }
        other.done("submit 8");
        assert_eq!((timeline.wait(8, 1_000_000), timeline.value()), (Code::ERROR_TIMEOUT_EXT, 2));
        refused!(ERROR_INVALID_VALUE, TimelineExt.pfnTimelineSignalExt(timeline.handle(), 8));
        other.done("open");
        assert_eq!((timeline.wait(8, PATIENCE), timeline.value()), (SUCCESS, 8));
        other.end();
    });
}

#[test]
fn queues_of_two_processes_hand_over_a_thousand_times_both_ways() {
    let test = "queues_of_two_processes_hand_over_a_thousand_times_both_ways";
    const ROUNDS: u64 = 1000;
    peers::with(test, |fixture, timeline, [mut other]| {
        let (queue, words) = (fixture.in_order(), Memory::of(fixture));
        // The other one signals every odd value behind the even one before it, this one every even one behind the odd one.
        other.tell(&format!("odd {}", 2 * ROUNDS));
        for even in (2..=2 * ROUNDS).step_by(2) {
            if even > 2 {
                queue.wait_for(&timeline, even - 1);
            }
            words.set(&queue, 0, even as u32);
            queue.signal(&timeline, even);
        }
        assert_eq!(timeline.wait(2 * ROUNDS + 1, PATIENCE), SUCCESS);
        assert_eq!((other.answer(), words.get(0)), (told(SUCCESS), 2 * ROUNDS as u32));
        queue.finish();
        assert_eq!(timeline.value(), 2 * ROUNDS + 1);
        other.end();
    });
}

#[test]
fn three_processes_pass_a_value_on_and_any_of_them_shares_the_timeline() {
    let test = "three_processes_pass_a_value_on_and_any_of_them_shares_the_timeline";
    peers::with(test, |fixture, timeline, [mut first, mut second]| {
        first.done("keep 2");
        second.done("keep 4");
        let last = timeline.event(5);
        timeline.signal(2);
        assert_eq!(timeline.wait(3, PATIENCE), SUCCESS);
        timeline.signal(4);
        assert_eq!((wait_for_event(&last), timeline.value()), (SUCCESS, 5));
        // By one's own data and by another's it is the same timeline.
        let text = first.ask("share");
        let digits = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("two digits");
        let data: Vec<u8> = (0..text.len()).step_by(2).map(digits).collect();
        let again = Timeline::open(fixture, &data);
        first.end();
        drop(timeline);
        second.done("signal 9");
        assert_eq!((again.wait(9, PATIENCE), again.value()), (SUCCESS, 9));
        assert_eq!(open(fixture, &data), Code::ERROR_INVALID_VALUE, "its process has ended");
        second.end();
    });
}

#[test]
fn a_failure_of_another_process_fails_who_waits_here_for_what_nobody_has_submitted() {
    let test = "a_failure_of_another_process_fails_who_waits_here_for_what_nobody_has_submitted";
    peers::with(test, |fixture, timeline, [mut other]| {
        let (queue, words) = (fixture.in_order(), Memory::of(fixture));
        other.done("submit 2");
        let (submitted, never) = (timeline.event(2), timeline.event(3));
        queue.wait_for(&timeline, 3);
        words.set(&queue, 0, 7);
        other.done("fail");
        assert_eq!((wait_for_event(&never), timeline.wait(4, PATIENCE)), (CAUSE, CAUSE));
        assert_eq!((ur!(Queue.pfnFinish(queue.handle())), words.get(0)), (CAUSE, 0));
        assert_eq!((timeline.value(), timeline.status()), (0, CAUSE));
        refused!(ERROR_INVALID_OPERATION, TimelineExt.pfnTimelineSignalExt(timeline.handle(), 6));
        refused!(ERROR_INVALID_OPERATION, TimelineExt.pfnTimelineFailExt(timeline.handle(), CAUSE));
        let list = [timeline.event(2)];
        assert_eq!((status(&submitted), status(&list[0])), (Status::QUEUED, Status::QUEUED), "its command runs");
        other.done("open");
        assert_eq!((wait_for_event(&submitted), wait_for_event(&list[0])), (SUCCESS, SUCCESS));
        assert_eq!((timeline.value(), timeline.wait(2, 0)), (2, SUCCESS));
        other.end();
    });
}

#[test]
fn a_failure_here_fails_waits_of_other_processes_for_what_nobody_has_submitted() {
    let test = "a_failure_here_fails_waits_of_other_processes_for_what_nobody_has_submitted";
    peers::with(test, |fixture, timeline, [mut signaller, mut waiter]| {
        signaller.done("submit 2");
        waiter.tell("wait 3");
        let (submitted, never) = (timeline.event(2), timeline.event(3));
        let (queue, words) = (fixture.in_order(), Memory::of(fixture));
        queue.wait_for(&timeline, 3);
        words.set(&queue, 0, 7);
        timeline.fail(CAUSE);
        assert_eq!((waiter.answer(), wait_for_event(&never)), (told(CAUSE), CAUSE));
        assert_eq!((ur!(Queue.pfnFinish(queue.handle())), words.get(0)), (CAUSE, 0));
        assert_eq!(signaller.ask("signal 4"), told(Code::ERROR_INVALID_OPERATION));
        assert_eq!(waiter.ask("fail"), told(Code::ERROR_INVALID_OPERATION));
        assert_eq!(status(&submitted), Status::QUEUED, "its command runs");
        signaller.done("open");
        assert_eq!((wait_for_event(&submitted), timeline.value()), (SUCCESS, 2));
        assert_eq!((waiter.ask("wait 2"), waiter.ask("status")), (told(SUCCESS), told(CAUSE)));
        signaller.end();
        waiter.end();
    });
}

#[test]
fn timelines_that_were_opened_and_released_leave_no_descriptors() {
    if !are_there() {
        return;
    }
    let fixture = Fixture::new();
    let kept = Timeline::shared(&fixture, 0);
    let (pointer, data) = kept.share();
    let before = peers::open_files();
    for value in 1..100 {
        drop(Timeline::open(&fixture, &data));
        let made = Timeline::shared(&fixture, value);
        let (pointer, data) = made.share();
        drop(made);
        let again = Timeline::open(&fixture, &data);
        assert_eq!(again.value(), value);
        put(&fixture, pointer);
    }
    put(&fixture, pointer);
    // The threads that slept for those timelines end by themselves, and have their files until then.
    let patience = std::time::Instant::now() + core::time::Duration::from_nanos(PATIENCE);
    while peers::open_files() >= before {
        assert!(std::time::Instant::now() < patience, "{before} before, {} after", peers::open_files());
        std::thread::yield_now();
    }
}
