//! Addresses of what a built program holds: variables, and what there is to say of functions.
//!
//! Asked of the native library each time; the addresses live as long as the program's module.

use core::ffi::{CStr, c_char, c_void};
use std::ffi::CString;

use ur_ffi::{ur_device_handle_t, ur_program_handle_t, ur_result_t};

use crate::device::Device;
use crate::driver::Driver;
use crate::object::error::{Error, Result};
use crate::object::{Object, borrow, null_pointer};
use crate::program::Program;

impl<D: Driver> Program<D> {
    /// Address and size of a variable on a device. A device global is found by the name that its compiler's metadata
    /// maps to a symbol, any other variable by its symbol.
    ///
    /// # Errors
    /// `INVALID_DEVICE`, `INVALID_PROGRAM_EXECUTABLE`; `INVALID_VALUE` for a name that the program does not have.
    pub fn global(&self, call: &str, device: &Object<Device<D>>, name: &CStr) -> Result<(usize, usize)> {
        let module = self.module(call, device)?;
        let told = name.to_string_lossy();
        let symbol = self.metadata.symbol_of(&told).map_or(name, CString::as_c_str);
        let missing = || {
            Error::new(
                ur_result_t::ERROR_INVALID_VALUE,
                format!("{call}: the program has no variable named `{told}` on that device"),
            )
        };
        if symbol.is_empty() {
            return Err(missing());
        }
        let _scope = module.state.enter()?;
        module.state.driver.global(module.raw, symbol)?.ok_or_else(missing)
    }
}

/// `urProgramGetGlobalVariablePointer`.
///
/// # Safety
/// The C contract: `name` is NUL-terminated, `size_out` null or writable, `out` writable.
///
/// # Errors
/// As [`Program::global`]; `INVALID_NULL_POINTER`.
pub unsafe fn global_variable_pointer<D: Driver>(
    device: ur_device_handle_t,
    program: ur_program_handle_t,
    name: *const c_char,
    size_out: *mut usize,
    out: *mut *mut c_void,
) -> Result<()> {
    const NAME: &str = "urProgramGetGlobalVariablePointer";
    // SAFETY: the caller's promises are the same.
    let (device, program) = unsafe { (borrow::<Device<D>>(device)?, borrow::<Program<D>>(program)?) };
    if name.is_null() || out.is_null() {
        return Err(null_pointer(NAME));
    }
    // SAFETY: NUL-terminated by the caller's promise.
    let (address, size) = program.global(NAME, device, unsafe { CStr::from_ptr(name) })?;
    // SAFETY: not null, so writable.
    unsafe { out.write(core::ptr::with_exposed_provenance_mut(address)) };
    if !size_out.is_null() {
        // SAFETY: as above.
        unsafe { size_out.write(size) };
    }
    Ok(())
}

/// `urProgramGetFunctionPointer`: native libraries find kernels and tell no address in the device's code, so a name
/// that is there is told apart from one that is not, and that is all.
///
/// # Safety
/// The C contract: `name` is NUL-terminated, `out` writable.
///
/// # Errors
/// `INVALID_KERNEL_NAME` for a name that the program does not have, `FUNCTION_ADDRESS_NOT_AVAILABLE` for one it has;
/// `INVALID_DEVICE`, `INVALID_PROGRAM_EXECUTABLE`, `INVALID_NULL_POINTER`.
///
/// # Unsupported
/// - always: native libraries tell no addresses in the device's code; for a kernel that is there it answers
///   `UR_RESULT_ERROR_FUNCTION_ADDRESS_NOT_AVAILABLE`
pub unsafe fn function_pointer<D: Driver>(
    device: ur_device_handle_t,
    program: ur_program_handle_t,
    name: *const c_char,
    out: *mut *mut c_void,
) -> Result<()> {
    const NAME: &str = "urProgramGetFunctionPointer";
    // SAFETY: the caller's promises are the same.
    let (device, program) = unsafe { (borrow::<Device<D>>(device)?, borrow::<Program<D>>(program)?) };
    if name.is_null() || out.is_null() {
        return Err(null_pointer(NAME));
    }
    let module = program.module(NAME, device)?;
    // SAFETY: NUL-terminated by the caller's promise.
    let name = unsafe { CStr::from_ptr(name) };
    let found = !name.is_empty() && {
        let _scope = module.state.enter()?;
        module.state.driver.function(module.raw, name)?.is_some()
    };
    let told = name.to_string_lossy();
    Err(if found {
        Error::new(
            ur_result_t::ERROR_FUNCTION_ADDRESS_NOT_AVAILABLE,
            format!("{NAME}: `{told}` is a kernel; the native library tells no addresses in the device's code"),
        )
    } else {
        Error::new(ur_result_t::ERROR_INVALID_KERNEL_NAME, format!("{NAME}: the program has no kernel named `{told}`"))
    })
}
