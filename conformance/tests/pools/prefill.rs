//! Pools that begin with memory, and the native pools behind pools.
#![allow(non_snake_case, reason = "tests are named after the entry points and what they promise")]

use core::ptr::null_mut;

use ur_conformance::ffi::{ur_result_t as Code, ur_usm_pool_info_t as info, ur_usm_type_t};
use ur_conformance::memory::{self, pattern};
use ur_conformance::pool::{self, Figures, Plan, Take, figure, give, type_of};
use ur_conformance::{Fixture, Kind, Sim, child, needs_sim, refused, ur};

const MIB: usize = 1 << 20;

/// Calls that take memory from the system or the device, and not from a pool that has it.
const NATIVE: [&str; 3] = ["cuMemAlloc_v2", "cuMemHostAlloc", "cuMemAllocManaged"];

fn native_allocations<R>(sim: &Sim, work: impl FnOnce() -> R) -> (R, u64) {
    let (result, calls) = sim.calls_of(work);
    (result, NATIVE.iter().filter_map(|name| calls.get(*name)).sum())
}

fn first_allocations_take_the_prefill() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    for kind in Kind::ALL {
        let plan = Plan::new().prefilled(type_of(kind), 8 * MIB);
        for pool in [plan.of(&fixture), plan.core_of(&fixture)] {
            let before = Figures::of(pool.handle());
            assert!(before.reserved >= 8 * MIB && before.used_high == 0, "{kind:?}: {before:?}");
            let mut blocks = Vec::new();
            for bytes in [4 * MIB, 4096, 3 * MIB] {
                let take = Take::new(bytes).kind(kind).from(&pool);
                let (block, native) = native_allocations(sim, || take.on(&queue));
                assert_eq!((native, Figures::of(pool.handle()).reserved), (0, before.reserved), "{bytes} of {kind:?}");
                memory::write(&queue, block, &pattern(1, 4096));
                assert!(memory::read::<u8>(&queue, block, 4096) == pattern(1, 4096));
                blocks.push(block);
            }
            blocks.into_iter().for_each(|block| give(&queue, block));
            // Over a synchronisation it stays.
            queue.finish();
            assert_eq!(Figures::of(pool.handle()).reserved, before.reserved, "{kind:?}");
            assert!(figure(pool.handle(), info::RELEASE_THRESHOLD_EXP) >= 8 * MIB);
            pool::trim(&fixture, pool.handle(), 0);
        }
    }
}

#[test]
fn the_first_allocations_of_a_prefilled_pool_make_no_native_allocation() {
    let test = "the_first_allocations_of_a_prefilled_pool_make_no_native_allocation";
    first_allocations_take_the_prefill();
    child::in_process(test, &[pool::NO_NATIVE_POOLS], first_allocations_take_the_prefill);
}

/// From a slab not even the pool is asked.
#[test]
fn the_first_allocation_from_a_prefilled_slab_makes_no_native_call() {
    let test = "the_first_allocation_from_a_prefilled_slab_makes_no_native_call";
    child::in_process(test, &[pool::NO_NATIVE_POOLS], || {
        let fixture = Fixture::new();
        let sim = needs_sim!(fixture);
        let queue = fixture.in_order();
        for kind in Kind::ALL {
            let pool = Plan::new().prefilled(type_of(kind), MIB).of(&fixture);
            let take = Take::new(MIB).kind(kind).from(&pool);
            let block = sim.expect_calls(&[], || take.on(&queue));
            give(&queue, block);
            queue.finish();
        }
    });
}

