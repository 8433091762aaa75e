//! Answers of the `Get…Info` kind: a value goes into the caller's buffer if there is one that is big enough, its size goes
//! where the caller wants it. Writes nothing when it answers an error.

use std::ffi::c_void;
use ur_ffi::ur_result_t;

/// Where the caller wants the value and its size.
#[derive(Debug)]
pub struct Answer {
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
}

impl Answer {
    /// Takes the three parameters of a query and checks their combination.
    ///
    /// # Safety
    /// `value` must be null or valid for writing `size` bytes, `size_out` null or valid for writing.
    pub unsafe fn new(size: usize, value: *mut c_void, size_out: *mut usize) -> Result<Self, ur_result_t> {
        if size == 0 && !value.is_null() {
            return Err(ur_result_t::ERROR_INVALID_SIZE);
        }
        if value.is_null() && (size != 0 || size_out.is_null()) {
            return Err(ur_result_t::ERROR_INVALID_NULL_POINTER);
        }
        Ok(Answer { size, value, size_out })
    }

    /// Answers these bytes.
    pub fn bytes(self, bytes: &[u8]) -> Result<(), ur_result_t> {
        if !self.value.is_null() {
            if self.size < bytes.len() {
                return Err(ur_result_t::ERROR_INVALID_SIZE);
            }
            // SAFETY: the buffer is valid for `size` bytes, which are enough; the source is a slice of ours.
            unsafe { self.value.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
        if !self.size_out.is_null() {
            // SAFETY: valid by the promise given to `new`.
            unsafe { self.size_out.write(bytes.len()) };
        }
        Ok(())
    }

    /// Answers a string with its terminating NUL.
    pub fn string(self, text: &str) -> Result<(), ur_result_t> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        self.bytes(&bytes)
    }
}
