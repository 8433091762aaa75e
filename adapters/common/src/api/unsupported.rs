//! Entry points that no backend of this engine can do anything for, and why.
//!
//! Wrong arguments get the code that the specification has for them; right ones `UNSUPPORTED_FEATURE` with the reason.
//! Outputs are never touched.

use core::ffi::c_void;

use ur_ffi::{
    ur_context_handle_t, ur_device_handle_t, ur_device_partition_properties_t, ur_kernel_handle_t, ur_program_handle_t,
    ur_program_properties_t, ur_result_t, ur_specialization_constant_info_t,
};

use crate::context::Context;
use crate::device::Device;
use crate::driver::Driver;
use crate::kernel::Kernel;
use crate::object::error::{Error, Result};
use crate::object::{borrow, borrow_list, null_pointer};
use crate::program::Program;
use crate::program::metadata::Metadata;

#[cold]
fn empty(call: &str, parameter: &str) -> Error {
    Error::new(ur_result_t::ERROR_INVALID_SIZE, format!("{call}: {parameter} is 0"))
}

/// `urDevicePartition`: devices are whole (`UR_DEVICE_INFO_SUPPORTED_PARTITIONS` is empty).
///
/// # Safety
/// The C contract: `properties` is null or valid.
///
/// # Errors
/// Always; `UNSUPPORTED_FEATURE` for arguments that are right.
///
/// # Unsupported
/// - always: the native library's devices are whole
pub unsafe fn partition<D: Driver>(
    device: ur_device_handle_t,
    properties: *const ur_device_partition_properties_t,
    _capacity: u32,
    _devices: *mut ur_device_handle_t,
    _count: *mut u32,
) -> Result<()> {
    const NAME: &str = "urDevicePartition";
    // SAFETY: the caller's promises are the same.
    let properties = unsafe {
        borrow::<Device<D>>(device)?;
        properties.as_ref()
    };
    let properties = properties.ok_or_else(|| null_pointer(NAME))?;
    if properties.pProperties.is_null() {
        return Err(null_pointer(NAME));
    }
    if properties.PropCount == 0 {
        return Err(empty(NAME, "PropCount"));
    }
    Err(Error::unsupported("urDevicePartition (the native library's devices are whole)"))
}

/// `urProgramCreateWithIL`: the intermediate language is SPIR-V, and native libraries compile their own alone.
///
/// # Safety
/// The C contract: `properties` is null or valid.
///
/// # Errors
/// Always; `UNSUPPORTED_FEATURE` for arguments that are right.
///
/// # Unsupported
/// - always: no native compiler takes SPIR-V; give device code to `urProgramCreateWithBinary`
pub unsafe fn create_with_il<D: Driver>(
    context: ur_context_handle_t,
    code: *const c_void,
    length: usize,
    properties: *const ur_program_properties_t,
    out: *mut ur_program_handle_t,
) -> Result<()> {
    const NAME: &str = "urProgramCreateWithIL";
    // SAFETY: the caller's promises are the same.
    unsafe { borrow::<Context<D>>(context) }?;
    if code.is_null() || out.is_null() {
        return Err(null_pointer(NAME));
    }
    if length == 0 {
        return Err(empty(NAME, "length"));
    }
    // SAFETY: as above.
    unsafe { Metadata::read(NAME, properties) }?;
    Err(Error::unsupported(
        "urProgramCreateWithIL (no native compiler takes SPIR-V; give device code to urProgramCreateWithBinary)",
    ))
}

/// # Unsupported
/// - always: device code has its constants compiled in
fn constants(call: &str, count: u32, list: *const ur_specialization_constant_info_t) -> Result<()> {
    if list.is_null() {
        return Err(null_pointer(call));
    }
    if count == 0 {
        return Err(empty(call, "count"));
    }
    Err(Error::unsupported(&format!("{call} (device code has its constants compiled in)")))
}

/// `urProgramSetSpecializationConstants`.
///
/// # Safety
/// The handle is the C contract's.
///
/// # Errors
/// Always; `UNSUPPORTED_FEATURE` for arguments that are right.
pub unsafe fn program_constants<D: Driver>(
    program: ur_program_handle_t,
    count: u32,
    list: *const ur_specialization_constant_info_t,
) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    unsafe { borrow::<Program<D>>(program) }?;
    constants("urProgramSetSpecializationConstants", count, list)
}

/// `urKernelSetSpecializationConstants`.
///
/// # Safety
/// The handle is the C contract's.
///
/// # Errors
/// Always; `UNSUPPORTED_FEATURE` for arguments that are right.
pub unsafe fn kernel_constants<D: Driver>(
    kernel: ur_kernel_handle_t,
    count: u32,
    list: *const ur_specialization_constant_info_t,
) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    unsafe { borrow::<Kernel<D>>(kernel) }?;
    constants("urKernelSetSpecializationConstants", count, list)
}

/// `urProgramDynamicLinkExp`: a loaded module's symbols are resolved for good, and one with open symbols is not loaded.
///
/// # Safety
/// The C contract: `programs` holds `count` handles.
///
/// # Errors
/// Always; `UNSUPPORTED_FEATURE` for arguments that are right.
///
/// # Unsupported
/// - always: native modules resolve their symbols when they are loaded
pub unsafe fn dynamic_link<D: Driver>(
    context: ur_context_handle_t,
    count: u32,
    programs: *const ur_program_handle_t,
) -> Result<()> {
    const NAME: &str = "urProgramDynamicLinkExp";
    // SAFETY: the caller's promises are the same.
    unsafe { borrow::<Context<D>>(context) }?;
    if programs.is_null() {
        return Err(null_pointer(NAME));
    }
    if count == 0 {
        return Err(empty(NAME, "count"));
    }
    // SAFETY: as above.
    unsafe { borrow_list::<Program<D>>(count, programs) }?;
    Err(Error::unsupported("urProgramDynamicLinkExp (native modules resolve their symbols when they are loaded)"))
}
