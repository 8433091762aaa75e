//! Commands on rectangular regions of buffers in a command buffer: copy, read, write. One node a command, where native
//! copies take the pitches.

use ur_ffi::{ur_rect_offset_t, ur_rect_region_t};

use crate::buffer::rect::Rect;
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
    from: &Object<Mem<D>>,
    to: &Object<Mem<D>>,
    from_origin: ur_rect_offset_t,
    to_origin: ur_rect_offset_t,
    size: ur_rect_region_t,
    from_row_pitch: usize,
    from_slice_pitch: usize,
    to_row_pitch: usize,
    to_slice_pitch: usize,
) -> Result<()> {
    const NAME: &str = "urCommandBufferAppendMemBufferCopyRectExp";
    let sides = [(from_origin, from_row_pitch, from_slice_pitch), (to_origin, to_row_pitch, to_slice_pitch)];
    let [read, written] = Rect::both(NAME, size, sides)?;
    let uses = [used(NAME, &append, from, &read, false)?, used(NAME, &append, to, &written, true)?];
    check_apart(NAME, (uses[0].buffer, &read), (uses[1].buffer, &written))?;
    append_over_buffers(append, uses, |graph, [from, to]| {
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
    let sides =
        [(buffer_origin, buffer_row_pitch, buffer_slice_pitch), (host_origin, host_row_pitch, host_slice_pitch)];
    let [inside, outside] = Rect::both(NAME, size, sides)?;
    let from = used(NAME, &append, mem, &inside, false)?;
    let to = Region::of_application(NAME, to, outside)?;
    append.note_write(to.span());
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
    let sides =
        [(buffer_origin, buffer_row_pitch, buffer_slice_pitch), (host_origin, host_row_pitch, host_slice_pitch)];
    let [inside, outside] = Rect::both(NAME, size, sides)?;
    let to = used(NAME, &append, mem, &inside, true)?;
    let from = Region::of_application(NAME, from, outside)?;
    append_over_buffers(append, [to], |graph, [to]| add_region_copy(graph, &Region::of_buffer(to, inside), &from))
}
