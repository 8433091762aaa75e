//! Takes a file out of `libsycl-jit.so`, which carries its compiler's files as entries of a table: address and length of
//! the name, address and length of the content. It reads the library as a file and never loads it; whatever it cannot
//! place is an error and no guess.

use std::fs;
use std::path::Path;

use xtask::fail;
use xtask::support::failure::{Context, Failure, Result};
use xtask::support::files;

/// `PT_LOAD` and `PT_DYNAMIC`.
const LOAD: u64 = 1;
const DYNAMIC: u64 = 2;
/// `DT_RELA` and `DT_RELASZ`.
const RELA: u64 = 7;
const RELA_SIZE: u64 = 8;
/// `R_X86_64_RELATIVE`: the word at `offset` is to become the base address plus `addend`.
const RELATIVE: u64 = 8;
/// What bitcode begins with.
const BITCODE: &[u8] = b"BC\xc0\xde";

/// Writes the resource of that name to a file, unless it lies there already.
pub fn extract(library: &Path, name: &str, to: &Path) -> Result {
    if !files::outdated(to, &[library]) {
        return Ok(());
    }
    let bytes = fs::read(library).context(library.display())?;
    let content = Image::read(&bytes).and_then(|image| image.resource(name)).context(library.display())?;
    if !content.starts_with(BITCODE) {
        fail!("{}: the resource {name} is no bitcode", library.display());
    }
    println!("{} out of {}: {} bytes", to.display(), library.display(), content.len());
    files::write(to, content).map(drop)
}

/// A shared library as it lies in its file.
struct Image<'a> {
    bytes: &'a [u8],
    /// Address, file offset and length of what is mapped.
    segments: Vec<[u64; 3]>,
    /// Where an address is stored, and which.
    pointers: Vec<[u64; 2]>,
}

impl<'a> Image<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self> {
        if !bytes.starts_with(b"\x7fELF\x02\x01") {
            fail!("it is no 64-bit ELF file");
        }
        let mut image = Image { bytes, segments: Vec::new(), pointers: Vec::new() };
        let (first, size, count) = (image.word(0x20)?, image.number(0x36, 2)?, image.number(0x38, 2)?);
        let mut dynamic = None;
        for header in (0..count).map(|index| first + index * size) {
            let place = [image.word(header + 0x10)?, image.word(header + 8)?, image.word(header + 0x20)?];
            match image.number(header, 4)? {
                LOAD => image.segments.push(place),
                DYNAMIC => dynamic = Some(place),
                _ => {}
            }
        }
        let Some([_, offset, length]) = dynamic else { fail!("it has no dynamic section") };
        image.pointers = image.relocations(offset, length)?;
        Ok(image)
    }

    fn relocations(&self, dynamic: u64, length: u64) -> Result<Vec<[u64; 2]>> {
        let (mut table, mut size) = (None, 0);
        for entry in (dynamic..dynamic + length).step_by(16) {
            match self.word(entry)? {
                RELA => table = Some(self.word(entry + 8)?),
                RELA_SIZE => size = self.word(entry + 8)?,
                _ => {}
            }
        }
        let Some(table) = table else { fail!("it has no relocations") };
        let table = self.offset(table)?;
        let mut pointers = Vec::new();
        for entry in (table..table + size).step_by(24) {
            if self.word(entry + 8)? == RELATIVE {
                pointers.push([self.word(entry)?, self.word(entry + 16)?]);
            }
        }
        pointers.sort_unstable();
        Ok(pointers)
    }

    /// The content of the entry whose name this is.
    fn resource(&self, name: &str) -> Result<&'a [u8]> {
        for &[entry, name_at] in &self.pointers {
            let Ok(start) = self.offset(entry) else { continue };
            if self.word(start + 8).ok() != Some(name.len() as u64) {
                continue;
            }
            let named = self.offset(name_at).and_then(|at| self.part(at, name.len() as u64));
            let content = self.pointers.binary_search_by_key(&(entry + 16), |&[place, _]| place);
            if let (Ok(found), Ok(index)) = (named, content)
                && found == name.as_bytes()
            {
                return self.part(self.offset(self.pointers[index][1])?, self.word(start + 24)?);
            }
        }
        fail!("it carries no resource {name}")
    }

    fn offset(&self, address: u64) -> Result<u64> {
        let segment = self.segments.iter().find(|[start, _, length]| (*start..start + length).contains(&address));
        match segment {
            Some([start, offset, _]) => Ok(offset + (address - start)),
            None => fail!("the address {address:#x} is not in the file"),
        }
    }

    fn part(&self, offset: u64, length: u64) -> Result<&'a [u8]> {
        let range = usize::try_from(offset).ok().zip(usize::try_from(length).ok());
        let part = range.and_then(|(offset, length)| self.bytes.get(offset..offset.checked_add(length)?));
        part.ok_or_else(|| Failure::new(format!("the file ends before {offset:#x} + {length}")))
    }

    fn number(&self, offset: u64, length: u64) -> Result<u64> {
        Ok(self.part(offset, length)?.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    fn word(&self, offset: u64) -> Result<u64> {
        self.number(offset, 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A library whose only content is one entry; everything is mapped 0x1000 above its offset.
    fn library(name: &str, content: &[u8]) -> Vec<u8> {
        let (dynamic, relocations, entry, text) = (0x100_u64, 0x180_u64, 0x200_u64, 0x240_u64);
        let content_at = text + name.len() as u64;
        let mut bytes = vec![0; content_at as usize];
        let mut put = |at: u64, words: &[u64]| {
            for (index, word) in words.iter().enumerate() {
                let at = at as usize + 8 * index;
                bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
            }
        };
        put(0, &[0x0001_0102_464c_457f]);
        put(0x20, &[0x40]);
        put(0x30, &[0x0038_0040_0000_0000, 2]);
        put(0x40, &[LOAD, 0, 0x1000, 0, 0x4000, 0x4000, 0]);
        put(0x78, &[DYNAMIC, dynamic, dynamic + 0x1000, 0, 48, 48, 0]);
        put(dynamic, &[RELA, relocations + 0x1000, RELA_SIZE, 48, 0, 0]);
        put(relocations, &[entry + 0x1010, RELATIVE, content_at + 0x1000, entry + 0x1000, RELATIVE, text + 0x1000]);
        put(entry, &[0, name.len() as u64, 0, content.len() as u64]);
        bytes[text as usize..].copy_from_slice(name.as_bytes());
        bytes.extend_from_slice(content);
        bytes
    }

    #[test]
    fn the_resource_of_a_name_is_found_and_no_other() {
        let bytes = library("/lib/a.bc", b"content");
        let image = Image::read(&bytes).expect("a library");
        assert_eq!(image.resource("/lib/a.bc").expect("a resource"), b"content");
        assert!(image.resource("/lib/b.bc").is_err());
        assert!(image.resource("/lib/a").is_err());
    }

    #[test]
    fn files_that_end_early_or_are_something_else_are_refused() {
        let bytes = library("/lib/a.bc", b"content");
        assert!(Image::read(b"hello").is_err());
        for length in [0, 6, 0x30, 0x90, 0x110, 0x190] {
            assert!(Image::read(&bytes[..length]).is_err(), "{length} bytes were read as a library");
        }
        let cut = Image::read(&bytes[..bytes.len() - 1]).expect("the tables are whole");
        assert!(cut.resource("/lib/a.bc").is_err());
    }
}
