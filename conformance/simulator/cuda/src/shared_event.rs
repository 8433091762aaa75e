//! The part of an event that several processes see.
//!
//! It is a page of the process's file of shareable memory, which each process that opens the event maps: how many records
//! the event was given, by whichever process, and which of the latest were reached. A wait is for the record that was the
//! last one when it began, whoever made it. What another process's work came after nobody here can know, so such waits
//! teach no order. As in the real driver the page outlives the event that it was made with, a record of a process that
//! died is never reached, and a stream of another device cannot wait for the event: there the real driver crashes.

use crate::region::{PAGE, Region};
use crate::sys::*;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::fs::OpenOptions;
use std::os::fd::OwnedFd;
use std::sync::Arc;

const MAGIC: u64 = u64::from_le_bytes(*b"simcuEVT");
/// Records whose ends are told apart.
const SLOTS: usize = 256;

/// What all processes map; all zeros at first.
#[repr(C)]
struct Page {
    given: AtomicU64,
    /// Rung with each end, for those who sleep.
    bell: AtomicU32,
    /// Number of the latest record reached, of those with the same remainder.
    reached: [AtomicU64; SLOTS],
}

const _: () = assert!(size_of::<Page>() <= PAGE);

/// An event's records in all processes.
pub struct SharedRecords {
    region: Arc<Region>,
    /// What another process opens it by.
    place: Place,
}

/// What a handle says: the process, its descriptor and the offset.
#[derive(Clone, Copy)]
struct Place {
    process: u64,
    file: u64,
    offset: u64,
}

impl SharedRecords {
    /// The page of a new event.
    pub fn new() -> Result<Arc<Self>> {
        let region = Region::shareable_for_good(PAGE).ok_or(CUDA_ERROR_OUT_OF_MEMORY)?;
        let (file, offset) = region.shared_as().ok_or(CUDA_ERROR_OUT_OF_MEMORY)?;
        let place = Place { process: std::process::id().into(), file: file as u64, offset };
        Ok(Arc::new(Self { region, place }))
    }

    /// The page of another process's event.
    pub fn open(handle: &CUipcEventHandle) -> Result<Arc<Self>> {
        let mut words =
            handle.bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()));
        let mut next = || words.next().unwrap_or_default();
        if next() != MAGIC {
            return Err(CUDA_ERROR_MAP_FAILED);
        }
        let place = Place { process: next(), file: next(), offset: next() };
        if place.process == u64::from(std::process::id()) {
            return Err(CUDA_ERROR_INVALID_CONTEXT);
        }
        let path = format!("/proc/{}/fd/{}", place.process, place.file);
        let file: OwnedFd =
            OpenOptions::new().read(true).write(true).open(path).map_err(|_| CUDA_ERROR_MAP_FAILED)?.into();
        let region = Region::of_file(&file, place.offset, PAGE).ok_or(CUDA_ERROR_OUT_OF_MEMORY)?;
        Ok(Arc::new(Self { region, place }))
    }

    /// What another process opens it by.
    pub fn handle(&self) -> CUipcEventHandle {
        let mut bytes = [0; 64];
        let Place { process, file, offset } = self.place;
        for (at, word) in bytes.chunks_exact_mut(8).zip([MAGIC, process, file, offset]) {
            at.copy_from_slice(&word.to_le_bytes());
        }
        CUipcEventHandle { bytes }
    }

    fn page(&self) -> &Page {
        // SAFETY: the region is a whole page, mapped as long as it lives, and read and written by atomics alone, for which
        // every content is a value.
        unsafe { &*(self.region.base() as *const Page) }
    }

    /// Counts a record, and answers its number, from 1.
    pub fn give(&self) -> u64 {
        self.page().given.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// The number of the latest record, 0 before the first.
    pub fn given(&self) -> u64 {
        self.page().given.load(Ordering::Acquire)
    }

    fn slot(&self, number: u64) -> &AtomicU64 {
        &self.page().reached[number as usize % SLOTS]
    }

    /// A stream of this process got to that record.
    pub fn reach(&self, number: u64) {
        self.slot(number).fetch_max(number, Ordering::AcqRel);
        let bell = &self.page().bell;
        bell.fetch_add(1, Ordering::AcqRel);
        // SAFETY: the word lies in a mapped page; waking nobody is fine.
        unsafe { libc::syscall(libc::SYS_futex, bell.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
    }

    /// Whether a stream got to that record.
    pub fn is_reached(&self, number: u64) -> bool {
        self.slot(number).load(Ordering::Acquire) >= number
    }

    /// Whether a stream got to that record, and to none after it that has the same slot.
    pub fn was_last_to_reach(&self, number: u64) -> bool {
        self.slot(number).load(Ordering::Acquire) == number
    }

    /// Blocks until a stream gets to that record.
    pub fn wait(&self, number: u64) {
        let bell = &self.page().bell;
        loop {
            let heard = bell.load(Ordering::Acquire);
            if self.is_reached(number) {
                return;
            }
            let forever = core::ptr::null::<libc::timespec>();
            // SAFETY: the word lies in a mapped page; the call sleeps only while it still holds `heard`.
            unsafe { libc::syscall(libc::SYS_futex, bell.as_ptr(), libc::FUTEX_WAIT, heard, forever) };
        }
    }
}
