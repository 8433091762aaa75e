//! Where things lie in an installation: `bin`, `lib` and `share/kernels` beside each other. It only looks.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::DEFAULT_LOADER;

/// The folder of the kernels: `share/kernels` of the installation this program lies in, else the source tree's.
#[must_use]
pub fn kernel_folder() -> PathBuf {
    let installed = beside("share/kernels").filter(|folder| folder.is_dir());
    installed.unwrap_or_else(|| Path::new("conformance/kernels").to_owned())
}

/// The loader of the installation this program lies in, else the name for the dynamic linker, which also stands for one in
/// `LD_LIBRARY_PATH`. A run path would find the same, and adapters for whatever else the program opens: those beside the program,
/// which a loader that lies elsewhere does not find.
#[must_use]
pub fn loader() -> OsString {
    let named = env::var_os("LD_LIBRARY_PATH").filter(|folders| !folders.is_empty());
    let is_named = named.is_some_and(|all| env::split_paths(&all).any(|folder| folder.join(DEFAULT_LOADER).exists()));
    let installed = beside("lib").map(|folder| folder.join(DEFAULT_LOADER)).filter(|file| file.is_file() && !is_named);
    installed.map_or_else(|| DEFAULT_LOADER.into(), PathBuf::into_os_string)
}

/// What lies beside this program's folder.
fn beside(path: &str) -> Option<PathBuf> {
    Some(env::current_exe().ok()?.parent()?.parent()?.join(path))
}
