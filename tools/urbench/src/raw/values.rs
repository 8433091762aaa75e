//! A word of device memory that streams write and wait for: the raw way for work to be enqueued before what it waits for. A
//! library that lacks a function makes the case unavailable and nothing else. A wait is put on a stream only by a case that
//! writes the value afterwards, whatever happens in between: nothing else ends it.

use super::more::have;
use super::symbols::{AT_LEAST, Address, Handle, WaitingForValue};
use super::{Kind, Raw, check};
use crate::Failure;

/// The word, which goes with the case.
pub struct Word<'r> {
    raw: &'r Raw,
    address: Address,
}

impl<'r> Word<'r> {
    /// A word of 0.
    pub fn new(raw: &'r Raw) -> Result<Self, Failure> {
        have(&raw.functions.more.write_value, "write of a value")?;
        raw.functions.wait_value.as_ref().ok_or_else(without_waits)?;
        raw.while_current(|| {
            let word = Self { raw, address: raw.allocate(Kind::Device, size_of::<u32>())? };
            word.write(raw.stream(), 0)?;
            raw.synchronize(raw.stream())?;
            Ok(word)
        })
    }

    /// Lets a stream write a value; something of the raw side's must be current.
    #[inline]
    pub fn write(&self, stream: Handle, value: u32) -> Result<(), Failure> {
        let write = have(&self.raw.functions.more.write_value, "write of a value")?;
        // SAFETY: a live stream, a word that outlives its work; no flags.
        unsafe { check!(write, (stream, self.address, value, 0)) }
    }

    /// Lets a stream wait until the word has a value or a larger one; as above.
    #[inline]
    pub fn wait(&self, stream: Handle, value: u32) -> Result<(), Failure> {
        // SAFETY: as above; the mask has all bits.
        unsafe {
            match &self.raw.functions.wait_value {
                Some(WaitingForValue::Plain(wait)) => check!(wait, (stream, self.address, value, AT_LEAST)),
                Some(WaitingForValue::WithMask(wait)) => {
                    check!(wait, (stream, self.address, value, AT_LEAST, u32::MAX))
                }
                None => Err(without_waits()),
            }
        }
    }
}

impl Drop for Word<'_> {
    fn drop(&mut self) {
        // Errors have nobody to go to.
        let _ = self.raw.while_current(|| self.raw.free(Kind::Device, self.address));
    }
}

fn without_waits() -> Failure {
    Failure::Unavailable("the native library has no wait for a value".to_owned())
}
