//! `wheel`: our adapters as Python packages, one for each release, that put them beside a stock SYCL runtime, and the proof
//! that this is all there is to installing them: before it the runtime finds no GPU, after it it does, and after removing it
//! not a file is left. The libraries are built against an old glibc, and the promise of how old is checked on them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::sycl::{Mode, expected_to_fail, programs};
use crate::fail;
use crate::support::cargo;
use crate::support::failure::{Context, Result};
use crate::support::python::Venv;
use crate::support::workspace::{Release, Workspace};
use crate::support::{files, process, symbols};

/// The oldest glibc that the libraries run on, as the wheel's platform says it; PyPI's own SYCL runtime needs 2.28.
const GLIBC: (u32, u32) = (2, 17);
const TARGET: &str = "x86_64-unknown-linux-gnu";
const TOOLS: [&str; 4] = ["hatchling==1.33.0", "build==1.6.1", "ziglang==0.17.0", "cargo-zigbuild==0.24.0"];
/// How dpctl calls the GPUs of our CUDA adapter.
const BACKEND: &str = "ext_oneapi_cuda";
const ADAPTERS: [&str; 2] = ["ur_adapter_cuda", "ur_adapter_hip"];

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    if !arguments.is_empty() {
        fail!("it takes no arguments");
    }
    let wheels = make(workspace)?;
    for (release, wheel) in &wheels {
        check(workspace, *release, wheel)?;
    }
    for (_, wheel) in &wheels {
        let size = fs::metadata(wheel).map_or(0, |meta| meta.len());
        println!("{} ({:.1} MB)", wheel.display(), size as f64 / 1e6);
    }
    Ok(())
}

/// Makes the wheel of each release.
pub fn make(workspace: &Workspace) -> Result<Vec<(Release, PathBuf)>> {
    let tools = Venv::with(&workspace.target().join("wheel-tools"), &TOOLS)?;
    let mut wheels = Vec::new();
    for release in Release::ALL {
        let libraries = compile(workspace, release, &tools)?;
        wheels.push((release, package(workspace, release, &tools, &libraries)?));
    }
    Ok(wheels)
}

