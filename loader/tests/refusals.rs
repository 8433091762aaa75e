//! What cannot be used is refused with a reason that names it, and never hides an adapter that can.

mod common;
use common::{adapter, adapter_of, client_run, folder, release};
use std::path::{Path, PathBuf};
use ur_ffi::releases::Release;
use ur_loader::library::{Fault, Library};

fn file(path: &str, content: &[u8]) -> PathBuf {
    let path = folder().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    path
}

/// The log's line about `bad`, from a run where a good adapter stands behind it and is still found.
fn reason_beside_a_good_adapter(bad: &Path) -> String {
    let good = adapter("good.so", &["ID=7"]);
    let run = client_run().force(&[bad, &good]).words(&["init", "adapters", "teardown"]);
    assert_eq!(run.lines, ["init SUCCESS", "adapters SUCCESS 7", "teardown SUCCESS"], "{}", run.log);
    let name = bad.file_name().unwrap().to_str().unwrap();
    let mut lines = run.log.lines().filter(|l| l.contains(name) && !l.contains("loaded "));
    lines.next_back().unwrap_or_else(|| panic!("no reason in:\n{}", run.log)).to_owned()
}

/// One test, since the good adapter's file is shared.
#[test]
fn each_kind_of_failure_has_its_own_reason_and_hides_nobody() {
    let truncated = std::fs::read(std::env::current_exe().unwrap()).unwrap()[..600].to_vec();
    let mut other_machine = truncated.clone();
    other_machine[18] = 0xb7 ^ u8::from(other_machine[18] == 0xb7);
    let library = {
        let source = file("plain.c", b"int answer(void) { return 42; }\n");
        let out = folder().join("plain.so");
        common::run(std::process::Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&out).arg(source));
        out
    };
    let needy = {
        let out = folder().join("needy.so");
        let source = folder().join("plain.c");
        // Linked against a library that is then removed.
        let needed = folder().join("libneeded-by-needy.so");
        std::fs::copy(&library, &needed).unwrap();
        let mut cc = std::process::Command::new("cc");
        cc.args(["-shared", "-fPIC", "-Wl,--no-as-needed", "-o"]).arg(&out).arg(source).arg(&needed);
        common::run(&mut cc);
        std::fs::remove_file(needed).unwrap();
        out
    };
    let cases = [
        (file("notes.txt.so", b"these are notes, not code\n"), "not a shared library"),
        (file("empty.so", b""), "not a shared library"),
        (folder().to_owned(), "a directory"),
        (file("other-machine.so", &other_machine), "another machine"),
        (file("truncated.so", &truncated), "cannot open"),
        (needy, "libneeded-by-needy.so"),
        (library, "not an adapter"),
        (folder().join("absent.so"), "not found"),
        (adapter("getter.so", &["GETTER_FAILS"]), "urGetPlatformProcAddrTable refuses version 0.12"),
        (adapter("get.so", &["GET_FAILS"]), "urAdapterGet answers UR_RESULT_ERROR_DEVICE_NOT_AVAILABLE"),
        (adapter("none.so", &["NO_ADAPTER"]), "reports no adapter"),
        (adapter("shifted.so", &["SHIFTED_TABLE"]), "of another release"),
        (adapter("long.so", &["LONG_TABLE"]), "table Platform has at least 7 slots instead of 6"),
    ];
    for (bad, expected) in cases {
        let reason = reason_beside_a_good_adapter(&bad);
        assert!(reason.contains(expected), "{}: {reason}", bad.display());
    }
}

fn other_releases() -> impl Iterator<Item = Release> {
    Release::ALL.iter().copied().filter(|other| *other != release())
}

#[test]
fn an_adapter_of_another_known_release_is_recognised_and_both_releases_are_named() {
    for other in other_releases() {
        let path = adapter_of(other, &format!("foreign-{}.so", other.name()), &[]);
        let run = client_run().force(&[&path]).words(&["init", "adapters", "teardown"]);
        assert_eq!(run.lines[1], "adapters SUCCESS", "{}", run.log);
        let expected = format!("of oneAPI {}, this loader is of oneAPI {}", other.name(), release().name());
        assert!(run.log.contains(&expected), "{}", run.log);
    }
}

#[test]
fn a_refused_adapter_gets_its_references_back() {
    let path = adapter("refused.so", &["SHIFTED_TABLE"]);
    let run = client_run().force(&[&path]).words(&["init", "adapters", &format!("references={}", path.display())]);
    assert_eq!(run.lines[2], "references adapter 0 devices 0");
}

#[test]
fn a_candidate_that_turns_out_unusable_makes_way_for_the_next_of_the_same_adapter() {
    for (name, fault) in [("shifted", "SHIFTED_TABLE"), ("failing", "GET_FAILS"), ("getter", "GETTER_FAILS")] {
        adapter(&format!("next-{name}/libur_adapter_cuda.so.0"), &["ID=1", fault]);
        let second = adapter(&format!("next-{name}-2/libur_adapter_cuda.so.0"), &["ID=2"]);
        let search =
            format!("{},{}", folder().join(format!("next-{name}")).display(), second.parent().unwrap().display());
        let run = client_run().env("UR_ADAPTERS_SEARCH_PATH", search).words(&["init", "adapters"]);
        assert_eq!(run.lines, ["init SUCCESS", "adapters SUCCESS 2"], "{name}: {}", run.log);
    }
}

/// The dynamic linker answers a bare name with whatever library of that soname it has open.
#[test]
fn an_adapter_of_another_release_does_not_hide_the_one_that_the_system_finds() {
    for other in other_releases() {
        let foreign = adapter_of(other, "hiding/libur_adapter_cuda.so.0", &["ID=1"]);
        let right = adapter("hidden/libur_adapter_cuda.so.0", &["ID=2"]);
        let library_path = [right.parent().unwrap(), common::loader().parent().unwrap()];
        let run = client_run()
            .env("UR_ADAPTERS_SEARCH_PATH", foreign.parent().unwrap())
            .env("LD_LIBRARY_PATH", std::env::join_paths(library_path).unwrap())
            .words(&["init", "adapters"]);
        assert_eq!(run.lines, ["init SUCCESS", "adapters SUCCESS 2"], "{}", run.log);
    }
}

#[test]
fn a_missing_getter_only_leaves_its_table_out() {
    let path = adapter("partly.so", &["ID=4", "MISSING_GETTER"]);
    let run = client_run().force(&[&path]).words(&["init", "adapters"]);
    assert_eq!(run.lines, ["init SUCCESS", "adapters SUCCESS 4"], "{}", run.log);
}

#[test]
fn tools_get_the_same_verdict_without_any_loader() {
    let opened = |path: &Path| Library::open(path, release(), false);
    let good = opened(&adapter("tool-good.so", &[])).expect("a good adapter");
    let handles = good.adapters().expect("its adapters");
    assert_eq!(handles.len(), 1);
    for handle in handles {
        // SAFETY: the library's own handle, released once.
        unsafe { ur_loader::library::release(handle) };
    }
    assert_eq!(opened(Path::new("/nonexistent/x.so")).unwrap_err(), Fault::NotFound);
    assert_eq!(opened(Path::new("libnonexistent-adapter.so.0")).unwrap_err(), Fault::NotFound);
    let foreign = opened(&adapter("tool-shifted.so", &["SHIFTED_TABLE"])).unwrap().adapters().unwrap_err();
    assert!(matches!(foreign, Fault::OtherRelease { found: None, .. }), "{foreign}");
}
