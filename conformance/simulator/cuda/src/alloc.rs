//! Allocations that the host makes and frees at once: device, host, registered and managed memory.
//!
//! Freeing waits for all that runs on the device, as the real driver does. Freed memory stays mapped while work that was
//! submitted before the free may still use it, for frees while work is held and for work submitted by other threads
//! meanwhile.

use crate::clock::Milestone;
use crate::context::Context;
use crate::device;
use crate::memory::{self, Allocation, Kind, Make};
use crate::pool;
use crate::region::{self, Region};
use crate::reports::{self, Kind as Misuse};
use crate::sys::*;
use crate::waiting;
use std::sync::Arc;

/// Bytes that an allocation takes of its device.
pub fn accounted(size: usize) -> u64 {
    (size as u64).next_multiple_of(512)
}

/// Takes memory of a device, from its pools' unused memory too if nothing else is left.
pub fn reserve(device: &device::Device, bytes: u64) -> Result {
    if device.reserve(bytes) {
        return Ok(());
    }
    pool::trim_all(device.ordinal);
    if device.reserve(bytes) { Ok(()) } else { Err(CUDA_ERROR_OUT_OF_MEMORY) }
}

/// Device memory of the context's device.
pub fn device_memory(context: &Context, size: usize, kind: Kind) -> Result<Arc<Allocation>> {
    if size == 0 {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    reserve(context.device, accounted(size))?;
    let region = if kind == Kind::Device { Region::shareable(size) } else { Region::new(size) };
    let Some(region) = region else {
        context.device.release(accounted(size));
        return Err(CUDA_ERROR_OUT_OF_MEMORY);
    };
    if matches!(kind, Kind::Device | Kind::Array) {
        // SAFETY: the region is fresh and this is its only owner.
        unsafe { region::poison(region.base(), size) };
    }
    Ok(enter(context, region, size, kind, Some(context.device.ordinal), 0))
}

/// A new region, which nobody may take for zeros.
fn fresh(size: usize) -> Result<Arc<Region>> {
    let region = Region::new(size).ok_or(CUDA_ERROR_OUT_OF_MEMORY)?;
    // SAFETY: the region is fresh and this is its only owner.
    unsafe { region::poison(region.base(), size) };
    Ok(region)
}

/// Page-locked host memory.
pub fn host_memory(context: &Context, size: usize, flags: u32) -> Result<Arc<Allocation>> {
    if size == 0 || flags & !CU_MEMHOSTALLOC_MASK != 0 {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    let region = fresh(size)?;
    Ok(enter(context, region, size, Kind::Host, None, flags))
}

/// Managed memory. It may exceed the device's, so it is not taken out of its account.
pub fn managed_memory(context: &Context, size: usize, flags: u32) -> Result<Arc<Allocation>> {
    if size == 0 || !matches!(flags, CU_MEM_ATTACH_GLOBAL | CU_MEM_ATTACH_HOST) {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    let region = fresh(size)?;
    Ok(enter(context, region, size, Kind::Managed, Some(context.device.ordinal), flags))
}

fn enter(
    context: &Context,
    region: Arc<Region>,
    size: usize,
    kind: Kind,
    device: Option<usize>,
    flags: u32,
) -> Arc<Allocation> {
    let make = Make {
        base: region.base(),
        size,
        kind,
        device,
        context: context.handle,
        flags,
        pool: None,
        region: Some(region),
    };
    memory::add(make, Milestone::immediate())
}

/// Page-locks memory of the client's own.
pub fn register(context: &Context, base: u64, size: usize, flags: u32) -> Result {
    if base == 0 || size == 0 || flags & !CU_MEMHOSTREGISTER_MASK != 0 || base.checked_add(size as u64).is_none() {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    if memory::find(base).is_some_and(|found| found.kind != Kind::Registered) {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    if memory::overlaps(base, size) {
        return Err(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    }
    let make = Make {
        base,
        size,
        kind: Kind::Registered,
        device: None,
        context: context.handle,
        flags,
        pool: None,
        region: None,
    };
    memory::add(make, Milestone::immediate());
    Ok(())
}

/// Ends that. Memory that is there but is not registered from here on is another error than memory that is not.
pub fn unregister(base: u64) -> Result {
    if let Some(allocation) = memory::starting_at(base, |allocation| allocation.kind == Kind::Registered) {
        waiting::for_device_of(&allocation);
    }
    if memory::take(base, |allocation| allocation.kind == Kind::Registered).is_some() {
        return Ok(());
    }
    reports::add(Misuse::InvalidPointer, format!("{base:#x} is not the start of registered memory"));
    Err(if memory::find(base).is_some() { CUDA_ERROR_INVALID_VALUE } else { CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED })
}

/// Frees what `wanted` accepts, when all that runs on its device has ended.
pub fn free(base: u64, wanted: impl FnOnce(&Allocation) -> bool) -> Result {
    let found = memory::starting_at(base, wanted);
    if let Some(allocation) = &found {
        waiting::for_device_of(allocation);
    }
    match found {
        Some(allocation) if free_now(&allocation) => Ok(()),
        _ => {
            report_bad_free(base);
            Err(CUDA_ERROR_INVALID_VALUE)
        }
    }
}

/// Ends an allocation at once. False if somebody else has done so. A pool's block goes without its pool's account.
pub fn free_now(allocation: &Arc<Allocation>) -> bool {
    if !memory::free_at_once(allocation) {
        return false;
    }
    match &allocation.pool {
        Some(pool) => {
            pool.release_uncounted(allocation);
            pool.settle();
        }
        None => give_back(allocation),
    }
    crate::graph::alloc::note_free(allocation.base);
    true
}

/// Says what is wrong with a pointer that cannot be freed.
pub fn report_bad_free(base: u64) {
    match (memory::find(base), memory::history(base)) {
        (Some(live), _) if live.base == base => {
            reports::add(
                Misuse::InvalidPointer,
                format!("{base:#x} is {}, which this call does not free", live.kind.name()),
            );
        }
        (Some(live), _) => {
            reports::add(Misuse::InvalidPointer, format!("{base:#x} is inside of {:#x}, not its start", live.base));
        }
        (None, Some(old)) if old.base == base => {
            reports::add(Misuse::DoubleFree, format!("{base:#x} ({}) is freed already", old.kind.name()));
        }
        _ => reports::add(Misuse::InvalidPointer, format!("{base:#x} is no allocation")),
    }
}

/// Returns an allocation's bytes to its device's account.
pub fn give_back(allocation: &Allocation) {
    if let (Kind::Device | Kind::Array | Kind::Module, Some(device)) = (allocation.kind, allocation.device) {
        device::all()[device].release(accounted(allocation.size));
    }
}
