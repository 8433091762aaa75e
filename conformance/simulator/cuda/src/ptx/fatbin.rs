//! CUDA's container of device code: a header, then entries, each PTX text or an ELF image for one architecture.
//!
//! Every size in it is checked against the bytes that are there before it is used; a container that is cut short
//! or inconsistent is an error that says where. Nothing here may read beyond what a header announces.

use std::io::Read;
use thiserror::Error;

/// The first word of a container.
pub const MAGIC: u32 = 0xba55_ed50;
/// The first word of the structure that host programs carry, which points to a container.
pub const WRAPPER_MAGIC: u32 = 0x4662_43b1;

/// Bytes of a container's header.
const HEADER: usize = 16;
/// The least an entry's header has.
const ENTRY_HEADER: usize = 64;
/// The most one entry may grow to; real ones stay far below.
const MAX_UNPACKED: u64 = 1 << 30;

const FLAG_LZ4: u64 = 0x2000;
const FLAG_ZSTD: u64 = 0x8000;

/// What an entry holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// PTX text.
    Ptx,
    /// A cubin.
    Elf,
    /// Something else, by its number.
    Other(u16),
}

/// One entry, unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it holds.
    pub kind: EntryKind,
    /// The architecture, e.g. 90.
    pub arch: u32,
    /// The version of the format it holds: of PTX or of the ELF ABI.
    pub version: (u16, u16),
    /// The flags as they are written.
    pub flags: u64,
    /// Its bytes, unpacked. PTX text may end in zeros.
    pub data: Vec<u8>,
}

/// Why a container cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FatbinError {
    /// It ends before something it announces.
    #[error("fatbin: {what} at offset {offset} needs {wanted} bytes, but only {available} follow")]
    Truncated {
        /// What is cut short.
        what: &'static str,
        /// Where it begins.
        offset: usize,
        /// How long it should be.
        wanted: u64,
        /// How much there is.
        available: usize,
    },
    /// It does not begin with the magic number.
    #[error("fatbin: the first word is {found:#010x}, not {MAGIC:#010x}")]
    Magic {
        /// The first word.
        found: u32,
    },
    /// A field has an impossible value.
    #[error("fatbin: {what} at offset {offset} has the impossible value {value}")]
    Field {
        /// Which field.
        what: &'static str,
        /// Where the structure begins.
        offset: usize,
        /// Its value.
        value: u64,
    },
    /// An entry's compressed bytes cannot be unpacked.
    #[error("fatbin: the entry at offset {offset} cannot be unpacked: {message}")]
    Compression {
        /// Where the entry begins.
        offset: usize,
        /// What the decoder says.
        message: String,
    },
    /// The wrapper points nowhere.
    #[error("fatbin: the wrapper holds a null pointer")]
    Null,
}

/// A little-endian reader that knows its bounds.
struct Reader<'a> {
    bytes: &'a [u8],
    what: &'static str,
    start: usize,
}

impl Reader<'_> {
    fn take<const N: usize>(&self, offset: usize) -> Result<[u8; N], FatbinError> {
        let slice = self.start.checked_add(offset).and_then(|at| self.bytes.get(at..at.checked_add(N)?));
        slice.and_then(|s| s.try_into().ok()).ok_or(FatbinError::Truncated {
            what: self.what,
            offset: self.start,
            wanted: (offset + N) as u64,
            available: self.bytes.len().saturating_sub(self.start),
        })
    }

    fn u16(&self, offset: usize) -> Result<u16, FatbinError> {
        self.take(offset).map(u16::from_le_bytes)
    }

    fn u32(&self, offset: usize) -> Result<u32, FatbinError> {
        self.take(offset).map(u32::from_le_bytes)
    }

    fn u64(&self, offset: usize) -> Result<u64, FatbinError> {
        self.take(offset).map(u64::from_le_bytes)
    }
}

/// The whole length of a container, from its first 16 bytes.
pub fn total_len(image: &[u8]) -> Result<usize, FatbinError> {
    let header = Reader { bytes: image, what: "the header", start: 0 };
    let found = header.u32(0)?;
    if found != MAGIC {
        return Err(FatbinError::Magic { found });
    }
    let header_size = header.u16(6)?;
    if usize::from(header_size) < HEADER {
        return Err(FatbinError::Field { what: "the header's size", offset: 0, value: header_size.into() });
    }
    let size = header.u64(8)?;
    usize::try_from(size)
        .ok()
        .and_then(|s| s.checked_add(header_size.into()))
        .filter(|&s| s <= isize::MAX as usize)
        .ok_or(FatbinError::Field { what: "the size of the entries", offset: 0, value: size })
}

