//! Memory pools and stream-ordered allocation.

use super::args::{In, Out, Raw, Slice};
use super::graph::free_work;
use super::guard::call;
use crate::device;
use crate::graph::alloc::Block;
use crate::graph::capture;
use crate::graph::node::Work;
use crate::pool::{self, POOLS, Pool};
use crate::stream::{self, Stream};
use crate::sys::*;
use core::ffi::c_int;
use std::sync::Arc;

fn lookup(handle: Handle) -> Result<Arc<Pool>> {
    POOLS.lookup(handle, CUDA_ERROR_INVALID_VALUE)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemPoolCreate(out: Out<Handle>, props: In<CUmemPoolProps>) -> CUresult {
    call!(cuMemPoolCreate, {
        out.required()?;
        out.put(Pool::create(props.get()?)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemPoolDestroy(handle: Handle) -> CUresult {
    call!(cuMemPoolDestroy, { pool::destroy(handle) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemPoolTrimTo(handle: Handle, keep: usize) -> CUresult {
    call!(cuMemPoolTrimTo, {
        lookup(handle)?.trim_to(keep as u64);
        Ok(())
    })
}

/// The reuse attributes are C `int`s, all others 64 bits wide.
fn is_int(attribute: c_int) -> bool {
    (1..=3).contains(&attribute)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemPoolSetAttribute(handle: Handle, attribute: c_int, value: Raw) -> CUresult {
    call!(cuMemPoolSetAttribute, {
        let pool = lookup(handle)?;
        let value = if is_int(attribute) { value.get::<c_int>()? as u64 } else { value.get::<u64>()? };
        pool.set_attribute(attribute, value)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemPoolGetAttribute(handle: Handle, attribute: c_int, value: Raw) -> CUresult {
    call!(cuMemPoolGetAttribute, {
        let found = lookup(handle)?.attribute(attribute)?;
        if is_int(attribute) { value.put(found as c_int) } else { value.put(found) }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemPoolSetAccess(handle: Handle, map: Slice<CUmemAccessDesc>, count: usize) -> CUresult {
    call!(cuMemPoolSetAccess, {
        let pool = lookup(handle)?;
        for access in map.read(count)? {
            match access.location.kind {
                CU_MEM_LOCATION_TYPE_DEVICE => {
                    pool.set_access(device::get(access.location.id)?.ordinal, access.flags)?;
                }
                CU_MEM_LOCATION_TYPE_HOST if matches!(pool.location, pool::Location::Device(_)) => {
                    return Err(CUDA_ERROR_NOT_SUPPORTED);
                }
                CU_MEM_LOCATION_TYPE_HOST => {}
                _ => return Err(CUDA_ERROR_INVALID_VALUE),
            }
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemPoolGetAccess(flags: Out<c_int>, handle: Handle, location: In<CUmemLocation>) -> CUresult {
    call!(cuMemPoolGetAccess, {
        let pool = lookup(handle)?;
        let location = location.get()?;
        match location.kind {
            CU_MEM_LOCATION_TYPE_DEVICE => flags.put(pool.access(device::get(location.id)?.ordinal)),
            CU_MEM_LOCATION_TYPE_HOST => flags.put(match pool.location {
                pool::Location::Host => CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                pool::Location::Device(_) | pool::Location::Managed => CU_MEM_ACCESS_FLAGS_PROT_NONE,
            }),
            _ => Err(CUDA_ERROR_INVALID_VALUE),
        }
    })
}

/// Allocates in stream order, or records an allocation of memory such as the pool has.
fn allocate(pool: &Arc<Pool>, stream: &Arc<Stream>, size: usize) -> Result<CUdeviceptr> {
    if capture::graph_of(stream)?.is_none() {
        capture::refuse_unsafe()?;
        return pool.allocate(stream, size);
    }
    let block = Block::create(&pool.props, size)?;
    let address = block.address;
    capture::record(stream, || Ok(Work::Alloc(block)))?;
    Ok(address)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemAllocFromPoolAsync(
    out: Out<CUdeviceptr>,
    size: usize,
    handle: Handle,
    stream: Handle,
) -> CUresult {
    call!(cuMemAllocFromPoolAsync, {
        out.required()?;
        let stream = stream::resolve(stream)?;
        out.put(allocate(&lookup(handle)?, &stream, size)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemAllocAsync(out: Out<CUdeviceptr>, size: usize, stream: Handle) -> CUresult {
    call!(cuMemAllocAsync, {
        out.required()?;
        let stream = stream::resolve(stream)?;
        out.put(allocate(&stream.context.device.pool()?, &stream, size)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemFreeAsync(address: CUdeviceptr, stream: Handle) -> CUresult {
    // A free works in a failed context too: nothing may be left behind.
    call!(cuMemFreeAsync, {
        let stream = stream::find(stream)?;
        if capture::graph_of(&stream)?.is_some() {
            // What no graph allocates is refused, and breaks nothing.
            let work = free_work(address)?;
            return capture::record_quietly(&stream, work);
        }
        capture::refuse_unsafe()?;
        pool::free_async(address, &stream)
    })
}
