//! `urEnqueueMemBufferMap` and `urEnqueueMemUnmap`.
//!
//! A buffer that uses the application's memory, or that lies in host memory, is mapped where it lies. Any other gets
//! pinned memory ([`crate::stream::staging`]) for each map ([`crate::buffer::maps`]).

use core::ffi::c_void;

use ur_ffi::{ur_command_t, ur_map_flags_t, ur_result_t};

use crate::buffer::Buffer;
use crate::buffer::command_bytes::{self, CommandBytes};
use crate::buffer::maps::Map;
use crate::buffer::moving::Access;
use crate::buffer::storage::{BufferAccess, Storage, submit_with_buffers, with_locked_buffers};
use crate::command::{Enqueue, Request};
use crate::driver::Driver;
use crate::memory_object::{Mem, buffer_of};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::{Address, Out};
use crate::stream::staging::Staging;

/// `urEnqueueMemBufferMap`.
///
/// # Errors
/// `INVALID_MEM_OBJECT`, `INVALID_CONTEXT`; `INVALID_VALUE` for flags that contradict each other, `INVALID_SIZE`; what
/// the native library answers.
pub fn map<D: Driver>(
    enqueue: Enqueue<'_, D>,
    buffer: &Object<Mem<D>>,
    blocking: bool,
    flags: ur_map_flags_t,
    offset: usize,
    size: usize,
    out: Out<'_, *mut c_void>,
) -> Result<()> {
    const NAME: &str = "urEnqueueMemBufferMap";
    let request = enqueue.request(ur_command_t::MEM_BUFFER_MAP);
    request.refuse_in_capture(NAME)?;
    let buffer = buffer_of(&request, buffer)?;
    let overwrites = flags.contains(ur_map_flags_t::WRITE_INVALIDATE_REGION);
    if overwrites && flags.intersects(ur_map_flags_t::READ | ur_map_flags_t::WRITE) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{NAME}: {flags:?} contradict each other; what is invalidated is neither read nor kept"),
        ));
    }
    let access = buffer.access(NAME, offset, size, !overwrites, flags != ur_map_flags_t::READ)?;
    let storage = &*buffer.storage;
    let range = access.range.clone();
    let (pointer, staging) = if let Some(address) = storage.shared_with_host() {
        submit_with_buffers(&request, blocking, &[], |_, _, _| Ok(()))?;
        (address + range.start, None)
    } else if let Some(address) = storage.host_pointer() {
        let used = BufferAccess::on_host(storage, access.clone());
        with_locked_buffers(&request, blocking, &[used], |_, _, locked| locked.prepare(0).map(|_| ()))?;
        (address + range.start, None)
    } else {
        let staging = staged(&request, blocking, buffer, &access)?;
        (staging.address(), Some(staging))
    };
    buffer.maps().add(Map { pointer, range, writes: access.writes, staging });
    out.write_address(pointer);
    Ok(())
}

/// Pinned memory that nothing else uses, with the bytes in it if they are wanted.
fn staged<D: Driver>(
    request: &Request<'_, D>,
    blocking: bool,
    buffer: &Buffer<D>,
    access: &Access,
) -> Result<Staging<D>> {
    let queue = request.queue;
    let device = &queue.device;
    // What the host may write at once must be nobody's. A queue out of order has not chosen a stream yet.
    let stream = (access.reads && queue.is_in_order()).then(|| queue.first());
    let mut staging = buffer.maps().staging.take(&device.native, stream, access.range.len())?;
    let used = BufferAccess::anywhere(&buffer.storage, access.range.clone());
    with_locked_buffers(request, blocking, &[used], |_, _, locked| {
        if !access.reads {
            return Ok(());
        }
        let _scope = device.enter_for_transfer()?;
        // Of several copies some may be on the stream when one fails.
        locked.note_use(&mut staging);
        locked.copy_to(CommandBytes::of_staging(&staging), 0)
    })?;
    Ok(staging)
}

/// `urEnqueueMemUnmap`.
///
/// # Errors
/// `INVALID_MEM_OBJECT`, `INVALID_CONTEXT`; `INVALID_VALUE` for an address that no map of this object gave; what the
/// native library answers: the map is still there then.
pub fn unmap<D: Driver>(enqueue: Enqueue<'_, D>, mem: &Object<Mem<D>>, pointer: Address) -> Result<()> {
    let request = enqueue.request(ur_command_t::MEM_UNMAP);
    request.refuse_in_capture("urEnqueueMemUnmap")?;
    let buffer = buffer_of(&request, mem)?;
    let taken = buffer.maps().take(pointer.addr());
    let mut map = taken.ok_or_else(|| {
        let text = format!("urEnqueueMemUnmap: no map of this object gave {:p}", pointer.as_ptr());
        Error::new(ur_result_t::ERROR_INVALID_VALUE, text)
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
    match (&done, map.staging) {
        (Ok(()), Some(staging)) => buffer.maps().staging.put(staging),
        (Ok(()), None) => {}
        (Err(_), staging) => buffer.maps().add(Map { staging, ..map }),
    }
    done
}

fn write_back<D: Driver>(
    request: &Request<'_, D>,
    staging: &mut Staging<D>,
    storage: &Storage<D>,
    access: Access,
) -> Result<()> {
    let used = BufferAccess::on_device(storage, access);
    with_locked_buffers(request, false, &[used], |driver, stream, locked| {
        let to = locked.prepare(0)?;
        {
            let _scope = request.queue.device.enter_for_transfer()?;
            locked.note_use(staging);
            command_bytes::copy(driver, stream, to, CommandBytes::of_staging(staging))?;
        }
        locked.commit(0)
    })
}
