//! `bundle-sycl [RELEASE]`: what a machine with a GPU and without a network needs for the SYCL programs, dpctl's suite and
//! the wheel's story: every wheel that pip wants there, ours among them, our libraries and the programs. A stock runtime is
//! 900 MB, so all of it is packed and cut into parts of what travels at once; `conformance/sycl/run_on_gpu.py` puts them
//! together there. Nothing is left out of a wheel and nothing in it is changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Mode, programs};
use xtask::commands::wheel;
use xtask::fail;
use xtask::support::failure::{Context, Result};
use xtask::support::workspace::{Release, Workspace};
use xtask::support::{files, process};

/// Bytes of a part. With the checkout it must stay below 64 MiB.
const PART: usize = 49 << 20;
/// The Python of the machines with a GPU; `UR_BUNDLE_PYTHON` names another, to try a bundle elsewhere.
const PYTHON: &str = "3.12";
const PLATFORMS: [&str; 5] = [
    "manylinux_2_28_x86_64",
    "manylinux_2_27_x86_64",
    "manylinux_2_17_x86_64",
    "manylinux2014_x86_64",
    "manylinux1_x86_64",
];
const OURS: [&str; 3] = ["libur_loader.so.0", "libur_adapter_cuda.so.0", "libsimcuda.so"];
const SCRIPT: &str = "conformance/sycl/run_on_gpu.py";

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    match arguments {
        [] => make(workspace, &Release::ALL),
        [name] => make(workspace, &[Release::named(name)?]),
        _ => fail!("it takes a release and nothing else"),
    }
}

/// Makes the parts of some releases; those of the others stay as they are.
fn make(workspace: &Workspace, releases: &[Release]) -> Result {
    let wheels = wheel::make(workspace)?;
    for (release, ours) in wheels.iter().filter(|(release, _)| releases.contains(release)) {
        let mode = Mode::prepare(workspace, *release)?;
        let list = programs::find(workspace, &[])?;
        programs::build_all(workspace, &mode, &list)?;
        let folder = workspace.target().join("sycl-bundle").join(release.name());
        fill(workspace, &mode, &list, &folder)?;
        stock(workspace, *release, ours, &folder.join("wheels"))?;
        share(&folder)?;

        let archive = folder.with_file_name(format!("{}.tar.xz", release.name()));
        let mut tar = Command::new("tar");
        tar.args(["--sort=name", "--owner=0", "--group=0", "--use-compress-program=xz -T2 -9", "-cf"]).arg(&archive);
        process::run(tar.arg("-C").arg(&folder).arg("."))?;
        cut(workspace, *release, &archive)?;
    }
    Ok(())
}

