//! Modules, functions and launches.

use core::ffi::{c_char, c_int, c_uint, c_void};

use crate::args::{In, List, Out, Raw, Text};
use crate::current::Scope;
use crate::guard::call;
use crate::launch::Launch;
use crate::sys::status::*;
use crate::sys::value::enumerator::{
    HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    hipFuncAttributeMaxDynamicSharedMemorySize, hipFuncAttributePreferredSharedMemoryCarveout,
};
use crate::{device, host_functions, module};

#[unsafe(no_mangle)]
pub extern "C" fn hipModuleLoad(out: Out<usize>, path: Text) -> hipError_t {
    call!(hipModuleLoad, {
        out.required()?;
        path.get()?;
        let _scope = Scope::here()?;
        cu!(module_load_file(out.raw(), path.raw()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipModuleLoadData(out: Out<usize>, image: Raw) -> hipError_t {
    call!(hipModuleLoadData, {
        out.required()?;
        out.put(module::load(image.raw().cast_const(), &[], &mut [])?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipModuleLoadDataEx(
    out: Out<usize>,
    image: Raw,
    count: c_uint,
    options: In<c_int>,
    values: List<*mut c_void>,
) -> hipError_t {
    call!(hipModuleLoadDataEx, {
        out.required()?;
        let options = options.list(count as usize)?;
        let mut given = values.list(count as usize)?;
        let result = module::load(image.raw().cast_const(), &options, &mut given);
        // Sizes of logs come back in the list of values.
        values.put_list(&given);
        out.put(result?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipModuleLoadFatBinary(out: Out<usize>, image: Raw) -> hipError_t {
    call!(hipModuleLoadFatBinary, {
        out.required()?;
        image.required()?;
        let _scope = Scope::here()?;
        cu!(module_load_fat(out.raw(), image.raw().cast_const()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipModuleUnload(module: usize) -> hipError_t {
    call!(hipModuleUnload, {
        module::required(module)?;
        // The handle names its context. No other is made current: where that fails, the module would stay for ever.
        device::all()?;
        cu!(module_unload(module))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipModuleGetFunction(out: Out<usize>, module: usize, name: Text) -> hipError_t {
    call!(hipModuleGetFunction, {
        out.required()?;
        module::required(module)?;
        if name.get()?.is_empty() {
            return Err(hipErrorInvalidValue);
        }
        let _scope = Scope::here()?;
        cu!(module_function(out.raw(), module, name.raw()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipModuleGetFunctionCount(out: Out<c_uint>, module: usize) -> hipError_t {
    call!(hipModuleGetFunctionCount, {
        out.required()?;
        module::required(module)?;
        let _scope = Scope::here()?;
        cu!(module_function_count(out.raw(), module))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipModuleGetGlobal(address: Out<usize>, size: Out<usize>, module: usize, name: Text) -> hipError_t {
    call!(hipModuleGetGlobal, {
        module::required(module)?;
        if name.get()?.is_empty() {
            return Err(hipErrorInvalidValue);
        }
        let _scope = Scope::here()?;
        cu!(module_global(address.raw(), size.raw(), module, name.raw()))
    })
}

/// The numbers are CUDA's.
#[unsafe(no_mangle)]
pub extern "C" fn hipFuncGetAttribute(value: Out<c_int>, attribute: c_int, function: usize) -> hipError_t {
    call!(hipFuncGetAttribute, {
        value.required()?;
        device::all()?;
        if function == 0 {
            return Err(hipErrorInvalidDeviceFunction);
        }
        let known = HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK..=HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
        if !known.contains(&attribute) {
            return Err(hipErrorInvalidValue);
        }
        cu!(function_attribute(value.raw(), attribute, function))
    })
}

/// Takes a function of a module; there are no functions of compiled host code here.
#[unsafe(no_mangle)]
pub extern "C" fn hipFuncSetAttribute(function: usize, attribute: c_int, value: c_int) -> hipError_t {
    call!(hipFuncSetAttribute, {
        device::all()?;
        if function == 0 {
            return Err(hipErrorInvalidDeviceFunction);
        }
        match attribute {
            hipFuncAttributeMaxDynamicSharedMemorySize | hipFuncAttributePreferredSharedMemoryCarveout => {
                cu!(function_set_attribute(function, attribute, value))
            }
            _ => Err(hipErrorInvalidValue),
        }
    })
}

/// Finds what `hiponcudaRegisterFunction` has registered, on the current device.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetFuncBySymbol(out: Out<usize>, symbol: Raw) -> hipError_t {
    call!(hipGetFuncBySymbol, {
        out.required()?;
        out.put(host_functions::find(symbol.address())?)
    })
}

/// The function's name, null when there is none: this one answers no status.
#[unsafe(no_mangle)]
pub extern "C" fn hipKernelNameRef(function: usize) -> *const c_char {
    let mut name = core::ptr::null();
    call!(hipKernelNameRef, {
        module::required(function)?;
        device::all()?;
        cu!(function_name(&raw mut name, function))
    });
    name
}

#[unsafe(no_mangle)]
pub extern "C" fn hipModuleLaunchKernel(
    function: usize,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared: c_uint,
    stream: usize,
    arguments: In<*mut c_void>,
    extra: In<usize>,
) -> hipError_t {
    call!(hipModuleLaunchKernel, {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        Launch { function, grid, block, shared, stream }.run(&arguments, &extra)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipModuleLaunchCooperativeKernel(
    function: usize,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared: c_uint,
    stream: usize,
    arguments: In<*mut c_void>,
) -> hipError_t {
    call!(hipModuleLaunchCooperativeKernel, {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        Launch { function, grid, block, shared, stream }.run_cooperative(&arguments)
    })
}

fn block_size(grid: &Out<c_int>, block: &Out<c_int>, function: usize, shared: usize, limit: c_int) -> Result {
    grid.required().and(block.required())?;
    if function == 0 {
        return Err(hipErrorInvalidDeviceFunction);
    }
    let _scope = Scope::here()?;
    // No function tells the dynamic memory of a block size; the amount is the same for all.
    let constant = core::ptr::null();
    cu!(occupancy_block_size(grid.raw(), block.raw(), function, constant, shared, limit, 0))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipModuleOccupancyMaxPotentialBlockSize(
    grid: Out<c_int>,
    block: Out<c_int>,
    function: usize,
    shared: usize,
    limit: c_int,
) -> hipError_t {
    call!(hipModuleOccupancyMaxPotentialBlockSize, { block_size(&grid, &block, function, shared, limit) })
}

/// The flags are about caches, and ignored as in HIP.
#[unsafe(no_mangle)]
pub extern "C" fn hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
    grid: Out<c_int>,
    block: Out<c_int>,
    function: usize,
    shared: usize,
    limit: c_int,
    _flags: c_uint,
) -> hipError_t {
    call!(hipModuleOccupancyMaxPotentialBlockSizeWithFlags, { block_size(&grid, &block, function, shared, limit) })
}

fn blocks(out: &Out<c_int>, function: usize, block: c_int, shared: usize) -> Result {
    out.required()?;
    if function == 0 {
        return Err(hipErrorInvalidDeviceFunction);
    }
    let _scope = Scope::here()?;
    cu!(occupancy_blocks(out.raw(), function, block, shared, 0))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    out: Out<c_int>,
    function: usize,
    block: c_int,
    shared: usize,
) -> hipError_t {
    call!(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, { blocks(&out, function, block, shared) })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    out: Out<c_int>,
    function: usize,
    block: c_int,
    shared: usize,
    _flags: c_uint,
) -> hipError_t {
    call!(hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, { blocks(&out, function, block, shared) })
}
