//! What several test binaries share: the modules of these folders.

use std::path::{Path, PathBuf};

/// `tests/FOLDER`.
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// The bytes of `tests/FOLDER/NAME.spv`.
pub fn module(folder_name: &str, name: &str) -> Vec<u8> {
    let file = folder(folder_name).join(format!("{name}.spv"));
    std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The names of all modules of a folder, sorted.
#[allow(dead_code, reason = "not every binary walks a folder")]
pub fn names(folder_name: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder(folder_name)).unwrap().map(|entry| entry.unwrap().path());
    let modules = entries.filter(|path| path.extension().is_some_and(|extension| extension == "spv"));
    let mut names: Vec<String> = modules.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    assert!(!names.is_empty(), "{folder_name} has no modules");
    names
}
