//! The disk cache, by what libnvvm is asked: processes that find a result compile nothing.
#![allow(non_snake_case, reason = "tests are named after what they promise")]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use ur_conformance::child::{self, Piped};
use ur_conformance::{Fixture, Kind, Launch};

use crate::toolchain::{Toolchain, built};

/// What a child does: builds, runs a kernel, says what came out, and ends with its input.
fn build_and_run() {
    let fixture = Fixture::new();
    let program = built(&fixture, "scale");
    let (kernel, queue) = (fixture.kernel(&program, c"scale"), fixture.in_order());
    let out = fixture.memory(Kind::Device, 4);
    Launch::new(&kernel, &[1]).pointer(out.pointer()).value(7u32).on(&queue);
    child::say(&out.read::<u32>(&queue, 1)[0].to_string());
    for line in std::io::stdin().lines() {
        line.expect("a line");
    }
}

/// Whether this process is a child; then it has done its work.
#[track_caller]
fn is_child(test: &str) -> bool {
    let is_child = Toolchain::inherited().is_some();
    if is_child {
        child::in_process::<&str>(test, &[], build_and_run);
    }
    is_child
}

/// Runs a child to its end.
#[track_caller]
fn run(test: &str, toolchain: &Toolchain, others: &[(&'static str, OsString)]) {
    let mut variables = toolchain.variables();
    variables.extend(others.iter().cloned());
    finish(child::piped(test, &variables));
}

#[track_caller]
fn finish(mut child: Piped) {
    assert_eq!(child.line(), "1007");
    child.end();
}

fn kept(toolchain: &Toolchain) -> Vec<PathBuf> {
    let entries = fs::read_dir(toolchain.cache()).expect("the cache's folder");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn a_second_process_compiles_nothing() {
    const NAME: &str = "a_second_process_compiles_nothing";
    if is_child(NAME) {
        return;
    }
    let toolchain = Toolchain::new(&["scale.ptx"]);
    for _ in 0..3 {
        run(NAME, &toolchain, &[]);
        assert_eq!(toolchain.compiled().len(), 1);
    }
    let files = kept(&toolchain);
    assert_eq!(files.len(), 1);
    let mode = |path: &PathBuf| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(&toolchain.cache()), mode(&files[0])), (0o700, 0o600));
}

#[test]
fn two_processes_that_build_the_same_at_once_both_have_it() {
    const NAME: &str = "two_processes_that_build_the_same_at_once_both_have_it";
    if is_child(NAME) {
        return;
    }
    let toolchain = Toolchain::new(&["scale.ptx"]);
    let mut gate = toolchain.gate();
    let children = [child::piped(NAME, &toolchain.variables()), child::piped(NAME, &toolchain.variables())];
    gate.wait_for::<2>();
    gate.let_go::<2>();
    children.into_iter().for_each(finish);
    assert_eq!(toolchain.compiled().len(), 2);
    assert_eq!(kept(&toolchain).len(), 1, "one file, and nothing unfinished");
    run(NAME, &toolchain, &[]);
    assert_eq!(toolchain.compiled().len(), 2);
}

#[test]
fn a_file_that_is_damaged_or_another_user_s_is_made_anew() {
    const NAME: &str = "a_file_that_is_damaged_or_another_user_s_is_made_anew";
    if is_child(NAME) {
        return;
    }
    let toolchain = Toolchain::new(&["scale.ptx"]);
    run(NAME, &toolchain, &[]);
    let file = kept(&toolchain).remove(0);
    let whole = fs::read(&file).expect("the file");
    let mut damaged = whole.clone();
    *damaged.last_mut().expect("a byte") ^= 1;
    for (number, bytes) in [damaged, whole[..100].to_vec(), Vec::new()].into_iter().enumerate() {
        fs::write(&file, bytes).expect("the file");
        run(NAME, &toolchain, &[]);
        assert_eq!(toolchain.compiled().len(), 2 + number);
        assert_eq!(fs::read(&file).expect("the file"), whole);
    }
    let compiled = toolchain.compiled().len();
    if std::os::unix::fs::chown(&file, Some(65534), None).is_err() {
        println!("skipped: only root can give a file away");
        return;
    }
    run(NAME, &toolchain, &[]);
    assert_eq!(toolchain.compiled().len(), compiled + 1, "another user's file");
    run(NAME, &toolchain, &[]);
    assert_eq!(toolchain.compiled().len(), compiled + 1, "it was replaced by our own");
    fs::set_permissions(toolchain.cache(), fs::Permissions::from_mode(0o777)).expect("our folder");
    run(NAME, &toolchain, &[]);
    assert_eq!(toolchain.compiled().len(), compiled + 2, "a folder that everybody can write");
}

#[test]
fn another_libnvvm_has_results_of_its_own() {
    const NAME: &str = "another_libnvvm_has_results_of_its_own";
    if is_child(NAME) {
        return;
    }
    let toolchain = Toolchain::new(&["scale.ptx"]);
    run(NAME, &toolchain, &[]);
    let library = toolchain.folder().join("libnvvm.so.4");
    let content = fs::read(&library).expect("the library");
    fs::remove_file(&library).expect("the link");
    fs::write(&library, content).expect("a copy");
    run(NAME, &toolchain, &[]);
    assert_eq!(toolchain.compiled().len(), 2);
    run(NAME, &toolchain, &[]);
    assert_eq!(toolchain.compiled().len(), 2);
}

#[test]
fn a_cache_that_is_off_or_in_the_way_changes_nothing_else() {
    const NAME: &str = "a_cache_that_is_off_or_in_the_way_changes_nothing_else";
    if is_child(NAME) {
        return;
    }
    let toolchain = Toolchain::new(&["scale.ptx"]);
    let off: [(&str, OsString); 1] = [("UR_CACHE", "0".into())];
    run(NAME, &toolchain, &off);
    run(NAME, &toolchain, &off);
    assert_eq!(toolchain.compiled().len(), 2);
    assert!(!toolchain.cache().exists());
    let file = toolchain.folder().join("compiled");
    for (variable, value) in [
        ("UR_CACHE_DIR", file.into_os_string()),
        ("UR_CACHE_DIR", "relative".into()),
        ("UR_CACHE_DIR", "/proc/nowhere".into()),
        ("UR_CACHE_MAX_SIZE", "many".into()),
        ("UR_CACHE_MAX_SIZE", "100".into()),
    ] {
        let before = toolchain.compiled().len();
        run(NAME, &toolchain, &[(variable, value.clone())]);
        run(NAME, &toolchain, &[(variable, value)]);
        assert_eq!(toolchain.compiled().len(), before + 2, "{variable}");
    }
}
