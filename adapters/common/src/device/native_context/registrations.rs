//! Registered memory of the process: no library tells it from pinned memory that it allocated, so whoever is given an address to
//! free or to own asks here.
//!
//! Some library does not tell where a registration begins and takes ranges that reach into one ([`Driver::TELLS_REGISTRATIONS`]);
//! AMD's runtime would also free allocated memory that it is told to unregister. There this list judges ranges and says what a
//! pointer names. Elsewhere the library does both, and what it takes is noted here.
//!
//! Registrations are the process's, like addresses, so there is one list. One that ended without the engine, natively or with the
//! adapter, stays in it until its addresses are registered or allocated again. A leaf lock: no native call is made while it is held.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use ur_ffi::ur_result_t;

use crate::driver::{Driver, MemoryKind, PointerInfo};
use crate::object::error::{Error, Result};

/// Sizes by the first byte. No two overlap.
static SIZES: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// What a pointer names, registrations included.
///
/// # Errors
/// What the native library answers.
#[inline]
pub fn pointer_info<D: Driver>(driver: &D, pointer: usize) -> Result<Option<PointerInfo<D>>> {
    let told = driver.pointer_info(pointer)?;
    if D::TELLS_REGISTRATIONS {
        return Ok(told);
    }
    Ok(told.map(|info| match around(pointer) {
        Some((base, size)) => PointerInfo { kind: MemoryKind::Host, base, size, ..info },
        None => info,
    }))
}

/// Registers memory. The device's place is current.
///
/// # Errors
/// `INVALID_VALUE` for a range that reaches into another; what the native library answers.
pub fn register<D: Driver>(driver: &D, address: usize, size: usize, read_only: bool) -> Result<()> {
    let native = || driver.register_host(address, size, read_only);
    if D::TELLS_REGISTRATIONS {
        native()?;
        forget(address, size);
        note(address, size);
        return Ok(());
    }
    // Before the call, so that no other thread's range comes between.
    if !note(address, size) {
        let message = format!("{size} bytes from {address:#x} on reach into memory that is registered already");
        return Err(Error::new(ur_result_t::ERROR_INVALID_VALUE, message));
    }
    native().inspect_err(|_| {
        take(address);
    })
}

/// Ends the registration that begins there. The device's place is current.
///
/// # Errors
/// `INVALID_VALUE` if none does; what the native library answers.
pub fn unregister<D: Driver>(driver: &D, address: usize) -> Result<()> {
    let native = || driver.unregister_host(address);
    // Before the call, so that another thread's fails.
    let Some(size) = take(address) else {
        if D::TELLS_REGISTRATIONS {
            return native();
        }
        let message = format!("no registration begins at {address:#x}");
        return Err(Error::new(ur_result_t::ERROR_INVALID_VALUE, message));
    };
    native().inspect_err(|_| {
        note(address, size);
    })
}

/// Whether a registration starts here.
#[must_use]
pub fn starts_at(address: usize) -> bool {
    SIZES.lock().contains_key(&address)
}

/// Forgets registrations of bytes that the native library has registered or allocated anew.
pub fn forget(address: usize, size: usize) {
    let mut sizes = SIZES.lock();
    while let Some((&base, &bytes)) = sizes.range(..address.saturating_add(size)).next_back()
        && base + bytes > address
    {
        sizes.remove(&base);
    }
}

/// Start and size of the registration that an address lies in.
fn around(address: usize) -> Option<(usize, usize)> {
    let sizes = SIZES.lock();
    let (base, size) = sizes.range(..=address).next_back()?;
    (address - base < *size).then_some((*base, *size))
}

/// Notes a registration; `false` if it reaches into another.
fn note(address: usize, size: usize) -> bool {
    let mut sizes = SIZES.lock();
    let before = sizes.range(..address + size).next_back();
    let is_free = before.is_none_or(|(base, size)| base + size <= address);
    if is_free {
        sizes.insert(address, size);
    }
    is_free
}

/// Forgets the registration that begins there, and answers its size.
fn take(address: usize) -> Option<usize> {
    SIZES.lock().remove(&address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registration_is_found_from_all_its_bytes_and_nothing_reaches_into_it() {
        const START: usize = 0x7777_3000_0000;
        assert!(note(START, 100));
        assert_eq!([START - 1, START + 100].map(around), [None; 2]);
        assert_eq!([START, START + 99].map(around), [Some((START, 100)); 2]);
        for (address, size) in [(START, 100), (START - 1, 2), (START + 99, 1), (START - 10, 200), (START + 10, 10)] {
            assert!(!note(address, size), "{address:#x}, {size}");
        }
        assert!(note(START + 100, 10) && note(START - 10, 10), "beside it");
        assert_eq!([START, START + 100, START - 10, START + 1].map(take), [Some(100), Some(10), Some(10), None]);
    }

    #[test]
    fn registrations_of_bytes_that_are_allocated_anew_have_ended_and_those_beside_them_have_not() {
        const START: usize = 0x7777_4000_0000;
        let starts = [START, START + 100, START + 200, START + 300];
        assert!(starts.into_iter().all(|start| note(start, 100)));
        forget(START + 150, 150);
        assert_eq!(starts.map(starts_at), [true, false, false, true]);
        assert_eq!(starts.map(take), [Some(100), None, None, Some(100)]);
    }
}
