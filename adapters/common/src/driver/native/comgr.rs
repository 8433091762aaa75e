//! libamd_comgr: where it is, and the one copy of it that the process has opened.
//!
//! As for libnvvm ([`super::nvvm`]): whether it is there is told by its file alone, it is opened for the first module that no cache
//! has, one that could not be opened is looked for again, and a process with raised rights opens none.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use ur_ffi::ur_result_t;
use ur_spirv::comgr::{Comgr, CompileError, found};

use crate::driver::native::library::has_raised_rights;
use crate::object::error::{Error, Result};

/// Held while the library is opened; only those who need it wait.
static OPENED: Mutex<Option<Arc<Comgr>>> = Mutex::new(None);

/// Whether a library is there, without opening it.
#[must_use]
pub fn is_available() -> bool {
    identity().is_some()
}

/// Which library it is: its file, size and time of change. Asked once found: a process stays with the library that it has.
#[must_use]
pub fn identity() -> Option<String> {
    static IDENTITY: OnceLock<String> = OnceLock::new();
    if let Some(known) = IDENTITY.get() {
        return Some(known.clone());
    }
    if has_raised_rights() {
        return None;
    }
    let file = found()?;
    let data = fs::metadata(&file).ok()?;
    let text = format!("{} {} {}.{:09}", file.display(), data.size(), data.mtime(), data.mtime_nsec());
    Some(IDENTITY.get_or_init(|| text).clone())
}

/// The library.
///
/// # Errors
/// `COMPILER_NOT_AVAILABLE` with the package to install.
pub fn open() -> Result<Arc<Comgr>> {
    if has_raised_rights() {
        return Err(Error::new(
            ur_result_t::ERROR_COMPILER_NOT_AVAILABLE,
            "SPIR-V is not compiled in a process with raised rights, whose variables could name any library",
        ));
    }
    let mut opened = OPENED.lock();
    if let Some(comgr) = &*opened {
        return Ok(Arc::clone(comgr));
    }
    let comgr = Arc::new(Comgr::open().map_err(|error| failed(&error))?);
    *opened = Some(Arc::clone(&comgr));
    Ok(comgr)
}

/// The engine's error for libamd_comgr's.
#[must_use]
pub fn failed(error: &CompileError) -> Error {
    let code = match error {
        CompileError::Missing(_) => ur_result_t::ERROR_COMPILER_NOT_AVAILABLE,
        CompileError::Refused { .. } => ur_result_t::ERROR_PROGRAM_BUILD_FAILURE,
    };
    Error::new(code, error.to_string())
}
