//! Slabs of device memory that another device reaches.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::ur_result_t as Code;
use ur_conformance::memory::{self, pattern};
use ur_conformance::native::Streams;
use ur_conformance::pool::{self, Plan, Take, give, give_after};
use ur_conformance::{
    Event, Fixture, Gate, Kind, Launch, Memory, Pool, Queue, child, expect_success, needs_sim, ok, ur,
};

use crate::slabs::on_slabs;

const MIB: usize = 1 << 20;

/// A queue of either device and a pool of the second one that the first reaches, on which gates are.
struct Pair<'f> {
    fixture: &'f Fixture,
    own: Queue,
    peer: Queue,
    pool: Pool,
}

impl<'f> Pair<'f> {
    fn of(fixture: &'f Fixture) -> Option<Self> {
        let [first, second, ..] = fixture.devices[..] else {
            println!("skipped: needs a second device");
            return None;
        };
        let [own, peer] = [second, first].map(|device| fixture.queue_in(fixture.context(), device, Default::default()));
        let pool = Plan::new().peers(&[first]).create(fixture.context(), second).expect("a pool");
        Some(Self { fixture, own, peer, pool })
    }

    /// A block with a page of bytes, which a kernel of the first device reads behind the gate; where it reads them to.
    fn read_behind(&self, gate: &Gate<'_>, bytes: usize) -> (*mut core::ffi::c_void, Memory<'f>, Event) {
        let block = Take::new(bytes).from(&self.pool).on(&self.own);
        memory::write(&self.own, block, &pattern(7, 4096));
        self.own.finish();
        let out = self.fixture.memory(Kind::Host, 4096);
        let copy = self.fixture.basic(c"copy");
        gate.block(&self.peer);
        let launch = Launch::new(&copy, &[1024]).pointer(out.pointer()).pointer(block).value(1024u32);
        let read = launch.event_on(&self.peer);
        (block, out, read)
    }
}

/// As on native pools, whose list of peers may name any device.
#[test]
fn urUSMPoolCreate_with_a_peer_gives_that_device_memory_of_its_own_too() {
    on_slabs("urUSMPoolCreate_with_a_peer_gives_that_device_memory_of_its_own_too", || {
        let fixture = Fixture::over_all_devices();
        let Some(&second) = fixture.devices.get(1) else {
            println!("skipped: needs a second device");
            return;
        };
        let pool = Plan::new().peers(&[second]).core_of(&fixture);
        for &device in &fixture.devices {
            let queue = fixture.queue_in(fixture.context(), device, Default::default());
            let block = Take::new(MIB).from(&pool).on(&queue);
            memory::write(&queue, block, &pattern(5, MIB));
            assert!(memory::read::<u8>(&queue, block, MIB) == pattern(5, MIB));
            give(&queue, block);
            queue.finish();
        }
    });
}

/// Memory of an ended pool waits for the device's work, and so does the access to it.
#[test]
fn urUSMPoolRelease_leaves_a_peer_its_access_until_its_kernels_have_run() {
    on_slabs("urUSMPoolRelease_leaves_a_peer_its_access_until_its_kernels_have_run", || {
        let fixture = Fixture::over_all_devices();
        let Some(pair) = Pair::of(&fixture) else { return };
        let mut gate = Gate::new(&fixture);
        let (block, out, read) = pair.read_behind(&gate, MIB);
        drop(give_after(&pair.own, block, &[&read]));
        let Pair { own, peer, pool, .. } = pair;
        drop(pool);
        gate.open();
        [&peer, &own].into_iter().for_each(Queue::finish);
        assert!(out.read::<u8>(&own, 4096) == pattern(7, 4096));
    });
}

/// The memory's device has no work, and the native library waits for no other.
#[test]
fn memory_of_an_ended_pool_serves_a_full_device_behind_the_kernels_of_its_peers() {
    let test = "memory_of_an_ended_pool_serves_a_full_device_behind_the_kernels_of_its_peers";
    child::in_process(test, &[pool::NO_NATIVE_POOLS, ("SIMCUDA_MEMORY", "256M")], || {
        let fixture = Fixture::over_all_devices();
        let sim = needs_sim!(fixture);
        let Some(pair) = Pair::of(&fixture) else { return };
        let mut gate = Gate::new(&fixture);
        let (block, out, _read) = pair.read_behind(&gate, 160 * MIB);
        give(&pair.peer, block);
        let Pair { own, peer, pool, .. } = pair;
        drop(pool);
        let waits = || sim.calls_so_far("cuCtxSynchronize");
        let before = waits();
        std::thread::scope(|scope| {
            let filling = scope.spawn(|| {
                let mut block = null_mut();
                let (context, device) = (fixture.context(), fixture.devices[1]);
                let answer = memory::allocate(Kind::Device, context, device, null(), 160 * MIB, &raw mut block);
                expect_success(answer, "urUSMDeviceAlloc");
                ok!(USM.pfnFree(context, block));
            });
            while waits() == before && !filling.is_finished() {
                std::thread::yield_now();
            }
            gate.open();
        });
        peer.finish();
        assert!(out.read::<u8>(&own, 4096) == pattern(7, 4096));
    });
}

/// The native library refuses the wait for a device of which an application's own stream captures, and a kernel may run there.
#[test]
fn memory_of_an_ended_pool_stays_while_the_wait_for_its_peers_is_refused() {
    let test = "memory_of_an_ended_pool_stays_while_the_wait_for_its_peers_is_refused";
    child::in_process(test, &[pool::NO_NATIVE_POOLS, ("SIMCUDA_MEMORY", "256M")], || {
        let fixture = Fixture::over_all_devices();
        let _sim = needs_sim!(fixture);
        let Some(pair) = Pair::of(&fixture) else { return };
        let mut gate = Gate::new(&fixture);
        let (block, out, _read) = pair.read_behind(&gate, 160 * MIB);
        give(&pair.peer, block);
        let Pair { own, peer, pool, .. } = pair;
        drop(pool);
        let first = fixture.context_of(&fixture.devices[..1]);
        let mut context = 0;
        let told = ur!(Context.pfnGetNativeHandle(first.handle(), &raw mut context)) == Code::SUCCESS;
        let native = Streams::of(told.then_some(context));
        let stream = native.stream();
        native.begin_capture(stream);
        let fill = || {
            let mut block = null_mut();
            let (context, device) = (fixture.context(), fixture.devices[1]);
            let answer = memory::allocate(Kind::Device, context, device, null(), 160 * MIB, &raw mut block);
            (answer, block)
        };
        assert_eq!(fill().0, Code::ERROR_OUT_OF_DEVICE_MEMORY, "the peer's kernel reads the memory still");
        native.end_broken_capture(stream);
        native.destroy_stream(stream);
        drop(native);
        gate.open();
        peer.finish();
        assert!(out.read::<u8>(&own, 4096) == pattern(7, 4096));
        let (answer, block) = fill();
        expect_success(answer, "urUSMDeviceAlloc");
        ok!(USM.pfnFree(fixture.context(), block));
    });
}
