//! Functions of a module, what is known of them, and their launch.
//!
//! Manuals: CUDA Driver API, Execution Control, Occupancy and Module Management (`cuFunc*`); HIP runtime API, Module
//! Management, Occupancy and Execution Control. A function lives as long as its module, which the engine keeps for its
//! kernels. Which shape a launch has is decided in [`crate::kernel`].

use core::ffi::c_void;
use std::ffi::CString;

use super::{Modules, Streams, unsupported};
use crate::object::error::Result;

/// Which on-chip memory a function would rather have more of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CachePreference {
    /// The library chooses.
    None,
    /// Work-group memory.
    WorkGroupMemory,
    /// The data cache.
    DataCache,
}

/// Resources and limits of a loaded function.
#[derive(Clone, Copy, Debug, Default)]
pub struct FunctionAttributes {
    /// Most threads a block may have for this function on its device.
    pub max_threads_per_block: u32,
    /// Statically declared work-group memory, bytes.
    pub static_shared: usize,
    /// Private (local) memory of one thread, bytes.
    pub private_memory: usize,
    /// Registers of one thread.
    pub registers: u32,
    /// Constant memory the function's module set aside, bytes.
    pub constant_memory: usize,
    /// Instruction-set version the function's machine code was made for, major * 10 + minor.
    pub binary_version: u32,
}

/// Shape of a launch.
#[derive(Clone, Copy, Debug)]
pub struct LaunchShape {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Dynamically sized work-group memory, bytes.
    pub dynamic_shared: u32,
}

/// Functions.
pub trait Kernels: Modules + Streams {
    /// **Needs the context** (HIP's reads the code of the current device). `cuFuncGetAttribute`.
    fn function_attributes(&self, function: Self::Function) -> Result<FunctionAttributes>;
    /// A function's name, `None` when the library cannot tell. `cuFuncGetName` / `hipKernelNameRef`.
    fn function_name(&self, _function: Self::Function) -> Result<Option<CString>> {
        Ok(None)
    }
    /// Handle value of the module a function is of, `None` when the library cannot tell. `cuFuncGetModule` / not told.
    fn function_module(&self, _function: Self::Function) -> Result<Option<usize>> {
        Ok(None)
    }
    /// **Needs the context.** The function that a program's own compiler made of the kernel whose host function has that
    /// address. Not told / `hipGetFuncBySymbol`.
    fn function_by_symbol(&self, _symbol: usize) -> Result<Self::Function> {
        unsupported("a kernel by its host symbol (give the function that the runtime tells of it)")
    }
    /// Size in bytes of each parameter, `None` when the library cannot tell. `cuFuncGetParamInfo` / not told.
    fn function_parameters(&self, _function: Self::Function) -> Result<Option<Vec<usize>>> {
        Ok(None)
    }
    /// `cuFuncSetCacheConfig` / nothing: AMD's devices have no such choice, and HIP's call takes host functions only.
    fn prefer_cache(&self, _function: Self::Function, _preference: CachePreference) -> Result<()> {
        Ok(())
    }
    /// Raises a function's limit of dynamic work-group memory. **Needs the context**. `cuFuncSetAttribute`.
    fn allow_dynamic_shared(&self, _function: Self::Function, _bytes: usize) -> Result<()> {
        unsupported("more work-group memory than every device has")
    }
    /// Lets a function's launches have clusters of more blocks than every device with clusters has. **Needs the context**.
    /// `cuFuncSetAttribute(NON_PORTABLE_CLUSTER_SIZE_ALLOWED)` / unsupported.
    fn allow_large_clusters(&self, _function: Self::Function) -> Result<()> {
        unsupported("clusters of work-groups")
    }
    /// **Needs the context.** How many blocks of that many threads run on one compute unit at once.
    /// `cuOccupancyMaxActiveBlocksPerMultiprocessor` / `hipModuleOccupancyMaxActiveBlocksPerMultiprocessor`.
    fn resident_blocks(&self, _function: Self::Function, _threads: u32, _dynamic_shared: usize) -> Result<u32> {
        unsupported("the occupancy of a compute unit")
    }
    /// **Needs the context.** The block size that fills the device best, at most `limit` threads (0: no limit).
    /// `cuOccupancyMaxPotentialBlockSize` / `hipModuleOccupancyMaxPotentialBlockSize`.
    fn suggested_block_size(&self, _function: Self::Function, _dynamic_shared: usize, _limit: u32) -> Result<u32> {
        unsupported("the occupancy of a compute unit")
    }

    /// Launches; `arguments` holds a pointer to each parameter's value. `cuLaunchKernel` / `hipModuleLaunchKernel`.
    ///
    /// # Safety
    /// The function's module is loaded; `arguments` has as many entries as the function has parameters, each readable for
    /// its parameter's size.
    unsafe fn launch(
        &self,
        function: Self::Function,
        shape: LaunchShape,
        stream: &Self::Stream,
        arguments: *const *const c_void,
    ) -> Result<()>;
    /// As [`Kernels::launch`], with all blocks resident at once. **Needs the context** (HIP's).
    /// `cuLaunchCooperativeKernel` / `hipModuleLaunchCooperativeKernel`.
    ///
    /// # Safety
    /// As [`Kernels::launch`].
    unsafe fn launch_cooperative(
        &self,
        _function: Self::Function,
        _shape: LaunchShape,
        _stream: &Self::Stream,
        _arguments: *const *const c_void,
    ) -> Result<()> {
        unsupported("a cooperative launch")
    }
    /// As [`Kernels::launch`], with blocks in clusters, all resident at once where `cooperative`. `cuLaunchKernelEx` /
    /// unsupported.
    ///
    /// # Safety
    /// As [`Kernels::launch`].
    unsafe fn launch_clusters(
        &self,
        _function: Self::Function,
        _shape: LaunchShape,
        _cluster: [u32; 3],
        _cooperative: bool,
        _stream: &Self::Stream,
        _arguments: *const *const c_void,
    ) -> Result<()> {
        unsupported("a launch in clusters")
    }
}
