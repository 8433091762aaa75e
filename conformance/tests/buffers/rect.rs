//! `urEnqueueMemBuffer{Read,Write,Copy}Rect` against a plain model.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::address_space::AddressSpace;
use ur_conformance::ffi::{CBool, ur_mem_flags_t as Flags, ur_rect_offset_t, ur_rect_region_t, ur_result_t as Code};
use ur_conformance::memory::pattern;
use ur_conformance::{Buffer, Fixture, Queue, Sim, expect_code, needs_sim, ok, refused, ur};

/// Numbers that repeat late: the same ones in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Where a region lies in one of two memories. A pitch of 0 is the least one.
#[derive(Clone, Copy, Debug)]
struct Side {
    origin: [usize; 3],
    row: usize,
    slice: usize,
}

impl Side {
    fn any(numbers: &mut Numbers, [width, height, _]: [usize; 3]) -> Self {
        let origin = [numbers.below(20), numbers.below(4), numbers.below(3)];
        let row = if numbers.below(3) == 0 { 0 } else { width + numbers.below(9) };
        let real = row.max(width);
        let slice = if numbers.below(3) == 0 { 0 } else { real * (height + numbers.below(3)) };
        Self { origin, row, slice }
    }

    fn offset(&self) -> ur_rect_offset_t {
        let [x, y, z] = self.origin.map(|number| number as u64);
        ur_rect_offset_t { x, y, z }
    }

    /// Offset of each byte of the region, in its order, as the API's text has it.
    fn bytes(&self, [width, height, depth]: [usize; 3]) -> Vec<usize> {
        let row = if self.row == 0 { width } else { self.row };
        let slice = if self.slice == 0 { row * height } else { self.slice };
        let [x0, y0, z0] = self.origin;
        let mut list = Vec::new();
        for z in 0..depth {
            for y in 0..height {
                list.extend((0..width).map(|x| (z0 + z) * slice + (y0 + y) * row + x0 + x));
            }
        }
        list
    }
}

fn region([width, height, depth]: [usize; 3]) -> ur_rect_region_t {
    ur_rect_region_t { width: width as u64, height: height as u64, depth: depth as u64 }
}

#[derive(Clone, Copy)]
struct Place {
    queue: *mut ur_conformance::ffi::ur_queue_handle_t_,
    side: Side,
    other: Side,
    extent: [usize; 3],
}

fn read(at: Place, buffer: &Buffer, blocking: CBool, to: *mut c_void) -> Code {
    let Place { queue, side, other, extent } = at;
    ur!(Enqueue.pfnMemBufferReadRect(
        queue,
        buffer.handle(),
        blocking,
        side.offset(),
        other.offset(),
        region(extent),
        side.row,
        side.slice,
        other.row,
        other.slice,
        to,
        0,
        null(),
        null_mut()
    ))
}

fn write(at: Place, buffer: &Buffer, blocking: CBool, from: *mut c_void) -> Code {
    let Place { queue, side, other, extent } = at;
    ur!(Enqueue.pfnMemBufferWriteRect(
        queue,
        buffer.handle(),
        blocking,
        side.offset(),
        other.offset(),
        region(extent),
        side.row,
        side.slice,
        other.row,
        other.slice,
        from,
        0,
        null(),
        null_mut()
    ))
}

fn copy(at: Place, from: &Buffer, to: &Buffer) -> Code {
    let Place { queue, side, other, extent } = at;
    ur!(Enqueue.pfnMemBufferCopyRect(
        queue,
        from.handle(),
        to.handle(),
        side.offset(),
        other.offset(),
        region(extent),
        side.row,
        side.slice,
        other.row,
        other.slice,
        0,
        null(),
        null_mut()
    ))
}

/// Bytes that every region of `Side::any` fits into.
const ROOM: usize = 16_384;

fn extent(numbers: &mut Numbers) -> [usize; 3] {
    [1 + numbers.below(40), 1 + numbers.below(8), 1 + numbers.below(5)]
}

