//! `urUSMPoolCreateExp` and `urUSMPoolCreate`: a pool's settings, read from the caller's descriptors.
//!
//! Nothing native is made here but what tells early that the pool cannot be: an Exp pool's device backend. Descriptors
//! are trusted by their place at the top and by their `stype` in the chain.

use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{
    UR_EXP_USM_POOL_REUSE_FLAGS_MASK, ur_exp_usm_pool_policy_desc_t, ur_ext_usm_pool_prefill_desc_t, ur_result_t,
    ur_usm_pool_buffer_desc_t, ur_usm_pool_desc_t, ur_usm_pool_flags_t, ur_usm_pool_handle_t,
    ur_usm_pool_limits_desc_t,
};

use crate::context::Context;
use crate::device::Device;
use crate::driver::{Driver, MemoryKind};
use crate::memory_pool::settings::{Buffer, Reuse, Settings};
use crate::object::chain::Chained;
use crate::object::error::{Error, Result};
use crate::object::params::{self, Handles, Out};
use crate::object::{Object, known_flags, null_pointer};
use crate::pool::UsmPool;
use crate::pool::extent::Extent;
use crate::pool::native_handle::kind_of;

fn invalid(message: String) -> Error {
    Error::new(ur_result_t::ERROR_INVALID_VALUE, message)
}

/// `urUSMPoolCreateExp`.
///
/// # Errors
/// `INVALID_VALUE` for an unknown structure in the
/// chain or a buffer that is not what its descriptor says; `INVALID_DEVICE`; `UNSUPPORTED_FEATURE` for memory that the device
/// has not; `OUT_OF_DEVICE_MEMORY` for a prefill.
pub fn for_device<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    desc: Chained<'_, ur_usm_pool_desc_t>,
    out: Out<'_, ur_usm_pool_handle_t>,
) -> Result<()> {
    context.check_member(device)?;
    let settings = read("urUSMPoolCreateExp", desc, context, Some(device))?;
    let first = settings.buffer.as_ref().map_or(MemoryKind::Device, |buffer| buffer.kind);
    let pool = UsmPool::own(context, Some(device), settings);
    let state = context.state(device)?;
    // Made now, so that a pool that cannot be is refused here and not at its first allocation.
    pool.backend(first, &state)?;
    pool.prefill(&state)?;
    out.write_object(pool);
    Ok(())
}

/// `urUSMPoolCreate`: a pool for every device of the context.
///
/// # Errors
/// As [`for_device`]; `INVALID_VALUE` for a buffer, which belongs to one device.
pub fn for_context<D: Driver>(
    context: &Object<Context<D>>,
    desc: Chained<'_, ur_usm_pool_desc_t>,
    out: Out<'_, ur_usm_pool_handle_t>,
) -> Result<()> {
    const NAME: &str = "urUSMPoolCreate";
    let settings = read(NAME, desc, context, None)?;
    if settings.buffer.is_some() {
        return Err(invalid(format!("{NAME}: a buffer-backed pool needs a device; use urUSMPoolCreateExp")));
    }
    let prefills = !settings.prefill.is_empty();
    let pool = UsmPool::own(context, None, settings);
    if prefills {
        context.devices().try_for_each(|device| pool.prefill(&*context.state(device)?))?;
    }
    out.write_object(pool);
    Ok(())
}

/// The settings of a descriptor and of its chain.
fn read<D: Driver>(
    name: &'static str,
    desc: Chained<'_, ur_usm_pool_desc_t>,
    context: &Object<Context<D>>,
    device: Option<&Object<Device<D>>>,
) -> Result<Settings<D>> {
    let mut settings = Settings {
        zeroed: desc.flags.contains(ur_usm_pool_flags_t::ZERO_INITIALIZE_BLOCK),
        max_size: 0,
        threshold: 0,
        reuse: Reuse::all(),
        peers: SmallVec::new(),
        others: context.devices().cloned().collect(),
        buffer: None,
        prefill: SmallVec::new(),
    };
    for link in desc.chain(name) {
        let link = link?;
        if let Some(limits) = link.downcast::<ur_usm_pool_limits_desc_t>() {
            read_limits::<D>(name, &limits, &mut settings)?;
        } else if let Some(buffer) = link.downcast::<ur_usm_pool_buffer_desc_t>() {
            // SAFETY: the device that a valid structure names is null or alive.
            let named = unsafe { params::optional_handle::<Device<D>>(name, buffer.device) };
            settings.buffer = Some(read_buffer(name, &buffer, named, context, device)?);
        } else if let Some(policy) = link.downcast::<ur_exp_usm_pool_policy_desc_t>() {
            // SAFETY: the list of a valid structure holds as many handles as it says, each null or alive.
            let peers = unsafe {
                params::optional_slice(name, policy.numPeers, policy.phPeers)
                    .and_then(|peers| params::handles::<Device<D>>(name, peers))
            };
            read_policy(name, &policy, peers, context, device, &mut settings)?;
        } else if let Some(prefill) = link.downcast::<ur_ext_usm_pool_prefill_desc_t>() {
            let kind = kind_of(prefill.memType)
                .ok_or_else(|| invalid(format!("{name}: a prefill of memory type {:#x}", prefill.memType.0)))?;
            settings.prefill.push((kind, prefill.size));
        } else {
            let stype = link.stype().0;
            return Err(invalid(format!("{name}: a structure of type {stype:#x} in the chain is not known")));
        }
    }
    // What the pool begins with must not go at the first synchronisation.
    let prefilled = settings.prefill.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
    settings.threshold = settings.threshold.max(prefilled);
    if settings.max_size > 0 && prefilled > settings.max_size {
        let most = settings.max_size;
        return Err(invalid(format!(
            "{name}: a prefill of {prefilled} bytes is more than the pool's maximum of {most}"
        )));
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

fn read_buffer<D: Driver>(
    name: &str,
    desc: &ur_usm_pool_buffer_desc_t,
    named: Result<Option<&Object<Device<D>>>>,
    context: &Object<Context<D>>,
    device: Option<&Object<Device<D>>>,
) -> Result<Buffer> {
    if desc.pMem.is_null() {
        return Err(null_pointer(name));
    }
    let kind = kind_of(desc.memType)
        .ok_or_else(|| invalid(format!("{name}: a buffer of memory type {:#x}", desc.memType.0)))?;
    if let Some(named) = named?
        && device.is_some_and(|device| !core::ptr::eq(device, named))
    {
        return Err(Error::new(ur_result_t::ERROR_INVALID_DEVICE, format!("{name}: the buffer is another device's")));
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

fn read_policy<D: Driver>(
    name: &str,
    desc: &ur_exp_usm_pool_policy_desc_t,
    peers: Result<Handles<'_, Device<D>>>,
    context: &Object<Context<D>>,
    own: Option<&Object<Device<D>>>,
    settings: &mut Settings<D>,
) -> Result<()> {
    known_flags(name, desc.reuse.bits(), UR_EXP_USM_POOL_REUSE_FLAGS_MASK)?;
    settings.reuse = Reuse(desc.reuse);
    for peer in peers?.iter() {
        context.check_member(peer)?;
        let is_own = own.is_some_and(|own| core::ptr::eq(own, peer));
        if !is_own && !settings.peers.iter().any(|known| core::ptr::eq(Arc::as_ptr(known), peer)) {
            settings.peers.push(peer.to_arc());
        }
    }
    Ok(())
}
