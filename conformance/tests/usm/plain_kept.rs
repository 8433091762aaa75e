//! How much plain memory stays kept where several threads allocate or free at one time, and where the context has gone.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::null;

use ur_conformance::ffi::{ur_context_handle_t, ur_context_info_t as Info};
use ur_conformance::memory::allocate;
use ur_conformance::{Fixture, Kind, ask, child, expect_success, needs_sim, ok, query};

const MIB: usize = 1 << 20;

/// The address of a new block on the device.
#[track_caller]
fn take(fixture: &Fixture, context: ur_context_handle_t, bytes: usize) -> usize {
    let mut block = core::ptr::null_mut();
    expect_success(
        allocate(Kind::Device, context, fixture.device(), null(), bytes, &raw mut block),
        "urUSMDeviceAlloc",
    );
    block.expose_provenance()
}

#[track_caller]
fn free(context: ur_context_handle_t, block: usize) {
    ok!(USM.pfnFree(context, core::ptr::with_exposed_provenance_mut(block)));
}

/// What one thread has taken out to give back is kept no more, though the native library is at the first of it still: nobody else
/// gives back for it what may stay.
#[test]
fn urUSMFree_beside_a_native_free_that_waits_gives_back_no_more_than_is_beyond_the_bound() {
    let test = "urUSMFree_beside_a_native_free_that_waits_gives_back_no_more_than_is_beyond_the_bound";
    let settings = [
        ("UR_USM_POOL", "1"),
        ("UR_USM_POOL_DEBUG", "0"),
        ("UR_USM_POOL_KEEP_BYTES", "8M"),
        ("UR_USM_POOL_KEEP_SHARE", "0"),
    ];
    child::in_time(test, &settings, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let context = fixture.context().expose_provenance();
        let free = move |block| free(core::ptr::with_exposed_provenance_mut(context), block);
        let blocks = [(); 6].map(|()| take(&fixture, fixture.context(), 2 * MIB));
        let native = || sim.calls_so_far("cuMemFree_v2");
        let [kept @ .., first, second] = blocks;
        kept.into_iter().for_each(free);
        let before = native();
        std::thread::scope(|scope| {
            let held = sim.hold_calls("cuMemFree_v2");
            let freeing = scope.spawn(move || free(first));
            held.wait_for_one(|| freeing.is_finished());
            // Just the bound is kept now.
            free(second);
            drop(held);
        });
        assert_eq!(native() - before, 2, "10 MiB were kept, and 6 stay");
    });
}

/// Blocks that were between live ones when somebody looked, and were used again since, are as good as any others when they are freed.
#[test]
fn urUSMFree_of_blocks_that_could_not_go_back_once_and_were_used_again_leaves_no_more_than_the_bound() {
    let test = "urUSMFree_of_blocks_that_could_not_go_back_once_and_were_used_again_leaves_no_more_than_the_bound";
    child::with_pooled_memory(test, || {
        const BLOCK: usize = 32 << 10;
        let fixture = Fixture::new();
        let context = fixture.context_of(&[fixture.device()]);
        let of_context = |property| query::get::<u64>(ask!(Context.pfnGetInfo(context.handle(), property)));
        let take_all = |count: usize| (0..count).map(|_| take(&fixture, context.handle(), BLOCK)).collect::<Vec<_>>();
        let free = |block: usize| free(context.handle(), block);
        let mut blocks = take_all(192 * MIB / BLOCK);
        blocks.sort_unstable();
        // One stays in each native allocation, or more.
        let (held, freed): (Vec<_>, Vec<_>) = blocks.into_iter().enumerate().partition(|(place, _)| place % 32 == 0);
        let count = freed.len();
        freed.into_iter().for_each(|(_, block)| free(block));
        let mut blocks = take_all(count);
        blocks.extend(held.into_iter().map(|(_, block)| block));
        blocks.sort_unstable();
        // Whole native allocations.
        let live = 20 * MIB / BLOCK;
        blocks.drain(live..).for_each(free);
        let (reserved, used) = (of_context(Info::USM_RESERVED_BYTES_EXP), of_context(Info::USM_USED_BYTES_EXP));
        assert_eq!(used, (live * BLOCK) as u64);
        let most = (64 << 20) + used / 8 + (8 << 20);
        assert!(reserved - used <= most, "{} bytes are kept", reserved - used);
        blocks.into_iter().for_each(free);
    });
}

/// Each makes a slab while the first one is inside of the native library. What is left of them serves the next allocations.
#[test]
fn urUSMDeviceAlloc_of_threads_that_find_a_slab_used_up_at_one_time_uses_up_what_each_of_them_makes() {
    const THREADS: u64 = 8;
    let test = "urUSMDeviceAlloc_of_threads_that_find_a_slab_used_up_at_one_time_uses_up_what_each_of_them_makes";
    child::with_pooled_memory(test, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let context = fixture.context_of(&[fixture.device()]);
        let (allocate, native) = (|| take(&fixture, context.handle(), 256), || sim.calls_so_far("cuMemAlloc_v2"));
        let mut blocks = Vec::new();
        let mut slab_by_slab = |slabs: u64| {
            let (before, already) = (native(), blocks.len());
            while native() - before < slabs {
                blocks.push(allocate());
            }
            blocks.len() - already
        };
        // From the sixth slab on they have 2 MiB.
        let _ = slab_by_slab(7);
        let of_a_slab = slab_by_slab(1);
        blocks.extend((1..of_a_slab).map(|_| allocate()));
        let used_up = native();
        std::thread::scope(|scope| {
            let held = sim.hold_calls("cuMemAlloc_v2");
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(allocate)).collect();
            while native() - used_up < THREADS && !threads.iter().any(std::thread::ScopedJoinHandle::is_finished) {
                std::thread::yield_now();
            }
            drop(held);
            blocks.extend(threads.into_iter().map(|thread| thread.join().expect("a block")));
        });
        assert_eq!(native() - used_up, THREADS, "slabs of threads that come at one time");
        blocks.extend((0..4 * of_a_slab).map(|_| allocate()));
        let more = native() - used_up - THREADS;
        assert_eq!(more, 0, "slabs for half of what the threads' slabs have");
        blocks.into_iter().for_each(|block| free(context.handle(), block));
    });
}

/// A look at all that is left for each of them would take time by the square.
#[test]
fn urUSMFree_of_many_blocks_whose_context_has_gone_costs_as_much_for_each_as_of_few() {
    const BLOCKS: usize = 60_000;
    let test = "urUSMFree_of_many_blocks_whose_context_has_gone_costs_as_much_for_each_as_of_few";
    child::in_time(test, &[("UR_USM_POOL", "1"), ("UR_USM_POOL_DEBUG", "0")], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let _queue = fixture.in_order();
        let before = sim.objects();
        let gone = fixture.context_of(&[fixture.device()]);
        let blocks: Vec<usize> = (0..BLOCKS).map(|_| take(&fixture, gone.handle(), 256)).collect();
        drop(gone);
        // Two of three first, and the rest from its end on, so that slabs empty late.
        let of_three = |blocks: &[usize], is_wanted: fn(usize) -> bool| {
            (0..blocks.len()).filter(|at| is_wanted(at % 3)).map(|at| blocks[at]).collect::<Vec<_>>()
        };
        of_three(&blocks, |at| at > 0).into_iter().for_each(|block| free(fixture.context(), block));
        of_three(&blocks, |at| at == 0).into_iter().rev().for_each(|block| free(fixture.context(), block));
        assert_eq!(sim.objects(), before, "native memory is left");
    });
}
