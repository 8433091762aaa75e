//! `urEnqueueMemImageRead`, `Write` and `Copy`: boxes, pitches, order, events, several devices, and what is refused.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ffi::c_void;
use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    CBool, ur_command_t, ur_event_info_t, ur_image_channel_order_t as Order, ur_image_channel_type_t as Type,
    ur_result_t as Code,
};
use ur_conformance::image::{Box3, boxes, cut, paste};
use ur_conformance::memory::pattern;
use ur_conformance::owned::event_of;
use ur_conformance::{
    Fixture, Gate, Image, Queue, Shape, ask, expect_success, last_error, needs_sim, query, refused, ur,
};

const SIZES: [&[usize]; 3] = [&[24], &[12, 6], &[6, 4, 5]];

#[test]
fn urEnqueueMemImageRead_reads_any_box_and_touches_nothing_else() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for (order, kind) in [(Order::R, Type::UNSIGNED_INT8), (Order::RG, Type::HALF_FLOAT), (Order::RGBA, Type::FLOAT)] {
        for size in SIZES {
            let image = Image::new(&fixture, Shape::new(order, kind, size));
            let contents = pattern(2, image.shape.bytes());
            image.write(&queue, &contents);
            for part in boxes(image.shape.size()) {
                let expected = cut(&image.shape, &contents, &part);
                let mut found = vec![0xcd; expected.len() + 16];
                let answer = image.read_box(&queue, &part, [0, 0], found.as_mut_ptr().cast(), &[], null_mut());
                expect_success(answer, "urEnqueueMemImageRead");
                assert_eq!(found[..expected.len()], expected, "{part:?} of {:?}", image.shape);
                assert_eq!(found[expected.len()..], [0xcd; 16], "{part:?} of {:?}", image.shape);
            }
        }
    }
}

#[test]
fn urEnqueueMemImageWrite_writes_any_box_and_touches_nothing_else() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for size in SIZES {
        let image = Image::new(&fixture, Shape::new(Order::RGBA, Type::UNORM_INT8, size));
        let mut contents = pattern(2, image.shape.bytes());
        image.write(&queue, &contents);
        for (seed, part) in (3u32..).zip(boxes(image.shape.size())) {
            let bytes = pattern(seed, cut(&image.shape, &contents, &part).len());
            let answer = image.write_box(&queue, &part, [0, 0], bytes.as_ptr().cast(), &[], null_mut());
            expect_success(answer, "urEnqueueMemImageWrite");
            paste(&image.shape, &mut contents, &part, &bytes);
            assert_eq!(image.read::<u8>(&queue), contents, "{part:?} of {:?}", image.shape);
        }
    }
}

/// Among them slices that lie at no whole number of rows from each other.
#[test]
fn rows_and_slices_of_the_host_s_memory_may_lie_at_a_distance() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let image = Image::new(&fixture, Shape::word(&[6, 4, 3]));
    let part = Box3 { origin: [1, 1, 0], size: [4, 2, 3] };
    for (row, slice) in [(0, 0), (16, 32), (20, 0), (20, 40), (20, 60), (24, 100), (0, 52), (32, 65)] {
        let contents = pattern(9, image.shape.bytes());
        image.write(&queue, &contents);
        let (step, plane) = (if row == 0 { 16 } else { row }, if slice == 0 { 2 * row.max(16) } else { slice });
        let mut host = vec![0xab; 3 * plane + 64];
        let answer = image.read_box(&queue, &part, [row, slice], host.as_mut_ptr().cast(), &[], null_mut());
        expect_success(answer, "urEnqueueMemImageRead");
        let expected = cut(&image.shape, &contents, &part);
        let mut whole = vec![0xab; host.len()];
        for (line, bytes) in expected.chunks(16).enumerate() {
            whole[line / 2 * plane + line % 2 * step..][..16].copy_from_slice(bytes);
        }
        assert_eq!(host, whole, "read with pitches of {row} and {slice}");
        // Back, moved by one element.
        let other = Image::new(&fixture, image.shape);
        other.write(&queue, &vec![0u8; image.shape.bytes()]);
        let target = Box3 { origin: [2, 0, 0], ..part };
        let answer = other.write_box(&queue, &target, [row, slice], host.as_ptr().cast(), &[], null_mut());
        expect_success(answer, "urEnqueueMemImageWrite");
        let mut moved = vec![0u8; image.shape.bytes()];
        paste(&image.shape, &mut moved, &target, &expected);
        assert_eq!(other.read::<u8>(&queue), moved, "written with pitches of {row} and {slice}");
    }
}

