//! `urEnqueueUSMPrefetch`, `urEnqueueUSMAdvise`.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    UR_USM_ADVICE_FLAGS_MASK, UR_USM_MIGRATION_FLAGS_MASK, ur_command_t, ur_device_handle_t, ur_event_info_t,
    ur_queue_flags_t, ur_usm_advice_flags_t as Advice, ur_usm_migration_flags_t as Migration,
};
use ur_conformance::memory::pattern;
use ur_conformance::native::Hip;
use ur_conformance::sim::status;
use ur_conformance::{Fixture, Gate, Kind, Launch, ask, child, needs_sim, ok, owned, query, refused, ur};

const DIRECTIONS: [Migration; 3] = [Migration::empty(), Migration::HOST_TO_DEVICE, Migration::DEVICE_TO_HOST];

/// Flags that can be given together.
const ADVICE: [Advice; 19] = [
    Advice::empty(),
    Advice::DEFAULT,
    Advice::SET_READ_MOSTLY,
    Advice::CLEAR_READ_MOSTLY,
    Advice::SET_PREFERRED_LOCATION,
    Advice::CLEAR_PREFERRED_LOCATION,
    Advice::SET_NON_ATOMIC_MOSTLY,
    Advice::CLEAR_NON_ATOMIC_MOSTLY,
    Advice::BIAS_CACHED,
    Advice::BIAS_UNCACHED,
    Advice::SET_ACCESSED_BY_DEVICE,
    Advice::CLEAR_ACCESSED_BY_DEVICE,
    Advice::SET_ACCESSED_BY_HOST,
    Advice::CLEAR_ACCESSED_BY_HOST,
    Advice::SET_PREFERRED_LOCATION_HOST,
    Advice::CLEAR_PREFERRED_LOCATION_HOST,
    Advice::SET_NON_COHERENT_MEMORY,
    Advice::CLEAR_NON_COHERENT_MEMORY,
    Advice::SET_READ_MOSTLY.union(Advice::SET_ACCESSED_BY_DEVICE).union(Advice::SET_ACCESSED_BY_HOST),
];

#[test]
fn urEnqueueUSMPrefetch_leaves_memory_of_every_kind_as_it_is_in_every_direction() {
    let fixture = Fixture::new();
    let kernel = fixture.basic(c"add_constant");
    for flags in [ur_queue_flags_t::empty(), ur_queue_flags_t::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = fixture.queue(flags);
        for kind in Kind::ALL {
            let memory = fixture.memory(kind, 1 << 16);
            memory.write(&queue, &[5u32; 1 << 14]);
            for direction in DIRECTIONS {
                for (at, size) in [(0, 1 << 16), (4096, 4096), (1, 10), ((1 << 16) - 1, 1)] {
                    let (q, m) = (queue.handle(), memory.at(at));
                    let event =
                        owned::event_of(|event| ur!(Enqueue.pfnUSMPrefetch(q, m, size, direction, 0, null(), event)));
                    event.wait();
                    let command =
                        query::get::<u32>(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_TYPE)));
                    assert_eq!(command, ur_command_t::USM_PREFETCH.0);
                }
            }
            let launch = Launch::new(&kernel, &[1 << 14]).pointer(memory.pointer()).value(2u32);
            launch.value(1u32 << 14).on(&queue);
            queue.finish();
            assert!(memory.read::<u32>(&queue, 1 << 14).iter().all(|&word| word == 7), "{kind:?}");
        }
    }
}

#[test]
fn urEnqueueUSMPrefetch_waits_and_is_waited_for() {
    let fixture = Fixture::new();
    let (first, second) = (fixture.in_order(), fixture.in_order());
    let memory = fixture.memory(Kind::Shared, 4096);
    let mut gate = Gate::new(&fixture);
    let blocked = gate.block_event(&first);
    let list = [blocked.handle()];
    let event = owned::event_of(|event| {
        ur!(Enqueue.pfnUSMPrefetch(
            second.handle(),
            memory.pointer(),
            4096,
            Migration::empty(),
            1,
            list.as_ptr(),
            event
        ))
    });
    assert!(!gate.has_passed());
    gate.open();
    event.wait();
    assert!(gate.has_passed());
    first.finish();
}

