//! Magazines: what queues keep of freed memory, when it goes back, and what it costs. Counts native calls, so most of it
//! needs the simulated driver.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::below::Below;
use ur_conformance::ffi::{ur_queue_flags_t as Flags, ur_result_t as Code, ur_usm_pool_info_t as info};
use ur_conformance::memory;
use ur_conformance::owned::event_of;
use ur_conformance::pool::{self, Plan, Take, figure, give, give_after, set, used};
use ur_conformance::{Event, Fixture, Gate, Kind, Launch, Pool, Queue, Sim, child, needs_sim, ok, ur};

const ALLOC: &str = "cuMemAllocFromPoolAsync";
const FREE: &str = "cuMemFreeAsync";
const TRIM: &str = "cuMemPoolTrimTo";
const VARIABLE: &str = "UR_USM_MAGAZINE_BYTES";

/// Native allocations and frees of some work.
fn pool_calls<R>(sim: &Sim, work: impl FnOnce() -> R) -> (u64, u64) {
    let (_, calls) = sim.calls_of(work);
    let of = |name| calls.get(name).copied().unwrap_or(0);
    (of(ALLOC), of(FREE))
}

/// Allocates so many blocks of a size and frees them all on the queue.
fn keep(queue: &Queue, pool: &Pool, count: usize, bytes: usize) {
    let blocks: Vec<_> = (0..count).map(|_| Take::new(bytes).from(pool).event_on(queue)).collect();
    blocks.into_iter().for_each(|(block, allocated)| drop(give_after(queue, block, &[&allocated])));
}

/// Of each pool a queue keeps 64 MiB.
fn expect_64_MiB_are_kept() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (queue, pool) = (fixture.in_order(), hoarder(&fixture));
    assert_eq!(pool_calls(sim, || keep(&queue, &pool, 5, 16 << 20)), (5, 1), "4 of 16 MiB are kept");
    assert_eq!(pool_calls(sim, || keep(&queue, &pool, 1, (64 << 20) + 1)), (1, 1));
    queue.finish();
}

/// A pool whose blocks a finish leaves where they are.
fn hoarder(fixture: &Fixture) -> Pool {
    Plan::new().limits(0, usize::MAX).of(fixture)
}

#[test]
fn an_allocation_after_a_free_of_its_size_makes_no_native_call() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    for kind in pool::kinds(&queue) {
        for pool in [Plan::new().of(&fixture), Plan::new().core_of(&fixture)] {
            let take = Take::new(4096).kind(kind).from(&pool);
            give(&queue, take.on(&queue));
            sim.expect_calls(&[], || {
                for _ in 0..100 {
                    let block = take.on(&queue);
                    give(&queue, block);
                    let (block, allocated) = take.event_on(&queue);
                    drop(give_after(&queue, block, &[&allocated]));
                }
            });
        }
    }
    queue.finish();
}

#[test]
fn an_allocation_that_nothing_kept_serves_is_one_native_call() {
    let test = "an_allocation_that_nothing_kept_serves_is_one_native_call";
    child::with_native_pools(test, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let queue = fixture.in_order();
        let pool = Plan::new().of(&fixture);
        give(&queue, Take::new(64).from(&pool).on(&queue));
        let block = sim.expect_calls(&[(ALLOC, 1)], || Take::new(4096).from(&pool).on(&queue));
        let other = sim.expect_calls(&[(ALLOC, 1)], || Take::new(4096).from(&pool).event_on(&queue).0);
        sim.expect_calls(&[], || [block, other].into_iter().for_each(|block| give(&queue, block)));
        queue.finish();
    });
}

#[test]
fn sizes_go_together_in_steps_of_512_bytes() {
    let test = "sizes_go_together_in_steps_of_512_bytes";
    child::with_native_pools(test, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let queue = fixture.in_order();
        let pool = Plan::new().of(&fixture);
        for (first, second, served) in
            [(1, 512, true), (512, 1, true), (512, 513, false), (513, 1024, true), (1025, 1024, false)]
        {
            keep(&queue, &pool, 1, first);
            let calls = pool_calls(sim, || give(&queue, Take::new(second).from(&pool).on(&queue)));
            assert_eq!(calls == (0, 0), served, "{second} bytes after {first}");
            pool::trim(&fixture, pool.handle(), 0);
        }
        queue.finish();
    });
}

