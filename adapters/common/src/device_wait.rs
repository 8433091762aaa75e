//! `urDeviceWaitExp`: waits for everything a device was given, on any queue of any context.
//!
//! A device that no context uses has nothing to do; asking it would start its native context.

use std::sync::atomic::Ordering;

use ur_ffi::{ur_device_handle_t, ur_result_t};

use crate::adapter;
use crate::device::Device;
use crate::driver::Driver;
use crate::error::Result;
use crate::object::borrow;
use crate::place::Scope;

/// `urDeviceWaitExp`.
///
/// # Safety
/// The handle is the C contract's.
///
/// # Errors
/// As [`borrow`]; what the native library answers.
pub unsafe fn wait<D: Driver>(device: ur_device_handle_t) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    let device = unsafe { borrow::<Device<D>>(device) }?;
    if device.states.load(Ordering::Acquire) == 0 {
        return Ok(());
    }
    let driver = adapter::driver::<D>()?;
    // Kept, so that the last context cannot go meanwhile.
    let place = driver.retain_place(device.raw).map_err(|error| match error.code() {
        // This process has it already, so nobody else has taken it.
        ur_result_t::ERROR_DEVICE_NOT_AVAILABLE => error.with_code(ur_result_t::ERROR_DEVICE_LOST),
        _ => error,
    })?;
    let waited = Scope::enter(driver, place).and_then(|_scope| driver.synchronize_place());
    // The native context lives on in its other users; of a lost device it cannot be released.
    let released = driver.release_place(device.raw);
    waited.and(released)
}
