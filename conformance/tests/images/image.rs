//! `urMemImageCreate` and the queries, references and native handles of images.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use core::ptr::{null, null_mut};

use ur_conformance::ffi::{
    CBool, ur_buffer_create_type_t, ur_buffer_region_t, ur_image_channel_order_t as Order,
    ur_image_channel_type_t as Type, ur_image_info_t as ImageInfo, ur_mem_flags_t as Flags, ur_mem_info_t as MemInfo,
    ur_mem_native_properties_t, ur_mem_type_t, ur_rect_offset_t, ur_rect_region_t, ur_result_t as Code,
    ur_structure_type_t,
};
use ur_conformance::memory::pattern;
use ur_conformance::{
    Buffer, Fixture, Image, Mem, Shape, ask, check_every_property, last_error, needs_sim, ok, query, refused, ur,
};

/// Every channel type that native arrays hold.
const TYPES: [Type; 12] = [
    Type::SNORM_INT8,
    Type::SNORM_INT16,
    Type::UNORM_INT8,
    Type::UNORM_INT16,
    Type::SIGNED_INT8,
    Type::SIGNED_INT16,
    Type::SIGNED_INT32,
    Type::UNSIGNED_INT8,
    Type::UNSIGNED_INT16,
    Type::UNSIGNED_INT32,
    Type::HALF_FLOAT,
    Type::FLOAT,
];

/// Fails unless creating answers the code, hands out nothing and says the words.
#[track_caller]
fn refuse(fixture: &Fixture, shape: &Shape, flags: Flags, host: *const u8, code: Code, words: &str) {
    let (answer, mem) = shape.create(fixture.context(), flags, host.cast_mut().cast());
    let message = last_error();
    assert_eq!(answer, code, "{message}");
    assert!(mem.is_null(), "an image that was refused is handed out");
    assert!(message.contains(words), "{message}");
}

#[test]
fn urMemImageCreate_makes_images_of_every_dimension_and_format_that_keep_what_is_written() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for order in [Order::R, Order::RG, Order::RGBA] {
        for kind in TYPES {
            for size in [&[37][..], &[13, 5], &[7, 3, 4]] {
                let image = Image::new(&fixture, Shape::new(order, kind, size));
                let contents = pattern(size.len() as u32 + kind.0, image.shape.bytes());
                image.write(&queue, &contents);
                assert_eq!(image.read::<u8>(&queue), contents, "{order:?} {kind:?} {size:?}");
            }
        }
    }
}

#[test]
fn an_image_begins_with_the_contents_of_the_host_s_memory_which_is_the_host_s_again() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    for flag in [Flags::ALLOC_COPY_HOST_POINTER, Flags::USE_HOST_POINTER] {
        for size in [&[9][..], &[9, 5], &[9, 5, 3]] {
            let shape = Shape::word(size);
            let mut host = pattern(3, shape.bytes());
            let expected = host.clone();
            let (answer, mem) = shape.create(fixture.context(), Flags::READ_WRITE | flag, host.as_mut_ptr().cast());
            ur_conformance::expect_success(answer, "urMemImageCreate");
            let image = Image { mem: Mem::take(mem), shape };
            if flag == Flags::ALLOC_COPY_HOST_POINTER {
                host.fill(0xee);
            }
            assert_eq!(image.read::<u8>(&queue), expected, "{flag:?} {size:?}");
        }
    }
}

#[test]
fn the_host_s_memory_may_have_rows_and_slices_at_a_distance() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let mut shape = Shape::word(&[5, 3, 2]);
    (shape.desc.rowPitch, shape.desc.slicePitch) = (28, 28 * 4);
    let host = pattern(8, 28 * 4 * 2);
    let flags = Flags::READ_WRITE | Flags::ALLOC_COPY_HOST_POINTER;
    let (answer, mem) = shape.create(fixture.context(), flags, host.as_ptr().cast_mut().cast());
    ur_conformance::expect_success(answer, "urMemImageCreate");
    let image = Image { mem: Mem::take(mem), shape };
    let row = |z: usize, y: usize| host[z * 112 + y * 28..][..20].to_vec();
    let expected: Vec<u8> = (0..6).flat_map(|line| row(line / 3, line % 3)).collect();
    assert_eq!(image.read::<u8>(&queue), expected);
}

