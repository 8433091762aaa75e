//! What a bundle makes of compute-sanitizer's output (`bundle/sanitizer_judge.sh`), from logs as the tool and the tests write them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A folder of its own for each test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// What the judge says, and whether it is content.
fn judged(folder: &Path, what: &Path) -> (String, bool) {
    let expected = folder.join("expected.txt");
    std::fs::write(&expected, "known.module | on CUDA API call to cuProbe | a probe\n").expect("a list");
    let said = judge(what, &expected).output().expect("a shell");
    (String::from_utf8_lossy(&said.stdout).into_owned(), said.status.success())
}

fn judge(what: &Path, expected: &Path) -> Command {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("bundle/sanitizer_judge.sh");
    let mut judge = Command::new("sh");
    judge.arg(script).arg(what).env("SANITIZER_EXPECTED", expected);
    judge
}

/// The same of a single run.
fn of_run(test: &str, name: &str, log: &str) -> (String, bool) {
    let folder = folder(test);
    std::fs::write(folder.join(format!("memcheck.on.{name}.log")), log).expect("a log");
    std::fs::write(folder.join(format!("memcheck.on.{name}.log.ended")), "ok, 1 s\n").expect("its end");
    judged(&folder, &folder)
}

const BAD_WRITE: &str = "========= Invalid __global__ write of size 4 bytes\n=========     at fill+0x10\n";

#[test]
fn a_finding_is_seen_where_its_heading_stands_behind_a_tests_name() {
    let log = format!("test a::b ... {BAD_WRITE}ok\n\ntest result: ok. 1 passed\n\n========= ERROR SUMMARY: 1 error\n");
    let (said, is_well) = of_run("behind_a_name", "any.module", &log);
    assert!(said.contains("any.module: 1 errors, 0 expected"), "{said}");
    assert!(said.contains("Invalid __global__ write of size N bytes at fill") && !is_well, "{said}");
}

#[test]
fn what_the_list_has_of_a_module_is_expected_there_alone() {
    let log = "test a::b ... ========= Program hit error 1 on CUDA API call to cuProbe.\nok\n========= ERROR SUMMARY: 1 error\n";
    let (said, is_well) = of_run("expected", "known.module", log);
    assert!(said.contains("known.module: 0 errors, 1 expected; tests: ok") && is_well, "{said}");
    let (said, is_well) = of_run("not_expected", "any.module", log);
    assert!(said.contains("any.module: 1 errors, 0 expected") && !is_well, "{said}");
}

#[test]
fn what_the_tool_counts_and_does_not_print_is_a_finding() {
    let (said, is_well) =
        of_run("counted", "any.module", "test result: ok. 1 passed\n========= ERROR SUMMARY: 2 errors\n");
    assert!(said.contains("the tool counted 2 and printed 0") && !is_well, "{said}");
}

#[test]
fn records_that_the_tool_cannot_print_are_findings_if_it_counts_them() {
    let log = |count: u32| format!("========= Error in printing record\n========= ERROR SUMMARY: {count} errors\n");
    let (said, is_well) = of_run("counted_record", "any.module", &log(1));
    assert!(said.contains("Error in printing record") && !is_well, "{said}");
    let (said, is_well) = of_run("uncounted_record", "any.module", &log(0));
    assert!(said.contains("0 errors, 0 expected; tests: ok, 1 s; 1 records neither counted nor printed"), "{said}");
    assert!(is_well, "{said}");
}

#[test]
fn without_a_list_nothing_is_judged() {
    let folder = folder("no_list");
    std::fs::write(folder.join("memcheck.on.any.module.log"), BAD_WRITE).expect("a log");
    std::fs::write(folder.join("memcheck.on.any.module.log.ended"), "ok, 1 s\n").expect("its end");
    let said = judge(&folder, &folder.join("nothing.txt")).output().expect("a shell");
    assert_eq!(said.status.code(), Some(2));
    assert!(said.stdout.is_empty(), "{}", String::from_utf8_lossy(&said.stdout));
    let why = String::from_utf8_lossy(&said.stderr);
    assert!(why.contains("nothing.txt") && why.contains("SANITIZER_EXPECTED"), "{why}");
}

#[test]
fn without_a_list_nothing_is_run() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("bundle/sanitizer.sh");
    let mut run = Command::new("sh");
    run.arg(script).arg("memcheck:on:any.module").env("SANITIZER_EXPECTED", folder("nothing_run").join("nothing.txt"));
    let said = run.output().expect("a shell");
    assert_eq!(said.status.code(), Some(2));
    let why = String::from_utf8_lossy(&said.stderr);
    assert!(why.contains("nothing.txt") && why.contains("SANITIZER_EXPECTED"), "{why}");
}

#[test]
fn what_holds_no_run_is_not_well() {
    let folder = folder("no_run");
    let expected = folder.join("expected.txt");
    std::fs::write(&expected, "").expect("a list");
    for what in [folder.clone(), folder.join("missing.gz")] {
        let said = judge(&what, &expected).output().expect("a shell");
        assert_eq!(said.status.code(), Some(2), "{}", what.display());
        let why = String::from_utf8_lossy(&said.stderr);
        assert!(why.contains(&format!("no run in {}", what.display())), "{why}");
    }
}

#[test]
fn a_run_that_was_left_out_is_named() {
    let folder = folder("left_out");
    std::fs::write(folder.join("synccheck.off.any.module.log.ended"), "left out: no time\n").expect("an end");
    let (said, is_well) = judged(&folder, &folder);
    assert!(said.contains("synccheck.off.any.module: left out: no time") && !is_well, "{said}");
}

#[test]
fn a_kept_file_is_judged_as_its_runs_were() {
    let folder = folder("kept");
    let kept = folder.join("kept.gz");
    let file = std::fs::File::create(&kept).expect("a file");
    let mut gzip = Command::new("gzip").stdin(Stdio::piped()).stdout(file).spawn().expect("gzip");
    let log = format!(
        "##### memcheck.on.any.module\ntest a::b ... {BAD_WRITE}ok\ntest result: ok. 1 passed\n========= ERROR SUMMARY: 1 error\n\
         ##### memcheck.off.other.module\ntest result: ok. 1 passed\n========= ERROR SUMMARY: 0 errors\n"
    );
    gzip.stdin.take().expect("a pipe").write_all(log.as_bytes()).expect("gzip reads");
    assert!(gzip.wait().expect("gzip ends").success());
    let (said, is_well) = judged(&folder, &kept);
    assert!(said.contains("memcheck.on.any.module: 1 errors, 0 expected; tests: ok"), "{said}");
    assert!(said.contains("memcheck.off.other.module: 0 errors, 0 expected; tests: ok") && !is_well, "{said}");
}