#[test]
fn images_are_read_into_and_written_from_memory_of_every_kind_the_host_has() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let image = Image::new(&fixture, Shape::word(&[16, 16]));
    for kind in ur_conformance::Kind::OF_HOST {
        let memory = fixture.memory(kind, image.shape.bytes());
        let contents = pattern(kind as u32 + 1, image.shape.bytes());
        memory.write(&queue, &contents);
        let answer = image.write_box(&queue, &image.whole(), [0, 0], memory.pointer(), &[], null_mut());
        expect_success(answer, "urEnqueueMemImageWrite");
        memory.write(&queue, &vec![0u8; contents.len()]);
        let answer = image.read_box(&queue, &image.whole(), [0, 0], memory.pointer(), &[], null_mut());
        expect_success(answer, "urEnqueueMemImageRead");
        assert_eq!(memory.read::<u8>(&queue, contents.len()), contents, "{kind:?}");
    }
}

#[track_caller]
fn copy(queue: &Queue, from: (&Image, &Box3), to: (&Image, [usize; 3])) -> Code {
    let target = Box3 { origin: to.1, size: from.1.size };
    let (q, source, destination) = (queue.handle(), from.0.handle(), to.0.handle());
    let (origin, at, region) = (from.1.offset(), target.offset(), target.region());
    ur!(Enqueue.pfnMemImageCopy(q, source, destination, origin, at, region, 0, null(), null_mut()))
}

/// The sizes of two images, where the box lies in each, and the box's own size.
type Case = (&'static [usize], &'static [usize], [usize; 3], [usize; 3], [usize; 3]);

#[test]
fn urEnqueueMemImageCopy_copies_boxes_between_images_of_any_dimensions_and_within_one() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let cases: [Case; 6] = [
        (&[16], &[16], [2, 0, 0], [5, 0, 0], [8, 1, 1]),
        (&[8, 8], &[8, 8], [1, 2, 0], [3, 4, 0], [4, 3, 1]),
        (&[6, 5, 4], &[6, 5, 4], [1, 1, 1], [2, 0, 2], [3, 4, 2]),
        (&[8, 8], &[8, 8, 3], [0, 0, 0], [0, 0, 2], [8, 8, 1]),
        (&[6, 5, 4], &[6, 5], [0, 0, 3], [0, 0, 0], [6, 5, 1]),
        (&[16], &[16, 4], [0, 0, 0], [0, 3, 0], [16, 1, 1]),
    ];
    for (from, to, origin, at, size) in cases {
        let kind = |size| Shape::new(Order::RG, Type::SIGNED_INT16, size);
        let (source, target) = (Image::new(&fixture, kind(from)), Image::new(&fixture, kind(to)));
        let (a, mut b) = (pattern(1, source.shape.bytes()), pattern(2, target.shape.bytes()));
        source.write(&queue, &a);
        target.write(&queue, &b);
        let part = Box3 { origin, size };
        expect_success(copy(&queue, (&source, &part), (&target, at)), "urEnqueueMemImageCopy");
        paste(&target.shape, &mut b, &Box3 { origin: at, size }, &cut(&source.shape, &a, &part));
        assert_eq!(target.read::<u8>(&queue), b, "{from:?} at {origin:?} to {to:?} at {at:?}");
        assert_eq!(source.read::<u8>(&queue), a);
    }
    let image = Image::new(&fixture, Shape::word(&[8, 8]));
    let mut contents = pattern(3, image.shape.bytes());
    image.write(&queue, &contents);
    let part = Box3 { origin: [0, 0, 0], size: [4, 8, 1] };
    expect_success(copy(&queue, (&image, &part), (&image, [4, 0, 0])), "urEnqueueMemImageCopy");
    let left = cut(&image.shape, &contents, &part);
    paste(&image.shape, &mut contents, &Box3 { origin: [4, 0, 0], ..part }, &left);
    assert_eq!(image.read::<u8>(&queue), contents);
}

