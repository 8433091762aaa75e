//! Commands on rectangular regions of buffers: read, write, copy.
//!
//! One native copy a command. What lies between a region's rows is not the command's, so a region with gaps is current
//! where it is written before it is written.

use core::ffi::c_void;

use ur_ffi::{
    CBool, ur_command_t, ur_event_handle_t, ur_mem_handle_t, ur_queue_handle_t, ur_rect_offset_t, ur_rect_region_t,
    ur_result_t,
};

use crate::buffer::Buffer;
use crate::buffer::rect::{self, Rect};
use crate::buffer::storage::{BufferAccess, submit_with_buffers};
use crate::command::Request;
use crate::driver::Driver;
use crate::driver::images::{BoxCopy, BoxSide, RectSide};
use crate::memory_object::{buffer_commands::overlap, buffer_of};
use crate::object::error::{Error, Result};
use crate::object::null_pointer;

/// A copy of rows and slices.
#[derive(Clone, Copy, Debug)]
struct RectCopy {
    /// Where to.
    to: RectSide,
    /// Where from.
    from: RectSide,
    /// Bytes of a row, rows of a slice, slices; none is 0.
    extent: [usize; 3],
}

/// The largest pitch that native rectangular copies take.
const MOST_PITCH: usize = i32::MAX as usize;

/// A region of a buffer, and what a command does with it.
fn region<'b, D: Driver>(name: &str, buffer: &'b Buffer<D>, rect: &Rect, writes: bool) -> Result<BufferAccess<'b, D>> {
    let span = rect.span();
    let reads = !writes || !rect.is_solid();
    let access = buffer.access(name, span.start, span.len(), reads, writes)?;
    Ok(BufferAccess::on_device(&buffer.storage, access))
}

/// A region in the application's memory.
fn in_host_memory(name: &str, memory: usize, rect: &Rect) -> Result<RectSide> {
    if memory.checked_add(rect.span().end).is_none() {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_SIZE,
            format!("{name}: the region in host memory goes past the end of all addresses"),
        ));
    }
    Ok(side(memory + rect.first, rect, true))
}

fn side(address: usize, rect: &Rect, of_process: bool) -> RectSide {
    RectSide { address, row_pitch: rect.row_pitch, slice_pitch: rect.slice_pitch, of_process }
}

/// Copies a region by the native call that is meant for it, or by rows where that cannot be.
///
/// # Safety
/// As [`Driver::copy_box_async`].
unsafe fn copy_region<D: Driver>(
    request: &Request<'_, D>,
    driver: &D,
    stream: &D::Stream,
    copy: &RectCopy,
) -> Result<()> {
    let RectCopy { to, from, extent: [width, height, depth] } = *copy;
    if [to, from].iter().all(|side| side.row_pitch <= MOST_PITCH && side.slice_pitch <= MOST_PITCH) {
        let _scope = request.queue.device.enter_for_transfer()?;
        let copy = BoxCopy { to: BoxSide::Memory(to), from: BoxSide::Memory(from), extent: copy.extent };
        // SAFETY: the caller's promise is the same.
        return unsafe { driver.copy_box_async(&copy, stream) };
    }
    let _scope = request.queue.device.enter_for_transfer()?;
    (0..depth).flat_map(|z| (0..height).map(move |y| (z, y))).try_for_each(|(z, y)| {
        let row = |side: RectSide| side.address + z * side.slice_pitch + y * side.row_pitch;
        // SAFETY: a row of each side, by the caller's promise.
        unsafe { driver.copy_async(row(to), row(from), width, stream) }
    })
}

/// `urEnqueueMemBufferReadRect`.
///
/// # Safety
/// The C contract of an enqueue; the region is writable at `to` until the command has finished.
///
/// # Errors
/// As [`crate::memory_object::buffer_commands::read`] and [`Rect::new`].
pub unsafe fn read<D: Driver>(
    queue: ur_queue_handle_t,
    buffer: ur_mem_handle_t,
    blocking: CBool,
    buffer_origin: ur_rect_offset_t,
    host_origin: ur_rect_offset_t,
    size: ur_rect_region_t,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    to: *mut c_void,
    count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    const NAME: &str = "urEnqueueMemBufferReadRect";
    // SAFETY: the caller's promises are the same.
    let request = unsafe { Request::<D>::new(queue, ur_command_t::MEM_BUFFER_READ_RECT, count, waits, event) }?;
    // SAFETY: as above.
    let buffer = unsafe { buffer_of(&request, buffer) }?;
    if to.is_null() {
        return Err(null_pointer(NAME));
    }
    let extent = rect::extent(NAME, size)?;
    let inside = Rect::new(NAME, buffer_origin, extent, buffer_row_pitch, buffer_slice_pitch)?;
    let outside = Rect::new(NAME, host_origin, extent, host_row_pitch, host_slice_pitch)?;
    let used = region(NAME, buffer, &inside, false)?;
    let to = in_host_memory(NAME, to.addr(), &outside)?;
    submit_with_buffers(&request, blocking.get(), &[used], |driver, stream, addresses| {
        let copy = RectCopy { to, from: side(addresses[0], &inside, false), extent };
        // SAFETY: the region was checked to be the buffer's, and is writable at `to` by the caller's promise.
        unsafe { copy_region(&request, driver, stream, &copy) }
    })
}

