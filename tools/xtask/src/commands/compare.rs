//! The commands of `xtask-compare` (`compare/` beside this crate): what is measured, and what is compared with others' work.
//! They are run as a program of their own, so that building and testing need none of what they are made of.

use std::process::Command;

use crate::support::cargo;
use crate::support::failure::Result;
use crate::support::process;
use crate::support::workspace::Workspace;

/// Runs one of them to its end.
pub fn run(workspace: &Workspace, name: &str, arguments: &[String]) -> Result {
    process::run(command(workspace).arg(name).args(arguments))
}

/// The program, to which a command's name and words are yet to be given.
pub fn command(workspace: &Workspace) -> Command {
    let mut command = cargo::cargo(workspace);
    command.args(["run", "--quiet", "--package", "xtask-compare", "--"]);
    command
}
