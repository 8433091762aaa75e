//! `urBindlessImages*ExternalSemaphoreExp`.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{from_ref, null, null_mut};
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};

use ur_conformance::ffi::{
    CBool, ur_bool_t, ur_command_t, ur_device_info_t, ur_event_handle_t, ur_event_info_t,
    ur_exp_external_semaphore_desc_t, ur_exp_external_semaphore_type_t as Type, ur_profiling_info_t,
    ur_queue_flags_t as Flags, ur_result_t,
};
use ur_conformance::foreign::SemaphoreKind::{Binary, Timeline};
use ur_conformance::graph::{begin, end};
use ur_conformance::owned::event_of;
use ur_conformance::sim::status;
use ur_conformance::{
    Event, Fixture, Gate, Graph, Kind, Launch, Queue, ask, child, memory, needs_sim, ok, query, refused, ur,
};

use crate::import::{Semaphore, file, is_open, try_semaphore};

const ORDERS: [Flags; 4] = [
    Flags::empty(),
    Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE,
    Flags::PROFILING_ENABLE,
    Flags::PROFILING_ENABLE.union(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE),
];

/// A wait or a signal, with its event.
#[track_caller]
fn wait(queue: &Queue, semaphore: &Semaphore<'_>, value: Option<u64>, after: &[&Event]) -> Event {
    event_of(|event| try_wait(queue, semaphore, value, after, event))
}

fn try_wait(
    queue: &Queue,
    semaphore: &Semaphore<'_>,
    value: Option<u64>,
    after: &[&Event],
    event: *mut ur_event_handle_t,
) -> ur_result_t {
    let list: Vec<_> = after.iter().map(|event| event.handle()).collect();
    let (has, value) = (CBool::from(value.is_some()), value.unwrap_or(0));
    let (count, list) = (list.len() as u32, if list.is_empty() { null() } else { list.as_ptr() });
    let (queue, semaphore) = (queue.handle(), semaphore.handle);
    ur!(BindlessImagesExp.pfnWaitExternalSemaphoreExp(queue, semaphore, has, value, count, list, event))
}

#[track_caller]
fn signal(queue: &Queue, semaphore: &Semaphore<'_>, value: Option<u64>, after: &[&Event]) -> Event {
    event_of(|event| try_signal(queue, semaphore, value, after, event))
}

fn try_signal(
    queue: &Queue,
    semaphore: &Semaphore<'_>,
    value: Option<u64>,
    after: &[&Event],
    event: *mut ur_event_handle_t,
) -> ur_result_t {
    let list: Vec<_> = after.iter().map(|event| event.handle()).collect();
    let (has, value) = (CBool::from(value.is_some()), value.unwrap_or(0));
    let (count, list) = (list.len() as u32, if list.is_empty() { null() } else { list.as_ptr() });
    let (queue, semaphore) = (queue.handle(), semaphore.handle);
    ur!(BindlessImagesExp.pfnSignalExternalSemaphoreExp(queue, semaphore, has, value, count, list, event))
}

/// Whether an event says that its command is complete.
fn is_complete(event: &Event) -> bool {
    let status: u32 = query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS)));
    status == 0
}

#[test]
fn urDeviceGetInfo_says_whether_semaphores_can_be_imported() {
    let fixture = Fixture::new();
    let property = ur_device_info_t::EXTERNAL_SEMAPHORE_IMPORT_SUPPORT_EXP;
    let supported: ur_bool_t = query::get(ask!(Device.pfnGetInfo(fixture.device(), property)));
    let _sim = needs_sim!(fixture);
    assert_eq!(supported, 1);
}

