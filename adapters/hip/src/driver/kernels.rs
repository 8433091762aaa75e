//! Functions, what is known of them, and their launch.
//!
//! Nothing here knows a kernel's parameters.

use core::ffi::{CStr, c_int, c_void};
use std::ffi::CString;

use ur_adapter::driver::{CachePreference, FunctionAttributes, Kernels, LaunchShape};
use ur_adapter::object::error::{Error, Result};
use ur_ffi::ur_result_t;

use super::Hip;
use crate::sys::{self, HipFunction, HipStream};

impl Hip {
    fn function_attribute(&self, function: HipFunction, attribute: c_int) -> Result<u32> {
        let mut value: c_int = 0;
        // SAFETY: the output is a live local, and the function's module is loaded.
        self.check("hipFuncGetAttribute", unsafe {
            (self.symbols.function_attribute)(&raw mut value, attribute, function)
        })?;
        // The runtime computes sizes with a subtraction and lets -1 out.
        Ok(u32::try_from(value).unwrap_or(0))
    }
}

impl Kernels for Hip {
    fn function_attributes(&self, function: HipFunction) -> Result<FunctionAttributes> {
        use sys::function as of;
        let number = |attribute| self.function_attribute(function, attribute);
        Ok(FunctionAttributes {
            max_threads_per_block: number(of::HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            static_shared: number(of::HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)? as usize,
            private_memory: number(of::HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)? as usize,
            registers: number(of::HIP_FUNC_ATTRIBUTE_NUM_REGS)?,
            constant_memory: number(of::HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)? as usize,
            binary_version: number(of::HIP_FUNC_ATTRIBUTE_BINARY_VERSION)?,
        })
    }

    fn function_name(&self, function: HipFunction) -> Result<Option<CString>> {
        // SAFETY: the function's module is loaded.
        let name = unsafe { (self.symbols.function_name)(function) };
        // SAFETY: null, or the runtime's own NUL-terminated name, which lives as long as the module.
        Ok((!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_owned()))
    }

    fn function_module(&self, _function: HipFunction) -> Result<Option<usize>> {
        // No call of the runtime tells it.
        Ok(None)
    }

    fn function_by_symbol(&self, symbol: usize) -> Result<HipFunction> {
        let Some(find) = self.symbols.function_by_symbol else {
            return Err(Error::unsupported("a kernel by its host symbol by a runtime without hipGetFuncBySymbol"));
        };
        let mut function = HipFunction::default();
        // SAFETY: the output is a live local; the runtime only compares the symbol's address with those that it knows.
        self.check("hipGetFuncBySymbol", unsafe { find(&raw mut function, core::ptr::without_provenance(symbol)) })?;
        Ok(function)
    }

    fn function_parameters(&self, _function: HipFunction) -> Result<Option<Vec<usize>>> {
        // No call of the runtime tells them.
        Ok(None)
    }

    fn prefer_cache(&self, _function: HipFunction, _preference: CachePreference) -> Result<()> {
        Ok(())
    }

    fn allow_dynamic_shared(&self, function: HipFunction, bytes: usize) -> Result<()> {
        let bytes = c_int::try_from(bytes).map_err(|_| Error::code_only(ur_result_t::ERROR_OUT_OF_RESOURCES))?;
        // SAFETY: the function's module is loaded.
        self.check("hipFuncSetAttribute", unsafe {
            (self.symbols.function_set_attribute)(
                function,
                sys::function::hipFuncAttributeMaxDynamicSharedMemorySize,
                bytes,
            )
        })
    }

    fn allow_large_clusters(&self, _function: HipFunction) -> Result<()> {
        Err(Error::unsupported("clusters of work-groups (AMD's devices have none)"))
    }

    fn resident_blocks(&self, function: HipFunction, threads: u32, dynamic_shared: usize) -> Result<u32> {
        let mut blocks: c_int = 0;
        let threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
        // SAFETY: the output is a live local, and the function's module is loaded.
        self.check("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", unsafe {
            (self.symbols.occupancy_blocks)(&raw mut blocks, function, threads, dynamic_shared)
        })?;
        Ok(blocks.unsigned_abs())
    }

    fn suggested_block_size(&self, function: HipFunction, dynamic_shared: usize, limit: u32) -> Result<u32> {
        let (mut grid, mut block): (c_int, c_int) = (0, 0);
        let most = c_int::try_from(limit).unwrap_or(c_int::MAX);
        // SAFETY: both outputs are live locals, and the function's module is loaded.
        self.check("hipModuleOccupancyMaxPotentialBlockSize", unsafe {
            (self.symbols.occupancy_block_size)(&raw mut grid, &raw mut block, function, dynamic_shared, most)
        })
        .map(|()| block.unsigned_abs())
    }

    #[inline]
    unsafe fn launch(
        &self,
        function: HipFunction,
        shape: LaunchShape,
        stream: &HipStream,
        arguments: *const *const c_void,
    ) -> Result<()> {
        let ([x, y, z], [tx, ty, tz]) = (shape.grid, shape.block);
        // The runtime reads the arguments only; C has no `const` there.
        let arguments = arguments.cast_mut().cast::<*mut c_void>();
        let (shared, extra) = (shape.dynamic_shared, core::ptr::null_mut());
        // SAFETY: the caller vouches for the function and its arguments; the stream is borrowed.
        self.check("hipModuleLaunchKernel", unsafe {
            (self.symbols.launch)(function, x, y, z, tx, ty, tz, shared, *stream, arguments, extra)
        })
    }

    unsafe fn launch_cooperative(
        &self,
        function: HipFunction,
        shape: LaunchShape,
        stream: &HipStream,
        arguments: *const *const c_void,
    ) -> Result<()> {
        let Some(launch) = self.symbols.launch_cooperative else {
            return Err(Error::unsupported("a cooperative launch by this release of HIP"));
        };
        let ([x, y, z], [tx, ty, tz]) = (shape.grid, shape.block);
        let arguments = arguments.cast_mut().cast::<*mut c_void>();
        // SAFETY: and the caller vouches for the arguments.
        let status = unsafe { launch(function, x, y, z, tx, ty, tz, shape.dynamic_shared, *stream, arguments) };
        self.check("hipModuleLaunchCooperativeKernel", status)
    }

    unsafe fn launch_clusters(
        &self,
        _function: HipFunction,
        _shape: LaunchShape,
        _cluster: [u32; 3],
        _cooperative: bool,
        _stream: &HipStream,
        _arguments: *const *const c_void,
    ) -> Result<()> {
        Err(Error::unsupported("a launch in clusters (AMD's devices have none)"))
    }
}
