//! Buffers and sub-buffers: how they are made.
//!
//! Creation checks what can be checked without the native library and makes no device memory. Pinned memory of `ALLOC_HOST_POINTER` is made at once, since the host may use it before any device does.

use std::sync::Arc;

use parking_lot::Mutex;
use ur_ffi::{
    ur_buffer_create_type_t, ur_buffer_properties_t, ur_buffer_region_t, ur_context_handle_t, ur_mem_flags_t,
    ur_mem_handle_t, ur_result_t, ur_structure_type_t,
};

use crate::buffer::Buffer;
use crate::buffer::block::Block;
use crate::buffer::maps::Maps;
use crate::buffer::moving::MovingMemory;
use crate::buffer::storage::{Late, Memory, Storage};
use crate::context::Context;
use crate::driver::Driver;
use crate::memory_object::{ACCESS, Mem, MemBody, check_flags, check_host_flags};
use crate::object::error::{Error, Result};
use crate::object::{Object, borrow, null_pointer};

/// The host pointer that flags and properties speak of together.
///
/// # Safety
/// `properties` is null or valid, its chain too.
unsafe fn host_pointer(
    name: &str,
    flags: ur_mem_flags_t,
    properties: *const ur_buffer_properties_t,
) -> Result<*const u8> {
    // SAFETY: null or valid by the caller's promise.
    let properties = unsafe { properties.as_ref() };
    let host = properties.map_or(core::ptr::null(), |properties| properties.pHost.cast::<u8>().cast_const());
    check_host_flags(name, flags, !host.is_null())?;
    // SAFETY: as above.
    unsafe { check_chain(properties.map_or(core::ptr::null_mut(), |properties| properties.pNext)) }?;
    Ok(host)
}

/// Further properties are hints about memories that GPUs have one of.
///
/// # Safety
/// `next` is null or the first of a chain of valid structures.
unsafe fn check_chain(mut next: *mut core::ffi::c_void) -> Result<()> {
    while !next.is_null() {
        // SAFETY: every structure of a chain starts as this one does.
        let head = unsafe { &*next.cast::<ur_buffer_properties_t>().cast::<Head>() };
        match head.stype {
            ur_structure_type_t::BUFFER_CHANNEL_PROPERTIES | ur_structure_type_t::BUFFER_ALLOC_LOCATION_PROPERTIES => {}
            other => return Err(Error::unsupported(&format!("a structure of type {:#x} behind pProperties", other.0))),
        }
        next = head.next;
    }
    Ok(())
}

/// How every structure of a chain starts.
#[repr(C)]
struct Head {
    stype: ur_structure_type_t,
    next: *mut core::ffi::c_void,
}

/// `urMemBufferCreate`.
///
/// # Safety
/// The C contract: `properties` is null or valid, its host pointer readable for `size` bytes (and writable as long as
/// the buffer lives, if it is to be used), `out` writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_ENUMERATION`, `INVALID_VALUE` for flags that contradict each other,
/// `INVALID_HOST_PTR`, `INVALID_BUFFER_SIZE`, `UNSUPPORTED_FEATURE` for unknown properties; what the native library
/// answers.
pub unsafe fn create<D: Driver>(
    context: ur_context_handle_t,
    flags: ur_mem_flags_t,
    size: usize,
    properties: *const ur_buffer_properties_t,
    out: *mut ur_mem_handle_t,
) -> Result<()> {
    const NAME: &str = "urMemBufferCreate";
    // SAFETY: the caller's promise is the same.
    let context = unsafe { borrow::<Context<D>>(context) }?;
    if out.is_null() {
        return Err(null_pointer(NAME));
    }
    // SAFETY: as above.
    let host = unsafe { host_pointer(NAME, flags, properties) }?;
    let most = context.devices().map(|device| device.properties.global_memory).max().unwrap_or(0);
    if size == 0 || size as u64 > most {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_BUFFER_SIZE,
            format!("{NAME}: {size} bytes; a buffer has 1 to UR_DEVICE_INFO_MAX_MEM_ALLOC_SIZE, here {most}"),
        ));
    }
    // SAFETY: `host` is readable for `size` bytes by the caller's promise, where the flags want one.
    let memory = unsafe { memory(context, flags, size, host) }?;
    let body = MemBody::Buffer(Buffer::whole(Storage { context: context.to_arc(), size, memory }));
    let mem = Object::new(Mem { context: context.to_arc(), flags, body });
    // SAFETY: not null, so writable.
    unsafe { out.write(Object::into_handle(mem)) };
    Ok(())
}

