//! `urEnqueueUSMMemcpy2D`, `urEnqueueUSMFill2D`, `urUSMPitchedAllocExp`.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    CBool, UR_USM_ADVICE_FLAGS_MASK, ur_context_info_t, ur_queue_flags_t as Flags, ur_result_t as Code,
    ur_usm_advice_flags_t, ur_usm_alloc_info_t, ur_usm_desc_t, ur_usm_type_t,
};
use ur_conformance::memory::pattern;
use ur_conformance::native::Hip;
use ur_conformance::sim::status;
use ur_conformance::{Fixture, Gate, Kind, Queue, ask, needs_sim, ok, owned, query, refused, ur};

/// A rectangle: where in its memory, bytes of a row, rows, bytes from row to row.
#[derive(Clone, Copy, Debug)]
struct Shape {
    at: usize,
    width: usize,
    height: usize,
    pitch: usize,
}

impl Shape {
    fn bytes(self) -> impl Iterator<Item = usize> {
        (0..self.height).flat_map(move |y| (0..self.width).map(move |x| self.at + y * self.pitch + x))
    }
}

/// Fills of rows are there, too, but what stock SYCL does where it hears so is wrong for elements of more than a byte.
#[test]
fn urContextGetInfo_says_that_copies_of_rows_are_there_and_hides_fills_from_sycl() {
    let fixture = Fixture::new();
    for (property, says) in [(ur_context_info_t::USM_MEMCPY2D_SUPPORT, 1), (ur_context_info_t::USM_FILL2D_SUPPORT, 0)] {
        assert_eq!(query::get::<u8>(ask!(Context.pfnGetInfo(fixture.context(), property))), says, "{property:?}");
    }
}

#[test]
fn urEnqueueUSMMemcpy2D_copies_the_rows_and_nothing_else_between_memory_of_every_kind() {
    const ROOM: usize = 4096;
    let fixture = Fixture::new();
    for flags in [Flags::empty(), Flags::OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = fixture.queue(flags);
        let (old, new) = (pattern(1, ROOM), pattern(2, ROOM));
        for (to_kind, from_kind) in Kind::ALL.iter().flat_map(|to| Kind::ALL.iter().map(move |from| (*to, *from))) {
            let (to, from) = (fixture.memory(to_kind, ROOM), fixture.memory(from_kind, ROOM));
            from.write(&queue, &new);
            for (width, height, to_pitch, from_pitch) in
                [(16, 4, 64, 32), (5, 7, 13, 9), (64, 8, 64, 64), (100, 1, 200, 300), (1, 20, 3, 1), (33, 3, 33, 50)]
            {
                to.write(&queue, &old);
                let (target, source) = (
                    Shape { at: 11, width, height, pitch: to_pitch },
                    Shape { at: 3, width, height, pitch: from_pitch },
                );
                ok!(Enqueue.pfnUSMMemcpy2D(
                    queue.handle(),
                    CBool::FALSE,
                    to.at(target.at),
                    to_pitch,
                    from.at(source.at),
                    from_pitch,
                    width,
                    height,
                    0,
                    null(),
                    null_mut()
                ));
                queue.finish();
                let mut expected = old.clone();
                target.bytes().zip(source.bytes()).for_each(|(to, from)| expected[to] = new[from]);
                let what = format!("{from_kind:?} {source:?} to {to_kind:?} {target:?}");
                assert!(to.read::<u8>(&queue, ROOM) == expected, "{what}");
            }
        }
    }
}

#[test]
fn urEnqueueUSMMemcpy2D_takes_memory_of_the_process_on_either_side() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 1024);
    let (source, mut back) = (pattern(5, 600), vec![0u8; 600]);
    let q = queue.handle();
    let (to, from) = (memory.pointer(), source.as_ptr().cast::<c_void>());
    ok!(Enqueue.pfnUSMMemcpy2D(q, CBool::TRUE, to, 100, from, 60, 50, 10, 0, null(), null_mut()));
    ok!(Enqueue.pfnUSMMemcpy2D(q, CBool::TRUE, back.as_mut_ptr().cast(), 60, to, 100, 50, 10, 0, null(), null_mut()));
    for (index, byte) in back.iter().enumerate() {
        assert_eq!(*byte, if index % 60 < 50 { source[index] } else { 0 }, "byte {index}");
    }
}

