//! Addresses without end, for what is a matter of distances: there is memory where somebody looks, and nowhere else.

use core::ffi::c_void;
use core::ptr::null_mut;

/// Zeros that may be read.
pub struct AddressSpace {
    address: *mut c_void,
    bytes: usize,
}

impl AddressSpace {
    /// So many bytes; `None` if the system does not give that many addresses.
    #[must_use]
    pub fn new(bytes: usize) -> Option<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping, wherever the system has room.
        let address = unsafe { libc::mmap(null_mut(), bytes, libc::PROT_READ, flags, -1, 0) };
        (address != libc::MAP_FAILED).then_some(Self { address, bytes })
    }

    /// The first byte.
    #[must_use]
    pub fn pointer(&self) -> *mut c_void {
        self.address
    }
}

impl Drop for AddressSpace {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's, and whoever reads it has ended before.
        unsafe { libc::munmap(self.address, self.bytes) };
    }
}
