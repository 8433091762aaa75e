//! `urEventGetProfilingInfo`: when the times are there, and that they go forward.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    CBool, ur_event_info_t, ur_event_status_t as Status, ur_profiling_info_t as info, ur_queue_flags_t as Flags,
    ur_result_t,
};
use ur_conformance::owned::event_of;
use ur_conformance::sim::status;
use ur_conformance::{Event, Fixture, Gate, Kind, Launch, ask, needs_sim, ok, query, refused, ur};

const ALL: [info; 5] =
    [info::COMMAND_QUEUED, info::COMMAND_SUBMIT, info::COMMAND_START, info::COMMAND_END, info::COMMAND_COMPLETE];

fn time(event: &Event, property: info) -> u64 {
    query::get(ask!(Event.pfnGetProfilingInfo(event.handle(), property)))
}

fn times(event: &Event) -> [u64; 5] {
    ALL.map(|property| time(event, property))
}

const PROFILED: [Flags; 2] =
    [Flags::PROFILING_ENABLE, Flags::PROFILING_ENABLE.union(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE)];

#[test]
fn urEventGetProfilingInfo_goes_forward_for_every_command() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"empty");
    let memory = fixture.memory(Kind::Device, 64);
    let (to, from) = (memory.pointer(), memory.at(32));
    for flags in PROFILED {
        let queue = fixture.queue(flags);
        let q = queue.handle();
        let mut block = null_mut();
        let events = [
            ("launch", Launch::new(&kernel, &[1]).event_on(&queue)),
            ("wait", event_of(|event| ur!(Enqueue.pfnEventsWait(q, 0, null(), event)))),
            ("barrier", event_of(|event| ur!(Enqueue.pfnEventsWaitWithBarrier(q, 0, null(), event)))),
            ("copy", event_of(|event| ur!(Enqueue.pfnUSMMemcpy(q, CBool::FALSE, to, from, 32, 0, null(), event)))),
            (
                "fill",
                event_of(|event| ur!(Enqueue.pfnUSMFill(q, to, 1, (&raw const *b"x").cast(), 32, 0, null(), event))),
            ),
            (
                "alloc",
                event_of(|event| {
                    let out = &raw mut block;
                    ur!(EnqueueExp.pfnUSMDeviceAllocExp(q, null_mut(), 64, null(), 0, null(), out, event))
                }),
            ),
        ];
        queue.finish();
        ok!(EnqueueExp.pfnUSMFreeExp(q, null_mut(), block, 0, null(), null_mut()));
        for (name, event) in &events {
            let times = times(event);
            assert!(times.is_sorted(), "{name} on {flags:?}: {times:?}");
            assert!(times[0] > 0, "{name} on {flags:?}: {times:?}");
        }
        queue.finish();
    }
}

#[test]
fn urEventGetProfilingInfo_of_one_command_after_another_does_not_overlap() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"spin");
    let out = fixture.memory(Kind::Device, 4);
    let queue = fixture.queue(Flags::PROFILING_ENABLE);
    let launch = Launch::new(&kernel, &[1]).pointer(out.pointer()).value(500u32).value(1u32);
    let events: Vec<_> = (0..5).map(|_| launch.event_on(&queue)).collect();
    queue.finish();
    for pair in events.windows(2) {
        let (before, after) = (times(&pair[0]), times(&pair[1]));
        assert!(before[0] <= after[0], "queued in order");
        assert!(before[3] <= after[2], "{before:?} ends before {after:?} starts");
    }
}

