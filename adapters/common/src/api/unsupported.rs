//! Entry points that no backend of this engine can do anything for, and why.
//!
//! Wrong arguments get the code that the specification has for them; right ones `UNSUPPORTED_FEATURE` with the reason.
//! Outputs are never touched.

use crate::object::Object;
use crate::object::params::Handles;
use crate::object::params::ListOut;
use crate::object::params::Out;

use ur_ffi::{
    ur_device_handle_t, ur_device_partition_properties_t, ur_program_handle_t, ur_program_properties_t, ur_result_t,
    ur_specialization_constant_info_t,
};

use crate::context::Context;
use crate::device::Device;
use crate::driver::Driver;
use crate::kernel::Kernel;
use crate::object::error::{Error, Result};
use crate::object::null_pointer;
use crate::program::Program;
use crate::program::metadata::Metadata;

#[cold]
fn empty(call: &str, parameter: &str) -> Error {
    Error::new(ur_result_t::ERROR_INVALID_SIZE, format!("{call}: {parameter} is 0"))
}

/// `urDevicePartition`: devices are whole (`UR_DEVICE_INFO_SUPPORTED_PARTITIONS` is empty).
///
/// # Errors
/// Always; `UNSUPPORTED_FEATURE` for arguments that are right.
pub fn partition<D: Driver>(
    _device: &Object<Device<D>>,
    properties: &ur_device_partition_properties_t,
    _list: ListOut<'_, ur_device_handle_t>,
) -> Result<()> {
    const NAME: &str = "urDevicePartition";
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
/// # Errors
/// Always; `UNSUPPORTED_FEATURE` for arguments that are right.
pub fn create_with_il<D: Driver>(
    _context: &Object<Context<D>>,
    _code: &[u8],
    properties: Option<&ur_program_properties_t>,
    _out: Out<'_, ur_program_handle_t>,
) -> Result<()> {
    const NAME: &str = "urProgramCreateWithIL";
    // SAFETY: the specification lets the list of metadata be valid, as its counts and tags say.
    unsafe { Metadata::read(NAME, properties) }?;
    Err(Error::unsupported(
        "urProgramCreateWithIL (no native compiler takes SPIR-V; give device code to urProgramCreateWithBinary)",
    ))
}

fn constants(call: &str) -> Result<()> {
    Err(Error::unsupported(&format!("{call} (device code has its constants compiled in)")))
}

/// `urProgramSetSpecializationConstants`.
///
/// # Errors
/// Always; `UNSUPPORTED_FEATURE` for arguments that are right.
pub fn program_constants<D: Driver>(
    _program: &Object<Program<D>>,
    _list: &[ur_specialization_constant_info_t],
) -> Result<()> {
    constants("urProgramSetSpecializationConstants")
}

/// `urKernelSetSpecializationConstants`.
///
/// # Errors
/// Always; `UNSUPPORTED_FEATURE` for arguments that are right.
pub fn kernel_constants<D: Driver>(
    _kernel: &Object<Kernel<D>>,
    _list: &[ur_specialization_constant_info_t],
) -> Result<()> {
    constants("urKernelSetSpecializationConstants")
}

/// `urProgramDynamicLinkExp`: a loaded module's symbols are resolved for good, and one with open symbols is not loaded.
///
/// # Errors
/// Always; `UNSUPPORTED_FEATURE` for arguments that are right.
pub fn dynamic_link<D: Driver>(_context: &Object<Context<D>>, _programs: Handles<'_, Program<D>>) -> Result<()> {
    Err(Error::unsupported("urProgramDynamicLinkExp (native modules resolve their symbols when they are loaded)"))
}
