//! Functions, what is known of them, and their launch.
//!
//! Nothing here knows a kernel's parameters.

use core::ffi::{CStr, c_int, c_void};
use std::ffi::CString;

use ur_adapter::driver::{CachePreference, FunctionAttributes, Kernels, LaunchShape};
use ur_adapter::object::error::{Error, Result};
use ur_ffi::ur_result_t;

use super::Cuda;
use crate::sys::{self, CUfunction, CUlaunchAttribute, CUlaunchConfig, CUmodule, CUresult, CUstream};

impl Cuda {
    fn function_attribute(&self, function: CUfunction, attribute: i32) -> Result<c_int> {
        let mut value: c_int = 0;
        // SAFETY: the output is a live local, and the function's module is loaded.
        self.check("cuFuncGetAttribute", unsafe {
            (self.symbols.function_attribute)(&raw mut value, attribute, function)
        })?;
        Ok(value)
    }

    /// A launch by drivers before CUDA 11.8.
    ///
    /// # Safety
    /// As [`Kernels::launch`].
    #[cold]
    #[allow(clippy::too_many_arguments, reason = "number by number: see `Kernels::launch`")]
    unsafe fn launch_plain(
        &self,
        function: CUfunction,
        gx: u32,
        gy: u32,
        gz: u32,
        bx: u32,
        by: u32,
        bz: u32,
        dynamic_shared: u32,
        stream: CUstream,
        arguments: *mut *mut c_void,
    ) -> Result<()> {
        let (launch, extra) = (self.symbols.launch, core::ptr::null_mut());
        // SAFETY: the caller vouches for the function, its arguments and the stream.
        self.check("cuLaunchKernel", unsafe {
            launch(function, gx, gy, gz, bx, by, bz, dynamic_shared, stream, arguments, extra)
        })
    }
}

impl Kernels for Cuda {
    fn function_attributes(&self, function: CUfunction) -> Result<FunctionAttributes> {
        let number = |attribute| -> Result<u32> { Ok(self.function_attribute(function, attribute)?.unsigned_abs()) };
        let bytes = |attribute| -> Result<usize> { Ok(number(attribute)? as usize) };
        Ok(FunctionAttributes {
            max_threads_per_block: number(sys::function::MAX_THREADS_PER_BLOCK)?,
            static_shared: bytes(sys::function::SHARED_SIZE)?,
            private_memory: bytes(sys::function::LOCAL_SIZE)?,
            registers: number(sys::function::REGISTERS)?,
            constant_memory: bytes(sys::function::CONST_SIZE)?,
            binary_version: number(sys::function::BINARY_VERSION)?,
        })
    }

    fn function_name(&self, function: CUfunction) -> Result<Option<CString>> {
        let Some(ask) = self.symbols.function_name else { return Ok(None) };
        let mut name = core::ptr::null();
        // SAFETY: the output is a live local and the function's module is loaded.
        self.check("cuFuncGetName", unsafe { ask(&raw mut name, function) })?;
        // SAFETY: the driver's name is NUL-terminated and lives as long as the module.
        Ok((!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_owned()))
    }

    fn function_module(&self, function: CUfunction) -> Result<Option<usize>> {
        let Some(ask) = self.symbols.function_module else { return Ok(None) };
        let mut module = CUmodule::default();
        // SAFETY: the output is a live local and the function's module is loaded.
        self.check("cuFuncGetModule", unsafe { ask(&raw mut module, function) })?;
        Ok(Some(module.0))
    }

    fn function_parameters(&self, function: CUfunction) -> Result<Option<Vec<usize>>> {
        let Some(parameter) = self.symbols.function_parameter else { return Ok(None) };
        let mut sizes = Vec::new();
        loop {
            let (mut offset, mut size) = (0, 0);
            // SAFETY: both outputs are live locals and the function's module is loaded.
            let status = unsafe { parameter(function, sizes.len(), &raw mut offset, &raw mut size) };
            match status {
                CUresult::SUCCESS => sizes.push(size),
                // How the driver says that there are no more.
                CUresult::INVALID_VALUE => return Ok(Some(sizes)),
                // Code that a driver's own compiler did not make carries no parameter table.
                CUresult::NOT_SUPPORTED => return Ok(None),
                _ => return Err(self.failed("cuFuncGetParamInfo", status)),
            }
        }
    }

    fn prefer_cache(&self, function: CUfunction, preference: CachePreference) -> Result<()> {
        let native = match preference {
            CachePreference::None => sys::cache::PREFER_NONE,
            CachePreference::WorkGroupMemory => sys::cache::PREFER_SHARED,
            CachePreference::DataCache => sys::cache::PREFER_L1,
        };
        // SAFETY: the function's module is loaded.
        self.check("cuFuncSetCacheConfig", unsafe { (self.symbols.function_set_cache)(function, native) })
    }

