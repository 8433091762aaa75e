//! `urEnqueueMemBufferMap` and `urEnqueueMemUnmap`.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    CBool, UR_MAP_FLAGS_MASK, ur_map_flags_t as Map, ur_mem_flags_t as Flags, ur_queue_flags_t as QueueFlags,
};
use ur_conformance::memory::pattern;
use ur_conformance::owned::event_of;
use ur_conformance::{Buffer, Fixture, Gate, Launch, Queue, needs_sim, ok, refused, ur};

const SOURCES: [Flags; 4] =
    [Flags::empty(), Flags::USE_HOST_POINTER, Flags::ALLOC_HOST_POINTER, Flags::ALLOC_COPY_HOST_POINTER];

fn buffer_over(fixture: &Fixture, source: Flags, host: &mut [u8]) -> Buffer {
    let wants = source.intersects(Flags::USE_HOST_POINTER | Flags::ALLOC_COPY_HOST_POINTER);
    let pointer = if wants { host.as_mut_ptr().cast() } else { null_mut() };
    Buffer::of(fixture.context(), source, host.len(), pointer)
}

#[track_caller]
fn map(queue: &Queue, buffer: &Buffer, flags: Map, offset: usize, size: usize) -> *mut u8 {
    let mut pointer = null_mut();
    let (q, m, yes) = (queue.handle(), buffer.handle(), CBool::TRUE);
    ok!(Enqueue.pfnMemBufferMap(q, m, yes, flags, offset, size, 0, null(), null_mut(), &raw mut pointer));
    assert!(!pointer.is_null());
    pointer.cast()
}

#[track_caller]
fn unmap(queue: &Queue, buffer: &Buffer, pointer: *mut u8) {
    ok!(Enqueue.pfnMemUnmap(queue.handle(), buffer.handle(), pointer.cast(), 0, null(), null_mut()));
}

fn bytes(pointer: *mut u8, count: usize) -> Vec<u8> {
    // SAFETY: tests pass mapped bytes, after the map has finished.
    unsafe { core::slice::from_raw_parts(pointer, count) }.to_vec()
}

fn put(pointer: *mut u8, values: &[u8]) {
    // SAFETY: as in `bytes`.
    unsafe { core::slice::from_raw_parts_mut(pointer, values.len()) }.copy_from_slice(values);
}

fn check(fixture: &Fixture, flags: QueueFlags) {
    const SIZE: usize = 9001;
    let queue = fixture.queue(flags);
    for source in SOURCES {
        let mut host = vec![0u8; SIZE];
        let buffer = buffer_over(fixture, source, &mut host);
        let mut expected = pattern(source.bits(), SIZE);
        buffer.write(&queue, &expected);
        for (at, size) in [(0, SIZE), (1, 1), (77, 5000), (SIZE - 3, 3)] {
            let read = map(&queue, &buffer, Map::READ, at, size);
            assert!(bytes(read, size) == expected[at..at + size], "{source:?}: READ of {size} bytes at {at}");
            unmap(&queue, &buffer, read);
            let write = map(&queue, &buffer, Map::WRITE, at, size);
            put(write, &[5]);
            expected[at] = 5;
            unmap(&queue, &buffer, write);
            queue.finish();
            assert!(buffer.read::<u8>(&queue) == expected, "{source:?}: WRITE keeps what it did not write");
            let over = map(&queue, &buffer, Map::WRITE_INVALIDATE_REGION, at, size);
            let news = pattern(at as u32 + 3, size);
            put(over, &news);
            expected[at..at + size].copy_from_slice(&news);
            unmap(&queue, &buffer, over);
            queue.finish();
            assert!(buffer.read::<u8>(&queue) == expected, "{source:?}: INVALIDATE of {size} bytes at {at}");
        }
        drop(buffer);
    }
}

