//! Pinned memory behind maps: whom it serves, and when.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{CBool, ur_map_flags_t as Map, ur_result_t as Code};
use ur_conformance::graph::{are_there, begin, end};
use ur_conformance::owned::event_of;
use ur_conformance::sim::status;
use ur_conformance::{Buffer, Event, Fixture, Gate, Graph, Queue, child, needs_sim, ok, ur};

const SIZE: usize = 4096;

/// Maps a buffer of [`SIZE`] bytes, without waiting.
#[track_caller]
fn map(queue: &Queue, buffer: &Buffer, flags: Map, after: &[&Event]) -> (*mut c_void, Event) {
    let list: Vec<_> = after.iter().map(|event| event.handle()).collect();
    let (count, list) = (list.len() as u32, if list.is_empty() { null() } else { list.as_ptr() });
    let (q, m, no) = (queue.handle(), buffer.handle(), CBool::FALSE);
    let mut pointer = null_mut();
    let event =
        event_of(|event| ur!(Enqueue.pfnMemBufferMap(q, m, no, flags, 0, SIZE, count, list, event, &raw mut pointer)));
    (pointer, event)
}

#[track_caller]
fn unmap(queue: &Queue, buffer: &Buffer, pointer: *mut c_void, after: &[&Event]) -> Event {
    let list: Vec<_> = after.iter().map(|event| event.handle()).collect();
    let (count, list) = (list.len() as u32, if list.is_empty() { null() } else { list.as_ptr() });
    event_of(|event| ur!(Enqueue.pfnMemUnmap(queue.handle(), buffer.handle(), pointer, count, list, event)))
}

/// Bytes of mapped memory; the map has finished.
fn first_byte(pointer: *mut c_void) -> u8 {
    // SAFETY: tests pass mapped bytes.
    unsafe { pointer.cast::<u8>().read() }
}

fn put(pointer: *mut c_void, value: u8) {
    // SAFETY: tests pass [`SIZE`] mapped bytes.
    unsafe { pointer.cast::<u8>().write_bytes(value, SIZE) };
}

/// Pieces of pinned memory that the driver has made.
fn pieces(fixture: &Fixture) -> u64 {
    fixture.sim().and_then(|sim| sim.objects().get("host memory").copied()).unwrap_or(0)
}

#[test]
fn the_memory_of_a_map_on_one_queue_serves_no_other_queue_while_its_copy_is_on_its_way() {
    let fixture = Fixture::new();
    let (first, second) = (fixture.in_order(), fixture.in_order());
    let buffer = Buffer::new(&fixture, SIZE);
    buffer.write(&second, &[1u8; SIZE]);
    let mut gate = Gate::new(&fixture);
    gate.block(&first);
    let (early, mapped) = map(&first, &buffer, Map::READ, &[]);
    drop(unmap(&first, &buffer, early, &[&mapped]));
    let (late, mapped) = map(&second, &buffer, Map::READ, &[]);
    assert_ne!(late, early, "the first queue's copy goes there");
    mapped.wait();
    assert_eq!(first_byte(late), 1);
    gate.open();
    unmap(&second, &buffer, late, &[]).wait();
    first.finish();
}

#[test]
fn the_memory_of_a_map_serves_no_other_command_of_a_queue_out_of_order_while_its_copy_is_on_its_way() {
    let fixture = Fixture::new();
    let queue = fixture.out_of_order();
    let buffer = Buffer::new(&fixture, SIZE);
    buffer.write(&queue, &[1u8; SIZE]);
    let mut gate = Gate::new(&fixture);
    let blocked = gate.block_event(&queue);
    let (early, mapped) = map(&queue, &buffer, Map::READ, &[&blocked]);
    drop(unmap(&queue, &buffer, early, &[&mapped]));
    for _ in 0..8 {
        // Nothing is waited for: a queue out of order has few streams, and one of them waits for the gate.
        let (late, mapped) = map(&queue, &buffer, Map::READ, &[]);
        assert_ne!(late, early, "a copy that has not run yet goes there");
        drop(unmap(&queue, &buffer, late, &[&mapped]));
    }
    gate.open();
    queue.finish();
}

/// What the queue of a copy does when the copy's memory is let go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Captures {
    Nothing,
    /// It has begun a capture.
    Itself,
    /// It is part of another queue's capture.
    WithAnother,
}

/// A command that does nothing, in its queue's capture.
fn wait_for(queue: &Queue, after: &[&Event]) -> Event {
    let list: Vec<_> = after.iter().map(|event| event.handle()).collect();
    let (count, list) = (list.len() as u32, if list.is_empty() { null() } else { list.as_ptr() });
    event_of(|event| ur!(Enqueue.pfnEventsWait(queue.handle(), count, list, event)))
}