#[test]
fn urMemImageCreate_refuses_flags_that_contradict_each_other_or_the_host_pointer() {
    let fixture = Fixture::new();
    let shape = Shape::word(&[4, 4]);
    let host = [0u8; 64];
    let (some, none) = (host.as_ptr(), null());
    let (rw, using, copying) = (Flags::READ_WRITE, Flags::USE_HOST_POINTER, Flags::ALLOC_COPY_HOST_POINTER);
    refuse(&fixture, &shape, Flags::from_bits_retain(0x40), none, Code::ERROR_INVALID_ENUMERATION, "0x40");
    refuse(&fixture, &shape, rw | Flags::READ_ONLY, none, Code::ERROR_INVALID_VALUE, "access");
    refuse(&fixture, &shape, rw | using | copying, some, Code::ERROR_INVALID_VALUE, "allocate");
    refuse(&fixture, &shape, rw | using | Flags::ALLOC_HOST_POINTER, some, Code::ERROR_INVALID_VALUE, "allocate");
    refuse(&fixture, &shape, using | copying, none, Code::ERROR_INVALID_HOST_PTR, "pHost");
    refuse(&fixture, &shape, using | Flags::ALLOC_HOST_POINTER, none, Code::ERROR_INVALID_HOST_PTR, "pHost");
    refuse(&fixture, &shape, rw | using, none, Code::ERROR_INVALID_HOST_PTR, "pHost");
    refuse(&fixture, &shape, rw | copying, none, Code::ERROR_INVALID_HOST_PTR, "pHost");
    // Flags that contradict each other besides: the missing memory is what other adapters tell of.
    refuse(&fixture, &shape, rw | using | copying, none, Code::ERROR_INVALID_HOST_PTR, "pHost");
    refuse(&fixture, &shape, rw | using | Flags::ALLOC_HOST_POINTER, none, Code::ERROR_INVALID_HOST_PTR, "pHost");
    refuse(&fixture, &shape, rw, some, Code::ERROR_INVALID_HOST_PTR, "pHost");
    for flags in [Flags::empty(), Flags::READ_ONLY, Flags::WRITE_ONLY, rw | Flags::ALLOC_HOST_POINTER] {
        let (answer, mem) = shape.create(fixture.context(), flags, null_mut());
        ur_conformance::expect_success(answer, "urMemImageCreate");
        drop(Mem::take(mem));
    }
}

#[test]
fn urMemImageCreate_refuses_shapes_that_are_no_image_s() {
    let fixture = Fixture::new();
    let rw = Flags::READ_WRITE;
    let host = [0u8; 4096];
    let refuse = |shape: &Shape, code, words| refuse(&fixture, shape, rw, null(), code, words);
    for (size, word) in [(&[0][..], "width"), (&[4, 0], "height"), (&[4, 4, 0], "depth")] {
        let mut shape = Shape::word(size);
        // A 3-D image without depth is still one.
        shape.desc.type_ = [ur_mem_type_t::IMAGE1D, ur_mem_type_t::IMAGE2D, ur_mem_type_t::IMAGE3D][size.len() - 1];
        refuse(&shape, Code::ERROR_INVALID_IMAGE_SIZE, word);
    }
    for (axes, word) in [(1, "width"), (2, "width"), (2, "height"), (3, "depth")] {
        let mut size = vec![1usize; axes];
        size[["width", "height", "depth"].iter().position(|name| *name == word).unwrap_or(0)] = 1 << 40;
        refuse(&Shape::word(&size), Code::ERROR_INVALID_IMAGE_SIZE, word);
    }
    let of = |change: &dyn Fn(&mut Shape)| {
        let mut shape = Shape::word(&[4, 4]);
        change(&mut shape);
        shape
    };
    const WRONG: Code = Code::ERROR_INVALID_IMAGE_FORMAT_DESCRIPTOR;
    for stype in [ur_structure_type_t::BUFFER_PROPERTIES, ur_structure_type_t::SAMPLER_DESC, ur_structure_type_t(!0)] {
        refuse(&of(&|shape| shape.desc.stype = stype), WRONG, "stype");
    }
    refuse(&of(&|shape| shape.desc.type_ = ur_mem_type_t(77)), WRONG, "0x4d");
    refuse(&of(&|shape| shape.desc.numMipLevel = 2), WRONG, "mipmap");
    refuse(&of(&|shape| shape.desc.numSamples = 4), WRONG, "samples");
    refuse(&of(&|shape| shape.desc.rowPitch = 16), WRONG, "pHost");
    refuse(&of(&|shape| shape.desc.slicePitch = 64), WRONG, "pHost");
    let flags = rw | Flags::ALLOC_COPY_HOST_POINTER;
    let short = of(&|shape| shape.desc.rowPitch = 15);
    self::refuse(&fixture, &short, flags, host.as_ptr(), WRONG, "row pitch");
    let mut flat = Shape::word(&[4, 4, 2]);
    flat.desc.slicePitch = 63;
    self::refuse(&fixture, &flat, flags, host.as_ptr(), WRONG, "slice pitch");
}

