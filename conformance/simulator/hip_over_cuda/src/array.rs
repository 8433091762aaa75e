//! Arrays, and the texture and surface objects made of them: CUDA's own, handed through.
//!
//! HIP's numbers for formats, flags, filters and address modes are CUDA's. Objects are the current device's.

use crate::current::Scope;
use crate::sys::layout::{HIP_ARRAY3D_DESCRIPTOR, HIP_RESOURCE_DESC, HIP_TEXTURE_DESC, hipResourceDesc};
use crate::sys::status::*;

/// `HIP_RESOURCE_TYPE_ARRAY`, `hipResourceTypeArray` and `CU_RESOURCE_TYPE_ARRAY`.
const ARRAY: u32 = 0;

/// Makes an array on the current device.
pub fn create(description: &HIP_ARRAY3D_DESCRIPTOR) -> Result<usize> {
    let _scope = Scope::here()?;
    let mut array = 0;
    cu!(array_create(&raw mut array, description))?;
    Ok(array)
}

/// Destroys an array, of whatever device.
pub fn destroy(array: usize) -> Result {
    if array == 0 {
        return Err(hipErrorInvalidValue);
    }
    cu!(array_destroy(array))
}

/// Makes a surface object of an array.
pub fn create_surface(resource: &hipResourceDesc) -> Result<u64> {
    if resource.resType != ARRAY {
        return Err(hipErrorInvalidValue);
    }
    let _scope = Scope::here()?;
    let mut res = [0; 16];
    res[0] = resource.res[0];
    let resource = HIP_RESOURCE_DESC { resType: ARRAY, res, flags: 0 };
    let mut surface = 0;
    cu!(surface_create(&raw mut surface, &raw const resource))?;
    Ok(surface)
}

/// Destroys a surface object.
pub fn destroy_surface(surface: u64) -> Result {
    let _scope = Scope::here()?;
    cu!(surface_destroy(surface))
}

/// Makes a texture object of an array.
pub fn create_texture(resource: &HIP_RESOURCE_DESC, reading: &HIP_TEXTURE_DESC) -> Result<u64> {
    if resource.resType != ARRAY {
        // Linear memory and mipmaps are parts of the API that no adapter needs.
        return Err(hipErrorNotSupported);
    }
    let _scope = Scope::here()?;
    let mut texture = 0;
    cu!(texture_create(&raw mut texture, resource, reading, core::ptr::null()))?;
    Ok(texture)
}

/// Destroys a texture object.
pub fn destroy_texture(texture: u64) -> Result {
    let _scope = Scope::here()?;
    cu!(texture_destroy(texture))
}
