//! Memory that another API made and exported as a file descriptor, and mappings of it.
//!
//! An import belongs to one device of a context. A mapping is device memory for queries, copies and kernels, and known to the
//! context by its address, since it is freed by a function of its own and not by `urUSMFree`. An import is released
//! after its mappings. What the other API does with the memory meanwhile is ordered by semaphores
//! ([`super::external_semaphore`]) or by waiting; nothing here waits or copies.
//!
//! **The descriptor**: the native library takes it with the import, so from a success on it is not the application's. A call
//! that fails has left it alone.

use core::ffi::c_void;
use core::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use ur_ffi::{
    Structure, ur_bool_t, ur_exp_external_mem_desc_t, ur_exp_external_mem_handle_t, ur_exp_external_mem_handle_t_,
    ur_exp_external_mem_type_t, ur_exp_file_descriptor_t, ur_result_t,
};

use crate::context::external_mappings::Mapping;
use crate::context::{Context, DeviceState};
use crate::device::{Device, deferred};
use crate::driver::{Driver, MemoryKind};
use crate::object::chain::Chained;
use crate::object::error::{Error, Result};
use crate::object::params::{Address, Out};
use crate::object::{self, Body, Held, Object, TableAddress};

/// What the handle of imported memory names.
pub struct ExternalMemory<D: Driver> {
    raw: D::ExternalMemory,
    /// Weakly: the context's mappings keep the import.
    context: Weak<Object<Context<D>>>,
    state: Arc<DeviceState<D>>,
    /// Bytes.
    size: u64,
    /// Mappings that are not freed.
    mappings: AtomicUsize,
}

impl<D: Driver> Body for ExternalMemory<D> {
    type Opaque = ur_exp_external_mem_handle_t_;
    const TAG: u32 = 0x5552_0050;
    const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_VALUE;
    const NAME: &'static str = "imported memory";

    fn table() -> TableAddress {
        D::cell().table()
    }
}

impl<D: Driver> Drop for ExternalMemory<D> {
    fn drop(&mut self) {
        // Nobody is left to tell; what a lost device has imported goes with its context.
        let Ok(_scope) = self.state.enter() else { return };
        let _ = self.state.driver.release_memory(mem::take(&mut self.raw));
    }
}

impl<D: Driver> ExternalMemory<D> {
    fn check_owners(&self, name: &str, context: &Object<Context<D>>, device: &Object<Device<D>>) -> Result<()> {
        check_owners(name, self.context.as_ptr(), &self.state, context, device)
    }
}

/// Refuses another context than an import was made in, and another device than it is on.
///
/// # Errors
/// `INVALID_CONTEXT`, `INVALID_DEVICE`.
pub(super) fn check_owners<D: Driver>(
    name: &str,
    home: *const Object<Context<D>>,
    state: &DeviceState<D>,
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
) -> Result<()> {
    if !core::ptr::eq(home, context) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_CONTEXT,
            format!("{name}: hContext is not the context of the import; give that one"),
        ));
    }
    if !core::ptr::eq(&raw const *state.device, device) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_DEVICE,
            format!("{name}: hDevice is not the device of the import; give that one"),
        ));
    }
    Ok(())
}

/// The file descriptor in the `pNext` chain of a description.
///
/// # Errors
/// `INVALID_VALUE` for none, or one that can be no descriptor.
pub(super) fn descriptor_of<T: Structure>(parameter: &'static str, description: Chained<'_, T>) -> Result<i32> {
    let found = description.find::<ur_exp_file_descriptor_t>(parameter)?.map(|structure| structure.fd);
    found.filter(|descriptor| *descriptor >= 0).ok_or_else(|| {
        let given = found.map_or("no descriptor".to_owned(), |descriptor| format!("the descriptor {descriptor}"));
        Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{parameter}: {given}; chain a ur_exp_file_descriptor_t with an open one to it"),
        )
    })
}

/// What native libraries say of a descriptor of something else, for which each has other words.
pub(super) fn not_imported(name: &str, what: &str, error: Error) -> Error {
    if !matches!(error.code(), ur_result_t::ERROR_ADAPTER_SPECIFIC | ur_result_t::ERROR_INVALID_VALUE) {
        return error;
    }
    Error::native(
        ur_result_t::ERROR_INVALID_VALUE,
        name,
        error.native_status(),
        &format!("the descriptor is not {what} that this device can import, or not of that type; {}", error.message()),
    )
}

fn is_supported<D: Driver>(device: &Device<D>, kind: ur_exp_external_mem_type_t) -> bool {
    kind == ur_exp_external_mem_type_t::OPAQUE_FD && device.properties.external_memory
}

/// `urBindlessImagesSupportsImportingHandleTypeExp`.
///
/// # Errors
/// None; the function has the shape of every entry point's.
pub fn supports<D: Driver>(
    device: &Object<Device<D>>,
    kind: ur_exp_external_mem_type_t,
    out: Out<'_, ur_bool_t>,
) -> Result<()> {
    out.write(is_supported(device, kind).into());
    Ok(())
}

