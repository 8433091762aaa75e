//! Commands on rectangular regions of buffers in a command buffer: copy, read, write. One node a command, where native
//! copies take the pitches.

use ur_ffi::{ur_rect_offset_t, ur_rect_region_t};

use crate::buffer::rect::{self, Rect};
use crate::driver::Driver;
use crate::graph::append::Append;
use crate::graph::append_buffers::{BufferUse, append_over_buffers, buffer_in};
use crate::memory_object::Mem;
use crate::memory_object::rect_commands::{Region, access_to, add_region_copy, check_apart};
use crate::object::Object;
use crate::object::error::Result;
use crate::object::params::Address;

/// A region of a buffer that a command uses.
fn used<'a, D: Driver>(
    name: &str,
    append: &Append<'_, D>,
    mem: &'a Object<Mem<D>>,
    rect: &Rect,
    writes: bool,
) -> Result<BufferUse<'a, D>> {
    let buffer = buffer_in(append.buffer, mem)?;
    let access = access_to(name, buffer, rect, writes)?.access;
    Ok(BufferUse { mem, buffer, access })
}

/// `urCommandBufferAppendMemBufferCopyRectExp`.
///
/// # Errors
/// As [`crate::graph::append_buffers::copy`] and [`Rect::new`].
pub fn copy<D: Driver>(
    append: Append<'_, D>,
    source: &Object<Mem<D>>,
    target: &Object<Mem<D>>,
    source_origin: ur_rect_offset_t,
    target_origin: ur_rect_offset_t,
    size: ur_rect_region_t,
    source_row_pitch: usize,
    source_slice_pitch: usize,
    target_row_pitch: usize,
    target_slice_pitch: usize,
) -> Result<()> {
    const NAME: &str = "urCommandBufferAppendMemBufferCopyRectExp";
    let extent = rect::extent(NAME, size)?;
    let read = Rect::new(NAME, source_origin, extent, source_row_pitch, source_slice_pitch)?;
    let written = Rect::new(NAME, target_origin, extent, target_row_pitch, target_slice_pitch)?;
    let from = used(NAME, &append, source, &read, false)?;
    let to = used(NAME, &append, target, &written, true)?;
    check_apart(NAME, (from.buffer, &read), (to.buffer, &written))?;
    append_over_buffers(append, [from, to], |graph, [from, to]| {
        add_region_copy(graph, &Region::of_buffer(to, written), &Region::of_buffer(from, read))
    })
}

/// `urCommandBufferAppendMemBufferReadRectExp`.
///
/// # Errors
/// As [`copy`].
pub fn read<D: Driver>(
    append: Append<'_, D>,
    mem: &Object<Mem<D>>,
    buffer_origin: ur_rect_offset_t,
    host_origin: ur_rect_offset_t,
    size: ur_rect_region_t,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    to: Address,
) -> Result<()> {
    const NAME: &str = "urCommandBufferAppendMemBufferReadRectExp";
    let extent = rect::extent(NAME, size)?;
    let inside = Rect::new(NAME, buffer_origin, extent, buffer_row_pitch, buffer_slice_pitch)?;
    let outside = Rect::new(NAME, host_origin, extent, host_row_pitch, host_slice_pitch)?;
    let from = used(NAME, &append, mem, &inside, false)?;
    let to = Region::of_application(NAME, to, outside)?;
    append_over_buffers(append, [from], |graph, [from]| add_region_copy(graph, &to, &Region::of_buffer(from, inside)))
}

/// `urCommandBufferAppendMemBufferWriteRectExp`.
///
/// # Errors
/// As [`copy`].
pub fn write<D: Driver>(
    append: Append<'_, D>,
    mem: &Object<Mem<D>>,
    buffer_origin: ur_rect_offset_t,
    host_origin: ur_rect_offset_t,
    size: ur_rect_region_t,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    from: Address,
) -> Result<()> {
    const NAME: &str = "urCommandBufferAppendMemBufferWriteRectExp";
    let extent = rect::extent(NAME, size)?;
    let inside = Rect::new(NAME, buffer_origin, extent, buffer_row_pitch, buffer_slice_pitch)?;
    let outside = Rect::new(NAME, host_origin, extent, host_row_pitch, host_slice_pitch)?;
    let to = used(NAME, &append, mem, &inside, true)?;
    let from = Region::of_application(NAME, from, outside)?;
    append_over_buffers(append, [to], |graph, [to]| add_region_copy(graph, &Region::of_buffer(to, inside), &from))
}
