//! What each step of `test` does. A step prints what it finds and answers whether it went well; what ran before it, it finds
//! where that left it. It must not count on what runs beside it.

use std::process::Command;

use super::{HIP_ADAPTER, Place, SUITE};
use crate::commands::dist::{self, Dist, example};
use crate::commands::{compare, generate};
use crate::fail;
use crate::support::failure::{Failure, Result};
use crate::support::workspace::{Release, Workspace};
use crate::support::{answered, cargo, debian, files, process};

/// How the names of tests begin that compare the specification with the facts beside the checkout.
const FACT_TESTS: &str = "the_specification_has_every_fact";

/// AMD's runtime as Debian has it, and the package that holds it.
const DEBIAN_HIP: &str = "libamdhip64.so.5";
const DEBIAN_PACKAGE: &[&str] = &["libamdhip64-5"];

/// AMD's compiler as Debian has it, and the packages that hold it and the device libraries.
const DEBIAN_COMGR: &str = "libamd_comgr.so.2";
const DEBIAN_COMGR_PACKAGES: &[&str] = &["libamd-comgr2", "rocm-device-libs"];

/// A tenth of the model's random programs. The engine is the same for both releases, and the newest one runs them all.
const FEWER_PROGRAMS: [(&str, &str); 6] = [
    ("UR_MODEL_PROGRAMS", "1000"),
    ("UR_MODEL_GRAPHS", "1000"),
    ("UR_MODEL_TIMELINES", "400"),
    ("UR_MODEL_PLAIN", "60"),
    ("UR_MODEL_THREADED", "60"),
    ("UR_MODEL_MEMORY", "30"),
];

pub fn dists(place: &Place<'_>) -> Result {
    dist::make(place.workspace, Release::R2026_2)?;
    dist::make(place.workspace, Release::R2026_1).map(drop)
}

pub fn planted_bugs(place: &Place<'_>) -> Result {
    compare::run(place.workspace, "planted", &[])
}

/// All at once, so that no step that runs some of them has to build.
pub fn build_tests(place: &Place<'_>) -> Result {
    process::run(cargo::cargo(place.workspace).args(["test", "--workspace", "--no-run"]))
}

pub fn workspace_tests(place: &Place<'_>) -> Result {
    let answers = answered::fresh_folder(place.workspace, "CUDA")?;
    let mut command = tests(place, Release::R2026_2);
    run_tests(command.arg("--workspace").env(answered::VARIABLE, answers), &harness_arguments(place))
}

pub fn hip_suite(place: &Place<'_>) -> Result {
    let answers = answered::fresh_folder(place.workspace, "HIP")?;
    let mut command = tests(place, Release::R2026_2);
    command.args(["--package", SUITE]).env("UR_TEST_ADAPTER", place.newest.library(HIP_ADAPTER));
    run_tests(command.env(answered::VARIABLE, answers), &harness_arguments(place))
}

pub fn older_release(place: &Place<'_>) -> Result {
    // What is compiled is the same for both; these two look at the final libraries.
    let mut command = tests(place, Release::R2026_1);
    run_tests(command.args(["--package", SUITE, "--package", "ur-loader"]), &harness_arguments(place))
}

pub fn coverage_cuda(place: &Place<'_>) -> Result {
    answered::compare(place.workspace, "CUDA", &answered::folder(place.workspace, "CUDA"))
}

pub fn coverage_hip(place: &Place<'_>) -> Result {
    answered::compare(place.workspace, "HIP", &answered::folder(place.workspace, "HIP"))
}

pub fn waits(place: &Place<'_>) -> Result {
    let folders = ["CUDA", "HIP"].map(|backend| answered::folder(place.workspace, backend));
    answered::compare_waits(place.workspace, &folders)
}

pub fn loom(place: &Place<'_>) -> Result {
    compare::run(place.workspace, "races", &["loom".to_owned()])
}

pub fn thread_sanitizer(place: &Place<'_>) -> Result {
    compare::run(place.workspace, "races", &["sanitizer".to_owned()])
}

pub fn generate_check(place: &Place<'_>) -> Result {
    generate::generate(place.workspace, true)
}

pub fn examples(place: &Place<'_>) -> Result {
    run_examples(place.workspace, &place.newest, "2026.2")
}

pub fn examples_older(place: &Place<'_>) -> Result {
    run_examples(place.workspace, &place.older, "2026.1")
}

pub fn urinfo(place: &Place<'_>) -> Result {
    process::run(simulated(place, 60, "urinfo").arg("--why"))
}

pub fn urbench(place: &Place<'_>) -> Result {
    process::run(simulated(place, 300, "urbench").args(["--quick", "--processes", "2"]))
}

pub fn urbench_hip(place: &Place<'_>) -> Result {
    let mut command = simulated(place, 300, "urbench");
    command.env("UR_ADAPTERS_FORCE_LOAD", place.newest.library(HIP_ADAPTER));
    process::run(command.args(["--quick", "--hip"]).arg(place.newest.library("libhip_on_cuda.so")))
}

pub fn urbench_beside(place: &Place<'_>) -> Result {
    let mut command = simulated(place, 60, "urbench");
    command.args(["--quick", "--table", "--processes", "2", "--only", "work: launch", "--beside"]);
    process::run(command.arg(place.newest.library("libur_adapter_cuda.so.0")))
}

