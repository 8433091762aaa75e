//! The adapter's code in memory for as long as something can come back to it.
//!
//! A library that is opened, asked for its tables and closed again leaves nothing behind: a loader tells adapters of its
//! release by their tables, and one that stayed after that would be the dynamic linker's answer to a later search for the
//! same name. From the first adapter handle on there may be threads, a fork handler and callbacks of the native library, and
//! handles lead to functions; what closes the library then must not end its code.

use core::sync::atomic::{AtomicBool, Ordering};

/// Whoever closes the library from now on leaves it where it is.
pub fn keep_loaded() {
    // Relaxed: whoever reads true finds the dynamic linker's mark, which no code reads.
    static IS_KEPT: AtomicBool = AtomicBool::new(false);
    if IS_KEPT.load(Ordering::Relaxed) {
        return;
    }
    #[cfg(unix)]
    mark_as_kept();
    // Behind the mark, and with no lock around it: who comes meanwhile marks it too, and the linker has a lock of its own, which
    // a thread may hold that gets here.
    IS_KEPT.store(true, Ordering::Relaxed);
}

#[cfg(unix)]
fn mark_as_kept() {
    let own = keep_loaded as *const core::ffi::c_void;
    let mut found = core::mem::MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: the output is a live local, which a call that succeeds fills; the file's name is the linker's own, which is there as
    // long as this code. By the flag nothing is loaded that is not there. Of a program that has the engine in itself the linker has
    // no library by that name, and nobody closes it.
    unsafe {
        if libc::dladdr(own, found.as_mut_ptr()) != 0 {
            libc::dlopen(found.assume_init().dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE);
        }
    }
}
