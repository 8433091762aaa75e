//! `urQueueBegin*CaptureExp`, `urQueueEndGraphCaptureExp`, `urEnqueueGraphExp`: what is captured, and what launches of it do.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    ur_command_t, ur_event_info_t, ur_mem_flags_t, ur_queue_flags_t as Flags, ur_queue_handle_t, ur_result_t as Code,
    ur_usm_advice_flags_t, ur_usm_migration_flags_t,
};
use ur_conformance::graph::{begin, end, is_capturing};
use ur_conformance::memory::pattern;
use ur_conformance::owned::event_of;
use ur_conformance::{
    Buffer, Event, Fixture, Gate, Graph, Kind, Launch, Memory, Queue, ask, needs_capture, needs_sim, ok, query, ur,
};

const COUNT: usize = 64;

fn zero(queue: &Queue, memory: &Memory<'_>) {
    memory.write(queue, &[0u32; COUNT]);
}

#[test]
fn a_capture_records_what_the_queue_is_given_and_runs_nothing_of_it() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    for flags in [Flags::empty(), Flags::PROFILING_ENABLE] {
        let (queue, other) = (fixture.queue(flags), fixture.in_order());
        let kernel = fixture.basic(c"add_constant");
        let memory = fixture.memory(Kind::Device, COUNT * 4);
        zero(&queue, &memory);
        assert!(!is_capturing(&queue));
        begin(&queue);
        assert!(is_capturing(&queue) && !is_capturing(&other));
        let launch =
            |value: u32| Launch::new(&kernel, &[COUNT]).pointer(memory.pointer()).value(value).value(COUNT as u32);
        launch(2).on(&queue);
        launch(3).on(&queue);
        let graph = Graph::take(end(&queue));
        assert!(!is_capturing(&queue));
        assert_eq!(memory.read::<u32>(&queue, COUNT), vec![0; COUNT], "a capture runs nothing");
        let executable = graph.instantiate();
        for round in 1..=3 {
            executable.on(&queue);
            assert_eq!(memory.read::<u32>(&queue, COUNT), vec![5 * round; COUNT], "launch {round}");
        }
        executable.on(&other);
        other.finish();
        assert_eq!(memory.read::<u32>(&queue, COUNT), vec![20; COUNT], "a launch on another queue");
    }
}

/// A fill of several native calls, none of which the stream was given.
#[test]
fn a_fill_in_a_capture_leaves_the_queue_as_idle_as_it_was() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let sim = needs_sim!(fixture);
    let (queue, pattern) = (fixture.in_order(), *b"0123456789abcdef");
    let memory = fixture.memory(Kind::Device, 64);
    memory.write(&queue, &[0u8; 64]);
    queue.finish();
    let fill = || {
        let (q, from) = (queue.handle(), pattern.as_ptr().cast());
        ok!(Enqueue.pfnUSMFill(q, memory.pointer(), 16, from, 64, 0, null(), null_mut()));
    };
    let graph = Graph::captured(&queue, fill);
    sim.expect_calls(&[], || queue.finish());
    graph.instantiate().on(&queue);
    assert_eq!(memory.read::<u8>(&queue, 64), pattern.repeat(4));
}

