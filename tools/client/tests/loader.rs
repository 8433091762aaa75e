//! The client's promises, against small loaders that `cc` builds.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;
use ur_client::ffi::{ur_adapter_info_t, ur_result_t};
use ur_client::{NativeCalls, OpenError, Ur, call};

/// A loader with two adapters, one of which has a text for its last error; and counters, as a native library has.
const LOADER: &str = r#"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static int adapters[2];
int urLoaderInit(uint32_t flags, void *config) { (void)flags; return config ? 4 : 0; }
int urLoaderTearDown(void) { return 0; }
int urAdapterGet(uint32_t length, void **handles, uint32_t *count) {
    if (count) *count = 2;
    for (uint32_t i = 0; handles && i < length && i < 2; i++) handles[i] = &adapters[i];
    return 0;
}
int urAdapterGetLastError(void *adapter, const char **message, int32_t *code) {
    *message = adapter == &adapters[0] ? "the fan is stuck" : "";
    *code = 42;
    return 0;
}
int urAdapterGetInfo(void *adapter, uint32_t name, size_t size, void *value, size_t *needed) {
    (void)adapter;
    if (name != 0) return 54;
    uint32_t backend = 3;
    if (needed) *needed = 4;
    if (value && size >= 4) memcpy(value, &backend, 4);
    return 0;
}
int urPlatformGet(void *adapter, uint32_t length, void **handles, uint32_t *count) {
    (void)adapter, (void)length, (void)handles, (void)count;
    return 66;
}
/* Writes far too much: the client must not use it. */
int urGetAdapterProcAddrTable(int version, void *table) { (void)version, (void)table; abort(); }
uint64_t callcountTotal(void) { return 7; }
uint64_t callcountOf(const char *name) { return strcmp(name, "cuInit") ? 2 : 5; }
void callcountEach(void (*callback)(const char *, uint64_t, void *), void *data) {
    callback("cuInit", 5, data);
    callback("cuNever", 0, data);
    callback("cuOther", 2, data);
}
"#;

fn library(source: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, out) = (folder.path().join("loader.c"), folder.path().join("libloader.so"));
    std::fs::write(&file, source).expect("the folder can be written");
    let status = Command::new("cc").args(["-shared", "-fPIC"]).arg(file).arg("-o").arg(&out).status();
    assert!(status.expect("cc runs").success());
    (folder, out)
}

#[test]
fn functions_are_found_by_name_and_missing_ones_are_named() {
    let (_folder, path) = library(LOADER);
    let ur = Ur::open(&path).expect("it is a loader");
    assert!(ur.table.Adapter.pfnGet.is_some() && ur.table.Queue.pfnFinish.is_none());
    ur.init().expect("init");
    // SAFETY: the function is missing, so nothing is called.
    let error = unsafe { call!(ur, Queue.pfnFinish(std::ptr::null_mut())) }.expect_err("it is missing");
    assert_eq!((error.call, error.is_unsupported()), ("urQueueFinish", true));
    ur.tear_down().expect("tear down");
}

#[test]
fn lists_and_queries_are_asked_for_their_size_first() {
    let (_folder, path) = library(LOADER);
    let ur = Ur::open(&path).expect("it is a loader");
    let adapters = ur.adapters().expect("two adapters");
    assert_eq!(adapters.len(), 2);
    assert_eq!(ur.adapter_info(adapters[0], ur_adapter_info_t(0)).expect("known").u32(), Some(3));
    let error = ur.adapter_info(adapters[0], ur_adapter_info_t::VERSION).expect_err("unknown to this one");
    assert_eq!((error.result, error.message), (ur_result_t::ERROR_UNSUPPORTED_ENUMERATION, None));
}

#[test]
fn an_error_carries_the_adapters_text() {
    let (_folder, path) = library(LOADER);
    let ur = Ur::open(&path).expect("it is a loader");
    let adapters = ur.adapters().expect("two adapters");
    let error = ur.platforms(adapters[1]).expect_err("it always fails");
    assert_eq!(error.call, "urPlatformGet");
    assert_eq!(error.result, ur_result_t::ERROR_ADAPTER_SPECIFIC);
    assert_eq!(error.message.as_deref(), Some("the fan is stuck"));
    assert_eq!(ur.last_error(adapters[0]), Some(("the fan is stuck".to_owned(), 42)));
    assert_eq!(ur.last_error(adapters[1]), None);
}

#[test]
fn what_is_no_loader_is_refused_by_name() {
    let (_folder, path) = library("int nothing(void) { return 0; }");
    assert!(matches!(Ur::open(&path), Err(OpenError::NotALoader { .. })));
    let missing = Ur::open("/nowhere/libur_loader.so.0").expect_err("there is none");
    assert!(missing.to_string().contains("/nowhere/libur_loader.so.0"), "{missing}");
}

#[test]
fn counters_are_read_from_a_loaded_library_only() {
    let (_folder, path) = library(LOADER);
    assert!(NativeCalls::of_loaded(path.as_os_str()).is_none(), "nobody has loaded it");
    let _ur = Ur::open(&path).expect("it is a loader");
    let calls = NativeCalls::of_loaded(path.as_os_str()).expect("it counts");
    assert_eq!((calls.total(), calls.of("cuInit")), (7, 5));
    assert_eq!(calls.each(), [("cuInit".to_owned(), 5), ("cuOther".to_owned(), 2)]);
    assert!(NativeCalls::of_loaded(OsStr::new("libc.so.6")).is_none(), "the C library does not count");
}
