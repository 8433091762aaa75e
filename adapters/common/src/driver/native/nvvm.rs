//! libnvvm: the process's copy of it, and the architectures that it knows.

use std::path::Path;
use std::sync::Arc;

use ur_ffi::ur_result_t;
use ur_spirv::Dialect;
use ur_spirv::nvvm::{CompileError, Compiler, Nvvm, found};

use crate::driver::native::compiler_library::{CompilerLibrary, Opened};
use crate::object::error::{Error, Result};

/// The versions that are taken, as `UR_DEVICE_INFO_IL_VERSION` names them.
pub const VERSIONS: &str = "SPIR-V_1.0 SPIR-V_1.1 SPIR-V_1.2 SPIR-V_1.3 SPIR-V_1.4 SPIR-V_1.5 SPIR-V_1.6";

static LIBRARY: CompilerLibrary<Nvvm> = CompilerLibrary::new();

impl Opened for Nvvm {
    fn file(&self) -> &Path {
        self.path()
    }
}

/// Architectures that libnvvm has known, newest first. PTX of one runs on all later devices.
const ARCHITECTURES: [u32; 14] = [121, 120, 110, 103, 101, 100, 90, 89, 87, 86, 80, 75, 72, 70];

/// Whether a library is there, without opening it.
#[must_use]
pub fn is_available() -> bool {
    identity().is_some()
}

/// Which library it is, for keys of what it has compiled.
#[must_use]
pub fn identity() -> Option<Arc<str>> {
    LIBRARY.identity(found)
}

/// The library.
///
/// # Errors
/// `COMPILER_NOT_AVAILABLE` with the package to install.
pub fn open() -> Result<Arc<Nvvm>> {
    LIBRARY.get(|| Nvvm::open().map_err(|error| failed(&error)))
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

/// The engine's error for a compiler's.
#[must_use]
pub fn failed(error: &CompileError) -> Error {
    let code = match error {
        CompileError::Missing(_) => ur_result_t::ERROR_COMPILER_NOT_AVAILABLE,
        CompileError::Refused { .. } => ur_result_t::ERROR_PROGRAM_BUILD_FAILURE,
    };
    Error::new(code, error.to_string())
}
