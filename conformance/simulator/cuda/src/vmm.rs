//! Virtual memory management: reserved address ranges, physical memory, and mapping one into the other.
//!
//! Physical memory is an anonymous file, so that several mappings of it show the same bytes. Memory that is mapped
//! but that no device was given access to is refused by the map of memory, not by a fault of the process. One lock
//! guards the tables; nothing else is locked while it is held but the map of memory.

use crate::alloc;
use crate::clock::Milestone;
use crate::device;
use crate::handles::{self, Registry};
use crate::memory::{self, Kind, Make};
use crate::region::{self, Region};
use crate::sys::*;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::sync::Arc;

/// Granularity of physical memory and of mappings.
pub const GRANULARITY: usize = 2 << 20;

/// All physical memory that has a handle.
pub static PHYSICAL: Registry<Physical> = Registry::new(handles::Kind::Physical);

/// The bytes behind one or more handles and mappings.
pub struct Backing {
    file: OwnedFd,
    size: usize,
    device: Option<usize>,
    /// Whether its bytes are out of the device's account here; those of an imported one are out of its maker's.
    accounted: bool,
}

impl Drop for Backing {
    fn drop(&mut self) {
        if let Some(ordinal) = self.device.filter(|_| self.accounted) {
            device::all()[ordinal].release(self.size as u64);
        }
    }
}

/// Physical memory by its handle.
pub struct Physical {
    /// Its handle.
    pub handle: Handle,
    /// What it was made with.
    pub prop: CUmemAllocationProp,
    backing: Arc<Backing>,
    references: AtomicU32,
}

// SAFETY: the only non-Send part is the properties' metadata pointer, which is stored and returned but never followed.
unsafe impl Send for Physical {}
// SAFETY: as above.
unsafe impl Sync for Physical {}

struct Mapping {
    size: usize,
    physical: Arc<Backing>,
    prop: CUmemAllocationProp,
    access: BTreeMap<(i32, i32), i32>,
}

#[derive(Default)]
struct Tables {
    reserved: BTreeMap<u64, usize>,
    mapped: BTreeMap<u64, Mapping>,
}

// SAFETY: mappings hold the properties of `Physical`, of which the same is true.
unsafe impl Send for Tables {}

static TABLES: Mutex<Tables> = Mutex::new(Tables { reserved: BTreeMap::new(), mapped: BTreeMap::new() });