/// libsycl's `async_malloc` and `async_free`: a barrier's event, the call that waits for it and gives one, all let go.
fn sycl_round(queue: &Queue, pool: &Pool) {
    let q = queue.handle();
    let before = event_of(|event| ur!(Enqueue.pfnEventsWait(q, 0, null(), event)));
    let (block, allocated) = Take::new(4096).from(pool).after(&[&before]).event_on(queue);
    drop((before, allocated));
    let before = event_of(|event| ur!(Enqueue.pfnEventsWait(q, 0, null(), event)));
    let freed = give_after(queue, block, &[&before]);
    drop((before, freed));
}

#[test]
fn the_way_libsycl_allocates_makes_no_native_call() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    let queue = fixture.in_order();
    let pool = Plan::new().of(&fixture);
    sycl_round(&queue, &pool);
    sim.expect_calls(&[], || (0..100).for_each(|_| sycl_round(&queue, &pool)));
    // The same when the queue has work.
    let launch = Launch::new(&kernel, &[1]).local(&[1]);
    sim.expect_calls(&[(Below::the_adapter().launch, 10)], || {
        for _ in 0..10 {
            drop(launch.event_on(&queue));
            sycl_round(&queue, &pool);
        }
    });
    queue.finish();
}

#[test]
fn the_way_libsycl_allocates_is_two_native_calls_without_magazines() {
    let test = "the_way_libsycl_allocates_is_two_native_calls_without_magazines";
    child::in_process(test, &[(VARIABLE, "0"), pool::NATIVE_POOLS], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let queue = fixture.in_order();
        let pool = Plan::new().of(&fixture);
        sycl_round(&queue, &pool);
        for _ in 0..10 {
            sim.expect_calls(&[(ALLOC, 1), (FREE, 1)], || sycl_round(&queue, &pool));
        }
        queue.finish();
    });
}

#[test]
fn UR_USM_MAGAZINE_BYTES_0_keeps_nothing() {
    let test = "UR_USM_MAGAZINE_BYTES_0_keeps_nothing";
    child::in_process(test, &[(VARIABLE, "0"), pool::NATIVE_POOLS], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        for queue in [fixture.in_order(), fixture.out_of_order()] {
            let pool = hoarder(&fixture);
            keep(&queue, &pool, 1, 4096);
            assert_eq!(pool_calls(sim, || keep(&queue, &pool, 5, 4096)), (5, 5));
            queue.finish();
        }
    });
}

/// 16 blocks of 1 KiB where 8 KiB may be kept: 8 of them go back at once, for each queue and pool.
#[test]
fn UR_USM_MAGAZINE_BYTES_bounds_what_a_queue_keeps_of_each_pool() {
    let test = "UR_USM_MAGAZINE_BYTES_bounds_what_a_queue_keeps_of_each_pool";
    child::in_process(test, &[(VARIABLE, "8K"), pool::NATIVE_POOLS], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let queues = [fixture.in_order(), fixture.in_order()];
        let pools = [hoarder(&fixture), hoarder(&fixture)];
        for queue in &queues {
            for pool in &pools {
                assert_eq!(pool_calls(sim, || keep(queue, pool, 16, 1024)), (16, 8));
                assert_eq!(pool_calls(sim, || keep(queue, pool, 8, 1024)), (0, 0), "8 are kept");
            }
        }
        let (queue, pool) = (&queues[0], &pools[0]);
        assert_eq!(pool_calls(sim, || keep(queue, pool, 1, 8193)), (1, 1), "what is larger is never kept");
        assert_eq!(pool_calls(sim, || keep(queue, pool, 1, 8192)), (1, 8), "a new size makes the oldest go");
        assert_eq!(pool_calls(sim, || keep(queue, pool, 1, 8192)), (0, 0));
        for pool in &pools {
            assert_eq!(used(pool.handle()).0, 0);
        }
        queues.iter().for_each(Queue::finish);
    });
}

