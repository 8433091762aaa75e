//! `urDeviceWaitExp`: waits for everything a device was given, on any queue of any context.
//!
//! A device without a native context has nothing to do; asking it would start one.

use std::sync::atomic::Ordering;

use ur_ffi::ur_result_t;

use crate::device::Device;
use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::{Error, Result};

/// A stream that tells other processes of what it reaches.
pub trait Publisher: Send + Sync {
    /// The number of the last command that it was given.
    fn given(&self) -> u64;

    /// Notes that every command up to `position` has finished, and tells of it.
    fn note_finished(&self, position: u64);
}

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
    let publishers = device.publishers.living();
    let given: Vec<_> = publishers.iter().map(|stream| stream.given()).collect();
    {
        let _scope = native.enter()?;
        native.driver.synchronize_context()?;
    }
    publishers.iter().zip(given).for_each(|(stream, position)| stream.note_finished(position));
    Ok(())
}
