//! Tests that need a process of their own: another environment, a first call, or a device that will not recover.
//!
//! A child is the same test binary, told to run one test. A test is named here as its function is; the modules before
//! that name come from the file that calls ([`full_name`]), so every function here is to be called from the test's own
//! file.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::panic::Location;
use std::path::{Component, Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::{memory, pool};

const VARIABLE: &str = "UR_TEST_CHILD";

/// The name that the test harness knows a test by: `rows::urUSMPitchedAllocExp_answers` for a function of
/// `tests/usm/rows.rs`. The function's name may itself begin with modules inside of that file.
///
/// # Panics
/// When the caller is not in a module of a test binary.
#[must_use]
#[track_caller]
pub fn full_name(test: &str) -> String {
    let file = Path::new(Location::caller().file());
    let names = file.components().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let mut below = names.skip_while(|name| *name != "tests").skip(2).peekable();
    assert!(below.peek().is_some(), "{} is no module of a test binary", file.display());
    below.map(|name| name.strip_suffix(".rs").unwrap_or(name)).chain([test]).collect::<Vec<_>>().join("::")
}

/// Runs `body` in a child process that runs only the test of this name, with these variables set as well. Fails with
/// the child's output if the body fails or the child dies.
#[track_caller]
pub fn in_process<V: AsRef<OsStr>>(test: &str, variables: &[(&str, V)], body: impl FnOnce()) {
    if let Some((succeeded, text)) = run(test, variables, body) {
        assert!(succeeded, "{text}");
        assert!(text.contains("1 passed"), "the child ran no test named {}\n{text}", full_name(test));
    }
}

/// As [`in_process`], for a body after which each of these lines stands once among what the child printed, in part at least.
#[track_caller]
pub fn prints<V: AsRef<OsStr>>(test: &str, variables: &[(&str, V)], lines: &[&str], body: impl FnOnce()) {
    if let Some((succeeded, text)) = run(test, variables, body) {
        assert!(succeeded, "{text}");
        for words in lines {
            let count = text.lines().filter(|line| line.contains(words)).count();
            assert!(count == 1, "`{words}` stands in {count} lines of what the child printed\n{text}");
        }
    }
}

/// Runs a body whose promise is about plain memory that is kept when it is freed, with the adapter's own settings: here, or in a
/// child where the environment says otherwise.
#[track_caller]
pub fn with_pooled_memory(test: &str, body: impl FnOnce()) {
    if memory::is_pooled() && !memory::is_guarded() {
        return body();
    }
    in_process(test, &[("UR_USM_POOL", "1"), ("UR_USM_POOL_DEBUG", "0")], body);
}

/// Runs a body whose promise is about the calls of native pools: here, or in a child where the environment has all memory of pools
/// in slabs.
#[track_caller]
pub fn with_native_pools(test: &str, body: impl FnOnce()) {
    if pool::in_slabs() { in_process(test, &[pool::NATIVE_POOLS], body) } else { body() }
}

/// So long a body of [`in_time`] may take: far more than it needs, since only one that hangs gets there.
const PATIENCE: Duration = Duration::from_secs(90);

/// As [`in_process`], for a body that an adapter could make hang: the child then ends by itself and the test fails.
#[track_caller]
pub fn in_time<V: AsRef<OsStr>>(test: &str, variables: &[(&str, V)], body: impl FnOnce()) {
    in_process(test, variables, || {
        let (done, ended) = channel::<()>();
        std::thread::spawn(move || {
            if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                eprintln!("it hangs");
                std::process::abort();
            }
        });
        body();
        drop(done);
    });
}

/// As [`in_process`], for a body that must fail with these words.
#[track_caller]
pub fn fails<V: AsRef<OsStr>>(test: &str, variables: &[(&str, V)], words: &str, body: impl FnOnce()) {
    if let Some((succeeded, text)) = run(test, variables, body) {
        assert!(!succeeded, "the child was to fail\n{text}");
        assert!(text.contains(words), "the child did not fail with `{words}`\n{text}");
    }
}

/// As [`in_process`], in a process with raised rights: root's, started by another user from a set-user-ID copy of the
/// test. Gives the reason where this machine lets no test do so.
#[track_caller]
pub fn with_raised_rights(test: &str, body: impl FnOnce()) -> Result<(), &'static str> {
    let test = full_name(test);
    if is_child(&test) {
        body();
        return Ok(());
    }
    let folder = RaisedFolder::new()?;
    let mut command = Command::new(&folder.program);
    std::os::unix::process::CommandExt::uid(&mut command, NOBODY);
    let (succeeded, text) = outcome(command, &test);
    if text.contains(NOT_RAISED) {
        return Err(NOT_RAISED);
    }
    assert!(succeeded, "{text}");
    assert!(text.contains("1 passed"), "the child ran no test named {test}\n{text}");
    Ok(())
}

/// What a body of [`with_raised_rights`] prints before it returns early, in a file system that ignores set-user-ID.
pub const NOT_RAISED: &str = "the process was given no raised rights";

/// A user without rights, on every Linux.
const NOBODY: u32 = 65534;

