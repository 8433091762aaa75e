//! `hip-headers`: compares what the HIP adapter and HIP over CUDA believe of HIP's structures and constants with the public
//! headers of two ROCm generations: Debian's package and the ones that PyPI's `triton` carries. Only headers are taken.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::fail;
use xtask::support::failure::{Context, Result};
use xtask::support::workspace::Workspace;
use xtask::support::{cargo, process, python};

/// Carries the headers of ROCm 7.1.
const WHEEL: &str = "triton==3.6.0";
/// Debian 12's has ROCm 5.2.
const DEBIAN: &str = "libamdhip64-dev";

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    if !arguments.is_empty() {
        fail!("it takes no arguments");
    }
    let folder = workspace.target().join("hip-headers");
    let newer = folder.join("7");
    python::unpack(&workspace.target().join("wheels"), WHEEL, "/backends/amd/include/", &newer)?;
    let older = debian(&folder.join("5"))?;
    if older.is_none() {
        println!("ROCm 5.2's headers are left out: apt-get cannot download {DEBIAN} here");
    }
    let suites: [&[&str]; 2] =
        [&["-p", "ur-adapter-hip", "--lib", "header_tests"], &["-p", "hip-on-cuda", "--test", "headers"]];
    for suite in suites {
        let mut tests = cargo::cargo(workspace);
        tests.arg("test").args(suite).args(["--", "--nocapture"]);
        tests.env("UR_HIP_HEADERS_7", &newer).env("HIP_HEADERS_ROCM7", &newer);
        if let Some(older) = &older {
            tests.env("UR_HIP_HEADERS_5", older).env("HIP_HEADERS_ROCM5", older);
        }
        process::run(&mut tests)?;
    }
    Ok(())
}

/// The include folder of Debian's package, unpacked and not installed; none where there is no apt-get or package.
fn debian(folder: &Path) -> Result<Option<PathBuf>> {
    let include = folder.join("usr/include");
    if include.join("hip").is_dir() {
        return Ok(Some(include));
    }
    if !process::exists("apt-get") || !process::exists("dpkg") {
        return Ok(None);
    }
    fs::create_dir_all(folder).context(folder.display())?;
    let (status, _) =
        process::outcome(process::limited(300, "apt-get").args(["download", DEBIAN]).current_dir(folder))?;
    let package = fs::read_dir(folder)
        .context(folder.display())?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "deb"));
    let (true, Some(package)) = (status.success(), package) else { return Ok(None) };
    process::run(Command::new("dpkg").arg("-x").arg(package).arg(folder))?;
    Ok(include.join("hip").is_dir().then_some(include))
}
