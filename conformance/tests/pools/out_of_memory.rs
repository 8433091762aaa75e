//! Out of memory: what is given back is what can help. A pool at its own maximum leaves the rest of the device alone; a
//! full device takes back what every context of the process keeps.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::control::Control;
use ur_conformance::faults::make_queue;
use ur_conformance::ffi::{
    ur_device_info_t, ur_queue_flags_t as Flags, ur_result_t as Code, ur_usm_pool_info_t as info,
};
use ur_conformance::memory::{self, pattern};
use ur_conformance::pool::{self, Figures, Plan, Take, figure, give};
use ur_conformance::{Context, Fixture, Kind, Pool, Queue, ask, child, expect_success, needs_sim, ok, query, ur};

/// What a native pool takes of the device at a time.
const STEP: usize = 32 << 20;

/// How often a native pool was asked for a block while `work` ran.
fn native_allocations(work: impl Fn()) -> u64 {
    let libraries = Control::loaded();
    let driver = libraries.first().expect("a library that counts");
    let ((), calls) = driver.calls_of(work);
    calls.get("cuMemAllocFromPoolAsync").copied().unwrap_or(0)
}

/// Something that a queue keeps of a pool, and something that the pool keeps of the device.
fn hoard(queue: &Queue, pool: &Pool) -> Figures {
    let large = Take::new(STEP).from(pool).on(queue);
    give(queue, large);
    pool::set(pool.handle(), info::RELEASE_THRESHOLD_EXP, usize::MAX);
    give(queue, Take::new(4096).from(pool).on(queue));
    queue.finish();
    Figures::of(pool.handle())
}

/// `full` refuses `bytes` more, and what the other pools of the device have is as before.
fn refuses_and_touches_nothing(fixture: &Fixture, full: &Pool, bytes: usize) {
    let (own, other) = (fixture.in_order(), fixture.in_order());
    let bystander = Plan::new().limits(0, usize::MAX).of(fixture);
    for queue in [&own, &other] {
        let before = hoard(queue, &bystander);
        Take::new(bytes).from(full).refused(Code::ERROR_OUT_OF_DEVICE_MEMORY, &own);
        assert_eq!(Figures::of(bystander.handle()), before, "a full pool had another one trimmed");
        let again = || give(queue, Take::new(4096).from(&bystander).on(queue));
        assert_eq!(native_allocations(again), 0, "a full pool emptied another one's free lists");
    }
    own.finish();
    other.finish();
}

#[test]
fn a_pool_at_its_own_maximum_leaves_other_pools_of_the_device_alone() {
    let fixture = Fixture::new();
    needs_sim!(fixture);
    let queue = fixture.in_order();
    let full = Plan::new().limits(2 * STEP, 0).of(&fixture);
    let most = figure(full.handle(), info::MAXIMUM_SIZE_EXP);
    refuses_and_touches_nothing(&fixture, &full, most + 1);
    let blocks: Vec<_> = core::iter::from_fn(|| Take::new(most / 8).from(&full).try_on(&queue).ok()).take(9).collect();
    assert!((6..=8).contains(&blocks.len()), "{} eighths of the maximum", blocks.len());
    refuses_and_touches_nothing(&fixture, &full, most / 8);
    blocks.into_iter().for_each(|block| give(&queue, block));
    queue.finish();
}

#[test]
fn a_full_buffer_leaves_other_pools_of_the_device_alone() {
    let fixture = Fixture::new();
    needs_sim!(fixture);
    let queue = fixture.in_order();
    let buffer = fixture.memory(Kind::Device, 1 << 20);
    let full = Plan::new().buffer(buffer.pointer(), 1 << 20, Kind::Device, fixture.device()).of(&fixture);
    let block = Take::new(1 << 20).from(&full).on(&queue);
    refuses_and_touches_nothing(&fixture, &full, 512);
    give(&queue, block);
    queue.finish();
}

/// What its own queues keep is what can help a pool at its maximum, whoever of them has it.
#[test]
fn a_pool_at_its_own_maximum_takes_back_what_every_queue_keeps_of_it() {
    let fixture = Fixture::new();
    let Ok(pool) = Plan::new().limits(2 * STEP, usize::MAX).create(fixture.context(), fixture.device()) else {
        println!("skipped: the native library has no pools with a limit");
        return;
    };
    let most = figure(pool.handle(), info::MAXIMUM_SIZE_EXP);
    let queues: Vec<_> = (0..4).map(|_| fixture.in_order()).collect();
    for round in 0..3 {
        for queue in &queues {
            let block = Take::new(most / 8).from(&pool).on(queue);
            give(queue, block);
        }
        let block = Take::new(most * 7 / 8).from(&pool).on(&queues[round]);
        memory::write(&queues[round], block, &pattern(1, 4096));
        give(&queues[round], block);
    }
    queues.iter().for_each(Queue::finish);
}

