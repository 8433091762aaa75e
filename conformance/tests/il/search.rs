//! Which libnvvm is found where no variable names its file.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use ur_conformance::ffi::ur_device_info_t;
use ur_conformance::{Environment, Fixture, ask, child, query};

use crate::toolchain::{Toolchain, built};

/// Builds a program and checks that the library of this toolchain is the one that the device tells of, that compiles and whose
/// result is kept.
#[track_caller]
fn check_found(toolchain: &Toolchain) {
    let fixture = Fixture::new();
    let versions = query::text(ask!(Device.pfnGetInfo(fixture.device(), ur_device_info_t::IL_VERSION)));
    assert!(versions.contains("SPIR-V_1.0"), "the device tells of no SPIR-V: {versions:?}");
    for _ in 0..2 {
        drop(built(&fixture, "scale"));
        assert_eq!(toolchain.compiled().len(), 1);
    }
    assert_eq!(fs::read_dir(toolchain.cache()).expect("the cache's folder").count(), 1);
}

#[test]
fn a_libnvvm_that_the_process_has_loaded_is_told_of_and_its_results_are_kept() {
    let toolchain = Toolchain::inherited().unwrap_or_else(|| Toolchain::new(&["scale.ptx"]));
    let mut variables = toolchain.variables();
    // A name alone, so that no toolkit of this machine's comes before it.
    variables.push(("UR_NVVM_LIBRARY", "libnvvm.so.4".into()));
    let test = "a_libnvvm_that_the_process_has_loaded_is_told_of_and_its_results_are_kept";
    child::in_process(test, &variables, || {
        let file = toolchain.folder().join("libnvvm.so.4");
        // SAFETY: the library has no initialisers.
        let loaded = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) }.expect("a library");
        check_found(&toolchain);
        drop(loaded);
    });
}

/// The dynamic linker knows the library by the path that it was first opened by, and libdevice lies beside another one.
#[test]
fn a_libnvvm_that_the_process_has_loaded_by_a_link_has_its_libdevice() {
    let toolchain = Toolchain::inherited().unwrap_or_else(|| Toolchain::new(&["scale.ptx"]));
    let test = "a_libnvvm_that_the_process_has_loaded_by_a_link_has_its_libdevice";
    child::in_process(test, &toolchain.variables(), || {
        let elsewhere = toolchain.folder().join("elsewhere");
        fs::create_dir_all(&elsewhere).expect("a folder");
        let link = elsewhere.join("libnvvm.so.4");
        symlink(toolchain.folder().join("libnvvm.so.4"), &link).expect("a link");
        // SAFETY: the library has no initialisers.
        let loaded = unsafe { Library::open(Some(link), RTLD_NOW | RTLD_LOCAL) }.expect("a library");
        let fixture = Fixture::new();
        drop(built(&fixture, "scale"));
        assert_eq!(toolchain.compiled().len(), 1);
        drop(loaded);
    });
}

#[test]
fn a_libnvvm_of_the_environment_that_the_adapter_is_installed_in_is_found() {
    let toolchain = Toolchain::inherited().unwrap_or_else(|| Toolchain::new(&["scale.ptx"]));
    let adapter = Path::new(&Environment::get().adapter);
    let Some(name) = adapter.file_name().filter(|_| adapter.is_file()) else {
        println!("skipped: UR_TEST_ADAPTER is a list");
        return;
    };
    let library = toolchain.folder().join("environment/lib");
    let installed = library.join(name);
    if !installed.exists() {
        let package = library.join("python3.11/site-packages/nvidia/cu13/lib");
        fs::create_dir_all(&package).expect("a folder");
        fs::copy(adapter, &installed).expect("a copy");
        symlink(toolchain.folder().join("libnvvm.so.4"), package.join("libnvvm.so.4")).expect("a link");
        fs::write(package.join("libdevice.10.bc"), b"BC").expect("a file");
    }
    let mut variables = toolchain.variables();
    let nowhere = || OsString::from("/nowhere");
    variables.extend([
        ("UR_NVVM_LIBRARY", OsString::new()),
        ("VIRTUAL_ENV", nowhere()),
        ("CONDA_PREFIX", nowhere()),
        ("UR_TEST_ADAPTER", installed.into()),
    ]);
    let test = "a_libnvvm_of_the_environment_that_the_adapter_is_installed_in_is_found";
    child::in_process(test, &variables, || check_found(&toolchain));
}
