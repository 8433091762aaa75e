//! The example in `examples/saxpy.c` compiles without a warning against the headers of every release and says what is
//! wrong on a machine without a GPU.

mod common;
use common::{crate_folder, folder, headers, loader, release};
use std::process::Command;

#[test]
fn saxpy_is_clean_c99_for_every_release() {
    for &release in ur_ffi::releases::Release::ALL {
        let mut cc = Command::new("cc");
        cc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-I"]);
        common::run(cc.arg(headers(release)).arg(crate_folder().join("examples/saxpy.c")));
    }
}

#[test]
fn saxpy_without_a_gpu_says_so() {
    let out = folder().join("saxpy");
    let mut cc = Command::new("cc");
    cc.arg("-o").arg(&out).arg("-I").arg(headers(release()));
    common::run(cc.arg(crate_folder().join("examples/saxpy.c")).arg(loader()));
    let output = Command::new(&out)
        .env("LD_LIBRARY_PATH", loader().parent().unwrap())
        .env("UR_ADAPTERS_FORCE_LOAD", "/nonexistent/adapter.so")
        .output()
        .unwrap();
    assert!(!output.status.success());
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("no GPU among 0 adapter(s)"), "{complaint}");
}