/// `urBindlessImagesImportExternalMemoryExp`.
///
/// # Errors
/// `INVALID_DEVICE`; `UNSUPPORTED_FEATURE` for any kind but an opaque descriptor, or a library without imports;
/// `INVALID_VALUE` for no bytes, no descriptor, or one that the library does not import.
pub fn import<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    size: usize,
    kind: ur_exp_external_mem_type_t,
    description: Chained<'_, ur_exp_external_mem_desc_t>,
    out: Out<'_, ur_exp_external_mem_handle_t>,
) -> Result<()> {
    const NAME: &str = "urBindlessImagesImportExternalMemoryExp";
    context.check_member(device)?;
    if !is_supported(device, kind) {
        return Err(Error::unsupported(&format!("importing memory as {kind:?} on this device")));
    }
    let descriptor = descriptor_of("urBindlessImagesImportExternalMemoryExp: pExternalMemDesc", description)?;
    if size == 0 {
        return Err(Error::new(ur_result_t::ERROR_INVALID_VALUE, format!("{NAME}: size is 0; give the memory's size")));
    }
    let (state, size) = (context.state(device)?, size as u64);
    let raw = {
        let _scope = state.enter()?;
        let imported = state.driver.import_memory(descriptor, size);
        imported.map_err(|error| not_imported(NAME, &format!("memory of {size} bytes"), error))?
    };
    let context = Arc::downgrade(&context.to_arc());
    out.write_object(Object::new(ExternalMemory { raw, context, state, size, mappings: AtomicUsize::new(0) }));
    Ok(())
}

/// `urBindlessImagesMapExternalLinearMemoryExp`.
///
/// # Errors
/// As [`check_owners`]; `INVALID_VALUE` for no bytes, or some that lie outside; what the native library answers.
pub fn map<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    offset: u64,
    size: u64,
    memory: &Object<ExternalMemory<D>>,
    out: Out<'_, *mut c_void>,
) -> Result<()> {
    const NAME: &str = "urBindlessImagesMapExternalLinearMemoryExp";
    memory.check_owners(NAME, context, device)?;
    let fits = offset.checked_add(size).is_some_and(|end| size > 0 && end <= memory.size);
    let Some(bytes) = usize::try_from(size).ok().filter(|_| fits) else {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{NAME}: {size} bytes at offset {offset} are not inside of the {} that were imported", memory.size),
        ));
    };
    let state = &memory.state;
    let address = {
        let _scope = state.enter()?;
        state.driver.map_memory(&memory.raw, offset, size)?
    };
    memory.mappings.fetch_add(1, Ordering::Relaxed);
    let mapping = Mapping { size: bytes, device: state.device.raw, import: memory.to_arc() };
    context.external_mappings.insert(address, mapping);
    out.write_address(address);
    Ok(())
}

/// `urBindlessImagesFreeMappedLinearMemoryExp`. As with every native library, the memory must not be in use any more.
///
/// # Errors
/// `INVALID_VALUE` for what is not the start of a mapping, or is freed; `INVALID_DEVICE` for another device than the
/// mapping's; what the native library answers.
pub fn free_mapped<D: Driver>(context: &Object<Context<D>>, device: &Object<Device<D>>, memory: Address) -> Result<()> {
    const NAME: &str = "urBindlessImagesFreeMappedLinearMemoryExp";
    let start = memory.addr();
    let Some(mapping) = context.external_mappings.take(start) else {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!(
                "{NAME}: {start:#x} is not the start of mapped external memory of the context, or is freed already"
            ),
        ));
    };
    let freed = free_mapping(NAME, device, start, &mapping);
    if freed.is_err() {
        context.external_mappings.insert(start, mapping);
    }
    freed
}

fn free_mapping<D: Driver>(
    name: &str,
    device: &Object<Device<D>>,
    start: usize,
    mapping: &Mapping<D::Device>,
) -> Result<()> {
    let Ok(import) = Arc::clone(&mapping.import).downcast::<Object<ExternalMemory<D>>>() else {
        unreachable!("mappings are noted with their import")
    };
    if !core::ptr::eq(&raw const *import.state.device, device) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_DEVICE,
            format!("{name}: hDevice is not the device that the memory is mapped on; give that one"),
        ));
    }
    deferred::free(import.state.driver, &import, MemoryKind::Device, start, mapping.size)?;
    import.mappings.fetch_sub(1, Ordering::Relaxed);
    Ok(())
}

/// `urBindlessImagesReleaseExternalMemoryExp`. The other API's memory stays.
///
/// # Errors
/// As [`check_owners`]; `INVALID_VALUE` while some of it is mapped.
pub fn release<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    held: Held<ExternalMemory<D>>,
) -> Result<()> {
    const NAME: &str = "urBindlessImagesReleaseExternalMemoryExp";
    let memory = held.object();
    memory.check_owners(NAME, context, device)?;
    let mapped = memory.mappings.load(Ordering::Relaxed);
    if mapped > 0 {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!(
                "{NAME}: {mapped} mappings of the memory are left; free them with \
                 urBindlessImagesFreeMappedLinearMemoryExp first"
            ),
        ));
    }
    object::release(held)
}
