//! Timelines: a wait may come before its signal, and nobody waits for it but what comes behind it. Gates make "while that
//! runs" certain, so none of this depends on timing.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::mpsc::channel;

use ur_conformance::ffi::{
    CBool, ur_command_t, ur_event_handle_t, ur_event_info_t, ur_event_status_t as Status,
    ur_exp_kernel_arg_properties_t, ur_exp_kernel_arg_type_t as ArgType, ur_exp_kernel_arg_value_t,
    ur_ext_timeline_info_t, ur_profiling_info_t, ur_queue_flags_t as Flags, ur_queue_handle_t, ur_queue_info_t,
    ur_result_t as Code, ur_usm_advice_flags_t, ur_usm_migration_flags_t,
};
use ur_conformance::owned::event_of;
use ur_conformance::pool::{self, Take};
use ur_conformance::{
    Cells, CommandBuffer, Event, Fixture, Gate, Graph, Kernel, Kind, Launch, Queue, Timeline, ask, child, graph, ok,
    query, refused, timeline, ur,
};

const ORDERS: [Flags; 4] = [
    Flags::empty(),
    Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE,
    Flags::PROFILING_ENABLE,
    Flags::PROFILING_ENABLE.union(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE),
];
const CAUSE: Code = Code::ERROR_INVALID_ARGUMENT;
const FOREVER: u64 = u64::MAX;

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
    let waits = if list.is_empty() { null() } else { list.as_ptr() };
    let count = list.len() as u32;
    event_of(|event| ur!(Enqueue.pfnUSMMemcpy(queue.handle(), CBool::FALSE, to, from, 4, count, waits, event)))
}

/// Adds to one number on the device.
struct Adder {
    kernel: Kernel,
}

impl Adder {
    fn new(fixture: &Fixture) -> Self {
        Self { kernel: fixture.basic(c"add_constant") }
    }

    fn add(&self, number: *mut c_void, value: u32) -> Launch<'_> {
        Launch::new(&self.kernel, &[1]).local(&[1]).pointer(number).value(value).value(1u32)
    }
}

#[test]
fn urEnqueueTimelineWaitExt_behind_a_submitted_signal_waits_for_what_comes_before_it() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    for flags in ORDERS {
        let (one, other, timeline) = (fixture.queue(flags), fixture.queue(flags), Timeline::at_zero(&fixture));
        let (seen, mut gate) = (Cells::new(&fixture, 1), Gate::new(&fixture));
        gate.block(&one);
        one.signal(&timeline, 5);
        other.wait_for(&timeline, 3);
        let copied = copy(&other, seen.at(0), gate.result(), &[]);
        assert_eq!(timeline.wait(5, 1_000_000), Code::ERROR_TIMEOUT_EXT);
        assert_eq!((status(&copied), timeline.value(), seen.load(0)), (Status::SUBMITTED, 0, 0));
        gate.open();
        assert_eq!((timeline.wait(5, FOREVER), timeline.value()), (Code::SUCCESS, 5));
        copied.wait();
        assert_eq!(seen.load(0), Gate::OPEN);
        [one, other].iter().for_each(Queue::finish);
    }
}

#[test]
fn urEnqueueTimelineWaitExt_before_the_signal_of_a_queue_of_any_kind() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let adder = Adder::new(&fixture);
    for (waiting, signalling) in ORDERS.into_iter().flat_map(|one| ORDERS.map(|other| (one, other))) {
        let (one, other) = (fixture.queue(waiting), fixture.queue(signalling));
        let timelines = [(); 2].map(|()| Timeline::at_zero(&fixture));
        let (cells, mut gate) = (Cells::new(&fixture, 2), Gate::new(&fixture));
        one.wait_for(&timelines[0], 1);
        let added = adder.add(cells.at(0), 3).event_on(&one);
        let copied = copy(&one, cells.at(1), cells.at(0), &[&added]);
        let signalled = one.signal_after(&timelines[1], 1, &[&copied]);
        gate.block(&other);
        assert_eq!([&added, &copied, &signalled].map(status), [Status::QUEUED; 3], "nobody has signalled");
        other.signal(&timelines[0], 1);
        assert_ne!(status(&copied), Status::COMPLETE, "the gate is closed");
        gate.open();
        assert_eq!(timelines[1].wait(1, FOREVER), Code::SUCCESS);
        assert_eq!((cells.load(0), cells.load(1), status(&signalled)), (3, 3, Status::COMPLETE));
        [one, other].iter().for_each(Queue::finish);
    }
}

