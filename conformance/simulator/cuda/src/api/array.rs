//! Arrays, texture and surface objects.

use super::args::{In, Out};
use super::guard::call;
use crate::array::{self, Array, SURFACES, TEXTURES};
use crate::sys::*;
use core::ffi::c_void;

#[unsafe(no_mangle)]
pub extern "C" fn cuArray3DCreate_v2(out: Out<Handle>, descriptor: In<CUDA_ARRAY3D_DESCRIPTOR>) -> CUresult {
    call!(cuArray3DCreate_v2, {
        out.required()?;
        out.put(Array::create(descriptor.get()?)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuArray3DGetDescriptor_v2(out: Out<CUDA_ARRAY3D_DESCRIPTOR>, array: Handle) -> CUresult {
    call!(cuArray3DGetDescriptor_v2, { out.put(Array::lookup(array)?.descriptor) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuArrayDestroy(array: Handle) -> CUresult {
    call!(cuArrayDestroy, { Array::destroy(array) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuTexObjectCreate(
    out: Out<u64>,
    resource: In<CUDA_RESOURCE_DESC>,
    reading: In<CUDA_TEXTURE_DESC>,
    view: *const c_void,
) -> CUresult {
    call!(cuTexObjectCreate, {
        out.required()?;
        if !view.is_null() {
            return Err(CUDA_ERROR_NOT_SUPPORTED);
        }
        out.put(array::create_texture(&resource.get()?, &reading.get()?)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuTexObjectDestroy(texture: u64) -> CUresult {
    call!(cuTexObjectDestroy, { array::destroy(&TEXTURES, texture) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuSurfObjectCreate(out: Out<u64>, resource: In<CUDA_RESOURCE_DESC>) -> CUresult {
    call!(cuSurfObjectCreate, {
        out.required()?;
        out.put(array::create_surface(&resource.get()?)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuSurfObjectDestroy(surface: u64) -> CUresult {
    call!(cuSurfObjectDestroy, { array::destroy(&SURFACES, surface) })
}
