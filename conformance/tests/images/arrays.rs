//! Images of one and two dimensions in arrays: `urMemImageCreate`, queries, transfers and copies across layers. What
//! kernels do with them is in `arrays_in_kernels`.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    CBool, ur_device_info_t, ur_image_channel_order_t as Order, ur_image_channel_type_t as Type,
    ur_image_info_t as ImageInfo, ur_map_flags_t as Map, ur_mem_flags_t as Flags, ur_mem_info_t as MemInfo,
    ur_queue_flags_t as QueueFlags, ur_result_t as Code,
};
use ur_conformance::image::{Box3, boxes, cut, paste};
use ur_conformance::memory::pattern;
use ur_conformance::{
    Buffer, Fixture, Gate, Image, Mem, Queue, Shape, ask, check_every_property, expect_success, last_error, needs_sim,
    ok, query, ur,
};

const WRONG: Code = Code::ERROR_INVALID_IMAGE_FORMAT_DESCRIPTOR;

/// Lines and planes in arrays: none of the sizes is another's.
fn shapes(order: Order, kind: Type) -> [Shape; 3] {
    let line = Shape::new(order, kind, &[12]).layers(5);
    let plane = Shape::new(order, kind, &[6, 4]);
    [line, plane.layers(5), plane.layers(1)]
}

fn words() -> [Shape; 3] {
    shapes(Order::R, Type::UNSIGNED_INT32)
}

/// Images with contents of the host's, which lie as the shape's pitches say.
fn image_of(fixture: &Fixture, shape: Shape, host: &[u8]) -> Image {
    let flags = Flags::READ_WRITE | Flags::ALLOC_COPY_HOST_POINTER;
    let (answer, mem) = shape.create(fixture.context(), flags, host.as_ptr().cast_mut().cast());
    expect_success(answer, "urMemImageCreate");
    Image { mem: Mem::take(mem), shape }
}

#[track_caller]
fn refuse(fixture: &Fixture, shape: &Shape, host: *const u8, code: Code, words: &str) {
    let host_flags = if host.is_null() { Flags::empty() } else { Flags::ALLOC_COPY_HOST_POINTER };
    let flags = Flags::READ_WRITE | host_flags;
    let (answer, mem) = shape.create(fixture.context(), flags, host.cast_mut().cast());
    let message = last_error();
    assert_eq!(answer, code, "{shape:?}: {message}");
    assert!(mem.is_null(), "an image that was refused is handed out");
    assert!(message.contains(words), "{message}");
}

#[test]
fn urMemImageCreate_makes_arrays_of_images_that_keep_what_is_written() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for order in [Order::R, Order::RG, Order::RGBA] {
        for kind in [Type::UNSIGNED_INT8, Type::HALF_FLOAT, Type::SNORM_INT16, Type::SIGNED_INT32, Type::FLOAT] {
            for shape in shapes(order, kind) {
                let image = Image::new(&fixture, shape);
                let contents = pattern(kind.0, shape.bytes());
                image.write(&queue, &contents);
                assert_eq!(image.read::<u8>(&queue), contents, "{shape:?}");
            }
        }
    }
}

#[test]
fn an_array_begins_with_the_contents_of_the_host_s_memory() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for shape in words() {
        let host = pattern(3, shape.bytes());
        let image = image_of(&fixture, shape, &host);
        assert_eq!(image.read::<u8>(&queue), host, "{shape:?}");
    }
}

#[test]
fn the_host_s_lines_planes_and_layers_may_lie_at_a_distance() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    // Lines of 48 bytes: one follows the other at the slice pitch, else at the row pitch.
    for (pitches, step) in [([0, 0], 48), ([52, 0], 52), ([0, 61], 61), ([52, 61], 61)] {
        let mut shape = words()[0];
        [shape.desc.rowPitch, shape.desc.slicePitch] = pitches;
        let host = pattern(8, 5 * step);
        let expected: Vec<u8> = host.chunks(step).flat_map(|line| line[..48].to_vec()).collect();
        assert_eq!(image_of(&fixture, shape, &host).read::<u8>(&queue), expected, "{pitches:?}");
    }
    // Planes of 4 rows of 24 bytes.
    for (pitches, row, slice) in [([28, 0], 28, 112), ([0, 100], 24, 100), ([28, 131], 28, 131)] {
        let mut shape = words()[1];
        [shape.desc.rowPitch, shape.desc.slicePitch] = pitches;
        let host = pattern(9, 5 * slice);
        let line = |index: usize| host[index / 4 * slice + index % 4 * row..][..24].to_vec();
        let expected: Vec<u8> = (0..20).flat_map(line).collect();
        assert_eq!(image_of(&fixture, shape, &host).read::<u8>(&queue), expected, "{pitches:?}");
    }
}

