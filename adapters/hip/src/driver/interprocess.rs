//! Memory and events of other processes.
//!
//! Nothing here checks who made a handle.

use core::ffi::c_int;

use ur_adapter::driver::{Interprocess, IpcHandle};
use ur_adapter::object::error::Result;

use super::Hip;
use crate::sys::{self, DevicePointer, HipEvent, HipPhysical, IpcEventHandle, IpcMemHandle, flag};

impl Interprocess for Hip {
    fn ipc_handle(&self, address: usize) -> Result<IpcHandle> {
        let mut handle = IpcMemHandle([0; 64]);
        // SAFETY: the output is a live local; the library checks the address.
        self.check("hipIpcGetMemHandle", unsafe { (self.symbols.ipc_get)(&raw mut handle, address) })?;
        Ok(handle.0)
    }

    fn open_ipc(&self, handle: &IpcHandle) -> Result<usize> {
        let flags = if self.is_rocm_6() { sys::IPC_LAZY_PEER_6 } else { sys::IPC_LAZY_PEER_5 };
        let mut pointer: DevicePointer = 0;
        // SAFETY: the output is a live local; the library checks the handle.
        self.check("hipIpcOpenMemHandle", unsafe {
            (self.symbols.ipc_open)(&raw mut pointer, IpcMemHandle(*handle), flags)
        })?;
        Ok(pointer)
    }

    fn close_ipc(&self, address: usize) -> Result<()> {
        // SAFETY: the library checks the address.
        self.check("hipIpcCloseMemHandle", unsafe { (self.symbols.ipc_close)(address) })
    }

    fn event_ipc_handle(&self, event: &HipEvent) -> Result<IpcHandle> {
        let mut handle = IpcEventHandle([0; 64]);
        // SAFETY: the output is a live local and the event is borrowed.
        self.check("hipIpcGetEventHandle", unsafe { (self.symbols.ipc_event_get)(&raw mut handle, *event) })?;
        Ok(handle.0)
    }

    fn open_event_ipc(&self, handle: &IpcHandle) -> Result<HipEvent> {
        let mut event = HipEvent::default();
        // SAFETY: the output is a live local; the library checks the handle.
        self.check("hipIpcOpenEventHandle", unsafe {
            (self.symbols.ipc_event_open)(&raw mut event, IpcEventHandle(*handle))
        })?;
        Ok(event)
    }

    fn export_physical(&self, physical: &HipPhysical) -> Result<i32> {
        let mut descriptor: c_int = -1;
        // SAFETY: the output has room for a descriptor, and the physical memory is borrowed.
        self.check("hipMemExportToShareableHandle", unsafe {
            (self.symbols.physical_export)(
                (&raw mut descriptor).cast(),
                *physical,
                flag::hipMemHandleTypePosixFileDescriptor,
                0,
            )
        })?;
        Ok(descriptor)
    }

    fn import_physical(&self, descriptor: i32) -> Result<HipPhysical> {
        let mut number: c_int = descriptor;
        // The descriptor is passed as if it were the pointer; AMD's runtimes before 7.1 read it through the pointer.
        let handle = if self.reads_descriptors() {
            (&raw mut number).cast()
        } else {
            core::ptr::without_provenance_mut(descriptor.unsigned_abs() as usize)
        };
        let mut physical = HipPhysical::default();
        // SAFETY: the output is a live local; the pointer is one to the descriptor or the descriptor's number, as the version wants it.
        self.check("hipMemImportFromShareableHandle", unsafe {
            (self.symbols.physical_import)(&raw mut physical, handle, flag::hipMemHandleTypePosixFileDescriptor)
        })?;
        Ok(physical)
    }
}
