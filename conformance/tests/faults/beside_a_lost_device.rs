//! A device that is well, in a context with one that was lost: what is asked of the one does not answer for the other.
//! Needs the simulated driver.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{ur_context_info_t, ur_result_t as Code};
use ur_conformance::memory::allocate;
use ur_conformance::pool::{self, Figures, NATIVE_POOLS, Plan, Take, free, give};
use ur_conformance::{Fixture, Kernel, Kind, Launch, Queue, Sim, ask, child, expect_success, needs_sim, ok, query};

const MIB: usize = 1 << 20;

/// A queue of each of the first two devices, with a kernel of `basic.ptx` there.
fn on_two_devices(fixture: &Fixture, name: &core::ffi::CStr) -> [(Queue, Kernel); 2] {
    assert!(fixture.devices.len() >= 2, "the simulated driver has two devices, unless SIMCUDA_DEVICES says otherwise");
    [fixture.devices[0], fixture.devices[1]].map(|device| {
        let kernel = fixture.kernel(&fixture.program_on("basic.ptx", device), name);
        (fixture.queue_in(fixture.context(), device, Default::default()), kernel)
    })
}

/// Loses the second device while its queues have work.
fn lose_second(sim: &Sim, kernel: &Kernel, queues: &[&Queue], before: impl FnOnce()) {
    let held = sim.hold();
    queues.iter().for_each(|queue| Launch::new(kernel, &[1]).on(queue));
    before();
    sim.lose_device(1);
    drop(held);
}

#[test]
fn urQueueFinish_answers_for_its_own_device_though_a_lost_one_freed_a_block_of_its_pool() {
    for stays in [true, false] {
        let fixture = Fixture::over_all_devices();
        let sim = needs_sim!(fixture);
        let [(a, _), (b, on_b)] = on_two_devices(&fixture, c"empty");
        let pool = Plan::new().of(&fixture);
        let take = || Take::new(3 * MIB).kind(Kind::Shared).from(&pool).on(&a);
        let block = take();
        a.finish();
        lose_second(sim, &on_b, &[&b], || assert_eq!(free(&b, block), Code::SUCCESS));
        let b = Some(b).filter(|_| stays);
        a.finish();
        assert_eq!(Figures::of(pool.handle()).reserved, 0, "nothing runs on the lost device, so the slab goes back");
        give(&a, take());
        a.finish();
        drop(b);
    }
}

/// The device is full of what its own queue keeps; the other one's queue keeps nothing, but has freed a block natively.
#[test]
fn urUSMDeviceAlloc_on_a_full_device_gets_what_is_kept_though_a_lost_one_freed_a_block_of_its_pool() {
    let test = "urUSMDeviceAlloc_on_a_full_device_gets_what_is_kept_though_a_lost_one_freed_a_block_of_its_pool";
    let variables = [("SIMCUDA_MEMORY", "256M"), ("UR_USM_MAGAZINE_BYTES", "1000G"), NATIVE_POOLS];
    child::in_process(test, &variables, || {
        let fixture = Fixture::over_all_devices();
        let sim = needs_sim!(fixture);
        let [(a, _), (b, on_b)] = on_two_devices(&fixture, c"empty");
        let pool = Plan::new().limits(0, usize::MAX).of(&fixture);
        let blocks: Vec<*mut c_void> = (0..12).map(|_| Take::new(16 * MIB).from(&pool).on(&a)).collect();
        let of_b = Take::new(4096).from(&pool).on(&a);
        a.finish();
        give(&b, of_b);
        b.finish();
        blocks.into_iter().for_each(|block| give(&a, block));
        a.finish();
        lose_second(sim, &on_b, &[&b], || {});
        let (context, device, mut memory) = (fixture.context(), fixture.device(), null_mut());
        expect_success(allocate(Kind::Device, context, device, null(), 160 * MIB, &raw mut memory), "urUSMDeviceAlloc");
        ok!(USM.pfnFree(context, memory));
        pool::trim(&fixture, pool.handle(), 0);
    });
}

#[test]
fn urUSMFree_leaves_memory_to_be_used_again_though_another_device_was_lost_with_work() {
    const ROUNDS: usize = 20_000;
    const BYTES: usize = 4096;
    let test = "urUSMFree_leaves_memory_to_be_used_again_though_another_device_was_lost_with_work";
    child::in_process(test, &[("UR_USM_POOL", "1"), ("UR_USM_POOL_DEBUG", "0")], || {
        let fixture = Fixture::over_all_devices();
        let sim = needs_sim!(fixture);
        let [_, (b, on_b)] = on_two_devices(&fixture, c"empty");
        let gone = fixture.queue_in(fixture.context(), fixture.devices[1], Default::default());
        drop(fixture.memory(Kind::Device, BYTES));
        // One is there for good, and one has left an event.
        lose_second(sim, &on_b, &[&b, &gone], || ());
        drop(gone);
        let mut live = Vec::new();
        for round in 0..ROUNDS {
            let memory = fixture.memory(Kind::Device, BYTES);
            if round % 16 == 0 {
                live.push(memory);
            }
        }
        let reserved = ur_context_info_t::USM_RESERVED_BYTES_EXP;
        let reserved: u64 = query::get(ask!(Context.pfnGetInfo(fixture.context(), reserved)));
        let bound = (live.len() * BYTES + 16 * MIB) as u64;
        assert!(reserved < bound, "{reserved} bytes are held for {} blocks that are live", live.len());
    });
}
