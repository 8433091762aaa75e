//! The adapter's log: one callback that the application sets, called with a finished line.
//!
//! Logging happens where something is refused or lost, never on the path of a call that succeeds; a message
//! nobody listens to costs one atomic load and is not even formatted.
//!
//! Must never call the callback under a lock: it may set another callback, and it may wait for a thread that does. So who
//! writes a line takes a count of the callback that is set and calls it without the lock; a call that another thread began
//! before a callback was replaced may therefore still run when `urAdapterSetLoggerCallback` has returned. What a callback
//! causes on its own thread is not told to anybody, since that could have no end.
//!
//! Most programs set no callback, and those who run them set variables. What the user must learn of those goes to standard error
//! then ([`complain`]).

use core::cell::Cell;
use core::ffi::c_void;
use std::ffi::CString;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;
use ur_ffi::{ur_logger_callback_t, ur_logger_level_t};

struct Sink {
    callback: unsafe extern "C" fn(ur_logger_level_t, *const core::ffi::c_char, *mut c_void),
    user: *mut c_void,
}

// SAFETY: the application promises with `urAdapterSetLoggerCallback` that its callback and pointer may be used
// from any thread until they are replaced and no call is in progress.
unsafe impl Send for Sink {}
// SAFETY: as above.
unsafe impl Sync for Sink {}

/// A leaf lock: nothing is called while it is held.
static SINK: Mutex<Option<Arc<Sink>>> = Mutex::new(None);
static LEVEL: AtomicU32 = AtomicU32::new(ur_logger_level_t::QUIET.0);

thread_local! {
    static IS_WRITING: Cell<bool> = const { Cell::new(false) };
}

/// Sends messages of `level` and above to `callback` from now on; a null callback turns the log off.
pub fn set_callback(callback: ur_logger_callback_t, user: *mut c_void, level: ur_logger_level_t) {
    let sink = callback.map(|callback| Arc::new(Sink { callback, user }));
    let level = if sink.is_some() { level } else { ur_logger_level_t::QUIET };
    let mut current = SINK.lock();
    let before = std::mem::replace(&mut *current, sink);
    // With the lock, or of two threads that set one the last callback could get the other's level.
    LEVEL.store(level.0, Ordering::Release);
    drop(current);
    drop(before);
}

/// Changes the least level that is sent.
pub fn set_level(level: ur_logger_level_t) {
    LEVEL.store(level.0, Ordering::Release);
}

/// Sends one line, made only when somebody listens at that level.
pub fn write(level: ur_logger_level_t, line: impl FnOnce() -> String) {
    if level.0 < LEVEL.load(Ordering::Acquire) || IS_WRITING.try_with(Cell::get).unwrap_or(true) {
        return;
    }
    let Some(sink) = SINK.lock().clone() else { return };
    let text = CString::new(line().replace('\0', " ")).unwrap_or_default();
    // A thread that is being torn down was refused above.
    let _ = IS_WRITING.try_with(|writing| writing.set(true));
    // SAFETY: the callback was set when the count of it was taken, and the application keeps it usable until calls that
    // had begun by the time it was replaced are over.
    unsafe { (sink.callback)(level, text.as_ptr(), sink.user) };
    let _ = IS_WRITING.try_with(|writing| writing.set(false));
}

/// Says what the user must learn, whoever wrote the program: to the application's callback, by its level, and on standard error
/// where none is set. Takes the log's lock, so it is for what is rarely said.
#[cold]
pub fn complain(level: ur_logger_level_t, line: impl FnOnce() -> String) {
    if SINK.lock().is_some() {
        return write(level, line);
    }
    let name = if level == ur_logger_level_t::ERROR { "ERROR" } else { "WARNING" };
    let line = format!("<ADAPTER>[{name}]: {}\n", line());
    // One write keeps the lines of several threads apart. Nobody is left to be told of an output that is closed.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Says that a variable's value is not what the user meant it to be.
pub fn wrong_setting(line: impl FnOnce() -> String) {
    complain(ur_logger_level_t::WARN, line);
}

/// A warning.
pub fn warning(line: impl FnOnce() -> String) {
    write(ur_logger_level_t::WARN, line);
}
