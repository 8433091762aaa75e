//! `ur_usm_pool_limits_desc_t`, trimming, and what happens when there is no more memory.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::below::Below;
use ur_conformance::ffi::{ur_device_info_t, ur_result_t as Code, ur_usm_pool_info_t as info};
use ur_conformance::memory::{self, pattern};
use ur_conformance::pool::{self, Figures, Plan, Take, figure, free, give, give_after, used};
use ur_conformance::{Fixture, Gate, Kind, Launch, Queue, ask, child, ok, query, ur};

const STEP: usize = 32 << 20;

fn maximum(fixture: &Fixture, asked: usize) -> usize {
    figure(Plan::new().limits(asked, 0).of(fixture).handle(), info::MAXIMUM_SIZE_EXP)
}

#[test]
fn maxPoolableSize_is_rounded_up_as_the_driver_does_and_can_be_queried() {
    let fixture = Fixture::new();
    let step = maximum(&fixture, 1);
    assert!(step.is_power_of_two(), "{step}");
    if !Below::is_hip() {
        assert_eq!(step, STEP);
    }
    for (asked, told) in [(1, 1), (step - 1, 1), (step, 1), (step + 1, 2), (5 * step - 7, 5)] {
        assert_eq!(maximum(&fixture, asked), told * step, "{asked} bytes");
    }
    assert_eq!(maximum(&fixture, 0), 0, "no limit is told as 0");
    let core = Plan::new().limits(step + 1, 0).core_of(&fixture);
    assert_eq!(figure(core.handle(), info::MAXIMUM_SIZE_EXP), 2 * step);
    for too_much in [usize::MAX, usize::MAX - 1] {
        let plan = Plan::new().limits(too_much, 0);
        let answers = (plan.create(fixture.context(), fixture.device()), plan.create_core(fixture.context()));
        assert_eq!(
            (answers.0.err(), answers.1.err()),
            (Some(Code::ERROR_INVALID_VALUE), Some(Code::ERROR_INVALID_VALUE))
        );
    }
}

/// What is full refuses, changes nothing, and serves again once something is freed.
#[test]
fn a_request_that_cannot_fit_under_the_limit_is_OUT_OF_DEVICE_MEMORY() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for kind in pool::kinds(&queue) {
        let plan = Plan::new().limits(2 * STEP, 0);
        let pool = plan.of(&fixture);
        let most = figure(pool.handle(), info::MAXIMUM_SIZE_EXP);
        let take = |bytes| Take::new(bytes).kind(kind).from(&pool);
        for too_much in [most + 1, usize::MAX / 2, usize::MAX] {
            take(too_much).refused(Code::ERROR_OUT_OF_DEVICE_MEMORY, &queue);
            assert_eq!(used(pool.handle()), (0, 0));
        }
        let mut blocks = Vec::new();
        let part = most / 8;
        while let Ok(block) = take(part).try_on(&queue) {
            blocks.push(block);
            assert!(blocks.len() <= 8, "{kind:?}: more than the limit");
            let figures = Figures::of(pool.handle());
            assert!(figures.reserved <= most && figures.used == blocks.len() * part, "{kind:?}: {figures:?}");
        }
        assert!(blocks.len() >= 6, "{kind:?}: {} eighths of the limit", blocks.len());
        let before = Figures::of(pool.handle());
        take(part).refused(Code::ERROR_OUT_OF_DEVICE_MEMORY, &queue);
        assert_eq!(Figures::of(pool.handle()), before, "{kind:?}: a refusal changes nothing");
        for (index, &block) in blocks.iter().enumerate() {
            memory::write(&queue, block, &pattern(index as u32, 4096));
        }
        give(&queue, blocks.swap_remove(0));
        blocks.push(take(part).on(&queue));
        for block in blocks {
            give(&queue, block);
        }
        // All of it together, and in one piece, once the parts are free.
        queue.finish();
        give(&queue, take(most - most / 8).on(&queue));
        queue.finish();
    }
}