/// Clients leave the type of a structure 0 whose place says what it is.
#[test]
fn urMemImageCreate_takes_a_description_without_a_structure_type() {
    let fixture = Fixture::new();
    let mut shape = Shape::word(&[4, 4]);
    shape.desc.stype = ur_structure_type_t(0);
    assert_eq!(Image::new(&fixture, shape).read::<u32>(&fixture.in_order()).len(), 16);
}

#[test]
fn urMemImageCreate_says_which_formats_arrays_do_not_hold() {
    let fixture = Fixture::new();
    let refuse = |order, kind, code, words| {
        refuse(&fixture, &Shape::new(order, kind, &[4, 4]), Flags::READ_WRITE, null(), code, words);
    };
    for order in [Order::A, Order::RA, Order::BGRA, Order::ARGB, Order::INTENSITY, Order::RX, Order::SRGBA] {
        refuse(order, Type::UNORM_INT8, Code::ERROR_UNSUPPORTED_IMAGE_FORMAT, "swapped");
    }
    for order in [Order::RGB, Order::RGX] {
        refuse(order, Type::FLOAT, Code::ERROR_UNSUPPORTED_IMAGE_FORMAT, "1, 2 or 4 channels");
    }
    for kind in [Type::UNORM_SHORT_565, Type::UNORM_SHORT_555, Type::INT_101010] {
        refuse(Order::RGBA, kind, Code::ERROR_UNSUPPORTED_IMAGE_FORMAT, "packs");
    }
    refuse(Order(1000), Type::FLOAT, Code::ERROR_INVALID_ENUMERATION, "channel order");
    refuse(Order::R, Type(1000), Code::ERROR_INVALID_ENUMERATION, "channel type");
}

#[test]
fn urMemImageCreate_refuses_null_and_wrong_handles() {
    let fixture = Fixture::new();
    let shape = Shape::word(&[4, 4]);
    let (c, rw) = (fixture.context(), Flags::READ_WRITE);
    let (format, desc) = (&raw const shape.format, &raw const shape.desc);
    let mut mem = null_mut();
    let out = &raw mut mem;
    refused!(ERROR_INVALID_NULL_POINTER, Mem.pfnImageCreate(c, rw, null(), desc, null_mut(), out));
    refused!(ERROR_INVALID_NULL_POINTER, Mem.pfnImageCreate(c, rw, format, null(), null_mut(), out));
    refused!(ERROR_INVALID_NULL_POINTER, Mem.pfnImageCreate(c, rw, format, desc, null_mut(), null_mut()));
    refused!(ERROR_INVALID_NULL_HANDLE, Mem.pfnImageCreate(null_mut(), rw, format, desc, null_mut(), out));
    let queue = fixture.in_order();
    refused!(ERROR_INVALID_CONTEXT, Mem.pfnImageCreate(queue.handle().cast(), rw, format, desc, null_mut(), out));
    assert!(mem.is_null());
    refused!(ERROR_INVALID_MEM_OBJECT, Mem.pfnRetain(queue.handle().cast()));
    refused!(ERROR_INVALID_MEM_OBJECT, Mem.pfnRelease(c.cast()));
    refused!(ERROR_INVALID_NULL_HANDLE, Mem.pfnRelease(null_mut()));
}

