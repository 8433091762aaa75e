//! `bundle`: puts into `.carry` what a machine without a toolchain needs to run the demonstration, the C example, the
//! benchmarks and the conformance tests on its real driver. It must stay small: debug information is left behind.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{dist, test};
use crate::fail;
use crate::support::failure::{Context, Result};
use crate::support::workspace::{Release, Workspace};
use crate::support::{cargo, files, process};

/// The package whose test binaries run on any driver.
const SUITE: &str = "conformance";
const LARGEST: u64 = 40 << 20;

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    if !arguments.is_empty() {
        fail!("it takes no arguments");
    }
    let carry = workspace.path(".carry");
    let mut kept = BTreeSet::new();
    for release in Release::ALL {
        let dist = dist::make(workspace, release)?;
        let name = dist.folder().file_name().unwrap_or_default().to_owned();
        for file in files::list(dist.folder())? {
            let to = Path::new(&name).join(&file);
            if fs::symlink_metadata(dist.folder().join(&file)).is_ok_and(|meta| meta.is_symlink()) {
                continue; // links do not travel; nothing on the other machine compiles
            }
            put(&dist.folder().join(&file), &carry, to, &mut kept)?;
        }
        if release == Release::R2026_2 {
            put(&test::build_example(workspace, &dist)?, &carry, "saxpy".into(), &mut kept)?;
        }
    }
    for (name, path) in suite(workspace)? {
        put(&path, &carry, Path::new("tests").join(name), &mut kept)?;
    }
    put(&workspace.path("tools/xtask/bundle/run.sh"), &carry, "run.sh".into(), &mut kept)?;
    files::keep_only(&carry, &kept)?;

    let sizes = kept.iter().map(|file| fs::metadata(carry.join(file)).map_or(0, |meta| meta.len()));
    let total: u64 = sizes.sum();
    println!("{}: {} files, {:.1} MB; there: sh .carry/run.sh", carry.display(), kept.len(), total as f64 / 1e6);
    if total > LARGEST { fail!("that is more than travels ({LARGEST} bytes)") } else { Ok(()) }
}

/// The conformance suite's test binaries, if the workspace has the suite.
fn suite(workspace: &Workspace) -> Result<Vec<(String, PathBuf)>> {
    let release = Release::R2026_2;
    let known = process::outcome(cargo::cargo(workspace, release).args(["pkgid", "--package", SUITE]))?.0.success();
    if !known {
        println!("the workspace has no package `{SUITE}`: no test binaries travel");
        return Ok(Vec::new());
    }
    let mut command = cargo::cargo(workspace, release);
    command.args(["test", "--no-run", "--release", "--package", SUITE]);
    let built = cargo::build(&mut command)?;
    Ok(built.files().filter(|(name, _)| !name.contains('.')).map(|(n, p)| (n.to_owned(), p.to_path_buf())).collect())
}

/// Copies a file, without debug information if it is a program or library.
fn put(from: &Path, carry: &Path, to: PathBuf, kept: &mut BTreeSet<PathBuf>) -> Result {
    let target = carry.join(&to);
    kept.insert(to);
    let is_elf = fs::read(from).context(from.display())?.starts_with(b"\x7fELF");
    if !is_elf {
        return files::copy(from, &target).map(drop);
    }
    let stripped = target.with_extension("stripped");
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).context(folder.display())?;
    }
    process::run(Command::new("strip").args(["--strip-debug", "-o"]).arg(&stripped).arg(from))?;
    fs::rename(&stripped, &target).context(target.display())
}
