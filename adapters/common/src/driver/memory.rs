//! Memory that is allocated and freed at once, memory of the process that devices reach, and where managed memory lies.
//!
//! Manuals: CUDA Driver API, Memory Management and Unified Addressing; HIP runtime API, Memory Management and Managed
//! Memory. Addresses are plain numbers: nothing here reads or writes behind them.

use super::{Streams, unsupported};
use crate::object::error::Result;

/// What memory a native pointer names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// Pinned host memory that the native library allocated or registered.
    Host,
    /// Memory of one device.
    Device,
    /// Managed memory that migrates between host and devices.
    Shared,
}

impl core::fmt::Display for MemoryKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Host => "host",
            Self::Device => "device",
            Self::Shared => "shared",
        })
    }
}

/// What the native library knows of a pointer into one of its allocations.
#[derive(Debug)]
pub struct PointerInfo<D: super::Devices> {
    /// Host, device or managed.
    pub kind: MemoryKind,
    /// First byte of the allocation.
    pub base: usize,
    /// Size of the allocation in bytes.
    pub size: usize,
    /// The device that owns or last bound the memory.
    pub device: D::Device,
    /// Handle value of the native pool it was allocated from, if any.
    pub pool: Option<usize>,
}

/// Where managed memory lies, shall lie, or is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryLocation<V> {
    /// The host.
    Host,
    /// A device.
    Device(V),
}

/// One piece of advice about managed memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice<V> {
    /// Whether it is read far more often than written.
    ReadMostly(bool),
    /// Where it had best lie; `None` takes that back.
    PreferredLocation(Option<MemoryLocation<V>>),
    /// Whether it is used from there, and shall be mapped there.
    AccessedBy(MemoryLocation<V>, bool),
    /// Whether it need be coherent at the end of a kernel alone. Only where the driver knows of it
    /// ([`super::Driver::ADVISES_COHERENCE`]).
    CoarseGrain(bool),
}

/// Plain memory.
pub trait Memory: Streams {
    /// **Needs the context.** Device memory, aligned to at least 256 bytes. `cuMemAlloc` / `hipMalloc`.
    fn allocate_device(&self, size: usize) -> Result<usize>;
    /// **Needs the context.** Host memory every device can reach. `cuMemHostAlloc(PORTABLE | DEVICEMAP)` / `hipHostMalloc`.
    fn allocate_host(&self, size: usize) -> Result<usize>;
    /// **Needs the context.** Managed memory. `cuMemAllocManaged(ATTACH_GLOBAL)` / `hipMallocManaged`.
    fn allocate_shared(&self, _size: usize) -> Result<usize> {
        unsupported("managed memory")
    }
    /// **Needs the context.** Rows of device memory, each from a good boundary on: address and pitch. `element` is 4, 8
    /// or 16. `cuMemAllocPitch`.
    fn allocate_pitched(&self, _width: usize, _height: usize, _element: u32) -> Result<(usize, usize)> {
        unsupported("rows of device memory")
    }
    /// Frees device or managed memory; may wait for all work of the device. `cuMemFree` / `hipFree`.
    ///
    /// # Safety
    /// `pointer` came from [`Memory::allocate_device`], [`Memory::allocate_shared`] or [`Memory::allocate_pitched`], was not
    /// freed, and neither host nor device uses the memory any more.
    unsafe fn free_device(&self, pointer: usize) -> Result<()>;
    /// Frees host memory. `cuMemFreeHost` / `hipHostFree`.
    ///
    /// # Safety
    /// `pointer` came from [`Memory::allocate_host`], was not freed, and neither host nor device uses the memory any more.
    unsafe fn free_host(&self, pointer: usize) -> Result<()>;
    /// What a pointer names; `None` when the library does not know it. `cuPointerGetAttributes` /
    /// `hipPointerGetAttributes`, `hipMemGetAddressRange`.
    fn pointer_info(&self, _pointer: usize) -> Result<Option<PointerInfo<Self>>>
    where
        Self: Sized,
    {
        Ok(None)
    }

    /// Registrations are made and asked for by [`crate::device::native_context::registrations`].
    ///
    /// **Needs the context.** Page-locks memory of the process and maps it for every device; `read_only` says that devices
    /// only read it, where the library has a word for that. `cuMemHostRegister(PORTABLE | DEVICEMAP)` / `hipHostRegister`.
    /// The pages stay the library's though the process unmaps them.
    fn register_host(&self, _address: usize, _size: usize, _read_only: bool) -> Result<()> {
        unsupported("registered host memory")
    }
    /// **Needs the context** (HIP's looks at the current device). Undoes [`Memory::register_host`]. `cuMemHostUnregister` /
    /// `hipHostUnregister`. A device that uses the memory afterwards reports a fault.
    fn unregister_host(&self, _address: usize) -> Result<()> {
        unsupported("registered host memory")
    }

    /// **Needs the context.** The address by which the current device reaches registered memory; asked unless
    /// [`super::Driver::REGISTERS_IN_PLACE`]. `hipHostGetDevicePointer`.
    fn registered_address(&self, address: usize) -> Result<usize> {
        Ok(address)
    }

    /// Moves managed memory in the stream's order; its contents stay. `cuMemPrefetchAsync`.
    fn prefetch_async(
        &self,
        _address: usize,
        _size: usize,
        _to: MemoryLocation<Self::Device>,
        _stream: &Self::Stream,
    ) -> Result<()> {
        unsupported("a prefetch of managed memory")
    }
    /// **Needs the context.** Advice about managed memory, at once; its contents stay. `cuMemAdvise`.
    fn advise(&self, _address: usize, _size: usize, _advice: Advice<Self::Device>) -> Result<()> {
        unsupported("advice about managed memory")
    }
}