#[test]
fn urEnqueueUSMPrefetch_refuses_bad_ranges_flags_and_memory() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Shared, 4096);
    let q = queue.handle();
    let mut event = null_mut();
    let out = &raw mut event;
    let none = Migration::empty();
    refused!(ERROR_INVALID_NULL_POINTER, Enqueue.pfnUSMPrefetch(q, null(), 64, none, 0, null(), out));
    for (at, size) in [(0, 0), (0, 4097), (4000, 100), (0, usize::MAX)] {
        refused!(ERROR_INVALID_SIZE, Enqueue.pfnUSMPrefetch(q, memory.at(at), size, none, 0, null(), out));
    }
    let lowest = Migration::from_bits_retain(UR_USM_MIGRATION_FLAGS_MASK & UR_USM_MIGRATION_FLAGS_MASK.wrapping_neg());
    let m = memory.pointer();
    refused!(ERROR_INVALID_ENUMERATION, Enqueue.pfnUSMPrefetch(q, m, 64, lowest, 0, null(), out));
    let both = Migration::HOST_TO_DEVICE.union(Migration::DEVICE_TO_HOST);
    refused!(ERROR_INVALID_VALUE, Enqueue.pfnUSMPrefetch(q, m, 64, both, 0, null(), out));
    let heap = Box::new([0u8; 64]);
    let heap = heap.as_ptr().cast::<c_void>();
    refused!(ERROR_INVALID_MEM_OBJECT, Enqueue.pfnUSMPrefetch(q, heap, 64, none, 0, null(), out));
    refused!(ERROR_INVALID_NULL_HANDLE, Enqueue.pfnUSMPrefetch(null_mut(), m, 64, none, 0, null(), out));
    refused!(ERROR_INVALID_EVENT_WAIT_LIST, Enqueue.pfnUSMPrefetch(q, m, 64, none, 1, null(), out));
    if let Some(sim) = fixture.sim() {
        sim.fail("cuMemPrefetchAsync", 1, status::UNKNOWN);
        refused!(ERROR_ADAPTER_SPECIFIC, Enqueue.pfnUSMPrefetch(q, m, 64, none, 0, null(), out));
    }
    assert!(event.is_null());
    ok!(Enqueue.pfnUSMPrefetch(q, m, 4096, none, 0, null(), null_mut()));
    queue.finish();
}

#[test]
fn urEnqueueUSMPrefetch_of_shared_memory_is_one_native_call_beside_the_question_and_none_for_other_memory() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let sim = needs_sim!(fixture);
    for kind in Kind::ALL {
        let memory = fixture.memory(kind, 4096);
        for direction in DIRECTIONS {
            let (q, m) = (queue.handle(), memory.pointer());
            let (_, calls) = sim.calls_of(|| ok!(Enqueue.pfnUSMPrefetch(q, m, 4096, direction, 0, null(), null_mut())));
            let moved = calls.get("cuMemPrefetchAsync").copied().unwrap_or(0);
            assert_eq!(moved, u64::from(kind == Kind::Shared), "{kind:?} {direction:?}: {calls:?}");
        }
        queue.finish();
    }
}

#[test]
fn urEnqueueUSMAdvise_takes_every_advice_for_memory_of_every_kind_and_changes_no_byte() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for kind in Kind::ALL {
        let memory = fixture.memory(kind, 8192);
        let bytes = pattern(3, 8192);
        memory.write(&queue, &bytes);
        for advice in ADVICE {
            for (at, size) in [(0, 8192), (100, 50)] {
                let (q, m) = (queue.handle(), memory.at(at));
                let event = owned::event_of(|event| ur!(Enqueue.pfnUSMAdvise(q, m, size, advice, event)));
                event.wait();
            }
        }
        assert!(memory.read::<u8>(&queue, 8192) == bytes, "{kind:?}");
    }
}

#[test]
fn urEnqueueUSMAdvise_gives_the_driver_one_advice_a_flag() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Shared, 4096);
    let sim = needs_sim!(fixture);
    let count = |advice: Advice| {
        let (q, m) = (queue.handle(), memory.pointer());
        let (_, calls) = sim.calls_of(|| ok!(Enqueue.pfnUSMAdvise(q, m, 4096, advice, null_mut())));
        calls.get("cuMemAdvise").copied().unwrap_or(0)
    };
    assert_eq!(count(Advice::SET_READ_MOSTLY), 1);
    assert_eq!(count(Advice::SET_READ_MOSTLY.union(Advice::SET_ACCESSED_BY_HOST)), 2);
    assert_eq!(count(Advice::DEFAULT), 4);
    // No word for it below.
    assert_eq!(count(Advice::BIAS_CACHED.union(Advice::SET_NON_ATOMIC_MOSTLY)), 0);
    assert_eq!(count(Advice::empty()), 0);
    // HIP has a word for coherence, which ends above CUDA.
    assert_eq!(count(Advice::SET_NON_COHERENT_MEMORY), 0);
    if let Some(hip) = Hip::loaded() {
        let before = hip.calls("hipMemAdvise");
        count(Advice::SET_NON_COHERENT_MEMORY);
        assert_eq!(hip.calls("hipMemAdvise"), before + 1);
    }
    queue.finish();
}