/// Builds the adapters of a release for the old glibc. `zig cc` brings the symbol versions of every glibc with it.
fn compile(workspace: &Workspace, release: Release, tools: &Venv) -> Result<Vec<(String, PathBuf)>> {
    let folder = workspace.target().join("wheel-build");
    let target = folder.join(release.name());
    let packages = cargo::packages(workspace)?;
    let adapters: Vec<_> = packages
        .iter()
        .filter(|package| package.library.as_deref().is_some_and(|name| ADAPTERS.contains(&name)))
        .collect();
    let bin = tools.python().parent().map(Path::to_path_buf).unwrap_or_default();
    let path = std::env::join_paths(
        std::iter::once(bin).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let mut command = cargo::cargo(workspace, release);
    command.env("PATH", path.context("a folder's name holds a colon")?).env("CARGO_TARGET_DIR", &target);
    command.env("ZIG_GLOBAL_CACHE_DIR", folder.join("zig")).env("CARGO_ZIGBUILD_CACHE_DIR", folder.join("zigbuild"));
    command.args(["zigbuild", "--release", "--target", &format!("{TARGET}.{}.{}", GLIBC.0, GLIBC.1)]);
    process::run(command.args(cargo::select(release, &adapters)))?;

    let mut libraries = Vec::new();
    for name in ADAPTERS {
        let library = target.join(TARGET).join("release").join(format!("lib{name}.so"));
        symbols::check_adapter(&library)?;
        let newest = newest_glibc(&library)?;
        if newest > GLIBC {
            fail!("{} needs glibc {}.{}, not {}.{}", library.display(), newest.0, newest.1, GLIBC.0, GLIBC.1);
        }
        println!("lib{name}.so.0 of {}: no symbol of a glibc newer than {}.{}", release.name(), newest.0, newest.1);
        libraries.push((format!("lib{name}.so.0"), library));
    }
    Ok(libraries)
}

/// The newest version of glibc that a library names.
fn newest_glibc(library: &Path) -> Result<(u32, u32)> {
    let printed = process::capture(Command::new("objdump").arg("-T").arg(library))?;
    match printed.stdout.lines().filter_map(glibc_version).max() {
        Some(version) => Ok(version),
        None => fail!("{} names no symbol of glibc", library.display()),
    }
}

/// `… GLIBC_2.14  memcpy` and `… (GLIBC_2.2.5) free`
fn glibc_version(line: &str) -> Option<(u32, u32)> {
    let version = line.split_once("GLIBC_")?.1;
    let version = version.split([' ', ')', '\t']).next()?;
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// Lays out `packaging/wheel` with the libraries and has the build backend make the wheel.
fn package(workspace: &Workspace, release: Release, tools: &Venv, libraries: &[(String, PathBuf)]) -> Result<PathBuf> {
    let source = workspace.path("packaging/wheel");
    let folder = workspace.target().join("wheel-build/package").join(release.name());
    let mut kept = files::list(&source)?;
    for file in &kept {
        files::copy(&source.join(file), &folder.join(file))?;
    }
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        files::copy(&workspace.path(licence), &folder.join(licence))?;
        kept.insert(licence.into());
    }
    for (name, library) in libraries {
        let to = folder.join("lib").join(name);
        fs::create_dir_all(folder.join("lib")).context(folder.display())?;
        process::run(Command::new("strip").args(["--strip-all", "-o"]).arg(&to).arg(library))?;
        kept.insert(Path::new("lib").join(name));
    }
    files::keep_only(&folder, &kept)?;

    let version = format!("{}.{}", release.name(), env!("CARGO_PKG_VERSION"));
    let tag = format!("py3-none-manylinux_{}_{}_x86_64", GLIBC.0, GLIBC.1);
    let out = workspace.target().join("wheel");
    let mut build = process::limited(300, tools.python());
    build.args(["-m", "build", "--wheel", "--no-isolation", "--outdir"]).arg(&out).arg(&folder);
    build.env("UR_WHEEL_RELEASE", release.name()).env("UR_WHEEL_VERSION", &version).env("UR_WHEEL_TAG", &tag);
    // The same content gives the same wheel.
    process::capture(build.env("SOURCE_DATE_EPOCH", "1577836800"))?;
    let wheel = out.join(format!("ur_adapters-{version}-{tag}.whl"));
    if wheel.is_file() { Ok(wheel) } else { fail!("the build backend made no {}", wheel.display()) }
}

/// Installs the wheel into the environment of a stock runtime, looks for the GPU, and removes it again.
fn check(workspace: &Workspace, release: Release, wheel: &Path) -> Result {
    let mode = Mode::prepare(workspace, release)?;
    let clients = programs::find_named(workspace, &["devices", "queue_in_order", "dpctl_devices"])?;
    programs::build_all(workspace, &mode, &clients)?;
    let before = contents(mode.venv.folder())?;
    let ran = |client| programs::run_installed(workspace, &mode, client);
    if let programs::Outcome::Passed = ran(&clients[0])? {
        fail!("{} finds a GPU before the adapter is installed", mode.venv.folder().display());
    }
    if listing(&mode)?.contains(BACKEND) {
        fail!("{}: dpctl lists a GPU before the adapter is installed", mode.venv.folder().display());
    }
    let installed = pip(&mode.venv, &["install", "--no-index", &wheel.display().to_string()]);
    let mut wrong = Vec::new();
    if installed.is_ok() {
        match listing(&mode) {
            Ok(text) if text.contains(BACKEND) => println!("{}: `python -m dpctl -f` lists the GPU", release.name()),
            Ok(text) => wrong.push(format!("`python -m dpctl -f` lists no GPU:\n{text}")),
            Err(failure) => wrong.push(failure.to_string()),
        }
        for client in &clients {
            match (ran(client)?, expected_to_fail(workspace, release, &client.name)?) {
                (programs::Outcome::Passed, _) => println!("{}: ok {} as installed", release.name(), client.name),
                (_, Some(reason)) => println!("{}: {} is known to fail: {reason}", release.name(), client.name),
                (other, None) => wrong.push(format!("{}: {other:?}", client.name)),
            }
        }
    }
    let removed = pip(&mode.venv, &["uninstall", "--yes", "ur-adapters"]);
    installed.and(removed)?;
    let after = contents(mode.venv.folder())?;
    wrong.extend(
        before
            .iter()
            .filter(|(file, size)| after.get(*file) != Some(size))
            .map(|(file, _)| format!("{} is gone or changed", file.display())),
    );
    wrong.extend(
        after.keys().filter(|file| !before.contains_key(*file)).map(|file| format!("{} stayed behind", file.display())),
    );
    if !wrong.is_empty() {
        fail!("the wheel of {} is not right:\n{}", release.name(), wrong.join("\n"));
    }
    println!("{}: installed, used and removed; {} files are as they were", release.name(), before.len());
    Ok(())
}

/// What dpctl prints of the devices, as a user has it printed. Nothing may be complained of: this machine has a driver of
/// NVIDIA's, if a simulated one, and no runtime of AMD's, which is how most look.
fn listing(mode: &Mode) -> Result<String> {
    let mut dpctl = process::unsteered(120, mode.venv.python());
    dpctl.args(["-m", "dpctl", "-f"]).env("PYTHONDONTWRITEBYTECODE", "1");
    let printed = process::capture(dpctl.env("UR_CUDA_LIBRARY", mode.dist.library("libsimcuda.so")))?;
    if !printed.stderr.is_empty() {
        fail!("`python -m dpctl -f` complains:\n{}", printed.stderr);
    }
    Ok(printed.stdout)
}

fn pip(venv: &Venv, words: &[&str]) -> Result {
    let mut pip = process::limited(300, venv.python());
    pip.args(["-m", "pip"]).args(words).args(["--quiet", "--disable-pip-version-check"]);
    process::run(pip.env("PYTHONDONTWRITEBYTECODE", "1"))
}

/// Every file with its size; what Python caches for itself is none of ours.
fn contents(folder: &Path) -> Result<BTreeMap<PathBuf, u64>> {
    let list = files::list(folder)?
        .into_iter()
        .filter(|file| !file.components().any(|part| part.as_os_str() == "__pycache__"));
    Ok(list.map(|file| (file.clone(), fs::symlink_metadata(folder.join(&file)).map_or(0, |meta| meta.len()))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_glibc_are_read_and_compared_as_numbers() {
        assert_eq!(glibc_version("0000000000000000      DF *UND*  0000000000000000 (GLIBC_2.2.5) free"), Some((2, 2)));
        assert_eq!(
            glibc_version("0000000000000000      DF *UND*  0000000000000000  GLIBC_2.14  memcpy"),
            Some((2, 14))
        );
        assert_eq!(glibc_version("0000000000012340 g    DF .text  0000000000000010  Base        urGetX"), None);
        assert!((2, 14) > (2, 2));
    }
}
