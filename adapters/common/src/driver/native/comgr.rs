//! libamd_comgr: the process's copy of it.

use std::path::Path;
use std::sync::Arc;

use ur_spirv::comgr::{Comgr, found};

use crate::driver::native::compiler_library::{CompilerLibrary, Opened};
pub use crate::driver::native::nvvm::failed;
use crate::object::error::Result;

static LIBRARY: CompilerLibrary<Comgr> = CompilerLibrary::new();

impl Opened for Comgr {
    fn file(&self) -> &Path {
        self.path()
    }
}

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
pub fn open() -> Result<Arc<Comgr>> {
    LIBRARY.get(|| Comgr::open().map_err(|error| failed(&error)))
}
