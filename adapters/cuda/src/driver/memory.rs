//! Plain memory, registered memory, managed memory, and what a pointer names.
//!
//! Addresses are numbers: nothing here reads or writes behind them.

use core::ffi::{c_int, c_uint, c_void};

use ur_adapter::driver::memory::{Advice, MemoryLocation};
use ur_adapter::driver::{Memory, PointerInfo};
use ur_adapter::object::error::{Error, Result};
use ur_ffi::ur_result_t;

use super::Cuda;
use crate::map::{location_device, memory_kind, native_advice};
use crate::sys::{self, CUdevice, CUdeviceptr, CUstream};

impl Memory for Cuda {
    fn allocate_device(&self, size: usize) -> Result<usize> {
        let mut pointer = 0;
        // SAFETY: the output is a live local.
        self.check("cuMemAlloc", unsafe { (self.symbols.memory_allocate)(&raw mut pointer, size) })?;
        Ok(pointer)
    }

    fn allocate_host(&self, size: usize) -> Result<usize> {
        let mut pointer: *mut c_void = core::ptr::null_mut();
        // SAFETY: the output is a live local.
        self.check("cuMemHostAlloc", unsafe {
            (self.symbols.memory_allocate_host)(&raw mut pointer, size, sys::HOST_ALLOC_PORTABLE_MAPPED)
        })
        // The same status as for device memory, but here it is the host's that ran out.
        .map_err(|error| match error.code() {
            ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY => error.with_code(ur_result_t::ERROR_OUT_OF_HOST_MEMORY),
            _ => error,
        })?;
        Ok(pointer.addr())
    }

    fn allocate_shared(&self, size: usize) -> Result<usize> {
        let mut pointer: CUdeviceptr = 0;
        // SAFETY: the output is a live local.
        self.check("cuMemAllocManaged", unsafe {
            (self.symbols.memory_allocate_managed)(&raw mut pointer, size, sys::MEM_ATTACH_GLOBAL)
        })?;
        Ok(pointer)
    }

    fn allocate_pitched(&self, width: usize, height: usize, element: u32) -> Result<(usize, usize)> {
        let (mut pointer, mut pitch) = (0, 0);
        // SAFETY: both outputs are live locals.
        self.check("cuMemAllocPitch", unsafe {
            (self.symbols.memory_allocate_pitch)(&raw mut pointer, &raw mut pitch, width, height, element)
        })?;
        Ok((pointer, pitch))
    }

    unsafe fn free_device(&self, pointer: usize) -> Result<()> {
        // SAFETY: an allocation that the caller gives up.
        self.check("cuMemFree", unsafe { (self.symbols.memory_free)(pointer) })
    }

    unsafe fn free_host(&self, pointer: usize) -> Result<()> {
        // SAFETY: an allocation that the caller gives up.
        self.check("cuMemFreeHost", unsafe {
            (self.symbols.memory_free_host)(core::ptr::with_exposed_provenance_mut(pointer))
        })
    }

    fn pointer_info(&self, pointer: usize) -> Result<Option<PointerInfo<Self>>> {
        use sys::pointer::{DEVICE_ORDINAL, IS_MANAGED, MEMORY_TYPE, POOL, RANGE_SIZE, RANGE_START};
        const ASKED: [u32; 6] = [MEMORY_TYPE, IS_MANAGED, RANGE_START, RANGE_SIZE, DEVICE_ORDINAL, POOL];
        // An old driver refuses the whole question for one attribute it does not know.
        let count: c_uint = if self.at_least(11, 3) { 6 } else { 5 };
        // Each attribute writes up to 8 bytes of its own; shorter ones leave the rest 0.
        let mut values = [0_u64; ASKED.len()];
        let mut slots = values.each_mut().map(|value| core::ptr::from_mut(value).cast::<c_void>());
        // SAFETY: each list has `count` entries, and each entry of the second points to 8 writable bytes.
        self.check("cuPointerGetAttributes", unsafe {
            (self.symbols.pointer_attributes)(count, ASKED.as_ptr(), slots.as_mut_ptr(), pointer)
        })?;
        let [memory_type, managed, base, size, ordinal, pool] = values;
        let Some(kind) = memory_kind(memory_type, managed & 0xff != 0) else { return Ok(None) };
        #[allow(clippy::cast_possible_truncation, reason = "addresses of a 64-bit driver in a 64-bit process")]
        let (base, size, pool) = (base as usize, size as usize, pool as usize);
        // A device is named by its ordinal; memory of no device has a negative one, which no device equals.
        #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "an `int` in 8 bytes")]
        let device = CUdevice(ordinal as u32 as c_int);
        let pool = (pool != 0).then_some(pool);
        Ok(Some(PointerInfo { kind, base, size, device, pool }))
    }

    fn register_host(&self, address: usize, size: usize, read_only: bool) -> Result<()> {
        let flags = sys::REGISTER_PORTABLE_MAPPED | if read_only { sys::REGISTER_READ_ONLY } else { 0 };
        // SAFETY: the library checks the range and holds its pages.
        self.check("cuMemHostRegister", unsafe { (self.symbols.memory_register)(address, size, flags) })
    }

    fn unregister_host(&self, address: usize) -> Result<()> {
        // SAFETY: the library checks the address.
        self.check("cuMemHostUnregister", unsafe { (self.symbols.memory_unregister)(address) })
    }

    fn prefetch_async(
        &self,
        address: usize,
        size: usize,
        to: MemoryLocation<CUdevice>,
        stream: &CUstream,
    ) -> Result<()> {
        // SAFETY: the library checks the range, and the stream is borrowed.
        self.check("cuMemPrefetchAsync", unsafe {
            (self.symbols.memory_prefetch)(address, size, location_device(to), *stream)
        })
    }

    fn advise(&self, address: usize, size: usize, advice: Advice<CUdevice>) -> Result<()> {
        let Some((advice, device)) = native_advice(advice) else {
            return Err(Error::code_only(ur_result_t::ERROR_UNSUPPORTED_FEATURE));
        };
        // SAFETY: the library checks the range and the device.
        self.check("cuMemAdvise", unsafe { (self.symbols.memory_advise)(address, size, advice, device) })
    }
}
