//! Which file the dynamic linker has, or would take, for a library's name. Nothing of the library runs.
//!
//! It follows the linker's own order: what is loaded under that name, the folders that program, adapter and `LD_LIBRARY_PATH`
//! name, the linker's cache, its usual folders. It does not read the files: of a library in variants for newer processors it
//! names the plain one, and it takes a file for another machine for one that fits. [`loaded_from`] has no such doubt.

mod cache;

use std::ffi::{CStr, OsStr, OsString, c_char, c_int, c_void};
use std::fs;
use std::mem::size_of;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::null;

use libloading::Library;
use libloading::os::unix::{self, RTLD_LAZY, RTLD_LOCAL};

/// The folders that the linker takes last, after its cache.
const USUAL: [&str; 8] = [
    "/lib",
    "/usr/lib",
    "/lib64",
    "/usr/lib64",
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
];

/// The file that is opened by that path, or by that name without a folder, if there is one.
pub(crate) fn file_at(path: &Path) -> Option<PathBuf> {
    let is_name = !path.as_os_str().as_bytes().contains(&b'/');
    if is_name { file_of(path.as_os_str()) } else { Some(path.to_path_buf()).filter(|file| file.is_file()) }
}

/// The file for a name.
fn file_of(name: &OsStr) -> Option<PathBuf> {
    let in_folders = |folders: &[PathBuf]| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file());
    let of_loaded = open_loaded(name).and_then(|library| loaded_from(library.into()).1);
    of_loaded.or_else(|| {
        let (usual, named): (Vec<_>, Vec<_>) =
            folders().into_iter().partition(|folder| USUAL.iter().any(|usual| folder == Path::new(usual)));
        in_folders(&named).or_else(|| cache::file_of(name)).or_else(|| in_folders(&usual))
    })
}

/// An opened library, and the file that the linker has taken for it.
pub(crate) fn loaded_from(library: Library) -> (Library, Option<PathBuf>) {
    let handle = unix::Library::from(library).into_raw();
    let mut map: *const LinkMap = null();
    // SAFETY: a library's handle; `map` is written.
    let answer = unsafe { libc::dlinfo(handle, libc::RTLD_DI_LINKMAP, (&raw mut map).cast()) };
    // SAFETY: the linker's own description of the library, which lives as long as the handle.
    let name = (answer == 0).then(|| unsafe { text((*map).name) });
    // SAFETY: the handle is the one from above, and nobody else has it.
    let library = unsafe { unix::Library::from_raw(handle) };
    (library.into(), name.flatten().map(PathBuf::from))
}