/// Buffers of every kind of storage, over the same bytes.
fn buffers(fixture: &Fixture, queue: &Queue, bytes: &[u8], host: &mut [Vec<u8>; 2]) -> Vec<Buffer> {
    let [copied, used] = host;
    let (c, size) = (fixture.context(), bytes.len());
    let buffers = vec![
        Buffer::of(c, Flags::READ_WRITE, size, null_mut()),
        Buffer::of(c, Flags::ALLOC_HOST_POINTER, size, null_mut()),
        Buffer::of(c, Flags::ALLOC_COPY_HOST_POINTER, size, copied.as_mut_ptr().cast()),
        Buffer::of(c, Flags::USE_HOST_POINTER, size, used.as_mut_ptr().cast()),
    ];
    buffers[..2].iter().for_each(|buffer| buffer.write(queue, bytes));
    buffers
}

fn check_reads_and_writes(fixture: &Fixture) {
    let queue = fixture.in_order();
    let mut numbers = Numbers(1);
    for round in 0..25 {
        let mut bytes = pattern(round, ROOM);
        let mut host = [bytes.clone(), bytes.clone()];
        let buffers = buffers(fixture, &queue, &bytes, &mut host);
        let extent = extent(&mut numbers);
        let (side, other) = (Side::any(&mut numbers, extent), Side::any(&mut numbers, extent));
        let at = Place { queue: queue.handle(), side, other, extent };
        let (inside, outside) = (side.bytes(extent), other.bytes(extent));
        let what = format!("{extent:?}, buffer {side:?}, host {other:?}");
        for (kind, buffer) in buffers.iter().enumerate() {
            let mut found = pattern(round + 100, ROOM);
            let mut expected = found.clone();
            inside.iter().zip(&outside).for_each(|(from, to)| expected[*to] = bytes[*from]);
            assert_eq!(read(at, buffer, CBool::TRUE, found.as_mut_ptr().cast()), Code::SUCCESS, "{what}");
            assert!(found == expected, "a read: {what}, kind {kind}");
        }
        let mut news = pattern(round + 200, ROOM);
        inside.iter().zip(&outside).for_each(|(to, from)| bytes[*to] = news[*from]);
        for (kind, buffer) in buffers.iter().enumerate() {
            assert_eq!(write(at, buffer, (round % 2 == 0).into(), news.as_mut_ptr().cast()), Code::SUCCESS, "{what}");
            assert!(buffer.read::<u8>(&queue) == bytes, "a write: {what}, kind {kind}");
        }
        drop(buffers);
    }
}

#[test]
fn urEnqueueMemBufferReadRect_and_WriteRect_touch_the_region_s_bytes_alone() {
    check_reads_and_writes(&Fixture::new());
}

#[test]
fn urEnqueueMemBufferReadRect_and_WriteRect_do_so_in_a_context_of_all_devices() {
    check_reads_and_writes(&Fixture::over_all_devices());
}

#[test]
fn urEnqueueMemBufferCopyRect_copies_between_buffers_of_every_kind() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let mut numbers = Numbers(2);
    for round in 0..10 {
        let (from_bytes, to_bytes) = (pattern(round, ROOM), pattern(round + 100, ROOM));
        let mut hosts = ([from_bytes.clone(), from_bytes.clone()], [to_bytes.clone(), to_bytes.clone()]);
        let sources = buffers(&fixture, &queue, &from_bytes, &mut hosts.0);
        let targets = buffers(&fixture, &queue, &to_bytes, &mut hosts.1);
        let mut expected = to_bytes.clone();
        for (from_kind, from) in sources.iter().enumerate() {
            let extent = extent(&mut numbers);
            let (side, other) = (Side::any(&mut numbers, extent), Side::any(&mut numbers, extent));
            let at = Place { queue: queue.handle(), side, other, extent };
            let bytes = side.bytes(extent).into_iter().zip(other.bytes(extent));
            bytes.for_each(|(from, to)| expected[to] = from_bytes[from]);
            for (to_kind, to) in targets.iter().enumerate() {
                let what = format!("{extent:?} from {side:?} of kind {from_kind} to {other:?} of kind {to_kind}");
                assert_eq!(copy(at, from, to), Code::SUCCESS, "{what}");
                assert!(to.read::<u8>(&queue) == expected, "{what}");
            }
        }
        drop((sources, targets));
    }
}

