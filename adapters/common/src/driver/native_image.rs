//! Arrays, textures and surfaces as both native libraries describe them: plain data and the layouts that they share.
//!
//! The driver API of CUDA and HIP's runtime agree on the numbers and structures below (a test of the HIP backend
//! compares them with HIP's headers), so they are declared once. Nothing here makes a native call or knows what an
//! image of the ABI is.

use core::ffi::{c_int, c_uint};

/// The type of a channel in an array, by the number that `CUarray_format` and `hipArray_Format` share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Channel {
    /// `UNSIGNED_INT8`.
    Unsigned8 = 0x01,
    /// `UNSIGNED_INT16`.
    Unsigned16 = 0x02,
    /// `UNSIGNED_INT32`.
    Unsigned32 = 0x03,
    /// `SIGNED_INT8`.
    Signed8 = 0x08,
    /// `SIGNED_INT16`.
    Signed16 = 0x09,
    /// `SIGNED_INT32`.
    Signed32 = 0x0a,
    /// `HALF`.
    Half = 0x10,
    /// `FLOAT`.
    Float = 0x20,
}

impl Channel {
    /// Bytes of one channel.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Unsigned8 | Self::Signed8 => 1,
            Self::Unsigned16 | Self::Signed16 | Self::Half => 2,
            Self::Unsigned32 | Self::Signed32 | Self::Float => 4,
        }
    }
}

/// What an array is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayShape {
    /// Elements in x, y and z; 0 for an axis that the array does not have. Layers are counted in z.
    pub extent: [usize; 3],
    /// Whether z counts layers: images of one extent and format that no filter mixes.
    pub layered: bool,
    /// The type of every channel.
    pub channel: Channel,
    /// Channels of an element: 1, 2 or 4.
    pub channels: u32,
}

/// What happens to coordinates outside, by the number that both libraries share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Addressing {
    /// They wrap around; for normalised coordinates alone.
    Wrap = 0,
    /// The nearest element.
    Clamp = 1,
    /// They are mirrored at each end; for normalised coordinates alone.
    Mirror = 2,
    /// All channels 0.
    Border = 3,
}

/// How a texture reads its array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sampling {
    /// For each axis. An axis that the array does not have must clamp: hardware interpolates along it too, and mixes a
    /// border in.
    pub addressing: [Addressing; 3],
    /// Whether elements are interpolated.
    pub linear: bool,
    /// Whether coordinates go from 0 to 1.
    pub normalized: bool,
    /// Whether integers are read as they are and not as fractions of their largest value.
    pub as_integer: bool,
}

/// One side of a copy of rows and slices, in memory.
#[derive(Clone, Copy, Debug)]
pub struct RectSide {
    /// Address of the first row.
    pub address: usize,
    /// Bytes from row to row.
    pub row_pitch: usize,
    /// Bytes from slice to slice, a multiple of `row_pitch`.
    pub slice_pitch: usize,
    /// Whether it is memory of the process, which the library may know nothing of.
    pub of_process: bool,
}

/// One side of a [`BoxCopy`].
#[derive(Clone, Copy, Debug)]
pub enum BoxSide {
    /// Elements of an array.
    Array {
        /// The native array.
        array: usize,
        /// The first element's byte in its row, its row and its slice.
        origin: [usize; 3],
    },
    /// Memory of any kind.
    Memory(RectSide),
}

/// A copy of a box.
#[derive(Clone, Copy, Debug)]
pub struct BoxCopy {
    /// Where to.
    pub to: BoxSide,
    /// Where from.
    pub from: BoxSide,
    /// Bytes of a row, rows, slices; none of them 0.
    pub extent: [usize; 3],
}

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
    /// A [`Channel`]'s number.
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
    /// An [`Addressing`] for each axis.
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
