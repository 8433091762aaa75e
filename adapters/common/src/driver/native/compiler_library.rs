//! A library that compiles SPIR-V: which one it is, and the one copy of it that the process has opened.
//!
//! Whether it is there, and which one it is, is told by its file alone; it is opened for the first module that no cache has. A
//! library that could not be opened is looked for again at the next build, so that one installed meanwhile is found. In a
//! process with raised rights (set-user-ID and the like) variables could name any library, so none is opened.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use ur_ffi::ur_result_t;

use crate::driver::native::library::has_raised_rights;
use crate::object::error::{Error, Result};

/// The process's copy of a library `L`.
pub struct CompilerLibrary<L> {
    /// Held while the library is opened; only those who need it wait.
    opened: Mutex<Option<Arc<L>>>,
    identity: OnceLock<String>,
}

impl<L> CompilerLibrary<L> {
    /// One that nobody has asked for yet.
    #[allow(clippy::new_without_default, reason = "made in statics alone")]
    pub const fn new() -> Self {
        Self { opened: Mutex::new(None), identity: OnceLock::new() }
    }

    /// Which library it is: its file, size and time of change. Asked once found: a process stays with the library that it has.
    pub fn identity(&self, find: impl FnOnce() -> Option<PathBuf>) -> Option<String> {
        if let Some(known) = self.identity.get() {
            return Some(known.clone());
        }
        if has_raised_rights() {
            return None;
        }
        let file = find()?;
        let data = fs::metadata(&file).ok()?;
        let text = format!("{} {} {}.{:09}", file.display(), data.size(), data.mtime(), data.mtime_nsec());
        Some(self.identity.get_or_init(|| text).clone())
    }

    /// The library, opened now if it was not.
    ///
    /// # Errors
    /// `COMPILER_NOT_AVAILABLE` in a process with raised rights; what `open` answers.
    pub fn get(&self, open: impl FnOnce() -> Result<L>) -> Result<Arc<L>> {
        if has_raised_rights() {
            return Err(Error::new(
                ur_result_t::ERROR_COMPILER_NOT_AVAILABLE,
                "SPIR-V is not compiled in a process with raised rights, whose variables could name any library",
            ));
        }
        let mut opened = self.opened.lock();
        if let Some(library) = &*opened {
            return Ok(Arc::clone(library));
        }
        let library = Arc::new(open()?);
        *opened = Some(Arc::clone(&library));
        Ok(library)
    }
}
