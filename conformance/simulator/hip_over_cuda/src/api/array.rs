//! Arrays, texture and surface objects.

use crate::args::{In, Out, Raw};
use crate::array;
use crate::guard::call;
use crate::sys::layout::{HIP_ARRAY3D_DESCRIPTOR, HIP_RESOURCE_DESC, HIP_TEXTURE_DESC, hipResourceDesc};
use crate::sys::status::*;

#[unsafe(no_mangle)]
pub extern "C" fn hipArray3DCreate(out: Out<usize>, description: In<HIP_ARRAY3D_DESCRIPTOR>) -> hipError_t {
    call!(hipArray3DCreate, {
        out.required()?;
        out.put(array::create(&description.get()?)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipArrayDestroy(array: usize) -> hipError_t {
    call!(hipArrayDestroy, { array::destroy(array) })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipCreateSurfaceObject(out: Out<u64>, resource: In<hipResourceDesc>) -> hipError_t {
    call!(hipCreateSurfaceObject, {
        out.required()?;
        out.put(array::create_surface(&resource.get()?)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDestroySurfaceObject(surface: u64) -> hipError_t {
    call!(hipDestroySurfaceObject, { array::destroy_surface(surface) })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipTexObjectCreate(
    out: Out<u64>,
    resource: In<HIP_RESOURCE_DESC>,
    reading: In<HIP_TEXTURE_DESC>,
    view: Raw,
) -> hipError_t {
    call!(hipTexObjectCreate, {
        out.required()?;
        if view.address() != 0 {
            return Err(hipErrorNotSupported);
        }
        out.put(array::create_texture(&resource.get()?, &reading.get()?)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipTexObjectDestroy(texture: u64) -> hipError_t {
    call!(hipTexObjectDestroy, { array::destroy_texture(texture) })
}
