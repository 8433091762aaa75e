//! The variant of a kernel that takes a global offset, `NAME_with_offset`: a function of the program, found with the kernel, or of
//! an image that is made for it at the first launch that has an offset.

use core::ffi::CStr;
use std::ffi::CString;
use std::sync::OnceLock;

use ur_ffi::ur_result_t;

use crate::driver::Driver;
use crate::kernel::{DeviceKernel, Function};
use crate::object::error::{Error, Result};

/// The variant, as far as it is known.
pub struct OffsetVariant<D: Driver> {
    function: OnceLock<Function<D>>,
    name: CString,
}

impl<D: Driver> OffsetVariant<D> {
    /// That of the kernel of this name; `None` if nobody knows the name.
    pub(super) fn of(kernel: Option<&CStr>) -> Self {
        let mut name = kernel.map(|name| name.to_bytes().to_vec()).unwrap_or_default();
        name.extend_from_slice(b"_with_offset");
        // A C string has no NUL inside, and neither has the suffix.
        Self { function: OnceLock::new(), name: CString::new(name).unwrap_or_default() }
    }

    /// The function, if it is there already.
    pub fn known(&self) -> Option<&Function<D>> {
        self.function.get()
    }

    pub(super) fn name(&self) -> &CStr {
        &self.name
    }

    pub(super) fn set(&self, function: Function<D>) -> &Function<D> {
        self.function.get_or_init(|| function)
    }
}

impl<D: Driver> DeviceKernel<D> {
    /// The variant's function.
    ///
    /// # Errors
    /// `INVALID_OPERATION` for device code without one; as [`crate::program::offset_image::OffsetImage::module`].
    pub fn function_with_offset(&self, call: &str) -> Result<&Function<D>> {
        match self.with_offset.known() {
            Some(known) => Ok(known),
            None => self.make_variant(call),
        }
    }

    #[cold]
    fn make_variant(&self, call: &str) -> Result<&Function<D>> {
        let image = self.module.with_offset.as_ref().ok_or_else(|| no_variant(call))?;
        let state = &self.module.state;
        // The kernel's own module keeps it.
        let module = image.module(state)?;
        let _scope = state.enter()?;
        let function = Self::function(&module, self.with_offset.name())?.ok_or_else(|| no_variant(call))?;
        // Whoever raised the kernel's limits before now has not raised those of this function.
        let (properties, own) =
            (&state.device.properties, state.driver.function_attributes(function.raw)?.static_shared);
        let most = properties.shared_per_block_optin;
        if most > properties.shared_per_block {
            state.driver.allow_dynamic_shared(function.raw, most.saturating_sub(own))?;
        }
        if properties.clusters {
            state.driver.allow_large_clusters(function.raw)?;
        }
        Ok(self.with_offset.set(function))
    }
}

fn no_variant(call: &str) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_OPERATION,
        format!("{call}: a global offset needs the kernel's `_with_offset` variant, which the program lacks"),
    )
}
