//! The summary of a run: what happened, step by step, with the result line of each binary of tests. It reads what cargo and
//! the test harness print, and decides nothing by it but what is counted.

use crate::support::failure::{Failure, Result};
use crate::support::files;
use crate::support::workspace::Workspace;

/// Repeats the summary for whoever only sees the end of a run.
const RESULTS: &str = "test-results.txt";

/// How a step ended.
pub struct Outcome {
    pub name: &'static str,
    pub ok: bool,
    pub seconds: f64,
    pub tests: TestResults,
}

/// What happened, step by step.
#[derive(Default)]
pub struct Report {
    outcomes: Vec<Outcome>,
    notes: Vec<String>,
}

impl Report {
    pub fn add(&mut self, outcome: Outcome) {
        self.outcomes.push(outcome);
    }

    pub fn note(&mut self, text: &str) {
        self.notes.push(format!("note: {text}"));
    }

    /// Whether that step has failed.
    pub fn failed(&self, name: &str) -> bool {
        self.outcomes.iter().any(|outcome| outcome.name == name && !outcome.ok)
    }

    /// Prints the summary and keeps a copy.
    pub fn end(self, workspace: &Workspace) -> Result {
        let failed = self.outcomes.iter().any(|outcome| !outcome.ok);
        let verdict = self.verdict();
        let lines: Vec<_> = self.outcomes.iter().flat_map(Outcome::lines).chain(self.notes).collect();
        let text = format!("{}\n{verdict}\n", lines.join("\n"));
        print!("\n== summary ==\n{text}");
        files::write(&workspace.target().join(RESULTS), text.as_bytes())?;
        if failed { Err(Failure::new("see the summary above")) } else { Ok(()) }
    }

    /// One line, for readers that see no other: which steps failed, and which tests of theirs.
    fn verdict(&self) -> String {
        let failed: Vec<_> = self.outcomes.iter().filter(|outcome| !outcome.ok).map(Outcome::failure).collect();
        if failed.is_empty() {
            return "xtask test: all steps ok".to_owned();
        }
        format!("xtask test: {} steps FAILED: {}", failed.len(), failed.join("; "))
    }
}

impl Outcome {
    /// Its name and the tests that failed.
    fn failure(&self) -> String {
        let test = |line: &String| Some(line.split_once("test ")?.1.strip_suffix(" ... FAILED")?.to_owned());
        let tests: Vec<_> = self.tests.lines.iter().filter_map(test).collect();
        if tests.is_empty() { self.name.to_owned() } else { format!("{} ({})", self.name, tests.join(", ")) }
    }

    /// The results of its tests, and its own.
    fn lines(&self) -> Vec<String> {
        let verdict = if self.ok { "ok" } else { "FAILED" };
        let mut own = format!("{:<44} {verdict} ({:.1} s)", self.name, self.seconds);
        let mut lines = self.tests.lines.clone();
        if !lines.is_empty() {
            let (passed, failed) = totals(&lines);
            own += &format!(": {passed} passed, {failed} failed");
        }
        lines.push(own);
        lines
    }
}

/// Cargo's result lines among the lines that a step prints, each with the name of its binary.
pub struct TestResults {
    word: &'static str,
    /// The binary whose tests run.
    running: String,
    lines: Vec<String>,
}

impl TestResults {
    /// None yet; `word` will stand before each name.
    pub fn new(word: &'static str) -> Self {
        TestResults { word, running: String::new(), lines: Vec::new() }
    }

    /// Takes a line that was printed.
    pub fn read(&mut self, line: &str) {
        let text = line.trim_start();
        let is_result = text.starts_with("test result:") && !text.contains(" 0 passed; 0 failed;");
        if let Some(what) = text.strip_prefix("Running ").or_else(|| text.strip_prefix("Doc-tests ")) {
            self.running = binary_name(what);
        } else if is_result || (text.starts_with("test ") && text.ends_with("FAILED")) {
            self.lines.push(format!("{:<44} {text}", format!("{}{}", self.word, self.running)));
        }
    }
}

/// `tests/exports.rs (target/debug/deps/exports-0123)` and `unittests src/lib.rs (…/ur_loader-0123)` by their binary.
fn binary_name(running: &str) -> String {
    let binary = running.rsplit('/').next().unwrap_or(running).trim_end_matches(')');
    match binary.rsplit_once('-') {
        Some((name, _)) => name.to_owned(),
        None => binary.to_owned(),
    }
}

/// Passed and failed tests in cargo's result lines.
fn totals(lines: &[String]) -> (usize, usize) {
    let count = |word: &str| {
        let before = |line: &String| line.split_once(word)?.0.rsplit(' ').next()?.parse::<usize>().ok();
        lines.iter().filter(|line| line.contains("test result:")).filter_map(before).sum()
    };
    (count(" passed;"), count(" failed;"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_told_by_binary_and_added_up() {
        assert_eq!(binary_name("tests/exports.rs (target/debug/deps/exports-bd12)"), "exports");
        assert_eq!(binary_name("unittests src/lib.rs (/x/target/debug/deps/ur_loader-0a1b)"), "ur_loader");
        assert_eq!(binary_name("generator"), "generator");
        let mut tests = TestResults::new("hip: ");
        for line in [
            "     Running tests/order.rs (target/debug/deps/order-bd12)",
            "test a::b ... ok",
            "test a::c ... FAILED",
            "test result: FAILED. 3 passed; 1 failed; 0 ignored",
            "   Doc-tests ur_order",
            "test result: ok. 0 passed; 0 failed; 0 ignored",
        ] {
            tests.read(line);
        }
        let name = format!("{:<44}", "hip: order");
        assert_eq!(
            tests.lines,
            [
                format!("{name} test a::c ... FAILED"),
                format!("{name} test result: FAILED. 3 passed; 1 failed; 0 ignored")
            ]
        );
        assert_eq!(totals(&tests.lines), (3, 1));
    }

    #[test]
    fn the_last_line_names_what_failed() {
        let outcome = |name, ok, lines: &[&str]| {
            let mut tests = TestResults::new("hip: ");
            lines.iter().for_each(|line| tests.read(line));
            Outcome { name, ok, seconds: 1.0, tests }
        };
        let mut report = Report::default();
        report.add(outcome("builds", true, &[]));
        assert_eq!(report.verdict(), "xtask test: all steps ok");
        report.add(outcome(
            "suite",
            false,
            &["Running tests/order.rs (target/order-bd12)", "test a::b ... FAILED", "test a::c ... FAILED"],
        ));
        report.add(outcome("headers", false, &[]));
        assert_eq!(report.verdict(), "xtask test: 2 steps FAILED: suite (a::b, a::c); headers");
    }
}
