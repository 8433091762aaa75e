//! The library as it is loaded: before a `libsycl` of the test's own that writes down what it is given, by a library that registers an
//! image when it is loaded and unregisters it when it goes.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The library that cargo built beside this test.
fn shim() -> PathBuf {
    let here = std::env::current_exe().expect("the test's own path");
    let folder = here.parent().expect("a folder");
    // `cargo test` leaves it in `deps` or above it.
    let candidates = [folder.join("libur_sycl_images.so"), folder.join("../libur_sycl_images.so")];
    candidates.into_iter().find(|file| file.is_file()).expect("cargo built the library")
}

/// Builds `tests/NAME.c`, as a program or as a library.
fn build(folder: &Path, name: &str, file: &str, more: &[&str]) -> PathBuf {
    let out = folder.join(file);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-fPIC", "-o"]).arg(&out).arg(source);
    let printed = cc.arg("-L").arg(folder).args(more).arg(format!("-Wl,-rpath,{}", folder.display())).output();
    let printed = printed.expect("a C compiler");
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    out
}

struct World {
    folder: tempfile::TempDir,
    host: PathBuf,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path();
        build(at, "libsycl.c", "libsycl.so.9", &["-shared", "-Wl,-soname,libsycl.so.9"]);
        build(at, "client.c", "libclient.so", &["-shared", "-l:libsycl.so.9"]);
        let host = build(at, "host.c", "host", &["-ldl", "-pthread"]);
        World { folder, host }
    }

    fn run(&self, words: &[&str], set: &[(&str, &Path)]) -> Vec<String> {
        let mut host = Command::new(&self.host);
        for variable in ["UR_SYCL_IMAGES", "OFFER_BEFORE", "OFFER_AFTER"] {
            host.env_remove(variable);
        }
        host.args(words).arg(self.folder.path().join("libclient.so"));
        let printed = host.envs(set.iter().copied()).output().expect("the program runs");
        let text = String::from_utf8_lossy(&printed.stdout).into_owned();
        assert!(printed.status.success(), "{}: {text}{}", printed.status, String::from_utf8_lossy(&printed.stderr));
        assert!(printed.stderr.is_empty(), "{}", String::from_utf8_lossy(&printed.stderr));
        text.lines().map(str::to_owned).collect()
    }
}

const WITHOUT: [&str; 2] = [REGISTER, BACK];
const WITH_COPY: [&str; 4] = [REGISTER, COPIES, BACK, BACK];
const REGISTER: &str = "register spir64/0";
const COPIES: &str = "register nvptx64/1";
const BACK: &str = "unregister the same";
const BEFORE: &str = "OFFER_BEFORE";
const AFTER: &str = "OFFER_AFTER";

fn cuda() -> &'static Path {
    Path::new("cuda")
}

#[test]
fn only_the_three_functions_are_exported() {
    let printed = Command::new("nm").args(["-D", "--defined-only"]).arg(shim()).output().expect("nm");
    let text = String::from_utf8_lossy(&printed.stdout).into_owned();
    let mut names: Vec<_> = text.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    names.sort_unstable();
    assert_eq!(names, ["__sycl_register_lib", "__sycl_unregister_lib", "ur_sycl_images_offer"]);
}

#[test]
fn a_library_that_is_registered_gets_copies_when_an_adapter_asks_and_loses_them_with_itself() {
    let world = World::new();
    let shim = shim();
    for when in [BEFORE, AFTER] {
        assert_eq!(world.run(&["1"], &[("LD_PRELOAD", &shim), (when, cuda())]), WITH_COPY, "{when}");
        assert_eq!(world.run(&["1"], &[(when, cuda())]), WITHOUT, "the test registers copies without the library");
    }
}

#[test]
fn nothing_is_copied_before_an_adapter_asks() {
    let world = World::new();
    assert_eq!(world.run(&["1"], &[("LD_PRELOAD", &shim())]), WITHOUT);
    assert_eq!(world.run(&["1"], &[("LD_PRELOAD", &shim()), (AFTER, Path::new("opencl"))]), WITHOUT);
}

#[test]
fn an_adapter_that_asks_twice_gets_one_copy() {
    let world = World::new();
    assert_eq!(world.run(&["1"], &[("LD_PRELOAD", &shim()), (BEFORE, cuda()), (AFTER, cuda())]), WITH_COPY);
}

