//! Memory and semaphores of other APIs.
//!
//! The library takes the descriptor of what it imports; nothing here closes one.

use ur_adapter::driver::native::external_layouts::{
    BufferDescriptor, MemoryDescriptor, SemaphoreDescriptor, SemaphoreParameters,
};
use ur_adapter::driver::{External, SemaphoreKind};
use ur_adapter::object::error::{Error, Result};

use super::Cuda;
use crate::sys::{CUdeviceptr, CUexternalMemory, CUexternalSemaphore, CUstream};

/// A symbol that not every driver has.
fn needed<T>(symbol: Option<T>, name: &str) -> Result<T> {
    symbol.ok_or_else(|| Error::unsupported(&format!("{name} by this driver")))
}

impl External for Cuda {
    type ExternalMemory = CUexternalMemory;
    type ExternalSemaphore = CUexternalSemaphore;

    fn import_memory(&self, descriptor: i32, size: u64) -> Result<CUexternalMemory> {
        let import = needed(self.symbols.external_memory_import, "cuImportExternalMemory")?;
        let (mut memory, described) = (CUexternalMemory::default(), MemoryDescriptor::new(descriptor, size));
        // SAFETY: the output and the description are live locals; the library checks the descriptor.
        self.check("cuImportExternalMemory", unsafe { import(&raw mut memory, &raw const described) })?;
        Ok(memory)
    }

    fn map_memory(&self, memory: &CUexternalMemory, offset: u64, size: u64) -> Result<usize> {
        let map = needed(self.symbols.external_memory_map, "cuExternalMemoryGetMappedBuffer")?;
        let (mut address, described): (CUdeviceptr, _) = (0, BufferDescriptor::new(offset, size));
        // SAFETY: the output and the description are live locals, and the memory is borrowed.
        self.check("cuExternalMemoryGetMappedBuffer", unsafe { map(&raw mut address, *memory, &raw const described) })?;
        Ok(address)
    }

    fn release_memory(&self, memory: CUexternalMemory) -> Result<()> {
        let release = needed(self.symbols.external_memory_destroy, "cuDestroyExternalMemory")?;
        // SAFETY: the handle was the import's owner.
        self.check("cuDestroyExternalMemory", unsafe { release(memory) })
    }

    fn import_semaphore(&self, descriptor: i32, kind: SemaphoreKind) -> Result<CUexternalSemaphore> {
        let import = needed(self.symbols.external_semaphore_import, "cuImportExternalSemaphore")?;
        let (mut semaphore, described) = (CUexternalSemaphore::default(), SemaphoreDescriptor::new(descriptor, kind));
        // SAFETY: the output and the description are live locals; the library checks the descriptor.
        self.check("cuImportExternalSemaphore", unsafe { import(&raw mut semaphore, &raw const described) })?;
        Ok(semaphore)
    }

    fn release_semaphore(&self, semaphore: CUexternalSemaphore) -> Result<()> {
        let release = needed(self.symbols.external_semaphore_destroy, "cuDestroyExternalSemaphore")?;
        // SAFETY: the handle was the import's owner.
        self.check("cuDestroyExternalSemaphore", unsafe { release(semaphore) })
    }

    fn wait_semaphore(&self, semaphore: &CUexternalSemaphore, value: u64, stream: &CUstream) -> Result<()> {
        let wait = needed(self.symbols.external_semaphore_wait, "cuWaitExternalSemaphoresAsync")?;
        let described = SemaphoreParameters::new(value);
        // SAFETY: both lists have the one entry that is told, and semaphore and stream are borrowed.
        self.check("cuWaitExternalSemaphoresAsync", unsafe { wait(semaphore, &raw const described, 1, *stream) })
    }

    fn signal_semaphore(&self, semaphore: &CUexternalSemaphore, value: u64, stream: &CUstream) -> Result<()> {
        let signal = needed(self.symbols.external_semaphore_signal, "cuSignalExternalSemaphoresAsync")?;
        let described = SemaphoreParameters::new(value);
        // SAFETY: both lists have the one entry that is told, and semaphore and stream are borrowed.
        self.check("cuSignalExternalSemaphoresAsync", unsafe { signal(semaphore, &raw const described, 1, *stream) })
    }
}
