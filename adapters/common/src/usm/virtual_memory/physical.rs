//! Physical memory objects: memory of a device that has no address until it is mapped.
//!
//! The object holds only the native handle. Mapped memory outlives its object.

use core::mem::offset_of;
use std::sync::Arc;

use ur_ffi::{
    Structure, ur_physical_mem_flags_t, ur_physical_mem_handle_t, ur_physical_mem_handle_t_, ur_physical_mem_info_t,
    ur_physical_mem_properties_t, ur_result_t,
};

use crate::context::{Context, DeviceState};
use crate::device::Device;
use crate::driver::Driver;
use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;
use crate::object::params::Out;
use crate::object::{Body, Object, TableAddress};

/// What the handle of physical memory names.
pub struct PhysicalMem<D: Driver> {
    /// The native handle.
    pub raw: D::Physical,
    /// The context it was made in.
    pub context: Arc<Object<Context<D>>>,
    /// The state of the device that it lies on.
    pub state: Arc<DeviceState<D>>,
    /// Bytes.
    pub size: usize,
    /// The properties that it was made with.
    pub flags: ur_physical_mem_flags_t,
    /// Whether another process made the memory.
    pub imported: bool,
}

impl<D: Driver> Body for PhysicalMem<D> {
    type Opaque = ur_physical_mem_handle_t_;
    const TAG: u32 = 0x5552_0020;
    const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_VALUE;
    const NAME: &'static str = "physical memory";

    fn table() -> TableAddress {
        D::cell().table()
    }
}

impl<D: Driver> Drop for PhysicalMem<D> {
    fn drop(&mut self) {
        // A release has no error to give; memory of a lost device goes with the device.
        let _ = self.state.driver.release_physical(core::mem::take(&mut self.raw));
    }
}

/// Refuses a device without virtual memory.
///
/// # Errors
/// `UNSUPPORTED_FEATURE`.
pub fn supported<D: Driver>(device: &Device<D>) -> Result<()> {
    if device.properties.virtual_memory { Ok(()) } else { Err(Error::unsupported("virtual memory on this device")) }
}

/// Refuses sizes that are not whole pages of the device.
///
/// # Errors
/// `INVALID_SIZE` naming the granularity; what the native library answers.
pub fn check_size<D: Driver>(name: &str, driver: &D, device: &Device<D>, size: usize) -> Result<()> {
    let granularity = driver.granularity(device.raw, false)?;
    if size != 0 && size.is_multiple_of(granularity) {
        return Ok(());
    }
    Err(Error::new(
        ur_result_t::ERROR_INVALID_SIZE,
        format!("{name}: {size} bytes are no positive multiple of the granularity, which is {granularity}"),
    ))
}

/// `urPhysicalMemCreate`.
///
/// # Errors
/// `INVALID_SIZE` for a size that is no positive multiple
/// of the granularity; `INVALID_DEVICE`; `UNSUPPORTED_FEATURE` on a device without virtual memory, or for sharing on one
/// that cannot; `OUT_OF_DEVICE_MEMORY`.
pub fn create<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    size: usize,
    properties: Option<&ur_physical_mem_properties_t>,
    out: Out<'_, ur_physical_mem_handle_t>,
) -> Result<()> {
    const NAME: &str = "urPhysicalMemCreate";
    let flags = properties.map_or(ur_physical_mem_flags_t::empty(), |properties| properties.flags);
    context.check_member(device)?;
    supported(device)?;
    let shareable = flags.contains(ur_physical_mem_flags_t::ENABLE_IPC);
    if shareable && !device.properties.posix_handles {
        return Err(Error::unsupported("sharing physical memory of this device"));
    }
    let driver = crate::device::adapter::driver::<D>()?;
    check_size(NAME, driver, device, size)?;
    if size as u64 > device.properties.global_memory {
        return Err(Error::new(
            ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY,
            format!("{NAME}: {size} bytes are more than the device has"),
        ));
    }
    let state = context.state(device)?;
    let raw = {
        // Runtimes of HIP make it on the current device.
        let _scope = state.enter()?;
        driver.create_physical(device.raw, size, shareable)?
    };
    out.write_object(Object::new(PhysicalMem { raw, context: context.to_arc(), state, size, flags, imported: false }));
    Ok(())
}

/// `urPhysicalMemGetInfo`.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_ENUMERATION` for an unknown property.
pub fn get_info<D: Driver>(
    physical: &Object<PhysicalMem<D>>,
    property: ur_physical_mem_info_t,
    writer: InfoWriter,
) -> Result<()> {
    match property {
        ur_physical_mem_info_t::CONTEXT => writer.value(physical.context.handle()),
        ur_physical_mem_info_t::DEVICE => writer.value(physical.state.device.handle()),
        ur_physical_mem_info_t::SIZE => writer.value(physical.size),
        ur_physical_mem_info_t::PROPERTIES => {
            // Written byte by byte, because a structure's padding would copy stack contents out. `pNext` is null.
            let mut bytes = [0; size_of::<ur_physical_mem_properties_t>()];
            let mut put = |at: usize, value: u32| bytes[at..][..size_of::<u32>()].copy_from_slice(&value.to_ne_bytes());
            put(offset_of!(ur_physical_mem_properties_t, stype), ur_physical_mem_properties_t::STYPE.0);
            put(offset_of!(ur_physical_mem_properties_t, flags), physical.flags.bits());
            writer.array(&bytes)
        }
        ur_physical_mem_info_t::REFERENCE_COUNT => writer.value(physical.references()),
        _ => writer.unknown(property.0),
    }
}