#[test]
fn urUSMPoolCreateExp_prefills_each_kind_that_is_described_and_within_the_maximum() {
    let fixture = Fixture::new();
    let _sim = needs_sim!(fixture);
    let plan = Kind::ALL.into_iter().fold(Plan::new(), |plan, kind| plan.prefilled(type_of(kind), 2 * MIB));
    let pool = plan.limits(64 * MIB, 0).of(&fixture);
    assert!(Figures::of(pool.handle()).reserved >= 6 * MIB);
    let none = Plan::new().prefilled(ur_usm_type_t::DEVICE, 0).of(&fixture);
    assert_eq!(Figures::of(none.handle()).reserved, 0);
    let refuse = |plan: Plan, code: Code, what: &str| {
        let answers = (plan.create(fixture.context(), fixture.device()), plan.create_core(fixture.context()));
        assert_eq!((answers.0.err(), answers.1.err()), (Some(code), Some(code)), "{what}");
    };
    for kind in Kind::ALL {
        let beyond = Plan::new().limits(32 * MIB, 0).prefilled(type_of(kind), 32 * MIB + 1);
        refuse(beyond, Code::ERROR_INVALID_VALUE, "more than the maximum");
        let huge = Plan::new().prefilled(type_of(kind), usize::MAX / 2);
        refuse(huge, Code::ERROR_OUT_OF_DEVICE_MEMORY, "more than there is");
    }
    for other in [ur_usm_type_t::UNKNOWN, ur_usm_type_t(77)] {
        refuse(Plan::new().prefilled(other, MIB), Code::ERROR_INVALID_VALUE, "a type that is no kind");
    }
}

#[test]
fn urUSMPoolGetNativeHandleExt_gives_the_native_pool_of_each_kind_where_there_is_one() {
    let fixture = Fixture::over_all_devices();
    let pools = [Plan::new().of(&fixture), Plan::new().core_of(&fixture)];
    let (device, queue) = (fixture.device(), fixture.in_order());
    let mut seen = Vec::new();
    for (number, pool) in pools.iter().enumerate() {
        for kind in pool::kinds(&queue) {
            let get = || {
                let (mut native, kind) = (0, type_of(kind));
                let answer = ur!(UsmPoolExt.pfnUSMPoolGetNativeHandleExt(pool.handle(), device, kind, &raw mut native));
                (answer, native)
            };
            let (answer, native) = get();
            if !pool::is_native(kind) {
                assert_eq!((answer, native), (Code::ERROR_UNSUPPORTED_FEATURE, 0), "{kind:?}");
                continue;
            }
            assert_eq!(answer, Code::SUCCESS, "{kind:?}: {}", ur_conformance::last_error());
            assert!(native != 0 && !seen.contains(&native), "{kind:?}: pool {number} has native pools of its own");
            seen.push(native);
            assert_eq!(get(), (Code::SUCCESS, native), "{kind:?}: the same as long as the pool lives");
        }
    }
    let (mut native, of_device) = (7, ur_usm_type_t::DEVICE);
    let (pool, out) = (pools[0].handle(), &raw mut native);
    refused!(ERROR_INVALID_VALUE, UsmPoolExt.pfnUSMPoolGetNativeHandleExt(pool, device, ur_usm_type_t::UNKNOWN, out));
    refused!(ERROR_INVALID_NULL_HANDLE, UsmPoolExt.pfnUSMPoolGetNativeHandleExt(pool, null_mut(), of_device, out));
    refused!(ERROR_INVALID_NULL_POINTER, UsmPoolExt.pfnUSMPoolGetNativeHandleExt(pool, device, of_device, null_mut()));
    if let Some(&other) = fixture.devices.get(1) {
        refused!(ERROR_INVALID_DEVICE, UsmPoolExt.pfnUSMPoolGetNativeHandleExt(pool, other, of_device, out));
    }
    let memory = fixture.memory(Kind::Device, MIB);
    let over = Plan::new().buffer(memory.pointer(), MIB, Kind::Device, device).of(&fixture);
    refused!(ERROR_UNSUPPORTED_FEATURE, UsmPoolExt.pfnUSMPoolGetNativeHandleExt(over.handle(), device, of_device, out));
    refused!(
        ERROR_INVALID_VALUE,
        UsmPoolExt.pfnUSMPoolGetNativeHandleExt(over.handle(), device, ur_usm_type_t::HOST, out)
    );
    assert_eq!(native, 7, "a refusal writes nothing");
}
