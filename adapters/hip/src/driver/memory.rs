//! Plain memory, registered memory, managed memory, and what a pointer names.
//!
//! Addresses are numbers: nothing here reads or writes behind them.

use core::ffi::c_uint;

use ur_adapter::driver::memory::{Advice, MemoryLocation};
use ur_adapter::driver::native::Texts as _;
use ur_adapter::driver::{Memory, PointerInfo};
use ur_adapter::object::error::Result;

use super::Hip;
use crate::map::{location_device, memory_kind, native_advice};
use crate::sys::{DevicePointer, HipError, HipStream, Ordinal, PointerAttributes, flag};

impl Memory for Hip {
    fn allocate_device(&self, size: usize) -> Result<usize> {
        let mut pointer = 0;
        // SAFETY: the output is a live local.
        self.check("hipMalloc", unsafe { (self.symbols.memory_allocate)(&raw mut pointer, size) })?;
        Ok(pointer)
    }

    fn allocate_host(&self, size: usize) -> Result<usize> {
        const FLAGS: c_uint = flag::hipHostMallocPortable | flag::hipHostMallocMapped;
        let mut pointer: DevicePointer = 0;
        // SAFETY: the output is a live local.
        self.check("hipHostMalloc", unsafe { (self.symbols.memory_allocate_host)(&raw mut pointer, size, FLAGS) })?;
        Ok(pointer)
    }

    fn allocate_shared(&self, size: usize) -> Result<usize> {
        let mut pointer: DevicePointer = 0;
        // SAFETY: the output is a live local.
        self.check("hipMallocManaged", unsafe {
            (self.symbols.memory_allocate_managed)(&raw mut pointer, size, flag::hipMemAttachGlobal)
        })?;
        Ok(pointer)
    }

    fn allocate_pitched(&self, width: usize, height: usize, element: u32) -> Result<(usize, usize)> {
        let (mut pointer, mut pitch) = (0, 0);
        // SAFETY: both outputs are live locals.
        self.check("hipMemAllocPitch", unsafe {
            (self.symbols.memory_allocate_pitch)(&raw mut pointer, &raw mut pitch, width, height, element)
        })?;
        Ok((pointer, pitch))
    }

    unsafe fn free_device(&self, pointer: usize) -> Result<()> {
        // SAFETY: an allocation that the caller gives up.
        self.check("hipFree", unsafe { (self.symbols.memory_free)(pointer) })
    }

    unsafe fn free_host(&self, pointer: usize) -> Result<()> {
        // SAFETY: an allocation that the caller gives up.
        self.check("hipHostFree", unsafe { (self.symbols.memory_free_host)(pointer) })
    }

    fn pointer_info(&self, pointer: usize) -> Result<Option<PointerInfo<Self>>> {
        let mut known = PointerAttributes::default();
        // SAFETY: the output is a live local of the structure's size.
        match unsafe { (self.symbols.pointer_attributes)(&raw mut known, pointer) } {
            // How 5.x says that it does not know the pointer.
            HipError::hipErrorInvalidValue => {
                self.symbols.forget_failure();
                return Ok(None);
            }
            status => self.check("hipPointerGetAttributes", status)?,
        }
        let Some(kind) = memory_kind(&known, self.is_rocm_6()) else { return Ok(None) };
        // `hipPointerGetAttribute` knows base and size too, but looks at the current device for one and writes
        // only 32 bits of the other.
        let (mut base, mut size) = (0, 0);
        // SAFETY: both outputs are live locals; the library checks the pointer.
        self.check("hipMemGetAddressRange", unsafe {
            (self.symbols.pointer_range)(&raw mut base, &raw mut size, pointer)
        })?;
        // The runtime does not tell the pool.
        Ok(Some(PointerInfo { kind, base, size, device: Ordinal(known.device), pool: None }))
    }

    fn register_host(&self, address: usize, size: usize, _read_only: bool) -> Result<()> {
        // The runtimes have no flag for memory that is only read that means the same in every release.
        const FLAGS: c_uint = flag::hipHostRegisterPortable | flag::hipHostRegisterMapped;
        // SAFETY: the library checks the range and holds its pages.
        self.check("hipHostRegister", unsafe { (self.symbols.memory_register)(address, size, FLAGS) })
    }

    fn unregister_host(&self, address: usize) -> Result<()> {
        // SAFETY: the library checks the address.
        self.check("hipHostUnregister", unsafe { (self.symbols.memory_unregister)(address) })
    }

    fn registered_address(&self, address: usize) -> Result<usize> {
        let mut pointer: DevicePointer = 0;
        // SAFETY: the output is a live local, the library checks the address, and flags must be 0.
        self.check("hipHostGetDevicePointer", unsafe {
            (self.symbols.memory_device_pointer)(&raw mut pointer, address, 0)
        })?;
        Ok(pointer)
    }

    fn prefetch_async(
        &self,
        address: usize,
        size: usize,
        to: MemoryLocation<Ordinal>,
        stream: &HipStream,
    ) -> Result<()> {
        // SAFETY: the library checks the range, and the stream is borrowed.
        self.check("hipMemPrefetchAsync", unsafe {
            (self.symbols.memory_prefetch)(address, size, location_device(to), *stream)
        })
    }

    fn advise(&self, address: usize, size: usize, advice: Advice<Ordinal>) -> Result<()> {
        let (advice, device) = native_advice(advice);
        // SAFETY: the library checks the range and the device.
        self.check("hipMemAdvise", unsafe { (self.symbols.memory_advise)(address, size, advice, device) })
    }
}
