//! Physical memory for other processes.
//!
//! A native library shares physical memory as a file descriptor. The envelope names the process and the descriptor in it,
//! which stays open until the envelope is given back; whoever opens the envelope asks the kernel for a descriptor of its
//! own. The kernel lets a process at another's descriptors that it may also trace: the same user, and where the system
//! restricts tracing (Yama), an ancestor.

use core::ffi::c_void;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use ur_ffi::{ur_context_handle_t, ur_device_handle_t, ur_physical_mem_flags_t, ur_physical_mem_handle_t, ur_result_t};

use crate::context::Context;
use crate::device::Device;
use crate::driver::Driver;
use crate::error::{Error, Result};
use crate::ipc::{lend, seal, take_back, unseal};
use crate::memory_calls::IpcHandle;
use crate::object::{self, Object, borrow, null_pointer};
use crate::physical_memory::{PhysicalMem, supported};

const PHYSICAL: [u8; 8] = *b"URIPCPHY";

/// What an envelope holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Content {
    process: u64,
    descriptor: u64,
    size: u64,
}

impl Content {
    fn to_bytes(self) -> IpcHandle {
        let mut bytes = [0; 64];
        for (place, number) in bytes.chunks_exact_mut(8).zip([self.process, self.descriptor, self.size]) {
            place.copy_from_slice(&number.to_ne_bytes());
        }
        bytes
    }

    fn of(bytes: &IpcHandle) -> Self {
        let number = |index: usize| {
            let mut number = [0; 8];
            number.copy_from_slice(&bytes[index * 8..index * 8 + 8]);
            u64::from_ne_bytes(number)
        };
        Self { process: number(0), descriptor: number(1), size: number(2) }
    }
}

/// `urIPCGetPhysMemHandleExp`.
///
/// # Safety
/// The C contract: handles live, the outputs writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_ARGUMENT` for memory that was not made to be shared; `INVALID_CONTEXT` for memory of
/// another context; what the native library answers.
pub unsafe fn get<D: Driver>(
    context: ur_context_handle_t,
    physical: ur_physical_mem_handle_t,
    data: *mut *mut c_void,
    size: *mut usize,
) -> Result<()> {
    const NAME: &str = "urIPCGetPhysMemHandleExp";
    // SAFETY: the caller's promises are the same.
    let (context, physical) = unsafe { (borrow::<Context<D>>(context)?, borrow::<PhysicalMem<D>>(physical)?) };
    if data.is_null() || size.is_null() {
        return Err(null_pointer(NAME));
    }
    if !core::ptr::eq(context, &raw const *physical.context) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_CONTEXT,
            format!("{NAME}: the physical memory belongs to another context"),
        ));
    }
    if !physical.flags.contains(ur_physical_mem_flags_t::ENABLE_IPC) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_ARGUMENT,
            format!("{NAME}: the physical memory was not created with UR_PHYSICAL_MEM_FLAG_ENABLE_IPC"),
        ));
    }
    let raw = physical.state.driver.export_physical(physical.raw)?;
    // SAFETY: the native library just opened the descriptor for its caller.
    let descriptor = unsafe { OwnedFd::from_raw_fd(raw) };
    let content = Content {
        process: std::process::id().into(),
        descriptor: descriptor.as_raw_fd().unsigned_abs().into(),
        size: physical.size as u64,
    };
    // SAFETY: neither is null, so both are writable.
    unsafe { lend(seal(PHYSICAL, &physical.state.device, &content.to_bytes()), Some(descriptor), data, size) };
    Ok(())
}

/// `urIPCPutPhysMemHandleExp`: nobody can open it any more; who did keeps the memory.
///
/// # Safety
/// The C contract: the handle is live.
///
/// # Errors
/// As [`take_back`].
pub unsafe fn put<D: Driver>(context: ur_context_handle_t, data: *const c_void) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    unsafe { borrow::<Context<D>>(context) }?;
    take_back("urIPCPutPhysMemHandleExp", PHYSICAL, data)
}

/// A descriptor of this process for one of another.
#[cfg(target_os = "linux")]
fn fetch(content: Content) -> std::io::Result<OwnedFd> {
    let owned = |raw: i64| {
        if raw < 0 {
            return Err(std::io::Error::last_os_error());
        }
        #[allow(clippy::cast_possible_truncation, reason = "the kernel's descriptors are of type `int`")]
        // SAFETY: the kernel just opened the descriptor for this process.
        Ok(unsafe { OwnedFd::from_raw_fd(raw as i32) })
    };
    // SAFETY: plain numbers; the call makes a descriptor or fails.
    let process = owned(unsafe { libc::syscall(libc::SYS_pidfd_open, content.process, 0) })?;
    // SAFETY: as above.
    owned(unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), content.descriptor, 0) })
}