#[test]
fn adapters_of_two_kinds_get_copies_each() {
    let world = World::new();
    let both = [
        ("LD_PRELOAD", &*shim()),
        ("UR_SYCL_IMAGES", Path::new("cuda,hip")),
        (BEFORE, Path::new("hip")),
        (AFTER, cuda()),
    ];
    assert_eq!(world.run(&["1"], &both), [REGISTER, "register amdgcn/1", COPIES, BACK, BACK, BACK]);
}

#[test]
fn loaded_with_rtld_global_it_finds_a_libsycl_that_only_the_library_sees() {
    let world = World::new();
    let shim = shim();
    for when in [BEFORE, AFTER] {
        assert_eq!(world.run(&["1", &shim.display().to_string()], &[(when, cuda())]), WITH_COPY, "{when}");
    }
}

#[test]
fn of_two_libsycls_each_library_gets_its_own() {
    let world = World::new();
    let at = world.folder.path();
    build(at, "libsycl.c", "libsycl.so.8", &["-shared", "-Wl,-soname,libsycl.so.8", "-DTAG=\"8: \""]);
    let older = build(at, "client.c", "libolder.so", &["-shared", "-l:libsycl.so.8"]).display().to_string();
    let newer = at.join("libclient.so").display().to_string();
    let mut lines = world.run(&["each", &shim().display().to_string(), &newer, &older], &[(BEFORE, cuda())]);
    lines.sort();
    let sorted = [COPIES, REGISTER, BACK, BACK];
    assert_eq!(lines[..4], sorted.map(|line| format!("8: {line}")));
    assert_eq!(lines[4..], sorted);
}

#[test]
fn a_library_that_comes_and_goes_is_copied_each_time() {
    let world = World::new();
    for when in [BEFORE, AFTER] {
        assert_eq!(world.run(&["3"], &[("LD_PRELOAD", &shim()), (when, cuda())]), WITH_COPY.repeat(3), "{when}");
    }
}

#[test]
fn a_library_that_is_still_loaded_at_exit_is_unregistered_there() {
    let world = World::new();
    assert_eq!(world.run(&["exit"], &[("LD_PRELOAD", &shim()), (AFTER, cuda())]), WITH_COPY);
}

#[test]
fn two_copies_of_the_library_make_one_copy_of_an_image() {
    let world = World::new();
    let second = world.folder.path().join("second.so");
    std::fs::copy(shim(), &second).expect("a copy");
    let both = PathBuf::from(format!("{}:{}", shim().display(), second.display()));
    for when in [BEFORE, AFTER] {
        assert_eq!(world.run(&["1"], &[("LD_PRELOAD", &both), (when, cuda())]), WITH_COPY, "{when}");
    }
}

#[test]
fn the_variable_chooses_devices_or_none() {
    let world = World::new();
    let run = |value: &str, devices: &str| {
        let set = [("LD_PRELOAD", &*shim()), ("UR_SYCL_IMAGES", Path::new(value)), (AFTER, Path::new(devices))];
        world.run(&["1"], &set)
    };
    assert_eq!(run("off", "cuda"), WITHOUT);
    assert_eq!(run("hip", "cuda"), WITHOUT);
    assert_eq!(run("hip", "hip")[1], "register amdgcn/1");
    assert_eq!(run("cuda,hip", "cuda")[1], COPIES);
}

#[test]
fn threads_register_and_unregister_while_an_adapter_asks() {
    let world = World::new();
    for when in [BEFORE, AFTER] {
        let lines = world.run(&["threads"], &[("LD_PRELOAD", &shim()), (when, cuda())]);
        let count = |what: &str| lines.iter().filter(|line| *line == what).count();
        let copies = count(COPIES);
        assert_eq!((count(REGISTER), count(BACK)), (8 * 50 + 1, 8 * 50 + 1 + copies), "{lines:?}");
        assert!(copies > 0 && (when == AFTER || copies == 8 * 50 + 1), "{copies} copies");
        assert_eq!(lines.len(), 2 * (8 * 50 + 1) + 2 * copies, "{lines:?}");
    }
}

#[test]
fn copies_are_kept_until_libsycl_has_given_them_up_even_if_another_library_comes_meanwhile() {
    let world = World::new();
    let pair = [REGISTER, COPIES];
    let expected: Vec<&str> = pair.repeat(3).into_iter().chain([BACK; 6]).collect();
    assert_eq!(world.run(&["overlap"], &[("LD_PRELOAD", &shim()), (BEFORE, cuda())]), expected);
}
