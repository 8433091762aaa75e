//! Arrays, surfaces and textures.
//!
//! Layouts are the engine's where both libraries share them, and `crate::sys`' where they do not.

use ur_adapter::driver::Images;
use ur_adapter::driver::images::{Array, ArrayShape, BoxCopy, Sampling, Surface, Texture};
use ur_adapter::driver::native::image_layouts::{ArrayDescriptor, ResourceDescriptor, TextureDescriptor};
use ur_adapter::object::error::Result;

use super::Cuda;
use crate::sys::{self, CUstream};

impl Images for Cuda {
    fn create_array(&self, shape: &ArrayShape) -> Result<Array> {
        let (mut array, description) = (0, ArrayDescriptor::new(shape));
        // SAFETY: the output and the description are live locals.
        self.check("cuArray3DCreate", unsafe { (self.symbols.array_create)(&raw mut array, &raw const description) })?;
        // SAFETY: the library just made the array.
        Ok(unsafe { Array::from_value(array) })
    }

    fn destroy_array(&self, array: Array) -> Result<()> {
        // SAFETY: the handle was the array's owner.
        self.check("cuArrayDestroy", unsafe { (self.symbols.array_destroy)(array.value()) })
    }

    fn create_surface(&self, array: &Array) -> Result<Surface> {
        let (mut surface, resource) = (0, ResourceDescriptor::array(array.value()));
        // SAFETY: the output and the description are live locals, and the array is borrowed.
        self.check("cuSurfObjectCreate", unsafe {
            (self.symbols.surface_create)(&raw mut surface, &raw const resource)
        })?;
        // SAFETY: the library just made the surface.
        Ok(unsafe { Surface::from_value(surface) })
    }

    fn destroy_surface(&self, surface: Surface) -> Result<()> {
        // SAFETY: the handle was the surface's owner.
        self.check("cuSurfObjectDestroy", unsafe { (self.symbols.surface_destroy)(surface.value()) })
    }

    fn create_texture(&self, array: &Array, sampling: &Sampling) -> Result<Texture> {
        let (mut texture, resource) = (0, ResourceDescriptor::array(array.value()));
        let reading = TextureDescriptor::new(sampling);
        let view = core::ptr::null();
        // SAFETY: the output and the descriptions are live locals, and the array is borrowed.
        self.check("cuTexObjectCreate", unsafe {
            (self.symbols.texture_create)(&raw mut texture, &raw const resource, &raw const reading, view)
        })?;
        // SAFETY: the library just made the texture.
        Ok(unsafe { Texture::from_value(texture) })
    }

    fn destroy_texture(&self, texture: Texture) -> Result<()> {
        // SAFETY: the handle was the texture's owner.
        self.check("cuTexObjectDestroy", unsafe { (self.symbols.texture_destroy)(texture.value()) })
    }

    unsafe fn copy_box_async(&self, copy: &BoxCopy, stream: &CUstream) -> Result<()> {
        let [width, height, depth] = copy.extent;
        let described = sys::Memcpy3D { src: copy.from.into(), dst: copy.to.into(), width, height, depth };
        // SAFETY: the description is a live local, and the caller vouches for arrays and rows.
        self.check("cuMemcpy3DAsync", unsafe { (self.symbols.copy_3d_async)(&raw const described, *stream) })
    }
}
