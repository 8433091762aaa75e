//! Which commands may overtake which. A gate kernel that runs until the host lets it makes "while that runs" certain,
//! so none of this depends on timing; it holds on a real device as on the simulated one.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::releases::Release;
use ur_conformance::ffi::{
    CBool, ur_event_handle_t, ur_event_info_t, ur_event_status_t, ur_exp_enqueue_ext_flags_t as BarrierFlags,
    ur_exp_enqueue_ext_properties_t, ur_queue_flags_t as Flags, ur_result_t as Code,
};
use ur_conformance::owned::event_of;
use ur_conformance::{
    Cells, Event, Fixture, Gate, Kind, Queue, Timeline, ask, needs_sim, ok, query, refused, release, timeline, ur,
};

/// How often a status is looked at to see that it does not change.
const LOOKS: usize = 200;

fn status(event: &Event) -> ur_event_status_t {
    let property = ur_event_info_t::COMMAND_EXECUTION_STATUS;
    ur_event_status_t(query::get(ask!(Event.pfnGetInfo(event.handle(), property))))
}

#[track_caller]
fn stays_incomplete(event: &Event, why: &str) {
    for _ in 0..LOOKS {
        assert_ne!(status(event), ur_event_status_t::COMPLETE, "{why}");
        std::thread::yield_now();
    }
}

fn copy(queue: &Queue, to: *mut c_void, from: *const c_void, bytes: usize, after: &[&Event]) -> Event {
    let list: Vec<ur_event_handle_t> = after.iter().map(|event| event.handle()).collect();
    let waits = if list.is_empty() { null() } else { list.as_ptr() };
    let count = u32::try_from(list.len()).expect("short");
    event_of(|event| ur!(Enqueue.pfnUSMMemcpy(queue.handle(), CBool::FALSE, to, from, bytes, count, waits, event)))
}

fn barrier(queue: &Queue, after: &[&Event]) -> Event {
    let list: Vec<ur_event_handle_t> = after.iter().map(|event| event.handle()).collect();
    let waits = if list.is_empty() { null() } else { list.as_ptr() };
    let count = u32::try_from(list.len()).expect("short");
    event_of(|event| ur!(Enqueue.pfnEventsWaitWithBarrier(queue.handle(), count, waits, event)))
}

fn wait_for(queue: &Queue, after: &[&Event]) -> Event {
    let list: Vec<ur_event_handle_t> = after.iter().map(|event| event.handle()).collect();
    let waits = if list.is_empty() { null() } else { list.as_ptr() };
    let count = u32::try_from(list.len()).expect("short");
    event_of(|event| ur!(Enqueue.pfnEventsWait(queue.handle(), count, waits, event)))
}

#[test]
fn an_in_order_queue_runs_a_command_after_the_one_before() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let seen = Cells::new(&fixture, 1);
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    let event = copy(&queue, seen.at(0), gate.result(), 4, &[]);
    stays_incomplete(&event, "the kernel before it still runs");
    assert_eq!(seen.load(0), 0);
    gate.open();
    event.wait();
    assert_eq!(seen.load(0), Gate::OPEN, "the copy read what the kernel wrote");
}

#[test]
fn an_in_order_queue_keeps_the_order_of_many_held_commands() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let cells = fixture.memory(Kind::Host, 4 * 65);
    for index in 0..65 {
        cells.store(index, index as u32);
    }
    let held = sim.hold();
    for index in 0..64 {
        drop(copy(&queue, cells.at(4 * (index + 1)), cells.at(4 * index), 4, &[]));
    }
    assert_eq!(cells.load(1), 1, "nothing runs while work is held");
    drop(held);
    queue.finish();
    assert!((0..65).all(|index| cells.load(index) == 0), "each copy saw the one before it");
}