#[test]
fn urEnqueueMemBufferCopyRect_within_one_buffer_takes_regions_that_share_no_byte_and_refuses_others() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let buffer = Buffer::new(&fixture, ROOM);
    let mut numbers = Numbers(3);
    let (mut taken, mut refused) = (0, 0);
    for round in 0..120 {
        let extent = extent(&mut numbers);
        let (side, other) = (Side::any(&mut numbers, extent), Side::any(&mut numbers, extent));
        let (from, to) = (side.bytes(extent), other.bytes(extent));
        let at = Place { queue: queue.handle(), side, other, extent };
        let mut bytes = pattern(round, ROOM);
        buffer.write(&queue, &bytes);
        let answer = copy(at, &buffer, &buffer);
        if from.iter().any(|byte| to.contains(byte)) {
            refused += 1;
            expect_code(answer, &[Code::ERROR_OVERLAPPING_REGIONS], "urEnqueueMemBufferCopyRect");
        } else {
            taken += 1;
            assert_eq!(answer, Code::SUCCESS, "{extent:?} from {side:?} to {other:?}");
            from.iter().zip(&to).for_each(|(from, to)| bytes[*to] = bytes[*from]);
        }
        assert!(buffer.read::<u8>(&queue) == bytes, "{extent:?} from {side:?} to {other:?}");
    }
    assert!(taken > 10 && refused > 10, "{taken} taken, {refused} refused");
}

#[test]
fn rectangular_commands_refuse_what_the_specification_calls_invalid() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (buffer, other) = (Buffer::new(&fixture, 1000), Buffer::new(&fixture, 1000));
    let mut room = vec![0u8; 4000];
    let host: *mut c_void = room.as_mut_ptr().cast();
    let plain = Side { origin: [0; 3], row: 0, slice: 0 };
    let with = |origin, row, slice| Side { origin, row, slice };
    let good = [4, 5, 6];
    let bad_pitches = [with([0; 3], 3, 0), with([0; 3], 8, 39), with([0; 3], 8, 44), with([0; 3], 0, 22)];
    let outside = [
        with([1000, 0, 0], 0, 0),
        with([881, 0, 0], 0, 0),
        with([0, 221, 0], 0, 0),
        with([0, 0, 45], 0, 0),
        with([0; 3], 200, 0),
        with([0; 3], 0, 200),
        with([usize::MAX, 0, 0], 0, 0),
        with([0, usize::MAX, 0], 0, 0),
        with([0, 0, usize::MAX], 0, 0),
        with([0; 3], usize::MAX, 0),
    ];
    let mut cases: Vec<(Side, Side, [usize; 3])> = Vec::new();
    cases.extend([[0, 5, 6], [4, 0, 6], [4, 5, 0], [usize::MAX, 2, 1]].map(|extent| (plain, plain, extent)));
    cases.extend(bad_pitches.map(|side| (side, plain, good)));
    cases.extend(bad_pitches.map(|side| (plain, side, good)));
    cases.extend(outside.map(|side| (side, plain, good)));
    for (side, beside, extent) in cases {
        let at = Place { queue: queue.handle(), side, other: beside, extent };
        let code = &[Code::ERROR_INVALID_SIZE];
        expect_code(read(at, &buffer, CBool::TRUE, host), code, &format!("a read of {extent:?}, {side:?}, {beside:?}"));
        expect_code(
            write(at, &buffer, CBool::TRUE, host),
            code,
            &format!("a write of {extent:?}, {side:?}, {beside:?}"),
        );
        expect_code(copy(at, &buffer, &other), code, &format!("a copy of {extent:?}, {side:?}, {beside:?}"));
    }
    for side in outside {
        let at = Place { queue: queue.handle(), side: plain, other: side, extent: good };
        expect_code(copy(at, &buffer, &other), &[Code::ERROR_INVALID_SIZE], &format!("a copy to {side:?}"));
    }
    let at = Place { queue: queue.handle(), side: plain, other: plain, extent: good };
    expect_code(read(at, &buffer, CBool::TRUE, null_mut()), &[Code::ERROR_INVALID_NULL_POINTER], "a read to null");
    expect_code(write(at, &buffer, CBool::TRUE, null_mut()), &[Code::ERROR_INVALID_NULL_POINTER], "a write from null");
}

