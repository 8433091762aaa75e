//! Fat binaries: a header and images with a header each.

use crate::object::error::Result;
use crate::program::device_image::{Bytes, CUBIN, elf, invalid};

/// A fat binary whose header and entries lie within the image, with every uncompressed cubin in it whole.
pub(super) fn check(fatbin: Bytes<'_>) -> Result<()> {
    const FORMAT: &str = "fat binary";
    const HEADER: u16 = 16;
    const ENTRY: u32 = 16;

    let wrong = |offset: u64, what: &str| invalid(FORMAT, offset, what);
    let (Some(header), Some(size)) = (fatbin.u16(6), fatbin.u64(8)) else {
        return Err(wrong(fatbin.len(), "the image ends inside its header"));
    };
    if header < HEADER {
        return Err(wrong(6, &format!("the header says that it has {header} bytes, fewer than {HEADER}")));
    }
    let end = match u64::from(header).checked_add(size) {
        Some(end) if end <= fatbin.len() => end,
        _ => {
            let what = format!("the entries take {size} bytes, which reach past the end at {}", fatbin.len());
            return Err(wrong(8, &what));
        }
    };
    let mut entry = u64::from(header);
    if entry == end {
        return Err(wrong(entry, "it holds no image"));
    }
    while entry < end {
        let (Some(header), Some(size)) = (fatbin.u32(entry + 4), fatbin.u64(entry + 8)) else {
            return Err(wrong(entry, "an entry's header reaches past the end"));
        };
        if header < ENTRY {
            return Err(wrong(entry + 4, &format!("an entry's header says that it has {header} bytes")));
        }
        let payload = entry + u64::from(header);
        let next = match payload.checked_add(size) {
            Some(next) if next <= end => next,
            _ => return Err(wrong(entry + 8, &format!("an entry of {size} bytes reaches past the end at {end}"))),
        };
        if let Some(contents) = fatbin.part(payload, size).filter(|contents| contents.starts_with(elf::MAGIC)) {
            elf::check(Bytes(contents), payload, &CUBIN)?;
        }
        entry = next;
    }
    Ok(())
}
