//! Where libnvvm lies. The first of these that exists is taken: the variable's file; the Python packages `nvidia-nvvm` and
//! `nvidia-cuda-nvcc` beside this library or in the active environment; the CUDA toolkit; what the dynamic linker finds.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::linker;

/// Names the library's file. If it is set, nothing else is looked at.
pub const LIBRARY_VARIABLE: &str = "UR_NVVM_LIBRARY";

/// Where the packages have the library below `site-packages`.
const IN_PACKAGES: [&str; 5] = [
    "nvidia/cu13/lib/libnvvm.so.4",
    "nvidia/cu13/nvvm/lib64/libnvvm.so.4",
    "nvidia/cu13/nvvm/lib64/libnvvm.so",
    "nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so",
    "nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so.4",
];
const IN_TOOLKIT: [&str; 2] = ["nvvm/lib64/libnvvm.so.4", "nvvm/lib64/libnvvm.so"];
const LIBDEVICE: [&str; 3] = ["../libdevice/libdevice.10.bc", "../nvvm/libdevice/libdevice.10.bc", "libdevice.10.bc"];

/// The files to try, best first. The last is a bare name for the dynamic linker.
#[must_use]
pub fn candidates() -> Vec<PathBuf> {
    if let Some(file) = env::var_os(LIBRARY_VARIABLE).filter(|file| !file.is_empty()) {
        return vec![PathBuf::from(file)];
    }
    let mut list = Vec::new();
    let mut add = |folder: &Path, names: &[&str]| {
        list.extend(names.iter().map(|name| folder.join(name)).filter(|file| file.is_file()));
    };
    for folder in package_folders() {
        add(&folder, &IN_PACKAGES);
    }
    for folder in toolkit_folders() {
        add(&folder, &IN_TOOLKIT);
    }
    list.push(PathBuf::from("libnvvm.so.4"));
    list
}

/// The file that would be opened first, if there is one. Nothing is opened: a file that is there may still be none that fits.
#[must_use]
pub fn found() -> Option<PathBuf> {
    candidates().into_iter().find_map(|candidate| linker::file_at(&candidate))
}

/// The file of libdevice that belongs to a library.
pub(super) fn libdevice(library: &Path) -> Option<PathBuf> {
    let folder = library.parent()?;
    LIBDEVICE.iter().map(|name| folder.join(name)).find(|file| file.is_file())
}

/// `site-packages` of this library's wheel and of the active environment.
fn package_folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    if let Some(own) = linker::own_file() {
        folders.extend(own.ancestors().skip(1).take(6).map(Path::to_path_buf));
    }
    for variable in ["VIRTUAL_ENV", "CONDA_PREFIX"] {
        let Some(root) = env::var_os(variable) else { continue };
        let Ok(entries) = fs::read_dir(Path::new(&root).join("lib")) else { continue };
        let python = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"));
        folders
            .extend(entries.flatten().map(|entry| entry.path()).filter(python).map(|path| path.join("site-packages")));
    }
    folders
}

fn toolkit_folders() -> Vec<PathBuf> {
    let named = ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(env::var_os).map(PathBuf::from);
    let mut folders: Vec<PathBuf> = named.collect();
    folders.push(PathBuf::from("/usr/local/cuda"));
    let versions = fs::read_dir("/usr/local").into_iter().flatten().flatten().map(|entry| entry.path());
    let mut versions: Vec<PathBuf> = versions
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("cuda-")))
        .collect();
    versions.sort();
    folders.extend(versions.into_iter().rev());
    folders
}
