//! `planted`: an installation whose adapters have bugs planted in them (feature `mutation`, one chosen by `UR_MUTATION`),
//! for the model of the conformance suite to show that it finds them. It lies beside the true one and is never shipped.

use std::path::PathBuf;
use std::process::Command;

use xtask::commands::dist::adapter::{Adapter, Linker};
use xtask::commands::dist::{self, Dist};
use xtask::fail;
use xtask::support::failure::Result;
use xtask::support::workspace::{Release, Workspace};
use xtask::support::{cargo, files};

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    if !arguments.is_empty() {
        fail!("it takes no arguments");
    }
    let dist = dist::make(workspace, Release::R2026_2)?;
    let folder = make(workspace, &dist)?;
    println!("{}: UR_MUTATION names the bug; see adapters/common/src/sync/mutation.rs", folder.display());
    Ok(())
}

/// A copy of an installation with planted adapters.
fn make(workspace: &Workspace, dist: &Dist) -> Result<PathBuf> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace.root()).env("CARGO_TARGET_DIR", workspace.target().join("planted"));
    command.arg("build");
    let adapters: Vec<_> = cargo::packages(workspace)?.into_iter().filter_map(Adapter::of).collect();
    for Adapter { package, .. } in &adapters {
        command.args(["--package", &package.name, "--features", &format!("{}/mutation", package.name)]);
    }
    let built = cargo::build(&mut command)?;
    let folder = workspace.planted();
    for file in files::list(dist.folder())? {
        // What a planted adapter takes the place of is put there below.
        if !file.to_string_lossy().contains("libur_adapter_") {
            files::copy(&dist.folder().join(&file), &folder.join(&file))?;
        }
    }
    for adapter in &adapters {
        let archive = built.file(&adapter.file())?;
        let library = adapter.link(workspace, Release::R2026_2, archive, &Linker::default())?;
        files::copy(&library, &folder.join("lib").join(adapter.soname()))?;
    }
    Ok(folder)
}
