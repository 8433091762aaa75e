//! `urEnqueueMemBufferMap` and `urEnqueueMemUnmap`.
//!
//! A buffer that uses the application's memory, or that lies in host memory, is mapped where it lies. Any other gets
//! pinned memory ([`crate::device::native_context::staging`]) for each map ([`crate::buffer::maps`]).

use core::ffi::c_void;

use ur_ffi::{
    CBool, UR_MAP_FLAGS_MASK, ur_command_t, ur_event_handle_t, ur_map_flags_t, ur_mem_handle_t, ur_queue_handle_t,
    ur_result_t,
};

use crate::buffer::maps::{Map, Staging, release_idle};
use crate::buffer::moving::Access;
use crate::buffer::storage::{BufferAccess, Storage, submit_with_buffers, with_locked_buffers};
use crate::command::Request;
use crate::device::native_context::staging::Piece;
use crate::driver::Driver;
use crate::memory_object::buffer_of;
use crate::object::error::{Error, Result};
use crate::object::{known_flags, null_pointer};

/// `urEnqueueMemBufferMap`.
///
/// # Safety
/// The C contract of an enqueue; `out` is writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_ENUMERATION` for unknown flags, `INVALID_VALUE` for flags that contradict each
/// other, `INVALID_SIZE`; as [`Request::new`]; what the native library answers.
pub unsafe fn map<D: Driver>(
    queue: ur_queue_handle_t,
    buffer: ur_mem_handle_t,
    blocking: CBool,
    flags: ur_map_flags_t,
    offset: usize,
    size: usize,
    count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
    out: *mut *mut c_void,
) -> Result<()> {
    const NAME: &str = "urEnqueueMemBufferMap";
    // SAFETY: the caller's promises are the same.
    let request = unsafe { Request::<D>::new(queue, ur_command_t::MEM_BUFFER_MAP, count, waits, event) }?;
    // SAFETY: as above.
    let buffer = unsafe { buffer_of(&request, buffer) }?;
    if out.is_null() {
        return Err(null_pointer(NAME));
    }
    known_flags(NAME, flags.bits(), UR_MAP_FLAGS_MASK)?;
    let overwrites = flags.contains(ur_map_flags_t::WRITE_INVALIDATE_REGION);
    if overwrites && flags.intersects(ur_map_flags_t::READ | ur_map_flags_t::WRITE) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{NAME}: {flags:?} contradict each other; what is invalidated is neither read nor kept"),
        ));
    }
    let access = buffer.access(NAME, offset, size, !overwrites, flags != ur_map_flags_t::READ)?;
    release_idle(&buffer.maps);
    let storage = &*buffer.storage;
    let range = access.range.clone();
    let (pointer, staging) = if let Some(address) = storage.shared_with_host() {
        submit_with_buffers(&request, blocking.get(), &[], |_, _, _| Ok(()))?;
        (address + range.start, None)
    } else if let Some(address) = storage.host_pointer() {
        let used = BufferAccess::on_host(storage, access.clone());
        with_locked_buffers(&request, blocking.get(), &[used], |_, _, locked| locked.prepare(0).map(|_| ()))?;
        (address + range.start, None)
    } else {
        let staging = staged(&request, blocking.get(), storage, &access)?;
        (staging.address(), Some(staging))
    };
    buffer.maps.lock().open.push(Map { pointer, range, writes: access.writes, staging });
    // SAFETY: not null, so writable.
    unsafe { out.write(core::ptr::with_exposed_provenance_mut(pointer)) };
    Ok(())
}

/// Pinned memory that nothing else uses, with the bytes in it if they are wanted.
fn staged<D: Driver>(
    request: &Request<'_, D>,
    blocking: bool,
    storage: &Storage<D>,
    access: &Access,
) -> Result<Staging<D>> {
    let device = &request.queue.device;
    let mut staging = Staging::new(Piece::new(&device.native, access.range.len())?);
    let address = staging.address();
    let used = BufferAccess::anywhere(storage, access.range.clone());
    with_locked_buffers(request, blocking, &[used], |driver, stream, locked| {
        if !access.reads {
            return Ok(());
        }
        let _scope = device.enter_for_transfer()?;
        let copied = locked.read(0, |piece| {
            let to = address + (piece.range.start - access.range.start);
            // SAFETY: the piece is the buffer's; the memory is as long as the range and lives until its last copy is over.
            unsafe { driver.copy_async(to, piece.address, piece.range.len(), stream) }
        });
        staging.last = locked.record_marker()?;
        copied
    })?;
    Ok(staging)
}

/// `urEnqueueMemUnmap`.
///
/// # Safety
/// The C contract of an enqueue.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_VALUE` for an address that no map of this object gave; as [`Request::new`]; what the
/// native library answers: the map is still there then.
pub unsafe fn unmap<D: Driver>(
    queue: ur_queue_handle_t,
    mem: ur_mem_handle_t,
    pointer: *mut c_void,
    count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    const NAME: &str = "urEnqueueMemUnmap";
    // SAFETY: the caller's promises are the same.
    let request = unsafe { Request::<D>::new(queue, ur_command_t::MEM_UNMAP, count, waits, event) }?;
    // SAFETY: as above.
    let buffer = unsafe { buffer_of(&request, mem) }?;
    if pointer.is_null() {
        return Err(null_pointer(NAME));
    }
    let taken = buffer.maps.lock().take(pointer.addr());
    let mut map = taken.ok_or_else(|| {
        Error::new(ur_result_t::ERROR_INVALID_VALUE, format!("{NAME}: no map of this object gave {pointer:p}"))
    })?;
    let storage = &*buffer.storage;
    let writes = map.writes;
    let access = Access { range: map.range.clone(), reads: false, writes };
    let done = match &mut map.staging {
        Some(staging) if writes => write_back(&request, staging, storage, access),
        None if writes => {
            let used = BufferAccess::on_host(storage, access);
            with_locked_buffers(&request, false, &[used], |_, _, locked| locked.commit(0))
        }
        _ => submit_with_buffers(&request, false, &[], |_, _, _| Ok(())),
    };
    let mut maps = buffer.maps.lock();
    match (&done, map.staging) {
        (Ok(()), staging) => maps.retired.extend(staging),
        (Err(_), staging) => maps.open.push(Map { staging, ..map }),
    }
    drop(maps);
    if !writes {
        // What was read may be over. A copy that has just begun is asked about with the next map.
        release_idle(&buffer.maps);
    }
    done
}

fn write_back<D: Driver>(
    request: &Request<'_, D>,
    staging: &mut Staging<D>,
    storage: &Storage<D>,
    access: Access,
) -> Result<()> {
    let (from, size) = (staging.address(), access.range.len());
    let used = BufferAccess::on_device(storage, access);
    with_locked_buffers(request, false, &[used], |driver, stream, locked| {
        let to = locked.prepare(0)?;
        {
            let _scope = request.queue.device.enter_for_transfer()?;
            // SAFETY: the buffer's range at this device, and memory as long that lives until its last copy is over.
            unsafe { driver.copy_async(to, from, size, stream) }?;
        }
        staging.last = locked.record_marker()?;
        locked.commit(0)
    })
}
