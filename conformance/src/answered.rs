//! Which entry points the adapter answered with success. `cargo xtask test` gathers it from all test binaries and holds it
//! against `docs/coverage.md`: what the document calls supported has worked, and what it calls unsupported has not.
//!
//! Each process leaves an empty file named for the function in the folder that `UR_TEST_ANSWERED` names, and nothing where
//! that is not set. Only calls through [`crate::ur`] are seen. Nothing here fails a test.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use ur_ffi::releases::any::{AllFunctions, FUNCTIONS};
use ur_ffi::ur_result_t;

/// As many functions as the table has room for.
const SLOTS: usize = size_of::<AllFunctions>() / size_of::<usize>();

/// The functions that were written down, by their place in the table.
static WRITTEN: [AtomicBool; SLOTS] = [const { AtomicBool::new(false) }; SLOTS];

fn folder() -> Option<&'static PathBuf> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let named = || std::env::var_os("UR_TEST_ANSWERED").filter(|name| !name.is_empty());
    FOLDER.get_or_init(|| named().map(PathBuf::from)).as_ref()
}

/// Writes an answer of the function at `offset` in [`AllFunctions`] down, if it is success and the first one.
///
/// # Panics
/// When the folder cannot be written to.
#[inline]
pub fn note(offset: usize, answer: ur_result_t) {
    if answer == ur_result_t::SUCCESS && !WRITTEN[offset / size_of::<usize>()].load(Ordering::Relaxed) {
        write_down(offset);
    }
}

#[cold]
fn write_down(offset: usize) {
    WRITTEN[offset / size_of::<usize>()].store(true, Ordering::Relaxed);
    let Some(folder) = folder() else { return };
    let function = FUNCTIONS.iter().find(|function| function.slot.is_some_and(|slot| slot.offset == offset));
    let path = folder.join(function.expect("every slot has a function").name);
    std::fs::write(&path, []).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
