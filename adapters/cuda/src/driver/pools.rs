//! Stream-ordered memory pools.
//!
//! Which kinds of pools the library lacks is told apart from other refusals here; nothing else is decided.

use core::ffi::c_int;

use ur_adapter::driver::{MemoryKind, PoolAttribute, Pools};
use ur_adapter::object::error::{Error, Result};
use ur_ffi::ur_result_t;

use super::Cuda;
use crate::map::pool_properties;
use crate::sys::{self, CUdevice, CUdeviceptr, CUmemAccessDesc, CUmemLocation, CUmemoryPool, CUresult, CUstream};

/// Says which pools the driver does not have.
#[cold]
fn no_pool(kind: MemoryKind, max_size: usize, reason: &str) -> Error {
    let memory = match kind {
        MemoryKind::Device => "device",
        MemoryKind::Host => "host",
        MemoryKind::Shared => "shared",
    };
    let limit = if max_size == 0 { "" } else { " with a maximum size" };
    Error::new(
        ur_result_t::ERROR_UNSUPPORTED_FEATURE,
        format!("this CUDA driver has no pools of {memory} memory{limit}: {reason}"),
    )
}

impl Pools for Cuda {
    type Pool = CUmemoryPool;

    fn create_pool(&self, kind: MemoryKind, device: CUdevice, max_size: usize) -> Result<CUmemoryPool> {
        // Before 12.2 the limit's bytes are reserved, and nobody says that they are looked at.
        if max_size != 0 && (kind == MemoryKind::Shared || !self.at_least(12, 2)) {
            return Err(no_pool(kind, max_size, "the driver takes no limit"));
        }
        let properties = pool_properties(kind, device, max_size);
        let mut pool = CUmemoryPool::default();
        // SAFETY: the output and the description are live locals.
        self.check("cuMemPoolCreate", unsafe { (self.symbols.pool_create)(&raw mut pool, &raw const properties) })
            .map_err(|error| {
                // How a driver refuses a type or a location that its version does not have.
                let refused =
                    matches!(CUresult(error.native_status()), CUresult::INVALID_VALUE | CUresult::NOT_SUPPORTED);
                if refused && kind != MemoryKind::Device { no_pool(kind, max_size, error.message()) } else { error }
            })?;
        Ok(pool)
    }

    unsafe fn destroy_pool(&self, pool: CUmemoryPool) -> Result<()> {
        // SAFETY: the handle was the pool's owner, and the caller says that no block is out.
        self.check("cuMemPoolDestroy", unsafe { (self.symbols.pool_destroy)(pool) })
    }

    fn pool_attribute(&self, pool: &CUmemoryPool, attribute: PoolAttribute) -> Result<u64> {
        // An `int` fills the lower half and leaves the other 0.
        let mut value = 0_u64;
        let number = attribute as c_int;
        // SAFETY: the pool is borrowed, and the output has room for every attribute.
        self.check("cuMemPoolGetAttribute", unsafe {
            (self.symbols.pool_attribute)(*pool, number, (&raw mut value).cast())
        })?;
        Ok(value)
    }

    fn set_pool_attribute(&self, pool: &CUmemoryPool, attribute: PoolAttribute, value: u64) -> Result<()> {
        // Of an `int` the library reads the lower half.
        let mut value = value;
        let number = attribute as c_int;
        // SAFETY: the pool is borrowed, and the value has the bytes of every attribute.
        self.check("cuMemPoolSetAttribute", unsafe {
            (self.symbols.pool_set_attribute)(*pool, number, (&raw mut value).cast())
        })
    }

    fn allow_pool_access(&self, pool: &CUmemoryPool, device: CUdevice) -> Result<()> {
        let location = CUmemLocation { kind: sys::LOCATION_DEVICE, id: device.0 };
        let access = CUmemAccessDesc { location, flags: sys::ACCESS_READ_WRITE };
        // SAFETY: the pool is borrowed, and the list has the one entry that is told.
        self.check("cuMemPoolSetAccess", unsafe { (self.symbols.pool_set_access)(*pool, &raw const access, 1) })
    }

    #[inline(always)]
    fn allocate_from_pool(&self, pool: &CUmemoryPool, size: usize, stream: &CUstream) -> Result<usize> {
        let mut pointer: CUdeviceptr = 0;
        // SAFETY: the output is a live local; pool and stream are borrowed.
        self.check("cuMemAllocFromPoolAsync", unsafe {
            (self.symbols.pool_allocate)(&raw mut pointer, size, *pool, *stream)
        })?;
        Ok(pointer)
    }

    fn trim_pool(&self, pool: &CUmemoryPool, keep: usize) -> Result<()> {
        // SAFETY: the pool is borrowed, so it is alive.
        self.check("cuMemPoolTrimTo", unsafe { (self.symbols.pool_trim)(*pool, keep) })
    }

    #[inline(always)]
    unsafe fn free_async(&self, pointer: usize, stream: &CUstream) -> Result<()> {
        // SAFETY: a block that the caller gives up; the stream is borrowed.
        self.check("cuMemFreeAsync", unsafe { (self.symbols.free_async)(pointer, *stream) })
    }
}