#[test]
fn urEnqueueMemImageCopy_refuses_other_formats_and_overlaps() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let image = |order, kind| Image::new(&fixture, Shape::new(order, kind, &[8, 8]));
    let (word, float, pair) =
        (image(Order::R, Type::UNSIGNED_INT32), image(Order::R, Type::FLOAT), image(Order::RG, Type::UNSIGNED_INT16));
    let part = Box3 { origin: [0; 3], size: [4, 4, 1] };
    for other in [&float, &pair] {
        let answer = copy(&queue, (&word, &part), (other, [0; 3]));
        assert_eq!(answer, Code::ERROR_INVALID_IMAGE_FORMAT_DESCRIPTOR);
        assert!(last_error().contains("formats"), "{}", last_error());
    }
    for at in [[0, 0, 0], [3, 3, 0], [0, 3, 0]] {
        assert_eq!(copy(&queue, (&word, &part), (&word, at)), Code::ERROR_OVERLAPPING_REGIONS, "{at:?}");
    }
    assert_eq!(copy(&queue, (&word, &part), (&word, [5, 0, 0])), Code::ERROR_INVALID_SIZE);
}

#[test]
fn boxes_that_are_empty_or_leave_the_image_and_pitches_too_small_are_refused() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let mut host = vec![0x77u8; 4096];
    for size in SIZES {
        let image = Image::new(&fixture, Shape::word(size));
        let whole = image.whole();
        let to: *mut c_void = host.as_mut_ptr().cast();
        let refuse = |part: &Box3, pitches: [usize; 2], words: &str| {
            let mut event = null_mut();
            let answers = [
                image.read_box(&queue, part, pitches, to, &[], &raw mut event),
                image.write_box(&queue, part, pitches, to, &[], &raw mut event),
            ];
            assert_eq!(answers, [Code::ERROR_INVALID_SIZE; 2], "{part:?} {pitches:?} of {size:?}");
            assert!(event.is_null() && last_error().contains(words), "{}", last_error());
        };
        for axis in 0..3 {
            let word = ["width", "height", "depth"][axis];
            let mut empty = whole;
            empty.size[axis] = 0;
            refuse(&empty, [0, 0], word);
            for (origin, more) in [(1, 0), (0, 1), (usize::MAX, 0), (0, usize::MAX - whole.size[axis])] {
                let mut outside = whole;
                outside.origin[axis] = origin;
                outside.size[axis] += more;
                refuse(&outside, [0, 0], word);
            }
        }
        refuse(&whole, [whole.size[0] * 4 - 1, 0], "row pitch");
        if size.len() > 1 {
            refuse(&whole, [usize::MAX / 2, usize::MAX], "overflow");
        }
        if size.len() == 3 {
            refuse(&whole, [0, whole.size[0] * whole.size[1] * 4 - 1], "slice pitch");
        }
    }
    assert!(host.iter().all(|byte| *byte == 0x77), "a transfer that was refused wrote something");
}

