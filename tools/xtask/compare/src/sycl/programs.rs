//! The programs of `conformance/sycl`: finding, building and running them, and reading how each ended. What a result means
//! for the whole run is not decided here.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::mode::Mode;
use xtask::fail;
use xtask::support::failure::{Context, Result};
use xtask::support::process::Printed;
use xtask::support::workspace::Workspace;
use xtask::support::{files, process};

/// Seconds that a program may take; the slowest takes six.
const LIMIT: u32 = 120;
/// How a program ends that the machine cannot run.
const SKIPPED: i32 = 77;

/// How the line of a source begins that says which kinds of object the client under it never releases, and why:
/// `leaks: event, stream: reason`.
const LEAKS: [&str; 2] = ["// leaks: ", "# leaks: "];

/// A program by the name that it prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// `queue_in_order`, `bad/out_of_memory`.
    pub name: String,
    source: PathBuf,
}

/// How a program or test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As it should.
    Passed,
    /// It could not be run here, and why.
    Skipped(String),
    /// What went wrong.
    Failed(String),
}

/// All programs whose name holds one of `filters`, or all.
pub fn find(workspace: &Workspace, filters: &[String]) -> Result<Vec<Program>> {
    let top = workspace.path("conformance/sycl");
    let mut found = Vec::new();
    for (folder, prefix) in [("programs", ""), ("bad", "bad/")] {
        for file in files::list(&top.join(folder))? {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            let runs = matches!(file.extension().and_then(|e| e.to_str()), Some("cpp" | "py")) && stem != "check";
            let name = format!("{prefix}{stem}");
            if runs && (filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()))) {
                found.push(Program { name, source: top.join(folder).join(&file) });
            }
        }
    }
    if found.is_empty() { fail!("no program is called after {}", filters.join(" or ")) } else { Ok(found) }
}

/// The programs of exactly these names, in this order.
pub fn find_named(workspace: &Workspace, names: &[&str]) -> Result<Vec<Program>> {
    let all = find(workspace, &[])?;
    names
        .iter()
        .map(|name| match all.iter().find(|program| program.name == *name) {
            Some(program) => Ok(program.clone()),
            None => fail!("there is no program {name}"),
        })
        .collect()
}

impl Program {
    fn is_python(&self) -> bool {
        self.source.extension().is_some_and(|ending| ending == "py")
    }

    /// Where its binary for a mode is.
    pub fn binary(&self, mode: &Mode) -> PathBuf {
        mode.scratch().join(self.name.replace('/', "-"))
    }

    /// Its source, if that is what runs.
    pub fn script(&self) -> Option<&Path> {
        self.is_python().then_some(self.source.as_path())
    }
}

/// Builds the program against the runtime's own headers, unless that has been done.
fn build(workspace: &Workspace, mode: &Mode, program: &Program, prelude: &Path) -> Result {
    let [common, child] = ["check.hpp", "child.hpp"].map(|name| workspace.path("conformance/sycl/programs").join(name));
    if program.is_python() || !files::outdated(&program.binary(mode), &[&program.source, &common, &child, prelude]) {
        return Ok(());
    }
    let mut cxx = compiler(workspace, mode);
    cxx.arg("-include").arg(prelude).arg(&program.source).arg("-o").arg(program.binary(mode));
    cxx.arg("-L").arg(mode.venv.lib()).args(["-lsycl", "-pthread"]);
    process::capture(cxx.arg(format!("-Wl,-rpath-link,{}", mode.venv.lib().display()))).map(drop)
}

/// Builds programs without running them.
pub fn build_all(workspace: &Workspace, mode: &Mode, programs: &[Program]) -> Result {
    let prelude = prelude(workspace, mode)?;
    in_parallel(programs, |program| build(workspace, mode, program, &prelude)).into_iter().collect()
}

/// Compiles the common header once. It takes most of each program's time.
fn prelude(workspace: &Workspace, mode: &Mode) -> Result<PathBuf> {
    let common = workspace.path("conformance/sycl/programs/check.hpp");
    let prelude = mode.scratch().join("prelude.hpp");
    files::write(&prelude, b"#include \"check.hpp\"\n")?;
    let compiled = mode.scratch().join("prelude.hpp.gch");
    if files::outdated(&compiled, &[&common, &mode.venv.lib().join("libsycl.so")]) {
        let mut cxx = compiler(workspace, mode);
        process::capture(cxx.args(["-x", "c++-header"]).arg(&prelude).arg("-o").arg(&compiled))?;
    }
    Ok(prelude)
}

