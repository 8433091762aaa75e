//! Many threads on one queue, on queues of their own, and on shared objects; every result is checked.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::Barrier;

use ur_conformance::ffi::{CBool, ur_queue_flags_t as Flags, ur_result_t};
use ur_conformance::owned::event_of;
use ur_conformance::{Cells, Event, Fixture, Kernel, Kind, Launch, Memory, Queue, expect_success, ok, ur};

const THREADS: usize = 8;
const ROUNDS: usize = 40;
const WORDS: usize = 256;

/// Starts the threads together, each with its number.
fn on_threads(work: impl Fn(usize) + Sync) {
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            let (start, work) = (&start, &work);
            scope.spawn(move || {
                start.wait();
                work(number);
            });
        }
    });
}

fn allocate(queue: &Queue, bytes: usize, events: bool) -> (*mut c_void, Option<Event>) {
    let mut pointer = null_mut();
    let out = &raw mut pointer;
    let q = queue.handle();
    let call = |event| ur!(EnqueueExp.pfnUSMDeviceAllocExp(q, null_mut(), bytes, null(), 0, null(), out, event));
    let event = if events {
        Some(event_of(call))
    } else {
        expect_success(call(null_mut()), "urEnqueueUSMDeviceAllocExp");
        None
    };
    (pointer, event)
}

/// Allocates, runs a kernel, adds to its result, copies back and frees, all by events, so that it is right on any queue.
fn one_round(queue: &Queue, iota: &Kernel, add: &Kernel, out: &Memory<'_>, value: u32) {
    let (block, allocated) = allocate(queue, 4 * WORDS, true);
    let allocated = allocated.expect("asked for");
    let words = WORDS as u32;
    let filled = Launch::new(iota, &[WORDS]).pointer(block).value(words).after(&[&allocated]).event_on(queue);
    let added = Launch::new(add, &[WORDS]).pointer(block).value(value).value(words).after(&[&filled]).event_on(queue);
    let (list, q) = ([added.handle()], queue.handle());
    let copied = event_of(|event| {
        ur!(Enqueue.pfnUSMMemcpy(q, CBool::FALSE, out.pointer(), block, 4 * WORDS, 1, list.as_ptr(), event))
    });
    let list = [copied.handle()];
    let freed = event_of(|event| ur!(EnqueueExp.pfnUSMFreeExp(q, null_mut(), block, 1, list.as_ptr(), event)));
    copied.wait();
    for index in 0..WORDS {
        assert_eq!(out.load(index), index as u32 + value, "word {index}");
    }
    drop(freed);
}

fn many_rounds(flags: Flags, shared: bool) {
    let fixture = Fixture::new();
    let program = fixture.program("basic.ptx");
    let (iota, add) = (fixture.kernel(&program, c"iota"), fixture.kernel(&program, c"add_constant"));
    let queues: Vec<_> = (0..THREADS).map(|_| fixture.queue(flags)).collect();
    let outputs: Vec<_> = (0..THREADS).map(|_| fixture.memory(Kind::Host, 4 * WORDS)).collect();
    on_threads(|number| {
        let queue = &queues[if shared { 0 } else { number }];
        for round in 0..ROUNDS {
            one_round(queue, &iota, &add, &outputs[number], (number * 1000 + round) as u32);
        }
    });
    queues.iter().for_each(Queue::finish);
}

#[test]
fn eight_threads_on_in_order_queues_of_their_own() {
    many_rounds(Flags::empty(), false);
}

#[test]
fn eight_threads_on_one_in_order_queue() {
    many_rounds(Flags::empty(), true);
}

#[test]
fn eight_threads_on_out_of_order_queues_of_their_own() {
    many_rounds(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, false);
}

#[test]
fn eight_threads_on_one_out_of_order_queue() {
    many_rounds(Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE, true);
}

#[test]
fn eight_threads_on_one_profiling_queue() {
    many_rounds(Flags::PROFILING_ENABLE, true);
}

