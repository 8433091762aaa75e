//! `sycl-cpu [--stock]`: a stock SYCL runtime on our loader, without a GPU. dpctl's own suite and a kernel compiled at run
//! time run through `libsycl` and the OpenCL adapter of oneAPI's packages; only the loader is ours, and each run proves
//! that it was. With `--stock`, the same runs under the stock loader come first.

use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::commands::dist;
use xtask::fail;
use xtask::support::failure::{Context, Result};
use xtask::support::python::Venv;
use xtask::support::workspace::{Release, Workspace};
use xtask::support::{files, process};

/// The first five and pytest are the client; the rest is what one of dpctl's tests builds an extension with.
const PACKAGES: [&str; 8] = [
    "dpctl==0.22.1",
    "intel-sycl-rt==2026.1.2",
    "intel-cmplr-lib-ur==2026.1.2",
    "intel-cmplr-lib-rt==2026.1.2",
    "intel-opencl-rt==2026.1.2",
    "pytest",
    "cython",
    "setuptools",
];
/// What dpctl 0.22.1's suite gives under the stock loader.
const EXPECTED: Counts = Counts { passed: 1424, skipped: 1905, bad: 0 };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    passed: usize,
    skipped: usize,
    /// Failures and errors.
    bad: usize,
}

/// A loader to run under: its folder, and how to call it.
struct Loader {
    name: &'static str,
    folder: PathBuf,
}

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    let stock_too = match arguments {
        [] => false,
        [flag] if flag == "--stock" => true,
        _ => fail!("it takes `--stock`, and nothing else"),
    };
    let dist = dist::make(workspace, Release::R2026_1)?;
    let venv = venv(workspace)?;
    let kernel = build_kernel(workspace, &venv)?;
    let ours = Loader { name: "our loader", folder: dist.lib() };
    let stock = Loader { name: "the stock loader", folder: venv.lib() };
    let loaders = if stock_too { vec![stock, ours] } else { vec![ours] };

    let mut wrong = Vec::new();
    for loader in &loaders {
        let listing = prove(&venv, loader)?;
        println!("== {} ({}) ==\n{listing}", loader.name, loader.folder.display());
        let printed = process::capture(&mut on(&venv, loader, 120, kernel.as_os_str())?)?;
        print!("{}", printed.stdout);
        let counts = suite(&venv, loader)?;
        println!(
            "dpctl.tests under {}: {} passed, {} skipped, {} failed",
            loader.name, counts.passed, counts.skipped, counts.bad
        );
        if counts != EXPECTED {
            wrong.push(loader.name);
        }
    }
    if !wrong.is_empty() {
        fail!(
            "under {}, dpctl's suite did not give {} passed, {} skipped, none failed",
            wrong.join(" and "),
            EXPECTED.passed,
            EXPECTED.skipped
        );
    }
    Ok(())
}

/// The environment with the runtime of 2026.1.
pub fn venv(workspace: &Workspace) -> Result<Venv> {
    Venv::with(&workspace.target().join("sycl-cpu"), &PACKAGES)
}

/// A program of the environment with this loader found first.
fn on(venv: &Venv, loader: &Loader, seconds: u32, program: impl AsRef<std::ffi::OsStr>) -> Result<Command> {
    let mut command = process::unsteered(seconds, program);
    command.env("LD_LIBRARY_PATH", process::path_list(&[&loader.folder, &venv.lib()])?);
    command.env("OCL_ICD_FILENAMES", venv.lib().join("libintelocl.so"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    Ok(command)
}

/// Lists the devices and shows which loader and adapters the process has mapped, with not a word from the dynamic linker.
fn prove(venv: &Venv, loader: &Loader) -> Result<String> {
    let script = "import dpctl\n\
                  for d in dpctl.get_devices(): print('device:', d.backend.name, d.name)\n\
                  for p in sorted({l.split()[-1] for l in open('/proc/self/maps') if '/libur_' in l}): print('mapped:', p)";
    let printed = process::capture(on(venv, loader, 120, venv.python())?.args(["-c", script]))?;
    if printed.stderr.contains("version information") || printed.stderr.contains("libur_loader") {
        fail!("the dynamic linker complains under {}:\n{}", loader.name, printed.stderr);
    }
    let folder = loader.folder.canonicalize().context(loader.folder.display())?;
    let mapped: Vec<_> = printed.stdout.lines().filter_map(|line| line.strip_prefix("mapped: ")).collect();
    let loaders: Vec<_> = mapped.iter().filter(|path| path.contains("/libur_loader.so")).collect();
    if loaders.len() != 1 || Path::new(loaders[0]).parent() != Some(&folder) {
        fail!("under {} the process mapped {loaders:?}, not the one in {}", loader.name, folder.display());
    }
    if !mapped.iter().any(|path| path.contains("/libur_adapter_opencl.so"))
        || !printed.stdout.contains("device: opencl")
    {
        fail!("under {} the stock OpenCL adapter or its device is missing:\n{}", loader.name, printed.stdout);
    }
    Ok(printed.stdout.trim_end().to_owned())
}

/// Runs dpctl's suite from an empty folder; the two tests on several devices hang under the stock loader as well.
fn suite(venv: &Venv, loader: &Loader) -> Result<Counts> {
    let folder = std::env::temp_dir();
    let mut command = on(venv, loader, 540, venv.python())?;
    command.current_dir(folder).args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not multi_device"]);
    let (status, printed) = process::outcome(command.args(["--pyargs", "dpctl.tests"]))?;
    let last = printed.stdout.trim_end().rsplit('\n').find(|line| line.contains(" passed")).unwrap_or_default();
    println!("{last}");
    let counts = counts(last);
    if !status.success() || counts != EXPECTED {
        println!("{}{}", printed.stdout, printed.stderr);
    }
    Ok(counts)
}

/// Reads pytest's last line: `1424 passed, 1905 skipped, 2 deselected in 22.77s`.
fn counts(line: &str) -> Counts {
    let words: Vec<_> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let of = |names: &[&str]| -> usize {
        words.windows(2).filter(|pair| names.contains(&pair[1])).filter_map(|pair| pair[0].parse::<usize>().ok()).sum()
    };
    Counts { passed: of(&["passed"]), skipped: of(&["skipped"]), bad: of(&["failed", "error", "errors"]) }
}

/// Builds the program whose kernel is compiled at run time, against the runtime's own headers.
fn build_kernel(workspace: &Workspace, venv: &Venv) -> Result<PathBuf> {
    let source = workspace.path("conformance/sycl/cpu/sum.cpp");
    let program = workspace.target().join("sycl-cpu-sum");
    if files::outdated(&program, &[&source, &venv.lib().join("libsycl.so")]) {
        let mut cxx = process::cxx();
        cxx.args(["-std=c++17", "-O1", "-Wall", "-Wextra", "-o"]).arg(&program).arg(&source);
        for include in [venv.include(), venv.include().join("sycl")] {
            cxx.arg("-isystem").arg(include);
        }
        cxx.arg("-L").arg(venv.lib()).arg("-lsycl").arg(format!("-Wl,-rpath-link,{}", venv.lib().display()));
        process::capture(&mut cxx)?;
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pytests_last_line_is_counted() {
        assert_eq!(counts("1424 passed, 1905 skipped, 2 deselected in 22.77s"), EXPECTED);
        let failed = counts("1 failed, 1422 passed, 1905 skipped, 2 deselected, 1 error in 22.77s");
        assert_eq!(failed, Counts { passed: 1422, skipped: 1905, bad: 2 });
    }
}
