//! `urMemBufferPartition`: parts of a buffer that share its bytes.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    CBool, ur_buffer_create_type_t, ur_buffer_region_t, ur_device_info_t, ur_map_flags_t, ur_mem_flags_t as Flags,
    ur_mem_info_t as info, ur_rect_offset_t, ur_rect_region_t, ur_result_t as Code,
};
use ur_conformance::memory::pattern;
use ur_conformance::{Buffer, Fixture, Launch, ask, expect_success, ok, query, refused, ur};

/// The alignment of a part's origin, bytes.
fn alignment(fixture: &Fixture) -> usize {
    let bits: u32 = query::get(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::MEM_BASE_ADDR_ALIGN)));
    bits as usize / 8
}

#[test]
fn urMemBufferPartition_makes_parts_that_are_the_buffer_s_own_bytes() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let step = alignment(&fixture);
    let size = 4 * step + 13;
    for source in [Flags::empty(), Flags::ALLOC_HOST_POINTER, Flags::USE_HOST_POINTER] {
        let mut host = vec![0u8; size];
        let pointer = if source == Flags::USE_HOST_POINTER { host.as_mut_ptr().cast() } else { null_mut() };
        let buffer = Buffer::of(fixture.context(), source, size, pointer);
        let mut bytes = pattern(1, size);
        buffer.write(&queue, &bytes);
        let (middle, end) = (buffer.part(step, 2 * step), buffer.part(4 * step, 13));
        assert!(middle.read::<u8>(&queue) == bytes[step..3 * step], "{source:?}");
        assert_eq!(end.read::<u8>(&queue), bytes[4 * step..], "{source:?}");
        let news = pattern(2, 20);
        middle.write_at(&queue, 5, &news);
        bytes[step + 5..step + 25].copy_from_slice(&news);
        assert!(buffer.read::<u8>(&queue) == bytes, "{source:?}");
        let told = query::get::<usize>(ask!(Mem.pfnGetInfo(middle.handle(), info::SIZE)));
        assert_eq!(told, 2 * step);
        let context = query::get::<*mut c_void>(ask!(Mem.pfnGetInfo(end.handle(), info::CONTEXT)));
        assert_eq!(context, fixture.context().cast());
        drop((buffer, middle, end));
    }
}

#[test]
fn a_part_outlives_its_buffer() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let step = alignment(&fixture);
    let mut host = vec![7u8; 2 * step];
    let buffer = Buffer::of(fixture.context(), Flags::USE_HOST_POINTER, 2 * step, host.as_mut_ptr().cast());
    let part = buffer.part(step, step);
    expect_success(buffer.release(), "urMemRelease");
    assert_eq!(part.read::<u8>(&queue), vec![7; step]);
    part.write(&queue, &vec![8u8; step]);
    drop(part);
    assert_eq!(host, [vec![7u8; step], vec![8; step]].concat());
}

#[test]
fn every_command_counts_a_part_s_bytes_from_its_origin() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let step = alignment(&fixture);
    let buffer = Buffer::new(&fixture, 3 * step);
    let part = buffer.part(step, step);
    let mut bytes = vec![0u8; 3 * step];
    buffer.write(&queue, &bytes);
    let (q, b, p) = (queue.handle(), buffer.handle(), part.handle());
    let nine = 9u8;
    ok!(Enqueue.pfnMemBufferFill(q, p, (&raw const nine).cast(), 1, 4, 4, 0, null(), null_mut()));
    bytes[step + 4..step + 8].fill(9);
    ok!(Enqueue.pfnMemBufferCopy(q, p, b, 4, 0, 4, 0, null(), null_mut()));
    bytes[..4].fill(9);
    let (here, extent) =
        (|x: u64| ur_rect_offset_t { x, y: 0, z: 0 }, ur_rect_region_t { width: 2, height: 2, depth: 1 });
    ok!(Enqueue.pfnMemBufferCopyRect(q, p, p, here(4), here(20), extent, 8, 0, 8, 0, 0, null(), null_mut()));
    bytes[step + 20..step + 22].fill(9);
    let kernel = fixture.basic(c"add_bytes");
    let last = part.size() as u32;
    Launch::new(&kernel, &[part.size()]).buffer(&part, Flags::READ_WRITE).value(1u8).value(last).on(&queue);
    bytes[step..2 * step].iter_mut().for_each(|byte| *byte += 1);
    let mut pointer = null_mut();
    let (flags, yes) = (ur_map_flags_t::READ | ur_map_flags_t::WRITE, CBool::TRUE);
    ok!(Enqueue.pfnMemBufferMap(q, p, yes, flags, 8, 8, 0, null(), null_mut(), &raw mut pointer));
    // SAFETY: eight mapped bytes, and the map has finished.
    unsafe { pointer.cast::<u8>().add(7).write(77) };
    ok!(Enqueue.pfnMemUnmap(q, p, pointer, 0, null(), null_mut()));
    bytes[step + 15] = 77;
    assert_eq!(buffer.read::<u8>(&queue), bytes);
    for (offset, size) in [(step, 1), (0, step + 1), (usize::MAX, 1)] {
        refused!(
            ERROR_INVALID_SIZE,
            Enqueue.pfnMemBufferFill(q, p, (&raw const nine).cast(), 1, offset, size, 0, null(), null_mut())
        );
    }
    refused!(ERROR_OVERLAPPING_REGIONS, Enqueue.pfnMemBufferCopy(q, b, p, step, 0, 1, 0, null(), null_mut()));
    let (mut whole, mut inner) = (0, 0);
    ok!(Mem.pfnGetNativeHandle(b, fixture.device(), &raw mut whole));
    ok!(Mem.pfnGetNativeHandle(p, fixture.device(), &raw mut inner));
    assert_eq!(inner, whole + step);
}