#[test]
fn urMemImageCreate_refuses_arrays_of_no_images_of_too_many_and_of_images_that_are_too_large() {
    let fixture = Fixture::new();
    let property = ur_device_info_t::IMAGE_MAX_ARRAY_SIZE;
    let most: usize = query::get(ask!(Device.pfnGetInfo(fixture.device(), property)));
    let size = Code::ERROR_INVALID_IMAGE_SIZE;
    for plain in [Shape::word(&[4]), Shape::word(&[4, 4])] {
        drop(Image::new(&fixture, plain.layers(most)));
        refuse(&fixture, &plain.layers(0), null(), size, "arraySize is 0");
        for count in [most + 1, 1 << 40, usize::MAX] {
            refuse(&fixture, &plain.layers(count), null(), size, &most.to_string());
        }
        let mut empty = plain.layers(4);
        empty.desc.width = 0;
        refuse(&fixture, &empty, null(), size, "width is 0");
        for width in [1 << 40, usize::MAX] {
            empty.desc.width = width;
            refuse(&fixture, &empty, null(), size, "width");
        }
    }
    let mut plane = Shape::word(&[4, 4]).layers(4);
    for (height, words) in [(0, "height is 0"), (1 << 40, "height"), (usize::MAX, "height")] {
        plane.desc.height = height;
        refuse(&fixture, &plane, null(), size, words);
    }
}

#[test]
fn urMemImageCreate_refuses_pitches_of_arrays_that_are_too_small_or_of_no_memory() {
    let fixture = Fixture::new();
    let host = [0u8; 4096];
    let pitched = |shape: Shape, row, slice| {
        let mut shape = shape;
        (shape.desc.rowPitch, shape.desc.slicePitch) = (row, slice);
        shape
    };
    let [line, plane, _] = words();
    for shape in [line, plane] {
        refuse(&fixture, &pitched(shape, 64, 0), null(), WRONG, "pHost");
        refuse(&fixture, &pitched(shape, 0, 4096), null(), WRONG, "pHost");
    }
    for (shape, row, slice, words) in [
        (line, 47, 0, "row pitch"),
        (line, 0, 47, "slice pitch"),
        (line, 64, 63, "slice pitch"),
        (line, 0, usize::MAX, "overflow"),
        (line, usize::MAX, 0, "overflow"),
        (plane, 23, 0, "row pitch"),
        (plane, 0, 95, "slice pitch"),
        (plane, 32, 127, "slice pitch"),
        (plane, 0, usize::MAX / 2, "overflow"),
    ] {
        refuse(&fixture, &pitched(shape, row, slice), host.as_ptr(), WRONG, words);
    }
}

#[test]
fn urMemImageGetInfo_tells_the_layers_of_an_array_and_no_depth() {
    let fixture = Fixture::new();
    for (shape, height, layers, pitches) in words()
        .into_iter()
        .zip([(0, 5, [48, 48]), (4, 5, [24, 96]), (4, 1, [24, 96])])
        .map(|(s, (h, n, p))| (s, h, n, p))
    {
        let image = Image::new(&fixture, shape);
        let mem = image.handle();
        let answered = check_every_property!(ur_image_info_t, &[], Mem.pfnImageGetInfo(mem));
        assert_eq!(answered.len(), ImageInfo::VALUES.len());
        let number = |property| query::get::<usize>(ask!(Mem.pfnImageGetInfo(mem, property)));
        let told = [ImageInfo::WIDTH, ImageInfo::HEIGHT, ImageInfo::DEPTH, ImageInfo::ARRAY_SIZE].map(number);
        assert_eq!(told, [shape.desc.width, height, 0, layers], "{shape:?}");
        assert_eq!([ImageInfo::ROW_PITCH, ImageInfo::SLICE_PITCH].map(number), pitches, "{shape:?}");
        assert_eq!(query::get::<usize>(ask!(Mem.pfnGetInfo(mem, MemInfo::SIZE))), shape.bytes());
    }
}

