//! Modules and the names in them.
//!
//! Formats and options are `crate::program`'s.

use core::ffi::CStr;

use ur_adapter::driver::{BuildRequest, CheckedImage, Modules};
use ur_adapter::object::error::{Error, Result};

use super::Hip;
use crate::program;
use crate::sys::{DevicePointer, HipError, HipFunction, HipModule};

impl Modules for Hip {
    type Module = HipModule;
    type Function = HipFunction;

    fn check_image(&self, image: &[u8]) -> Result<()> {
        program::check(image, self.loader)
    }

    fn load_module(&self, image: &CheckedImage<Self>, request: &mut BuildRequest<'_>) -> Result<HipModule> {
        program::load(&self.symbols, self.loader, image.bytes_with_nul(), request)
    }

    unsafe fn unload_module(&self, module: HipModule) -> Result<()> {
        // SAFETY: the handle was the module's owner, and the caller says that nothing of it is used.
        self.check("hipModuleUnload", unsafe { (self.symbols.module_unload)(module) })
    }

    fn compile(&self, _image: &CheckedImage<Self>, _request: &mut BuildRequest<'_>) -> Result<()> {
        Err(Error::unsupported("compiling without linking (HIP's images are machine code)"))
    }

    fn link(&self, _images: &[&CheckedImage<Self>], _request: &mut BuildRequest<'_>) -> Result<CheckedImage<Self>> {
        Err(Error::unsupported("linking (HIP's images are machine code, which its runtime links no further)"))
    }

    fn function_names(&self, _module: &HipModule) -> Result<Option<Vec<String>>> {
        // No call of the runtime lists them.
        Ok(None)
    }

    // AMD's devices have no limit of work-group memory to raise, so that is called where HIP runs on another vendor's
    // library.

    fn function(&self, module: &HipModule, name: &CStr) -> Result<Option<HipFunction>> {
        let mut function = HipFunction::default();
        // SAFETY: the output is a live local, the module is borrowed and the name ends with a NUL.
        let found = self.check("hipModuleGetFunction", unsafe {
            (self.symbols.module_function)(&raw mut function, *module, name.as_ptr())
        });
        match found {
            Ok(()) => Ok(Some(function)),
            Err(error) if error.native_status() == HipError::hipErrorNotFound.0 => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn global(&self, module: &HipModule, name: &CStr) -> Result<Option<(usize, usize)>> {
        let (mut address, mut size): (DevicePointer, usize) = (0, 0);
        let found =
            // SAFETY: both outputs are live locals, the module is borrowed and the name ends with a NUL.
            self.check("hipModuleGetGlobal", unsafe { (self.symbols.module_global)(&raw mut address, &raw mut size, *module, name.as_ptr()) });
        match found {
            Ok(()) => Ok(Some((address, size))),
            Err(error) if error.native_status() == HipError::hipErrorNotFound.0 => Ok(None),
            Err(error) => Err(error),
        }
    }
}
