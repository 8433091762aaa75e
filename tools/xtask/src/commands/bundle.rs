//! `bundle`: puts into `.carry` what a machine without a toolchain needs to run the demonstration, the C example, the
//! benchmarks and the conformance tests on its real driver, and the tests under compute-sanitizer. It must stay small: debug
//! information and symbol names are left behind. `bundle --sycl` and `--dpnp` are `bundle-sycl` and `bundle-dpnp` of [`compare`].

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::dist::{self, example};
use super::{compare, test};
use crate::fail;
use crate::support::failure::{Context, Result};
use crate::support::workspace::{Release, Workspace};
use crate::support::{cargo, files, process};

const LARGEST: u64 = 56 << 20;
/// Kernels translated from SPIR-V, with what they compute, and the program that runs them on a driver.
const SPIRV_KERNELS: &str = "adapters/spirv/tests/kernels";
/// Programs of `docs/probes` that ask a driver what `docs/native-facts.md` says.
const PROBES: [&str; 9] = [
    "alloc_sizes",
    "channels",
    "clock_drift",
    "first_load",
    "graph_nodes",
    "graphs",
    "managed_waits",
    "pool_trims",
    "sanitizer_records",
];

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    match arguments {
        [] => {}
        [flag, releases @ ..] if flag == "--sycl" => return compare::run(workspace, "bundle-sycl", releases),
        [flag, rest @ ..] if flag == "--dpnp" => return compare::run(workspace, "bundle-dpnp", rest),
        _ => fail!("it takes `--dpnp`, or `--sycl`, maybe with a release, and nothing else"),
    }
    let carry = workspace.path(".carry");
    let mut kept = BTreeSet::new();
    for release in Release::ALL {
        let dist = dist::make(workspace, release)?;
        let name = dist.folder().file_name().unwrap_or_default().to_owned();
        for file in files::list(dist.folder())? {
            let to = Path::new(&name).join(&file);
            if !travels(release, &file) || dist.folder().join(&file).is_symlink() {
                continue;
            }
            put(&dist.folder().join(&file), &carry, to, &mut kept)?;
        }
        if release == Release::R2026_2 {
            for name in ["saxpy", "timeline"] {
                put(&example::build(workspace, &dist, name)?, &carry, name.into(), &mut kept)?;
            }
        }
    }
    for (name, path) in suite(workspace)? {
        put(&path, &carry, Path::new("tests").join(name), &mut kept)?;
    }
    for script in ["plan.sh", "run.sh", "sanitizer.sh", "sanitizer_judge.sh", "suite.sh"] {
        put(&workspace.path("tools/xtask/bundle").join(script), &carry, script.into(), &mut kept)?;
    }
    let expected = "sanitizer-expected.txt";
    put(&workspace.path("conformance").join(expected), &carry, expected.into(), &mut kept)?;
    for file in files::list(&workspace.path(SPIRV_KERNELS))? {
        if file.extension().is_some_and(|ending| ending == "case" || ending == "ptx" || ending == "py") {
            put(&workspace.path(SPIRV_KERNELS).join(&file), &carry, Path::new("spirv").join(&file), &mut kept)?;
        }
    }
    for (name, path) in probes(workspace)? {
        put(&path, &carry, Path::new("probes").join(name), &mut kept)?;
    }
    files::keep_only(&carry, &kept)?;
    pack(&carry, &mut kept)?;

    let sizes = kept.iter().map(|file| fs::metadata(carry.join(file)).map_or(0, |meta| meta.len()));
    let total: u64 = sizes.sum();
    println!("{}: {} files, {:.1} MB; there: sh .carry/run.sh", carry.display(), kept.len(), total as f64 / 1e6);
    if total > LARGEST { fail!("that is more than travels ({LARGEST} bytes)") } else { Ok(()) }
}

/// The probes, built. One whose headers are missing here stays behind, which is told.
fn probes(workspace: &Workspace) -> Result<Vec<(&'static str, PathBuf)>> {
    let folder = workspace.target().join("probes");
    fs::create_dir_all(&folder).context(folder.display())?;
    let mut built = Vec::new();
    for name in PROBES {
        let program = folder.join(name);
        let mut cc = process::cc();
        cc.args(["-O1", "-o"]).arg(&program).arg(workspace.path(&format!("docs/probes/{name}.c")));
        match process::run(cc.args(["-ldl", "-lpthread"])) {
            Ok(()) => built.push((name, program)),
            Err(error) => println!("{name}: not built, so not in the bundle: {error}"),
        }
    }
    Ok(built)
}

/// Packs the test binaries, which have most of their code in common: a dictionary larger than several of them finds it.
fn pack(carry: &Path, kept: &mut BTreeSet<PathBuf>) -> Result {
    if !carry.join("tests").is_dir() {
        return Ok(());
    }
    let archive = PathBuf::from("tests.tar.xz");
    let mut tar = process::limited(300, "tar");
    tar.env("XZ_OPT", "--lzma2=preset=1,dict=192MiB");
    process::run(tar.arg("-C").arg(carry).arg("-cJf").arg(carry.join(&archive)).arg("tests"))?;
    kept.retain(|file| !file.starts_with("tests"));
    kept.insert(archive);
    files::keep_only(carry, kept)
}

/// What of an installation is of use where nothing is compiled: programs, libraries and kernels of the newest release, and
/// of the older ones the adapters and the loader, which tests load where they do not belong.
fn travels(release: Release, file: &Path) -> bool {
    let libraries = file.starts_with("lib") && file.extension().is_some_and(|ending| ending == "so" || ending == "0");
    if release.is_newest() {
        return libraries || file.starts_with("bin") || file.starts_with("share");
    }
    libraries && file.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("libur_"))
}

/// The conformance suite's test binaries.
fn suite(workspace: &Workspace) -> Result<Vec<(String, PathBuf)>> {
    let packages = cargo::packages(workspace)?;
    let suite: Vec<_> = packages.iter().filter(|package| package.name == test::SUITE).collect();
    let mut command = cargo::cargo(workspace);
    command.args(["test", "--no-run", "--test", "*"]).args(cargo::select(&suite));
    let built = cargo::build(&mut command)?;
    Ok(built.tests().map(|(name, path)| (name.to_owned(), path.to_path_buf())).collect())
}

/// Copies a file, without debug information and symbol names if it is a program or library.
fn put(from: &Path, carry: &Path, to: PathBuf, kept: &mut BTreeSet<PathBuf>) -> Result {
    let target = carry.join(&to);
    kept.insert(to);
    if !runs_here(&fs::read(from).context(from.display())?) {
        return files::copy(from, &target).map(drop);
    }
    let stripped = target.with_extension("stripped");
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).context(folder.display())?;
    }
    process::run(Command::new("strip").args(["--strip-all", "-o"]).arg(&stripped).arg(from))?;
    fs::rename(&stripped, &target).context(target.display())
}

/// Whether a file is a program or library for x86-64; a GPU's binaries are ELF files, too.
fn runs_here(content: &[u8]) -> bool {
    content.starts_with(b"\x7fELF") && content.get(18..20) == Some(&[62, 0])
}