/// A queue fills events again that were released.
#[test]
fn urEventGetProfilingInfo_of_an_event_that_is_held_stays_while_others_come_and_go() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"empty");
    for flags in PROFILED {
        let queue = fixture.queue(flags);
        let launch = || {
            let event = Launch::new(&kernel, &[1]).event_on(&queue);
            event.wait();
            event
        };
        let (first, held) = (launch(), launch());
        let (known, mut before) = (times(&held), times(&held));
        drop(first);
        for _ in 0..12 {
            let (one, two) = (launch(), launch());
            for event in [&one, &two] {
                assert_ne!(event.handle(), held.handle());
                let times = times(event);
                assert!(times.is_sorted() && before[3] <= times[2], "{times:?} after {before:?} on {flags:?}");
                before = times;
            }
            drop((two, one));
            assert_eq!(times(&held), known, "{flags:?}");
        }
        queue.finish();
    }
}

#[test]
fn urEventGetProfilingInfo_gives_the_same_times_again() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"empty");
    let queue = fixture.queue(Flags::PROFILING_ENABLE);
    let event = Launch::new(&kernel, &[1]).event_on(&queue);
    event.wait();
    let first = times(&event);
    Launch::new(&kernel, &[1]).on(&queue);
    queue.finish();
    assert_eq!(times(&event), first);
}

#[test]
fn urEventGetProfilingInfo_has_no_start_and_no_end_before_the_command_has() {
    let fixture = Fixture::new();
    for flags in PROFILED {
        let queue = fixture.queue(flags);
        let mut gate = Gate::new(&fixture);
        let event = gate.block_event(&queue);
        for property in [info::COMMAND_END, info::COMMAND_COMPLETE] {
            let mut value = 7u64;
            let (out, handle) = ((&raw mut value).cast(), event.handle());
            refused!(
                ERROR_PROFILING_INFO_NOT_AVAILABLE,
                Event.pfnGetProfilingInfo(handle, property, 8, out, null_mut())
            );
            assert_eq!(value, 7);
            refused!(
                ERROR_PROFILING_INFO_NOT_AVAILABLE,
                Event.pfnGetProfilingInfo(handle, property, 0, null_mut(), null_mut())
            );
        }
        gate.open();
        event.wait();
        assert!(times(&event).is_sorted());
    }
}

#[test]
fn urEventGetProfilingInfo_is_not_available_on_a_queue_without_profiling() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"empty");
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = fixture.queue(flags);
        let event = Launch::new(&kernel, &[1]).event_on(&queue);
        event.wait();
        for property in ALL {
            let mut value = 7u64;
            let (out, handle) = ((&raw mut value).cast(), event.handle());
            refused!(
                ERROR_PROFILING_INFO_NOT_AVAILABLE,
                Event.pfnGetProfilingInfo(handle, property, 8, out, null_mut())
            );
            assert_eq!(value, 7);
            refused!(
                ERROR_PROFILING_INFO_NOT_AVAILABLE,
                Event.pfnGetProfilingInfo(handle, property, 0, null_mut(), null_mut())
            );
        }
    }
}

/// The specification has its own code for a buffer of size 0 here.
#[test]
fn urEventGetProfilingInfo_answers_every_property_by_the_rules() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"empty");
    let queue = fixture.queue(Flags::PROFILING_ENABLE);
    let event = Launch::new(&kernel, &[1]).event_on(&queue);
    event.wait();
    for property in ALL {
        let name = format!("{property:?}");
        let mut rules = query::Rules::new(&name, property.value_type());
        rules.zero_size = ur_result_t::ERROR_INVALID_VALUE;
        let value = query::check(rules, ask!(Event.pfnGetProfilingInfo(event.handle(), property)));
        assert!(value.is_some(), "{name}");
    }
    let mut size = 0;
    refused!(
        ERROR_INVALID_ENUMERATION | ERROR_UNSUPPORTED_ENUMERATION,
        Event.pfnGetProfilingInfo(event.handle(), info(0x7777), 0, null_mut(), &raw mut size)
    );
}

#[test]
fn a_profiled_event_outlives_its_queue() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"empty");
    let queue = fixture.queue(Flags::PROFILING_ENABLE);
    let event = Launch::new(&kernel, &[1]).event_on(&queue);
    drop(queue);
    event.wait();
    assert!(times(&event).is_sorted());
}

