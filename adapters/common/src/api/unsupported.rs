//! Entry points that no backend of this engine can do anything for, and why.
//!
//! Wrong arguments get the code that the specification has for them; right ones `UNSUPPORTED_FEATURE` with the reason.
//! Outputs are never touched.

use crate::object::Object;
use crate::object::params::Handles;
use crate::object::params::ListOut;

use ur_ffi::{ur_device_handle_t, ur_device_partition_properties_t, ur_result_t, ur_specialization_constant_info_t};

use crate::context::Context;
use crate::device::Device;
use crate::driver::Driver;
use crate::kernel::Kernel;
use crate::object::error::{Error, Result};
use crate::object::null_pointer;
use crate::program::Program;

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

/// `urKernelSetSpecializationConstants`.
///
/// # Errors
/// Always; `UNSUPPORTED_FEATURE` for arguments that are right.
pub fn kernel_constants<D: Driver>(
    _kernel: &Object<Kernel<D>>,
    _list: &[ur_specialization_constant_info_t],
) -> Result<()> {
    Err(Error::unsupported("urKernelSetSpecializationConstants (a program's constants are set before it is built)"))
}

/// `urProgramDynamicLinkExp`: a loaded module's symbols are resolved for good, and one with open symbols is not loaded.
///
/// # Errors
/// Always; `UNSUPPORTED_FEATURE` for arguments that are right.
pub fn dynamic_link<D: Driver>(_context: &Object<Context<D>>, _programs: Handles<'_, Program<D>>) -> Result<()> {
    Err(Error::unsupported("urProgramDynamicLinkExp (native modules resolve their symbols when they are loaded)"))
}
