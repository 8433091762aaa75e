//! Putting files in place: only where they differ, and never halfway, so that a second run changes nothing and a
//! process that has the old file open keeps it whole.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::failure::{Context, Result};

/// Writes a file if its content differs, through a new file and a rename. Answers whether it wrote.
pub fn write(path: &Path, content: &[u8]) -> Result<bool> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(false);
    }
    make_parent(path)?;
    let fresh = beside(path);
    fs::write(&fresh, content).context(fresh.display())?;
    fs::rename(&fresh, path).context(path.display())?;
    Ok(true)
}

/// Copies a file and its permissions if its content differs.
pub fn copy(from: &Path, to: &Path) -> Result<bool> {
    let content = fs::read(from).context(from.display())?;
    if fs::read(to).is_ok_and(|old| old == content) {
        return Ok(false);
    }
    make_parent(to)?;
    let fresh = beside(to);
    fs::copy(from, &fresh).context(format!("{} to {}", from.display(), fresh.display()))?;
    fs::rename(&fresh, to).context(to.display())?;
    Ok(true)
}

/// Makes a symbolic link, in place of whatever file was there.
pub fn link(target: &str, path: &Path) -> Result {
    if fs::read_link(path).is_ok_and(|old| old == Path::new(target)) {
        return Ok(());
    }
    make_parent(path)?;
    let fresh = beside(path);
    let _ = fs::remove_file(&fresh);
    std::os::unix::fs::symlink(target, &fresh).context(fresh.display())?;
    fs::rename(&fresh, path).context(path.display())
}

/// Makes a folder, and takes out whatever was in it.
pub fn empty_folder(folder: &Path) -> Result {
    if folder.is_dir() {
        fs::remove_dir_all(folder).context(format!("{} cannot be emptied", folder.display()))?;
    }
    fs::create_dir_all(folder).context(format!("{} cannot be made", folder.display()))
}

/// Every file and link below a folder, relative to it, sorted. A folder that is not there has none.
pub fn list(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        let Ok(entries) = fs::read_dir(&next) else { continue };
        for entry in entries {
            let entry = entry.context(next.display())?;
            if entry.file_type().context(next.display())?.is_dir() {
                open.push(entry.path());
            } else if let Ok(below) = entry.path().strip_prefix(folder) {
                found.insert(below.to_path_buf());
            }
        }
    }
    Ok(found)
}

/// Removes the files of `folder` that are not in `keep` (relative paths).
pub fn keep_only(folder: &Path, keep: &BTreeSet<PathBuf>) -> Result {
    for file in list(folder)?.difference(keep) {
        let path = folder.join(file);
        fs::remove_file(&path).context(path.display())?;
    }
    Ok(())
}

/// Whether `product` is missing or older than one of its sources.
pub fn outdated(product: &Path, sources: &[&Path]) -> bool {
    let time = |path: &Path| fs::metadata(path).and_then(|meta| meta.modified()).ok();
    let Some(made) = time(product) else { return true };
    sources.iter().any(|source| time(source).is_none_or(|changed| changed >= made))
}

fn make_parent(path: &Path) -> Result {
    match path.parent() {
        Some(parent) => fs::create_dir_all(parent).context(parent.display()),
        None => Ok(()),
    }
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}
