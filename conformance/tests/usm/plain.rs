//! Plain memory that is kept when it is freed: when it is used again, what is told of it, how much is kept, and what happens
//! to it when memory runs out or its context ends.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use std::sync::Mutex;

use ur_conformance::ffi::{
    ur_context_handle_t, ur_context_info_t, ur_result_t as Code, ur_usm_alloc_info_t as info, ur_usm_desc_t,
    ur_usm_type_t,
};
use ur_conformance::gate::Gate;
use ur_conformance::memory::{self, allocate, pattern};
use ur_conformance::pool::{Plan, Take, give};
use ur_conformance::sim::status;
use ur_conformance::{Fixture, Kind, Launch, Queue, ask, child, expect_success, needs_sim, ok, query, refused, ur};

/// The native calls that make and free plain memory.
const NATIVE: [&str; 5] = ["cuMemAlloc_v2", "cuMemHostAlloc", "cuMemAllocManaged", "cuMemFree_v2", "cuMemFreeHost"];

/// The kinds that the fixture's device has.
pub(super) fn kinds() -> [Kind; 3] {
    Kind::ALL
}

fn native_of(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Device => ("cuMemAlloc_v2", "cuMemFree_v2"),
        Kind::Host => ("cuMemHostAlloc", "cuMemFreeHost"),
        Kind::Shared => ("cuMemAllocManaged", "cuMemFree_v2"),
    }
}

#[track_caller]
pub(super) fn take(fixture: &Fixture, context: ur_context_handle_t, kind: Kind, bytes: usize) -> *mut c_void {
    let mut pointer = null_mut();
    let answer = allocate(kind, context, fixture.device(), null(), bytes, &raw mut pointer);
    expect_success(answer, "a USM allocation");
    pointer
}

#[track_caller]
pub(super) fn free(context: ur_context_handle_t, pointer: *mut c_void) {
    ok!(USM.pfnFree(context, pointer));
}

/// Bytes that a context has of the native library, and those that are in use.
fn figures(context: ur_context_handle_t) -> (u64, u64) {
    let get = |property| query::get::<u64>(ask!(Context.pfnGetInfo(context, property)));
    (get(ur_context_info_t::USM_RESERVED_BYTES_EXP), get(ur_context_info_t::USM_USED_BYTES_EXP))
}

#[test]
fn urUSMAlloc_takes_what_was_freed_before_without_a_native_call() {
    let test = "urUSMAlloc_takes_what_was_freed_before_without_a_native_call";
    child::with_pooled_memory(test, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        for kind in kinds() {
            for bytes in [1, 256, 257, 4096, 60_000, 64 << 10, 1 << 20, (1 << 20) + 1, 16 << 20] {
                // A class grows by a few blocks at first.
                (0..300).for_each(|_| drop(fixture.memory(kind, bytes)));
                let (_, calls) = sim.calls_of(|| (0..100).for_each(|_| drop(fixture.memory(kind, bytes))));
                let native: Vec<_> = NATIVE.iter().filter(|name| calls.contains_key(**name)).collect();
                assert!(native.is_empty(), "{kind:?} {bytes}: {calls:?}");
            }
        }
    });
}

#[test]
fn urUSMAlloc_gives_alignments_up_to_a_page_without_more_blocks() {
    let fixture = Fixture::new();
    for kind in kinds() {
        for align in [512_u32, 4096] {
            for bytes in [1, 4096, 5000, 100_000, 1 << 20, 3 << 20] {
                let desc = ur_usm_desc_t { align, ..Default::default() };
                let mut pointers = Vec::new();
                for _ in 0..20 {
                    let mut pointer = null_mut();
                    let answer =
                        allocate(kind, fixture.context(), fixture.device(), &raw const desc, bytes, &raw mut pointer);
                    expect_success(answer, "an aligned allocation");
                    assert!(pointer.addr().is_multiple_of(align as usize), "{kind:?} {align} {bytes}");
                    pointers.push(pointer);
                }
                let (reserved, used) = figures(fixture.context());
                let least = if memory::is_pooled() { 20 * bytes as u64 } else { 0 };
                assert!(reserved >= used && used >= least, "{reserved} {used}");
                pointers.into_iter().for_each(|pointer| free(fixture.context(), pointer));
            }
        }
    }
}

