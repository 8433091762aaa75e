//! Device memory that other APIs can import by a file descriptor.
//!
//! An exportable allocation is shareable physical memory mapped into a range of its own. The native library does not tell the
//! physical memory of an address, so each device keeps a list. Only opaque descriptors have a native counterpart on both
//! backends; other kinds of handle are refused.

use core::ffi::{c_int, c_void};
use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use ur_ffi::{ur_exp_external_mem_type_t, ur_result_t};

use crate::context::{Context, DeviceState};
use crate::device::Device;
use crate::device::native_context::own_memory;
use crate::driver::{Access, Driver, Handle, NativeName};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::{Address, Out};
use crate::usm::virtual_memory::physical::supported;

/// The exportable allocations of a device, by address.
struct Exports<D: Driver> {
    list: Mutex<BTreeMap<usize, Export<D>>>,
}

fn exports<D: Driver>(device: &Device<D>) -> &Exports<D> {
    device.exports.get_or_make(|| Exports { list: Mutex::new(BTreeMap::new()) })
}

/// An allocation in the making. Dropping it undoes the steps that succeeded.
struct Export<D: Driver> {
    state: Arc<DeviceState<D>>,
    size: usize,
    physical: Option<D::Physical>,
    address: Option<usize>,
    mapped: bool,
}

impl<D: Driver> Export<D> {
    fn make(state: Arc<DeviceState<D>>, devices: &[D::Device], size: usize) -> Result<Self> {
        let driver = state.driver;
        let mut made = Self { state, size, physical: None, address: None, mapped: false };
        let physical = {
            // As in `crate::usm::virtual_memory::physical`.
            let _scope = made.state.enter()?;
            driver.create_physical(made.state.device.raw, size, true)?
        };
        let physical = &*made.physical.insert(physical);
        let address = driver.reserve_addresses(size, 0)?;
        made.address = Some(address);
        driver.map(address, size, 0, physical)?;
        made.mapped = true;
        own_memory::add(address);
        for device in devices {
            driver.set_access(address, size, *device, Access::ReadWrite)?;
        }
        Ok(made)
    }

    /// Undoes the steps in reverse. A step that fails stays to be undone.
    fn take_down(&mut self) -> Result<()> {
        let driver = self.state.driver;
        if let Some(address) = self.address {
            if self.mapped {
                driver.unmap(address, self.size)?;
                self.mapped = false;
                own_memory::remove(address);
            }
            driver.free_addresses(address, self.size)?;
            self.address = None;
        }
        if let Some(physical) = self.physical.take() {
            let value = physical.value();
            driver.release_physical(physical).inspect_err(|_| {
                // SAFETY: the library refused to release the memory, so it lives, and this is its only handle.
                self.physical = Some(unsafe { D::Physical::from_value(value) });
            })?;
        }
        Ok(())
    }
}

impl<D: Driver> Drop for Export<D> {
    fn drop(&mut self) {
        // The caller has the first failure.
        let _ = self.take_down();
    }
}

/// Refuses kinds of memory handles of other systems and other APIs.
fn check_type(kind: ur_exp_external_mem_type_t) -> Result<()> {
    match kind {
        ur_exp_external_mem_type_t::OPAQUE_FD => Ok(()),
        _ => Err(Error::unsupported(&format!("exporting memory as {kind:?}"))),
    }
}

/// `urMemoryExportAllocExportableMemoryExp`.
///
/// # Errors
/// `UNSUPPORTED_FEATURE` for any kind but an opaque descriptor or a device that cannot share; `UNSUPPORTED_ALIGNMENT` for
/// what is no power of two or above the granularity; `INVALID_USM_SIZE` for no bytes, `UNSUPPORTED_SIZE` for more than the
/// device has; `INVALID_DEVICE`; `OUT_OF_DEVICE_MEMORY`.
pub fn alloc<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    alignment: usize,
    size: usize,
    kind: ur_exp_external_mem_type_t,
    out: Out<'_, *mut c_void>,
) -> Result<()> {
    const NAME: &str = "urMemoryExportAllocExportableMemoryExp";
    check_type(kind)?;
    context.check_member(device)?;
    supported(device)?;
    if !device.properties.posix_handles {
        return Err(Error::unsupported("exporting memory of this device"));
    }
    let state = context.state(device)?;
    let driver = state.driver;
    let granularity = driver.granularity(device.raw, false)?;
    if alignment != 0 && (!alignment.is_power_of_two() || alignment > granularity) {
        return Err(Error::new(
            ur_result_t::ERROR_UNSUPPORTED_ALIGNMENT,
            format!("{NAME}: an alignment of {alignment} is no power of two up to {granularity}"),
        ));
    }
    if size == 0 {
        return Err(Error::new(ur_result_t::ERROR_INVALID_USM_SIZE, format!("{NAME}: size is 0")));
    }
    let fits = |whole: &usize| *whole as u64 <= device.properties.global_memory;
    let whole = size.checked_next_multiple_of(granularity).filter(fits).ok_or_else(|| {
        let most = device.properties.global_memory;
        Error::new(
            ur_result_t::ERROR_UNSUPPORTED_SIZE,
            format!("{NAME}: {size} bytes are more than the device's {most}"),
        )
    })?;
    let mut reaching = Vec::new();
    for other in context.devices().map(|other| other.raw) {
        if other == device.raw || driver.can_access_peer(other, device.raw)? {
            reaching.push(other);
        }
    }
    let made = Export::make(Arc::clone(&state), &reaching, whole)?;
    let address = made.address.unwrap_or_default();
    exports(device).list.lock().insert(address, made);
    out.write_address(address);
    Ok(())
}

#[cold]
fn unknown(name: &str, memory: Address) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_VALUE,
        format!("{name}: {:p} is no exportable memory of the device", memory.as_ptr()),
    )
}

/// `urMemoryExportFreeExportableMemoryExp`. Importers keep the memory. The application has waited for every command that uses
/// it.
///
/// # Errors
/// `INVALID_VALUE` for memory that is not exportable or was freed; what the native library answers.
pub fn free<D: Driver>(context: &Object<Context<D>>, device: &Object<Device<D>>, memory: Address) -> Result<()> {
    const NAME: &str = "urMemoryExportFreeExportableMemoryExp";
    context.check_member(device)?;
    let mut list = exports(device).list.lock();
    list.get_mut(&memory.addr()).ok_or_else(|| unknown(NAME, memory))?.take_down()?;
    list.remove(&memory.addr());
    Ok(())
}

/// `urMemoryExportExportMemoryHandleExp`: writes an `int`, a new descriptor that the caller closes.
///
/// # Errors
/// As [`alloc`] for the kind; `INVALID_VALUE` for memory that is not exportable; what the native
/// library answers.
pub fn export<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    kind: ur_exp_external_mem_type_t,
    memory: Address,
    out: Address,
) -> Result<()> {
    const NAME: &str = "urMemoryExportExportMemoryHandleExp";
    check_type(kind)?;
    context.check_member(device)?;
    let list = exports(device).list.lock();
    let export = list.get(&memory.addr()).ok_or_else(|| unknown(NAME, memory))?;
    let physical = export.physical.as_ref().ok_or_else(|| unknown(NAME, memory))?;
    let descriptor: c_int = export.state.driver.export_physical(physical)?;
    // SAFETY: an `Address` is as the manual says, here writable for an `int`.
    unsafe { out.as_ptr().cast::<c_int>().write_unaligned(descriptor) };
    Ok(())
}
