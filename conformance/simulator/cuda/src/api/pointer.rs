//! What is known of a pointer.

use super::args::{Raw, Slice};
use super::guard::call;
use crate::memory::{self, Allocation, Kind};
use crate::pool::Location;
use crate::sys::*;
use core::ffi::{c_int, c_uint};

/// Writes one attribute. `None` for the allocation is a pointer that the driver does not know.
fn put(data: Raw, attribute: c_int, pointer: u64, found: Option<&Allocation>) -> Result {
    let Some(found) = found else {
        return match attribute {
            // A pointer from outside has no device, and is not managed; the rest is not defined for it.
            8 | 13 => data.put(false),
            9 => data.put(-2i32),
            _ => Err(CUDA_ERROR_INVALID_VALUE),
        };
    };
    let on_host = matches!(found.kind, Kind::Host | Kind::Registered)
        || found.pool.as_ref().is_some_and(|pool| pool.location == Location::Host);
    let managed =
        found.kind == Kind::Managed || found.pool.as_ref().is_some_and(|pool| pool.location == Location::Managed);
    let (base, size) = match found.kind {
        Kind::Mapped => crate::vmm::reservation(pointer).unwrap_or((found.base, found.size)),
        _ => (found.base, found.size),
    };
    match attribute {
        1 => match found.kind {
            // Memory that belongs to no context says so.
            Kind::Pool | Kind::Graph | Kind::Mapped => data.put(0u64),
            _ => data.put(found.context),
        },
        2 => data.put(if on_host { CU_MEMORYTYPE_HOST } else { CU_MEMORYTYPE_DEVICE }),
        3 => data.put(pointer),
        4 if on_host || managed => data.put(pointer),
        4 => Err(CUDA_ERROR_INVALID_VALUE),
        6 => data.put(0i32),
        7 | 20 => data.put(found.id),
        8 => data.put(managed),
        9 => data.put(found.device.map_or(-1, |ordinal| ordinal as i32)),
        10 => data.put(false),
        // Of a block in a host pool the real driver does not give the block's own start.
        11 | 19 if on_host && found.pool.is_some() => {
            data.put(found.region.as_ref().map_or(found.base, |region| region.base()))
        }
        11 | 19 => data.put(base),
        12 | 18 => data.put(size),
        13 => data.put(true),
        14 => data.put(0u64),
        15 => data.put(false),
        16 => data.put(CU_MEM_ACCESS_FLAGS_PROT_READWRITE),
        17 => data.put(found.pool.as_ref().map_or(0, |pool| pool.handle)),
        _ => Err(CUDA_ERROR_INVALID_VALUE),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuPointerGetAttribute(data: Raw, attribute: c_int, pointer: CUdeviceptr) -> CUresult {
    call!(cuPointerGetAttribute, {
        if data.address() == 0 {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        put(data, attribute, pointer, memory::find(pointer).as_deref())
    })
}

/// Unlike the single query, this one answers for pointers that it does not know: zeros.
#[unsafe(no_mangle)]
pub extern "C" fn cuPointerGetAttributes(
    count: c_uint,
    attributes: Slice<c_int>,
    data: Slice<Raw>,
    pointer: CUdeviceptr,
) -> CUresult {
    call!(cuPointerGetAttributes, {
        let attributes = attributes.read(count as usize)?;
        let data = data.read(count as usize)?;
        let found = memory::find(pointer);
        for (&attribute, data) in attributes.iter().zip(data) {
            let result = put(data, attribute, pointer, found.as_deref());
            if result.is_err() {
                match attribute {
                    1 | 3 | 4 | 7 | 11 | 12 | 14 | 17..=20 => data.put(0u64)?,
                    2 | 6 | 16 => data.put(0i32)?,
                    10 | 15 => data.put(false)?,
                    _ => return result,
                }
            }
        }
        Ok(())
    })
}

/// The one attribute that can be set makes copies synchronous, which they may be already.
#[unsafe(no_mangle)]
pub extern "C" fn cuPointerSetAttribute(_value: Raw, attribute: c_int, pointer: CUdeviceptr) -> CUresult {
    call!(cuPointerSetAttribute, {
        memory::find(pointer).ok_or(CUDA_ERROR_INVALID_VALUE)?;
        if attribute == 6 { Ok(()) } else { Err(CUDA_ERROR_INVALID_VALUE) }
    })
}
