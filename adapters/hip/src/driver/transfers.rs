//! Copies and fills in a stream's order.
//!
//! A width that the library has no call for is refused; the engine takes patterns apart.

use ur_adapter::driver::transfers::Copy2D;
use ur_adapter::driver::{Rows, Transfers};
use ur_adapter::object::error::{Error, Result};
use ur_ffi::ur_result_t;

use super::Hip;
use crate::sys::{HipStream, flag};

impl Transfers for Hip {
    #[inline(always)]
    unsafe fn copy_async(&self, to: usize, from: usize, size: usize, stream: &HipStream) -> Result<()> {
        // SAFETY: the caller vouches for both ranges; the stream is borrowed.
        self.check("hipMemcpyAsync", unsafe {
            (self.symbols.copy_async)(to, from, size, flag::hipMemcpyDefault, *stream)
        })
    }

    unsafe fn copy_2d_async(&self, copy: &Copy2D, stream: &HipStream) -> Result<()> {
        let Copy2D { to, from, width, height } = *copy;
        // SAFETY: the caller vouches for every row; the stream is borrowed.
        self.check("hipMemcpy2DAsync", unsafe {
            (self.symbols.copy_2d_async)(
                to.address,
                to.pitch,
                from.address,
                from.pitch,
                width,
                height,
                flag::hipMemcpyDefault,
                *stream,
            )
        })
    }

    unsafe fn fill_async(&self, to: usize, width: usize, value: u32, count: usize, stream: &HipStream) -> Result<()> {
        let [low, next, ..] = value.to_le_bytes();
        match width {
            // SAFETY: the caller vouches for the bytes; the stream is borrowed.
            1 => self.check("hipMemsetD8Async", unsafe { (self.symbols.fill8_async)(to, low, count, *stream) }),
            // SAFETY: the caller vouches for the bytes; the stream is borrowed.
            2 => self.check("hipMemsetD16Async", unsafe {
                (self.symbols.fill16_async)(to, u16::from_le_bytes([low, next]), count, *stream)
            }),
            // SAFETY: the caller vouches for the bytes; the stream is borrowed.
            4 => self.check("hipMemsetD32Async", unsafe {
                (self.symbols.fill32_async)(to, value.cast_signed(), count, *stream)
            }),
            _ => Err(Error::code_only(ur_result_t::ERROR_INVALID_SIZE)),
        }
    }

    unsafe fn fill_strided_async(&self, rows: Rows, width: usize, value: u32, stream: &HipStream) -> Result<()> {
        if width != 1 {
            return Err(Error::code_only(ur_result_t::ERROR_INVALID_SIZE));
        }
        let value = value.cast_signed() & 0xff;
        // SAFETY: the caller vouches for every row; the stream is borrowed.
        self.check("hipMemset2DAsync", unsafe {
            (self.symbols.fill2d_async)(rows.first, rows.pitch, value, rows.length, rows.count, *stream)
        })
    }
}
