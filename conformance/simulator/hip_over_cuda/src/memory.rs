//! Allocations and what is known of pointers.
//!
//! CUDA keeps the memory; this module keeps the flags that HIP's host allocations were made with, which CUDA does not
//! know and HIP tells, and answers questions about pointers without a current context.

use core::ffi::{c_int, c_uint, c_void};
use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::current::Scope;
use crate::device;
use crate::sys::layout::hipPointerAttribute_t;
use crate::sys::status::*;
use crate::sys::value::enumerator::hipInvalidDeviceId;
use crate::sys::value::flag::*;
use crate::sys::value::flag7::*;
use crate::sys::value::memory_type::*;

/// `CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP`, and the same of registered memory: in HIP every device
/// reaches host memory.
const PORTABLE_MAPPED: c_uint = 1 | 2;
/// `CU_MEMHOSTALLOC_WRITECOMBINED`.
const WRITE_COMBINED: c_uint = 4;

/// A host block by its first byte.
struct HostBlock {
    size: usize,
    flags: c_uint,
    origin: Origin,
}

/// Where a host block comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Allocated,
    /// It is the process's own.
    Registered,
    /// It is the process's own, and CUDA knows another registration that it reaches into.
    Overlapping,
}

static HOST: Mutex<BTreeMap<usize, HostBlock>> = Mutex::new(BTreeMap::new());

/// What `ask` says of the host block that an address lies in.
fn host_block<R>(address: usize, ask: impl FnOnce(&HostBlock) -> R) -> Option<R> {
    let blocks = HOST.lock();
    let (base, block) = blocks.range(..=address).next_back()?;
    (address - base < block.size).then(|| ask(block))
}

/// The flags of the host block that an address lies in.
pub fn host_flags(address: usize) -> Option<c_uint> {
    host_block(address, |block| block.flags)
}

/// Whether an address lies in registered memory.
pub fn is_registered(address: usize) -> bool {
    host_block(address, |block| block.origin != Origin::Allocated).unwrap_or(false)
}

/// So far from the host's address a device has registered memory that is apart.
pub const APART: usize = 1 << 46;

/// Whether an address lies in registered memory and devices have that elsewhere, as on those of AMD's systems that do not share the
/// process's page tables. No kernel can read it there.
pub fn is_apart(address: usize) -> bool {
    std::env::var_os("HIP_ON_CUDA_REGISTERED").is_some_and(|value| value == "apart") && is_registered(address)
}

/// Device memory; nothing for no bytes.
pub fn allocate(size: usize) -> Result<usize> {
    let _scope = Scope::here()?;
    let mut address = 0;
    if size > 0 {
        cu!(memory_allocate(&raw mut address, size))?;
    }
    Ok(address)
}

/// Host memory; nothing for no bytes.
pub fn allocate_host(size: usize, flags: c_uint) -> Result<usize> {
    const COHERENCE: c_uint = hipHostMallocCoherent | hipHostMallocNonCoherent;
    const KNOWN: c_uint = hipHostMallocPortable
        | hipHostMallocMapped
        | hipHostMallocWriteCombined
        | hipHostMallocNumaUser
        | hipHostMallocUncached
        | COHERENCE;
    if flags & !KNOWN != 0 || flags & COHERENCE == COHERENCE {
        return Err(hipErrorInvalidValue);
    }
    let _scope = Scope::here()?;
    let mut address = 0;
    if size > 0 {
        cu!(memory_allocate_host(&raw mut address, size, PORTABLE_MAPPED | flags & WRITE_COMBINED))?;
        HOST.lock().insert(address, HostBlock { size, flags, origin: Origin::Allocated });
    }
    Ok(address)
}

/// Frees host memory. The note goes first: the address may be given out again as soon as it is free.
pub fn free_host(address: usize) -> Result {
    device::all()?;
    if address == 0 {
        return Ok(());
    }
    forgetting(address, || cu!(memory_free_host(address)))
}

/// Makes memory of the process reachable for the devices.
pub fn register(address: usize, size: usize, flags: c_uint) -> Result {
    const KNOWN: c_uint = hipHostRegisterPortable
        | hipHostRegisterMapped
        | hipHostRegisterIoMemory
        | hipExtHostRegisterCoarseGrained
        | hipExtHostRegisterUncached;
    if address == 0 || size == 0 || flags & !KNOWN != 0 {
        return Err(hipErrorInvalidValue);
    }
    let _scope = Scope::here()?;
    let origin = match cu!(memory_register(address, size, PORTABLE_MAPPED | flags & hipHostRegisterIoMemory)) {
        Ok(()) => Origin::Registered,
        // AMD's runtime registers whatever begins elsewhere.
        Err(hipErrorHostMemoryAlreadyRegistered) if !is_registered(address) => Origin::Overlapping,
        Err(error) => return Err(error),
    };
    HOST.lock().insert(address, HostBlock { size, flags, origin });
    Ok(())
}

