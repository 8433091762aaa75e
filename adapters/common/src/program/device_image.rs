//! Device images: whether they are whole, from their bytes alone.
//!
//! A native loader is told no length and follows the image's own headers, so an image is checked first: headers,
//! tables and sections within the length. What is inside the machine code is the loader's business. Nothing here
//! may read past the slice it is given, whatever the bytes say.

pub mod elf;
pub(crate) mod fatbin;
pub mod fixed;
pub(crate) mod ptx;
#[cfg(test)]
pub(crate) mod tests;

use ur_ffi::ur_result_t;

use crate::object::error::{Error, Result};

/// First word of a fat binary: several images, each with a header.
const FATBIN_MAGIC: u32 = 0xBA55_ED50;
/// First word of the structure by which compiled host code points at a fat binary.
const WRAPPER_MAGIC: u32 = 0x4662_43B1;

/// NVIDIA's machine code.
const CUBIN: elf::Machine = elf::Machine { number: 190, vendor: "NVIDIA", format: "cubin (ELF)" };

/// Little-endian numbers of a byte string; reading past its end is `None`.
#[derive(Clone, Copy)]
pub struct Bytes<'a>(pub &'a [u8]);

impl<'b> Bytes<'b> {
    fn array<const N: usize>(self, at: u64) -> Option<[u8; N]> {
        let at = usize::try_from(at).ok()?;
        self.0.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    /// The 2-byte number there.
    #[must_use]
    pub fn u16(self, at: u64) -> Option<u16> {
        self.array(at).map(u16::from_le_bytes)
    }

    /// The 4-byte number there.
    #[must_use]
    pub fn u32(self, at: u64) -> Option<u32> {
        self.array(at).map(u32::from_le_bytes)
    }

    /// The 8-byte number there.
    #[must_use]
    pub fn u64(self, at: u64) -> Option<u64> {
        self.array(at).map(u64::from_le_bytes)
    }

    /// How many there are.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a length to compare offsets with")]
    pub fn len(self) -> u64 {
        self.0.len() as u64
    }

    /// Whether `size` bytes at `at` lie within.
    #[must_use]
    pub fn holds(self, at: u64, size: u64) -> bool {
        at.checked_add(size).is_some_and(|end| end <= self.len())
    }

    /// The `size` bytes at `at`, if they lie within.
    #[must_use]
    pub fn part(self, at: u64, size: u64) -> Option<&'b [u8]> {
        let (start, end) = (usize::try_from(at).ok()?, usize::try_from(at.checked_add(size)?).ok()?);
        self.0.get(start..end)
    }
}

/// The error of an image: what it is taken for, where it goes wrong, what is wrong, and what to do.
#[cold]
pub fn invalid(format: &str, offset: u64, what: &str) -> Error {
    let remedy = "give the file's bytes unchanged and in full";
    Error::new(
        ur_result_t::ERROR_INVALID_BINARY,
        format!("the device image is no whole {format}: at byte {offset}, {what}; {remedy}"),
    )
}

/// The error of an image of no format the backend takes. `wanted` says what is taken, `remedy` how to get it.
#[cold]
pub fn unknown(at: u64, wanted: &str, remedy: &str) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_BINARY,
        format!("the device image has no known format: at byte {at}, there is {wanted}; {remedy}"),
    )
}

/// The error of a structure that only points at the image.
#[cold]
pub fn wrapper(at: u64) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_BINARY,
        format!(
            "the device image is a fat binary's wrapper: at byte {at} it holds the address of the image and not the \
             image; give the fat binary that it points to"
        ),
    )
}

/// Checks that an image is PTX text, a cubin or a fat binary, and whole.
///
/// # Errors
/// `INVALID_BINARY` with format, offset and remedy.
pub fn check_nvidia(image: &[u8]) -> Result<()> {
    if image.starts_with(elf::MAGIC) {
        return elf::check(Bytes(image), 0, &CUBIN);
    }
    match Bytes(image).u32(0) {
        Some(FATBIN_MAGIC) => fatbin::check(Bytes(image)),
        Some(WRAPPER_MAGIC) => Err(wrapper(8)),
        _ => ptx::check(image),
    }
}