/// A block is what was asked for and no byte of it is another's, whatever shares its native allocation.
#[test]
fn blocks_are_told_apart_by_every_address_and_keep_their_bytes() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for kind in kinds() {
        let sizes = [1, 255, 256, 257, 700, 2049, 4000, 9999, 70_000];
        let blocks: Vec<_> = (0..90).map(|at| fixture.memory(kind, sizes[at % sizes.len()])).collect();
        for (at, block) in blocks.iter().enumerate() {
            block.write(&queue, &vec![u8::try_from(at).expect("few"); block.bytes()]);
        }
        for (at, block) in blocks.iter().enumerate() {
            let bytes = block.bytes();
            assert!(block.read::<u8>(&queue, bytes).iter().all(|byte| usize::from(*byte) == at), "{kind:?} {at}");
            for inside in [0, bytes / 2, bytes - 1] {
                let address = block.at(inside).cast_const();
                let base: usize = query::get(ask!(USM.pfnGetMemAllocInfo(fixture.context(), address, info::BASE_PTR)));
                let size: usize = query::get(ask!(USM.pfnGetMemAllocInfo(fixture.context(), address, info::SIZE)));
                assert_eq!((base, size), (block.pointer().addr(), bytes), "{kind:?}: {inside} in {bytes}");
            }
        }
    }
}

/// Native frees wait for the device, so a program that frees too early does no harm with them. Here the block is nobody's until
/// the work that was enqueued before its free has finished.
#[test]
fn a_block_that_is_freed_while_commands_run_is_used_again_behind_them_alone() {
    let test = "a_block_that_is_freed_while_commands_run_is_used_again_behind_them_alone";
    child::with_pooled_memory(test, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        for kind in kinds() {
            for bytes in [1024_usize, 128 << 10, 4 << 20] {
                let queue = fixture.in_order();
                let mut gate = Gate::new(&fixture);
                let early = take(&fixture, fixture.context(), kind, bytes);
                let kernel = fixture.basic(c"fill");
                gate.block(&queue);
                let words = u32::try_from(bytes / 4).expect("a small block");
                Launch::new(&kernel, &[bytes / 4]).pointer(early).value(0xbad_u32).value(words).on(&queue);
                let (_, calls) = sim.calls_of(|| free(fixture.context(), early));
                assert!(NATIVE.iter().all(|name| !calls.contains_key(*name)), "a free waits for nothing: {calls:?}");
                let others: Vec<_> =
                    (0..70).map_while(|at| (at < 4 || bytes < 4096).then(|| fixture.memory(kind, bytes))).collect();
                for other in &others {
                    assert_ne!(other.pointer(), early, "{kind:?} {bytes}: a kernel still uses it");
                }
                let (second, other) = (fixture.in_order(), &others[0]);
                other.write(&second, &vec![7_u8; bytes]);
                gate.open();
                queue.finish();
                assert!(others[0].read::<u8>(&second, bytes).iter().all(|byte| *byte == 7), "{kind:?} {bytes}");
                drop(others);
                let again: Vec<_> =
                    (0..200).map_while(|at| (at < 8 || bytes < 4096).then(|| fixture.memory(kind, bytes))).collect();
                assert!(again.iter().any(|block| block.pointer() == early), "{kind:?} {bytes}: it never comes back");
            }
        }
    });
}

#[test]
fn a_queue_that_is_released_with_work_still_holds_blocks_back() {
    let test = "a_queue_that_is_released_with_work_still_holds_blocks_back";
    child::with_pooled_memory(test, || {
        let fixture = Fixture::new();
        let queue = fixture.in_order();
        let mut gate = Gate::new(&fixture);
        let early = take(&fixture, fixture.context(), Kind::Device, 200_000);
        gate.block(&queue);
        Launch::new(&fixture.basic(c"fill"), &[50_000]).pointer(early).value(0xbad_u32).value(50_000_u32).on(&queue);
        drop::<Queue>(queue);
        free(fixture.context(), early);
        let other = fixture.memory(Kind::Device, 200_000);
        assert_ne!(other.pointer(), early, "the released queue's kernel still uses it");
        gate.open();
        let second = fixture.in_order();
        other.write(&second, &[7_u8; 200_000]);
        second.finish();
        assert!(other.read::<u8>(&second, 200_000).iter().all(|byte| *byte == 7));
    });
}

