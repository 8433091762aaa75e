//! Copies of rows and boxes: HIP's descriptions as CUDA's, and the checks that HIP makes before any copy.

use core::ffi::{c_int, c_uint};

use crate::cuda::{Copy2D, Copy3D};
use crate::memory;
use crate::sys::layout::{HIP_MEMCPY3D, hip_Memcpy2D};
use crate::sys::status::*;
use crate::sys::value::enumerator::{hipMemcpyDefault, hipMemcpyHostToHost};
use crate::sys::value::enumerator7::hipMemcpyDeviceToDeviceNoCU;
use crate::sys::value::memory_type::*;

/// `CU_MEMORYTYPE_HOST`.
const HOST: c_uint = 1;
/// `CU_MEMORYTYPE_DEVICE`.
const DEVICE: c_uint = 2;
/// `CU_MEMORYTYPE_ARRAY`.
const ARRAY: c_uint = 3;
/// `CU_MEMORYTYPE_UNIFIED`.
const UNIFIED: c_uint = 4;

/// Checks a direction. What the pointers are decides the copy, in HIP as in CUDA; a direction is only a hint.
pub fn check_kind(kind: c_int) -> Result {
    match kind {
        hipMemcpyHostToHost..=hipMemcpyDefault | hipMemcpyDeviceToDeviceNoCU => Ok(()),
        _ => Err(hipErrorInvalidMemcpyDirection),
    }
}

/// Whether there is anything to copy; null on either side of something is the caller's error.
pub fn is_needed(to: usize, from: usize, size: usize) -> Result<bool> {
    if size == 0 {
        return Ok(false);
    }
    if to == 0 || from == 0 { Err(hipErrorInvalidValue) } else { Ok(true) }
}

/// CUDA's number of a HIP memory type.
fn memory_type(hip: c_uint) -> Result<c_uint> {
    match hip {
        hipMemoryTypeHost => Ok(HOST),
        hipMemoryTypeDevice => Ok(DEVICE),
        hipMemoryTypeManaged | hipMemoryTypeUnified => Ok(UNIFIED),
        hipMemoryTypeArray => Ok(ARRAY),
        _ => Err(hipErrorInvalidValue),
    }
}

/// The memory type of a plain pointer, its host and its device address: memory of the process that the driver does not
/// know must be called host memory.
pub fn side(address: usize) -> Result<(c_uint, usize, usize)> {
    Ok(if memory::known(address)?.is_some() { (UNIFIED, 0, address) } else { (HOST, address, 0) })
}

/// Rows between two plain pointers, `None` when there is nothing to copy.
pub fn rows(to: (usize, usize), from: (usize, usize), width: usize, height: usize) -> Result<Option<Copy2D>> {
    let ((to, to_pitch), (from, from_pitch)) = (to, from);
    if !is_needed(to, from, width.saturating_mul(height))? {
        return Ok(None);
    }
    if to_pitch < width || from_pitch < width {
        return Err(hipErrorInvalidPitchValue);
    }
    let (src_type, src_host, src_device) = side(from)?;
    let (dst_type, dst_host, dst_device) = side(to)?;
    let (src_pitch, dst_pitch) = (from_pitch, to_pitch);
    Ok(Some(Copy2D {
        src_type,
        src_host,
        src_device,
        src_pitch,
        dst_type,
        dst_host,
        dst_device,
        dst_pitch,
        width,
        height,
        ..Copy2D::default()
    }))
}

/// A described copy of rows.
pub fn described_rows(copy: &hip_Memcpy2D) -> Result<Copy2D> {
    Ok(Copy2D {
        src_x: copy.srcXInBytes,
        src_y: copy.srcY,
        src_type: memory_type(copy.srcMemoryType)?,
        src_host: copy.srcHost,
        src_device: copy.srcDevice,
        src_array: copy.srcArray,
        src_pitch: copy.srcPitch,
        dst_x: copy.dstXInBytes,
        dst_y: copy.dstY,
        dst_type: memory_type(copy.dstMemoryType)?,
        dst_host: copy.dstHost,
        dst_device: copy.dstDevice,
        dst_array: copy.dstArray,
        dst_pitch: copy.dstPitch,
        width: copy.WidthInBytes,
        height: copy.Height,
    })
}

/// A described copy of a box.
pub fn described_box(copy: &HIP_MEMCPY3D) -> Result<Copy3D> {
    Ok(Copy3D {
        src_x: copy.srcXInBytes,
        src_y: copy.srcY,
        src_z: copy.srcZ,
        src_lod: copy.srcLOD,
        src_type: memory_type(copy.srcMemoryType)?,
        src_host: copy.srcHost,
        src_device: copy.srcDevice,
        src_array: copy.srcArray,
        reserved0: 0,
        src_pitch: copy.srcPitch,
        src_height: copy.srcHeight,
        dst_x: copy.dstXInBytes,
        dst_y: copy.dstY,
        dst_z: copy.dstZ,
        dst_lod: copy.dstLOD,
        dst_type: memory_type(copy.dstMemoryType)?,
        dst_host: copy.dstHost,
        dst_device: copy.dstDevice,
        dst_array: copy.dstArray,
        reserved1: 0,
        dst_pitch: copy.dstPitch,
        dst_height: copy.dstHeight,
        width: copy.WidthInBytes,
        height: copy.Height,
        depth: copy.Depth,
    })
}
