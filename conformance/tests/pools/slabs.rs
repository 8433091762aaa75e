//! Pools whose blocks are cut from slabs, because the native library has no pools of the kind: that they make few native
//! allocations, give them back as pools do, hold up nobody and leave nothing. What pools promise anyway is in the other files, whose tests run on
//! slabs too: HIP's host and shared memory, and `policy` on devices without pools.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ffi::c_void;

use ur_conformance::ffi::{
    CBool, ur_result_t as Code, ur_usm_advice_flags_t, ur_usm_alloc_info_t, ur_usm_pool_info_t as info, ur_usm_type_t,
};
use ur_conformance::memory::{self, pattern};
use ur_conformance::pool::{self, Figures, Plan, Take, figure, free, give, give_after};
use ur_conformance::sim::status;
use ur_conformance::{Fixture, Gate, Kind, Launch, Pool, Queue, ask, child, needs_sim, ok, query, renew_adapter, ur};

const MIB: usize = 1 << 20;

/// Runs a test on devices that have no pools of any kind, so that all memory of pools comes in slabs.
#[track_caller]
pub fn on_slabs(test: &str, body: impl FnOnce()) {
    child::in_process(test, &[pool::NO_NATIVE_POOLS], body);
}

/// What the other files promise, but for native pools and for how few native calls there are. One test at a time: some fill the
/// device. `UR_TEST_SKIP` names tests that cannot pass where this runs (`run.sh sanitizer`).
#[test]
fn what_pools_promise_is_kept_on_slabs() {
    const FILES: [&str; 8] = [
        "blocks_as_memory::",
        "info::",
        "limits::",
        "many_threads::",
        "order::",
        "out_of_memory::",
        "over_caller_memory::",
        "stream_ordered::",
    ];
    if pool::in_slabs() {
        return;
    }
    let (name, value) = pool::NO_NATIVE_POOLS;
    let mut command = std::process::Command::new(std::env::current_exe().expect("a test binary"));
    for test in std::env::var("UR_TEST_SKIP").unwrap_or_default().split_whitespace() {
        command.args(["--skip", test]);
    }
    let ran = command.args(FILES).arg("--test-threads=1").env(name, value).output().expect("a child");
    let text = String::from_utf8_lossy(&ran.stdout);
    let missing = FILES.iter().find(|file| !text.contains(&format!("test {file}")));
    assert!(ran.status.success() && missing.is_none(), "{missing:?}\n{text}\n{}", String::from_utf8_lossy(&ran.stderr));
}

/// Native allocations of all kinds that there are.
pub fn native_memory(fixture: &Fixture) -> u64 {
    let objects = fixture.sim().map(ur_conformance::Sim::objects).unwrap_or_default();
    ["host memory", "managed memory", "device memory"].iter().filter_map(|kind| objects.get(*kind)).sum()
}

fn hoarder(fixture: &Fixture) -> Pool {
    Plan::new().limits(0, usize::MAX).of(fixture)
}

fn reserved(pool: &Pool) -> usize {
    figure(pool.handle(), info::RESERVED_CURRENT_EXP)
}

#[test]
fn slabs_grow_with_what_is_taken_so_that_many_blocks_need_few_native_allocations() {
    on_slabs("slabs_grow_with_what_is_taken_so_that_many_blocks_need_few_native_allocations", || {
        let fixture = Fixture::new();
        let _sim = needs_sim!(fixture);
        let queue = fixture.in_order();
        for kind in Kind::ALL {
            let (pool, before) = (hoarder(&fixture), native_memory(&fixture));
            let take = Take::new(MIB / 4).kind(kind).from(&pool);
            let blocks: Vec<_> = (0..64).map(|_| take.on(&queue)).collect();
            // 2, 2, 4 and 8 MiB.
            assert_eq!((native_memory(&fixture) - before, reserved(&pool)), (4, 16 * MIB), "{kind:?}");
            for (index, &block) in blocks.iter().enumerate() {
                memory::write(&queue, block, &pattern(index as u32, MIB / 4));
            }
            for (index, &block) in blocks.iter().enumerate() {
                let found: Vec<u8> = memory::read(&queue, block, MIB / 4);
                assert!(found == pattern(index as u32, MIB / 4), "block {index} of {kind:?} memory");
            }
            blocks.iter().for_each(|&block| give(&queue, block));
            queue.finish();
            pool::trim(&fixture, pool.handle(), 0);
            let figures = Figures::of(pool.handle());
            assert_eq!((figures.reserved, figures.reserved_high, figures.used), (0, 16 * MIB, 0), "{kind:?}");
            assert_eq!(native_memory(&fixture), before, "{kind:?}");
        }
    });
}

