//! What the programs run on: a release's stock SYCL runtime with our adapter, the loader that belongs to it, and what its
//! run-time compiler needs for a CUDA device. It prepares environments; it runs nothing of the client's.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::builtins;
use crate::sycl_cpu;
use xtask::commands::dist::{self, Dist};
use xtask::support::failure::Result;
use xtask::support::python::{self, Venv};
use xtask::support::workspace::{Release, Workspace};
use xtask::support::{files, process};

/// The packages of 2026.2: the client, and what one of dpctl's tests builds an extension with. Those of 2026.1 are
/// `sycl-cpu`'s.
const PACKAGES: [&str; 5] = ["dpctl==0.22.1", "intel-sycl-rt==2026.2.0", "pytest", "cython", "setuptools"];

/// Carries `libdevice.10.bc`, CUDA's library of mathematical functions, which the compiler takes from a CUDA toolkit.
const LIBDEVICE_WHEEL: &str = "triton==3.6.0";

/// Carries libnvvm, which compiles kernels that come as SPIR-V.
const NVVM_WHEEL: &str = "nvidia-nvvm==13.5.37";

/// A release's runtime, ready to be run.
pub struct Mode {
    /// The release.
    pub release: Release,
    /// The environment that holds the stock runtime.
    pub venv: Venv,
    /// What we built for it.
    pub dist: Dist,
    toolchain: Toolchain,
    nvvm: PathBuf,
    scratch: PathBuf,
    unpooled: bool,
}

/// What the run-time compiler does not find by itself.
struct Toolchain {
    /// Redirects its absolute path to `root` (`conformance/sycl/toolchain.c`).
    shim: PathBuf,
    root: PathBuf,
    /// Looks like a CUDA toolkit.
    cuda: PathBuf,
}

impl Mode {
    /// Builds and installs what is missing.
    pub fn prepare(workspace: &Workspace, release: Release) -> Result<Self> {
        let dist = dist::make(workspace, release)?;
        let venv = match release {
            Release::R2026_2 => Venv::with(&workspace.target().join("sycl-2026.2"), &PACKAGES)?,
            Release::R2026_1 => sycl_cpu::venv(workspace)?,
        };
        let toolchain = Toolchain::prepare(workspace, release, &venv)?;
        let nvvm = workspace.target().join("nvvm");
        python::unpack(&workspace.target().join("wheels"), NVVM_WHEEL, "/cu13/", &nvvm)?;
        let scratch = workspace.target().join("sycl-programs").join(release.name());
        Ok(Mode { release, venv, dist, toolchain, nvvm, scratch, unpooled: false })
    }

    /// Whether plain memory and buffers are to be native allocations each (`UR_USM_POOL=0`).
    pub fn unpooled(mut self, unpooled: bool) -> Self {
        self.unpooled = unpooled;
        self
    }

    /// Who runs on whom, for a heading.
    pub fn describe(&self) -> String {
        let loader = if self.ours_loads() { "our loader" } else { "the loader inside it" };
        format!(
            "libsycl of {}, {loader}, our CUDA adapter of {}{}, simcuda",
            self.release.sycl_wheel(),
            self.release.name(),
            if self.unpooled { " with UR_USM_POOL=0" } else { "" }
        )
    }

    /// 2026.2's libsycl carries a loader in itself; 2026.1's needs one beside it, and gets ours.
    pub fn ours_loads(&self) -> bool {
        self.release == Release::R2026_1
    }

    /// Where programs and reports of this mode are kept.
    pub fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// A program on this runtime, over the simulated driver.
    pub fn command(&self, seconds: u32, program: impl AsRef<OsStr>) -> Result<Command> {
        let (ours, stock) = (self.dist.lib(), self.venv.lib());
        let folders: &[&Path] = if self.ours_loads() { &[&ours, &stock] } else { &[&stock] };
        let mut command = process::unsteered(seconds, program);
        command.env("LD_LIBRARY_PATH", process::path_list(folders)?);
        command.env("UR_ADAPTERS_FORCE_LOAD", self.dist.library("libur_adapter_cuda.so.0"));
        command.env("UR_CUDA_LIBRARY", self.dist.library("libsimcuda.so"));
        // Kernels that come as SPIR-V.
        command.env("LD_PRELOAD", self.images()).env("UR_NVVM_LIBRARY", self.nvvm.join("lib/libnvvm.so.4"));
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        if self.unpooled {
            command.env("UR_USM_POOL", "0");
        }
        Ok(command)
    }