/// A pitch that native rectangular copies do not take, of memory that need not be there between the rows.
#[test]
fn urEnqueueMemBufferReadRect_takes_a_single_row_of_any_pitch() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let buffer = Buffer::new(&fixture, 64);
    buffer.write(&queue, &pattern(4, 64));
    let mut found = [0u8; 16];
    let (side, other) = (
        Side { origin: [8, 0, 0], row: 1 << 40, slice: 1 << 50 },
        Side { origin: [0; 3], row: 1 << 33, slice: 1 << 33 },
    );
    let at = Place { queue: queue.handle(), side, other, extent: [16, 1, 1] };
    assert_eq!(read(at, &buffer, CBool::TRUE, found.as_mut_ptr().cast()), Code::SUCCESS);
    assert_eq!(found, pattern(4, 64)[8..24]);
    refused!(
        ERROR_INVALID_NULL_HANDLE,
        Enqueue.pfnMemBufferCopyRect(
            queue.handle(),
            buffer.handle(),
            null_mut(),
            side.offset(),
            other.offset(),
            region([1, 1, 1]),
            0,
            0,
            0,
            0,
            0,
            null(),
            null_mut()
        )
    );
    ok!(Queue.pfnFlush(queue.handle()));
}

/// Wider than the pitches of native rectangular copies.
const FAR: usize = 1 << 31;

/// The native copies that `work` makes: of boxes and of bytes.
fn copies_of(sim: &Sim, work: impl FnOnce()) -> [u64; 2] {
    let ((), calls) = sim.calls_of(work);
    let count = |start: &str| calls.iter().filter(|(name, _)| name.starts_with(start)).map(|(_, count)| count).sum();
    [count("cuMemcpy3D"), count("cuMemcpyAsync") + count("cuMemcpyHtoD") + count("cuMemcpyDtoD")]
}

#[test]
fn urEnqueueMemBufferCopyRect_of_one_slice_is_one_native_copy_at_any_slice_pitch() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let (from, to) = (Buffer::new(&fixture, 64 * 64), Buffer::new(&fixture, 64 * 64));
    let bytes = pattern(4, 64 * 64);
    from.write(&queue, &bytes);
    to.write(&queue, &[0u8; 64 * 64]);
    let side = Side { origin: [0; 3], row: 64, slice: FAR };
    let at = Place { queue: queue.handle(), side, other: side, extent: [16, 64, 1] };
    let made = copies_of(sim, || assert_eq!(copy(at, &from, &to), Code::SUCCESS));
    assert_eq!(made, [1, 0]);
    let found = to.read::<u8>(&queue);
    assert!((0..64 * 64).all(|at| found[at] == if at % 64 < 16 { bytes[at] } else { 0 }));
}

#[test]
fn urEnqueueMemBufferCopyRect_without_gaps_copies_bytes() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let (from, to) = (Buffer::new(&fixture, 4096), Buffer::new(&fixture, 4096));
    let bytes = pattern(5, 4096);
    from.write(&queue, &bytes);
    let side = Side { origin: [0; 3], row: 0, slice: 0 };
    let at = Place { queue: queue.handle(), side, other: side, extent: [1, 1024, 4] };
    let made = copies_of(sim, || assert_eq!(copy(at, &from, &to), Code::SUCCESS));
    assert_eq!(made, [0, 1]);
    assert!(to.read::<u8>(&queue) == bytes);
}

#[test]
fn urEnqueueMemBufferWriteRect_of_far_slices_is_one_native_copy_a_slice() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let Some(host) = AddressSpace::new(3 * FAR) else {
        println!("skipped: needs many addresses");
        return;
    };
    let queue = fixture.in_order();
    let buffer = Buffer::new(&fixture, 3 * 4 * 64);
    buffer.write(&queue, &[7u8; 3 * 4 * 64]);
    let (side, other) = (Side { origin: [0; 3], row: 64, slice: 0 }, Side { origin: [0; 3], row: 64, slice: FAR });
    let at = Place { queue: queue.handle(), side, other, extent: [16, 4, 3] };
    let made = copies_of(sim, || assert_eq!(write(at, &buffer, CBool::TRUE, host.pointer()), Code::SUCCESS));
    assert_eq!(made, [3, 0]);
    let found = buffer.read::<u8>(&queue);
    assert!((0..3 * 4 * 64).all(|at| found[at] == if at % 64 < 16 { 0 } else { 7 }));
}
