//! `urDeviceGetInfo`: what a device answers to every property of the release.
//!
//! Answers come from memory: pure functions over [`DeviceProperties`], one module a group, and the list
//! [`implemented::IMPLEMENTED`] of what this engine can do so far. A device never claims a feature because its
//! hardware has it while the engine does not. Whether SPIR-V is taken depends on a file ([`nvvm`]). Only free memory is asked of the native library, and only that
//! question makes a native context; what changes without us is asked of the management library.

pub(crate) mod compute;
pub(crate) mod features;
pub(crate) mod identity;
pub(crate) mod images;
pub(crate) mod implemented;
pub(crate) mod memory;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod value;

use ur_ffi::{ur_device_info_t, ur_result_t};

use crate::device::Device;
use crate::device::adapter;
use crate::device::relief::Holdings;
use crate::device::scope::Held;
use crate::driver::native::{comgr, nvvm};
use crate::driver::properties::DeviceProperties;
use crate::driver::{Driver, Sensor, SpirvTarget};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;

use value::Reply;

/// `urDeviceGetInfo` for one property.
///
/// # Errors
/// `INVALID_ENUMERATION` for a number that is no property, `UNSUPPORTED_ENUMERATION` with the reason for one
/// that this device cannot answer, as [`InfoWriter`] otherwise.
pub fn writer<D: Driver>(device: &Object<Device<D>>, property: ur_device_info_t, writer: &InfoWriter) -> Result<()> {
    // The caller's numbers are those of the library's release.
    let Some(property) = property.of_release(D::cell().release()) else { return writer.unknown(property.0) };
    match property {
        ur_device_info_t::REFERENCE_COUNT => writer.value(1u32),
        ur_device_info_t::PLATFORM => match adapter::native::<D>() {
            Some(native) => writer.value(native.platform.handle()),
            None => writer.unsupported(),
        },
        ur_device_info_t::VENDOR => writer.text(D::VENDOR),
        ur_device_info_t::VENDOR_ID => writer.value(D::VENDOR_ID),
        ur_device_info_t::IL_VERSION => writer.text(if takes_spirv(device) { nvvm::VERSIONS } else { "" }),
        ur_device_info_t::PROGRAM_SET_SPECIALIZATION_CONSTANTS => writer.boolean(takes_spirv(device)),
        ur_device_info_t::GLOBAL_MEM_FREE => writer.value(free_memory(device)?),
        ur_device_info_t::USM_KEPT_BYTES_EXP => writer.value(Holdings::of(device).kept()),
        ur_device_info_t::USM_HOLDERS_EXP => writer.text(&Holdings::of(device).to_string()),
        ur_device_info_t::CURRENT_CLOCK_THROTTLE_REASONS => show(device, Sensor::ThrottleReasons, writer),
        ur_device_info_t::FAN_SPEED => show(device, Sensor::FanSpeed, writer),
        ur_device_info_t::MIN_POWER_LIMIT => show(device, Sensor::MinPowerLimit, writer),
        ur_device_info_t::MAX_POWER_LIMIT => show(device, Sensor::MaxPowerLimit, writer),
        _ => match reply_of(&device.properties, property) {
            Some(Reply::Is(value)) => value.write(writer),
            Some(Reply::Unsupported(reason)) => Err(unsupported(property, reason)),
            None => writer.unknown(property.0),
        },
    }
}

/// The properties that [`writer`] answers from the object or the backend instead of the device's properties.
#[cfg(test)]
const LIVE: [ur_device_info_t; 13] = [
    ur_device_info_t::IL_VERSION,
    ur_device_info_t::PROGRAM_SET_SPECIALIZATION_CONSTANTS,
    ur_device_info_t::REFERENCE_COUNT,
    ur_device_info_t::PLATFORM,
    ur_device_info_t::VENDOR,
    ur_device_info_t::VENDOR_ID,
    ur_device_info_t::GLOBAL_MEM_FREE,
    ur_device_info_t::USM_KEPT_BYTES_EXP,
    ur_device_info_t::USM_HOLDERS_EXP,
    ur_device_info_t::CURRENT_CLOCK_THROTTLE_REASONS,
    ur_device_info_t::FAN_SPEED,
    ur_device_info_t::MIN_POWER_LIMIT,
    ur_device_info_t::MAX_POWER_LIMIT,
];

/// Whether SPIR-V can be compiled for the device: something compiles for its loader, and is there.
fn takes_spirv<D: Driver>(device: &Device<D>) -> bool {
    match device.properties.spirv {
        Some(SpirvTarget::Ptx(_)) => nvvm::is_available(),
        Some(SpirvTarget::Amdgcn(_)) => comgr::is_available(),
        None => false,
    }
}

/// What the device's properties say, `None` for a number that no group knows.
fn reply_of(device: &DeviceProperties, property: ur_device_info_t) -> Option<Reply> {
    const GROUPS: [fn(&DeviceProperties, ur_device_info_t) -> Option<Reply>; 5] =
        [identity::reply, compute::reply, memory::reply, images::reply, features::reply];
    GROUPS.iter().find_map(|group| group(device, property))
}

#[cold]
fn unsupported(property: ur_device_info_t, reason: &str) -> Error {
    Error::new(ur_result_t::ERROR_UNSUPPORTED_ENUMERATION, format!("urDeviceGetInfo: {property:?}: {reason}"))
}

/// What a sensor shows; each has four bytes in the specification, flags or a number that is never negative.
fn show<D: Driver>(device: &Device<D>, sensor: Sensor, writer: &InfoWriter) -> Result<()> {
    writer.value(adapter::driver::<D>()?.sensor(&device.properties, sensor)?)
}

/// Bytes that are free on the device now.
fn free_memory<D: Driver>(device: &Device<D>) -> Result<u64> {
    let driver = adapter::driver::<D>()?;
    let held = Held::new(driver, device.raw)?;
    let _scope = held.enter()?;
    Ok(driver.memory_info()?.0 as u64)
}