pub fn demo_cuda(place: &Place<'_>) -> Result {
    demo(place, "cuda")
}

pub fn demo_hip(place: &Place<'_>) -> Result {
    demo(place, "hip")
}

fn demo(place: &Place<'_>, adapter: &str) -> Result {
    let native = place.newest.library("libsimcuda.so").display().to_string();
    compare::run(place.workspace, "demo", &["--adapter", adapter, "--native", &native].map(str::to_owned))
}

/// A program of the newest release over the simulated driver.
fn simulated(place: &Place<'_>, seconds: u32, program: &str) -> Command {
    place.newest.on_simulated(seconds, place.newest.program(program))
}

/// `cargo test` for a release, knowing where everything is.
fn tests(place: &Place<'_>, release: Release) -> Command {
    let Place { workspace, newest, older, .. } = place;
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
    if release == Release::R2026_1 {
        command.envs(FEWER_PROGRAMS);
    }
    if let Some(shared) = workspace.shared() {
        command.env("UR_SHARED", shared);
    }
    command
}

/// Runs cargo's tests with what is given to the tests themselves.
fn run_tests(command: &mut Command, harness: &[String]) -> Result {
    process::run(command.arg("--").args(harness))
}

/// What is given to the tests themselves. Without the facts, the tests that read them would fail; they are left out by
/// name, so that cargo counts them as filtered out and not as passed.
fn harness_arguments(place: &Place<'_>) -> Vec<String> {
    let mut arguments = place.filters.to_vec();
    if place.workspace.shared().is_none() {
        arguments.extend(["--skip".to_owned(), FACT_TESTS.to_owned()]);
    }
    arguments
}

/// One after the other: each may install packages, which apt does for one at a time.
pub fn debian(place: &Place<'_>) -> Result {
    let results = [debian_hip(place), debian_comgr(place)];
    let failures: Vec<_> = results.into_iter().filter_map(Result::err).map(|failure| failure.to_string()).collect();
    if failures.is_empty() { Ok(()) } else { Err(Failure::new(failures.join("\n"))) }
}

/// The HIP adapter on AMD's own runtime as Debian has it, on a machine that need not have a GPU of AMD's.
fn debian_hip(place: &Place<'_>) -> Result {
    if let Err(reason) = debian::library_is_there(DEBIAN_HIP, DEBIAN_PACKAGE, debian::may_install()) {
        println!("skipped: {DEBIAN_HIP} is not here: {reason}");
        return Ok(());
    }
    let mut command = tests(place, Release::R2026_2);
    let own = ["--nocapture", "amds_own_library"].map(str::to_owned);
    run_tests(command.args(["--package", "ur-adapter-hip"]), &own)?;
    let mut command = simulated(place, 60, "urinfo");
    command
        .env("UR_ADAPTERS_FORCE_LOAD", place.newest.library(HIP_ADAPTER))
        .env("UR_HIP_LIBRARY", DEBIAN_HIP)
        .arg("--why");
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
fn debian_comgr(place: &Place<'_>) -> Result {
    if let Err(reason) = debian::library_is_there(DEBIAN_COMGR, DEBIAN_COMGR_PACKAGES, debian::may_install()) {
        println!("skipped: {DEBIAN_COMGR} is not here: {reason}");
        return Ok(());
    }
    let tests = |package: &[&str]| {
        let mut command = cargo::cargo(place.workspace);
        command.args(["test", "--no-fail-fast", "--package"]).args(package);
        command
    };
    let ignored = "--ignored".to_owned();
    run_tests(&mut tests(&["ur-spirv", "--test", "comgr"]), std::slice::from_ref(&ignored))?;
    let own = [ignored, "by_comgr".to_owned()];
    run_tests(&mut tests(&["ur-adapter", "--lib"]), &own)
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
pub fn cmake(place: &Place<'_>) -> Result {
    let Place { workspace, newest: dist, .. } = place;
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
    // CMake keeps what it found before, which may be another checkout's.
    files::empty_folder(&folder)?;
    files::write(&folder.join("CMakeLists.txt"), project.as_bytes())?;
    let mut configure = process::limited(120, "cmake");
    configure.arg("-S").arg(&folder).arg("-B").arg(folder.join("build"));
    process::capture(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", dist.folder().display())))?;
    process::capture(process::limited(120, "cmake").arg("--build").arg(folder.join("build")))?;
    let program = folder.join("build/saxpy");
    process::run(dist.on_simulated(120, program).arg(dist.kernels().join("saxpy.ptx")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A variable that the model does not read would leave all its programs in.
    #[test]
    fn the_model_reads_each_variable_that_lessens_its_programs() {
        let model = Workspace::find().expect("a checkout").path("conformance/tests/model");
        let texts = ["memory.rs", "runner/mod.rs"].map(|file| std::fs::read_to_string(model.join(file)).expect(file));
        for (variable, _) in FEWER_PROGRAMS {
            let row = format!("//! | `{variable}` |");
            assert!(texts.iter().any(|text| text.contains(&row)), "no table of the model's variables has {variable}");
        }
    }
}
