//! Where libamd_comgr lies. The first of these that exists is taken: the variable's file, ROCm's folder, what the dynamic linker finds,
//! which in a process of HIP's is the copy that it has loaded.

use std::env;
use std::path::{Path, PathBuf};

use crate::linker;

/// Names the library's file. If it is set, nothing else is looked at.
pub const LIBRARY_VARIABLE: &str = "UR_COMGR_LIBRARY";

/// The library of the interface whose numbers this crate knows.
const NAME: &str = "libamd_comgr.so.2";

/// The files to try, best first. The last is a bare name for the dynamic linker.
#[must_use]
pub fn candidates() -> Vec<PathBuf> {
    if let Some(file) = env::var_os(LIBRARY_VARIABLE).filter(|file| !file.is_empty()) {
        return vec![PathBuf::from(file)];
    }
    let mut list = Vec::new();
    let named = env::var_os("ROCM_PATH").map(PathBuf::from);
    for root in named.iter().map(PathBuf::as_path).chain([Path::new("/opt/rocm")]) {
        list.extend(Some(root.join("lib").join(NAME)).filter(|file| file.is_file()));
    }
    list.push(PathBuf::from(NAME));
    list
}

/// The file that would be opened first, if there is one. Nothing is opened.
#[must_use]
pub fn found() -> Option<PathBuf> {
    candidates().into_iter().find_map(|candidate| linker::file_at(&candidate))
}