/// Makes everything that a queue can keep, and checks what it did.
#[test]
fn a_queue_keeps_every_kind_of_command_until_the_host_signals() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let adder = Adder::new(&fixture);
    for flags in ORDERS {
        let (queue, timeline) = (fixture.queue(flags), Timeline::at_zero(&fixture));
        let (cells, source) = (Cells::new(&fixture, 32), Cells::new(&fixture, 1));
        let shared = fixture.memory(Kind::Shared, 4096);
        source.store(0, 7);
        let recorded = CommandBuffer::in_order(&fixture);
        recorded.copy(cells.at(20), source.at(0), 4, &[]);
        recorded.finalize();
        let q = queue.handle();
        queue.wait_for(&timeline, 1);
        drop(copy(&queue, cells.at(0), source.at(0), &[]));
        {
            let mut pattern = [5u8, 0, 0, 0];
            ok!(Enqueue.pfnUSMFill(q, cells.at(1), 4, pattern.as_ptr().cast(), 8, 0, null(), null_mut()));
            ok!(Enqueue.pfnUSMFill2D(q, cells.at(4), 16, 4, pattern.as_ptr().cast(), 8, 2, 0, null(), null_mut()));
            pattern.fill(9);
            core::hint::black_box(&pattern);
        }
        let (to, from) = (cells.at(12), source.at(0));
        ok!(Enqueue.pfnUSMMemcpy2D(q, CBool::FALSE, to, 4, from, 4, 4, 1, 0, null(), null_mut()));
        let hint = ur_usm_migration_flags_t::empty();
        ok!(Enqueue.pfnUSMPrefetch(q, shared.pointer(), 64, hint, 0, null(), null_mut()));
        let advice = ur_usm_advice_flags_t::DEFAULT;
        ok!(Enqueue.pfnUSMAdvise(q, shared.pointer(), 64, advice, null_mut()));
        adder.add(cells.at(13), 11).on(&queue);
        let recorded_at = event_of(|event| ur!(EnqueueExp.pfnTimestampRecordingExp(q, CBool::FALSE, 0, null(), event)));
        recorded.on(&queue);
        let waited = event_of(|event| ur!(Enqueue.pfnEventsWait(q, 0, null(), event)));
        let barrier = event_of(|event| ur!(Enqueue.pfnEventsWaitWithBarrier(q, 0, null(), event)));
        let mut filled = Filled { memory: cells.at(14), answer: Code::ERROR_UNKNOWN };
        let data = (&raw mut filled).cast();
        let call = event_of(|event| {
            ur!(EnqueueExp.pfnNativeCommandExp(q, Some(fill), data, 0, null(), null(), 0, null(), event))
        });
        let last = copy(&queue, cells.at(15), cells.at(14), &[&call]);
        for event in [&recorded_at, &waited, &barrier, &call, &last] {
            assert_eq!(status(event), Status::QUEUED);
        }
        assert!((0..32).all(|at| cells.load(at) == 0), "nobody has signalled");
        assert_eq!(query::get::<u8>(ask!(Queue.pfnGetInfo(q, ur_queue_info_t::EMPTY))), 0);
        timeline.signal(1);
        last.wait();
        queue.finish();
        let expected = [(0, 7), (1, 5), (2, 5), (4, 5), (8, 5), (12, 7), (13, 11), (14, 11), (15, 11), (20, 7)];
        for (at, value) in expected {
            assert_eq!(cells.load(at), value, "cell {at}");
        }
        assert_eq!(filled.answer, Code::SUCCESS);
        let time = |property| query::get::<u64>(ask!(Event.pfnGetProfilingInfo(recorded_at.handle(), property)));
        assert!(time(ur_profiling_info_t::COMMAND_END) > 0);
    }
}

