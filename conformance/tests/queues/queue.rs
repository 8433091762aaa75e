//! `urQueue*`: flags, properties, finishing.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    UR_QUEUE_FLAGS_MASK, ur_event_info_t, ur_queue_flags_t as Flags, ur_queue_info_t as info, ur_queue_properties_t,
    ur_structure_type_t,
};
use ur_conformance::{
    Fixture, Gate, Kind, Launch, Queue, ask, check_every_property, child, needs_sim, ok, query, refused,
};

#[test]
fn urQueueCreate_takes_every_combination_of_flags_that_makes_sense_and_tells_them_again() {
    let fixture = Fixture::new();
    let orders = [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE];
    let times = [Flags::empty(), Flags::PROFILING_ENABLE];
    let priorities = [Flags::empty(), Flags::PRIORITY_LOW, Flags::PRIORITY_HIGH];
    let hints = [
        Flags::empty(),
        Flags::DISCARD_EVENTS,
        Flags::SUBMISSION_BATCHED,
        Flags::SUBMISSION_IMMEDIATE,
        Flags::USE_DEFAULT_STREAM,
        Flags::SYNC_WITH_DEFAULT_STREAM,
    ];
    for order in orders {
        for time in times {
            for priority in priorities {
                for hint in hints {
                    let flags = order | time | priority | hint;
                    let queue = fixture.queue(flags);
                    let told: u32 = query::get(ask!(Queue.pfnGetInfo(queue.handle(), info::FLAGS)));
                    assert_eq!(Flags::from_bits_retain(told), flags);
                    queue.finish();
                }
            }
        }
    }
}

#[test]
fn urQueueCreate_without_properties_is_an_in_order_queue() {
    let fixture = Fixture::new();
    let mut queue = null_mut();
    ok!(Queue.pfnCreate(fixture.context(), fixture.device(), null(), &raw mut queue));
    let queue = Queue::take(queue);
    assert_eq!(query::get::<u32>(ask!(Queue.pfnGetInfo(queue.handle(), info::FLAGS))), 0);
}

#[test]
fn urQueueCreate_takes_properties_whose_tag_is_left_out() {
    let fixture = Fixture::new();
    let flags = Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE;
    let properties = ur_queue_properties_t { stype: ur_structure_type_t(0), flags, ..Default::default() };
    let mut queue = null_mut();
    ok!(Queue.pfnCreate(fixture.context(), fixture.device(), &raw const properties, &raw mut queue));
    let queue = Queue::take(queue);
    let told: u32 = query::get(ask!(Queue.pfnGetInfo(queue.handle(), info::FLAGS)));
    assert_eq!(Flags::from_bits_retain(told), flags);
}

#[test]
fn urQueueCreate_refuses_unknown_and_contradictory_flags() {
    let fixture = Fixture::new();
    let create = |flags: Flags| {
        let properties = ur_queue_properties_t { flags, ..Default::default() };
        let mut queue = null_mut();
        let context = fixture.context();
        let answer =
            ur_conformance::ur!(Queue.pfnCreate(context, fixture.device(), &raw const properties, &raw mut queue));
        assert!(queue.is_null(), "{flags:?} made a queue");
        answer
    };
    use ur_conformance::ffi::ur_result_t as Answer;
    let lowest = UR_QUEUE_FLAGS_MASK & UR_QUEUE_FLAGS_MASK.wrapping_neg();
    for bits in [lowest, 0x8000_0000, UR_QUEUE_FLAGS_MASK] {
        assert_eq!(create(Flags::from_bits_retain(bits)), Answer::ERROR_INVALID_ENUMERATION, "{bits:#x}");
    }
    let both = [Flags::PRIORITY_LOW | Flags::PRIORITY_HIGH, Flags::SUBMISSION_BATCHED | Flags::SUBMISSION_IMMEDIATE];
    for flags in both {
        assert_eq!(create(flags), Answer::ERROR_INVALID_QUEUE_PROPERTIES, "{flags:?}");
    }
    let property = ur_conformance::ffi::ur_device_info_t::QUEUE_ON_DEVICE_PROPERTIES;
    let on_device = query::get::<u32>(ask!(Device.pfnGetInfo(fixture.device(), property)));
    if on_device == 0 {
        let flags = Flags::ON_DEVICE | Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE;
        assert_eq!(create(flags), Answer::ERROR_INVALID_QUEUE_PROPERTIES, "{flags:?}");
    }
}

#[test]
fn urQueueCreate_refuses_a_device_outside_of_the_context_and_a_missing_output() {
    let fixture = Fixture::new();
    refused!(ERROR_INVALID_NULL_POINTER, Queue.pfnCreate(fixture.context(), fixture.device(), null(), null_mut()));
    let Some(&other) = fixture.devices.get(1) else {
        println!("skipped from here on: needs a second device");
        return;
    };
    let mut queue = null_mut();
    refused!(ERROR_INVALID_DEVICE, Queue.pfnCreate(fixture.context(), other, null(), &raw mut queue));
    assert!(queue.is_null());
}

