//! Blocks by their addresses: why one cannot be freed, and the free of one that nothing uses any more, in no queue's order.

use std::sync::Arc;

use ur_ffi::ur_result_t;

use crate::context::Context;
use crate::device::native_context::own_memory;
use crate::device::native_context::owned;
use crate::driver::{Driver, PointerInfo};
use crate::memory_pool::plain::Heap;
use crate::memory_pool::registry::{Block, Claimed};
use crate::object::error::{Error, Result};
use crate::pool::extent::not_a_plain_block;
use crate::stream::service;

/// Why an address cannot be freed.
#[cold]
pub fn not_a_block<D: Driver>(name: &str, context: &Context<D>, pointer: usize) -> Error {
    if context.registry.find(pointer).is_none()
        && let Some(heap) = owned::heap_around::<Heap<D>>(pointer)
    {
        return not_a_plain_block(name, pointer, heap.block_around(pointer));
    }
    let native = || context.first_state().and_then(|state| state.driver.pointer_info(pointer)).ok().flatten();
    let what = match find(context, pointer, native) {
        Some(Block::Out { base, .. }) => format!("lies inside the block at {base:#x}; give that address"),
        Some(Block::Recycled) => "was freed already".to_owned(),
        // A slab's, of which no block of this context is out there.
        None if owned::contains(pointer) => {
            "is no stream-ordered memory of this context; it may be another's, or was freed already".to_owned()
        }
        None if own_memory::starts_at(pointer) => {
            "is memory of a buffer or of the adapter's own, which frees it itself, or is exportable or mapped, and goes back by \
             urMemoryExportFreeExportableMemoryExp or urVirtualMemUnmap"
                .to_owned()
        }
        None if context.graph_memory.knows(pointer) => {
            "is where launches of a graph allocate, and no launch has since it was freed".to_owned()
        }
        None if native().is_some() => {
            "is no stream-ordered memory of this context; plain USM memory goes to urUSMFree".to_owned()
        }
        None => "is no live USM memory; it may have been freed already".to_owned(),
    };
    Error::new(ur_result_t::ERROR_INVALID_MEM_OBJECT, format!("{name}: {pointer:#x} {what}"))
}

/// What is known of the block that an address lies in; `native` asks the native library about it, where nothing else tells.
fn find<D: Driver>(
    context: &Context<D>,
    address: usize,
    native: impl Fn() -> Option<PointerInfo<D>>,
) -> Option<Block<D>> {
    let registry = &context.registry;
    registry.find(address).or_else(|| registry.find_from(native()?.base, address))
}

/// Frees a stream-ordered block that nothing uses any more, in no queue's order. `None` when it is none.
///
/// # Errors
/// What the native library answers; the block is out as before then.
pub fn free_unused<D: Driver>(context: &Context<D>, pointer: usize) -> Option<Result<()>> {
    let claimed = context.registry.claim(pointer)?;
    Some(give_back_unused(context, pointer, claimed))
}

fn give_back_unused<D: Driver>(context: &Context<D>, pointer: usize, claimed: Claimed<D>) -> Result<()> {
    let backend = Arc::clone(&claimed.backend);
    let again = claimed.again();
    let given = give_back_to_somebody(context, pointer, claimed);
    match &given {
        Ok(()) => context.registry.end_if_unused(&backend),
        Err(_) => context.registry.unclaim(pointer, &again),
    }
    given
}

fn give_back_to_somebody<D: Driver>(context: &Context<D>, pointer: usize, claimed: Claimed<D>) -> Result<()> {
    // The stream that allocated it has at least got the allocation before it.
    let left = match context.registry.stream(claimed.stream()) {
        Some(stream) => stream.take_back(claimed, pointer)?,
        None => Some(claimed),
    };
    let Some(claimed) = left else { return Ok(()) };
    let service = service::service_stream(context, &claimed.backend.device)?;
    service.take_back(claimed, pointer).map(drop)
}
