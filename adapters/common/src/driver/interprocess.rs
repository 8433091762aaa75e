//! Memory and events that another process made, or is to use.
//!
//! Manuals: CUDA Driver API, Memory Management and Event Management (`cuIpc*`), Virtual Memory Management
//! (`cuMem*ShareableHandle`); HIP runtime API, Memory Management, Event Management and Virtual Memory Management. How a
//! handle gets to the other process, and who may open it, is decided in [`crate::ipc`].

use super::{Events, VirtualMemory, unsupported};
use crate::object::error::Result;

/// What stands for an allocation or an event in another process; both native libraries have 64 bytes for it.
pub type IpcHandle = [u8; 64];

/// What processes share.
pub trait Interprocess: Events + VirtualMemory {
    /// **Needs the context** of the memory's device. What stands for a device allocation in other processes.
    /// `cuIpcGetMemHandle`.
    fn ipc_handle(&self, _address: usize) -> Result<IpcHandle> {
        unsupported("memory of another process")
    }
    /// **Needs the context.** Maps another process's allocation; once more for the same one gives the same address.
    /// `cuIpcOpenMemHandle(LAZY_ENABLE_PEER_ACCESS)`.
    fn open_ipc(&self, _handle: &IpcHandle) -> Result<usize> {
        unsupported("memory of another process")
    }
    /// **Needs the context** that it was opened with. Undoes one [`Interprocess::open_ipc`]. `cuIpcCloseMemHandle`.
    /// The library refuses an address that it did not open; the host cannot touch the memory, and a device that touches it
    /// afterwards reports a fault.
    fn close_ipc(&self, _address: usize) -> Result<()> {
        unsupported("memory of another process")
    }
    /// **Needs the context** of the event. What stands for an event of [`super::EventPurpose::Processes`] in other
    /// processes; only the process that made it can tell. `cuIpcGetEventHandle`.
    fn event_ipc_handle(&self, _event: &Self::Event) -> Result<IpcHandle> {
        unsupported("an event of another process")
    }
    /// **Needs the context** of the device that the event was made on. Another process's event, to be destroyed like one's
    /// own. `cuIpcOpenEventHandle`.
    fn open_event_ipc(&self, _handle: &IpcHandle) -> Result<Self::Event> {
        unsupported("an event of another process")
    }
    /// A new file descriptor, the caller's to close, for shareable physical memory. `cuMemExportToShareableHandle`.
    fn export_physical(&self, _physical: &Self::Physical) -> Result<i32> {
        unsupported("physical memory of another process")
    }
    /// The physical memory behind a descriptor, which stays the caller's. `cuMemImportFromShareableHandle`.
    fn import_physical(&self, _descriptor: i32) -> Result<Self::Physical> {
        unsupported("physical memory of another process")
    }
}