#[test]
fn any_box_across_layers_is_read_and_written_and_nothing_else() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for shape in shapes(Order::RG, Type::UNORM_INT8) {
        let image = Image::new(&fixture, shape);
        let mut contents = pattern(2, shape.bytes());
        image.write(&queue, &contents);
        for (seed, part) in (3u32..).zip(boxes(shape.size())) {
            let expected = cut(&shape, &contents, &part);
            let mut found = vec![0xcd; expected.len() + 16];
            let answer = image.read_box(&queue, &part, [0, 0], found.as_mut_ptr().cast(), &[], null_mut());
            expect_success(answer, "urEnqueueMemImageRead");
            assert_eq!(
                (&found[..expected.len()], &found[expected.len()..]),
                (&expected[..], &[0xcd; 16][..]),
                "{part:?}"
            );
            let bytes = pattern(seed, expected.len());
            let answer = image.write_box(&queue, &part, [0, 0], bytes.as_ptr().cast(), &[], null_mut());
            expect_success(answer, "urEnqueueMemImageWrite");
            paste(&shape, &mut contents, &part, &bytes);
            assert_eq!(image.read::<u8>(&queue), contents, "{part:?} of {shape:?}");
        }
    }
}

#[test]
fn layers_in_the_host_s_memory_may_lie_at_a_distance_in_a_transfer() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let [line, plane, _] = words();
    let lines = Box3 { origin: [2, 1, 0], size: [4, 3, 1] };
    let planes = Box3 { origin: [1, 1, 1], size: [4, 2, 3] };
    for (shape, part, given, row, slice) in [
        (line, lines, [0, 0], 16, 0),
        (line, lines, [20, 0], 20, 0),
        (line, lines, [0, 33], 33, 0),
        (line, lines, [20, 33], 33, 0),
        (plane, planes, [20, 0], 20, 40),
        (plane, planes, [20, 60], 20, 60),
        (plane, planes, [20, 61], 20, 61),
        (plane, planes, [0, 53], 16, 53),
    ] {
        let image = Image::new(&fixture, shape);
        let contents = pattern(7, shape.bytes());
        image.write(&queue, &contents);
        let mut host = vec![0xab_u8; 300];
        let answer = image.read_box(&queue, &part, given, host.as_mut_ptr().cast(), &[], null_mut());
        expect_success(answer, "urEnqueueMemImageRead");
        let mut expected = vec![0xab_u8; 300];
        for (index, bytes) in cut(&shape, &contents, &part).chunks(16).enumerate() {
            let (y, z) = (index % part.size[1], index / part.size[1]);
            expected[z * slice + y * row..][..16].copy_from_slice(bytes);
        }
        assert_eq!(host, expected, "{part:?} with pitches of {given:?}");
        let other = Image::new(&fixture, shape);
        other.write(&queue, &vec![0u8; shape.bytes()]);
        let answer = other.write_box(&queue, &part, given, host.as_ptr().cast(), &[], null_mut());
        expect_success(answer, "urEnqueueMemImageWrite");
        assert_eq!(cut(&shape, &other.read::<u8>(&queue), &part), cut(&shape, &contents, &part), "{given:?}");
    }
}

