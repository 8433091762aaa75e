//! Stream-ordered memory and its pools: CUDA's own, handed through, with HIP's rules for what they take.
//!
//! HIP's pools are of pinned device memory alone, access is given to devices and never taken, and a free of null is an
//! error. What the native library rounds or counts by is CUDA's: pages of 32 MiB, the sizes asked for.

use core::ffi::c_int;

use crate::current::Scope;
use crate::sys::layout::{hipMemAccessDesc, hipMemLocation, hipMemPoolProps};
use crate::sys::status::*;
use crate::sys::value::enumerator::{
    hipMemAccessFlagsProtNone, hipMemAccessFlagsProtRead, hipMemAccessFlagsProtReadWrite, hipMemAllocationTypePinned,
    hipMemLocationTypeDevice, hipMemPoolAttrUsedMemHigh, hipMemPoolReuseFollowEventDependencies,
};
use crate::{device, memory};

/// CUDA's name for the legacy default stream.
const LEGACY_STREAM: usize = 1;

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

/// Fails on what HIP gives no access to or by: anything but a device, and access that is none.
pub fn check_access(list: &[hipMemAccessDesc]) -> Result {
    let devices = device::all()?.len();
    if list.len() > devices {
        return Err(hipErrorInvalidDevice);
    }
    for access in list {
        if access.location.r#type != hipMemLocationTypeDevice {
            return Err(hipErrorInvalidValue);
        }
        if !usize::try_from(access.location.id).is_ok_and(|id| id < devices) {
            return Err(hipErrorInvalidDevice);
        }
        match access.flags {
            hipMemAccessFlagsProtNone => return Err(hipErrorInvalidDevice),
            hipMemAccessFlagsProtRead | hipMemAccessFlagsProtReadWrite => {}
            _ => return Err(hipErrorInvalidValue),
        }
    }
    Ok(())
}

/// Fails on a place that a pool's access cannot be asked for.
pub fn check_location(location: &hipMemLocation) -> Result {
    let on_device = location.r#type == hipMemLocationTypeDevice;
    if on_device && device::get(location.id).is_ok() { Ok(()) } else { Err(hipErrorInvalidValue) }
}

/// Frees a block of a pool at once, which HIP's call for plain memory does and CUDA's must not be asked for: all work
/// that may use it ends first. False for memory of no pool.
pub fn free_now(address: usize) -> Result<bool> {
    const MEMPOOL_HANDLE: c_int = 17;
    let mut pool = 0_usize;
    let known = cu!(pointer_attribute((&raw mut pool).cast(), MEMPOOL_HANDLE, address));
    if known.is_err() || pool == 0 {
        return Ok(false);
    }
    let Some(known) = memory::known(address)? else { return Ok(false) };
    let _scope = Scope::on(device::get(known.device)?)?;
    cu!(context_synchronize())?;
    cu!(free_async(address, LEGACY_STREAM))?;
    Ok(true)
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
