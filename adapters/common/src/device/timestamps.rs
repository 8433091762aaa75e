//! `urDeviceGetGlobalTimestamps`.
//!
//! Times of commands are told on the host's monotonic clock ([`crate::device::clock::host_time_ns`]), onto which
//! [`crate::device::native_context::NativeContext::time_of`] maps what the device recorded. So the device's clock, as applications see
//! it, is that clock: one reading is both timestamps, they never drift apart, and no context is made for the question.

use crate::object::Object;
use crate::object::params::Out;

use crate::device::Device;
use crate::device::clock::host_time_ns;
use crate::driver::Driver;
use crate::object::error::Result;

/// `urDeviceGetGlobalTimestamps`.
///
/// # Errors
/// As [`borrow`].
pub fn global_timestamps<D: Driver>(
    _device: &Object<Device<D>>,
    device_time: Option<Out<'_, u64>>,
    host_time: Option<Out<'_, u64>>,
) -> Result<()> {
    let now = host_time_ns();
    for out in [device_time, host_time].into_iter().flatten() {
        out.write(now);
    }
    Ok(())
}
