//! Stream-ordered memory pools.
//!
//! Which kinds of pools the library lacks is told apart from other refusals here; nothing else is decided.

use core::ffi::c_int;

use ur_adapter::driver::{MemoryKind, PoolAttribute, Pools};
use ur_adapter::object::error::{Error, Result};
use ur_ffi::ur_result_t;

use super::Hip;
use crate::sys::{
    DevicePointer, HipError, HipMemPool, HipStream, MemAccess, MemLocation, Ordinal, PoolProperties, flag,
};

impl Pools for Hip {
    type Pool = HipMemPool;

    fn create_pool(&self, kind: MemoryKind, device: Ordinal, max_size: usize) -> Result<HipMemPool> {
        let unsupported = |what: &str| Err(Error::new(ur_result_t::ERROR_UNSUPPORTED_FEATURE, what));
        if kind != MemoryKind::Device {
            return unsupported("HIP has pools of device memory only");
        }
        if max_size != 0 && !self.limits_pools() {
            return unsupported("pools with a maximum size need ROCm 6.2 or newer; make the pool without a limit");
        }
        let properties = PoolProperties {
            allocation_type: flag::hipMemAllocationTypePinned,
            handle_types: 0,
            location: MemLocation { kind: flag::hipMemLocationTypeDevice, device },
            security_attributes: 0,
            max_size,
            reserved: [0; 56],
        };
        let mut pool = HipMemPool::default();
        // SAFETY: the output and the description are live locals.
        self.check("hipMemPoolCreate", unsafe { (self.symbols.pool_create)(&raw mut pool, &raw const properties) })?;
        Ok(pool)
    }

    unsafe fn destroy_pool(&self, pool: HipMemPool) -> Result<()> {
        // SAFETY: the handle was the pool's owner, and the caller says that no block is out.
        self.check("hipMemPoolDestroy", unsafe { (self.symbols.pool_destroy)(pool) })
    }

    fn pool_attribute(&self, pool: &HipMemPool, attribute: PoolAttribute) -> Result<u64> {
        // An `int` fills the lower half and leaves the other 0.
        let mut value = 0_u64;
        let number = attribute as c_int;
        // SAFETY: the pool is borrowed, and the output has room for every attribute.
        self.check("hipMemPoolGetAttribute", unsafe {
            (self.symbols.pool_attribute)(*pool, number, (&raw mut value).cast())
        })?;
        Ok(value)
    }

    fn set_pool_attribute(&self, pool: &HipMemPool, attribute: PoolAttribute, value: u64) -> Result<()> {
        // Of an `int` the library reads the lower half.
        let mut value = value;
        let number = attribute as c_int;
        // SAFETY: the pool is borrowed, and the value has the bytes of every attribute.
        self.check("hipMemPoolSetAttribute", unsafe {
            (self.symbols.pool_set_attribute)(*pool, number, (&raw mut value).cast())
        })
    }

    fn allow_pool_access(&self, pool: &HipMemPool, device: Ordinal) -> Result<()> {
        let location = MemLocation { kind: flag::hipMemLocationTypeDevice, device };
        let access = MemAccess { location, flags: flag::hipMemAccessFlagsProtReadWrite };
        // SAFETY: the pool is borrowed, and the list has the one entry that is told.
        self.check("hipMemPoolSetAccess", unsafe { (self.symbols.pool_set_access)(*pool, &raw const access, 1) })
    }

    #[inline(always)]
    fn allocate_from_pool(&self, pool: &HipMemPool, size: usize, stream: &HipStream) -> Result<usize> {
        let mut pointer: DevicePointer = 0;
        // SAFETY: the output is a live local; pool and stream are borrowed.
        self.check("hipMallocFromPoolAsync", unsafe {
            (self.symbols.pool_allocate)(&raw mut pointer, size, *pool, *stream)
        })?;
        // 5.x answers success and gives null when the memory is used up.
        if pointer == 0 {
            return Err(self.failed("hipMallocFromPoolAsync", HipError::hipErrorOutOfMemory));
        }
        Ok(pointer)
    }

    fn trim_pool(&self, pool: &HipMemPool, keep: usize) -> Result<()> {
        // SAFETY: the pool is borrowed, so it is alive.
        self.check("hipMemPoolTrimTo", unsafe { (self.symbols.pool_trim)(*pool, keep) })
    }

    #[inline(always)]
    unsafe fn free_async(&self, pointer: usize, stream: &HipStream) -> Result<()> {
        // SAFETY: a block that the caller gives up; the stream is borrowed.
        self.check("hipFreeAsync", unsafe { (self.symbols.free_async)(pointer, *stream) })
    }
}