/// What a native command fills.
struct Filled {
    memory: *mut c_void,
    answer: Code,
}

extern "C" fn fill(queue: ur_queue_handle_t, data: *mut c_void) {
    // SAFETY: the test's own, alive until the queue is finished.
    let filled = unsafe { &mut *data.cast::<Filled>() };
    let value = 11u32;
    let from = (&raw const value).cast();
    filled.answer = ur!(Enqueue.pfnUSMFill(queue, filled.memory, 4, from, 4, 0, null(), null_mut()));
}

extern "C" fn tell(data: *mut c_void) {
    // SAFETY: the sender was given away for this one call.
    let sender = unsafe { Box::from_raw(data.cast::<std::sync::mpsc::Sender<()>>()) };
    // Whoever listens no longer has failed already.
    let _ = sender.send(());
}

#[test]
fn urEnqueueHostTaskExp_behind_a_wait_runs_after_the_signal() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let (queue, timelines) = (fixture.in_order(), [(); 2].map(|()| Timeline::at_zero(&fixture)));
    for (number, fails) in [(0, false), (1, true)] {
        let (done, is_done) = channel::<()>();
        let data = Box::into_raw(Box::new(done));
        queue.wait_for(&timelines[number], 1);
        let event = event_of(|event| {
            ur!(EnqueueExp.pfnHostTaskExp(queue.handle(), Some(tell), data.cast(), null(), 0, null(), event))
        });
        assert!(is_done.try_recv().is_err());
        if fails {
            timelines[number].fail(CAUSE);
            assert_eq!((wait_for_event(&event), is_done.try_recv().is_err()), (CAUSE, true));
            assert_eq!(finish(&queue), CAUSE);
            // SAFETY: the task never runs.
            drop(unsafe { Box::from_raw(data) });
        } else {
            timelines[number].signal(1);
            event.wait();
            is_done.recv().expect("the task has run");
        }
    }
}

#[test]
fn urEnqueueKernelLaunch_behind_a_wait_has_the_arguments_of_its_enqueue() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let (queue, timeline) = (fixture.in_order(), Timeline::at_zero(&fixture));
    let cells = Cells::new(&fixture, 4);
    let kernel = fixture.basic(c"add_constant");
    queue.wait_for(&timeline, 1);
    // With and without an offset, which an adapter may launch in other ways; each value is overwritten after its launch.
    let (mut value, mut count) = (0u32, 1u32);
    for number in 0..4u32 {
        (value, count) = (10 + number, 1);
        let of = |index, type_, size, value| ur_exp_kernel_arg_properties_t {
            type_,
            index,
            size,
            value,
            ..Default::default()
        };
        let by_value = |at: *const u32| ur_exp_kernel_arg_value_t { value: at.cast() };
        let mut arguments = [
            of(0, ArgType::POINTER, 8, ur_exp_kernel_arg_value_t { pointer: cells.at(number as usize) }),
            of(1, ArgType::VALUE, 4, by_value(&raw const value)),
            of(2, ArgType::VALUE, 4, by_value(&raw const count)),
        ];
        let (sizes, offset) = ([1usize], [0usize]);
        let (size, offset) = (sizes.as_ptr(), if number % 2 == 0 { null() } else { offset.as_ptr() });
        let (q, k, list) = (queue.handle(), kernel.handle(), arguments.as_ptr());
        let (none, event) = (null(), null_mut());
        ok!(EnqueueExp.pfnKernelLaunchWithArgsExp(q, k, 1, offset, size, size, 3, list, none, 0, null(), event));
        (value, count) = (99, 0);
        arguments[0].value.pointer = null_mut();
        core::hint::black_box((value, count, &arguments));
    }
    drop(kernel);
    timeline.signal(1);
    queue.finish();
    assert_eq!([0, 1, 2, 3].map(|at| cells.load(at)), [10, 11, 12, 13], "{value} {count}");
}

