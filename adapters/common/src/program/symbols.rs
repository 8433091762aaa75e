//! Addresses of what a built program holds: variables, and what there is to say of functions.
//!
//! Asked of the native library each time; the addresses live as long as the program's module.

use crate::object::params::Out;
use core::ffi::{CStr, c_void};
use std::ffi::CString;

use ur_ffi::ur_result_t;

use crate::device::Device;
use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::{Error, Result};
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
        module.state.driver.global(&module.raw, symbol)?.ok_or_else(missing)
    }
}

/// `urProgramGetGlobalVariablePointer`.
///
/// # Errors
/// As [`Program::global`]; `INVALID_NULL_POINTER`.
pub fn global_variable_pointer<D: Driver>(
    device: &Object<Device<D>>,
    program: &Object<Program<D>>,
    name: &CStr,
    size_out: Option<Out<'_, usize>>,
    out: Out<'_, *mut c_void>,
) -> Result<()> {
    const NAME: &str = "urProgramGetGlobalVariablePointer";
    let (address, size) = program.global(NAME, device, name)?;
    out.write(core::ptr::with_exposed_provenance_mut(address));
    if let Some(size_out) = size_out {
        size_out.write(size);
    }
    Ok(())
}

/// `urProgramGetFunctionPointer`: native libraries find kernels and tell no address in the device's code, so a name
/// that is there is told apart from one that is not, and that is all.
///
/// # Errors
/// `INVALID_KERNEL_NAME` for a name that the program does not have, `FUNCTION_ADDRESS_NOT_AVAILABLE` for one it has;
/// `INVALID_DEVICE`, `INVALID_PROGRAM_EXECUTABLE`, `INVALID_NULL_POINTER`.
pub fn function_pointer<D: Driver>(
    device: &Object<Device<D>>,
    program: &Object<Program<D>>,
    name: &CStr,
    _out: Out<'_, *mut c_void>,
) -> Result<()> {
    const NAME: &str = "urProgramGetFunctionPointer";
    let module = program.module(NAME, device)?;
    let told = name.to_string_lossy();
    let found = !name.is_empty() && program.target(device)?.may_have_kernel(&told) && {
        let _scope = module.state.enter()?;
        module.state.driver.function(&module.raw, name)?.is_some()
    };
    Err(if found {
        Error::new(
            ur_result_t::ERROR_FUNCTION_ADDRESS_NOT_AVAILABLE,
            format!("{NAME}: `{told}` is a kernel; the native library tells no addresses in the device's code"),
        )
    } else {
        Error::new(ur_result_t::ERROR_INVALID_KERNEL_NAME, format!("{NAME}: the program has no kernel named `{told}`"))
    })
}
