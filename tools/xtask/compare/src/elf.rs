//! A shared library as it lies in its file: what is mapped where, and which addresses it holds. It is read and never loaded; whatever
//! has no place is an error and no guess.

use xtask::fail;
use xtask::support::failure::{Failure, Result};

/// `PT_LOAD` and `PT_DYNAMIC`.
const LOAD: u64 = 1;
const DYNAMIC: u64 = 2;
/// `DT_RELA` and `DT_RELASZ`.
const RELA: u64 = 7;
const RELA_SIZE: u64 = 8;
/// `R_X86_64_RELATIVE`: the word at `offset` is to become the base address plus `addend`.
const RELATIVE: u64 = 8;

/// A shared library as it lies in its file.
pub struct Library<'a> {
    bytes: &'a [u8],
    /// Address, file offset and length of what is mapped.
    segments: Vec<[u64; 3]>,
    /// Where an address is stored, and which.
    pointers: Vec<[u64; 2]>,
}

impl<'a> Library<'a> {
    /// Reads the headers and the relocations.
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        if !bytes.starts_with(b"\x7fELF\x02\x01") {
            fail!("it is no 64-bit ELF file");
        }
        let mut library = Library { bytes, segments: Vec::new(), pointers: Vec::new() };
        let (first, size, count) = (library.word(0x20)?, library.number(0x36, 2)?, library.number(0x38, 2)?);
        let mut dynamic = None;
        for header in (0..count).map(|index| first + index * size) {
            let place = [library.word(header + 0x10)?, library.word(header + 8)?, library.word(header + 0x20)?];
            match library.number(header, 4)? {
                LOAD => library.segments.push(place),
                DYNAMIC => dynamic = Some(place),
                _ => {}
            }
        }
        let Some([_, offset, length]) = dynamic else { fail!("it has no dynamic section") };
        library.pointers = library.relocations(offset, length)?;
        Ok(library)
    }

    /// Each place that holds an address and the address that it holds, by place.
    pub fn pointers(&self) -> &[[u64; 2]] {
        &self.pointers
    }

    /// The address that this place holds.
    pub fn pointer_at(&self, place: u64) -> Option<u64> {
        let index = self.pointers.binary_search_by_key(&place, |&[place, _]| place).ok()?;
        Some(self.pointers[index][1])
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

    /// Where in the file an address is.
    pub fn offset(&self, address: u64) -> Result<u64> {
        let segment = self.segments.iter().find(|[start, _, length]| (*start..start + length).contains(&address));
        match segment {
            Some([start, offset, _]) => Ok(offset + (address - start)),
            None => fail!("the address {address:#x} is not in the file"),
        }
    }

    /// Bytes of the file.
    pub fn part(&self, offset: u64, length: u64) -> Result<&'a [u8]> {
        let range = usize::try_from(offset).ok().zip(usize::try_from(length).ok());
        let part = range.and_then(|(offset, length)| self.bytes.get(offset..offset.checked_add(length)?));
        part.ok_or_else(|| Failure::new(format!("the file ends before {offset:#x} + {length}")))
    }

    fn number(&self, offset: u64, length: u64) -> Result<u64> {
        Ok(self.part(offset, length)?.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    /// Eight bytes of the file as a number.
    pub fn word(&self, offset: u64) -> Result<u64> {
        self.number(offset, 8)
    }
}

#[cfg(test)]
pub mod made {
    use super::*;

    /// A library of these bytes and addresses, all of it mapped 0x1000 above its offset. Bytes come at or behind 0x400; an address is
    /// where it stands and the offset of what it points to.
    pub fn library(parts: &[(usize, &[u8])], addresses: &[(u64, u64)]) -> Vec<u8> {
        let (dynamic, relocations) = (0x100_u64, 0x180_u64);
        let end = parts.iter().map(|(at, bytes)| at + bytes.len()).max().unwrap_or(0x400);
        let mut library = vec![0; end];
        let mut put = |at: u64, bytes: &[u8]| library[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
        let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        put(0, &words(&[0x0001_0102_464c_457f]));
        put(0x20, &words(&[0x40]));
        put(0x30, &words(&[0x0038_0040_0000_0000, 2]));
        put(0x40, &words(&[LOAD, 0, 0x1000, 0, 0x4000, 0x4000, 0]));
        put(0x78, &words(&[DYNAMIC, dynamic, dynamic + 0x1000, 0, 48, 48, 0]));
        put(dynamic, &words(&[RELA, relocations + 0x1000, RELA_SIZE, 24 * addresses.len() as u64, 0, 0]));
        for (index, (place, target)) in addresses.iter().enumerate() {
            put(relocations + 24 * index as u64, &words(&[place + 0x1000, RELATIVE, target + 0x1000]));
        }
        for (at, bytes) in parts {
            put(*at as u64, bytes);
        }
        library
    }
}
