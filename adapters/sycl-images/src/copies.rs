//! Which images are copied for other devices, and the descriptor of the copies.

use std::ffi::CStr;

use crate::descriptor::{Binaries, FORMAT_NATIVE, Image};
use crate::next;
use crate::owner::Owner;
use crate::targets::Target;

const SPIR64: &CStr = c"spir64";
/// What a native image cannot have on these devices: libsycl would look for other images to link, and refuse.
const IMPORTS: &CStr = c"SYCL/imported symbols";
/// libsycl sets them in SPIR-V programs alone; the kernel would compute with their defaults without a word.
const CONSTANTS: &CStr = c"SYCL/specialization constants";

/// A descriptor of copies of a library's images.
#[derive(Debug)]
pub struct Copies {
    header: Binaries,
    /// Where `header.images` points. Nothing may be added or removed.
    images: Vec<Image>,
}

// SAFETY: it owns its images; what they point to is the library's, which leaves it unchanged while it is registered.
unsafe impl Send for Copies {}

impl Copies {
    /// Copies of the library's images for these devices; `None` if nothing is to be copied.
    pub fn of(header: &Binaries, images: &[Image], target: Target) -> Option<Box<Self>> {
        // Who compiled for these devices too has said what they shall run.
        if images.iter().any(|image| image.is_for(target.name, false)) {
            return None;
        }
        let modules = images.iter().filter(|image| image.is_for(SPIR64, true) && image.is_spirv());
        let (with_constants, copied): (Vec<&Image>, Vec<&Image>) =
            modules.filter(|image| !image.has_properties(IMPORTS)).partition(|image| image.has_properties(CONSTANTS));
        if !with_constants.is_empty() {
            next::warn(&left_out(header, with_constants.len(), target));
        }
        let images: Vec<Image> = copied.into_iter().map(|image| copy(image, target)).collect();
        let count = u16::try_from(images.len()).ok().filter(|count| *count > 0)?;
        let mut copies = Box::new(Copies { header: *header, images });
        copies.header.count = count;
        copies.header.images = copies.images.as_mut_ptr();
        Some(copies)
    }

    /// What libsycl gets.
    pub fn as_ptr(&mut self) -> *mut Binaries {
        &raw mut self.header
    }
}

fn copy(image: &Image, target: Target) -> Image {
    Image { target: target.name.as_ptr(), format: FORMAT_NATIVE, ..*image }
}

/// Why a kernel of that library will have no image for the device.
fn left_out(header: &Binaries, count: usize, target: Target) -> String {
    let owner = Owner::of(header.images.cast_const().cast());
    let file = owner.map(|owner| owner.file).unwrap_or_default();
    let library = if file.is_empty() { "this program".into() } else { file.to_string_lossy() };
    format!(
        "{library}: {count} images are not for {} devices: they have specialization constants, which libsycl sets in SPIR-V programs \
         and not in native images, so kernels would silently use the defaults; compile for {} to have them there",
        target.word,
        target.name.to_string_lossy()
    )
}

#[cfg(test)]
#[path = "copies_tests.rs"]
mod tests;
