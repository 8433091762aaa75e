//! Device memory that other APIs can import by a file descriptor.
//!
//! An exportable allocation is shareable physical memory mapped into a range of its own. Its address does not tell the
//! physical memory, so each device keeps a list of them. Other kinds of handle than an opaque descriptor have no native
//! counterpart on both backends and are refused.

use core::ffi::{c_int, c_void};
use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use ur_ffi::{ur_context_handle_t, ur_device_handle_t, ur_exp_external_mem_type_t, ur_result_t};

use crate::context::{Context, DeviceState};
use crate::device::Device;
use crate::driver::Driver;
use crate::driver::memory_calls::Access;
use crate::object::error::{Error, Result};
use crate::object::{borrow, null_pointer};
use crate::pool::out_of_memory::with_relief;
use crate::virtual_memory::physical::supported;

/// The exportable allocations of a device, by address.
struct Exports<D: Driver> {
    list: Mutex<BTreeMap<usize, Export<D>>>,
}

fn exports<D: Driver>(device: &Device<D>) -> &Exports<D> {
    device.exports.get_or_make(|| Exports { list: Mutex::new(BTreeMap::new()) })
}

/// An allocation as far as it is made: dropping it takes down what there is.
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
        let physical = driver.create_physical(made.state.device.raw, size, true)?;
        made.physical = Some(physical);
        let address = driver.reserve_addresses(size, 0)?;
        made.address = Some(address);
        driver.map(address, size, 0, physical)?;
        made.mapped = true;
        for device in devices {
            driver.set_access(address, size, *device, Access::ReadWrite)?;
        }
        Ok(made)
    }

    /// Undoes the steps in reverse; one that fails is still to be done.
    fn take_down(&mut self) -> Result<()> {
        let driver = self.state.driver;
        if let Some(address) = self.address {
            if self.mapped {
                driver.unmap(address, self.size)?;
                self.mapped = false;
            }
            driver.free_addresses(address, self.size)?;
            self.address = None;
        }
        if let Some(physical) = self.physical {
            driver.release_physical(physical)?;
            self.physical = None;
        }
        Ok(())
    }
}

impl<D: Driver> Drop for Export<D> {
    fn drop(&mut self) {
        // The failure that led here is the one that was told.
        let _ = self.take_down();
    }
}

/// # Unsupported
/// - kinds of memory handles other than an opaque file descriptor: they are other systems' or other APIs'
fn check_type(name: &str, kind: ur_exp_external_mem_type_t) -> Result<()> {
    match kind {
        ur_exp_external_mem_type_t::OPAQUE_FD => Ok(()),
        kind if kind.name().is_some() => Err(Error::unsupported(&format!("exporting memory as {kind:?}"))),
        _ => Err(Error::new(
            ur_result_t::ERROR_INVALID_ENUMERATION,
            format!("{name}: {:#x} is no kind of external memory", kind.0),
        )),
    }
}

/// `urMemoryExportAllocExportableMemoryExp`.
///
/// # Safety
/// The C contract: handles live, `out` writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_ENUMERATION` for an unknown kind, `UNSUPPORTED_FEATURE` for any but an opaque
/// descriptor or a device that cannot share; `UNSUPPORTED_ALIGNMENT` for what is no power of two or above the
/// granularity; `INVALID_USM_SIZE` for no bytes, `UNSUPPORTED_SIZE` for more than the device has; `INVALID_DEVICE`; `OUT_OF_DEVICE_MEMORY`.
///
/// # Unsupported
/// - needs: a device whose memory can be shared as a file descriptor
pub unsafe fn alloc<D: Driver>(
    context: ur_context_handle_t,
    device: ur_device_handle_t,
    alignment: usize,
    size: usize,
    kind: ur_exp_external_mem_type_t,
    out: *mut *mut c_void,
) -> Result<()> {
    const NAME: &str = "urMemoryExportAllocExportableMemoryExp";
    // SAFETY: the caller's promises are the same.
    let (context, device) = unsafe { (borrow::<Context<D>>(context)?, borrow::<Device<D>>(device)?) };
    if out.is_null() {
        return Err(null_pointer(NAME));
    }
    check_type(NAME, kind)?;
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
    let made = with_relief(context, &state, || None, || Export::make(Arc::clone(&state), &reaching, whole))?;
    let address = made.address.unwrap_or_default();
    exports(device).list.lock().insert(address, made);
    // SAFETY: not null, so writable.
    unsafe { out.write(core::ptr::with_exposed_provenance_mut(address)) };
    Ok(())
}

#[cold]
fn unknown(name: &str, memory: *mut c_void) -> Error {
    Error::new(ur_result_t::ERROR_INVALID_VALUE, format!("{name}: {memory:p} is no exportable memory of the device"))
}

/// `urMemoryExportFreeExportableMemoryExp`. Who imported the memory keeps it.
///
/// # Safety
/// The C contract: handles live; nothing here uses the memory any more.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_VALUE` for memory that is not exportable or is freed; what the native library answers.
pub unsafe fn free<D: Driver>(
    context: ur_context_handle_t,
    device: ur_device_handle_t,
    memory: *mut c_void,
) -> Result<()> {
    const NAME: &str = "urMemoryExportFreeExportableMemoryExp";
    // SAFETY: the caller's promises are the same.
    let (context, device) = unsafe { (borrow::<Context<D>>(context)?, borrow::<Device<D>>(device)?) };
    if memory.is_null() {
        return Err(null_pointer(NAME));
    }
    context.check_member(device)?;
    let mut list = exports(device).list.lock();
    list.get_mut(&memory.addr()).ok_or_else(|| unknown(NAME, memory))?.take_down()?;
    list.remove(&memory.addr());
    Ok(())
}

/// `urMemoryExportExportMemoryHandleExp`: writes an `int`, a new descriptor that is the caller's.
///
/// # Safety
/// The C contract: handles live, `out` writable for an `int`.
///
/// # Errors
/// `INVALID_NULL_POINTER`; as [`alloc`] for the kind; `INVALID_VALUE` for memory that is not exportable; what the native
/// library answers.
pub unsafe fn export<D: Driver>(
    context: ur_context_handle_t,
    device: ur_device_handle_t,
    kind: ur_exp_external_mem_type_t,
    memory: *mut c_void,
    out: *mut c_void,
) -> Result<()> {
    const NAME: &str = "urMemoryExportExportMemoryHandleExp";
    // SAFETY: the caller's promises are the same.
    let (context, device) = unsafe { (borrow::<Context<D>>(context)?, borrow::<Device<D>>(device)?) };
    if memory.is_null() || out.is_null() {
        return Err(null_pointer(NAME));
    }
    check_type(NAME, kind)?;
    context.check_member(device)?;
    let list = exports(device).list.lock();
    let export = list.get(&memory.addr()).ok_or_else(|| unknown(NAME, memory))?;
    let physical = export.physical.ok_or_else(|| unknown(NAME, memory))?;
    let descriptor: c_int = export.state.driver.export_physical(physical)?;
    // SAFETY: not null, so writable for an `int`.
    unsafe { out.cast::<c_int>().write_unaligned(descriptor) };
    Ok(())
}
