//! Buffers and sub-buffers: how they are made.
//!
//! Creation checks what can be checked without the native library and makes no device memory. Pinned memory of
//! `ALLOC_HOST_POINTER` is made at once, since the host may use it before any device does.

use std::sync::Arc;

use ur_ffi::{
    ur_buffer_create_type_t, ur_buffer_properties_t, ur_buffer_region_t, ur_mem_flags_t, ur_mem_handle_t, ur_result_t,
    ur_structure_type_t,
};

use crate::buffer::Buffer;
use crate::buffer::block::Block;
use crate::buffer::moving::MovingMemory;
use crate::buffer::storage::{Late, Memory, Storage};
use crate::context::Context;
use crate::driver::Driver;
use crate::memory_object::{ACCESS, Mem, MemBody, check_flags, check_host_flags};
use crate::object::Object;
use crate::object::chain::Chained;
use crate::object::error::{Error, Result};
use crate::object::params::Out;

/// Refuses properties that the adapter does not know. Those that it knows are hints about memories that GPUs have one of.
fn check_chain(name: &'static str, properties: Chained<'_, ur_buffer_properties_t>) -> Result<()> {
    for link in properties.chain(name) {
        match link?.stype() {
            ur_structure_type_t::BUFFER_CHANNEL_PROPERTIES | ur_structure_type_t::BUFFER_ALLOC_LOCATION_PROPERTIES => {}
            other => return Err(Error::unsupported(&format!("a structure of type {:#x} behind pProperties", other.0))),
        }
    }
    Ok(())
}

/// `urMemBufferCreate`.
///
/// # Errors
/// `INVALID_VALUE` for flags that contradict each other, `INVALID_HOST_PTR`, `INVALID_BUFFER_SIZE`, `UNSUPPORTED_FEATURE`
/// for unknown properties; what the native library answers.
pub fn create<D: Driver>(
    context: &Object<Context<D>>,
    flags: ur_mem_flags_t,
    size: usize,
    properties: Option<Chained<'_, ur_buffer_properties_t>>,
    out: Out<'_, ur_mem_handle_t>,
) -> Result<()> {
    const NAME: &str = "urMemBufferCreate";
    let host = properties.filter(|properties| !properties.pHost.is_null());
    check_host_flags(NAME, flags, host.is_some())?;
    if let Some(properties) = properties {
        check_chain("urMemBufferCreate: pProperties", properties)?;
    }
    let most = context.devices().map(|device| device.properties.global_memory).max().unwrap_or(0);
    if size == 0 || size as u64 > most {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_BUFFER_SIZE,
            format!("{NAME}: {size} bytes; a buffer has 1 to UR_DEVICE_INFO_MAX_MEM_ALLOC_SIZE, here {most}"),
        ));
    }
    let memory = memory(context, flags, size, host.as_deref())?;
    let body = MemBody::Buffer(Buffer::whole(Storage::new(context.to_arc(), size, memory)));
    out.write_new(Mem { flags, body });
    Ok(())
}

/// The bytes that a buffer begins with, none without a host pointer.
fn contents(host: &ur_buffer_properties_t, size: usize) -> &[u8] {
    if host.pHost.is_null() {
        return &[];
    }
    // SAFETY: the structure is the application's, checked, so its host pointer is readable for the buffer's size.
    unsafe { core::slice::from_raw_parts(host.pHost.cast(), size) }
}

/// The memory of a new buffer. `host` has a host pointer, if the flags want one.
fn memory<D: Driver>(
    context: &Object<Context<D>>,
    flags: ur_mem_flags_t,
    size: usize,
    host: Option<&ur_buffer_properties_t>,
) -> Result<Memory<D>> {
    let copied = host.filter(|_| flags.contains(ur_mem_flags_t::ALLOC_COPY_HOST_POINTER));
    let copied = copied.map(|host| contents(host, size));
    if flags.contains(ur_mem_flags_t::ALLOC_HOST_POINTER) {
        let state = context.first_state()?;
        let block = match copied {
            Some(bytes) => Block::pinned_copy_of(&state, bytes)?,
            None => Block::pinned(&state, size)?,
        };
        return Ok(Memory::Fixed { block, on_host: true });
    }
    if let Some(host) = host.filter(|_| flags.contains(ur_mem_flags_t::USE_HOST_POINTER)) {
        let block = Block::of_application(host.pHost.expose_provenance());
        return Ok(Memory::Moving(Box::new(MovingMemory::new(context, size, Some(block))?)));
    }
    let copy = copied.map(Block::copy_of).transpose()?;
    if context.devices().nth(1).is_none() {
        return Ok(Memory::Late(Late::new(copy)));
    }
    Ok(Memory::Moving(Box::new(MovingMemory::new(context, size, copy)?)))
}

/// `urMemBufferPartition`.
///
/// # Errors
/// `INVALID_MEM_OBJECT` for a buffer that is a part itself, `INVALID_VALUE` for flags that contradict the buffer's,
/// `INVALID_BUFFER_SIZE` for a region that is empty or outside, `MISALIGNED_SUB_BUFFER_OFFSET`.
pub fn partition<D: Driver>(
    mem: &Object<Mem<D>>,
    flags: ur_mem_flags_t,
    _kind: ur_buffer_create_type_t,
    region: &ur_buffer_region_t,
    out: Out<'_, ur_mem_handle_t>,
) -> Result<()> {
    const NAME: &str = "urMemBufferPartition";
    let fault = |code, text: String| Err(Error::new(code, format!("{NAME}: {text}")));
    let parent = mem.buffer()?;
    if parent.is_part {
        return fault(ur_result_t::ERROR_INVALID_MEM_OBJECT, "a sub-buffer cannot be divided again".to_owned());
    }
    let flags = part_flags(NAME, mem.flags, flags)?;
    let (origin, size) = (region.origin, region.size);
    if size == 0 {
        return fault(ur_result_t::ERROR_INVALID_BUFFER_SIZE, "the region is empty".to_owned());
    }
    if origin.checked_add(size).is_none_or(|end| end > parent.size) {
        let text = format!("{size} bytes at {origin} of a buffer of {} bytes", parent.size);
        return fault(ur_result_t::ERROR_INVALID_BUFFER_SIZE, text);
    }
    let align =
        mem.context().devices().map(|device| device.properties.address_align_bits as usize / 8).max().unwrap_or(1);
    if !origin.is_multiple_of(align.max(1)) {
        return fault(
            ur_result_t::ERROR_MISALIGNED_SUB_BUFFER_OFFSET,
            format!("the origin {origin} is no multiple of {align}, UR_DEVICE_INFO_MEM_BASE_ADDR_ALIGN in bytes"),
        );
    }
    let storage = Arc::clone(&parent.storage);
    let part = Buffer::part(storage, origin, size, true);
    out.write_new(Mem { flags, body: MemBody::Buffer(part) });
    Ok(())
}

/// A part's flags: its own access if it has one, within the buffer's; where the storage comes from is the buffer's.
fn part_flags(name: &str, whole: ur_mem_flags_t, part: ur_mem_flags_t) -> Result<ur_mem_flags_t> {
    check_flags(name, part)?;
    let (outer, inner) = (whole & ACCESS, part & ACCESS);
    let narrows = inner.is_empty() || outer.is_empty() || outer == inner || outer.contains(ur_mem_flags_t::READ_WRITE);
    if !narrows || part != inner {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{name}: a part's {part:?} do not go with its buffer's {whole:?}; give an access that it has"),
        ));
    }
    Ok(if inner.is_empty() { whole } else { (whole - ACCESS) | inner })
}
