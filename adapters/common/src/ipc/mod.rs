//! Device memory for other processes and other APIs, and what comes from them.
//!
//! An application carries a small envelope of bytes to the other process: the adapter, the device, and the native handle. A
//! list has the envelopes that the application holds, so the second return of one is refused and frees nothing.

pub mod descriptor;
pub mod event;
pub mod external_memory;
pub mod external_semaphore;
pub mod external_timeline;
pub mod memory_export;
pub mod physical;
pub mod timeline;

use core::ffi::c_void;
use std::collections::BTreeMap;

use parking_lot::Mutex;
use ur_ffi::ur_result_t;

use crate::context::Context;
use crate::device::Device;
use crate::device::native_context::imported::{self, Imported};
use crate::device::native_context::owned;
use crate::driver::{Driver, IpcHandle, MemoryKind, PointerInfo};
use crate::ipc::descriptor::Shared;
use crate::object::error::{Error, Result};
use crate::object::params::{Address, Out};
use crate::object::{Object, null_pointer};
use crate::pool::extent::plain_around;

/// Bytes of an envelope: 8 that tell what is in it, the backend, 16 that name the device, 64 of content, and 16 that tell
/// which part of what the content names is meant.
pub const ENVELOPE: usize = 112;
/// Where the device's name begins.
const DEVICE: usize = 16;
/// Where the content begins.
const CONTENT: usize = 32;
/// Where offset and size of the part begin.
const PART: usize = 96;
const MEMORY: [u8; 8] = *b"URIPCMEM";

/// An envelope that the application holds, and this process's descriptor that its content names.
struct Lent {
    bytes: Box<[u8; ENVELOPE]>,
    _descriptor: Option<Shared>,
}

static LENT: Mutex<BTreeMap<usize, Lent>> = Mutex::new(BTreeMap::new());

/// The part of what a native handle names that is meant; all of it has no bytes here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Where it begins.
    pub offset: usize,
    /// How long it is.
    pub size: usize,
}

/// What an envelope holds.
pub struct Content {
    device: [u8; 16],
    /// The part that is meant.
    pub part: Part,
    /// The native handle.
    pub handle: IpcHandle,
}

impl Content {
    /// Whether the envelope names that device. Processes may number devices differently.
    pub fn is_of<D: Driver>(&self, device: &Device<D>) -> bool {
        self.device == name_of(device)
    }
}

/// A device's name in every process; zeros where the library tells none.
fn name_of<D: Driver>(device: &Device<D>) -> [u8; 16] {
    device.properties.uuid.unwrap_or_default()
}

/// Makes an envelope.
pub fn seal<D: Driver>(kind: [u8; 8], device: &Device<D>, part: Part, content: &IpcHandle) -> [u8; ENVELOPE] {
    let mut bytes = [0; ENVELOPE];
    bytes[..8].copy_from_slice(&kind);
    bytes[8..12].copy_from_slice(&D::BACKEND.0.to_ne_bytes());
    bytes[DEVICE..CONTENT].copy_from_slice(&name_of(device));
    bytes[CONTENT..PART].copy_from_slice(content);
    bytes[PART..PART + 8].copy_from_slice(&(part.offset as u64).to_ne_bytes());
    bytes[PART + 8..].copy_from_slice(&(part.size as u64).to_ne_bytes());
    bytes
}

/// The content of an envelope.
///
/// # Errors
/// `INVALID_VALUE` for bytes that are no envelope of this kind and backend.
pub fn unseal<D: Driver>(name: &str, kind: [u8; 8], bytes: &[u8]) -> Result<Content> {
    let is_envelope = bytes.len() == ENVELOPE && bytes[..8] == kind && bytes[8..12] == D::BACKEND.0.to_ne_bytes();
    // Only memory has parts.
    if !is_envelope || (kind != MEMORY && bytes[PART..] != [0; ENVELOPE - PART]) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{name}: the {} bytes are no handle data of this adapter", bytes.len()),
        ));
    }
    let number = |at: usize| {
        let mut number = [0; 8];
        number.copy_from_slice(&bytes[at..at + 8]);
        usize::try_from(u64::from_ne_bytes(number)).unwrap_or(usize::MAX)
    };
    let part = Part { offset: number(PART), size: number(PART + 8) };
    let mut content = Content { device: [0; 16], part, handle: [0; 64] };
    content.device.copy_from_slice(&bytes[DEVICE..CONTENT]);
    content.handle.copy_from_slice(&bytes[CONTENT..PART]);
    Ok(content)
}

/// Keeps an envelope for the application until [`take_back`].
pub fn retain_handle(
    bytes: [u8; ENVELOPE],
    descriptor: Option<Shared>,
    data: Out<'_, *mut c_void>,
    size: Out<'_, usize>,
) {
    let bytes = Box::new(bytes);
    let pointer = bytes.as_ptr().cast_mut().cast::<c_void>();
    LENT.lock().insert(pointer.addr(), Lent { bytes, _descriptor: descriptor });
    data.write(pointer);
    size.write(ENVELOPE);
}

/// Takes an envelope of that kind back from the application.
///
/// # Errors
/// `INVALID_VALUE` for a pointer that is not such an envelope, or one that was given back.
pub fn take_back(name: &str, kind: [u8; 8], data: Address) -> Result<()> {
    let mut lent = LENT.lock();
    let known = lent.get(&data.addr()).is_some_and(|found| found.bytes[..8] == kind);
    let taken = if known { lent.remove(&data.addr()) } else { None };
    drop(lent);
    // Closes its descriptor, without the lock.
    taken.map(drop).ok_or_else(|| {
        Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!(
                "{name}: {:p} is no handle data that this process was given, or it is given back already",
                data.as_ptr()
            ),
        )
    })
}

