//! The programs of `loader/examples`, built as a user of the installation builds them.

use std::path::PathBuf;

use super::{Dist, compiler_flags};
use crate::support::failure::{Failure, Result};
use crate::support::workspace::Workspace;
use crate::support::{files, process};

/// Builds `loader/examples/NAME.c` with the flags that the installation names.
pub fn build(workspace: &Workspace, dist: &Dist, name: &str) -> Result<PathBuf> {
    let source = workspace.path(&format!("loader/examples/{name}.c"));
    let installation = dist.folder().file_name().unwrap_or_default();
    let program = workspace.target().join(format!("examples/{}/{name}", installation.display()));
    let (flags, from) = compiler_flags(dist.folder())?;
    println!("flags from {from}: {}", flags.join(" "));
    if let Some(folder) = program.parent() {
        std::fs::create_dir_all(folder).map_err(|error| Failure::new(format!("{}: {error}", folder.display())))?;
    }
    if files::outdated(&program, &[&source, &dist.library("libur_loader.so.0")]) {
        process::run(
            process::cc()
                .args(["-std=c99", "-Wall", "-Wextra", "-Werror"])
                .arg(&source)
                .args(flags)
                .arg("-o")
                .arg(&program),
        )?;
    }
    Ok(program)
}
