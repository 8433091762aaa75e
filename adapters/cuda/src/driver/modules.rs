//! Modules and the names in them.
//!
//! Formats and options are `crate::program`'s.

use core::ffi::{CStr, c_uint};

use ur_adapter::driver::{BuildRequest, CheckedImage, Kernels as _, Modules};
use ur_adapter::object::error::Result;
use ur_adapter::program::device_image::check_nvidia;

use super::Cuda;
use crate::program;
use crate::sys::{CUdeviceptr, CUfunction, CUmodule, CUresult};

impl Modules for Cuda {
    type Module = CUmodule;
    type Function = CUfunction;

    fn check_image(&self, image: &[u8]) -> Result<()> {
        check_nvidia(image)
    }

    fn load_module(&self, image: &CheckedImage<Self>, request: &mut BuildRequest<'_>) -> Result<CUmodule> {
        program::load(&self.symbols, image.bytes_with_nul(), request)
    }

    unsafe fn unload_module(&self, module: CUmodule) -> Result<()> {
        // SAFETY: the handle was the module's owner, and the caller says that nothing of it is used.
        self.check("cuModuleUnload", unsafe { (self.symbols.module_unload)(module) })
    }

    fn compile(&self, image: &CheckedImage<Self>, request: &mut BuildRequest<'_>) -> Result<()> {
        program::compile(&self.symbols, image.bytes_with_nul(), request)
    }

    fn link(&self, images: &[&CheckedImage<Self>], request: &mut BuildRequest<'_>) -> Result<CheckedImage<Self>> {
        let images: Vec<_> = images.iter().map(|image| image.bytes_with_nul()).collect();
        let linked = program::link(&self.symbols, &images, request)?;
        // SAFETY: the driver's linker made it, and its loader takes what that makes.
        Ok(unsafe { CheckedImage::made_by_library(&linked) })
    }

    fn function_names(&self, module: &CUmodule) -> Result<Option<Vec<String>>> {
        let (Some(count), Some(list)) = (self.symbols.module_function_count, self.symbols.module_functions) else {
            return Ok(None);
        };
        let mut number: c_uint = 0;
        // SAFETY: the output is a live local and the module is loaded.
        self.check("cuModuleGetFunctionCount", unsafe { count(&raw mut number, *module) })?;
        // As its lists of graphs' nodes and edges, the driver may refuse one without room.
        if number == 0 {
            return Ok(Some(Vec::new()));
        }
        let mut functions = vec![CUfunction::default(); number as usize];
        // SAFETY: as above; the list has room for as many as are asked for.
        self.check("cuModuleEnumerateFunctions", unsafe { list(functions.as_mut_ptr(), number, *module) })?;
        let mut names = Vec::with_capacity(functions.len());
        for function in functions {
            let Some(name) = self.function_name(function)? else { return Ok(None) };
            names.push(name.to_string_lossy().into_owned());
        }
        Ok(Some(names))
    }

    fn function(&self, module: &CUmodule, name: &CStr) -> Result<Option<CUfunction>> {
        let mut function = CUfunction::default();
        // SAFETY: the output is a live local, the module is loaded and the name ends with a NUL.
        let status = unsafe { (self.symbols.module_function)(&raw mut function, *module, name.as_ptr()) };
        match status {
            CUresult::SUCCESS => Ok(Some(function)),
            CUresult::NOT_FOUND => Ok(None),
            _ => Err(self.failed("cuModuleGetFunction", status)),
        }
    }

    fn global(&self, module: &CUmodule, name: &CStr) -> Result<Option<(usize, usize)>> {
        let (mut address, mut size): (CUdeviceptr, usize) = (0, 0);
        // SAFETY: the outputs are live locals, the module is loaded and the name ends with a NUL.
        let status = unsafe { (self.symbols.module_global)(&raw mut address, &raw mut size, *module, name.as_ptr()) };
        match status {
            CUresult::SUCCESS => Ok(Some((address, size))),
            CUresult::NOT_FOUND => Ok(None),
            _ => Err(self.failed("cuModuleGetGlobal", status)),
        }
    }
}
