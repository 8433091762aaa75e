//! `dpnp [TESTS...]`: the user's story of kernels that come as SPIR-V. A new environment gets dpnp as it is on PyPI, libnvvm and our
//! wheel, and then dpnp runs on a CUDA device, the simulated one: a sum, and the tests of dpnp's own that `conformance/sycl/dpnp/expectations.toml`
//! chooses. What fails must be listed there with its reason, and what is listed must fail.

pub mod bundle;
mod stand_ins;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use xtask::commands::dist::{self, Dist};
use xtask::commands::wheel;
use xtask::fail;
use xtask::support::failure::{Context, Failure, Result};
use xtask::support::python::Venv;
use xtask::support::workspace::{Release, Workspace};
use xtask::support::{files, process};

use crate::sycl::expectations::Expectations;
use crate::sycl::programs::{Outcome, in_parallel};
use crate::sycl::suite::{self, Plan, Suite};

const RELEASE: Release = Release::R2026_2;
const DPNP: &str = "dpnp==0.20.0";
const DPCTL: &str = "dpctl==0.22.1";
const RUNTIME: &str = "intel-sycl-rt==2026.2.0";
/// dpnp as it is on PyPI, what it needs, and what tests it.
pub const PACKAGES: [&str; 5] = [DPNP, DPCTL, RUNTIME, "nvidia-nvvm==13.5.37", "pytest"];
const EXPECTATIONS: &str = "conformance/sycl/dpnp/expectations.toml";
/// The fewest tests that must run for the sample to be one.
const FEWEST: usize = 5000;
/// Seconds of one process.
const LIMIT: u32 = 1500;
const MOST_CRASHES: usize = 5;

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    if let Some(flag) = arguments.iter().find(|word| word.starts_with('-')) {
        fail!("it knows no `{flag}`; it takes files of dpnp's tests");
    }
    let mode = Mode::prepare(workspace)?;
    story(&mode)?;
    gaps(workspace, &mode)?;
    runner(workspace, &mode)?;
    let start = Instant::now();
    let sample = if arguments.is_empty() {
        Sample::read(workspace)?
    } else {
        Sample { processes: vec![arguments.to_vec()], every: 1 }
    };
    let suite = tests(workspace, &mode, &sample)?;
    println!(
        "dpnp's tests: {} passed, {} skipped, {} failed in {:.0} s",
        suite.passed,
        suite.skipped,
        suite.failed.len(),
        start.elapsed().as_secs_f64()
    );
    judge(workspace, &suite, arguments.is_empty())
}

/// dpnp as a user has it, and the simulated driver.
struct Mode {
    venv: Venv,
    dist: Dist,
    cache: PathBuf,
}

impl Mode {
    fn prepare(workspace: &Workspace) -> Result<Self> {
        let dist = dist::make(workspace, RELEASE)?;
        let [(_, wheel)] = &wheel::make(workspace, &[RELEASE])?[..] else { fail!("there is one wheel of a release") };
        let venv = Venv::with(&workspace.target().join("dpnp"), &PACKAGES)?;
        let mut pip = process::limited(300, venv.python());
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]);
        process::run(pip.args(["--no-deps", "--force-reinstall"]).arg(wheel))?;
        Ok(Mode { venv, dist, cache: workspace.target().join("dpnp-cache") })
    }

    /// An interpreter as a user starts it; only the driver is the simulated one.
    fn python(&self, seconds: u32) -> Command {
        let mut command = process::unsteered(seconds, self.venv.python());
        command.env("UR_CUDA_LIBRARY", self.dist.library("libsimcuda.so")).env("PYTHONDONTWRITEBYTECODE", "1");
        command.env("XDG_CACHE_HOME", &self.cache);
        command
    }
}

/// What the wheel is for, in one line.
fn story(mode: &Mode) -> Result {
    let script = "import dpnp; a = dpnp.arange(10); print(a.sum(), a.sycl_queue.backend.name)";
    let printed = process::capture(mode.python(120).args(["-c", script]))?;
    if printed.stdout.trim() != "45 cuda" || !printed.stderr.is_empty() {
        fail!("`{script}` printed:\n{}{}", printed.stdout, printed.stderr);
    }
    println!("`python -c \"{script}\"`: {}", printed.stdout.trim());
    Ok(())
}

