//! Where libnvvm lies. The first of these that exists is taken: the variable's file; the Python packages `nvidia-nvvm` and
//! `nvidia-cuda-nvcc` beside this library, in the environment that it is installed in, or in the active one; the CUDA toolkit; what
//! the dynamic linker finds.

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

/// What the variable names.
fn named() -> Option<PathBuf> {
    env::var_os(LIBRARY_VARIABLE).filter(|file| !file.is_empty()).map(PathBuf::from)
}

/// The files to try, best first. The last is a bare name for the dynamic linker.
#[must_use]
pub fn candidates() -> Vec<PathBuf> {
    if let Some(file) = named() {
        return vec![file];
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

/// The folders that [`candidates`] looks into, for messages.
pub(super) fn folders() -> Vec<PathBuf> {
    if named().is_some() { Vec::new() } else { package_folders().into_iter().chain(toolkit_folders()).collect() }
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

/// Where Python packages lie: around this library, in the environment that it is installed in, in the active one.
fn package_folders() -> Vec<PathBuf> {
    let mut folders = linker::own_file().map(|own| packages_around(&own)).unwrap_or_default();
    let active = ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(env::var_os);
    folders.extend(active.flat_map(|root| packages_of(Path::new(&root))));
    folders
}

/// The folders above a library, for packages that lie beside it, and the packages of the environment whose `lib` it is in, which
/// is where a wheel puts it.
fn packages_around(own: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = own.ancestors().skip(1).take(6).map(Path::to_path_buf).collect();
    folders.extend(own.ancestors().nth(2).map(packages_of).unwrap_or_default());
    folders
}

/// The packages of an environment's Pythons. Debian calls the folder `dist-packages` where pip installs for everybody.
fn packages_of(root: &Path) -> Vec<PathBuf> {
    let is_python = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"));
    let libraries = ["lib", "lib64"].into_iter().filter_map(|folder| fs::read_dir(root.join(folder)).ok());
    let mut pythons: Vec<PathBuf> = libraries.flatten().flatten().map(|entry| entry.path()).filter(is_python).collect();
    pythons.sort();
    let packages = ["site-packages", "dist-packages"];
    pythons.iter().flat_map(|python| packages.map(|folder| python.join(folder))).filter(|path| path.is_dir()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_that_holds_this_library_has_its_packages_too() {
        let root = tempfile::tempdir().unwrap();
        let (lib, lib64) = (root.path().join("lib"), root.path().join("lib64"));
        let packages = [
            lib.join("python3.11/site-packages"),
            lib.join("python3/dist-packages"),
            lib64.join("python3.12/site-packages"),
        ];
        for folder in &packages {
            fs::create_dir_all(folder).unwrap();
        }
        fs::create_dir(lib.join("python3.10")).unwrap();
        let found = packages_around(&lib.join("libur_adapter_cuda.so.0"));
        assert_eq!(found[..2], [lib, root.path().to_path_buf()]);
        for folder in &packages {
            assert!(found.contains(folder), "{} is not in {found:?}", folder.display());
        }
        assert_eq!(packages_of(root.path()).len(), packages.len());
    }
}