#[test]
fn null_and_wrong_handles_are_refused() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let image = Image::new(&fixture, Shape::word(&[4, 4]));
    let (q, mem, part) = (queue.handle(), image.handle(), image.whole());
    let (at, region) = (part.offset(), part.region());
    let mut host = [0u8; 64];
    let (to, t) = (host.as_mut_ptr().cast(), CBool::TRUE);
    let none = null_mut();
    refused!(
        ERROR_INVALID_NULL_POINTER,
        Enqueue.pfnMemImageRead(q, mem, t, at, region, 0, 0, none, 0, null(), null_mut())
    );
    refused!(
        ERROR_INVALID_NULL_POINTER,
        Enqueue.pfnMemImageWrite(q, mem, t, at, region, 0, 0, none, 0, null(), null_mut())
    );
    refused!(
        ERROR_INVALID_NULL_HANDLE,
        Enqueue.pfnMemImageRead(q, null_mut(), t, at, region, 0, 0, to, 0, null(), null_mut())
    );
    refused!(
        ERROR_INVALID_NULL_HANDLE,
        Enqueue.pfnMemImageRead(null_mut(), mem, t, at, region, 0, 0, to, 0, null(), null_mut())
    );
    refused!(
        ERROR_INVALID_MEM_OBJECT,
        Enqueue.pfnMemImageRead(q, q.cast(), t, at, region, 0, 0, to, 0, null(), null_mut())
    );
    refused!(
        ERROR_INVALID_QUEUE,
        Enqueue.pfnMemImageWrite(mem.cast(), mem, t, at, region, 0, 0, to, 0, null(), null_mut())
    );
    refused!(
        ERROR_INVALID_MEM_OBJECT,
        Enqueue.pfnMemImageCopy(q, mem, q.cast(), at, at, region, 0, null(), null_mut())
    );
    refused!(
        ERROR_INVALID_EVENT_WAIT_LIST,
        Enqueue.pfnMemImageRead(q, mem, t, at, region, 0, 0, to, 1, null(), null_mut())
    );
    let other = fixture.context_of(&fixture.devices[..1]);
    let foreign = Image::in_context(other.handle(), image.shape);
    let answer = foreign.read_box(&queue, &part, [0, 0], to, &[], null_mut());
    assert_eq!(answer, Code::ERROR_INVALID_CONTEXT);
    assert_eq!(copy(&queue, (&image, &part), (&foreign, [0; 3])), Code::ERROR_INVALID_CONTEXT);
}

#[test]
fn transfers_keep_the_queue_s_order_wait_for_events_and_give_events_of_their_own() {
    let fixture = Fixture::new();
    let (first, second) = (fixture.in_order(), fixture.out_of_order());
    let (image, other) = (Image::new(&fixture, Shape::word(&[32, 32])), Image::new(&fixture, Shape::word(&[32, 32])));
    let bytes = image.shape.bytes();
    let (source, target) =
        (fixture.memory(ur_conformance::Kind::Host, bytes), fixture.memory(ur_conformance::Kind::Host, bytes));
    let contents = pattern(6, bytes);
    source.write(&first, &contents);
    let whole = image.whole();
    let mut gate = Gate::new(&fixture);
    gate.block(&first);
    let written = event_of(|event| image.write_box(&first, &whole, [0, 0], source.pointer(), &[], event));
    let copied = event_of(|event| {
        let (q, a, b, list) = (second.handle(), image.handle(), other.handle(), [written.handle()]);
        let (at, region) = (whole.offset(), whole.region());
        ur!(Enqueue.pfnMemImageCopy(q, a, b, at, at, region, 1, list.as_ptr(), event))
    });
    let read = event_of(|event| other.read_box(&second, &whole, [0, 0], target.pointer(), &[copied.handle()], event));
    let command = |event: &ur_conformance::Event| {
        query::get::<u32>(ask!(Event.pfnGetInfo(event.handle(), ur_event_info_t::COMMAND_TYPE)))
    };
    let expected = [ur_command_t::MEM_IMAGE_WRITE, ur_command_t::MEM_IMAGE_COPY, ur_command_t::MEM_IMAGE_READ];
    assert_eq!([&written, &copied, &read].map(command), expected.map(|command| command.0));
    gate.open();
    read.wait();
    assert_eq!(target.read::<u8>(&first, bytes), contents);
    second.finish();
}

#[test]
fn an_image_s_contents_follow_it_from_device_to_device() {
    let fixture = Fixture::over_all_devices();
    if fixture.devices.len() < 2 {
        println!("skipped: needs two devices");
        return;
    }
    let context = fixture.context();
    let queues: Vec<_> =
        fixture.devices.iter().map(|device| fixture.queue_in(context, *device, Default::default())).collect();
    for size in SIZES {
        let contents = pattern(7, Shape::word(size).bytes());
        let image = Image::with(context, Shape::word(size), &contents);
        // The last device is the first to use it.
        for queue in queues.iter().rev() {
            assert_eq!(image.read::<u8>(queue), contents, "what it was made with, {size:?}");
        }
        let mut expected = contents;
        for (seed, queue) in (20u32..).zip(queues.iter().cycle().take(2 * queues.len())) {
            let part = Box3 { origin: [1, 0, 0], size: [2, image.shape.size()[1], image.shape.size()[2]] };
            let bytes = pattern(seed, cut(&image.shape, &expected, &part).len());
            let answer = image.write_box(queue, &part, [0, 0], bytes.as_ptr().cast(), &[], null_mut());
            expect_success(answer, "urEnqueueMemImageWrite");
            paste(&image.shape, &mut expected, &part, &bytes);
            for reader in &queues {
                assert_eq!(image.read::<u8>(reader), expected, "written by device {}", seed % 2);
            }
        }
        let target = Image::in_context(context, image.shape);
        let whole = image.whole();
        image.write(&queues[0], &expected);
        expect_success(copy(&queues[1], (&image, &whole), (&target, [0; 3])), "urEnqueueMemImageCopy");
        queues[1].finish();
        assert_eq!(target.read::<u8>(&queues[0]), expected, "a copy on the device that had neither");
    }
}