#[test]
fn urEnqueueUSMMemcpy2D_is_ordered_and_blocks_only_when_told() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (to, from) = (fixture.memory(Kind::Device, 256), fixture.memory(Kind::Device, 256));
    to.write(&queue, &[0u8; 256]);
    from.write(&queue, &pattern(4, 256));
    let mut gate = Gate::new(&fixture);
    gate.block(&queue);
    let (q, t, f) = (queue.handle(), to.pointer(), from.pointer());
    let event =
        owned::event_of(|event| ur!(Enqueue.pfnUSMMemcpy2D(q, CBool::FALSE, t, 32, f, 16, 16, 8, 0, null(), event)));
    assert!(!gate.has_passed(), "the copy did not wait for its own queue to get there");
    gate.open();
    event.wait();
    assert!(gate.has_passed(), "the event completed before the work in front of it");
    assert_eq!(to.read::<u8>(&queue, 16), pattern(4, 16));
}

#[test]
fn urEnqueueUSMMemcpy2D_takes_pitches_beyond_what_the_native_call_does() {
    const PITCH: usize = (1 << 31) + 512;
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (far, near) = (fixture.memory(Kind::Device, PITCH + 64), fixture.memory(Kind::Device, 128));
    near.write(&queue, &pattern(6, 128));
    let (q, f, n) = (queue.handle(), far.pointer(), near.pointer());
    ok!(Enqueue.pfnUSMMemcpy2D(q, CBool::TRUE, f, PITCH, n, 64, 64, 2, 0, null(), null_mut()));
    assert_eq!(ur_conformance::memory::read::<u8>(&queue, far.at(PITCH), 64), pattern(6, 128)[64..]);
    let unit = [9u8];
    ok!(Enqueue.pfnUSMFill2D(q, f, PITCH, 1, unit.as_ptr().cast(), 64, 2, 0, null(), null_mut()));
    assert_eq!(ur_conformance::memory::read::<u8>(&queue, far.at(PITCH), 64), [9; 64]);
}

#[test]
fn urEnqueueUSMMemcpy2D_is_one_native_call() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (to, from) = (fixture.memory(Kind::Device, 256), fixture.memory(Kind::Device, 256));
    let sim = needs_sim!(fixture);
    let (q, t, f) = (queue.handle(), to.pointer(), from.pointer());
    let copy = || ok!(Enqueue.pfnUSMMemcpy2D(q, CBool::FALSE, t, 32, f, 16, 16, 8, 0, null(), null_mut()));
    let (_, calls) = sim.calls_of(copy);
    assert_eq!(calls.get("cuMemcpy2DAsync_v2"), Some(&1), "{calls:?}");
    // Where the memory of either side ends the context knows, unless it is the native library's alone; above CUDA's driver HIP
    // asks for itself.
    let knows = ur_conformance::memory::is_pooled() && Hip::loaded().is_none();
    assert!(!knows || calls.values().sum::<u64>() == 1, "{calls:?}");
    queue.finish();
}

#[test]
fn urEnqueueUSMMemcpy2D_refuses_what_are_no_rows() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 1024);
    let (q, t, f) = (queue.handle(), memory.pointer(), memory.at(512));
    let mut event = null_mut();
    let out = &raw mut event;
    for (to_pitch, from_pitch, width, height) in [
        (0, 16, 16, 2),
        (16, 0, 16, 2),
        (15, 16, 16, 2),
        (16, 15, 16, 2),
        (16, 16, 0, 2),
        (16, 16, 16, 0),
        (usize::MAX, 16, 16, 3),
        (16, usize::MAX / 2, 16, 4),
    ] {
        refused!(
            ERROR_INVALID_SIZE,
            Enqueue.pfnUSMMemcpy2D(q, CBool::TRUE, t, to_pitch, f, from_pitch, width, height, 0, null(), out)
        );
    }
    let none = null_mut();
    refused!(
        ERROR_INVALID_NULL_POINTER,
        Enqueue.pfnUSMMemcpy2D(q, CBool::TRUE, none, 16, f, 16, 16, 2, 0, null(), out)
    );
    refused!(
        ERROR_INVALID_NULL_POINTER,
        Enqueue.pfnUSMMemcpy2D(q, CBool::TRUE, t, 16, null(), 16, 16, 2, 0, null(), out)
    );
    refused!(
        ERROR_INVALID_NULL_HANDLE,
        Enqueue.pfnUSMMemcpy2D(null_mut(), CBool::TRUE, t, 16, f, 16, 16, 2, 0, null(), out)
    );
    refused!(
        ERROR_INVALID_EVENT_WAIT_LIST,
        Enqueue.pfnUSMMemcpy2D(q, CBool::TRUE, t, 16, f, 16, 16, 2, 1, null(), out)
    );
    assert!(event.is_null());
}

