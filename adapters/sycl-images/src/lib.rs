//! `libur_sycl_images.so`: stands between SYCL libraries and `libsycl`, and offers their `spir64` images to CUDA (and HIP) devices.
//!
//! A stock libsycl gives a CUDA device only images for `nvptx64`, and refuses SPIR-V there, whatever the adapter can do. So
//! libsycl is given copies of a library's images: the same bytes and kernels, with the other target and the format "native".
//! The adapter finds SPIR-V in them. The library's own images come first and as they are, so other devices find what they found.
//! Copies are made when an adapter with devices that take SPIR-V asks for them (`ur_sycl_images_offer`).
//!
//! It must come before libsycl in the search for symbols: by `LD_PRELOAD`, by being linked before it, or loaded with `RTLD_GLOBAL`.
//! It must never keep a library from being registered: what it does not know, it hands on as it came.

mod copies;
mod descriptor;
mod next;
mod owner;
mod registry;
mod targets;

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use descriptor::{Binaries, Image, PropertySet};

/// Registers the images of a library: what its constructor calls.
///
/// # Safety
/// As for libsycl's own: `binaries` is null or the address of a descriptor that stays as it is until it is unregistered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sycl_register_lib(binaries: *mut Binaries) {
    let Some(register) = next::function(c"__sycl_register_lib", __sycl_register_lib as *const (), binaries) else {
        return next::complain("__sycl_register_lib");
    };
    // SAFETY: libsycl's function, with what the caller gave.
    unsafe { register(binaries) };
    // SAFETY: the caller's promise is the one that is asked for.
    let copies = catch_unwind(|| unsafe { registry::add(binaries, register) });
    for copies in copies.unwrap_or_default() {
        // SAFETY: libsycl's function, with a descriptor that the registry keeps until it is unregistered.
        unsafe { register(copies) };
    }
}

/// Takes the images of a library back: what its destructor calls.
///
/// # Safety
/// As for libsycl's own: `binaries` was registered, and is not used by running kernels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sycl_unregister_lib(binaries: *mut Binaries) {
    let Some(unregister) = next::function(c"__sycl_unregister_lib", __sycl_unregister_lib as *const (), binaries)
    else {
        return next::complain("__sycl_unregister_lib");
    };
    let copies = catch_unwind(AssertUnwindSafe(|| registry::remove(binaries)));
    let mut copies = copies.unwrap_or_default();
    for copies in copies.iter_mut().rev() {
        // SAFETY: libsycl's function, with a descriptor that it was given and that lives until after the call.
        unsafe { unregister(copies.as_ptr()) };
    }
    // SAFETY: libsycl's function, with what the caller gave.
    unsafe { unregister(binaries) };
    let _ = catch_unwind(|| registry::retire(copies));
}

/// Offers SPIR-V images to these devices (`cuda` or `hip`), if `UR_SYCL_IMAGES` does not forbid it: those of the libraries that are
/// registered, and of all that come. An adapter calls it before it tells of devices that take SPIR-V.
///
/// # Safety
/// `devices` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ur_sycl_images_offer(devices: *const c_char) {
    if devices.is_null() {
        return;
    }
    // SAFETY: the caller's promise.
    let word = unsafe { CStr::from_ptr(devices) };
    // Whoever asked goes on without copies.
    let _ = catch_unwind(|| targets::wanted(word.to_bytes()).into_iter().for_each(registry::offer));
}