/// Whether a buffer's release gives away memory that a copy on a queue still writes, while the queue captures or not.
fn release_keeps_memory_until_the_copy_is_over(fixture: &Fixture, captures: Captures) {
    fixture.allow_late_releases();
    let (first, second, origin) = (fixture.in_order(), fixture.in_order(), fixture.in_order());
    let buffer = Buffer::new(fixture, SIZE);
    buffer.write(&second, &[1u8; SIZE]);
    let others: Vec<Buffer> = (0..200).map(|_| Buffer::new(fixture, SIZE)).collect();
    let mut gate = Gate::new(fixture);
    gate.block(&first);
    let (early, mapped) = map(&first, &buffer, Map::READ, &[]);
    drop(unmap(&first, &buffer, early, &[&mapped]));
    drop(mapped);
    match captures {
        Captures::Nothing => {}
        Captures::Itself => begin(&first),
        Captures::WithAnother => {
            begin(&origin);
            drop(wait_for(&first, &[&wait_for(&origin, &[])]));
        }
    }
    drop(buffer);
    let mut maps = Vec::new();
    for other in &others {
        // All stay open, so each has memory of its own.
        let (pointer, mapped) = map(&second, other, Map::READ, &[]);
        mapped.wait();
        assert_ne!(pointer, early, "a copy that has not run yet goes there");
        maps.push(pointer);
    }
    match captures {
        Captures::Nothing => {}
        Captures::Itself => drop(Graph::take(end(&first))),
        Captures::WithAnother => {
            drop(wait_for(&origin, &[&wait_for(&first, &[])]));
            drop(Graph::take(end(&origin)));
        }
    }
    gate.open();
    first.finish();
    for (other, pointer) in others.iter().zip(maps) {
        drop(unmap(&second, other, pointer, &[]));
    }
    second.finish();
}

/// With pooled memory: a native free of the buffer's own would wait for the copy.
#[test]
fn urMemRelease_keeps_the_memory_of_maps_until_copies_to_it_are_over() {
    child::with_pooled_memory("urMemRelease_keeps_the_memory_of_maps_until_copies_to_it_are_over", || {
        release_keeps_memory_until_the_copy_is_over(&Fixture::new(), Captures::Nothing);
    });
}

#[test]
fn urMemRelease_keeps_the_memory_of_maps_until_copies_to_it_are_over_though_their_queue_captures() {
    let test = "urMemRelease_keeps_the_memory_of_maps_until_copies_to_it_are_over_though_their_queue_captures";
    child::with_pooled_memory(test, || {
        let fixture = Fixture::new();
        if are_there(&fixture) {
            release_keeps_memory_until_the_copy_is_over(&fixture, Captures::Itself);
            release_keeps_memory_until_the_copy_is_over(&fixture, Captures::WithAnother);
        }
    });
}

/// The queue of the copies is never asked nor waited for itself, and the oldest memory is busy all the time.
#[test]
fn maps_that_nobody_waits_for_take_no_more_memory_than_copies_on_their_way() {
    let fixture = Fixture::new();
    let _sim = needs_sim!(fixture);
    fixture.allow_late_releases();
    let (busy, queue, waiter) = (fixture.in_order(), fixture.in_order(), fixture.in_order());
    let buffer = Buffer::new(&fixture, SIZE);
    buffer.write(&waiter, &[1u8; SIZE]);
    let mut gate = Gate::new(&fixture);
    gate.block(&busy);
    let (stuck, mapped) = map(&busy, &buffer, Map::READ, &[]);
    drop(unmap(&busy, &buffer, stuck, &[&mapped]));
    let before = pieces(&fixture);
    for round in 0..100 {
        let (pointer, mapped) = map(&queue, &buffer, Map::WRITE_INVALIDATE_REGION, &[]);
        drop(mapped);
        put(pointer, round);
        let list = [unmap(&queue, &buffer, pointer, &[])];
        let handle = list[0].handle();
        ok!(Enqueue.pfnEventsWait(waiter.handle(), 1, &raw const handle, null_mut()));
        waiter.finish();
    }
    let more = pieces(&fixture) - before;
    assert!(more <= 16, "{more} more pieces of pinned memory for one copy at a time");
    gate.open();
    busy.finish();
    queue.finish();
}

#[test]
fn urEnqueueMemUnmap_that_fails_natively_leaves_the_map_and_can_be_called_again() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let buffer = Buffer::new(&fixture, SIZE);
    buffer.write(&queue, &[1u8; SIZE]);
    let (pointer, mapped) = map(&queue, &buffer, Map::WRITE, &[]);
    mapped.wait();
    put(pointer, 7);
    sim.fail("cuMemcpyAsync", 1, status::UNKNOWN);
    let mut event = null_mut();
    let answer = ur!(Enqueue.pfnMemUnmap(queue.handle(), buffer.handle(), pointer, 0, null(), &raw mut event));
    sim.clear_faults();
    assert_eq!(answer, Code::ERROR_ADAPTER_SPECIFIC);
    assert!(event.is_null());
    unmap(&queue, &buffer, pointer, &[]).wait();
    assert_eq!(buffer.read::<u8>(&queue), [7; SIZE]);
}