#[test]
fn urEnqueueUSMDeviceAllocExp_on_a_queue_that_keeps_its_commands_gives_memory_at_once() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    for flags in ORDERS {
        let (queue, timeline) = (fixture.queue(flags), Timeline::at_zero(&fixture));
        let cells = Cells::new(&fixture, 1);
        cells.store(0, 7);
        queue.wait_for(&timeline, 1);
        let (block, allocated) = Take::new(4096).event_on(&queue);
        let (other, _) = Take::new(4096).event_on(&queue);
        assert_ne!(block, other);
        let written = copy(&queue, block, cells.at(0), &[&allocated]);
        let read = copy(&queue, cells.at(0), block, &[&written]);
        let freed = pool::give_after(&queue, block, &[&read]);
        assert_eq!(pool::free(&queue, cells.at(0)), Code::ERROR_INVALID_MEM_OBJECT);
        assert_eq!([&allocated, &freed].map(status), [Status::QUEUED; 2]);
        timeline.signal(1);
        freed.wait();
        assert_eq!(cells.load(0), 7);
        pool::give(&queue, other);
        queue.finish();
    }
}

#[test]
fn a_command_out_of_order_is_kept_only_behind_what_it_comes_after() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let (queue, timelines) = (fixture.out_of_order(), [(); 2].map(|()| Timeline::at_zero(&fixture)));
    let (cells, source) = (Cells::new(&fixture, 8), Cells::new(&fixture, 1));
    source.store(0, 7);
    let point = timelines[0].event(1);
    let kept = copy(&queue, cells.at(0), source.at(0), &[&point]);
    // Nothing holds this one up, and it signals what another waits for.
    let free = copy(&queue, cells.at(1), source.at(0), &[]);
    free.wait();
    assert_eq!((cells.load(0), cells.load(1), status(&kept)), (0, 7, Status::QUEUED));
    let (q, list) = (queue.handle(), [free.handle()]);
    // A wait for everything comes after the deferred command; a barrier holds up all that follows.
    let everything = event_of(|event| ur!(Enqueue.pfnEventsWait(q, 0, null(), event)));
    let some = event_of(|event| ur!(Enqueue.pfnEventsWait(q, 1, list.as_ptr(), event)));
    some.wait();
    let barrier = event_of(|event| ur!(Enqueue.pfnEventsWaitWithBarrier(q, 0, null(), event)));
    let behind = copy(&queue, cells.at(2), cells.at(0), &[]);
    let signalled = queue.signal_after(&timelines[1], 1, &[&behind]);
    for event in [&everything, &barrier, &behind, &signalled] {
        assert_eq!(status(event), Status::QUEUED);
    }
    timelines[0].signal(1);
    assert_eq!(timelines[1].wait(1, FOREVER), Code::SUCCESS);
    assert_eq!((cells.load(0), cells.load(2)), (7, 7));
    // The barrier is an ordinary one by now.
    let after = copy(&queue, cells.at(3), cells.at(2), &[]);
    after.wait();
    assert_eq!(cells.load(3), 7);
    queue.finish();
}

#[test]
fn a_failure_travels_to_other_queues_and_leaves_unrelated_ones_alone() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    for flags in ORDERS {
        let (queues, timelines) =
            ([(); 3].map(|()| fixture.queue(flags)), [(); 3].map(|()| Timeline::at_zero(&fixture)));
        let (cells, source) = (Cells::new(&fixture, 4), Cells::new(&fixture, 1));
        source.store(0, 7);
        queues[0].wait_for(&timelines[0], 1);
        let first = copy(&queues[0], cells.at(0), source.at(0), &[]);
        queues[0].signal(&timelines[1], 1);
        queues[1].wait_for(&timelines[1], 1);
        let second = copy(&queues[1], cells.at(1), source.at(0), &[]);
        queues[2].wait_for(&timelines[2], 1);
        let unrelated = copy(&queues[2], cells.at(2), source.at(0), &[]);
        let called = second.call_back();
        timelines[0].fail(CAUSE);
        for event in [&first, &second] {
            assert_eq!((status(event), wait_for_event(event)), (Status::ERROR, CAUSE));
        }
        called.recv().expect("a callback of a command that never runs is called, as for a lost device");
        assert_eq!(timelines.each_ref().map(Timeline::status), [CAUSE, CAUSE, Code::SUCCESS]);
        assert_eq!(timelines[1].wait(1, FOREVER), CAUSE);
        assert_eq!((finish(&queues[0]), finish(&queues[0]), finish(&queues[1])), (CAUSE, Code::SUCCESS, CAUSE));
        assert_eq!(status(&unrelated), Status::QUEUED);
        let (list, to) = ([first.handle()], cells.at(3));
        refused!(
            ERROR_IN_EVENT_LIST_EXEC_STATUS,
            Enqueue.pfnUSMMemcpy(queues[2].handle(), CBool::FALSE, to, to, 4, 1, list.as_ptr(), null_mut())
        );
        drop(copy(&queues[0], cells.at(3), source.at(0), &[]));
        queues[0].finish();
        timelines[2].signal(1);
        queues[2].finish();
        assert_eq!([0, 1, 2, 3].map(|at| cells.load(at)), [0, 0, 7, 7]);
    }
}

