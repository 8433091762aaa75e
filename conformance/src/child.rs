//! Tests that need a process of their own: another environment, a first call, or a device that will not recover.

use std::ffi::OsStr;
use std::process::Command;

const VARIABLE: &str = "UR_TEST_CHILD";

/// Runs `body` in a child process that runs only the test of this name, with these variables set as well. Fails with
/// the child's output if the body fails or the child dies.
#[track_caller]
pub fn in_process<V: AsRef<OsStr>>(test: &str, variables: &[(&str, V)], body: impl FnOnce()) {
    if std::env::var(VARIABLE).is_ok_and(|name| name == test) {
        return body();
    }
    let program = std::env::current_exe().unwrap_or_else(|error| panic!("the test's own path: {error}"));
    let mut command = Command::new(program);
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(VARIABLE, test);
    for (name, value) in variables {
        command.env(name, value);
    }
    let output = command.output().unwrap_or_else(|error| panic!("cannot start the child: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "the child ended with {}\n{out}\n{err}", output.status);
    assert!(out.contains("1 passed"), "the child ran no test named {test}\n{out}\n{err}");
}
