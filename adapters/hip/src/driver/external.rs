//! Memory and semaphores of other APIs.
//!
//! The library takes the descriptor of what it imports; nothing here closes one.

use ur_adapter::driver::native::external_layouts::{
    BufferDescriptor, MemoryDescriptor, SemaphoreDescriptor, SemaphoreParameters,
};
use ur_adapter::driver::{External, SemaphoreKind};
use ur_adapter::object::error::{Error, Result};

use super::Hip;
use crate::sys::{DevicePointer, HipExternalMemory, HipExternalSemaphore, HipStream};

/// A symbol that not every runtime has.
fn needed<T>(symbol: Option<T>, name: &str) -> Result<T> {
    symbol.ok_or_else(|| Error::unsupported(&format!("{name} by this runtime")))
}

impl External for Hip {
    type ExternalMemory = HipExternalMemory;
    type ExternalSemaphore = HipExternalSemaphore;

    fn import_memory(&self, descriptor: i32, size: u64) -> Result<HipExternalMemory> {
        let import = needed(self.symbols.external_memory_import, "hipImportExternalMemory")?;
        let (mut memory, described) = (HipExternalMemory::default(), MemoryDescriptor::new(descriptor, size));
        // SAFETY: the output and the description are live locals; the library checks the descriptor.
        self.check("hipImportExternalMemory", unsafe { import(&raw mut memory, &raw const described) })?;
        Ok(memory)
    }

    fn map_memory(&self, memory: &HipExternalMemory, offset: u64, size: u64) -> Result<usize> {
        let map = needed(self.symbols.external_memory_map, "hipExternalMemoryGetMappedBuffer")?;
        let (mut address, described): (DevicePointer, _) = (0, BufferDescriptor::new(offset, size));
        // SAFETY: the output and the description are live locals, and the memory is borrowed.
        self.check("hipExternalMemoryGetMappedBuffer", unsafe {
            map(&raw mut address, *memory, &raw const described)
        })?;
        Ok(address)
    }

    fn release_memory(&self, memory: HipExternalMemory) -> Result<()> {
        let release = needed(self.symbols.external_memory_destroy, "hipDestroyExternalMemory")?;
        // SAFETY: the handle was the import's owner.
        self.check("hipDestroyExternalMemory", unsafe { release(memory) })
    }

    fn import_semaphore(&self, descriptor: i32, kind: SemaphoreKind) -> Result<HipExternalSemaphore> {
        let import = needed(self.symbols.external_semaphore_import, "hipImportExternalSemaphore")?;
        let (mut semaphore, described) = (HipExternalSemaphore::default(), SemaphoreDescriptor::new(descriptor, kind));
        // SAFETY: the output and the description are live locals; the library checks the descriptor.
        self.check("hipImportExternalSemaphore", unsafe { import(&raw mut semaphore, &raw const described) })?;
        Ok(semaphore)
    }

    fn release_semaphore(&self, semaphore: HipExternalSemaphore) -> Result<()> {
        let release = needed(self.symbols.external_semaphore_destroy, "hipDestroyExternalSemaphore")?;
        // SAFETY: the handle was the import's owner.
        self.check("hipDestroyExternalSemaphore", unsafe { release(semaphore) })
    }

    fn wait_semaphore(&self, semaphore: &HipExternalSemaphore, value: u64, stream: &HipStream) -> Result<()> {
        let wait = needed(self.symbols.external_semaphore_wait, "hipWaitExternalSemaphoresAsync")?;
        let described = SemaphoreParameters::new(value);
        // SAFETY: both lists have the one entry that is told, and semaphore and stream are borrowed.
        self.check("hipWaitExternalSemaphoresAsync", unsafe { wait(semaphore, &raw const described, 1, *stream) })
    }

    fn signal_semaphore(&self, semaphore: &HipExternalSemaphore, value: u64, stream: &HipStream) -> Result<()> {
        let signal = needed(self.symbols.external_semaphore_signal, "hipSignalExternalSemaphoresAsync")?;
        let described = SemaphoreParameters::new(value);
        // SAFETY: both lists have the one entry that is told, and semaphore and stream are borrowed.
        self.check("hipSignalExternalSemaphoresAsync", unsafe { signal(semaphore, &raw const described, 1, *stream) })
    }
}
