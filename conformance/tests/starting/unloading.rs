//! What is left of an adapter's library when a loader closes it again; others' libraries need not bear that.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

use core::ffi::c_int;
use core::ptr::null_mut;
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use ur_conformance::ffi::{ur_adapter_dditable_t, ur_api_version_t, ur_result_t};
use ur_conformance::{Environment, needs_ours};

/// glibc's and musl's flag: only what is loaded already.
const RTLD_NOLOAD: c_int = 4;

type Getter = unsafe extern "C" fn(ur_api_version_t, *mut ur_adapter_dditable_t) -> ur_result_t;

/// A copy of the adapter, which nobody else has loaded.
fn copy_in(folder: &tempfile::TempDir) -> PathBuf {
    let adapter = Environment::get().adapter.to_string_lossy().into_owned();
    let adapter = Path::new(adapter.rsplit(',').next().unwrap_or_default());
    let copy = folder.path().join(adapter.file_name().expect("a library's path"));
    std::fs::copy(adapter, &copy).expect("a copy of the adapter");
    copy
}

fn open(path: &Path, flags: c_int) -> Option<Library> {
    // SAFETY: an adapter's initialisers do nothing but what Rust's own do.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL | flags) }.ok()
}

fn is_loaded(path: &Path) -> bool {
    open(path, RTLD_NOLOAD).is_some()
}

/// Asks the library for its table of adapter functions, as loaders do first.
fn functions_of(library: &Library) -> ur_adapter_dditable_t {
    // SAFETY: the symbol is a getter by the adapter contract, and the table's layout is that of all releases.
    let getter = unsafe { library.get::<Getter>(b"urGetAdapterProcAddrTable\0") }.expect("a getter");
    let mut table = ur_adapter_dditable_t::default();
    // SAFETY: the output is a live local.
    assert_eq!(unsafe { getter(ur_api_version_t::CURRENT, &raw mut table) }, ur_result_t::SUCCESS);
    table
}

#[test]
fn an_adapter_that_gave_no_handle_is_gone_when_it_is_closed() {
    needs_ours!("may be closed, with handles and threads of theirs still there");
    let folder = tempfile::tempdir().expect("a place for a copy");
    let path = copy_in(&folder);
    let library = open(&path, 0).expect("the adapter");
    let get = functions_of(&library).pfnGet.expect("urAdapterGet");
    let mut count = 0;
    // SAFETY: counting needs no array.
    assert_eq!(unsafe { get(0, null_mut(), &raw mut count) }, ur_result_t::SUCCESS);
    assert_eq!((count, is_loaded(&path)), (1, true));
    drop(library);
    assert!(!is_loaded(&path), "a later search for the same name finds what a loader refused");
}

#[test]
fn an_adapter_that_gave_a_handle_stays_when_it_is_closed() {
    needs_ours!("may be closed, with handles and threads of theirs still there");
    let folder = tempfile::tempdir().expect("a place for a copy");
    let path = copy_in(&folder);
    let library = open(&path, 0).expect("the adapter");
    let table = functions_of(&library);
    let (get, release) = (table.pfnGet.expect("urAdapterGet"), table.pfnRelease.expect("urAdapterRelease"));
    let mut adapter = null_mut();
    // SAFETY: the list has room for one handle.
    assert_eq!(unsafe { get(1, &raw mut adapter, null_mut()) }, ur_result_t::SUCCESS);
    drop(library);
    assert!(is_loaded(&path), "the handle leads to the library's code");
    // SAFETY: the handle is this test's, released once.
    assert_eq!(unsafe { release(adapter) }, ur_result_t::SUCCESS);
}

/// The linker waits for a thread's end before it unmaps code that the thread has destructors of.
#[test]
fn an_adapter_is_closed_under_a_thread_that_has_an_error_of_it() {
    needs_ours!("may be closed, with handles and threads of theirs still there");
    let folder = tempfile::tempdir().expect("a place for a copy");
    let path = copy_in(&folder);
    let of_thread = path.clone();
    let thread = std::thread::spawn(move || {
        let library = open(&of_thread, 0).expect("the adapter");
        let release = functions_of(&library).pfnRelease.expect("urAdapterRelease");
        // SAFETY: a null handle is refused.
        assert_eq!(unsafe { release(null_mut()) }, ur_result_t::ERROR_INVALID_NULL_HANDLE);
    });
    thread.join().expect("a thread that ends with its error");
    drop(open(&path, 0).expect("the adapter"));
    assert!(!is_loaded(&path));
}
