//! Commands on buffers: read, write, copy, fill.
//!
//! A read takes the bytes from where they are and moves nothing; a copy takes its source likewise. What is written is
//! current at the queue's device alone afterwards.

use core::ffi::c_void;

use ur_ffi::{CBool, ur_command_t, ur_event_handle_t, ur_mem_handle_t, ur_queue_handle_t, ur_result_t};

use crate::buffer::storage::{BufferAccess, submit_with_buffers, with_locked_buffers};
use crate::command::Request;
use crate::driver::Driver;
use crate::memory_object::buffer_of;
use crate::object::error::{Error, Result};
use crate::object::null_pointer;

/// `urEnqueueMemBufferRead`.
///
/// # Safety
/// The C contract of an enqueue; `to` is writable for `size` bytes until the command has finished.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_MEM_OBJECT`, `INVALID_CONTEXT`, `INVALID_SIZE`; as [`Request::new`]; what the native
/// library answers.
pub unsafe fn read<D: Driver>(
    queue: ur_queue_handle_t,
    buffer: ur_mem_handle_t,
    blocking: CBool,
    offset: usize,
    size: usize,
    to: *mut c_void,
    count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    const NAME: &str = "urEnqueueMemBufferRead";
    // SAFETY: the caller's promises are the same.
    let request = unsafe { Request::<D>::new(queue, ur_command_t::MEM_BUFFER_READ, count, waits, event) }?;
    // SAFETY: as above.
    let buffer = unsafe { buffer_of(&request, buffer) }?;
    if to.is_null() {
        return Err(null_pointer(NAME));
    }
    let access = buffer.access(NAME, offset, size, true, false)?;
    let storage = &*buffer.storage;
    let into_its_own = storage.host_pointer().is_some_and(|host| host + access.range.start == to.addr());
    let used = if into_its_own {
        BufferAccess::on_host(storage, access)
    } else {
        BufferAccess::anywhere(storage, access.range)
    };
    let start = used.access.range.start;
    with_locked_buffers(&request, blocking.get(), &[used], |driver, stream, locked| {
        if into_its_own {
            // The application's memory is one of the buffer's locations: bringing the bytes there is the command.
            return locked.prepare(0).map(|_| ());
        }
        let _scope = request.queue.device.enter_for_transfer()?;
        locked.read(0, |piece| {
            let to = to.addr() + (piece.range.start - start);
            // SAFETY: the piece is the buffer's, and `to` is writable for as much by the caller's promise.
            unsafe { driver.copy_async(to, piece.address, piece.range.len(), stream) }
        })
    })
}

/// `urEnqueueMemBufferWrite`.
///
/// # Safety
/// The C contract of an enqueue; `from` is readable for `size` bytes until the command has finished.
///
/// # Errors
/// As [`read`].
pub unsafe fn write<D: Driver>(
    queue: ur_queue_handle_t,
    buffer: ur_mem_handle_t,
    blocking: CBool,
    offset: usize,
    size: usize,
    from: *const c_void,
    count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    const NAME: &str = "urEnqueueMemBufferWrite";
    // SAFETY: the caller's promises are the same.
    let request = unsafe { Request::<D>::new(queue, ur_command_t::MEM_BUFFER_WRITE, count, waits, event) }?;
    // SAFETY: as above.
    let buffer = unsafe { buffer_of(&request, buffer) }?;
    if from.is_null() {
        return Err(null_pointer(NAME));
    }
    let access = buffer.access(NAME, offset, size, false, true)?;
    let storage = &*buffer.storage;
    let from_its_own = storage.host_pointer().is_some_and(|host| host + access.range.start == from.addr());
    let used = BufferAccess::on_device(storage, access);
    with_locked_buffers(&request, blocking.get(), &[used], |driver, stream, locked| {
        let to = locked.prepare(0)?;
        {
            let _scope = request.queue.device.enter_for_transfer()?;
            // SAFETY: the range is the buffer's at this device, and `from` is readable for as much by the caller's
            // promise.
            unsafe { driver.copy_async(to, from.addr(), size, stream) }?;
        }
        locked.commit(0)?;
        if from_its_own {
            locked.same_on_host(0);
        }
        Ok(())
    })
}

