//! The description of a copied box, whose sizes ROCm 6 widened.

use core::ffi::c_int;

use ur_adapter::driver::images::{BoxCopy, BoxSide};

use super::DevicePointer;

/// One side of `HIP_MEMCPY3D`, whose members are the same for both. Sizes are `N`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memcpy3DSide<N> {
    pub(crate) x_in_bytes: N,
    pub(crate) y: N,
    pub(crate) z: N,
    pub(crate) lod: N,
    pub(crate) memory_type: c_int,
    pub(crate) host: usize,
    pub(crate) device: DevicePointer,
    pub(crate) array: usize,
    pub(crate) pitch: N,
    pub(crate) height: N,
}

/// `HIP_MEMCPY3D`. Its sizes are `unsigned int` before ROCm 6 and `size_t` from then on.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memcpy3D<N> {
    pub(crate) src: Memcpy3DSide<N>,
    pub(crate) dst: Memcpy3DSide<N>,
    pub(crate) width: N,
    pub(crate) height: N,
    pub(crate) depth: N,
}

/// The `hipMemoryType`s of a release that a box is copied between.
pub(crate) struct BoxTypes {
    /// Memory of the process.
    pub(crate) process: c_int,
    /// Any other memory.
    pub(crate) other: c_int,
    /// Arrays.
    pub(crate) array: c_int,
}

impl<N: TryFrom<usize> + Default> Memcpy3D<N> {
    /// A copy by the types of a release.
    ///
    /// # Errors
    /// A size that `N` cannot hold.
    pub(crate) fn new(copy: &BoxCopy, types: &BoxTypes) -> Result<Self, N::Error> {
        let side = |side: BoxSide| {
            Ok(match side {
                BoxSide::Array { array, origin: [x, y, z] } => Memcpy3DSide {
                    x_in_bytes: x.try_into()?,
                    y: y.try_into()?,
                    z: z.try_into()?,
                    memory_type: types.array,
                    array,
                    ..Memcpy3DSide::default()
                },
                BoxSide::Memory(side) => Memcpy3DSide {
                    memory_type: if side.of_process { types.process } else { types.other },
                    // One of the two is looked at, by the type.
                    host: side.address,
                    device: side.address,
                    pitch: side.row_pitch.try_into()?,
                    height: (side.slice_pitch / side.row_pitch).try_into()?,
                    ..Memcpy3DSide::default()
                },
            })
        };
        let [width, height, depth] = copy.extent;
        Ok(Self {
            src: side(copy.from)?,
            dst: side(copy.to)?,
            width: width.try_into()?,
            height: height.try_into()?,
            depth: depth.try_into()?,
        })
    }
}