/// A pitch beyond the memory is that of no rows there, even of a single one.
const BEYOND: [(usize, usize, usize); 6] =
    [(64, 64, 17), (128, 64, 9), (64, 1, 17), (1025, 1, 1), (1025, 1024, 1), (1 << 40, 16, 2)];

#[test]
fn urEnqueueUSMMemcpy2D_refuses_rows_that_go_beyond_the_end_of_their_memory() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let large = fixture.memory(Kind::Device, 1 << 16);
    let mut event = null_mut();
    let out = &raw mut event;
    for kind in Kind::ALL {
        let memory = fixture.memory(kind, 1024);
        let (q, m, l) = (queue.handle(), memory.pointer(), large.pointer());
        for blocking in [CBool::FALSE, CBool::TRUE] {
            let copy = |to: *mut c_void, to_pitch, from: *mut c_void, from_pitch, width, height| {
                ur!(Enqueue.pfnUSMMemcpy2D(q, blocking, to, to_pitch, from, from_pitch, width, height, 0, null(), out))
            };
            for (pitch, width, height) in BEYOND {
                let codes = [copy(m, pitch, l, width, width, height), copy(l, width, m, pitch, width, height)];
                assert_eq!(codes, [Code::ERROR_INVALID_SIZE; 2], "{kind:?} {pitch} {width} {height}");
            }
            let codes = [copy(memory.at(1), 64, l, 64, 64, 16), copy(l, 64, memory.at(1), 64, 64, 16)];
            assert_eq!(codes, [Code::ERROR_INVALID_SIZE; 2], "{kind:?} one byte beyond the end");
        }
        assert!(event.is_null());
        // The end itself is no further: all of it, a part of the last columns, one column.
        for (at, pitch, width, height) in [(0, 64, 64, 16), (48, 64, 16, 16), (63, 64, 1, 16), (0, 1024, 1024, 1)] {
            let end = memory.at(at);
            ok!(Enqueue.pfnUSMMemcpy2D(q, CBool::TRUE, end, pitch, l, width, width, height, 0, null(), null_mut()));
            ok!(Enqueue.pfnUSMMemcpy2D(q, CBool::TRUE, l, width, end, pitch, width, height, 0, null(), null_mut()));
        }
    }
}

#[test]
fn urEnqueueUSMFill2D_refuses_rows_that_go_beyond_the_end_of_their_memory() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (q, mut event) = (queue.handle(), null_mut());
    let (out, unit) = (&raw mut event, [7u8]);
    for kind in Kind::ALL {
        let memory = fixture.memory(kind, 1024);
        let fill = |at, pitch, width, height, out| {
            let from = unit.as_ptr().cast();
            ur!(Enqueue.pfnUSMFill2D(q, memory.at(at), pitch, 1, from, width, height, 0, null(), out))
        };
        for (pitch, width, height) in BEYOND {
            assert_eq!(fill(0, pitch, width, height, out), Code::ERROR_INVALID_SIZE, "{kind:?} {pitch} {width}");
        }
        assert_eq!(fill(1, 64, 64, 16, out), Code::ERROR_INVALID_SIZE, "{kind:?} one byte beyond the end");
        assert!(event.is_null());
        for (at, pitch, width, height) in [(0, 64, 64, 16), (48, 64, 16, 16), (63, 64, 1, 16), (0, 1024, 1024, 1)] {
            assert_eq!(fill(at, pitch, width, height, null_mut()), Code::SUCCESS, "{kind:?} {at} {pitch} {width}");
        }
        queue.finish();
    }
}