/// Our libraries, the programs and the compiler's files, into a folder that has nothing else but wheels.
fn fill(workspace: &Workspace, mode: &Mode, list: &[programs::Program], folder: &Path) -> Result {
    let mut wanted: Vec<(PathBuf, PathBuf)> = mode.travelling();
    wanted.extend(OURS.map(|name| (Path::new("lib").join(name), mode.dist.library(name))));
    for program in list {
        let name = program.name.replace('/', "-");
        let source = program.script().map_or_else(|| program.binary(mode), Path::to_path_buf);
        let ending = if program.script().is_some() { ".py" } else { "" };
        wanted.push((Path::new("programs").join(name + ending), source));
    }
    wanted.push(("expectations.toml".into(), workspace.path("conformance/sycl/expectations.toml")));
    wanted.push(("python/check.py".into(), workspace.path("conformance/sycl/programs/check.py")));
    wanted.push(("python/record.py".into(), workspace.path("conformance/sycl/record.py")));
    let mut kept: BTreeSet<PathBuf> =
        files::list(folder)?.into_iter().filter(|file| file.starts_with("wheels")).collect();
    for (to, from) in wanted {
        put(&from, &folder.join(&to))?;
        kept.insert(to);
    }
    files::keep_only(folder, &kept)
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

/// The wheels that pip wants for dpctl, its tests and ours: ours as it is, the others as folders of what they hold.
fn stock(workspace: &Workspace, release: Release, ours: &Path, folder: &Path) -> Result {
    let version = std::env::var("UR_BUNDLE_PYTHON").unwrap_or_else(|_| PYTHON.to_owned());
    let downloads = workspace.target().join("sycl-bundle").join(format!("downloads-{}-{version}", release.name()));
    let python = process::need(&["python3", "python"], "fetching wheels")?;
    let mut pip = process::limited(900, python);
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"]);
    pip.args(["--implementation=cp", "--python-version", &version]);
    pip.args(PLATFORMS.map(|platform| format!("--platform={platform}")));
    pip.arg("--find-links").arg(&downloads).arg("--dest").arg(&downloads);
    process::run(pip.args(["dpctl==0.22.1", release.sycl_wheel(), "pytest", "cython", "setuptools", "pip"]))?;

    let mut kept = BTreeSet::new();
    for wheel in files::list(&downloads)? {
        let tree = folder.join(&wheel);
        // Unpacked under another name first: a folder of the right name is whole.
        if !tree.is_dir() {
            let fresh = tree.with_extension("new");
            let mut unzip = process::limited(300, python);
            process::run(unzip.args(["-m", "zipfile", "-e"]).arg(downloads.join(&wheel)).arg(&fresh))?;
            fs::rename(&fresh, &tree).context(tree.display())?;
        }
        kept.extend(files::list(&tree)?.into_iter().map(|file| wheel.join(file)));
    }
    let name = PathBuf::from(ours.file_name().unwrap_or_default());
    files::copy(ours, &folder.join(&name))?;
    kept.insert(name);
    files::keep_only(folder, &kept)
}

/// Makes files of the same content one file, which an archive then holds once: a wheel has no links, and the runtime's has
/// each library under each of its names.
fn share(folder: &Path) -> Result {
    let mut sizes: BTreeMap<u64, Vec<PathBuf>> = BTreeMap::new();
    for file in files::list(folder)? {
        let path = folder.join(file);
        let size = fs::metadata(&path).context(path.display())?.len();
        // Small ones compress to nothing by themselves.
        if size > 1 << 16 {
            sizes.entry(size).or_default().push(path);
        }
    }
    for paths in sizes.into_values() {
        let mut contents: Vec<(Vec<u8>, PathBuf)> = Vec::new();
        for path in paths {
            let bytes = fs::read(&path).context(path.display())?;
            match contents.iter().find(|(known, _)| *known == bytes) {
                Some((_, first)) => {
                    fs::remove_file(&path).context(path.display())?;
                    fs::hard_link(first, &path).context(path.display())?;
                }
                None => contents.push((bytes, path)),
            }
        }
    }
    Ok(())
}

/// Cuts an archive into `.carry-sycl/RELEASE-N`, each with the script that takes it.
fn cut(workspace: &Workspace, release: Release, archive: &Path) -> Result {
    let carry = workspace.path(".carry-sycl");
    let bytes = fs::read(archive).context(archive.display())?;
    let count = bytes.len().div_ceil(PART);
    let own = format!("{}-", release.name());
    let others = |file: &PathBuf| !file.to_string_lossy().starts_with(&own);
    let mut kept: BTreeSet<PathBuf> = files::list(&carry)?.into_iter().filter(others).collect();
    for (index, part) in bytes.chunks(PART).enumerate() {
        let place = PathBuf::from(format!("{own}{}", index + 1));
        let (part_name, script) =
            (place.join(format!("part.{}.{}.{count}", release.name(), index + 1)), place.join("run_on_gpu.py"));
        files::write(&carry.join(&part_name), part)?;
        files::copy(&workspace.path(SCRIPT), &carry.join(&script))?;
        kept.extend([part_name, script]);
    }
    files::keep_only(&carry, &kept)?;
    println!("{:.1} MB in {count} parts, one call each, which carries its folder; there:", bytes.len() as f64 / 1e6);
    for number in 1..=count {
        let then = if number == count { " wheel programs suite" } else { "" };
        println!("  python3 .carry-sycl/{own}{number}/run_on_gpu.py take{then}");
    }
    Ok(())
}
