//! `urDeviceSelectBinary`: the first image whose target string is the device's.
//!
//! Looks at target strings alone; images are checked when a program is made of one.

use core::ffi::CStr;

use ur_ffi::{ur_device_binary_t, ur_device_handle_t, ur_result_t};

use crate::device::Device;
use crate::driver::Driver;
use crate::object::error::{Error, Result};
use crate::object::{borrow, null_pointer};

/// `urDeviceSelectBinary`.
///
/// # Safety
/// The C contract: `binaries` holds `count` descriptions with NUL-terminated target strings, `out` is writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_SIZE` for no binary, `INVALID_BINARY` when none is for the device.
pub unsafe fn select_binary<D: Driver>(
    device: ur_device_handle_t,
    binaries: *const ur_device_binary_t,
    count: u32,
    out: *mut u32,
) -> Result<()> {
    const NAME: &str = "urDeviceSelectBinary";
    // SAFETY: the caller's promise is the same.
    let device = unsafe { borrow::<Device<D>>(device) }?;
    if binaries.is_null() || out.is_null() {
        return Err(null_pointer(NAME));
    }
    if count == 0 {
        return Err(Error::new(ur_result_t::ERROR_INVALID_SIZE, format!("{NAME}: NumBinaries is 0")));
    }
    // SAFETY: holds `count` descriptions by the caller's promise.
    let binaries = unsafe { core::slice::from_raw_parts(binaries, count as usize) };
    if binaries.iter().any(|binary| binary.pDeviceTargetSpec.is_null()) {
        return Err(null_pointer(NAME));
    }
    // SAFETY: not null, so NUL-terminated by the caller's promise.
    let target_of = |binary: &ur_device_binary_t| unsafe { CStr::from_ptr(binary.pDeviceTargetSpec) };
    let wanted = device.properties.binary_target;
    let found = (0..count).zip(binaries).find(|(_, binary)| target_of(binary).to_bytes() == wanted.as_bytes());
    let Some((index, _)) = found else {
        let given: Vec<_> = binaries.iter().map(|binary| target_of(binary).to_string_lossy()).collect();
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_BINARY,
            format!("{NAME}: none of {given:?} is `{wanted}`, which the device takes"),
        ));
    };
    // SAFETY: not null, so writable.
    unsafe { out.write(index) };
    Ok(())
}
