//! Commands on USM memory in a command buffer: copies, fills, and hints.
//!
//! Native graphs have no nodes for hints about shared memory. A hint changes no result, so it is checked as on a queue, and
//! is an empty node that later commands can come after.

use ur_ffi::{ur_usm_advice_flags_t, ur_usm_migration_flags_t};

use crate::command::Empty;
use crate::driver::Driver;
use crate::graph::append::Append;
use crate::object::error::Result;
use crate::object::params::Address;
use crate::usm::copy::Copy;
use crate::usm::fill::Fill;
use crate::usm::{copy, fill, prefetch};

/// `urCommandBufferAppendUSMMemcpyExp`.
///
/// # Errors
/// `INVALID_SIZE` for no bytes; as [`Append::record`].
pub fn memcpy<D: Driver>(append: Append<'_, D>, to: Address, from: Address, size: usize) -> Result<()> {
    copy::check_size("urCommandBufferAppendUSMMemcpyExp", size)?;
    // An `Address` is as the manual says: `size` bytes that stay valid for every launch of the buffer.
    let device = append.buffer.state();
    append.record(Copy { device, to: to.addr(), from: from.addr(), size })
}

/// `urCommandBufferAppendUSMFillExp`.
///
/// # Errors
/// `INVALID_SIZE` when a size is 0 or the pattern does not fit a whole number of times; as [`Append::record`].
pub fn usm_fill<D: Driver>(append: Append<'_, D>, to: Address, pattern: &[u8], size: usize) -> Result<()> {
    fill::check_sizes("urCommandBufferAppendUSMFillExp", pattern, size)?;
    let device = append.buffer.state();
    append.record(Fill { device, to: to.addr(), pattern, size })
}

/// `urCommandBufferAppendUSMPrefetchExp`.
///
/// # Errors
/// As `urEnqueueUSMPrefetch` and [`Append::record`].
pub fn usm_prefetch<D: Driver>(
    append: Append<'_, D>,
    memory: Address,
    size: usize,
    flags: ur_usm_migration_flags_t,
) -> Result<()> {
    let buffer = append.buffer;
    prefetch::check("urCommandBufferAppendUSMPrefetchExp", &buffer.context, buffer.state(), memory, size, flags)?;
    append.record(Empty)
}

/// `urCommandBufferAppendUSMAdviseExp`.
///
/// # Errors
/// As `urEnqueueUSMAdvise` and [`Append::record`].
pub fn usm_advise<D: Driver>(
    append: Append<'_, D>,
    memory: Address,
    size: usize,
    flags: ur_usm_advice_flags_t,
) -> Result<()> {
    let buffer = append.buffer;
    prefetch::check_advise("urCommandBufferAppendUSMAdviseExp", &buffer.context, buffer.state(), memory, size, flags)?;
    append.record(Empty)
}
