//! `dist [--release R]`: builds everything for a release, in the release profile, and lays it out the way an installation
//! looks: `bin`, `lib` with the sonames, `include`, pkg-config and CMake packages, kernels. What is laid out is checked:
//! a loader or adapter with the wrong exports never gets there.

mod packages;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fail;
use crate::support::cargo::{self, Built};
use crate::support::failure::Result;
use crate::support::workspace::{Release, Workspace};
use crate::support::{files, process, symbols};

pub use packages::compiler_flags;

/// Crates whose binary layout depends on the release.
pub const RELEASED: [&str; 2] = ["ur-loader", "ur-adapter-cuda"];
/// Crates that are the same for all releases.
const COMMON: [&str; 3] = ["simcuda", "callcount", "ur-demo"];
const PROGRAMS: [&str; 1] = ["ur-demo"];
const ADAPTERS: [&str; 1] = ["cuda"];
const SIMULATED: [&str; 2] = ["libsimcuda.so", "libcallcount.so"];

/// A laid-out release.
pub struct Dist {
    folder: PathBuf,
}

impl Dist {
    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its libraries.
    pub fn lib(&self) -> PathBuf {
        self.folder.join("lib")
    }

    /// One of its libraries.
    pub fn library(&self, name: &str) -> PathBuf {
        self.lib().join(name)
    }

    /// One of its programs.
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join("bin").join(name)
    }

    /// Its kernels.
    pub fn kernels(&self) -> PathBuf {
        self.folder.join("share/kernels")
    }

    /// A program run on this loader, the CUDA adapter and a native library, undisturbed by the user's variables.
    pub fn on_native(&self, seconds: u32, program: impl AsRef<std::ffi::OsStr>, native: &Path) -> Command {
        let mut command = process::unsteered(seconds, program);
        command.env("LD_LIBRARY_PATH", self.lib());
        command.env("UR_ADAPTERS_FORCE_LOAD", self.library("libur_adapter_cuda.so.0"));
        command.env("UR_CUDA_LIBRARY", native);
        command
    }

    /// The same over the simulated driver.
    pub fn on_simulated(&self, seconds: u32, program: impl AsRef<std::ffi::OsStr>) -> Command {
        self.on_native(seconds, program, &self.library("libsimcuda.so"))
    }
}

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    let release = match arguments {
        [] => Release::R2026_2,
        [flag, name] if flag == "--release" => Release::named(name)?,
        _ => fail!("it takes `--release 2026.1` or `--release 2026.2`, and nothing else"),
    };
    let dist = make(workspace, release)?;
    println!("{} for oneAPI {}", dist.folder().display(), release.name());
    Ok(())
}

/// Builds and lays out a release.
pub fn make(workspace: &Workspace, release: Release) -> Result<Dist> {
    let built = build(workspace, release)?;
    let loader = link_loader(workspace, release, built.file("libur_loader.a")?)?;
    let dist = Dist { folder: workspace.dist(release) };
    let mut layout = Layout { folder: dist.folder.clone(), files: BTreeSet::new() };

    layout.library(&loader, "libur_loader.so.0")?;
    for name in ADAPTERS {
        let library = built.file(&format!("libur_adapter_{name}.so"))?;
        symbols::check_adapter(library)?;
        layout.library(library, &format!("libur_adapter_{name}.so.0"))?;
    }
    for name in SIMULATED {
        layout.copy(built.file(name)?, &format!("lib/{name}"))?;
    }
    for name in PROGRAMS {
        layout.copy(built.file(name)?, &format!("bin/{name}"))?;
    }
    layout.folder(&workspace.headers(release), "include", &["h"])?;
    layout.folder(&workspace.path("conformance/kernels"), "share/kernels", &["ptx", "fatbin", "cubin", "cu", "h"])?;
    for (path, text) in packages::files(release) {
        layout.write(&path, text.as_bytes())?;
    }
    files::keep_only(&layout.folder, &layout.files)?;
    Ok(dist)
}

fn build(workspace: &Workspace, release: Release) -> Result<Built> {
    let mut command = cargo::cargo(workspace, release);
    command.args(["build", "--release"]);
    for package in RELEASED.iter().chain(&COMMON) {
        command.args(["--package", package]);
    }
    cargo::build(command.args(cargo::features(release, &RELEASED)))
}

/// Links the shared object by the loader's own recipe, if a source is newer, and checks what it exports.
fn link_loader(workspace: &Workspace, release: Release, archive: &Path) -> Result<PathBuf> {
    let recipe = workspace.path("loader/link.sh");
    let script = workspace.path(&format!("loader/src/generated/libur_loader-{}.map", release.name()));
    let library = archive.with_file_name("libur_loader.so.0");
    if files::outdated(&library, &[archive, &recipe, &script]) {
        process::run(Command::new("sh").arg(&recipe).arg(archive).arg(&library).arg(release.name()))?;
    }
    symbols::check_loader(&library, &script)?;
    Ok(library)
}

/// Where files are put, and a note of each, so that what is no longer made can go.
struct Layout {
    folder: PathBuf,
    files: BTreeSet<PathBuf>,
}

impl Layout {
    fn copy(&mut self, from: &Path, to: &str) -> Result {
        self.files.insert(to.into());
        files::copy(from, &self.folder.join(to)).map(drop)
    }

    fn write(&mut self, to: &str, content: &[u8]) -> Result {
        self.files.insert(to.into());
        files::write(&self.folder.join(to), content).map(drop)
    }

    /// A library by its soname, and the link that `-l` looks for.
    fn library(&mut self, from: &Path, soname: &str) -> Result {
        self.copy(from, &format!("lib/{soname}"))?;
        let plain = format!("lib/{}", soname.trim_end_matches(".0"));
        files::link(soname, &self.folder.join(&plain))?;
        self.files.insert(plain.into());
        Ok(())
    }

    /// All files below a folder that have one of these endings.
    fn folder(&mut self, from: &Path, to: &str, endings: &[&str]) -> Result {
        for file in files::list(from)? {
            if file.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| endings.contains(&ending)) {
                self.copy(&from.join(&file), &format!("{to}/{}", file.display()))?;
            }
        }
        Ok(())
    }
}
