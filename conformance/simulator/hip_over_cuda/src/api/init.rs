//! Initialisation, versions, and functions by name.

use core::ffi::{c_int, c_uint, c_void};

use crate::api::exports;
use crate::args::{Out, Text};
use crate::guard::call;
use crate::sys::status::*;
use crate::{counts, device};

/// The version of HIP whose API this library speaks: major * 10 000 000 + minor * 100 000 + patch.
const VERSION: c_int = 7 * 10_000_000 + 100_000;

#[unsafe(no_mangle)]
pub extern "C" fn hipInit(flags: c_uint) -> hipError_t {
    call!(hipInit, {
        if flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        if device::all()?.is_empty() { Err(hipErrorNoDevice) } else { Ok(()) }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDriverGetVersion(version: Out<c_int>) -> hipError_t {
    call!(hipDriverGetVersion, { version.put(VERSION) })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipRuntimeGetVersion(version: Out<c_int>) -> hipError_t {
    call!(hipRuntimeGetVersion, { version.put(VERSION) })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetProcAddress(
    symbol: Text,
    function: Out<*const c_void>,
    _version: c_int,
    _flags: u64,
    status: Out<c_int>,
) -> hipError_t {
    const FOUND: c_int = 0;
    const NOT_FOUND: c_int = 1;
    call!(hipGetProcAddress, {
        function.required()?;
        let Some(number) = counts::number(symbol.get()?) else {
            function.put(core::ptr::null())?;
            status.put_if(NOT_FOUND);
            return Err(hipErrorInvalidValue);
        };
        status.put_if(FOUND);
        function.put(exports::address(number))
    })
}
