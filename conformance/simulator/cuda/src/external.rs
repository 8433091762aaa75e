//! Memory of another API, imported by its descriptor and mapped.
//!
//! The other API's memory is a file like physical memory's (`vmm`), so what this driver exported can be imported too. A
//! successful import takes the descriptor: its number is closed, and the file stays by another one. A mapping is
//! memory of its own in the map of memory, freed by `cuMemFree`.

use crate::clock::Milestone;
use crate::context::Context;
use crate::external_semaphore::SEMAPHORES;
use crate::handles::{self, Registry};
use crate::memory::{self, Kind, Make};
use crate::region::Region;
use crate::sys::*;
use crate::vmm;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd};
use std::sync::Arc;

/// All imported memory.
pub static MEMORIES: Registry<Imported> = Registry::new(handles::Kind::ExternalMemory);

/// Imported memory.
pub struct Imported {
    handle: Handle,
    context: Arc<Context>,
    file: OwnedFd,
    size: u64,
}

/// Another descriptor of the same file, for one that its owner gives up.
pub fn take_descriptor(descriptor: i32) -> Result<OwnedFd> {
    // SAFETY: the descriptor is open, as the caller has just looked at it.
    let copy = unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned();
    let copy = copy.map_err(|_| CUDA_ERROR_OPERATING_SYSTEM)?;
    // SAFETY: the client gives the descriptor to the driver with a successful import, which nothing keeps this from being.
    drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
    Ok(copy)
}

/// Imports the memory behind a descriptor.
pub fn import(context: Arc<Context>, described: &CUDA_EXTERNAL_MEMORY_HANDLE_DESC) -> Result<Handle> {
    if described.kind != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD {
        return Err(CUDA_ERROR_NOT_SUPPORTED);
    }
    if described.flags & !CUDA_EXTERNAL_MEMORY_DEDICATED != 0 || described.size == 0 {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    let (device, size) = vmm::device_of(described.fd).ok_or(CUDA_ERROR_UNKNOWN)?;
    if device != Some(context.device.ordinal) || described.size > size as u64 {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    let file = take_descriptor(described.fd)?;
    Ok(MEMORIES.insert_with(|handle| Imported { handle, context, file, size: described.size }).0)
}

/// Maps a range of imported memory.
pub fn map(handle: Handle, described: &CUDA_EXTERNAL_MEMORY_BUFFER_DESC) -> Result<u64> {
    let imported = MEMORIES.lookup(handle, CUDA_ERROR_INVALID_HANDLE)?;
    let end = described.offset.checked_add(described.size);
    let inside = end.filter(|end| described.size > 0 && *end <= imported.size);
    let Some(end) = inside.filter(|_| described.flags == 0) else { return Err(CUDA_ERROR_INVALID_VALUE) };
    let region = Region::of_file(&imported.file, 0, end as usize).ok_or(CUDA_ERROR_OUT_OF_MEMORY)?;
    let make = Make {
        base: region.base() + described.offset,
        size: described.size as usize,
        kind: Kind::External,
        device: Some(imported.context.device.ordinal),
        context: imported.context.handle,
        flags: 0,
        pool: None,
        region: Some(region),
    };
    Ok(memory::add(make, Milestone::immediate()).base)
}

/// Ends an import.
pub fn destroy(handle: Handle) -> Result {
    MEMORIES.take(handle, CUDA_ERROR_INVALID_HANDLE).map(drop)
}

/// Ends what was imported in a context; answers how many imports that were.
pub fn end_of_context(context: &Context) -> usize {
    let memories = MEMORIES.all().into_iter().filter(|import| import.context.id == context.id);
    let memories = memories.filter_map(|import| MEMORIES.remove(import.handle)).count();
    let semaphores = SEMAPHORES.all().into_iter().filter(|import| import.context.id == context.id);
    memories + semaphores.filter_map(|import| SEMAPHORES.remove(import.handle)).count()
}
