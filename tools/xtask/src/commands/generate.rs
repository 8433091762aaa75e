//! `generate [--check]`: hands over to the generator. It runs it as a process and never links it: this program must build
//! when the generator's products, or the generator itself, are broken.

use std::collections::BTreeSet;

use crate::fail;
use crate::support::failure::Result;
use crate::support::workspace::{Release, Workspace};
use crate::support::{cargo, process};

/// The command.
pub fn run(workspace: &Workspace, arguments: &[String]) -> Result {
    let check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => fail!("it takes `--check` and nothing else"),
    };
    generate(workspace, check)
}

/// What the project's own extensions add to a release's headers: names that oneAPI's do not have.
pub fn project_names(workspace: &Workspace, release: Release) -> Result<BTreeSet<String>> {
    let mut command = cargo::cargo(workspace);
    command.args(["run", "--quiet", "--package", "generator", "--", "--root"]).arg(workspace.root());
    command.args(["--project-names", release.name()]);
    Ok(process::capture(&mut command)?.stdout.lines().map(str::to_owned).collect())
}

/// Writes everything that follows from the specification and the engine's map, or compares it with what is there.
pub fn generate(workspace: &Workspace, check: bool) -> Result {
    let mut command = cargo::cargo(workspace);
    command.args(["run", "--quiet", "--package", "generator", "--", "--root"]).arg(workspace.root());
    if check {
        command.arg("--check");
    }
    process::run(&mut command)
}
