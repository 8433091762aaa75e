//! Device memory of other processes.
//!
//! A handle names the process, its file of shareable memory and the place in it; opening maps the same bytes. As in the
//! real driver the memory itself is opened, wherever in it the handle was asked for, a second opening gives the same
//! address, and a process cannot open its own. Lock order: `OPENED`, then the map of memory.

use crate::clock::Milestone;
use crate::context::Context;
use crate::memory::{self, Allocation, Kind, Make};
use crate::region::Region;
use crate::sys::*;
use parking_lot::Mutex;
use std::fs::OpenOptions;
use std::os::fd::OwnedFd;
use std::sync::Arc;

const MAGIC: u64 = u64::from_le_bytes(*b"simcuIPC");

/// What a handle says: the process, its descriptor, offset and size, the device.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    process: u64,
    file: u64,
    offset: u64,
    size: u64,
    device: u64,
}

impl Place {
    fn to_handle(self) -> CUipcMemHandle {
        let mut bytes = [0; 64];
        let words = [MAGIC, self.process, self.file, self.offset, self.size, self.device];
        for (at, word) in bytes.chunks_exact_mut(8).zip(words) {
            at.copy_from_slice(&word.to_le_bytes());
        }
        CUipcMemHandle { bytes }
    }

    fn of(handle: &CUipcMemHandle) -> Option<Self> {
        let mut words =
            handle.bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()));
        let mut next = || words.next().unwrap_or_default();
        (next() == MAGIC).then(|| Self { process: next(), file: next(), offset: next(), size: next(), device: next() })
    }
}

struct Opened {
    place: Place,
    base: u64,
    count: usize,
}

static OPENED: Mutex<Vec<Opened>> = Mutex::new(Vec::new());

/// The handle of the device memory that an address lies in.
pub fn handle(address: u64) -> Result<CUipcMemHandle> {
    let found = memory::find(address).filter(|found| found.kind == Kind::Device).ok_or(CUDA_ERROR_INVALID_VALUE)?;
    let shared = found.region.as_ref().and_then(|region| region.shared_as());
    let (file, offset) = shared.ok_or(CUDA_ERROR_INVALID_VALUE)?;
    let process = std::process::id().into();
    let device = found.device.unwrap_or(0) as u64;
    Ok(Place { process, file: file as u64, offset, size: found.size as u64, device }.to_handle())
}

/// Opens another process's memory.
pub fn open(context: &Context, handle: &CUipcMemHandle) -> Result<u64> {
    let place = Place::of(handle).ok_or(CUDA_ERROR_INVALID_VALUE)?;
    if place.process == u64::from(std::process::id()) {
        return Err(CUDA_ERROR_INVALID_CONTEXT);
    }
    let mut opened = OPENED.lock();
    if let Some(known) = opened.iter_mut().find(|known| known.place == place) {
        known.count += 1;
        return Ok(known.base);
    }
    // A handle is for the device that the memory lies on.
    if place.device != context.device.ordinal as u64 {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    let path = format!("/proc/{}/fd/{}", place.process, place.file);
    let file: OwnedFd =
        OpenOptions::new().read(true).write(true).open(path).map_err(|_| CUDA_ERROR_INVALID_VALUE)?.into();
    let region = Region::of_file(&file, place.offset, place.size as usize).ok_or(CUDA_ERROR_OUT_OF_MEMORY)?;
    let make = Make {
        base: region.base(),
        size: place.size as usize,
        kind: Kind::Opened,
        device: Some(context.device.ordinal),
        context: context.handle,
        flags: 0,
        pool: None,
        region: Some(region),
    };
    let base = memory::add(make, Milestone::immediate()).base;
    opened.push(Opened { place, base, count: 1 });
    Ok(base)
}

/// Undoes one opening; the last one unmaps the memory.
pub fn close(base: u64) -> Result {
    let mut opened = OPENED.lock();
    let index = opened.iter().position(|known| known.base == base).ok_or(CUDA_ERROR_INVALID_VALUE)?;
    opened[index].count -= 1;
    if opened[index].count == 0 {
        opened.swap_remove(index);
        if let Some(allocation) = memory::starting_at(base, |found| found.kind == Kind::Opened) {
            memory::free_at_once(&allocation);
        }
    }
    Ok(())
}

/// Ends all openings of an allocation, with its context.
pub fn forget(allocation: &Arc<Allocation>) {
    OPENED.lock().retain(|known| known.base != allocation.base);
    memory::free_at_once(allocation);
}