#[test]
fn urUSMFree_refuses_inner_and_freed_addresses_and_touches_no_neighbour() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for kind in kinds() {
        let [before, block, after] = [0; 3].map(|_: u8| fixture.memory(kind, 3000));
        for neighbour in [&before, &after] {
            neighbour.write(&queue, &pattern(3, 3000));
        }
        for inside in [1, 256, 2048, 2999] {
            refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(fixture.context(), block.at(inside)));
        }
        // Between its end and the next block's start.
        let beyond = block.pointer().wrapping_byte_add(3000);
        refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(fixture.context(), beyond));
        let pointer = block.pointer();
        drop(block);
        for _ in 0..2 {
            refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(fixture.context(), pointer));
            let told: u32 =
                query::get(ask!(USM.pfnGetMemAllocInfo(fixture.context(), pointer.cast_const(), info::TYPE)));
            assert_eq!(told, ur_usm_type_t::UNKNOWN.0);
        }
        for neighbour in [&before, &after] {
            assert!(neighbour.read::<u8>(&queue, 3000) == pattern(3, 3000), "{kind:?}");
        }
    }
}

#[test]
fn another_context_may_ask_about_a_block_and_free_it_as_it_may_with_native_memory() {
    let fixture = Fixture::new();
    for kind in kinds() {
        for bytes in [300, 300_000, 3 << 20] {
            let other = fixture.context_of(&[fixture.device()]);
            let [first, second] = [0; 2].map(|_: u8| take(&fixture, fixture.context(), kind, bytes));
            let size: usize = query::get(ask!(USM.pfnGetMemAllocInfo(other.handle(), first.cast_const(), info::SIZE)));
            assert_eq!(size, bytes);
            refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(other.handle(), first.wrapping_byte_add(8)));
            free(other.handle(), first);
            refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(other.handle(), first));
            refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(fixture.context(), first));
            free(fixture.context(), second);
        }
    }
}

#[test]
fn a_block_outlives_its_context_and_is_freed_through_another_one() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let _queue = fixture.in_order();
    // In debug mode guards take a stream that stays.
    drop(fixture.memory(Kind::Device, 64));
    let before = sim.objects();
    for bytes in [300, 300_000, 3 << 20] {
        let gone = fixture.context_of(&[fixture.device()]);
        let [kept, first, second] = [0; 3].map(|_: u8| take(&fixture, gone.handle(), Kind::Device, bytes));
        free(gone.handle(), kept);
        drop(gone);
        let size: usize = query::get(ask!(USM.pfnGetMemAllocInfo(fixture.context(), first.cast_const(), info::SIZE)));
        assert_eq!(size, bytes);
        refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(fixture.context(), kept));
        free(fixture.context(), first);
        free(fixture.context(), second);
        refused!(ERROR_INVALID_MEM_OBJECT, USM.pfnFree(fixture.context(), second));
    }
    assert_eq!(sim.objects(), before, "native memory is left");
}

#[test]
fn no_more_is_kept_than_64_MiB_and_an_eighth_of_what_is_live() {
    let test = "no_more_is_kept_than_64_MiB_and_an_eighth_of_what_is_live";
    child::with_pooled_memory(test, || {
        let fixture = Fixture::new();
        let bound = |live: u64| (64 << 20) + live / 8;
        for bytes in [4096_usize, 200_000, 1 << 20, 5 << 20] {
            let context = fixture.context_of(&[fixture.device()]);
            let count = (160 << 20) / bytes;
            let blocks: Vec<_> = (0..count).map(|_| take(&fixture, context.handle(), Kind::Device, bytes)).collect();
            let (reserved, used) = figures(context.handle());
            assert!(used >= (count * bytes) as u64, "{bytes}");
            // The class, and the rest of the last slab.
            assert!(
                used <= (count * bytes) as u64 * 9 / 8 && reserved <= used + (4 << 20),
                "{bytes}: {reserved} {used}"
            );
            for block in blocks {
                free(context.handle(), block);
                let (reserved, used) = figures(context.handle());
                // The bound is looked at after each two MiB.
                assert!(reserved - used <= bound(used) + (4 << 20), "{bytes}: {reserved} {used}");
            }
            assert_eq!(figures(context.handle()).1, 0, "{bytes}: nothing is live");
        }
    });
}

