//! `urDeviceWaitExp`: waits for everything a device was given, on any queue of any context.
//!
//! A device without a native context has nothing to do; asking it would start one.

use ur_ffi::ur_device_handle_t;

use crate::device::Device;
use crate::driver::Driver;
use crate::object::borrow;
use crate::object::error::Result;

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
    // Held, so that the last context cannot go meanwhile.
    let Some(native) = device.home.get() else { return Ok(()) };
    let _scope = native.enter()?;
    native.driver.synchronize_place()
}
