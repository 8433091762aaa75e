//! Native memory of the process that is no allocation of the application's: what the engine made for itself and frees itself
//! (of buffers, of staging, of pinned words), exportable memory, and mappings of physical memory.
//!
//! The native library does not tell them from the application's, so whoever is given an address to free or to own asks here.
//! Blocks of heaps and slabs are not among them: heaps know their own. A leaf lock, written where native memory comes and goes;
//! whoever asks is about to make a native call as well.

use std::collections::HashSet;
use std::sync::LazyLock;

use parking_lot::Mutex;

use crate::device::deferred;
use crate::driver::{Driver, MemoryKind};

/// The first bytes.
static STARTS: LazyLock<Mutex<HashSet<usize>>> = LazyLock::new(Mutex::default);

/// Notes some, before anybody can be told its address.
pub fn add(start: usize) {
    STARTS.lock().insert(start);
}

/// Forgets one, before it goes back to the native library, which may give its address out again.
pub fn remove(start: usize) {
    STARTS.lock().remove(&start);
}

/// Whether one starts here.
#[must_use]
pub fn starts_at(address: usize) -> bool {
    STARTS.lock().contains(&address)
}

/// Frees pinned memory that was noted, on this thread, which may wait for the device.
pub fn free_pinned<D: Driver>(driver: &D, start: usize) {
    remove(start);
    // Nobody is left to tell.
    let _ = deferred::free_now(driver, MemoryKind::Host, start);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allocation_is_known_by_its_start_until_it_goes_back() {
        const START: usize = 0x7777_2000_0000;
        add(START);
        assert_eq!([START - 1, START, START + 1].map(starts_at), [false, true, false]);
        remove(START);
        assert!(!starts_at(START));
    }
}
