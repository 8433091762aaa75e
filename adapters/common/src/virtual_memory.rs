//! Ranges of addresses without memory, and mapping physical memory into them.
//!
//! The native library knows what is reserved and mapped; the engine keeps no list. Rights of access are given to every
//! device of the context that can reach the memory.

use core::ffi::c_void;
use std::sync::Arc;

use ur_ffi::{
    UR_VIRTUAL_MEM_ACCESS_FLAGS_MASK, ur_context_handle_t, ur_device_handle_t, ur_physical_mem_handle_t, ur_result_t,
    ur_virtual_mem_access_flags_t as Flags, ur_virtual_mem_granularity_info_t as Granularity, ur_virtual_mem_info_t,
};

use crate::adapter;
use crate::context::Context;
use crate::device::Device;
use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::info::Answer;
use crate::memory_calls::Access;
use crate::object::{Object, borrow, known_flags, null_pointer};
use crate::physical_memory::{PhysicalMem, check_size, supported};

/// The context's first device, which stands for all in what needs no device's memory.
fn first<D: Driver>(context: &Object<Context<D>>) -> Result<&Arc<Object<Device<D>>>> {
    let device = context.devices().next().ok_or(ur_result_t::ERROR_INVALID_CONTEXT)?;
    supported(device)?;
    Ok(device)
}

/// The parameters that most entry points here share.
struct Range<'a, D: Driver> {
    name: &'static str,
    context: &'a Object<Context<D>>,
    driver: &'static D,
    start: usize,
    size: usize,
}

impl<D: Driver> Range<'_, D> {
    /// # Safety
    /// The context's handle is live.
    unsafe fn new(name: &'static str, context: ur_context_handle_t, start: *const c_void, size: usize) -> Result<Self> {
        // SAFETY: the caller's promise is the same.
        let context = unsafe { borrow::<Context<D>>(context) }?;
        first(context)?;
        if start.is_null() {
            return Err(null_pointer(name));
        }
        if size == 0 || start.addr().checked_add(size).is_none() {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_SIZE,
                format!("{name}: {size} bytes from {start:p} on are no range"),
            ));
        }
        Ok(Self { name, context, driver: adapter::driver::<D>()?, start: start.addr(), size })
    }

    /// The native library's refusal with what it means here.
    fn explain(&self, error: Error, what: &str) -> Error {
        if error.code() != ur_result_t::ERROR_INVALID_VALUE {
            return error;
        }
        let (start, size) = (self.start, self.size);
        Error::native(
            ur_result_t::ERROR_INVALID_VALUE,
            self.name,
            error.native_status(),
            &format!("{size} bytes at {start:#x} are not {what}; {}", error.message()),
        )
    }

    /// Gives every device of the context that can reach the owner's memory these rights, or none of them new ones.
    fn set_access(&self, owner: D::Device, access: Access) -> Result<()> {
        let mut before = Vec::new();
        for device in self.context.devices().map(|device| device.raw) {
            if device != owner && !self.driver.can_access_peer(device, owner)? {
                continue;
            }
            let had = self.driver.access(self.start, device).map_err(|error| self.explain(error, "mapped"))?;
            match self.driver.set_access(self.start, self.size, device, access) {
                Ok(()) => before.push((device, had)),
                Err(error) => {
                    for (device, had) in before {
                        // The first failure is the one to tell.
                        let _ = self.driver.set_access(self.start, self.size, device, had);
                    }
                    return Err(self.explain(error, "whole mappings"));
                }
            }
        }
        Ok(())
    }
}

/// The one right that flags name; none is no access.
fn access_of(name: &str, flags: Flags) -> Result<Access> {
    known_flags(name, flags.bits(), UR_VIRTUAL_MEM_ACCESS_FLAGS_MASK)?;
    match flags {
        Flags::READ_WRITE => Ok(Access::ReadWrite),
        Flags::READ_ONLY => Ok(Access::ReadOnly),
        flags if flags == Flags::NONE || flags.is_empty() => Ok(Access::None),
        _ => Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{name}: flags {:#x} name several modes of access; give one", flags.bits()),
        )),
    }
}

