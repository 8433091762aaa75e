//! Ranges of addresses without memory, and mapping physical memory into them.
//!
//! Every call checks its range against the context's own list ([`Reservations`]) before the native library sees it. Access
//! rights go to every device of the context that can reach the memory.

pub mod physical;

use core::ffi::c_void;
use std::sync::Arc;

use ur_ffi::{
    ur_result_t, ur_virtual_mem_access_flags_t as Flags, ur_virtual_mem_granularity_info_t as Granularity,
    ur_virtual_mem_info_t,
};

use crate::context::Context;
use crate::context::reservations::{Mapping, Reservations};
use crate::device::Device;
use crate::device::adapter;
use crate::device::native_context::own_memory;
use crate::driver::Access;
use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;
use crate::object::params::{Address, Out};
use crate::usm::virtual_memory::physical::{PhysicalMem, check_size, supported};

/// The context's first device, for calls that concern no device's memory.
fn first<D: Driver>(context: &Object<Context<D>>) -> Result<&Arc<Object<Device<D>>>> {
    let device = context.devices().next().ok_or(ur_result_t::ERROR_INVALID_CONTEXT)?;
    supported(device)?;
    Ok(device)
}

/// A device's rights to a mapping before a change.
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

impl<'a, D: Driver> Range<'a, D> {
    fn new(name: &'static str, context: &'a Object<Context<D>>, start: Address, size: usize) -> Result<Self> {
        first(context)?;
        if size == 0 || start.addr().checked_add(size).is_none() {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_SIZE,
                format!("{name}: {size} bytes from {:p} on are no range", start.as_ptr()),
            ));
        }
        Ok(Self { name, context, driver: adapter::driver::<D>()?, start: start.addr(), size })
    }

    /// The error of a range that the call cannot work on.
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

    /// Gives these rights to mappings to every device of the context that can reach them. After a failure all have their old
    /// rights.
    fn set_access(&self, mappings: &[Mapping<D::Device>], access: Access) -> Result<()> {
        let mut before = Vec::new();
        self.set_one_by_one(mappings, access, &mut before).inspect_err(|_| {
            for Changed { mapping, device, had } in before {
                // The caller gets the first failure.
                let _ = self.driver.set_access(mapping.start, mapping.size, device, had);
            }
        })
    }

    /// Adds each changed device with its old rights to `before`.
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