/// `urIPCGetMemHandleExp`, for device memory from `urUSMDeviceAlloc` without a pool and with the library's own alignment. No
/// native library shares host memory, shared memory or memory of such pools in this way.
///
/// # Errors
/// `INVALID_NULL_POINTER` without both outputs; `INVALID_VALUE` for a pointer that is not the start of such an allocation;
/// what the native library answers.
pub fn get<D: Driver>(
    context: &Object<Context<D>>,
    memory: Address,
    data: Option<Out<'_, *mut c_void>>,
    size: Option<Out<'_, usize>>,
) -> Result<()> {
    const NAME: &str = "urIPCGetMemHandleExp";
    let (Some(data), Some(size)) = (data, size) else { return Err(null_pointer(NAME)) };
    let driver = crate::device::adapter::driver::<D>()?;
    let (info, part) = named(driver, context, memory.addr())?;
    let plain = info.filter(|info| info.kind == MemoryKind::Device && info.pool.is_none());
    let native = plain.as_ref().map_or(0, |info| info.base);
    let owner = plain.and_then(|info| context.devices().find(|device| device.raw == info.device));
    let device = owner.ok_or_else(|| {
        Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!(
                "{NAME}: {:p} is not the start of device memory of the context's devices that came from \
                 urUSMDeviceAlloc without a pool",
                memory.as_ptr()
            ),
        )
    })?;
    let state = context.state(device)?;
    let handle = {
        let _scope = state.enter()?;
        driver.ipc_handle(native)?
    };
    retain_handle(seal(MEMORY, device, part, &handle), None, data, size);
    Ok(())
}

/// The native allocation that an address is the start of, or of a part of, and that part.
fn named<D: Driver>(driver: &D, context: &Context<D>, address: usize) -> Result<(Option<PointerInfo<D>>, Part)> {
    let Some(Ok((heap, live))) = plain_around(context, address) else {
        // The first block of a slab begins where that does, and is a pool's.
        let info = driver.pointer_info(address)?.filter(|info| info.base == address && !owned::contains(address));
        return Ok((info, Part::default()));
    };
    let slab = heap.native_around(address).filter(|_| live.start == address && !live.label.is_internal());
    let part = Part { offset: address - slab.map_or(address, |slab| slab.base), size: live.size };
    let info = slab.map(|slab| PointerInfo {
        kind: live.label.kind(),
        base: slab.base,
        size: slab.bytes,
        device: heap.device.raw,
        pool: None,
    });
    Ok((info, part))
}

/// `urIPCPutMemHandleExp`. Processes that have opened the memory keep it.
///
/// # Errors
/// As [`take_back`].
pub fn put<D: Driver>(_context: &Object<Context<D>>, data: Address) -> Result<()> {
    take_back("urIPCPutMemHandleExp", MEMORY, data)
}

/// `urIPCOpenMemHandleExp`. Each opening needs a close of its own.
///
/// # Errors
/// `INVALID_VALUE` for bytes that are no handle data of this adapter, memory that is gone, or
/// memory of this very process, which has its address; `INVALID_DEVICE` for a device of another context.
pub fn open<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    data: &[u8],
    out: Out<'_, *mut c_void>,
) -> Result<()> {
    const NAME: &str = "urIPCOpenMemHandleExp";
    let content = unseal::<D>(NAME, MEMORY, data)?;
    let state = context.state(device)?;
    let _scope = state.enter()?;
    let address = state.driver.open_ipc(&content.handle).map_err(|error| match error.code() {
        // The library answers this to a process that opens its own memory, with the device's context current.
        ur_result_t::ERROR_INVALID_CONTEXT => Error::native(
            ur_result_t::ERROR_INVALID_VALUE,
            NAME,
            error.native_status(),
            "the memory is this process's own; use its address",
        ),
        _ => error,
    })?;
    let opened = state.driver.pointer_info(address).map(|info| info.map_or(0, |info| info.size));
    let opened = opened.inspect_err(|_| drop(state.driver.close_ipc(address)))?;
    let all = Part { offset: 0, size: opened };
    let Part { offset, size } = if content.part.size == 0 { all } else { content.part };
    // The bytes may have been changed on their way.
    if offset.checked_add(size).is_none_or(|end| end > opened) {
        let _ = state.driver.close_ipc(address);
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{NAME}: {size} bytes at {offset} are no part of the {opened} bytes that the handle data name"),
        ));
    }
    imported::add(Imported { start: address + offset, size, base: address });
    out.write_address(address + offset);
    Ok(())
}

/// `urIPCCloseMemHandleExp`. The application has waited for every command that uses the memory.
///
/// # Errors
/// `INVALID_VALUE` for memory that was not opened, or is closed already.
pub fn close<D: Driver>(context: &Object<Context<D>>, memory: Address) -> Result<()> {
    const NAME: &str = "urIPCCloseMemHandleExp";
    let driver = crate::device::adapter::driver::<D>()?;
    let imported = imported::around(memory.addr()).filter(|block| block.start == memory.addr());
    let native = imported.map_or(memory.addr(), |block| block.base);
    let info = driver.pointer_info(native)?.filter(|info| info.base == native);
    let owner = info.and_then(|info| context.devices().find(|device| device.raw == info.device));
    let device = owner.ok_or_else(|| {
        Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{NAME}: {:p} was not opened on the context's devices", memory.as_ptr()),
        )
    })?;
    let state = context.state(device)?;
    let _scope = state.enter()?;
    if imported.is_some() {
        // Before the native library may give the address out again.
        imported::remove(memory.addr());
    }
    driver.close_ipc(native).inspect_err(|_| {
        if let Some(block) = imported {
            imported::add(block);
        }
    })
}