#[test]
fn a_limited_pool_takes_back_what_other_queues_keep_before_it_refuses() {
    let fixture = Fixture::new();
    let pool = Plan::new().limits(STEP, usize::MAX).of(&fixture);
    let most = figure(pool.handle(), info::MAXIMUM_SIZE_EXP);
    let queues: Vec<_> = (0..4).map(|_| fixture.in_order()).collect();
    for round in 0..8 {
        let queue = &queues[round % 4];
        let block = Take::new(most * 3 / 4).from(&pool).on(queue);
        memory::write(queue, block, &pattern(round as u32, 4096));
        assert!(memory::read::<u8>(queue, block, 4096) == pattern(round as u32, 4096));
        give(queue, block);
        assert!(figure(pool.handle(), info::RESERVED_CURRENT_EXP) <= most);
    }
    queues.iter().for_each(Queue::finish);
}

#[test]
fn minDriverAllocSize_is_the_first_release_threshold() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for (threshold, keeps) in [(0, false), (1 << 30, true), (usize::MAX, true)] {
        for pool in [Plan::new().limits(0, threshold).of(&fixture), Plan::new().limits(0, threshold).core_of(&fixture)]
        {
            let handle = pool.handle();
            assert_eq!(figure(handle, info::RELEASE_THRESHOLD_EXP), threshold);
            let block = Take::new(40 << 20).from(&pool).on(&queue);
            give(&queue, block);
            queue.finish();
            let reserved = figure(handle, info::RESERVED_CURRENT_EXP);
            if fixture.sim().is_some() {
                assert_eq!(reserved >= 40 << 20, keeps, "{reserved} bytes over a finish, threshold {threshold}");
            } else if keeps {
                assert!(reserved >= 40 << 20, "{reserved} bytes over a finish, threshold {threshold}");
            }
            give(&queue, Take::new(40 << 20).from(&pool).on(&queue));
            queue.finish();
        }
    }
}

#[test]
fn RELEASE_THRESHOLD_EXP_can_be_set_at_any_time() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let pool = Plan::new().of(&fixture);
    let round = |threshold| {
        assert_eq!(pool::set(pool.handle(), info::RELEASE_THRESHOLD_EXP, threshold), Code::SUCCESS);
        give(&queue, Take::new(8 << 20).from(&pool).on(&queue));
        queue.finish();
        figure(pool.handle(), info::RESERVED_CURRENT_EXP)
    };
    let kept = round(1 << 30);
    assert!(kept >= 8 << 20, "{kept}");
    if fixture.sim().is_some() {
        assert_eq!(round(0), 0);
    }
    assert!(round(usize::MAX) >= 8 << 20);
}

/// There are releases of AMD's runtime that keep nothing, or everything, whatever the threshold says.
#[test]
fn a_driver_that_ignores_release_thresholds_is_served_as_well() {
    let fixture = Fixture::new();
    let sim = ur_conformance::needs_sim!(fixture);
    let queue = fixture.in_order();
    for meaning in [1, 2] {
        sim.set_thresholds(meaning);
        for threshold in [0, usize::MAX] {
            let pool = Plan::new().zeroed().limits(0, threshold).of(&fixture);
            for round in 0..4 {
                let block = Take::new(1 << 20).from(&pool).on(&queue);
                assert!(memory::read::<u8>(&queue, block, 1 << 20).iter().all(|&byte| byte == 0));
                memory::write(&queue, block, &pattern(round, 1 << 20));
                give(&queue, block);
                queue.finish();
            }
            pool::trim(&fixture, pool.handle(), 0);
            assert_eq!(Figures::of(pool.handle()).reserved, 0);
        }
    }
    sim.clear_faults();
}

#[test]
fn urUSMPoolTrimToExp_gives_back_what_nobody_uses_beyond_the_bytes_to_keep() {
    trim_step_by_step();
}

/// What an idle queue has freed natively is the pool's too, though the library has not seen it yet.
#[test]
fn urUSMPoolTrimToExp_gives_back_what_nobody_uses_without_free_lists() {
    let test = "urUSMPoolTrimToExp_gives_back_what_nobody_uses_without_free_lists";
    child::in_process(test, &[("UR_USM_MAGAZINE_BYTES", "0")], trim_step_by_step);
}

