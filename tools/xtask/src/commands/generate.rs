//! `generate [--check]`: hands over to the generator. It runs it as a process and never links it: this program must build
//! when the generator's products, or the generator itself, are broken.

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

/// Writes everything that follows from the specification, or compares it with what is there.
pub fn generate(workspace: &Workspace, check: bool) -> Result {
    let mut command = cargo::cargo(workspace, Release::R2026_2);
    command.args(["run", "--quiet", "--package", "generator", "--", "--root"]).arg(workspace.root());
    if check {
        command.arg("--check");
    }
    process::run(&mut command)
}
