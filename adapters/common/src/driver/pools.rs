//! Stream-ordered memory pools.
//!
//! Manuals: CUDA Driver API, Stream Ordered Memory Allocator; HIP runtime API, Stream Ordered Memory Allocator. Which block
//! serves whom is decided in [`crate::pool`].

use super::{Handle, MemoryKind, Streams, unsupported};
use crate::object::error::Result;

/// What can be asked of a native pool; some of it can be set. The number is `CU_MEMPOOL_ATTR_*`'s and
/// `hipMemPoolAttr*`'s alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum PoolAttribute {
    /// Whether a block freed on a stream serves another that already waits for an event behind the free.
    FollowEventDependencies = 1,
    /// Whether a block serves another stream once its free is seen to have been reached.
    Opportunistic = 2,
    /// Whether an allocation may be made to wait for another stream's free.
    InternalDependencies = 3,
    /// Bytes that the pool keeps at a synchronisation although nobody uses them.
    ReleaseThreshold = 4,
    /// Bytes that the pool holds.
    ReservedCurrent = 5,
    /// The most bytes that the pool held; 0 resets it.
    ReservedHigh = 6,
    /// Bytes allocated and not freed, by the sizes asked for and the calls made.
    UsedCurrent = 7,
    /// The most of those; 0 resets it.
    UsedHigh = 8,
}

impl PoolAttribute {
    /// Whether the native value is a C `int`; it is 64 bits wide otherwise.
    #[must_use]
    pub const fn is_int(self) -> bool {
        (self as i32) < 4
    }
}

/// Pools. A device has them if [`super::DeviceProperties::memory_pools`] says so.
pub trait Pools: Streams {
    /// `CUmemoryPool` / `hipMemPool_t`.
    type Pool: Handle;

    /// A pool of memory that the device can reach. `max_size` is the most bytes it may reserve, a multiple of
    /// [`super::Driver::POOL_STEP`], or 0 for no limit. `cuMemPoolCreate`.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` where the library has no pools of this kind, or none with a limit.
    fn create_pool(&self, _kind: MemoryKind, _device: Self::Device, _max_size: usize) -> Result<Self::Pool> {
        unsupported("a pool of stream-ordered memory")
    }
    /// Ends a pool. `cuMemPoolDestroy`.
    ///
    /// # Safety
    /// No block of the pool is out, and a synchronisation has seen every free: CUDA 13.0 goes on to use the pool of a free
    /// that it has not seen.
    unsafe fn destroy_pool(&self, _pool: Self::Pool) -> Result<()> {
        unsupported("a pool of stream-ordered memory")
    }
    /// `cuMemPoolGetAttribute`.
    fn pool_attribute(&self, _pool: &Self::Pool, _attribute: PoolAttribute) -> Result<u64> {
        unsupported("a pool of stream-ordered memory")
    }
    /// `cuMemPoolSetAttribute`.
    fn set_pool_attribute(&self, _pool: &Self::Pool, _attribute: PoolAttribute, _value: u64) -> Result<()> {
        unsupported("a pool of stream-ordered memory")
    }
    /// Lets a device read and write the pool's memory. `cuMemPoolSetAccess`.
    fn allow_pool_access(&self, _pool: &Self::Pool, _device: Self::Device) -> Result<()> {
        unsupported("a pool of stream-ordered memory")
    }
    /// A block that is the caller's from its position on the stream on. `cuMemAllocFromPoolAsync` / `hipMallocFromPoolAsync`.
    fn allocate_from_pool(&self, _pool: &Self::Pool, _size: usize, _stream: &Self::Stream) -> Result<usize> {
        unsupported("a pool of stream-ordered memory")
    }
    /// Returns to the device what the pool keeps beyond `keep` bytes and nobody uses. `cuMemPoolTrimTo`.
    fn trim_pool(&self, _pool: &Self::Pool, _keep: usize) -> Result<()> {
        unsupported("a pool of stream-ordered memory")
    }
    /// Frees a block at its position on the stream. `cuMemFreeAsync` / `hipFreeAsync`.
    ///
    /// # Safety
    /// `pointer` is a block of [`Pools::allocate_from_pool`] that was not freed; nothing uses it that is not ordered before
    /// the free.
    unsafe fn free_async(&self, _pointer: usize, _stream: &Self::Stream) -> Result<()> {
        unsupported("a pool of stream-ordered memory")
    }
}
