//! Statuses as text, and the thread's last error.

use core::ffi::c_char;

use crate::api::exports::number;
use crate::args::Out;
use crate::guard::{self, call};
use crate::sys::status::*;
use crate::{counts, error};

fn name(status: hipError_t) -> *const c_char {
    describe(status).map_or(c"hipErrorUnknown".as_ptr(), |(name, _)| name.as_ptr())
}

fn text(status: hipError_t) -> *const c_char {
    describe(status).map_or(c"no such status".as_ptr(), |(_, text)| text.as_ptr())
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorName(status: hipError_t) -> *const c_char {
    counts::count(number::hipGetErrorName);
    name(status)
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorString(status: hipError_t) -> *const c_char {
    counts::count(number::hipGetErrorString);
    text(status)
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDrvGetErrorName(status: hipError_t, out: Out<*const c_char>) -> hipError_t {
    call!(hipDrvGetErrorName, {
        describe(status).ok_or(hipErrorInvalidValue)?;
        out.put(name(status))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDrvGetErrorString(status: hipError_t, out: Out<*const c_char>) -> hipError_t {
    call!(hipDrvGetErrorString, {
        describe(status).ok_or(hipErrorInvalidValue)?;
        out.put(text(status))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetLastError() -> hipError_t {
    guard::plain(number::hipGetLastError, || Err(error::take_last()))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipPeekAtLastError() -> hipError_t {
    guard::plain(number::hipPeekAtLastError, || Err(error::last()))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipExtGetLastError() -> hipError_t {
    guard::plain(number::hipExtGetLastError, || Err(error::take_last_call()))
}
