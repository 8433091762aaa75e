//! Which entry points the adapter answered with success, and which waited natively. `cargo xtask test` gathers it from all test
//! binaries and holds it against `docs/coverage.md` (what the document calls supported has worked, and what it calls unsupported
//! has not) and against the specification (what waited says when it blocks).
//!
//! Each process leaves a file named for the function, with the test's name in it, in the folder that `UR_TEST_ANSWERED` names, and nothing where
//! that is not set. Only calls through [`crate::ur`] are seen. Nothing here fails a test.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use ur_ffi::releases::any::{AllFunctions, FUNCTIONS};
use ur_ffi::ur_result_t;

use crate::sim::Sim;

/// As many functions as the table has room for.
const SLOTS: usize = size_of::<AllFunctions>() / size_of::<usize>();

/// The functions that were written down, by their place in the table.
static WRITTEN: [AtomicBool; SLOTS] = [const { AtomicBool::new(false) }; SLOTS];

fn folder() -> Option<&'static PathBuf> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let named = || std::env::var_os("UR_TEST_ANSWERED").filter(|name| !name.is_empty());
    FOLDER.get_or_init(|| named().map(PathBuf::from)).as_ref()
}

/// The same of functions that waited.
static WAITED: [AtomicBool; SLOTS] = [const { AtomicBool::new(false) }; SLOTS];

/// What a file is called behind its function's name where a call of the function waited.
const WAITED_SUFFIX: &str = ".waited";

/// How often native calls of this thread waited for work that was not done, as far as the simulated driver is there to tell.
pub fn waits_so_far() -> u64 {
    static DRIVER: OnceLock<Sim> = OnceLock::new();
    if folder().is_none() {
        return 0;
    }
    // It is loaded by the first call that needs it, so it is looked for until it is there.
    let driver = DRIVER.get().or_else(|| Sim::loaded().map(|driver| DRIVER.get_or_init(|| driver)));
    driver.map_or(0, Sim::waits_of_thread)
}

/// Writes down of the function at `offset` in [`AllFunctions`] the first answer that is success, and the first call in which this
/// thread waited more often than `waits_before`.
///
/// # Panics
/// When the folder cannot be written to.
#[inline]
pub fn note(offset: usize, answer: ur_result_t, waits_before: u64) {
    let is_new = |written: &[AtomicBool; SLOTS]| !written[offset / size_of::<usize>()].load(Ordering::Relaxed);
    if answer == ur_result_t::SUCCESS && is_new(&WRITTEN) {
        write_down(offset, &WRITTEN, "");
    }
    if is_new(&WAITED) && waits_so_far() > waits_before {
        write_down(offset, &WAITED, WAITED_SUFFIX);
    }
}

#[cold]
fn write_down(offset: usize, written: &[AtomicBool; SLOTS], suffix: &str) {
    written[offset / size_of::<usize>()].store(true, Ordering::Relaxed);
    let Some(folder) = folder() else { return };
    let function = FUNCTIONS.iter().find(|function| function.slot.is_some_and(|slot| slot.offset == offset));
    let path = folder.join(format!("{}{suffix}", function.expect("every slot has a function").name));
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    std::fs::write(&path, test).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
