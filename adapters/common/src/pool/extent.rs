//! The live memory that an address lies in: its kind, where it starts and ends, and whether a pool has it.
//!
//! Blocks of pools are asked of the context first. The native library knows freed ones that a queue keeps, knows no blocks
//! inside a buffer-backed pool, and tells a start for blocks of host pools that is not theirs. So nobody computes with the
//! library's start and size but here, and here every step is checked.

use std::sync::Arc;

use crate::context::Context;
use crate::device::deferred;
use crate::driver::{Driver, MemoryKind, PointerInfo};
use crate::memory_pool::backend::PoolBackend;
use crate::memory_pool::registry::Block;
use crate::object::error::Result;

/// Live memory.
pub struct Extent<D: Driver> {
    /// Host, device or managed.
    pub kind: MemoryKind,
    /// Its first byte.
    pub base: usize,
    /// Its bytes.
    pub size: usize,
    /// The device that owns or last bound it.
    pub device: D::Device,
    /// Whether the native library knows it as an allocation of its own by its first byte: no pool's block, no start
    /// that was moved for an alignment, and no mapping of another API's memory.
    pub is_plain: bool,
    /// Where a pool's block came from.
    pub backend: Option<Arc<PoolBackend<D>>>,
}

impl<D: Driver> Extent<D> {
    /// The memory around an address, or `None` when there is none that lives.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn around(context: &Context<D>, address: usize) -> Result<Option<Self>> {
        let registry = &context.registry;
        if let Some(block) = registry.find(address) {
            return Ok(Self::of_block(block));
        }
        if deferred::is_pending(address) {
            return Ok(None);
        }
        if let Some((base, size, device)) = context.external_mappings.around(address) {
            return Ok(Some(Self { kind: MemoryKind::Device, base, size, device, is_plain: false, backend: None }));
        }
        let Some(info) = crate::device::adapter::driver::<D>()?.pointer_info(address)? else { return Ok(None) };
        // Of most pools the library tells the start of the block that an address lies in.
        if let Some(block) = registry.find_from(info.base, address) {
            return Ok(Self::of_block(block));
        }
        let PointerInfo { kind, base, size, device, pool } = info;
        let moved = context.over_aligned.within(base);
        let is_plain = pool.is_none() && moved.is_none();
        let (base, size) = moved.unwrap_or((base, size));
        let extent = Self { kind, base, size, device, is_plain, backend: None };
        // The room around a moved start is nobody's.
        Ok(Some(extent).filter(|extent| extent.bytes_from(address).is_some()))
    }

    fn of_block(block: Block<D>) -> Option<Self> {
        let Block::Out { base, size, backend } = block else { return None };
        let (kind, device) = (backend.kind, backend.device.raw);
        Some(Self { kind, base, size, device, is_plain: false, backend: Some(backend) })
    }

    /// The bytes from an address to the end, or `None` for an address outside.
    #[must_use]
    pub fn bytes_from(&self, address: usize) -> Option<usize> {
        address.checked_sub(self.base).and_then(|offset| self.size.checked_sub(offset)).filter(|bytes| *bytes > 0)
    }
}