/// Native copies take pitches of up to 2 GiB.
#[test]
fn rows_and_layers_may_lie_further_apart_than_a_native_copy_reaches() {
    const FAR: usize = (1 << 31) + 64;
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    // Reserved and never touched but for two rows.
    let mut host = Vec::<u8>::new();
    if host.try_reserve_exact(FAR + 64).is_err() {
        println!("skipped: no {FAR} bytes of addresses");
        return;
    }
    let at = host.as_mut_ptr();
    for (shape, pitches) in [(Shape::word(&[4]).layers(2), [0, FAR]), (Shape::word(&[4, 2]), [FAR, 0])] {
        let contents = pattern(4, 32);
        // SAFETY: both rows lie in the reserved bytes.
        unsafe {
            at.copy_from_nonoverlapping(contents.as_ptr(), 16);
            at.add(FAR).copy_from_nonoverlapping(contents[16..].as_ptr(), 16);
        }
        let image = Image::new(&fixture, shape);
        let answer = image.write_box(&queue, &image.whole(), pitches, at.cast(), &[], null_mut());
        expect_success(answer, "urEnqueueMemImageWrite");
        assert_eq!(image.read::<u8>(&queue), contents, "{shape:?}");
        // SAFETY: as above.
        unsafe { at.add(FAR).write_bytes(0, 16) };
        let answer = image.read_box(&queue, &image.whole(), pitches, at.cast(), &[], null_mut());
        expect_success(answer, "urEnqueueMemImageRead");
        // SAFETY: as above; the read has ended.
        assert_eq!(unsafe { core::slice::from_raw_parts(at.add(FAR), 16) }, &contents[16..], "{shape:?}");
    }
}

#[test]
fn a_box_that_leaves_the_layers_is_refused_and_touches_nothing() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let [line, plane, _] = words();
    for (shape, origin, size) in [
        (line, [0, 0, 0], [12, 6, 1]),
        (line, [0, 5, 0], [1, 1, 1]),
        (line, [0, 0, 0], [12, 1, 5]),
        (line, [0, 0, 1], [1, 1, 1]),
        (line, [1, 0, 0], [12, 1, 1]),
        (line, [0, 0, 0], [1, 0, 1]),
        (plane, [0, 0, 0], [6, 4, 6]),
        (plane, [0, 0, 5], [1, 1, 1]),
        (plane, [0, 1, 0], [6, 4, 1]),
        (plane, [0, 0, usize::MAX], [1, 1, 2]),
        (plane, [0, 0, 0], [6, 4, 0]),
    ] {
        let image = Image::new(&fixture, shape);
        let contents = pattern(5, shape.bytes());
        image.write(&queue, &contents);
        let part = Box3 { origin, size };
        let mut bytes = vec![0xee_u8; 4096];
        let answer = image.read_box(&queue, &part, [0, 0], bytes.as_mut_ptr().cast(), &[], null_mut());
        assert_eq!((answer, bytes == [0xee; 4096]), (Code::ERROR_INVALID_SIZE, true), "{part:?}: {}", last_error());
        let answer = image.write_box(&queue, &part, [0, 0], bytes.as_ptr().cast(), &[], null_mut());
        assert_eq!(answer, Code::ERROR_INVALID_SIZE, "{part:?}");
        assert_eq!(image.read::<u8>(&queue), contents, "{part:?}");
    }
}

#[track_caller]
fn copy(queue: &Queue, from: (&Image, [usize; 3]), to: (&Image, [usize; 3]), size: [usize; 3]) -> Code {
    let (source, target) = (Box3 { origin: from.1, size }, Box3 { origin: to.1, size });
    let (q, a, b) = (queue.handle(), from.0.handle(), to.0.handle());
    let (origin, at, region) = (source.offset(), target.offset(), source.region());
    ur!(Enqueue.pfnMemImageCopy(q, a, b, origin, at, region, 0, null(), null_mut()))
}

#[test]
fn urEnqueueMemImageCopy_copies_between_arrays_planes_and_boxes_of_every_kind() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let word = Shape::word;
    let kinds = [
        word(&[8]),
        word(&[8, 5]),
        word(&[8, 5, 4]),
        word(&[8]).layers(5),
        word(&[8, 5]).layers(4),
        word(&[9]).layers(7),
    ];
    for source in kinds {
        for target in kinds {
            let (a, b) = (Image::new(&fixture, source), Image::new(&fixture, target));
            let (contents, mut expected) = (pattern(1, source.bytes()), pattern(2, target.bytes()));
            a.write(&queue, &contents);
            b.write(&queue, &expected);
            // As much as both have, from the far end of the one to the near end of the other.
            let (has, takes) = (source.size(), target.size());
            let size = [0, 1, 2].map(|axis: usize| has[axis].min(takes[axis]));
            let origin = [0, 1, 2].map(|axis: usize| has[axis] - size[axis]);
            let answer = copy(&queue, (&a, origin), (&b, [0; 3]), size);
            assert_eq!(answer, Code::SUCCESS, "{source:?} to {target:?}: {}", last_error());
            let bytes = cut(&source, &contents, &Box3 { origin, size });
            paste(&target, &mut expected, &Box3 { origin: [0; 3], size }, &bytes);
            assert_eq!(b.read::<u8>(&queue), expected, "{source:?} to {target:?}");
        }
    }
}