/// `urVirtualMemGranularityGetInfo`; without a device what suits every device of the context.
///
/// # Safety
/// The C contract of an info query.
///
/// # Errors
/// As [`Answer`]; `INVALID_ENUMERATION` for an unknown property; `INVALID_DEVICE` for one of another context;
/// `UNSUPPORTED_FEATURE` on a device without virtual memory.
pub unsafe fn granularity<D: Driver>(
    context: ur_context_handle_t,
    device: ur_device_handle_t,
    _allocation_size: usize,
    property: Granularity,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let (context, answer) = unsafe {
        (borrow::<Context<D>>(context)?, Answer::new("urVirtualMemGranularityGetInfo", size, value, size_out)?)
    };
    let recommended = match property {
        Granularity::MINIMUM => false,
        Granularity::RECOMMENDED => true,
        _ => return answer.unknown(property.0),
    };
    let driver = adapter::driver::<D>()?;
    let of = |device: &Object<Device<D>>| {
        supported(device)?;
        driver.granularity(device.raw, recommended)
    };
    if device.is_null() {
        // Powers of two, so that the largest is a multiple of every other.
        let all: Vec<usize> = context.devices().map(|device| of(device)).collect::<Result<_>>()?;
        return answer.value(all.into_iter().max().unwrap_or(0));
    }
    // SAFETY: not null, so live by the caller's promise.
    let device = unsafe { borrow::<Device<D>>(device) }?;
    context.check_member(device)?;
    answer.value(of(device)?)
}

/// `urVirtualMemReserve`.
///
/// # Safety
/// The C contract: the handle is live, `out` writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_SIZE` for a size that is no positive multiple of the granularity;
/// `UNSUPPORTED_FEATURE` on a device without virtual memory; what the native library answers.
pub unsafe fn reserve<D: Driver>(
    context: ur_context_handle_t,
    wish: *const c_void,
    size: usize,
    out: *mut *mut c_void,
) -> Result<()> {
    const NAME: &str = "urVirtualMemReserve";
    // SAFETY: the caller's promise is the same.
    let context = unsafe { borrow::<Context<D>>(context) }?;
    if out.is_null() {
        return Err(null_pointer(NAME));
    }
    let driver = adapter::driver::<D>()?;
    check_size(NAME, driver, first(context)?, size)?;
    let address = driver.reserve_addresses(size, wish.addr())?;
    // SAFETY: not null, so writable.
    unsafe { out.write(core::ptr::with_exposed_provenance_mut(address)) };
    Ok(())
}

/// `urVirtualMemFree`: a whole reservation, in which nothing is mapped.
///
/// # Safety
/// The C contract: the handle is live; nothing uses the addresses any more.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_SIZE`; `INVALID_VALUE` for what is no whole reservation or holds mappings.
pub unsafe fn free<D: Driver>(context: ur_context_handle_t, start: *const c_void, size: usize) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    let range = unsafe { Range::<D>::new("urVirtualMemFree", context, start, size) }?;
    let freed = range.driver.free_addresses(range.start, size);
    freed.map_err(|error| range.explain(error, "a whole reservation without mappings"))
}

/// `urVirtualMemMap`. Both native libraries map whole physical memory alone: a part of it, or an offset, is not
/// supported there.
///
/// # Safety
/// The C contract: handles live.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_SIZE`; `INVALID_ENUMERATION` for unknown flags, `INVALID_VALUE` for several modes of
/// access, physical memory of another context, or a range that is not reserved or mapped already;
/// `UNSUPPORTED_FEATURE` for a part of the physical memory.
///
/// # Unsupported
/// - a part of the physical memory: native libraries map all of it or nothing
pub unsafe fn map<D: Driver>(
    context: ur_context_handle_t,
    start: *const c_void,
    size: usize,
    physical: ur_physical_mem_handle_t,
    offset: usize,
    flags: Flags,
) -> Result<()> {
    const NAME: &str = "urVirtualMemMap";
    // SAFETY: the caller's promises are the same.
    let (range, physical) =
        unsafe { (Range::<D>::new(NAME, context, start, size)?, borrow::<PhysicalMem<D>>(physical)?) };
    let access = access_of(NAME, flags)?;
    if !core::ptr::eq(range.context, &raw const *physical.context) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{NAME}: the physical memory belongs to another context"),
        ));
    }
    if offset.checked_add(size).is_none_or(|end| end > physical.size) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{NAME}: {size} bytes from byte {offset} on are not in physical memory of {} bytes", physical.size),
        ));
    }
    let mapped = range.driver.map(range.start, size, offset, physical.raw);
    mapped.map_err(|error| range.explain(error, "reserved and free"))?;
    if access == Access::None {
        return Ok(());
    }
    range.set_access(physical.state.device.raw, access).inspect_err(|_| {
        // The first failure is the one to tell.
        let _ = range.driver.unmap(range.start, size);
    })
}

