//! Calling cargo and finding what it built. Paths of products come from cargo's own messages, never from a guess.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::failure::{Context, Failure, Result};
use super::process;
use super::workspace::{Release, Workspace};

/// What a build left behind.
#[derive(Default)]
pub struct Built {
    files: BTreeMap<String, PathBuf>,
    tests: BTreeMap<String, PathBuf>,
}

impl Built {
    /// The product of that file name.
    pub fn file(&self, name: &str) -> Result<&Path> {
        match self.files.get(name) {
            Some(path) => Ok(path),
            None => Err(Failure::new(format!("cargo built no `{name}`"))),
        }
    }

    /// All test binaries, by the name of their target.
    pub fn tests(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.tests.iter().map(|(name, path)| (name.as_str(), path.as_path()))
    }
}

/// Cargo, in the checkout.
pub fn cargo(workspace: &Workspace) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace.root()).env("CARGO_TARGET_DIR", workspace.cargo_target());
    command
}

/// The arguments that select packages.
pub fn select(packages: &[&Package]) -> Vec<String> {
    packages.iter().flat_map(|package| ["--package".to_owned(), package.name.clone()]).collect()
}

/// Runs a cargo command that builds, and collects what it names as built.
pub fn build(command: &mut Command) -> Result<Built> {
    let mut built = Built::default();
    command.arg("--message-format=json-render-diagnostics");
    process::follow(command, |line| {
        let Ok(message) = serde_json::from_str::<Value>(line) else { return };
        if message["reason"] == "compiler-artifact" {
            collect(&message, &mut built);
        }
    })?;
    Ok(built)
}

/// A package of the workspace.
pub struct Package {
    /// Its name.
    pub name: String,
    /// The folder of its manifest.
    pub folder: PathBuf,
    /// Name of its dynamic library as cargo builds it, without `lib` and ending.
    pub library: Option<String>,
    /// The same of its static library, which something is linked from.
    pub archive: Option<String>,
    /// Names of its programs.
    pub programs: Vec<String>,
    /// The release that it is a loader for; all else is for every release.
    pub release: Option<Release>,
}

impl Package {
    fn read(package: &Value) -> Option<Self> {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let named = |kind: &str| -> Vec<String> {
            let targets = list(&package["targets"]).into_iter();
            let wanted = targets.filter(|target| list(&target["kind"]).iter().any(|k| k == kind));
            wanted.filter_map(|target| Some(target["name"].as_str()?.to_owned())).collect()
        };
        let folder = Path::new(package["manifest_path"].as_str()?).parent()?.to_path_buf();
        let release =
            Release::ALL.into_iter().find(|release| folder.ends_with(Path::new("libraries").join(release.name())));
        Some(Package {
            name: package["name"].as_str()?.to_owned(),
            library: named("cdylib").pop(),
            archive: named("staticlib").pop(),
            programs: named("bin"),
            release,
            folder,
        })
    }
}

/// The workspace's packages, by folder.
pub fn packages(workspace: &Workspace) -> Result<Vec<Package>> {
    let mut command = cargo(workspace);
    let printed = process::capture(command.args(["metadata", "--no-deps", "--format-version=1"]))?;
    let metadata: Value = serde_json::from_str(&printed.stdout).context("cargo metadata")?;
    let found = metadata["packages"].as_array().into_iter().flatten().filter_map(Package::read);
    let mut packages: Vec<_> = found.collect();
    packages.sort_by(|a, b| a.folder.cmp(&b.folder));
    Ok(packages)
}

fn collect(message: &Value, built: &mut Built) {
    if message["profile"]["test"] == true {
        if let (Some(name), Some(path)) = (message["target"]["name"].as_str(), message["executable"].as_str()) {
            built.tests.insert(name.to_owned(), path.into());
        }
        return;
    }
    for path in message["filenames"].as_array().into_iter().flatten().filter_map(Value::as_str).map(PathBuf::from) {
        if let Some(name) = path.file_name().and_then(|name| name.to_str()) {
            built.files.insert(name.to_owned(), path);
        }
    }
}
