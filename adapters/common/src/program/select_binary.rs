//! `urDeviceSelectBinary`: the first image whose target string is the device's, and never one for `spir64`, although SPIR-V is compiled
//! for the device: libsycl asks about each image by itself before it makes a kernel bundle, puts whatever is taken into it, and then
//! refuses SPIR-V on CUDA by itself. `libur_sycl_images.so` gives it images with the device's own target instead.
//!
//! Looks at target strings alone; images are checked when a program is made of one.

use crate::object::Object;
use crate::object::params::Out;
use core::ffi::CStr;

use ur_ffi::{ur_device_binary_t, ur_result_t};

use crate::device::Device;
use crate::driver::Driver;
use crate::object::error::{Error, Result};
use crate::object::null_pointer;

/// `urDeviceSelectBinary`.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_SIZE` for no binary, `INVALID_BINARY` when none is for the device.
pub fn select_binary<D: Driver>(
    device: &Object<Device<D>>,
    binaries: &[ur_device_binary_t],
    out: Out<'_, u32>,
) -> Result<()> {
    const NAME: &str = "urDeviceSelectBinary";
    if binaries.iter().any(|binary| binary.pDeviceTargetSpec.is_null()) {
        return Err(null_pointer(NAME));
    }
    // SAFETY: not null, so NUL-terminated by the caller's promise.
    let target_of = |binary: &ur_device_binary_t| unsafe { CStr::from_ptr(binary.pDeviceTargetSpec) };
    let wanted = device.properties.binary_target;
    let found = (0..).zip(binaries).find(|(_, binary)| target_of(binary).to_bytes() == wanted.as_bytes());
    let Some((index, _)) = found else {
        let given: Vec<_> = binaries.iter().map(|binary| target_of(binary).to_string_lossy()).collect();
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_BINARY,
            format!("{NAME}: none of {given:?} is `{wanted}`, which the device takes"),
        ));
    };
    out.write(index);
    Ok(())
}
