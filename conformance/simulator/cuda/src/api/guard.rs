//! What every native call goes through.
//!
//! Counting, injected faults, the refusal inside host functions, the check that `cuInit` was called, and the guard
//! against panics: in that order, once, here.

use crate::counts::Entry;
use crate::graph::capture;
use crate::reports::{self, Kind as Misuse};
use crate::sys::*;
use crate::{command, device, faults, leaks};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Which rules a call is under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Needs `cuInit`; refused inside host functions.
    Usual,
    /// Needs `cuInit`; inside host functions it is reported but answered.
    Query,
    /// Needs nothing and is allowed anywhere.
    Free,
    /// Needs no `cuInit`; refused inside host functions.
    Init,
}

/// Runs one native call.
pub fn run(entry: &'static Entry, rules: Rules, body: impl FnOnce() -> Result) -> CUresult {
    let (outer, admitted) = begin(entry, rules);
    let result = match admitted {
        Ok(()) => catch_unwind(AssertUnwindSafe(body)),
        Err(error) => Ok(Err(error)),
    };
    end(entry, outer, result)
}

/// What comes before every call; gives the function that this thread was in before.
#[inline(never)]
fn begin(entry: &'static Entry, rules: Rules) -> (&'static str, Result) {
    entry.count();
    (reports::enter(entry.name), admit(entry.name, rules))
}

/// What comes behind every call.
#[inline(never)]
fn end(entry: &'static Entry, outer: &'static str, result: std::thread::Result<Result>) -> CUresult {
    let result = result.unwrap_or_else(|_| {
        reports::add(Misuse::Internal, "panicked");
        Err(CUDA_ERROR_UNKNOWN)
    });
    faults::on_return(entry.name);
    reports::enter(outer);
    result.err().unwrap_or(CUDA_SUCCESS)
}

fn admit(name: &'static str, rules: Rules) -> Result {
    if rules != Rules::Free && command::in_host_function() {
        reports::add(Misuse::HostFunction, "native call inside of a host function");
        if rules != Rules::Query {
            return Err(CUDA_ERROR_NOT_PERMITTED);
        }
    }
    if let Some(error) = faults::on_call(name) {
        return Err(error);
    }
    if leaks::has_ended() && rules != Rules::Free {
        return Err(CUDA_ERROR_DEINITIALIZED);
    }
    if matches!(rules, Rules::Usual | Rules::Query) && device::config().is_none() {
        return Err(CUDA_ERROR_NOT_INITIALIZED);
    }
    if capture::any() && UNSAFE_IN_CAPTURES.contains(&name) {
        capture::refuse_unsafe()?;
    }
    Ok(())
}

/// What the real driver refuses to the threads that a capture binds.
const UNSAFE_IN_CAPTURES: [&str; 16] = [
    "cuArray3DCreate_v2",
    "cuArrayDestroy",
    "cuGraphInstantiateWithFlags",
    "cuGraphInstantiateWithParams",
    "cuGraphInstantiate_v2",
    "cuLibraryUnload",
    "cuMemAllocHost_v2",
    "cuMemAllocManaged",
    "cuMemAllocPitch_v2",
    "cuMemAlloc_v2",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemHostAlloc",
    "cuMemHostRegister_v2",
    "cuMemHostUnregister",
    "cuModuleUnload",
];

/// Wraps a function's body: `call!(name, [Rules::…,] { …; Ok(()) })`.
macro_rules! call {
    ($name:ident, $rules:expr, $body:block) => {{
        static ENTRY: $crate::counts::Entry = $crate::counts::Entry::new(stringify!($name));
        $crate::api::guard::run(&ENTRY, $rules, || $body)
    }};
    ($name:ident, $body:block) => {
        $crate::api::guard::call!($name, $crate::api::guard::Rules::Usual, $body)
    };
}
pub(crate) use call;
