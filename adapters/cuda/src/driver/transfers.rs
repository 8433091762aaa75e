//! Copies and fills in a stream's order.
//!
//! A width that the library has no call for is refused; the engine takes patterns apart.

use ur_adapter::driver::transfers::Copy2D;
use ur_adapter::driver::{Rows, Transfers};
use ur_adapter::object::error::{Error, Result};
use ur_ffi::ur_result_t;

use super::Cuda;
use crate::sys::{self, CUstream, CudaMemcpy2D};

impl Transfers for Cuda {
    #[inline(always)]
    unsafe fn copy_async(&self, to: usize, from: usize, size: usize, stream: &CUstream) -> Result<()> {
        // SAFETY: the caller vouches for both ranges; the stream is borrowed.
        self.check("cuMemcpyAsync", unsafe { (self.symbols.copy_async)(to, from, size, *stream) })
    }

    unsafe fn copy_2d_async(&self, copy: &Copy2D, stream: &CUstream) -> Result<()> {
        let native = CudaMemcpy2D {
            from_type: sys::MEMORY_TYPE_UNIFIED,
            from_device: copy.from.address,
            from_pitch: copy.from.pitch,
            to_type: sys::MEMORY_TYPE_UNIFIED,
            to_device: copy.to.address,
            to_pitch: copy.to.pitch,
            width: copy.width,
            height: copy.height,
            ..CudaMemcpy2D::default()
        };
        // SAFETY: the caller vouches for every row; the stream is borrowed.
        self.check("cuMemcpy2DAsync", unsafe { (self.symbols.copy_2d_async)(&raw const native, *stream) })
    }

    unsafe fn fill_async(&self, to: usize, width: usize, value: u32, count: usize, stream: &CUstream) -> Result<()> {
        #[allow(clippy::cast_possible_truncation, reason = "the width says how much of the value counts")]
        match width {
            // SAFETY: the caller vouches for the bytes; the stream is borrowed.
            1 => self.check("cuMemsetD8Async", unsafe { (self.symbols.fill8_async)(to, value as u8, count, *stream) }),
            2 => {
                // SAFETY: the caller vouches for the bytes; the stream is borrowed.
                self.check("cuMemsetD16Async", unsafe { (self.symbols.fill16_async)(to, value as u16, count, *stream) })
            }
            // SAFETY: the caller vouches for the bytes; the stream is borrowed.
            4 => self.check("cuMemsetD32Async", unsafe { (self.symbols.fill32_async)(to, value, count, *stream) }),
            _ => Err(Error::code_only(ur_result_t::ERROR_INVALID_SIZE)),
        }
    }

    unsafe fn fill_strided_async(&self, rows: Rows, width: usize, value: u32, stream: &CUstream) -> Result<()> {
        let Rows { first, length, pitch, count } = rows;
        #[allow(clippy::cast_possible_truncation, reason = "the width says how much of the value counts")]
        match width {
            // SAFETY: the caller vouches for the bytes; the stream is borrowed.
            1 => self.check("cuMemsetD2D8Async", unsafe {
                (self.symbols.fill2d8_async)(first, pitch, value as u8, length, count, *stream)
            }),
            // SAFETY: the caller vouches for the bytes; the stream is borrowed.
            2 => self.check("cuMemsetD2D16Async", unsafe {
                (self.symbols.fill2d16_async)(first, pitch, value as u16, length, count, *stream)
            }),
            // SAFETY: the caller vouches for the bytes; the stream is borrowed.
            4 => self.check("cuMemsetD2D32Async", unsafe {
                (self.symbols.fill2d32_async)(first, pitch, value, length, count, *stream)
            }),
            _ => Err(Error::code_only(ur_result_t::ERROR_INVALID_SIZE)),
        }
    }
}
