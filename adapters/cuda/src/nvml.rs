//! What the management library tells of a device's state: NVML, which the driver's package installs beside the driver.
//!
//! It is opened when somebody first asks, and stays open; without it the questions have no answer and nothing else is
//! lost. Must never be asked on the way of a command: its calls go to the kernel.

use core::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ffi::CString;

use libloading::Library;
use ur_adapter::driver::Sensor;
use ur_adapter::driver::native::library::open_first;
use ur_adapter::driver::properties::DeviceProperties;
use ur_adapter::object::error::{Error, OpenError, Result};
use ur_ffi::{ur_device_throttle_reasons_flags_t as Throttle, ur_result_t};

/// The variable that names another library to open.
const LIBRARY_VARIABLE: &str = "UR_NVML_LIBRARY";
const DEFAULT_LIBRARY: &str = if cfg!(windows) { "nvml.dll" } else { "libnvidia-ml.so.1" };

/// `NVML_SUCCESS`.
const SUCCESS: c_int = 0;

/// `nvmlDevice_t`, which the library owns.
type Device = *mut c_void;

ur_adapter::symbol_table! {
    /// The functions of NVML that are asked.
    Symbols in Library => c_int;
    required {
        init = "nvmlInit_v2" ();
        by_uuid = "nvmlDeviceGetHandleByUUID" (*const c_char, *mut Device);
        throttle_reasons = "nvmlDeviceGetCurrentClocksThrottleReasons" (Device, *mut c_ulonglong);
        fan_speed = "nvmlDeviceGetFanSpeed" (Device, *mut c_uint);
        power_limits = "nvmlDeviceGetPowerManagementLimitConstraints" (Device, *mut c_uint, *mut c_uint);
    }
    optional {}
}

/// The opened library.
pub(crate) struct Nvml(Symbols);

impl Nvml {
    /// Opens the library that the environment names, or the installed one.
    ///
    /// # Errors
    /// As [`open_first`]; `Library`, too, if it does not start.
    pub(crate) fn open() -> core::result::Result<Self, OpenError> {
        let (symbols, library) =
            open_first(LIBRARY_VARIABLE, &[DEFAULT_LIBRARY], |name| Symbols::open(name, LIBRARY_VARIABLE))?;
        // SAFETY: the symbol has the API's signature.
        let status = unsafe { (symbols.init)() };
        if status != SUCCESS {
            return Err(OpenError::Library {
                tried: format!("{library}: nvmlInit answers {status}"),
                variable: LIBRARY_VARIABLE,
            });
        }
        Ok(Self(symbols))
    }

    /// What a device's sensor shows: a percentage, milliwatts, or UR's flags.
    ///
    /// # Errors
    /// `UNSUPPORTED_ENUMERATION` for a device that the library does not know, or that has no such sensor.
    pub(crate) fn read(&self, device: &DeviceProperties, sensor: Sensor) -> Result<u32> {
        let (name, value) = match self.find(device) {
            Some(found) => self.ask(found, sensor),
            None => ("nvmlDeviceGetHandleByUUID", None),
        };
        value.ok_or_else(|| {
            Error::new(
                ur_result_t::ERROR_UNSUPPORTED_ENUMERATION,
                format!("urDeviceGetInfo: {sensor:?}: {name} does not tell it of {}", device.name),
            )
        })
    }

    fn find(&self, device: &DeviceProperties) -> Option<Device> {
        let name = CString::new(uuid_text(device.uuid?)).ok()?;
        let mut found = core::ptr::null_mut();
        // SAFETY: the symbol has the API's signature, the text is NUL-terminated and the output a live local.
        let status = unsafe { (self.0.by_uuid)(name.as_ptr(), &raw mut found) };
        (status == SUCCESS).then_some(found)
    }

    /// Asks, and says what was asked.
    fn ask(&self, device: Device, sensor: Sensor) -> (&'static str, Option<u32>) {
        match sensor {
            Sensor::ThrottleReasons => {
                let mut reasons = 0;
                // SAFETY: the symbol has the API's signature, the device is the library's and the output a live local.
                let status = unsafe { (self.0.throttle_reasons)(device, &raw mut reasons) };
                ("nvmlDeviceGetCurrentClocksThrottleReasons", (status == SUCCESS).then(|| throttle(reasons).bits()))
            }
            Sensor::FanSpeed => {
                let mut percent = 0;
                // SAFETY: as above.
                let status = unsafe { (self.0.fan_speed)(device, &raw mut percent) };
                ("nvmlDeviceGetFanSpeed", (status == SUCCESS).then_some(percent))
            }
            Sensor::MinPowerLimit | Sensor::MaxPowerLimit => {
                let (mut min, mut max) = (0, 0);
                // SAFETY: as above.
                let status = unsafe { (self.0.power_limits)(device, &raw mut min, &raw mut max) };
                let limit = if sensor == Sensor::MinPowerLimit { min } else { max };
                ("nvmlDeviceGetPowerManagementLimitConstraints", (status == SUCCESS).then_some(limit))
            }
        }
    }
}

/// A device's name in NVML.
fn uuid_text(uuid: [u8; 16]) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let [a, b, c, d, e] = [&uuid[..4], &uuid[4..6], &uuid[6..8], &uuid[8..10], &uuid[10..]].map(hex);
    format!("GPU-{a}-{b}-{c}-{d}-{e}")
}

/// NVML's reasons (`nvmlClocksThrottleReason*`) in UR's words. That a device has nothing to do is none.
fn throttle(reasons: u64) -> Throttle {
    const WORDS: [(u64, Throttle); 8] = [
        (0x002, Throttle::SW_RANGE),
        (0x004, Throttle::POWER_CAP),
        (0x008, Throttle::HW_RANGE),
        (0x010, Throttle::OTHER),
        (0x020, Throttle::THERMAL_LIMIT),
        (0x040, Throttle::THERMAL_LIMIT),
        (0x080, Throttle::PSU_ALERT),
        (0x100, Throttle::OTHER),
    ];
    WORDS.iter().filter(|(bit, _)| reasons & bit != 0).fold(Throttle::empty(), |all, (_, word)| all | *word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_called_by_its_uuid_as_nvidia_smi_writes_it() {
        let uuid = [0xa5, 0xc7, 0x81, 0xa9, 0xde, 0xb2, 0x83, 0xbe, 0x84, 0x65, 0x85, 0x3b, 0x45, 0x29, 0xb0, 0x65];
        assert_eq!(uuid_text(uuid), "GPU-a5c781a9-deb2-83be-8465-853b4529b065");
    }

    #[test]
    fn reasons_to_throttle_keep_their_meaning_and_idleness_is_none() {
        assert_eq!(throttle(0), Throttle::empty());
        assert_eq!(throttle(1), Throttle::empty());
        assert_eq!(throttle(1 | 4 | 0x40), Throttle::POWER_CAP | Throttle::THERMAL_LIMIT);
        assert_eq!(throttle(0x20), Throttle::THERMAL_LIMIT);
        assert_eq!(throttle(2 | 8), Throttle::SW_RANGE | Throttle::HW_RANGE);
        assert_eq!(throttle(0x80), Throttle::PSU_ALERT);
        assert_eq!(throttle(0x110), Throttle::OTHER);
    }
}
