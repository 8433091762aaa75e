//! Who frees a native allocation.
//!
//! The engine keeps no registry of such allocations: it asks the native library what an address is, and then frees it. Two
//! threads that free the same address at one time would both be told that it is an allocation, and a native library need not
//! survive the second free (CUDA 13.0 does not). So a thread claims the address before it asks.
//!
//! The native library gives an address out again as soon as it was freed there, perhaps before the thread that freed it has given
//! its claim back. So whoever gets new memory ends the claim on what was there before ([`note_allocated`]), and nobody waits
//! for a claim. Must never be held while anything but that one allocation is asked about or freed, and the list's lock never
//! over a native call.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

/// So many that threads which free different addresses rarely meet in one.
const LISTS: usize = 16;

/// An address that is being freed.
struct Claimed {
    address: usize,
    /// Tells it from a later claim on the same address.
    number: u64,
}

/// The addresses that are being freed.
static CLAIMED: [Mutex<Vec<Claimed>>; LISTS] = [const { Mutex::new(Vec::new()) }; LISTS];

fn list(address: usize) -> &'static Mutex<Vec<Claimed>> {
    // Native allocations are aligned to 512 bytes, large ones to 2 MiB.
    &CLAIMED[(address >> 9 ^ address >> 21) % LISTS]
}

/// An address that this thread alone may free.
pub(crate) struct FreeClaim(Claimed);

impl FreeClaim {
    /// The claim; `None` while another thread frees the address.
    pub(crate) fn of(address: usize) -> Option<Self> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let mut list = list(address).lock();
        if list.iter().any(|claimed| claimed.address == address) {
            return None;
        }
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        list.push(Claimed { address, number });
        Some(Self(Claimed { address, number }))
    }
}

impl Drop for FreeClaim {
    fn drop(&mut self) {
        // Another thread may have the address by now, and a claim of its own.
        list(self.0.address).lock().retain(|claimed| claimed.number != self.0.number);
    }
}

/// Says that the native library has given memory out that starts there: what was there before is freed, though the thread that
/// freed it may not have given its claim back yet.
pub(crate) fn note_allocated(address: usize) {
    list(address).lock().retain(|claimed| claimed.address != address);
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

    #[test]
    fn memory_that_was_given_out_again_can_be_claimed_once_though_the_thread_that_freed_the_old_holds_its_claim() {
        let address = 0x7100_0000;
        let old = FreeClaim::of(address).expect("nobody frees it");
        note_allocated(address);
        let new = FreeClaim::of(address).expect("it is other memory now");
        drop(old);
        assert!(FreeClaim::of(address).is_none(), "the new memory is being freed");
        drop(new);
        assert!(FreeClaim::of(address).is_some());
    }
}
