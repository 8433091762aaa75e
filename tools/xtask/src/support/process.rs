//! Running other programs: with a time limit where they might hang, and with an error that repeats the command line. It
//! never goes through a shell's parsing of arguments.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use super::failure::{Context, Failure, Result};
use crate::fail;

/// Variables that steer a loader, an adapter or a simulated driver. What runs here starts without the user's values.
const STEERING: [&str; 22] = [
    "LD_LIBRARY_PATH",
    "ONEAPI_DEVICE_SELECTOR",
    "UR_ADAPTERS_FORCE_LOAD",
    "UR_ADAPTERS_SEARCH_PATH",
    "UR_ADAPTERS_DEEP_BIND",
    "UR_LOADER_PRELOAD_FILTER",
    "UR_LOADER_USE_LEVEL_ZERO_V2",
    "UR_CUDA_LIBRARY",
    "UR_HIP_LIBRARY",
    "UR_CALLCOUNT_LIBRARY",
    "UR_USM_POOL",
    "UR_USM_POOL_DEBUG",
    "UR_USM_POOL_KEEP_BYTES",
    "UR_USM_POOL_KEEP_SHARE",
    "UR_USM_POOL_LARGEST",
    "UR_USM_POOL_SLAB_BYTES",
    "UR_USM_MAGAZINE_BYTES",
    "UR_USM_NATIVE_POOLS",
    "SIMCUDA_FAULTS",
    "SIMCUDA_DEVICES",
    "SIMCUDA_DELAY",
    "SIMCUDA_REPORT",
];

/// What a program printed.
pub struct Printed {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// A program that is killed after that many seconds.
pub fn limited(seconds: u32, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=10", &seconds.to_string()]).arg(program);
    command
}

/// The same, in an environment where nothing the user has set steers what is loaded.
pub fn unsteered(seconds: u32, program: impl AsRef<OsStr>) -> Command {
    let mut command = limited(seconds, program);
    for variable in STEERING {
        command.env_remove(variable);
    }
    command
}

/// Runs a program that must succeed; it prints to the terminal.
pub fn run(command: &mut Command) -> Result {
    let status = command.stdin(Stdio::null()).status().map_err(|error| not_started(command, &error))?;
    if status.success() { Ok(()) } else { Err(failed(command, status, "")) }
}

/// Runs a program that asks a package registry, and asks again where it failed: a registry out of order for some seconds
/// ends a run of half an hour else. The waits are in seconds, one before each further attempt.
pub fn run_again(command: &mut Command, waits: &[u64]) -> Result {
    let mut result = run(command);
    for wait in waits {
        let Err(failure) = &result else { break };
        eprintln!("{failure}; asking again in {wait} s");
        std::thread::sleep(Duration::from_secs(*wait));
        result = run(command);
    }
    result
}

/// Runs a program that must succeed, and answers what it printed.
pub fn capture(command: &mut Command) -> Result<Printed> {
    let (status, printed) = outcome(command)?;
    if status.success() {
        return Ok(printed);
    }
    Err(failed(command, status, &format!("\n{}{}", printed.stdout, printed.stderr)))
}

/// Runs a program to its end, well or badly.
pub fn outcome(command: &mut Command) -> Result<(ExitStatus, Printed)> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| not_started(command, &error))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok((output.status, Printed { stdout: text(&output.stdout), stderr: text(&output.stderr) }))
}

/// Runs a program whose standard output goes to `line`, line by line, as it comes; standard error to the terminal.
pub fn follow(command: &mut Command, line: impl FnMut(&str)) -> Result {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(|error| not_started(command, &error))?;
    let stdout = child.stdout.take().ok_or_else(|| Failure::new("a piped standard output is missing"))?;
    each_line(stdout, line)?;
    let status = child.wait().context("a program's end cannot be awaited")?;
    if status.success() { Ok(()) } else { Err(failed(command, status, "")) }
}

/// The same with both outputs, in the order in which they were written.
pub fn follow_both(command: &mut Command, line: impl FnMut(&str)) -> Result {
    let (reader, writer) = std::io::pipe().context("a pipe cannot be made")?;
    let errors = writer.try_clone().context("a pipe cannot be shared")?;
    let spawned = command.stdin(Stdio::null()).stdout(writer).stderr(errors).spawn();
    let mut child = spawned.map_err(|error| not_started(command, &error))?;
    // The command keeps our ends of the pipe; while they are open, reading would never end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    each_line(reader, line)?;
    let status = child.wait().context("a program's end cannot be awaited")?;
    if status.success() { Ok(()) } else { Err(failed(command, status, "")) }
}

