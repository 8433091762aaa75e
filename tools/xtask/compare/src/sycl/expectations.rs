//! What is known not to work, with the reason: `conformance/sycl/expectations.toml`. The list must be exact. Something that
//! fails and is not on it is a failure, and so is something on it that does not fail; nothing here makes a failure pass.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use toml::Value;

use super::programs::Outcome;
use super::suite::Suite;
use xtask::fail;
use xtask::support::failure::{Context, Result};
use xtask::support::workspace::Release;

/// The table for what fails on every release.
const BOTH: &str = "both";

/// What must be so on one release.
#[derive(Debug, Default)]
pub struct Expectations {
    failing: BTreeMap<String, String>,
    counts: Option<(usize, usize)>,
}

/// A result that is not as it must be.
pub struct Surprise {
    /// Program or test.
    pub what: String,
    /// For the person at the terminal.
    pub text: String,
}

impl Expectations {
    /// Reads the file's part for a release.
    pub fn read(file: &Path, release: Release) -> Result<Self> {
        let text = fs::read_to_string(file).context(file.display())?;
        Self::parse(&text, release).context(file.display())
    }

    fn parse(text: &str, release: Release) -> Result<Self> {
        let tables: BTreeMap<String, Value> = toml::from_str(text).context("it is no TOML")?;
        let mut expectations = Self::default();
        for (name, table) in &tables {
            // `whole` is for runs on a GPU, which read the list themselves.
            let known = [BOTH, "suite", "sample", "whole"].contains(&name.as_str())
                || Release::ALL.iter().any(|release| release.name() == name);
            let Some(table) = table.as_table().filter(|_| known) else { fail!("`{name}` is no table it may have") };
            if name == "suite" {
                expectations.counts = counts(table.get(release.name()))?;
            } else if name == BOTH || name == release.name() {
                for (what, reason) in table {
                    let reason = reason.as_str().filter(|reason| !reason.trim().is_empty());
                    let Some(reason) = reason else { fail!("`{what}` has no reason") };
                    expectations.failing.insert(what.clone(), reason.to_owned());
                }
            }
        }
        Ok(expectations)
    }

    /// What is known to fail.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.failing.keys().map(String::as_str)
    }

    /// Why this is known to fail. A test's entry without parameters stands for all of its parameters.
    pub fn reason(&self, what: &str) -> Option<&str> {
        self.entry(what).and_then(|entry| self.failing.get(entry)).map(String::as_str)
    }

    fn entry<'a>(&self, what: &'a str) -> Option<&'a str> {
        let bare = what.split('[').next().unwrap_or(what);
        [what, bare].into_iter().find(|name| self.failing.contains_key(*name))
    }

    /// What is otherwise than the list says of the programs that ran; with the whole set, entries that match none too.
    pub fn judge(&self, results: &[(String, Outcome)], all: bool) -> Vec<Surprise> {
        let mut used = BTreeSet::new();
        let mut surprises = Vec::new();
        for (what, outcome) in results {
            let entry = self.entry(what);
            used.extend(entry);
            let text = match (outcome, entry) {
                (Outcome::Passed, Some(entry)) if !is_of_suite(what) => {
                    format!("passes, and must be taken off the list: `{entry}`")
                }
                (Outcome::Failed(text) | Outcome::Skipped(text), None) => text.clone(),
                _ => continue,
            };
            surprises.push(Surprise { what: what.clone(), text });
        }
        if all {
            let unused = self.failing.keys().filter(|entry| !used.contains(entry.as_str()));
            let text = "is on the list, and did not fail".to_owned();
            surprises.extend(unused.map(|entry| Surprise { what: entry.clone(), text: text.clone() }));
        }
        surprises
    }

    /// Whether the suite's counts are those of the list.
    pub fn judge_counts(&self, name: &str, suite: &Suite) -> Option<Surprise> {
        let found = (suite.passed, suite.skipped);
        let text = format!("{} passed and {} skipped", found.0, found.1);
        let expected = match self.counts {
            Some(counts) if counts == found => return None,
            Some((passed, skipped)) => format!("the list says {passed} and {skipped}"),
            None => "the list says nothing".to_owned(),
        };
        Some(Surprise { what: format!("{name}'s suite"), text: format!("{text}; {expected}") })
    }
}

/// Whether this is a test of a package's suite, of which only those that failed are told.
fn is_of_suite(what: &str) -> bool {
    what.starts_with("dpctl/") || what.starts_with("dpnp/")
}

fn counts(value: Option<&Value>) -> Result<Option<(usize, usize)>> {
    let Some(value) = value else { return Ok(None) };
    let number = |name: &str| value.get(name).and_then(Value::as_integer).and_then(|n| usize::try_from(n).ok());
    match (number("passed"), number("skipped")) {
        (Some(passed), Some(skipped)) => Ok(Some((passed, skipped))),
        _ => fail!("a suite needs `passed` and `skipped`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[suite]\n\"2026.2\" = { passed = 3, skipped = 4 }\n\
                        [both]\ngraph = \"not there yet\"\n\"dpctl/t.py::a\" = \"no such image\"\n\
                        [\"2026.1\"]\nold = \"is old\"\n";

    fn judged(results: &[(&str, Outcome)], all: bool) -> Vec<String> {
        let list = Expectations::parse(TEXT, Release::R2026_2).expect("a list");
        let results: Vec<_> = results.iter().map(|(what, outcome)| ((*what).to_owned(), outcome.clone())).collect();
        list.judge(&results, all).into_iter().map(|surprise| surprise.what).collect()
    }

    #[test]
    fn only_what_is_on_the_list_may_fail_and_must() {
        let failed = || Outcome::Failed("x".to_owned());
        let known = [("graph", failed()), ("dpctl/t.py::a[1]", failed()), ("queue", Outcome::Passed)];
        assert!(judged(&known, true).is_empty());
        assert_eq!(judged(&[("old", failed())], false), ["old"]);
        assert_eq!(judged(&[("queue", Outcome::Skipped("x".to_owned()))], false), ["queue"]);
        assert_eq!(judged(&[("graph", Outcome::Passed)], false), ["graph"]);
        assert_eq!(judged(&[("queue", Outcome::Passed)], true), ["dpctl/t.py::a", "graph"]);
    }

    #[test]
    fn counts_are_compared_and_reasons_are_needed() {
        let list = Expectations::parse(TEXT, Release::R2026_2).expect("a list");
        assert!(list.judge_counts("dpctl", &Suite { passed: 3, skipped: 4, ..Suite::default() }).is_none());
        assert!(list.judge_counts("dpctl", &Suite { passed: 2, skipped: 4, ..Suite::default() }).is_some());
        for bad in ["[both]\na = \"\"", "[both]\na = 1", "[other]\na = \"b\"", "x = 1", "[suite]\n\"2026.2\" = {}"] {
            assert!(Expectations::parse(bad, Release::R2026_2).is_err(), "{bad}");
        }
        assert_eq!(list.reason("dpctl/t.py::a[x]"), Some("no such image"));
        assert_eq!(list.reason("old"), None);
    }
}
