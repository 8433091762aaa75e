//! `libur_sycl_images.so`, where it stands before libsycl: it has SYCL libraries' SPIR-V images for devices that libsycl gives none, and
//! offers them once an adapter says that there are such devices. Nothing here loads it.

use core::ffi::{CStr, c_char};

use ur_ffi::ur_backend_t;

/// Asks for the images. libsycl looks for images once it has a device, so this comes before the first one is told of. The library
/// registers them with libsycl, so no lock may be held.
pub fn ask_for(backend: ur_backend_t) {
    let devices: &CStr = match backend {
        ur_backend_t::CUDA => c"cuda",
        ur_backend_t::HIP => c"hip",
        _ => return,
    };
    // SAFETY: a symbol of that name is the library's function of this signature; it reads the string and keeps nothing of it.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, c"ur_sycl_images_offer".as_ptr());
        if !found.is_null() {
            core::mem::transmute::<*mut core::ffi::c_void, unsafe extern "C" fn(*const c_char)>(found)(
                devices.as_ptr(),
            );
        }
    }
}
