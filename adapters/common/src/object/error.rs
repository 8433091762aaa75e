//! What can go wrong, with the UR code the caller gets and the sentence `urAdapterGetLastError` gives.
//!
//! An error is made once, where the fault is known, and travels up unchanged; success allocates nothing. The
//! last error is kept per thread, so that a message never belongs to another thread's call.

use std::cell::RefCell;
use std::ffi::CString;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ur_ffi::releases::Release;
use ur_ffi::ur_result_t;

/// The engine's result.
pub type Result<T> = core::result::Result<T, Error>;

/// A failed call: the code for the caller and, where there is more to say, a message and the native status.
#[derive(Debug, Clone)]
pub struct Error {
    // Never success, so that a result without a value fits two registers.
    code: NonZeroU32,
    detail: Option<Box<Detail>>,
}

#[derive(Debug, Clone)]
struct Detail {
    message: String,
    native: i32,
    has_note: bool,
}

/// The code of a failure; one of none has no name.
const fn failure(code: ur_result_t) -> NonZeroU32 {
    match NonZeroU32::new(code.0) {
        Some(code) => code,
        None => failure(ur_result_t::ERROR_UNKNOWN),
    }
}

static FAILURES: AtomicUsize = AtomicUsize::new(0);
static LOSSES: AtomicUsize = AtomicUsize::new(0);

/// Whether callers know the codes of captures, which a release before 2026.2 does not have.
static KNOWS_CAPTURES: AtomicBool = AtomicBool::new(true);

/// Says for which release of the API the library is.
pub fn answer_as(release: Release) {
    KNOWS_CAPTURES.store(release >= Release::R2026_2, Ordering::Relaxed);
}

/// What stands for a code of captures where callers do not know it.
fn without_captures(code: ur_result_t) -> ur_result_t {
    match code {
        ur_result_t::ERROR_GRAPH_CAPTURE_UNSUPPORTED => ur_result_t::ERROR_UNSUPPORTED_FEATURE,
        ur_result_t::ERROR_GRAPH_CAPTURE_INVALIDATED | ur_result_t::ERROR_GRAPH_UNJOINED_FORKS => {
            ur_result_t::ERROR_INVALID_GRAPH
        }
        ur_result_t::ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT | ur_result_t::ERROR_COMMAND_LIST_NOT_CAPTURING => {
            ur_result_t::ERROR_INVALID_OPERATION
        }
        ur_result_t::ERROR_GRAPH_INTERNAL_EVENT => ur_result_t::ERROR_INVALID_EVENT,
        known => known,
    }
}

/// How many errors were made so far: what was put on a stream before one of them may still be there without its command.
pub fn failures() -> usize {
    FAILURES.load(Ordering::Relaxed)
}

/// How many native calls told of a lost device so far.
pub fn losses() -> usize {
    LOSSES.load(Ordering::Relaxed)
}

impl Error {
    /// An error whose code says everything.
    #[must_use]
    pub const fn code_only(code: ur_result_t) -> Self {
        Self { code: failure(code), detail: None }
    }

    /// An error with a sentence that names the thing and the remedy.
    #[cold]
    pub fn new(code: ur_result_t, message: impl Into<String>) -> Self {
        FAILURES.fetch_add(1, Ordering::Relaxed);
        Self {
            code: failure(code),
            detail: Some(Box::new(Detail { message: message.into(), native: 0, has_note: false })),
        }
    }

    /// A native call's failure.
    #[cold]
    pub fn native(code: ur_result_t, call: &str, status: i32, text: &str) -> Self {
        FAILURES.fetch_add(1, Ordering::Relaxed);
        if code == ur_result_t::ERROR_DEVICE_LOST {
            LOSSES.fetch_add(1, Ordering::Relaxed);
        }
        let detail = Detail { message: format!("{call}: {text} ({status})"), native: status, has_note: false };
        Self { code: failure(code), detail: Some(Box::new(detail)) }
    }

    /// The answer of an entry point that this adapter does not implement.
    #[cold]
    pub fn unsupported(what: &str) -> Self {
        Self::new(ur_result_t::ERROR_UNSUPPORTED_FEATURE, format!("{what} is not supported by this adapter"))
    }

    /// The same failure, with the entry point before its message.
    #[must_use]
    pub fn named(mut self, call: &str) -> Self {
        if let Some(detail) = &mut self.detail {
            detail.message.insert_str(0, &format!("{call}: "));
        }
        self
    }

    /// The same failure told to the caller as another code.
    #[must_use]
    pub fn with_code(mut self, code: ur_result_t) -> Self {
        self.code = failure(code);
        self
    }

    /// The same failure with more words behind its sentence, once.
    #[cold]
    #[must_use]
    pub fn with_note(mut self, note: impl FnOnce() -> String) -> Self {
        let code = self.code();
        let detail = self
            .detail
            .get_or_insert_with(|| Box::new(Detail { message: format!("{code:?}"), native: 0, has_note: false }));
        if !core::mem::replace(&mut detail.has_note, true) {
            detail.message = format!("{}; {}", detail.message, note());
        }
        self
    }

