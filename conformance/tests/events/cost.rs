//! What an event costs in native calls. SYCL asks for one on nearly every command and drops most of them unseen, so
//! an event must cost nothing until somebody looks, and no more than one record then. Needs the simulated driver.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::{null, null_mut};

use ur_conformance::below::Below;
use ur_conformance::ffi::{CBool, ur_event_handle_t, ur_queue_flags_t as Flags, ur_result_t as Code};
use ur_conformance::owned::event_of;
use ur_conformance::sim::status;
use ur_conformance::{
    Event, Fixture, Gate, Kernel, Kind, Launch, Queue, Timeline, child, loader, needs_sim, ok, timeline, ur,
};

const RECORD: (&str, u64) = ("cuEventRecord", 1);
const WAIT: (&str, u64) = ("cuStreamWaitEvent", 1);

/// So many launches.
fn launched(count: u64) -> (&'static str, u64) {
    (Below::the_adapter().launch, count)
}

/// A launch that asks for no choice of a local size, which costs a call the first time.
fn one(kernel: &Kernel) -> Launch<'_> {
    Launch::new(kernel, &[1]).local(&[1])
}

/// A context keeps free native events for the next record; this makes sure that it has some.
fn warm_up(fixture: &Fixture, kernel: &Kernel) {
    let queue = fixture.in_order();
    let events: Vec<_> = (0..4).map(|_| one(kernel).event_on(&queue)).collect();
    one(kernel).on(&queue);
    queue.finish();
    drop(events);
}

fn wait_list(queue: &Queue, events: &[&Event]) {
    let list: Vec<ur_event_handle_t> = events.iter().map(|event| event.handle()).collect();
    let count = u32::try_from(list.len()).expect("short");
    ok!(Enqueue.pfnEventsWait(queue.handle(), count, list.as_ptr(), null_mut()));
}

#[test]
fn a_command_of_a_profiling_queue_that_nobody_wants_an_event_of_records_nothing() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    let queue = fixture.queue(Flags::PROFILING_ENABLE);
    drop(one(&kernel).event_on(&queue));
    sim.expect_calls(&[launched(1)], || one(&kernel).on(&queue));
    queue.finish();
}

/// A pattern of three bytes is three native fills. When a later one fails, the earlier ones are on the stream.
#[test]
fn urQueueFinish_waits_for_the_part_of_a_failed_command_that_was_enqueued() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let memory = fixture.memory(Kind::Device, 300);
    let queue = fixture.in_order();
    queue.finish();
    let pattern = [1u8, 2, 3];
    sim.fail("cuMemsetD2D8Async", 2, status::UNKNOWN);
    let (q, to) = (queue.handle(), memory.pointer());
    let answer = ur!(Enqueue.pfnUSMFill(q, to, 3, pattern.as_ptr().cast(), 300, 0, null(), null_mut()));
    sim.clear_faults();
    assert_ne!(answer, Code::SUCCESS);
    let (_, calls) = sim.calls_of(|| queue.finish());
    assert_eq!(calls.get("cuStreamSynchronize"), Some(&1), "{calls:?}");
}

#[test]
fn a_launch_on_an_in_order_queue_is_one_native_call() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    let queue = fixture.in_order();
    for _ in 0..3 {
        sim.expect_calls(&[launched(1)], || Launch::new(&kernel, &[64]).local(&[32]).on(&queue));
    }
    let memory = fixture.memory(Kind::Device, 256);
    let fill = fixture.basic(c"fill");
    let launch = Launch::new(&fill, &[64]).local(&[64]).pointer(memory.pointer()).value(7u32).value(64u32);
    sim.expect_calls(&[launched(1)], || launch.on(&queue));
    queue.finish();
}

#[test]
fn a_launch_without_a_local_size_is_one_native_call_from_the_second_on() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    let queue = fixture.in_order();
    Launch::new(&kernel, &[64]).on(&queue);
    sim.expect_calls(&[launched(1)], || Launch::new(&kernel, &[4096]).on(&queue));
    queue.finish();
}

#[test]
fn an_event_released_unseen_costs_no_native_call() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    let queue = fixture.in_order();
    sim.expect_calls(&[launched(100)], || {
        for _ in 0..100 {
            drop(one(&kernel).event_on(&queue));
        }
    });
    queue.finish();
}

