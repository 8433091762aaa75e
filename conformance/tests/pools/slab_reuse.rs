//! Slabs of pools that end beside busy queues: later pools get them, so that a program whose context is never quiet holds no more
//! than it uses.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use ur_conformance::pool::{self, Plan, Take, give};
use ur_conformance::{Event, Fixture, Gate, Kind, Launch, Queue, child, needs_sim};

use crate::slabs::{native_memory, on_slabs};

/// A pool of which a kernel uses a block; behind `waits` if that is given.
fn use_pool(fixture: &Fixture, kind: Kind, queue: &Queue, behind: Option<&Event>) {
    let (pool, fill) = (Plan::new().of(fixture), fixture.basic(c"fill"));
    let block = Take::new(4096).kind(kind).from(&pool).on(queue);
    let waits: Vec<_> = behind.into_iter().collect();
    Launch::new(&fill, &[1024]).pointer(block).value(7u32).value(1024u32).after(&waits).on(queue);
    give(queue, block);
    if behind.is_none() {
        queue.finish();
    }
}

/// Nobody has to wait for the other queue to know that the memory is free.
#[test]
fn urUSMPoolRelease_beside_another_queue_s_work_leaves_memory_to_the_next_pool_once_its_own_queue_is_through() {
    let test =
        "urUSMPoolRelease_beside_another_queue_s_work_leaves_memory_to_the_next_pool_once_its_own_queue_is_through";
    on_slabs(test, || {
        let fixture = Fixture::new();
        let _sim = needs_sim!(fixture);
        let (busy, queue) = (fixture.in_order(), fixture.in_order());
        let mut gate = Gate::new(&fixture);
        gate.block(&busy);
        for kind in Kind::ALL {
            let before = native_memory(&fixture);
            (0..50).for_each(|_| use_pool(&fixture, kind, &queue, None));
            let slabs = native_memory(&fixture) - before;
            assert!(slabs <= 2, "{slabs} slabs are left of 50 pools of {kind:?} memory, one at a time");
        }
        gate.open();
        busy.finish();
    });
}

/// The pool ends before its commands run, and at each moment some queue of the context has work.
#[test]
fn urUSMPoolRelease_before_its_commands_run_leaves_memory_to_later_pools_though_the_context_is_never_quiet() {
    let test =
        "urUSMPoolRelease_before_its_commands_run_leaves_memory_to_later_pools_though_the_context_is_never_quiet";
    on_slabs(test, || {
        let fixture = Fixture::new();
        let _sim = needs_sim!(fixture);
        let (busy, queue) = ([fixture.in_order(), fixture.in_order()], fixture.in_order());
        for kind in Kind::ALL {
            let mut last: Option<Gate<'_>> = None;
            // Gates have memory too.
            let mut gates: Vec<_> = (0..24).map(|_| Gate::new(&fixture)).collect();
            let before = native_memory(&fixture);
            for round in 0..24 {
                let next = gates.pop().expect("a gate");
                let passed = next.block_event(&busy[round % 2]);
                if let Some(mut gate) = last.replace(next) {
                    gate.open();
                    busy[(round + 1) % 2].finish();
                    queue.finish();
                }
                use_pool(&fixture, kind, &queue, Some(&passed));
            }
            let slabs = native_memory(&fixture) - before;
            assert!(slabs <= 4, "{slabs} slabs are left of 24 pools of {kind:?} memory, one at a time");
            last.into_iter().for_each(|mut gate| gate.open());
            busy.iter().chain([&queue]).for_each(Queue::finish);
        }
    });
}

/// What a kernel is still to write is nobody else's before it has, though its queue has ended and all others get on.
#[test]
fn urUSMPoolRelease_before_its_commands_run_keeps_their_memory_from_other_pools_until_they_have_run() {
    let test = "urUSMPoolRelease_before_its_commands_run_keeps_their_memory_from_other_pools_until_they_have_run";
    // Without plain heaps, nobody else asks for the ends of queues.
    child::in_process(test, &[pool::NO_NATIVE_POOLS, ("UR_USM_POOL", "0")], || {
        let fixture = Fixture::new();
        let (fill, other) = (fixture.basic(c"fill"), fixture.in_order());
        let busy = [fixture.in_order(), fixture.in_order()];
        for (kind, is_released) in Kind::ALL.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
            // Gates go at the end: the free of their memory waits for kernels.
            let (mut gate, mut gates) = (Gate::new(&fixture), [(); 5].map(|()| Gate::new(&fixture)));
            let (pool, queue) = (Plan::new().of(&fixture), fixture.in_order());
            gate.block(&queue);
            let used = Take::new(4096).kind(kind).from(&pool).on(&queue);
            Launch::new(&fill, &[1024]).pointer(used).value(7u32).value(1024u32).on(&queue);
            give(&queue, used);
            gates[0].block(&busy[0]);
            let queue = (!is_released).then_some(queue);
            drop(pool);
            // They live on, so that each wants a slab.
            let mut pools = Vec::new();
            for round in 1..gates.len() {
                gates[round].block(&busy[round % 2]);
                gates[round - 1].open();
                busy[(round - 1) % 2].finish();
                let pool = Plan::new().of(&fixture);
                let block = Take::new(4096).kind(kind).from(&pool).on(&other);
                assert_ne!(block, used, "a kernel that waits for a gate has {kind:?} memory of an ended pool");
                give(&other, block);
                pools.push(pool);
            }
            gate.open();
            gates[4].open();
            queue.iter().chain(&busy).chain([&other]).for_each(Queue::finish);
        }
    });
}