    /// Offers SPIR-V images to the device.
    fn images(&self) -> PathBuf {
        self.dist.library("libur_sycl_images.so")
    }

    /// The same for a program that compiles kernels.
    pub fn compiling(&self, seconds: u32, program: impl AsRef<OsStr>) -> Result<Command> {
        let mut command = self.command(seconds, program)?;
        command.env("LD_PRELOAD", process::path_list(&[&self.toolchain.shim, &self.images()])?);
        command.env("UR_SYCL_TOOLCHAIN", &self.toolchain.root).env("UR_SYCL_CUDA", &self.toolchain.cuda);
        // What the compiler makes of SYCL's header is the same for every program and takes a third of its time.
        command.env("UR_SYCL_PCH", self.scratch.join("pch"));
        Ok(command)
    }

    /// What is wrong with the loader and the adapter that a program had mapped, by its lines "mapped: PATH".
    pub fn not_ours(&self, printed: &str) -> Option<String> {
        let mapped: Vec<_> = printed.lines().filter_map(|line| line.strip_prefix("mapped: ")).collect();
        let loaders: Vec<_> = mapped.iter().filter(|path| path.contains("/libur_loader.so")).collect();
        let loader = self.dist.library("libur_loader.so.0");
        let right =
            if self.ours_loads() { loaders.len() == 1 && Path::new(loaders[0]) == loader } else { loaders.is_empty() };
        let adapter = self.dist.library("libur_adapter_cuda.so.0");
        let adapted = mapped.iter().any(|path| Path::new(path) == adapter);
        (!right || !adapted).then(|| format!("it ran on another loader or adapter: {}", mapped.join(", ")))
    }

    /// The compiler's files that must travel to another machine: name there, and file here.
    pub fn travelling(&self) -> Vec<(PathBuf, PathBuf)> {
        let builtins = Path::new(builtins_name(self.release).trim_start_matches('/'));
        let mut list = vec![
            ("toolchain.so".into(), self.toolchain.shim.clone()),
            (Path::new("toolchain").join(builtins), self.toolchain.root.join(builtins)),
        ];
        for file in ["nvvm/libdevice/libdevice.10.bc", "bin/README", "include/README"] {
            list.push((Path::new("cuda").join(file), self.toolchain.cuda.join(file)));
        }
        list
    }
}

impl Toolchain {
    fn prepare(workspace: &Workspace, release: Release, venv: &Venv) -> Result<Self> {
        let folder = workspace.target().join("sycl-toolchain");
        let root = folder.join(release.name());
        let name = builtins_name(release);
        let resource = format!("/sycl-jit-toolchain{name}");
        builtins::extract(&venv.lib().join("libsycl-jit.so"), &resource, &root.join(name.trim_start_matches('/')))?;

        let cuda = folder.join("cuda");
        python::unpack(
            &workspace.target().join("wheels"),
            LIBDEVICE_WHEEL,
            "/backends/nvidia/lib/",
            &cuda.join("nvvm/libdevice"),
        )?;
        // The compiler takes a folder for a toolkit if it has these two.
        for part in ["bin", "include"] {
            files::write(&cuda.join(part).join("README"), b"Only here because a CUDA toolkit has this folder.\n")?;
        }

        let source = workspace.path("conformance/sycl/toolchain.c");
        let shim = folder.join("toolchain.so");
        if files::outdated(&shim, &[&source]) {
            let mut cc = process::cc();
            cc.args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o"]);
            process::run(cc.arg(&shim).arg(&source).arg("-ldl"))?;
        }
        Ok(Toolchain { shim, root, cuda })
    }
}

/// Where the run-time compiler looks for SPIR-V builtins when it links for CUDA.
fn builtins_name(release: Release) -> &'static str {
    match release {
        Release::R2026_1 => "/lib/clang/22/lib/libclc/remangled-l64-signed_char.libspirv-nvptx64-nvidia-cuda.bc",
        Release::R2026_2 => "/lib/clang/23/lib/nvptx64-nvidia-cuda/libspirv.l64.signed_char.bc",
    }
}