/// `urVirtualMemUnmap`: whole mappings; the addresses stay reserved.
///
/// # Safety
/// The C contract: the handle is live; nothing uses the mappings any more.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_SIZE`; `INVALID_VALUE` for what is not mapped.
pub unsafe fn unmap<D: Driver>(context: ur_context_handle_t, start: *const c_void, size: usize) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    let range = unsafe { Range::<D>::new("urVirtualMemUnmap", context, start, size) }?;
    range.driver.unmap(range.start, size).map_err(|error| range.explain(error, "whole mappings"))
}

/// `urVirtualMemSetAccess`, of whole mappings.
///
/// # Safety
/// The C contract: the handle is live.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_SIZE`; `INVALID_ENUMERATION` for unknown flags, `INVALID_VALUE` for several modes of
/// access or what is not mapped.
pub unsafe fn set_access<D: Driver>(
    context: ur_context_handle_t,
    start: *const c_void,
    size: usize,
    flags: Flags,
) -> Result<()> {
    const NAME: &str = "urVirtualMemSetAccess";
    // SAFETY: the caller's promise is the same.
    let range = unsafe { Range::<D>::new(NAME, context, start, size) }?;
    let access = access_of(NAME, flags)?;
    let info = range.driver.pointer_info(range.start)?.ok_or_else(|| {
        Error::new(ur_result_t::ERROR_INVALID_VALUE, format!("{NAME}: nothing is mapped at {start:p}"))
    })?;
    range.set_access(info.device, access)
}

/// `urVirtualMemGetInfo`: of the mapping at the start of the range, for the context's first device.
///
/// # Safety
/// The C contract of an info query.
///
/// # Errors
/// As [`Answer`]; `INVALID_ENUMERATION` for an unknown property; `INVALID_VALUE` for what is not mapped.
pub unsafe fn get_info<D: Driver>(
    context: ur_context_handle_t,
    start: *const c_void,
    size: usize,
    property: ur_virtual_mem_info_t,
    value_size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> Result<()> {
    const NAME: &str = "urVirtualMemGetInfo";
    // SAFETY: the caller's promises are the same.
    let (range, answer) =
        unsafe { (Range::<D>::new(NAME, context, start, size)?, Answer::new(NAME, value_size, value, size_out)?) };
    if property != ur_virtual_mem_info_t::ACCESS_MODE {
        return answer.unknown(property.0);
    }
    let access = range.driver.access(range.start, first(range.context)?.raw);
    answer.value(match access.map_err(|error| range.explain(error, "mapped"))? {
        Access::None => Flags::NONE,
        Access::ReadOnly => Flags::READ_ONLY,
        Access::ReadWrite => Flags::READ_WRITE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_name_one_mode_of_access() {
        assert_eq!(access_of("t", Flags::empty()).unwrap(), Access::None);
        assert_eq!(access_of("t", Flags::NONE).unwrap(), Access::None);
        assert_eq!(access_of("t", Flags::READ_ONLY).unwrap(), Access::ReadOnly);
        assert_eq!(access_of("t", Flags::READ_WRITE).unwrap(), Access::ReadWrite);
        let several = access_of("t", Flags::READ_ONLY.union(Flags::READ_WRITE)).unwrap_err();
        assert_eq!(several.code(), ur_result_t::ERROR_INVALID_VALUE);
        let unknown = access_of("t", Flags::from_bits_retain(1 << 20)).unwrap_err();
        assert_eq!(unknown.code(), ur_result_t::ERROR_INVALID_ENUMERATION);
    }
}
