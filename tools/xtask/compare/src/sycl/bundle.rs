//! `bundle-sycl [RELEASE]`: what a machine with a GPU and without a network needs for the SYCL programs, dpctl's suite and
//! the wheel's story: every wheel that pip wants there, ours among them, our libraries and the programs. A stock runtime is
//! 900 MB, so all of it is packed and cut into parts of what travels at once; `conformance/sycl/run_on_gpu.py` puts them
//! together there. Nothing is left out of a wheel and nothing in it is changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::{Mode, programs};
use crate::travelling;
use xtask::commands::wheel;
use xtask::fail;
use xtask::support::failure::{Context, Result};
use xtask::support::files;
use xtask::support::workspace::{Release, Workspace};

/// Bytes of a part. With the checkout, 18 MiB of it today, it must stay below 64 MiB.
const PART: usize = 40 << 20;
const OURS: [&str; 4] = ["libur_loader.so.0", "libur_adapter_cuda.so.0", "libur_sycl_images.so", "libsimcuda.so"];
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
    let wheels = wheel::make(workspace, &Release::ALL)?;
    for (release, ours) in wheels.iter().filter(|(release, _)| releases.contains(release)) {
        let mode = Mode::prepare(workspace, *release)?;
        let list = programs::find(workspace, &[])?;
        programs::build_all(workspace, &mode, &list)?;
        let folder = workspace.target().join("sycl-bundle").join(release.name());
        fill(workspace, &mode, &list, &folder)?;
        stock(workspace, *release, ours, &folder.join("wheels"))?;
        share(&folder)?;

        let archive = folder.with_file_name(format!("{}.tar.xz", release.name()));
        travelling::pack(&folder, &archive)?;
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
        travelling::put(&from, &folder.join(&to))?;
        kept.insert(to);
    }
    files::keep_only(folder, &kept)
}

/// The wheels that pip wants for dpctl, its tests and ours: ours as it is, the others as folders of what they hold.
fn stock(workspace: &Workspace, release: Release, ours: &Path, folder: &Path) -> Result {
    let version = travelling::python();
    let downloads = workspace.target().join("sycl-bundle").join(format!("downloads-{}-{version}", release.name()));
    let wanted = ["dpctl==0.22.1", release.sycl_wheel(), "pytest", "cython", "setuptools", "pip"];
    travelling::download(&downloads, &wanted)?;
    let mut kept = travelling::unpack(&downloads, folder)?;
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