/// What we put in oneMKL's place (`conformance/sycl/dpnp/test_gaps.py`).
fn gaps(workspace: &Workspace, mode: &Mode) -> Result {
    let source = workspace.path("conformance/sycl/dpnp/cublas.c");
    let cublas = workspace.target().join("libsimcublas.so");
    if files::outdated(&cublas, &[&source]) {
        let mut cc = process::cc();
        cc.args(["-shared", "-fPIC", "-O2", "-std=c11", "-Wall", "-Wextra", "-Werror", "-o"]);
        process::run(cc.arg(&cublas).arg(&source))?;
    }
    let mut python = mode.python(LIMIT);
    python.env("UR_TEST_CUBLAS", &cublas).env("UR_TEST_OPENCL", mode.venv.lib().join("libintelocl.so"));
    python.args(["-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider"]);
    process::run(python.arg(workspace.path("conformance/sycl/dpnp/test_gaps.py")))
}

/// What runs the whole suite on a GPU, over tests that crash and fail (`conformance/sycl/dpnp/gpu/test_suite.py`).
fn runner(workspace: &Workspace, mode: &Mode) -> Result {
    let folder = workspace.path("conformance/sycl/dpnp/gpu");
    let mut python = mode.python(300);
    python.env("PYTHONPATH", &folder).args(["-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider"]);
    process::run(python.arg(folder.join("test_suite.py")))
}

/// Which tests are run.
struct Sample {
    /// Files, divided for as many processes as run at a time.
    processes: Vec<Vec<String>>,
    /// Of a process' tests one in so many is run, and all that are listed as failing.
    every: i64,
}

impl Sample {
    fn read(workspace: &Workspace) -> Result<Self> {
        let file = workspace.path(EXPECTATIONS);
        let text = fs::read_to_string(&file).context(file.display())?;
        let tables: BTreeMap<String, toml::Value> = toml::from_str(&text).context(file.display())?;
        let value = |name: &str| tables.get("sample").and_then(|table| table.get(name));
        let words = |list: &toml::Value| -> Option<Vec<String>> {
            list.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
        };
        let lists = value("processes").and_then(toml::Value::as_array);
        let Some(processes) = lists.and_then(|lists| lists.iter().map(words).collect()) else {
            fail!("{}: `sample.processes` is no list of lists of files", file.display())
        };
        match value("every").and_then(toml::Value::as_integer) {
            Some(every) if every > 0 => Ok(Sample { processes, every }),
            _ => fail!("{}: `sample.every` is no number above 0", file.display()),
        }
    }
}

/// Runs the sample, each list of files in a process of its own.
fn tests(workspace: &Workspace, mode: &Mode, sample: &Sample) -> Result<Suite> {
    let folder = mode.venv.package("dpnp")?.join("tests");
    let listed = workspace.target().join("dpnp-listed.txt");
    let expectations = Expectations::read(&workspace.path(EXPECTATIONS), RELEASE)?;
    let names: Vec<_> = expectations.names().map(|name| name.trim_start_matches("dpnp/")).collect();
    files::write(&listed, names.join("\n").as_bytes())?;
    let numbered: Vec<_> = sample.processes.iter().enumerate().collect();
    let suites = in_parallel(&numbered, |(number, files)| {
        let plan = Plan {
            name: "dpnp".to_owned(),
            record: workspace.target().join(format!("dpnp-suite-{number}.record")),
            words: files.iter().map(|file| path(&folder, file)).collect(),
            most_crashes: MOST_CRASHES,
        };
        suite::run(workspace, &plan, || {
            let mut python = mode.python(LIMIT);
            python.env("UR_SYCL_EVERY", sample.every.to_string()).env("UR_SYCL_ALWAYS", &listed);
            Ok(python)
        })
    });
    let mut all = Suite::default();
    for suite in suites {
        let suite = suite?;
        all.passed += suite.passed;
        all.skipped += suite.skipped;
        all.failed.extend(suite.failed);
    }
    Ok(all)
}

fn path(folder: &Path, file: &str) -> String {
    folder.join(file).display().to_string()
}

/// Whether everything is as the list says.
fn judge(workspace: &Workspace, suite: &Suite, all: bool) -> Result {
    let expectations = Expectations::read(&workspace.path(EXPECTATIONS), RELEASE)?;
    let named = |(test, outcome): (&String, &Outcome)| (format!("dpnp/{test}"), outcome.clone());
    let results: Vec<_> = suite.failed.iter().map(named).collect();
    let mut surprises = expectations.judge(&results, all);
    if all {
        surprises.extend(expectations.judge_counts("dpnp", suite));
    }
    for surprise in &surprises {
        println!("unexpected: {}: {}", surprise.what, surprise.text);
    }
    if all && suite.passed + suite.failed.len() < FEWEST {
        fail!("only {} tests ran; the sample needs {FEWEST}", suite.passed + suite.failed.len());
    }
    if surprises.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("{} results are not as {EXPECTATIONS} says", surprises.len())))
}
