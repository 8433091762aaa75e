//! Images and samplers as arguments of a launch: the numbers that kernels take for them, and the image's contents on
//! the launch's device before it runs.
//!
//! A kernel takes an image as a 64-bit surface object, by which it reads and writes, and a sampler as 32 bits
//! ([`Sampler::bits`]): what the compilers of SYCL expect. Where a sampler's parameter is 8 bytes wide it is a texture
//! object: the image argument before it, seen through the sampler. A launch without images does nothing here.

use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{ur_mem_flags_t, ur_result_t, ur_sampler_handle_t};

use crate::context::DeviceState;
use crate::driver::Driver;
use crate::image::object::Image;
use crate::image::sampler::Sampler;
use crate::image::users::Coming;
use crate::object::error::{Error, Result};
use crate::object::{Object, null_pointer};
use crate::queue::Queue;

/// Bytes of a parameter that takes a sampler's bits.
const BITS: usize = 4;
/// Bytes of a parameter that takes a texture object.
const TEXTURE: usize = 8;

/// Checks what can be told of a sampler argument without the sampler; `size` is the parameter's, where the library
/// tells it.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_KERNEL_ARGUMENT_SIZE` for a parameter that takes no sampler.
#[cold]
pub fn check_sampler(index: usize, sampler: ur_sampler_handle_t, size: Option<usize>) -> Result<()> {
    if sampler.is_null() {
        return Err(null_pointer("a sampler argument"));
    }
    match size {
        None | Some(BITS | TEXTURE) => Ok(()),
        Some(other) => Err(Error::new(
            ur_result_t::ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
            format!(
                "argument {index} is a sampler, which takes {BITS} bytes, or {TEXTURE} as a texture; the kernel has {other}"
            ),
        )),
    }
}

/// The number that stands for an image in a kernel on a device.
///
/// # Errors
/// What the native library answers.
pub fn image_value<D: Driver>(image: &Image<D>, device: &Arc<DeviceState<D>>) -> Result<usize> {
    number(image.surface(device)?)
}

/// What stands for a sampler in a parameter of `size` bytes, as far as the library tells; `before` is the image that the
/// argument before it is.
///
/// # Errors
/// `INVALID_KERNEL_ARGS` for a texture's without an image before it; as [`Sampler::sampling`]; what the native library
/// answers.
pub fn sampler_value<D: Driver>(
    index: usize,
    sampler: &Sampler<D>,
    size: Option<usize>,
    before: Option<&Image<D>>,
    device: &Arc<DeviceState<D>>,
) -> Result<usize> {
    if size != Some(TEXTURE) {
        return Ok(sampler.bits() as usize);
    }
    let image = before.ok_or_else(|| {
        Error::new(
            ur_result_t::ERROR_INVALID_KERNEL_ARGS,
            format!("argument {index} is a sampler for a texture, and the argument before it no image"),
        )
    })?;
    let sampling = sampler.sampling(&image.pixel, &image.extents)?;
    number(image.texture(device, &sampling)?)
}

/// Whether a kernel that is given an image with these flags may write it.
pub fn is_written(access: ur_mem_flags_t) -> bool {
    !access.contains(ur_mem_flags_t::READ_ONLY)
}

/// An image of a launch.
struct Use<'a, D: Driver> {
    image: &'a Image<D>,
    written: bool,
    _coming: Coming<'a, D>,
}

/// The images of one launch, of a kernel or of all that a command buffer recorded. They are dropped when the
/// launch is on its stream.
pub struct ImageArguments<'a, D: Driver> {
    queue: &'a Object<Queue<D>>,
    uses: SmallVec<[Use<'a, D>; 2]>,
}

impl<'a, D: Driver> ImageArguments<'a, D> {
    /// None so far.
    #[inline]
    pub fn new(queue: &'a Object<Queue<D>>) -> Self {
        Self { queue, uses: SmallVec::new() }
    }

    /// Takes an image of the queue's context.
    ///
    /// # Errors
    /// As [`Image::prepare_for`].
    pub fn add(&mut self, image: &'a Image<D>, written: bool) -> Result<()> {
        let coming = image.prepare_for(self.queue)?;
        self.uses.push(Use { image, written, _coming: coming });
        Ok(())
    }

    /// Brings the images' contents to the launch's device.
    ///
    /// # Errors
    /// What the native library answers.
    #[inline]
    pub fn make_current(&self, stream: &D::Stream) -> Result<()> {
        self.uses.iter().try_for_each(|image| image.image.make_current(&self.queue.device, stream, None).map(|_| ()))
    }

    /// Notes what the launch writes.
    #[inline]
    pub fn note_writes(&self) {
        for image in self.uses.iter().filter(|image| image.written) {
            image.image.note_write(&self.queue.device);
        }
    }
}

/// A native object's number as a parameter's value.
fn number(object: u64) -> Result<usize> {
    usize::try_from(object).map_err(|_| Error::code_only(ur_result_t::ERROR_INVALID_VALUE))
}