/// The second queue of a device must not overtake the contents that the first one had brought there.
#[test]
fn contents_on_their_way_to_a_device_are_waited_for_by_its_other_queues() {
    let fixture = Fixture::over_all_devices();
    if fixture.devices.len() < 2 {
        println!("skipped: needs two devices");
        return;
    }
    let queue = |index: usize| fixture.queue_in(fixture.context(), fixture.devices[index], Default::default());
    let (source, first, second) = (queue(0), queue(1), queue(1));
    let image = Image::in_context(fixture.context(), Shape::word(&[64, 64]));
    let contents = pattern(11, image.shape.bytes());
    image.write(&source, &contents);
    let memory = fixture.memory(ur_conformance::Kind::Host, contents.len());
    let whole = image.whole();
    let mut gate = Gate::new(&fixture);
    let held = gate.block_event(&source);
    let list = [held.handle()];
    let brought = event_of(|event| image.read_box(&first, &whole, [0, 0], memory.pointer(), &list, event));
    let other = fixture.memory(ur_conformance::Kind::Host, contents.len());
    let late = event_of(|event| image.read_box(&second, &whole, [0, 0], other.pointer(), &[], event));
    gate.open();
    brought.wait();
    late.wait();
    assert_eq!(other.read::<u8>(&source, contents.len()), contents);
}

/// One device's copy of the contents is taken from another one's, which has only begun to get them.
#[test]
fn contents_on_their_way_to_a_device_are_waited_for_by_another_device_that_takes_them_from_there() {
    let fixture = Fixture::over_all_devices();
    if fixture.devices.len() < 2 {
        println!("skipped: needs two devices");
        return;
    }
    let queue = |index: usize| fixture.queue_in(fixture.context(), fixture.devices[index], Default::default());
    let (busy, first, second) = (queue(0), queue(0), queue(1));
    let shape = Shape::word(&[64, 64]);
    let contents = pattern(12, shape.bytes());
    let image = Image::with(fixture.context(), shape, &contents);
    let [memory, other] = [0, 1].map(|_| fixture.memory(ur_conformance::Kind::Host, contents.len()));
    let whole = image.whole();
    let mut gate = Gate::new(&fixture);
    let held = gate.block_event(&busy);
    let list = [held.handle()];
    let brought = event_of(|event| image.read_box(&first, &whole, [0, 0], memory.pointer(), &list, event));
    let late = event_of(|event| image.read_box(&second, &whole, [0, 0], other.pointer(), &[], event));
    gate.open();
    brought.wait();
    late.wait();
    assert!(other.read::<u8>(&second, contents.len()) == contents, "the contents, not what was there before them");
    busy.finish();
}

#[test]
fn a_transfer_is_one_native_copy() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let image = Image::new(&fixture, Shape::word(&[16, 16, 4]));
    let sim = needs_sim!(fixture);
    let contents = pattern(1, image.shape.bytes());
    image.write(&queue, &contents);
    let (_, calls) = sim.calls_of(|| image.read::<u8>(&queue));
    let copies: Vec<_> = calls.iter().filter(|(name, _)| name.contains("Memcpy")).collect();
    assert_eq!(copies, [(&"cuMemcpy3DAsync_v2".to_owned(), &1)]);
    assert!(!calls.contains_key("cuEventRecord") && !calls.contains_key("cuStreamWaitEvent"), "{calls:?}");
}
