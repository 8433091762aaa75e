//! Semaphores of another API: binary ones, and timelines.
//!
//! A semaphore is a page of a file that whoever has its descriptor maps, in this process or another. Waiting for one is
//! unseen by the order of streams, as waiting for a value in memory is. A wait for what nobody signals ends with its
//! context.

use crate::context::Context;
use crate::external::take_descriptor;
use crate::handles::{self, Registry};
use crate::region::{self, PAGE, Region};
use crate::reports::{self, Kind as Misuse};
use crate::sys::*;
use core::ops::Deref;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::ffi::CStr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

/// All imported semaphores.
pub static SEMAPHORES: Registry<Semaphore> = Registry::new(handles::Kind::ExternalSemaphore);

const BINARY: &CStr = c"simcuda-semaphore-binary";
const TIMELINE: &CStr = c"simcuda-semaphore-timeline";

/// So long a wait sleeps before it looks whether it still makes sense.
static LOOK: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// What all processes map; all zeros at first.
#[repr(C)]
struct Page {
    /// A timeline's value; 1 for a binary semaphore that is signalled.
    value: AtomicU64,
    /// Rung with each signal, for those who sleep.
    bell: AtomicU32,
}

const _: () = assert!(size_of::<Page>() <= PAGE);

/// A semaphore as everybody has it who has its descriptor.
pub struct Shared {
    region: Arc<Region>,
    timeline: bool,
}

impl Shared {
    /// The file of a new semaphore.
    pub fn file(timeline: bool) -> Option<OwnedFd> {
        region::anonymous_file(if timeline { TIMELINE } else { BINARY }, PAGE as u64)
    }

    /// The semaphore behind a descriptor, which stays the caller's.
    pub fn of(descriptor: i32) -> Option<Self> {
        let name = std::fs::read_link(format!("/proc/self/fd/{descriptor}")).ok()?;
        let name = name.to_str()?.strip_prefix("/memfd:")?.strip_suffix(" (deleted)")?.to_owned();
        let timeline = [BINARY, TIMELINE].iter().position(|known| known.to_bytes() == name.as_bytes())? == 1;
        // SAFETY: the descriptor is open, as its name was just read; it is not closed here.
        let file = unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned().ok()?;
        Some(Self { region: Region::of_file(&file, 0, PAGE)?, timeline })
    }

    fn page(&self) -> &Page {
        // SAFETY: the region is a whole page, mapped as long as it lives, and read and written by atomics alone, for which
        // every content is a value.
        unsafe { &*(self.region.base() as *const Page) }
    }

    fn take(&self, value: u64) -> bool {
        let found = &self.page().value;
        match self.timeline {
            true => found.load(Ordering::Acquire) >= value,
            false => found.compare_exchange(1, 0, Ordering::AcqRel, Ordering::Acquire).is_ok(),
        }
    }

    /// Waits as long as `goes_on` says; answers whether the semaphore was reached.
    pub fn wait(&self, value: u64, goes_on: impl Fn() -> bool) -> bool {
        let bell = &self.page().bell;
        loop {
            let heard = bell.load(Ordering::Acquire);
            if self.take(value) {
                return true;
            }
            if !goes_on() {
                return false;
            }
            // SAFETY: the word lies in a mapped page; the call sleeps only while it still holds `heard`.
            unsafe { libc::syscall(libc::SYS_futex, bell.as_ptr(), libc::FUTEX_WAIT, heard, &raw const LOOK) };
        }
    }

    /// Signals it; a signal that is against the rules is reported.
    pub fn signal(&self, value: u64) {
        let page = self.page();
        let before = page.value.fetch_max(if self.timeline { value } else { 1 }, Ordering::AcqRel);
        if self.timeline && before >= value {
            reports::add(Misuse::External, format!("a timeline at {before} is signalled with {value}"));
        } else if !self.timeline && before == 1 {
            reports::add(Misuse::External, "a binary semaphore is signalled twice");
        }
        page.bell.fetch_add(1, Ordering::AcqRel);
        // SAFETY: the word lies in a mapped page; waking nobody is fine.
        unsafe { libc::syscall(libc::SYS_futex, page.bell.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
    }
}

/// An imported semaphore.
pub struct Semaphore {
    /// Its handle.
    pub handle: Handle,
    /// The context it was imported in.
    pub context: Arc<Context>,
    shared: Shared,
}

impl Deref for Semaphore {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

/// Imports the semaphore behind a descriptor.
pub fn import(context: Arc<Context>, described: &CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC) -> Result<Handle> {
    let timeline = match described.kind {
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD => false,
        CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD => true,
        _ => return Err(CUDA_ERROR_NOT_SUPPORTED),
    };
    if described.flags != 0 {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    let shared = Shared::of(described.fd).filter(|found| found.timeline == timeline).ok_or(CUDA_ERROR_UNKNOWN)?;
    drop(take_descriptor(described.fd)?);
    Ok(SEMAPHORES.insert_with(|handle| Semaphore { handle, context, shared }).0)
}

/// The semaphores of a list of handles.
pub fn lookup(handles: &[Handle]) -> Result<Vec<Arc<Semaphore>>> {
    handles.iter().map(|handle| SEMAPHORES.lookup(*handle, CUDA_ERROR_INVALID_HANDLE)).collect()
}

/// Ends an import, whose waits and signals must have completed.
pub fn destroy(handle: Handle) -> Result {
    let semaphore = SEMAPHORES.take(handle, CUDA_ERROR_INVALID_HANDLE)?;
    // Commands hold it until they are done.
    if Arc::strong_count(&semaphore) > 1 {
        reports::add(Misuse::External, "a semaphore is destroyed while commands use it");
    }
    Ok(())
}
