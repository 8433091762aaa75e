//! Takes a file out of `libsycl-jit.so`, which carries its compiler's files as entries of a table: address and length of
//! the name, address and length of the content. It reads the library as a file and never loads it; whatever it cannot
//! place is an error and no guess.

use std::fs;
use std::path::Path;

use xtask::fail;
use xtask::support::failure::{Context, Result};
use xtask::support::files;

use crate::elf::Library;

/// What bitcode begins with.
const BITCODE: &[u8] = b"BC\xc0\xde";

/// Writes the resource of that name to a file, unless it lies there already.
pub fn extract(library: &Path, name: &str, to: &Path) -> Result {
    if !files::outdated(to, &[library]) {
        return Ok(());
    }
    let bytes = fs::read(library).context(library.display())?;
    let content = Library::read(&bytes).and_then(|from| resource(&from, name)).context(library.display())?;
    if !content.starts_with(BITCODE) {
        fail!("{}: the resource {name} is no bitcode", library.display());
    }
    println!("{} out of {}: {} bytes", to.display(), library.display(), content.len());
    files::write(to, content).map(drop)
}

/// The content of the entry whose name this is.
fn resource<'a>(library: &Library<'a>, name: &str) -> Result<&'a [u8]> {
    for &[entry, name_at] in library.pointers() {
        let Ok(start) = library.offset(entry) else { continue };
        if library.word(start + 8).ok() != Some(name.len() as u64) {
            continue;
        }
        let named = library.offset(name_at).and_then(|at| library.part(at, name.len() as u64));
        if let (Some(content), Ok(found)) = (library.pointer_at(entry + 16), named)
            && found == name.as_bytes()
        {
            return library.part(library.offset(content)?, library.word(start + 24)?);
        }
    }
    fail!("it carries no resource {name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::made;

    /// A library whose only content is one entry.
    fn library(name: &str, content: &[u8]) -> Vec<u8> {
        let lengths = [name.len() as u64, 0, content.len() as u64].map(u64::to_le_bytes).concat();
        let text = [name.as_bytes(), content].concat();
        made::library(&[(0x408, &lengths), (0x440, &text)], &[(0x400, 0x440), (0x410, 0x440 + name.len() as u64)])
    }

    #[test]
    fn the_resource_of_a_name_is_found_and_no_other() {
        let bytes = library("/lib/a.bc", b"content");
        let library = Library::read(&bytes).expect("a library");
        assert_eq!(resource(&library, "/lib/a.bc").expect("a resource"), b"content");
        assert!(resource(&library, "/lib/b.bc").is_err());
        assert!(resource(&library, "/lib/a").is_err());
    }

    #[test]
    fn files_that_end_early_or_are_something_else_are_refused() {
        let bytes = library("/lib/a.bc", b"content");
        assert!(Library::read(b"hello").is_err());
        for length in [0, 6, 0x30, 0x90, 0x110, 0x190] {
            assert!(Library::read(&bytes[..length]).is_err(), "{length} bytes were read as a library");
        }
        let cut = Library::read(&bytes[..bytes.len() - 1]).expect("the tables are whole");
        assert!(resource(&cut, "/lib/a.bc").is_err());
    }
}
