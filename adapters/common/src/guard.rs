//! The wall between the engine and the C ABI: a result becomes a code, a panic an error.
//!
//! Every exported entry point goes through [`call`]; nothing unwinds past it and no error passes without
//! leaving its message for `urAdapterGetLastError`. The child of a fork gets no further than here, but for that very
//! message.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ur_ffi::ur_result_t;

use crate::error::{self, Error, Result};
use crate::fork;

/// Runs one entry point's body and gives the code that C sees.
#[inline]
pub fn call(name: &'static str, body: impl FnOnce() -> Result<()>) -> ur_result_t {
    if fork::is_child() && is_refused(name) {
        return failed(&fork::refusal(name));
    }
    // Unwind safety: after a panic the objects concerned may be inconsistent but never dangling; the caller
    // is told that the call failed and can only release them.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => ur_result_t::SUCCESS,
        Ok(Err(error)) => failed(&error),
        Err(panic) => panicked(name, &*panic),
    }
}

/// Whether the child of a fork may not have this: all but the question what was wrong, whose answer is this thread's own.
#[cold]
fn is_refused(name: &str) -> bool {
    name != "urAdapterGetLastError"
}

#[cold]
fn failed(error: &Error) -> ur_result_t {
    error::remember(error);
    error.code()
}

#[cold]
fn panicked(name: &str, panic: &(dyn std::any::Any + Send)) -> ur_result_t {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    failed(&Error::new(ur_result_t::ERROR_UNKNOWN, format!("{name}: internal error, please report it: {text}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_code_and_a_message() {
        let code = call("urTest", || panic!("boom"));
        assert_eq!(code, ur_result_t::ERROR_UNKNOWN);
        let (text, _) = error::last();
        // SAFETY: `last` gives a NUL-terminated string that lives until this thread's next failure.
        let text = unsafe { core::ffi::CStr::from_ptr(text) }.to_str().unwrap();
        assert!(text.contains("urTest") && text.contains("boom"), "{text}");
    }
}
