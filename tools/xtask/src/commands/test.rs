//! `test [FILTER...]`: everything that can be tested with a Rust toolchain and a C compiler. It builds what the tests run
//! on, says where it is by environment variables, and ends with a summary that repeats every result; it hides none, and
//! what it skips it names with the reason. It installs nothing on this machine unless `UR_TEST_INSTALL=1` says so, as CI does.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use super::dist::{self, Dist, example};
use super::{compare, generate};
use crate::fail;
use crate::support::failure::{Failure, Result};
use crate::support::workspace::{Release, Workspace};
use crate::support::{answered, cargo, debian, files, process};

/// Repeats cargo's result lines for whoever only sees the end of a run.
const RESULTS: &str = "test-results.txt";

/// How the names of tests begin that compare the specification with the facts beside the checkout.
const FACT_TESTS: &str = "the_specification_has_every_fact";

/// The package that tests adapters, and the adapter that it is run for once more.
pub const SUITE: &str = "ur-conformance";
/// The second of the adapters.
pub const HIP_ADAPTER: &str = "libur_adapter_hip.so.0";

/// AMD's runtime as Debian has it, and the package that holds it.
const DEBIAN_HIP: &str = "libamdhip64.so.5";
const DEBIAN_PACKAGE: &[&str] = &["libamdhip64-5"];

/// AMD's compiler as Debian has it, and the packages that hold it and the device libraries.
const DEBIAN_COMGR: &str = "libamd_comgr.so.2";
const DEBIAN_COMGR_PACKAGES: &[&str] = &["libamd-comgr2", "rocm-device-libs"];

/// The command.
pub fn run(workspace: &Workspace, filters: &[String]) -> Result {
    let harness = harness_arguments(workspace, filters);
    let mut report = Report::default();
    let dists = report
        .step("dist", || Ok((dist::make(workspace, Release::R2026_2)?, dist::make(workspace, Release::R2026_1)?)));
    let Some((newest, older)) = dists else { return report.end(workspace) };
    report.step("planted bugs", || compare::run(workspace, "planted", &[]));

    let folders = report.step("folders", || {
        Ok((answered::fresh_folder(workspace, "CUDA")?, answered::fresh_folder(workspace, "HIP")?))
    });
    let Some((cuda, hip)) = folders else { return report.end(workspace) };
    let tests = report.cargo("cargo test --workspace", |lines| {
        let mut command = environment(workspace, &newest, &older, Release::R2026_2);
        follow_tests(command.args(["--workspace"]).env(answered::VARIABLE, &cuda), &harness, lines)
    });
    report.add(tests);
    let tests = report.cargo("conformance suite, HIP adapter", |lines| {
        let mut command = environment(workspace, &newest, &older, Release::R2026_2);
        command.args(["--package", SUITE]).env("UR_TEST_ADAPTER", newest.library(HIP_ADAPTER));
        named_tests("hip: ", command.env(answered::VARIABLE, &hip), &harness, lines)
    });
    report.add(tests);
    if filters.is_empty() {
        report.step("docs/coverage.md, CUDA", || answered::compare(workspace, "CUDA", &cuda));
        report.step("docs/coverage.md, HIP", || answered::compare(workspace, "HIP", &hip));
        report.step("what waits says so", || answered::compare_waits(workspace, &[cuda, hip]));
        let tests = report.cargo("cargo test for 2026.1", |lines| {
            // What is compiled is the same for both; these two look at the final libraries.
            let mut command = environment(workspace, &newest, &older, Release::R2026_1);
            follow_tests(command.args(["--package", SUITE, "--package", "ur-loader"]), &harness, lines)
        });
        report.add(tests);
        report.step("engine under loom", || compare::run(workspace, "races", &["loom".to_owned()]));
        report.step("engine under ThreadSanitizer", || compare::run(workspace, "races", &["sanitizer".to_owned()]));
        report.step("generate --check", || generate::generate(workspace, true));
        report.step("C examples over pkg-config", || run_examples(workspace, &newest, "2026.2"));
        report.step("C examples for 2026.1", || run_examples(workspace, &older, "2026.1"));
        report.step("CMake package", || cmake(workspace, &newest));
        report.step("urinfo", || process::run(newest.on_simulated(60, newest.program("urinfo")).arg("--why")));
        report.step("urbench", || {
            process::run(newest.on_simulated(300, newest.program("urbench")).args(["--quick", "--processes", "2"]))
        });
        report.step("urbench, hip", || {
            let mut command = newest.on_simulated(300, newest.program("urbench"));
            command.env("UR_ADAPTERS_FORCE_LOAD", newest.library(HIP_ADAPTER));
            process::run(command.args(["--quick", "--hip"]).arg(newest.library("libhip_on_cuda.so")))
        });
        report.step("urbench, an adapter beside", || {
            let mut command = newest.on_simulated(60, newest.program("urbench"));
            command.args(["--quick", "--table", "--processes", "2", "--only", "work: launch", "--beside"]);
            process::run(command.arg(newest.library("libur_adapter_cuda.so.0")))
        });
        let tests = report.cargo("Debian's HIP runtime", |lines| debian_hip(workspace, &newest, &older, lines));
        report.add(tests);
        let tests = report.cargo("Debian's comgr", |lines| debian_comgr(workspace, lines));
        report.add(tests);
        for adapter in ["cuda", "hip"] {
            let native = newest.library("libsimcuda.so").display().to_string();
            let words = ["--adapter".to_owned(), adapter.to_owned(), "--native".to_owned(), native];
            report.step(&format!("demo, {adapter}"), || compare::run(workspace, "demo", &words));
        }
    }
    if workspace.shared().is_none() {
        report.note("left out: the comparison with ../shared/abi, which is not beside the checkout");
    }
    report.end(workspace)
}

