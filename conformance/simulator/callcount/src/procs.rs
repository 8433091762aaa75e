//! `cuGetProcAddress`: clients that ask the driver for addresses get this library's instead, so that their calls count
//! too. An address that is no counted symbol's is handed on as it is.

use core::ffi::{c_char, c_int, c_void};

use crate::trampolines::{COUNT, CUGETPROCADDRESS, CUGETPROCADDRESS_V2, ENTRIES, count, target};

/// `CUDA_SUCCESS`.
const SUCCESS: c_int = 0;
/// `CUDA_ERROR_NOT_SUPPORTED`; unreachable, because a function without a target is hidden.
const NOT_SUPPORTED: c_int = 801;

type V1 = unsafe extern "C" fn(*const c_char, *mut *const c_void, c_int, u64) -> c_int;
type V2 = unsafe extern "C" fn(*const c_char, *mut *const c_void, c_int, u64, *mut c_int) -> c_int;

/// The exported function that leads to a native address, or the address itself.
fn counted(address: *const c_void) -> *const c_void {
    (0..COUNT).find(|&index| core::ptr::eq(target(index), address)).map_or(address, |index| ENTRIES[index].0)
}

/// Replaces the address that the driver wrote.
///
/// # Safety
/// `place` is null or writable.
unsafe fn replace(place: *mut *const c_void) {
    // SAFETY: null or writable, by the caller's promise.
    if let Some(place) = unsafe { place.as_mut() }
        && !place.is_null()
    {
        *place = counted(*place);
    }
}

/// The driver's lookup, first version.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetProcAddress(
    name: *const c_char,
    place: *mut *const c_void,
    version: c_int,
    flags: u64,
) -> c_int {
    count(CUGETPROCADDRESS);
    let real = target(CUGETPROCADDRESS);
    if real.is_null() {
        return NOT_SUPPORTED;
    }
    // SAFETY: the real library's symbol of this name has this signature; the caller's arguments go on as they are.
    unsafe {
        let real = core::mem::transmute::<*mut c_void, V1>(real);
        let result = real(name, place, version, flags);
        if result == SUCCESS {
            replace(place);
        }
        result
    }
}

/// The driver's lookup since CUDA 12.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetProcAddress_v2(
    name: *const c_char,
    place: *mut *const c_void,
    version: c_int,
    flags: u64,
    status: *mut c_int,
) -> c_int {
    count(CUGETPROCADDRESS_V2);
    let real = target(CUGETPROCADDRESS_V2);
    if real.is_null() {
        return NOT_SUPPORTED;
    }
    // SAFETY: as above.
    unsafe {
        let real = core::mem::transmute::<*mut c_void, V2>(real);
        let result = real(name, place, version, flags, status);
        if result == SUCCESS {
            replace(place);
        }
        result
    }
}
