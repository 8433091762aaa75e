//! `urUSMPoolCreateExp` and `urUSMPoolCreate`: a pool's settings, read from the caller's descriptors.
//!
//! Nothing native is made here but what tells early that the pool cannot be: an Exp pool's device source. Descriptors
//! are trusted by their place at the top and by their `stype` in the chain.

use core::ffi::c_void;
use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{
    UR_EXP_USM_POOL_REUSE_FLAGS_MASK, UR_USM_POOL_FLAGS_MASK, ur_base_desc_t, ur_context_handle_t, ur_device_handle_t,
    ur_exp_usm_pool_policy_desc_t, ur_result_t, ur_structure_type_t, ur_usm_pool_buffer_desc_t, ur_usm_pool_desc_t,
    ur_usm_pool_flags_t, ur_usm_pool_handle_t, ur_usm_pool_limits_desc_t, ur_usm_type_t,
};

use crate::context::Context;
use crate::device::Device;
use crate::driver::{Driver, MemoryKind};
use crate::memory_pool::settings::{Buffer, Reuse, Settings};
use crate::object::error::{Error, Result};
use crate::object::{Object, borrow, borrow_list, known_flags, null_pointer};
use crate::pool::UsmPool;
use crate::pool::extent::Extent;

fn invalid(message: String) -> Error {
    Error::new(ur_result_t::ERROR_INVALID_VALUE, message)
}

/// `urUSMPoolCreateExp`.
///
/// # Safety
/// The C contract: handles live, the descriptor and its chain valid, `out` writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_ENUMERATION` for unknown flags; `INVALID_VALUE` for an unknown structure in the
/// chain or a buffer that is not what its descriptor says; `INVALID_DEVICE`; `UNSUPPORTED_FEATURE` for what the native
/// library has no pools for.
pub unsafe fn for_device<D: Driver>(
    context: ur_context_handle_t,
    device: ur_device_handle_t,
    desc: *mut ur_usm_pool_desc_t,
    out: *mut ur_usm_pool_handle_t,
) -> Result<()> {
    const NAME: &str = "urUSMPoolCreateExp";
    // SAFETY: the caller's promises are the same.
    let (context, device) = unsafe { (borrow::<Context<D>>(context)?, borrow::<Device<D>>(device)?) };
    if out.is_null() {
        return Err(null_pointer(NAME));
    }
    context.check_member(device)?;
    // SAFETY: as above.
    let settings = unsafe { read(NAME, desc, context, Some(device)) }?;
    let first = settings.buffer.as_ref().map_or(MemoryKind::Device, |buffer| buffer.kind);
    let pool = UsmPool::own(context, Some(device), settings);
    // Made now, so that a pool that cannot be is refused here and not at its first allocation.
    pool.source(first, &*context.state(device)?)?;
    // SAFETY: not null, so writable.
    unsafe { out.write(Object::into_handle(pool)) };
    Ok(())
}

/// `urUSMPoolCreate`: a pool for every device of the context.
///
/// # Safety
/// As [`for_device`].
///
/// # Errors
/// As [`for_device`]; `INVALID_VALUE` for a buffer, which belongs to one device.
///
/// # Unsupported
/// - needs: a device with stream-ordered memory, for pools
/// - CUDA: pools of shared memory with a maximum size: the driver takes no limit for them
/// - HIP: pools of host and of shared memory: the runtime has pools of device memory alone
pub unsafe fn for_context<D: Driver>(
    context: ur_context_handle_t,
    desc: *mut ur_usm_pool_desc_t,
    out: *mut ur_usm_pool_handle_t,
) -> Result<()> {
    const NAME: &str = "urUSMPoolCreate";
    // SAFETY: the caller's promises are the same.
    let context = unsafe { borrow::<Context<D>>(context) }?;
    if out.is_null() {
        return Err(null_pointer(NAME));
    }
    // SAFETY: as above.
    let settings = unsafe { read(NAME, desc, context, None) }?;
    if settings.buffer.is_some() {
        return Err(invalid(format!("{NAME}: a buffer-backed pool needs a device; use urUSMPoolCreateExp")));
    }
    if !context.devices().all(|device| device.properties.memory_pools) {
        return Err(Error::unsupported("a USM pool on a device without stream-ordered memory"));
    }
    // SAFETY: not null, so writable.
    unsafe { out.write(Object::into_handle(UsmPool::own(context, None, settings))) };
    Ok(())
}

