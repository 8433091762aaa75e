//! What every exported function goes through: the count, an injected fault, the body, the record of its error.
//!
//! A panic ends here as `hipErrorUnknown`; none may cross the C ABI.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sys::status::{Result, hipError_t, hipErrorUnknown, hipSuccess};
use crate::{counts, error, faults};

/// Runs one call.
pub fn run(number: usize, body: impl FnOnce() -> Result) -> hipError_t {
    let status = plain(number, body);
    error::note(status);
    status
}

/// Runs one call that leaves the thread's last error alone.
pub fn plain(number: usize, body: impl FnOnce() -> Result) -> hipError_t {
    counts::count(number);
    let result = match faults::on_call(number) {
        Some(error) => Err(error),
        None => catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(hipErrorUnknown)),
    };
    result.err().unwrap_or(hipSuccess)
}

/// Wraps the body of the exported function of that name.
macro_rules! call {
    ($name:ident, $body:block) => {
        $crate::guard::run($crate::api::exports::number::$name, || $body)
    };
}
pub(crate) use call;