/// Of two maps the second is noted elsewhere than the first.
#[test]
fn urEnqueueMemUnmap_that_fails_natively_leaves_each_of_several_maps() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let buffer = Buffer::new(&fixture, SIZE);
    buffer.write(&queue, &[1u8; SIZE]);
    let maps = [0, 1].map(|_| map(&queue, &buffer, Map::WRITE, &[]));
    for (number, (pointer, mapped)) in (7..).zip(&maps) {
        mapped.wait();
        put(*pointer, number);
        sim.fail("cuMemcpyAsync", 1, status::UNKNOWN);
        let mut event = null_mut();
        let answer = ur!(Enqueue.pfnMemUnmap(queue.handle(), buffer.handle(), *pointer, 0, null(), &raw mut event));
        sim.clear_faults();
        assert_eq!((answer, event.is_null()), (Code::ERROR_ADAPTER_SPECIFIC, true));
    }
    for (number, (pointer, _)) in (7..).zip(&maps) {
        unmap(&queue, &buffer, *pointer, &[]).wait();
        assert_eq!(buffer.read::<u8>(&queue), [number; SIZE]);
    }
}

/// Maps a buffer that it makes, unmaps and releases it; the memory of the map comes back.
fn come_and_go(fixture: &Fixture, queue: &Queue, size: usize) {
    let buffer = Buffer::new(fixture, size);
    map_all(queue, &buffer, Map::WRITE_INVALIDATE_REGION);
}

/// Maps all of a buffer, unmaps it and waits.
fn map_all(queue: &Queue, buffer: &Buffer, flags: Map) {
    let (q, m, yes, size) = (queue.handle(), buffer.handle(), CBool::TRUE, buffer.size());
    let mut pointer = null_mut();
    ok!(Enqueue.pfnMemBufferMap(q, m, yes, flags, 0, size, 0, null(), null_mut(), &raw mut pointer));
    ok!(Enqueue.pfnMemUnmap(q, m, pointer, 0, null(), null_mut()));
    queue.finish();
}

/// A device keeps 64 MiB of pinned memory; what is taken from there is not kept any more, and comes back.
#[test]
fn pinned_memory_that_comes_and_goes_is_kept_however_often_it_does() {
    const LARGE: usize = 4 << 20;
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    come_and_go(&fixture, &queue, LARGE);
    let (_, calls) = sim.calls_of(|| (0..40).for_each(|_| come_and_go(&fixture, &queue, LARGE)));
    assert!(!calls.contains_key("cuMemHostAlloc"), "{calls:?}");
}

/// One map of more than 32 MiB takes all that a device keeps.
#[test]
fn pinned_memory_that_is_kept_and_never_used_again_makes_room_for_what_comes_and_goes() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let so_far = || ["cuMemHostAlloc", "cuMemFreeHost"].map(|name| sim.calls_so_far(name));
    let before = so_far();
    come_and_go(&fixture, &queue, 40 << 20);
    (0..40).for_each(|_| come_and_go(&fixture, &queue, SIZE));
    // All pieces but one go back, on a thread of the adapter's own.
    let all_but_one_went = |[made, freed]: [u64; 2]| freed + 1 - before[1] >= made - before[0];
    while !all_but_one_went(so_far()) {
        std::thread::yield_now();
    }
    let (_, calls) = sim.calls_of(|| (0..10).for_each(|_| come_and_go(&fixture, &queue, SIZE)));
    let count = |name| calls.get(name).copied().unwrap_or(0);
    assert_eq!((count("cuMemHostAlloc"), count("cuMemFreeHost")), (0, 0), "allocations and frees for ten maps");
}

#[test]
fn maps_that_are_over_keep_no_memory_each_however_many_buffers_there_are() {
    const LARGE: usize = 4 << 20;
    let fixture = Fixture::new();
    needs_sim!(fixture);
    fixture.allow_late_releases();
    let queue = fixture.in_order();
    let before = pieces(&fixture);
    let buffers: Vec<_> = (0..80)
        .map(|_| {
            let buffer = Buffer::new(&fixture, LARGE);
            map_all(&queue, &buffer, Map::READ);
            buffer
        })
        .collect();
    let more = pieces(&fixture) - before;
    assert!(more <= 40, "{more} pieces of 4 MiB for {} maps, one after the other", buffers.len());
}

/// They have more than a device lets lie unused. Each round something else wants memory of a size that nobody has.
#[test]
fn buffers_that_are_mapped_in_turn_keep_their_memory() {
    let fixture = Fixture::new();
    let sim = needs_sim!(fixture);
    let queue = fixture.in_order();
    let buffers: Vec<_> = (0..8).map(|_| Buffer::new(&fixture, 16 << 20)).collect();
    let round = |number: usize| {
        buffers.iter().for_each(|buffer| map_all(&queue, buffer, Map::READ));
        come_and_go(&fixture, &queue, SIZE << number);
    };
    (0..4).for_each(round);
    let (_, calls) = sim.calls_of(|| (4..8).for_each(round));
    let count = |name| calls.get(name).copied().unwrap_or(0);
    assert_eq!((count("cuMemHostAlloc"), count("cuMemFreeHost")), (4, 0), "allocations and frees in four rounds");
}