#[test]
fn a_request_larger_than_a_slab_gets_one_of_its_own() {
    on_slabs("a_request_larger_than_a_slab_gets_one_of_its_own", || {
        let fixture = Fixture::new();
        let queue = fixture.in_order();
        for kind in Kind::ALL {
            let pool = hoarder(&fixture);
            let block = Take::new(100 * MIB + 1).kind(kind).from(&pool).on(&queue);
            assert!((100 * MIB + 1..101 * MIB).contains(&reserved(&pool)), "{kind:?}: {}", reserved(&pool));
            let end = block.wrapping_byte_add(100 * MIB + 1 - 4096);
            memory::write(&queue, end, &pattern(1, 4096));
            assert!(memory::read::<u8>(&queue, end, 4096) == pattern(1, 4096));
            give(&queue, block);
            queue.finish();
        }
    });
}

/// As on native pools: memory that is freed on a busy queue stays, and nobody waits. A native free would wait for the gate.
#[test]
fn urUSMPoolTrimToExp_beside_a_busy_queue_waits_for_nobody_and_gives_slabs_back_when_all_are_done() {
    let test = "urUSMPoolTrimToExp_beside_a_busy_queue_waits_for_nobody_and_gives_slabs_back_when_all_are_done";
    on_slabs(test, || {
        let fixture = Fixture::new();
        let (busy, queue) = (fixture.in_order(), fixture.in_order());
        for kind in Kind::ALL {
            let pool = hoarder(&fixture);
            let take = Take::new(MIB).kind(kind).from(&pool);
            let mut gate = Gate::new(&fixture);
            gate.block(&busy);
            give(&queue, take.on(&queue));
            queue.finish();
            pool::trim(&fixture, pool.handle(), 0);
            assert_eq!(reserved(&pool), 2 * MIB, "{kind:?}");
            gate.open();
            busy.finish();
            pool::trim(&fixture, pool.handle(), 0);
            assert_eq!(reserved(&pool), 0, "{kind:?}");
        }
    });
}

/// An event behind the queue's frees would be recorded on a stream that has nothing to do, and a trim would find the memory in use
/// until the device has got there.
#[test]
fn urQueueRelease_of_a_finished_queue_records_nothing_and_leaves_its_blocks_to_the_next_trim() {
    let test = "urQueueRelease_of_a_finished_queue_records_nothing_and_leaves_its_blocks_to_the_next_trim";
    on_slabs(test, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        for kind in Kind::ALL {
            let (pool, queue) = (hoarder(&fixture), fixture.in_order());
            give(&queue, Take::new(MIB).kind(kind).from(&pool).on(&queue));
            queue.finish();
            let ((), calls) = sim.calls_of(|| drop(queue));
            let recorded = calls.iter().find(|(name, _)| name.contains("EventRecord"));
            assert_eq!(recorded, None, "{kind:?}");
            pool::trim(&fixture, pool.handle(), 0);
            assert_eq!(reserved(&pool), 0, "{kind:?}");
        }
    });
}

/// The last block is freed on a queue that stands at a gate, and the pool is gone.
#[test]
fn a_pool_that_ends_beside_a_busy_queue_waits_for_nobody_and_leaves_nothing_behind_the_adapter() {
    on_slabs("a_pool_that_ends_beside_a_busy_queue_waits_for_nobody_and_leaves_nothing_behind_the_adapter", || {
        let fixture = Fixture::new();
        let _sim = needs_sim!(fixture);
        let (fill, before) = (fixture.basic(c"fill"), native_memory(&fixture));
        {
            let queue = fixture.in_order();
            let mut gate = Gate::new(&fixture);
            gate.block(&queue);
            for kind in Kind::ALL {
                let pool = Plan::new().of(&fixture);
                let block = Take::new(4096).kind(kind).from(&pool).on(&queue);
                drop(pool);
                Launch::new(&fill, &[1024]).pointer(block).value(7u32).value(1024u32).on(&queue);
                give(&queue, block);
                assert_eq!(told_type(&fixture, block), ur_usm_type_t::UNKNOWN, "{kind:?}");
                assert_eq!(ur!(USM.pfnFree(fixture.context(), block)), Code::ERROR_INVALID_MEM_OBJECT, "{kind:?}");
            }
            gate.open();
            queue.finish();
        }
        renew_adapter();
        assert_eq!(native_memory(&fixture), before);
    });
}

