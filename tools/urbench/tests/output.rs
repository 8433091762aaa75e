//! What becomes of the results when standard output does not take them.

use std::fs::{File, OpenOptions};
use std::process::{Command, Output, Stdio};

/// What is said of [`json_after`]'s run.
const NOTHING: &str = "urbench: no case has a name that begins with nothing; try `urbench --help`\n";

/// A run that measures nothing, so it needs no loader.
fn run(words: &[&str], stdout: impl Into<Stdio>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_urbench"));
    command.args(words).stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped());
    command.output().expect("urbench starts")
}

/// A pipe whose reader has left.
fn left_pipe() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

fn full_disk() -> File {
    OpenOptions::new().write(true).open("/dev/full").expect("Linux has it")
}

/// The results that a run with this standard output leaves, and the run.
fn json_after(name: &str, stdout: impl Into<Stdio>) -> (Option<String>, Output) {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.json"));
    let _ = std::fs::remove_file(&file);
    let output = run(&["--only", "nothing", "--json", &file.display().to_string()], stdout);
    (std::fs::read_to_string(&file).ok(), output)
}

#[test]
fn the_json_is_written_though_the_reader_of_the_tables_has_left() {
    let (json, output) = json_after("left", left_pipe());
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(json.is_some_and(|text| text.contains("\"subject\"")), "no results; {}: {complaint}", output.status);
    assert_eq!((output.status.code(), complaint.as_str()), (Some(1), NOTHING));
}

#[test]
fn a_name_that_no_case_has_is_told_and_is_a_failure() {
    let output = run(&["--only", "nothing"], Stdio::piped());
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(1), NOTHING));
    let output = run(&["--table", "--only", "init"], Stdio::piped());
    let told = "urbench: no case of the table of goals has a name that begins with init; try `urbench --help`\n";
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(1), told));
}

#[test]
fn the_json_is_written_though_the_tables_have_no_room() {
    let (json, output) = json_after("full", full_disk());
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(json.is_some_and(|text| text.contains("\"subject\"")), "no results; {}: {complaint}", output.status);
    assert_eq!(output.status.code(), Some(1));
    assert!(complaint.starts_with("urbench: cannot print: "), "{complaint}");
}

#[test]
fn the_tables_are_printed_though_the_json_has_no_place() {
    let output = run(&["--only", "nothing", "--json", "/nonexistent/results.json"], Stdio::piped());
    assert!(String::from_utf8_lossy(&output.stdout).contains("native_library"), "{output:?}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn help_takes_a_reader_that_has_left_for_an_end_and_tells_of_a_full_disk() {
    let left = run(&["--help"], left_pipe());
    assert_eq!((left.status.code(), String::from_utf8_lossy(&left.stderr).as_ref()), (Some(0), ""));
    let full = run(&["--help"], full_disk());
    let complaint = String::from_utf8_lossy(&full.stderr).into_owned();
    assert!(complaint.starts_with("urbench: cannot print: "), "{complaint}");
    assert_eq!(full.status.code(), Some(1));
}
