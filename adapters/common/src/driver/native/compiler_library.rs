//! A library that compiles SPIR-V: which one it is, and the one copy of it that the process has opened.
//!
//! Whether it is there, and which one it is, is told by the file that would be opened; the library is opened for the first module
//! that no cache has. From then on it is known by its own file, which can be another: a name that stands for what the process has
//! loaded meanwhile, or a second file where the first was no such library. A library that could not be opened is looked for again
//! at the next build, so that one installed meanwhile is found. In a process with raised rights (set-user-ID and the like)
//! variables could name any library, so none is opened.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use ur_ffi::ur_result_t;

use crate::driver::native::library::has_raised_rights;
use crate::object::error::{Error, Result};

/// A library that was opened.
pub trait Opened {
    /// Its file.
    fn file(&self) -> &Path;
}

/// The process's copy of a library `L`.
pub struct CompilerLibrary<L> {
    /// Held while the library is opened; only those who need it wait.
    opened: Mutex<Option<Arc<L>>>,
    /// A leaf: nothing is done while it is held.
    identity: Mutex<Option<Arc<str>>>,
}

impl<L: Opened> CompilerLibrary<L> {
    /// One that nobody has asked for yet.
    #[allow(clippy::new_without_default, reason = "made in statics alone")]
    pub const fn new() -> Self {
        Self { opened: Mutex::new(None), identity: Mutex::new(None) }
    }

    /// Which library it is: its file, size and time of change. Once found it stays, unless another one is opened.
    pub fn identity(&self, find: impl FnOnce() -> Option<PathBuf>) -> Option<Arc<str>> {
        let known = self.identity.lock().clone();
        if known.is_some() || has_raised_rights() {
            return known;
        }
        let found = identity_of(&find()?)?;
        Some(Arc::clone(self.identity.lock().get_or_insert(found)))
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
        if let Some(own) = identity_of(library.file()) {
            *self.identity.lock() = Some(own);
        }
        *opened = Some(Arc::clone(&library));
        Ok(library)
    }
}

/// What tells a file from others and from what it was before. Links are followed, so that all paths to a file are the same.
fn identity_of(file: &Path) -> Option<Arc<str>> {
    let file = fs::canonicalize(file).ok()?;
    let data = fs::metadata(&file).ok()?;
    Some(format!("{} {} {}.{:09}", file.display(), data.size(), data.mtime(), data.mtime_nsec()).into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::driver::native::library::tests::RaisedRights;

    struct Library(PathBuf);

    impl Opened for Library {
        fn file(&self) -> &Path {
            &self.0
        }
    }

    #[test]
    fn a_library_is_the_file_that_was_found_until_another_one_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let [found, opened] = ["found", "opened"].map(|name| folder.path().join(name));
        for file in [&found, &opened] {
            fs::write(file, b"").unwrap();
        }
        let library = CompilerLibrary::new();
        assert_eq!(library.identity(|| None), None);
        let before = library.identity(|| Some(found.clone())).unwrap();
        assert!(before.contains("found"), "{before}");
        assert_eq!(library.identity(|| panic!("it is known")), Some(before));
        library.get(|| Ok(Library(opened.clone()))).map(drop).unwrap();
        let after = library.identity(|| panic!("it is known")).unwrap();
        assert!(after.contains("opened"), "{after}");
    }

    #[test]
    fn with_raised_rights_no_library_is_opened() {
        let library = CompilerLibrary::<Library>::new();
        let raised = RaisedRights::simulate();
        let refused = library.get(|| panic!("a library was opened")).map(drop).unwrap_err();
        assert_eq!(refused.code(), ur_result_t::ERROR_COMPILER_NOT_AVAILABLE);
        drop(raised);
        assert!(library.get(|| Ok(Library(PathBuf::new()))).is_ok(), "nothing else refused it");
    }

    #[test]
    fn with_raised_rights_no_library_is_looked_for() {
        let folder = tempfile::tempdir().unwrap();
        let library = CompilerLibrary::<Library>::new();
        let raised = RaisedRights::simulate();
        assert_eq!(library.identity(|| panic!("a library was looked for")), None);
        drop(raised);
        assert!(library.identity(|| Some(folder.path().to_path_buf())).is_some(), "nothing else kept it from that");
    }

    #[test]
    fn a_library_is_the_same_by_each_of_its_paths() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        fs::write(&file, b"").unwrap();
        symlink(&file, &link).unwrap();
        assert!(identity_of(&file).is_some());
        assert_eq!(identity_of(&file), identity_of(&link));
    }
}
