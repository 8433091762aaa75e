//! Copies and fills of memory in a stream's order.
//!
//! Manuals: CUDA Driver API, Memory Management; HIP runtime API, Memory Management. All of them need the context where
//! [`super::Driver::TRANSFERS_NEED_CONTEXT`] says so. Patterns and shapes that the library does not take are taken apart in
//! [`crate::usm`].

use super::{Streams, unsupported};
use crate::object::error::Result;

/// The rows that a strided fill writes to, each from its start.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// Address of the first row.
    pub first: usize,
    /// Units that are written of a row.
    pub length: usize,
    /// Bytes from one row to the next.
    pub pitch: usize,
    /// How many there are.
    pub count: usize,
}

/// Rows of bytes, one side of a copy.
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    /// Address of the first row.
    pub address: usize,
    /// Bytes from one row to the next.
    pub pitch: usize,
}

/// A copy of rows.
#[derive(Clone, Copy, Debug)]
pub struct Copy2D {
    /// Where the rows go.
    pub to: Plane,
    /// Where they come from.
    pub from: Plane,
    /// Bytes of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// Copies and fills.
pub trait Transfers: Streams {
    /// Copies between any two pointers the library can reach, pageable host memory included. `cuMemcpyAsync`.
    ///
    /// # Safety
    /// Both ranges of `size` bytes are readable or writable by host or device until the copy has finished.
    unsafe fn copy_async(&self, to: usize, from: usize, size: usize, stream: &Self::Stream) -> Result<()>;
    /// Copies rows between any two pointers the library can reach, pageable host memory included; pitches are at most
    /// [`crate::usm::rows::MAX_PITCH`]. `cuMemcpy2DAsync`.
    ///
    /// # Safety
    /// As [`Transfers::copy_async`], for every row.
    unsafe fn copy_2d_async(&self, _copy: &Copy2D, _stream: &Self::Stream) -> Result<()> {
        unsupported("a copy of rows")
    }
    /// Writes the `width`-byte (1, 2 or 4) `value` `count` times. `cuMemsetD8/16/32Async`.
    ///
    /// # Safety
    /// `width * count` bytes at `to` are writable by the device until the fill has finished; `to` is a multiple
    /// of `width`.
    unsafe fn fill_async(&self, to: usize, width: usize, value: u32, count: usize, stream: &Self::Stream)
    -> Result<()>;
    /// Writes a `value` of one of the [`super::Driver::STRIDED_WIDTHS`] so often to the start of each row.
    /// `cuMemsetD2D8/16/32Async` / `hipMemset2DAsync`.
    ///
    /// # Safety
    /// As [`Transfers::fill_async`], for every row; so is the pitch a multiple of `width`, if there is more than one row.
    unsafe fn fill_strided_async(&self, _rows: Rows, _width: usize, _value: u32, _stream: &Self::Stream) -> Result<()> {
        unsupported("a fill of rows")
    }
}