#[test]
fn UR_USM_MAGAZINE_BYTES_that_is_no_number_leaves_the_64_MiB() {
    let test = "UR_USM_MAGAZINE_BYTES_that_is_no_number_leaves_the_64_MiB";
    child::in_process(test, &[(VARIABLE, "plenty"), pool::NATIVE_POOLS], expect_64_MiB_are_kept);
}

#[test]
fn a_queue_keeps_64_MiB_of_each_pool_unless_told_otherwise() {
    let test = "a_queue_keeps_64_MiB_of_each_pool_unless_told_otherwise";
    child::with_native_pools(test, || {
        expect_64_MiB_are_kept();
    });
}

#[test]
fn a_kept_block_serves_no_other_pool_and_no_other_queue() {
    let fixture = Fixture::new();
    let (first, second) = (fixture.in_order(), fixture.in_order());
    let pools = [hoarder(&fixture), hoarder(&fixture)];
    let kernel = fixture.basic(c"fill");
    let block = Take::new(4096).from(&pools[0]).on(&first);
    let mut gate = Gate::new(&fixture);
    gate.block(&first);
    Launch::new(&kernel, &[1024]).pointer(block).value(1u32).value(1024u32).on(&first);
    give(&first, block);
    let of_pool = Take::new(4096).from(&pools[1]).on(&first);
    let of_queue = Take::new(4096).from(&pools[0]).on(&second);
    assert!(of_pool != block && of_queue != block, "the block is another pool's or still in use");
    let mine = Take::new(4096).from(&pools[0]).on(&first);
    if fixture.sim().is_some() {
        assert_eq!(mine, block, "the order of its own queue is enough");
    }
    memory::write(&second, of_queue, &[2u32; 1024]);
    gate.open();
    first.finish();
    assert!(memory::read::<u32>(&second, of_queue, 1024).iter().all(|&word| word == 2));
    give(&first, of_pool);
    give(&second, of_queue);
    give(&first, mine);
    first.finish();
    second.finish();
}

/// A free on another queue leaves the block with that queue, whose order it follows.
#[test]
fn a_block_is_kept_by_the_queue_that_freed_it() {
    let test = "a_block_is_kept_by_the_queue_that_freed_it";
    child::with_native_pools(test, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let (owner, other) = (fixture.in_order(), fixture.in_order());
        let pool = hoarder(&fixture);
        keep(&other, &pool, 1, 512);
        let (block, allocated) = Take::new(4096).from(&pool).event_on(&owner);
        allocated.wait();
        give(&other, block);
        assert_eq!(pool_calls(sim, || assert_eq!(Take::new(4096).from(&pool).on(&other), block)), (0, 0));
        give(&other, block);
        assert_eq!(pool_calls(sim, || keep(&owner, &pool, 1, 4096)), (1, 0));
        owner.finish();
        other.finish();
    });
}

#[test]
fn a_block_freed_on_another_device_s_queue_goes_back_at_once() {
    let test = "a_block_freed_on_another_device_s_queue_goes_back_at_once";
    child::with_native_pools(test, || {
        let fixture = Fixture::over_all_devices();
        let sim = needs_sim!(fixture);
        let Some(&device) = fixture.devices.get(1) else { return };
        let (owner, other) = (fixture.in_order(), fixture.queue_in(fixture.context(), device, Flags::empty()));
        let pool = hoarder(&fixture);
        let (block, allocated) = Take::new(4096).from(&pool).event_on(&owner);
        allocated.wait();
        assert_eq!(pool_calls(sim, || give(&other, block)), (0, 1));
        assert_eq!(used(pool.handle()).0, 0);
        owner.finish();
        other.finish();
    });
}