/// Whatever the native library says of where a pool's block begins.
#[test]
fn urEnqueueUSMMemcpy2D_takes_stream_ordered_memory_to_its_end() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (q, source) = (queue.handle(), pattern(3, 1024));
    let from = source.as_ptr().cast();
    for kind in Kind::ALL {
        // The second block begins within what the pool has.
        let mut blocks = [null_mut(); 2];
        for block in &mut blocks {
            let (none, no) = (null_mut(), null_mut());
            let answer = match kind {
                Kind::Host => ur!(EnqueueExp.pfnUSMHostAllocExp(q, none, 1024, null(), 0, null(), block, no)),
                Kind::Device => ur!(EnqueueExp.pfnUSMDeviceAllocExp(q, none, 1024, null(), 0, null(), block, no)),
                Kind::Shared => ur!(EnqueueExp.pfnUSMSharedAllocExp(q, none, 1024, null(), 0, null(), block, no)),
            };
            ur_conformance::expect_code(answer, &[Code::SUCCESS, Code::ERROR_UNSUPPORTED_FEATURE], "an allocation");
        }
        for memory in blocks.into_iter().filter(|block| !block.is_null()) {
            ok!(Enqueue.pfnUSMMemcpy2D(q, CBool::TRUE, memory, 64, from, 64, 64, 16, 0, null(), null_mut()));
            assert_eq!(ur_conformance::memory::read::<u8>(&queue, memory, 1024), source, "{kind:?}");
            ok!(EnqueueExp.pfnUSMFreeExp(q, null_mut(), memory, 0, null(), null_mut()));
        }
        queue.finish();
    }
}

fn fill(queue: &Queue, to: *mut c_void, shape: Shape, unit: &[u8]) {
    let (from, length) = (unit.as_ptr().cast(), unit.len());
    let Shape { pitch, width, height, .. } = shape;
    ok!(Enqueue.pfnUSMFill2D(queue.handle(), to, pitch, length, from, width, height, 0, null(), null_mut()));
}

#[test]
fn urEnqueueUSMFill2D_lays_patterns_of_every_size_through_the_rows_and_touches_nothing_else() {
    const ROOM: usize = 1 << 16;
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let before = pattern(9, ROOM);
    let shapes = [(16, 4, 64), (16, 40, 20), (128, 3, 130), (128, 33, 128), (24, 16, 32), (7, 64, 11), (96, 1, 100)];
    for kind in Kind::ALL {
        let memory = fixture.memory(kind, ROOM);
        for length in (0..8).map(|power| 1 << power) {
            for (width, height, pitch) in shapes.into_iter().filter(|shape| (shape.0 * shape.1) % length == 0) {
                for at in [0, 1, 2, 12] {
                    let shape = Shape { at, width, height, pitch };
                    let unit = pattern(length as u32, length);
                    memory.write(&queue, &before);
                    fill(&queue, memory.at(at), shape, &unit);
                    let mut expected = before.clone();
                    shape.bytes().enumerate().for_each(|(index, byte)| expected[byte] = unit[index % length]);
                    let found = memory.read::<u8>(&queue, ROOM);
                    let wrong = (0..ROOM).find(|&index| found[index] != expected[index]);
                    assert_eq!(wrong, None, "{length} bytes, {kind:?} {shape:?}");
                }
            }
        }
    }
}

/// The pattern is the caller's again as soon as the call returns, and the call does not wait for the queue.
#[test]
fn urEnqueueUSMFill2D_has_read_its_pattern_when_it_returns() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for kind in Kind::ALL {
        let memory = fixture.memory(kind, 4096);
        for length in [1, 4, 16] {
            let mut gate = Gate::new(&fixture);
            let original = pattern(7, length);
            let mut unit = original.clone();
            gate.block(&queue);
            fill(&queue, memory.pointer(), Shape { at: 0, width: 32, height: 40, pitch: 64 }, &unit);
            unit.fill(0);
            drop(unit);
            gate.open();
            let found = memory.read::<u8>(&queue, 4096);
            let right = (0..40).all(|row| (0..32).all(|x| found[row * 64 + x] == original[x % length]));
            assert!(right, "{kind:?}, {length} bytes");
        }
    }
}

#[test]
fn urEnqueueUSMFill2D_makes_few_native_calls() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 1 << 20);
    let sim = needs_sim!(fixture);
    // One of them asks where the memory ends.
    for (length, most) in [(1, 2), (2, 2), (4, 2), (16, 21)] {
        if length > 1 && Hip::loaded().is_some() {
            continue;
        }
        let shape = Shape { at: 0, width: 512, height: 1024, pitch: 1024 };
        let (_, calls) = sim.calls_of(|| fill(&queue, memory.pointer(), shape, &pattern(3, length)));
        // HIP asks with one call more.
        let calls = calls.values().sum::<u64>() - u64::from(Hip::loaded().is_some());
        assert!(calls <= most, "{calls} calls for 1024 rows of a pattern of {length} bytes");
    }
    queue.finish();
}

