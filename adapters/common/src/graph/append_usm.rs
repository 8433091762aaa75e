//! Commands on USM memory in a command buffer: copies, fills, hints, and memory that launches allocate and free.
//!
//! Allocations are the native library's own for graphs: no pool's limit counts them, and free lists have no part in them. What a
//! launch leaves allocated is the application's to free ([`crate::context::graph_memory`]).
//!
//! Native graphs have no nodes for hints about shared memory. A hint changes no result, so it is checked as on a queue, and
//! is an empty node that later commands can come after.

use core::cell::Cell;
use core::ffi::c_void;

use ur_ffi::{ur_exp_async_usm_alloc_properties_t, ur_result_t, ur_usm_advice_flags_t, ur_usm_migration_flags_t};

use crate::buffer::command_bytes::{CommandBytes, add_fill};
use crate::command::Empty;
use crate::command::graph::GraphBuilder;
use crate::driver::Driver;
use crate::graph::append::{AllocationBefore, Append, Retained};
use crate::graph::command::Kind;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::{Address, Out};
use crate::pool::UsmPool;
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
    append.note_write(to.addr()..to.addr().saturating_add(size));
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

/// `urCommandBufferAppendUSMDeviceAllocExt`.
///
/// # Errors
/// `INVALID_USM_SIZE` for no bytes; `INVALID_CONTEXT` and `INVALID_DEVICE` for another's pool; `UNSUPPORTED_FEATURE` for one over
/// memory of the application's, and where the native library has no allocations in graphs; as [`Append::record_as`].
pub fn device_alloc<D: Driver>(
    append: Append<'_, D>,
    pool: Option<&Object<UsmPool<D>>>,
    size: usize,
    _properties: Option<&ur_exp_async_usm_alloc_properties_t>,
    out: Out<'_, *mut c_void>,
) -> Result<()> {
    const NAME: &str = "urCommandBufferAppendUSMDeviceAllocExt";
    if size == 0 {
        return Err(Error::new(ur_result_t::ERROR_INVALID_USM_SIZE, format!("{NAME}: size is 0")));
    }
    let buffer = append.buffer;
    if let Some(pool) = pool {
        pool.check_owners(NAME, &buffer.context, Some(&buffer.state().device))?;
        if pool.is_over_buffer() {
            return Err(Error::unsupported(
                "an allocation in a command buffer from a pool over the application's memory",
            ));
        }
    }
    let is_zeroed = pool.is_some_and(|pool| pool.is_zeroed());
    let (mut address, noted) = (0, Cell::new(None));
    let add = |graph: &mut GraphBuilder<'_, D>, retained: &mut Retained<D>| {
        address = graph.allocation(size)?;
        if is_zeroed {
            graph.then();
            add_fill(graph, CommandBytes::of_allocation(address, size), &[0])?;
        }
        noted.set(Some(retained.note_allocation(address, false)));
        Ok(Kind::Fixed)
    };
    append.record_or_undo(add, |retained| put_back(retained, &noted))?;
    out.write(core::ptr::with_exposed_provenance_mut(address));
    Ok(())
}

/// `urCommandBufferAppendUSMFreeExt`.
///
/// # Errors
/// `INVALID_MEM_OBJECT` for an address that no command of the buffer allocates, or that one frees already; as
/// [`Append::record_as`].
pub fn free<D: Driver>(append: Append<'_, D>, memory: Address) -> Result<()> {
    let (address, noted) = (memory.addr(), Cell::new(None));
    let add = |graph: &mut GraphBuilder<'_, D>, retained: &mut Retained<D>| {
        match retained.allocations.get(&address) {
            Some(false) => {}
            Some(true) => return Err(not_freeable(address, "is freed by a command of this command buffer already")),
            None => return Err(not_freeable(address, "was not allocated by a command of this command buffer")),
        }
        // SAFETY: an allocation of this graph, which no command of it frees yet; the application uses the memory in what the
        // free comes after alone.
        unsafe { graph.free(address) }?;
        noted.set(Some(retained.note_allocation(address, true)));
        Ok(Kind::Fixed)
    };
    append.record_or_undo(add, |retained| put_back(retained, &noted))
}

/// The command was not appended, so the buffer's account of its allocations is what it was.
#[cold]
fn put_back<D: Driver>(retained: &mut Retained<D>, noted: &Cell<Option<AllocationBefore>>) {
    if let Some(before) = noted.take() {
        retained.put_back(before);
    }
}

#[cold]
fn not_freeable(address: usize, why: &str) -> Error {
    let text = format!("urCommandBufferAppendUSMFreeExt: {address:#x} {why}");
    Error::new(ur_result_t::ERROR_INVALID_MEM_OBJECT, text)
}