#[test]
fn urBindlessImagesWaitExternalSemaphoreExp_holds_back_what_comes_after_it() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let control = sim.foreign_semaphores();
    // Loading its program behind the wait would wait for the wait.
    let kernel = fixture.basic(c"add_constant");
    for flags in ORDERS {
        for kind in [Binary, Timeline] {
            let own = sim.foreign_semaphore(kind == Timeline);
            let semaphore = Semaphore::new(&fixture, kind, own.try_clone().expect("a descriptor"));
            let (queue, memory) = (fixture.queue(flags), fixture.memory(Kind::Host, 4));
            memory.store(0, 1);
            let value = (kind == Timeline).then_some(5);
            let waited = wait(&queue, &semaphore, value, &[]);
            let command = query::get(ask!(Event.pfnGetInfo(waited.handle(), ur_event_info_t::COMMAND_TYPE)));
            assert_eq!(ur_command_t(command), ur_command_t::EXTERNAL_SEMAPHORE_WAIT_EXP);
            let launch = Launch::new(&kernel, &[1]).pointer(memory.pointer()).value(6u32).value(1u32);
            let after = launch.after(&[&waited]).event_on(&queue);
            if kind == Timeline {
                // Not far enough.
                control.signal(&own, 4);
            }
            assert!(!is_complete(&waited) && !is_complete(&after), "{flags:?} {kind:?}");
            assert_eq!(memory.load(0), 1, "{flags:?} {kind:?}");
            control.signal(&own, 5);
            after.wait();
            assert!(is_complete(&waited));
            assert_eq!(memory.load(0), 7, "{flags:?} {kind:?}");
            if flags.contains(Flags::PROFILING_ENABLE) {
                let time =
                    |event: &Event, what| -> u64 { query::get(ask!(Event.pfnGetProfilingInfo(event.handle(), what))) };
                let end = time(&waited, ur_profiling_info_t::COMMAND_END);
                assert!(time(&waited, ur_profiling_info_t::COMMAND_START) <= end);
                assert!(end <= time(&after, ur_profiling_info_t::COMMAND_START));
            }
            if kind == Binary {
                assert!(!control.wait(&own, 0, 0), "a wait takes the signal away");
            }
            queue.finish();
        }
    }
}

#[test]
fn urBindlessImagesSignalExternalSemaphoreExp_comes_after_earlier_work_and_its_wait_list() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let control = sim.foreign_semaphores();
    for flags in ORDERS {
        for kind in [Binary, Timeline] {
            let own = sim.foreign_semaphore(kind == Timeline);
            let semaphore = Semaphore::new(&fixture, kind, own.try_clone().expect("a descriptor"));
            let (queue, elsewhere) = (fixture.queue(flags), fixture.in_order());
            let mut gate = Gate::new(&fixture);
            let blocked = gate.block_event(&elsewhere);
            let value = (kind == Timeline).then_some(1 << 40);
            let signalled = signal(&queue, &semaphore, value, &[&blocked]);
            let command = query::get(ask!(Event.pfnGetInfo(signalled.handle(), ur_event_info_t::COMMAND_TYPE)));
            assert_eq!(ur_command_t(command), ur_command_t::EXTERNAL_SEMAPHORE_SIGNAL_EXP);
            assert!(!control.wait(&own, 1 << 40, 0) && !is_complete(&signalled), "{flags:?} {kind:?}");
            gate.open();
            assert!(control.wait(&own, 1 << 40, 10_000), "{flags:?} {kind:?}");
            signalled.wait();
            if flags.contains(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE) {
                continue;
            }
            // In order, without a list.
            let mut gate = Gate::new(&fixture);
            gate.block(&queue);
            let value = value.map(|value| value + 1);
            assert_eq!(try_signal(&queue, &semaphore, value, &[], null_mut()), ur_result_t::SUCCESS);
            assert!(!control.wait(&own, (1 << 40) + 1, 0), "{flags:?} {kind:?}");
            gate.open();
            assert!(control.wait(&own, (1 << 40) + 1, 10_000), "{flags:?} {kind:?}");
            queue.finish();
        }
    }
}

#[test]
fn two_queues_wait_for_each_other_by_a_timeline() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let timeline = Semaphore::new(&fixture, Timeline, sim.foreign_semaphore(true));
    let (one, other, cell) = (fixture.in_order(), fixture.in_order(), fixture.memory(Kind::Host, 4));
    let kernel = fixture.basic(c"add_constant");
    cell.store(0, 0);
    let add = |queue: &Queue| Launch::new(&kernel, &[1]).pointer(cell.pointer()).value(1u32).value(1u32).on(queue);
    for round in 0..100 {
        add(&one);
        drop(signal(&one, &timeline, Some(2 * round + 1), &[]));
        drop(wait(&other, &timeline, Some(2 * round + 1), &[]));
        add(&other);
        drop(signal(&other, &timeline, Some(2 * round + 2), &[]));
        drop(wait(&one, &timeline, Some(2 * round + 2), &[]));
    }
    one.finish();
    other.finish();
    assert_eq!(cell.load(0), 200);
}