fn each_line(from: impl std::io::Read, mut line: impl FnMut(&str)) -> Result {
    for text in BufReader::new(from).split(b'\n') {
        line(&String::from_utf8_lossy(&text.context("a program's output cannot be read")?));
    }
    Ok(())
}

/// Whether a program can be started at all.
pub fn exists(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

/// The first of these programs that exists; an error names what it is needed for.
pub fn need<'a>(programs: &[&'a str], purpose: &str) -> Result<&'a str> {
    match programs.iter().find(|program| exists(program)) {
        Some(program) => Ok(program),
        None => fail!("{purpose} needs {}, which this machine lacks; install it and try again", programs.join(" or ")),
    }
}

/// The C compiler: the command in `CC`, or `cc`.
pub fn cc() -> Command {
    compiler(&std::env::var("CC").unwrap_or_default(), "cc")
}

/// The C++ compiler: the command in `CXX`, or `c++`.
pub fn cxx() -> Command {
    compiler(&std::env::var("CXX").unwrap_or_default(), "c++")
}

/// A compiler's command with its words (`ccache gcc`), or the usual one.
fn compiler(words: &str, usual: &str) -> Command {
    let mut words = words.split_ascii_whitespace();
    let mut command = Command::new(words.next().unwrap_or(usual));
    command.args(words);
    command
}

/// Paths as a value of `LD_LIBRARY_PATH`.
pub fn path_list(folders: &[&Path]) -> Result<std::ffi::OsString> {
    std::env::join_paths(folders).context("a folder's name holds a colon")
}

fn line_of(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn not_started(command: &Command, error: &std::io::Error) -> Failure {
    Failure::new(format!("`{}` cannot be started: {error}", line_of(command)))
}

fn failed(command: &Command, status: ExitStatus, printed: &str) -> Failure {
    let late = if status.code() == Some(124) { " (its time was up)" } else { "" };
    Failure::new(format!("`{}` ended with {status}{late}{printed}", line_of(command)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compilers_command_may_have_words() {
        assert_eq!(line_of(&compiler("ccache gcc -m64", "cc")), "ccache gcc -m64");
        assert_eq!(compiler("ccache gcc", "cc").get_program(), "ccache");
        assert_eq!(line_of(&compiler(" ", "c++")), "c++");
    }

    /// A shell that fails until it has been started that often.
    fn fails_until_attempt(last: u32, counter: &Path) -> Command {
        let script = format!("echo >>\"$0\"; [ $(wc -l <\"$0\") -ge {last} ]");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).arg(counter);
        shell
    }

    #[test]
    fn a_program_that_asks_a_registry_is_run_again_until_it_succeeds_or_no_attempt_is_left() {
        let folder = std::env::temp_dir().join(format!("xtask-run-again-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let attempts = |name: &str, last: u32| {
            let counter = folder.join(name);
            let result = run_again(&mut fails_until_attempt(last, &counter), &[0, 0]);
            (result.is_ok(), std::fs::read_to_string(&counter).expect("the shell ran").lines().count())
        };
        assert_eq!(attempts("at once", 1), (true, 1));
        assert_eq!(attempts("at last", 3), (true, 3));
        assert_eq!(attempts("never", 4), (false, 3));
        std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    }

    /// A user who has switched pooling off would else find other figures and other call counts than everybody.
    #[test]
    fn a_program_starts_without_the_users_settings_of_memory() {
        let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
        let text = std::fs::read_to_string(readme).expect("the checkout has a README.md");
        let named = |line: &str| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned());
        let mut settings: Vec<_> = text.lines().filter_map(named).filter(|name| name.starts_with("UR_USM_")).collect();
        assert!(settings.len() >= 8, "README.md has the variables in a table: {settings:?}");
        let command = unsteered(1, "true");
        settings
            .retain(|name| !command.get_envs().any(|(variable, value)| variable == name.as_str() && value.is_none()));
        assert!(settings.is_empty(), "these steer an adapter and are left: {settings:?}");
    }
}