#[test]
fn two_in_order_queues_do_not_wait_for_each_other() {
    let fixture = Fixture::new();
    let (blocked, free) = (fixture.in_order(), fixture.in_order());
    let memory = Cells::new(&fixture, 2);
    let mut gate = Gate::new(&fixture);
    gate.block(&blocked);
    copy(&free, memory.at(0), memory.at(1), 4, &[]).wait();
    assert!(!gate.has_passed());
    gate.open();
    blocked.finish();
}

#[test]
fn an_out_of_order_queue_runs_independent_commands_side_by_side() {
    let fixture = Fixture::new();
    for flags in [Flags::empty(), Flags::PROFILING_ENABLE] {
        let queue = fixture.queue(flags | Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE);
        let memory = Cells::new(&fixture, 2);
        memory.store(1, 4711);
        let mut gate = Gate::new(&fixture);
        let blocked = gate.block_event(&queue);
        copy(&queue, memory.at(0), memory.at(1), 4, &[]).wait();
        assert_eq!(memory.load(0), 4711);
        assert_ne!(status(&blocked), ur_event_status_t::COMPLETE);
        gate.open();
        queue.finish();
    }
}

#[test]
fn an_out_of_order_queue_runs_two_kernels_at_once() {
    let fixture = Fixture::new();
    let queue = fixture.out_of_order();
    let (mut first, mut second) = (Gate::new(&fixture), Gate::new(&fixture));
    let one = first.block_event(&queue);
    let two = second.block_event(&queue);
    second.open();
    two.wait();
    assert_ne!(status(&one), ur_event_status_t::COMPLETE, "the first still runs");
    first.open();
    queue.finish();
}

#[test]
fn an_out_of_order_queue_runs_a_command_after_its_wait_list() {
    let fixture = Fixture::new();
    let queue = fixture.out_of_order();
    let seen = Cells::new(&fixture, 1);
    let mut gate = Gate::new(&fixture);
    let blocked = gate.block_event(&queue);
    let event = copy(&queue, seen.at(0), gate.result(), 4, &[&blocked]);
    stays_incomplete(&event, "its dependency still runs");
    gate.open();
    event.wait();
    assert_eq!(seen.load(0), Gate::OPEN);
}

#[test]
fn an_out_of_order_queue_runs_a_command_after_all_of_a_wait_list_of_two() {
    let fixture = Fixture::new();
    let queue = fixture.out_of_order();
    let seen = Cells::new(&fixture, 1);
    let (mut first, mut second) = (Gate::new(&fixture), Gate::new(&fixture));
    let (one, two) = (first.block_event(&queue), second.block_event(&queue));
    let event = copy(&queue, seen.at(0), second.result(), 4, &[&one, &two]);
    first.open();
    one.wait();
    stays_incomplete(&event, "the second of its list still runs");
    second.open();
    event.wait();
    assert_eq!(seen.load(0), Gate::OPEN);
    queue.finish();
}

#[test]
fn an_event_of_another_queue_is_waited_for() {
    let fixture = Fixture::new();
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let (blocked, queue) = (fixture.queue(flags), fixture.queue(flags));
        let seen = Cells::new(&fixture, 1);
        let mut gate = Gate::new(&fixture);
        let before = gate.block_event(&blocked);
        let event = copy(&queue, seen.at(0), gate.result(), 4, &[&before]);
        stays_incomplete(&event, "its dependency still runs");
        gate.open();
        event.wait();
        assert_eq!(seen.load(0), Gate::OPEN);
    }
}

/// The event must mean the command it was made for, whatever is put on its queue afterwards.
#[test]
fn an_event_of_another_queue_does_not_stand_for_later_work_there() {
    let fixture = Fixture::new();
    let (first, second) = (fixture.in_order(), fixture.in_order());
    let memory = Cells::new(&fixture, 2);
    let mut gate = Gate::new(&fixture);
    let early = copy(&first, memory.at(0), memory.at(1), 4, &[]);
    gate.block(&first);
    let event = copy(&second, memory.at(1), memory.at(0), 4, &[&early]);
    event.wait();
    early.wait();
    assert_eq!(status(&early), ur_event_status_t::COMPLETE);
    assert!(!gate.has_passed());
    gate.open();
    first.finish();
}

