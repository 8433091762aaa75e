//! Advice about managed memory, and its moves.

use core::ffi::{c_int, c_uint};

use crate::args::Raw;
use crate::current::Scope;
use crate::guard::call;
use crate::sys::layout::hipMemLocation;
use crate::sys::status::*;
use crate::sys::value::enumerator::*;

#[unsafe(no_mangle)]
pub extern "C" fn hipMemPrefetchAsync(pointer: Raw, size: usize, device: c_int, stream: usize) -> hipError_t {
    call!(hipMemPrefetchAsync, {
        pointer.required()?;
        let _scope = Scope::for_stream(stream)?;
        // Both APIs call the host -1.
        cu!(memory_prefetch(pointer.address(), size, device, stream))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemPrefetchAsync_v2(
    pointer: Raw,
    size: usize,
    location: hipMemLocation,
    flags: c_uint,
    stream: usize,
) -> hipError_t {
    call!(hipMemPrefetchAsync_v2, {
        pointer.required()?;
        let _scope = Scope::for_stream(stream)?;
        cu!(memory_prefetch_v2(pointer.address(), size, location, flags, stream))
    })
}

/// Whether advice is about the caches of AMD's GPUs alone, where it has no effect here.
fn is_about_grain(advice: c_int) -> bool {
    advice == hipMemAdviseSetCoarseGrain || advice == hipMemAdviseUnsetCoarseGrain
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemAdvise(pointer: Raw, size: usize, advice: c_int, device: c_int) -> hipError_t {
    call!(hipMemAdvise, {
        pointer.required()?;
        let _scope = Scope::here()?;
        if is_about_grain(advice) {
            return Ok(());
        }
        cu!(memory_advise(pointer.address(), size, advice, device))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemAdvise_v2(pointer: Raw, size: usize, advice: c_int, location: hipMemLocation) -> hipError_t {
    call!(hipMemAdvise_v2, {
        pointer.required()?;
        let _scope = Scope::here()?;
        if is_about_grain(advice) {
            return Ok(());
        }
        cu!(memory_advise_v2(pointer.address(), size, advice, location))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemRangeGetAttribute(
    data: Raw,
    data_size: usize,
    attribute: c_int,
    pointer: Raw,
    size: usize,
) -> hipError_t {
    call!(hipMemRangeGetAttribute, {
        data.required().and(pointer.required())?;
        let _scope = Scope::here()?;
        match attribute {
            hipMemRangeAttributeReadMostly..=hipMemRangeAttributeLastPrefetchLocation => {
                cu!(memory_range_attribute(data.raw(), data_size, attribute, pointer.address(), size))
            }
            // Managed memory of NVIDIA's GPUs is coherent.
            hipMemRangeAttributeCoherencyMode if data_size == size_of::<c_int>() => {
                data.put(hipMemRangeCoherencyModeFineGrain)
            }
            _ => Err(hipErrorInvalidValue),
        }
    })
}