#[test]
fn values_are_for_timelines_and_semaphores_for_their_own_queues() {
    let fixture = Fixture::over_all_devices();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let timeline = Semaphore::new(&fixture, Timeline, sim.foreign_semaphore(true));
    let binary = Semaphore::new(&fixture, Binary, sim.foreign_semaphore(false));
    let mut event = null_mut();
    let out = &raw mut event;
    for use_semaphore in [try_wait, try_signal] {
        assert_eq!(use_semaphore(&queue, &timeline, None, &[], out), ur_result_t::ERROR_INVALID_VALUE);
        assert_eq!(use_semaphore(&queue, &binary, Some(1), &[], out), ur_result_t::ERROR_INVALID_VALUE);
        let far = fixture.queue_in(fixture.context(), fixture.devices[1], Flags::empty());
        assert_eq!(use_semaphore(&far, &binary, None, &[], out), ur_result_t::ERROR_INVALID_VALUE);
        let context = fixture.context_of(&fixture.devices[..1]);
        let foreign = fixture.queue_in(context.handle(), fixture.device(), Flags::empty());
        assert_eq!(use_semaphore(&foreign, &binary, None, &[], out), ur_result_t::ERROR_INVALID_VALUE);
    }
    let (q, wrong) = (queue.handle(), queue.handle().cast());
    let no = CBool::FALSE;
    refused!(ERROR_INVALID_VALUE, BindlessImagesExp.pfnWaitExternalSemaphoreExp(q, wrong, no, 0, 0, null(), out));
    refused!(
        ERROR_INVALID_NULL_HANDLE,
        BindlessImagesExp.pfnSignalExternalSemaphoreExp(q, null_mut(), no, 0, 0, null(), out)
    );
    assert!(event.is_null());
}

#[test]
fn what_is_no_semaphore_is_refused_and_its_descriptor_left() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (c, d) = (fixture.context(), fixture.device());
    let mut handle = null_mut();
    let out = &raw mut handle;
    let own = sim.foreign_semaphore(true);
    let good = file(own.as_raw_fd());
    let mut desc = ur_exp_external_semaphore_desc_t { pNext: from_ref(&good).cast(), ..Default::default() };
    let desc = &raw mut desc;
    for kind in [Type::WIN32_NT, Type::WIN32_NT_DX12_FENCE, Type::TIMELINE_WIN32_NT] {
        refused!(ERROR_UNSUPPORTED_FEATURE, BindlessImagesExp.pfnImportExternalSemaphoreExp(c, d, kind, desc, out));
    }
    refused!(ERROR_INVALID_ENUMERATION, BindlessImagesExp.pfnImportExternalSemaphoreExp(c, d, Type(99), desc, out));
    let mut empty = ur_exp_external_semaphore_desc_t::default();
    refused!(
        ERROR_INVALID_VALUE,
        BindlessImagesExp.pfnImportExternalSemaphoreExp(c, d, Type::TIMELINE_FD, &raw mut empty, out)
    );
    assert!(handle.is_null());
    // A timeline is no binary semaphore, and memory none at all.
    let (answer, own) = try_semaphore(&fixture, Binary, own).unwrap_err();
    assert_eq!(answer, ur_result_t::ERROR_INVALID_VALUE);
    let (answer, memory) = try_semaphore(&fixture, Timeline, sim.foreign_memory(4096, 0)).unwrap_err();
    assert_eq!(answer, ur_result_t::ERROR_INVALID_VALUE);
    assert!(is_open(own.as_raw_fd()) && is_open(memory.as_raw_fd()));
    let number = own.as_raw_fd();
    let semaphore = Semaphore::new(&fixture, Timeline, own);
    assert!(!is_open(number), "the driver has taken the descriptor");
    drop(semaphore);
}

