//! `nvvm`: what works over a simulated libnvvm, over the real one. PyPI's `nvidia-nvvm` goes into a virtual environment; then the
//! translator's tests that need it run, and the conformance suite's programs of SPIR-V for both adapters over simcuda.

use std::path::PathBuf;

use xtask::commands::dist;
use xtask::commands::test::{HIP_ADAPTER, SUITE};
use xtask::fail;
use xtask::support::failure::Result;
use xtask::support::python::Venv;
use xtask::support::workspace::{Release, Workspace};
use xtask::support::{cargo, files, process};

/// The release whose PTX is checked in.
const PACKAGE: &str = "nvidia-nvvm==13.5.37";
const LIBRARY: &str = "libnvvm.so.4";

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    if !arguments.is_empty() {
        fail!("it takes no arguments");
    }
    let library = library(workspace)?;
    println!("libnvvm: {}", library.display());
    let mut tests = cargo::cargo(workspace);
    tests.args(["test", "--package", "ur-spirv", "--test", "compiler", "--", "--include-ignored"]);
    process::run(tests.env("UR_NVVM_LIBRARY", &library))?;

    let dist = dist::make(workspace, Release::R2026_2)?;
    for adapter in ["libur_adapter_cuda.so.0", HIP_ADAPTER] {
        println!("{adapter} over simcuda:");
        let mut tests = cargo::cargo(workspace);
        tests.args(["test", "--package", SUITE, "--test", "il"]);
        tests.env("UR_TEST_DIST", dist.folder()).env("UR_TEST_KERNELS", dist.kernels());
        tests.env("UR_TEST_ADAPTER", dist.library(adapter)).env("UR_TEST_NVVM", &library);
        process::run(&mut tests)?;
    }
    Ok(())
}

/// The library in the package.
fn library(workspace: &Workspace) -> Result<PathBuf> {
    let venv = Venv::with(&workspace.target().join("nvvm"), &[PACKAGE])?;
    let found =
        files::list(venv.folder())?.into_iter().find(|file| file.file_name().is_some_and(|name| name == LIBRARY));
    match found {
        Some(file) => Ok(venv.folder().join(file)),
        None => fail!("{} has no {LIBRARY}", venv.folder().display()),
    }
}
