//! Answers of `ur*GetInfo`: the size and value rules every query shares.
//!
//! A value is written only when the caller's buffer is large enough; the size is written whenever asked for.
//! Outputs stay untouched on error.

use core::ffi::c_void;

use ur_ffi::{ur_bool_t, ur_result_t};

use crate::object::error::{Error, Result};

/// Where an info query wants its answer.
pub struct InfoWriter {
    name: &'static str,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
}

impl InfoWriter {
    /// The three output parameters of a `ur*GetInfo`.
    ///
    /// # Safety
    /// `value` is null or writable for `size` bytes; `size_out` is null or writable.
    ///
    /// # Errors
    /// `INVALID_SIZE` for a buffer of size 0, `INVALID_NULL_POINTER` for no output at all or a size without a
    /// buffer.
    pub unsafe fn new(name: &'static str, size: usize, value: *mut c_void, size_out: *mut usize) -> Result<Self> {
        if value.is_null() && (size != 0 || size_out.is_null()) {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_NULL_POINTER,
                format!("{name}: pPropValue is null; give a buffer of propSize bytes, or 0 and a pPropSizeRet"),
            ));
        }
        if !value.is_null() && size == 0 {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_SIZE,
                format!("{name}: propSize is 0 though pPropValue is given"),
            ));
        }
        Ok(Self { name, size, value, size_out })
    }

    fn check_room(&self, length: usize) -> Result<()> {
        if self.size >= length {
            return Ok(());
        }
        Err(Error::new(
            ur_result_t::ERROR_INVALID_SIZE,
            format!("{}: propSize is {} but the value takes {length} bytes", self.name, self.size),
        ))
    }

    fn tell_size(&self, length: usize) {
        if !self.size_out.is_null() {
            // SAFETY: writable by `new`'s contract.
            unsafe { self.size_out.write(length) };
        }
    }

    fn bytes(&self, data: *const u8, length: usize) -> Result<()> {
        if !self.value.is_null() {
            self.check_room(length)?;
            // SAFETY: `value` is writable for `size >= length` bytes by `new`'s contract; `data` is a live
            // slice of ours, which cannot overlap a caller's buffer.
            unsafe { core::ptr::copy_nonoverlapping(data, self.value.cast::<u8>(), length) };
        }
        self.tell_size(length);
        Ok(())
    }

    /// A value of one of the ABI's plain types.
    ///
    /// # Errors
    /// `INVALID_SIZE` when the buffer is too small.
    pub fn value<T: Copy>(&self, value: T) -> Result<()> {
        self.bytes(core::ptr::from_ref(&value).cast(), size_of::<T>())
    }

    /// An array of values.
    ///
    /// # Errors
    /// As [`InfoWriter::value`].
    pub fn array<T: Copy>(&self, values: &[T]) -> Result<()> {
        self.bytes(values.as_ptr().cast(), size_of_val(values))
    }

    /// Buffers of the application's, to which its own buffer holds the pointers; those that are null are left out. The
    /// size is that of the pointers.
    ///
    /// # Errors
    /// As [`InfoWriter::value`].
    pub fn buffers<'b>(&self, contents: impl ExactSizeIterator<Item = &'b [u8]>) -> Result<()> {
        let length = contents.len() * size_of::<*mut u8>();
        if !self.value.is_null() {
            self.check_room(length)?;
            for (index, content) in contents.enumerate() {
                // SAFETY: `value` is readable for `size >= length` bytes by `new`'s contract, which need not be aligned.
                let buffer = unsafe { self.value.cast::<*mut u8>().add(index).read_unaligned() };
                if !buffer.is_null() {
                    // SAFETY: the specification lets each buffer be writable for what the application was told of its size.
                    unsafe { core::ptr::copy_nonoverlapping(content.as_ptr(), buffer, content.len()) };
                }
            }
        }
        self.tell_size(length);
        Ok(())
    }

    /// A string with its terminating NUL.
    ///
    /// # Errors
    /// As [`InfoWriter::value`].
    pub fn text(&self, text: &str) -> Result<()> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.retain(|byte| *byte != 0);
        bytes.push(0);
        self.bytes(bytes.as_ptr(), bytes.len())
    }

    /// A `ur_bool_t`.
    ///
    /// # Errors
    /// As [`InfoWriter::value`].
    pub fn boolean(&self, value: bool) -> Result<()> {
        self.value::<ur_bool_t>(value.into())
    }

    /// The error of a property this adapter does not know at all.
    ///
    /// # Errors
    /// Always `INVALID_ENUMERATION`.
    pub fn unknown(&self, property: u32) -> Result<()> {
        Err(Error::new(
            ur_result_t::ERROR_INVALID_ENUMERATION,
            format!("{}: {property:#x} is no property of this release", self.name),
        ))
    }

    /// The error of a property that the ABI has and this backend cannot tell.
    ///
    /// # Errors
    /// Always `UNSUPPORTED_ENUMERATION`.
    pub fn unsupported(&self) -> Result<()> {
        Err(Error::new(
            ur_result_t::ERROR_UNSUPPORTED_ENUMERATION,
            format!("{}: this device cannot answer that property", self.name),
        ))
    }
}
