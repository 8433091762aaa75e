//! Which libnvvm is found where no variable names its file.

use std::fs;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use ur_conformance::ffi::ur_device_info_t;
use ur_conformance::{Fixture, ask, child, query};

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
