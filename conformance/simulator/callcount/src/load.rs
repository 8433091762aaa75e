//! What happens when the library is opened: the real library is opened, every symbol looked up, and what it lacks hidden.
//! It must be over before anyone can look a symbol up here, so it runs as the library's initialiser.

use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::Ordering;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;

use crate::hide;
use crate::trampolines::{ENTRIES, NAMES, TARGETS};

/// The variable that names the library to count.
const VARIABLE: &str = "UR_CALLCOUNT_LIBRARY";

/// The library without it.
const DEFAULT: &CStr = c"libcuda.so.1";

/// The name under which the real library was opened.
static LIBRARY: OnceLock<CString> = OnceLock::new();

#[used]
#[unsafe(link_section = ".init_array")]
static INITIALISER: extern "C" fn() = initialise;

extern "C" fn initialise() {
    let name = std::env::var_os(VARIABLE)
        .filter(|name| !name.is_empty())
        .and_then(|name| CString::new(name.as_bytes()).ok())
        .unwrap_or_else(|| DEFAULT.to_owned());
    let real = open(&name);
    if real.is_null() {
        // Nothing is left to export then, and the client's own message would only name a missing symbol.
        eprintln!("callcount: cannot open the library to count ({VARIABLE}): {}", linker_message());
    } else {
        let _ = LIBRARY.set(name);
    }
    let mut missing = Vec::new();
    for (index, name) in NAMES.iter().enumerate() {
        let address = look_up(real, name);
        // Its own trampoline as target would never end: the library was told to count itself.
        if address.is_null() || core::ptr::eq(address, ENTRIES[index].0) {
            missing.push(ENTRIES[index].0);
        } else {
            TARGETS[index].store(address, Ordering::Relaxed);
        }
    }
    hide::from_lookup(&missing);
}

/// The name under which the real library was opened, if it was.
pub fn library() -> Option<&'static CStr> {
    LIBRARY.get().map(CString::as_c_str)
}

/// Opens the real library for good; null if that fails.
fn open(name: &CStr) -> *mut c_void {
    // SAFETY: opening runs the library's initialisers; whoever set the variable or installed the driver asked for it.
    unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) }
}

fn look_up(library: *mut c_void, name: &CStr) -> *mut c_void {
    if library.is_null() {
        return core::ptr::null_mut();
    }
    // SAFETY: a handle that `dlopen` gave and that is never closed.
    unsafe { libc::dlsym(library, name.as_ptr()) }
}

fn linker_message() -> String {
    // SAFETY: the answer is null or a string that stays until this thread's next call of the family.
    let message: *const c_char = unsafe { libc::dlerror() };
    if message.is_null() {
        return "no reason given".to_owned();
    }
    // SAFETY: not null, and as above.
    unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned()
}
