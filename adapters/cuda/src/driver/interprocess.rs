//! Memory and events of other processes.
//!
//! Nothing here checks who made a handle.

use core::ffi::c_int;

use ur_adapter::driver::{Interprocess, IpcHandle};
use ur_adapter::object::error::Result;

use super::Cuda;
use crate::sys::{self, CUdeviceptr, CUevent, CUipcEventHandle, CUipcMemHandle, CUphysical};

impl Interprocess for Cuda {
    fn ipc_handle(&self, address: usize) -> Result<IpcHandle> {
        let mut handle = CUipcMemHandle([0; 64]);
        // SAFETY: the output is a live local; the library checks the address.
        self.check("cuIpcGetMemHandle", unsafe { (self.symbols.ipc_get)(&raw mut handle, address) })?;
        Ok(handle.0)
    }

    fn open_ipc(&self, handle: &IpcHandle) -> Result<usize> {
        let mut pointer: CUdeviceptr = 0;
        // SAFETY: the output is a live local; the library checks the handle.
        self.check("cuIpcOpenMemHandle", unsafe {
            (self.symbols.ipc_open)(&raw mut pointer, CUipcMemHandle(*handle), sys::IPC_LAZY_PEER)
        })?;
        Ok(pointer)
    }

    fn close_ipc(&self, address: usize) -> Result<()> {
        // SAFETY: the library checks the address.
        self.check("cuIpcCloseMemHandle", unsafe { (self.symbols.ipc_close)(address) })
    }

    fn event_ipc_handle(&self, event: &CUevent) -> Result<IpcHandle> {
        let mut handle = CUipcEventHandle([0; 64]);
        // SAFETY: the output is a live local and the event is borrowed.
        self.check("cuIpcGetEventHandle", unsafe { (self.symbols.ipc_event_get)(&raw mut handle, *event) })?;
        Ok(handle.0)
    }

    fn open_event_ipc(&self, handle: &IpcHandle) -> Result<CUevent> {
        let mut event = CUevent::default();
        // SAFETY: the output is a live local; the library checks the handle.
        self.check("cuIpcOpenEventHandle", unsafe {
            (self.symbols.ipc_event_open)(&raw mut event, CUipcEventHandle(*handle))
        })?;
        Ok(event)
    }

    fn export_physical(&self, physical: &CUphysical) -> Result<i32> {
        let mut descriptor: c_int = -1;
        // SAFETY: the output has room for a descriptor, and the physical memory is borrowed.
        self.check("cuMemExportToShareableHandle", unsafe {
            (self.symbols.physical_export)((&raw mut descriptor).cast(), *physical, sys::HANDLE_POSIX, 0)
        })?;
        Ok(descriptor)
    }

    fn import_physical(&self, descriptor: i32) -> Result<CUphysical> {
        // The descriptor is passed as if it were the pointer.
        let number = core::ptr::without_provenance_mut(descriptor.unsigned_abs() as usize);
        let mut physical = CUphysical::default();
        // SAFETY: the output is a live local, and the pointer is the descriptor's number.
        self.check("cuMemImportFromShareableHandle", unsafe {
            (self.symbols.physical_import)(&raw mut physical, number, sys::HANDLE_POSIX)
        })?;
        Ok(physical)
    }
}