#[test]
fn urEnqueueUSMFill2D_refuses_sizes_that_do_not_fit_and_missing_pointers() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 1024);
    let unit = [7u8; 64];
    let (q, to, from) = (queue.handle(), memory.pointer(), unit.as_ptr().cast::<c_void>());
    let mut event = null_mut();
    let out = &raw mut event;
    for (pitch, length, width, height) in [
        (0, 4, 16, 2),
        (15, 4, 16, 2),
        (16, 0, 16, 2),
        (16, 3, 16, 3),
        (16, 64, 16, 2),
        (16, 4, 0, 2),
        (16, 4, 16, 0),
        (16, 8, 6, 2),
        (usize::MAX, 4, 16, 3),
    ] {
        refused!(ERROR_INVALID_SIZE, Enqueue.pfnUSMFill2D(q, to, pitch, length, from, width, height, 0, null(), out));
    }
    refused!(ERROR_INVALID_NULL_POINTER, Enqueue.pfnUSMFill2D(q, null_mut(), 16, 4, from, 16, 2, 0, null(), out));
    refused!(ERROR_INVALID_NULL_POINTER, Enqueue.pfnUSMFill2D(q, to, 16, 4, null(), 16, 2, 0, null(), out));
    assert!(event.is_null());
}

#[test]
fn a_native_failure_of_a_copy_or_fill_is_told_and_the_queue_goes_on() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let memory = fixture.memory(Kind::Device, 4096);
    let sim = needs_sim!(fixture);
    let (q, to) = (queue.handle(), memory.pointer());
    let unit = pattern(1, 16);
    let mut event = null_mut();
    let out = &raw mut event;
    sim.fail("cuMemcpy2DAsync_v2", 1, status::OUT_OF_MEMORY);
    refused!(
        ERROR_OUT_OF_DEVICE_MEMORY,
        Enqueue.pfnUSMMemcpy2D(q, CBool::TRUE, to, 32, memory.at(2048), 32, 16, 8, 0, null(), out)
    );
    // The rows that are filled first, and those that are copied from them.
    for (name, nth) in [("cuMemsetD2D8Async", 3), ("cuMemcpy2DAsync_v2", 2)] {
        let name = if Hip::loaded().is_none() && nth == 3 { "cuMemsetD2D32Async" } else { name };
        sim.fail(name, nth, status::UNKNOWN);
        let from = unit.as_ptr().cast();
        refused!(ERROR_ADAPTER_SPECIFIC, Enqueue.pfnUSMFill2D(q, to, 64, 16, from, 32, 60, 0, null(), out));
    }
    assert!(event.is_null());
    fill(&queue, to, Shape { at: 0, width: 32, height: 60, pitch: 64 }, &unit);
    assert_eq!(memory.read::<u8>(&queue, 16), unit);
}

#[test]
fn urUSMPitchedAllocExp_gives_rows_that_start_on_boundaries_and_urUSMFree_takes_them() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (c, d) = (fixture.context(), fixture.device());
    for (width, height) in [(1, 1), (100, 10), (512, 3), (513, 7), (4096, 64)] {
        for element in [0, 1, 2, 3, 4, 8, 12, 16, 32] {
            let (mut memory, mut pitch) = (null_mut(), 0);
            ok!(USMExp.pfnPitchedAllocExp(
                c,
                d,
                null(),
                null_mut(),
                width,
                height,
                element,
                &raw mut memory,
                &raw mut pitch
            ));
            assert!(pitch >= width && pitch.is_multiple_of(32) && memory.addr().is_multiple_of(256), "{pitch}");
            let kind: u32 = query::get(ask!(USM.pfnGetMemAllocInfo(c, memory.cast_const(), ur_usm_alloc_info_t::TYPE)));
            assert_eq!(kind, ur_usm_type_t::DEVICE.0);
            let size: usize =
                query::get(ask!(USM.pfnGetMemAllocInfo(c, memory.cast_const(), ur_usm_alloc_info_t::SIZE)));
            assert!(size >= pitch * (height - 1) + width, "{size} bytes for {height} rows of {pitch}");
            let source = pattern(width as u32, width * height);
            let (q, from) = (queue.handle(), source.as_ptr().cast());
            ok!(Enqueue.pfnUSMMemcpy2D(
                q,
                CBool::TRUE,
                memory,
                pitch,
                from,
                width,
                width,
                height,
                0,
                null(),
                null_mut()
            ));
            let mut back = vec![0u8; width * height];
            let to = back.as_mut_ptr().cast();
            ok!(Enqueue.pfnUSMMemcpy2D(q, CBool::TRUE, to, width, memory, pitch, width, height, 0, null(), null_mut()));
            assert!(back == source);
            ok!(USM.pfnFree(c, memory));
        }
    }
}