#[test]
fn a_semaphore_is_released_when_its_commands_have_completed() {
    let fixture = Fixture::over_all_devices();
    let sim = needs_sim!(fixture);
    let (own, queue) = (sim.foreign_semaphore(true), fixture.in_order());
    let semaphore = Semaphore::new(&fixture, Timeline, own.try_clone().expect("a descriptor"));
    let waited = wait(&queue, &semaphore, Some(1), &[]);
    assert_eq!(semaphore.try_release(), ur_result_t::ERROR_INVALID_VALUE);
    let second = fixture.devices[1];
    let (c, h) = (fixture.context(), semaphore.handle);
    refused!(ERROR_INVALID_DEVICE, BindlessImagesExp.pfnReleaseExternalSemaphoreExp(c, second, h));
    refused!(ERROR_INVALID_NULL_HANDLE, BindlessImagesExp.pfnReleaseExternalSemaphoreExp(c, second, null_mut()));
    sim.foreign_semaphores().signal(&own, 1);
    waited.wait();
    // Later work of the queue does not matter.
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    drop(semaphore);
    gate.open();
    queue.finish();
}

/// Streams that wait for another API's semaphore occupy hardware channels, so whoever signals has one of its own.
#[test]
fn a_semaphore_remembers_no_more_streams_than_are_busy() {
    let test = "a_semaphore_remembers_no_more_streams_than_are_busy";
    child::in_time(test, &[("CUDA_DEVICE_MAX_CONNECTIONS", "32")], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let semaphore = Semaphore::new(&fixture, Timeline, sim.foreign_semaphore(true));
        for round in 1..=100 {
            let queue = fixture.in_order();
            signal(&queue, &semaphore, Some(round), &[]).wait();
        }
        let busy: Vec<Queue> = (0..20).map(|_| fixture.in_order()).collect();
        let waits: Vec<Event> = busy.iter().map(|queue| wait(queue, &semaphore, Some(101), &[])).collect();
        assert_eq!(semaphore.try_release(), ur_result_t::ERROR_INVALID_VALUE);
        let queue = fixture.in_order();
        signal(&queue, &semaphore, Some(101), &[]).wait();
        waits.iter().for_each(Event::wait);
    });
}

#[test]
fn a_capture_refuses_semaphores_and_goes_on() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (queue, kernel) = (fixture.in_order(), fixture.basic(c"empty"));
    let semaphore = Semaphore::new(&fixture, Timeline, sim.foreign_semaphore(true));
    begin(&queue);
    Launch::new(&kernel, &[1]).on(&queue);
    let refusal = ur_conformance::told(ur_result_t::ERROR_GRAPH_CAPTURE_UNSUPPORTED);
    assert_eq!(try_wait(&queue, &semaphore, Some(1), &[], null_mut()), refusal);
    assert_eq!(try_signal(&queue, &semaphore, Some(1), &[], null_mut()), refusal);
    Launch::new(&kernel, &[1]).on(&queue);
    let graph = Graph::take(end(&queue));
    graph.instantiate().on(&queue);
    queue.finish();
}

#[test]
fn a_native_failure_gives_no_event_and_leaves_nothing() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (own, queue) = (sim.foreign_semaphore(true), fixture.in_order());
    sim.fail("cuImportExternalSemaphore", 1, status::UNKNOWN);
    let (answer, own) = try_semaphore(&fixture, Timeline, own).unwrap_err();
    assert_eq!(answer, ur_result_t::ERROR_INVALID_VALUE);
    let semaphore = Semaphore::new(&fixture, Timeline, own);
    let mut event = null_mut();
    sim.fail("cuSignalExternalSemaphoresAsync", 1, status::UNKNOWN);
    let answer = try_signal(&queue, &semaphore, Some(1), &[], &raw mut event);
    assert_eq!(answer, ur_result_t::ERROR_ADAPTER_SPECIFIC);
    sim.fail("cuWaitExternalSemaphoresAsync", 1, status::UNKNOWN);
    let answer = try_wait(&queue, &semaphore, Some(1), &[], &raw mut event);
    assert_eq!(answer, ur_result_t::ERROR_ADAPTER_SPECIFIC);
    assert!(event.is_null());
    drop(signal(&queue, &semaphore, Some(1), &[]));
    wait(&queue, &semaphore, Some(1), &[]).wait();
}

/// Tells the child where the parent's descriptor is.
const PATH: &str = "UR_TEST_EXTERNAL_PATH";