/// The file that holds this code: the adapter, where this crate is part of one.
pub(crate) fn own_file() -> Option<PathBuf> {
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

/// A library that the process has loaded already.
fn open_loaded(name: &OsStr) -> Option<unix::Library> {
    // SAFETY: nothing is loaded and no initialiser runs, by the flag.
    unsafe { unix::Library::open(Some(name), RTLD_LAZY | RTLD_LOCAL | libc::RTLD_NOLOAD) }.ok()
}

/// The folders in which the linker looks for what this code opens, in its order and without its cache: what the process began
/// with, which may be other than its environment says now.
fn folders() -> Vec<PathBuf> {
    let own = own_file().and_then(|file| open_loaded(file.as_os_str()));
    let handle = own.unwrap_or_else(unix::Library::this).into_raw();
    // SAFETY: a library's handle.
    let folders = unsafe { search_path(handle) };
    // SAFETY: the handle is the one from above, and nobody else has it.
    drop(unsafe { unix::Library::from_raw(handle) });
    folders
}

/// What `dlinfo` says of the folders for what a library opens.
///
/// # Safety
/// It is a library's handle.
unsafe fn search_path(handle: *mut c_void) -> Vec<PathBuf> {
    let mut head = Head::default();
    // SAFETY: the caller's handle; `head` is written.
    if unsafe { libc::dlinfo(handle, libc::RTLD_DI_SERINFOSIZE, (&raw mut head).cast()) } != 0 {
        return Vec::new();
    }
    let count = head.count as usize;
    let size_bytes = head.size_bytes.max(size_of::<Head>() + count * size_of::<Folder>());
    // Of words, so that it is aligned; of zeroes, so that an entry that is not written has no name.
    let mut answer = vec![0_usize; size_bytes.div_ceil(size_of::<usize>())];
    let start = answer.as_mut_ptr();
    // SAFETY: the buffer is as large as `head` says, and begins with `head`, as the linker wants it.
    let status = unsafe {
        start.cast::<Head>().write(head);
        libc::dlinfo(handle, libc::RTLD_DI_SERINFO, start.cast())
    };
    if status != 0 {
        return Vec::new();
    }
    // SAFETY: the buffer has room for the head and so many entries, and all of it is written.
    let entries = unsafe { std::slice::from_raw_parts(start.byte_add(size_of::<Head>()).cast::<Folder>(), count) };
    // SAFETY: the linker has put the names into the buffer, behind the entries.
    entries.iter().filter_map(|entry| unsafe { text(entry.name) }).map(PathBuf::from).collect()
}

/// The text behind a pointer; `None` for null and for no text.
///
/// # Safety
/// It is null or a string.
unsafe fn text(pointer: *const c_char) -> Option<OsString> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the caller's.
    let bytes = unsafe { CStr::from_ptr(pointer) }.to_bytes();
    (!bytes.is_empty()).then(|| OsStr::from_bytes(bytes).to_owned())
}

/// The public part of glibc's `struct link_map`, as far as it is read.
#[repr(C)]
struct LinkMap {
    address: usize,
    name: *const c_char,
}

/// The head of glibc's `Dl_serinfo`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Head {
    size_bytes: usize,
    count: u32,
}

/// glibc's `Dl_serpath`.
#[repr(C)]
struct Folder {
    name: *const c_char,
    flags: c_int,
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn own_file_is_the_program_that_runs() {
        let own = own_file().unwrap();
        assert_eq!(own.canonicalize().unwrap(), std::env::current_exe().unwrap().canonicalize().unwrap());
    }

    #[test]
    fn a_line_of_the_map_names_its_file_for_addresses_inside_it_alone() {
        let line = "1000-2000 r-xp 00000000 00:00 0    /lib/with a space.so";
        assert_eq!(mapped_file(line, 0x1fff), Some(PathBuf::from("/lib/with a space.so")));
        assert_eq!(mapped_file(line, 0x2000), None);
        assert_eq!(mapped_file("1000-2000 rw-p 00000000 00:00 0", 0x1000), None);
    }

    #[test]
    fn a_library_that_is_loaded_is_found_by_its_name_wherever_it_lies() {
        const NAME: &str = "libur-test-loaded.so.4";
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("another-name.so");
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-nostdlib", "-x", "c", "/dev/null", &format!("-Wl,-soname,{NAME}"), "-o"]).arg(&file);
        assert!(cc.status().unwrap().success());
        assert_eq!(file_of(OsStr::new(NAME)), None);
        // SAFETY: the library has no initialisers.
        let library = unsafe { Library::new(&file) }.unwrap();
        let (library, from) = loaded_from(library);
        assert_eq!(from.as_ref(), Some(&file));
        assert_eq!(file_of(OsStr::new(NAME)), Some(file));
        library.close().unwrap();
        assert_eq!(file_of(OsStr::new(NAME)), None);
    }

    #[test]
    fn the_folders_are_those_that_the_process_began_with() {
        let folders = folders();
        assert!(folders.iter().any(|folder| USUAL.iter().any(|usual| folder == Path::new(usual))), "{folders:?}");
        let named = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        for folder in std::env::split_paths(&named).filter(|folder| folder.is_absolute() && folder.is_dir()) {
            let is_named = |known: &PathBuf| known.canonicalize().ok() == folder.canonicalize().ok();
            assert!(folders.iter().any(is_named), "{} is not in {folders:?}", folder.display());
        }
    }
}