#[test]
fn urMemBufferPartition_refuses_regions_flags_and_buffers_that_it_cannot_take() {
    let fixture = Fixture::new();
    let step = alignment(&fixture);
    let buffer = Buffer::new(&fixture, 4 * step);
    let read_only = Buffer::of(fixture.context(), Flags::READ_ONLY, 4 * step, null_mut());
    let part = buffer.part(0, step);
    let region = ur_buffer_create_type_t::REGION;
    let tried = |of: &Buffer, flags: Flags, kind, origin, size| {
        let wanted = ur_buffer_region_t { origin, size, ..Default::default() };
        let mut mem = null_mut();
        let answer = ur!(Mem.pfnBufferPartition(of.handle(), flags, kind, &raw const wanted, &raw mut mem));
        assert!(mem.is_null(), "a refusal handed out a part");
        answer
    };
    let none = Flags::empty();
    assert_eq!(tried(&buffer, none, region, 0, 0), Code::ERROR_INVALID_BUFFER_SIZE);
    for (origin, size) in [(4 * step, 1), (0, 4 * step + 1), (step, usize::MAX), (usize::MAX - step + 1, step)] {
        let answer = tried(&buffer, none, region, origin, size);
        assert_eq!(answer, Code::ERROR_INVALID_BUFFER_SIZE, "{size} bytes at {origin}");
    }
    for origin in [1, step / 2, step + 1] {
        assert_eq!(tried(&buffer, none, region, origin, 1), Code::ERROR_MISALIGNED_SUB_BUFFER_OFFSET, "{origin}");
    }
    assert_eq!(tried(&part, none, region, 0, 1), Code::ERROR_INVALID_MEM_OBJECT);
    assert_eq!(tried(&buffer, none, ur_buffer_create_type_t(1), 0, 1), Code::ERROR_INVALID_ENUMERATION);
    let unknown = Flags::from_bits_retain(0x8000_0000);
    assert_eq!(tried(&buffer, unknown, region, 0, 1), Code::ERROR_INVALID_ENUMERATION);
    for flags in [Flags::READ_WRITE, Flags::WRITE_ONLY] {
        assert_eq!(tried(&read_only, flags, region, 0, 1), Code::ERROR_INVALID_VALUE, "{flags:?} of READ_ONLY");
    }
    for flags in [Flags::USE_HOST_POINTER, Flags::ALLOC_HOST_POINTER, Flags::ALLOC_COPY_HOST_POINTER] {
        assert_eq!(tried(&buffer, flags, region, 0, 1), Code::ERROR_INVALID_VALUE, "{flags:?}");
    }
    let (mut mem, good) = (null_mut(), ur_buffer_region_t { size: 1, ..Default::default() });
    refused!(ERROR_INVALID_NULL_POINTER, Mem.pfnBufferPartition(buffer.handle(), none, region, null(), &raw mut mem));
    refused!(
        ERROR_INVALID_NULL_POINTER,
        Mem.pfnBufferPartition(buffer.handle(), none, region, &raw const good, null_mut())
    );
}