/// A folder that everybody may enter, with a set-user-ID copy of this program.
struct RaisedFolder {
    folder: PathBuf,
    program: PathBuf,
}

impl RaisedFolder {
    fn new() -> Result<Self, &'static str> {
        let folder = std::env::temp_dir().join(format!("ur-raised-{}", std::process::id()));
        let program = folder.join("test");
        let this = std::env::current_exe().unwrap_or_else(|error| panic!("the test's own path: {error}"));
        std::fs::create_dir_all(&folder).and_then(|()| std::fs::copy(this, &program)).map_err(|_| "no copy")?;
        let made = Self { folder, program };
        let owner = std::os::unix::fs::MetadataExt::uid(&made.program.metadata().map_err(|_| "no copy")?);
        if owner != 0 {
            return Err("only root can make a set-user-ID program of root");
        }
        for (path, mode) in [(&made.folder, 0o755), (&made.program, 0o4755)] {
            std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
                .map_err(|_| "no permissions can be set")?;
        }
        Ok(made)
    }
}

impl Drop for RaisedFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn is_child(test: &str) -> bool {
    std::env::var(VARIABLE).is_ok_and(|name| name == test)
}

/// The child's outcome and output; `None` in the child itself, where the body has run.
#[track_caller]
fn run<V: AsRef<OsStr>>(test: &str, variables: &[(&str, V)], body: impl FnOnce()) -> Option<(bool, String)> {
    let test = full_name(test);
    if is_child(&test) {
        body();
        return None;
    }
    Some(outcome(command(variables), &test))
}

fn command<V: AsRef<OsStr>>(variables: &[(&str, V)]) -> Command {
    let program = std::env::current_exe().unwrap_or_else(|error| panic!("the test's own path: {error}"));
    let mut command = Command::new(program);
    for (name, value) in variables {
        command.env(name, value);
    }
    command
}

/// Has a test binary run that test alone, as a child.
fn alone<'c>(command: &'c mut Command, test: &str) -> &'c mut Command {
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(VARIABLE, test)
}

/// Runs a test binary for that test alone.
#[track_caller]
fn outcome(mut command: Command, test: &str) -> (bool, String) {
    alone(&mut command, test);
    let output = loop {
        match command.output() {
            // A child that another test starts at this moment has the copied program open for writing until it runs its own.
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            output => break output.unwrap_or_else(|error| panic!("cannot start the child: {error}")),
        }
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    let text = format!("the child ended with {}\n{out}\n{err}", output.status);
    (output.status.success(), text)
}

/// What a child's line begins with, among those of the test's own harness.
const SAYS: &str = "the child says: ";

/// Says a line to the parent that started this process by [`piped`].
pub fn say(line: &str) {
    println!("\n{SAYS}{line}");
}

/// A child process that lives beside its parent and answers it.
pub struct Piped {
    child: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// Starts the test of this name in a child process, as [`in_process`], and does not wait for it.
///
/// # Panics
/// When no process can be started.
#[must_use]
#[track_caller]
pub fn piped<V: AsRef<OsStr>>(test: &str, variables: &[(&str, V)]) -> Piped {
    let mut command = command(variables);
    let started = alone(&mut command, &full_name(test)).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = started.unwrap_or_else(|error| panic!("cannot start the child: {error}"));
    let questions = child.stdin.take();
    let answers = BufReader::new(child.stdout.take().expect("a pipe was asked for"));
    Piped { child, questions, answers }
}

impl Piped {
    /// The child's number.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line that the child says.
    ///
    /// # Panics
    /// When the child ends without one.
    #[track_caller]
    pub fn line(&mut self) -> String {
        let mut all = String::new();
        loop {
            let mut line = String::new();
            let read = self.answers.read_line(&mut line).unwrap_or_else(|error| panic!("the child's output: {error}"));
            assert!(read > 0, "the child ended without an answer\n{all}");
            if let Some(said) = line.trim_end().strip_prefix(SAYS) {
                return said.to_owned();
            }
            all.push_str(&line);
        }
    }

    /// Sends the child a line.
    #[track_caller]
    pub fn tell(&mut self, text: &str) {
        let questions = self.questions.as_mut().expect("open until the end");
        writeln!(questions, "{text}").unwrap_or_else(|error| panic!("the child does not listen: {error}"));
    }

    /// Sends the child a line and takes its next one.
    #[track_caller]
    pub fn ask(&mut self, question: &str) -> String {
        self.tell(question);
        self.line()
    }

    /// Kills the child, which can do nothing about it, and returns when it is dead.
    #[track_caller]
    pub fn kill(mut self) {
        let killed = self.child.kill().and_then(|()| self.child.wait());
        killed.unwrap_or_else(|error| panic!("the child cannot be killed: {error}"));
    }

    /// Closes the child's input, which ends it, and checks that it ended well.
    #[track_caller]
    pub fn end(mut self) {
        drop(self.questions.take());
        let ended = self.child.wait().unwrap_or_else(|error| panic!("the child's end: {error}"));
        assert!(ended.success(), "the child ended with {ended}");
    }
}