fn compiler(workspace: &Workspace, mode: &Mode) -> std::process::Command {
    let mut cxx = process::cxx();
    cxx.args(["-std=c++17", "-O0", "-Wall", "-Wextra", "-Wno-unused-result"]);
    for include in [mode.venv.include(), mode.venv.include().join("sycl")] {
        cxx.arg("-isystem").arg(include);
    }
    cxx.arg("-I").arg(workspace.path("conformance/sycl/programs"));
    cxx
}

/// Builds and runs the programs, as many at a time as there are processors, and tells of each as it ends.
pub fn run(
    workspace: &Workspace,
    mode: &Mode,
    programs: &[Program],
    tell: impl Fn(&Program, &Outcome) + Sync,
) -> Result<Vec<Outcome>> {
    let prelude = prelude(workspace, mode)?;
    Ok(in_parallel(programs, |program| {
        let outcome = build(workspace, mode, program, &prelude).and_then(|()| run_one(workspace, mode, program));
        let outcome = outcome.unwrap_or_else(|failure| Outcome::Failed(failure.to_string()));
        tell(program, &outcome);
        outcome
    }))
}

/// Runs a program as a user would: with nothing set but the environment's libraries and the simulated driver.
pub fn run_installed(workspace: &Workspace, mode: &Mode, program: &Program) -> Result<Outcome> {
    let mut command =
        process::unsteered(LIMIT, program.script().map_or_else(|| program.binary(mode), |_| mode.venv.python()));
    command.args(program.script()).env("PYTHONPATH", workspace.path("conformance/sycl/programs"));
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("UR_CUDA_LIBRARY", mode.dist.library("libsimcuda.so"));
    if program.script().is_none() {
        command.env("LD_LIBRARY_PATH", mode.venv.lib());
    }
    let (status, printed) = process::outcome(&mut command)?;
    let adapter = format!("mapped: {}\n", mode.venv.lib().join("libur_adapter_cuda.so.0").display());
    Ok(match judge(&program.name, status, &printed, "") {
        Outcome::Passed if !printed.stdout.contains(&adapter) => {
            Outcome::Failed(format!("it ran on another adapter:\n{}", printed.stdout))
        }
        other => other,
    })
}

fn run_one(workspace: &Workspace, mode: &Mode, program: &Program) -> Result<Outcome> {
    let report = program.binary(mode).with_extension("report");
    if report.exists() {
        std::fs::remove_file(&report).context(report.display())?;
    }
    let mut command = match program.script() {
        Some(script) => {
            let mut command = mode.command(LIMIT, mode.venv.python())?;
            command.env("PYTHONPATH", workspace.path("conformance/sycl/programs")).arg(script);
            command
        }
        None => mode.compiling(LIMIT, program.binary(mode))?,
    };
    let (status, printed) = process::outcome(command.env("SIMCUDA_REPORT", &report))?;
    let source = std::fs::read_to_string(&program.source).context(program.source.display())?;
    let bad = program.name.starts_with("bad/");
    let misuse = misuse(&std::fs::read_to_string(&report).unwrap_or_default(), bad, &leaks(&source));
    Ok(match judge(&program.name, status, &printed, &misuse) {
        Outcome::Passed => mode.not_ours(&printed.stdout).map_or(Outcome::Passed, Outcome::Failed),
        other => other,
    })
}

/// The kinds of object that a source says are left behind.
fn leaks(source: &str) -> Vec<&str> {
    let lines = source.lines().filter_map(|line| LEAKS.iter().find_map(|start| line.strip_prefix(start)));
    lines.filter_map(|line| line.split_once(": ")).flat_map(|(kinds, _)| kinds.split(", ")).collect()
}

/// What the simulated driver found wrong. A program that is bad on purpose may leave things behind and use memory that is
/// none, any other what its source says; nothing makes misused contexts, handles or order right.
fn misuse(report: &str, bad: bool, leaks: &[&str]) -> String {
    let forgiven = ["leak: ", "report: leak: ", "report: kernel-fault: ", "report: invalid-pointer: "];
    let left = |line: &str| {
        let kind = line.strip_prefix("leak: ").and_then(|rest| rest.rsplit_once(": ")).map(|(kind, _)| kind);
        kind.is_some_and(|kind| leaks.contains(&kind))
    };
    let lines = report.lines().map(|line| line.strip_prefix("simcuda: ").unwrap_or(line));
    let may_be = |line: &str| left(line) || bad && forgiven.iter().any(|kind| line.starts_with(kind));
    let counted = lines.filter(|line| !may_be(line));
    counted.take(3).collect::<Vec<_>>().join("; ")
}

