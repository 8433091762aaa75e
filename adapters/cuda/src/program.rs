//! Loading of device images that are known to be whole (`ur_adapter::image::check_nvidia`).
//!
//! One native call, which compiles PTX text for the device; its options and logs are `ur_adapter::jit`'s.

use ur_adapter::driver::BuildRequest;
use ur_adapter::error::Result;
use ur_adapter::{jit, native};

use crate::sys::{CUmodule, Symbols};

/// Loads a checked image that a NUL byte follows; the compiler's words are in `request.log` afterwards.
///
/// # Errors
/// As [`jit::load`]; what the loader answers.
pub(crate) fn load(symbols: &Symbols, image: &[u8], request: &mut BuildRequest<'_>) -> Result<CUmodule> {
    let mut module = CUmodule::default();
    let status = jit::load(request, |count, options, values| {
        // SAFETY: the symbol has the API's signature; the image is whole and a NUL follows it; both lists have
        // `count` entries, and the log buffers among them the sizes told.
        unsafe { (symbols.module_load)(&raw mut module, image.as_ptr().cast(), count, options, values) }
    })?;
    native::check(symbols, "cuModuleLoadDataEx", status)?;
    Ok(module)
}
