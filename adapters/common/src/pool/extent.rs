//! The live memory that an address lies in: its kind, where it starts and ends, and whether a pool has it.
//!
//! Blocks of pools are asked of the context first. The native library knows freed ones that a queue keeps, knows no blocks
//! inside a buffer-backed pool, and tells a start for blocks of host pools that is not theirs. So nobody computes with the
//! library's start and size but here, and here every step is checked.

use std::sync::Arc;

use ur_ffi::ur_result_t;

use crate::context::Context;
use crate::device::deferred;
use crate::device::native_context::owned;
use crate::device::native_context::{imported, own_memory, registrations};
use crate::driver::{Driver, MemoryKind, PointerInfo};
use crate::memory_pool::backend::PoolBackend;
use crate::memory_pool::live_blocks::Found;
use crate::memory_pool::plain::label::Label;
use crate::memory_pool::plain::{Heap, Live};
use crate::memory_pool::registry::Block;
use crate::object::error::{Error, Result};

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
    /// Whether it can be freed without a queue: it is no pool's block, has no start that was moved for an alignment, is no
    /// mapping of another API's memory, nothing of [`own_memory`], not registered, and not what a launch of a graph allocates.
    pub is_plain: bool,
    /// Where a pool's block came from.
    pub backend: Option<Arc<PoolBackend<D>>>,
    /// The heap that plain memory came from, if it is a block of one.
    pub heap: Option<(Arc<Heap<D>>, Live)>,
}

/// A live plain block with its heap; `Err` for memory of a heap in which no block lives there, and which so is nobody's.
type PlainBlock<D> = core::result::Result<(Arc<Heap<D>>, Live), ()>;

/// The plain block that an address lies in, whichever context has it.
pub fn plain_around<D: Driver>(context: &Context<D>, address: usize) -> Option<PlainBlock<D>> {
    if let Some(Found::Out { size, owner }) = context.registry.plain_blocks().find(address)
        && let Some(label) = Label::of(owner)
        && let Some(heap) = context.heap_of(label)
    {
        return Some(Ok((Arc::clone(heap), Live { start: address, size, label })));
    }
    let heap = owned::heap_around::<Heap<D>>(address)?;
    let block = heap.block_around(address).and_then(core::result::Result::ok);
    Some(block.map(|live| (heap, live)).ok_or(()))
}

/// The kind of the live memory that an address lies in, as far as the native library need not be asked.
pub fn known_kind<D: Driver>(context: &Context<D>, address: usize) -> Option<MemoryKind> {
    match context.registry.find(address) {
        Some(Block::Out { backend, .. }) => return Some(backend.kind),
        Some(Block::Recycled) => return None,
        None => {}
    }
    match plain_around(context, address) {
        Some(plain) => plain.ok().map(|(_, live)| live.label.kind()),
        None => context.external_mappings.around(address).map(|_| MemoryKind::Device),
    }
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
        if let Some(plain) = plain_around(context, address) {
            return Ok(plain.ok().map(Self::of_plain));
        }
        // A slab's, of which no live block was found.
        if owned::contains(address) {
            return Ok(None);
        }
        if let Some((base, size, device)) = context.external_mappings.around(address) {
            return Ok(Some(Self {
                kind: MemoryKind::Device,
                base,
                size,
                device,
                is_plain: false,
                backend: None,
                heap: None,
            }));
        }
        let driver = crate::device::adapter::driver::<D>()?;
        let Some(info) = registrations::pointer_info(driver, address)? else { return Ok(None) };
        // Of most pools the library tells the start of the block that an address lies in.
        if let Some(block) = registry.find_from(info.base, address) {
            return Ok(Self::of_block(block));
        }
        let PointerInfo { kind, base, size, device, pool } = info;
        let imported = imported::around(address).map(|block| (block.start, block.size));
        let moved = context.over_aligned.within(base).or(imported);
        let has_owner =
            own_memory::starts_at(base) || registrations::starts_at(base) || context.graph_memory.knows(base);
        let is_plain = pool.is_none() && moved.is_none() && !has_owner;
        let (base, size) = moved.unwrap_or((base, size));
        let extent = Self { kind, base, size, device, is_plain, backend: None, heap: None };
        // The room around a moved start is nobody's.
        Ok(Some(extent).filter(|extent| extent.bytes_from(address).is_some()))
    }

    fn of_block(block: Block<D>) -> Option<Self> {
        let Block::Out { base, size, backend } = block else { return None };
        let (kind, device) = (backend.kind, backend.device.raw);
        Some(Self { kind, base, size, device, is_plain: false, backend: Some(backend), heap: None })
    }

    fn of_plain((heap, live): (Arc<Heap<D>>, Live)) -> Self {
        let Live { start, size, label } = live;
        let (device, is_plain) = (heap.device.raw, !label.is_internal());
        Self { kind: label.kind(), base: start, size, device, is_plain, backend: None, heap: Some((heap, live)) }
    }

    /// The bytes from an address to the end, or `None` for an address outside.
    #[must_use]
    pub fn bytes_from(&self, address: usize) -> Option<usize> {
        address.checked_sub(self.base).and_then(|offset| self.size.checked_sub(offset)).filter(|bytes| *bytes > 0)
    }
}

/// Why an address in a heap's memory cannot be freed; `block` is the block that it lies in, or a freed one that starts there.
#[cold]
pub(super) fn not_a_plain_block(name: &str, pointer: usize, block: Option<core::result::Result<Live, usize>>) -> Error {
    let what = match block {
        Some(Ok(live)) if live.start != pointer => {
            format!("lies inside the plain USM memory at {:#x}; give that address to urUSMFree", live.start)
        }
        Some(Ok(live)) if live.label.is_internal() => "is the memory of a buffer, which frees it itself".to_owned(),
        Some(Ok(_)) => "is no stream-ordered memory of this context; plain USM memory goes to urUSMFree".to_owned(),
        Some(Err(_)) => "was freed already".to_owned(),
        None => "is no live USM memory; it may have been freed already".to_owned(),
    };
    Error::new(ur_result_t::ERROR_INVALID_MEM_OBJECT, format!("{name}: {pointer:#x} {what}"))
}