#[test]
fn memory_that_ended_pools_left_beside_a_busy_queue_serves_a_full_device() {
    let test = "memory_that_ended_pools_left_beside_a_busy_queue_serves_a_full_device";
    child::in_process(test, &[pool::NO_NATIVE_POOLS, ("SIMCUDA_MEMORY", "256M")], || {
        let fixture = Fixture::new();
        let _sim = needs_sim!(fixture);
        let queue = fixture.in_order();
        let mut gate = Gate::new(&fixture);
        gate.block(&queue);
        let pool = Plan::new().of(&fixture);
        let block = Take::new(160 * MIB).from(&pool).on(&queue);
        drop(pool);
        give(&queue, block);
        gate.open();
        queue.finish();
        drop(fixture.memory(Kind::Device, 160 * MIB));
        let pool = Plan::new().of(&fixture);
        give(&queue, Take::new(160 * MIB).from(&pool).on(&queue));
        queue.finish();
    });
}

fn told_type(fixture: &Fixture, pointer: *mut c_void) -> ur_usm_type_t {
    let property = ur_usm_alloc_info_t::TYPE;
    ur_usm_type_t(query::get(ask!(USM.pfnGetMemAllocInfo(fixture.context(), pointer.cast_const(), property))))
}

/// The native library takes a slab for one plain allocation that starts where the first block does.
#[test]
fn a_slab_is_nobody_s_but_for_the_blocks_that_are_out() {
    on_slabs("a_slab_is_nobody_s_but_for_the_blocks_that_are_out", || {
        let fixture = Fixture::new();
        let queue = fixture.in_order();
        let context = fixture.context();
        for kind in Kind::ALL {
            let pool = hoarder(&fixture);
            let take = Take::new(MIB).kind(kind).from(&pool);
            let (first, second) = (take.on(&queue), take.on(&queue));
            memory::write(&queue, second, &pattern(2, MIB));
            give(&queue, first);
            queue.finish();
            for place in [0, 1, MIB - 1] {
                let at = first.wrapping_byte_add(place);
                assert_eq!(told_type(&fixture, at), ur_usm_type_t::UNKNOWN, "{kind:?}, byte {place}");
                assert_eq!(ur!(USM.pfnFree(context, at)), Code::ERROR_INVALID_MEM_OBJECT, "{kind:?}, byte {place}");
                assert_eq!(free(&queue, at), Code::ERROR_INVALID_MEM_OBJECT, "{kind:?}, byte {place}");
            }
            let plan = Plan::new().buffer(first, 512, kind, fixture.device());
            let over = plan.create(context, fixture.device()).err();
            assert_eq!(over, Some(Code::ERROR_INVALID_VALUE), "{kind:?}: a pool over a slab's freed bytes");
            let other = fixture.context_of(&[fixture.device()]);
            let answer = ur!(USM.pfnFree(other.handle(), second));
            assert_eq!(answer, Code::ERROR_INVALID_MEM_OBJECT, "{kind:?}: by another context");
            assert!(memory::read::<u8>(&queue, second, MIB) == pattern(2, MIB));
            give(&queue, second);
            queue.finish();
        }
    });
}

/// Where the native library would take the whole slab: for copies of rows, and for other processes.
#[test]
fn urEnqueueUSMMemcpy2D_and_urIPCGetMemHandleExp_know_a_block_of_a_slab_and_not_the_slab() {
    on_slabs("urEnqueueUSMMemcpy2D_and_urIPCGetMemHandleExp_know_a_block_of_a_slab_and_not_the_slab", || {
        let fixture = Fixture::new();
        let queue = fixture.in_order();
        let source = pattern(3, 2048);
        for kind in Kind::ALL {
            let pool = hoarder(&fixture);
            let take = Take::new(1024).kind(kind).from(&pool);
            let (block, neighbour) = (take.on(&queue), take.on(&queue));
            memory::write(&queue, neighbour, &pattern(4, 1024));
            let rows = |count| {
                let (q, from) = (queue.handle(), source.as_ptr().cast());
                let (none, no) = (core::ptr::null(), core::ptr::null_mut());
                ur!(Enqueue.pfnUSMMemcpy2D(q, CBool::TRUE, block, 64, from, 64, 64, count, 0, none, no))
            };
            assert_eq!((rows(16), rows(17)), (Code::SUCCESS, Code::ERROR_INVALID_SIZE), "{kind:?}");
            assert!(memory::read::<u8>(&queue, neighbour, 1024) == pattern(4, 1024), "{kind:?}");
            let (mut data, mut size) = (core::ptr::null_mut(), 0_usize);
            let answer = ur!(IPCExp.pfnGetMemHandleExp(fixture.context(), block, &raw mut data, &raw mut size));
            assert_eq!(answer, Code::ERROR_INVALID_VALUE, "{kind:?}");
            [block, neighbour].into_iter().for_each(|block| give(&queue, block));
            queue.finish();
        }
    });
}

