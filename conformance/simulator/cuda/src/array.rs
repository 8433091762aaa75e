//! Arrays, and the texture and surface objects that kernels reach them by.
//!
//! An array's elements lie packed, row by row, in an allocation of its own, so that the map of memory and the order of
//! the streams guard it like any other. Its address is nobody's: clients have the handle alone. Layers lie one after
//! another like slices; the layers of lines have one row each. Cubes, mipmaps and sparse arrays are not simulated and
//! answer that they are not supported.

use crate::alloc;
use crate::context::{self, Context};
use crate::copy::Place;
use crate::exec::image::{Addressing, Channel, Surface, Texels, Texture};
use crate::handles::{self, Registry};
use crate::memory::{Allocation, Kind};
use crate::reports::{self, Kind as Misuse};
use crate::sys::*;
use crate::waiting;
use std::sync::Arc;

/// All arrays.
pub static ARRAYS: Registry<Array> = Registry::new(handles::Kind::Array);
/// All texture objects.
pub static TEXTURES: Registry<Object<Texture>> = Registry::new(handles::Kind::Texture);
/// All surface objects.
pub static SURFACES: Registry<Object<Surface>> = Registry::new(handles::Kind::Surface);

/// One array.
pub struct Array {
    /// The context it was made in.
    pub context: Arc<Context>,
    /// Its handle.
    pub handle: Handle,
    /// What it was made from.
    pub descriptor: CUDA_ARRAY3D_DESCRIPTOR,
    memory: Arc<Allocation>,
    texels: Texels,
}

/// A texture or surface object.
pub struct Object<T> {
    /// The context it was made in, which alone may use it.
    pub context: Arc<Context>,
    /// Its handle.
    pub handle: Handle,
    /// What it does.
    pub access: T,
}

/// Most elements along each axis of arrays of one, two and three dimensions that can be surfaces, an H200's.
const LIMITS: [[usize; 3]; 3] = [[32768, 1, 1], [131_072, 65536, 1], [16384; 3]];
/// The same for layered arrays of one and two dimensions, with the layers.
const LAYERED_LIMITS: [[usize; 3]; 2] = [[32768, 1, 2048], [32768, 32768, 2048]];

