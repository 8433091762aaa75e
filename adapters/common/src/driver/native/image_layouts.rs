//! Layouts of arrays, textures and surfaces that both native libraries share.
//!
//! The driver API of CUDA and HIP's runtime agree on the numbers and structures below (a test of the HIP backend
//! compares them with HIP's headers), so they are declared once. Nothing here makes a native call or knows what an
//! image of the ABI is.

use core::ffi::{c_int, c_uint};

use crate::driver::images::{ArrayShape, Sampling};

/// `CUDA_ARRAY3D_DESCRIPTOR` / `HIP_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ArrayDescriptor {
    /// Elements.
    pub width: usize,
    /// Rows, or 0.
    pub height: usize,
    /// Slices, or 0.
    pub depth: usize,
    /// A [`crate::driver::images::Channel`]'s number.
    pub format: c_uint,
    /// 1, 2 or 4.
    pub channels: c_uint,
    /// [`ArrayDescriptor::LAYERED`], [`ArrayDescriptor::SURFACES`].
    pub flags: c_uint,
}

impl ArrayDescriptor {
    /// `CUDA_ARRAY3D_LAYERED` / `hipArrayLayered`: the depth counts layers.
    pub const LAYERED: c_uint = 1;
    /// `CUDA_ARRAY3D_SURFACE_LDST` / `hipArraySurfaceLoadStore`: surfaces can be made of the array.
    pub const SURFACES: c_uint = 2;

    /// An array of that shape that can be a surface.
    #[must_use]
    pub fn new(shape: &ArrayShape) -> Self {
        let [width, height, depth] = shape.extent;
        let flags = Self::SURFACES | if shape.layered { Self::LAYERED } else { 0 };
        Self { width, height, depth, format: shape.channel as c_uint, channels: shape.channels, flags }
    }
}

/// `CUDA_RESOURCE_DESC` / `HIP_RESOURCE_DESC` of an array: kind 0. `hipResourceDesc`, which HIP's surfaces take, has the
/// same first members and is shorter.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ResourceDescriptor {
    kind: c_uint,
    array: usize,
    rest: [usize; 15],
    flags: c_uint,
}

impl ResourceDescriptor {
    /// An array.
    #[must_use]
    pub fn array(array: usize) -> Self {
        Self { kind: 0, array, rest: [0; 15], flags: 0 }
    }
}

/// `CUDA_TEXTURE_DESC` / `HIP_TEXTURE_DESC`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TextureDescriptor {
    /// An [`crate::driver::images::Addressing`] for each axis.
    pub addressing: [c_uint; 3],
    /// 0 nearest, 1 linear.
    pub filter: c_uint,
    /// [`TextureDescriptor::AS_INTEGER`], [`TextureDescriptor::NORMALIZED`].
    pub flags: c_uint,
    max_anisotropy: c_uint,
    mipmap_filter: c_uint,
    mipmap: [f32; 3],
    border: [f32; 4],
    reserved: [c_int; 12],
}

impl TextureDescriptor {
    /// `CU_TRSF_READ_AS_INTEGER` / `HIP_TRSF_READ_AS_INTEGER`.
    pub const AS_INTEGER: c_uint = 1;
    /// `CU_TRSF_NORMALIZED_COORDINATES` / `HIP_TRSF_NORMALIZED_COORDINATES`.
    pub const NORMALIZED: c_uint = 2;

    /// A texture that reads so.
    #[must_use]
    pub fn new(sampling: &Sampling) -> Self {
        let flag = |set: bool, bit: c_uint| if set { bit } else { 0 };
        Self {
            addressing: sampling.addressing.map(|mode| mode as c_uint),
            filter: sampling.linear.into(),
            flags: flag(sampling.as_integer, Self::AS_INTEGER) | flag(sampling.normalized, Self::NORMALIZED),
            max_anisotropy: 0,
            mipmap_filter: 0,
            mipmap: [0.0; 3],
            border: [0.0; 4],
            reserved: [0; 12],
        }
    }
}

const _: () = {
    assert!(size_of::<ArrayDescriptor>() == 40);
    assert!(size_of::<ResourceDescriptor>() == 144);
    assert!(size_of::<TextureDescriptor>() == 104);
};