/// `urEnqueueMemBufferCopy`.
///
/// # Safety
/// The C contract of an enqueue.
///
/// # Errors
/// As [`read`]; `OVERLAPPING_REGIONS` for ranges of one buffer that share bytes.
pub unsafe fn copy<D: Driver>(
    queue: ur_queue_handle_t,
    source: ur_mem_handle_t,
    target: ur_mem_handle_t,
    source_offset: usize,
    target_offset: usize,
    size: usize,
    count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    const NAME: &str = "urEnqueueMemBufferCopy";
    // SAFETY: the caller's promises are the same.
    let request = unsafe { Request::<D>::new(queue, ur_command_t::MEM_BUFFER_COPY, count, waits, event) }?;
    // SAFETY: as above.
    let (source, target) = unsafe { (buffer_of(&request, source)?, buffer_of(&request, target)?) };
    let from = source.access(NAME, source_offset, size, true, false)?.range;
    let access = target.access(NAME, target_offset, size, false, true)?;
    let (source, target) = (&*source.storage, &*target.storage);
    if core::ptr::eq(source, target) && from.start < access.range.end && access.range.start < from.end {
        return Err(overlap(NAME));
    }
    let start = from.start;
    let uses = [BufferAccess::anywhere(source, from), BufferAccess::on_device(target, access)];
    with_locked_buffers(&request, false, &uses, |driver, stream, locked| {
        let to = locked.prepare(1)?;
        let _scope = request.queue.device.enter_for_transfer()?;
        locked.read(0, |piece| {
            let to = to + (piece.range.start - start);
            // SAFETY: both ranges are buffers' own, and were checked to be apart.
            unsafe { driver.copy_async(to, piece.address, piece.range.len(), stream) }
        })?;
        locked.commit(1)
    })
}

/// The error of a copy within one buffer whose ranges share bytes.
#[cold]
pub fn overlap(name: &str) -> Error {
    Error::new(ur_result_t::ERROR_OVERLAPPING_REGIONS, format!("{name}: source and destination share bytes"))
}

/// `urEnqueueMemBufferFill`.
///
/// # Safety
/// The C contract of an enqueue; `pattern` is readable for `pattern_size` bytes now.
///
/// # Errors
/// As [`read`]; `INVALID_SIZE` for a pattern whose size is no power of two, or no divisor of offset and size.
pub unsafe fn fill<D: Driver>(
    queue: ur_queue_handle_t,
    buffer: ur_mem_handle_t,
    pattern: *const c_void,
    pattern_size: usize,
    offset: usize,
    size: usize,
    count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    const NAME: &str = "urEnqueueMemBufferFill";
    // SAFETY: the caller's promises are the same.
    let request = unsafe { Request::<D>::new(queue, ur_command_t::MEM_BUFFER_FILL, count, waits, event) }?;
    // SAFETY: as above.
    let buffer = unsafe { buffer_of(&request, buffer) }?;
    if pattern.is_null() {
        return Err(null_pointer(NAME));
    }
    let access = buffer.access(NAME, offset, size, false, true)?;
    if !(pattern_size.is_power_of_two() && size.is_multiple_of(pattern_size) && offset.is_multiple_of(pattern_size)) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_SIZE,
            format!(
                "{NAME}: {size} bytes at {offset} with a pattern of {pattern_size}, which is no power of two or does not divide them"
            ),
        ));
    }
    // SAFETY: readable for `pattern_size` bytes by the caller's promise.
    let pattern = unsafe { core::slice::from_raw_parts(pattern.cast::<u8>(), pattern_size) };
    let used = BufferAccess::on_device(&buffer.storage, access);
    submit_with_buffers(&request, false, &[used], |driver, stream, addresses| {
        let _scope = request.queue.device.enter_for_transfer()?;
        // SAFETY: the range is the buffer's at this device.
        unsafe { crate::usm::fill::fill(driver, stream, addresses[0], pattern, size) }
    })
}