#[test]
fn commands_of_a_capture_keep_the_queue_s_order() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let (iota, add) = (fixture.basic(c"iota"), fixture.basic(c"add_constant"));
    let (first, second) = (fixture.memory(Kind::Device, COUNT * 4), fixture.memory(Kind::Device, COUNT * 4));
    let mut host = vec![0u32; COUNT];
    let target = host.as_mut_ptr();
    let graph = Graph::captured(&queue, || {
        let unit = 7u32;
        ok!(Enqueue.pfnUSMFill(
            queue.handle(),
            second.pointer(),
            4,
            (&raw const unit).cast(),
            COUNT * 4,
            0,
            null(),
            null_mut()
        ));
        Launch::new(&iota, &[COUNT]).pointer(first.pointer()).value(COUNT as u32).on(&queue);
        ok!(Enqueue.pfnUSMMemcpy(
            queue.handle(),
            false.into(),
            second.pointer(),
            first.pointer(),
            COUNT * 2,
            0,
            null(),
            null_mut()
        ));
        Launch::new(&add, &[COUNT]).pointer(second.pointer()).value(1u32).value(COUNT as u32).on(&queue);
        ok!(Enqueue.pfnUSMMemcpy(
            queue.handle(),
            false.into(),
            target.cast(),
            second.pointer(),
            COUNT * 4,
            0,
            null(),
            null_mut()
        ));
    });
    let executable = graph.instantiate();
    for _ in 0..2 {
        executable.on(&queue);
        queue.finish();
        // SAFETY: the vector's own elements, which no launch uses now.
        let found: Vec<u32> = (0..COUNT).map(|at| unsafe { target.add(at).read_volatile() }).collect();
        let expected: Vec<u32> = (0..COUNT as u32).map(|at| if at < COUNT as u32 / 2 { at + 1 } else { 8 }).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn copies_of_rows_and_hints_are_captured() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let (from, to) = (fixture.memory(Kind::Device, 64 * 16), fixture.memory(Kind::Shared, 64 * 16));
    let bytes = pattern(3, 64 * 16);
    from.write(&queue, &bytes);
    to.write(&queue, &[0u8; 64 * 16]);
    queue.finish();
    let graph = Graph::captured(&queue, || {
        let migration = ur_usm_migration_flags_t::HOST_TO_DEVICE;
        ok!(Enqueue.pfnUSMPrefetch(queue.handle(), to.pointer(), 64 * 16, migration, 0, null(), null_mut()));
        let advice = ur_usm_advice_flags_t::SET_READ_MOSTLY;
        ok!(Enqueue.pfnUSMAdvise(queue.handle(), to.pointer(), 64 * 16, advice, null_mut()));
        ok!(Enqueue.pfnUSMMemcpy2D(
            queue.handle(),
            false.into(),
            to.pointer(),
            64,
            from.pointer(),
            64,
            20,
            16,
            0,
            null(),
            null_mut()
        ));
    });
    graph.instantiate().on(&queue);
    let found = to.read::<u8>(&queue, 64 * 16);
    for (row, (found, bytes)) in found.chunks(64).zip(bytes.chunks(64)).enumerate() {
        assert_eq!((&found[..20], &found[20..]), (&bytes[..20], &[0u8; 44][..]), "row {row}");
    }
}

#[test]
fn urEnqueueGraphExp_comes_after_its_wait_list_and_its_event_after_the_graph() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, Flags::PROFILING_ENABLE] {
        let (recorder, queue, other) = (fixture.in_order(), fixture.queue(flags), fixture.in_order());
        let kernel = fixture.basic(c"add_constant");
        let memory = fixture.memory(Kind::Shared, COUNT * 4);
        memory.write(&recorder, &[0u32; COUNT]);
        let graph = Graph::captured(&recorder, || {
            Launch::new(&kernel, &[COUNT]).pointer(memory.pointer()).value(1u32).value(COUNT as u32).on(&recorder);
        });
        let executable = graph.instantiate();
        let mut gate = Gate::new(&fixture);
        let closed = gate.block_event(&other);
        let done = event_of(|event| executable.enqueue(&queue, &[closed.handle()], event));
        let kind = ask!(Event.pfnGetInfo(done.handle(), ur_event_info_t::COMMAND_TYPE));
        assert_eq!(ur_command_t(query::get(kind)), ur_command_t::ENQUEUE_GRAPH_EXP);
        gate.open();
        done.wait();
        assert_eq!(memory.load(COUNT - 1), 1, "{flags:?}");
        queue.finish();
    }
}

#[test]
fn an_event_from_before_a_capture_tells_of_its_own_command_during_it() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let kernel = fixture.basic(c"empty");
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    let before: Vec<Event> = (0..3).map(|_| Launch::new(&kernel, &[1]).event_on(&queue)).collect();
    let last = event_of(|event| ur!(Enqueue.pfnEventsWait(queue.handle(), 0, null(), event)));
    let graph = Graph::captured(&queue, || {
        Launch::new(&kernel, &[1]).on(&queue);
        gate.open();
        last.wait();
        before.iter().for_each(Event::wait);
    });
    graph.instantiate().on(&queue);
    queue.finish();
}