#[test]
fn urEnqueueMemBufferMap_shows_the_bytes_and_urEnqueueMemUnmap_brings_them_back() {
    let fixture = Fixture::new();
    for flags in [QueueFlags::empty(), QueueFlags::OUT_OF_ORDER_EXEC_MODE_ENABLE, QueueFlags::PROFILING_ENABLE] {
        check(&fixture, flags);
    }
}

#[test]
fn they_do_so_in_a_context_of_all_devices() {
    check(&Fixture::over_all_devices(), QueueFlags::empty());
}

#[test]
fn a_map_of_a_buffer_over_host_memory_is_that_memory() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let kernel = fixture.basic(c"add_bytes");
    let mut host = vec![1u8; 256];
    let own = host.as_mut_ptr();
    let buffer = Buffer::of(fixture.context(), Flags::USE_HOST_POINTER, 256, own.cast());
    let add = Launch::new(&kernel, &[256]).buffer(&buffer, Flags::READ_WRITE).value(1u8).value(256u32);
    add.on(&queue);
    let pointer = map(&queue, &buffer, Map::READ | Map::WRITE, 64, 128);
    assert_eq!(pointer, own.wrapping_add(64));
    assert_eq!(bytes(pointer, 128), [2; 128]);
    put(pointer, &[100; 10]);
    unmap(&queue, &buffer, pointer);
    add.on(&queue);
    queue.finish();
    let found = buffer.read::<u8>(&queue);
    assert_eq!((found[0], found[64], found[74]), (3, 101, 3));
    drop(buffer);
    assert_eq!(host, found);
}

#[test]
fn several_maps_may_be_open_at_once() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for source in SOURCES {
        let mut host = vec![0u8; 1000];
        let buffer = buffer_over(&fixture, source, &mut host);
        let mut expected = pattern(3, 1000);
        buffer.write(&queue, &expected);
        let first = map(&queue, &buffer, Map::WRITE, 0, 100);
        let second = map(&queue, &buffer, Map::WRITE_INVALIDATE_REGION, 500, 100);
        let (third, fourth) = (map(&queue, &buffer, Map::READ, 200, 100), map(&queue, &buffer, Map::READ, 200, 50));
        put(first, &[1; 7]);
        put(second, &[2; 100]);
        assert_eq!(bytes(third, 50), bytes(fourth, 50));
        unmap(&queue, &buffer, third);
        unmap(&queue, &buffer, second);
        unmap(&queue, &buffer, fourth);
        unmap(&queue, &buffer, first);
        expected[..7].fill(1);
        expected[500..600].fill(2);
        assert!(buffer.read::<u8>(&queue) == expected, "{source:?}");
        // All are gone.
        for pointer in [first, second, third, fourth] {
            refused!(
                ERROR_INVALID_VALUE,
                Enqueue.pfnMemUnmap(queue.handle(), buffer.handle(), pointer.cast(), 0, null(), null_mut())
            );
        }
        drop(buffer);
    }
}

/// A map that only reads may stay open beside the device's work, whichever of two at one address is closed.
#[test]
fn of_two_maps_at_one_address_the_one_that_writes_takes_effect() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let mut host = vec![0u8; 64];
    let buffer = Buffer::of(fixture.context(), Flags::USE_HOST_POINTER, 64, host.as_mut_ptr().cast());
    buffer.write(&queue, &[1u8; 64]);
    let read = map(&queue, &buffer, Map::READ, 0, 64);
    let write = map(&queue, &buffer, Map::WRITE, 0, 64);
    assert_eq!(read, write);
    put(write, &[9]);
    unmap(&queue, &buffer, write);
    let kernel = fixture.basic(c"add_bytes");
    Launch::new(&kernel, &[64]).buffer(&buffer, Flags::READ_WRITE).value(1u8).value(64u32).on(&queue);
    unmap(&queue, &buffer, read);
    let found = buffer.read::<u8>(&queue);
    assert_eq!((found[0], found[1]), (10, 2));
}

