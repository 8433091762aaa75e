//! Memory and semaphores that another API made, such as Vulkan, and exported as file descriptors.
//!
//! Manuals: CUDA Driver API, External Resource Interoperability; HIP runtime API, External Resource Interoperability. What a
//! descriptor's import means for the application, and when an object may be ended, is decided in [`crate::ipc`].
//!
//! A library that imports something takes its descriptor, and leaves it alone when it refuses.

use super::{Handle, Streams, unsupported};
use crate::object::error::Result;

/// What another API's semaphore is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SemaphoreKind {
    /// Signalled or not; a wait takes the signal away.
    Binary,
    /// A value that only grows.
    Timeline,
}

/// Objects of other APIs. A device can have them if [`super::DeviceProperties::external_memory`] and
/// [`super::DeviceProperties::external_semaphores`] say so.
pub trait External: Streams {
    /// `CUexternalMemory` / `hipExternalMemory_t`.
    type ExternalMemory: Handle;
    /// `CUexternalSemaphore` / `hipExternalSemaphore_t`.
    type ExternalSemaphore: Handle;

    /// **Needs the context** of the device that has the memory. `cuImportExternalMemory(OPAQUE_FD)`.
    fn import_memory(&self, _descriptor: i32, _size: u64) -> Result<Self::ExternalMemory> {
        unsupported("memory of another API")
    }
    /// **Needs the context.** Device memory over bytes of imported memory, to be freed by [`super::Memory::free_device`]
    /// before the imported memory is released. `cuExternalMemoryGetMappedBuffer`.
    fn map_memory(&self, _memory: &Self::ExternalMemory, _offset: u64, _size: u64) -> Result<usize> {
        unsupported("memory of another API")
    }
    /// **Needs the context.** Ends the import; the other API's memory stays. `cuDestroyExternalMemory`.
    fn release_memory(&self, _memory: Self::ExternalMemory) -> Result<()> {
        unsupported("memory of another API")
    }

    /// **Needs the context** of the device whose streams use the semaphore.
    /// `cuImportExternalSemaphore(OPAQUE_FD or TIMELINE_SEMAPHORE_FD)`.
    fn import_semaphore(&self, _descriptor: i32, _kind: SemaphoreKind) -> Result<Self::ExternalSemaphore> {
        unsupported("a semaphore of another API")
    }
    /// **Needs the context.** Ends the import, when all waits and signals have completed. `cuDestroyExternalSemaphore`.
    fn release_semaphore(&self, _semaphore: Self::ExternalSemaphore) -> Result<()> {
        unsupported("a semaphore of another API")
    }
    /// **Needs the context.** Later work of the stream waits until a binary semaphore is signalled, which it then is no
    /// more, or until a timeline has reached `value`. `cuWaitExternalSemaphoresAsync`.
    fn wait_semaphore(&self, _semaphore: &Self::ExternalSemaphore, _value: u64, _stream: &Self::Stream) -> Result<()> {
        unsupported("a semaphore of another API")
    }
    /// **Needs the context.** Signals when all earlier work of the stream has completed, a timeline to `value`.
    /// `cuSignalExternalSemaphoresAsync`.
    fn signal_semaphore(
        &self,
        _semaphore: &Self::ExternalSemaphore,
        _value: u64,
        _stream: &Self::Stream,
    ) -> Result<()> {
        unsupported("a semaphore of another API")
    }
}
