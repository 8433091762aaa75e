//! Reserved addresses, physical memory, and the mapping of one to the other.
//!
//! Manuals: CUDA Driver API, Virtual Memory Management; HIP runtime API, Virtual Memory Management. Which ranges are
//! reserved and what is mapped in them is known in [`crate::usm::virtual_memory`].
//!
//! The host cannot touch this memory, and a device that touches what is not mapped reports a fault: nothing here is unsafe.

use super::{Devices, Handle, unsupported};
use crate::object::error::Result;

/// What may be done with virtually mapped memory, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Nothing.
    None,
    /// Reading.
    ReadOnly,
    /// Reading and writing.
    ReadWrite,
}

/// Virtual memory. A device has it if [`super::DeviceProperties::virtual_memory`] says so.
pub trait VirtualMemory: Devices {
    /// Physical memory: `CUmemGenericAllocationHandle` / `hipMemGenericAllocationHandle_t`.
    type Physical: Handle;

    /// What sizes and addresses of physical memory and mappings are multiples of. `cuMemGetAllocationGranularity`.
    fn granularity(&self, _device: Self::Device, _recommended: bool) -> Result<usize> {
        unsupported("virtual memory")
    }
    /// Reserves addresses, near `wish` if that is not 0 and possible. `cuMemAddressReserve`.
    fn reserve_addresses(&self, _size: usize, _wish: usize) -> Result<usize> {
        unsupported("virtual memory")
    }
    /// Frees a whole reservation, in which nothing is mapped; the library refuses anything else. `cuMemAddressFree`.
    fn free_addresses(&self, _address: usize, _size: usize) -> Result<()> {
        unsupported("virtual memory")
    }
    /// Memory of a device without an address; `shareable` as a file descriptor if asked. `cuMemCreate`.
    fn create_physical(&self, _device: Self::Device, _size: usize, _shareable: bool) -> Result<Self::Physical> {
        unsupported("virtual memory")
    }
    /// Ends the handle; the memory lives while it is mapped. `cuMemRelease`.
    fn release_physical(&self, _physical: Self::Physical) -> Result<()> {
        unsupported("virtual memory")
    }
    /// Maps physical memory into a reservation, accessible to nobody. `cuMemMap`.
    fn map(&self, _address: usize, _size: usize, _offset: usize, _physical: &Self::Physical) -> Result<()> {
        unsupported("virtual memory")
    }
    /// Takes whole mappings out of a reservation; the library refuses anything else. `cuMemUnmap`.
    fn unmap(&self, _address: usize, _size: usize) -> Result<()> {
        unsupported("virtual memory")
    }
    /// What a device may do with whole mappings from now on. `cuMemSetAccess`.
    fn set_access(&self, _address: usize, _size: usize, _device: Self::Device, _access: Access) -> Result<()> {
        unsupported("virtual memory")
    }
    /// What a device may do with the mapping at an address. `cuMemGetAccess`.
    fn access(&self, _address: usize, _device: Self::Device) -> Result<Access> {
        unsupported("virtual memory")
    }
}