/// `urEnqueueMemBufferWriteRect`.
///
/// # Safety
/// The C contract of an enqueue; the region is readable at `from` until the command has finished.
///
/// # Errors
/// As [`read`].
pub unsafe fn write<D: Driver>(
    queue: ur_queue_handle_t,
    buffer: ur_mem_handle_t,
    blocking: CBool,
    buffer_origin: ur_rect_offset_t,
    host_origin: ur_rect_offset_t,
    size: ur_rect_region_t,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    from: *mut c_void,
    count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    const NAME: &str = "urEnqueueMemBufferWriteRect";
    let command = ur_command_t::MEM_BUFFER_WRITE_RECT;
    // SAFETY: the caller's promises are the same.
    let request = unsafe { Request::<D>::new(queue, command, count, waits, event) }?;
    // SAFETY: as above.
    let buffer = unsafe { buffer_of(&request, buffer) }?;
    if from.is_null() {
        return Err(null_pointer(NAME));
    }
    let extent = rect::extent(NAME, size)?;
    let inside = Rect::new(NAME, buffer_origin, extent, buffer_row_pitch, buffer_slice_pitch)?;
    let outside = Rect::new(NAME, host_origin, extent, host_row_pitch, host_slice_pitch)?;
    let used = region(NAME, buffer, &inside, true)?;
    let from = in_host_memory(NAME, from.addr(), &outside)?;
    submit_with_buffers(&request, blocking.get(), &[used], |driver, stream, addresses| {
        let copy = RectCopy { to: side(addresses[0], &inside, false), from, extent };
        // SAFETY: the region was checked to be the buffer's, and is readable at `from` by the caller's promise.
        unsafe { copy_region(&request, driver, stream, &copy) }
    })
}

/// `urEnqueueMemBufferCopyRect`.
///
/// # Safety
/// The C contract of an enqueue.
///
/// # Errors
/// As [`read`]; `OVERLAPPING_REGIONS` for regions of one buffer that share bytes.
pub unsafe fn copy<D: Driver>(
    queue: ur_queue_handle_t,
    source: ur_mem_handle_t,
    target: ur_mem_handle_t,
    source_origin: ur_rect_offset_t,
    target_origin: ur_rect_offset_t,
    size: ur_rect_region_t,
    source_row_pitch: usize,
    source_slice_pitch: usize,
    target_row_pitch: usize,
    target_slice_pitch: usize,
    count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    const NAME: &str = "urEnqueueMemBufferCopyRect";
    // SAFETY: the caller's promises are the same.
    let request = unsafe { Request::<D>::new(queue, ur_command_t::MEM_BUFFER_COPY_RECT, count, waits, event) }?;
    // SAFETY: as above.
    let (source, target) = unsafe { (buffer_of(&request, source)?, buffer_of(&request, target)?) };
    let extent = rect::extent(NAME, size)?;
    let from = Rect::new(NAME, source_origin, extent, source_row_pitch, source_slice_pitch)?;
    let to = Rect::new(NAME, target_origin, extent, target_row_pitch, target_slice_pitch)?;
    let accesses = [region(NAME, source, &from, false)?, region(NAME, target, &to, true)?];
    if core::ptr::eq(accesses[0].storage, accesses[1].storage) {
        let placed = |rect: Rect, buffer: &Buffer<D>| Rect { first: rect.first + buffer.origin, ..rect };
        if placed(from, source).overlaps(&placed(to, target)) {
            return Err(overlap(NAME));
        }
    }
    submit_with_buffers(&request, false, &accesses, |driver, stream, addresses| {
        let copy = RectCopy { to: side(addresses[1], &to, false), from: side(addresses[0], &from, false), extent };
        // SAFETY: both regions were checked to be the buffers', and to be apart.
        unsafe { copy_region(&request, driver, stream, &copy) }
    })
}
