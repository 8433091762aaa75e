//! Stream-ordered memory.

use core::ffi::{c_int, c_uint};

use crate::args::{In, Out, Raw};
use crate::guard::call;
use crate::pool;
use crate::sys::layout::{hipMemAccessDesc, hipMemLocation, hipMemPoolProps, hipMemPoolPtrExportData};
use crate::sys::status::*;

#[unsafe(no_mangle)]
pub extern "C" fn hipMallocAsync(out: Out<usize>, size: usize, stream: usize) -> hipError_t {
    call!(hipMallocAsync, {
        out.required()?;
        out.put(pool::allocate(size, None, stream)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMallocFromPoolAsync(out: Out<usize>, size: usize, pool: usize, stream: usize) -> hipError_t {
    call!(hipMallocFromPoolAsync, {
        out.required()?;
        pool::required(pool)?;
        out.put(pool::allocate(size, Some(pool), stream)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipFreeAsync(pointer: Raw, stream: usize) -> hipError_t {
    call!(hipFreeAsync, { pool::free(pointer.address(), stream) })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemPoolCreate(out: Out<usize>, properties: In<hipMemPoolProps>) -> hipError_t {
    call!(hipMemPoolCreate, {
        out.required()?;
        out.put(pool::create(&properties.get()?)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemPoolDestroy(pool: usize) -> hipError_t {
    call!(hipMemPoolDestroy, {
        pool::required(pool)?;
        cu!(pool_destroy(pool))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemPoolSetAttribute(pool: usize, attribute: c_int, value: Raw) -> hipError_t {
    call!(hipMemPoolSetAttribute, {
        pool::required(pool)?;
        pool::check_attribute(attribute)?;
        value.required()?;
        cu!(pool_set_attribute(pool, attribute, value.raw()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemPoolGetAttribute(pool: usize, attribute: c_int, value: Raw) -> hipError_t {
    call!(hipMemPoolGetAttribute, {
        pool::required(pool)?;
        pool::check_attribute(attribute)?;
        value.required()?;
        cu!(pool_attribute(pool, attribute, value.raw()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemPoolSetAccess(pool: usize, access: In<hipMemAccessDesc>, count: usize) -> hipError_t {
    call!(hipMemPoolSetAccess, {
        pool::required(pool)?;
        let access = access.list(count)?;
        pool::check_access(&access)?;
        cu!(pool_set_access(pool, access.as_ptr(), count))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemPoolGetAccess(flags: Out<c_int>, pool: usize, location: In<hipMemLocation>) -> hipError_t {
    call!(hipMemPoolGetAccess, {
        flags.required()?;
        pool::required(pool)?;
        let mut location = location.get()?;
        pool::check_location(&location)?;
        cu!(pool_access(flags.raw(), pool, &raw mut location))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemPoolTrimTo(pool: usize, keep: usize) -> hipError_t {
    call!(hipMemPoolTrimTo, {
        pool::required(pool)?;
        cu!(pool_trim(pool, keep))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemPoolExportToShareableHandle(
    shared: Raw,
    pool: usize,
    kind: c_int,
    flags: c_uint,
) -> hipError_t {
    call!(hipMemPoolExportToShareableHandle, {
        shared.required()?;
        pool::required(pool)?;
        cu!(pool_export(shared.raw(), pool, kind, flags.into()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemPoolImportFromShareableHandle(
    out: Out<usize>,
    shared: Raw,
    kind: c_int,
    flags: c_uint,
) -> hipError_t {
    call!(hipMemPoolImportFromShareableHandle, {
        out.required()?;
        crate::device::all()?;
        cu!(pool_import(out.raw(), shared.raw(), kind, flags.into()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemPoolExportPointer(out: Out<hipMemPoolPtrExportData>, pointer: Raw) -> hipError_t {
    call!(hipMemPoolExportPointer, {
        out.required().and(pointer.required())?;
        crate::device::all()?;
        cu!(pool_export_pointer(out.raw(), pointer.address()))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemPoolImportPointer(
    out: Out<usize>,
    pool: usize,
    data: In<hipMemPoolPtrExportData>,
) -> hipError_t {
    call!(hipMemPoolImportPointer, {
        out.required()?;
        pool::required(pool)?;
        let mut data = data.get()?;
        cu!(pool_import_pointer(out.raw(), pool, &raw mut data))
    })
}
