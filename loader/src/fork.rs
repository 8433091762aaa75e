//! What becomes of the loader in the child of a fork. The child has one thread and a copy of everything else: locks that
//! the other threads held stay locked, and a native driver does not work there at all. So the child of a process whose
//! loader was in use gets an error from every entry point of the loader's own; calls on handles reach the adapters, which
//! see to themselves. A child of a process whose loader was not in use has a loader of its own.
//!
//! The flag is asked before anything else is, so that the child never comes to a lock. Must never: do more in the handler
//! than set it, since the handler runs in the child before `fork` returns there.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Threads inside the registry, and the loader itself while it is initialised.
static USERS: AtomicUsize = AtomicUsize::new(0);
static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// Whether this process was forked from one whose loader was in use.
pub fn is_child() -> bool {
    // Relaxed: the handler ran on this very thread, or on the one that started it.
    IS_CHILD.load(Ordering::Relaxed)
}

/// Use of the loader that the child of a fork could not go on with, for as long as it lives.
#[derive(Debug)]
pub struct Use(());

impl Use {
    /// Begins a use; the first one of the process has its forks watched.
    pub fn begin() -> Self {
        static WATCHED: AtomicBool = AtomicBool::new(false);
        if !WATCHED.swap(true, Ordering::Relaxed) {
            // SAFETY: the handler only stores; this library is never unloaded. Without memory for the registration forks
            // go unwatched, which harms nobody who does not fork.
            unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
        }
        USERS.fetch_add(1, Ordering::Relaxed);
        Use(())
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        USERS.fetch_sub(1, Ordering::Relaxed);
    }
}

extern "C" fn in_child() {
    if USERS.load(Ordering::Relaxed) != 0 {
        IS_CHILD.store(true, Ordering::Relaxed);
    }
}
