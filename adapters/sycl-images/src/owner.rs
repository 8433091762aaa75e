//! Which library has an address. `dladdr` tells it too, but reads all symbols of the library for that, which takes milliseconds.

use std::ffi::{CStr, CString, c_int, c_void};
use std::ops::Range;

/// How often libraries were loaded and unloaded in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loads(u64, u64);

impl Loads {
    /// Until now.
    pub fn now() -> Loads {
        let mut loads = Loads::default();
        // SAFETY: `loads` outlives the call, and `count` takes it for what it is.
        unsafe { libc::dl_iterate_phdr(Some(count), (&raw mut loads).cast()) };
        loads
    }
}

/// # Safety
/// The dynamic linker calls it with a library's entry; `loads` is a [`Loads`].
unsafe extern "C" fn count(info: *mut libc::dl_phdr_info, _: usize, loads: *mut c_void) -> c_int {
    // SAFETY: the caller's promise; every glibc that this is built for has the counters.
    unsafe { *loads.cast() = Loads((*info).dlpi_adds, (*info).dlpi_subs) };
    1
}

/// A library, or the program.
#[derive(Debug)]
pub struct Owner {
    /// Its file; empty for the program's.
    pub file: CString,
    /// The addresses from its first segment to its last.
    pub segments: Range<u64>,
}

impl Owner {
    /// The one that has this address.
    pub fn of(address: *const c_void) -> Option<Owner> {
        let mut look = Look { address: address as u64, owner: None };
        // SAFETY: `look` outlives the call, and `compare` takes it for what it is.
        unsafe { libc::dl_iterate_phdr(Some(compare), (&raw mut look).cast()) };
        look.owner
    }
}

struct Look {
    address: u64,
    owner: Option<Owner>,
}

/// # Safety
/// The dynamic linker calls it with a library's entry; `look` is a [`Look`].
unsafe extern "C" fn compare(info: *mut libc::dl_phdr_info, _: usize, look: *mut c_void) -> c_int {
    // SAFETY: the caller's promise.
    let (info, look) = unsafe { (&*info, &mut *look.cast::<Look>()) };
    if info.dlpi_phdr.is_null() || info.dlpi_name.is_null() {
        return 0;
    }
    // SAFETY: an entry has `dlpi_phnum` headers there.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    let (mut first, mut end) = (u64::MAX, 0);
    for header in headers.iter().filter(|header| header.p_type == libc::PT_LOAD) {
        let start = info.dlpi_addr.wrapping_add(header.p_vaddr);
        (first, end) = (first.min(start), end.max(start.saturating_add(header.p_memsz)));
    }
    let segments = first..end;
    if !segments.contains(&look.address) {
        return 0;
    }
    // SAFETY: an entry's name is a string.
    let file = unsafe { CStr::from_ptr(info.dlpi_name) }.to_owned();
    look.owner = Some(Owner { file, segments });
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_library_an_address_of_the_program_and_one_of_nobody() {
        let text: *const c_void = Owner::of as *const c_void;
        let program = Owner::of(text).expect("the test is a program");
        assert!(program.segments.contains(&(text as u64)) && program.file.is_empty(), "{program:?}");
        let library = Owner::of(libc::dlopen as *const c_void).expect("a library");
        assert!(library.file.to_string_lossy().contains("lib"), "{library:?}");
        let heap = Box::new(0_u64);
        assert!(Owner::of((&raw const *heap).cast()).is_none());
        assert_eq!(Loads::now(), Loads::now());
    }
}