#[test]
fn kept_blocks_count_as_free() {
    let fixture = Fixture::new();
    let (queue, pool) = (fixture.in_order(), hoarder(&fixture));
    keep(&queue, &pool, 3, 4096);
    assert_eq!(used(pool.handle()), (0, 3 * 4096));
    assert!(figure(pool.handle(), info::RESERVED_CURRENT_EXP) >= 3 * 4096);
    keep(&queue, &pool, 3, 4000);
    assert_eq!(used(pool.handle()), (0, 3 * 4096));
    queue.finish();
}

#[test]
fn urUSMPoolTrimToExp_empties_the_magazines_of_its_pool_on_every_queue() {
    let test = "urUSMPoolTrimToExp_empties_the_magazines_of_its_pool_on_every_queue";
    child::with_native_pools(test, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let queues = [fixture.in_order(), fixture.in_order(), fixture.out_of_order()];
        let (pool, other) = (hoarder(&fixture), hoarder(&fixture));
        // Each queue its own size: of one size they would serve each other.
        for (queue, bytes) in queues.iter().zip([4096, 8192, 12288]) {
            keep(queue, &pool, 2, bytes);
            keep(queue, &other, 2, bytes);
            queue.finish();
        }
        let (_, calls) = sim.calls_of(|| pool::trim(&fixture, pool.handle(), 0));
        assert_eq!((calls.get(FREE), calls.get(TRIM)), (Some(&6), Some(&1)), "{calls:?}");
        assert_eq!(figure(pool.handle(), info::RESERVED_CURRENT_EXP), 0);
        assert!(figure(other.handle(), info::RESERVED_CURRENT_EXP) > 0);
        assert_eq!(pool_calls(sim, || keep(&queues[0], &other, 2, 4096)), (0, 0), "another pool's stay");
        queues.iter().for_each(Queue::finish);
    });
}

#[test]
fn a_pool_s_destruction_empties_its_magazines() {
    let test = "a_pool_s_destruction_empties_its_magazines";
    child::with_native_pools(test, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let queues = [fixture.in_order(), fixture.in_order(), fixture.out_of_order()];
        let (pool, other) = (hoarder(&fixture), hoarder(&fixture));
        for queue in &queues {
            keep(queue, &pool, 2, 4096);
            keep(queue, &other, 2, 4096);
        }
        let (_, calls) = sim.calls_of(|| drop(pool));
        assert_eq!((calls.get(FREE), calls.get("cuMemPoolDestroy")), (Some(&6), Some(&1)), "{calls:?}");
        assert_eq!(pool_calls(sim, || keep(&queues[0], &other, 2, 4096)), (0, 0), "another pool's stay");
        queues.iter().for_each(Queue::finish);
    });
}

#[test]
fn a_queue_s_release_empties_its_magazines() {
    let test = "a_queue_s_release_empties_its_magazines";
    child::with_native_pools(test, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let pool = hoarder(&fixture);
        for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
            let (queue, other) = (fixture.queue(flags), fixture.in_order());
            keep(&queue, &pool, 3, 4096);
            keep(&other, &pool, 1, 4096);
            // Somebody still holds an event of the queue, which holds the queue.
            let held = event_of(|event| ur!(Enqueue.pfnEventsWait(queue.handle(), 0, null(), event)));
            assert_eq!(pool_calls(sim, || drop(queue)), (0, 3), "{flags:?}");
            drop(held);
            assert_eq!(pool_calls(sim, || keep(&other, &pool, 1, 4096)), (0, 0), "another queue's stay");
            assert_eq!(used(pool.handle()).0, 0);
            other.finish();
        }
    });
}