#[test]
fn urQueueGetInfo_answers_every_property_by_the_rules() {
    let fixture = Fixture::new();
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE | Flags::PROFILING_ENABLE] {
        let queue = fixture.queue(flags);
        check_every_property!(ur_queue_info_t, &[], Queue.pfnGetInfo(queue.handle()));
        let device: *mut _ = query::get(ask!(Queue.pfnGetInfo(queue.handle(), info::DEVICE)));
        let context: *mut _ = query::get(ask!(Queue.pfnGetInfo(queue.handle(), info::CONTEXT)));
        assert_eq!((device, context), (fixture.device(), fixture.context()));
    }
}

#[test]
fn urQueueRetain_and_urQueueRelease_count() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let references = || query::get::<u32>(ask!(Queue.pfnGetInfo(queue.handle(), info::REFERENCE_COUNT)));
    assert_eq!(references(), 1);
    ok!(Queue.pfnRetain(queue.handle()));
    assert_eq!(references(), 2);
    ok!(Queue.pfnRelease(queue.handle()));
    assert_eq!(references(), 1);
}

#[test]
fn urQueueGetInfo_EMPTY_is_false_while_work_runs() {
    let fixture = Fixture::new();
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = fixture.queue(flags);
        let empty = || query::get::<u8>(ask!(Queue.pfnGetInfo(queue.handle(), info::EMPTY))) != 0;
        assert!(empty(), "a new queue");
        let mut gate = Gate::new(&fixture);
        gate.block(&queue);
        assert!(!empty(), "a running kernel");
        gate.open();
        queue.finish();
        assert!(empty(), "after the finish");
    }
}

#[test]
fn urQueueFinish_returns_after_everything_on_the_queue() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"iota");
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = fixture.queue(flags);
        let outputs: Vec<_> = (0..20).map(|_| fixture.memory(Kind::Host, 4096)).collect();
        for output in &outputs {
            Launch::new(&kernel, &[1024]).pointer(output.pointer()).value(1024u32).on(&queue);
        }
        queue.finish();
        for output in &outputs {
            assert!((0..1024).all(|index| output.load(index) == index as u32), "{flags:?}");
        }
    }
}

#[test]
fn urQueueFinish_of_a_finished_queue_makes_no_native_call() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 64);
    memory.write(&queue, &[1u8; 64]);
    queue.finish();
    let sim = needs_sim!(fixture);
    sim.expect_calls(&[], || queue.finish());
}

#[test]
fn urQueueFlush_changes_nothing_a_client_can_see() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 64);
    ok!(Queue.pfnFlush(queue.handle()));
    memory.write(&queue, &[7u8; 64]);
    ok!(Queue.pfnFlush(queue.handle()));
    assert_eq!(memory.read::<u8>(&queue, 64), [7; 64]);
}

#[test]
fn urQueueRelease_lets_work_in_flight_run_to_its_end() {
    let fixture = Fixture::new();
    let (queue, other) = (fixture.in_order(), fixture.in_order());
    let mut gate = Gate::new(&fixture);
    let event = gate.block_event(&queue);
    drop(queue);
    gate.open();
    event.wait();
    assert!(gate.has_passed());
    other.finish();
}

#[test]
fn urQueueCreate_takes_the_stream_of_a_queue_that_was_released() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    for flags in [Flags::empty(), Flags::PRIORITY_HIGH, Flags::SYNC_WITH_DEFAULT_STREAM] {
        drop(fixture.queue(flags));
        sim.expect_calls(&[], || drop(fixture.queue(flags)));
    }
}

#[test]
fn urQueueCreate_takes_no_stream_of_another_kind() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    drop(fixture.queue(Flags::empty()));
    for flags in [Flags::PRIORITY_HIGH, Flags::PRIORITY_LOW, Flags::SYNC_WITH_DEFAULT_STREAM] {
        let (queue, calls) = sim.calls_of(|| fixture.queue(flags));
        let made: u64 = calls.iter().filter(|(name, _)| name.contains("StreamCreate")).map(|(_, count)| count).sum();
        assert_eq!(made, 1, "{flags:?}: {calls:?}");
        drop(queue);
    }
}

#[test]
fn urQueueRelease_keeps_no_stream_that_has_work() {
    let fixture = Fixture::new();
    fixture.allow_late_releases();
    let queue = fixture.in_order();
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    drop(queue);
    let next = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 4);
    memory.write(&next, &[5u32]);
    assert_eq!(memory.read::<u32>(&next, 1), [5], "it does not come after the other queue's work");
    assert!(!gate.has_passed());
    gate.open();
}

/// HIP's streams are kept until their work is over, since their end waits for it.
#[test]
fn urQueueRelease_of_queues_with_work_leaves_no_streams_behind_once_it_is_over() {
    let test = "urQueueRelease_of_queues_with_work_leaves_no_streams_behind_once_it_is_over";
    child::in_time(test, &[] as &[(&str, &str)], || {
        // More than are kept for the next queues.
        const QUEUES: u64 = 60;
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        fixture.allow_late_releases();
        let mut gate = Gate::new(&fixture);
        for _ in 0..QUEUES {
            let queue = fixture.in_order();
            gate.block(&queue);
            drop(queue);
        }
        gate.open();
        let streams = || sim.objects().get("stream").copied().unwrap_or(0);
        while streams() > 45 {
            drop(fixture.in_order());
        }
    });
}