#[test]
fn an_event_of_another_device_is_waited_for() {
    let fixture = Fixture::over_all_devices();
    let Some(&other) = fixture.devices.get(1) else {
        println!("skipped: needs a second device");
        return;
    };
    let blocked = fixture.in_order();
    let queue = fixture.queue_in(fixture.context(), other, Flags::empty());
    let seen = Cells::new(&fixture, 1);
    let mut gate = Gate::new(&fixture);
    let before = gate.block_event(&blocked);
    let event = copy(&queue, seen.at(0), gate.result(), 4, &[&before]);
    stays_incomplete(&event, "its dependency still runs");
    gate.open();
    event.wait();
    assert_eq!(seen.load(0), Gate::OPEN);
}

/// Of every pair of queue kinds: an event of one context, of the same device or of another, in the wait list of another
/// context's command, barrier and wait.
#[test]
fn an_event_of_another_context_is_waited_for() {
    let fixture = Fixture::new();
    let kinds = [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::PROFILING_ENABLE];
    for (&device, from) in fixture.devices.iter().flat_map(|device| kinds.map(move |from| (device, from))) {
        let other = fixture.context_of(&[device]);
        for to in kinds {
            let (blocked, queue) = (fixture.queue(from), fixture.queue_in(other.handle(), device, to));
            let seen = Cells::new(&fixture, 1);
            let mut gate = Gate::new(&fixture);
            let before = gate.block_event(&blocked);
            let event = copy(&queue, seen.at(0), gate.result(), 4, &[&before]);
            let events = [event, wait_for(&queue, &[&before]), barrier(&queue, &[&before])];
            for event in &events {
                stays_incomplete(event, "its dependency still runs in another context");
            }
            gate.open();
            let list = [before.handle(), events[2].handle(), events[1].handle(), events[0].handle()];
            ok!(Event.pfnWait(4, list.as_ptr()));
            assert_eq!(seen.load(0), Gate::OPEN, "{from:?}, then {to:?}");
            queue.finish();
        }
    }
}

#[test]
fn an_event_of_another_context_is_waited_for_when_later_work_follows_it_there() {
    let fixture = Fixture::new();
    for &device in &fixture.devices {
        let other = fixture.context_of(&[device]);
        let (blocked, queue) = (fixture.in_order(), fixture.queue_in(other.handle(), device, Flags::empty()));
        let seen = Cells::new(&fixture, 1);
        let (mut gate, mut later) = (Gate::new(&fixture), Gate::new(&fixture));
        let before = gate.block_event(&blocked);
        later.block(&blocked);
        let event = copy(&queue, seen.at(0), gate.result(), 4, &[&before]);
        stays_incomplete(&event, "its dependency still runs in another context");
        gate.open();
        event.wait();
        assert_eq!(seen.load(0), Gate::OPEN);
        assert!(!later.has_passed(), "the event does not stand for later work");
        later.open();
        blocked.finish();
    }
}

#[test]
fn urEnqueueEventsWaitWithBarrier_holds_back_everything_later() {
    let fixture = Fixture::new();
    let queue = fixture.out_of_order();
    let seen = Cells::new(&fixture, 16);
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    let passed = barrier(&queue, &[]);
    let mut later = Vec::new();
    for index in 0..16 {
        later.push(copy(&queue, seen.at(index), gate.result(), 4, &[]));
    }
    for event in later.iter().chain([&passed]) {
        stays_incomplete(event, "work before the barrier still runs");
    }
    gate.open();
    queue.finish();
    assert!((0..16).all(|index| seen.load(index) == Gate::OPEN), "all read what was written before the barrier");
    assert_eq!(status(&passed), ur_event_status_t::COMPLETE);
}

