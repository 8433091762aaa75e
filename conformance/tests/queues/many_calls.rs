//! Commands of many native calls each: a stream has room for about a thousand, and whoever signals must not wait for room.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::address_space::AddressSpace;
use ur_conformance::below::Below;
use ur_conformance::ffi::{CBool, ur_rect_offset_t, ur_rect_region_t};
use ur_conformance::owned::event_of;
use ur_conformance::{Buffer, Fixture, Gate, Image, Kind, Queue, Shape, Timeline, child, ok, timeline};

/// Native calls of each command here: no more than are let onto a stream without a look at how full it is.
const CALLS: usize = 64;
/// So many of them nearly fill a stream.
const MOST: usize = 15;

/// A pattern without a unit that repeats: one native fill for each four bytes.
fn units(bytes: usize) -> Vec<u8> {
    (0..bytes as u32 / 4).flat_map(|unit| (unit | 1 << 31).to_le_bytes()).collect()
}

fn fill_with(queue: &Queue, to: *mut c_void, pattern: &[u8]) {
    let (from, size) = (pattern.as_ptr().cast(), pattern.len());
    ok!(Enqueue.pfnUSMFill(queue.handle(), to, size, from, size, 0, null(), null_mut()));
}

/// A stream has room for about a thousand native calls, of which one fill can be many.
#[test]
fn urTimelineSignalExt_does_not_wait_for_a_fill_of_more_native_calls_than_a_stream_takes() {
    let test = "urTimelineSignalExt_does_not_wait_for_a_fill_of_more_native_calls_than_a_stream_takes";
    child::in_time(test, &[("UR_TEST_OF_FILLS", "1")], || {
        let fixture = Fixture::new();
        if !timeline::are_there() {
            return;
        }
        // All in the one kept fill, or most of them on the stream before. HIP fills rows of single bytes alone.
        let unit = if Below::is_hip() { 1 } else { 4 };
        for (before, pattern) in [(0, 8192), (MOST, CALLS * unit)] {
            let (queue, timeline) = (fixture.in_order(), Timeline::at_zero(&fixture));
            let memory = fixture.memory(Kind::Device, pattern);
            let pattern = units(pattern);
            fill_with(&queue, memory.pointer(), &pattern);
            queue.finish();
            let mut gate = Gate::new(&fixture);
            gate.block(&queue);
            (0..before).for_each(|_| fill_with(&queue, memory.pointer(), &pattern));
            queue.wait_for(&timeline, 1);
            fill_with(&queue, memory.pointer(), &pattern);
            timeline.signal(1);
            gate.open();
            queue.finish();
            assert_eq!(memory.read::<u8>(&queue, pattern.len()), pattern);
        }
    });
}

/// Signals what a kept fill waits for, from the thread that is to open the gate, behind which the commands nearly fill the stream.
fn signal_behind(fixture: &Fixture, queue: &Queue, most: usize, command: impl Fn()) {
    let timeline = Timeline::at_zero(fixture);
    let pattern = units(if Below::is_hip() { CALLS } else { 4 * CALLS });
    let memory = fixture.memory(Kind::Device, pattern.len());
    fill_with(queue, memory.pointer(), &pattern);
    queue.finish();
    let mut gate = Gate::new(fixture);
    gate.block(queue);
    (0..most).for_each(|_| command());
    queue.wait_for(&timeline, 1);
    fill_with(queue, memory.pointer(), &pattern);
    timeline.signal(1);
    gate.open();
    queue.finish();
    assert_eq!(memory.read::<u8>(queue, pattern.len()), pattern);
}

const AT_ZERO: ur_rect_offset_t = ur_rect_offset_t { x: 0, y: 0, z: 0 };

#[test]
fn urTimelineSignalExt_does_not_wait_behind_rectangles_that_are_copied_in_parts() {
    let test = "urTimelineSignalExt_does_not_wait_behind_rectangles_that_are_copied_in_parts";
    // Wider than native pitches.
    const FAR: usize = 1 << 31;
    child::in_time(test, &[("UR_TEST_OF_RECTANGLES", "1")], || {
        let fixture = Fixture::new();
        let Some(host) = AddressSpace::new(CALLS * FAR).filter(|_| timeline::are_there()) else {
            println!("skipped: needs timelines, and many addresses");
            return;
        };
        let (queue, buffer) = (fixture.in_order(), Buffer::new(&fixture, 16 * CALLS));
        buffer.write(&queue, &[7u8; 16 * CALLS]);
        let region = || ur_rect_region_t { width: 16, height: 1, depth: CALLS as u64 };
        let (q, mem, from, none) = (queue.handle(), buffer.handle(), host.pointer(), null_mut());
        signal_behind(&fixture, &queue, MOST, || {
            let later = CBool::FALSE;
            ok!(Enqueue.pfnMemBufferWriteRect(
                q,
                mem,
                later,
                AT_ZERO,
                AT_ZERO,
                region(),
                0,
                0,
                0,
                FAR,
                from,
                0,
                null(),
                none
            ));
        });
        assert_eq!(buffer.read::<u8>(&queue), [0; 16 * CALLS]);
    });
}

