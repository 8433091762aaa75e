//! Modules: device code that the library has loaded, and the names in it.
//!
//! Manuals: CUDA Driver API, Module Management; HIP runtime API, Module Management. Native loaders are given no length, so
//! they only ever see a [`CheckedImage`].

use core::ffi::CStr;
use core::marker::PhantomData;

use super::{Contexts, Handle, unsupported};
use crate::object::error::Result;

/// Text that a module's load or link left behind, and the options it is given.
#[derive(Debug, Default)]
pub struct BuildRequest<'a> {
    /// The build options of `urProgramBuild`, already split at white space and quotes.
    pub options: &'a [String],
    /// What the native compiler said: warnings after success, the errors after failure.
    pub log: String,
}

/// A device image that may be given to a native loader: the driver's [`Modules::check_image`] found it whole, or its own
/// linker made it. A NUL byte follows it.
#[derive(Debug)]
pub struct CheckedImage<D> {
    bytes: Box<[u8]>,
    driver: PhantomData<fn() -> D>,
}

impl<D: Modules> CheckedImage<D> {
    /// Copies an image that the driver finds whole.
    ///
    /// # Errors
    /// What the driver says of it.
    pub fn new(driver: &D, image: &[u8]) -> Result<Self> {
        driver.check_image(image)?;
        Ok(Self::of(image))
    }

    /// Copies an image that the native library made itself.
    ///
    /// # Safety
    /// The image is whole, and of a format that the library's loader takes.
    #[must_use]
    pub unsafe fn made_by_library(image: &[u8]) -> Self {
        Self::of(image)
    }

    /// No image: what stands in for that of a module which came without one.
    #[must_use]
    pub fn none() -> Self {
        Self::of(&[])
    }

    fn of(image: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(image.len() + 1);
        bytes.extend_from_slice(image);
        bytes.push(0);
        Self { bytes: bytes.into_boxed_slice(), driver: PhantomData }
    }

    /// The image as it was given.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.bytes.len() - 1]
    }

    /// The image and the NUL byte behind it.
    #[must_use]
    pub fn bytes_with_nul(&self) -> &[u8] {
        &self.bytes
    }
}

/// Modules.
pub trait Modules: Contexts {
    /// `CUmodule` / `hipModule_t`.
    type Module: Handle;
    /// `CUfunction` / `hipFunction_t`, which its module owns.
    type Function: Handle + Copy;

    /// Checks that `image` is whole and of a format this backend takes, without a native call: native loaders
    /// are given no length and would read past a truncated image.
    fn check_image(&self, image: &[u8]) -> Result<()>;
    /// **Needs the context.** Loads an image. `cuModuleLoadDataEx`.
    fn load_module(&self, image: &CheckedImage<Self>, request: &mut BuildRequest<'_>) -> Result<Self::Module>
    where
        Self: Sized;
    /// Ends a module. `cuModuleUnload`.
    ///
    /// # Safety
    /// No function, variable or running kernel of the module is used afterwards.
    unsafe fn unload_module(&self, module: Self::Module) -> Result<()>;
    /// **Needs the context.** Compiles an image without loading it, for its errors. `cuLinkCreate`, `cuLinkAddData`,
    /// `cuLinkDestroy` / unsupported.
    fn compile(&self, _image: &CheckedImage<Self>, _request: &mut BuildRequest<'_>) -> Result<()>
    where
        Self: Sized,
    {
        unsupported("compiling without linking")
    }
    /// **Needs the context.** Links images into one. `cuLinkCreate`, `cuLinkAddData`, `cuLinkComplete`, `cuLinkDestroy` /
    /// unsupported.
    fn link(&self, _images: &[&CheckedImage<Self>], _request: &mut BuildRequest<'_>) -> Result<CheckedImage<Self>>
    where
        Self: Sized,
    {
        unsupported("linking")
    }
    /// Names of a module's kernels, `None` when the library cannot list them. **Needs the context.**
    /// `cuModuleGetFunctionCount`, `cuModuleEnumerateFunctions`, `cuFuncGetName` / not told.
    fn function_names(&self, _module: &Self::Module) -> Result<Option<Vec<String>>> {
        Ok(None)
    }
    /// The function of that name, `None` when the module has none. **Needs the context** (HIP's ends the process when
    /// the current device is not the module's). `cuModuleGetFunction`.
    fn function(&self, module: &Self::Module, name: &CStr) -> Result<Option<Self::Function>>;
    /// Address and size of the module's variable of that name, `None` when it has none. **Needs the context** (HIP's looks
    /// the module's code of the current device up). `cuModuleGetGlobal`.
    fn global(&self, _module: &Self::Module, _name: &CStr) -> Result<Option<(usize, usize)>> {
        unsupported("a variable of a module")
    }
}
