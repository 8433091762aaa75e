//! `urDeviceWaitExp`: waits for everything a device was given, on any queue of any context.
//!
//! A device without a native context has nothing to do; asking it would start one.

use std::sync::atomic::Ordering;

use ur_ffi::ur_result_t;

use crate::object::Object;

use crate::device::Device;
use crate::driver::Driver;
use crate::object::error::{Error, Result};

/// `urDeviceWaitExp`.
///
/// # Errors
/// `GRAPH_CAPTURE_UNSUPPORTED` while a queue of the device captures; what the native library answers.
pub fn wait<D: Driver>(device: &Object<Device<D>>) -> Result<()> {
    // Held, so that the last context cannot go meanwhile.
    let Some(native) = device.home.get() else { return Ok(()) };
    if native.captures.load(Ordering::SeqCst) > 0 {
        return Err(Error::new(
            ur_result_t::ERROR_GRAPH_CAPTURE_UNSUPPORTED,
            "urDeviceWaitExp: a queue of the device captures into a graph, which waiting for the device would break",
        ));
    }
    let _scope = native.enter()?;
    native.driver.synchronize_context()
}
