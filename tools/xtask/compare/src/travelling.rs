//! What bundles for a machine without a network are made of: wheels for its Python, and libraries without their symbol names, packed
//! into one archive.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::support::failure::{Context, Result};
use xtask::support::python::REGISTRY_WAITS;
use xtask::support::{files, process};

/// The Python of the machines with a GPU; `UR_BUNDLE_PYTHON` names another, to try a bundle elsewhere.
const PYTHON: &str = "3.12";
const PLATFORMS: [&str; 5] = [
    "manylinux_2_28_x86_64",
    "manylinux_2_27_x86_64",
    "manylinux_2_17_x86_64",
    "manylinux2014_x86_64",
    "manylinux1_x86_64",
];

/// The version of Python that a bundle is for.
pub fn python() -> String {
    std::env::var("UR_BUNDLE_PYTHON").unwrap_or_else(|_| PYTHON.to_owned())
}

/// Has pip download into a folder, with words of its own and requirements. A folder that has them already stays as it is.
pub fn download(folder: &Path, words: &[&str]) -> Result {
    let mut stamp = folder.as_os_str().to_owned();
    stamp.push(".downloaded");
    let stamp = PathBuf::from(stamp);
    let wanted = words.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|downloaded| downloaded == wanted) {
        return Ok(());
    }
    files::keep_only(folder, &BTreeSet::new())?;
    let python = process::need(&["python3", "python"], "fetching wheels")?;
    let mut pip = process::limited(900, python);
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"]);
    pip.args(["--implementation=cp", "--python-version", &self::python()]);
    pip.args(PLATFORMS.map(|platform| format!("--platform={platform}")));
    process::run_again(pip.arg("--dest").arg(folder).args(words), &REGISTRY_WAITS)?;
    files::write(&stamp, wanted.as_bytes()).map(drop)
}

/// Puts a folder of what it holds in the place of each downloaded wheel, and no other folder: such pack better. Answers all their files.
pub fn unpack(downloads: &Path, folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let python = process::need(&["python3", "python"], "opening wheels")?;
    fs::create_dir_all(folder).context(folder.display())?;
    for entry in fs::read_dir(folder).context(folder.display())?.flatten() {
        if entry.path().is_dir() && !downloads.join(entry.file_name()).exists() {
            fs::remove_dir_all(entry.path()).context(entry.path().display())?;
        }
    }
    let mut unpacked = BTreeSet::new();
    for wheel in files::list(downloads)? {
        let tree = folder.join(&wheel);
        // Unpacked under another name first: a folder of the right name is whole.
        if !tree.is_dir() {
            let fresh = tree.with_extension("new");
            let mut unzip = process::limited(300, python);
            process::run(unzip.args(["-m", "zipfile", "-e"]).arg(downloads.join(&wheel)).arg(&fresh))?;
            fs::rename(&fresh, &tree).context(tree.display())?;
        }
        unpacked.extend(files::list(&tree)?.into_iter().map(|file| wheel.join(file)));
    }
    Ok(unpacked)
}

/// Copies a file, a library without its symbol names.
pub fn put(from: &Path, to: &Path) -> Result {
    if !files::outdated(to, &[from]) {
        return Ok(());
    }
    let start = fs::read(from).context(from.display())?;
    if !start.starts_with(b"\x7fELF") {
        return files::copy(from, to).map(drop);
    }
    fs::create_dir_all(to.parent().unwrap_or(to)).context(to.display())?;
    process::run(Command::new("strip").args(["--strip-all", "-o"]).arg(to).arg(from))
}

/// Packs a folder. The archive of the last time stays until the new one is whole.
pub fn pack(folder: &Path, archive: &Path) -> Result {
    let fresh = archive.with_extension("new");
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--use-compress-program=xz -T2 -9", "-cf"]).arg(&fresh);
    process::run(tar.arg("-C").arg(folder).arg("."))?;
    fs::rename(&fresh, archive).context(archive.display())
}
