//! What becomes of the adapter in the child of a fork. The child has one thread and a copy of everything else: locks that
//! other threads held stay locked, the worker threads are not there, and the native library, once started, does not work
//! (CUDA says so in its guide). So every entry point of the child answers an error; it may call `exec` or exit. Two
//! answer otherwise, see [`crate::api::guard`]: the one that tells what was wrong, and the release of the adapter.
//!
//! A static flag that the fork's child handler sets and that [`crate::api::guard::call`] reads before anything else: one relaxed
//! load on the way of every call, no lock, and no system call. Must never: do more in the handler than set the flag, or
//! let the child get to native calls.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ur_ffi::ur_result_t;

use crate::object::error::Error;

/// Attempts to open the native library that have begun and have not failed: it is open or being opened.
static OPENED: AtomicUsize = AtomicUsize::new(0);
static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// Whether this process was forked from one that had opened the native library.
#[inline]
pub fn is_child() -> bool {
    // Relaxed: the handler ran on this very thread, or on the one that started it.
    IS_CHILD.load(Ordering::Relaxed)
}

/// What the child is told.
pub fn refusal(entry_point: &str) -> Error {
    Error::new(
        ur_result_t::ERROR_UNINITIALIZED,
        format!(
            "{entry_point}: this process was forked from one that had opened the native library, which does not work \
             here; call exec first, or fork before the first urPlatformGet"
        ),
    )
}

/// An attempt to open the native library: from its beginning on a fork's child is of no use. One that fails and is dropped
/// takes that back.
pub struct Opening(());

impl Opening {
    /// The beginning of the attempt: before it takes a lock, which the child of a fork would find locked for good.
    pub fn begin() -> Self {
        watch();
        OPENED.fetch_add(1, Ordering::Relaxed);
        Self(())
    }

    /// The library is open, for good.
    pub fn succeed(self) {
        core::mem::forget(self);
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        OPENED.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Has the process's forks watched when this returns. Two threads that come at once may both see to it, which does no harm; neither
/// waits for the other, since the child of a fork could find the other there for good.
fn watch() {
    #[cfg(unix)]
    {
        static IS_WATCHED: AtomicBool = AtomicBool::new(false);
        if !IS_WATCHED.load(Ordering::Acquire) {
            // SAFETY: the handler only stores, and the adapter stays loaded, since its handle was given (`keep_loaded`). Without
            // memory for the registration forks go unwatched, which harms nobody who does not fork.
            unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
            IS_WATCHED.store(true, Ordering::Release);
        }
    }
}

#[cfg(unix)]
extern "C" fn in_child() {
    if OPENED.load(Ordering::Relaxed) > 0 {
        IS_CHILD.store(true, Ordering::Relaxed);
    }
}