/// `cargo test` for a release, knowing where everything is.
fn environment(workspace: &Workspace, newest: &Dist, older: &Dist, release: Release) -> Command {
    let mut command = cargo::cargo(workspace);
    command.args(["test", "--no-fail-fast"]);
    let under_test = if release == Release::R2026_1 { older } else { newest };
    command.env("UR_TEST_RELEASE", release.name());
    command.env("UR_TEST_DIST", under_test.folder());
    command.env("UR_TEST_DIST_2026_1", older.folder());
    command.env("UR_TEST_KERNELS", newest.kernels());
    let planted = workspace.planted();
    // They are built for the newest release alone.
    if release == Release::R2026_2 && planted.is_dir() {
        command.env("UR_PLANTED_DIST", planted);
    }
    // The engine is the same: ten thousand programs have run on the newest release.
    if release == Release::R2026_1 {
        command.env("UR_MODEL_PROGRAMS", "1000");
    }
    if let Some(shared) = workspace.shared() {
        command.env("UR_SHARED", shared);
    }
    command
}

/// As [`follow_tests`], with a word before each binary's name where the same binary runs more than once.
fn named_tests(word: &str, command: &mut Command, harness: &[String], lines: &mut Vec<String>) -> Result {
    let mut own = Vec::new();
    let result = follow_tests(command, harness, &mut own);
    lines.extend(own.iter().map(|line| rename(word, line)));
    result
}

/// A result line with a word before its name; the result stays in its column.
fn rename(word: &str, line: &str) -> String {
    match line.split_once(" test ") {
        Some((name, result)) => format!("{:<44} test {result}", format!("{word}{}", name.trim_end())),
        None => format!("{word}{line}"),
    }
}

