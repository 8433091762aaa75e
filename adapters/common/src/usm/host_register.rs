//! Memory of the process that devices may use: registration and import, which are the same to a native library.
//!
//! The library keeps the registrations, so the engine has no list of its own. A registration ends when it is taken back,
//! at the latest with the context; the memory stays the caller's.

use core::ffi::c_void;

use ur_ffi::{ur_context_handle_t, ur_result_t};

use crate::context::Context;
use crate::driver::{Driver, MemoryKind};
use crate::object::error::{Error, Result};
use crate::object::{Object, borrow, null_pointer};

/// Refuses a range that some allocation or registration begins in already.
fn check_new<D: Driver>(name: &str, driver: &D, memory: *mut c_void) -> Result<()> {
    match driver.pointer_info(memory.addr())? {
        None => Ok(()),
        Some(_) => Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{name}: {memory:p} is USM memory or registered already; release it first"),
        )),
    }
}

fn register_range<D: Driver>(
    name: &str,
    context: &Object<Context<D>>,
    memory: *mut c_void,
    size: usize,
    read_only: bool,
) -> Result<()> {
    if memory.addr().checked_add(size).is_none() {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{name}: {size} bytes from {memory:p} on go past the end of the address space"),
        ));
    }
    let state = context.first_state()?;
    check_new(name, state.driver, memory)?;
    let _scope = state.enter()?;
    match state.driver.register_host(memory.addr(), size, read_only) {
        // That devices only read is a promise and no demand: a library that cannot use it registers without.
        Err(error) if read_only && error.code() == ur_result_t::ERROR_UNSUPPORTED_FEATURE => {
            state.driver.register_host(memory.addr(), size, false)
        }
        writer => writer,
    }
}

fn unregister_range<D: Driver>(name: &str, context: &Object<Context<D>>, memory: *mut c_void) -> Result<()> {
    if memory.is_null() {
        return Err(null_pointer(name));
    }
    let state = context.first_state()?;
    let info = state.driver.pointer_info(memory.addr())?;
    if !info.is_some_and(|info| info.kind == MemoryKind::Host && info.base == memory.addr()) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{name}: {memory:p} is not the start of registered memory"),
        ));
    }
    let _scope = state.enter()?;
    state.driver.unregister_host(memory.addr())
}

/// `urUSMHostAllocRegisterExp`.
///
/// # Safety
/// The C contract: the range is memory of the process that stays until it is unregistered; `properties` is null or valid.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_VALUE` for no bytes, or memory that is USM or registered already;
/// `INVALID_ENUMERATION` for unknown flags; what the native library answers.
pub unsafe fn register<D: Driver>(
    context: ur_context_handle_t,
    memory: *mut c_void,
    size: usize,
    properties: *const ur_ffi::ur_exp_usm_host_alloc_register_properties_t,
) -> Result<()> {
    use ur_ffi::{UR_EXP_USM_HOST_ALLOC_REGISTER_FLAGS_MASK, ur_exp_usm_host_alloc_register_flags_t as Flags};
    const NAME: &str = "urUSMHostAllocRegisterExp";
    // SAFETY: the caller's promise is the same.
    let context = unsafe { borrow::<Context<D>>(context) }?;
    if memory.is_null() {
        return Err(null_pointer(NAME));
    }
    if size == 0 {
        return Err(Error::new(ur_result_t::ERROR_INVALID_VALUE, format!("{NAME}: size is 0")));
    }
    // SAFETY: null or valid by the caller's promise.
    let flags = unsafe { properties.as_ref() }.map_or(Flags::empty(), |properties| properties.flags);
    crate::object::known_flags(NAME, flags.bits(), UR_EXP_USM_HOST_ALLOC_REGISTER_FLAGS_MASK)?;
    register_range(NAME, context, memory, size, flags.contains(Flags::READ_ONLY))
}

/// `urUSMHostAllocUnregisterExp`.
///
/// # Safety
/// The C contract: no device uses the memory any more.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_VALUE` for memory that is not registered.
pub unsafe fn unregister<D: Driver>(context: ur_context_handle_t, memory: *mut c_void) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    let context = unsafe { borrow::<Context<D>>(context) }?;
    unregister_range("urUSMHostAllocUnregisterExp", context, memory)
}

/// `urUSMImportExp`.
///
/// # Safety
/// The C contract: the range is memory of the process that stays until it is released.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_SIZE` for no bytes; `INVALID_VALUE` for memory that is USM or imported already; what
/// the native library answers.
pub unsafe fn import<D: Driver>(context: ur_context_handle_t, memory: *mut c_void, size: usize) -> Result<()> {
    const NAME: &str = "urUSMImportExp";
    // SAFETY: the caller's promise is the same.
    let context = unsafe { borrow::<Context<D>>(context) }?;
    if memory.is_null() {
        return Err(null_pointer(NAME));
    }
    if size == 0 {
        return Err(Error::new(ur_result_t::ERROR_INVALID_SIZE, format!("{NAME}: size is 0")));
    }
    register_range(NAME, context, memory, size, false)
}

/// `urUSMReleaseExp`.
///
/// # Safety
/// The C contract: no device uses the memory any more.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_VALUE` for memory that is not imported.
pub unsafe fn release<D: Driver>(context: ur_context_handle_t, memory: *mut c_void) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    let context = unsafe { borrow::<Context<D>>(context) }?;
    unregister_range("urUSMReleaseExp", context, memory)
}