    fn allow_dynamic_shared(&self, function: CUfunction, bytes: usize) -> Result<()> {
        let bytes = c_int::try_from(bytes).map_err(|_| Error::code_only(ur_result_t::ERROR_OUT_OF_RESOURCES))?;
        // SAFETY: the function's module is loaded.
        self.check("cuFuncSetAttribute", unsafe {
            (self.symbols.function_set_attribute)(function, sys::function::MAX_DYNAMIC_SHARED, bytes)
        })
    }

    fn allow_large_clusters(&self, function: CUfunction) -> Result<()> {
        // SAFETY: the function's module is loaded.
        self.check("cuFuncSetAttribute", unsafe {
            (self.symbols.function_set_attribute)(function, sys::function::NON_PORTABLE_CLUSTERS, 1)
        })
    }

    fn resident_blocks(&self, function: CUfunction, threads: u32, dynamic_shared: usize) -> Result<u32> {
        let mut blocks: c_int = 0;
        let threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
        // SAFETY: the output is a live local, and the function's module is loaded.
        self.check("cuOccupancyMaxActiveBlocksPerMultiprocessor", unsafe {
            (self.symbols.occupancy_blocks)(&raw mut blocks, function, threads, dynamic_shared)
        })?;
        Ok(blocks.unsigned_abs())
    }

    fn suggested_block_size(&self, function: CUfunction, dynamic_shared: usize, limit: u32) -> Result<u32> {
        let (mut grid, mut block): (c_int, c_int) = (0, 0);
        let limit = c_int::try_from(limit).unwrap_or(c_int::MAX);
        // SAFETY: both outputs are live locals, and the function's module is loaded.
        self.check("cuOccupancyMaxPotentialBlockSize", unsafe {
            (self.symbols.occupancy_block_size)(&raw mut grid, &raw mut block, function, None, dynamic_shared, limit)
        })?;
        Ok(block.unsigned_abs())
    }

    /// By the extended call where the driver has it: it costs the driver less than `cuLaunchKernel`
    /// (`docs/native-facts.md`). In its callers, or every launch would pass eight values once more (`urbench`'s row
    /// `work: launch`).
    #[inline(always)]
    unsafe fn launch(
        &self,
        function: CUfunction,
        shape: LaunchShape,
        stream: &CUstream,
        arguments: *const *const c_void,
    ) -> Result<()> {
        // The driver reads the arguments only; C has no `const` there.
        let arguments = arguments.cast_mut().cast::<*mut c_void>();
        let Some(launch) = self.symbols.launch_extended else {
            // Number by number: what is handed on by its address has been written to the stack word by word, and the configuration below
            // would be filled from there two words at a time, which waits until both have reached the cache.
            let LaunchShape { grid: [x, y, z], block: [bx, by, bz], dynamic_shared } = shape;
            // SAFETY: the caller vouches for the function and its arguments.
            return unsafe { self.launch_plain(function, x, y, z, bx, by, bz, dynamic_shared, *stream, arguments) };
        };
        let config = CUlaunchConfig::of(shape, *stream, &[]);
        // SAFETY: the configuration is a live local, the caller vouches for the function and its arguments; the stream is
        // borrowed.
        self.check("cuLaunchKernelEx", unsafe { launch(&raw const config, function, arguments, core::ptr::null_mut()) })
    }

    unsafe fn launch_cooperative(
        &self,
        function: CUfunction,
        shape: LaunchShape,
        stream: &CUstream,
        arguments: *const *const c_void,
    ) -> Result<()> {
        let LaunchShape { grid: [gx, gy, gz], block: [bx, by, bz], dynamic_shared } = shape;
        let arguments = arguments.cast_mut().cast::<*mut c_void>();
        // SAFETY: the caller vouches for the function and its arguments; the stream is borrowed.
        self.check("cuLaunchCooperativeKernel", unsafe {
            (self.symbols.launch_cooperative)(function, gx, gy, gz, bx, by, bz, dynamic_shared, *stream, arguments)
        })
    }

    unsafe fn launch_clusters(
        &self,
        function: CUfunction,
        shape: LaunchShape,
        cluster: [u32; 3],
        cooperative: bool,
        stream: &CUstream,
        arguments: *const *const c_void,
    ) -> Result<()> {
        let Some(launch) = self.symbols.launch_extended else {
            return Err(Error::unsupported("a launch in clusters by this driver"));
        };
        let attributes = [
            CUlaunchAttribute::new(sys::launch_attribute::CLUSTER_DIMENSION, &cluster),
            CUlaunchAttribute::new(sys::launch_attribute::COOPERATIVE, &[1]),
        ];
        let config = CUlaunchConfig::of(shape, *stream, if cooperative { &attributes } else { &attributes[..1] });
        let arguments = arguments.cast_mut().cast::<*mut c_void>();
        // SAFETY: configuration and attributes are live locals, and the caller vouches for the arguments.
        let status = unsafe { launch(&raw const config, function, arguments, core::ptr::null_mut()) };
        self.check("cuLaunchKernelEx", status)
    }
}
