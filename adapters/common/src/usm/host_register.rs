//! Memory of the process that devices may use: registration and import, which are the same to a native library.
//!
//! CUDA keeps the registrations; for HIP the engine has a list ([`registrations`]). A registration ends with its unregistration or
//! with the context, whichever comes first. The caller keeps the memory.

use ur_ffi::ur_result_t;

use crate::context::Context;
use crate::device::deferred::without_tasks;
use crate::device::native_context::registrations;
use crate::driver::{Driver, MemoryKind};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::Address;

/// Refuses a range that begins in an allocation or a registration.
fn check_new<D: Driver>(name: &str, driver: &D, memory: Address) -> Result<()> {
    match driver.pointer_info(memory.addr())? {
        None => Ok(()),
        Some(_) => Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{name}: {:p} is USM memory or registered already; release it first", memory.as_ptr()),
        )),
    }
}

fn register_range<D: Driver>(
    name: &str,
    context: &Object<Context<D>>,
    memory: Address,
    size: usize,
    read_only: bool,
) -> Result<()> {
    if memory.addr().checked_add(size).is_none() {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{name}: {size} bytes from {:p} on go past the end of the address space", memory.as_ptr()),
        ));
    }
    let state = context.first_state()?;
    check_new(name, state.driver, memory)?;
    let _scope = state.enter()?;
    match registrations::register(state.driver, memory.addr(), size, read_only) {
        // The flag promises that devices only read. A library that cannot use the promise registers without it.
        Err(error) if read_only && error.code() == ur_result_t::ERROR_UNSUPPORTED_FEATURE => {
            registrations::register(state.driver, memory.addr(), size, false)
        }
        writer => writer,
    }
}

fn unregister_range<D: Driver>(name: &str, context: &Object<Context<D>>, memory: Address) -> Result<()> {
    let state = context.first_state()?;
    let info = registrations::pointer_info(state.driver, memory.addr())?;
    if !info.is_some_and(|info| info.kind == MemoryKind::Host && info.base == memory.addr()) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{name}: {:p} is not the start of registered memory", memory.as_ptr()),
        ));
    }
    without_tasks("giving registered memory back", || {
        let _scope = state.enter()?;
        registrations::unregister(state.driver, memory.addr())
    })
}

/// Refuses registered memory that a device of the context has elsewhere than the process: kernels are given the process's address.
fn check_addresses<D: Driver>(name: &str, context: &Object<Context<D>>, memory: Address) -> Result<()> {
    if D::REGISTERS_IN_PLACE {
        return Ok(());
    }
    for device in context.devices() {
        let state = context.state_of(device)?;
        let _scope = state.enter()?;
        if state.driver.registered_address(memory.addr())? != memory.addr() {
            return Err(Error::new(
                ur_result_t::ERROR_UNSUPPORTED_FEATURE,
                format!(
                    "{name}: devices of this system have registered memory at another address, so kernels cannot use {:p}; \
                     import it for copies (urUSMImportExp), or allocate host memory",
                    memory.as_ptr()
                ),
            ));
        }
    }
    Ok(())
}

/// `urUSMHostAllocRegisterExp`. The application keeps the range until it unregisters it.
///
/// # Errors
/// `INVALID_VALUE` for no bytes, or memory that is USM or registered already; `UNSUPPORTED_FEATURE` where devices have the memory at
/// another address; what the native library answers.
pub fn register<D: Driver>(
    context: &Object<Context<D>>,
    memory: Address,
    size: usize,
    properties: Option<&ur_ffi::ur_exp_usm_host_alloc_register_properties_t>,
) -> Result<()> {
    use ur_ffi::ur_exp_usm_host_alloc_register_flags_t as Flags;
    const NAME: &str = "urUSMHostAllocRegisterExp";
    if size == 0 {
        return Err(Error::new(ur_result_t::ERROR_INVALID_VALUE, format!("{NAME}: size is 0")));
    }
    let flags = properties.map_or(Flags::empty(), |properties| properties.flags);
    register_range(NAME, context, memory, size, flags.contains(Flags::READ_ONLY))?;
    check_addresses(NAME, context, memory).inspect_err(|_| {
        // Why it cannot stay is what to tell of.
        let _ = unregister_range(NAME, context, memory);
    })
}

/// `urUSMHostAllocUnregisterExp`. The application has waited for every command that uses the memory.
///
/// # Errors
/// `INVALID_VALUE` for memory that is not registered; `INVALID_OPERATION` in the function of a host task.
pub fn unregister<D: Driver>(context: &Object<Context<D>>, memory: Address) -> Result<()> {
    unregister_range("urUSMHostAllocUnregisterExp", context, memory)
}

/// `urUSMImportExp`. The application keeps the range until it releases it.
///
/// # Errors
/// `INVALID_SIZE` for no bytes; `INVALID_VALUE` for memory that is USM or imported already; what
/// the native library answers.
pub fn import<D: Driver>(context: &Object<Context<D>>, memory: Address, size: usize) -> Result<()> {
    const NAME: &str = "urUSMImportExp";
    if size == 0 {
        return Err(Error::new(ur_result_t::ERROR_INVALID_SIZE, format!("{NAME}: size is 0")));
    }
    register_range(NAME, context, memory, size, false)
}

/// `urUSMReleaseExp`. The application has waited for every command that uses the memory.
///
/// # Errors
/// `INVALID_VALUE` for memory that is not imported; `INVALID_OPERATION` in the function of a host task.
pub fn release<D: Driver>(context: &Object<Context<D>>, memory: Address) -> Result<()> {
    unregister_range("urUSMReleaseExp", context, memory)
}
