use std::ffi::{CStr, c_void};
use std::ptr::null;

use super::*;
use crate::descriptor::{BINARIES_VERSION, IMAGE_VERSION, PropertySet};
use crate::targets::{CUDA, HIP};

/// The start of a SPIR-V module, and of something else.
static MODULE: [u8; 24] = [3, 2, 0x23, 7, 0, 4, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
static OTHER: [u8; 24] = [0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

fn image(target: &'static CStr, format: u8, bytes: &'static [u8]) -> Image {
    let none: *const c_void = null();
    Image {
        version: IMAGE_VERSION,
        kind: 4,
        format,
        target: target.as_ptr(),
        compile_options: c"-O2".as_ptr(),
        link_options: null(),
        bytes: [bytes.as_ptr(), bytes.as_ptr_range().end],
        entries: [none, none],
        properties: [null(), null()],
    }
}

fn header(images: &[Image]) -> Binaries {
    Binaries {
        version: BINARIES_VERSION,
        count: u16::try_from(images.len()).expect("few images"),
        images: images.as_ptr().cast_mut(),
        host_entries: [null(), null()],
    }
}

/// Target and format of each copy, or `None` if there is none.
fn copied(images: &[Image], target: Target) -> Option<Vec<(String, u8)>> {
    let mut copies = Copies::of(&header(images), images, target)?;
    let pointer = copies.as_ptr();
    // SAFETY: the descriptor that was just made.
    let (_, images) = unsafe { Binaries::images(pointer) }.expect("a descriptor of the known version");
    let name = |image: &Image| {
        // SAFETY: the copies' targets are strings.
        unsafe { CStr::from_ptr(image.target) }.to_str().expect("a name").to_owned()
    };
    Some(images.iter().map(|image| (name(image), image.format)).collect())
}

fn list(expected: &[(&str, u8)]) -> Option<Vec<(String, u8)>> {
    Some(expected.iter().map(|(name, format)| ((*name).to_owned(), *format)).collect())
}

#[test]
fn each_spirv_image_is_copied_and_no_other() {
    let images = [image(c"spir64", 0, &MODULE), image(c"spir64_x86_64", 1, &OTHER), image(c"spir64", 2, &MODULE)];
    assert_eq!(copied(&images, CUDA), list(&[("nvptx64", 1), ("nvptx64", 1)]));
    assert_eq!(copied(&images, HIP), list(&[("amdgcn", 1), ("amdgcn", 1)]));
    assert_eq!(copied(&images[1..2], CUDA), None);
}

#[test]
fn a_copy_keeps_all_but_target_and_format() {
    let old = image(c"spir64", 2, &MODULE);
    let copies = Copies::of(&header(&[old]), &[old], CUDA).expect("a copy");
    let [new] = copies.images[..] else { panic!("one image") };
    assert_eq!((new.bytes, new.entries, new.properties), (old.bytes, old.entries, old.properties));
    assert_eq!((new.compile_options, new.link_options), (old.compile_options, old.link_options));
    assert_eq!((new.version, new.kind), (old.version, old.kind));
}

#[test]
fn images_that_could_not_work_there_are_not_copied() {
    let compressed = image(c"spir64", 4, &OTHER);
    let no_module = image(c"spir64", 0, &OTHER);
    let short = image(c"spir64", 0, &MODULE[..19]);
    let of_another_model = Image { kind: 1, ..image(c"spir64", 0, &MODULE) };
    let backwards = Image { bytes: [MODULE.as_ptr_range().end, MODULE.as_ptr()], ..no_module };
    let nowhere = Image { bytes: [null(), null()], ..no_module };
    let for_nobody = Image { target: null(), ..image(c"spir64", 0, &MODULE) };
    for bad in [compressed, no_module, short, of_another_model, backwards, nowhere, for_nobody] {
        assert_eq!(copied(&[bad], CUDA), None, "{bad:?}");
        assert_eq!(copied(&[bad, image(c"spir64", 0, &MODULE)], CUDA).expect("one copy").len(), 1, "{bad:?}");
    }
}

#[test]
fn images_with_imported_symbols_or_specialisation_constants_are_not_copied() {
    let property = 0_u64;
    let start: *const c_void = (&raw const property).cast();
    let set = |name: &'static CStr, end: *const c_void| PropertySet { name: name.as_ptr(), properties: [start, end] };
    let full = start.wrapping_byte_add(32);
    let is_copied = |sets: &[PropertySet]| {
        let range = sets.as_ptr_range();
        let image = Image { properties: [range.start, range.end], ..image(c"spir64", 0, &MODULE) };
        copied(&[image], CUDA).is_some()
    };
    assert!(is_copied(&[set(c"SYCL/misc properties", full)]));
    assert!(!is_copied(&[set(c"SYCL/misc properties", full), set(c"SYCL/imported symbols", full)]));
    assert!(!is_copied(&[set(c"SYCL/specialization constants", full)]));
    assert!(is_copied(&[set(c"SYCL/specialization constants default values", full)]));
    assert!(is_copied(&[set(c"SYCL/imported symbols", start)]), "an empty set was taken for one with symbols");
}

#[test]
fn property_sets_that_cannot_be_a_list_keep_an_image_from_being_copied() {
    let sets: *const PropertySet = std::ptr::dangling();
    let strange = [[sets, null()], [null(), sets], [sets, sets.wrapping_byte_add(7)], [sets, sets.wrapping_add(1000)]];
    for properties in strange {
        let image = Image { properties, ..image(c"spir64", 0, &MODULE) };
        assert_eq!(copied(&[image], CUDA), None, "{properties:?}");
    }
}

#[test]
fn a_library_with_images_for_a_device_gets_none_for_it() {
    let images = [image(c"spir64", 0, &MODULE), image(c"nvptx64", 1, &OTHER)];
    assert_eq!(copied(&images, CUDA), None);
    assert_eq!(copied(&images, HIP), list(&[("amdgcn", 1)]));
    let named = [image(c"spir64", 0, &MODULE), image(c"nvptx64-nvidia-cuda", 1, &OTHER)];
    assert_eq!(copied(&named, CUDA), None);
    let mut once = Copies::of(&header(&images[..1]), &images[..1], CUDA).expect("copies");
    // SAFETY: the descriptor that was just made.
    let (header, again) = unsafe { Binaries::images(once.as_ptr()) }.expect("a descriptor");
    assert!(Copies::of(&header, again, CUDA).is_none(), "copies were copied");
}

#[test]
fn as_many_images_as_a_descriptor_can_hold_are_copied() {
    let full = vec![image(c"spir64", 0, &MODULE); 65_535];
    let copies = Copies::of(&header(&full), &full, CUDA).expect("copies");
    assert_eq!((copies.header.count, copies.images.len()), (u16::MAX, 65_535));
}

#[test]
fn an_image_with_specialisation_constants_is_named_with_its_reason() {
    let said = left_out(&header(&[image(c"spir64", 0, &MODULE)]), 3, CUDA);
    assert!(
        said.contains(": 3 images are not for cuda devices")
            && said.ends_with("compile for nvptx64 to have them there"),
        "{said}"
    );
}

#[test]
fn descriptors_of_another_version_are_not_read() {
    let images = [image(c"spir64", 0, &MODULE), Image { version: 2, ..image(c"spir64", 0, &MODULE) }];
    let known = header(&images[..1]);
    // SAFETY: each pointer is null or a descriptor's.
    let read = |binaries: *const Binaries| unsafe { Binaries::images(binaries) }.map(|(_, images)| images.len());
    assert_eq!(read(&raw const known), Some(1));
    let older = header(&images);
    let newer = Binaries { version: 2, images: std::ptr::without_provenance_mut(8), ..known };
    let empty = Binaries { count: 0, ..known };
    let nowhere = Binaries { images: std::ptr::null_mut(), ..known };
    let crooked = Binaries { images: known.images.wrapping_byte_add(1), ..known };
    for strange in [older, newer, empty, nowhere, crooked] {
        assert_eq!(read(&raw const strange), None, "{strange:?}");
    }
    assert_eq!(read(null()), None);
}
