//! Native handles of memory objects, and buffers over native addresses.
//!
//! Who has a buffer's address or an image's array may write behind the engine's back, so asking for one makes the device the only
//! location where the memory is current.

use std::sync::Arc;

use ur_ffi::{ur_mem_flags_t, ur_mem_handle_t, ur_mem_native_properties_t, ur_native_handle_t, ur_result_t};

use crate::buffer::Buffer;
use crate::buffer::block::Block;
use crate::buffer::moving::{MovingMemory, location_of};
use crate::buffer::storage::{Memory, Storage};
use crate::context::{Context, DeviceState};
use crate::device::Device;
use crate::driver::{Driver, MemoryKind};
use crate::memory_object::{Mem, MemBody};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::Out;
use crate::pool::extent::Extent;

/// `urMemGetNativeHandle`: of a buffer the address of the first byte at the device, of an image the array there; at the
/// context's first device when none is named. Waits until the newest contents are there.
///
/// # Errors
/// `INVALID_DEVICE` for a device of another context; what the native library answers.
pub fn get_native_handle<D: Driver>(
    mem: &Object<Mem<D>>,
    device: Option<&Object<Device<D>>>,
    out: Out<'_, ur_native_handle_t>,
) -> Result<()> {
    let state = match device {
        Some(device) => mem.context().state(device)?,
        None => mem.context().first_state()?,
    };
    let native = match &mem.body {
        MemBody::Buffer(buffer) => buffer.storage.native(&state)? + buffer.origin,
        MemBody::Image(image) => image.native(&state)?,
    };
    out.write(native);
    Ok(())
}

/// A buffer frees what it owns by the native library's plain free, which ruins a native pool and knows no moved start; and it
/// is nowhere in a queue's order, which a free to the pool would need.
#[cold]
fn not_to_be_owned(name: &str, address: usize) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_VALUE,
        format!(
            "{name}: {address:#x} is memory of a pool, of a graph, of another buffer or of another context, was registered, mapped or \
             opened and not allocated, or has an alignment above the native one; leave isNativeHandleOwned false and give it back by \
             the function that is for such memory, unless it is a buffer's"
        ),
    )
}

/// `urMemBufferCreateWithNativeHandle`: a buffer over native memory, from the address given to the end of its
/// allocation.
///
/// # Errors
/// `INVALID_VALUE` for an address in no live allocation, or one that is to be owned and is not at the start, is a pool's, is
/// pooled memory of another context, has an alignment above the native one, or is another buffer's; `INVALID_DEVICE` for memory of a device that the context has not.
pub fn create_with_native_handle<D: Driver>(
    address: ur_native_handle_t,
    context: &Object<Context<D>>,
    properties: Option<&ur_mem_native_properties_t>,
    out: Out<'_, ur_mem_handle_t>,
) -> Result<()> {
    const NAME: &str = "urMemBufferCreateWithNativeHandle";
    let owned = properties.is_some_and(|properties| properties.isNativeHandleOwned.get());
    let known = if address == 0 { None } else { Extent::around(context, address)? };
    let found = known.and_then(|extent| extent.bytes_from(address).map(|size| (extent, size)));
    let (extent, size) = found.filter(|(extent, _)| !owned || extent.base == address).ok_or_else(|| {
        Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{NAME}: {address:#x} is not in (or, to be owned, at the start of) a live native allocation"),
        )
    })?;
    if owned && !extent.is_plain {
        return Err(not_to_be_owned(NAME, address));
    }
    let block = |state: &Arc<DeviceState<D>>| match &extent.heap {
        Some((heap, live)) if owned => {
            Block::plain(context, state, Arc::clone(heap), *live).ok_or_else(|| not_to_be_owned(NAME, address))
        }
        _ => Ok(Block::native(state, address, size, owned.then_some(extent.kind))),
    };
    let memory = if extent.kind == MemoryKind::Device {
        let device = context.devices().find(|device| device.raw == extent.device).ok_or_else(|| {
            Error::new(
                ur_result_t::ERROR_INVALID_DEVICE,
                format!("{NAME}: {address:#x} is memory of a device that the context has not"),
            )
        })?;
        let state = context.state(device)?;
        // What can fail comes first: the application keeps what was not taken.
        if context.devices().nth(1).is_none() {
            Memory::Fixed { block: block(&state)?, on_host: false }
        } else {
            let (moving, location) = (MovingMemory::new(context, size, None)?, location_of(context, device)?);
            Memory::Moving(Box::new(moving.at_device(location, block(&state)?)))
        }
    } else {
        Memory::Fixed { block: block(&context.first_state()?)?, on_host: true }
    };
    let body = MemBody::Buffer(Buffer::whole(Storage::new(context.to_arc(), size, memory)));
    out.write_new(Mem { flags: ur_mem_flags_t::READ_WRITE, body });
    Ok(())
}
