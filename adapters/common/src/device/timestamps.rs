//! `urDeviceGetGlobalTimestamps`.
//!
//! Times of commands are told on the host's monotonic clock ([`crate::device::clock::host_time_ns`]), onto which
//! [`crate::context::DeviceState::time_of`] maps what the device recorded. So the device's clock, as applications see
//! it, is that clock: one reading is both timestamps, they never drift apart, and no context is made for the question.

use ur_ffi::ur_device_handle_t;

use crate::device::Device;
use crate::device::clock::host_time_ns;
use crate::driver::Driver;
use crate::object::borrow;
use crate::object::error::Result;

/// `urDeviceGetGlobalTimestamps`.
///
/// # Safety
/// The C contract: each output is null or writable.
///
/// # Errors
/// As [`borrow`].
///
/// # Unsupported
/// - note: both times are the host's clock, which the times of events are told in
pub unsafe fn global_timestamps<D: Driver>(
    device: ur_device_handle_t,
    device_time: *mut u64,
    host_time: *mut u64,
) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    unsafe { borrow::<Device<D>>(device) }?;
    let now = host_time_ns();
    for out in [device_time, host_time] {
        if !out.is_null() {
            // SAFETY: not null, so writable by the caller's promise.
            unsafe { out.write(now) };
        }
    }
    Ok(())
}