/// It would stay with the pages, for whoever has them next.
#[test]
fn urEnqueueUSMAdvise_of_a_block_of_a_slab_advises_no_page() {
    on_slabs("urEnqueueUSMAdvise_of_a_block_of_a_slab_advises_no_page", || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let queue = fixture.in_order();
        let pool = hoarder(&fixture);
        let block = Take::new(MIB).kind(Kind::Shared).from(&pool).on(&queue);
        let flags = ur_usm_advice_flags_t::SET_READ_MOSTLY;
        let ((), calls) = sim.calls_of(|| {
            ok!(Enqueue.pfnUSMAdvise(queue.handle(), block, MIB, flags, core::ptr::null_mut()));
        });
        assert_eq!(calls.keys().find(|call| call.starts_with("cuMemAdvise")), None);
        give(&queue, block);
        queue.finish();
    });
}

/// Slabs of many sizes come and go, with blocks on several queues that free them for each other.
#[test]
fn blocks_of_slabs_never_share_a_byte_whichever_queue_frees_them() {
    on_slabs("blocks_of_slabs_never_share_a_byte_whichever_queue_frees_them", || {
        let fixture = Fixture::new();
        let queues: Vec<Queue> = (0..3).map(|_| fixture.in_order()).collect();
        for kind in Kind::ALL {
            let pool = Plan::new().of(&fixture);
            let mut live: Vec<(*mut c_void, usize, u32)> = Vec::new();
            let mut random = 12_345_u32;
            for round in 0..300_u32 {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let queue = &queues[random as usize / 7 % 3];
                if live.len() > 12 || (random >> 30 == 0 && !live.is_empty()) {
                    let (block, bytes, seed) = live.swap_remove(random as usize / 64 % live.len());
                    assert!(memory::read::<u8>(queue, block, bytes) == pattern(seed, bytes), "{kind:?}, round {round}");
                    give(queue, block);
                } else {
                    let bytes = 1 + (random as usize >> 4) % (if random >> 28 == 1 { 3 * MIB } else { 100_000 });
                    let (block, allocated) = Take::new(bytes).kind(kind).from(&pool).event_on(queue);
                    allocated.wait();
                    memory::write(queue, block, &pattern(round, bytes));
                    live.push((block, bytes, round));
                }
                if random >> 27 == 3 {
                    queue.finish();
                }
            }
            for (block, bytes, seed) in live {
                assert!(memory::read::<u8>(&queues[0], block, bytes) == pattern(seed, bytes), "{kind:?}");
                give(&queues[0], block);
            }
            queues.iter().for_each(Queue::finish);
            assert_eq!(Figures::of(pool.handle()).used, 0);
        }
    });
}

/// Two queues of which each frees what the other waits for: without free lists every block goes through the slabs.
#[test]
fn a_block_in_a_slab_serves_the_queue_that_waits_for_its_free_without_a_new_slab() {
    let test = "a_block_in_a_slab_serves_the_queue_that_waits_for_its_free_without_a_new_slab";
    child::in_process(test, &[pool::NO_NATIVE_POOLS, ("UR_USM_MAGAZINE_BYTES", "0")], || {
        let fixture = Fixture::new();
        let fill = fixture.basic(c"fill");
        let (one, two) = (fixture.in_order(), fixture.in_order());
        for kind in Kind::ALL {
            let (pool, mut gate) = (hoarder(&fixture), Gate::new(&fixture));
            let take = Take::new(2 * MIB).kind(kind).from(&pool);
            let block = take.on(&one);
            gate.block(&one);
            let early = Launch::new(&fill, &[1024]).pointer(block).value(1u32).value(1024u32).event_on(&one);
            let freed = give_after(&one, block, &[]);
            let other = take.clone().after(&[&early]).on(&two);
            assert_ne!(other, block, "{kind:?}: the block is still in use");
            let again = take.clone().after(&[&freed]).on(&two);
            assert_eq!((again, reserved(&pool)), (block, 4 * MIB), "{kind:?}");
            [again, other].into_iter().for_each(|block| give(&two, block));
            gate.open();
            [&one, &two].into_iter().for_each(Queue::finish);
        }
    });
}

