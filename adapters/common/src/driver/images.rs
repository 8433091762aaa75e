//! Arrays with a layout of the device's own, and the objects by which kernels read and write them.
//!
//! Manuals: CUDA Driver API, Memory Management (`cuArray*`, `cuMemcpy3D*`), Texture Object Management and Surface Object
//! Management; HIP runtime API, Memory Management, Texture Management and Surface Object. What an image of the ABI is, is
//! known in [`crate::image`].

use super::{Streams, unsupported};
use crate::object::error::Result;

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
        /// Handle value of the native array.
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

/// Declares native objects of images that both libraries name by a number of that type.
macro_rules! image_objects {
    ($($(#[$meta:meta])* $name:ident of $number:ty;)*) => {$(
        $(#[$meta])*
        #[derive(Debug, PartialEq, Eq, Hash)]
        pub struct $name($number);

        impl $name {
            /// The object of a handle value.
            ///
            /// # Safety
            /// The value names a live object of this kind, which lives until it is given to the method that ends it, or
            /// for as long as this is used.
            pub unsafe fn from_value(value: $number) -> Self {
                Self(value)
            }

            /// The native handle value, which kernels take too.
            #[must_use]
            pub fn value(&self) -> $number {
                self.0
            }
        }
    )*};
}

image_objects! {
    /// `CUarray` / `hipArray_t`.
    Array of usize;
    /// `CUsurfObject` / `hipSurfaceObject_t`: by which kernels read and write an array.
    Surface of u64;
    /// `CUtexObject` / `hipTextureObject_t`: by which kernels sample an array.
    Texture of u64;
}

/// Images. A device has them if [`super::DeviceProperties::has_images`] says so.
pub trait Images: Streams {
    /// An array for images of up to three dimensions, which textures and surfaces can be made of. **Needs the context.**
    /// `cuArray3DCreate`.
    fn create_array(&self, _shape: &ArrayShape) -> Result<Array> {
        unsupported("an image")
    }
    /// Ends an array; waits for all work of the device. `cuArrayDestroy`. The host cannot touch an array, and a device that
    /// does so afterwards reports a fault.
    fn destroy_array(&self, _array: Array) -> Result<()> {
        unsupported("an image")
    }
    /// **Needs the context.** `cuSurfObjectCreate` / `hipCreateSurfaceObject`.
    fn create_surface(&self, _array: &Array) -> Result<Surface> {
        unsupported("an image that kernels write")
    }
    /// **Needs the context.** `cuSurfObjectDestroy` / `hipDestroySurfaceObject`.
    fn destroy_surface(&self, _surface: Surface) -> Result<()> {
        unsupported("an image that kernels write")
    }
    /// **Needs the context.** `cuTexObjectCreate`.
    fn create_texture(&self, _array: &Array, _sampling: &Sampling) -> Result<Texture> {
        unsupported("an image that kernels sample")
    }
    /// **Needs the context.** `cuTexObjectDestroy`.
    fn destroy_texture(&self, _texture: Texture) -> Result<()> {
        unsupported("an image that kernels sample")
    }
    /// Copies a box between arrays and memory, of another device too. Needs the context where
    /// [`super::Driver::TRANSFERS_NEED_CONTEXT`] says so. No pitch is above `i32::MAX`. `cuMemcpy3DAsync` /
    /// `hipDrvMemcpy3DAsync`.
    ///
    /// # Safety
    /// Arrays are live, and every row of the box in memory is readable or writable by host or device until the copy has
    /// finished.
    unsafe fn copy_box_async(&self, _copy: &BoxCopy, _stream: &Self::Stream) -> Result<()> {
        unsupported("a copy of a box")
    }
}