#[test]
fn urTimelineSignalExt_does_not_wait_behind_images_that_are_written_slice_by_slice() {
    let test = "urTimelineSignalExt_does_not_wait_behind_images_that_are_written_slice_by_slice";
    child::in_time(test, &[("UR_TEST_OF_SLICES", "1")], || {
        let fixture = Fixture::new();
        if !timeline::are_there() {
            return;
        }
        let (queue, image) = (fixture.in_order(), Image::new(&fixture, Shape::word(&[1, 2, CALLS])));
        image.write(&queue, &[7u32; 2 * CALLS]);
        let host = fixture.memory(Kind::Host, 9 * CALLS);
        host.write(&queue, &[1u8; 9 * CALLS]);
        signal_behind(&fixture, &queue, MOST, || {
            // Slices lie at no whole number of rows from each other.
            drop(event_of(|event| image.write_box(&queue, &image.whole(), [4, 9], host.pointer(), &[], event)));
        });
        assert_eq!(image.read::<u32>(&queue), [0x0101_0101; 2 * CALLS]);
    });
}

#[test]
fn urTimelineSignalExt_does_not_wait_behind_copies_of_an_image_s_lines_to_layers() {
    let test = "urTimelineSignalExt_does_not_wait_behind_copies_of_an_image_s_lines_to_layers";
    child::in_time(test, &[("UR_TEST_OF_LINES", "1")], || {
        let fixture = Fixture::new();
        if !timeline::are_there() {
            return;
        }
        let (queue, lines) = (fixture.in_order(), Image::new(&fixture, Shape::word(&[1, CALLS])));
        let layers = Image::new(&fixture, Shape::word(&[1]).layers(CALLS));
        lines.write(&queue, &[7u32; CALLS]);
        layers.write(&queue, &[1u32; CALLS]);
        let (q, from, to, region) = (queue.handle(), lines.handle(), layers.handle(), lines.whole().region());
        signal_behind(&fixture, &queue, MOST, || {
            ok!(Enqueue.pfnMemImageCopy(q, from, to, AT_ZERO, AT_ZERO, region, 0, null(), null_mut()));
        });
        assert_eq!(layers.read::<u32>(&queue), [7; CALLS]);
    });
}

/// Half of them lie on the other device: a copy from there takes three places of a stream.
const PIECES: usize = 62;
const MOST_OF_PIECES: usize = 8;

#[test]
fn urTimelineSignalExt_does_not_wait_behind_copies_of_a_buffer_in_pieces_on_two_devices() {
    let test = "urTimelineSignalExt_does_not_wait_behind_copies_of_a_buffer_in_pieces_on_two_devices";
    child::in_time(test, &[("UR_TEST_OF_PIECES", "1")], || {
        let fixture = Fixture::over_all_devices();
        let Some(&second) = fixture.devices.get(1).filter(|_| timeline::are_there()) else {
            println!("skipped: needs timelines and a second device");
            return;
        };
        let queue = fixture.in_order();
        let other = fixture.queue_in(fixture.context(), second, Default::default());
        let (from, to) = (Buffer::new(&fixture, 4 * PIECES), Buffer::new(&fixture, 4 * PIECES));
        to.write(&queue, &[0u32; PIECES]);
        for at in 0..PIECES {
            from.write_at(if at % 2 == 0 { &queue } else { &other }, 4 * at, &[at as u32]);
        }
        let (q, source, target) = (queue.handle(), from.handle(), to.handle());
        signal_behind(&fixture, &queue, MOST_OF_PIECES, || {
            ok!(Enqueue.pfnMemBufferCopy(q, source, target, 0, 0, 4 * PIECES, 0, null(), null_mut()));
        });
        assert!(to.read::<u32>(&queue).into_iter().eq(0..PIECES as u32));
    });
}