#[test]
fn urEventGetInfo_says_that_a_timed_command_runs_once_it_has_started() {
    let fixture = Fixture::new();
    for flags in PROFILED {
        let queue = fixture.queue(flags);
        let mut gate = Gate::new(&fixture);
        let status = |event: &Event| {
            Status(query::get(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_EXECUTION_STATUS))))
        };
        let running = gate.block_event(&queue);
        let list = [running.handle()];
        let behind = event_of(|event| ur!(Enqueue.pfnEventsWait(queue.handle(), 1, list.as_ptr(), event)));
        // The gate stays closed for so long only, and the test fails then.
        while status(&running) == Status::SUBMITTED {
            std::thread::yield_now();
        }
        assert_eq!((status(&running), status(&behind)), (Status::RUNNING, Status::SUBMITTED));
        gate.open();
        running.wait();
        behind.wait();
        assert_eq!([&running, &behind].map(status), [Status::COMPLETE; 2]);
        queue.finish();
    }
}

/// An event that was released is filled again, with the times of its new command alone.
#[test]
fn urEventGetProfilingInfo_of_an_event_that_is_filled_again_tells_when_its_own_command_was_queued() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"empty");
    for flags in PROFILED {
        let queue = fixture.queue(flags);
        let launch = || {
            let event = Launch::new(&kernel, &[1]).event_on(&queue);
            event.wait();
            (event.handle(), times(&event))
        };
        let (handle, mut before) = launch();
        for _ in 0..8 {
            let (again, times) = launch();
            // A queue out of order fills those of the stream that it takes.
            let is_free = !flags.contains(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE);
            assert!(again == handle || !is_free, "nobody has the event any more");
            // Both are the host's.
            assert!(before[1] <= times[0], "{times:?} was submitted after {before:?} on {flags:?}");
            before = times;
        }
        queue.finish();
    }
}

#[test]
fn urEventGetProfilingInfo_of_an_event_that_is_filled_again_starts_after_what_came_before() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"empty");
    let queue = fixture.queue(Flags::PROFILING_ENABLE);
    for _ in 0..4 {
        let launch = || Launch::new(&kernel, &[1]).event_on(&queue);
        let both = [launch(), launch()];
        both.iter().for_each(Event::wait);
        drop(both);
        let mut gate = Gate::new(&fixture);
        let (blocked, behind) = (gate.block_event(&queue), launch());
        gate.open();
        behind.wait();
        let (before, after) = (times(&blocked), times(&behind));
        assert!(before[3] <= after[2], "{after:?} was behind {before:?}");
        queue.finish();
    }
}

/// The command is on the queue whatever becomes of its marks.
#[test]
fn a_timed_command_whose_end_cannot_be_marked_is_waited_for_alone_and_has_no_times() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    let queue = fixture.queue(Flags::PROFILING_ENABLE);
    let launch = || Launch::new(&kernel, &[1]).event_on(&queue);
    // One is filled again, and one is new.
    for round in 0..2 {
        if round == 1 {
            launch().wait();
        }
        sim.fail("cuEventRecord", 2, status::UNKNOWN);
        let event = launch();
        sim.clear_faults();
        let mut gate = Gate::new(&fixture);
        gate.block(&queue);
        event.wait();
        assert!(!gate.has_passed(), "it waits for what comes after it");
        for property in [info::COMMAND_START, info::COMMAND_END] {
            let mut value = 7u64;
            let (out, handle) = ((&raw mut value).cast(), event.handle());
            refused!(
                ERROR_PROFILING_INFO_NOT_AVAILABLE,
                Event.pfnGetProfilingInfo(handle, property, 8, out, null_mut())
            );
            assert_eq!(value, 7);
        }
        gate.open();
        drop(event);
        let (before, after) = (launch(), launch());
        queue.finish();
        assert!(times(&before).is_sorted() && times(&before)[3] <= times(&after)[2]);
    }
}
