//! Calling cargo and finding what it built. Paths of products come from cargo's own messages, never from a guess.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::failure::{Failure, Result};
use super::process;
use super::workspace::{Release, Workspace};

/// What a build left behind, by file name.
pub struct Built(BTreeMap<String, PathBuf>);

impl Built {
    /// The product of that file name.
    pub fn file(&self, name: &str) -> Result<&Path> {
        match self.0.get(name) {
            Some(path) => Ok(path),
            None => Err(Failure::new(format!("cargo built no `{name}`"))),
        }
    }

    /// All products, by file name.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.0.iter().map(|(name, path)| (name.as_str(), path.as_path()))
    }
}

/// Cargo, in the checkout, building for a release.
pub fn cargo(workspace: &Workspace, release: Release) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace.root()).env("CARGO_TARGET_DIR", workspace.cargo_target(release));
    command
}

/// The arguments that select a release in these packages.
pub fn features(release: Release, packages: &[&str]) -> Vec<String> {
    match release.feature() {
        None => Vec::new(),
        Some(feature) => {
            let list: Vec<_> = packages.iter().map(|package| format!("{package}/{feature}")).collect();
            vec!["--features".to_owned(), list.join(",")]
        }
    }
}

/// Runs a cargo command that builds, and collects what it names as built. With tests, a test binary goes by the name of
/// its target.
pub fn build(command: &mut Command) -> Result<Built> {
    let mut built = BTreeMap::new();
    command.arg("--message-format=json-render-diagnostics");
    process::follow(command, |line| {
        let Ok(message) = serde_json::from_str::<Value>(line) else { return };
        if message["reason"] == "compiler-artifact" {
            collect(&message, &mut built);
        }
    })?;
    Ok(Built(built))
}

fn collect(message: &Value, built: &mut BTreeMap<String, PathBuf>) {
    if message["profile"]["test"] == true {
        if let (Some(name), Some(path)) = (message["target"]["name"].as_str(), message["executable"].as_str()) {
            built.insert(name.to_owned(), path.into());
        }
        return;
    }
    for path in message["filenames"].as_array().into_iter().flatten().filter_map(Value::as_str).map(PathBuf::from) {
        if let Some(name) = path.file_name().and_then(|name| name.to_str()) {
            built.insert(name.to_owned(), path);
        }
    }
}
