//! Functions and how many of their blocks fit on a device.

use super::args::Out;
use super::guard::call;
use crate::context;
use crate::module::{self, FUNCTIONS, Function};
use crate::occupancy;
use crate::sys::*;
use core::ffi::{c_char, c_int, c_uint};
use std::sync::Arc;

fn lookup(handle: Handle) -> Result<Arc<Function>> {
    match FUNCTIONS.get(handle) {
        Some(function) => Ok(function),
        None => module::resolve_function(handle, &context::current()?),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuFuncGetAttribute(value: Out<c_int>, attribute: c_int, function: Handle) -> CUresult {
    call!(cuFuncGetAttribute, { value.put(lookup(function)?.attribute(attribute)?) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuFuncSetAttribute(function: Handle, attribute: c_int, value: c_int) -> CUresult {
    call!(cuFuncSetAttribute, { lookup(function)?.set_attribute(attribute, value) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuFuncSetCacheConfig(function: Handle, config: c_int) -> CUresult {
    call!(cuFuncSetCacheConfig, {
        lookup(function)?;
        if (0..=3).contains(&config) { Ok(()) } else { Err(CUDA_ERROR_INVALID_VALUE) }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuFuncGetModule(out: Out<Handle>, function: Handle) -> CUresult {
    call!(cuFuncGetModule, { out.put(lookup(function)?.module) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuFuncGetName(out: Out<*const c_char>, function: Handle) -> CUresult {
    call!(cuFuncGetName, { out.put(lookup(function)?.name.as_ptr()) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuFuncGetParamInfo(function: Handle, index: usize, offset: Out<usize>, size: Out<usize>) -> CUresult {
    call!(cuFuncGetParamInfo, {
        let function = lookup(function)?;
        let param = function.code().params.get(index).copied().ok_or(CUDA_ERROR_INVALID_VALUE)?;
        offset.put(param.offset)?;
        size.put_if(param.size);
        Ok(())
    })
}

fn occupied(out: &Out<c_int>, function: Handle, threads: c_int, shared: usize, flags: c_uint) -> Result {
    context::current()?;
    let function = lookup(function)?;
    if threads <= 0 || flags & !1 != 0 {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    out.put(occupancy::blocks_per_sm(&function, threads as u32, shared) as c_int)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
    out: Out<c_int>,
    function: Handle,
    threads: c_int,
    shared: usize,
) -> CUresult {
    call!(cuOccupancyMaxActiveBlocksPerMultiprocessor, { occupied(&out, function, threads, shared, 0) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    out: Out<c_int>,
    function: Handle,
    threads: c_int,
    shared: usize,
    flags: c_uint,
) -> CUresult {
    call!(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, { occupied(&out, function, threads, shared, flags) })
}

/// Answers the dynamic shared memory of a block of so many threads.
type SharedOf = Option<unsafe extern "C" fn(c_int) -> usize>;

fn best(
    min_grid: &Out<c_int>,
    block: &Out<c_int>,
    function: Handle,
    shared_of: SharedOf,
    shared: usize,
    limit: c_int,
    flags: c_uint,
) -> Result {
    context::current()?;
    let function = lookup(function)?;
    if limit < 0 || flags & !1 != 0 {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    let shared_of = |threads: u32| match shared_of {
        // SAFETY: the client gave the function to be called here.
        Some(shared_of) => unsafe { shared_of(threads as c_int) },
        None => shared,
    };
    let (grid, threads) = occupancy::best_block(&function, shared_of, limit as u32);
    min_grid.put(grid as c_int)?;
    block.put(threads as c_int)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuOccupancyMaxPotentialBlockSize(
    min_grid: Out<c_int>,
    block: Out<c_int>,
    function: Handle,
    shared_of: SharedOf,
    shared: usize,
    limit: c_int,
) -> CUresult {
    call!(cuOccupancyMaxPotentialBlockSize, { best(&min_grid, &block, function, shared_of, shared, limit, 0) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuOccupancyMaxPotentialBlockSizeWithFlags(
    min_grid: Out<c_int>,
    block: Out<c_int>,
    function: Handle,
    shared_of: SharedOf,
    shared: usize,
    limit: c_int,
    flags: c_uint,
) -> CUresult {
    call!(cuOccupancyMaxPotentialBlockSizeWithFlags, {
        best(&min_grid, &block, function, shared_of, shared, limit, flags)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuOccupancyAvailableDynamicSMemPerBlock(
    out: Out<usize>,
    function: Handle,
    blocks: c_int,
    threads: c_int,
) -> CUresult {
    call!(cuOccupancyAvailableDynamicSMemPerBlock, {
        context::current()?;
        if blocks <= 0 || threads <= 0 {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        out.put(occupancy::dynamic_shared(&*lookup(function)?, blocks as u32))
    })
}
