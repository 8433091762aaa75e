//! Ranges of addresses without memory, and mapping physical memory into them.
//!
//! Every range is held against the context's own list ([`Reservations`]) before the native library sees it. Rights of
//! access are given to every device of the context that can reach the memory.

pub mod physical;

use core::ffi::c_void;
use std::sync::Arc;

use ur_ffi::{
    UR_VIRTUAL_MEM_ACCESS_FLAGS_MASK, ur_context_handle_t, ur_device_handle_t, ur_physical_mem_handle_t, ur_result_t,
    ur_virtual_mem_access_flags_t as Flags, ur_virtual_mem_granularity_info_t as Granularity, ur_virtual_mem_info_t,
};

use crate::context::Context;
use crate::context::reservations::{Mapping, Reservations};
use crate::device::Device;
use crate::device::adapter;
use crate::driver::Driver;
use crate::driver::memory_calls::Access;
use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;
use crate::object::{Object, borrow, known_flags, null_pointer};
use crate::virtual_memory::physical::{PhysicalMem, check_size, supported};

/// The context's first device, which stands for all in what needs no device's memory.
fn first<D: Driver>(context: &Object<Context<D>>) -> Result<&Arc<Object<Device<D>>>> {
    let device = context.devices().next().ok_or(ur_result_t::ERROR_INVALID_CONTEXT)?;
    supported(device)?;
    Ok(device)
}

/// A device's rights to a mapping that were changed.
struct Changed<D: Driver> {
    mapping: Mapping<D::Device>,
    device: D::Device,
    had: Access,
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

    /// The error of a range that is not what the call is about.
    #[cold]
    fn is_not(&self, what: &str) -> Error {
        let (name, start, size) = (self.name, self.start, self.size);
        Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{name}: {size} bytes at {start:#x} are not {what} of this context"),
        )
    }

    fn whole_mappings(&self, list: &Reservations<D::Device>) -> Result<Vec<Mapping<D::Device>>> {
        list.whole_mappings(self.start, self.size).ok_or_else(|| self.is_not("whole mappings"))
    }

    /// Gives every device of the context that can reach them these rights to mappings, or none of them new ones.
    fn set_access(&self, mappings: &[Mapping<D::Device>], access: Access) -> Result<()> {
        let mut before = Vec::new();
        self.set_one_by_one(mappings, access, &mut before).inspect_err(|_| {
            for Changed { mapping, device, had } in before {
                // The first failure is the one to tell.
                let _ = self.driver.set_access(mapping.start, mapping.size, device, had);
            }
        })
    }

    /// Notes in `before` whose rights were changed, and what they were.
    fn set_one_by_one(
        &self,
        mappings: &[Mapping<D::Device>],
        access: Access,
        before: &mut Vec<Changed<D>>,
    ) -> Result<()> {
        for mapping in mappings {
            for device in self.context.devices().map(|device| device.raw) {
                if device != mapping.device && !self.driver.can_access_peer(device, mapping.device)? {
                    continue;
                }
                let had = self.driver.access(mapping.start, device)?;
                self.driver.set_access(mapping.start, mapping.size, device, access)?;
                before.push(Changed { mapping: *mapping, device, had });
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
    let (context, writer) = unsafe {
        (borrow::<Context<D>>(context)?, InfoWriter::new("urVirtualMemGranularityGetInfo", size, value, size_out)?)
    };
    let recommended = match property {
        Granularity::MINIMUM => false,
        Granularity::RECOMMENDED => true,
        _ => return writer.unknown(property.0),
    };
    let driver = adapter::driver::<D>()?;
    let of = |device: &Object<Device<D>>| {
        supported(device)?;
        driver.granularity(device.raw, recommended)
    };
    if device.is_null() {
        // Powers of two, so that the largest is a multiple of every other.
        let all: Vec<usize> = context.devices().map(|device| of(device)).collect::<Result<_>>()?;
        return writer.value(all.into_iter().max().unwrap_or(0));
    }
    // SAFETY: not null, so live by the caller's promise.
    let device = unsafe { borrow::<Device<D>>(device) }?;
    context.check_member(device)?;
    writer.value(of(device)?)
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
    let mut reservations = context.reservations.lock();
    let address = driver.reserve_addresses(size, wish.addr())?;
    reservations.add(address, size);
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
/// `INVALID_NULL_POINTER`, `INVALID_SIZE`; `INVALID_VALUE` for what is no whole reservation of the context or holds
/// mappings.
pub unsafe fn free<D: Driver>(context: ur_context_handle_t, start: *const c_void, size: usize) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    let range = unsafe { Range::<D>::new("urVirtualMemFree", context, start, size) }?;
    let mut reservations = range.context.reservations.lock();
    if !reservations.is_whole_and_empty(range.start, size) {
        return Err(range.is_not("a whole reservation without mappings"));
    }
    range.driver.free_addresses(range.start, size)?;
    reservations.remove(range.start);
    Ok(())
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
    let mut reservations = range.context.reservations.lock();
    if !reservations.is_free(range.start, size) {
        return Err(range.is_not("free addresses of one reservation"));
    }
    range.driver.map(range.start, size, offset, physical.raw)?;
    let mapping = Mapping { start: range.start, size, device: physical.state.device.raw };
    if access != Access::None {
        range.set_access(&[mapping], access).inspect_err(|_| {
            // The first failure is the one to tell.
            let _ = range.driver.unmap(range.start, size);
        })?;
    }
    reservations.map(mapping);
    Ok(())
}

/// `urVirtualMemUnmap`: whole mappings, one after the other; the addresses stay reserved.
///
/// # Safety
/// The C contract: the handle is live; nothing uses the mappings any more.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_SIZE`; `INVALID_VALUE` for what is not mapped.
pub unsafe fn unmap<D: Driver>(context: ur_context_handle_t, start: *const c_void, size: usize) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    let range = unsafe { Range::<D>::new("urVirtualMemUnmap", context, start, size) }?;
    let mut reservations = range.context.reservations.lock();
    for mapping in range.whole_mappings(&reservations)? {
        range.driver.unmap(mapping.start, mapping.size)?;
        reservations.unmap(mapping.start);
    }
    Ok(())
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
    let reservations = range.context.reservations.lock();
    range.set_access(&range.whole_mappings(&reservations)?, access)
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
    let (range, writer) =
        unsafe { (Range::<D>::new(NAME, context, start, size)?, InfoWriter::new(NAME, value_size, value, size_out)?) };
    if property != ur_virtual_mem_info_t::ACCESS_MODE {
        return writer.unknown(property.0);
    }
    let reservations = range.context.reservations.lock();
    if reservations.mapping_at(range.start).is_none() {
        return Err(range.is_not("mapped memory"));
    }
    writer.value(match range.driver.access(range.start, first(range.context)?.raw)? {
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
