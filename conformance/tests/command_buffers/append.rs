//! Copies, fills and hints of USM in command buffers.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ptr::{null, null_mut};

use ur_conformance::command_buffer::{SyncPoint, description};
use ur_conformance::ffi::{ur_usm_advice_flags_t as Advice, ur_usm_migration_flags_t as Migration};
use ur_conformance::memory::pattern;
use ur_conformance::{CommandBuffer, Fixture, Kind, ok, refused};

const PATTERNS: [usize; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 32, 64, 128];

#[test]
fn urCommandBufferAppendUSMMemcpyExp_copies_between_all_kinds_of_memory_at_each_launch() {
    const BYTES: usize = 1000;
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for from in Kind::ALL {
        for to in Kind::ALL {
            let (source, middle, target) =
                (fixture.memory(from, BYTES), fixture.memory(Kind::Device, BYTES), fixture.memory(to, BYTES));
            let buffer = CommandBuffer::new(&fixture);
            let first = buffer.copy(middle.pointer(), source.pointer(), BYTES, &[]);
            buffer.copy(target.at(3), middle.at(5), BYTES - 8, &[first]);
            buffer.finalize();
            for round in 0..3 {
                let bytes = pattern(round, BYTES);
                source.write(&queue, &bytes);
                target.write(&queue, &[0u8; BYTES]);
                buffer.on(&queue);
                let found = target.read::<u8>(&queue, BYTES);
                assert_eq!(found[3..BYTES - 5], bytes[5..BYTES - 3], "{from:?} to {to:?}, launch {round}");
                assert_eq!((found[..3].to_vec(), found[BYTES - 5..].to_vec()), (vec![0; 3], vec![0; 5]));
            }
        }
    }
}

#[test]
fn urCommandBufferAppendUSMMemcpyExp_reads_and_writes_the_application_s_own_memory_at_each_launch() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 64);
    let (mut from, mut to) = ([0u32; 16], [0u32; 16]);
    let (source, target) = (from.as_mut_ptr(), to.as_mut_ptr());
    let buffer = CommandBuffer::in_order(&fixture);
    buffer.copy(memory.pointer(), source.cast(), 64, &[]);
    buffer.copy(target.cast(), memory.pointer(), 64, &[]);
    buffer.finalize();
    for round in 1..4u32 {
        // SAFETY: the arrays of this function, which no launch uses now.
        unsafe { source.write_volatile(round) };
        buffer.on(&queue);
        queue.finish();
        // SAFETY: as above.
        assert_eq!(unsafe { target.read_volatile() }, round);
    }
}

#[test]
fn urCommandBufferAppendUSMFillExp_repeats_patterns_of_every_size_at_every_alignment_and_touches_nothing_else() {
    const ROOM: usize = 4096;
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let before = pattern(9, ROOM);
    for kind in Kind::ALL {
        let memory = fixture.memory(kind, ROOM);
        for length in PATTERNS {
            for (offset, repeats) in [(0, 1), (0, 17), (1, 3), (2, 17), (3, 2), (4, 9), (8, 5)] {
                let mut unit = pattern(length as u32, length);
                let mut expected = before.clone();
                for at in 0..length * repeats {
                    expected[offset + at] = unit[at % length];
                }
                let buffer = CommandBuffer::new(&fixture);
                buffer.fill(memory.at(offset), &unit, length * repeats, &[]);
                unit.fill(0);
                drop(unit);
                buffer.finalize();
                for launch in 0..2 {
                    memory.write(&queue, &before);
                    buffer.on(&queue);
                    let found = memory.read::<u8>(&queue, ROOM);
                    let wrong = (0..ROOM).find(|&index| found[index] != expected[index]);
                    assert_eq!(wrong, None, "{repeats} times {length} bytes at {kind:?} + {offset}, launch {launch}");
                }
            }
        }
    }
}

/// A pattern may take several native nodes; what comes after waits for all, and none comes before what it waits for.
#[test]
fn a_fill_of_an_odd_pattern_is_one_command_for_those_before_and_after_it() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (first, second) = (fixture.memory(Kind::Device, 4096), fixture.memory(Kind::Device, 4096));
    for in_order in [false, true] {
        for length in PATTERNS {
            let buffer = CommandBuffer::with(&fixture, description(false, in_order, false));
            let (one, two) = (pattern(1, length), pattern(2, length));
            let bytes = 4096 / length * length;
            let mut after: Vec<SyncPoint> = Vec::new();
            for unit in [&one, &two] {
                after = vec![buffer.fill(first.pointer(), unit, bytes, &after)];
            }
            let copied = buffer.copy(second.pointer(), first.pointer(), bytes, &after);
            buffer.fill(first.pointer(), &one, bytes, &[copied]);
            buffer.run(&queue);
            let filled = |unit: &[u8]| (0..bytes).map(|at| unit[at % length]).collect::<Vec<u8>>();
            assert!(second.read::<u8>(&queue, bytes) == filled(&two), "{length} bytes");
            assert!(first.read::<u8>(&queue, bytes) == filled(&one), "{length} bytes");
        }
    }
}