/// Advice of another device's queue too: the next owner of the block would have pages that stay mapped there.
#[test]
fn urUSMFree_takes_back_what_a_block_was_advised_for_each_device() {
    let test = "urUSMFree_takes_back_what_a_block_was_advised_for_each_device";
    child::with_pooled_memory(test, || {
        let fixture = Fixture::over_all_devices();
        let sim = needs_sim!(fixture);
        let [first, second, ..] = fixture.devices[..] else {
            println!("skipped: needs a second device");
            return;
        };
        let advice_of_a_free = |devices: &[ur_device_handle_t]| {
            let memory = fixture.memory(Kind::Shared, 128 << 10);
            for &device in devices {
                let queue = fixture.queue_in(fixture.context(), device, Default::default());
                let (q, m, advice) = (queue.handle(), memory.pointer(), Advice::SET_ACCESSED_BY_DEVICE);
                ok!(Enqueue.pfnUSMAdvise(q, m, 128 << 10, advice, null_mut()));
                queue.finish();
            }
            let (_, calls) = sim.calls_of(|| drop(memory));
            calls.get("cuMemAdvise").copied().unwrap_or(0)
        };
        let own = advice_of_a_free(&[first]);
        assert_eq!(advice_of_a_free(&[second, second]), own + 1, "the other device's is its own");
        assert_eq!((advice_of_a_free(&[first, second]), advice_of_a_free(&[])), (own + 1, 0));
    });
}

#[test]
fn urEnqueueUSMAdvise_refuses_contradictions_bad_ranges_and_memory() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Shared, 4096);
    let (q, m) = (queue.handle(), memory.pointer());
    let mut event = null_mut();
    let out = &raw mut event;
    let advice = Advice::SET_READ_MOSTLY;
    for both in [
        advice.union(Advice::CLEAR_READ_MOSTLY),
        Advice::SET_PREFERRED_LOCATION.union(Advice::SET_PREFERRED_LOCATION_HOST),
        Advice::SET_ACCESSED_BY_DEVICE.union(Advice::CLEAR_ACCESSED_BY_DEVICE),
    ] {
        refused!(ERROR_INVALID_VALUE, Enqueue.pfnUSMAdvise(q, m, 64, both, out));
    }
    let lowest = Advice::from_bits_retain(UR_USM_ADVICE_FLAGS_MASK & UR_USM_ADVICE_FLAGS_MASK.wrapping_neg());
    refused!(ERROR_INVALID_ENUMERATION, Enqueue.pfnUSMAdvise(q, m, 64, lowest, out));
    refused!(ERROR_INVALID_NULL_POINTER, Enqueue.pfnUSMAdvise(q, null(), 64, advice, out));
    for (at, size) in [(0, 0), (0, 4097), (4095, 2)] {
        refused!(ERROR_INVALID_SIZE, Enqueue.pfnUSMAdvise(q, memory.at(at), size, advice, out));
    }
    let heap = Box::new([0u8; 64]);
    refused!(ERROR_INVALID_MEM_OBJECT, Enqueue.pfnUSMAdvise(q, heap.as_ptr().cast(), 64, advice, out));
    refused!(ERROR_INVALID_NULL_HANDLE, Enqueue.pfnUSMAdvise(null_mut(), m, 64, advice, out));
    if let Some(sim) = fixture.sim() {
        sim.fail("cuMemAdvise", 2, status::UNKNOWN);
        let two = advice.union(Advice::SET_ACCESSED_BY_HOST);
        refused!(ERROR_ADAPTER_SPECIFIC, Enqueue.pfnUSMAdvise(q, m, 4096, two, out));
    }
    assert!(event.is_null());
    queue.finish();
}
