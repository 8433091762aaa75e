//! The own suite of a package on a runtime. A test that ends the process is noted, and the rest goes on in a new one, so one crash
//! hides nothing; `conformance/sycl/record.py` writes what happens to each test as it happens.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::programs::Outcome;
use xtask::fail;
use xtask::support::failure::{Context, Result};
use xtask::support::workspace::Workspace;
use xtask::support::{files, process};

/// Seconds after which a test counts as hanging.
const TEST_LIMIT: &str = "200";

/// Tests to be run.
pub struct Plan {
    /// Whose tests they are: results are called after it.
    pub name: String,
    /// Where what happened is written.
    pub record: PathBuf,
    /// What follows the options that all suites have: files, or a package.
    pub words: Vec<String>,
    /// A suite that ends its process more often than this is not worth the wait.
    pub most_crashes: usize,
}

/// What the suite gave.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Suite {
    /// Tests that passed.
    pub passed: usize,
    /// Tests that found nothing to test.
    pub skipped: usize,
    /// The others, by name.
    pub failed: BTreeMap<String, Outcome>,
}

/// Runs it, by an interpreter that `python` makes ready; after more crashes than the plan has it gives up.
pub fn run(workspace: &Workspace, plan: &Plan, python: impl Fn() -> Result<Command>) -> Result<Suite> {
    let (name, record) = (&plan.name, &plan.record);
    files::write(record, b"")?;
    for _ in 0..=plan.most_crashes {
        let (ended, printed) = once(workspace, plan, python()?)?;
        let (suite, open) = read(&fs::read_to_string(record).context(record.display())?);
        let Some(open) = open else {
            // 0: all passed; 1: some failed; 5: none was left.
            if !matches!(ended, Some(0 | 1 | 5)) {
                fail!("pytest ended with {ended:?} before or after all tests:\n{printed}");
            }
            return Ok(suite);
        };
        println!("  {name}/{open} ended its process");
        let note = format!("crashed\t{open}\t{}\n", crash(&printed));
        let text = fs::read_to_string(record).context(record.display())? + &note;
        fs::write(record, text).context(record.display())?;
    }
    fail!("the tests of {name} ended their process {} times; see {}", plan.most_crashes + 1, record.display())
}

fn once(workspace: &Workspace, plan: &Plan, mut command: Command) -> Result<(Option<i32>, String)> {
    command.current_dir(std::env::temp_dir());
    command.env("PYTHONPATH", workspace.path("conformance/sycl")).env("UR_SYCL_RECORD", &plan.record);
    command.args(["-m", "pytest", "-q", "--tb=line", "-p", "no:cacheprovider", "-p", "record"]);
    command.args(["-o", &format!("faulthandler_timeout={TEST_LIMIT}"), "-o", "faulthandler_exit_on_timeout=true"]);
    let (status, printed) = process::outcome(command.args(&plan.words))?;
    Ok((status.code(), printed.stdout + &printed.stderr))
}

/// Reads a record: lines of a word, a test and, maybe, what was wrong. A test that began and did not end comes second.
fn read(record: &str) -> (Suite, Option<String>) {
    let (mut suite, mut open) = (Suite::default(), None);
    for line in record.lines() {
        let mut parts = line.splitn(3, '\t');
        let (Some(word), Some(test)) = (parts.next(), parts.next()) else { continue };
        let text = parts.next().unwrap_or_default().to_owned();
        if word == "began" {
            open = Some(test.to_owned());
            continue;
        }
        open = None;
        match word {
            "passed" => suite.passed += 1,
            "skipped" => suite.skipped += 1,
            _ => drop(suite.failed.insert(test.to_owned(), Outcome::Failed(format!("{word}: {text}")))),
        }
    }
    (suite, open)
}

/// The most telling line of what a dying process printed.
fn crash(printed: &str) -> String {
    let telling = ["what():", "terminate called", "Fatal Python error", "Timeout"];
    let line = telling.iter().find_map(|word| printed.lines().find(|line| line.contains(word)));
    line.unwrap_or("it gave no reason").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_tells_how_each_test_ended_and_which_did_not() {
        let text = "began\ta::b\npassed\ta::b\nbegan\ta::c\nfailed\ta::c\tassert 1 == 2\nbegan\ta::d\nskipped\ta::d\n";
        let (suite, open) = read(text);
        assert_eq!((suite.passed, suite.skipped, open), (1, 1, None));
        assert_eq!(suite.failed["a::c"], Outcome::Failed("failed: assert 1 == 2".to_owned()));
        let (_, open) = read(&format!("{text}began\ta::e\n"));
        assert_eq!(open.as_deref(), Some("a::e"));
        let (suite, open) = read(&format!("{text}began\ta::e\ncrashed\ta::e\tFatal\n"));
        assert_eq!((suite.failed.len(), open), (2, None));
    }

    #[test]
    fn the_reason_of_a_crash_is_found() {
        assert_eq!(
            crash("x\nterminate called after\n  what():  Invalid image\nFatal Python error: Aborted\n"),
            "what():  Invalid image"
        );
        assert_eq!(crash("x\n"), "it gave no reason");
    }
}
