//! Threads of the engine's own.

use std::io;

use ur_ffi::ur_result_t;

use crate::object::error::Error;

/// Starts a thread for the engine's work, which runs no task of the application's: those have the worker's (`device::worker`).
///
/// # Errors
/// The system's, where no thread can be started.
pub fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

/// What the caller is told of that.
#[cold]
pub fn no_thread(error: io::Error) -> Error {
    Error::new(ur_result_t::ERROR_OUT_OF_RESOURCES, format!("no thread can be started for host work: {error}"))
}