/// The right that the flags name; no flag means no access.
fn access_of(name: &str, flags: Flags) -> Result<Access> {
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

/// `urVirtualMemGranularityGetInfo`; without a device, a granularity that suits every device of the context.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_ENUMERATION` for an unknown property; `INVALID_DEVICE` for one of another context;
/// `UNSUPPORTED_FEATURE` on a device without virtual memory.
pub fn granularity<D: Driver>(
    context: &Object<Context<D>>,
    device: Option<&Object<Device<D>>>,
    _allocation_size: usize,
    property: Granularity,
    writer: InfoWriter,
) -> Result<()> {
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
    let Some(device) = device else {
        // Powers of two, so that the largest is a multiple of every other.
        let all: Vec<usize> = context.devices().map(|device| of(device)).collect::<Result<_>>()?;
        return writer.value(all.into_iter().max().unwrap_or(0));
    };
    context.check_member(device)?;
    writer.value(of(device)?)
}

/// `urVirtualMemReserve`.
///
/// # Errors
/// `INVALID_SIZE` for a size that is no positive multiple of the granularity;
/// `UNSUPPORTED_FEATURE` on a device without virtual memory; what the native library answers.
pub fn reserve<D: Driver>(
    context: &Object<Context<D>>,
    wish: *const c_void,
    size: usize,
    out: Out<'_, *mut c_void>,
) -> Result<()> {
    let driver = adapter::driver::<D>()?;
    check_size("urVirtualMemReserve", driver, first(context)?, size)?;
    let mut reservations = context.reservations.lock();
    let address = driver.reserve_addresses(size, wish.addr())?;
    reservations.add(address, size);
    out.write_address(address);
    Ok(())
}

/// `urVirtualMemFree`: a whole reservation, in which nothing is mapped.
///
/// # Errors
/// `INVALID_SIZE`; `INVALID_VALUE` for what is not a whole reservation of the context, or holds mappings.
pub fn free<D: Driver>(context: &Object<Context<D>>, start: Address, size: usize) -> Result<()> {
    let range = Range::new("urVirtualMemFree", context, start, size)?;
    let mut reservations = range.context.reservations.lock();
    if !reservations.is_whole_and_empty(range.start, size) {
        return Err(range.is_not("a whole reservation without mappings"));
    }
    range.driver.free_addresses(range.start, size)?;
    reservations.remove(range.start);
    Ok(())
}

/// `urVirtualMemMap`. Both native libraries map whole physical memory objects only, so parts and offsets are not supported.
///
/// # Errors
/// `INVALID_SIZE`; `INVALID_VALUE` for several modes of access, physical memory of another context, or a range that is not
/// reserved or mapped already; `UNSUPPORTED_FEATURE` for a part of the physical memory.
pub fn map<D: Driver>(
    context: &Object<Context<D>>,
    start: Address,
    size: usize,
    physical: &Object<PhysicalMem<D>>,
    offset: usize,
    flags: Flags,
) -> Result<()> {
    const NAME: &str = "urVirtualMemMap";
    let range = Range::new(NAME, context, start, size)?;
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
    range.driver.map(range.start, size, offset, &physical.raw)?;
    let mapping = Mapping { start: range.start, size, device: physical.state.device.raw };
    if access != Access::None {
        range.set_access(&[mapping], access).inspect_err(|_| {
            // The caller gets the first failure. What cannot be undone stays the application's to unmap.
            if range.driver.unmap(range.start, size).is_err() {
                note_mapping(&mut reservations, mapping);
            }
        })?;
    }
    note_mapping(&mut reservations, mapping);
    Ok(())
}

/// Notes what was mapped, for the calls on ranges and for those that free allocations.
fn note_mapping<V: Copy>(reservations: &mut Reservations<V>, mapping: Mapping<V>) {
    own_memory::add(mapping.start);
    reservations.map(mapping);
}

/// `urVirtualMemUnmap`: whole mappings side by side. The addresses stay reserved.
///
/// # Errors
/// `INVALID_SIZE`; `INVALID_VALUE` for what is not mapped.
pub fn unmap<D: Driver>(context: &Object<Context<D>>, start: Address, size: usize) -> Result<()> {
    let range = Range::new("urVirtualMemUnmap", context, start, size)?;
    let mut reservations = range.context.reservations.lock();
    for mapping in range.whole_mappings(&reservations)? {
        range.driver.unmap(mapping.start, mapping.size)?;
        own_memory::remove(mapping.start);
        reservations.unmap(mapping.start);
    }
    Ok(())
}

/// `urVirtualMemSetAccess`, for whole mappings.
///
/// # Errors
/// `INVALID_SIZE`; `INVALID_VALUE` for several modes of access or what is not mapped.
pub fn set_access<D: Driver>(context: &Object<Context<D>>, start: Address, size: usize, flags: Flags) -> Result<()> {
    const NAME: &str = "urVirtualMemSetAccess";
    let range = Range::new(NAME, context, start, size)?;
    let access = access_of(NAME, flags)?;
    let reservations = range.context.reservations.lock();
    range.set_access(&range.whole_mappings(&reservations)?, access)
}

/// `urVirtualMemGetInfo`: the least rights to all of the range, of the devices that have its memory. Another one of the context may
/// have no way there, and so no rights.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_ENUMERATION` for an unknown property; `INVALID_VALUE` for a range of which a part is not mapped.
pub fn get_info<D: Driver>(
    context: &Object<Context<D>>,
    start: Address,
    size: usize,
    property: ur_virtual_mem_info_t,
    writer: InfoWriter,
) -> Result<()> {
    let range = Range::new("urVirtualMemGetInfo", context, start, size)?;
    if property != ur_virtual_mem_info_t::ACCESS_MODE {
        return writer.unknown(property.0);
    }
    let reservations = range.context.reservations.lock();
    let mappings = reservations.covering(range.start, size).ok_or_else(|| range.is_not("mapped memory"))?;
    let least = mappings.iter().try_fold(Access::ReadWrite, |least, mapping| {
        range.driver.access(mapping.start, mapping.device).map(|access| least.min(access))
    })?;
    writer.value(match least {
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
    }
}
