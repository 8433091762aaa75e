//! Stream-ordered memory and its pools: CUDA's own, handed through, with HIP's rules for what they take.
//!
//! HIP's pools are of pinned device memory alone, and a free of null is an error in HIP.

use core::ffi::c_int;

use crate::current::Scope;
use crate::device;
use crate::sys::layout::hipMemPoolProps;
use crate::sys::status::*;
use crate::sys::value::enumerator::{
    hipMemAllocationTypePinned, hipMemLocationTypeDevice, hipMemPoolAttrUsedMemHigh,
    hipMemPoolReuseFollowEventDependencies,
};

/// Makes a pool.
pub fn create(properties: &hipMemPoolProps) -> Result<usize> {
    let pinned = properties.allocType == hipMemAllocationTypePinned;
    if !pinned || properties.location.r#type != hipMemLocationTypeDevice {
        return Err(hipErrorInvalidValue);
    }
    device::get(properties.location.id).map_err(|_| hipErrorInvalidValue)?;
    let _scope = Scope::here()?;
    let mut pool = 0;
    cu!(pool_create(&raw mut pool, properties))?;
    Ok(pool)
}

/// Fails on the null handle.
pub fn required(pool: usize) -> Result {
    device::all()?;
    if pool == 0 { Err(hipErrorInvalidValue) } else { Ok(()) }
}

/// Fails on an attribute that HIP does not have. Its numbers are CUDA's.
pub fn check_attribute(attribute: c_int) -> Result {
    let known = hipMemPoolReuseFollowEventDependencies..=hipMemPoolAttrUsedMemHigh;
    if known.contains(&attribute) { Ok(()) } else { Err(hipErrorInvalidValue) }
}

/// Takes a block from a pool, or from the current device's with `None`; nothing for no bytes.
pub fn allocate(size: usize, pool: Option<usize>, stream: usize) -> Result<usize> {
    let mut address = 0;
    // Without a pool it is the device of the stream that CUDA takes from, as HIP does.
    let _scope = Scope::for_stream(stream)?;
    match pool {
        _ if size == 0 => (),
        Some(pool) => cu!(allocate_from_pool(&raw mut address, size, pool, stream))?,
        None => cu!(allocate_async(&raw mut address, size, stream))?,
    }
    Ok(address)
}

/// Frees a block in the stream's order.
pub fn free(address: usize, stream: usize) -> Result {
    let _scope = Scope::for_stream(stream)?;
    if address == 0 {
        return Err(hipErrorInvalidValue);
    }
    cu!(free_async(address, stream))
}
