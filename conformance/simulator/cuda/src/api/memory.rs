//! Allocating and freeing at once, and what is known of managed memory.

use super::args::{Out, Raw};
use super::guard::call;
use crate::alloc;
use crate::command::Command;
use crate::context::{self, Context};
use crate::device;
use crate::graph::capture;
use crate::memory::{self, Kind};
use crate::reports::{self, Kind as Misuse};
use crate::stream;
use crate::sys::*;
use crate::waiting;
use core::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

/// The current context, once no thread holds up what takes memory in it.
fn unhindered() -> Result<Arc<Context>> {
    let context = context::current()?;
    waiting::for_those_inside(&context);
    Ok(context)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) -> CUresult {
    call!(cuMemGetInfo_v2, {
        let device = context::current()?.device;
        free.put_if(device.free() as usize);
        total.put_if(device.memory as usize);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemAlloc_v2(out: Out<CUdeviceptr>, size: usize) -> CUresult {
    call!(cuMemAlloc_v2, {
        out.required()?;
        out.put(alloc::device_memory(&*unhindered()?, size, Kind::Device)?.base)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemAllocPitch_v2(
    out: Out<CUdeviceptr>,
    pitch: Out<usize>,
    width: usize,
    height: usize,
    element: c_uint,
) -> CUresult {
    call!(cuMemAllocPitch_v2, {
        out.required()?;
        pitch.required()?;
        if !matches!(element, 4 | 8 | 16) {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        let row = width.checked_next_multiple_of(512).ok_or(CUDA_ERROR_OUT_OF_MEMORY)?;
        let size = row.checked_mul(height).ok_or(CUDA_ERROR_OUT_OF_MEMORY)?;
        let allocation = alloc::device_memory(&*unhindered()?, size, Kind::Device)?;
        pitch.put(row)?;
        out.put(allocation.base)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemFree_v2(address: CUdeviceptr) -> CUresult {
    call!(cuMemFree_v2, {
        if address == 0 {
            return Ok(());
        }
        alloc::free(address, |found| {
            if found.kind == Kind::Pool {
                reports::add(
                    Misuse::PlainFree,
                    format!("{address:#x} is of a pool, whose account keeps it from now on"),
                );
            }
            matches!(found.kind, Kind::Device | Kind::Managed | Kind::Pool | Kind::Graph | Kind::External)
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemGetAddressRange_v2(base: Out<CUdeviceptr>, size: Out<usize>, address: CUdeviceptr) -> CUresult {
    call!(cuMemGetAddressRange_v2, {
        let context = context::current()?;
        let found = memory::find(address).ok_or(CUDA_ERROR_NOT_FOUND)?;
        let here = found.device.is_none_or(|ordinal| ordinal == context.device.ordinal);
        if !here && found.kind != Kind::Managed {
            return Err(CUDA_ERROR_NOT_FOUND);
        }
        base.put_if(found.base);
        size.put_if(found.size);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemAllocHost_v2(out: Out<u64>, size: usize) -> CUresult {
    call!(cuMemAllocHost_v2, {
        out.required()?;
        out.put(alloc::host_memory(&*unhindered()?, size, 0)?.base)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemHostAlloc(out: Out<u64>, size: usize, flags: c_uint) -> CUresult {
    call!(cuMemHostAlloc, {
        out.required()?;
        out.put(alloc::host_memory(&*unhindered()?, size, flags)?.base)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemFreeHost(pointer: Raw) -> CUresult {
    call!(cuMemFreeHost, {
        if pointer.address() == 0 {
            return Ok(());
        }
        alloc::free(pointer.address(), |found| found.kind == Kind::Host)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemHostGetDevicePointer_v2(out: Out<CUdeviceptr>, pointer: Raw, flags: c_uint) -> CUresult {
    call!(cuMemHostGetDevicePointer_v2, {
        context::current()?;
        let found = memory::find(pointer.address()).filter(|found| matches!(found.kind, Kind::Host | Kind::Registered));
        if flags != 0 || found.is_none() {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        out.put(pointer.address())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemHostGetFlags(flags: Out<c_uint>, pointer: Raw) -> CUresult {
    call!(cuMemHostGetFlags, {
        let found = memory::find(pointer.address()).filter(|found| matches!(found.kind, Kind::Host | Kind::Registered));
        // Unified addressing maps all page-locked memory.
        flags.put(found.ok_or(CUDA_ERROR_INVALID_VALUE)?.flags | 2)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemHostRegister_v2(pointer: *mut c_void, size: usize, flags: c_uint) -> CUresult {
    call!(cuMemHostRegister_v2, { alloc::register(&*context::current()?, pointer as u64, size, flags) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemHostUnregister(pointer: *mut c_void) -> CUresult {
    call!(cuMemHostUnregister, { alloc::unregister(pointer as u64) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemAllocManaged(out: Out<CUdeviceptr>, size: usize, flags: c_uint) -> CUresult {
    call!(cuMemAllocManaged, {
        out.required()?;
        out.put(alloc::managed_memory(&*context::current()?, size, flags)?.base)
    })
}

fn check_managed(address: CUdeviceptr, len: usize) -> Result {
    let found = memory::find(address).filter(|found| found.holds(address, len));
    let managed = found.is_some_and(|found| match found.kind {
        Kind::Managed => true,
        Kind::Pool => found.pool.as_ref().is_some_and(|pool| pool.location == crate::pool::Location::Managed),
        _ => false,
    });
    if managed && len > 0 { Ok(()) } else { Err(CUDA_ERROR_INVALID_VALUE) }
}

fn check_device_or_host(device: CUdevice) -> Result {
    if device == -1 { Ok(()) } else { device::get(device).map(drop) }
}

fn check_location(location: CUmemLocation) -> Result {
    match location.kind {
        CU_MEM_LOCATION_TYPE_DEVICE => device::get(location.id).map(drop),
        CU_MEM_LOCATION_TYPE_HOST | CU_MEM_LOCATION_TYPE_HOST_NUMA | CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT => Ok(()),
        _ => Err(CUDA_ERROR_INVALID_VALUE),
    }
}

fn check_advice(address: CUdeviceptr, len: usize, advice: c_int) -> Result {
    check_managed(address, len)?;
    if (1..=6).contains(&advice) { Ok(()) } else { Err(CUDA_ERROR_INVALID_VALUE) }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemAdvise(address: CUdeviceptr, len: usize, advice: c_int, device: CUdevice) -> CUresult {
    call!(cuMemAdvise, {
        context::current()?;
        check_advice(address, len, advice)?;
        // Only advice about a place names one.
        if (3..=6).contains(&advice) && advice != 4 { check_device_or_host(device) } else { Ok(()) }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemAdvise_v2(address: CUdeviceptr, len: usize, advice: c_int, location: CUmemLocation) -> CUresult {
    call!(cuMemAdvise_v2, {
        context::current()?;
        check_advice(address, len, advice)?;
        if (3..=6).contains(&advice) && advice != 4 { check_location(location) } else { Ok(()) }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemPrefetchAsync(address: CUdeviceptr, len: usize, device: CUdevice, stream: Handle) -> CUresult {
    call!(cuMemPrefetchAsync, {
        let stream = stream::resolve(stream)?;
        capture::refuse_on(&stream)?;
        check_managed(address, len)?;
        check_device_or_host(device)?;
        stream.submit(|_| Command::Nothing);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemPrefetchAsync_v2(
    address: CUdeviceptr,
    len: usize,
    location: CUmemLocation,
    flags: c_uint,
    stream: Handle,
) -> CUresult {
    call!(cuMemPrefetchAsync_v2, {
        let stream = stream::resolve(stream)?;
        capture::refuse_on(&stream)?;
        check_managed(address, len)?;
        check_location(location)?;
        if flags != 0 {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        stream.submit(|_| Command::Nothing);
        Ok(())
    })
}

/// Memory does not move here, so every attribute has its value for memory that nobody gave advice about.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemRangeGetAttribute(
    data: Raw,
    size: usize,
    attribute: c_int,
    address: CUdeviceptr,
    len: usize,
) -> CUresult {
    const NOWHERE: i32 = -2;
    call!(cuMemRangeGetAttribute, {
        check_managed(address, len)?;
        match attribute {
            1 | 5..=8 if size == 4 => data.put(0i32),
            2 | 4 if size == 4 => data.put(NOWHERE),
            3 if size >= 4 && size.is_multiple_of(4) => {
                for i in 0..size / 4 {
                    // SAFETY: the caller gives `size` bytes.
                    unsafe { data.ptr().cast::<i32>().add(i).write_unaligned(NOWHERE) };
                }
                Ok(())
            }
            _ => Err(CUDA_ERROR_INVALID_VALUE),
        }
    })
}
