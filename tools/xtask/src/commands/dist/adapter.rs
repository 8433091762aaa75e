//! Adapters' final links: from the one static library of an adapter, which is for every release, the shared object of each.
//! What is linked is checked: one with the wrong exports is never handed on.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::cargo::Package;
use crate::support::failure::{Context, Result};
use crate::support::workspace::{Release, Workspace};
use crate::support::{files, process, symbols};

/// How the name of what adapters are linked from ends.
const ENDING: &str = "_library";

/// An adapter, by the package of its static library.
pub struct Adapter {
    /// The package.
    pub package: Package,
    /// `ur_adapter_cuda`
    name: String,
}

/// What links; by default the system's C compiler.
#[derive(Default)]
pub struct Linker {
    /// The variables of `adapters/link.sh` that say so.
    pub variables: Vec<(&'static str, String)>,
}

impl Adapter {
    /// The adapter whose static library a package is, if it is one's.
    pub fn of(package: Package) -> Option<Self> {
        let name = package.archive.as_deref()?.strip_suffix(ENDING)?.to_owned();
        Some(Self { package, name })
    }

    /// The static library's file name.
    pub fn file(&self) -> String {
        format!("lib{}{ENDING}.a", self.name)
    }

    /// What loaders look for.
    pub fn soname(&self) -> String {
        format!("lib{}.so.0", self.name)
    }

    /// Links the shared object of a release, unless that is there and newer, in a folder of its own beside the static library.
    pub fn link(&self, workspace: &Workspace, release: Release, archive: &Path, linker: &Linker) -> Result<PathBuf> {
        let recipe = workspace.path("adapters/link.sh");
        let folder = archive.with_file_name(release.name());
        let library = folder.join(self.soname());
        if files::outdated(&library, &[archive, &recipe]) {
            std::fs::create_dir_all(&folder).context(folder.display())?;
            let mut link = Command::new("sh");
            link.arg(&recipe).arg(archive).arg(&library).arg(release.name());
            process::run(link.envs(linker.variables.iter().map(|(name, value)| (name, value))))?;
        }
        symbols::check_adapter(&library, &workspace.version_script(release))?;
        Ok(library)
    }
}
