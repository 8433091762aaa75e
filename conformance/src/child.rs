//! Tests that need a process of their own: another environment, a first call, or a device that will not recover.

use std::ffi::OsStr;
use std::process::Command;

const VARIABLE: &str = "UR_TEST_CHILD";

/// Runs `body` in a child process that runs only the test of this name, with these variables set as well. Fails with
/// the child's output if the body fails or the child dies.
#[track_caller]
pub fn in_process<V: AsRef<OsStr>>(test: &str, variables: &[(&str, V)], body: impl FnOnce()) {
    if let Some((succeeded, text)) = run(test, variables, body) {
        assert!(succeeded, "{text}");
        assert!(text.contains("1 passed"), "the child ran no test named {test}\n{text}");
    }
}

/// As [`in_process`], for a body that must fail with these words.
#[track_caller]
pub fn fails<V: AsRef<OsStr>>(test: &str, variables: &[(&str, V)], words: &str, body: impl FnOnce()) {
    if let Some((succeeded, text)) = run(test, variables, body) {
        assert!(!succeeded, "the child was to fail\n{text}");
        assert!(text.contains(words), "the child did not fail with `{words}`\n{text}");
    }
}

/// The child's outcome and output; `None` in the child itself, where the body has run.
#[track_caller]
fn run<V: AsRef<OsStr>>(test: &str, variables: &[(&str, V)], body: impl FnOnce()) -> Option<(bool, String)> {
    if std::env::var(VARIABLE).is_ok_and(|name| name == test) {
        body();
        return None;
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
    let text = format!("the child ended with {}\n{out}\n{err}", output.status);
    Some((output.status.success(), text))
}