#[test]
fn urTimelineSignalExt_does_not_wait_for_a_stream_that_is_full() {
    const COMMANDS: usize = 5_000;
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let (queues, timelines) = ([(); 2].map(|()| fixture.in_order()), [(); 2].map(|()| Timeline::at_zero(&fixture)));
    let (adder, cells) = (Adder::new(&fixture), Cells::new(&fixture, 2));
    let mut gate = Gate::new(&fixture);
    gate.block(&queues[0]);
    queues[0].wait_for(&timelines[0], 1);
    queues[1].wait_for(&timelines[0], 1);
    for _ in 0..COMMANDS {
        adder.add(cells.at(0), 1).on(&queues[0]);
    }
    adder.add(cells.at(1), 1).on(&queues[1]);
    queues[0].signal(&timelines[1], 1);
    // The first queue's stream has no room for all of it while the gate is closed; the other queue goes on.
    timelines[0].signal(1);
    queues[1].finish();
    assert_eq!((cells.load(0), cells.load(1), timelines[1].value()), (0, 1, 0));
    gate.open();
    assert_eq!(timelines[1].wait(1, FOREVER), Code::SUCCESS);
    assert_eq!(cells.load(0), COMMANDS as u32);
    queues[0].finish();
}

/// A value that a queue signals, and the queue and value that it waits for before.
type Step = (u64, Option<(usize, u64)>);

/// Numbers of a seed, for orders that a failure can be repeated with.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

#[test]
fn sixty_four_queues_that_wait_for_each_other_in_any_order_that_has_a_solution_all_finish() {
    sixty_four_queues();
}

/// Where streams share a channel, a wait on a stream before its signal was submitted would hold that up for ever.
#[test]
fn sixty_four_queues_finish_where_all_streams_of_a_device_share_one_hardware_channel() {
    let test = "sixty_four_queues_finish_where_all_streams_of_a_device_share_one_hardware_channel";
    child::in_time(test, &[("CUDA_DEVICE_MAX_CONNECTIONS", "1")], sixty_four_queues);
}