/// Ends a registration. As in AMD's runtime, allocated memory is ended too, which frees it.
pub fn unregister(address: usize) -> Result {
    let _scope = Scope::here()?;
    let origin = HOST.lock().get(&address).map(|block| block.origin);
    forgetting(address, || match origin {
        Some(Origin::Allocated) => cu!(memory_free_host(address)),
        Some(Origin::Overlapping) => Ok(()),
        Some(Origin::Registered) | None => cu!(memory_unregister(address)),
    })
}

/// Runs what ends a host block, without the block's note, which comes back if that fails.
fn forgetting(address: usize, end: impl FnOnce() -> Result) -> Result {
    let noted = HOST.lock().remove(&address);
    let result = end();
    if let (Err(_), Some(block)) = (&result, noted) {
        HOST.lock().insert(address, block);
    }
    result
}

/// Managed memory.
pub fn allocate_managed(size: usize, flags: c_uint) -> Result<usize> {
    if size == 0 || (flags != hipMemAttachGlobal && flags != hipMemAttachHost) {
        return Err(hipErrorInvalidValue);
    }
    let _scope = Scope::here()?;
    let mut address = 0;
    cu!(memory_allocate_managed(&raw mut address, size, flags))?;
    Ok(address)
}

/// Rows of device memory, each beginning on a good boundary: address and pitch.
pub fn allocate_pitch(width: usize, height: usize, element: c_uint) -> Result<(usize, usize)> {
    if width == 0 || height == 0 {
        return Err(hipErrorInvalidValue);
    }
    let _scope = Scope::here()?;
    let (mut address, mut pitch) = (0, 0);
    cu!(memory_allocate_pitch(&raw mut address, &raw mut pitch, width, height, element))?;
    Ok((address, pitch))
}

/// What the driver knows of a pointer.
pub struct Known {
    /// A `hipMemoryType`.
    pub memory: c_uint,
    /// The ordinal of the device, negative when there is none.
    pub device: c_int,
    /// First byte of the allocation.
    pub base: usize,
    /// Its size.
    pub size: usize,
    /// The address for devices.
    pub device_pointer: usize,
}

/// What the driver knows of a pointer; `None` for one that is not the driver's.
pub fn known(address: usize) -> Result<Option<Known>> {
    // MEMORY_TYPE, IS_MANAGED, DEVICE_ORDINAL, RANGE_START_ADDR, RANGE_SIZE, DEVICE_POINTER
    const ASKED: [c_int; 6] = [2, 8, 9, 11, 12, 3];
    let mut answers = [0_u64; ASKED.len()];
    let slots = answers.each_mut().map(|answer| core::ptr::from_mut(answer).cast::<c_void>());
    cu!(pointer_attributes(6, ASKED.as_ptr(), slots.as_ptr(), address))?;
    let [memory, managed, device, base, size, device_pointer] = answers;
    let memory = match memory {
        0 => return Ok(None),
        _ if managed & 0xff != 0 => hipMemoryTypeManaged,
        other => memory_type(c_uint::try_from(other).unwrap_or(0)),
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "an `int` in 8 bytes; addresses")]
    Ok(Some(Known {
        memory,
        device: device as u32 as c_int,
        base: base as usize,
        size: size as usize,
        device_pointer: device_pointer as usize,
    }))
}

/// HIP's number of a CUDA memory type.
pub fn memory_type(cuda: c_uint) -> c_uint {
    match cuda {
        1 => hipMemoryTypeHost,
        2 => hipMemoryTypeDevice,
        3 => hipMemoryTypeArray,
        4 => hipMemoryTypeUnified,
        _ => hipMemoryTypeUnregistered,
    }
}

/// The answer of `hipPointerGetAttributes`; by ROCm 7's rule a pointer from elsewhere is unregistered and no error.
pub fn attributes(address: usize) -> Result<hipPointerAttribute_t> {
    device::all()?;
    let pointer = |address| core::ptr::with_exposed_provenance_mut::<c_void>(address);
    let Some(known) = known(address)? else {
        return Ok(hipPointerAttribute_t {
            r#type: hipMemoryTypeUnregistered,
            device: hipInvalidDeviceId,
            devicePointer: core::ptr::null_mut(),
            hostPointer: pointer(address),
            isManaged: 0,
            allocationFlags: 0,
        });
    };
    let on_host = known.memory == hipMemoryTypeHost || known.memory == hipMemoryTypeManaged;
    Ok(hipPointerAttribute_t {
        r#type: known.memory,
        device: known.device,
        devicePointer: pointer(if known.device_pointer == 0 { address } else { known.device_pointer }),
        hostPointer: if on_host { pointer(address) } else { core::ptr::null_mut() },
        isManaged: (known.memory == hipMemoryTypeManaged).into(),
        allocationFlags: host_flags(address).unwrap_or(0),
    })
}