#[test]
fn a_map_that_does_not_block_comes_after_its_wait_list() {
    let fixture = Fixture::new();
    let (first, second) = (fixture.in_order(), fixture.in_order());
    for source in [Flags::empty(), Flags::ALLOC_HOST_POINTER] {
        let mut gate = Gate::new(&fixture);
        let mut host = vec![0u8; 64];
        let buffer = buffer_over(&fixture, source, &mut host);
        buffer.write(&first, &[1u8; 64]);
        let blocked = gate.block_event(&first);
        let kernel = fixture.basic(c"add_bytes");
        let added = Launch::new(&kernel, &[64])
            .buffer(&buffer, Flags::READ_WRITE)
            .value(1u8)
            .value(64u32)
            .after(&[&blocked])
            .event_on(&first);
        let mut pointer: *mut c_void = null_mut();
        let (q, m, list, out) = (second.handle(), buffer.handle(), [added.handle()], &raw mut pointer);
        let mapped = event_of(|event| {
            ur!(Enqueue.pfnMemBufferMap(q, m, CBool::FALSE, Map::READ, 0, 64, 1, list.as_ptr(), event, out))
        });
        gate.open();
        mapped.wait();
        assert_eq!(bytes(pointer.cast(), 64), [2; 64], "{source:?}");
        let list = [mapped.handle()];
        let gone = event_of(|event| ur!(Enqueue.pfnMemUnmap(q, m, pointer, 1, list.as_ptr(), event)));
        gone.wait();
        first.finish();
    }
}

#[test]
fn a_buffer_that_is_still_mapped_can_be_released() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for source in SOURCES {
        let mut host = vec![0u8; 1 << 16];
        let buffer = buffer_over(&fixture, source, &mut host);
        let mut pointer = null_mut();
        let (q, m, no) = (queue.handle(), buffer.handle(), CBool::FALSE);
        ok!(Enqueue.pfnMemBufferMap(q, m, no, Map::READ, 0, 1 << 16, 0, null(), null_mut(), &raw mut pointer));
        map(&queue, &buffer, Map::WRITE, 0, 16);
        drop(buffer);
        queue.finish();
    }
}

#[test]
fn the_memory_of_a_map_serves_the_next_once_the_copy_out_of_it_has_finished_and_not_before() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let buffer = Buffer::new(&fixture, 4096);
    let first = map(&queue, &buffer, Map::WRITE_INVALIDATE_REGION, 0, 4096);
    put(first, &[3; 4096]);
    let held = sim.hold();
    unmap(&queue, &buffer, first);
    let mut second = null_mut();
    let (q, m, no, over) = (queue.handle(), buffer.handle(), CBool::FALSE, Map::WRITE_INVALIDATE_REGION);
    ok!(Enqueue.pfnMemBufferMap(q, m, no, over, 0, 4096, 0, null(), null_mut(), &raw mut second));
    assert_ne!(second.cast(), first, "the copy has not run yet");
    drop(held);
    queue.finish();
    assert_eq!(buffer.read::<u8>(&queue), [3; 4096]);
    let third = map(&queue, &buffer, Map::READ, 0, 4096);
    assert_eq!(third, first);
    unmap(&queue, &buffer, third);
    put(second.cast(), &[5; 4096]);
    unmap(&queue, &buffer, second.cast());
    assert_eq!(buffer.read::<u8>(&queue), [5; 4096]);
}

