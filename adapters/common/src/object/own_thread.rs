//! Threads of the engine's own.
//!
//! The system gives a process's signal to any thread that does not block it. One that the application does not know of would
//! take what the application waits for with `sigwait` or a descriptor, and end the process. So threads that are there for the
//! engine's work ([`start`]) block all signals but those that tell of what the thread itself has done. Those that are there for
//! functions of the application ([`start_for_application`]) block none on their own account: what the functions start inherits that.

use core::cell::Cell;
use std::io;

use ur_ffi::ur_result_t;

use crate::object::error::Error;

thread_local! {
    /// On a thread of [`start`]: what whoever started it blocked.
    static OF_STARTER: Cell<Option<signals::Mask>> = const { Cell::new(None) };
}

/// Starts a thread for the engine's work, which runs no task of the application's: those have the worker's (`device::worker`).
///
/// # Errors
/// The system's, where no thread can be started.
pub fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    // The thread inherits the mask, so that no signal finds it without.
    let before = signals::block();
    let of_starter = OF_STARTER.get().unwrap_or(before);
    let started = spawn(name, move || {
        OF_STARTER.set(Some(of_starter));
        work();
    });
    signals::set(before);
    started
}

/// Starts a thread for functions of the application, which blocks what the calling thread does, or what the thread of the
/// application's did from which that one comes.
///
/// # Errors
/// The system's, where no thread can be started.
pub fn start_for_application(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let of_starter = OF_STARTER.get();
    spawn(name, move || {
        if let Some(mask) = of_starter {
            signals::set(mask);
        }
        work();
    })
}

/// What the caller is told of that.
#[cold]
pub fn no_thread(error: io::Error) -> Error {
    Error::new(ur_result_t::ERROR_OUT_OF_RESOURCES, format!("no thread can be started for host work: {error}"))
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

#[cfg(unix)]
mod signals {
    /// What a thread blocks.
    pub type Mask = libc::sigset_t;

    /// What a thread is told of what it has done itself. Blocked, it would end the process without the application's handlers.
    const OF_THE_THREAD: [libc::c_int; 7] =
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS, libc::SIGABRT];

    /// Has the calling thread block all that it can be spared; answers what it blocked before.
    pub fn block() -> Mask {
        // SAFETY: a set of zeros is one, and the calls only change it.
        let all = unsafe {
            let mut all = core::mem::zeroed();
            libc::sigfillset(&raw mut all);
            for signal in OF_THE_THREAD {
                libc::sigdelset(&raw mut all, signal);
            }
            all
        };
        exchange(&all)
    }

    /// Has the calling thread block these, and no others.
    pub fn set(mask: Mask) {
        exchange(&mask);
    }

    fn exchange(mask: &Mask) -> Mask {
        // SAFETY: as above; the call reads one set and writes the other.
        unsafe {
            let mut before = core::mem::zeroed();
            libc::pthread_sigmask(libc::SIG_SETMASK, mask, &raw mut before);
            before
        }
    }
}

#[cfg(not(unix))]
mod signals {
    pub type Mask = ();

    pub fn block() -> Mask {}

    pub fn set(_: Mask) {}
}
