//! Reserved addresses, physical memory and mappings.
//!
//! What is mapped where is the engine's to know.

use core::ffi::c_int;

use ur_adapter::driver::{Access, VirtualMemory};
use ur_adapter::object::error::Result;

use super::Cuda;
use crate::map::{native_access, physical_properties};
use crate::sys::{self, CUdevice, CUmemAccessDesc, CUmemLocation, CUphysical};

impl VirtualMemory for Cuda {
    type Physical = CUphysical;

    fn granularity(&self, device: CUdevice, recommended: bool) -> Result<usize> {
        let (properties, mut bytes) = (physical_properties(device, false), 0);
        // SAFETY: the output and the description are live locals.
        self.check("cuMemGetAllocationGranularity", unsafe {
            (self.symbols.granularity)(&raw mut bytes, &raw const properties, recommended.into())
        })?;
        Ok(bytes)
    }

    fn reserve_addresses(&self, size: usize, wish: usize) -> Result<usize> {
        let mut address = 0;
        // SAFETY: the output is a live local.
        self.check("cuMemAddressReserve", unsafe {
            (self.symbols.address_reserve)(&raw mut address, size, 0, wish, 0)
        })?;
        Ok(address)
    }

    fn free_addresses(&self, address: usize, size: usize) -> Result<()> {
        // SAFETY: the library checks the range.
        self.check("cuMemAddressFree", unsafe { (self.symbols.address_free)(address, size) })
    }

    fn create_physical(&self, device: CUdevice, size: usize, shareable: bool) -> Result<CUphysical> {
        let properties = physical_properties(device, shareable);
        let mut physical = CUphysical::default();
        // SAFETY: the output and the description are live locals.
        self.check("cuMemCreate", unsafe {
            (self.symbols.physical_create)(&raw mut physical, size, &raw const properties, 0)
        })?;
        Ok(physical)
    }

    fn release_physical(&self, physical: CUphysical) -> Result<()> {
        // SAFETY: the handle was its owner.
        self.check("cuMemRelease", unsafe { (self.symbols.physical_release)(physical) })
    }

    fn map(&self, address: usize, size: usize, offset: usize, physical: &CUphysical) -> Result<()> {
        // SAFETY: the physical memory is borrowed; the library checks the range.
        self.check("cuMemMap", unsafe { (self.symbols.physical_map)(address, size, offset, *physical, 0) })
    }

    fn unmap(&self, address: usize, size: usize) -> Result<()> {
        // SAFETY: the library checks the range.
        self.check("cuMemUnmap", unsafe { (self.symbols.physical_unmap)(address, size) })
    }

    fn set_access(&self, address: usize, size: usize, device: CUdevice, access: Access) -> Result<()> {
        let location = CUmemLocation { kind: sys::LOCATION_DEVICE, id: device.0 };
        let access = CUmemAccessDesc { location, flags: native_access(access) };
        // SAFETY: the list has the one entry that is told; the library checks the range.
        self.check("cuMemSetAccess", unsafe { (self.symbols.physical_set_access)(address, size, &raw const access, 1) })
    }

    fn access(&self, address: usize, device: CUdevice) -> Result<Access> {
        let (location, mut flags) = (CUmemLocation { kind: sys::LOCATION_DEVICE, id: device.0 }, 0);
        // SAFETY: the output and the location are live locals; the library checks the address.
        self.check("cuMemGetAccess", unsafe {
            (self.symbols.physical_access)(&raw mut flags, &raw const location, address)
        })?;
        Ok(match c_int::try_from(flags) {
            Ok(sys::ACCESS_NONE) => Access::None,
            Ok(sys::ACCESS_READ) => Access::ReadOnly,
            _ => Access::ReadWrite,
        })
    }
}
