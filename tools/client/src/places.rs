//! Where things lie in an installation: `bin`, `lib` and `share/kernels` beside each other. It only looks.

use std::path::{Path, PathBuf};

/// The folder of the kernels: `share/kernels` of the installation this program lies in, else the source tree's.
#[must_use]
pub fn kernel_folder() -> PathBuf {
    let installed = std::env::current_exe()
        .ok()
        .and_then(|program| Some(program.parent()?.parent()?.join("share/kernels")))
        .filter(|folder| folder.is_dir());
    installed.unwrap_or_else(|| Path::new("conformance/kernels").to_owned())
}
