//! Commands on rectangular regions of buffers: read, write, copy.
//!
//! One native copy a command, more only where slices or rows lie further apart than native copies take. What lies between a
//! region's rows is not the command's, so a region with gaps is current where it is written before it is written.

use core::ops::Range;
use std::sync::Arc;

use ur_ffi::{ur_command_t, ur_rect_offset_t, ur_rect_region_t, ur_result_t};

use crate::buffer::Buffer;
use crate::buffer::command::{with_locked_buffers, with_locked_buffers_from, with_locked_buffers_into};
use crate::buffer::command_bytes::{self, CommandBytes};
use crate::buffer::rect::Rect;
use crate::buffer::storage::{BufferAccess, LockedBuffers};
use crate::command::Enqueue;
use crate::command::graph::GraphBuilder;
use crate::driver::Driver;
use crate::driver::graphs::CopyNode;
use crate::driver::images::{BoxCopy, BoxSide, RectSide};
use crate::memory_object::{Mem, buffer_commands::overlap, buffer_of};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::Address;

/// The largest pitch that native rectangular copies take.
const MOST_PITCH: usize = i32::MAX as usize;

/// A region in memory that a command may use.
pub(crate) struct Region {
    /// The region's span.
    bytes: CommandBytes,
    rect: Rect,
    /// Whether it is the application's own memory.
    of_process: bool,
}

impl Region {
    /// A region of a buffer, by the bytes of its span.
    pub(crate) fn of_buffer(bytes: CommandBytes, rect: Rect) -> Self {
        Self { bytes, rect, of_process: false }
    }

    /// A region in the application's memory.
    pub(crate) fn of_application(name: &str, memory: Address, rect: Rect) -> Result<Self> {
        let span = rect.span();
        if memory.addr().checked_add(span.end).is_none() {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_SIZE,
                format!("{name}: the region in host memory goes past the end of all addresses"),
            ));
        }
        let bytes = CommandBytes::of_application(memory, span.start, span.len());
        Ok(Self { bytes, rect, of_process: true })
    }

    /// The addresses from its first byte to its last one.
    pub(crate) fn span(&self) -> Range<usize> {
        self.bytes.address()..self.bytes.address() + self.bytes.size()
    }

    fn side(&self) -> RectSide {
        let Self { bytes, rect, of_process } = self;
        RectSide {
            address: bytes.address(),
            row_pitch: rect.row_pitch,
            slice_pitch: rect.slice_pitch,
            of_process: *of_process,
        }
    }

    /// So many rows of so many slices of it, from a row and a slice on.
    fn part(&self, first: [usize; 2], size: [usize; 2]) -> Self {
        let rect = self.rect.part(first, size);
        let (start, length) = (rect.first - self.rect.first, rect.span().len());
        Self { bytes: self.bytes.part(start..start + length), rect, of_process: self.of_process }
    }
}

/// What a command does with a region of a buffer.
pub(crate) fn access_to<'b, D: Driver>(
    name: &str,
    buffer: &'b Buffer<D>,
    rect: &Rect,
    writes: bool,
) -> Result<BufferAccess<'b, D>> {
    let span = rect.span();
    let reads = !writes || !rect.is_solid();
    let access = buffer.access(name, span.start, span.len(), reads, writes)?;
    Ok(BufferAccess::on_device(&buffer.storage, access))
}

/// A native copy between regions of one extent, or parts of them.
enum NativeCopy {
    /// Of rows and slices.
    Box(BoxCopy),
    /// Of bytes to others: a single row.
    Bytes(CommandBytes, CommandBytes),
}

impl NativeCopy {
    fn new(to: &Region, from: &Region) -> Self {
        let extent = to.rect.extent;
        if extent[1..] == [1, 1] {
            return Self::Bytes(to.bytes, from.bytes);
        }
        Self::Box(BoxCopy { to: BoxSide::Memory(to.side()), from: BoxSide::Memory(from.side()), extent })
    }
}

/// How many rows of how many slices one native copy takes: all, unless a pitch that it steps over is too wide.
fn most_at_once(to: &Rect, from: &Rect) -> [usize; 2] {
    let [_, height, depth] = to.extent;
    let is_native = |pitch: fn(&Rect) -> usize| pitch(to) <= MOST_PITCH && pitch(from) <= MOST_PITCH;
    if !is_native(|rect| rect.row_pitch) {
        [1, 1]
    } else if depth > 1 && !is_native(|rect| rect.slice_pitch) {
        [height, 1]
    } else {
        [height, depth]
    }
}

/// The native copies of a region to another.
///
/// # Panics
/// If the regions are not of one extent.
fn copies(to: &Region, from: &Region) -> impl ExactSizeIterator<Item = NativeCopy> {
    let extent = to.rect.extent;
    for region in [to, from] {
        assert!(
            region.rect.extent == extent && region.bytes.size() == region.rect.span().len(),
            "regions of one extent"
        );
    }
    let size @ [rows, slices] = most_at_once(&to.rect, &from.rect);
    let (in_slice, times) = (extent[1] / rows, extent[2] / slices);
    (0..in_slice * times).map(move |index| {
        let first = [index % in_slice, index / in_slice];
        NativeCopy::new(&to.part(first, size), &from.part(first, size))
    })
}