fn check_prop(prop: &CUmemAllocationProp) -> Result<Option<usize>> {
    if prop.kind != CU_MEM_ALLOCATION_TYPE_PINNED {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    if prop.requested_handle_types & !CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR != 0 {
        return Err(CUDA_ERROR_NOT_SUPPORTED);
    }
    match prop.location.kind {
        CU_MEM_LOCATION_TYPE_DEVICE => Ok(Some(device::get(prop.location.id)?.ordinal)),
        CU_MEM_LOCATION_TYPE_HOST | CU_MEM_LOCATION_TYPE_HOST_NUMA | CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT => Ok(None),
        _ => Err(CUDA_ERROR_INVALID_VALUE),
    }
}

/// The granularity for properties that physical memory could be made with.
pub fn granularity(prop: &CUmemAllocationProp) -> Result<usize> {
    check_prop(prop).map(|_| GRANULARITY)
}

/// Makes physical memory.
pub fn create(size: usize, prop: &CUmemAllocationProp) -> Result<Handle> {
    let device = check_prop(prop)?;
    if size == 0 || !size.is_multiple_of(GRANULARITY) {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    if let Some(ordinal) = device {
        alloc::reserve(&device::all()[ordinal], size as u64)?;
    }
    let made = memory_file(size, device).map(|file| Arc::new(Backing { file, size, device, accounted: true }));
    let Some(backing) = made else {
        if let Some(ordinal) = device {
            device::all()[ordinal].release(size as u64);
        }
        return Err(CUDA_ERROR_OUT_OF_MEMORY);
    };
    Ok(register(backing, *prop))
}

fn register(backing: Arc<Backing>, prop: CUmemAllocationProp) -> Handle {
    PHYSICAL.insert_with(|handle| Physical { handle, prop, backing, references: AtomicU32::new(1) }).0
}

/// The name before the device's number, by which an importer learns where the memory lies.
const FILE: &str = "simcuda-physical-";

/// The file that memory of a device, or of the host, is made of.
pub fn memory_file(size: usize, device: Option<usize>) -> Option<OwnedFd> {
    let name = device.map_or_else(|| format!("{FILE}host"), |ordinal| format!("{FILE}{ordinal}"));
    region::anonymous_file(&CString::new(name).ok()?, size as u64)
}

/// A descriptor of its own for physical memory that was made to be shared.
pub fn export(handle: Handle, kind: i32) -> Result<i32> {
    let physical = PHYSICAL.lookup(handle, CUDA_ERROR_INVALID_VALUE)?;
    if kind != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || physical.prop.requested_handle_types & kind == 0 {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    let copy = physical.backing.file.try_clone().map_err(|_| CUDA_ERROR_OPERATING_SYSTEM)?;
    Ok(copy.into_raw_fd())
}

/// Device and size of the physical memory behind a descriptor, if it is one of that.
pub fn device_of(descriptor: i32) -> Option<(Option<usize>, usize)> {
    let path = format!("/proc/self/fd/{descriptor}");
    let name = std::fs::read_link(&path).ok()?;
    let place = name.to_str()?.strip_prefix("/memfd:")?.strip_prefix(FILE)?;
    let device = place.split(' ').next().and_then(|ordinal| ordinal.parse::<usize>().ok());
    Some((device, std::fs::metadata(&path).ok()?.len() as usize))
}

/// A handle for the physical memory behind a descriptor, which stays the caller's.
pub fn import(descriptor: i32, kind: i32) -> Result<Handle> {
    if kind != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    // What is no such descriptor, or none at all, is what the real driver knows no better word for.
    let (device, size) = device_of(descriptor).ok_or(CUDA_ERROR_UNKNOWN)?;
    if device.is_some_and(|ordinal| ordinal >= device::all().len()) {
        return Err(CUDA_ERROR_INVALID_DEVICE);
    }
    // SAFETY: the descriptor is open, as it was just looked at; it is not closed here.
    let file = unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned();
    let file = file.map_err(|_| CUDA_ERROR_OPERATING_SYSTEM)?;
    let location = match device {
        Some(ordinal) => CUmemLocation { kind: CU_MEM_LOCATION_TYPE_DEVICE, id: ordinal as i32 },
        None => CUmemLocation { kind: CU_MEM_LOCATION_TYPE_HOST, id: 0 },
    };
    let prop = CUmemAllocationProp {
        kind: CU_MEM_ALLOCATION_TYPE_PINNED,
        requested_handle_types: CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        location,
        win32_handle_meta_data: ptr::null_mut(),
        compression_type: 0,
        gpu_direct_rdma_capable: 0,
        usage: 0,
        reserved: [0; 4],
    };
    Ok(register(Arc::new(Backing { file, size, device, accounted: false }), prop))
}

/// Gives a reference to physical memory back; the memory lives on while it is mapped.
pub fn release(handle: Handle) -> Result {
    let physical = PHYSICAL.lookup(handle, CUDA_ERROR_INVALID_VALUE)?;
    if physical.references.fetch_sub(1, Ordering::AcqRel) == 1 {
        PHYSICAL.remove(handle);
    }
    Ok(())
}

/// A reference to the physical memory mapped at an address.
pub fn retain(address: u64) -> Result<Handle> {
    let tables = TABLES.lock();
    let (_, mapping) = tables.containing(address).ok_or(CUDA_ERROR_INVALID_VALUE)?;
    let known = PHYSICAL.all().into_iter().find(|physical| Arc::ptr_eq(&physical.backing, &mapping.physical));
    if let Some(physical) = known {
        physical.references.fetch_add(1, Ordering::AcqRel);
        return Ok(physical.handle);
    }
    Ok(register(mapping.physical.clone(), mapping.prop))
}

/// Reserves a range of addresses.
pub fn reserve(size: usize, alignment: usize) -> Result<u64> {
    let alignment = alignment.max(GRANULARITY);
    if size == 0 || !size.is_multiple_of(GRANULARITY) || !alignment.is_power_of_two() {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    let whole = size.checked_add(alignment).ok_or(CUDA_ERROR_OUT_OF_MEMORY)?;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a fresh mapping at an address of the kernel's choice.
    let start = unsafe { libc::mmap(ptr::null_mut(), whole, libc::PROT_NONE, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(CUDA_ERROR_OUT_OF_MEMORY);
    }
    let start = start as u64;
    let base = start.next_multiple_of(alignment as u64);
    let (before, after) = ((base - start) as usize, whole - size - (base - start) as usize);
    // SAFETY: both ends lie inside of the mapping just made and outside of the range that is kept.
    unsafe {
        if before > 0 {
            libc::munmap(start as *mut libc::c_void, before);
        }
        if after > 0 {
            libc::munmap((base + size as u64) as *mut libc::c_void, after);
        }
    }
    TABLES.lock().reserved.insert(base, size);
    Ok(base)
}

/// Gives a reserved range back, which must be whole and hold no mapping.
pub fn free(base: u64, size: usize) -> Result {
    let mut tables = TABLES.lock();
    if tables.reserved.get(&base) != Some(&size) || tables.mapped_in(base, size).next().is_some() {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    tables.reserved.remove(&base);
    drop(tables);
    memory::forget(&(base..base + size as u64));
    // SAFETY: the reservation was this module's and is in no table any more.
    memory::retire_region(unsafe { Region::adopt(base, size) });
    Ok(())
}

/// Maps physical memory at an address inside of a reserved range.
pub fn map(base: u64, size: usize, offset: usize, handle: Handle) -> Result {
    let physical = PHYSICAL.lookup(handle, CUDA_ERROR_INVALID_VALUE)?;
    let aligned = base.is_multiple_of(GRANULARITY as u64) && size.is_multiple_of(GRANULARITY) && size > 0;
    if !aligned {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    // The real driver maps whole physical allocations from their start alone.
    if offset != 0 || size != physical.backing.size {
        return Err(CUDA_ERROR_NOT_SUPPORTED);
    }
    let mut tables = TABLES.lock();
    let inside = tables
        .reserved
        .range(..=base)
        .next_back()
        .is_some_and(|(&start, &len)| base + size as u64 <= start + len as u64);
    if !inside || tables.mapped_in(base, size).next().is_some() {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    remap(base, size, Some(&physical.backing.file)).ok_or(CUDA_ERROR_MAP_FAILED)?;
    memory::forget(&(base..base + size as u64));
    let make = Make {
        base,
        size,
        kind: Kind::Mapped,
        device: physical.backing.device,
        context: 0,
        flags: 0,
        pool: None,
        region: None,
    };
    memory::add(make, Milestone::immediate());
    let (backing, prop) = (physical.backing.clone(), physical.prop);
    tables.mapped.insert(base, Mapping { size, physical: backing, prop, access: BTreeMap::new() });
    Ok(())
}

/// Puts a file's bytes, or fresh zeros, at addresses of a reservation. Zeros take the place of what is unmapped, so
/// that work still in flight touches nothing else's memory.
fn remap(base: u64, size: usize, file: Option<&OwnedFd>) -> Option<()> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let (flags, raw) = match file {
        Some(file) => (libc::MAP_SHARED | libc::MAP_FIXED, file.as_raw_fd()),
        None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED, -1),
    };
    // SAFETY: the addresses lie inside of a reservation of this module, checked by the callers.
    let mapped = unsafe { libc::mmap(base as *mut libc::c_void, size, protection, flags, raw, 0) };
    (mapped != libc::MAP_FAILED).then_some(())
}

/// Unmaps all mappings in a range, which must cover them exactly. As the real driver does, it says yes to a range that is
/// reserved and holds no mapping.
pub fn unmap(base: u64, size: usize) -> Result {
    let mut tables = TABLES.lock();
    let inside: Vec<(u64, usize)> = tables.mapped_in(base, size).map(|(&at, mapping)| (at, mapping.size)).collect();
    let covered: usize = inside.iter().map(|(_, size)| size).sum();
    let reserved = || {
        let found = tables.reserved.range(..=base).next_back();
        found.is_some_and(|(&start, &len)| base + size as u64 <= start + len as u64)
    };
    if size != 0 && inside.is_empty() && reserved() {
        return Ok(());
    }
    if size == 0 || covered != size || inside[0].0 != base {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    for (at, size) in inside {
        tables.mapped.remove(&at);
        if let Some(allocation) = memory::starting_at(at, |found| found.kind == Kind::Mapped) {
            memory::free_at_once(&allocation);
        }
        remap(at, size, None).ok_or(CUDA_ERROR_UNMAP_FAILED)?;
    }
    Ok(())
}

/// Sets who may touch the mappings in a range.
pub fn set_access(base: u64, size: usize, accesses: &[CUmemAccessDesc]) -> Result {
    for access in accesses {
        if access.location.kind == CU_MEM_LOCATION_TYPE_DEVICE {
            device::get(access.location.id)?;
        }
        if !matches!(access.flags, 0 | CU_MEM_ACCESS_FLAGS_PROT_READ | CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
    }
    let mut tables = TABLES.lock();
    let covered: usize = tables.mapped_in(base, size).map(|(_, mapping)| mapping.size).sum();
    if size == 0 || covered != size {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    for (_, mapping) in tables.mapped.range_mut(base..base + size as u64) {
        for access in accesses {
            mapping.access.insert((access.location.kind, access.location.id), access.flags);
        }
    }
    Ok(())
}

/// What a location may do with the memory at an address.
pub fn access(location: CUmemLocation, address: u64) -> Result<i32> {
    let tables = TABLES.lock();
    let (_, mapping) = tables.containing(address).ok_or(CUDA_ERROR_INVALID_VALUE)?;
    Ok(mapping.access.get(&(location.kind, location.id)).copied().unwrap_or(0))
}

/// Whether a device's kernels may touch the mapping at `base`.
pub fn accessible(base: u64, device: usize) -> bool {
    let key = (CU_MEM_LOCATION_TYPE_DEVICE, device as i32);
    TABLES.lock().mapped.get(&base).is_some_and(|mapping| mapping.access.get(&key).is_some_and(|&flags| flags != 0))
}

/// Whether anybody may.
pub fn accessible_by_any(base: u64) -> bool {
    TABLES.lock().mapped.get(&base).is_some_and(|mapping| mapping.access.values().any(|&flags| flags != 0))
}

/// The reservation around an address: the real driver calls it the range of every mapping in it.
pub fn reservation(address: u64) -> Option<(u64, usize)> {
    let tables = TABLES.lock();
    let (&base, &size) = tables.reserved.range(..=address).next_back()?;
    (address - base < size as u64).then_some((base, size))
}

/// Number of reserved ranges.
pub fn reservations() -> usize {
    TABLES.lock().reserved.len()
}

impl Tables {
    fn mapped_in(&self, base: u64, size: usize) -> impl Iterator<Item = (&u64, &Mapping)> {
        let end = base.saturating_add(size as u64);
        let before =
            self.mapped.range(..base).next_back().filter(move |(at, mapping)| **at + mapping.size as u64 > base);
        before.into_iter().chain(self.mapped.range(base..end))
    }

    fn containing(&self, address: u64) -> Option<(&u64, &Mapping)> {
        self.mapped.range(..=address).next_back().filter(|(base, mapping)| address - **base < mapping.size as u64)
    }
}