/// Whether a pointer's first word says that a container, or the wrapper of one, is there.
///
/// # Safety
/// `image` points to at least four readable bytes.
pub unsafe fn is_fatbin(image: *const u8) -> bool {
    // SAFETY: four bytes are readable, as the caller promises; the read needs no alignment.
    let magic = unsafe { image.cast::<u32>().read_unaligned() };
    magic == MAGIC || magic == WRAPPER_MAGIC
}

/// The bytes of the container at a pointer, or of the one that a wrapper there points to.
///
/// # Safety
/// `image` points to a container or a wrapper that is readable, to the end it announces, for all of `'a`.
pub unsafe fn from_pointer<'a>(image: *const u8) -> Result<&'a [u8], FatbinError> {
    let mut image = image;
    if image.is_null() {
        return Err(FatbinError::Null);
    }
    // SAFETY: a container and a wrapper both have 16 bytes at least.
    if unsafe { image.cast::<u32>().read_unaligned() } == WRAPPER_MAGIC {
        // SAFETY: the wrapper's second eight bytes are the container's address.
        image = unsafe { image.add(8).cast::<*const u8>().read_unaligned() };
        if image.is_null() {
            return Err(FatbinError::Null);
        }
    }
    // SAFETY: a container has a header of 16 bytes.
    let header = unsafe { std::slice::from_raw_parts(image, HEADER) };
    let len = total_len(header)?;
    // SAFETY: the container is readable to the end that its header announces, as the caller promises.
    Ok(unsafe { std::slice::from_raw_parts(image, len) })
}

/// All entries in order. Bytes behind the container's end are not looked at.
pub fn entries(image: &[u8]) -> Result<Vec<Entry>, FatbinError> {
    let end = total_len(image)?;
    let truncated =
        FatbinError::Truncated { what: "the container", offset: 0, wanted: end as u64, available: image.len() };
    let image = image.get(..end).ok_or(truncated)?;
    let mut at = usize::from(Reader { bytes: image, what: "the header", start: 0 }.u16(6)?);
    let mut out = Vec::new();
    while at < end {
        let (entry, next) = entry(image, at)?;
        out.push(entry);
        at = next;
    }
    Ok(out)
}

/// The entry at an offset, and where the next one begins.
fn entry(image: &[u8], start: usize) -> Result<(Entry, usize), FatbinError> {
    let header = Reader { bytes: image, what: "an entry's header", start };
    let header_size = header.u32(4)?;
    if (header_size as usize) < ENTRY_HEADER {
        return Err(FatbinError::Field { what: "an entry's header size", offset: start, value: header_size.into() });
    }
    let size = header.u64(8)?;
    let body = start.saturating_add(header_size as usize);
    let truncated = |wanted: u64| FatbinError::Truncated {
        what: "an entry",
        offset: body,
        wanted,
        available: image.len().saturating_sub(body),
    };
    let next = usize::try_from(size).ok().and_then(|s| body.checked_add(s)).ok_or_else(|| truncated(size))?;
    let payload = image.get(body..next).ok_or_else(|| truncated(size))?;
    let (packed_size, unpacked_size, flags) = (header.u32(16)? as usize, header.u64(56)?, header.u64(40)?);
    let kind = match header.u16(0)? {
        1 => EntryKind::Ptx,
        2 => EntryKind::Elf,
        other => EntryKind::Other(other),
    };
    let data = if flags & (FLAG_LZ4 | FLAG_ZSTD) != 0 {
        let packed = payload.get(..packed_size).ok_or(FatbinError::Field {
            what: "an entry's packed size",
            offset: start,
            value: packed_size as u64,
        })?;
        if unpacked_size > MAX_UNPACKED {
            return Err(FatbinError::Field { what: "an entry's unpacked size", offset: start, value: unpacked_size });
        }
        unpack(packed, unpacked_size as usize, flags)
            .map_err(|message| FatbinError::Compression { offset: start, message })?
    } else {
        payload.to_vec()
    };
    let version = (header.u16(26)?, header.u16(24)?);
    Ok((Entry { kind, arch: header.u32(28)?, version, flags, data }, next))
}

fn unpack(packed: &[u8], size: usize, flags: u64) -> Result<Vec<u8>, String> {
    let data = if flags & FLAG_ZSTD != 0 {
        let decoder = ruzstd::decoding::StreamingDecoder::new(packed).map_err(|e| e.to_string())?;
        let mut out = Vec::new();
        // One byte more than announced is enough to see that it is too long.
        decoder.take(size as u64 + 1).read_to_end(&mut out).map_err(|e| e.to_string())?;
        out
    } else {
        lz4_flex::block::decompress(packed, size).map_err(|e| e.to_string())?
    };
    if data.len() == size { Ok(data) } else { Err(format!("it has not the {size} bytes that it announces")) }
}