#[test]
fn a_timeline_of_another_process_is_waited_for_and_signalled() {
    const NAME: &str = "a_timeline_of_another_process_is_waited_for_and_signalled";
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    if let Ok(path) = std::env::var(PATH) {
        return child::in_process::<&str>(NAME, &[], || {
            let opened: OwnedFd = File::options().read(true).write(true).open(path).expect("the descriptor").into();
            let (semaphore, queue) = (Semaphore::new(&fixture, Timeline, opened), fixture.in_order());
            drop(wait(&queue, &semaphore, Some(3), &[]));
            signal(&queue, &semaphore, Some(4), &[]).wait();
        });
    }
    let own = sim.foreign_semaphore(true);
    sim.foreign_semaphores().signal(&own, 3);
    let path = format!("/proc/{}/fd/{}", std::process::id(), own.as_raw_fd());
    child::in_process(NAME, &[(PATH, path)], || ());
    assert!(sim.foreign_semaphores().wait(&own, 4, 0));
}

#[test]
fn copies_between_a_wait_and_a_signal_are_ordered_by_the_queue() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (own, queue) = (sim.foreign_semaphore(true), fixture.in_order());
    let semaphore = Semaphore::new(&fixture, Timeline, own.try_clone().expect("a descriptor"));
    let (from, to) = (fixture.memory(Kind::Shared, 4096), fixture.memory(Kind::Shared, 4096));
    from.store(0, 1);
    drop(wait(&queue, &semaphore, Some(1), &[]));
    ok!(Enqueue.pfnUSMMemcpy(queue.handle(), CBool::FALSE, to.pointer(), from.pointer(), 4096, 0, null(), null_mut()));
    drop(signal(&queue, &semaphore, Some(2), &[]));
    // The copy has not begun, so it sees this.
    from.store(0, 2);
    sim.foreign_semaphores().signal(&own, 1);
    assert!(sim.foreign_semaphores().wait(&own, 2, 10_000));
    assert_eq!(to.load(0), 2);
    queue.finish();
    let _ = memory::read::<u32>(&queue, to.pointer(), 1);
}

/// The second use of one stream has a mark of its own.
#[test]
fn a_semaphore_is_not_released_before_the_last_of_several_waits_of_one_queue() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (own, queue) = (sim.foreign_semaphore(true), fixture.in_order());
    let control = sim.foreign_semaphores();
    let semaphore = Semaphore::new(&fixture, Timeline, own.try_clone().expect("a descriptor"));
    let (first, second) = (wait(&queue, &semaphore, Some(1), &[]), wait(&queue, &semaphore, Some(2), &[]));
    control.signal(&own, 1);
    first.wait();
    let early = semaphore.try_release();
    control.signal(&own, 2);
    second.wait();
    assert_eq!(early, ur_result_t::ERROR_INVALID_VALUE);
    drop(semaphore);
}

/// The wait is on the stream though the call has failed, and though nothing marks its end.
#[test]
fn a_semaphore_is_not_released_before_a_wait_whose_end_could_not_be_marked() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (own, queue) = (sim.foreign_semaphore(true), fixture.in_order());
    let control = sim.foreign_semaphores();
    let semaphore = Semaphore::new(&fixture, Timeline, own.try_clone().expect("a descriptor"));
    // On a stream without a mark, and on one with a mark of an earlier use.
    for value in 1..3 {
        let mut event = null_mut();
        sim.fail("cuEventRecord", 1, status::UNKNOWN);
        let answer = try_wait(&queue, &semaphore, Some(2 * value), &[], &raw mut event);
        sim.clear_faults();
        assert_eq!(answer, ur_result_t::ERROR_ADAPTER_SPECIFIC);
        assert!(event.is_null());
        let early = semaphore.try_release();
        control.signal(&own, 2 * value);
        assert_eq!(early, ur_result_t::ERROR_INVALID_VALUE);
        queue.finish();
        wait(&queue, &semaphore, Some(2 * value), &[]).wait();
    }
    drop(semaphore);
}

/// Each stream of its own: a queue that is released leaves its stream to the next.
#[test]
fn a_semaphore_keeps_few_native_events_however_many_queues_have_used_it() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let semaphore = Semaphore::new(&fixture, Timeline, sim.foreign_semaphore(true));
    let queues: Vec<Queue> = (0..200).map(|_| fixture.in_order()).collect();
    let mut value = 0;
    for queue in &queues {
        value += 1;
        assert_eq!(try_signal(queue, &semaphore, Some(value), &[], null_mut()), ur_result_t::SUCCESS);
        queue.finish();
    }
    let events = sim.objects().get("event").copied().unwrap_or(0);
    assert!(events <= 100, "{events} native events after a signal of each of {} queues", queues.len());
}
