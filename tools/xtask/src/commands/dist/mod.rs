//! `dist [--release R]`: builds everything for a release, in the release profile, and lays it out the way an installation
//! looks: `bin`, `lib` with the sonames, `include`, pkg-config and CMake packages, kernels. What is laid out is checked:
//! a loader or adapter with the wrong exports never gets there.

pub mod adapter;
pub mod example;
mod packages;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fail;
use crate::support::cargo::{self, Package};
use crate::support::failure::Result;
use crate::support::workspace::{Release, Workspace};
use crate::support::{files, process, symbols};

use adapter::Adapter;
pub use packages::compiler_flags;

/// Programs that only work in this tree.
const BUILD_TOOLS: [&str; 3] = ["generator", "xtask", "xtask-compare"];

/// Offers SPIR-V images of SYCL libraries to the adapters' devices.
const IMAGES: &str = "libur_sycl_images.so";

/// A laid-out release.
pub struct Dist {
    folder: PathBuf,
}

impl Dist {
    /// What [`make`] has laid out for a release.
    pub fn made(workspace: &Workspace, release: Release) -> Self {
        Dist { folder: workspace.dist(release) }
    }

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
    let parts = Parts::of(workspace, release)?;
    let mut command = cargo::cargo(workspace);
    let built = cargo::build(command.args(["build", "--release"]).args(cargo::select(&parts.all())))?;
    let archive = format!("libur_loader{}.a", release.suffix("_"));
    let loader = link_loader(workspace, release, built.file(&archive)?)?;
    let dist = Dist::made(workspace, release);
    let mut layout = Layout { folder: dist.folder.clone(), files: BTreeSet::new() };

    layout.library(&loader, "libur_loader.so.0")?;
    for adapter in &parts.adapters {
        let archive = built.file(&adapter.file())?;
        let library = adapter.link(workspace, release, archive, &adapter::Linker::default())?;
        layout.library(&library, &adapter.soname())?;
    }
    let images = built.file(IMAGES)?;
    symbols::check_images(images)?;
    layout.copy(images, &format!("lib/{IMAGES}"))?;
    for name in parts.natives() {
        let name = format!("lib{name}.so");
        layout.copy(built.file(&name)?, &format!("lib/{name}"))?;
    }
    for name in parts.programs() {
        layout.copy(built.file(name)?, &format!("bin/{name}"))?;
    }
    layout.folder(&workspace.headers(release), "include", &["h"])?;
    layout.folder(
        &workspace.path("conformance/kernels"),
        "share/kernels",
        &["ptx", "spv", "fatbin", "cubin", "cu", "h"],
    )?;
    for (path, text) in packages::files(release) {
        layout.write(&path, text.as_bytes())?;
    }
    files::keep_only(&layout.folder, &layout.files)?;
    Ok(dist)
}

/// What belongs to an installation of a release, told by where it lies in the tree: its loader in the folder `libraries`, what
/// adapters are linked from in theirs, native libraries that stand in for a vendor's in `conformance`, programs in `tools`.
struct Parts {
    loader: Package,
    adapters: Vec<Adapter>,
    /// What stands beside the adapters and is for every release.
    images: Package,
    natives: Vec<Package>,
    programs: Vec<Package>,
}

impl Parts {
    fn of(workspace: &Workspace, release: Release) -> Result<Self> {
        let mut packages = cargo::packages(workspace)?;
        let mut within = |folder: &str, test: fn(&Package) -> bool| -> Vec<Package> {
            let folder = workspace.path(folder);
            packages.extract_if(.., |package| package.folder.starts_with(&folder) && test(package)).collect()
        };
        let Some(loader) =
            within("loader/libraries", |_| true).into_iter().find(|package| package.release == Some(release))
        else {
            fail!("the workspace has no loader for oneAPI {}", release.name())
        };
        let Some(images) = within("adapters/sycl-images", |_| true).pop() else {
            fail!("the workspace has no adapters/sycl-images")
        };
        let archives = within("adapters", |package| package.archive.is_some());
        Ok(Parts {
            loader,
            adapters: archives.into_iter().filter_map(Adapter::of).collect(),
            images,
            natives: within("conformance", |package| package.library.is_some()),
            programs: within("tools", |package| !package.programs.is_empty() && !BUILD_TOOLS.contains(&&*package.name)),
        })
    }

    fn all(&self) -> Vec<&Package> {
        let adapters = self.adapters.iter().map(|adapter| &adapter.package);
        let rest = adapters.chain(&self.natives).chain(&self.programs);
        [&self.loader, &self.images].into_iter().chain(rest).collect()
    }

    fn natives(&self) -> impl Iterator<Item = &str> {
        self.natives.iter().filter_map(|package| package.library.as_deref())
    }

    fn programs(&self) -> impl Iterator<Item = &str> {
        self.programs.iter().flat_map(|package| &package.programs).map(String::as_str)
    }
}

/// Links the shared object by the loader's own recipe, if a source is newer, and checks what it exports.
fn link_loader(workspace: &Workspace, release: Release, archive: &Path) -> Result<PathBuf> {
    let recipe = workspace.path("loader/link.sh");
    let script = workspace.version_script(release);
    let library = archive.with_extension("so");
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
