//! The disk cache: results by their keys, in a folder of the user's.
//!
//! It never fails a build: whatever is wrong with folder or file means that nothing is kept there. Many processes may use it
//! at once, of several containers too; a file is written under a random name and then renamed, so that a reader sees all of it
//! or none. A reader takes files alone that belong to this user, that nobody else can write, and whose checksum is right.

mod entry;
mod evict;
mod place;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use rustix::rand::{GetRandomFlags, getrandom};

use crate::object::log;
use crate::program::spirv::Product;
use crate::program::spirv::key::Key;

/// How files of results end, code objects too.
const ENDING: &str = "ptx";
/// How files end that are being written.
const UNFINISHED: &str = "tmp";
/// A result's file is told to be in use this often at most.
const REFRESH: Duration = Duration::from_secs(24 * 60 * 60);
/// No result is larger.
const LARGEST: u64 = 256 << 20;

/// A folder of results.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    limit_bytes: u64,
    /// Set once a write has failed: the next would fail alike.
    full: AtomicBool,
}

/// The folder that the environment names, unless there is none to use.
#[must_use]
pub fn folder() -> Option<&'static Folder> {
    static FOLDER: OnceLock<Option<Folder>> = OnceLock::new();
    FOLDER
        .get_or_init(|| match place::find() {
            Ok(place) => place.map(|place| Folder::new(place.folder, place.limit_bytes)),
            Err(reason) => {
                log::warning(|| format!("compiled SPIR-V is not kept: {reason}"));
                None
            }
        })
        .as_ref()
}

impl Folder {
    fn new(path: PathBuf, limit_bytes: u64) -> Self {
        Self { path, limit_bytes, full: AtomicBool::new(false) }
    }

    fn file(&self, key: &Key) -> PathBuf {
        self.path.join(format!("{key}.{ENDING}"))
    }

    /// The result of that key, if it is there and whole.
    #[must_use]
    pub fn load(&self, key: &Key) -> Option<Product> {
        let path = self.file(key);
        let mut file = open_own(&path).ok()?;
        let data = file.metadata().ok()?;
        let mut bytes = Vec::with_capacity(usize::try_from(data.size()).ok()?.saturating_add(1));
        (&mut file).take(LARGEST).read_to_end(&mut bytes).ok()?;
        let Some(product) = entry::read(&bytes) else {
            log::warning(|| format!("{}: the file is damaged and is made anew", path.display()));
            let _ = fs::remove_file(&path);
            return None;
        };
        let age = data.modified().ok().and_then(|changed| SystemTime::now().duration_since(changed).ok());
        if age.is_some_and(|age| age > REFRESH) {
            // What is used stays longest; a file that cannot be told so goes earlier.
            let _ = file.set_modified(SystemTime::now());
        }
        Some(product)
    }

    /// Keeps a result. Whether that worked is nobody's business but the log's.
    pub fn store(&self, key: &Key, product: &Product) {
        if self.full.load(Ordering::Relaxed) {
            return;
        }
        let bytes = entry::write(product);
        let size = bytes.len() as u64;
        if size > self.limit_bytes {
            return;
        }
        if let Err(error) = self.write(key, &bytes) {
            if !self.full.swap(true, Ordering::Relaxed) {
                log::warning(|| format!("compiled SPIR-V is not kept in {}: {error}", self.path.display()));
            }
            return;
        }
        // Nobody counts what all processes write: each looks after so many bytes of its own, and keys say when.
        let share = (self.limit_bytes / 16).max(1);
        if key.spread() % share < size {
            evict::down_to(&self.path, self.limit_bytes);
        }
    }

    fn write(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        let unfinished = self.path.join(format!("{key}.{:016x}.{UNFINISHED}", random()?));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let mut file = options.open(&unfinished)?;
        let written = file.write_all(bytes).and_then(|()| {
            drop(file);
            fs::rename(&unfinished, self.file(key))
        });
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        written
    }
}

/// What tells an unfinished file from all others. A process's number does not: processes of containers that share the folder have
/// the same ones, and so has a container that is started again.
fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    // The kernel gives so few bytes whole or not at all.
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(u64::from_ne_bytes(bytes))
}

/// Opens a regular file of this user's that nobody else can write. Links are not followed, and pipes do not block.
fn open_own(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let data = file.metadata()?;
    if !data.is_file() || !is_own(&data) || data.size() > LARGEST {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(file)
}

/// Whether it is this user's and nobody else can write it.
fn is_own(data: &fs::Metadata) -> bool {
    data.uid() == rustix::process::geteuid().as_raw() && data.mode() & 0o022 == 0
}

#[cfg(test)]
mod tests;