#[cfg(not(target_os = "linux"))]
fn fetch(_content: Content) -> std::io::Result<OwnedFd> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// `urIPCOpenPhysMemHandleExp`.
///
/// # Safety
/// The C contract: handles live, `data` readable for `size` bytes, `out` writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_VALUE` for bytes that are no handle data of this adapter, or whose process is gone or
/// gave them back; `INVALID_OPERATION` where the kernel does not let this process at the other's descriptors;
/// `INVALID_DEVICE`; what the native library answers.
pub unsafe fn open<D: Driver>(
    context: ur_context_handle_t,
    device: ur_device_handle_t,
    data: *const c_void,
    size: usize,
    out: *mut ur_physical_mem_handle_t,
) -> Result<()> {
    const NAME: &str = "urIPCOpenPhysMemHandleExp";
    // SAFETY: the caller's promises are the same.
    let (context, device) = unsafe { (borrow::<Context<D>>(context)?, borrow::<Device<D>>(device)?) };
    if out.is_null() {
        return Err(null_pointer(NAME));
    }
    // SAFETY: readable for `size` bytes by the caller's promise.
    let content = Content::of(&unsafe { unseal::<D>(NAME, PHYSICAL, data, size) }?.handle);
    context.check_member(device)?;
    supported(device)?;
    let descriptor = fetch(content).map_err(|error| {
        let refused = matches!(error.kind(), std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::Unsupported);
        let code = if refused { ur_result_t::ERROR_INVALID_OPERATION } else { ur_result_t::ERROR_INVALID_VALUE };
        Error::new(code, format!("{NAME}: descriptor {} of process {}: {error}", content.descriptor, content.process))
    })?;
    let state = context.state(device)?;
    // The native library keeps what it needs; the descriptor is closed when this returns.
    let raw = state.driver.import_physical(descriptor.as_raw_fd()).map_err(not_physical_memory)?;
    let opened = Object::new(PhysicalMem {
        raw,
        context: context.share(),
        state,
        size: usize::try_from(content.size).unwrap_or(0),
        flags: ur_physical_mem_flags_t::ENABLE_IPC,
        imported: true,
    });
    // SAFETY: not null, so writable.
    unsafe { out.write(Object::into_handle(opened)) };
    Ok(())
}

/// Native libraries have no code of their own for a descriptor of something else.
fn not_physical_memory(error: Error) -> Error {
    if error.code() != ur_result_t::ERROR_ADAPTER_SPECIFIC {
        return error;
    }
    Error::native(
        ur_result_t::ERROR_INVALID_VALUE,
        "urIPCOpenPhysMemHandleExp",
        error.native_status(),
        &format!("the handle data's descriptor is not physical memory that this device can have; {}", error.message()),
    )
}

/// `urIPCClosePhysMemHandleExp`.
///
/// # Safety
/// The C contract: handles live.
///
/// # Errors
/// `INVALID_VALUE` for physical memory of this process's own; `INVALID_CONTEXT` for memory opened in another context.
pub unsafe fn close<D: Driver>(context: ur_context_handle_t, physical: ur_physical_mem_handle_t) -> Result<()> {
    const NAME: &str = "urIPCClosePhysMemHandleExp";
    // SAFETY: the caller's promises are the same.
    let (context, opened) = unsafe { (borrow::<Context<D>>(context)?, borrow::<PhysicalMem<D>>(physical)?) };
    if !opened.imported {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{NAME}: the physical memory was created here; release it with urPhysicalMemRelease"),
        ));
    }
    if !core::ptr::eq(context, &raw const *opened.context) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_CONTEXT,
            format!("{NAME}: the physical memory was opened in another context"),
        ));
    }
    // SAFETY: as above.
    unsafe { object::release::<PhysicalMem<D>>(physical) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_envelope_holds_comes_out_again() {
        let content = Content { process: 4_000_000_000, descriptor: 7, size: 1 << 40 };
        assert_eq!(Content::of(&content.to_bytes()), content);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_descriptor_that_is_not_open_or_a_process_that_is_gone_is_an_error() {
        let own = std::process::id().into();
        assert!(fetch(Content { process: own, descriptor: 1 << 30, size: 0 }).is_err());
        assert!(fetch(Content { process: 1 << 30, descriptor: 0, size: 0 }).is_err());
        assert!(fetch(Content { process: own, descriptor: 0, size: 0 }).is_ok());
    }
}
