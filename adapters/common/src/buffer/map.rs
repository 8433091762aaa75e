//! `urEnqueueMemBufferMap` and `urEnqueueMemUnmap`.
//!
//! A buffer that uses the application's memory, or that lies in host memory, is mapped where it lies. Any other gets
//! pinned memory ([`crate::device::native_context::staging`]) for each map, which goes back once the copy out of it has finished. What is mapped is
//! known to the buffer until it is unmapped. No native call is made while the table of maps is locked.

use core::ffi::c_void;
use core::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;
use ur_ffi::{
    CBool, UR_MAP_FLAGS_MASK, ur_command_t, ur_event_handle_t, ur_map_flags_t, ur_mem_handle_t, ur_queue_handle_t,
    ur_result_t,
};

use crate::buffer::commands::buffer_of;
use crate::buffer::migration::Access;
use crate::buffer::storage::{Storage, submit_with_buffers, with_locked_buffers};
use crate::command::Request;
use crate::device::deferred;
use crate::device::event_pool::PooledEvent;
use crate::device::native_context::staging::Piece;
use crate::driver::Driver;
use crate::object::error::{Error, Result};
use crate::object::{known_flags, null_pointer};

/// Pinned memory for one map. The copies from and to it are waited for before it serves another.
struct Staging<D: Driver> {
    /// Always there until it is dropped.
    piece: Option<Piece<D>>,
    last: Option<Arc<PooledEvent<D>>>,
}

impl<D: Driver> Staging<D> {
    fn address(&self) -> usize {
        self.piece.as_ref().map_or(0, Piece::address)
    }

    fn is_idle(&self) -> bool {
        let done = |marker: &Arc<PooledEvent<D>>| marker.native_context().driver.event_is_complete(marker.raw());
        // What cannot be asked is waited for when it goes.
        self.last.as_ref().is_none_or(|marker| done(marker).unwrap_or(false))
    }
}

impl<D: Driver> Drop for Staging<D> {
    fn drop(&mut self) {
        let (piece, last) = (self.piece.take(), self.last.take());
        let Some(marker) = last else { return };
        deferred::wait(move || {
            // What cannot be waited for belongs to a lost device.
            let _ = marker.native_context().driver.synchronize_event(marker.raw());
            drop(piece);
        });
    }
}

/// What is mapped, where.
struct Map<D: Driver> {
    pointer: usize,
    range: Range<usize>,
    writes: bool,
    staging: Option<Staging<D>>,
}

/// A buffer's maps, and memory of former ones that copies still read.
pub struct Maps<D: Driver> {
    open: Vec<Map<D>>,
    retired: Vec<Staging<D>>,
}

impl<D: Driver> Default for Maps<D> {
    fn default() -> Self {
        Self { open: Vec::new(), retired: Vec::new() }
    }
}

impl<D: Driver> Maps<D> {
    /// Takes out the map at an address; of several one that writes, since a map that only reads may stay beside the
    /// device's work.
    fn take(&mut self, pointer: usize) -> Option<Map<D>> {
        let of = |writes: bool| move |map: &Map<D>| map.pointer == pointer && (map.writes || !writes);
        let index = self.open.iter().position(of(true)).or_else(|| self.open.iter().position(of(false)))?;
        Some(self.open.swap_remove(index))
    }
}

/// Lets go of former maps' memory that nothing uses any more. The table is unlocked while the library is asked and memory
/// goes.
fn let_go_of_idle<D: Driver>(maps: &Mutex<Maps<D>>) {
    let retired = core::mem::take(&mut maps.lock().retired);
    if retired.is_empty() {
        return;
    }
    let (mut idle, busy): (Vec<_>, Vec<_>) = retired.into_iter().partition(Staging::is_idle);
    maps.lock().retired.extend(busy);
    // The end of what still used it was seen just now.
    idle.iter_mut().for_each(|staging| staging.last = None);
}

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
    let_go_of_idle(&buffer.maps);
    let storage = &*buffer.storage;
    let range = access.range.clone();
    let (pointer, staging) = if let Some(address) = storage.shared_with_host() {
        submit_with_buffers(&request, blocking.get(), &[], |_, _, _| Ok(()))?;
        (address + range.start, None)
    } else if let Some(address) = storage.host_pointer() {
        with_locked_buffers(&request, blocking.get(), [storage], |_, _, locked| {
            locked.prepare_on_host(storage, &access)
        })?;
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
    let mut staging = Staging { piece: Some(Piece::new(&device.native, access.range.len())?), last: None };
    let address = staging.address();
    with_locked_buffers(request, blocking, [storage], |driver, stream, locked| {
        if !access.reads {
            return Ok(());
        }
        let _scope = device.enter_for_transfer()?;
        let copied = locked.read(storage, &access.range, |piece| {
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
    let access = Access { range: map.range.clone(), reads: false, writes: map.writes };
    let done = match &mut map.staging {
        Some(staging) if map.writes => write_back(&request, staging, storage, &access),
        None if map.writes => {
            with_locked_buffers(&request, false, [storage], |_, _, locked| locked.commit_on_host(storage, &access))
        }
        _ => submit_with_buffers(&request, false, &[], |_, _, _| Ok(())),
    };
    {
        let mut maps = buffer.maps.lock();
        match (&done, map.staging) {
            (Ok(()), staging) => maps.retired.extend(staging),
            (Err(_), staging) => maps.open.push(Map { staging, ..map }),
        }
    }
    let_go_of_idle(&buffer.maps);
    done
}

fn write_back<D: Driver>(
    request: &Request<'_, D>,
    staging: &mut Staging<D>,
    storage: &Storage<D>,
    access: &Access,
) -> Result<()> {
    let (from, size) = (staging.address(), access.range.len());
    with_locked_buffers(request, false, [storage], |driver, stream, locked| {
        let to = locked.prepare(storage, access)?;
        {
            let _scope = request.queue.device.enter_for_transfer()?;
            // SAFETY: the buffer's range at this device, and memory as long that lives until its last copy is over.
            unsafe { driver.copy_async(to, from, size, stream) }?;
        }
        staging.last = locked.record_marker()?;
        locked.commit(storage, access)
    })
}