/// Copies between regions of one extent.
fn copy_region<D: Driver>(
    locked: &LockedBuffers<'_, '_, '_, D>,
    stream: &D::Stream,
    to: &Region,
    from: &Region,
) -> Result<()> {
    let driver = locked.device().driver;
    let _scope = locked.device().enter_for_transfer()?;
    let mut copies = copies(to, from);
    locked.count_more(copies.len() - 1);
    copies.try_for_each(|copy| match copy {
        // SAFETY: each side's rows lie in its span, whose bytes are there until the command has finished.
        NativeCopy::Box(copy) => unsafe { driver.copy_box_async(&copy, stream) },
        NativeCopy::Bytes(to, from) => command_bytes::copy(driver, stream, to, from),
    })
}

/// Adds a copy between regions of one extent to a graph, whose every launch is a command that the bytes are there for.
///
/// # Errors
/// What the native library answers.
pub(crate) fn add_region_copy<D: Driver>(graph: &mut GraphBuilder<'_, D>, to: &Region, from: &Region) -> Result<()> {
    let mut copies = copies(to, from);
    graph.fan_out(copies.len())?;
    copies.try_for_each(|copy| match copy {
        // SAFETY: as in `copy_region`.
        NativeCopy::Box(copy) => unsafe { graph.copy(&CopyNode::Box(copy)) }.map(|_| ()),
        NativeCopy::Bytes(to, from) => command_bytes::add_copy(graph, to, from),
    })
}

/// Refuses regions of one buffer that share bytes.
///
/// # Errors
/// `OVERLAPPING_REGIONS`.
pub(crate) fn check_apart<D: Driver>(
    name: &str,
    (source, from): (&Buffer<D>, &Rect),
    (target, to): (&Buffer<D>, &Rect),
) -> Result<()> {
    if !Arc::ptr_eq(&source.storage, &target.storage) {
        return Ok(());
    }
    let placed = |rect: &Rect, buffer: &Buffer<D>| Rect { first: rect.first + buffer.origin, ..*rect };
    if placed(from, source).overlaps(&placed(to, target)) { Err(overlap(name)) } else { Ok(()) }
}

/// `urEnqueueMemBufferReadRect`.
///
/// # Errors
/// As [`crate::memory_object::buffer_commands::read`] and [`Rect::new`].
pub fn read<D: Driver>(
    enqueue: Enqueue<'_, D>,
    buffer: &Object<Mem<D>>,
    blocking: bool,
    buffer_origin: ur_rect_offset_t,
    host_origin: ur_rect_offset_t,
    size: ur_rect_region_t,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    to: Address,
) -> Result<()> {
    const NAME: &str = "urEnqueueMemBufferReadRect";
    let request = enqueue.request(ur_command_t::MEM_BUFFER_READ_RECT);
    let buffer = buffer_of(&request, buffer)?;
    let sides =
        [(buffer_origin, buffer_row_pitch, buffer_slice_pitch), (host_origin, host_row_pitch, host_slice_pitch)];
    let [inside, outside] = Rect::both(NAME, size, sides)?;
    let used = access_to(NAME, buffer, &inside, false)?;
    let to = Region::of_application(NAME, to, outside)?;
    with_locked_buffers_into(&request, blocking, to.span(), &[used], move |_, stream, locked| {
        let from = Region::of_buffer(locked.prepare(0)?, inside);
        copy_region(locked, stream, &to, &from)?;
        locked.commit(0)
    })
}

/// `urEnqueueMemBufferWriteRect`.
///
/// # Errors
/// As [`read`].
pub fn write<D: Driver>(
    enqueue: Enqueue<'_, D>,
    buffer: &Object<Mem<D>>,
    blocking: bool,
    buffer_origin: ur_rect_offset_t,
    host_origin: ur_rect_offset_t,
    size: ur_rect_region_t,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    from: Address,
) -> Result<()> {
    const NAME: &str = "urEnqueueMemBufferWriteRect";
    let request = enqueue.request(ur_command_t::MEM_BUFFER_WRITE_RECT);
    let buffer = buffer_of(&request, buffer)?;
    let sides =
        [(buffer_origin, buffer_row_pitch, buffer_slice_pitch), (host_origin, host_row_pitch, host_slice_pitch)];
    let [inside, outside] = Rect::both(NAME, size, sides)?;
    let used = access_to(NAME, buffer, &inside, true)?;
    let region = Region::of_application(NAME, from, outside)?;
    with_locked_buffers_from(&request, blocking, region.span(), &[used], move |_, stream, locked| {
        let to = Region::of_buffer(locked.prepare(0)?, inside);
        copy_region(locked, stream, &to, &region)?;
        locked.commit(0)
    })
}

/// `urEnqueueMemBufferCopyRect`.
///
/// # Errors
/// As [`read`]; `OVERLAPPING_REGIONS` for regions of one buffer that share bytes.
pub fn copy<D: Driver>(
    enqueue: Enqueue<'_, D>,
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
    const NAME: &str = "urEnqueueMemBufferCopyRect";
    let request = enqueue.request(ur_command_t::MEM_BUFFER_COPY_RECT);
    let (from, to) = (buffer_of(&request, from)?, buffer_of(&request, to)?);
    let sides = [(from_origin, from_row_pitch, from_slice_pitch), (to_origin, to_row_pitch, to_slice_pitch)];
    let [read, written] = Rect::both(NAME, size, sides)?;
    let uses = [access_to(NAME, from, &read, false)?, access_to(NAME, to, &written, true)?];
    check_apart(NAME, (from, &read), (to, &written))?;
    with_locked_buffers(&request, false, &uses, move |_, stream, locked| {
        let from = Region::of_buffer(locked.prepare(0)?, read);
        let to = Region::of_buffer(locked.prepare(1)?, written);
        copy_region(locked, stream, &to, &from)?;
        locked.commit(0)?;
        locked.commit(1)
    })
}
