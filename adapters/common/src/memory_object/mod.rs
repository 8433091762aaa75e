//! Memory objects: what a `ur_mem_handle_t` names, a buffer, a part of one, or an image; and the commands on them.
//!
//! The object knows its context, its flags and its kind. What a buffer is stands in [`crate::buffer`], what an image is in
//! [`crate::image`]; neither knows of the other or of handles. Every command that works with buffers goes through
//! [`crate::buffer::command::submit_on_buffers`] or [`crate::buffer::command::with_locked_buffers`], which bring the
//! bytes where the command runs; images do that with [`crate::image::object::Image::make_current`].

pub mod arguments;
pub mod buffer_commands;
pub mod create_buffer;
pub mod create_image;
mod fast;
pub mod image_commands;
pub mod map;
pub mod native_handle;
pub mod rect_commands;

use std::sync::Arc;

use ur_ffi::{ur_mem_flags_t, ur_mem_handle_t_, ur_mem_info_t, ur_result_t};

use crate::buffer::Buffer;
use crate::command::Request;
use crate::context::{Context, DeviceState};
use crate::driver::Driver;
use crate::image::object::Image;
use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;
use crate::object::{Body, Object, TableAddress};

/// The kinds of memory objects.
pub enum MemBody<D: Driver> {
    /// A buffer or a part of one.
    Buffer(Buffer<D>),
    /// An image, which is much larger than a buffer.
    Image(Box<Image<D>>),
}

/// What a memory object's handle names.
pub struct Mem<D: Driver> {
    /// How kernels use it and where its storage comes from.
    pub flags: ur_mem_flags_t,
    /// What it is.
    pub body: MemBody<D>,
}

impl<D: Driver> Body for Mem<D> {
    type Opaque = ur_mem_handle_t_;
    const TAG: u32 = 0x5552_000a;
    const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_MEM_OBJECT;
    const NAME: &'static str = "memory object";

    fn table() -> TableAddress {
        D::cell().table()
    }
}

impl<D: Driver> Mem<D> {
    /// The context it was made in. What it is holds that: a second reference would be two atomic operations of the 130 ns
    /// that a buffer takes (`urbench`'s row "objects: buffer 4 KiB").
    #[inline]
    pub fn context(&self) -> &Arc<Object<Context<D>>> {
        match &self.body {
            MemBody::Buffer(buffer) => &buffer.storage.context,
            MemBody::Image(image) => &image.context,
        }
    }

    /// Makes its memory at a device, if there is none: for those who will want it with something locked, since the native library
    /// can wait for that.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn make_at(&self, state: &Arc<DeviceState<D>>) -> Result<()> {
        match &self.body {
            MemBody::Buffer(buffer) => buffer.storage.address_at(state).map(drop),
            MemBody::Image(image) => image.prepare(state),
        }
    }

    /// The buffer that it is.
    ///
    /// # Errors
    /// `INVALID_MEM_OBJECT` for an object of another kind.
    pub fn buffer(&self) -> Result<&Buffer<D>> {
        match &self.body {
            MemBody::Buffer(buffer) => Ok(buffer),
            MemBody::Image(_) => Err(of_another_kind("an image", "a buffer")),
        }
    }

    /// The image that it is.
    ///
    /// # Errors
    /// `INVALID_MEM_OBJECT` for an object of another kind.
    pub fn image(&self) -> Result<&Image<D>> {
        match &self.body {
            MemBody::Buffer(_) => Err(of_another_kind("a buffer", "an image")),
            MemBody::Image(image) => Ok(&**image),
        }
    }

    /// Bytes of storage.
    ///
    /// # Errors
    /// None for an object that could be made.
    pub fn size(&self) -> Result<usize> {
        match &self.body {
            MemBody::Buffer(buffer) => Ok(buffer.size),
            MemBody::Image(image) => image.extents.bytes("urMemGetInfo", &image.pixel),
        }
    }
}

