//! ELF files as GPU compilers make them: 64-bit, little-endian, with a section table.
//!
//! Only bounds are checked: header, tables, and every section and segment that takes bytes of the file.

use crate::object::error::Result;
use crate::program::device_image::{Bytes, invalid};

/// The first four bytes.
pub const MAGIC: &[u8] = b"\x7fELF";

/// What the files of one machine are called.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// ELF's number.
    pub number: u16,
    /// Whose it is.
    pub vendor: &'static str,
    /// What its files are called in messages.
    pub format: &'static str,
}

/// The machine that a file says it is for, 0 when it ends before it says.
#[must_use]
pub fn machine_of(elf: Bytes<'_>) -> u16 {
    elf.u16(18).unwrap_or(0)
}

/// Checks a 64-bit little-endian ELF for one machine with all tables and their contents. `start` is where it
/// begins in the image, for messages.
///
/// # Errors
/// `INVALID_BINARY` with format, offset and remedy.
pub fn check(elf: Bytes<'_>, start: u64, machine: &Machine) -> Result<()> {
    const HEADER: u64 = 64;
    const SECTION: u16 = 64;
    const SEGMENT: u16 = 56;
    /// A section that takes no bytes of the file.
    const NO_BITS: u32 = 8;

    let wrong = |offset: u64, what: &str| invalid(machine.format, start.saturating_add(offset), what);
    if !elf.holds(0, HEADER) {
        return Err(wrong(elf.len(), "the file ends inside its header"));
    }
    let (class, order) = (elf.0[4], elf.0[5]);
    if (class, order) != (2, 1) {
        return Err(wrong(4, "it is not a 64-bit little-endian file"));
    }
    let found = machine_of(elf);
    if found != machine.number {
        let Machine { number, vendor, .. } = machine;
        return Err(wrong(18, &format!("the machine is {found} and not {number}, {vendor}'s")));
    }
    let truncated = || wrong(elf.len(), "the file ends inside its header");
    let segments = elf.u64(32).ok_or_else(truncated)?;
    let sections = elf.u64(40).ok_or_else(truncated)?;
    let [segment_size, segment_count, section_size, section_count] = {
        let field = |at| elf.u16(at).ok_or_else(truncated);
        [field(54)?, field(56)?, field(58)?, field(60)?]
    };

    if sections == 0 {
        return Err(wrong(40, "it has no section table"));
    }
    if section_size < SECTION {
        return Err(wrong(58, "a section header is shorter than 64 bytes"));
    }
    // More sections than 16 bits count are counted by the first section's size.
    let section_count = match section_count {
        0 => elf.u64(sections.saturating_add(32)).ok_or_else(|| wrong(40, "the section table lies past the end"))?,
        count => u64::from(count),
    };
    let table = section_count.checked_mul(u64::from(section_size));
    if !table.is_some_and(|size| elf.holds(sections, size)) {
        return Err(wrong(40, "the section table reaches past the end"));
    }
    for number in 0..section_count {
        let header = sections + number * u64::from(section_size);
        let (Some(kind), Some(offset), Some(size)) = (elf.u32(header + 4), elf.u64(header + 24), elf.u64(header + 32))
        else {
            return Err(wrong(header, "the section table reaches past the end"));
        };
        // Section 0 has no contents; its fields may count tables.
        if number != 0 && kind != NO_BITS && kind != 0 && !elf.holds(offset, size) {
            return Err(wrong(header, &format!("section {number} reaches past the end")));
        }
    }

    if segment_count == 0 {
        return Ok(());
    }
    if segment_size < SEGMENT {
        return Err(wrong(54, "a program header is shorter than 56 bytes"));
    }
    if !elf.holds(segments, u64::from(segment_count) * u64::from(segment_size)) {
        return Err(wrong(32, "the program header table reaches past the end"));
    }
    for number in 0..u64::from(segment_count) {
        let header = segments + number * u64::from(segment_size);
        let (Some(offset), Some(size)) = (elf.u64(header + 8), elf.u64(header + 32)) else {
            return Err(wrong(header, "the program header table reaches past the end"));
        };
        if !elf.holds(offset, size) {
            return Err(wrong(header, &format!("segment {number} reaches past the end")));
        }
    }
    Ok(())
}

/// Names and contents of the sections that take bytes of a file that [`check`] has passed.
pub fn sections<'a>(elf: Bytes<'a>) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
    const NO_BITS: u32 = 8;
    let (table, size, count) = (elf.u64(40).unwrap_or(0), elf.u16(58).unwrap_or(0), elf.u16(60).unwrap_or(0));
    let header = move |number: u16| table.saturating_add(u64::from(number) * u64::from(size));
    let contents = move |number: u16| {
        let header = header(number);
        elf.part(elf.u64(header.checked_add(24)?)?, elf.u64(header.checked_add(32)?)?)
    };
    let names = contents(elf.u16(62).unwrap_or(0)).unwrap_or(&[]);
    (1..count).filter_map(move |number| {
        let header = header(number);
        let start = names.get(elf.u32(header)? as usize..)?;
        let name = &start[..start.iter().position(|byte| *byte == 0)?];
        let has_bytes = elf.u32(header.checked_add(4)?)? != NO_BITS;
        Some((name, contents(number).filter(|_| has_bytes)?))
    })
}
