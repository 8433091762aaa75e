//! `urDeviceWaitExp`: waits for everything a device was given, on any queue of any context.
//!
//! A device without a native context has nothing to do; asking it would start one.

use crate::object::Object;

use crate::device::Device;
use crate::driver::Driver;
use crate::object::error::Result;

/// `urDeviceWaitExp`.
///
/// # Errors
/// As [`borrow`]; what the native library answers.
pub fn wait<D: Driver>(device: &Object<Device<D>>) -> Result<()> {
    // Held, so that the last context cannot go meanwhile.
    let Some(native) = device.home.get() else { return Ok(()) };
    let _scope = native.enter()?;
    native.driver.synchronize_context()
}