    /// The same failure with what was asked for before its sentence.
    #[cold]
    #[must_use]
    pub fn of_request(mut self, request: impl FnOnce() -> String) -> Self {
        let code = self.code();
        let detail = self
            .detail
            .get_or_insert_with(|| Box::new(Detail { message: format!("{code:?}"), native: 0, has_note: false }));
        detail.message = format!("{}: {}", request(), detail.message);
        self
    }

    /// The code.
    #[must_use]
    pub fn code(&self) -> ur_result_t {
        ur_result_t(self.code.get())
    }

    /// Whether a device is lost: nothing runs there any more, and nothing can be asked of it.
    #[must_use]
    pub fn is_lost_device(&self) -> bool {
        self.code() == ur_result_t::ERROR_DEVICE_LOST
    }

    /// Whether nothing more is reached of what was given to the device that was asked: it is lost, or the native library has
    /// shut down, as its exit handler does while exit handlers and threads of the application still run.
    #[must_use]
    pub fn ends_everything(&self) -> bool {
        self.is_lost_device() || self.code() == ur_result_t::ERROR_UNINITIALIZED
    }

    /// The code the caller gets: one of the release that the library is for.
    #[must_use]
    pub fn code_for_caller(&self) -> ur_result_t {
        let code = self.code();
        if KNOWS_CAPTURES.load(Ordering::Relaxed) { code } else { without_captures(code) }
    }

    /// The native status, 0 when no native call failed.
    #[must_use]
    pub fn native_status(&self) -> i32 {
        self.detail.as_ref().map_or(0, |detail| detail.native)
    }

    /// The sentence, empty when the code says everything.
    #[must_use]
    pub fn message(&self) -> &str {
        self.detail.as_ref().map_or("", |detail| &detail.message)
    }
}

impl From<ur_result_t> for Error {
    fn from(code: ur_result_t) -> Self {
        FAILURES.fetch_add(1, Ordering::Relaxed);
        Self::code_only(code)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.detail {
            Some(detail) => write!(f, "{:?}: {}", self.code(), detail.message),
            None => write!(f, "{:?}", self.code()),
        }
    }
}

impl std::error::Error for Error {}

/// Why a backend has no native library to work with.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OpenError {
    /// No library of the names tried could be opened.
    #[error("no native library: {tried}; install the driver or name the library in {variable}")]
    Library {
        /// Every name tried with the dynamic linker's words.
        tried: String,
        /// The variable that overrides the search.
        variable: &'static str,
    },
    /// A library lacks a symbol that this backend cannot do without.
    #[error("{library} has no symbol {symbol}; it is older than this adapter supports or not the native library")]
    Symbol {
        /// The library that was opened.
        library: String,
        /// The first required symbol it lacks.
        symbol: String,
    },
    /// The library's own initialisation failed.
    #[error("{library}: {call} answered {text} ({status})")]
    Initialise {
        /// The library that was opened.
        library: String,
        /// The native call.
        call: &'static str,
        /// The native status.
        status: i32,
        /// The library's text for it.
        text: String,
    },
}

thread_local! {
    static LAST: RefCell<Option<(CString, i32)>> = const { RefCell::new(None) };
}

/// Keeps what [`last`] gives this thread.
#[cold]
pub fn remember(error: &Error) {
    let text = if error.message().is_empty() { format!("{:?}", error.code()) } else { error.message().to_owned() };
    remember_text(&text, error.native_status());
}

/// Keeps a message that belongs to no failed call, such as why there is no platform.
pub fn remember_text(text: &str, native: i32) {
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    // A thread that is already being torn down has nobody left to ask.
    let _ = LAST.try_with(|last| *last.borrow_mut() = Some((text, native)));
}

/// This thread's last message and native status. The pointer stays valid until the thread's next failure.
pub fn last() -> (*const core::ffi::c_char, i32) {
    const NONE: &core::ffi::CStr = c"no call of this thread has failed";
    LAST.try_with(|last| last.borrow().as_ref().map_or((NONE.as_ptr(), 0), |(text, native)| (text.as_ptr(), *native)))
        .unwrap_or((NONE.as_ptr(), 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_without_a_value_is_two_words() {
        assert_eq!(size_of::<Result<()>>(), 2 * size_of::<usize>());
    }

    #[test]
    fn no_error_says_success() {
        let all = [
            Error::code_only(ur_result_t::SUCCESS),
            Error::new(ur_result_t::SUCCESS, "made of success"),
            Error::native(ur_result_t::SUCCESS, "call", 0, "fine"),
            Error::code_only(ur_result_t::ERROR_INVALID_SIZE).with_code(ur_result_t::SUCCESS),
        ];
        assert!(all.iter().all(|error| error.code() == ur_result_t::ERROR_UNKNOWN), "{all:?}");
    }
}
