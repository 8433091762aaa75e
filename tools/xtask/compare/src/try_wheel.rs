//! `try-wheel RELEASE WHEEL`: the proof that installing the wheel is all there is to it: before it a stock SYCL runtime finds
//! no GPU, after it it does, and after removing it not a file is left.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use xtask::fail;
use xtask::support::failure::Result;
use xtask::support::python::Venv;
use xtask::support::workspace::{Release, Workspace};
use xtask::support::{files, process};

use crate::sycl::{Mode, expected_to_fail, programs};

/// How dpctl calls the GPUs of our CUDA adapter.
const BACKEND: &str = "ext_oneapi_cuda";

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    let [release, wheel] = arguments else { fail!("it takes a release and the wheel of that release") };
    check(workspace, Release::named(release)?, Path::new(wheel))
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
        wrong.extend(images_of_python(&mode).err().map(|failure| failure.to_string()));
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

/// SPIR-V images come to the GPU in Python programs: the library that does so is there as soon as dpctl is, and in no other program.
fn images_of_python(mode: &Mode) -> Result {
    let maps = "print('libur_sycl_images.so' in open('/proc/self/maps').read())";
    for (what, hook, mapped) in
        [("import dpctl", "1", "True"), ("import json", "1", "False"), ("import dpctl", "0", "False")]
    {
        let mut python = process::unsteered(120, mode.venv.python());
        python.args(["-c", &format!("{what}; {maps}")]).env("UR_ADAPTERS_HOOK", hook);
        let printed = process::capture(python.env("PYTHONDONTWRITEBYTECODE", "1"))?;
        if printed.stdout.trim() != mapped || !printed.stderr.is_empty() {
            fail!(
                "with UR_ADAPTERS_HOOK={hook}, `{what}` and libur_sycl_images.so mapped: {}{}",
                printed.stdout,
                printed.stderr
            );
        }
    }
    Ok(())
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
