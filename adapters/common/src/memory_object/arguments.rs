//! Objects as kernel arguments: of a buffer a kernel gets the address of the bytes at the device it runs on, of images and
//! samplers what [`crate::image::argument`] says.
//!
//! A kernel may leave any byte alone, so what it is given is made current whatever it says to do with it; what it may
//! write is current nowhere else afterwards.

use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{
    UR_MEM_FLAGS_MASK, ur_exp_kernel_arg_mem_obj_tuple_t, ur_exp_kernel_arg_properties_t, ur_exp_kernel_arg_type_t,
    ur_mem_flags_t,
};

use crate::buffer::Buffer;
use crate::buffer::moving::Access;
use crate::buffer::storage::BufferAccess;
use crate::command::Request;
use crate::context::DeviceState;
use crate::driver::Driver;
use crate::image::argument::{ImageArguments, image_value, is_written, sampler_value};
use crate::image::object::Image;
use crate::image::sampler::Sampler;
use crate::memory_object::{ACCESS, Mem, MemBody, check_flags, object_of};
use crate::object::Object;
use crate::object::error::Result;
use crate::object::known_flags;
use crate::object::params::{handle, optional_handle};
use crate::queue::Queue;
use crate::stream::capture::Capture;

/// How messages name what is checked.
const WHAT: &str = "a memory object as kernel argument";

/// Checks what can be told of a memory object argument without the object.
///
/// # Errors
/// `INVALID_ENUMERATION` for unknown flags; as [`check_flags`].
pub fn check(argument: &ur_exp_kernel_arg_mem_obj_tuple_t) -> Result<()> {
    check_access(argument.flags)
}

/// Checks what a kernel is said to do with a memory object.
///
/// # Errors
/// As [`check`].
pub(crate) fn check_access(flags: ur_mem_flags_t) -> Result<()> {
    known_flags(WHAT, flags.bits(), UR_MEM_FLAGS_MASK)?;
    check_flags(WHAT, flags)
}

/// A memory object that is an image, as one launch uses it.
pub struct ImageObject<'a, D: Driver> {
    memory: &'a Object<Mem<D>>,
    is_written: bool,
}

