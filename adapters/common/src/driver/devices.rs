//! Devices of the native library, and what it tells of them.
//!
//! Manuals: CUDA Driver API, Device Management and Memory Management (`cuMemGetInfo`); HIP runtime API, Device
//! Management. Nothing here makes a context or waits for work.

use super::properties::DeviceProperties;
use super::{NativeName, unsupported};
use crate::object::error::Result;

/// What a management library tells of a device's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sensor {
    /// `ur_device_throttle_reasons_flags_t`.
    ThrottleReasons,
    /// Percent of the most.
    FanSpeed,
    /// The lowest limit of power that can be set, in milliwatts.
    MinPowerLimit,
    /// The highest.
    MaxPowerLimit,
}

/// The name of a device: the library checks it at every call, and the device lives as long as the process.
pub trait DeviceName: NativeName + Copy {
    /// The device of a handle value that came through the ABI.
    fn from_value(value: usize) -> Self;
}

/// Devices.
pub trait Devices: Send + Sync + 'static {
    /// `CUdevice` / device ordinal.
    type Device: DeviceName;

    /// `cuDeviceGetCount` / `hipGetDeviceCount`.
    fn device_count(&self) -> Result<u32>;
    /// `cuDeviceGet` / the ordinal itself.
    fn device(&self, ordinal: u32) -> Result<Self::Device>;
    /// Everything about a device that does not change, read once. `cuDeviceGetAttribute` and its kin.
    fn properties(&self, device: Self::Device) -> Result<DeviceProperties>;
    /// Free and total bytes of the device. **Needs the context.** `cuMemGetInfo`.
    fn memory_info(&self) -> Result<(usize, usize)>;
    /// What a sensor of a device shows, by the backend's management library (NVML / none).
    ///
    /// # Errors
    /// `UNSUPPORTED_ENUMERATION` without such a library, and for a device that has no such sensor.
    fn sensor(&self, _device: &DeviceProperties, _sensor: Sensor) -> Result<u32> {
        unsupported("a sensor of the device")
    }
}