/// A queue's barriers are numbered; the numbers of the queue that had a stream before are nothing to the next one.
#[test]
fn urEnqueueEventsWaitWithBarrier_holds_on_streams_that_another_queue_has_left() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"empty");
    let launch = |queue: &Queue| Launch::new(&kernel, &[1]).event_on(queue);
    let barrier = |queue: &Queue| ok!(Enqueue.pfnEventsWaitWithBarrier(queue.handle(), 0, null(), null_mut()));
    let before = fixture.out_of_order();
    for _ in 0..5 {
        // On every stream of the queue.
        (0..20).for_each(|_| drop(launch(&before)));
        barrier(&before);
    }
    (0..20).for_each(|_| drop(launch(&before)));
    before.finish();
    drop(before);
    let queue = fixture.out_of_order();
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    barrier(&queue);
    let behind: Vec<_> = (0..20).map(|_| launch(&queue)).collect();
    for _ in 0..200 {
        std::thread::yield_now();
        for event in &behind {
            let status: u32 =
                query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS)));
            assert_ne!(status, 0, "it has overtaken the barrier");
        }
    }
    gate.open();
    queue.finish();
}

/// Of two waits one was put on the stream and nothing of the command counted when the other failed.
#[test]
fn urQueueRelease_keeps_no_stream_with_a_part_of_a_wait_list() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (one, other, memory) = (fixture.in_order(), fixture.in_order(), fixture.memory(Kind::Device, 4));
    let mut gate = Gate::new(&fixture);
    let (first, second) = (gate.block_event(&one), gate.block_event(&other));
    let queue = fixture.in_order();
    let kernel = fixture.basic(c"empty");
    sim.fail("cuStreamWaitEvent", 2, ur_conformance::sim::status::UNKNOWN);
    let answer = Launch::new(&kernel, &[1]).after(&[&first, &second]).enqueue(&queue, null_mut());
    sim.clear_faults();
    assert_ne!(answer, ur_conformance::ffi::ur_result_t::SUCCESS);
    drop(queue);
    let next = fixture.in_order();
    memory.write(&next, &[6u32]);
    assert!(!gate.has_passed(), "the next queue waits for what the first one's command was to wait for");
    gate.open();
    one.finish();
    other.finish();
}

/// The wait that a command put on the stream stays there though the command itself could not be put behind it.
#[test]
fn urQueueRelease_keeps_no_stream_with_a_failed_command_s_wait() {
    let test = "urQueueRelease_keeps_no_stream_with_a_failed_command_s_wait";
    child::with_native_pools(test, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let (blocked, memory) = (fixture.in_order(), fixture.memory(Kind::Device, 4));
        let mut gate = Gate::new(&fixture);
        let event = gate.block_event(&blocked);
        let queue = fixture.in_order();
        let (list, mut block) = ([event.handle()], null_mut());
        sim.fail("cuMemAllocFromPoolAsync", 1, ur_conformance::sim::status::UNKNOWN);
        let (q, out) = (queue.handle(), &raw mut block);
        let answer = ur_conformance::ur!(EnqueueExp.pfnUSMDeviceAllocExp(
            q,
            null_mut(),
            4096,
            null(),
            1,
            list.as_ptr(),
            out,
            null_mut()
        ));
        sim.clear_faults();
        assert_ne!(answer, ur_conformance::ffi::ur_result_t::SUCCESS);
        drop(queue);
        let next = fixture.in_order();
        memory.write(&next, &[6u32]);
        assert!(!gate.has_passed(), "the next queue waits for what the first one's command was to wait for");
        gate.open();
        blocked.finish();
    });
}

#[test]
fn urQueueRelease_keeps_no_stream_whose_native_handle_somebody_has() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let mut native = 0;
    ok!(Queue.pfnGetNativeHandle(queue.handle(), null_mut(), &raw mut native));
    let (_, calls) = sim.calls_of(|| drop(queue));
    assert_eq!(calls.iter().filter(|(name, _)| name.contains("StreamDestroy")).count(), 1, "{calls:?}");
}

#[test]
fn urQueueRelease_of_very_many_queues_keeps_few_streams() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queues: Vec<Queue> = (0..200).map(|_| fixture.in_order()).collect();
    drop(queues);
    let streams = sim.objects().get("stream").copied().unwrap_or(0);
    // 32, and the one that new streams are ordered behind.
    assert!(streams <= 33, "{streams} streams are kept");
}

#[test]
fn urQueueCreate_takes_a_kept_stream_of_its_kind_though_many_of_another_kind_were_kept_before() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let plain: Vec<_> = (0..60).map(|_| fixture.in_order()).collect();
    drop(plain);
    drop(fixture.queue(Flags::PRIORITY_HIGH));
    let (_, calls) = sim.calls_of(|| (0..10).for_each(|_| drop(fixture.queue(Flags::PRIORITY_HIGH))));
    assert!(!calls.contains_key("cuStreamCreateWithPriority"), "{calls:?}");
}