/// Each thread has bytes of its own. Whichever map is in the buffer's slot, each unmap finds its own, and of two threads at once
/// one has the slot and the other the table.
#[test]
fn threads_that_map_one_buffer_at_once_each_have_bytes_of_their_own_and_end_their_own_maps() {
    const PART: usize = 1024;
    const TURNS: u8 = 100;
    let fixture = Fixture::new();
    let buffer = Buffer::new(&fixture, 4 * PART);
    let queue = fixture.in_order();
    buffer.write(&queue, &[0u8; 4 * PART]);
    std::thread::scope(|scope| {
        for part in 0..4 {
            let (buffer, queue) = (&buffer, fixture.in_order());
            scope.spawn(move || {
                for turn in 0..TURNS {
                    let pointer = map(&queue, buffer, Map::READ | Map::WRITE, part * PART, PART);
                    assert_eq!(bytes(pointer, PART), [turn; PART], "part {part}");
                    put(pointer, &[turn + 1; PART]);
                    unmap(&queue, buffer, pointer);
                }
                queue.finish();
            });
        }
    });
    assert_eq!(buffer.read::<u8>(&queue), [TURNS; 4 * PART]);
}

#[test]
fn an_unmap_at_an_address_that_no_map_gave_leaves_the_open_map() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let buffer = Buffer::new(&fixture, 4096);
    buffer.write(&queue, &[1u8; 4096]);
    let pointer = map(&queue, &buffer, Map::READ | Map::WRITE, 0, 4096);
    // The last is the number that stands for a map somebody is dealing with.
    for wrong in [pointer.addr() + 1, 1, usize::MAX] {
        let wrong: *mut c_void = core::ptr::without_provenance_mut(wrong);
        let (q, m) = (queue.handle(), buffer.handle());
        refused!(ERROR_INVALID_VALUE, Enqueue.pfnMemUnmap(q, m, wrong, 0, null(), null_mut()));
    }
    put(pointer, &[2; 4096]);
    unmap(&queue, &buffer, pointer);
    assert_eq!(buffer.read::<u8>(&queue), [2; 4096]);
    let (q, m) = (queue.handle(), buffer.handle());
    refused!(ERROR_INVALID_VALUE, Enqueue.pfnMemUnmap(q, m, pointer.cast(), 0, null(), null_mut()));
}

#[test]
fn many_maps_in_turn_leave_nothing_behind() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let buffer = Buffer::new(&fixture, 4096);
    for turn in 0..50u8 {
        let pointer = map(&queue, &buffer, Map::WRITE, 0, 4096);
        put(pointer, &[turn; 4096]);
        unmap(&queue, &buffer, pointer);
    }
    assert_eq!(buffer.read::<u8>(&queue), [49; 4096]);
}

#[test]
fn bad_maps_and_unmaps_are_refused() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (buffer, other) = (Buffer::new(&fixture, 64), Buffer::new(&fixture, 64));
    let (q, m, yes) = (queue.handle(), buffer.handle(), CBool::TRUE);
    let (mut pointer, mut event) = (null_mut(), null_mut());
    let (out, e) = (&raw mut pointer, &raw mut event);
    let unknown = Map::from_bits_retain(UR_MAP_FLAGS_MASK & UR_MAP_FLAGS_MASK.wrapping_neg());
    refused!(ERROR_INVALID_ENUMERATION, Enqueue.pfnMemBufferMap(q, m, yes, unknown, 0, 64, 0, null(), e, out));
    for flags in [Map::READ, Map::WRITE] {
        let both = flags | Map::WRITE_INVALIDATE_REGION;
        refused!(ERROR_INVALID_VALUE, Enqueue.pfnMemBufferMap(q, m, yes, both, 0, 64, 0, null(), e, out));
    }
    for (offset, size) in [(0, 0), (0, 65), (64, 1), (usize::MAX, 2)] {
        refused!(ERROR_INVALID_SIZE, Enqueue.pfnMemBufferMap(q, m, yes, Map::READ, offset, size, 0, null(), e, out));
    }
    refused!(
        ERROR_INVALID_NULL_POINTER,
        Enqueue.pfnMemBufferMap(q, m, yes, Map::READ, 0, 64, 0, null(), e, null_mut())
    );
    assert!(pointer.is_null() && event.is_null());
    let mapped = map(&queue, &buffer, Map::READ, 0, 64);
    refused!(ERROR_INVALID_NULL_POINTER, Enqueue.pfnMemUnmap(q, m, null_mut(), 0, null(), e));
    refused!(ERROR_INVALID_VALUE, Enqueue.pfnMemUnmap(q, m, mapped.wrapping_add(1).cast(), 0, null(), e));
    refused!(ERROR_INVALID_VALUE, Enqueue.pfnMemUnmap(q, other.handle(), mapped.cast(), 0, null(), e));
    assert!(event.is_null());
    unmap(&queue, &buffer, mapped);
    refused!(ERROR_INVALID_VALUE, Enqueue.pfnMemUnmap(q, m, mapped.cast(), 0, null(), e));
}