/// A native library may give back some kinds of memory only while its device has nothing to do, and wait for that.
#[test]
fn urUSMPoolTrimToExp_and_urUSMPoolRelease_beside_a_busy_queue_wait_for_nobody() {
    let fixture = Fixture::new();
    let (busy, queue) = (fixture.in_order(), fixture.in_order());
    for kind in Kind::ALL {
        let mut gate = Gate::new(&fixture);
        let pool = Plan::new().limits(0, usize::MAX).of(&fixture);
        give(&queue, Take::new(STEP).kind(kind).from(&pool).on(&queue));
        queue.finish();
        gate.block(&busy);
        pool::trim(&fixture, pool.handle(), 0);
        let other = Plan::new().limits(0, usize::MAX).of(&fixture);
        give(&queue, Take::new(STEP).kind(kind).from(&other).on(&queue));
        queue.finish();
        drop(other);
        gate.open();
        busy.finish();
        pool::trim(&fixture, pool.handle(), 0);
        if fixture.sim().is_some() {
            assert_eq!(figure(pool.handle(), info::RESERVED_CURRENT_EXP), 0, "{kind:?}");
        }
    }
}

/// What waits on one stream of a hardware channel holds up what an idle one is given, so nobody may wait for that either.
#[test]
fn urUSMPoolTrimToExp_waits_for_nobody_where_streams_share_a_channel() {
    let test = "urUSMPoolTrimToExp_waits_for_nobody_where_streams_share_a_channel";
    child::in_time(test, &[("CUDA_DEVICE_MAX_CONNECTIONS", "1")], || {
        let fixture = Fixture::new();
        let (busy, idle) = (fixture.in_order(), fixture.in_order());
        let (mut gate, kernel) = (Gate::new(&fixture), fixture.basic(c"fill"));
        let pool = Plan::new().limits(0, usize::MAX).of(&fixture);
        let block = Take::new(STEP).from(&pool).on(&idle);
        let words = fixture.memory(Kind::Device, 4);
        give(&idle, block);
        idle.finish();
        gate.block(&busy);
        Launch::new(&kernel, &[1]).pointer(words.pointer()).value(1u32).value(1u32).on(&busy);
        pool::trim(&fixture, pool.handle(), 0);
        gate.open();
        busy.finish();
        pool::trim(&fixture, pool.handle(), 0);
        if fixture.sim().is_some() {
            assert_eq!(figure(pool.handle(), info::RESERVED_CURRENT_EXP), 0);
        }
    });
}

fn trim_step_by_step() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let pool = Plan::new().limits(0, usize::MAX).of(&fixture);
    let handle = pool.handle();
    let blocks: Vec<_> = (0..6).map(|_| Take::new(STEP).from(&pool).on(&queue)).collect();
    let full = figure(handle, info::RESERVED_CURRENT_EXP);
    assert!(full >= 6 * STEP);
    pool::trim(&fixture, handle, 0);
    assert_eq!(used(handle).0, 6 * STEP, "what is used stays");
    for &block in &blocks[1..] {
        give(&queue, block);
    }
    queue.finish();
    pool::trim(&fixture, handle, usize::MAX);
    let kept = figure(handle, info::RESERVED_CURRENT_EXP);
    assert!(kept >= 6 * STEP, "{kept}");
    pool::trim(&fixture, handle, 3 * STEP);
    let part = figure(handle, info::RESERVED_CURRENT_EXP);
    // A driver gives back whole stretches, so what stays may be less than was asked to be kept.
    let kept_at_least = if fixture.sim().is_some() { 3 * STEP } else { STEP };
    assert!(part >= kept_at_least && part < full, "{part}");
    pool::trim(&fixture, handle, 0);
    let least = figure(handle, info::RESERVED_CURRENT_EXP);
    assert!(least >= STEP && least <= part, "{least}");
    memory::write(&queue, blocks[0], &pattern(1, 4096));
    assert!(memory::read::<u8>(&queue, blocks[0], 4096) == pattern(1, 4096));
    give(&queue, blocks[0]);
    // The queue has nothing to do, so the trim gets everything without a finish.
    pool::trim(&fixture, handle, 0);
    if fixture.sim().is_some() {
        assert_eq!(figure(handle, info::RESERVED_CURRENT_EXP), 0);
    }
    let call = |context, device, pool| ur!(USMExp.pfnPoolTrimToExp(context, device, pool, 0));
    let (context, device) = (fixture.context(), fixture.device());
    assert_eq!(call(null_mut(), device, handle), Code::ERROR_INVALID_NULL_HANDLE);
    assert_eq!(call(context, null_mut(), handle), Code::ERROR_INVALID_NULL_HANDLE);
    assert_eq!(call(context, device, null_mut()), Code::ERROR_INVALID_NULL_HANDLE);
    assert_eq!(call(context, device, queue.handle().cast()), Code::ERROR_INVALID_VALUE);
}