/// The objects of one launch.
pub struct ObjectArguments<'a, D: Driver> {
    /// Which arguments are buffers.
    pub indices: SmallVec<[usize; 4]>,
    /// What the launch does with each buffer.
    pub accesses: SmallVec<[BufferAccess<'a, D>; 4]>,
    /// The images.
    pub images: ImageArguments<'a, D>,
    /// The memory objects that these are.
    pub image_objects: SmallVec<[ImageObject<'a, D>; 2]>,
    /// What stands for images and samplers, with the argument's index.
    pub values: SmallVec<[(usize, usize); 4]>,
}

/// An image that commands of a capture use, which the capture keeps: its contents are brought to the device at each launch of the
/// graph, and not by a command of it.
pub struct CapturedImage<D: Driver> {
    /// The memory object.
    pub memory: Arc<Object<Mem<D>>>,
    /// Whether it is written.
    pub is_written: bool,
}

/// The memory object that an image is, and whether it is written.
type OwnedImage<D> = (Arc<Object<Mem<D>>>, bool);

/// The images of a launch that is deferred.
pub struct OwnedImages<D: Driver> {
    list: SmallVec<[OwnedImage<D>; 2]>,
}

impl<D: Driver> OwnedImages<D> {
    /// Those of memory objects that are images, with whether each is written.
    pub fn new(images: impl IntoIterator<Item = OwnedImage<D>>) -> Self {
        Self { list: images.into_iter().collect() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// As arguments of a launch on the queue.
    ///
    /// # Errors
    /// What the native library answers where an image has no array on the device yet.
    pub fn on<'a>(&'a self, queue: &'a Object<Queue<D>>) -> Result<ImageArguments<'a, D>> {
        let mut images = ImageArguments::new(queue);
        for (memory, is_written) in &self.list {
            images.add(memory.image()?, *is_written)?;
        }
        Ok(images)
    }
}

impl<D: Driver> ObjectArguments<'_, D> {
    /// The images, for a launch that is deferred.
    pub fn owned_images(&self) -> OwnedImages<D> {
        OwnedImages { list: self.image_objects.iter().map(|used| (used.memory.to_arc(), used.is_written)).collect() }
    }

    /// Keeps the images with a capture that a launch on the device belongs to.
    ///
    /// # Errors
    /// As [`Capture::keep_memory`].
    pub fn keep_images(&self, capture: &Capture<D>, device: &Arc<DeviceState<D>>) -> Result<()> {
        self.image_objects.iter().try_for_each(|used| {
            let image = CapturedImage { memory: used.memory.to_arc(), is_written: used.is_written };
            capture.keep_memory(Arc::new(image), device)
        })
    }
}

/// What a launch does with its objects; `sizes` are those of the function's parameters, where they are known. A memory
/// object that is null is none: its address is null.
///
/// # Safety
/// The handles are live and stay so during `'a`.
///
/// # Errors
/// `INVALID_MEM_OBJECT`, `INVALID_CONTEXT`; as [`image_value`] and [`sampler_value`].
pub unsafe fn of_launch<'a, D: Driver>(
    request: &Request<'a, D>,
    arguments: &[ur_exp_kernel_arg_properties_t],
    sizes: Option<&[usize]>,
) -> Result<ObjectArguments<'a, D>> {
    let mut objects = ObjectArguments {
        indices: SmallVec::new(),
        accesses: SmallVec::new(),
        images: ImageArguments::new(request.queue),
        image_objects: SmallVec::new(),
        values: SmallVec::new(),
    };
    let mut images: SmallVec<[(usize, &Image<D>); 2]> = SmallVec::new();
    for argument in arguments.iter().filter(|argument| argument.type_ == ur_exp_kernel_arg_type_t::MEM_OBJ) {
        // SAFETY: the tag says that the union holds handle and access, and the handle is live by the caller's promise.
        let (mem, flags) = unsafe {
            let object = argument.value.memObjTuple;
            (optional_handle::<Mem<D>>(WHAT, object.hMem)?, object.flags)
        };
        let Some(mem) = mem else { continue };
        let body = &object_of(request, mem)?.body;
        let index = argument.index as usize;
        match body {
            MemBody::Buffer(buffer) => {
                objects.indices.push(index);
                objects.accesses.push(access_of(buffer, mem.flags, flags));
            }
            MemBody::Image(image) => {
                objects.values.push((index, image_value(image, &request.queue.device)?));
                objects.images.add(image, is_written(flags))?;
                objects.image_objects.push(ImageObject { memory: mem, is_written: is_written(flags) });
                images.push((index, image));
            }
        }
    }
    // Last, since one may be the texture of an image that comes later in the list.
    for argument in arguments.iter().filter(|argument| argument.type_ == ur_exp_kernel_arg_type_t::SAMPLER) {
        let index = argument.index as usize;
        let size = sizes.and_then(|sizes| sizes.get(index)).copied();
        // SAFETY: the tag says that the union holds a sampler, live by the caller's promise.
        let sampler = unsafe { handle::<Sampler<D>>("a sampler as kernel argument", argument.value.sampler) }?;
        let before = images.iter().find(|(image, _)| image + 1 == index).map(|(_, image)| *image);
        objects.values.push((index, sampler_value(index, sampler, size, before, &request.queue.device)?));
    }
    Ok(objects)
}

/// What a kernel that is given a buffer does with its bytes.
pub(crate) fn access_of<D: Driver>(
    buffer: &Buffer<D>,
    flags: ur_mem_flags_t,
    access: ur_mem_flags_t,
) -> BufferAccess<'_, D> {
    let own = access & ACCESS;
    let access = if own.is_empty() { flags & ACCESS } else { own };
    let range = buffer.origin..buffer.origin + buffer.size;
    let writes = access != ur_mem_flags_t::READ_ONLY;
    BufferAccess::on_device(&buffer.storage, Access { range, reads: true, writes })
}