#[test]
fn urCommandBufferAppendUSMMemcpyExp_and_FillExp_refuse_sizes_that_do_not_fit_and_missing_pointers() {
    let fixture = Fixture::new();
    let memory = fixture.memory(Kind::Device, 64);
    let buffer = CommandBuffer::new(&fixture);
    let unit = [7u8; 64];
    let (b, to, from, n, mut point) =
        (buffer.handle(), memory.pointer(), unit.as_ptr().cast(), null_mut(), SyncPoint::MAX);
    let (o, none, e, c) = (&raw mut point, null(), null(), null_mut());
    for (length, size) in [(0, 8), (4, 0), (0, 0), (8, 4), (3, 8), (5, 64)] {
        refused!(
            ERROR_INVALID_SIZE,
            CommandBufferExp.pfnAppendUSMFillExp(b, to, from, length, size, 0, none, 0, e, o, n, c)
        );
    }
    refused!(
        ERROR_INVALID_NULL_POINTER,
        CommandBufferExp.pfnAppendUSMFillExp(b, null_mut(), from, 4, 8, 0, none, 0, e, o, n, c)
    );
    refused!(
        ERROR_INVALID_NULL_POINTER,
        CommandBufferExp.pfnAppendUSMFillExp(b, to, null(), 4, 8, 0, none, 0, e, o, n, c)
    );
    let at = memory.at(32).cast_const();
    refused!(ERROR_INVALID_SIZE, CommandBufferExp.pfnAppendUSMMemcpyExp(b, to, at, 0, 0, none, 0, e, o, n, c));
    refused!(
        ERROR_INVALID_NULL_POINTER,
        CommandBufferExp.pfnAppendUSMMemcpyExp(b, null_mut(), at, 8, 0, none, 0, e, o, n, c)
    );
    refused!(
        ERROR_INVALID_NULL_POINTER,
        CommandBufferExp.pfnAppendUSMMemcpyExp(b, to, null(), 8, 0, none, 0, e, o, n, c)
    );
    assert_eq!(point, SyncPoint::MAX);
    assert!(ur_conformance::native_graph::NativeGraph::of(&buffer).nodes().is_empty(), "nothing was appended");
}

#[test]
fn urCommandBufferAppendUSMPrefetchExp_and_AdviseExp_can_be_come_after_and_change_no_byte() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for kind in [Kind::Shared, Kind::Device] {
        let (memory, other) = (fixture.memory(kind, 256), fixture.memory(Kind::Host, 256));
        let buffer = CommandBuffer::new(&fixture);
        let filled = buffer.fill(memory.pointer(), &[0x0102_0304u32], 256, &[]);
        let (b, m, mut fetched, mut advised) = (buffer.handle(), memory.pointer(), SyncPoint::MAX, SyncPoint::MAX);
        let (flags, list) = (Migration::HOST_TO_DEVICE, [filled]);
        let (after, no, n, c) = (list.as_ptr(), null(), null_mut(), null_mut());
        let out = &raw mut fetched;
        ok!(CommandBufferExp.pfnAppendUSMPrefetchExp(b, m, 256, flags, 1, after, 0, no, out, n, c));
        let (advice, list, out) = (Advice::SET_READ_MOSTLY, [fetched], &raw mut advised);
        ok!(CommandBufferExp.pfnAppendUSMAdviseExp(b, m, 256, advice, 1, list.as_ptr(), 0, no, out, n, c));
        assert!(filled != fetched && fetched != advised && filled != advised);
        buffer.copy(other.pointer(), memory.pointer(), 256, &[advised]);
        buffer.run(&queue);
        assert_eq!(other.read::<u32>(&queue, 64), [0x0102_0304; 64], "{kind:?}");
    }
}

#[test]
fn urCommandBufferAppendUSMPrefetchExp_and_AdviseExp_refuse_no_bytes_and_unknown_flags() {
    let fixture = Fixture::new();
    let memory = fixture.memory(Kind::Shared, 256);
    let buffer = CommandBuffer::new(&fixture);
    let (b, m, mut point) = (buffer.handle(), memory.pointer(), SyncPoint::MAX);
    let (none, no, o, n, c) = (null(), null(), &raw mut point, null_mut(), null_mut());
    let (fetch, advice) = (Migration::HOST_TO_DEVICE, Advice::SET_READ_MOSTLY);
    refused!(ERROR_INVALID_SIZE, CommandBufferExp.pfnAppendUSMPrefetchExp(b, m, 0, fetch, 0, none, 0, no, o, n, c));
    refused!(ERROR_INVALID_SIZE, CommandBufferExp.pfnAppendUSMAdviseExp(b, m, 0, advice, 0, none, 0, no, o, n, c));
    let (fetch, advice) = (Migration::from_bits_retain(1 << 30), Advice::from_bits_retain(1 << 30));
    refused!(
        ERROR_INVALID_ENUMERATION,
        CommandBufferExp.pfnAppendUSMPrefetchExp(b, m, 256, fetch, 0, none, 0, no, o, n, c)
    );
    refused!(
        ERROR_INVALID_ENUMERATION,
        CommandBufferExp.pfnAppendUSMAdviseExp(b, m, 256, advice, 0, none, 0, no, o, n, c)
    );
    assert_eq!(point, SyncPoint::MAX);
}
