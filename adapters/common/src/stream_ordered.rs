//! Stream-ordered allocation: memory that comes and goes as commands of a queue.
//!
//! Blocks come from the device's default native pool; the pool's own rules order reuse, so nothing is kept
//! here.

use core::ffi::c_void;

use ur_ffi::{
    UR_EXP_ASYNC_USM_ALLOC_FLAGS_MASK, ur_command_t, ur_event_handle_t, ur_exp_async_usm_alloc_properties_t,
    ur_queue_handle_t, ur_result_t, ur_usm_pool_handle_t,
};

use crate::driver::{Driver, MemoryKind};
use crate::enqueue::{Request, submit};
use crate::error::{Error, Result};
use crate::object::{known_flags, null_pointer};

/// `urEnqueueUSMDeviceAllocExp`. The pointer is valid at once; memory behind it belongs to later work of the
/// queue, or to work that waits for the event.
///
/// # Safety
/// The C contract of an enqueue; `out` is writable, `properties` null or valid.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_USM_SIZE` for size 0, `INVALID_ENUMERATION` for unknown flags,
/// `UNSUPPORTED_FEATURE` for a pool handle or a device without pools, `OUT_OF_DEVICE_MEMORY`.
pub unsafe fn device_alloc<D: Driver>(
    queue: ur_queue_handle_t,
    pool: ur_usm_pool_handle_t,
    size: usize,
    properties: *const ur_exp_async_usm_alloc_properties_t,
    count: u32,
    waits: *const ur_event_handle_t,
    out: *mut *mut c_void,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    const NAME: &str = "urEnqueueUSMDeviceAllocExp";
    // SAFETY: the caller's promises are the same.
    let request = unsafe { Request::<D>::new(queue, ur_command_t::ENQUEUE_USM_DEVICE_ALLOC_EXP, count, waits, event) }?;
    if out.is_null() {
        return Err(null_pointer(NAME));
    }
    if !pool.is_null() {
        return Err(Error::unsupported("allocation from a USM pool"));
    }
    if size == 0 {
        return Err(Error::new(ur_result_t::ERROR_INVALID_USM_SIZE, format!("{NAME}: size is 0")));
    }
    // SAFETY: null or valid by the caller's promise.
    if let Some(properties) = unsafe { properties.as_ref() } {
        known_flags(NAME, properties.flags.bits(), UR_EXP_ASYNC_USM_ALLOC_FLAGS_MASK)?;
    }
    let native = request.queue.device.default_pool()?;
    let pointer = submit(&request, |driver, stream| {
        once_more_after(|| driver.allocate_from_pool(native, size, stream), || driver.trim_pool(native))
    })?;
    // SAFETY: not null, so writable.
    unsafe { out.write(core::ptr::with_exposed_provenance_mut(pointer)) };
    Ok(())
}

/// An allocation that is tried again, once, after what the pool keeps went back to the device: a pool may hold
/// free blocks of sizes that do not fit, and the device then has nothing left though much is free.
fn once_more_after(allocate: impl Fn() -> Result<usize>, trim: impl FnOnce() -> Result<()>) -> Result<usize> {
    match allocate() {
        Err(error) if error.code() == ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY => match trim() {
            Ok(()) => allocate(),
            Err(_) => Err(error),
        },
        other => other,
    }
}

/// `urEnqueueUSMFreeExp`. Plain device memory is taken too, as the native library does.
///
/// # Safety
/// The C contract of an enqueue; work that uses the memory is earlier on the queue or in the wait list.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_MEM_OBJECT` for a pointer that is not the start of live device memory;
/// `UNSUPPORTED_FEATURE` for a pool handle.
pub unsafe fn free<D: Driver>(
    queue: ur_queue_handle_t,
    pool: ur_usm_pool_handle_t,
    memory: *mut c_void,
    count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    const NAME: &str = "urEnqueueUSMFreeExp";
    // SAFETY: the caller's promises are the same.
    let request = unsafe { Request::<D>::new(queue, ur_command_t::ENQUEUE_USM_FREE_EXP, count, waits, event) }?;
    if memory.is_null() {
        return Err(null_pointer(NAME));
    }
    if !pool.is_null() {
        return Err(Error::unsupported("release into a USM pool"));
    }
    // The native library takes a block's second free without a word, so the pointer is looked at first.
    let info = request.queue.device.driver.pointer_info(memory.addr())?;
    if !info.is_some_and(|info| info.base == memory.addr() && info.kind != MemoryKind::Host) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_MEM_OBJECT,
            format!("{NAME}: {memory:p} is not the start of live device memory"),
        ));
    }
    submit(&request, |driver, stream| driver.free_async(memory.addr(), stream))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn full() -> Error {
        Error::code_only(ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY)
    }

    /// What comes of allocations that answer these one after the other, and how often was trimmed.
    fn tried(answers: &[Result<usize>], trimmed: Result<()>) -> (Result<usize>, usize, usize) {
        let (calls, trims) = (Cell::new(0), Cell::new(0));
        let result = once_more_after(
            || answers[calls.replace(calls.get() + 1)].clone(),
            || {
                trims.set(trims.get() + 1);
                trimmed
            },
        );
        (result, calls.get(), trims.get())
    }

    #[test]
    fn memory_that_is_there_is_taken_without_a_trim() {
        let (result, calls, trims) = tried(&[Ok(7)], Ok(()));
        assert_eq!((result.unwrap(), calls, trims), (7, 1, 0));
    }

    #[test]
    fn out_of_memory_is_tried_once_more_after_a_trim() {
        let (result, calls, trims) = tried(&[Err(full()), Ok(7)], Ok(()));
        assert_eq!((result.unwrap(), calls, trims), (7, 2, 1));
        let (result, calls, trims) = tried(&[Err(full()), Err(full())], Ok(()));
        assert_eq!((result.unwrap_err().code(), calls, trims), (ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY, 2, 1));
    }

    #[test]
    fn a_trim_that_fails_leaves_the_first_error() {
        let lost = Error::code_only(ur_result_t::ERROR_DEVICE_LOST);
        let (result, calls, _) = tried(&[Err(full())], Err(lost));
        assert_eq!((result.unwrap_err().code(), calls), (ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY, 1));
    }

    #[test]
    fn any_other_failure_is_not_tried_again() {
        let (result, calls, trims) = tried(&[Err(Error::unsupported("memory"))], Ok(()));
        assert_eq!((result.unwrap_err().code(), calls, trims), (ur_result_t::ERROR_UNSUPPORTED_FEATURE, 1, 0));
    }
}