fn judge(name: &str, status: ExitStatus, printed: &Printed, misuse: &str) -> Outcome {
    let line = |start: String| printed.stdout.lines().find_map(|line| Some(line.strip_prefix(&start)?.to_owned()));
    let ended = match (status.code(), status.signal()) {
        (Some(124 | 137), _) => format!("it hung and was ended after {LIMIT} s"),
        (Some(code), _) if code > 128 => format!("it ended by signal {}", code - 128),
        (Some(code), _) => format!("it ended with {code}"),
        (None, signal) => format!("it ended by signal {}", signal.unwrap_or_default()),
    };
    if let (Some(SKIPPED), Some(reason)) = (status.code(), line(format!("skipped {name}: "))) {
        return Outcome::Skipped(reason);
    }
    if let Some(wrong) = line(format!("{name}: ")) {
        return Outcome::Failed(wrong);
    }
    let said_ok = printed.stdout.lines().any(|line| line == format!("ok {name}"));
    match (said_ok, status.success()) {
        (true, true) if misuse.is_empty() => Outcome::Passed,
        (true, true) => Outcome::Failed(format!("it misused the driver: {misuse}")),
        (true, false) => Outcome::Failed(format!("it was done, and then {ended}: {}", tail(&printed.stderr))),
        (false, true) => Outcome::Failed("it ended with success and did not say ok".to_owned()),
        (false, false) => Outcome::Failed(format!("{ended}: {}", tail(&printed.stderr))),
    }
}

/// The end of what a program complained about.
fn tail(text: &str) -> String {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(3)..].join("; ")
}

/// Applies `work` to every item, on as many threads as there are processors; the results are in the items' order.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(items.iter().map(|_| None).collect::<Vec<Option<R>>>());
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { return };
                    let result = work(item);
                    results.lock().expect("no thread panicked")[index] = Some(result);
                }
            });
        }
    });
    let results = results.into_inner().expect("no thread panicked");
    results.into_iter().map(|result| result.expect("every item was worked on")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(code: i32, stdout: &str) -> Outcome {
        let printed = Printed { stdout: stdout.to_owned(), stderr: "a\nb\n\nc\nd\n".to_owned() };
        judge("x", ExitStatus::from_raw(code << 8), &printed, "")
    }

    #[test]
    fn a_program_passes_only_if_it_says_so_and_ends_well() {
        assert_eq!(ended(0, "hello\nok x\n"), Outcome::Passed);
        assert_eq!(ended(77, "skipped x: no GPU\n"), Outcome::Skipped("no GPU".to_owned()));
        assert_eq!(ended(1, "x: a is 1, not 2\n"), Outcome::Failed("a is 1, not 2".to_owned()));
        for (code, text) in [(0, ""), (0, "ok xy"), (77, "ok x"), (1, "ok x"), (139, ""), (124, "")] {
            assert!(matches!(ended(code, text), Outcome::Failed(_)), "{code} {text}");
        }
        assert_eq!(ended(134, ""), Outcome::Failed("it ended by signal 6: b; c; d".to_owned()));
    }

    #[test]
    fn misuse_of_the_driver_fails_a_program() {
        let printed = Printed { stdout: "ok x\n".to_owned(), stderr: String::new() };
        let judged = judge("x", ExitStatus::from_raw(0), &printed, "report: context: none is current");
        assert_eq!(judged, Outcome::Failed("it misused the driver: report: context: none is current".into()));
        let report = "simcuda: leak: stream: 1\nsimcuda: report: kernel-fault: far\nsimcuda: report: context: none\n";
        assert_eq!(misuse(report, false, &[]), "leak: stream: 1; report: kernel-fault: far; report: context: none");
        assert_eq!(misuse(report, true, &[]), "report: context: none");
        let said = leaks("\"\"\"doc\"\"\"\n# leaks: event, stream: the client keeps them: always\n");
        assert_eq!(said, ["event", "stream"]);
        assert_eq!(misuse(report, false, &said), "report: kernel-fault: far; report: context: none");
        assert_eq!(misuse("simcuda: leak: host allocation: 2\n", false, &said), "leak: host allocation: 2");
    }

    #[test]
    fn every_item_is_worked_on_once_and_in_order() {
        let items: Vec<_> = (0..100).collect();
        assert_eq!(in_parallel(&items, |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert!(in_parallel(&[] as &[i32], |item| *item).is_empty());
    }
}
