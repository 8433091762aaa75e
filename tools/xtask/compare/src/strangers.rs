//! `strangers`: the conformance suite over a stranger's adapter: oneAPI's for OpenCL, on its CPU. What must hold for everybody's adapter is
//! tried on one that nobody here wrote: no test may end the process, and what fails is what `conformance/strangers.toml` lists,
//! each with its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use xtask::commands::dist::{self, Dist};
use xtask::commands::test::SUITE;
use xtask::fail;
use xtask::support::failure::{Context, Failure, Result};
use xtask::support::python::Venv;
use xtask::support::workspace::{Release, Workspace};
use xtask::support::{cargo, process};

use crate::sycl_cpu;

/// What fails, in a table for each test binary that is run.
const EXPECTATIONS: &str = "conformance/strangers.toml";

/// Failing tests of a binary, each with its reason.
type Expected = BTreeMap<String, String>;

/// The command.
pub fn run(workspace: &Workspace, _: &[String]) -> Result {
    let dist = dist::make(workspace, Release::R2026_1)?;
    let venv = sycl_cpu::venv(workspace)?;
    let file = workspace.path(EXPECTATIONS);
    let text = fs::read_to_string(&file).context(file.display())?;
    let lists: BTreeMap<String, Expected> = toml::from_str(&text).context(file.display())?;
    let mut build = cargo::cargo(workspace);
    build.args(["test", "--no-run", "--package", SUITE]);
    for binary in lists.keys() {
        build.args(["--test", binary]);
    }
    let built = cargo::build(&mut build)?;
    let mut wrong = Vec::new();
    for (binary, program) in built.tests() {
        let Some(expected) = lists.get(binary) else { continue };
        let printed = print_of(program, &dist, &venv)?;
        let Some(failed) = failures(&printed) else {
            fail!("`{binary}` did not come to its end over the OpenCL adapter:\n{printed}");
        };
        println!("{binary} over the OpenCL adapter: {} tests fail, {} are to", failed.len(), expected.len());
        failed
            .iter()
            .filter(|test| !expected.contains_key(*test))
            .for_each(|test| println!("{}", section(&printed, test)));
        wrong.extend(surprises(expected, &failed).into_iter().map(|text| format!("unexpected: {binary}: {text}")));
    }
    // A line each, by which the end of a CI run finds them.
    if wrong.is_empty() { Ok(()) } else { Err(Failure::new(format!("{EXPECTATIONS}:\n{}", wrong.join("\n")))) }
}

/// What a test binary prints over the adapter, whether its tests pass or not.
fn print_of(program: &Path, dist: &Dist, venv: &Venv) -> Result<String> {
    let mut command = process::unsteered(300, program);
    // The adapter's own libraries and the OpenCL driver lie beside it.
    command.env("LD_LIBRARY_PATH", venv.lib()).env("OCL_ICD_FILENAMES", venv.lib().join("libintelocl.so"));
    command.env("UR_TEST_DIST", dist.folder()).env("UR_TEST_ADAPTER", venv.lib().join("libur_adapter_opencl.so.0"));
    let (status, printed) = process::outcome(command.arg("--test-threads=1"))?;
    Ok(format!("{}{}\nit ended with {status}", printed.stdout, printed.stderr))
}

/// The tests that failed, from the list at the output's end; none if the tests did not come to theirs.
fn failures(printed: &str) -> Option<BTreeSet<String>> {
    let (tests, result) = printed.rsplit_once("\ntest result: ")?;
    if result.starts_with("ok.") {
        return Some(BTreeSet::new());
    }
    let (_, list) = tests.rsplit_once("\nfailures:\n")?;
    Some(list.lines().filter_map(|line| Some(line.strip_prefix("    ")?.to_owned())).collect())
}

/// What a failed test printed: what those on the list print says nothing.
fn section<'p>(printed: &'p str, test: &str) -> &'p str {
    let head = format!("---- {test} stdout ----");
    let Some(start) = printed.find(&head) else { return "" };
    let rest = &printed[start..];
    rest[head.len()..]
        .find("\n---- ")
        .or_else(|| rest[head.len()..].find("\nfailures:\n"))
        .map_or(rest, |end| &rest[..head.len() + end])
}

/// What is otherwise than the list says.
fn surprises(expected: &Expected, failed: &BTreeSet<String>) -> Vec<String> {
    let new = failed.iter().filter(|test| !expected.contains_key(*test)).map(|test| format!("`{test}` fails"));
    let over = expected.keys().filter(|test| !failed.contains(*test));
    new.chain(over.map(|test| format!("`{test}` does not fail, and must be taken off the list"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\nrunning 3 tests\ntest a::b ... ok\ntest a::c ... FAILED\ntest d ... FAILED\n\nfailures:\n\n\
                           ---- a::c stdout ----\n    indented\n\nfailures:\n    a::c\n    d\n\n\
                           test result: FAILED. 1 passed; 2 failed; 0 ignored\n";

    #[test]
    fn the_last_list_names_what_failed_and_a_process_that_ended_early_has_none() {
        assert_eq!(failures(PRINTED), Some(["a::c", "d"].map(str::to_owned).into()));
        assert_eq!(failures("\nrunning 1 test\ntest a ... ok\n\ntest result: ok. 1 passed"), Some(BTreeSet::new()));
        assert_eq!(failures("\nrunning 3 tests\ntest a::b ... ok\ntest a::c ... "), None);
    }

    #[test]
    fn a_failed_test_is_told_of_by_its_own_lines() {
        assert_eq!(section(PRINTED, "a::c"), "---- a::c stdout ----\n    indented\n");
        assert_eq!(section(PRINTED, "d"), "");
    }

    #[test]
    fn the_list_must_be_exact() {
        let failed = failures(PRINTED).expect("an end");
        let list = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), "a reason".to_owned())).collect();
        assert!(surprises(&list(&["a::c", "d"]), &failed).is_empty());
        let told = surprises(&list(&["a::b", "d"]), &failed);
        assert_eq!(told, ["`a::c` fails", "`a::b` does not fail, and must be taken off the list"]);
    }
}