#[test]
fn every_command_on_an_in_order_queue_with_an_event_released_unseen_is_one_native_call() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let q = queue.handle();
    let memory = fixture.memory(Kind::Device, 64);
    let (to, from) = (memory.pointer(), memory.at(32));
    sim.expect_calls(&[("cuMemcpyAsync", 1)], || {
        drop(event_of(|event| ur!(Enqueue.pfnUSMMemcpy(q, CBool::FALSE, to, from, 32, 0, null(), event))));
    });
    sim.expect_calls(&[("cuMemsetD8Async", 1)], || {
        drop(event_of(|event| ur!(Enqueue.pfnUSMFill(q, to, 1, (&raw const *b"x").cast(), 32, 0, null(), event))));
    });
    let mut block = null_mut();
    let mut alloc = || {
        let out = &raw mut block;
        drop(event_of(|event| ur!(EnqueueExp.pfnUSMDeviceAllocExp(q, null_mut(), 64, null(), 0, null(), out, event))));
    };
    // The first one also asks for the device's pool.
    alloc();
    let first = block;
    ur_conformance::expect_success(
        ur!(EnqueueExp.pfnUSMFreeExp(q, null_mut(), first, 0, null(), null_mut())),
        "urEnqueueUSMFreeExp",
    );
    let mut again = null_mut();
    let (_, calls) = sim.calls_of(|| {
        let out = &raw mut again;
        drop(event_of(|event| ur!(EnqueueExp.pfnUSMDeviceAllocExp(q, null_mut(), 64, null(), 0, null(), out, event))));
    });
    assert!(calls.values().sum::<u64>() <= 1, "a stream-ordered allocation is at most one call: {calls:?}");
    ok!(EnqueueExp.pfnUSMFreeExp(q, null_mut(), again, 0, null(), null_mut()));
    queue.finish();
}

#[test]
fn an_event_held_while_the_next_command_comes_is_recorded_exactly_once() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    warm_up(&fixture, &kernel);
    let queue = fixture.in_order();
    let launch = one(&kernel);
    let held = sim.expect_calls(&[launched(1)], || launch.event_on(&queue));
    sim.expect_calls(&[launched(1), RECORD], || launch.on(&queue));
    sim.expect_calls(&[launched(10)], || (0..10).for_each(|_| launch.on(&queue)));
    sim.expect_calls(&[("cuEventSynchronize", 1)], || held.wait());
    sim.expect_calls(&[], || held.wait());
    queue.finish();
}

#[test]
fn a_chain_by_events_is_one_launch_and_one_record_a_link_and_two_events_take_turns_in_it() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    warm_up(&fixture, &kernel);
    let queue = fixture.in_order();
    let mut handles = Vec::new();
    let mut before = one(&kernel).event_on(&queue);
    for link in 0..20 {
        let launch = one(&kernel);
        let next = sim.expect_calls(&[launched(1), RECORD], || launch.after(&[&before]).event_on(&queue));
        drop(std::mem::replace(&mut before, next));
        handles.push(before.handle());
        if let [.., last_but_one, _, last] = handles[..] {
            assert_eq!(last, last_but_one, "link {link}");
        }
    }
    assert_ne!(handles[18], handles[19]);
    queue.finish();
}

#[test]
fn an_event_observed_while_it_is_the_last_costs_no_record() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    let queue = fixture.in_order();
    let (event, calls) = sim.calls_of(|| {
        let event = one(&kernel).event_on(&queue);
        event.wait();
        event
    });
    assert_eq!(calls.get(launched(1).0), Some(&1));
    assert_eq!(calls.values().sum::<u64>(), 2, "the launch and one wait: {calls:?}");
    sim.expect_calls(&[], || event.wait());
    sim.expect_calls(&[], || queue.finish());
}

#[test]
fn waiting_for_an_event_of_the_same_in_order_queue_is_left_out() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    warm_up(&fixture, &kernel);
    let queue = fixture.in_order();
    let event = one(&kernel).event_on(&queue);
    let (_, calls) = sim.calls_of(|| one(&kernel).after(&[&event]).on(&queue));
    assert!(!calls.contains_key("cuStreamWaitEvent"), "{calls:?}");
    queue.finish();
}

#[test]
fn waiting_for_an_event_of_another_queue_is_one_native_wait_and_the_second_time_none() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    warm_up(&fixture, &kernel);
    let (first, second) = (fixture.in_order(), fixture.in_order());
    let mut gate = Gate::new(&fixture);
    let event = gate.block_event(&first);
    let launch = one(&kernel).after(&[&event]);
    sim.expect_calls(&[RECORD, launched(1), WAIT], || launch.on(&second));
    sim.expect_calls(&[launched(1)], || launch.on(&second));
    gate.open();
    second.finish();
    first.finish();
}

#[test]
fn an_event_waited_for_by_two_queues_is_recorded_once() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    warm_up(&fixture, &kernel);
    let queues = [fixture.in_order(), fixture.in_order(), fixture.in_order()];
    let mut gate = Gate::new(&fixture);
    let event = gate.block_event(&queues[0]);
    sim.expect_calls(&[RECORD, ("cuStreamWaitEvent", 2)], || {
        wait_list(&queues[1], &[&event]);
        wait_list(&queues[2], &[&event]);
    });
    gate.open();
    queues.iter().for_each(Queue::finish);
}

