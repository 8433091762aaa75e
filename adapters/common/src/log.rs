//! The adapter's log: one callback that the application sets, called with a finished line.
//!
//! Logging happens where something is refused or lost, never on the path of a call that succeeds; a message
//! nobody listens to costs one atomic load and is not even formatted.

use core::ffi::c_void;
use std::ffi::CString;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::RwLock;
use ur_ffi::{ur_logger_callback_t, ur_logger_level_t};

struct Sink {
    callback: ur_logger_callback_t,
    user: *mut c_void,
}

// SAFETY: the application promises with `urAdapterSetLoggerCallback` that its callback and pointer may be used
// from any thread until they are replaced.
unsafe impl Send for Sink {}
// SAFETY: as above.
unsafe impl Sync for Sink {}

static SINK: RwLock<Sink> = RwLock::new(Sink { callback: None, user: core::ptr::null_mut() });
static LEVEL: AtomicU32 = AtomicU32::new(ur_logger_level_t::QUIET.0);

/// Sends messages of `level` and above to `callback` from now on; a null callback turns the log off.
pub fn set_callback(callback: ur_logger_callback_t, user: *mut c_void, level: ur_logger_level_t) {
    *SINK.write() = Sink { callback, user };
    let level = if callback.is_some() { level } else { ur_logger_level_t::QUIET };
    LEVEL.store(level.0, Ordering::Release);
}

/// Changes the least level that is sent.
pub fn set_level(level: ur_logger_level_t) {
    LEVEL.store(level.0, Ordering::Release);
}

/// Sends one line, made only when somebody listens at that level.
pub fn write(level: ur_logger_level_t, line: impl FnOnce() -> String) {
    if level.0 < LEVEL.load(Ordering::Acquire) {
        return;
    }
    let sink = SINK.read();
    if let Some(callback) = sink.callback {
        let text = CString::new(line().replace('\0', " ")).unwrap_or_default();
        // SAFETY: the callback is valid until replaced, and the read lock keeps it from being replaced now.
        unsafe { callback(level, text.as_ptr(), sink.user) };
    }
}

/// A warning.
pub fn warning(line: impl FnOnce() -> String) {
    write(ur_logger_level_t::WARN, line);
}
