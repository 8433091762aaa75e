//! The exported functions, their counters and the addresses they jump to. A trampoline touches no register and no stack
//! slot but the flags, so it fits every signature; it takes no lock, and counters lie a cache line apart, so that threads
//! that call different functions do not slow each other down.

use core::arch::naked_asm;
use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// One counter, alone on its cache line.
#[repr(C, align(64))]
pub struct Counter(AtomicU64);

/// The address of an exported function.
pub struct Entry(pub *const c_void);

// SAFETY: the address of code, which nobody writes.
unsafe impl Sync for Entry {}

/// How often each symbol was called.
pub static COUNTERS: [Counter; COUNT] = [const { Counter(AtomicU64::new(0)) }; COUNT];

/// Where each trampoline goes on; null for what the real library lacks. Written once, before anyone can call.
pub static TARGETS: [AtomicPtr<c_void>; COUNT] = [const { AtomicPtr::new(core::ptr::null_mut()) }; COUNT];

/// Distance of two counters in bytes.
const STRIDE: usize = size_of::<Counter>();

/// The number of a symbol.
pub fn index_of(name: &CStr) -> Option<usize> {
    NAMES.binary_search(&name).ok()
}

/// Counts one call of a symbol that is not a plain trampoline.
pub fn count(index: usize) {
    COUNTERS[index].0.fetch_add(1, Ordering::Relaxed);
}

/// How often the symbol was called.
pub fn calls(index: usize) -> u64 {
    COUNTERS[index].0.load(Ordering::Relaxed)
}

/// Starts over.
pub fn reset() {
    COUNTERS.iter().for_each(|counter| counter.0.store(0, Ordering::Relaxed));
}

/// Where the symbol leads; null if the real library lacks it.
pub fn target(index: usize) -> *mut c_void {
    TARGETS[index].load(Ordering::Relaxed)
}

/// Exports one function that counts and jumps.
macro_rules! trampoline {
    ($name:ident, $index:literal) => {
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            naked_asm!(
                "lock inc qword ptr [rip + {counters} + {counter}]",
                "jmp qword ptr [rip + {targets} + {target}]",
                counters = sym COUNTERS,
                targets = sym TARGETS,
                counter = const $index * STRIDE,
                target = const $index * size_of::<AtomicPtr<c_void>>(),
            )
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/trampolines.rs"));
