//! Shared memory of pools beside a queue with work: whatever becomes of it, nobody waits for that work. It lies in slabs, whose
//! native free waits for all that the device has to do (`docs/native-facts.md`).
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use ur_conformance::ffi::{ur_queue_flags_t as Flags, ur_result_t as Code};
use ur_conformance::pool::{self, Plan, Take, free, give};
use ur_conformance::{Fixture, Gate, Kind, Pool, Queue, child, needs_sim, ok};

const MIB: usize = 1 << 20;
/// More than a queue keeps of a pool.
const LARGE: usize = 80 * MIB;

/// Runs `work` with a queue and a pool beside another queue whose kernel ends only afterwards.
#[track_caller]
fn beside_a_busy_queue(test: &str, more: &[(&str, &str)], work: impl FnOnce(&Fixture, Queue, Pool)) {
    child::in_process(test, more, || {
        let fixture = Fixture::over_all_devices();
        let (busy, queue) = (fixture.in_order(), fixture.in_order());
        let pool = Plan::new().of(&fixture);
        // What is made at first need is there.
        give(&queue, Take::new(MIB).kind(Kind::Shared).from(&pool).on(&queue));
        queue.finish();
        let mut gate = Gate::new(&fixture);
        gate.block(&busy);
        work(&fixture, queue, pool);
        gate.open();
        busy.finish();
    });
}

fn take_and_give(queue: &Queue, pool: &Pool, bytes: usize) {
    give(queue, Take::new(bytes).kind(Kind::Shared).from(pool).on(queue));
}

#[test]
fn urQueueFinish_beside_a_busy_queue_waits_for_its_own_queue_alone() {
    let test = "urQueueFinish_beside_a_busy_queue_waits_for_its_own_queue_alone";
    beside_a_busy_queue(test, &[], |_, queue, pool| {
        take_and_give(&queue, &pool, MIB);
        queue.finish();
    });
}

#[test]
fn urEnqueueUSMFreeExp_of_more_than_a_queue_keeps_waits_for_nobody() {
    let test = "urEnqueueUSMFreeExp_of_more_than_a_queue_keeps_waits_for_nobody";
    beside_a_busy_queue(test, &[], |_, queue, pool| take_and_give(&queue, &pool, LARGE));
}

#[test]
fn urEnqueueUSMFreeExp_without_free_lists_waits_for_nobody() {
    let test = "urEnqueueUSMFreeExp_without_free_lists_waits_for_nobody";
    let none = [("UR_USM_MAGAZINE_BYTES", "0")];
    beside_a_busy_queue(test, &none, |_, queue, pool| take_and_give(&queue, &pool, MIB));
}

#[test]
fn urUSMFree_of_a_block_of_a_pool_waits_for_nobody() {
    let test = "urUSMFree_of_a_block_of_a_pool_waits_for_nobody";
    beside_a_busy_queue(test, &[], |fixture, queue, pool| {
        let block = Take::new(LARGE).kind(Kind::Shared).from(&pool).on(&queue);
        ok!(USM.pfnFree(fixture.context(), block));
    });
}

#[test]
fn urQueueRelease_of_a_queue_that_keeps_shared_memory_waits_for_nobody() {
    let test = "urQueueRelease_of_a_queue_that_keeps_shared_memory_waits_for_nobody";
    beside_a_busy_queue(test, &[], |_, queue, pool| {
        take_and_give(&queue, &pool, MIB);
        drop(queue);
    });
}

#[test]
fn urUSMPoolRelease_beside_a_busy_queue_waits_for_nobody() {
    let test = "urUSMPoolRelease_beside_a_busy_queue_waits_for_nobody";
    beside_a_busy_queue(test, &[], |_, queue, pool| {
        take_and_give(&queue, &pool, MIB);
        drop(pool);
    });
}

#[test]
fn urUSMPoolCreateExp_that_prefills_shared_memory_waits_for_nobody() {
    let test = "urUSMPoolCreateExp_that_prefills_shared_memory_waits_for_nobody";
    beside_a_busy_queue(test, &[], |fixture, queue, _| {
        let pool = Plan::new().prefilled(pool::type_of(Kind::Shared), LARGE).of(fixture);
        take_and_give(&queue, &pool, MIB);
    });
}

/// A request that no device has memory for gets back what queues keep of every pool, and is refused without a wait.
#[test]
fn an_allocation_that_finds_the_device_full_waits_for_nobody() {
    let test = "an_allocation_that_finds_the_device_full_waits_for_nobody";
    beside_a_busy_queue(test, &[("SIMCUDA_MEMORY", "512M")], |fixture, queue, pool| {
        needs_sim!(fixture);
        take_and_give(&queue, &pool, MIB);
        Take::new(2048 * MIB).refused(Code::ERROR_OUT_OF_DEVICE_MEMORY, &queue);
        take_and_give(&queue, &pool, MIB);
    });
}

/// A queue of another device keeps nothing of the pool.
#[test]
fn urEnqueueUSMFreeExp_on_another_device_s_queue_waits_for_nobody() {
    let test = "urEnqueueUSMFreeExp_on_another_device_s_queue_waits_for_nobody";
    beside_a_busy_queue(test, &[], |fixture, queue, pool| {
        let Some(second) = fixture.devices.get(1) else {
            println!("skipped: needs two devices");
            return;
        };
        let other = fixture.queue_in(fixture.context(), *second, Flags::empty());
        let block = Take::new(MIB).kind(Kind::Shared).from(&pool).on(&queue);
        queue.finish();
        assert_eq!(free(&other, block), Code::SUCCESS);
    });
}