#[test]
fn urMemGetInfo_and_urMemImageGetInfo_answer_every_property() {
    let fixture = Fixture::new();
    for (size, pitches) in [(&[6][..], [24, 0]), (&[6, 5], [24, 0]), (&[6, 5, 4], [24, 120])] {
        let image = Image::new(&fixture, Shape::word(size));
        let mem = image.handle();
        assert_eq!(check_every_property!(ur_mem_info_t, &[], Mem.pfnGetInfo(mem)).len(), MemInfo::VALUES.len());
        let answered = check_every_property!(ur_image_info_t, &[], Mem.pfnImageGetInfo(mem));
        assert_eq!(answered.len(), ImageInfo::VALUES.len());
        assert_eq!(query::get::<usize>(ask!(Mem.pfnGetInfo(mem, MemInfo::SIZE))), image.shape.bytes());
        assert_eq!(query::get::<*mut u8>(ask!(Mem.pfnGetInfo(mem, MemInfo::CONTEXT))), fixture.context().cast());
        let number = |property| query::get::<usize>(ask!(Mem.pfnImageGetInfo(mem, property)));
        let at = |axis: usize| size.get(axis).copied().unwrap_or(0);
        assert_eq!([number(ImageInfo::ROW_PITCH), number(ImageInfo::SLICE_PITCH)], pitches);
        assert_eq!(number(ImageInfo::ELEMENT_SIZE), 4);
        let extents = [ImageInfo::WIDTH, ImageInfo::HEIGHT, ImageInfo::DEPTH].map(number);
        assert_eq!(extents, [at(0), at(1), at(2)]);
        assert_eq!(number(ImageInfo::ARRAY_SIZE), 0);
        let format = query::get::<[u32; 2]>(ask!(Mem.pfnImageGetInfo(mem, ImageInfo::FORMAT)));
        assert_eq!(format, [Order::R.0, Type::UNSIGNED_INT32.0]);
    }
}

#[test]
fn references_are_counted_and_the_last_one_ends_the_image() {
    let fixture = Fixture::new();
    let image = Image::new(&fixture, Shape::word(&[4, 4]));
    let mem = image.handle();
    let count = || query::get::<u32>(ask!(Mem.pfnGetInfo(mem, MemInfo::REFERENCE_COUNT)));
    assert_eq!(count(), 1);
    ok!(Mem.pfnRetain(mem));
    assert_eq!(count(), 2);
    ok!(Mem.pfnRelease(mem));
    assert_eq!(count(), 1);
    let sim = needs_sim!(fixture);
    let array = |sim: &ur_conformance::Sim| sim.objects().get("array").copied().unwrap_or(0);
    let before = array(sim);
    drop(image);
    assert_eq!(array(sim) + 1, before, "the image's array goes with it");
}

#[test]
fn an_image_may_be_released_while_work_with_it_is_queued() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let image = Image::new(&fixture, Shape::word(&[64, 64]));
    let contents = pattern(1, image.shape.bytes());
    image.write(&queue, &contents);
    let mut found = vec![0u8; contents.len()];
    let whole = image.whole();
    let event = ur_conformance::owned::event_of(|event| {
        image.read_box(&queue, &whole, [0, 0], found.as_mut_ptr().cast(), &[], event)
    });
    drop(image);
    event.wait();
    assert_eq!(found, contents);
}