#[test]
fn urEnqueueMemImageCopy_copies_within_a_layer_of_one_array_and_between_two() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let [line, plane, _] = words();
    let cases = [
        (line, [0, 0, 0], [4, 2, 0], [4, 0, 0], [4, 1, 1], [1, 0, 0]),
        (plane, [0, 0, 0], [1, 1, 2], [3, 2, 0], [3, 2, 1], [1, 1, 0]),
    ];
    for (shape, from, other_layer, to, size, over) in cases {
        let image = Image::new(&fixture, shape);
        let mut contents = pattern(6, shape.bytes());
        image.write(&queue, &contents);
        assert_eq!(copy(&queue, (&image, from), (&image, over), size), Code::ERROR_OVERLAPPING_REGIONS);
        // There and back and there again, so that each copy needs what the one before it wrote.
        for (from, to) in [(from, to), (from, other_layer), (other_layer, from), (from, other_layer)] {
            expect_success(copy(&queue, (&image, from), (&image, to), size), "urEnqueueMemImageCopy");
            let bytes = cut(&shape, &contents, &Box3 { origin: from, size });
            paste(&shape, &mut contents, &Box3 { origin: to, size }, &bytes);
        }
        assert_eq!(image.read::<u8>(&queue), contents, "{shape:?}");
    }
}

/// Copies that go between layers at once, on queues of every kind, use memory of their own.
#[test]
fn urEnqueueMemImageCopy_between_layers_of_many_images_at_once_mixes_nothing_up() {
    let fixture = Fixture::new();
    let shape = Shape::word(&[8, 5]).layers(4);
    let queues = [fixture.in_order(), fixture.in_order(), fixture.queue(QueueFlags::OUT_OF_ORDER_EXEC_MODE_ENABLE)];
    let whole_layer = [8, 5, 1];
    for queue in &queues {
        let images: Vec<_> = (0..12).map(|_| Image::new(&fixture, shape)).collect();
        for (number, image) in images.iter().enumerate() {
            image.write(queue, &pattern(number as u32, shape.bytes()));
        }
        queue.finish();
        for image in &images {
            expect_success(copy(queue, (image, [0; 3]), (image, [0, 0, 2]), whole_layer), "urEnqueueMemImageCopy");
        }
        queue.finish();
        for (number, image) in images.iter().enumerate() {
            let mut expected = pattern(number as u32, shape.bytes());
            let bytes = cut(&shape, &expected, &Box3 { origin: [0; 3], size: whole_layer });
            paste(&shape, &mut expected, &Box3 { origin: [0, 0, 2], size: whole_layer }, &bytes);
            assert_eq!(image.read::<u8>(queue), expected, "image {number}");
        }
    }
}

#[test]
fn a_transfer_across_layers_is_one_native_copy() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let sim = needs_sim!(fixture);
    for shape in words() {
        let image = Image::new(&fixture, shape);
        let contents = pattern(1, shape.bytes());
        let (_, calls) = sim.calls_of(|| image.write(&queue, &contents));
        assert_eq!(calls.get("cuMemcpy3DAsync_v2"), Some(&1), "{shape:?}");
        let other = Image::new(&fixture, shape);
        let (_, calls) = sim.calls_of(|| copy(&queue, (&image, [0; 3]), (&other, [0; 3]), shape.size()));
        assert_eq!(calls.get("cuMemcpy3DAsync_v2"), Some(&1), "{shape:?}");
        queue.finish();
    }
}

