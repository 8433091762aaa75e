//! Mapped host memory that plays the part of device memory.
//!
//! A region is one mapping with an inaccessible page behind it. It is unmapped when its last owner lets go, never
//! earlier: commands in flight keep what they use mapped, so that even a client's error cannot crash the process.

use core::ptr;
use parking_lot::Mutex;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
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
    /// Where its bytes lie in the process's file, if others may map them.
    offset: Option<u64>,
    /// Whether they stay there for others when this process no longer maps them.
    stays: bool,
}

/// The file that shareable regions are cut from, one for the process: its offsets are never used twice.
struct Arena {
    file: OwnedFd,
    end: u64,
}

static ARENA: Mutex<Option<Arena>> = Mutex::new(None);

/// An anonymous file of that size.
pub fn anonymous_file(name: &core::ffi::CStr, size: u64) -> Option<OwnedFd> {
    // SAFETY: the name is a NUL-terminated string.
    let raw = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if raw < 0 {
        return None;
    }
    // SAFETY: the descriptor was just opened and is nobody else's.
    let file = unsafe { OwnedFd::from_raw_fd(raw) };
    grow(&file, size).then_some(file)
}

fn grow(file: &OwnedFd, size: u64) -> bool {
    // SAFETY: the descriptor is open.
    unsafe { libc::ftruncate(file.as_raw_fd(), size as libc::off_t) == 0 }
}

/// Room in the process's file: its descriptor and the offset.
fn room(size: usize) -> Option<(i32, u64)> {
    let mut arena = ARENA.lock();
    if arena.is_none() {
        *arena = Some(Arena { file: anonymous_file(c"simcuda", 0)?, end: 0 });
    }
    let arena = arena.as_mut()?;
    let offset = arena.end;
    let end = offset.checked_add(size as u64).filter(|&end| end <= i64::MAX as u64)?;
    if !grow(&arena.file, end) {
        return None;
    }
    arena.end = end;
    Some((arena.file.as_raw_fd(), offset))
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
        let region = Region { base: base as u64, mapped, size, offset: None, stays: false };
        // SAFETY: the range lies inside the mapping made above, which nobody else knows yet.
        let opened = unsafe { libc::mprotect(base, usable, libc::PROT_READ | libc::PROT_WRITE) };
        (opened == 0).then(|| Arc::new(region))
    }

    /// Maps `size` bytes of fresh memory that other processes can map too, or nothing if the host has none left.
    pub fn shareable(size: usize) -> Option<Arc<Region>> {
        let mut region = Self::new(size)?;
        let usable = region.mapped - PAGE;
        let (file, offset) = room(usable)?;
        region.show(file, offset)?;
        Arc::get_mut(&mut region)?.offset = Some(offset);
        Some(region)
    }

    /// As [`Region::shareable`], and the bytes stay for those who have mapped them, or still will.
    pub fn shareable_for_good(size: usize) -> Option<Arc<Region>> {
        let mut region = Self::shareable(size)?;
        Arc::get_mut(&mut region)?.stays = true;
        Some(region)
    }

    /// Maps `size` bytes of another process's file.
    pub fn of_file(file: &OwnedFd, offset: u64, size: usize) -> Option<Arc<Region>> {
        let region = Self::new(size)?;
        region.show(file.as_raw_fd(), offset)?;
        Some(region)
    }

    /// Puts a file's bytes in the place of the mapping's own.
    fn show(&self, file: i32, offset: u64) -> Option<()> {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_FIXED);
        let (at, size) = (self.base as *mut libc::c_void, self.mapped - PAGE);
        // SAFETY: the range lies inside of this region's own mapping, which nobody else knows yet.
        let shown = unsafe { libc::mmap(at, size, protection, flags, file, offset as libc::off_t) };
        (shown != libc::MAP_FAILED).then_some(())
    }

    /// What another process needs to map it: the descriptor in this one, and the offset.
    pub fn shared_as(&self) -> Option<(i32, u64)> {
        let arena = ARENA.lock();
        Some((arena.as_ref()?.file.as_raw_fd(), self.offset?))
    }

    /// Takes over a mapping of `size` bytes, to unmap it in its time.
    ///
    /// # Safety
    /// The mapping must be whole and nobody else's.
    pub unsafe fn adopt(base: u64, size: usize) -> Arc<Region> {
        Arc::new(Region { base, mapped: size, size, offset: None, stays: false })
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
        if let (Some(offset), Some(arena)) = (self.offset.filter(|_| !self.stays), ARENA.lock().as_ref()) {
            let hole = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
            let (file, size) = (arena.file.as_raw_fd(), (self.mapped - PAGE) as libc::off_t);
            // SAFETY: the descriptor is open; the bytes are this region's own in the file.
            unsafe { libc::fallocate(file, hole, offset as libc::off_t, size) };
        }
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
