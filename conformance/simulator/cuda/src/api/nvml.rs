//! The few functions of NVML that tell a device's state, so that this library also serves as the management library. The
//! first device has a fan and is short of power; the others have neither.

use core::ffi::{c_int, c_uint, c_ulonglong, c_void};

use super::args::{Out, Text};
use crate::device;

const NVML_SUCCESS: c_int = 0;
const NVML_ERROR_INVALID_ARGUMENT: c_int = 2;
const NVML_ERROR_NOT_SUPPORTED: c_int = 3;
const NVML_ERROR_NOT_FOUND: c_int = 6;

#[unsafe(no_mangle)]
pub extern "C" fn nvmlInit_v2() -> c_int {
    NVML_SUCCESS
}

/// The name that NVML has for a device.
fn name_of(bytes: [u8; 16]) -> String {
    let mut text = String::from("GPU");
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 0 | 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text += &format!("{byte:02x}");
    }
    text
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetHandleByUUID(uuid: Text, out: Out<*mut c_void>) -> c_int {
    let Ok(wanted) = uuid.get() else { return NVML_ERROR_INVALID_ARGUMENT };
    let found = (0..).map_while(|ordinal| device::get(ordinal).ok());
    match found.into_iter().position(|device| wanted == name_of(device.uuid().bytes)) {
        // A handle is the ordinal, from 1.
        Some(ordinal) => answer(out, core::ptr::without_provenance_mut(ordinal + 1)),
        None => NVML_ERROR_NOT_FOUND,
    }
}

fn answer<T>(out: Out<T>, value: T) -> c_int {
    out.put(value).map_or(NVML_ERROR_INVALID_ARGUMENT, |()| NVML_SUCCESS)
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetFanSpeed(device: *mut c_void, percent: Out<c_uint>) -> c_int {
    if device.addr() == 1 { answer(percent, 30) } else { NVML_ERROR_NOT_SUPPORTED }
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetCurrentClocksThrottleReasons(device: *mut c_void, reasons: Out<c_ulonglong>) -> c_int {
    // Idle, and the software's power cap beside.
    answer(reasons, if device.addr() == 1 { 0x5 } else { 0x1 })
}

#[unsafe(no_mangle)]
pub extern "C" fn nvmlDeviceGetPowerManagementLimitConstraints(
    _device: *mut c_void,
    min: Out<c_uint>,
    max: Out<c_uint>,
) -> c_int {
    match answer(min, 200_000) {
        NVML_SUCCESS => answer(max, 700_000),
        error => error,
    }
}