#[test]
fn urQueueFinish_empties_magazines_as_far_as_the_pool_holds_more_than_its_threshold() {
    let test = "urQueueFinish_empties_magazines_as_far_as_the_pool_holds_more_than_its_threshold";
    child::with_native_pools(test, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let queue = fixture.in_order();
        for (threshold, back) in [(0, 8), (1024, 7), (4096, 4), (8191, 1), (8192, 0), (usize::MAX, 0)] {
            let pool = Plan::new().limits(0, threshold).of(&fixture);
            keep(&queue, &pool, 8, 1024);
            assert_eq!(pool_calls(sim, || queue.finish()), (0, back), "a threshold of {threshold}");
            assert_eq!(pool_calls(sim, || queue.finish()), (0, 0));
            assert_eq!(pool_calls(sim, || keep(&queue, &pool, 8, 1024)), (back, 0), "a threshold of {threshold}");
            // What is out counts, and cannot go back.
            let block = Take::new(1 << 20).from(&pool).on(&queue);
            let kept = if threshold == usize::MAX { 0 } else { 8 };
            assert_eq!(pool_calls(sim, || queue.finish()), (0, kept), "a threshold of {threshold}");
            give(&queue, block);
            assert_eq!(set(pool.handle(), info::RELEASE_THRESHOLD_EXP, 0), Code::SUCCESS);
        }
    });
}

#[test]
fn a_blocking_copy_leaves_what_is_kept_to_the_threshold_too() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 64);
    let pool = hoarder(&fixture);
    keep(&queue, &pool, 3, 4096);
    assert_eq!(pool_calls(sim, || memory.write(&queue, &[1u32; 4])), (0, 0));
    queue.finish();
}

/// On the same lane, the wait list's last event proves that the block's last use comes before.
#[test]
fn an_out_of_order_queue_takes_a_block_back_when_the_wait_list_ends_with_the_stream_s_last_command() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.out_of_order();
    let pool = hoarder(&fixture);
    let kernel = fixture.basic(c"fill");
    let mut gate = Gate::new(&fixture);
    let blocked = gate.block_event(&queue);
    let take = Take::new(4096).from(&pool);
    let (block, allocated) = take.clone().after(&[&blocked]).event_on(&queue);
    let launch = |block, event: &Event| {
        Launch::new(&kernel, &[1024]).pointer(block).value(1u32).value(1024u32).after(&[event]).event_on(&queue)
    };
    let used = launch(block, &allocated);
    let freed = give_after(&queue, block, &[&used]);
    let (again, calls) = sim.calls_of(|| take.clone().after(&[&freed]).event_on(&queue));
    assert_eq!((again.0, calls.contains_key(ALLOC)), (block, false), "{calls:?}");
    let used = launch(again.0, &again.1);
    drop(give_after(&queue, again.0, &[&used]));
    gate.open();
    queue.finish();
}

/// A free and an allocation depend on their wait lists alone, so nothing else proves a block free.
#[test]
fn an_out_of_order_queue_reuses_no_block_that_may_still_be_in_use() {
    let fixture = Fixture::new();
    let queue = fixture.out_of_order();
    let pool = hoarder(&fixture);
    let (fill, copy) = (fixture.basic(c"fill"), fixture.basic(c"copy"));
    let out = fixture.memory(Kind::Device, 4096);
    let take = Take::new(4096).from(&pool);
    let mut gate = Gate::new(&fixture);
    let blocked = gate.block_event(&queue);
    let (block, allocated) = take.event_on(&queue);
    let on = |kernel, block, value: u32, after: &[&Event]| {
        Launch::new(kernel, &[1024]).pointer(block).value(value).value(1024u32).after(after).event_on(&queue)
    };
    let filled = on(&fill, block, 1, &[&allocated, &blocked]);
    let copied = Launch::new(&copy, &[1024])
        .pointer(out.pointer())
        .pointer(block)
        .value(1024u32)
        .after(&[&filled])
        .event_on(&queue);
    drop(give_after(&queue, block, &[&copied]));
    // As many as there are lanes, and more.
    let mut others = Vec::new();
    for _ in 0..20 {
        let (other, allocated) = take.event_on(&queue);
        assert_ne!(other, block, "the block's last use has not run, and nothing waits for it");
        others.push((other, on(&fill, other, 2, &[&allocated])));
    }
    gate.open();
    for (other, used) in others {
        drop(give_after(&queue, other, &[&used]));
    }
    queue.finish();
    assert!(out.read::<u32>(&queue, 1024).iter().all(|&word| word == 1));
}

