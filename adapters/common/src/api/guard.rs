//! The wall between the engine and the C ABI: a result becomes a code, a panic an error.
//!
//! Every exported entry point goes through [`call`] or one of its kin; nothing unwinds past it and no error passes without
//! leaving its message for `urAdapterGetLastError`. The child of a fork gets no further than here.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ur_ffi::ur_result_t;

use crate::device::native_context::loss;
use crate::device::relief;
use crate::driver::Driver;
use crate::object::error::{self, Error, Result};
use crate::object::fork;

/// Runs one entry point's body and gives the code that C sees; the child of a fork gets no further.
#[inline]
pub fn call(name: &'static str, body: impl FnOnce() -> Result<()>) -> ur_result_t {
    if fork::is_child() {
        return refused(name);
    }
    run(name, body)
}

/// As [`call`], and the child of a fork may have it too: the question what was wrong, whose answer is this thread's own.
#[inline]
pub fn call_even_in_child(name: &'static str, body: impl FnOnce() -> Result<()>) -> ur_result_t {
    run(name, body)
}

/// As [`call`], but the child of a fork is told success and nothing is done: for what an exit handler calls whose program
/// ends when it fails (libsycl's releases its adapters and lets the exception go).
#[inline]
pub fn call_or_skip_in_child(name: &'static str, body: impl FnOnce() -> Result<()>) -> ur_result_t {
    if fork::is_child() {
        return ur_result_t::SUCCESS;
    }
    run(name, body)
}

/// As [`call`], for an entry point that asks the native library for memory and leaves nothing behind when it fails: told that
/// there is none, it is called once more if anything that was kept came back.
#[inline]
pub fn make<D: Driver>(name: &'static str, body: impl Fn() -> Result<()>) -> ur_result_t {
    call(name, || body().or_else(|first| once_more::<D>(name, first, &body)))
}

#[cold]
fn once_more<D: Driver>(name: &str, first: Error, body: &dyn Fn() -> Result<()>) -> Result<()> {
    if !relief::is_full(&first) {
        return Err(first);
    }
    let last = if relief::relieve_all::<D>() { body() } else { Err(first) };
    last.map_err(|error| {
        if relief::is_full(&error) { relief::told_all::<D>(error).of_request(|| name.to_owned()) } else { error }
    })
}

#[inline(always)]
fn run(name: &'static str, body: impl FnOnce() -> Result<()>) -> ur_result_t {
    // Unwind safety: after a panic the objects concerned may be inconsistent but never dangling; the caller
    // is told that the call failed and can only release them.
    // What is cold takes its error with it, or every entry point would have the code that drops it.
    let code = || match body() {
        Ok(()) => ur_result_t::SUCCESS,
        Err(error) => failed(error),
    };
    match catch_unwind(AssertUnwindSafe(code)) {
        Ok(code) => code,
        Err(panic) => panicked(name, panic),
    }
}

#[cold]
fn refused(name: &str) -> ur_result_t {
    failed(fork::refusal(name))
}

#[cold]
#[inline(never)]
fn failed(error: Error) -> ur_result_t {
    if error.is_lost_device() {
        // Its host tasks are waited for by others, who may ask no device.
        loss::look();
    }
    error::remember(&error);
    error.code_for_caller()
}

#[cold]
#[inline(never)]
fn panicked(name: &str, panic: Box<dyn Any + Send>) -> ur_result_t {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    failed(Error::new(ur_result_t::ERROR_UNKNOWN, format!("{name}: internal error, please report it: {text}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::noop::Noop;

    #[test]
    fn what_found_no_memory_is_called_again_only_if_something_came_back() {
        let calls = core::cell::Cell::new(0);
        let code = make::<Noop>("urTest", || {
            calls.set(calls.get() + 1);
            Err(ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY.into())
        });
        assert_eq!((code, calls.get()), (ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY, 1), "nothing is kept here");
    }

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
