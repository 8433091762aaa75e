//! `urEnqueueUSMFill`: patterns of any size at any address.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::ur_queue_flags_t as Flags;
use ur_conformance::memory::pattern;
use ur_conformance::{Fixture, Gate, Kind, Queue, ok, refused};

const PATTERNS: [usize; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 32, 64, 128];

fn fill(queue: &Queue, to: *mut c_void, pattern: &[u8], size: usize) {
    let from = pattern.as_ptr().cast();
    ok!(Enqueue.pfnUSMFill(queue.handle(), to, pattern.len(), from, size, 0, null(), null_mut()));
}

#[test]
fn urEnqueueUSMFill_repeats_patterns_of_every_size_at_every_alignment_and_touches_nothing_else() {
    const ROOM: usize = 4096;
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let before = pattern(9, ROOM);
    for kind in Kind::ALL {
        let memory = fixture.memory(kind, ROOM);
        for length in PATTERNS {
            for offset in [0, 1, 2, 3, 4, 6, 8] {
                for repeats in [1, 2, 3, 17] {
                    let unit = pattern(length as u32, length);
                    memory.write(&queue, &before);
                    fill(&queue, memory.at(offset), &unit, length * repeats);
                    let mut expected = before.clone();
                    for at in 0..length * repeats {
                        expected[offset + at] = unit[at % length];
                    }
                    let found = memory.read::<u8>(&queue, ROOM);
                    let wrong = (0..ROOM).find(|&index| found[index] != expected[index]);
                    assert_eq!(wrong, None, "{repeats} times {length} bytes at {kind:?} + {offset}");
                }
            }
        }
    }
}

#[test]
fn urEnqueueUSMFill_of_a_pattern_that_repeats_itself_is_the_same() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 256);
    for (length, unit) in [(128, 1), (16, 4), (32, 2), (12, 4), (6, 2), (5, 1)] {
        let part = pattern(length as u32, unit);
        let whole: Vec<u8> = (0..length).map(|at| part[at % unit]).collect();
        memory.write(&queue, &[0u8; 256]);
        fill(&queue, memory.pointer(), &whole, length);
        assert_eq!(memory.read::<u8>(&queue, length), whole, "{length} bytes made of {unit}");
    }
}

#[test]
fn urEnqueueUSMFill_fills_large_memory() {
    let fixture = Fixture::new();
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = fixture.queue(flags);
        let size = 8 << 20;
        let memory = fixture.memory(Kind::Device, size);
        let unit = 0xdead_beefu32.to_ne_bytes();
        fill(&queue, memory.pointer(), &unit, size);
        queue.finish();
        assert!(memory.read::<u32>(&queue, size / 4).iter().all(|&word| word == 0xdead_beef));
    }
}

/// The pattern is the caller's again as soon as the call returns.
#[test]
fn urEnqueueUSMFill_has_read_its_pattern_when_it_returns() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for length in PATTERNS {
        let memory = fixture.memory(Kind::Device, 256);
        let mut gate = Gate::new(&fixture);
        let original = pattern(77, length);
        let mut unit = original.clone();
        gate.block(&queue);
        fill(&queue, memory.pointer(), &unit, length);
        unit.fill(0);
        drop(unit);
        gate.open();
        assert_eq!(memory.read::<u8>(&queue, length), original, "{length} bytes");
        queue.finish();
    }
}

#[test]
fn urEnqueueUSMFill_of_a_small_pattern_is_one_native_call() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 256);
    let sim = ur_conformance::needs_sim!(fixture);
    for length in [1, 2, 4] {
        let (_, calls) = sim.calls_of(|| fill(&queue, memory.pointer(), &pattern(3, length), 256));
        assert_eq!(calls.values().sum::<u64>(), 1, "{length} bytes: {calls:?}");
    }
    queue.finish();
}

#[test]
fn urEnqueueUSMFill_refuses_sizes_that_do_not_fit_and_missing_pointers() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 64);
    let unit = [7u8; 64];
    let (q, to, from) = (queue.handle(), memory.pointer(), unit.as_ptr().cast::<c_void>());
    let mut event = null_mut();
    let out = &raw mut event;
    for (length, size) in [(0, 8), (4, 0), (0, 0), (8, 4), (3, 8), (5, 64)] {
        refused!(ERROR_INVALID_SIZE, Enqueue.pfnUSMFill(q, to, length, from, size, 0, null(), out));
    }
    refused!(ERROR_INVALID_NULL_POINTER, Enqueue.pfnUSMFill(q, null_mut(), 4, from, 8, 0, null(), out));
    refused!(ERROR_INVALID_NULL_POINTER, Enqueue.pfnUSMFill(q, to, 4, null(), 8, 0, null(), out));
    assert!(event.is_null());
}
