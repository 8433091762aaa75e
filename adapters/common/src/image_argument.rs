//! Images and samplers as arguments of a launch: the numbers that kernels take for them, and the image's contents on
//! the launch's device before it runs.
//!
//! A kernel takes an image as a 64-bit surface object, by which it reads and writes, and a sampler as 32 bits
//! ([`Sampler::bits`]): what the compilers of SYCL expect. Where a sampler's parameter is 8 bytes wide it is a texture
//! object: the image argument before it, seen through the sampler. A launch without images does nothing here.

use smallvec::SmallVec;
use ur_ffi::{UR_MEM_FLAGS_MASK, ur_exp_kernel_arg_mem_obj_tuple_t, ur_mem_flags_t, ur_result_t, ur_sampler_handle_t};

use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::image_mem::borrow_image;
use crate::image_object::Image;
use crate::object::{Object, borrow, known_flags, null_pointer};
use crate::queue::Queue;
use crate::sampler::Sampler;

/// An image of a launch.
struct Use<'a, D: Driver> {
    index: usize,
    image: &'a Image<D>,
    written: bool,
}

/// The images of one launch.
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

    /// Takes an image, and gives the surface object that stands for it.
    ///
    /// # Safety
    /// The handle is null or live, and stays so for the launch.
    ///
    /// # Errors
    /// `INVALID_MEM_OBJECT`; `INVALID_ENUMERATION` for unknown flags; `INVALID_CONTEXT` for another context's image;
    /// what the native library answers.
    #[cold]
    pub unsafe fn image(&mut self, index: usize, tuple: &ur_exp_kernel_arg_mem_obj_tuple_t) -> Result<usize> {
        // SAFETY: the caller's promise is the same.
        let image = unsafe { borrow_image::<D>(tuple.hMem) }?;
        known_flags("a memory object argument", tuple.flags.bits(), UR_MEM_FLAGS_MASK)?;
        if !core::ptr::eq(&raw const *self.queue.context, &raw const *image.context) {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_CONTEXT,
                format!("argument {index} is an image of another context than the queue's"),
            ));
        }
        let surface = image.surface(&self.queue.device)?;
        let written = !tuple.flags.contains(ur_mem_flags_t::READ_ONLY);
        image.used_by(self.queue);
        self.uses.push(Use { index, image, written });
        number(surface)
    }

    /// Gives what stands for a sampler in a parameter of `size` bytes, as far as the library tells.
    ///
    /// # Safety
    /// The handle is null or live.
    ///
    /// # Errors
    /// `INVALID_SAMPLER`; `INVALID_KERNEL_ARGUMENT_SIZE` for a parameter that is too small;
    /// `INVALID_KERNEL_ARGS` for a texture's without an image before it; as [`Sampler::sampling`]; what the native
    /// library answers.
    #[cold]
    pub unsafe fn sampler(&self, index: usize, sampler: ur_sampler_handle_t, size: Option<usize>) -> Result<usize> {
        if sampler.is_null() {
            return Err(null_pointer("a sampler argument"));
        }
        // SAFETY: the caller's promise is the same.
        let sampler = unsafe { borrow::<Sampler<D>>(sampler) }?;
        match size {
            None | Some(4) => Ok(sampler.bits() as usize),
            Some(8) => {
                let before = self.uses.iter().find(|image| image.index + 1 == index).ok_or_else(|| {
                    Error::new(
                        ur_result_t::ERROR_INVALID_KERNEL_ARGS,
                        format!("argument {index} is a sampler for a texture, and the argument before it no image"),
                    )
                })?;
                let sampling = sampler.sampling(&before.image.pixel, &before.image.extents)?;
                number(before.image.texture(&self.queue.device, &sampling)?)
            }
            Some(other) => Err(Error::new(
                ur_result_t::ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                format!(
                    "argument {index} is a sampler, which takes 4 bytes, or 8 as a texture; the kernel has {other}"
                ),
            )),
        }
    }

    /// Brings the images' contents to the launch's device.
    ///
    /// # Errors
    /// What the native library answers.
    #[inline]
    pub fn bring(&self, stream: D::Stream) -> Result<()> {
        self.uses.iter().try_for_each(|image| image.image.bring(&self.queue.device, stream, None).map(|_| ()))
    }

    /// Notes what the launch writes.
    #[inline]
    pub fn launched(&self) {
        for image in self.uses.iter().filter(|image| image.written) {
            image.image.wrote(&self.queue.device);
        }
    }
}

/// A native object's number as a parameter's value.
fn number(object: u64) -> Result<usize> {
    usize::try_from(object).map_err(|_| Error::code_only(ur_result_t::ERROR_INVALID_VALUE))
}
