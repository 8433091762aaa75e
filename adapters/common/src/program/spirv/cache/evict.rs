//! Keeping the folder below its limit: the files that were not used for longest go.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{ENDING, UNFINISHED};

/// Nobody writes one file for so long: who began it has died.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// A file of a result.
struct Entry {
    used: SystemTime,
    size_bytes: u64,
    path: PathBuf,
}

/// Removes files until an eighth of the limit is free. What other processes have removed meanwhile is no error.
pub(super) fn down_to(folder: &Path, limit_bytes: u64) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut kept = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(data) = entry.metadata() else { continue };
        let used = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        match path.extension().and_then(|ending| ending.to_str()) {
            Some(ENDING) => kept.push(Entry { used, size_bytes: data.len(), path }),
            Some(UNFINISHED) if used.elapsed().is_ok_and(|age| age > ABANDONED) => drop(fs::remove_file(&path)),
            _ => {}
        }
    }
    let mut total: u64 = kept.iter().map(|file| file.size_bytes).sum();
    if total <= limit_bytes {
        return;
    }
    kept.sort_by_key(|file| file.used);
    for file in kept {
        if total <= limit_bytes - limit_bytes / 8 {
            return;
        }
        let _ = fs::remove_file(&file.path);
        total -= file.size_bytes;
    }
}