#[test]
fn a_wait_that_an_earlier_one_covers_is_left_out() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    warm_up(&fixture, &kernel);
    let (first, second) = (fixture.in_order(), fixture.in_order());
    let mut gate = Gate::new(&fixture);
    let early = gate.block_event(&first);
    let late = one(&kernel).event_on(&first);
    wait_list(&second, &[&late]);
    sim.expect_calls(&[], || wait_list(&second, &[&early]));
    gate.open();
    second.finish();
    first.finish();
}

#[test]
fn waiting_for_an_event_that_is_known_to_be_complete_is_left_out() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    let (first, second) = (fixture.in_order(), fixture.in_order());
    let event = one(&kernel).event_on(&first);
    event.wait();
    sim.expect_calls(&[launched(1)], || one(&kernel).after(&[&event]).on(&second));
    second.finish();
}

#[test]
fn urEnqueueEventsWait_without_a_list_on_an_in_order_queue_makes_no_native_call() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    let queue = fixture.in_order();
    one(&kernel).on(&queue);
    let q = queue.handle();
    let event = sim.expect_calls(&[], || event_of(|event| ur!(Enqueue.pfnEventsWait(q, 0, null(), event))));
    event.wait();
    sim.expect_calls(&[], || {
        drop(event_of(|event| ur!(Enqueue.pfnEventsWaitWithBarrier(q, 0, null(), event))));
    });
}

/// Two events of one command, one of them made by `urEnqueueEventsWait`, need one native event between commands.
#[test]
fn the_way_libsycl_allocates_costs_no_wait() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    warm_up(&fixture, &kernel);
    let queue = fixture.in_order();
    let q = queue.handle();
    let allocate = || {
        let before = event_of(|event| ur!(Enqueue.pfnEventsWait(q, 0, null(), event)));
        let list = [before.handle()];
        let mut block = null_mut();
        let out = &raw mut block;
        drop(event_of(|event| {
            ur!(EnqueueExp.pfnUSMDeviceAllocExp(q, null_mut(), 4096, null(), 1, list.as_ptr(), out, event))
        }));
        drop(before);
        let before = event_of(|event| ur!(Enqueue.pfnEventsWait(q, 0, null(), event)));
        let list = [before.handle()];
        drop(event_of(|event| ur!(EnqueueExp.pfnUSMFreeExp(q, null_mut(), block, 1, list.as_ptr(), event))));
    };
    allocate();
    let (_, calls) = sim.calls_of(allocate);
    assert!(!calls.contains_key("cuStreamWaitEvent"), "{calls:?}");
    assert!(!calls.contains_key("cuStreamSynchronize"), "{calls:?}");
    assert!(!calls.contains_key("cuEventCreate"), "{calls:?}");
    queue.finish();
}

#[test]
fn native_events_are_used_again() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    let queue = fixture.in_order();
    let round = || {
        let held: Vec<_> = (0..20).map(|_| one(&kernel).event_on(&queue)).collect();
        one(&kernel).on(&queue);
        queue.finish();
        drop(held);
    };
    round();
    let (_, calls) = sim.calls_of(round);
    assert!(!calls.contains_key("cuEventCreate") && !calls.contains_key("cuEventDestroy_v2"), "{calls:?}");
}

#[test]
fn a_burst_of_native_events_does_not_stay() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    let queue = fixture.in_order();
    let held: Vec<_> = (0..1000).map(|_| one(&kernel).event_on(&queue)).collect();
    one(&kernel).on(&queue);
    queue.finish();
    assert!(sim.objects().get("event").copied().unwrap_or(0) >= 1000);
    drop(held);
    let kept = sim.objects().get("event").copied().unwrap_or(0);
    assert!(kept <= 64, "{kept} free native events are kept");
}

/// A queue that times commands keeps two events to fill again, each with two native ones.
#[test]
fn a_burst_of_timed_events_does_not_stay() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    let queue = fixture.queue(Flags::PROFILING_ENABLE);
    let held: Vec<_> = (0..500).map(|_| one(&kernel).event_on(&queue)).collect();
    queue.finish();
    assert!(sim.objects().get("event").copied().unwrap_or(0) >= 1000);
    drop(held);
    let kept = sim.objects().get("event").copied().unwrap_or(0);
    assert!(kept <= 100, "{kept} native events are kept");
}

/// Listing devices must not wake any of them.
#[test]
fn the_way_to_the_first_device_starts_no_thread_and_makes_no_context() {
    let test = "the_way_to_the_first_device_starts_no_thread_and_makes_no_context";
    child::in_process::<&str>(test, &[], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        assert!(!fixture.devices.is_empty() && loader().path() != "");
        assert_eq!((sim.threads(), sim.contexts()), (0, 0));
    });
}