#[test]
fn urUSMPoolGetNativeHandleExt_of_memory_in_slabs_is_UNSUPPORTED_FEATURE() {
    on_slabs("urUSMPoolGetNativeHandleExt_of_memory_in_slabs_is_UNSUPPORTED_FEATURE", || {
        let fixture = Fixture::new();
        let _sim = needs_sim!(fixture);
        let pool = Plan::new().of(&fixture);
        for kind in Kind::ALL {
            let (mut native, device) = (7, fixture.device());
            let kind = pool::type_of(kind);
            let answer = ur!(UsmPoolExt.pfnUSMPoolGetNativeHandleExt(pool.handle(), device, kind, &raw mut native));
            assert_eq!((answer, native), (Code::ERROR_UNSUPPORTED_FEATURE, 7), "{kind:?}");
            assert!(ur_conformance::last_error().contains("slabs"), "{}", ur_conformance::last_error());
        }
    });
}

/// Threads that make room at one time take each other's slabs, and each gets its blocks.
#[test]
fn threads_that_grow_one_pool_all_get_their_blocks() {
    on_slabs("threads_that_grow_one_pool_all_get_their_blocks", || {
        let fixture = Fixture::new();
        let pool = Plan::new().limits(256 * MIB, usize::MAX).of(&fixture);
        let handle = pool.handle().expose_provenance();
        let queues: Vec<Queue> = (0..4).map(|_| fixture.in_order()).collect();
        let addresses: Vec<usize> = queues.iter().map(|queue| queue.handle().expose_provenance()).collect();
        std::thread::scope(|scope| {
            for (number, &queue) in addresses.iter().enumerate() {
                scope.spawn(move || {
                    for round in 0..200_usize {
                        let kind = Kind::ALL[(number + round) % 3];
                        let bytes = MIB + (number * 7 + round) % 5 * MIB;
                        let (mut block, queue) = (core::ptr::null_mut(), core::ptr::with_exposed_provenance_mut(queue));
                        let (pool, none) = (core::ptr::with_exposed_provenance_mut(handle), core::ptr::null());
                        let (list, out, event) = (core::ptr::null(), &raw mut block, core::ptr::null_mut());
                        match kind {
                            Kind::Host => {
                                ok!(EnqueueExp.pfnUSMHostAllocExp(queue, pool, bytes, none, 0, list, out, event))
                            }
                            Kind::Device => {
                                ok!(EnqueueExp.pfnUSMDeviceAllocExp(queue, pool, bytes, none, 0, list, out, event));
                            }
                            Kind::Shared => {
                                ok!(EnqueueExp.pfnUSMSharedAllocExp(queue, pool, bytes, none, 0, list, out, event));
                            }
                        }
                        ok!(EnqueueExp.pfnUSMFreeExp(queue, pool, block, 0, list, event));
                        if round % 50 == 49 {
                            ok!(Queue.pfnFinish(queue));
                        }
                    }
                });
            }
        });
        queues.iter().for_each(Queue::finish);
        assert_eq!(Figures::of(pool.handle()).used, 0);
    });
}

/// A request that names no pool has found its device's current pool empty and makes a slab for it. Before it comes back to take its
/// block, another thread has set another pool, and may have released the first. Whichever pool serves it has room.
#[test]
fn urEnqueueUSMDeviceAllocExp_without_a_pool_is_served_though_another_pool_is_set_meanwhile() {
    let test = "urEnqueueUSMDeviceAllocExp_without_a_pool_is_served_though_another_pool_is_set_meanwhile";
    on_slabs(test, || {
        for is_released in [false, true] {
            let fixture = Fixture::new();
            let sim = needs_sim!(fixture);
            let queue = fixture.in_order();
            let (first, second) = (hoarder(&fixture), hoarder(&fixture));
            let set = |pool: &Pool| {
                ok!(USMExp.pfnPoolSetDevicePoolExp(fixture.context(), fixture.device(), pool.handle()));
            };
            set(&first);
            let mut first = Some(first);
            let block = std::thread::scope(|scope| {
                let held = sim.hold_calls("cuMemAlloc_v2");
                let taking = scope.spawn(|| Take::new(1024).on(&queue).expose_provenance());
                held.wait_for_one(|| taking.is_finished());
                set(&second);
                first.take_if(|_| is_released);
                drop(held);
                taking.join().expect("a block")
            });
            let used = |pool: &Pool| Figures::of(pool.handle()).used;
            assert_eq!(first.as_ref().map_or(0, used) + used(&second), 1024);
            give(&queue, core::ptr::with_exposed_provenance_mut(block));
            queue.finish();
        }
    });
}

