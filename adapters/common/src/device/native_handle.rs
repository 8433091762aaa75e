//! Native handles of devices and platforms, both ways.
//!
//! A device's native handle is its number in the native library, which nobody owns. A platform has none: the library has no
//! object for all of its devices.

use ur_ffi::{
    ur_device_handle_t, ur_device_native_properties_t, ur_native_handle_t, ur_platform_handle_t,
    ur_platform_native_properties_t, ur_result_t,
};

use crate::device::Device;
use crate::device::adapter::{self, Adapter};
use crate::device::platform::Platform;
use crate::driver::devices::DeviceName;
use crate::driver::{Driver, NativeName};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::Out;

/// The error of a native handle that must not be null.
#[cold]
pub(crate) fn null_native(name: &str) -> Error {
    Error::new(ur_result_t::ERROR_INVALID_NULL_HANDLE, format!("{name}: the native handle is null"))
}

/// `urPlatformGetNativeHandle`: native libraries have no object for all of their devices.
///
/// # Errors
/// Always; `UNSUPPORTED_FEATURE` for arguments that are right.
pub fn get_platform_handle<D: Driver>(
    _platform: &Object<Platform<D>>,
    _out: Out<'_, ur_native_handle_t>,
) -> Result<()> {
    Err(Error::unsupported("a platform's native handle (the native library has no such object)"))
}

/// `urPlatformCreateWithNativeHandle`: as [`get_platform_handle`].
///
/// # Errors
/// Always; `UNSUPPORTED_FEATURE` for arguments that are right.
pub fn create_platform<D: Driver>(
    _native: ur_native_handle_t,
    _adapter: &Object<Adapter<D>>,
    _properties: Option<&ur_platform_native_properties_t>,
    _out: Out<'_, ur_platform_handle_t>,
) -> Result<()> {
    Err(Error::unsupported("a platform of a native handle (the native library has no such object)"))
}

/// `urDeviceGetNativeHandle`: the device's ordinal, `CUdevice` / HIP's number.
pub fn get_handle<D: Driver>(device: &Object<Device<D>>, out: Out<'_, ur_native_handle_t>) -> Result<()> {
    out.write(device.raw.value());
    Ok(())
}

/// `urDeviceCreateWithNativeHandle`: the device of that ordinal. Devices are nobody's to destroy, so ownership of one is
/// accepted and means nothing.
///
/// # Errors
/// `INVALID_DEVICE` for a number that is no device; `UNINITIALIZED` without a native library.
pub fn create<D: Driver>(
    native: ur_native_handle_t,
    _adapter: &Object<Adapter<D>>,
    _properties: Option<&ur_device_native_properties_t>,
    out: Out<'_, ur_device_handle_t>,
) -> Result<()> {
    const NAME: &str = "urDeviceCreateWithNativeHandle";
    adapter::open::<D>().map_err(|reason| Error::new(ur_result_t::ERROR_UNINITIALIZED, format!("{NAME}: {reason}")))?;
    let device = Device::<D>::of_raw(D::Device::from_value(native)).ok_or_else(|| {
        Error::new(ur_result_t::ERROR_INVALID_DEVICE, format!("{NAME}: {native} is no device of the native library"))
    })?;
    out.write(device.handle());
    Ok(())
}