/// A memory object that a command of a queue uses.
///
/// # Errors
/// `INVALID_CONTEXT` for an object of another context than the queue's.
pub fn object_of<'a, D: Driver>(request: &Request<'_, D>, mem: &'a Object<Mem<D>>) -> Result<&'a Mem<D>> {
    if !Arc::ptr_eq(mem.context(), &request.queue.context) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_CONTEXT,
            "the memory object is of another context than the queue",
        ));
    }
    Ok(&**mem)
}

/// As [`object_of`], for commands that work with buffers.
///
/// # Errors
/// As [`object_of`]; `INVALID_MEM_OBJECT` for an object that is no buffer.
pub fn buffer_of<'a, D: Driver>(request: &Request<'_, D>, mem: &'a Object<Mem<D>>) -> Result<&'a Buffer<D>> {
    object_of(request, mem)?.buffer()
}

/// As [`object_of`], for commands that work with images.
///
/// # Errors
/// As [`object_of`]; `INVALID_MEM_OBJECT` for an object that is no image.
pub fn image_of<'a, D: Driver>(request: &Request<'_, D>, mem: &'a Object<Mem<D>>) -> Result<&'a Image<D>> {
    object_of(request, mem)?.image()
}

#[cold]
fn of_another_kind(given: &str, wanted: &str) -> Error {
    Error::new(ur_result_t::ERROR_INVALID_MEM_OBJECT, format!("the memory object is {given}; give {wanted}"))
}

/// The bits that say how kernels access an object; at most one of them can be given.
pub(crate) const ACCESS: ur_mem_flags_t =
    ur_mem_flags_t::READ_WRITE.union(ur_mem_flags_t::WRITE_ONLY).union(ur_mem_flags_t::READ_ONLY);

/// The bits that want a host pointer.
const FROM_HOST: ur_mem_flags_t = ur_mem_flags_t::USE_HOST_POINTER.union(ur_mem_flags_t::ALLOC_COPY_HOST_POINTER);

/// Checks flags of a new memory object together with its host pointer. That the pointer is missing wins over flags that
/// contradict each other.
///
/// # Errors
/// As [`check_flags`]; `INVALID_HOST_PTR` for a host pointer without a flag that says what for, or the other way around.
pub fn check_host_flags(name: &str, flags: ur_mem_flags_t, has_host: bool) -> Result<()> {
    let wrong = |text: &str| Err(Error::new(ur_result_t::ERROR_INVALID_HOST_PTR, format!("{name}: {flags:?} {text}")));
    let wanted = flags.intersects(FROM_HOST);
    if wanted && !has_host {
        return wrong("asks for a pHost, which is null");
    }
    check_flags(name, flags)?;
    if has_host && !wanted {
        return wrong(
            "has no use for the pHost that is given; say what for with USE_HOST_POINTER or ALLOC_COPY_HOST_POINTER",
        );
    }
    Ok(())
}

/// Checks known flags of a memory object or of an access to one.
///
/// # Errors
/// `INVALID_VALUE` for bits that contradict each other.
pub fn check_flags(name: &str, flags: ur_mem_flags_t) -> Result<()> {
    let own = ur_mem_flags_t::ALLOC_HOST_POINTER | ur_mem_flags_t::ALLOC_COPY_HOST_POINTER;
    let contradiction = if (flags & ACCESS).bits().count_ones() > 1 {
        "say more than one kind of access"
    } else if flags.contains(ur_mem_flags_t::USE_HOST_POINTER) && flags.intersects(own) {
        "both use the host memory and allocate other"
    } else {
        return Ok(());
    };
    Err(Error::new(ur_result_t::ERROR_INVALID_VALUE, format!("{name}: {flags:?} {contradiction}")))
}

/// `urMemGetInfo`.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_ENUMERATION` for an unknown property.
pub fn get_info<D: Driver>(mem: &Object<Mem<D>>, property: ur_mem_info_t, writer: InfoWriter) -> Result<()> {
    match property {
        ur_mem_info_t::SIZE => writer.value(mem.size()?),
        ur_mem_info_t::CONTEXT => writer.value(mem.context().handle()),
        ur_mem_info_t::REFERENCE_COUNT => writer.value(mem.references()),
        _ => writer.unknown(property.0),
    }
}