#[test]
fn figures_of_a_context_are_what_its_blocks_add_up_to_and_fall_to_nothing() {
    let test = "figures_of_a_context_are_what_its_blocks_add_up_to_and_fall_to_nothing";
    child::with_pooled_memory(test, || {
        let fixture = Fixture::new();
        let context = fixture.context_of(&[fixture.device()]);
        assert_eq!(figures(context.handle()), (0, 0));
        let pointers = [(Kind::Host, 4096), (Kind::Device, 65_536), (Kind::Shared, 2 << 20)]
            .map(|(kind, bytes)| take(&fixture, context.handle(), kind, bytes));
        assert_eq!(figures(context.handle()).1, 4096 + 65_536 + (2 << 20));
        pointers.into_iter().for_each(|pointer| free(context.handle(), pointer));
        let (reserved, used) = figures(context.handle());
        assert!(reserved >= 2 << 20 && used == 0, "{reserved} {used}");
    });
}

#[test]
fn urUSMPoolTrimToExp_of_the_default_pool_gives_kept_memory_back() {
    let test = "urUSMPoolTrimToExp_of_the_default_pool_gives_kept_memory_back";
    child::with_pooled_memory(test, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let mut pool = null_mut();
        ok!(USMExp.pfnPoolGetDefaultDevicePoolExp(fixture.context(), fixture.device(), &raw mut pool));
        for kind in kinds() {
            for bytes in [300, 300_000, 3 << 20] {
                drop(fixture.memory(kind, bytes));
            }
        }
        let (_, calls) = sim.calls_of(|| ok!(USMExp.pfnPoolTrimToExp(fixture.context(), fixture.device(), pool, 0)));
        assert_eq!((calls.get("cuMemFree_v2"), calls.get("cuMemFreeHost")), (Some(&6), Some(&3)), "{calls:?}");
        assert_eq!(figures(fixture.context()), (0, 0));
    });
}

#[test]
fn memory_that_other_contexts_keep_goes_back_when_there_is_none() {
    let test = "memory_that_other_contexts_keep_goes_back_when_there_is_none";
    child::with_pooled_memory(test, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let keeper = fixture.context_of(&[fixture.device()]);
        for kind in kinds() {
            let (alloc, _) = native_of(kind);
            for bytes in [300, 300_000, 3 << 20] {
                free(keeper.handle(), take(&fixture, keeper.handle(), kind, bytes));
                assert_ne!(figures(keeper.handle()).0, 0);
                // The block's native allocation, and that of its bytes alone.
                (1..=2).for_each(|nth| sim.fail(alloc, nth, status::OUT_OF_MEMORY));
                // Each time a size that the fixture keeps nothing of.
                drop(fixture.memory(kind, (10 << 20) + 4 * bytes));
                sim.clear_faults();
                assert_eq!(figures(keeper.handle()), (0, 0), "{kind:?} {bytes}");
            }
        }
    });
}

#[test]
fn a_program_whose_module_lacks_memory_gets_what_is_kept() {
    let test = "a_program_whose_module_lacks_memory_gets_what_is_kept";
    child::with_pooled_memory(test, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        drop(fixture.memory(Kind::Device, 3 << 20));
        assert_ne!(figures(fixture.context()).0, 0);
        sim.fail("cuModuleLoadDataEx", 1, status::OUT_OF_MEMORY);
        drop(fixture.basic(c"fill"));
        assert_eq!(figures(fixture.context()), (0, 0));
    });
}

