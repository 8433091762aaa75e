//! The dynamic linker's cache, `/etc/ld.so.cache`: what lies in the folders that `/etc/ld.so.conf` names. Its format is glibc's
//! (`elf/cache.c`, `sysdeps/generic/dl-cache.h`), the same since 1999.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

const FILE: &str = "/etc/ld.so.cache";
/// How the table begins. An older one may stand before it, which older linkers read.
const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
/// Magic number, number of entries, and what is not needed here.
const HEAD: usize = 48;
/// Flags, name and file as offsets, a version of the system's, and the processors that it is for.
const ENTRY: usize = 24;
/// Libraries of this machine's, by an entry's flags.
const FITS: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0x0303)
} else if cfg!(target_arch = "aarch64") {
    Some(0x0a03)
} else {
    None
};

/// The file that the cache has for a name, if it is still there.
pub(super) fn file_of(name: &OsStr) -> Option<PathBuf> {
    read(&fs::read(FILE).ok()?, name.as_bytes()).filter(|file| file.is_file())
}

fn read(bytes: &[u8], name: &[u8]) -> Option<PathBuf> {
    let start = bytes.windows(MAGIC.len()).position(|part| part == MAGIC)?;
    let table = &bytes[start..];
    let count = number(table, MAGIC.len())? as usize;
    let mut entries = table.get(HEAD..)?.chunks_exact(ENTRY).take(count);
    let fits = |entry: &&[u8]| {
        let is_plain = entry[16..] == [0; 8];
        number(entry, 0) == FITS && is_plain && string(table, entry, 4) == Some(name)
    };
    let file = string(table, entries.find(fits)?, 8)?;
    Some(PathBuf::from(OsString::from_vec(file.to_vec())))
}

/// The string of the table whose offset stands there in an entry.
fn string<'t>(table: &'t [u8], entry: &[u8], at: usize) -> Option<&'t [u8]> {
    table.get(number(entry, at)? as usize..)?.split(|byte| *byte == 0).next()
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of entries: flags, processors, name and file.
    fn table(entries: &[(u32, u64, &str, &str)]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend((entries.len() as u32).to_ne_bytes());
        bytes.resize(HEAD, 0);
        let (mut strings, first) = (Vec::new(), HEAD + ENTRY * entries.len());
        for (flags, processors, name, file) in entries {
            let [name, file] = [name, file].map(|text| {
                let at = (first + strings.len()) as u32;
                strings.extend([text.as_bytes(), b"\0"].concat());
                at
            });
            for number in [*flags, name, file, 0] {
                bytes.extend(number.to_ne_bytes());
            }
            bytes.extend(processors.to_ne_bytes());
        }
        bytes.extend(strings);
        bytes
    }

    #[test]
    fn a_name_has_the_file_of_the_first_plain_entry_for_this_machine() {
        let Some(ours) = FITS else { return };
        let entries = [
            (ours, 0, "liba.so", "/a/liba.so"),
            (3, 0, "libb.so.2", "/32/libb.so.2"),
            (ours, 1 << 62, "libb.so.2", "/newest/libb.so.2"),
            (ours, 0, "libb.so.2", "/b/libb.so.2"),
            (ours, 0, "libb.so.2", "/c/libb.so.2"),
        ];
        let new = table(&entries);
        // As ldconfig wrote it until 2020: behind the older table.
        let both = [b"ld.so-1.7.0\0\x01\0\0\0 older entries and strings".as_slice(), &new].concat();
        for bytes in [new, both] {
            assert_eq!(read(&bytes, b"liba.so"), Some("/a/liba.so".into()));
            assert_eq!(read(&bytes, b"libb.so.2"), Some("/b/libb.so.2".into()));
            assert_eq!(read(&bytes, b"libb.so"), None);
        }
    }

    #[test]
    fn a_cache_that_is_cut_off_or_wrong_is_none_or_has_no_such_file() {
        let Some(ours) = FITS else { return };
        let whole = table(&[(ours, 0, "liba.so", "/a/liba.so")]);
        for length in 0..whole.len() {
            let _ = read(&whole[..length], b"liba.so");
            let mut wrong = whole.clone();
            wrong[length] = 0xff;
            let _ = read(&wrong, b"liba.so");
        }
        assert_eq!(read(b"", b"liba.so"), None);
    }

    #[test]
    fn this_machines_cache_has_the_c_library() {
        if fs::metadata(FILE).is_err() || FITS.is_none() {
            println!("skipped: {FILE} is not here");
            return;
        }
        let file = file_of(OsStr::new("libc.so.6")).expect("every program needs it");
        assert!(file.is_absolute(), "{}", file.display());
    }
}
