//! The conformance suite's harness: opens a loader and an adapter by path, makes objects that give themselves back,
//! and checks after every test that the simulated driver has nothing to report.
//!
//! It speaks to what it tests through the C ABI alone and must never link an adapter, a loader or the simulated driver.
//! The tests are in `tests/`, one file an object; `README.md` says how to run them on anybody's adapter.
//!
//! Tests of one process take turns ([`Fixture`] holds the turn): the simulated driver counts calls and objects of the
//! whole process, so only a test that runs alone can be held to account for what it left behind.

#![allow(
    clippy::not_unsafe_ptr_arg_deref,
    reason = "pointers go to the entry points under test, which are foreign code anyway"
)]
#![allow(
    clippy::macro_metavars_in_unsafe,
    reason = "an entry point's arguments are plain values, evaluated where it is called"
)]

pub mod address_space;
pub mod answered;
pub mod below;
pub mod buffer;
pub mod child;
pub mod command_buffer;
pub mod control;
pub mod current;
pub mod elf;
pub mod environment;
pub mod extension;
pub mod faults;
pub mod fixture;
pub mod foreign;
pub mod gate;
pub mod graph;
pub mod image;
pub mod launch;
pub mod memory;
pub mod native;
pub mod native_graph;
pub mod ours;
pub mod owned;
pub mod pool;
pub mod query;
pub mod sim;
pub mod timeline;

use std::sync::{Once, OnceLock};

use ur_client::Ur;
pub use ur_ffi as ffi;
use ur_ffi::releases::Release;
use ur_ffi::releases::any::AllFunctions;
use ur_ffi::{ur_adapter_handle_t, ur_result_t};

pub use buffer::Buffer;
pub use command_buffer::{Change, CommandBuffer};
pub use environment::Environment;
pub use fixture::Fixture;
pub use gate::Gate;
pub use graph::{ExecutableGraph, Graph};
pub use image::{Image, Shape};
pub use launch::{Arg, Launch};
pub use memory::{Cells, Kind, Memory};
pub use owned::{Context, Event, Kernel, Mem, Owned, Pool, Program, Queue, Sampler};
pub use sim::Sim;
pub use timeline::Timeline;

/// The loader under test, opened and initialised by the first caller.
pub fn loader() -> &'static Ur {
    static LOADER: OnceLock<Ur> = OnceLock::new();
    LOADER.get_or_init(|| {
        let environment = Environment::get();
        environment.export();
        let ur = Ur::open(&environment.loader).unwrap_or_else(|error| panic!("{error}"));
        ur.init().unwrap_or_else(|error| panic!("{error}"));
        ur
    })
}

/// The release of the API that is under test: the loader's.
pub fn release() -> Release {
    loader().release()
}

/// Whether the release under test has a function, or its loader and adapter have it as an extension.
pub fn has_function(name: &str) -> bool {
    release().functions().iter().any(|function| function.name == name) || extension::has(name)
}

/// The functions of the adapter under test, from its own tables.
pub fn adapter_functions() -> &'static AllFunctions {
    static FUNCTIONS: OnceLock<AllFunctions> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        // SAFETY: the process holds a reference to the adapter, and the loader admits adapters of its own release alone.
        let mut functions = unsafe { loader().adapter_functions(adapter()) };
        let tables = core::ptr::from_ref(extension::tables()).cast();
        // SAFETY: the list tells the places of these tables.
        unsafe { ur_client::copy_functions(ur_ffi::EXTENSION_FUNCTIONS, tables, &mut functions) };
        functions
    })
}

/// The adapter under test. The list of adapters is asked for once, so the process holds one reference.
pub fn adapter() -> ur_adapter_handle_t {
    static ADAPTER: OnceLock<usize> = OnceLock::new();
    let address = *ADAPTER.get_or_init(|| {
        let adapters = loader().adapters().unwrap_or_else(|error| panic!("{error}"));
        let [adapter] = adapters[..] else {
            panic!("the loader has {} adapters, not the one of UR_TEST_ADAPTER", adapters.len())
        };
        adapter.expose_provenance()
    });
    core::ptr::with_exposed_provenance_mut(address)
}

/// Sees to it that the process gives its reference to the adapter back when it exits. An adapter keeps memory and native
/// objects for as long as it is in use; a tool that looks for leaks at exit must not find those.
///
/// Called when the native library is in use, so that its own exit handlers run later.
pub(crate) fn release_at_exit() {
    extern "C" fn release() {
        // What a test left behind is that test's matter; here nobody listens any more.
        let _ = ur!(Adapter.pfnRelease(adapter()));
        let _ = loader().tear_down();
    }
    static ONCE: Once = Once::new();
    // SAFETY: the function lives as long as the process, and does not unwind into C.
    ONCE.call_once(|| assert_eq!(unsafe { libc::atexit(release) }, 0, "exit handlers"));
}

