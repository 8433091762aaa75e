//! `bundle --sycl [RELEASE]`: what a machine with a GPU and without a network needs for the SYCL programs and dpctl's suite:
//! the stock runtime and its run-time compiler, our libraries, the programs, dpctl. The compiler alone is 200 MB, so all of
//! it is packed and cut into parts of what travels at once; `conformance/sycl/run-on-gpu.sh` puts them together there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::sycl::{Mode, programs};
use crate::fail;
use crate::support::failure::{Context, Result};
use crate::support::workspace::{Release, Workspace};
use crate::support::{files, process};

/// Bytes of a part. With the checkout it must stay below 64 MiB.
const PART: usize = 44 << 20;
/// The Python of the machines with a GPU, which has all that dpctl needs but dpctl.
const PYTHON: &str = "3.12";
const DPCTL: &str = "dpctl==0.22.1";
/// What the runtime and its compiler load.
const STOCK: [&str; 7] =
    ["libsycl.so.9", "libsycl-jit.so", "libimf.so", "libsvml.so", "libirng.so", "libintlc.so.5", "libumf.so.1"];
const OURS: [&str; 3] = ["libur_loader.so.0", "libur_adapter_cuda.so.0", "libsimcuda.so"];
const SCRIPT: &str = "conformance/sycl/run-on-gpu.sh";

/// Makes the parts.
pub fn make(workspace: &Workspace, release: Release) -> Result {
    let mode = Mode::prepare(workspace, release)?;
    let list = programs::find(workspace, &[])?;
    programs::build_all(workspace, &mode, &list)?;
    let folder = workspace.target().join("sycl-bundle").join(release.name());
    let mut kept = fill(workspace, &mode, &list, &folder)?;
    kept.extend(dpctl(workspace, &folder)?);
    files::keep_only(&folder, &kept)?;

    let archive = folder.with_extension("tar.xz");
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--use-compress-program=xz -T0 -4", "-cf"]).arg(&archive);
    process::run(tar.arg("-C").arg(&folder).arg("."))?;
    cut(workspace, &archive)
}

fn fill(workspace: &Workspace, mode: &Mode, list: &[programs::Program], folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut wanted: Vec<(PathBuf, PathBuf)> = mode.travelling();
    for name in STOCK {
        let library = mode.venv.lib().join(name);
        if library.exists() {
            wanted.push((Path::new("lib").join(name), library));
        }
    }
    wanted.extend(OURS.map(|name| (Path::new("lib").join(name), mode.dist.library(name))));
    for program in list {
        let name = program.name.replace('/', "-");
        wanted.push(match program.script() {
            Some(script) => (Path::new("python").join(script.file_name().unwrap_or_default()), script.to_path_buf()),
            None => (Path::new("programs").join(name), program.binary(mode)),
        });
    }
    wanted.push(("python/check.py".into(), workspace.path("conformance/sycl/programs/check.py")));
    let mut kept = BTreeSet::new();
    for (to, from) in wanted {
        put(&from, &folder.join(&to))?;
        // The runtime opens its compiler by the versioned name.
        if to.ends_with("libsycl-jit.so") {
            let versioned = match mode.release {
                Release::R2026_1 => "libsycl-jit.so.22.1",
                Release::R2026_2 => "libsycl-jit.so.23.1",
            };
            files::link("libsycl-jit.so", &folder.join("lib").join(versioned))?;
            kept.insert(Path::new("lib").join(versioned));
        }
        kept.insert(to);
    }
    Ok(kept)
}

/// Copies a file, a library without its symbol names.
fn put(from: &Path, to: &Path) -> Result {
    if !files::outdated(to, &[from]) {
        return Ok(());
    }
    let start = fs::read(from).context(from.display())?;
    if !start.starts_with(b"\x7fELF") {
        return files::copy(from, to).map(drop);
    }
    fs::create_dir_all(to.parent().unwrap_or(to)).context(to.display())?;
    process::run(Command::new("strip").args(["--strip-all", "-o"]).arg(to).arg(from))
}

/// dpctl for the other machine's Python, unpacked.
fn dpctl(workspace: &Workspace, folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let site = folder.join("site");
    if !site.join("dpctl").is_dir() {
        let python = process::need(&["python3", "python"], "fetching dpctl")?;
        let mut pip = process::limited(600, python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-compile"]);
        pip.args(["--only-binary=:all:", "--implementation=cp", "--python-version", PYTHON]);
        pip.args([
            "--platform=manylinux_2_28_x86_64",
            "--platform=manylinux_2_27_x86_64",
            "--platform=manylinux2014_x86_64",
        ]);
        pip.arg("--find-links").arg(workspace.target().join("wheels")).arg("--target").arg(&site);
        process::run(pip.arg(DPCTL))?;
    }
    Ok(files::list(&site)?.into_iter().map(|file| Path::new("site").join(file)).collect())
}

fn cut(workspace: &Workspace, archive: &Path) -> Result {
    let carry = workspace.path(".carry-sycl");
    let bytes = fs::read(archive).context(archive.display())?;
    let count = bytes.len().div_ceil(PART);
    if count > 9 {
        fail!("{} would be {count} parts", archive.display());
    }
    let mut kept = BTreeSet::new();
    for (index, part) in bytes.chunks(PART).enumerate() {
        let number = index + 1;
        files::write(&carry.join(format!("{number}/part.{number}.{count}")), part)?;
        files::copy(&workspace.path(SCRIPT), &carry.join(format!("{number}/run-on-gpu.sh")))?;
        kept.extend([format!("{number}/part.{number}.{count}").into(), format!("{number}/run-on-gpu.sh").into()]);
    }
    files::keep_only(&carry, &kept)?;
    println!(
        "{}: {:.1} MB in {count} parts, one call each, with one of them carried; there:",
        carry.display(),
        bytes.len() as f64 / 1e6
    );
    for number in 1..=count {
        println!("  sh .carry-sycl/{number}/run-on-gpu.sh take{}", if number == count { " run" } else { "" });
    }
    Ok(())
}
