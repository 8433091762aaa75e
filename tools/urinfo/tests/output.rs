//! What becomes of the program when standard output does not take what it prints.

use std::fs::OpenOptions;
use std::process::{Command, Output, Stdio};

fn help(stdout: impl Into<Stdio>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_urinfo"));
    command.arg("--help").stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped());
    command.output().expect("the program starts")
}

#[test]
fn help_takes_a_reader_that_has_left_for_an_end() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let left = help(writer);
    assert_eq!((left.status.code(), String::from_utf8_lossy(&left.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn help_tells_of_a_full_disk() {
    let full = help(OpenOptions::new().write(true).open("/dev/full").expect("Linux has it"));
    let complaint = String::from_utf8_lossy(&full.stderr).into_owned();
    assert!(complaint.starts_with("urinfo: cannot print: "), "{complaint}");
    assert_eq!(full.status.code(), Some(2));
}
