//! Devices of the driver, and what it tells of them.
//!
//! Reading a device's properties is `crate::device_info`'s.

use core::ffi::c_int;

use ur_adapter::driver::{DeviceProperties, Devices, Sensor};
use ur_adapter::object::error::{Error, Result};
use ur_ffi::ur_result_t;

use super::Cuda;
use crate::device_info;
use crate::nvml::Nvml;
use crate::sys::CUdevice;

impl Devices for Cuda {
    type Device = CUdevice;

    fn device_count(&self) -> Result<u32> {
        if !self.has_devices {
            return Ok(0);
        }
        let mut count: c_int = 0;
        // SAFETY: the output is a live local.
        self.check("cuDeviceGetCount", unsafe { (self.symbols.device_count)(&raw mut count) })?;
        Ok(u32::try_from(count).unwrap_or(0))
    }

    fn device(&self, ordinal: u32) -> Result<CUdevice> {
        let mut device = CUdevice::default();
        let ordinal = c_int::try_from(ordinal).map_err(|_| Error::code_only(ur_result_t::ERROR_INVALID_DEVICE))?;
        // SAFETY: the output is a live local; the driver checks the ordinal.
        self.check("cuDeviceGet", unsafe { (self.symbols.device_get)(&raw mut device, ordinal) })?;
        Ok(device)
    }

    fn properties(&self, device: CUdevice) -> Result<DeviceProperties> {
        device_info::read(self, device)
    }

    fn memory_info(&self) -> Result<(usize, usize)> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both outputs are live locals.
        self.check("cuMemGetInfo", unsafe { (self.symbols.memory_info)(&raw mut free, &raw mut total) })?;
        Ok((free, total))
    }

    fn sensor(&self, device: &DeviceProperties, sensor: Sensor) -> Result<u32> {
        match self.management.get_or_init(Nvml::open) {
            Ok(nvml) => nvml.read(device, sensor),
            Err(error) => Err(Error::new(
                ur_result_t::ERROR_UNSUPPORTED_ENUMERATION,
                format!("urDeviceGetInfo: {sensor:?} is for NVML to tell: {error}"),
            )),
        }
    }
}
