//! Mapped host memory that plays the part of device memory.
//!
//! A region is one mapping with an inaccessible page behind it. It is unmapped when its last owner lets go, never
//! earlier: commands in flight keep what they use mapped, so that even a client's error cannot crash the process.

use core::ptr;
use std::sync::Arc;

/// The host's page size, which is the granularity of mappings.
pub const PAGE: usize = 4096;

/// One mapping.
#[derive(Debug)]
pub struct Region {
    base: u64,
    mapped: usize,
    /// Bytes that may be used.
    pub size: usize,
}

impl Region {
    /// Maps `size` bytes of fresh memory, or nothing if the host has none left.
    pub fn new(size: usize) -> Option<Arc<Region>> {
        let usable = size.max(1).checked_next_multiple_of(PAGE)?;
        let mapped = usable.checked_add(PAGE)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a fresh mapping at an address of the kernel's choice touches no memory that exists.
        let base = unsafe { libc::mmap(ptr::null_mut(), mapped, libc::PROT_NONE, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return None;
        }
        let region = Region { base: base as u64, mapped, size };
        // SAFETY: the range lies inside the mapping made above, which nobody else knows yet.
        let opened = unsafe { libc::mprotect(base, usable, libc::PROT_READ | libc::PROT_WRITE) };
        (opened == 0).then(|| Arc::new(region))
    }

    /// Takes over a mapping of `size` bytes, to unmap it in its time.
    ///
    /// # Safety
    /// The mapping must be whole and nobody else's.
    pub unsafe fn adopt(base: u64, size: usize) -> Arc<Region> {
        Arc::new(Region { base, mapped: size, size })
    }

    /// Gives the memory behind a stretch of whole pages back to the host; it reads as zeros from then on.
    pub fn discard(&self, offset: u64, len: u64) {
        let end = (offset + len).min(self.size as u64);
        if offset < end && offset.is_multiple_of(PAGE as u64) {
            // SAFETY: the stretch lies inside the region's own mapping, and its content means nothing to anybody.
            unsafe {
                libc::madvise((self.base + offset) as *mut libc::c_void, (end - offset) as usize, libc::MADV_DONTNEED)
            };
        }
    }

    /// Its first address.
    pub fn base(&self) -> u64 {
        self.base
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping is this region's own and nobody holds the region any more.
        unsafe { libc::munmap(self.base as *mut libc::c_void, self.mapped) };
    }
}

/// Byte that freed and fresh memory is filled with.
const POISON: u8 = 0xdb;
/// Longest stretch filled at each end of a block: what is beyond stays as it was, so that large blocks stay cheap.
const POISON_SPAN: usize = 64 << 10;

/// Fills the ends of `[base, base + size)` with a pattern that no client wrote, so that reading it shows.
///
/// # Safety
/// The range must be mapped writable and no work that is ordered before this may still use it.
pub unsafe fn poison(base: u64, size: usize) {
    let head = size.min(POISON_SPAN);
    let tail = (size - head).min(POISON_SPAN);
    // SAFETY: both stretches lie inside the caller's range.
    unsafe {
        ptr::write_bytes(base as *mut u8, POISON, head);
        ptr::write_bytes((base + (size - tail) as u64) as *mut u8, POISON, tail);
    }
}
