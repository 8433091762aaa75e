//! How much freed plain memory stays kept where several threads free at one time.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::null;

use ur_conformance::memory::allocate;
use ur_conformance::{Fixture, Kind, child, expect_success, needs_sim, ok};

const MIB: usize = 1 << 20;

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
        let blocks = [(); 6].map(|()| {
            let mut block = core::ptr::null_mut();
            let device = fixture.device();
            let answer = allocate(Kind::Device, fixture.context(), device, null(), 2 * MIB, &raw mut block);
            expect_success(answer, "urUSMDeviceAlloc");
            block.expose_provenance()
        });
        let free = move |block: usize| {
            let (context, block) = (core::ptr::with_exposed_provenance_mut(context), block);
            ok!(USM.pfnFree(context, core::ptr::with_exposed_provenance_mut(block)));
        };
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