#[test]
fn an_out_of_order_queue_takes_blocks_back_once_the_stream_has_finished() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.out_of_order();
    let pool = hoarder(&fixture);
    keep(&queue, &pool, 16, 4096);
    queue.finish();
    // The lanes take turns, so that each comes across what it keeps.
    let (_, calls) = sim.calls_of(|| keep(&queue, &pool, 8, 4096));
    assert!(calls.get(ALLOC).copied().unwrap_or(0) < 8, "{calls:?}");
    queue.finish();
}

#[test]
fn the_allocation_that_finds_the_device_full_gets_what_other_queues_keep() {
    let test = "the_allocation_that_finds_the_device_full_gets_what_other_queues_keep";
    child::in_process(test, &[("SIMCUDA_MEMORY", "256M"), (VARIABLE, "1G"), pool::NATIVE_POOLS], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let (first, second) = (fixture.in_order(), fixture.in_order());
        let pool = hoarder(&fixture);
        keep(&first, &pool, 6, 32 << 20);
        // One failure, the flush, the trim, and one more try.
        let (block, calls) = sim.calls_of(|| Take::new(128 << 20).from(&pool).on(&second));
        let of = |name| calls.get(name).copied().unwrap_or(0);
        assert_eq!((of(ALLOC), of(FREE)), (2, 6), "{calls:?}");
        assert!(of(TRIM) >= 1, "{calls:?}");
        give(&second, block);
        Take::new(1 << 30).from(&pool).refused(Code::ERROR_OUT_OF_DEVICE_MEMORY, &second);
        assert_eq!(used(pool.handle()), (0, 6 * (32 << 20)));
        first.finish();
        second.finish();
    });
}

/// A chain as SYCL makes it: each launch waits for the one before and gives an event, whose predecessor is let go.
#[test]
fn a_chained_launch_is_one_launch_and_one_record_and_makes_no_native_event() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let kernel = fixture.basic(c"empty");
    let queue = fixture.in_order();
    let launch = Launch::new(&kernel, &[1]).local(&[1]);
    let mut last = launch.event_on(&queue);
    let mut step = || last = launch.clone().after(&[&last]).event_on(&queue);
    (0..4).for_each(|_| step());
    let events = sim.objects().get("event").copied();
    for _ in 0..50 {
        sim.expect_calls(&[(Below::the_adapter().launch, 1), ("cuEventRecord", 1)], &mut step);
    }
    assert_eq!(sim.objects().get("event").copied(), events, "no native event was made");
    last.wait();
    queue.finish();
}

/// The use of stream-ordered memory after its free is a report of the simulated driver where it is natively freed. A block in a
/// magazine is natively alive, so the driver cannot see that; `UR_USM_MAGAZINE_BYTES=0` lets it.
#[test]
fn memory_that_is_used_after_its_stream_ordered_free_is_reported_without_magazines() {
    let test = "memory_that_is_used_after_its_stream_ordered_free_is_reported_without_magazines";
    child::in_process(test, &[(VARIABLE, "0"), pool::NATIVE_POOLS], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let (queue, pool) = (fixture.in_order(), hoarder(&fixture));
        let target = fixture.memory(Kind::Device, 64);
        let block = Take::new(64).from(&pool).on(&queue);
        memory::write(&queue, block, &[1u32; 16]);
        give(&queue, block);
        let (q, no) = (queue.handle(), ur_conformance::ffi::CBool::FALSE);
        let from: *mut c_void = block;
        let _ = ur!(Enqueue.pfnUSMMemcpy(q, no, target.pointer(), from, 64, 0, null(), null_mut()));
        let _ = ur!(Queue.pfnFinish(q));
        sim.expect_reports("use-after-free");
        ok!(Queue.pfnFlush(q));
    });
}
