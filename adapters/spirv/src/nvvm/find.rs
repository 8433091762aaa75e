//! Where libnvvm lies. The first of these that exists is taken: the variable's file; the Python packages `nvidia-nvvm` and
//! `nvidia-cuda-nvcc` beside this library or in the active environment; the CUDA toolkit; what the dynamic linker finds.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

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
    candidates()
        .into_iter()
        .find_map(|candidate| {
            let is_bare = candidate.components().count() == 1;
            if is_bare {
                linker_folders().map(|folder| folder.join(&candidate)).find(|file| file.is_file())
            } else {
                Some(candidate)
            }
        })
        .filter(|file| file.is_file())
}

/// Where the dynamic linker looks for a bare name on the usual systems.
pub(crate) fn linker_folders() -> impl Iterator<Item = PathBuf> {
    const USUAL: [&str; 5] =
        ["/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
    let named = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let named: Vec<PathBuf> = env::split_paths(&named).filter(|folder| folder.is_absolute()).collect();
    named.into_iter().chain(USUAL.map(PathBuf::from))
}

/// The file of libdevice that belongs to a library.
pub(super) fn libdevice(library: &Path) -> Option<PathBuf> {
    let folder = library.parent()?;
    LIBDEVICE.iter().map(|name| folder.join(name)).find(|file| file.is_file())
}

/// `site-packages` of this library's wheel and of the active environment.
fn package_folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    if let Some(own) = own_file() {
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

/// The file that holds this code: the adapter, where this crate is part of one.
fn own_file() -> Option<PathBuf> {
    let here = own_file as *const () as usize;
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| mapped_file(line, here))
}

/// The file of a line of `/proc/self/maps`, if it covers the address.
fn mapped_file(line: &str, address: usize) -> Option<PathBuf> {
    let (range, rest) = line.split_once(' ')?;
    let (first, end) = range.split_once('-')?;
    let (first, end) = (usize::from_str_radix(first, 16).ok()?, usize::from_str_radix(end, 16).ok()?);
    let path = &rest[rest.find('/')?..];
    (first <= address && address < end).then(|| PathBuf::from(path))
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
    fn own_file_is_the_program_that_runs() {
        let own = own_file().unwrap();
        assert_eq!(own.canonicalize().unwrap(), env::current_exe().unwrap().canonicalize().unwrap());
    }

    #[test]
    fn a_line_of_the_map_names_its_file_for_addresses_inside_it_alone() {
        let line = "1000-2000 r-xp 00000000 00:00 0    /lib/with a space.so";
        assert_eq!(mapped_file(line, 0x1fff), Some(PathBuf::from("/lib/with a space.so")));
        assert_eq!(mapped_file(line, 0x2000), None);
        assert_eq!(mapped_file("1000-2000 rw-p 00000000 00:00 0", 0x1000), None);
    }
}