fn all_memory(fixture: &Fixture) -> usize {
    let property = ur_device_info_t::GLOBAL_MEM_SIZE;
    let all: u64 = query::get(ask!(Device.pfnGetInfo(fixture.device(), property)));
    usize::try_from(all).expect("a 64-bit machine")
}

/// Everything a device has, kept by queues and pools, then asked for by somebody else.
#[test]
fn a_full_device_takes_back_what_magazines_and_pools_keep() {
    let test = "a_full_device_takes_back_what_magazines_and_pools_keep";
    child::in_process(test, &[("SIMCUDA_MEMORY", "256M"), ("UR_USM_MAGAZINE_BYTES", "1000G")], || {
        let fixture = Fixture::new();
        let part = all_memory(&fixture) / 16;
        let (one, two) = (fixture.in_order(), fixture.out_of_order());
        let pools = [Plan::new().limits(0, usize::MAX).of(&fixture), Plan::new().limits(0, usize::MAX).of(&fixture)];
        let hoard = || {
            for (queue, pool) in [(&one, &pools[0]), (&two, &pools[1])] {
                let blocks: Vec<_> = (0..6).map(|_| Take::new(part).from(pool).event_on(queue)).collect();
                for (block, allocated) in blocks {
                    drop(give_after(queue, block, &[&allocated]));
                }
                queue.finish();
            }
            let reserved: usize = pools.iter().map(|pool| Figures::of(pool.handle()).reserved).sum();
            assert!(reserved >= 12 * part, "{reserved} bytes are kept of {}", 16 * part);
        };
        hoard();
        let third = fixture.in_order();
        let block = Take::new(10 * part).on(&third);
        memory::write(&third, block, &pattern(1, 4096));
        assert!(memory::read::<u8>(&third, block, 4096) == pattern(1, 4096));
        give(&third, block);
        third.finish();
        one.finish();
        two.finish();
        hoard();
        // Plain USM does the same.
        drop(fixture.memory(Kind::Device, 10 * part));
        hoard();
        let mut block = null_mut();
        ok!(USM.pfnDeviceAlloc(
            fixture.context(),
            fixture.device(),
            null(),
            pools[0].handle(),
            10 * part,
            &raw mut block
        ));
        ok!(USM.pfnFree(fixture.context(), block));
        one.finish();
        two.finish();
    });
}

#[test]
fn out_of_device_memory_leaves_the_state_as_it_was() {
    let test = "out_of_device_memory_leaves_the_state_as_it_was";
    child::in_process(test, &[("SIMCUDA_MEMORY", "256M")], || {
        let fixture = Fixture::new();
        let queue = fixture.in_order();
        let pool = Plan::new().of(&fixture);
        let part = all_memory(&fixture) / 8;
        let mut blocks: Vec<*mut c_void> = Vec::new();
        while let Ok(block) = Take::new(part).from(&pool).try_on(&queue) {
            memory::write(&queue, block, &pattern(blocks.len() as u32, 4096));
            blocks.push(block);
            assert!(blocks.len() <= 8, "more memory than the device has");
        }
        assert!(blocks.len() >= 4);
        let before = Figures::of(pool.handle());
        for _ in 0..3 {
            Take::new(part).from(&pool).refused(Code::ERROR_OUT_OF_DEVICE_MEMORY, &queue);
            assert_eq!(Figures::of(pool.handle()), before);
        }
        for (index, &block) in blocks.iter().enumerate() {
            assert!(memory::read::<u8>(&queue, block, 4096) == pattern(index as u32, 4096), "block {index}");
        }
        let small = Take::new(64).from(&pool).try_on(&queue);
        small.into_iter().for_each(|block| give(&queue, block));
        for block in blocks {
            assert_eq!(free(&queue, block), Code::SUCCESS);
        }
        queue.finish();
        assert_eq!(used(pool.handle()).0, 0);
    });
}
