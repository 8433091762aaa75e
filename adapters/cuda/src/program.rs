//! Loading and linking of device images that are known to be whole (`ur_adapter::program::device_image::check_nvidia`).
//!
//! Loading is one native call, which compiles PTX text for the device; linking takes PTX, cubins and fat binaries
//! and makes a cubin. Options and logs are `ur_adapter::program::jit`'s. A linker never outlives the call that made it.

use core::ffi::c_uint;

use ur_adapter::driver::BuildRequest;
use ur_adapter::driver::native;
use ur_adapter::object::error::Result;
use ur_adapter::program::device_image::elf;
use ur_adapter::program::jit;

use crate::sys::{CUlinkState, CUmodule, Symbols, input};

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

/// Compiles a checked image for its errors alone.
///
/// # Errors
/// As [`jit::load`]; what the linker's compiler answers.
pub(crate) fn compile(symbols: &Symbols, image: &[u8], request: &mut BuildRequest<'_>) -> Result<()> {
    jit::load(request, |count, options, values| Linker::new(symbols, count, options, values)?.add(image, 0))?
}

/// Links checked images, each with the NUL that follows it, into a cubin.
///
/// # Errors
/// As [`jit::load`]; what the linker answers.
pub(crate) fn link(symbols: &Symbols, images: &[&[u8]], request: &mut BuildRequest<'_>) -> Result<Vec<u8>> {
    jit::load(request, |count, options, values| {
        let linker = Linker::new(symbols, count, options, values)?;
        images.iter().enumerate().try_for_each(|(index, image)| linker.add(image, index))?;
        linker.complete()
    })?
}

/// A native linker, destroyed with this.
struct Linker<'s> {
    symbols: &'s Symbols,
    raw: CUlinkState,
}

impl<'s> Linker<'s> {
    fn new(
        symbols: &'s Symbols,
        count: c_uint,
        options: *mut u32,
        values: *mut *mut core::ffi::c_void,
    ) -> Result<Self> {
        let mut raw = CUlinkState::default();
        // SAFETY: the symbol has the API's signature; both lists have `count` entries and outlive the linker, as do
        // the log buffers among them: `jit::load` keeps them until its closure, which owns the linker, is done.
        let status = unsafe { (symbols.link_create)(count, options, values, &raw mut raw) };
        native::check(symbols, "cuLinkCreate", status).map(|()| Self { symbols, raw })
    }

    /// Adds an image; the linker's messages call it by its index among the programs.
    fn add(&self, image: &[u8], index: usize) -> Result<()> {
        const FATBIN: &[u8] = &[0x50, 0xed, 0x55, 0xba];
        let (kind, size) = match image {
            // Binaries are counted without the NUL, which is only text's.
            _ if image.starts_with(elf::MAGIC) => (input::CUBIN, image.len().saturating_sub(1)),
            _ if image.starts_with(FATBIN) => (input::FATBINARY, image.len().saturating_sub(1)),
            _ => (input::PTX, image.len()),
        };
        let name = std::ffi::CString::new(format!("program {index}")).unwrap_or_default();
        // SAFETY: the symbol has the API's signature; the image has at least `size` bytes and no options go with it.
        let status = unsafe {
            (self.symbols.link_add)(
                self.raw,
                kind,
                image.as_ptr().cast(),
                size,
                name.as_ptr(),
                0,
                core::ptr::null_mut(),
                core::ptr::null_mut(),
            )
        };
        native::check(self.symbols, "cuLinkAddData", status)
    }

    fn complete(&self) -> Result<Vec<u8>> {
        let (mut image, mut size) = (core::ptr::null_mut(), 0);
        // SAFETY: the symbol has the API's signature and both outputs are live locals.
        let status = unsafe { (self.symbols.link_complete)(self.raw, &raw mut image, &raw mut size) };
        native::check(self.symbols, "cuLinkComplete", status)?;
        // SAFETY: the driver's image has `size` bytes and lives as long as the linker.
        Ok(unsafe { core::slice::from_raw_parts(image.cast::<u8>(), size) }.to_vec())
    }
}

impl Drop for Linker<'_> {
    fn drop(&mut self) {
        // SAFETY: the linker is this object's own and is destroyed once.
        let _ = unsafe { (self.symbols.link_destroy)(self.raw) };
    }
}
