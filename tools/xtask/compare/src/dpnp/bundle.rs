//! `bundle-dpnp`: what a machine with a GPU and without a network needs for dpnp: its wheels and ours, the SYCL runtime's library, and
//! stand-ins for oneMKL's. `conformance/sycl/dpnp/gpu/run_on_gpu.py` installs them there and runs dpnp's story, suite and speed. All
//! of it travels in one call, so of Intel's packages only what dpnp's modules load is taken.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use xtask::commands::{dist, wheel};
use xtask::fail;
use xtask::support::failure::{Context, Result};
use xtask::support::workspace::Workspace;
use xtask::support::{files, process, python};

use super::stand_ins::{self, Needs};
use super::{DPCTL, DPNP, RELEASE, RUNTIME};
use crate::travelling;

/// Installed whole. Each is named: pip would bring what dpnp depends on, 3 GB of it oneMKL.
const WHEELS: [&str; 9] =
    [DPNP, DPCTL, "numpy==2.4.6", "pytest", "iniconfig", "packaging", "pluggy", "pygments", "pip"];
const COMPILER_RUNTIME: &str = "intel-cmplr-lib-rt==2026.2.0";
/// What every machine has.
const SYSTEM: [&str; 8] = [
    "ld-linux-x86-64.so",
    "libc.so",
    "libdl.so",
    "libgcc_s.so",
    "libm.so",
    "libpthread.so",
    "libstdc++.so",
    "librt.so",
];
const SOURCES: &str = "conformance/sycl/dpnp";
/// With the checkout it must stay below 64 MiB.
const LARGEST: u64 = 44 << 20;

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    if !arguments.is_empty() {
        fail!("it takes no arguments");
    }
    let root = workspace.target().join("dpnp-bundle");
    let folder = root.join("all");
    let mut kept = wheels(workspace, &root, &folder)?;
    kept.extend(libraries(workspace, &root, &folder)?);
    kept.extend(own(workspace, &root, &folder)?);
    files::keep_only(&folder, &kept)?;

    let carry = workspace.path(".carry-dpnp");
    fs::create_dir_all(&carry).context(carry.display())?;
    let archive = PathBuf::from("all.tar.xz");
    travelling::pack(&folder, &carry.join(&archive))?;
    let mut carried = BTreeSet::from([archive]);
    for script in ["report.py", "run_on_gpu.py", "suite.py"] {
        files::copy(&workspace.path(SOURCES).join("gpu").join(script), &carry.join(script))?;
        carried.insert(script.into());
    }
    files::keep_only(&carry, &carried)?;
    let sizes = carried.iter().map(|file| fs::metadata(carry.join(file)).map_or(0, |meta| meta.len()));
    let total: u64 = sizes.sum();
    println!(
        "{}: {:.1} MB; there: python3 .carry-dpnp/run_on_gpu.py story gaps speed suite",
        carry.display(),
        total as f64 / 1e6
    );
    if total > LARGEST { fail!("that is more than travels ({LARGEST} bytes)") } else { Ok(()) }
}

/// The wheels: ours as it is, the others as folders.
fn wheels(workspace: &Workspace, root: &Path, folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let [(_, ours)] = &wheel::make(workspace, &[RELEASE])?[..] else { fail!("there is one wheel of a release") };
    let downloads = root.join(format!("downloads-{}", travelling::python()));
    travelling::download(&downloads, &[&["--no-deps"], &WHEELS[..]].concat())?;
    let below = Path::new("wheels");
    let mut kept: BTreeSet<_> =
        travelling::unpack(&downloads, &folder.join(below))?.into_iter().map(|file| below.join(file)).collect();
    let name = below.join(ours.file_name().unwrap_or_default());
    files::copy(ours, &folder.join(&name))?;
    kept.insert(name);
    Ok(kept)
}

/// What the modules of dpnp and dpctl load besides, and what that loads.
fn libraries(workspace: &Workspace, root: &Path, folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let intel = root.join("intel");
    for (requirement, part) in [(RUNTIME, "runtime"), (COMPILER_RUNTIME, "compiler")] {
        python::unpack(&workspace.target().join("wheels"), requirement, ".data/data/lib/", &intel.join(part))?;
    }
    let needs = Needs::of(&folder.join("wheels"))?;
    let stands = root.join("stand-ins");
    let mut kept = BTreeSet::new();
    for name in stand_ins::build(&needs, &stands)? {
        let to = Path::new("lib").join(&name);
        travelling::put(&stands.join(&name), &folder.join(&to))?;
        kept.insert(to);
    }
    let present = files::list(&folder.join("wheels"))?;
    let mut open: Vec<String> = needs.others().map(str::to_owned).collect();
    while let Some(name) = open.pop() {
        let system = SYSTEM.iter().any(|start| name.starts_with(start));
        let to = Path::new("lib").join(&name);
        if system || kept.contains(&to) || present.iter().any(|file| file.ends_with(&name)) {
            continue;
        }
        let Some(from) =
            ["runtime", "compiler"].map(|part| intel.join(part).join(&name)).into_iter().find(|file| file.exists())
        else {
            fail!("something in the bundle needs {name}, which none of its packages has");
        };
        files::copy(&from, &folder.join(&to))?;
        open.extend(Needs::of_library(&from)?.others().map(str::to_owned));
        kept.insert(to);
    }
    Ok(kept)
}

/// The simulated driver, the libraries that count products, and what runs there.
fn own(workspace: &Workspace, root: &Path, folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let dist = dist::make(workspace, RELEASE)?;
    let sources = workspace.path(SOURCES);
    let mut wanted = vec![
        ("expectations.toml".into(), sources.join("expectations.toml")),
        ("sim/libsimcuda.so".into(), dist.library("libsimcuda.so")),
        ("python/record.py".into(), workspace.path("conformance/sycl/record.py")),
        ("python/test_gaps.py".into(), sources.join("test_gaps.py")),
    ];
    for script in ["portion.py", "speed.py", "worker.py"] {
        wanted.push((Path::new("python").join(script), sources.join("gpu").join(script)));
    }
    for (to, source) in [("lib/libcounting_cublas.so", "gpu/counting_cublas.c"), ("sim/libsimcublas.so", "cublas.c")] {
        let (library, source) = (root.join("built").join(to), sources.join(source));
        if files::outdated(&library, &[&source]) {
            fs::create_dir_all(library.parent().unwrap_or(root)).context(library.display())?;
            let mut cc = process::cc();
            cc.args(["-shared", "-fPIC", "-O2", "-std=c11", "-Wall", "-Wextra", "-Werror", "-o"]);
            process::run(cc.arg(&library).arg(&source).arg("-ldl"))?;
        }
        wanted.push((to.into(), library));
    }
    let mut kept = BTreeSet::new();
    for (to, from) in wanted {
        travelling::put(&from, &folder.join(&to))?;
        kept.insert(to);
    }
    Ok(kept)
}
