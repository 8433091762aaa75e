//! What a SYCL library tells libsycl of its device images: the layout that compilers write into it, and reading it with care. A
//! version that is not known here has a layout that is not known either, so nothing behind the version is read.

use std::ffi::{CStr, c_char, c_void};

/// The version of [`Binaries`] that is known.
pub const BINARIES_VERSION: u16 = 1;
/// The version of [`Image`] that is known.
pub const IMAGE_VERSION: u16 = 3;
/// An image's bytes are what its target runs.
pub const FORMAT_NATIVE: u8 = 1;
const FORMAT_UNKNOWN: u8 = 0;
const FORMAT_SPIRV: u8 = 2;
const KIND_SYCL: u8 = 4;
const SPIRV_MAGIC: [u8; 4] = 0x0723_0203_u32.to_le_bytes();
const SPIRV_HEADER_BYTES: usize = 20;
/// An image has about ten property sets; more than this are no property sets.
const MOST_PROPERTY_SETS: usize = 256;

/// All images of a library.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Binaries {
    /// Its layout's version.
    pub version: u16,
    /// How many images there are.
    pub count: u16,
    /// The first of them.
    pub images: *mut Image,
    /// The host's table of kernels; nobody fills it.
    pub host_entries: [*const c_void; 2],
}

/// A device image. The pairs are the first of something and the end of it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// Its layout's version.
    pub version: u16,
    /// The programming model that it was compiled for.
    pub kind: u8,
    /// What its bytes are.
    pub format: u8,
    /// Which devices it is for.
    pub target: *const c_char,
    /// For the compiler of the device.
    pub compile_options: *const c_char,
    /// For the linker of the device.
    pub link_options: *const c_char,
    /// Its bytes.
    pub bytes: [*const u8; 2],
    /// Its kernels.
    pub entries: [*const c_void; 2],
    /// Its property sets.
    pub properties: [*const PropertySet; 2],
}

/// A named list of properties.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PropertySet {
    /// Its name.
    pub name: *const c_char,
    /// Its properties.
    pub properties: [*const c_void; 2],
}

const _: () = assert!(size_of::<Image>() == 0x50 && size_of::<Binaries>() == 0x20 && size_of::<PropertySet>() == 0x18);

impl Binaries {
    /// The images, if the layout is known.
    ///
    /// # Safety
    /// `binaries` is null or the address of a descriptor of the version that it names.
    pub unsafe fn images<'a>(binaries: *const Binaries) -> Option<(Binaries, &'a [Image])> {
        if binaries.is_null() || !binaries.is_aligned() {
            return None;
        }
        // SAFETY: a descriptor of any version begins with its version; the rest is read as the version that it has.
        let header = unsafe {
            if (*binaries).version != BINARIES_VERSION {
                return None;
            }
            *binaries
        };
        if header.count == 0 || header.images.is_null() || !header.images.is_aligned() {
            return None;
        }
        // SAFETY: this version has `count` images there. Only their versions are looked at before all are known to be right.
        let images = unsafe { std::slice::from_raw_parts(header.images, usize::from(header.count)) };
        images.iter().all(|image| image.version == IMAGE_VERSION).then_some((header, images))
    }
}

impl Image {
    /// Whether the target's name begins with `name`, and, if `whole`, ends there. No byte behind the first that differs is read.
    pub fn is_for(&self, name: &CStr, whole: bool) -> bool {
        let expected = if whole { name.to_bytes_with_nul() } else { name.to_bytes() };
        same_start(self.target, expected)
    }

    /// Whether it is a SPIR-V module as it is: neither compressed nor of another model.
    pub fn is_spirv(&self) -> bool {
        let [start, end] = self.bytes.map(|address| address as usize);
        let long_enough = !self.bytes[0].is_null() && end.checked_sub(start).is_some_and(|n| n >= SPIRV_HEADER_BYTES);
        self.kind == KIND_SYCL
            && matches!(self.format, FORMAT_UNKNOWN | FORMAT_SPIRV)
            && long_enough
            // SAFETY: the image has at least a header's bytes; they are read without any alignment.
            && unsafe { self.bytes[0].cast::<[u8; 4]>().read_unaligned() } == SPIRV_MAGIC
    }

    /// Whether it has a property set of this name that is not empty. A list that cannot be one counts as having it.
    pub fn has_properties(&self, name: &CStr) -> bool {
        let [start, end] = self.properties;
        if start.is_null() && end.is_null() {
            return false;
        }
        let bytes = (end as usize).checked_sub(start as usize);
        let sets = bytes.filter(|bytes| bytes % size_of::<PropertySet>() == 0).map(|b| b / size_of::<PropertySet>());
        let Some(sets) = sets.filter(|sets| *sets <= MOST_PROPERTY_SETS && !start.is_null() && start.is_aligned())
        else {
            return true;
        };
        // SAFETY: `properties` are the first and the end of the image's property sets, and a whole number of them fits between.
        let sets = unsafe { std::slice::from_raw_parts(start, sets) };
        let name = name.to_bytes_with_nul();
        sets.iter().any(|set| set.properties[0] != set.properties[1] && same_start(set.name, name))
    }
}

/// Whether the string begins with these bytes.
fn same_start(text: *const c_char, bytes: &[u8]) -> bool {
    // SAFETY: a string goes on behind every byte that is not zero, and `all` ends at the first byte that differs, so no byte
    // behind the string's end is read.
    !text.is_null() && bytes.iter().enumerate().all(|(at, byte)| unsafe { *text.add(at).cast::<u8>() } == *byte)
}
