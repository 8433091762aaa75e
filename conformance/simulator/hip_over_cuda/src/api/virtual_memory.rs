//! Address ranges, physical memory and mappings.

use core::ffi::{c_int, c_ulonglong};

use crate::args::{In, Out, Raw};
use crate::device;
use crate::guard::call;
use crate::sys::layout::{hipMemAccessDesc, hipMemAllocationProp, hipMemLocation};
use crate::sys::status::*;

#[unsafe(no_mangle)]
pub extern "C" fn hipMemAddressReserve(
    out: Out<usize>,
    size: usize,
    alignment: usize,
    wish: Raw,
    flags: c_ulonglong,
) -> hipError_t {
    call!(hipMemAddressReserve, {
        out.required()?;
        device::all()?;
        cu!(address_reserve(out.raw(), size, alignment, wish.address(), flags))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemAddressFree(pointer: Raw, size: usize) -> hipError_t {
    call!(hipMemAddressFree, {
        pointer.required()?;
        device::all()?;
        cu!(address_free(pointer.address(), size))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemCreate(
    out: Out<usize>,
    size: usize,
    properties: In<hipMemAllocationProp>,
    flags: c_ulonglong,
) -> hipError_t {
    call!(hipMemCreate, {
        out.required()?;
        let properties = properties.get()?;
        device::get(properties.location.id)?;
        cu!(physical_create(out.raw(), size, &raw const properties, flags))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemRelease(handle: usize) -> hipError_t {
    call!(hipMemRelease, {
        device::all()?;
        cu!(physical_release(handle))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemMap(pointer: Raw, size: usize, offset: usize, handle: usize, flags: c_ulonglong) -> hipError_t {
    call!(hipMemMap, {
        pointer.required()?;
        device::all()?;
        cu!(physical_map(pointer.address(), size, offset, handle, flags))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemUnmap(pointer: Raw, size: usize) -> hipError_t {
    call!(hipMemUnmap, {
        pointer.required()?;
        device::all()?;
        cu!(physical_unmap(pointer.address(), size))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemSetAccess(pointer: Raw, size: usize, access: In<hipMemAccessDesc>, count: usize) -> hipError_t {
    call!(hipMemSetAccess, {
        pointer.required()?;
        device::all()?;
        let access = access.list(count)?;
        cu!(physical_set_access(pointer.address(), size, access.as_ptr(), count))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemGetAccess(flags: Out<c_ulonglong>, location: In<hipMemLocation>, pointer: Raw) -> hipError_t {
    call!(hipMemGetAccess, {
        flags.required().and(pointer.required())?;
        device::all()?;
        let location = location.get()?;
        cu!(physical_access(flags.raw(), &raw const location, pointer.address()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemGetAllocationGranularity(
    out: Out<usize>,
    properties: In<hipMemAllocationProp>,
    option: c_int,
) -> hipError_t {
    call!(hipMemGetAllocationGranularity, {
        out.required()?;
        device::all()?;
        let properties = properties.get()?;
        cu!(physical_granularity(out.raw(), &raw const properties, option))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemGetAllocationPropertiesFromHandle(out: Out<hipMemAllocationProp>, handle: usize) -> hipError_t {
    call!(hipMemGetAllocationPropertiesFromHandle, {
        out.required()?;
        device::all()?;
        cu!(physical_properties(out.raw(), handle))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemRetainAllocationHandle(out: Out<usize>, pointer: Raw) -> hipError_t {
    call!(hipMemRetainAllocationHandle, {
        out.required().and(pointer.required())?;
        device::all()?;
        cu!(physical_retain(out.raw(), pointer.address()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemExportToShareableHandle(
    out: Raw,
    handle: usize,
    kind: c_int,
    flags: c_ulonglong,
) -> hipError_t {
    call!(hipMemExportToShareableHandle, {
        out.required()?;
        device::all()?;
        cu!(physical_export(out.raw(), handle, kind, flags))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemImportFromShareableHandle(out: Out<usize>, descriptor: Raw, kind: c_int) -> hipError_t {
    call!(hipMemImportFromShareableHandle, {
        out.required()?;
        device::all()?;
        cu!(physical_import(out.raw(), descriptor.raw(), kind))
    })
}
