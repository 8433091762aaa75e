//! Devices of the runtime, and what it tells of them.
//!
//! Reading a device's properties is `crate::device_info`'s.

use core::ffi::c_int;

use ur_adapter::driver::native::Texts as _;
use ur_adapter::driver::{DeviceProperties, Devices, Sensor};
use ur_adapter::object::error::{Error, Result};
use ur_ffi::ur_result_t;

use super::Hip;
use crate::device_info;
use crate::sys::{HipError, Ordinal};

impl Devices for Hip {
    type Device = Ordinal;

    fn device_count(&self) -> Result<u32> {
        let mut count: c_int = 0;
        if !self.has_devices {
            return Ok(0);
        }
        // SAFETY: the output is a live local.
        match unsafe { (self.symbols.device_count)(&raw mut count) } {
            // A library that initialises without a device says so here.
            HipError::hipErrorNoDevice => {
                self.symbols.forget_failure();
                Ok(0)
            }
            status => self.check("hipGetDeviceCount", status).map(|()| count.unsigned_abs()),
        }
    }

    fn device(&self, ordinal: u32) -> Result<Ordinal> {
        c_int::try_from(ordinal).map(Ordinal).map_err(|_| Error::code_only(ur_result_t::ERROR_INVALID_DEVICE))
    }

    fn properties(&self, device: Ordinal) -> Result<DeviceProperties> {
        device_info::read(self, device)
    }

    fn memory_info(&self) -> Result<(usize, usize)> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both outputs are live locals.
        self.check("hipMemGetInfo", unsafe { (self.symbols.memory_info)(&raw mut free, &raw mut total) })?;
        Ok((free, total))
    }

    fn sensor(&self, _device: &DeviceProperties, sensor: Sensor) -> Result<u32> {
        Err(Error::new(
            ur_result_t::ERROR_UNSUPPORTED_ENUMERATION,
            format!("urDeviceGetInfo: {sensor:?} is for AMD's management library to tell, which is not opened"),
        ))
    }
}