/// The memory of a new buffer.
///
/// # Safety
/// `host` is readable for `size` bytes if the flags want a host pointer.
unsafe fn memory<D: Driver>(
    context: &Object<Context<D>>,
    flags: ur_mem_flags_t,
    size: usize,
    host: *const u8,
) -> Result<Memory<D>> {
    let copies = flags.contains(ur_mem_flags_t::ALLOC_COPY_HOST_POINTER);
    if flags.contains(ur_mem_flags_t::ALLOC_HOST_POINTER) {
        let block = Block::pinned(&context.first_state()?, size)?;
        if copies {
            let to = core::ptr::with_exposed_provenance_mut(block.address());
            // SAFETY: fresh memory of that size that the host reaches, and `host` by the caller's promise.
            unsafe { core::ptr::copy_nonoverlapping(host, to, size) };
        }
        return Ok(Memory::Fixed { block, on_host: true });
    }
    if flags.contains(ur_mem_flags_t::USE_HOST_POINTER) {
        let block = Block::of_application(host.expose_provenance());
        return Ok(Memory::Moving(MovingMemory::new(context, size, Some(block))?));
    }
    // SAFETY: `host` is readable for `size` bytes by the caller's promise.
    let copy = if copies { Some(unsafe { Block::copy_of(host, size) }?) } else { None };
    if context.devices().nth(1).is_none() {
        return Ok(Memory::Late(Late::new(copy)));
    }
    Ok(Memory::Moving(MovingMemory::new(context, size, copy)?))
}

/// `urMemBufferPartition`.
///
/// # Safety
/// The C contract: `region` is valid, `out` writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_ENUMERATION`, `INVALID_MEM_OBJECT` for a buffer that is a part itself,
/// `INVALID_VALUE` for flags that contradict the buffer's, `INVALID_BUFFER_SIZE` for a region that is empty or outside,
/// `MISALIGNED_SUB_BUFFER_OFFSET`.
pub unsafe fn partition<D: Driver>(
    buffer: ur_mem_handle_t,
    flags: ur_mem_flags_t,
    kind: ur_buffer_create_type_t,
    region: *const ur_buffer_region_t,
    out: *mut ur_mem_handle_t,
) -> Result<()> {
    const NAME: &str = "urMemBufferPartition";
    let fault = |code, text: String| Err(Error::new(code, format!("{NAME}: {text}")));
    // SAFETY: the caller's promise is the same.
    let mem = unsafe { borrow::<Mem<D>>(buffer) }?;
    let parent = mem.buffer()?;
    if kind != ur_buffer_create_type_t::REGION {
        return fault(ur_result_t::ERROR_INVALID_ENUMERATION, format!("{:#x} is no way to divide a buffer", kind.0));
    }
    // SAFETY: null or valid by the caller's promise.
    let Some(region) = (unsafe { region.as_ref() }).filter(|_| !out.is_null()) else { return Err(null_pointer(NAME)) };
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
        mem.context.devices().map(|device| device.properties.address_align_bits as usize / 8).max().unwrap_or(1);
    if !origin.is_multiple_of(align.max(1)) {
        return fault(
            ur_result_t::ERROR_MISALIGNED_SUB_BUFFER_OFFSET,
            format!("the origin {origin} is no multiple of {align}, UR_DEVICE_INFO_MEM_BASE_ADDR_ALIGN in bytes"),
        );
    }
    let storage = Arc::clone(&parent.storage);
    let part = Buffer { storage, origin, size, is_part: true, maps: Mutex::new(Maps::default()) };
    let part = Object::new(Mem { context: Arc::clone(&mem.context), flags, body: MemBody::Buffer(part) });
    // SAFETY: not null, so writable.
    unsafe { out.write(Object::into_handle(part)) };
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
