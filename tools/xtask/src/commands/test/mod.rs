//! `test [FILTER...]`: everything that can be tested with a Rust toolchain and a C compiler. It builds what the tests run
//! on, says where it is by environment variables, and ends with a summary that repeats every result; it hides none, and
//! what it skips it names with the reason. It installs nothing on this machine unless `UR_TEST_INSTALL=1` says so, as CI does.
//!
//! `test --step NAME [FILTER...]` runs one of its steps on what an earlier run has built. The command itself runs its steps
//! that way, each in a process of its own: so two can run at a time and still print one after the other.

mod report;
mod side_by_side;
mod steps;

use std::process::Command;

use crate::fail;
use crate::support::failure::Result;
use crate::support::workspace::{Release, Workspace};

use super::dist::Dist;
use report::Report;

/// The package that tests adapters, and the adapter that it is run for once more.
pub const SUITE: &str = "ur-conformance";
/// The second of the adapters.
pub const HIP_ADAPTER: &str = "libur_adapter_hip.so.0";

/// This program's own file. Tests rebuild the program while it runs, so the name that it was started by may lead elsewhere.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// A part of the command that can fail by itself.
struct Step {
    name: &'static str,
    /// Stands before the names of its tests' binaries where another step runs the same ones.
    word: &'static str,
    run: fn(&Place<'_>) -> Result,
}

impl Step {
    const fn new(name: &'static str, run: fn(&Place<'_>) -> Result) -> Self {
        Step { name, word: "", run }
    }

    const fn with_word(self, word: &'static str) -> Self {
        Step { word, ..self }
    }
}

/// What steps work on.
struct Place<'a> {
    workspace: &'a Workspace,
    newest: Dist,
    older: Dist,
    /// Which tests are meant; all of them where there is none.
    filters: &'a [String],
}

/// Nothing else can run without these; cargo keeps both cores busy with each.
const BUILDS: [Step; 3] = [
    Step::new("dist", steps::dists),
    Step::new("planted bugs", steps::planted_bugs),
    Step::new("tests' programs", steps::build_tests),
];

/// The tests that filters choose from.
const TESTS: [Step; 2] = [
    Step::new("cargo test --workspace", steps::workspace_tests),
    Step::new("conformance suite, HIP adapter", steps::hip_suite).with_word("hip: "),
];

/// What else runs where there is no filter; what takes long comes first.
const MORE: [Step; 14] = [
    Step::new("engine under loom", steps::loom).with_word("loom: "),
    Step::new("cargo test for 2026.1", steps::older_release).with_word("2026.1: "),
    Step::new("engine under ThreadSanitizer", steps::thread_sanitizer).with_word("tsan: "),
    Step::new("urbench", steps::urbench),
    Step::new("urbench, hip", steps::urbench_hip),
    Step::new("urbench, an adapter beside", steps::urbench_beside),
    Step::new("Debian's HIP runtime and comgr", steps::debian).with_word("Debian: "),
    Step::new("C examples over pkg-config", steps::examples),
    Step::new("C examples for 2026.1", steps::examples_older),
    Step::new("CMake package", steps::cmake),
    Step::new("generate --check", steps::generate_check),
    Step::new("urinfo", steps::urinfo),
    Step::new("demo, cuda", steps::demo_cuda),
    Step::new("demo, hip", steps::demo_hip),
];

/// What compares the answers of all of [`TESTS`].
const COMPARISONS: [Step; 3] = [
    Step::new("docs/coverage.md, CUDA", steps::coverage_cuda),
    Step::new("docs/coverage.md, HIP", steps::coverage_hip),
    Step::new("what waits says so", steps::waits),
];

/// The command.
pub fn run(workspace: &Workspace, words: &[String]) -> Result {
    match words {
        [flag, name, filters @ ..] if flag == "--step" => run_step(workspace, name, filters),
        filters => run_all(workspace, filters),
    }
}

fn run_all(workspace: &Workspace, filters: &[String]) -> Result {
    let mut report = Report::default();
    let command_of = |step: &Step| {
        let mut command = Command::new(THIS_PROGRAM);
        command.args(["test", "--step", step.name]).args(filters);
        command
    };
    let run = |steps: &[&Step], report: &mut Report| {
        side_by_side::run(steps, command_of, report, &mut std::io::stdout().lock())
    };
    for step in &BUILDS {
        run(&[step], &mut report)?;
    }
    if report.failed(BUILDS[0].name) {
        return report.end(workspace);
    }
    let mut tests: Vec<&Step> = TESTS.iter().collect();
    if filters.is_empty() {
        tests.extend(&MORE);
    }
    run(&tests, &mut report)?;
    if filters.is_empty() {
        run(&COMPARISONS.each_ref(), &mut report)?;
    }
    if workspace.shared().is_none() {
        report.note("left out: the comparison with ../shared/abi, which is not beside the checkout");
    }
    report.end(workspace)
}

fn run_step(workspace: &Workspace, name: &str, filters: &[String]) -> Result {
    let all = || BUILDS.iter().chain(&TESTS).chain(&MORE).chain(&COMPARISONS);
    let Some(step) = all().find(|step| step.name == name) else {
        let names: Vec<_> = all().map(|step| step.name).collect();
        fail!("there is no step `{name}`; the steps are:\n  {}", names.join("\n  "));
    };
    let [newest, older] = [Release::R2026_2, Release::R2026_1].map(|release| Dist::made(workspace, release));
    (step.run)(&Place { workspace, newest, older, filters })
}
