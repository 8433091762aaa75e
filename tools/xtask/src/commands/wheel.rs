//! `wheel`: our adapters as Python packages, one for each release, that put them beside a stock SYCL runtime. The libraries
//! are compiled and linked against an old glibc, and the promise of how old is checked on them. Whether a package does what it is for,
//! `try-wheel` of [`compare`] shows.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::compare;
use super::dist::adapter::{Adapter, Linker};
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
/// Offers SPIR-V images to these adapters' devices; the same for every release.
const IMAGES: &str = "ur_sycl_images";

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    if !arguments.is_empty() {
        fail!("it takes no arguments");
    }
    let wheels = make(workspace, &Release::ALL)?;
    for (release, wheel) in &wheels {
        compare::run(workspace, "try-wheel", &[release.name().to_owned(), wheel.display().to_string()])?;
    }
    for (_, wheel) in &wheels {
        let size = fs::metadata(wheel).map_or(0, |meta| meta.len());
        println!("{} ({:.1} MB)", wheel.display(), size as f64 / 1e6);
    }
    Ok(())
}

/// Makes the wheel of each of these releases.
pub fn make(workspace: &Workspace, releases: &[Release]) -> Result<Vec<(Release, PathBuf)>> {
    let tools = Venv::with(&workspace.target().join("wheel-tools"), &TOOLS)?;
    let compiled = Compiled::make(workspace, &tools)?;
    let mut wheels = Vec::new();
    for &release in releases {
        let libraries = compiled.link(workspace, release)?;
        wheels.push((release, package(workspace, release, &tools, &libraries)?));
    }
    Ok(wheels)
}

/// What was compiled for the old glibc, for every release. `zig cc` brings the symbol versions of every glibc with it.
struct Compiled {
    /// The folder of products.
    folder: PathBuf,
    adapters: Vec<Adapter>,
    linker: Linker,
}

impl Compiled {
    fn make(workspace: &Workspace, tools: &Venv) -> Result<Self> {
        let folder = workspace.target().join("wheel-build");
        let target = folder.join("target");
        let glibc = format!("{}.{}", GLIBC.0, GLIBC.1);
        let (images, others): (Vec<_>, Vec<_>) =
            cargo::packages(workspace)?.into_iter().partition(|package| package.library.as_deref() == Some(IMAGES));
        let adapters: Vec<_> = others.into_iter().filter_map(Adapter::of).collect();
        let shipped: Vec<_> = images.iter().chain(adapters.iter().map(|adapter| &adapter.package)).collect();
        let bin = tools.python().parent().map(Path::to_path_buf).unwrap_or_default();
        let path = std::env::join_paths(
            std::iter::once(bin).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
        );
        let mut command = cargo::cargo(workspace);
        command.env("PATH", path.context("a folder's name holds a colon")?).env("CARGO_TARGET_DIR", &target);
        command
            .env("ZIG_GLOBAL_CACHE_DIR", folder.join("zig"))
            .env("CARGO_ZIGBUILD_CACHE_DIR", folder.join("zigbuild"));
        command.args(["zigbuild", "--release", "--target", &format!("{TARGET}.{glibc}")]);
        process::run(command.args(cargo::select(&shipped)))?;
        let compiler = format!("{} -m ziglang cc -target x86_64-linux-gnu.{glibc}", tools.python().display());
        let variables = vec![
            ("CC", compiler),
            // zig has no libgcc_s; its own unwinder is linked in.
            ("LIBRARIES", "-lunwind -lutil -lrt -lpthread -lm -ldl -lc".to_owned()),
            ("ZIG_GLOBAL_CACHE_DIR", folder.join("zig").display().to_string()),
        ];
        Ok(Self { folder: target.join(TARGET).join("release"), adapters, linker: Linker { variables } })
    }

    /// The libraries of a release's wheel.
    fn link(&self, workspace: &Workspace, release: Release) -> Result<Vec<(String, PathBuf)>> {
        let mut libraries = Vec::new();
        for adapter in &self.adapters {
            let library = adapter.link(workspace, release, &self.folder.join(adapter.file()), &self.linker)?;
            libraries.push((adapter.soname(), library));
        }
        let images = self.folder.join(format!("lib{IMAGES}.so"));
        symbols::check_images(&images)?;
        libraries.push((format!("lib{IMAGES}.so"), images));
        for (name, library) in &libraries {
            check_glibc(release, name, library)?;
        }
        Ok(libraries)
    }
}

/// Checks that a library runs on the glibc that the wheel promises.
fn check_glibc(release: Release, name: &str, library: &Path) -> Result {
    let newest = newest_glibc(library)?;
    if newest > GLIBC {
        fail!("{} needs glibc {}.{}, not {}.{}", library.display(), newest.0, newest.1, GLIBC.0, GLIBC.1);
    }
    println!("{name} of {}: no symbol of a glibc newer than {}.{}", release.name(), newest.0, newest.1);
    Ok(())
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
    kept.retain(|file| !file.components().any(|part| part.as_os_str() == "__pycache__"));
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
    // The runtime has the API's own headers.
    let header = Path::new("unified-runtime/ur_ext.h");
    let to = Path::new("include").join(header);
    files::copy(&workspace.headers(release).join(header), &folder.join(&to))?;
    kept.insert(to);
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
    if !wheel.is_file() {
        fail!("the build backend made no {}", wheel.display());
    }
    check_content(tools, &wheel, &version)?;
    Ok(wheel)
}

/// Checks that the wheel installs nothing at the top of `site-packages` but what has our name: the build backend takes folders that
/// nobody named where it finds a package in them.
fn check_content(tools: &Venv, wheel: &Path, version: &str) -> Result {
    let names = "import sys, zipfile; print(*zipfile.ZipFile(sys.argv[1]).namelist(), sep='\\n')";
    let printed = process::capture(Command::new(tools.python()).args(["-c", names]).arg(wheel))?;
    let stray = others_names(&printed.stdout, version);
    if !stray.is_empty() {
        fail!("{} would install what has not its name:\n{}", wheel.display(), stray.join("\n"));
    }
    Ok(())
}

/// Of a wheel's files those that are neither of the package, its `.pth`, its data nor its metadata.
fn others_names<'n>(names: &'n str, version: &str) -> Vec<&'n str> {
    let [data, metadata] = ["data", "dist-info"].map(|kind| format!("ur_adapters-{version}.{kind}/"));
    let is_ours = |name: &&str| {
        *name == "ur_adapters.pth" || ["ur_adapters/", &data, &metadata].iter().any(|folder| name.starts_with(folder))
    };
    names.lines().filter(|name| !is_ours(name)).collect()
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

    #[test]
    fn a_wheel_has_nothing_that_is_not_called_as_it_is() {
        let ours = "ur_adapters/__init__.py\nur_adapters.pth\nur_adapters-1.2.data/data/lib/a.so\nur_adapters-1.2.dist-info/WHEEL\n";
        assert_eq!(others_names(ours, "1.2"), [""; 0]);
        for stray in
            ["python/ur_adapters/__init__.py", "ur_adapters.py", "ur_adapters-1.1.data/data/lib/a.so", "lib/a.so"]
        {
            assert_eq!(others_names(&format!("{ours}{stray}\n"), "1.2"), [stray]);
        }
    }
}
