//! What a measuring program calls; `include/callcount.h` documents it. None of these counts, and all may be called at any
//! time from any thread.

use core::ffi::{CStr, c_char, c_void};

use crate::load;
use crate::trampolines::{COUNT, NAMES, calls, index_of, reset, target};

/// Receives a symbol that was called and how often.
type Callback = Option<unsafe extern "C" fn(name: *const c_char, count: u64, data: *mut c_void)>;

/// Calls of all symbols together.
#[unsafe(no_mangle)]
extern "C" fn callcountTotal() -> u64 {
    (0..COUNT).map(calls).sum()
}

/// Calls of one symbol; 0 for a name that is not counted.
#[unsafe(no_mangle)]
unsafe extern "C" fn callcountOf(name: *const c_char) -> u64 {
    if name.is_null() {
        return 0;
    }
    // SAFETY: not null, so a C string by the contract.
    index_of(unsafe { CStr::from_ptr(name) }).map_or(0, calls)
}

/// Sets every count to 0.
#[unsafe(no_mangle)]
extern "C" fn callcountReset() {
    reset();
}

/// Hands each symbol that was called to the callback, sorted by name, on this thread, before it returns.
#[unsafe(no_mangle)]
unsafe extern "C" fn callcountEach(callback: Callback, data: *mut c_void) {
    let Some(callback) = callback else { return };
    for (index, name) in NAMES.iter().enumerate() {
        let count = calls(index);
        if count > 0 {
            // SAFETY: the client gave callback and data for this call.
            unsafe { callback(name.as_ptr(), count, data) };
        }
    }
}

/// How many of the counted symbols the real library has.
#[unsafe(no_mangle)]
extern "C" fn callcountSymbols() -> u64 {
    (0..COUNT).filter(|&index| !target(index).is_null()).count() as u64
}

/// The name under which the real library was opened; null if that failed.
#[unsafe(no_mangle)]
extern "C" fn callcountLibrary() -> *const c_char {
    load::library().map_or(core::ptr::null(), CStr::as_ptr)
}
