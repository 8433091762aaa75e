//! The examples in `examples/` compile without a warning against the headers of every release and say what is wrong on a
//! machine without a GPU.

mod common;
use common::{crate_folder, folder, headers, loader, release};
use std::process::Command;

fn clean_c99_for_every_release(name: &str) {
    for &release in ur_ffi::releases::Release::ALL {
        let mut cc = Command::new("cc");
        cc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-I"]);
        common::run(cc.arg(headers(release)).arg(crate_folder().join(format!("examples/{name}.c"))));
    }
}

fn without_a_gpu_says_so(name: &str) {
    let out = folder().join(name);
    let mut cc = Command::new("cc");
    cc.arg("-o").arg(&out).arg("-I").arg(headers(release()));
    common::run(cc.arg(crate_folder().join(format!("examples/{name}.c"))).arg(loader()));
    let output = Command::new(&out)
        .env("LD_LIBRARY_PATH", loader().parent().unwrap())
        .env("UR_ADAPTERS_FORCE_LOAD", "/nonexistent/adapter.so")
        .output()
        .unwrap();
    assert!(!output.status.success());
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("no GPU among 0 adapter(s)"), "{complaint}");
}

#[test]
fn saxpy_is_clean_c99_for_every_release() {
    clean_c99_for_every_release("saxpy");
}

#[test]
fn saxpy_without_a_gpu_says_so() {
    without_a_gpu_says_so("saxpy");
}

#[test]
fn timeline_is_clean_c99_for_every_release() {
    clean_c99_for_every_release("timeline");
}

#[test]
fn timeline_without_a_gpu_says_so() {
    without_a_gpu_says_so("timeline");
}
