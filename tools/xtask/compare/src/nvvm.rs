//! `nvvm`: what works over a simulated libnvvm, over the real one. PyPI's `nvidia-nvvm` goes into a virtual environment; then the
//! translator's tests that need it run, and the conformance suite's programs of SPIR-V for both adapters over simcuda. The last release
//! with the older compiler, which most toolkits in use have, compiles the translator's kernels, too.

use std::path::{Path, PathBuf};

use xtask::commands::dist;
use xtask::commands::test::{HIP_ADAPTER, SUITE};
use xtask::fail;
use xtask::support::failure::Result;
use xtask::support::python::Venv;
use xtask::support::workspace::{Release, Workspace};
use xtask::support::{cargo, files, process};

/// The release whose PTX is checked in.
const PACKAGE: &str = "nvidia-nvvm==13.5.37";
/// The last release whose compiler does not end over some kernels unless it is told (`BEFORE_13_1` in ur-spirv's `nvvm/library.rs`).
const OLDER_PACKAGE: &str = "nvidia-nvvm==13.0.88";
const LIBRARY: &str = "libnvvm.so.4";
/// Seconds for all kernels; they take some ten.
const KERNELS_LIMIT: u32 = 600;

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    if !arguments.is_empty() {
        fail!("it takes no arguments");
    }
    let newest = library(workspace, "nvvm", PACKAGE)?;
    let older = library(workspace, "nvvm-older", OLDER_PACKAGE)?;
    for library in [&older, &newest] {
        println!("kernels over {}:", library.display());
        run_kernels(workspace, library)?;
    }
    run_limited(workspace, "compiler", &["--include-ignored"], &newest)?;
    run_limited(workspace, "compiler", &["--include-ignored", "in_any_order"], &older)?;

    let dist = dist::make(workspace, Release::R2026_2)?;
    for adapter in ["libur_adapter_cuda.so.0", HIP_ADAPTER] {
        println!("{adapter} over simcuda:");
        let mut tests = cargo::cargo(workspace);
        tests.args(["test", "--package", SUITE, "--test", "il"]);
        tests.env("UR_TEST_DIST", dist.folder()).env("UR_TEST_KERNELS", dist.kernels());
        tests.env("UR_TEST_ADAPTER", dist.library(adapter)).env("UR_TEST_NVVM", &newest);
        process::run(&mut tests)?;
    }
    Ok(())
}

/// Compiles the kernels with results and runs them on simcuda.
fn run_kernels(workspace: &Workspace, library: &Path) -> Result {
    run_limited(workspace, "results", &[], library)
}

/// Runs tests of the translator over a library. A compiler that does not end is ended.
fn run_limited(workspace: &Workspace, test: &str, words: &[&str], library: &Path) -> Result {
    let mut tests = cargo::cargo(workspace);
    tests.args(["test", "--package", "ur-spirv", "--test", test, "--no-run"]);
    process::run(&mut tests)?;
    let mut limited = process::limited(KERNELS_LIMIT, tests.get_program());
    limited
        .current_dir(workspace.root())
        .args(tests.get_args().filter(|word| *word != "--no-run"))
        .arg("--")
        .args(words);
    limited.envs(tests.get_envs().filter_map(|(name, value)| Some((name, value?))));
    process::run(limited.env("UR_NVVM_LIBRARY", library).env("UR_SPIRV_COMPILE", "1"))
}

/// The library in the package, which goes into this folder.
fn library(workspace: &Workspace, folder: &str, package: &str) -> Result<PathBuf> {
    let venv = Venv::with(&workspace.target().join(folder), &[package])?;
    let found =
        files::list(venv.folder())?.into_iter().find(|file| file.file_name().is_some_and(|name| name == LIBRARY));
    match found {
        Some(file) => Ok(venv.folder().join(file)),
        None => fail!("{} has no {LIBRARY}", venv.folder().display()),
    }
}
