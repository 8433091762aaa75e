//! Structures of nodes of a graph, as the runtime reads them; they are the same from ROCm 5.2 to 7.1.

use core::ffi::{c_uint, c_void};

use ur_adapter::driver::images::{BoxCopy, BoxSide};

use super::{DevicePointer, HipFunction, MemAccess, PoolProperties, flag};

/// `hipKernelNodeParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelNodeParams {
    pub(crate) block: [c_uint; 3],
    pub(crate) extra: *mut *mut c_void,
    pub(crate) function: HipFunction,
    pub(crate) grid: [c_uint; 3],
    pub(crate) arguments: *mut *mut c_void,
    pub(crate) shared: c_uint,
}

/// `hipMemsetParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemsetParams {
    pub(crate) to: DevicePointer,
    pub(crate) element_size: c_uint,
    pub(crate) height: usize,
    pub(crate) pitch: usize,
    pub(crate) value: c_uint,
    /// Counted in elements.
    pub(crate) width: usize,
}

/// `hipHostNodeParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostNodeParams {
    pub(crate) function: unsafe extern "C" fn(*mut c_void),
    pub(crate) data: *mut c_void,
}

/// `hipPitchedPtr`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PitchedPointer {
    pub(crate) address: DevicePointer,
    pub(crate) pitch: usize,
    pub(crate) width: usize,
    /// Rows of a slice.
    pub(crate) height: usize,
}

/// One side of `hipMemcpy3DParms`: an array or a pointer, and where in it the copy begins.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BoxParamsSide {
    pub(crate) array: usize,
    pub(crate) origin: [usize; 3],
    pub(crate) pointer: PitchedPointer,
}

/// `hipMemcpy3DParms`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoxParams {
    pub(crate) from: BoxParamsSide,
    pub(crate) to: BoxParamsSide,
    pub(crate) extent: [usize; 3],
    pub(crate) kind: c_uint,
}

impl BoxParams {
    /// A copy between two pointers; `None` with an array, whose elements this structure counts and a box does not.
    pub(crate) fn new(copy: &BoxCopy) -> Option<Self> {
        let side = |side: BoxSide| match side {
            BoxSide::Array { .. } => None,
            BoxSide::Memory(rows) => {
                let (pitch, height) = (rows.row_pitch, rows.slice_pitch / rows.row_pitch);
                let pointer = PitchedPointer { address: rows.address, pitch, width: pitch, height };
                Some(BoxParamsSide { pointer, ..BoxParamsSide::default() })
            }
        };
        Some(Self { from: side(copy.from)?, to: side(copy.to)?, extent: copy.extent, kind: flag::hipMemcpyDefault })
    }
}

/// `hipMemAllocNodeParams`, which ROCm 5.2 lacks.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemAllocNodeParams {
    pub(crate) pool: PoolProperties,
    pub(crate) access: *const MemAccess,
    pub(crate) access_count: usize,
    pub(crate) size: usize,
    /// Written by the runtime.
    pub(crate) address: DevicePointer,
}

/// `hipLaunchAttributeValue`, of which cooperation is the first word. Before ROCm 6 a shorter one, `hipKernelNodeAttrValue`.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttributeValue(pub(crate) [u32; 16]);
