//! What a pool is made with.

use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::ur_exp_usm_pool_reuse_flags_t;

use crate::device::Device;
use crate::driver::{Driver, MemoryKind};
use crate::object::Object;

/// Which freed blocks a pool may use again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reuse(pub ur_exp_usm_pool_reuse_flags_t);

impl Reuse {
    /// What native pools start with.
    #[must_use]
    pub fn all() -> Self {
        // `all()` of the flags has the bits that no release names, too.
        Self(ur_exp_usm_pool_reuse_flags_t::from_bits_retain(!ur_ffi::UR_EXP_USM_POOL_REUSE_FLAGS_MASK))
    }

    /// Those behind an event that the allocating stream waits for.
    #[must_use]
    pub fn events(self) -> bool {
        self.0.contains(ur_exp_usm_pool_reuse_flags_t::FOLLOW_EVENT_DEPENDENCIES)
    }

    /// Those whose free was seen to have been reached.
    #[must_use]
    pub fn opportunistic(self) -> bool {
        self.0.contains(ur_exp_usm_pool_reuse_flags_t::OPPORTUNISTIC)
    }

    /// Those that the allocation can be made to wait for.
    #[must_use]
    pub fn internal(self) -> bool {
        self.0.contains(ur_exp_usm_pool_reuse_flags_t::INTERNAL_DEPENDENCIES)
    }
}

/// The application's memory behind a pool.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// First byte.
    pub base: usize,
    /// Bytes.
    pub size: usize,
    /// What memory it is.
    pub kind: MemoryKind,
}

/// What a pool was made with.
pub struct Settings<D: Driver> {
    /// Whether blocks read as zeros at first.
    pub zeroed: bool,
    /// The most bytes a native pool may hold; 0 for no limit.
    pub max_size: usize,
    /// Bytes that it keeps over a synchronisation although nobody uses them.
    pub threshold: usize,
    /// Which freed blocks it may use again.
    pub reuse: Reuse,
    /// Devices that may reach the pool's device memory beside its own.
    pub peers: SmallVec<[Arc<Object<Device<D>>>; 2]>,
    /// All devices of the context, which may reach its host memory.
    pub others: SmallVec<[Arc<Object<Device<D>>>; 2]>,
    /// Memory that the application gave.
    pub buffer: Option<Buffer>,
}
