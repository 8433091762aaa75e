//! Reserved addresses, physical memory and mappings.
//!
//! What is mapped where is the engine's to know.

use ur_adapter::driver::{Access, VirtualMemory};
use ur_adapter::object::error::Result;

use super::Hip;
use crate::map::{native_access, physical_properties};
use crate::sys::{HipPhysical, MemAccess, MemLocation, Ordinal, flag};

impl VirtualMemory for Hip {
    type Physical = HipPhysical;

    fn granularity(&self, device: Ordinal, recommended: bool) -> Result<usize> {
        let (properties, mut bytes) = (physical_properties(device, false), 0);
        let which = if recommended {
            flag::hipMemAllocationGranularityRecommended
        } else {
            flag::hipMemAllocationGranularityMinimum
        };
        // SAFETY: the output and the description are live locals.
        self.check("hipMemGetAllocationGranularity", unsafe {
            (self.symbols.granularity)(&raw mut bytes, &raw const properties, which)
        })?;
        Ok(bytes)
    }

    fn reserve_addresses(&self, size: usize, wish: usize) -> Result<usize> {
        let mut address = 0;
        // SAFETY: the output is a live local.
        self.check("hipMemAddressReserve", unsafe {
            (self.symbols.address_reserve)(&raw mut address, size, 0, wish, 0)
        })?;
        Ok(address)
    }

    fn free_addresses(&self, address: usize, size: usize) -> Result<()> {
        // SAFETY: the library checks the range.
        self.check("hipMemAddressFree", unsafe { (self.symbols.address_free)(address, size) })
    }

    fn create_physical(&self, device: Ordinal, size: usize, shareable: bool) -> Result<HipPhysical> {
        let properties = physical_properties(device, shareable);
        let mut physical = HipPhysical::default();
        // SAFETY: the output and the description are live locals.
        self.check("hipMemCreate", unsafe {
            (self.symbols.physical_create)(&raw mut physical, size, &raw const properties, 0)
        })?;
        Ok(physical)
    }

    fn release_physical(&self, physical: HipPhysical) -> Result<()> {
        // SAFETY: the handle was its owner.
        self.check("hipMemRelease", unsafe { (self.symbols.physical_release)(physical) })
    }

    fn map(&self, address: usize, size: usize, offset: usize, physical: &HipPhysical) -> Result<()> {
        // SAFETY: the physical memory is borrowed; the library checks the range.
        self.check("hipMemMap", unsafe { (self.symbols.physical_map)(address, size, offset, *physical, 0) })
    }

    fn unmap(&self, address: usize, size: usize) -> Result<()> {
        // SAFETY: the library checks the range.
        self.check("hipMemUnmap", unsafe { (self.symbols.physical_unmap)(address, size) })
    }

    fn set_access(&self, address: usize, size: usize, device: Ordinal, access: Access) -> Result<()> {
        let location = MemLocation { kind: flag::hipMemLocationTypeDevice, device };
        let access = MemAccess { location, flags: native_access(access) };
        // SAFETY: the list has the one entry that is told; the library checks the range.
        self.check("hipMemSetAccess", unsafe {
            (self.symbols.physical_set_access)(address, size, &raw const access, 1)
        })
    }

    fn access(&self, address: usize, device: Ordinal) -> Result<Access> {
        let (location, mut flags) = (MemLocation { kind: flag::hipMemLocationTypeDevice, device }, 0);
        // SAFETY: the output and the location are live locals; the library checks the address.
        self.check("hipMemGetAccess", unsafe {
            (self.symbols.physical_access)(&raw mut flags, &raw const location, address)
        })?;
        Ok(match u32::try_from(flags) {
            Ok(flag::hipMemAccessFlagsProtNone) => Access::None,
            Ok(flag::hipMemAccessFlagsProtRead) => Access::ReadOnly,
            _ => Access::ReadWrite,
        })
    }
}
