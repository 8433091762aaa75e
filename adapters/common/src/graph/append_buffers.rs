//! Commands on buffers in a command buffer: copy, read, write, fill.
//!
//! A node names addresses of the memory at the command buffer's device, which is made now if it is not there yet. Contents
//! are brought there at each launch ([`crate::graph::memory_uses`]), so a read or a copy takes them from there.

use std::sync::Arc;

use crate::buffer::Buffer;
use crate::buffer::command_bytes::{self, CommandBytes};
use crate::buffer::moving::Access;
use crate::command::graph::GraphBuilder;
use crate::driver::Driver;
use crate::graph::append::Append;
use crate::graph::command::Kind;
use crate::graph::command_buffer::CommandBuffer;
use crate::graph::memory_uses::{Used, foreign_memory};
use crate::memory_object::Mem;
use crate::memory_object::buffer_commands::overlap;
use crate::object::Object;
use crate::object::error::Result;
use crate::object::params::Address;
use crate::usm::fill::check_sizes;

/// A buffer that a command of a command buffer works with.
///
/// # Errors
/// `INVALID_CONTEXT` for an object of another context; `INVALID_MEM_OBJECT` for one that is no buffer.
pub fn buffer_in<'a, D: Driver>(commands: &CommandBuffer<D>, mem: &'a Object<Mem<D>>) -> Result<&'a Buffer<D>> {
    if !Arc::ptr_eq(mem.context(), &commands.context) {
        return Err(foreign_memory());
    }
    mem.buffer()
}

/// A buffer as one command uses it.
pub struct BufferUse<'a, D: Driver> {
    /// The memory object, which the command buffer keeps.
    pub mem: &'a Object<Mem<D>>,
    /// The buffer.
    pub buffer: &'a Buffer<D>,
    /// What the command does with which bytes.
    pub access: Access,
}

/// Appends a command that works with bytes of buffers; `add` is given those of each use.
///
/// # Errors
/// As [`Append::record_as`]; what the native library answers to memory that is made now.
pub fn append_over_buffers<D: Driver, const N: usize>(
    append: Append<'_, D>,
    uses: [BufferUse<'_, D>; N],
    add: impl FnOnce(&mut GraphBuilder<'_, D>, [CommandBytes; N]) -> Result<()>,
) -> Result<()> {
    let commands = append.buffer;
    let mut bytes = [CommandBytes::none(); N];
    for (bytes, used) in bytes.iter_mut().zip(&uses) {
        *bytes = used.buffer.storage.recorded_bytes(commands.state(), &used.access.range)?;
    }
    append.record_as(|graph, retained| {
        add(graph, bytes)?;
        for used in uses {
            retained.keep_memory(used.mem);
            retained.new_uses.push(Used::Bytes { storage: Arc::clone(&used.buffer.storage), access: used.access });
        }
        Ok(Kind::Fixed)
    })
}

/// `urCommandBufferAppendMemBufferCopyExp`.
///
/// # Errors
/// As [`buffer_in`] and [`append_over_buffers`]; `INVALID_SIZE` for bytes that are not all a buffer's; `OVERLAPPING_REGIONS`
/// for ranges of one buffer that share bytes.
pub fn copy<D: Driver>(
    append: Append<'_, D>,
    from: &Object<Mem<D>>,
    to: &Object<Mem<D>>,
    from_offset: usize,
    to_offset: usize,
    size: usize,
) -> Result<()> {
    const NAME: &str = "urCommandBufferAppendMemBufferCopyExp";
    let buffers = (buffer_in(append.buffer, from)?, buffer_in(append.buffer, to)?);
    let read = buffers.0.access(NAME, from_offset, size, true, false)?;
    let written = buffers.1.access(NAME, to_offset, size, false, true)?;
    let apart = read.range.end <= written.range.start || written.range.end <= read.range.start;
    if Arc::ptr_eq(&buffers.0.storage, &buffers.1.storage) && !apart {
        return Err(overlap(NAME));
    }
    let uses = [
        BufferUse { mem: from, buffer: buffers.0, access: read },
        BufferUse { mem: to, buffer: buffers.1, access: written },
    ];
    append_over_buffers(append, uses, |graph, [from, to]| command_bytes::add_copy(graph, to, from))
}

/// `urCommandBufferAppendMemBufferReadExp`.
///
/// # Errors
/// As [`copy`].
pub fn read<D: Driver>(
    append: Append<'_, D>,
    mem: &Object<Mem<D>>,
    offset: usize,
    size: usize,
    to: Address,
) -> Result<()> {
    let buffer = buffer_in(append.buffer, mem)?;
    let access = buffer.access("urCommandBufferAppendMemBufferReadExp", offset, size, true, false)?;
    append.note_write(to.addr()..to.addr().saturating_add(size));
    let to = CommandBytes::of_application(to, 0, size);
    append_over_buffers(append, [BufferUse { mem, buffer, access }], |graph, [from]| {
        command_bytes::add_copy(graph, to, from)
    })
}

/// `urCommandBufferAppendMemBufferWriteExp`.
///
/// # Errors
/// As [`copy`].
pub fn write<D: Driver>(
    append: Append<'_, D>,
    mem: &Object<Mem<D>>,
    offset: usize,
    size: usize,
    from: Address,
) -> Result<()> {
    let buffer = buffer_in(append.buffer, mem)?;
    let access = buffer.access("urCommandBufferAppendMemBufferWriteExp", offset, size, false, true)?;
    let from = CommandBytes::of_application(from, 0, size);
    append_over_buffers(append, [BufferUse { mem, buffer, access }], |graph, [to]| {
        command_bytes::add_copy(graph, to, from)
    })
}

/// `urCommandBufferAppendMemBufferFillExp`.
///
/// # Errors
/// As [`copy`]; `INVALID_SIZE` for a pattern that does not fit a whole number of times. Unlike on a queue it may have any
/// size: the specification asks for no more.
pub fn fill<D: Driver>(
    append: Append<'_, D>,
    mem: &Object<Mem<D>>,
    pattern: &[u8],
    offset: usize,
    size: usize,
) -> Result<()> {
    const NAME: &str = "urCommandBufferAppendMemBufferFillExp";
    let buffer = buffer_in(append.buffer, mem)?;
    let access = buffer.access(NAME, offset, size, false, true)?;
    check_sizes(NAME, pattern, size)?;
    append_over_buffers(append, [BufferUse { mem, buffer, access }], |graph, [to]| {
        command_bytes::add_fill(graph, to, pattern)
    })
}