#[test]
fn after_a_capture_the_queue_is_as_before() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let kernel = fixture.basic(c"add_constant");
    let memory = fixture.memory(Kind::Device, COUNT * 4);
    zero(&queue, &memory);
    let launch = || Launch::new(&kernel, &[COUNT]).pointer(memory.pointer()).value(1u32).value(COUNT as u32);
    for round in 0..3u32 {
        let held = launch().event_on(&queue);
        drop(Graph::captured(&queue, || {
            let events: Vec<Event> = (0..10).map(|_| launch().event_on(&queue)).collect();
            launch().after(&events.iter().collect::<Vec<_>>()).on(&queue);
        }));
        let behind = launch().event_on(&queue);
        behind.wait();
        held.wait();
        assert_eq!(memory.read::<u32>(&queue, COUNT), vec![2 * (round + 1); COUNT]);
    }
}

#[test]
fn a_capture_ends_on_another_thread_than_it_began() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let kernel = fixture.basic(c"empty");
    std::thread::scope(|scope| {
        scope.spawn(|| begin(&queue)).join().expect("a thread that begins");
        scope.spawn(|| Launch::new(&kernel, &[1]).on(&queue)).join().expect("a thread that launches");
    });
    let graph = Graph::take(end(&queue));
    assert!(!graph.is_empty());
}

#[test]
fn urQueueBeginCaptureIntoGraphExp_adds_behind_what_the_graph_has() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let kernel = fixture.basic(c"add_constant");
    let double = fixture.basic(c"iota");
    let memory = fixture.memory(Kind::Device, COUNT * 4);
    let graph = Graph::empty(&fixture);
    assert!(graph.is_empty());
    for round in 0..3u32 {
        ok!(QueueExp.pfnBeginCaptureIntoGraphExp(queue.handle(), graph.handle()));
        if round == 0 {
            Launch::new(&double, &[COUNT]).pointer(memory.pointer()).value(COUNT as u32).on(&queue);
        } else {
            Launch::new(&kernel, &[COUNT]).pointer(memory.pointer()).value(round).value(COUNT as u32).on(&queue);
        }
        assert_eq!(end(&queue), graph.handle(), "the graph that was given");
    }
    graph.instantiate().on(&queue);
    let expected: Vec<u32> = (0..COUNT as u32).map(|at| at + 3).collect();
    assert_eq!(memory.read::<u32>(&queue, COUNT), expected);
}

#[test]
fn a_kernel_that_was_captured_may_be_released() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, COUNT * 4);
    let executable = {
        let program = fixture.program("basic.ptx");
        let kernel = fixture.kernel(&program, c"iota");
        let graph = Graph::captured(&queue, || {
            Launch::new(&kernel, &[COUNT]).pointer(memory.pointer()).value(COUNT as u32).on(&queue);
        });
        graph.instantiate()
    };
    executable.on(&queue);
    assert_eq!(memory.read::<u32>(&queue, COUNT), (0..COUNT as u32).collect::<Vec<_>>());
}

#[test]
fn an_executable_graph_may_be_destroyed_while_it_runs() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let kernel = fixture.basic(c"add_constant");
    let memory = fixture.memory(Kind::Device, COUNT * 4);
    zero(&queue, &memory);
    let mut gate = Gate::new(&fixture);
    let graph = Graph::captured(&queue, || {
        Launch::new(&kernel, &[COUNT]).pointer(memory.pointer()).value(9u32).value(COUNT as u32).on(&queue);
    });
    let executable = graph.instantiate();
    gate.block(&queue);
    executable.on(&queue);
    drop(graph);
    drop(executable);
    gate.open();
    assert_eq!(memory.read::<u32>(&queue, COUNT), vec![9; COUNT]);
}