/// Threads that find a pool empty at one time share the slab that the first of them makes.
#[test]
fn threads_that_come_to_an_empty_pool_at_one_time_hold_no_slab_each() {
    on_slabs("threads_that_come_to_an_empty_pool_at_one_time_hold_no_slab_each", || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let queues: Vec<Queue> = (0..8).map(|_| fixture.in_order()).collect();
        for (maximum, slab) in [(0, 2 * MIB), (256 * MIB, 32 * MIB)] {
            let pool = Plan::new().limits(maximum, usize::MAX).of(&fixture);
            sim.slow_down("cuMemAlloc_v2", 3000);
            let start = std::sync::Barrier::new(queues.len());
            std::thread::scope(|scope| {
                for queue in &queues {
                    let (start, pool) = (&start, &pool);
                    scope.spawn(move || {
                        start.wait();
                        give(queue, Take::new(1024).from(pool).on(queue));
                    });
                }
            });
            sim.clear_faults();
            queues.iter().for_each(Queue::finish);
            // One more where a thread lost patience; it was eight.
            assert!(reserved(&pool) <= 2 * slab, "{} bytes for {} KiB", reserved(&pool), queues.len());
        }
    });
}

/// Threads that trim one pool at one time: what one has taken to give back, the other does not count once more.
#[test]
fn urUSMPoolTrimToExp_on_several_threads_at_one_time_keeps_what_it_was_told_to_keep() {
    on_slabs("urUSMPoolTrimToExp_on_several_threads_at_one_time_keeps_what_it_was_told_to_keep", || {
        const SLAB: usize = 9 * MIB;
        let fixture = Fixture::new();
        let _sim = needs_sim!(fixture);
        let queue = fixture.in_order();
        let pool = Plan::new().limits(1024 * MIB, usize::MAX).of(&fixture);
        let take = Take::new(SLAB).from(&pool);
        for round in 0..200 {
            let blocks: Vec<_> = (0..16).map(|_| take.on(&queue)).collect();
            blocks.into_iter().for_each(|block| give(&queue, block));
            queue.finish();
            let start = std::sync::atomic::AtomicUsize::new(0);
            let trim = || {
                start.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                while start.load(std::sync::atomic::Ordering::SeqCst) < 2 {
                    std::hint::spin_loop();
                }
                pool::trim(&fixture, pool.handle(), 10 * SLAB);
            };
            std::thread::scope(|scope| {
                scope.spawn(trim);
                trim();
            });
            assert_eq!(reserved(&pool) / SLAB, 10, "slabs after two trims, round {round}");
        }
    });
}

/// A slab that another thread is making counts against the maximum, and was held by nobody if it comes to nothing.
#[test]
fn RESERVED_HIGH_counts_no_slab_that_the_native_library_refused() {
    let test = "RESERVED_HIGH_counts_no_slab_that_the_native_library_refused";
    on_slabs(test, || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let (one, two) = (fixture.in_order(), fixture.in_order());
        // What a thread gives back first that makes a slab, since it is too large to be one.
        {
            let mut gate = Gate::new(&fixture);
            gate.block(&one);
            let ending = Plan::new().of(&fixture);
            give(&one, Take::new(9 * MIB).from(&ending).on(&one));
            drop(ending);
            gate.open();
            one.finish();
        }
        let pool = hoarder(&fixture);
        let (small, large) = std::thread::scope(|scope| {
            let held = sim.hold_calls("cuMemFree_v2");
            let taking = scope.spawn(|| Take::new(MIB).from(&pool).on(&one).expose_provenance());
            held.wait_for_one(|| taking.is_finished());
            let large = Take::new(4 * MIB).from(&pool).on(&two);
            sim.fail("cuMemAlloc_v2", 1, status::OUT_OF_MEMORY);
            drop(held);
            (core::ptr::with_exposed_provenance_mut(taking.join().expect("a block")), large)
        });
        sim.clear_faults();
        let figures = Figures::of(pool.handle());
        assert_eq!((figures.reserved, figures.reserved_high), (5 * MIB, 5 * MIB));
        give(&one, small);
        give(&two, large);
        [&one, &two].into_iter().for_each(Queue::finish);
    });
}