#[test]
fn devices_tell_of_images_what_they_can_hold() {
    use ur_conformance::ffi::ur_device_info_t as Info;
    let fixture = Fixture::new();
    let device = fixture.device();
    let there = query::get::<u8>(ask!(Device.pfnGetInfo(device, Info::IMAGE_SUPPORT))) != 0;
    let size = |property| query::get::<usize>(ask!(Device.pfnGetInfo(device, property)));
    let (wide, high, deep) =
        (size(Info::IMAGE2D_MAX_WIDTH), size(Info::IMAGE2D_MAX_HEIGHT), size(Info::IMAGE3D_MAX_DEPTH));
    assert_eq!(there, wide > 0 && high > 0 && deep > 0);
    assert_eq!(size(Info::IMAGE_MAX_BUFFER_SIZE), 0, "there are none");
    assert_eq!(there, size(Info::IMAGE_MAX_ARRAY_SIZE) > 0);
    if there {
        drop(Image::new(&fixture, Shape::word(&[wide, 1])));
        drop(Image::new(&fixture, Shape::word(&[1, high])));
        drop(Image::new(&fixture, Shape::word(&[1, 1, deep])));
        let shape = Shape::word(&[wide + 1, 1]);
        refuse(&fixture, &shape, Flags::READ_WRITE, null(), Code::ERROR_INVALID_IMAGE_SIZE, &wide.to_string());
    }
}

#[test]
fn a_native_array_can_be_an_image_and_goes_only_with_its_owner() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let image = Image::new(&fixture, Shape::word(&[8, 8]));
    let contents = pattern(4, image.shape.bytes());
    image.write(&queue, &contents);
    let mut native = 0;
    ok!(Mem.pfnGetNativeHandle(image.handle(), fixture.device(), &raw mut native));
    let mut same = 0;
    ok!(Mem.pfnGetNativeHandle(image.handle(), null_mut(), &raw mut same));
    assert_eq!((native, native != 0), (same, true));
    let (c, format, desc) = (fixture.context(), &raw const image.shape.format, &raw const image.shape.desc);
    let unowned = ur_mem_native_properties_t { isNativeHandleOwned: CBool::FALSE, ..Default::default() };
    for properties in [null(), &raw const unowned] {
        let mut mem = null_mut();
        ok!(Mem.pfnImageCreateWithNativeHandle(native, c, format, desc, properties, &raw mut mem));
        let wrapped = Image { mem: Mem::take(mem), shape: image.shape };
        assert_eq!(wrapped.read::<u8>(&queue), contents);
        let other = pattern(5, contents.len());
        wrapped.write(&queue, &other);
        drop(wrapped);
        assert_eq!(image.read::<u8>(&queue), other, "the array outlives an image that does not own it");
        image.write(&queue, &contents);
    }
    let mut mem = null_mut();
    let out = &raw mut mem;
    refused!(ERROR_INVALID_NULL_HANDLE, Mem.pfnImageCreateWithNativeHandle(0, c, format, desc, null(), out));
    refused!(ERROR_INVALID_NULL_POINTER, Mem.pfnImageCreateWithNativeHandle(native, c, null(), desc, null(), out));
    refused!(ERROR_INVALID_NULL_POINTER, Mem.pfnGetNativeHandle(image.handle(), null_mut(), null_mut()));
    assert!(mem.is_null());
}