/// Gives every reference to the adapter back, the loader's too, and takes one again. What an adapter keeps for as long
/// as it is in use ends with that; objects that are alive stay as they are.
///
/// # Panics
/// When the loader finds another adapter than before.
pub fn renew_adapter() {
    let before = adapter();
    crate::ok!(Adapter.pfnRelease(before));
    let loader = loader();
    loader.tear_down().and_then(|()| loader.init()).unwrap_or_else(|error| panic!("{error}"));
    let adapters = loader.adapters().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(adapters, [before], "an adapter's handle stays the same");
}

/// What the adapter has to say of this thread's last failure.
pub fn last_error() -> String {
    loader().last_error(adapter()).map_or_else(String::new, |(message, code)| format!("{message} [{code}]"))
}

/// Fails the test with the adapter's words unless the answer is success.
#[track_caller]
pub fn expect_success(answer: ur_result_t, call: &str) {
    assert!(answer == ur_result_t::SUCCESS, "{call} answers {answer:?}: {}", last_error());
}

/// Fails the test unless the answer is one of the codes.
#[track_caller]
pub fn expect_code(answer: ur_result_t, codes: &[ur_result_t], call: &str) {
    let right = codes.iter().any(|code| told(*code) == answer);
    assert!(right, "{call} answers {answer:?}, not {codes:?} (last native error: {})", last_error());
}

/// What a code is told as in the release under test: before 2026.2 there are none for captures.
#[must_use]
pub fn told(code: ur_result_t) -> ur_result_t {
    use ur_result_t as Code;
    if release() >= ffi::releases::Release::R2026_2 {
        return code;
    }
    match code {
        Code::ERROR_GRAPH_CAPTURE_UNSUPPORTED => Code::ERROR_UNSUPPORTED_FEATURE,
        Code::ERROR_GRAPH_CAPTURE_INVALIDATED | Code::ERROR_GRAPH_UNJOINED_FORKS => Code::ERROR_INVALID_GRAPH,
        Code::ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT | Code::ERROR_COMMAND_LIST_NOT_CAPTURING => {
            Code::ERROR_INVALID_OPERATION
        }
        Code::ERROR_GRAPH_INTERNAL_EVENT => Code::ERROR_INVALID_EVENT,
        known => known,
    }
}

/// Calls an entry point through the loader and gives its answer: `ur!(Queue.pfnFinish(queue))`.
#[macro_export]
macro_rules! ur {
    ($table:ident.$slot:ident($($argument:expr),* $(,)?)) => {{
        let function = $crate::loader().table.$table.$slot;
        let function = function.expect(concat!("the loader exports ", stringify!($table), ".", stringify!($slot)));
        let waits = $crate::answered::waits_so_far();
        // SAFETY: tests pass what the entry point's contract allows, or what it must refuse without following it.
        let answer = unsafe { function($($argument),*) };
        let offset = core::mem::offset_of!($crate::ffi::releases::any::AllFunctions, $table.$slot);
        $crate::answered::note(offset, answer, waits);
        answer
    }};
}

/// Calls an entry point that must succeed.
#[macro_export]
macro_rules! ok {
    ($table:ident.$slot:ident($($argument:expr),* $(,)?)) => {
        $crate::expect_success(
            $crate::ur!($table.$slot($($argument),*)),
            concat!(stringify!($table), ".", stringify!($slot)),
        )
    };
}

/// Calls an entry point that must answer one of these codes: `refused!(ERROR_INVALID_SIZE, Queue.pfn…(…))`.
#[macro_export]
macro_rules! refused {
    ($($code:ident)|+, $table:ident.$slot:ident($($argument:expr),* $(,)?)) => {
        $crate::expect_code(
            $crate::ur!($table.$slot($($argument),*)),
            &[$($crate::ffi::ur_result_t::$code),+],
            concat!(stringify!($table), ".", stringify!($slot)),
        )
    };
}

/// The end of the test, with a line that says so, where the release under test does not have a function.
#[macro_export]
macro_rules! needs_function {
    ($name:ident) => {
        if !$crate::has_function(stringify!($name)) {
            println!("skipped: oneAPI {} has no {}", $crate::release().name(), stringify!($name));
            return;
        }
    };
}

/// The end of the test, with a line that says what was not tried, where the adapter is not this project's: `needs_ours!("…")`
/// says what only ours do.
#[macro_export]
macro_rules! needs_ours {
    ($promise:literal) => {
        if !$crate::ours::is_ours() {
            println!("skipped from {}:{} on: only this project's adapters {}", file!(), line!(), $promise);
            return;
        }
    };
}

/// The simulated driver, or the end of the test with a line that says what was not tried.
#[macro_export]
macro_rules! needs_sim {
    ($fixture:expr) => {
        match $fixture.sim() {
            Some(sim) => sim,
            None => {
                println!("skipped from {}:{} on: needs the simulated driver", file!(), line!());
                return;
            }
        }
    };
}
