//! `sycl [--release R] [--no-suite] [--unpooled] [PROGRAM...]`: stock SYCL runtimes on our adapter, over the simulated driver:
//! the programs of `conformance/sycl` and dpctl's own suite. What fails must be on the list of expectations, and what is on the
//! list must fail; nothing else makes this command succeed. `--unpooled` has no list of its own: an application sees no
//! difference between memory that is kept and memory that is not.

mod builtins;
pub mod bundle;
pub mod expectations;
mod mode;
pub mod programs;
pub mod suite;

use std::time::Instant;

use xtask::fail;
use xtask::support::failure::{Failure, Result};
use xtask::support::workspace::{Release, Workspace};

use expectations::{Expectations, Surprise};
pub use mode::Mode;
use programs::{Outcome, Program};

/// The entry for a suite that does not come to its end.
const WHOLE_SUITE: &str = "dpctl-suite";

const EXPECTATIONS: &str = "conformance/sycl/expectations.toml";

/// Seconds of one process of dpctl's suite; the whole takes about sixty, and far more on a busy machine.
const SUITE_LIMIT: u32 = 540;
/// How often dpctl's suite may end its process.
const MOST_CRASHES: usize = 60;

struct Options {
    releases: Vec<Release>,
    suite: bool,
    unpooled: bool,
    filters: Vec<String>,
}

impl Options {
    fn read(arguments: &[String]) -> Result<Self> {
        let mut options =
            Options { releases: Release::ALL.to_vec(), suite: true, unpooled: false, filters: Vec::new() };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--no-suite" => options.suite = false,
                "--unpooled" => options.unpooled = true,
                "--release" => {
                    let Some(name) = words.next() else { fail!("`--release` needs a release") };
                    options.releases = vec![Release::named(name)?];
                }
                flag if flag.starts_with('-') => fail!("it knows no `{flag}`"),
                name => options.filters.push(name.to_owned()),
            }
        }
        options.suite &= options.filters.is_empty();
        Ok(options)
    }
}

/// Why the list of expectations says that a program fails, if it does.
pub fn expected_to_fail(workspace: &Workspace, release: Release, program: &str) -> Result<Option<String>> {
    let list = Expectations::read(&workspace.path(EXPECTATIONS), release)?;
    Ok(list.reason(program).map(str::to_owned))
}

/// What came of one release.
struct Column {
    release: Release,
    results: Vec<(String, Outcome)>,
    suite: Option<suite::Suite>,
    expectations: Expectations,
    surprises: Vec<Surprise>,
}

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    let options = Options::read(arguments)?;
    let programs = programs::find(workspace, &options.filters)?;
    let mut columns = Vec::new();
    for release in &options.releases {
        columns.push(column(workspace, *release, &programs, &options)?);
    }
    println!("\n== summary ==");
    for (index, program) in programs.iter().enumerate() {
        let cells: Vec<_> = columns.iter().map(|column| column.cell(index)).collect();
        println!("{:<28} {}", program.name, cells.join(" "));
    }
    for column in &columns {
        column.print_suite();
    }
    let surprises: Vec<_> = columns.iter().flat_map(|c| c.surprises.iter().map(move |s| (c.release, s))).collect();
    for (release, surprise) in &surprises {
        println!("unexpected, {}: {}: {}", release.name(), surprise.what, surprise.text);
    }
    if surprises.is_empty() {
        println!("xtask sycl: everything is as {EXPECTATIONS} says");
        return Ok(());
    }
    Err(Failure::new(format!("{} results are not as {EXPECTATIONS} says", surprises.len())))
}

fn column(workspace: &Workspace, release: Release, programs: &[Program], options: &Options) -> Result<Column> {
    let mode = Mode::prepare(workspace, release)?.unpooled(options.unpooled);
    let expectations = Expectations::read(&workspace.path(EXPECTATIONS), release)?;
    println!("== {} ==", mode.describe());
    let start = Instant::now();
    let outcomes = programs::run(workspace, &mode, programs, |program, outcome| match outcome {
        Outcome::Passed => println!("{:<8} ok {}", release.name(), program.name),
        Outcome::Skipped(text) => println!("{:<8} skipped {}: {text}", release.name(), program.name),
        Outcome::Failed(text) => println!("{:<8} {}: {text}", release.name(), program.name),
    })?;
    let mut results: Vec<_> = programs.iter().map(|program| program.name.clone()).zip(outcomes).collect();
    println!("built and run in {:.1} s", start.elapsed().as_secs_f64());
    let shown = results.len();
    let mut suite = None;
    if options.suite {
        // With an entry for all of it, the suite cannot be run to its end, and must not be.
        let whole = expectations.reason(WHOLE_SUITE).is_some();
        let plan = suite::Plan {
            name: "dpctl".to_owned(),
            record: mode.scratch().join("dpctl-suite.record"),
            words: ["--pyargs", "dpctl.tests"].map(str::to_owned).to_vec(),
            most_crashes: if whole { 0 } else { MOST_CRASHES },
        };
        match suite::run(workspace, &plan, || mode.command(SUITE_LIMIT, mode.venv.python())) {
            Ok(done) => {
                results.extend(done.failed.iter().map(|(test, outcome)| (format!("dpctl/{test}"), outcome.clone())));
                results.extend(whole.then(|| (WHOLE_SUITE.to_owned(), Outcome::Passed)));
                suite = Some(done);
            }
            Err(failure) => results.push((WHOLE_SUITE.to_owned(), Outcome::Failed(failure.to_string()))),
        }
    }
    println!("all in {:.1} s", start.elapsed().as_secs_f64());
    let mut surprises = expectations.judge(&results, options.suite && options.filters.is_empty());
    surprises.extend(suite.as_ref().and_then(|suite| expectations.judge_counts("dpctl", suite)));
    results.truncate(shown);
    Ok(Column { release, results, suite, expectations, surprises })
}

impl Column {
    fn cell(&self, index: usize) -> String {
        let (what, outcome) = &self.results[index];
        let known = self.expectations.reason(what).is_some();
        let text = match (outcome, known) {
            (Outcome::Passed, false) => "ok",
            (Outcome::Passed, true) => "UNEXPECTED OK",
            (Outcome::Skipped(_), true) => "skipped, known",
            (Outcome::Skipped(_), false) => "SKIPPED",
            (Outcome::Failed(_), true) => "known",
            (Outcome::Failed(_), false) => "FAILED",
        };
        format!("{}: {text:<14}", self.release.name())
    }

    fn print_suite(&self) {
        let name = self.release.name();
        let Some(suite) = &self.suite else { return };
        println!(
            "dpctl's suite, {name}: {} passed, {} skipped, {} failed",
            suite.passed,
            suite.skipped,
            suite.failed.len()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_strange_ones_refused() {
        let read = |words: &[&str]| Options::read(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let all = read(&[]).expect("nothing is fine");
        assert!(all.suite && !all.unpooled && all.releases.len() == 2 && all.filters.is_empty());
        let one = read(&["--release", "2026.1", "queue"]).expect("a release and a program");
        assert!(!one.suite && one.releases == [Release::R2026_1] && one.filters == ["queue"]);
        assert!(read(&["--unpooled"]).is_ok_and(|options| options.unpooled && options.suite));
        assert!(read(&["--release"]).is_err() && read(&["--release", "2025"]).is_err() && read(&["--x"]).is_err());
    }
}