#[test]
fn a_launch_of_a_graph_is_one_native_call() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let sim = ur_conformance::needs_sim!(fixture);
    let queue = fixture.in_order();
    let kernel = fixture.basic(c"empty");
    let graph = Graph::captured(&queue, || (0..5).for_each(|_| Launch::new(&kernel, &[1]).on(&queue)));
    let executable = graph.instantiate();
    executable.on(&queue);
    sim.expect_calls(&[("cuGraphLaunch", 2)], || {
        executable.on(&queue);
        drop(executable.event_on(&queue));
    });
    queue.finish();
}

/// What a native command fills, and on which queue.
struct Filled {
    memory: *mut c_void,
    answer: Code,
}

extern "C" fn fill(queue: ur_queue_handle_t, data: *mut c_void) {
    // SAFETY: the test's own, alive during the enqueue, which calls this.
    let filled = unsafe { &mut *data.cast::<Filled>() };
    let value = 11u32;
    let from = (&raw const value).cast();
    filled.answer = ur!(Enqueue.pfnUSMFill(queue, filled.memory, 4, from, COUNT * 4, 0, null(), null_mut()));
}

#[test]
fn what_a_native_command_puts_on_the_queue_is_captured() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    for flags in [Flags::empty(), Flags::PROFILING_ENABLE] {
        let queue = fixture.queue(flags);
        let kernel = fixture.basic(c"add_constant");
        let memory = fixture.memory(Kind::Device, COUNT * 4);
        zero(&queue, &memory);
        let mut filled = Filled { memory: memory.pointer(), answer: Code::ERROR_UNKNOWN };
        let graph = Graph::captured(&queue, || {
            let data = (&raw mut filled).cast();
            let event = event_of(|event| {
                ur!(EnqueueExp.pfnNativeCommandExp(
                    queue.handle(),
                    Some(fill),
                    data,
                    0,
                    null(),
                    null(),
                    0,
                    null(),
                    event
                ))
            });
            let add = Launch::new(&kernel, &[COUNT]).pointer(memory.pointer()).value(1u32).value(COUNT as u32);
            add.after(&[&event]).on(&queue);
        });
        assert_eq!(filled.answer, Code::SUCCESS);
        assert_eq!(memory.read::<u32>(&queue, COUNT), vec![0; COUNT]);
        graph.instantiate().on(&queue);
        assert_eq!(memory.read::<u32>(&queue, COUNT), vec![12; COUNT]);
    }
}

#[test]
fn commands_on_buffers_of_one_device_are_captured_and_keep_what_they_use() {
    let fixture = Fixture::new();
    needs_capture!(fixture);
    let queue = fixture.in_order();
    let mut host = vec![0u32; COUNT];
    let target = host.as_mut_ptr();
    let executable = {
        let program = fixture.program("basic.ptx");
        let iota = fixture.kernel(&program, c"iota");
        let (one, two) = (Buffer::new(&fixture, COUNT * 4), Buffer::new(&fixture, COUNT * 4));
        let graph = Graph::captured(&queue, || {
            let access = ur_mem_flags_t::READ_WRITE;
            Launch::new(&iota, &[COUNT]).buffer(&one, access).value(COUNT as u32).on(&queue);
            let (q, one, two) = (queue.handle(), one.handle(), two.handle());
            let value = 3u32;
            let from = (&raw const value).cast();
            ok!(Enqueue.pfnMemBufferCopy(q, one, two, 0, 0, COUNT * 4, 0, null(), null_mut()));
            ok!(Enqueue.pfnMemBufferFill(q, two, from, 4, 0, 4, 0, null(), null_mut()));
            ok!(Enqueue.pfnMemBufferRead(q, two, false.into(), 0, COUNT * 4, target.cast(), 0, null(), null_mut()));
        });
        graph.instantiate()
    };
    for _ in 0..2 {
        executable.on(&queue);
        queue.finish();
        // SAFETY: the vector's own elements, which no launch uses now.
        let found: Vec<u32> = (0..COUNT).map(|at| unsafe { target.add(at).read_volatile() }).collect();
        let expected: Vec<u32> = (0..COUNT as u32).map(|at| if at == 0 { 3 } else { at }).collect();
        assert_eq!(found, expected);
        // SAFETY: as above.
        (0..COUNT).for_each(|at| unsafe { target.add(at).write_volatile(0) });
    }
}
