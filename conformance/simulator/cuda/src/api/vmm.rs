//! Virtual memory management.

use super::args::{In, Out, Raw, Slice};
use super::guard::call;
use crate::sys::*;
use crate::vmm::{self, PHYSICAL};
use core::ffi::c_int;

#[unsafe(no_mangle)]
pub extern "C" fn cuMemAddressReserve(
    out: Out<CUdeviceptr>,
    size: usize,
    alignment: usize,
    _hint: CUdeviceptr,
    flags: u64,
) -> CUresult {
    call!(cuMemAddressReserve, {
        out.required()?;
        if flags != 0 {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        out.put(vmm::reserve(size, alignment)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemAddressFree(address: CUdeviceptr, size: usize) -> CUresult {
    call!(cuMemAddressFree, { vmm::free(address, size) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemCreate(out: Out<Handle>, size: usize, prop: In<CUmemAllocationProp>, flags: u64) -> CUresult {
    call!(cuMemCreate, {
        out.required()?;
        if flags != 0 {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        out.put(vmm::create(size, &prop.get()?)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemRelease(handle: Handle) -> CUresult {
    call!(cuMemRelease, { vmm::release(handle) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemMap(address: CUdeviceptr, size: usize, offset: usize, handle: Handle, flags: u64) -> CUresult {
    call!(cuMemMap, {
        if flags != 0 {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        vmm::map(address, size, offset, handle)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemUnmap(address: CUdeviceptr, size: usize) -> CUresult {
    call!(cuMemUnmap, { vmm::unmap(address, size) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemSetAccess(
    address: CUdeviceptr,
    size: usize,
    access: Slice<CUmemAccessDesc>,
    count: usize,
) -> CUresult {
    call!(cuMemSetAccess, { vmm::set_access(address, size, &access.read(count)?) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemGetAccess(flags: Out<u64>, location: In<CUmemLocation>, address: CUdeviceptr) -> CUresult {
    call!(cuMemGetAccess, { flags.put(vmm::access(location.get()?, address)? as u64) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemGetAllocationGranularity(
    out: Out<usize>,
    prop: In<CUmemAllocationProp>,
    option: c_int,
) -> CUresult {
    call!(cuMemGetAllocationGranularity, {
        if !(0..=1).contains(&option) {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        out.put(vmm::granularity(&prop.get()?)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemGetAllocationPropertiesFromHandle(out: Out<CUmemAllocationProp>, handle: Handle) -> CUresult {
    call!(cuMemGetAllocationPropertiesFromHandle, { out.put(PHYSICAL.lookup(handle, CUDA_ERROR_INVALID_VALUE)?.prop) })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemRetainAllocationHandle(out: Out<Handle>, address: Raw) -> CUresult {
    call!(cuMemRetainAllocationHandle, {
        out.required()?;
        out.put(vmm::retain(address.address())?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemExportToShareableHandle(out: Raw, handle: Handle, kind: c_int, flags: u64) -> CUresult {
    call!(cuMemExportToShareableHandle, {
        if flags != 0 || out.address() == 0 {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        out.put(vmm::export(handle, kind)?)
    })
}

/// The descriptor's number comes in the pointer's place.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemImportFromShareableHandle(out: Out<Handle>, descriptor: Raw, kind: c_int) -> CUresult {
    call!(cuMemImportFromShareableHandle, {
        out.required()?;
        let descriptor = i32::try_from(descriptor.address()).map_err(|_| CUDA_ERROR_INVALID_VALUE)?;
        out.put(vmm::import(descriptor, kind)?)
    })
}
