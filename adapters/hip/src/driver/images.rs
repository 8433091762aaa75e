//! Arrays, surfaces and textures.
//!
//! Layouts are the engine's where both libraries share them, and `crate::sys`' where they do not.

use core::ffi::c_uint;

use ur_adapter::driver::Images;
use ur_adapter::driver::images::{Array, ArrayShape, BoxCopy, Sampling, Surface, Texture};
use ur_adapter::driver::native::image_layouts::{ArrayDescriptor, ResourceDescriptor, TextureDescriptor};
use ur_adapter::object::error::{Error, Result};
use ur_ffi::ur_result_t;

use super::Hip;
use crate::sys::{self, BoxTypes, HipStream};

impl Images for Hip {
    fn create_array(&self, shape: &ArrayShape) -> Result<Array> {
        let (mut array, mut description) = (0, ArrayDescriptor::new(shape));
        // 5.x, which has no surfaces, refuses arrays that can be one.
        if self.symbols.surface_create.is_none() {
            description.flags &= !ArrayDescriptor::SURFACES;
        }
        // SAFETY: the output and the description are live locals.
        self.check("hipArray3DCreate", unsafe { (self.symbols.array_create)(&raw mut array, &raw const description) })?;
        // SAFETY: the library just made the array.
        Ok(unsafe { Array::from_value(array) })
    }

    fn destroy_array(&self, array: Array) -> Result<()> {
        // SAFETY: the handle was the array's owner.
        self.check("hipArrayDestroy", unsafe { (self.symbols.array_destroy)(array.value()) })
    }

    fn create_surface(&self, array: &Array) -> Result<Surface> {
        // 5.x exports it under a C++ name alone.
        let create = self.symbols.surface_create.ok_or_else(|| Error::unsupported("a surface before ROCm 6"))?;
        let (mut surface, resource) = (0, ResourceDescriptor::array(array.value()));
        // SAFETY: the output is a live local and the array is alive.
        let status = unsafe { create(&raw mut surface, &raw const resource) };
        self.check("hipCreateSurfaceObject", status)?;
        // SAFETY: the library just made the surface.
        Ok(unsafe { Surface::from_value(surface) })
    }

    fn destroy_surface(&self, surface: Surface) -> Result<()> {
        let destroy = self.symbols.surface_destroy.ok_or_else(|| Error::unsupported("a surface before ROCm 6"))?;
        // SAFETY: `create_surface` gave the object out.
        self.check("hipDestroySurfaceObject", unsafe { destroy(surface.value()) })
    }

    fn create_texture(&self, array: &Array, sampling: &Sampling) -> Result<Texture> {
        let (mut texture, resource) = (0, ResourceDescriptor::array(array.value()));
        let reading = TextureDescriptor::new(sampling);
        let view = core::ptr::null();
        // SAFETY: the output and the descriptions are live locals, and the array is borrowed.
        self.check("hipTexObjectCreate", unsafe {
            (self.symbols.texture_create)(&raw mut texture, &raw const resource, &raw const reading, view)
        })?;
        // SAFETY: the library just made the texture.
        Ok(unsafe { Texture::from_value(texture) })
    }

    fn destroy_texture(&self, texture: Texture) -> Result<()> {
        // SAFETY: the handle was the texture's owner.
        self.check("hipTexObjectDestroy", unsafe { (self.symbols.texture_destroy)(texture.value()) })
    }

    unsafe fn copy_box_async(&self, copy: &BoxCopy, stream: &HipStream) -> Result<()> {
        // Pinned memory is the device's too, and copies between two sides that are called the host's keep no order.
        if self.is_rocm_6() {
            use sys::memory_type_6::{ARRAY, DEVICE, HOST};
            let types = BoxTypes { process: HOST, other: DEVICE, array: ARRAY };
            let Ok(described) = sys::Memcpy3D::<usize>::new(copy, &types);
            // SAFETY: the description is a live local, and the caller vouches for arrays and rows.
            return self.check("hipDrvMemcpy3DAsync", unsafe {
                (self.symbols.copy_3d_async)((&raw const described).cast(), *stream)
            });
        }
        use sys::memory_type_5::{ARRAY, DEVICE, HOST};
        let types = BoxTypes { process: HOST, other: DEVICE, array: ARRAY };
        let described = sys::Memcpy3D::<c_uint>::new(copy, &types)
            .map_err(|_| Error::new(ur_result_t::ERROR_INVALID_SIZE, "ROCm 5 copies no region of 2^32 slices"))?;
        // SAFETY: the description is a live local, and the caller vouches for arrays and rows.
        self.check("hipDrvMemcpy3DAsync", unsafe {
            (self.symbols.copy_3d_async)((&raw const described).cast(), *stream)
        })
    }
}