fn all_memory(fixture: &Fixture) -> usize {
    let property = ur_device_info_t::GLOBAL_MEM_SIZE;
    let all: u64 = query::get(ask!(Device.pfnGetInfo(fixture.device(), property)));
    usize::try_from(all).expect("a 64-bit machine")
}

/// Keeps most of the device in free lists of a queue of `context`.
fn keep_most(context: &Context, fixture: &Fixture, part: usize) -> (Pool, Queue) {
    let pool = Plan::new().limits(0, usize::MAX).create(context.handle(), fixture.device()).expect("a pool");
    let queue = make_queue(context, fixture.device(), Flags::empty()).expect("a queue");
    let blocks: Vec<*mut c_void> = (0..12).map(|_| Take::new(part).from(&pool).on(&queue)).collect();
    blocks.into_iter().for_each(|block| give(&queue, block));
    queue.finish();
    assert!(Figures::of(pool.handle()).reserved >= 12 * part);
    (pool, queue)
}

#[test]
fn a_full_device_takes_back_what_other_contexts_keep() {
    let test = "a_full_device_takes_back_what_other_contexts_keep";
    child::in_process(test, &[("SIMCUDA_MEMORY", "256M"), ("UR_USM_MAGAZINE_BYTES", "1000G")], || {
        let fixture = Fixture::new();
        let part = all_memory(&fixture) / 16;
        let other = fixture.context_of(&fixture.devices[..1]);
        let kept = keep_most(&other, &fixture, part);
        let queue = fixture.in_order();
        let block = Take::new(10 * part).on(&queue);
        memory::write(&queue, block, &pattern(1, 4096));
        assert!(memory::read::<u8>(&queue, block, 4096) == pattern(1, 4096));
        give(&queue, block);
        queue.finish();
        pool::trim(&fixture, default_pool(&fixture), 0);
        drop(kept);
        // Plain memory does the same.
        let kept = keep_most(&other, &fixture, part);
        let (mut memory, context, device) = (null_mut(), fixture.context(), fixture.device());
        ok!(USM.pfnDeviceAlloc(context, device, null(), null_mut(), 10 * part, &raw mut memory));
        ok!(USM.pfnFree(context, memory));
        drop(kept);
        // And a pool with a maximum of its own that the device cannot give it.
        let kept = keep_most(&other, &fixture, part);
        let limited = Plan::new().limits(12 * part, 0).of(&fixture);
        give(&queue, Take::new(10 * part).from(&limited).on(&queue));
        queue.finish();
        drop(kept);
        // A context that is gone is nobody to ask.
        drop(other);
        give(&queue, Take::new(8 * part).on(&queue));
        queue.finish();
    });
}

fn default_pool(fixture: &Fixture) -> ur_conformance::ffi::ur_usm_pool_handle_t {
    let mut pool = null_mut();
    let answer = ur!(USMExp.pfnPoolGetDefaultDevicePoolExp(fixture.context(), fixture.device(), &raw mut pool));
    expect_success(answer, "urUSMPoolGetDefaultDevicePoolExp");
    pool
}

/// ROCm 5 answers success and gives null when the memory is used up.
#[test]
fn urEnqueueUSMDeviceAllocExp_takes_null_from_the_native_library_for_no_memory() {
    let test = "urEnqueueUSMDeviceAllocExp_takes_null_from_the_native_library_for_no_memory";
    child::with_native_pools(test, || {
        let fixture = Fixture::new();
        let Some(hip) = Control::loaded().into_iter().find(|library| !library.is_driver()) else { return };
        let (queue, pool) = (fixture.in_order(), Plan::new().of(&fixture));
        hip.fail("hipMallocFromPoolAsync", 1, 0);
        let memory = Take::new(STEP).from(&pool).on(&queue);
        assert!(!memory.is_null(), "it is there once more is asked for");
        give(&queue, memory);
        queue.finish();
    });
}
