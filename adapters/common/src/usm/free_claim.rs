//! Who frees a native allocation.
//!
//! The engine keeps no registry of such allocations: it asks the native library what an address is, and then frees it. Two
//! threads that free the same address at one time would both be told that it is an allocation, and a native library need not
//! survive the second free (CUDA 13.0 does not). So a thread claims the address before it asks. Must never be held while
//! anything but that one allocation is asked about or freed, and the list's lock never over a native call.

use parking_lot::Mutex;

/// So many that threads which free different addresses rarely meet in one.
const LISTS: usize = 16;

/// The addresses that are being freed.
static CLAIMED: [Mutex<Vec<usize>>; LISTS] = [const { Mutex::new(Vec::new()) }; LISTS];

fn list(address: usize) -> &'static Mutex<Vec<usize>> {
    // Native allocations are aligned to 512 bytes, large ones to 2 MiB.
    &CLAIMED[(address >> 9 ^ address >> 21) % LISTS]
}

/// An address that this thread alone may free.
pub(super) struct FreeClaim(usize);

impl FreeClaim {
    /// The claim; `None` while another thread frees the address.
    pub(super) fn of(address: usize) -> Option<Self> {
        let mut list = list(address).lock();
        if list.contains(&address) {
            return None;
        }
        list.push(address);
        Some(Self(address))
    }
}

impl Drop for FreeClaim {
    fn drop(&mut self) {
        let mut list = list(self.0).lock();
        if let Some(at) = list.iter().position(|claimed| *claimed == self.0) {
            list.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_claim_at_a_time() {
        let first = FreeClaim::of(0x7000_0000).expect("nobody frees it");
        assert!(FreeClaim::of(0x7000_0000).is_none());
        let other = FreeClaim::of(0x7000_0000 + (1 << 9) * LISTS);
        assert!(other.is_some(), "an address of the same list");
        drop(first);
        assert!(FreeClaim::of(0x7000_0000).is_some());
    }
}