#[test]
fn an_array_s_contents_follow_to_the_device_that_reads_them() {
    let fixture = Fixture::over_all_devices();
    if fixture.devices.len() < 2 {
        println!("skipped: needs two devices");
        return;
    }
    let queue = |index: usize| fixture.queue_in(fixture.context(), fixture.devices[index], Default::default());
    let (first, second) = (queue(0), queue(1));
    for shape in words() {
        let mut contents = pattern(1, shape.bytes());
        let image = Image::with(fixture.context(), shape, &contents);
        for (seed, queue, other) in [(2, &first, &second), (3, &second, &first), (4, &first, &second)] {
            let part = boxes(shape.size())[4];
            let bytes = pattern(seed, cut(&shape, &contents, &part).len());
            let answer = image.write_box(queue, &part, [0, 0], bytes.as_ptr().cast(), &[], null_mut());
            expect_success(answer, "urEnqueueMemImageWrite");
            paste(&shape, &mut contents, &part, &bytes);
            assert_eq!(image.read::<u8>(other), contents, "{shape:?}");
        }
    }
}

#[test]
fn a_native_layered_array_can_be_an_image() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for shape in words() {
        let image = Image::new(&fixture, shape);
        let contents = pattern(4, shape.bytes());
        image.write(&queue, &contents);
        let (mut native, mut mem) = (0, null_mut());
        ok!(Mem.pfnGetNativeHandle(image.handle(), fixture.device(), &raw mut native));
        let (c, format, desc) = (fixture.context(), &raw const shape.format, &raw const shape.desc);
        ok!(Mem.pfnImageCreateWithNativeHandle(native, c, format, desc, null(), &raw mut mem));
        let wrapped = Image { mem: Mem::take(mem), shape };
        assert_eq!(wrapped.read::<u8>(&queue), contents, "{shape:?}");
    }
}

/// What a copy between layers goes through is large here, and what a second one goes through is small: so the first's memory
/// would be free for the maps if nobody knew that it is in use.
#[test]
fn memory_that_a_copy_between_layers_goes_through_serves_nobody_before_the_copy_is_over() {
    const SIDE: usize = 64;
    const BYTES: usize = SIDE * SIDE * 4;
    let fixture = Fixture::new();
    let (first, second) = (fixture.in_order(), fixture.in_order());
    let image = Image::new(&fixture, Shape::word(&[SIDE, SIDE]).layers(4));
    image.write(&first, &[9u32; 4 * SIDE * SIDE]);
    let buffers: Vec<Buffer> = (0..20).map(|_| Buffer::new(&fixture, BYTES)).collect();
    buffers.iter().for_each(|buffer| buffer.write(&second, &[7u8; BYTES]));
    let copy = |queue: &Queue, from: usize, side: usize| {
        let [from, to] = [from, from + 1].map(|layer| Box3 { origin: [0, 0, layer], size: [side, side, 1] });
        let (q, mem, origin, at) = (queue.handle(), image.handle(), from.offset(), to.offset());
        ok!(Enqueue.pfnMemImageCopy(q, mem, mem, origin, at, from.region(), 0, null(), null_mut()));
    };
    let mut gate = Gate::new(&fixture);
    gate.block(&first);
    copy(&first, 0, SIDE);
    copy(&second, 2, 8);
    let map = |buffer: &Buffer| {
        let (q, mem, yes, mut pointer) = (second.handle(), buffer.handle(), CBool::TRUE, null_mut());
        let out = &raw mut pointer;
        ok!(Enqueue.pfnMemBufferMap(q, mem, yes, Map::READ, 0, BYTES, 0, null(), null_mut(), out));
        pointer
    };
    let maps: Vec<_> = buffers.iter().map(map).collect();
    gate.open();
    first.finish();
    for (buffer, pointer) in buffers.iter().zip(maps) {
        // SAFETY: so many bytes are mapped.
        let bytes = unsafe { core::slice::from_raw_parts(pointer.cast::<u8>(), BYTES) };
        assert!(bytes.iter().all(|byte| *byte == 7), "a copy has gone through mapped memory");
        ok!(Enqueue.pfnMemUnmap(second.handle(), buffer.handle(), pointer, 0, null(), null_mut()));
    }
    second.finish();
}
