//! What a pool is made with, and what the environment says of free lists.

use std::sync::{Arc, OnceLock};

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
    /// Bytes that it begins with, by kind.
    pub prefill: SmallVec<[(MemoryKind, usize); 1]>,
}

/// The most that a queue keeps of a backend unless `UR_USM_MAGAZINE_BYTES` says otherwise.
const MAGAZINE_BYTES: usize = 64 << 20;

/// The bound of every free lists, bytes; 0 turns them off. Read once.
pub fn free_list_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    if let Some(bytes) = BYTES.get() {
        return *bytes;
    }
    let text = std::env::var("UR_USM_MAGAZINE_BYTES").ok();
    let read = text.as_deref().map_or(Some(MAGAZINE_BYTES), bytes_of);
    let is_first = BYTES.set(read.unwrap_or(MAGAZINE_BYTES)).is_ok();
    // Said outside the cell's initialisation: the application's logger may come here again.
    if is_first && read.is_none() {
        crate::object::log::wrong_setting(|| {
            let text = text.unwrap_or_default();
            format!("UR_USM_MAGAZINE_BYTES={text} is no number of bytes; {MAGAZINE_BYTES} it is")
        });
    }
    read.unwrap_or(MAGAZINE_BYTES)
}

/// Whether pools are the native library's where it has them; with `UR_USM_NATIVE_POOLS=0` all are cut from slabs, as on devices
/// without pools. Read once.
pub(super) fn native_pools() -> bool {
    static ARE_USED: OnceLock<bool> = OnceLock::new();
    *ARE_USED.get_or_init(|| std::env::var("UR_USM_NATIVE_POOLS").as_deref() != Ok("0"))
}

/// A number with K, M or G behind it or nothing.
pub(super) fn bytes_of(text: &str) -> Option<usize> {
    let text = text.trim();
    let shift = match text.chars().last()?.to_ascii_uppercase() {
        'K' => 10,
        'M' => 20,
        'G' => 30,
        _ => 0,
    };
    let digits = if shift == 0 { text } else { &text[..text.len() - 1] };
    digits.trim().parse::<usize>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_a_number_with_a_unit_or_none() {
        let read = ["0", "1024", "64M", "2g", " 3 k "].map(bytes_of);
        assert_eq!(read, [Some(0), Some(1024), Some(64 << 20), Some(2 << 30), Some(3 << 10)]);
        for wrong in ["", "M", "-1", "1T", "lots", "99999999999999999999", "999999999999G"] {
            assert_eq!(bytes_of(wrong), None, "{wrong}");
        }
    }
}