#[test]
fn plain_memory_is_the_native_library_s_alone_where_pools_are_switched_off() {
    let test = "plain_memory_is_the_native_library_s_alone_where_pools_are_switched_off";
    child::in_process(test, &[("UR_USM_POOL", "0")], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        for kind in kinds() {
            let (alloc, free) = native_of(kind);
            drop(fixture.memory(kind, 64));
            let (_, calls) = sim.calls_of(|| (0..3).for_each(|_| drop(fixture.memory(kind, 64))));
            assert_eq!((calls.get(alloc), calls.get(free)), (Some(&3), Some(&3)), "{kind:?}: {calls:?}");
        }
        assert_eq!(figures(fixture.context()), (0, 0));
    });
}

#[test]
fn variables_bound_what_is_kept_and_what_is_pooled() {
    let test = "variables_bound_what_is_kept_and_what_is_pooled";
    let settings = [
        ("UR_USM_POOL", "1"),
        ("UR_USM_POOL_KEEP_BYTES", "1M"),
        ("UR_USM_POOL_KEEP_SHARE", "0"),
        ("UR_USM_POOL_LARGEST", "8M"),
    ];
    child::in_process(test, &settings, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        drop(fixture.memory(Kind::Device, 4 << 20));
        let (reserved, used) = figures(fixture.context());
        assert!(reserved <= 1 << 20 && used == 0, "{reserved} {used}");
        let (memory, calls) = sim.calls_of(|| fixture.memory(Kind::Device, 9 << 20));
        assert_eq!((calls.get("cuMemAlloc_v2"), figures(fixture.context()).1), (Some(&1), 0));
        drop(memory);
    });
}

#[test]
fn advice_on_a_block_is_about_its_own_pages_and_gone_with_it() {
    let test = "advice_on_a_block_is_about_its_own_pages_and_gone_with_it";
    child::with_pooled_memory(test, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let queue = fixture.in_order();
        let advice = ur_conformance::ffi::ur_usm_advice_flags_t::SET_READ_MOSTLY;
        let advise = |pointer, size| {
            let (_, calls) =
                sim.calls_of(|| ok!(Enqueue.pfnUSMAdvise(queue.handle(), pointer, size, advice, null_mut())));
            calls.get("cuMemAdvise").copied().unwrap_or(0)
        };
        let small = fixture.memory(Kind::Shared, 512);
        assert_eq!(advise(small.pointer(), 512), 0, "its page is others' too");
        drop(small);
        let large = fixture.memory(Kind::Shared, 128 << 10);
        assert_eq!(advise(large.pointer(), 128 << 10), 1);
        let (_, calls) = sim.calls_of(|| drop(large));
        assert!(calls.get("cuMemAdvise").is_some_and(|count| *count >= 4), "the next owner inherits it: {calls:?}");
        let next = fixture.memory(Kind::Shared, 128 << 10);
        let (_, calls) = sim.calls_of(|| drop(next));
        assert_eq!(calls.get("cuMemAdvise"), None, "{calls:?}");
    });
}

#[test]
fn threads_that_allocate_and_free_each_other_s_blocks_never_share_one() {
    let fixture = Fixture::new();
    let context = fixture.context() as usize;
    let (sender, receiver) = std::sync::mpsc::sync_channel::<(usize, usize)>(256);
    let receiver = Mutex::new(receiver);
    let handle = || context as ur_context_handle_t;
    std::thread::scope(|scope| {
        for thread in 0..4_usize {
            let (sender, fixture) = (sender.clone(), &fixture);
            scope.spawn(move || {
                for round in 0..2000 {
                    let bytes = 1 + (round * 37 + thread * 1000) % 5000;
                    let block = take(fixture, handle(), Kind::Host, bytes);
                    let mark = u8::try_from((thread * 61 + round) % 251).expect("small");
                    // SAFETY: a block of the host's memory of that size, this thread's alone.
                    unsafe { block.cast::<u8>().write_bytes(mark, bytes) };
                    sender.send((block.addr(), bytes << 8 | usize::from(mark))).expect("somebody frees");
                }
            });
        }
        drop(sender);
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let next = receiver.lock().expect("nobody panicked").recv();
                    let Ok((block, told)) = next else { return };
                    let pointer = core::ptr::with_exposed_provenance_mut::<u8>(block);
                    // SAFETY: the block was handed to this thread with all its bytes.
                    let bytes = unsafe { core::slice::from_raw_parts(pointer, told >> 8) };
                    assert!(bytes.iter().all(|byte| usize::from(*byte) == told & 0xff), "another thread's bytes");
                    let answer = ur!(USM.pfnFree(handle(), pointer.cast()));
                    assert_eq!(answer, Code::SUCCESS);
                }
            });
        }
    });
    assert_eq!(figures(fixture.context()).1, 0);
}