#[test]
fn eight_threads_share_one_event() {
    let fixture = Fixture::new();
    let queues: Vec<_> = (0..THREADS).map(|_| fixture.in_order()).collect();
    let seen: Vec<_> = (0..THREADS).map(|_| Cells::new(&fixture, 1)).collect();
    for _ in 0..10 {
        let mut gate = ur_conformance::Gate::new(&fixture);
        let first = fixture.in_order();
        let event = gate.block_event(&first);
        let source = gate.result().expose_provenance();
        seen.iter().for_each(|cell| cell.store(0, 0));
        on_threads(|number| {
            ok!(Event.pfnRetain(event.handle()));
            let (list, q) = ([event.handle()], queues[number].handle());
            let (to, from) = (seen[number].at(0), core::ptr::with_exposed_provenance(source));
            ok!(Enqueue.pfnUSMMemcpy(q, CBool::FALSE, to, from, 4, 1, list.as_ptr(), null_mut()));
            ok!(Event.pfnRelease(event.handle()));
        });
        gate.open();
        on_threads(|number| {
            event.wait();
            queues[number].finish();
        });
        assert!(seen.iter().all(|cell| cell.load(0) == ur_conformance::Gate::OPEN));
    }
}

#[test]
fn eight_threads_make_and_release_objects() {
    let fixture = Fixture::new();
    let image = ur_conformance::Environment::get().image("saxpy.ptx");
    on_threads(|number| {
        for _ in 0..5 {
            let flags = if number % 2 == 0 { Flags::empty() } else { Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE };
            let queue = fixture.queue(flags);
            let memory = fixture.memory(Kind::ALL[number % 3], 1000);
            let program = fixture.unbuilt(&image).expect("PTX is an image");
            let answer = ur!(Program.pfnBuild(fixture.context(), program.handle(), null()));
            assert_eq!(answer, ur_result_t::SUCCESS);
            let kernel = fixture.kernel(&program, c"saxpy");
            let other = fixture.context_of(std::slice::from_ref(&fixture.device()));
            memory.write(&queue, &[number as u8; 1000]);
            assert_eq!(memory.read::<u8>(&queue, 1000), [number as u8; 1000]);
            drop((kernel, program, memory, other));
            queue.finish();
        }
    });
}

#[test]
fn a_program_is_built_once_however_many_threads_ask() {
    let fixture = Fixture::new();
    let program = fixture.unbuilt(&ur_conformance::Environment::get().image("saxpy.ptx")).expect("PTX is an image");
    let built = std::sync::atomic::AtomicUsize::new(0);
    on_threads(|_| match ur!(Program.pfnBuild(fixture.context(), program.handle(), null())) {
        ur_result_t::SUCCESS => {
            built.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        other => assert_eq!(other, ur_result_t::ERROR_INVALID_OPERATION),
    });
    assert_eq!(built.into_inner(), 1);
}

/// One thread allocates and fills, the other uses and frees, by events alone.
#[test]
fn memory_travels_between_threads_and_queues() {
    let fixture = Fixture::new();
    let program = fixture.program("basic.ptx");
    let iota = fixture.kernel(&program, c"iota");
    let (first, second) = (fixture.in_order(), fixture.in_order());
    let out = fixture.memory(Kind::Host, 4 * WORDS);
    let (send, receive) = std::sync::mpsc::sync_channel::<(usize, Event)>(4);
    std::thread::scope(|scope| {
        let (first, iota) = (&first, &iota);
        scope.spawn(move || {
            for _ in 0..ROUNDS {
                let (block, _) = allocate(first, 4 * WORDS, false);
                let filled = Launch::new(iota, &[WORDS]).pointer(block).value(WORDS as u32).event_on(first);
                send.send((block.expose_provenance(), filled)).expect("the other thread lives");
            }
        });
        for (address, filled) in receive {
            let block = core::ptr::with_exposed_provenance_mut::<c_void>(address);
            let (list, q) = ([filled.handle()], second.handle());
            (0..WORDS).for_each(|index| out.store(index, 0));
            ok!(Enqueue.pfnUSMMemcpy(q, CBool::TRUE, out.pointer(), block, 4 * WORDS, 1, list.as_ptr(), null_mut()));
            assert!((0..WORDS).all(|index| out.load(index) == index as u32));
            ok!(EnqueueExp.pfnUSMFreeExp(q, null_mut(), block, 0, null(), null_mut()));
        }
    });
    second.finish();
    first.finish();
}