#[test]
fn urEnqueueMemBufferMap_makes_no_memory_after_the_first_time() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let mut kept = Buffer::new(&fixture, 5000);
    let round = |buffer: &Buffer, size: usize| {
        let mut pointer = null_mut();
        let (q, m, no) = (queue.handle(), buffer.handle(), CBool::FALSE);
        let out = &raw mut pointer;
        ok!(Enqueue.pfnMemBufferMap(q, m, no, Map::READ | Map::WRITE, 0, size, 0, null(), null_mut(), out));
        queue.finish();
        unmap(&queue, buffer, pointer.cast());
        queue.finish();
    };
    round(&kept, 5000);
    for new in [false, true] {
        let (_, calls) = sim.calls_of(|| {
            for size in 4900..5000 {
                if new {
                    kept = Buffer::new(&fixture, 5000);
                }
                round(&kept, size);
            }
        });
        let of_host = calls.iter().filter(|(name, _)| name.contains("HostAlloc") || name.contains("FreeHost"));
        assert_eq!(of_host.count(), 0, "new buffers: {new}: {calls:?}");
    }
}

/// The native library makes that memory, and may take long.
#[test]
fn urEnqueueMemBufferMap_and_urEnqueueMemUnmap_do_not_wait_for_a_map_whose_memory_is_being_made() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let (queue, other) = (fixture.in_order(), fixture.in_order());
    let (small, large) = (Buffer::new(&fixture, 5000), Buffer::new(&fixture, 8 << 20));
    let mapped = map(&queue, &small, Map::READ, 0, 1000);
    let round = || {
        let pointer = map(&queue, &small, Map::READ, 1000, 4000);
        unmap(&queue, &small, pointer);
        queue.finish();
    };
    round();
    std::thread::scope(|scope| {
        let held = sim.hold_calls("cuMemHostAlloc");
        let making = scope.spawn(|| unmap(&other, &large, map(&other, &large, Map::READ, 0, 8 << 20)));
        held.wait_for_one(|| making.is_finished());
        (0..10).for_each(|_| round());
        unmap(&queue, &small, mapped);
        queue.finish();
        assert!(!making.is_finished());
        drop(held);
        making.join().expect("a map");
    });
    other.finish();
}

#[test]
fn urEnqueueMemBufferMap_keeps_a_bounded_amount_of_memory() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    fixture.allow_late_releases();
    let queue = fixture.in_order();
    let buffers: Vec<Buffer> = (0..20).map(|_| Buffer::new(&fixture, 8 << 20)).collect();
    let maps: Vec<*mut u8> = buffers.iter().map(|buffer| map(&queue, buffer, Map::READ, 0, 8 << 20)).collect();
    for (buffer, pointer) in buffers.iter().zip(maps) {
        unmap(&queue, buffer, pointer);
    }
    queue.finish();
    drop(buffers);
    let most = 8;
    let begun = std::time::Instant::now();
    let kept = || sim.objects().get("host memory").copied().unwrap_or(0);
    while kept() > most && begun.elapsed() < std::time::Duration::from_secs(20) {
        std::thread::yield_now();
    }
    assert!(kept() <= most, "{} pieces of pinned memory are kept", kept());
}