/// # Safety
/// `desc` is null or valid with its chain.
unsafe fn read<D: Driver>(
    name: &str,
    desc: *const ur_usm_pool_desc_t,
    context: &Object<Context<D>>,
    device: Option<&Object<Device<D>>>,
) -> Result<Settings<D>> {
    // SAFETY: null or valid by the caller's promise.
    let desc = unsafe { desc.as_ref() }.ok_or_else(|| null_pointer(name))?;
    known_flags(name, desc.flags.bits(), UR_USM_POOL_FLAGS_MASK)?;
    let mut settings = Settings {
        zeroed: desc.flags.contains(ur_usm_pool_flags_t::ZERO_INITIALIZE_BLOCK),
        max_size: 0,
        threshold: 0,
        reuse: Reuse::all(),
        peers: SmallVec::new(),
        others: context.devices().cloned().collect(),
        buffer: None,
    };
    let mut next: *const c_void = desc.pNext;
    // SAFETY: each structure of the chain starts with these two members, and the last has a null `pNext`.
    while let Some(base) = unsafe { next.cast::<ur_base_desc_t>().as_ref() } {
        match base.stype {
            ur_structure_type_t::USM_POOL_LIMITS_DESC => {
                // SAFETY: the tag says what it is.
                read_limits::<D>(name, unsafe { &*next.cast() }, &mut settings)?;
            }
            ur_structure_type_t::USM_POOL_BUFFER_DESC => {
                // SAFETY: as above.
                let buffer = unsafe { read_buffer::<D>(name, &*next.cast(), context, device) }?;
                settings.buffer = Some(buffer);
            }
            ur_structure_type_t::EXP_USM_POOL_POLICY_DESC => {
                // SAFETY: as above.
                unsafe { read_policy(name, &*next.cast(), context, device, &mut settings) }?;
            }
            other => {
                return Err(invalid(format!("{name}: a structure of type {:#x} in the chain is not known", other.0)));
            }
        }
        next = base.pNext;
    }
    Ok(settings)
}

fn read_limits<D: Driver>(name: &str, limits: &ur_usm_pool_limits_desc_t, settings: &mut Settings<D>) -> Result<()> {
    settings.max_size = limits.maxPoolableSize.checked_next_multiple_of(D::POOL_STEP).ok_or_else(|| {
        invalid(format!("{name}: a maximum of {} bytes is more than there are addresses", limits.maxPoolableSize))
    })?;
    settings.threshold = limits.minDriverAllocSize;
    Ok(())
}

/// # Safety
/// The descriptor's device is null or live.
unsafe fn read_buffer<D: Driver>(
    name: &str,
    desc: &ur_usm_pool_buffer_desc_t,
    context: &Object<Context<D>>,
    device: Option<&Object<Device<D>>>,
) -> Result<Buffer> {
    if desc.pMem.is_null() {
        return Err(null_pointer(name));
    }
    let kind = match desc.memType {
        ur_usm_type_t::HOST => MemoryKind::Host,
        ur_usm_type_t::DEVICE => MemoryKind::Device,
        ur_usm_type_t::SHARED => MemoryKind::Shared,
        other => return Err(invalid(format!("{name}: a buffer of memory type {:#x}", other.0))),
    };
    if !desc.device.is_null() {
        // SAFETY: live by the caller's promise.
        let given = unsafe { borrow::<Device<D>>(desc.device) }?;
        if device.is_some_and(|device| !core::ptr::eq(device, given)) {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_DEVICE,
                format!("{name}: the buffer is another device's"),
            ));
        }
    }
    let (base, size) = (desc.pMem.addr(), desc.size);
    let found = Extent::around(context, base)?;
    let room = found.as_ref().and_then(|extent| extent.bytes_from(base)).unwrap_or(0);
    let fits = size > 0 && size <= room;
    match found {
        Some(extent) if extent.kind != kind => {
            Err(invalid(format!("{name}: the buffer is {:?} memory and described as {kind:?} memory", extent.kind)))
        }
        Some(extent) if kind == MemoryKind::Device && device.is_some_and(|device| device.raw != extent.device) => {
            Err(Error::new(ur_result_t::ERROR_INVALID_DEVICE, format!("{name}: the buffer is another device's")))
        }
        Some(_) if fits => Ok(Buffer { base, size, kind }),
        _ => Err(invalid(format!("{name}: {size} bytes at {base:#x} do not lie in one USM allocation"))),
    }
}

/// # Safety
/// The descriptor's list holds as many device handles as it says.
unsafe fn read_policy<D: Driver>(
    name: &str,
    desc: &ur_exp_usm_pool_policy_desc_t,
    context: &Object<Context<D>>,
    own: Option<&Object<Device<D>>>,
    settings: &mut Settings<D>,
) -> Result<()> {
    known_flags(name, desc.reuse.bits(), UR_EXP_USM_POOL_REUSE_FLAGS_MASK)?;
    settings.reuse = Reuse(desc.reuse);
    // SAFETY: the caller's promise is the same.
    for peer in unsafe { borrow_list::<Device<D>>(desc.numPeers, desc.phPeers) }? {
        context.check_member(peer)?;
        let is_own = own.is_some_and(|own| core::ptr::eq(own, peer));
        if !is_own && !settings.peers.iter().any(|known| core::ptr::eq(Arc::as_ptr(known), peer)) {
            settings.peers.push(peer.to_arc());
        }
    }
    Ok(())
}