#[test]
fn urEnqueueEventsWaitWithBarrier_with_a_list_comes_after_the_list() {
    let fixture = Fixture::new();
    let (blocked, queue) = (fixture.in_order(), fixture.out_of_order());
    let seen = Cells::new(&fixture, 1);
    let mut gate = Gate::new(&fixture);
    let before = gate.block_event(&blocked);
    drop(barrier(&queue, &[&before]));
    let event = copy(&queue, seen.at(0), gate.result(), 4, &[]);
    stays_incomplete(&event, "the barrier's list is not complete");
    gate.open();
    event.wait();
    assert_eq!(seen.load(0), Gate::OPEN);
}

#[test]
fn urEnqueueEventsWaitWithBarrier_after_another_barrier_waits_for_it() {
    let fixture = Fixture::new();
    let (blocked, queue) = (fixture.in_order(), fixture.out_of_order());
    let memory = Cells::new(&fixture, 3);
    let mut gate = Gate::new(&fixture);
    let before = gate.block_event(&blocked);
    drop(barrier(&queue, &[&before]));
    let unrelated = fixture.in_order();
    let done = copy(&unrelated, memory.at(1), memory.at(2), 4, &[]);
    done.wait();
    drop(barrier(&queue, &[&done]));
    let event = copy(&queue, memory.at(0), gate.result(), 4, &[]);
    stays_incomplete(&event, "the first barrier still holds");
    gate.open();
    event.wait();
    assert_eq!(memory.load(0), Gate::OPEN);
}

fn barrier_ext(queue: &Queue, flags: BarrierFlags, after: &[&Event]) -> Event {
    let list: Vec<ur_event_handle_t> = after.iter().map(|event| event.handle()).collect();
    let waits = if list.is_empty() { null() } else { list.as_ptr() };
    let count = u32::try_from(list.len()).expect("short");
    let properties = ur_exp_enqueue_ext_properties_t { flags, ..Default::default() };
    let given = &raw const properties;
    event_of(|event| ur!(Enqueue.pfnEventsWaitWithBarrierExt(queue.handle(), given, count, waits, event)))
}

/// What stock SYCL runtimes call for every barrier.
#[test]
fn urEnqueueEventsWaitWithBarrierExt_holds_back_everything_later() {
    let fixture = Fixture::new();
    for queue in [fixture.in_order(), fixture.out_of_order()] {
        for flags in [BarrierFlags::empty(), BarrierFlags::LOW_POWER_EVENTS_SUPPORT] {
            let (seen, foreign) = (Cells::new(&fixture, 8), fixture.in_order());
            let mut gate = Gate::new(&fixture);
            let before = gate.block_event(&foreign);
            let passed = barrier_ext(&queue, flags, &[&before]);
            let later: Vec<_> = (0..8).map(|index| copy(&queue, seen.at(index), gate.result(), 4, &[])).collect();
            for event in later.iter().chain([&passed]) {
                stays_incomplete(event, "what the barrier waits for still runs");
            }
            gate.open();
            queue.finish();
            assert!((0..8).all(|index| seen.load(index) == Gate::OPEN));
            assert_eq!(status(&passed), ur_event_status_t::COMPLETE);
        }
    }
}

#[test]
fn urEnqueueEventsWaitWithBarrierExt_takes_no_properties_and_no_event_and_refuses_unknown_flags() {
    let fixture = Fixture::new();
    for queue in [fixture.in_order(), fixture.out_of_order()] {
        let q = queue.handle();
        ok!(Enqueue.pfnEventsWaitWithBarrierExt(q, null(), 0, null(), null_mut()));
        let unknown = BarrierFlags::from_bits_retain(!BarrierFlags::LOW_POWER_EVENTS_SUPPORT.bits());
        let properties = ur_exp_enqueue_ext_properties_t { flags: unknown, ..Default::default() };
        let mut event = null_mut();
        let given = &raw const properties;
        refused!(ERROR_INVALID_ENUMERATION, Enqueue.pfnEventsWaitWithBarrierExt(q, given, 0, null(), &raw mut event));
        assert!(event.is_null());
        queue.finish();
    }
}