/// The HIP adapter on AMD's own runtime as Debian has it, on a machine that need not have a GPU of AMD's.
fn debian_hip(workspace: &Workspace, newest: &Dist, older: &Dist, lines: &mut Vec<String>) -> Result {
    if let Err(reason) = debian::library_is_there(DEBIAN_HIP, DEBIAN_PACKAGE, debian::may_install()) {
        println!("skipped: {DEBIAN_HIP} is not here: {reason}");
        return Ok(());
    }
    let mut command = environment(workspace, newest, older, Release::R2026_2);
    let own = ["--nocapture", "amds_own_library"].map(str::to_owned);
    named_tests("Debian: ", command.args(["--package", "ur-adapter-hip"]), &own, lines)?;
    let mut command = newest.on_simulated(60, newest.program("urinfo"));
    command.env("UR_ADAPTERS_FORCE_LOAD", newest.library(HIP_ADAPTER)).env("UR_HIP_LIBRARY", DEBIAN_HIP).arg("--why");
    let (status, printed) = process::outcome(&mut command)?;
    print!("{}{}", printed.stdout, printed.stderr);
    // A library that lacks a required symbol, or does not start, gives the adapter no device; it says which of the two.
    let taken = printed.stdout.contains("is there and has no device");
    match status.code() {
        Some(0) => println!("{DEBIAN_HIP}: every required symbol is there, and so is a device"),
        Some(1) if taken => println!("{DEBIAN_HIP}: every required symbol is there, and no device, as it should be"),
        _ => fail!("the HIP adapter does not take {DEBIAN_HIP}: urinfo ended with {status}"),
    }
    Ok(())
}

/// SPIR-V for AMD's devices by the compiler that Debian has: those tests that need it and are ignored elsewhere.
fn debian_comgr(workspace: &Workspace, lines: &mut Vec<String>) -> Result {
    if let Err(reason) = debian::library_is_there(DEBIAN_COMGR, DEBIAN_COMGR_PACKAGES, debian::may_install()) {
        println!("skipped: {DEBIAN_COMGR} is not here: {reason}");
        return Ok(());
    }
    let tests = |package: &[&str]| {
        let mut command = cargo::cargo(workspace);
        command.args(["test", "--no-fail-fast", "--package"]).args(package);
        command
    };
    let ignored = "--ignored".to_owned();
    named_tests("comgr: ", &mut tests(&["ur-spirv", "--test", "comgr"]), std::slice::from_ref(&ignored), lines)?;
    let own = [ignored, "by_comgr".to_owned()];
    named_tests("comgr: ", &mut tests(&["ur-adapter", "--lib"]), &own, lines)
}

/// What is given to the tests themselves. Without the facts, the tests that read them would fail; they are left out by
/// name, so that cargo counts them as filtered out and not as passed.
fn harness_arguments(workspace: &Workspace, filters: &[String]) -> Vec<String> {
    let mut arguments = filters.to_vec();
    if workspace.shared().is_none() {
        arguments.extend(["--skip".to_owned(), FACT_TESTS.to_owned()]);
    }
    arguments
}

/// Runs cargo's tests, shows what they print, and keeps each binary's name and result.
fn follow_tests(command: &mut Command, harness: &[String], lines: &mut Vec<String>) -> Result {
    command.arg("--").args(harness);
    let mut running = String::new();
    process::follow_both(command, |line| {
        println!("{line}");
        let text = line.trim_start();
        if let Some(what) = text.strip_prefix("Running ").or_else(|| text.strip_prefix("Doc-tests ")) {
            running = binary_name(what);
        } else if text.starts_with("test result:") {
            if !text.contains(" 0 passed; 0 failed;") {
                lines.push(format!("{running:<44} {text}"));
            }
        } else if text.starts_with("test ") && text.ends_with("FAILED") {
            lines.push(format!("{running:<44} {text}"));
        }
    })
}

/// `tests/exports.rs (target/debug/deps/exports-0123)` and `unittests src/lib.rs (…/ur_loader-0123)` by their binary.
fn binary_name(running: &str) -> String {
    let binary = running.rsplit('/').next().unwrap_or(running).trim_end_matches(')');
    match binary.rsplit_once('-') {
        Some((name, _)) => name.to_owned(),
        None => binary.to_owned(),
    }
}

fn run_examples(workspace: &Workspace, dist: &Dist, release: &str) -> Result {
    let program = example::build(workspace, dist, "saxpy")?;
    println!("saxpy.c on the loader of {release}, over simcuda:");
    process::run(dist.on_simulated(120, program).arg(dist.kernels().join("saxpy.ptx")))?;
    let program = example::build(workspace, dist, "timeline")?;
    println!("timeline.c on the loader of {release}, over simcuda:");
    process::run(&mut dist.on_simulated(120, &program))?;
    // The HIP adapter comes first and has no GPU, as the CUDA adapter where AMD's runtime alone is installed.
    println!("timeline.c behind an adapter whose native library is missing:");
    let adapters = [HIP_ADAPTER, "libur_adapter_cuda.so.0"].map(|name| dist.library(name).display().to_string());
    let mut command = dist.on_simulated(120, program);
    command.env("UR_ADAPTERS_FORCE_LOAD", adapters.join(",")).env("UR_HIP_LIBRARY", "/nonexistent/libamdhip64.so");
    process::run(&mut command)
}

