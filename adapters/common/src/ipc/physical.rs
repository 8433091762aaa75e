//! Physical memory for other processes.
//!
//! A native library shares physical memory as a file descriptor. The envelope names the process and its descriptor, which
//! stays open until the application gives the envelope back. The opener asks the kernel for a descriptor of its own, once
//! [`crate::ipc::descriptor`] has seen that the other process shares that one. The kernel allows this to a process that may
//! trace the other: the same user, and where the system restricts tracing (Yama), an ancestor.

use core::ffi::c_void;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use ur_ffi::{ur_physical_mem_flags_t, ur_physical_mem_handle_t, ur_result_t};

use crate::context::Context;
use crate::device::Device;
use crate::driver::Driver;
use crate::driver::IpcHandle;
use crate::ipc::descriptor::{self, Address, Cookie, Shared};
use crate::ipc::{Part, retain_handle, seal, take_back, unseal};
use crate::object::error::{Error, Result};
use crate::object::params::{self, Out};
use crate::object::{self, Held, Object};
use crate::usm::virtual_memory::physical::{PhysicalMem, check_size, supported};

const PHYSICAL: [u8; 8] = *b"URIPCPHY";

/// The content of an envelope.
pub(super) fn to_bytes(address: &Address) -> IpcHandle {
    let mut bytes = [0; 64];
    let numbers = [address.process, address.descriptor, address.size, address.certificate];
    for (field, number) in bytes.chunks_exact_mut(8).zip(numbers) {
        field.copy_from_slice(&number.to_ne_bytes());
    }
    bytes[32..48].copy_from_slice(&address.cookie);
    bytes
}

pub(super) fn from_bytes(bytes: &IpcHandle) -> Address {
    let number = |index: usize| {
        let mut number = [0; 8];
        number.copy_from_slice(&bytes[index * 8..index * 8 + 8]);
        u64::from_ne_bytes(number)
    };
    let mut cookie = Cookie::default();
    cookie.copy_from_slice(&bytes[32..48]);
    Address { process: number(0), descriptor: number(1), size: number(2), certificate: number(3), cookie }
}

/// `urIPCGetPhysMemHandleExp`.
///
/// # Errors
/// `INVALID_ARGUMENT` for memory that was not made to be shared; `INVALID_CONTEXT` for memory of
/// another context; `OUT_OF_RESOURCES` where the system has no descriptor left; what the native library answers.
pub fn get<D: Driver>(
    context: &Object<Context<D>>,
    physical: &Object<PhysicalMem<D>>,
    data: Out<'_, *mut c_void>,
    size: Out<'_, usize>,
) -> Result<()> {
    const NAME: &str = "urIPCGetPhysMemHandleExp";
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
    let raw = physical.state.driver.export_physical(&physical.raw)?;
    // SAFETY: the native library just opened the descriptor for its caller.
    let descriptor = unsafe { OwnedFd::from_raw_fd(raw) };
    let shared = Shared::new(descriptor, physical.size as u64).map_err(|error| {
        Error::new(ur_result_t::ERROR_OUT_OF_RESOURCES, format!("{NAME}: the system shares no descriptor: {error}"))
    })?;
    let content = to_bytes(&shared.address());
    retain_handle(seal(PHYSICAL, &physical.state.device, Part::default(), &content), Some(shared), data, size);
    Ok(())
}

/// `urIPCPutPhysMemHandleExp`. No process can open the memory from then on; those that have keep it.
///
/// # Errors
/// As [`take_back`].
pub fn put<D: Driver>(_context: &Object<Context<D>>, data: params::Address) -> Result<()> {
    take_back("urIPCPutPhysMemHandleExp", PHYSICAL, data)
}

/// `urIPCOpenPhysMemHandleExp`.
///
/// # Errors
/// `INVALID_VALUE` for bytes that are no handle data of this adapter, or whose process is gone or
/// gave them back, and for memory of another size than they say; `INVALID_OPERATION` where the kernel does not let this
/// process at the other's descriptors; `INVALID_DEVICE`; what the native library answers.
pub fn open<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    data: &[u8],
    out: Out<'_, ur_physical_mem_handle_t>,
) -> Result<()> {
    const NAME: &str = "urIPCOpenPhysMemHandleExp";
    let address = from_bytes(&unseal::<D>(NAME, PHYSICAL, data)?.handle);
    context.check_member(device)?;
    supported(device)?;
    let descriptor = descriptor::open(&address).map_err(|error| {
        let refused = matches!(error.kind(), std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::Unsupported);
        let code = if refused { ur_result_t::ERROR_INVALID_OPERATION } else { ur_result_t::ERROR_INVALID_VALUE };
        Error::new(code, format!("{NAME}: descriptor {} of process {}: {error}", address.descriptor, address.process))
    })?;
    let state = context.state(device)?;
    // The native library has its own reference, so the descriptor closes when this returns.
    let raw = {
        // Runtimes of HIP import to the current device.
        let _scope = state.enter()?;
        state.driver.import_physical(descriptor.as_raw_fd()).map_err(not_physical_memory)?
    };
    let opened = Object::new(PhysicalMem {
        raw,
        context: context.to_arc(),
        state,
        size: usize::try_from(address.size).unwrap_or(0),
        flags: ur_physical_mem_flags_t::ENABLE_IPC,
        imported: true,
    });
    check_whole(NAME, &opened)?;
    out.write_object(opened);
    Ok(())
}

/// Checks that memory which another process made is as large as that process says. No library tells the size of physical
/// memory, but none maps it with another.
fn check_whole<D: Driver>(name: &str, opened: &PhysicalMem<D>) -> Result<()> {
    let (driver, size) = (opened.state.driver, opened.size);
    check_size(name, driver, &opened.state.device, size).map_err(|error| match error.code() {
        ur_result_t::ERROR_INVALID_SIZE => error.with_code(ur_result_t::ERROR_INVALID_VALUE),
        _ => error,
    })?;
    let address = driver.reserve_addresses(size, 0)?;
    let mapped = driver.map(address, size, 0, &opened.raw);
    let unmapped = if mapped.is_ok() { driver.unmap(address, size) } else { Ok(()) };
    let freed = driver.free_addresses(address, size);
    mapped.map_err(|error| match error.code() {
        ur_result_t::ERROR_INVALID_VALUE | ur_result_t::ERROR_UNSUPPORTED_FEATURE => Error::native(
            ur_result_t::ERROR_INVALID_VALUE,
            name,
            error.native_status(),
            &format!("the memory does not have the {size} bytes that the handle data say"),
        ),
        _ => error,
    })?;
    unmapped.and(freed)
}

/// Native libraries answer a general error to a descriptor that is not physical memory.
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
/// # Errors
/// `INVALID_VALUE` for physical memory of this process's own; `INVALID_CONTEXT` for memory opened in another context.
pub fn close<D: Driver>(context: &Object<Context<D>>, held: Held<PhysicalMem<D>>) -> Result<()> {
    const NAME: &str = "urIPCClosePhysMemHandleExp";
    let opened = held.object();
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
    object::release(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_envelope_holds_comes_out_again() {
        let cookie = *b"sixteen bytes...";
        let address = Address { process: 4_000_000_000, descriptor: 7, certificate: 9, cookie, size: 1 << 40 };
        assert_eq!(from_bytes(&to_bytes(&address)), address);
    }
}