fn sixty_four_queues() {
    const QUEUES: usize = 64;
    const STEPS: usize = 6;
    let fixture = Fixture::over_all_devices();
    if !timeline::are_there() {
        return;
    }
    let devices = &fixture.devices;
    let adder = Adder::new(&fixture);
    for seed in 1..=3 {
        let mut random = Random(seed);
        let queues: Vec<Queue> = (0..QUEUES)
            .map(|number| fixture.queue_in(fixture.context(), devices[number % devices.len()], Flags::empty()))
            .collect();
        let timelines: Vec<_> = (0..QUEUES).map(|_| Timeline::at_zero(&fixture)).collect();
        let numbers = Cells::new(&fixture, QUEUES);
        // The order in which steps will run: each waits for one that comes before it there.
        let mut order: Vec<(usize, u64)> = Vec::new();
        let mut done = vec![0; QUEUES];
        while order.len() < QUEUES * STEPS {
            let queue = random.below(QUEUES);
            if done[queue] < STEPS {
                done[queue] += 1;
                order.push((queue, done[queue] as u64));
            }
        }
        let waits: Vec<_> = (0..order.len()).map(|step| (step > 0).then(|| order[random.below(step.max(1))])).collect();
        let mut steps: Vec<Vec<Step>> = vec![Vec::new(); QUEUES];
        for (step, (queue, value)) in order.iter().enumerate() {
            steps[*queue].push((*value, waits[step]));
        }
        // Queues are enqueued whole, in another order.
        let mut left: Vec<usize> = (0..QUEUES).collect();
        while !left.is_empty() {
            let queue = left.swap_remove(random.below(left.len()));
            for (value, wait) in &steps[queue] {
                if let Some((other, at_least)) = wait.filter(|(other, _)| *other != queue) {
                    queues[queue].wait_for(&timelines[other], at_least);
                }
                if queue.is_multiple_of(devices.len()) {
                    adder.add(numbers.at(queue), 1).on(&queues[queue]);
                }
                queues[queue].signal(&timelines[queue], *value);
            }
        }
        queues.iter().for_each(Queue::finish);
        for (number, timeline) in timelines.iter().enumerate() {
            assert_eq!(timeline.value(), STEPS as u64, "queue {number} of seed {seed}");
            let expected = if number.is_multiple_of(devices.len()) { STEPS as u32 } else { 0 };
            assert_eq!(numbers.load(number), expected, "queue {number} of seed {seed}");
        }
    }
}

/// Each queue has a hardware channel of its own, since one that shares it with a gate may not get to its signal.
#[test]
fn urTimelineWaitExt_of_any_of_several_queues_is_told_which_one() {
    let test = "urTimelineWaitExt_of_any_of_several_queues_is_told_which_one";
    child::in_process(test, &[("CUDA_DEVICE_MAX_CONNECTIONS", "32")], || {
        let fixture = Fixture::new();
        if !timeline::are_there() {
            return;
        }
        fixture.allow_late_releases();
        let (queues, timelines) = ([(); 2].map(|()| fixture.in_order()), [(); 2].map(|()| Timeline::at_zero(&fixture)));
        let mut gates = [(); 2].map(|()| Gate::new(&fixture));
        for ((queue, timeline), gate) in queues.iter().zip(&timelines).zip(&gates) {
            gate.block(queue);
            queue.signal(timeline, 1);
        }
        let wanted = [(&timelines[0], 1), (&timelines[1], 1)];
        assert_eq!(timeline::wait(&wanted, true, 0), (Code::ERROR_TIMEOUT_EXT, None));
        std::thread::scope(|scope| {
            let waiting =
                [FOREVER, 60_000_000_000].map(|timeout| scope.spawn(move || timeline::wait(&wanted, true, timeout)));
            gates[1].open();
            for thread in waiting {
                assert_eq!(thread.join().unwrap(), (Code::SUCCESS, Some(1)));
            }
        });
        assert_eq!(timeline::wait(&wanted, false, 1_000_000), (Code::ERROR_TIMEOUT_EXT, None));
        gates[0].open();
        assert_eq!(timeline::wait(&wanted, false, FOREVER), (Code::SUCCESS, None));
        queues.iter().for_each(Queue::finish);
    });
}

#[test]
fn urQueueRelease_and_urContextRelease_with_kept_commands_end_nothing() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let timeline = Timeline::at_zero(&fixture);
    let (cells, source) = (Cells::new(&fixture, 2), Cells::new(&fixture, 1));
    source.store(0, 7);
    let mut events = Vec::new();
    for (at, flags) in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE].into_iter().enumerate() {
        let context = fixture.context_of(&[fixture.device()]);
        let queue = fixture.queue_in(context.handle(), fixture.device(), flags);
        queue.wait_for(&timeline, 1);
        drop(copy(&queue, cells.at(at), source.at(0), &[]));
        events.push(event_of(|event| ur!(Enqueue.pfnEventsWait(queue.handle(), 0, null(), event))));
    }
    timeline.signal(1);
    drop(timeline);
    events.iter().for_each(Event::wait);
    assert_eq!((cells.load(0), cells.load(1)), (7, 7));
}