#[test]
fn urUSMPitchedAllocExp_refuses_bad_sizes_descriptions_and_outputs() {
    let fixture = Fixture::new();
    let (c, d) = (fixture.context(), fixture.device());
    let (mut memory, mut pitch) = (null_mut(), 7);
    let (m, p) = (&raw mut memory, &raw mut pitch);
    let none = null_mut();
    for (width, height) in [(0, 4), (4, 0), (usize::MAX, 2), (1 << 50, 1 << 12), (1 << 40, 1 << 10)] {
        refused!(ERROR_INVALID_USM_SIZE, USMExp.pfnPitchedAllocExp(c, d, null(), none, width, height, 4, m, p));
    }
    refused!(ERROR_INVALID_NULL_POINTER, USMExp.pfnPitchedAllocExp(c, d, null(), none, 4, 4, 4, null_mut(), p));
    refused!(ERROR_INVALID_NULL_POINTER, USMExp.pfnPitchedAllocExp(c, d, null(), none, 4, 4, 4, m, null_mut()));
    let desc = ur_usm_desc_t { align: 3, ..Default::default() };
    refused!(ERROR_INVALID_VALUE, USMExp.pfnPitchedAllocExp(c, d, &raw const desc, none, 4, 4, 4, m, p));
    let lowest = UR_USM_ADVICE_FLAGS_MASK & UR_USM_ADVICE_FLAGS_MASK.wrapping_neg();
    let desc = ur_usm_desc_t { hints: ur_usm_advice_flags_t::from_bits_retain(lowest), ..Default::default() };
    refused!(ERROR_INVALID_ENUMERATION, USMExp.pfnPitchedAllocExp(c, d, &raw const desc, none, 4, 4, 4, m, p));
    refused!(ERROR_INVALID_NULL_HANDLE, USMExp.pfnPitchedAllocExp(c, null_mut(), null(), none, 4, 4, 4, m, p));
    if let Some(&other) = fixture.devices.get(1) {
        refused!(ERROR_INVALID_DEVICE, USMExp.pfnPitchedAllocExp(c, other, null(), none, 4, 4, 4, m, p));
    }
    if let Some(sim) = fixture.sim() {
        sim.fail("cuMemAllocPitch_v2", 1, status::UNKNOWN);
        refused!(ERROR_ADAPTER_SPECIFIC, USMExp.pfnPitchedAllocExp(c, d, null(), none, 4, 4, 4, m, p));
        sim.fail("cuMemAllocPitch_v2", 1, status::OUT_OF_MEMORY);
        sim.fail("cuMemAllocPitch_v2", 1, status::OUT_OF_MEMORY);
        ur_conformance::expect_code(
            ur!(USMExp.pfnPitchedAllocExp(c, d, null(), none, 1 << 20, 4, 4, m, p)),
            &[ur_conformance::ffi::ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY, ur_conformance::ffi::ur_result_t::SUCCESS],
            "out of memory once",
        );
        sim.clear_faults();
        if !memory.is_null() {
            ok!(USM.pfnFree(c, memory));
            (memory, pitch) = (null_mut(), 7);
        }
        (1..=16).for_each(|nth| sim.fail("cuMemAllocPitch_v2", nth, status::OUT_OF_MEMORY));
        refused!(ERROR_OUT_OF_DEVICE_MEMORY, USMExp.pfnPitchedAllocExp(c, d, null(), none, 300, 4, 4, m, p));
        let told = ur_conformance::last_error();
        assert!(told.contains("urUSMPitchedAllocExp: 4 rows of 300 bytes"), "the request is named: {told}");
        assert!(told.contains("this process has"), "who has memory is told: {told}");
        sim.clear_faults();
    }
    assert!(memory.is_null());
    assert_eq!(pitch, 7);
}