#[test]
fn urEnqueueEventsWaitWithBarrierExt_looks_behind_phEvent_only_in_releases_where_it_is_an_input() {
    let fixture = Fixture::new();
    if release() != Release::R2026_1 {
        println!("skipped: phEvent is an input of oneAPI {}", release().name());
        return;
    }
    for queue in [fixture.in_order(), fixture.out_of_order()] {
        let earlier = barrier(&queue, &[]);
        let later = event_of(|event| {
            // SAFETY: the place that the event is written to.
            unsafe { event.write(earlier.handle()) };
            ur!(Enqueue.pfnEventsWaitWithBarrierExt(queue.handle(), null(), 0, null(), event))
        });
        assert_ne!(later.handle(), earlier.handle());
        queue.finish();
    }
}

#[test]
fn urEnqueueEventsWait_completes_after_its_list_and_holds_nothing_back() {
    let fixture = Fixture::new();
    let (blocked, queue) = (fixture.in_order(), fixture.out_of_order());
    let memory = Cells::new(&fixture, 2);
    let mut gate = Gate::new(&fixture);
    let before = gate.block_event(&blocked);
    let waited = wait_for(&queue, &[&before]);
    // One of them may land behind the wait on the same stream; a queue that waits for all of them is no wait alone.
    let later: Vec<_> = (0..4).map(|_| copy(&queue, memory.at(0), memory.at(1), 4, &[])).collect();
    later.last().expect("four of them").wait();
    stays_incomplete(&waited, "its list is not complete");
    gate.open();
    waited.wait();
    queue.finish();
    blocked.finish();
}

#[test]
fn urEnqueueEventsWait_without_a_list_comes_after_everything_so_far() {
    let fixture = Fixture::new();
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::PROFILING_ENABLE] {
        let queue = fixture.queue(flags);
        let memory = Cells::new(&fixture, 2);
        let mut gate = Gate::new(&fixture);
        gate.block(&queue);
        let others: Vec<_> = (0..3).map(|_| copy(&queue, memory.at(0), memory.at(1), 4, &[])).collect();
        let all = wait_for(&queue, &[]);
        stays_incomplete(&all, "work before it still runs");
        gate.open();
        all.wait();
        assert!(others.iter().all(|event| status(event) == ur_event_status_t::COMPLETE), "{flags:?}");
        assert!(gate.has_passed());
    }
}

#[test]
fn urEnqueueEventsWait_makes_an_in_order_queue_wait_for_its_list() {
    let fixture = Fixture::new();
    let (blocked, queue) = (fixture.in_order(), fixture.in_order());
    let seen = Cells::new(&fixture, 1);
    let mut gate = Gate::new(&fixture);
    let before = gate.block_event(&blocked);
    let list = [before.handle()];
    ok!(Enqueue.pfnEventsWait(queue.handle(), 1, list.as_ptr(), null_mut()));
    let event = copy(&queue, seen.at(0), gate.result(), 4, &[]);
    stays_incomplete(&event, "the queue waits");
    gate.open();
    event.wait();
    assert_eq!(seen.load(0), Gate::OPEN);
}

#[test]
fn a_barrier_that_failed_holds_up_nothing_that_an_out_of_order_queue_keeps_later() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let (queue, timelines) = (fixture.out_of_order(), [(); 2].map(|()| Timeline::at_zero(&fixture)));
    let (cells, source) = (Cells::new(&fixture, 1), Cells::new(&fixture, 1));
    source.store(0, 7);
    queue.wait_for(&timelines[0], 1);
    timelines[0].fail(Code::ERROR_INVALID_ARGUMENT);
    assert_eq!(ur!(Queue.pfnFinish(queue.handle())), Code::ERROR_INVALID_ARGUMENT);
    let point = timelines[1].event(1);
    let copied = copy(&queue, cells.at(0), source.at(0), 4, &[&point]);
    timelines[1].signal(1);
    copied.wait();
    queue.finish();
    assert_eq!(cells.load(0), 7);
}