#[test]
fn a_blocking_command_behind_a_wait_returns_after_the_signal() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    for flags in ORDERS {
        let (queue, timeline) = (fixture.queue(flags), Timeline::at_zero(&fixture));
        let (cells, source) = (Cells::new(&fixture, 1), Cells::new(&fixture, 1));
        source.store(0, 7);
        queue.wait_for(&timeline, 1);
        std::thread::scope(|scope| {
            let (begin, begun) = channel();
            let (to, from) = (cells.at(0).expose_provenance(), source.at(0).expose_provenance());
            let queue = &queue;
            let copying = scope.spawn(move || {
                let (to, from) = (core::ptr::with_exposed_provenance_mut(to), core::ptr::with_exposed_provenance(from));
                begin.send(()).unwrap();
                ok!(Enqueue.pfnUSMMemcpy(queue.handle(), CBool::TRUE, to, from, 4, 0, null(), null_mut()));
            });
            begun.recv().unwrap();
            assert_eq!(cells.load(0), 0);
            timeline.signal(1);
            copying.join().unwrap();
        });
        assert_eq!(cells.load(0), 7);
    }
}

#[test]
fn an_event_of_a_timeline_s_value_says_what_it_is() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let (queue, timeline) = (fixture.in_order(), Timeline::at_zero(&fixture));
    let event = timeline.event(1);
    let command = query::get::<u32>(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_TYPE)));
    assert_eq!(ur_command_t(command), ur_command_t::TIMELINE_WAIT_EXT);
    let context: usize = query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::CONTEXT)));
    let owner: usize = query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_QUEUE)));
    assert_eq!((context, owner, status(&event)), (fixture.context().addr(), 0, Status::QUEUED));
    let mut native = Default::default();
    refused!(ERROR_UNSUPPORTED_FEATURE, Event.pfnGetNativeHandle(event.handle(), &raw mut native));
    let called = event.call_back();
    queue.signal(&timeline, 1);
    called.recv().expect("the callback is called once the signal is there");
    event.wait();
    assert_eq!(status(&event), Status::COMPLETE);
    ok!(Event.pfnGetNativeHandle(event.handle(), &raw mut native));
    queue.finish();
}

#[test]
fn urTimelineGetInfoExt_counts_what_urTimelineRetainExt_adds_and_urTimelineReleaseExt_takes_away() {
    let fixture = Fixture::new();
    if !timeline::are_there() {
        return;
    }
    let timeline = Timeline::at_zero(&fixture);
    let ask = |property| query::get::<u32>(ask!(TimelineExt.pfnTimelineGetInfoExt(timeline.handle(), property)));
    assert_eq!(ask(ur_ext_timeline_info_t::REFERENCE_COUNT), 1);
    ok!(TimelineExt.pfnTimelineRetainExt(timeline.handle()));
    let other = Timeline::take(timeline.handle());
    assert_eq!(ask(ur_ext_timeline_info_t::REFERENCE_COUNT), 2);
    drop(other);
    assert_eq!(ask(ur_ext_timeline_info_t::REFERENCE_COUNT), 1);
    let property = ur_ext_timeline_info_t::CONTEXT;
    let context: usize = query::get(ask!(TimelineExt.pfnTimelineGetInfoExt(timeline.handle(), property)));
    assert_eq!(context, fixture.context().addr());
}

#[test]
fn a_graph_that_queues_captured_is_kept_like_any_command() {
    let fixture = Fixture::new();
    if !timeline::are_there() || !graph::are_there(&fixture) {
        return;
    }
    let (queue, timeline) = (fixture.in_order(), Timeline::at_zero(&fixture));
    let (cells, source) = (Cells::new(&fixture, 1), Cells::new(&fixture, 1));
    source.store(0, 7);
    let executable = Graph::captured(&queue, || drop(copy(&queue, cells.at(0), source.at(0), &[]))).instantiate();
    queue.wait_for(&timeline, 1);
    executable.on(&queue);
    drop(executable);
    assert_eq!(cells.load(0), 0);
    timeline.signal(1);
    queue.finish();
    assert_eq!(cells.load(0), 7);
}