impl Array {
    /// Makes an array in the current context.
    pub fn create(descriptor: CUDA_ARRAY3D_DESCRIPTOR) -> Result<Handle> {
        let context = context::current()?;
        let CUDA_ARRAY3D_DESCRIPTOR { width, height, depth, format, num_channels, flags } = descriptor;
        if flags & !(CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_LAYERED) != 0 {
            return Err(CUDA_ERROR_NOT_SUPPORTED);
        }
        let channel = channel(format)?;
        let layered = flags & CUDA_ARRAY3D_LAYERED != 0;
        let wrong_depth = if layered { depth == 0 } else { height == 0 && depth != 0 };
        if !matches!(num_channels, 1 | 2 | 4) || width == 0 || wrong_depth {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        let dimensions = 1 + usize::from(height > 0) + usize::from(depth > 0 && !layered);
        let limits = if layered { LAYERED_LIMITS[dimensions - 1] } else { LIMITS[dimensions - 1] };
        let extent = [width, height.max(1), depth.max(1)];
        if (0..3).any(|axis| extent[axis] > limits[axis]) {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        let element = channel.bytes() * num_channels as usize;
        let memory = alloc::device_memory(&context, extent.iter().product::<usize>() * element, Kind::Array)?;
        let extent = extent.map(|size| size as u32);
        let (dimensions, channels) = (dimensions as u8, num_channels as u8);
        let texels = Texels { base: memory.base, extent, dimensions, layered, channel, channels };
        let make = |handle| Array { context, handle, descriptor, memory, texels };
        Ok(ARRAYS.insert_with(make).0)
    }

    /// The live array of a handle.
    pub fn lookup(handle: Handle) -> Result<Arc<Array>> {
        ARRAYS.lookup(handle, CUDA_ERROR_INVALID_HANDLE)
    }

    /// Destroys the array of a handle.
    pub fn destroy(handle: Handle) -> Result {
        waiting::for_device_of(&Self::lookup(handle)?.memory);
        ARRAYS.take(handle, CUDA_ERROR_INVALID_HANDLE)?.free();
        Ok(())
    }

    /// Gives its memory back.
    pub fn free(&self) {
        alloc::free_now(&self.memory);
    }

    /// Whether it has layers.
    pub fn is_layered(&self) -> bool {
        self.texels.layered
    }

    /// A box of its bytes, which must lie inside: first byte of a row, row and slice or layer, and as many of each.
    pub fn place(&self, [x, y, z]: [usize; 3], [width, height, depth]: [usize; 3]) -> Result<Place> {
        let [_, rows, slices] = self.texels.extent.map(|size| size as usize);
        let pitch = self.texels.row_bytes() as usize;
        let inside = |from: usize, count: usize, size: usize| from.checked_add(count).is_some_and(|end| end <= size);
        if !inside(x, width, pitch) || !inside(y, height, rows) || !inside(z, depth, slices) {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        let slice = pitch * rows;
        let address = self.memory.base + (z * slice + y * pitch + x) as u64;
        Ok(Place { address, pitch, slice, tracked: true })
    }
}

fn channel(format: u32) -> Result<Channel> {
    Ok(match format {
        0x01 => Channel::U8,
        0x02 => Channel::U16,
        0x03 => Channel::U32,
        0x08 => Channel::S8,
        0x09 => Channel::S16,
        0x0a => Channel::S32,
        0x10 => Channel::Half,
        0x20 => Channel::Float,
        _ => return Err(CUDA_ERROR_INVALID_VALUE),
    })
}

/// The array that a resource description names, and the context that may make an object of it.
fn resource(description: &CUDA_RESOURCE_DESC) -> Result<(Arc<Context>, Arc<Array>)> {
    let context = context::current()?;
    if description.flags != 0 {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    if description.kind != CU_RESOURCE_TYPE_ARRAY {
        return Err(CUDA_ERROR_NOT_SUPPORTED);
    }
    let array = Array::lookup(description.array)?;
    if array.context.id != context.id {
        // The real driver's word for another device's array.
        return Err(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    }
    Ok((context, array))
}

/// Makes a texture object in the current context.
pub fn create_texture(resource_of: &CUDA_RESOURCE_DESC, reading: &CUDA_TEXTURE_DESC) -> Result<Handle> {
    let (context, array) = resource(resource_of)?;
    let mut addressing = [Addressing::Clamp; 3];
    for (axis, mode) in addressing.iter_mut().zip(reading.address_mode) {
        *axis = match mode {
            0 => Addressing::Wrap,
            1 => Addressing::Clamp,
            2 => Addressing::Mirror,
            3 => Addressing::Border,
            _ => return Err(CUDA_ERROR_INVALID_VALUE),
        };
    }
    if reading.filter_mode > 1 {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    if reading.flags & !(CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES) != 0 {
        return Err(CUDA_ERROR_NOT_SUPPORTED);
    }
    let access = Texture {
        texels: array.texels,
        addressing,
        linear: reading.filter_mode == 1,
        normalized: reading.flags & CU_TRSF_NORMALIZED_COORDINATES != 0,
        as_integer: reading.flags & CU_TRSF_READ_AS_INTEGER != 0,
    };
    Ok(TEXTURES.insert_with(|handle| Object { context, handle, access }).0)
}

/// Makes a surface object in the current context.
pub fn create_surface(description: &CUDA_RESOURCE_DESC) -> Result<Handle> {
    let (context, array) = resource(description)?;
    if array.descriptor.flags & CUDA_ARRAY3D_SURFACE_LDST == 0 {
        // The real driver lets this pass, and kernels then read and write what they may not.
        reports::add(Misuse::InvalidHandle, format!("{:#x} was not made for surfaces", array.handle));
    }
    let access = Surface { texels: array.texels };
    Ok(SURFACES.insert_with(|handle| Object { context, handle, access }).0)
}

/// Destroys an object in the current context.
pub fn destroy<T>(objects: &Registry<Object<T>>, handle: Handle) -> Result {
    let context = context::current()?;
    let object = objects.lookup(handle, CUDA_ERROR_INVALID_HANDLE)?;
    if object.context.id != context.id {
        reports::add(Misuse::Context, format!("{handle:#x} belongs to another context than the current one"));
        return Err(CUDA_ERROR_INVALID_HANDLE);
    }
    objects.take(handle, CUDA_ERROR_INVALID_HANDLE).map(drop)
}

/// What a kernel of a context reaches by an object's handle.
pub fn reached<T: Copy>(objects: &Registry<Object<T>>, handle: Handle, context: &Context) -> Result<T, String> {
    let object =
        objects.lookup(handle, CUDA_ERROR_INVALID_HANDLE).map_err(|_| format!("{handle:#x} is no live object"))?;
    if object.context.id == context.id {
        Ok(object.access)
    } else {
        Err(format!("{handle:#x} belongs to another context than the kernel"))
    }
}

/// Ends all that lives in a context; how many arrays and objects that were.
pub fn end_of_context(context: &Context) -> (usize, usize) {
    let mut objects = 0;
    for object in TEXTURES.all().iter().filter(|object| object.context.id == context.id) {
        objects += usize::from(TEXTURES.remove(object.handle).is_some());
    }
    for object in SURFACES.all().iter().filter(|object| object.context.id == context.id) {
        objects += usize::from(SURFACES.remove(object.handle).is_some());
    }
    let mut arrays = 0;
    for array in ARRAYS.all().iter().filter(|array| array.context.id == context.id) {
        arrays += usize::from(ARRAYS.remove(array.handle).is_some());
        array.free();
    }
    (arrays, objects)
}