#[test]
fn of_threads_that_free_the_same_block_one_succeeds_and_the_neighbours_stay() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let context = fixture.context() as usize;
    for kind in kinds() {
        for bytes in [300, 100_000, 3 << 20] {
            let [before, after] = [0; 2].map(|_: u8| fixture.memory(kind, bytes));
            [&before, &after].iter().for_each(|one| one.write(&queue, &pattern(5, bytes)));
            for _ in 0..20 {
                let block = take(&fixture, fixture.context(), kind, bytes).expose_provenance();
                let start = std::sync::Barrier::new(4);
                let freed: usize = std::thread::scope(|scope| {
                    let free = || {
                        start.wait();
                        let pointer = core::ptr::with_exposed_provenance_mut::<c_void>(block);
                        match ur!(USM.pfnFree(context as ur_context_handle_t, pointer)) {
                            Code::SUCCESS => 1,
                            Code::ERROR_INVALID_MEM_OBJECT => 0,
                            other => panic!("urUSMFree answers {other:?}"),
                        }
                    };
                    let threads: Vec<_> = (0..4).map(|_| scope.spawn(free)).collect();
                    threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
                });
                assert_eq!(freed, 1, "{kind:?} {bytes}");
            }
            for one in [&before, &after] {
                assert!(one.read::<u8>(&queue, bytes) == pattern(5, bytes), "{kind:?} {bytes}");
            }
        }
    }
}

#[test]
fn a_process_that_ends_with_work_on_live_and_freed_blocks_ends_well() {
    let test = "a_process_that_ends_with_work_on_live_and_freed_blocks_ends_well";
    child::in_time::<&str>(test, &[], || {
        let fixture = Fixture::new();
        fixture.allow_leaks();
        let queue = fixture.in_order();
        let kernel = fixture.basic(c"fill");
        for kind in kinds() {
            for bytes in [1024_usize, 128 << 10, 4 << 20] {
                for is_freed in [false, true] {
                    let block = take(&fixture, fixture.context(), kind, bytes);
                    let words = u32::try_from(bytes / 4).expect("a small block");
                    Launch::new(&kernel, &[bytes / 4]).pointer(block).value(3_u32).value(words).on(&queue);
                    if is_freed {
                        free(fixture.context(), block);
                    }
                }
            }
        }
        // Nothing is waited for, released or freed.
        core::mem::forget((queue, kernel, fixture));
    });
}

#[test]
fn pools_that_are_destroyed_with_live_blocks_leave_plain_memory_alone() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let plain = fixture.memory(Kind::Device, 1 << 20);
    plain.write(&queue, &pattern(1, 1 << 20));
    // Over plain memory, and a native one.
    let below = fixture.memory(Kind::Device, 1 << 20);
    let over = Plan::new().buffer(below.pointer(), 1 << 20, Kind::Device, fixture.device()).of(&fixture);
    let native = Plan::new().of(&fixture);
    let blocks = [&over, &native].map(|pool| Take::new(4096).from(pool).on(&queue));
    drop((over, native));
    for block in blocks {
        memory::write(&queue, block, &pattern(2, 4096));
        assert!(memory::read::<u8>(&queue, block, 4096) == pattern(2, 4096));
        give(&queue, block);
    }
    queue.finish();
    drop(below);
    assert!(plain.read::<u8>(&queue, 1 << 20) == pattern(1, 1 << 20));
}