/// Configures and builds a project that does nothing but find the package, where CMake is installed.
fn cmake(workspace: &Workspace, dist: &Dist) -> Result {
    if !process::exists("cmake") {
        println!("skipped: no cmake is installed, so the CMake package is not tried");
        return Ok(());
    }
    let folder = workspace.target().join("examples/cmake");
    let source = workspace.path("loader/examples/saxpy.c");
    let project = format!(
        "cmake_minimum_required(VERSION 3.16)\nproject(saxpy C)\nfind_package(unified-runtime 0.12 REQUIRED CONFIG)\n\
         add_executable(saxpy \"{}\")\ntarget_link_libraries(saxpy PRIVATE unified-runtime::loader)\n",
        source.display()
    );
    files::write(&folder.join("CMakeLists.txt"), project.as_bytes())?;
    let mut configure = process::limited(120, "cmake");
    configure.arg("-S").arg(&folder).arg("-B").arg(folder.join("build"));
    process::capture(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", dist.folder().display())))?;
    process::capture(process::limited(120, "cmake").arg("--build").arg(folder.join("build")))?;
    let program = folder.join("build/saxpy");
    process::run(dist.on_simulated(120, program).arg(dist.kernels().join("saxpy.ptx")))
}

/// What happened, step by step.
#[derive(Default)]
struct Report {
    lines: Vec<String>,
    failed: usize,
}

impl Report {
    /// Runs a step; a failure is kept and the next step follows.
    fn step<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Option<T> {
        println!("\n== {name} ==");
        let start = Instant::now();
        let outcome = work();
        let seconds = start.elapsed().as_secs_f64();
        match outcome {
            Ok(value) => {
                self.lines.push(format!("{name:<44} ok ({seconds:.1} s)"));
                Some(value)
            }
            Err(failure) => {
                eprintln!("{failure}");
                self.failed += 1;
                self.lines.push(format!("{name:<44} FAILED ({seconds:.1} s)"));
                None
            }
        }
    }

    /// The same for cargo's tests, whose own lines come before the step's.
    fn cargo(&mut self, name: &str, work: impl FnOnce(&mut Vec<String>) -> Result) -> Vec<String> {
        let mut lines = Vec::new();
        self.step(name, || work(&mut lines));
        lines
    }

    fn add(&mut self, lines: Vec<String>) {
        let counts = totals(&lines);
        let last = self.lines.pop();
        self.lines.extend(lines);
        self.lines.extend(last.map(|line| format!("{line}: {} passed, {} failed", counts.0, counts.1)));
    }

    fn note(&mut self, text: &str) {
        self.lines.push(format!("note: {text}"));
    }

    /// Prints the summary and keeps a copy.
    fn end(self, workspace: &Workspace) -> Result {
        let verdict = match self.failed {
            0 => "xtask test: all steps ok".to_owned(),
            count => format!("xtask test: {count} steps FAILED"),
        };
        let text = format!("{}\n{verdict}\n", self.lines.join("\n"));
        print!("\n== summary ==\n{text}");
        let path: &Path = &workspace.target().join(RESULTS);
        files::write(path, text.as_bytes())?;
        if self.failed == 0 { Ok(()) } else { Err(Failure::new("see the summary above")) }
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
        let line = |passed, failed| format!("x test result: ok. {passed} passed; {failed} failed; 0 ignored");
        let renamed =
            rename("hip: ", "order                                        test result: ok. 3 passed; 0 failed");
        assert_eq!(renamed, "hip: order                                   test result: ok. 3 passed; 0 failed");
        assert_eq!(totals(&[renamed]), (3, 0));
        assert_eq!(totals(&[line(3, 1), line(40, 0), "x test a::b ... FAILED".to_owned()]), (43, 1));
    }
}
