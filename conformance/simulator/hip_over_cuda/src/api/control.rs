//! The control functions for tests: `include/hip_on_cuda.h` documents them. None counts as a call.

use core::ffi::{c_char, c_int, c_void};
use std::ffi::CString;
use std::sync::OnceLock;

use crate::args::{Raw, Text};
use crate::sys::status::hipError_t;
use crate::{counts, cuda, device, faults, host_functions};

/// Receives a name and a number.
pub type CountCallback = Option<unsafe extern "C" fn(name: *const c_char, count: u64, data: *mut c_void)>;

#[unsafe(no_mangle)]
pub extern "C" fn hiponcudaCallCount(name: Text) -> u64 {
    name.get().map_or(0, counts::of)
}

#[unsafe(no_mangle)]
pub extern "C" fn hiponcudaCallCounts(callback: CountCallback, data: Raw) {
    let Some(callback) = callback else { return };
    for (name, count) in counts::all() {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the caller gave callback and data for this.
        unsafe { callback(name.as_ptr(), count, data.raw()) };
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn hiponcudaResetCallCounts() {
    counts::reset();
}

#[unsafe(no_mangle)]
pub extern "C" fn hiponcudaInjectFault(name: Text, nth: u64, error: c_int, count: u64) -> c_int {
    match name.get().ok().and_then(counts::number) {
        Some(function) => {
            faults::inject(function, nth, hipError_t(error), count);
            0
        }
        None => 1,
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn hiponcudaClearFaults() {
    faults::clear();
}

/// Answers 0, or 1 for an image or a name that is null.
#[unsafe(no_mangle)]
pub extern "C" fn hiponcudaRegisterFunction(symbol: Raw, image: Text, name: Text) -> c_int {
    let text = |text: Text| text.get().ok().and_then(|text| CString::new(text).ok());
    match (text(image), text(name)) {
        (Some(image), Some(name)) => {
            host_functions::register(symbol.address(), image, name);
            0
        }
        _ => 1,
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn hiponcudaForgetFunctions() {
    let _ = std::panic::catch_unwind(host_functions::forget_all);
}

#[unsafe(no_mangle)]
pub extern "C" fn hiponcudaReleaseContexts() {
    let _ = std::panic::catch_unwind(device::release_contexts);
}

#[unsafe(no_mangle)]
pub extern "C" fn hiponcudaOpenError() -> *const c_char {
    static TEXT: OnceLock<CString> = OnceLock::new();
    match cuda::open_error() {
        Some(text) => TEXT.get_or_init(|| CString::new(text).unwrap_or_default()).as_ptr(),
        None => core::ptr::null(),
    }
}
