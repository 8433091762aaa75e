//! Launches.

use super::args::In;
use super::guard::call;
use crate::graph::capture;
use crate::graph::node::Work;
use crate::kernel::{Kernel, Shape};
use crate::module;
use crate::stream;
use crate::sys::*;
use core::ffi::{c_uint, c_void};
use std::sync::Arc;

const ATTRIBUTE_COOPERATIVE: c_uint = 2;
const ATTRIBUTE_CLUSTER_DIMENSION: c_uint = 4;

/// # Safety
/// As for [`Kernel::prepare`].
unsafe fn launch(
    function: Handle,
    shape: Shape,
    stream: Handle,
    params: *const *const c_void,
    extra: *const *const c_void,
) -> Result {
    let stream = stream::resolve(stream)?;
    let function = module::resolve_function(function, &stream.context)?;
    // SAFETY: passed on from the caller.
    let prepare = || unsafe { Kernel::prepare(function, shape, params, extra) };
    if capture::graph_of(&stream)?.is_none() {
        return prepare()?.submit(&stream);
    }
    capture::record(&stream, || match prepare()? {
        kernel if kernel.context().id == stream.context.id => Ok(Work::Kernel(Arc::new(kernel))),
        _ => Err(CUDA_ERROR_INVALID_HANDLE),
    })
    .map(drop)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernel(
    function: Handle,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared: c_uint,
    stream: Handle,
    params: *const *const c_void,
    extra: *const *const c_void,
) -> CUresult {
    call!(cuLaunchKernel, {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        // SAFETY: the client gives the arguments that the function takes.
        unsafe {
            launch(function, Shape { grid, block, shared, cooperative: false, cluster: [1; 3] }, stream, params, extra)
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchCooperativeKernel(
    function: Handle,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared: c_uint,
    stream: Handle,
    params: *const *const c_void,
) -> CUresult {
    call!(cuLaunchCooperativeKernel, {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        let shape = Shape { grid, block, shared, cooperative: true, cluster: [1; 3] };
        // SAFETY: the client gives the arguments that the function takes.
        unsafe { launch(function, shape, stream, params, core::ptr::null()) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernelEx(
    config: In<CUlaunchConfig>,
    function: Handle,
    params: *const *const c_void,
    extra: *const *const c_void,
) -> CUresult {
    call!(cuLaunchKernelEx, {
        let config = config.get()?;
        // SAFETY: the client's configuration has as many attributes as it says.
        let (cooperative, cluster) = unsafe { read_attributes(&config)? };
        let (grid, block, shared) = (config.grid, config.block, config.shared_mem_bytes);
        let shape = Shape { grid, block, shared, cooperative, cluster };
        // SAFETY: the client gives the arguments that the function takes.
        unsafe { launch(function, shape, config.stream, params, extra) }
    })
}

/// Whether the launch is cooperative, and its clusters. Attributes that only tune are ignored. Of clusters, blocks know
/// their place in theirs; barriers and shared memory across a cluster are not simulated.
///
/// # Safety
/// `attrs` must have `num_attrs` entries.
unsafe fn read_attributes(config: &CUlaunchConfig) -> Result<(bool, [u32; 3])> {
    if config.num_attrs == 0 {
        return Ok((false, [1; 3]));
    }
    if config.attrs.is_null() {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    // SAFETY: passed on from the caller.
    let attributes = unsafe { core::slice::from_raw_parts(config.attrs, config.num_attrs as usize) };
    let (mut cooperative, mut cluster) = (false, [1; 3]);
    for attribute in attributes {
        match attribute.id {
            ATTRIBUTE_COOPERATIVE => cooperative = attribute.value[0] as u32 != 0,
            ATTRIBUTE_CLUSTER_DIMENSION => {
                cluster = [attribute.value[0] as u32, (attribute.value[0] >> 32) as u32, attribute.value[1] as u32];
            }
            0..=18 => {}
            _ => return Err(CUDA_ERROR_INVALID_VALUE),
        }
    }
    Ok((cooperative, cluster))
}