#[test]
fn urMemGetNativeHandle_of_an_image_gives_the_array_with_its_contents_and_sees_what_is_written_there() {
    let makes: [(fn() -> Fixture, usize); 2] = [(Fixture::new, 1), (Fixture::over_all_devices, usize::MAX)];
    for (make, most) in makes {
        let fixture = make();
        let queue = fixture.in_order();
        let shape = Shape::word(&[8, 8]);
        let mut host = pattern(3, shape.bytes());
        let (c, flags) = (fixture.context(), Flags::READ_WRITE | Flags::ALLOC_COPY_HOST_POINTER);
        let (answer, mem) = shape.create(c, flags, host.as_mut_ptr().cast());
        ur_conformance::expect_success(answer, "urMemImageCreate");
        let image = Image { mem: Mem::take(mem), shape };
        for (turn, device) in fixture.devices.iter().take(most).enumerate() {
            let mut native = 0;
            ok!(Mem.pfnGetNativeHandle(image.handle(), *device, &raw mut native));
            // An application's own use of the array, in a context of that device alone.
            let alone = fixture.context_of(&fixture.devices[turn..=turn]);
            let queue_there = fixture.queue_in(alone.handle(), *device, Default::default());
            let (format, desc, mut mem) = (&raw const shape.format, &raw const shape.desc, null_mut());
            let unowned = ur_mem_native_properties_t { isNativeHandleOwned: CBool::FALSE, ..Default::default() };
            let (unowned, out) = (&raw const unowned, &raw mut mem);
            ok!(Mem.pfnImageCreateWithNativeHandle(native, alone.handle(), format, desc, unowned, out));
            let wrapped = Image { mem: Mem::take(mem), shape };
            assert_eq!(wrapped.read::<u8>(&queue_there), host, "device {turn}");
            host = pattern(turn as u32 + 7, shape.bytes());
            wrapped.write(&queue_there, &host);
            drop(wrapped);
            assert_eq!(image.read::<u8>(&queue), host, "device {turn}");
        }
    }
}

#[test]
fn a_native_array_in_a_context_of_several_devices_belongs_to_nobody() {
    let fixture = Fixture::over_all_devices();
    if fixture.devices.len() < 2 {
        println!("skipped: needs two devices");
        return;
    }
    let image = Image::new(&fixture, Shape::word(&[8, 8]));
    let mut native = [0; 2];
    for (device, out) in fixture.devices.iter().zip(&mut native) {
        ok!(Mem.pfnGetNativeHandle(image.handle(), *device, out));
    }
    assert_ne!(native[0], native[1], "each device has an array of its own");
    let (c, format, desc) = (fixture.context(), &raw const image.shape.format, &raw const image.shape.desc);
    let mut mem = null_mut();
    let answer = ur!(Mem.pfnImageCreateWithNativeHandle(native[0], c, format, desc, null(), &raw mut mem));
    assert_eq!((answer, mem), (Code::ERROR_UNSUPPORTED_FEATURE, null_mut()));
}

#[test]
fn a_buffer_is_no_image_and_an_image_no_buffer() {
    let fixture = Fixture::new();
    let queue = fixture.in_order();
    let (image, buffer) = (Image::new(&fixture, Shape::word(&[4, 4])), Buffer::new(&fixture, 64));
    let (q, i, b) = (queue.handle(), image.handle(), buffer.handle());
    let mut bytes = [7u8; 64];
    let to = bytes.as_mut_ptr().cast();
    let (at, region) = (ur_rect_offset_t::default(), ur_rect_region_t { width: 4, height: 4, depth: 1 });
    let none = null_mut();
    refused!(ERROR_INVALID_MEM_OBJECT, Enqueue.pfnMemBufferRead(q, i, CBool::TRUE, 0, 64, to, 0, null(), none));
    refused!(ERROR_INVALID_MEM_OBJECT, Enqueue.pfnMemBufferCopy(q, b, i, 0, 0, 64, 0, null(), none));
    refused!(
        ERROR_INVALID_MEM_OBJECT,
        Enqueue.pfnMemImageRead(q, b, CBool::TRUE, at, region, 0, 0, to, 0, null(), none)
    );
    refused!(ERROR_INVALID_MEM_OBJECT, Enqueue.pfnMemImageCopy(q, i, b, at, at, region, 0, null(), none));
    let (mut width, mut part) = (7usize, null_mut());
    let out = (&raw mut width).cast();
    refused!(ERROR_INVALID_MEM_OBJECT, Mem.pfnImageGetInfo(b, ImageInfo::WIDTH, 8, out, null_mut()));
    let half = ur_buffer_region_t { origin: 0, size: 32, ..Default::default() };
    let way = ur_buffer_create_type_t::REGION;
    let flags = Flags::READ_WRITE;
    refused!(ERROR_INVALID_MEM_OBJECT, Mem.pfnBufferPartition(i, flags, way, &raw const half, &raw mut part));
    assert!(bytes == [7; 64] && width == 7 && part.is_null());
    queue.finish();
}
