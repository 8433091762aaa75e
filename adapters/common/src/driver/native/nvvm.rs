//! libnvvm: where it is, and the one copy of it that the process has opened.
//!
//! Whether it is there, and which one it is, is told by its file alone; it is opened for the first module that no cache has. A
//! library that could not be opened is looked for again at the next build, so that one installed meanwhile is found. In a
//! process with raised rights (set-user-ID and the like) variables could name any library, so none is opened.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use ur_ffi::ur_result_t;
use ur_spirv::Dialect;
use ur_spirv::nvvm::{CompileError, Compiler, Nvvm, found};

use crate::driver::native::library::has_raised_rights;
use crate::object::error::{Error, Result};

/// The versions that are taken, as `UR_DEVICE_INFO_IL_VERSION` names them.
pub const VERSIONS: &str = "SPIR-V_1.0 SPIR-V_1.1 SPIR-V_1.2 SPIR-V_1.3 SPIR-V_1.4 SPIR-V_1.5 SPIR-V_1.6";

/// Held while the library is opened; only those who need it wait.
static OPENED: Mutex<Option<Arc<Nvvm>>> = Mutex::new(None);

/// Architectures that libnvvm has known, newest first. PTX of one runs on all later devices.
const ARCHITECTURES: [u32; 14] = [121, 120, 110, 103, 101, 100, 90, 89, 87, 86, 80, 75, 72, 70];

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
pub fn open() -> Result<Arc<Nvvm>> {
    if has_raised_rights() {
        return Err(Error::new(
            ur_result_t::ERROR_COMPILER_NOT_AVAILABLE,
            "SPIR-V is not compiled in a process with raised rights, whose variables could name any library",
        ));
    }
    let mut opened = OPENED.lock();
    if let Some(nvvm) = &*opened {
        return Ok(Arc::clone(nvvm));
    }
    let nvvm = Arc::new(Nvvm::open().map_err(|error| failed(&error))?);
    *opened = Some(Arc::clone(&nvvm));
    Ok(nvvm)
}

/// The newest architecture that the library knows and the device runs, and its dialect.
///
/// # Errors
/// `COMPILER_NOT_AVAILABLE` when the library knows none.
pub fn architecture(nvvm: &Nvvm, device: u32) -> Result<(u32, Dialect)> {
    let first = match nvvm.dialect(device) {
        Ok(dialect) => return Ok((device, dialect)),
        Err(error) => error,
    };
    let older = ARCHITECTURES.into_iter().filter(|sm| *sm < device);
    let known = older.filter_map(|sm| Some((sm, nvvm.dialect(sm).ok()?))).next();
    known.ok_or_else(|| {
        Error::new(
            ur_result_t::ERROR_COMPILER_NOT_AVAILABLE,
            format!("{}: {first}; install another release of `nvidia-nvvm`", nvvm.path().display()),
        )
    })
}

/// The engine's error for libnvvm's.
#[must_use]
pub fn failed(error: &CompileError) -> Error {
    let code = match error {
        CompileError::Missing(_) => ur_result_t::ERROR_COMPILER_NOT_AVAILABLE,
        CompileError::Refused { .. } => ur_result_t::ERROR_PROGRAM_BUILD_FAILURE,
    };
    Error::new(code, error.to_string())
}