/// Events of the queue itself and of work that is known to have finished are nothing to wait for.
#[test]
fn waits_and_barriers_on_an_in_order_queue_for_nothing_make_no_native_call() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    warm_up(&fixture, &kernel);
    let (queue, other) = (fixture.in_order(), fixture.in_order());
    let done = one(&kernel).event_on(&other);
    done.wait();
    let own = one(&kernel).event_on(&queue);
    let list = [own.handle(), done.handle(), own.handle()];
    let q = queue.handle();
    sim.expect_calls(&[], || {
        for (count, list) in [(0, null()), (3, list.as_ptr())] {
            ok!(Enqueue.pfnEventsWait(q, count, list, null_mut()));
            ok!(Enqueue.pfnEventsWaitWithBarrier(q, count, list, null_mut()));
            drop(event_of(|event| ur!(Enqueue.pfnEventsWait(q, count, list, event))));
            drop(event_of(|event| ur!(Enqueue.pfnEventsWaitWithBarrier(q, count, list, event))));
        }
    });
    queue.finish();
}

/// Handovers from one queue to the other.
struct Handovers<'f> {
    fixture: &'f Fixture,
    kernel: Kernel,
    queues: [Queue; 2],
    timeline: Timeline,
    value: u64,
}

impl<'f> Handovers<'f> {
    fn new(fixture: &'f Fixture) -> Self {
        let (kernel, queues) = (fixture.basic(c"empty"), [(); 2].map(|()| fixture.in_order()));
        Self { fixture, kernel, queues, timeline: Timeline::at_zero(fixture), value: 0 }
    }

    /// So many that are all in flight at once.
    fn round(&mut self, in_flight: u64) {
        let mut gate = Gate::new(self.fixture);
        gate.block(&self.queues[0]);
        for _ in 0..in_flight {
            self.value += 1;
            one(&self.kernel).on(&self.queues[0]);
            self.queues[0].signal(&self.timeline, self.value);
            self.queues[1].wait_for(&self.timeline, self.value);
            one(&self.kernel).on(&self.queues[1]);
        }
        gate.open();
        self.queues.iter().for_each(Queue::finish);
    }
}

#[test]
fn a_handover_by_a_timeline_is_one_record_and_one_wait_and_makes_no_native_event() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let sim = needs_sim!(fixture);
    for in_flight in [4, 64, 300] {
        let mut handovers = Handovers::new(&fixture);
        // A timeline looks for reached signals when it has some, and the pool learns how many are in flight again and again.
        (0..6 + 128 / in_flight).for_each(|_| handovers.round(in_flight));
        for _ in 0..3 {
            let (_, calls) = sim.calls_of(|| handovers.round(in_flight));
            let count = |name: &str| calls.get(name).copied().unwrap_or(0);
            assert_eq!((count("cuEventCreate"), count("cuEventDestroy_v2")), (0, 0), "{in_flight}: {calls:?}");
            assert_eq!((count("cuEventRecord"), count("cuStreamWaitEvent")), (in_flight, in_flight), "{calls:?}");
            // What is reached is known from the waits for the queues; of many in flight it is asked now and then.
            let most = if in_flight <= 64 { 0 } else { in_flight / 12 };
            assert!(count("cuEventQuery") <= most, "{in_flight}: {calls:?}");
        }
        assert_eq!(handovers.timeline.value(), handovers.value);
    }
}

#[test]
fn a_timeline_of_many_signals_has_as_many_native_events_as_are_in_flight() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let sim = needs_sim!(fixture);
    let mut handovers = Handovers::new(&fixture);
    for signals in [8, 100] {
        (0..signals).for_each(|_| handovers.round(64));
        let events = sim.objects().get("event").copied().unwrap_or(0);
        assert!(events <= 4 * 64, "{events} native events for 64 signals in flight");
    }
}

#[test]
fn urEnqueueTimelineWaitExt_makes_one_native_wait_for_each_value_that_nothing_before_it_waited_for() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let sim = needs_sim!(fixture);
    let handovers = Handovers::new(&fixture);
    let ([from, to], mut gate) = (&handovers.queues, Gate::new(&fixture));
    gate.block(from);
    for value in 1..=3 {
        one(&handovers.kernel).on(from);
        from.signal(&handovers.timeline, value);
    }
    // Behind the wait for 2 nothing is left to wait for of what came before it, and 3 comes later.
    for (value, waits) in [(1, 1), (2, 1), (2, 0), (1, 0), (3, 1)] {
        let expected = [("cuStreamWaitEvent", waits)];
        sim.expect_calls(&expected[..waits as usize], || to.wait_for(&handovers.timeline, value));
    }
    gate.open();
    handovers.queues.iter().for_each(Queue::finish);
}
