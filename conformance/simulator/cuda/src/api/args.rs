//! Pointer arguments as C passes them, wrapped so that the functions that take them stay free of `unsafe`.
//!
//! Values of these types can only come from a caller of the C API: there is no way to make one in Rust. What the
//! caller promises by passing one, by the API's contract, is what makes reading and writing through them sound.

use crate::sys::{CUDA_ERROR_INVALID_VALUE, Result};
use core::ffi::{CStr, c_char, c_void};
use core::ptr::NonNull;

/// An address to write one result to.
#[repr(transparent)]
pub struct Out<T>(Option<NonNull<T>>);

impl<T> Out<T> {
    /// Writes the result; a null address is the caller's error.
    pub fn put(&self, value: T) -> Result {
        self.required()?;
        self.put_if(value);
        Ok(())
    }

    /// Writes the result if the caller wants it.
    pub fn put_if(&self, value: T) {
        if let Some(at) = self.0 {
            // SAFETY: the caller gives an address that a `T` can be written to.
            unsafe { at.write(value) };
        }
    }

    /// Fails early on a null address, before anything is made.
    pub fn required(&self) -> Result {
        self.0.map(drop).ok_or(CUDA_ERROR_INVALID_VALUE)
    }

    /// Whether the caller wants the result.
    pub fn is_wanted(&self) -> bool {
        self.0.is_some()
    }
}

/// The address of one thing to read, or null.
#[repr(transparent)]
pub struct In<T>(Option<NonNull<T>>);

impl<T: Copy> In<T> {
    /// Reads it; a null address is the caller's error.
    pub fn get(&self) -> Result<T> {
        // SAFETY: the caller gives the address of a `T`.
        self.0.map(|at| unsafe { at.read() }).ok_or(CUDA_ERROR_INVALID_VALUE)
    }
}

/// The address of one thing that is read and then written, or null.
#[repr(transparent)]
pub struct InOut<T>(Option<NonNull<T>>);

impl<T: Copy> InOut<T> {
    /// Reads it; a null address is the caller's error.
    pub fn get(&self) -> Result<T> {
        // SAFETY: the caller gives the address of a `T`.
        self.0.map(|at| unsafe { at.read() }).ok_or(CUDA_ERROR_INVALID_VALUE)
    }

    /// Writes it.
    pub fn put(&self, value: T) -> Result {
        let at = self.0.ok_or(CUDA_ERROR_INVALID_VALUE)?;
        // SAFETY: the caller gives the address of a `T` that may be written.
        unsafe { at.write(value) };
        Ok(())
    }
}

/// The address of an array to read, whose length another argument gives.
#[repr(transparent)]
pub struct Slice<T>(Option<NonNull<T>>);

impl<T: Copy> Slice<T> {
    /// Whether the caller gives one at all.
    pub fn is_given(&self) -> bool {
        self.0.is_some()
    }

    /// Copies `len` elements.
    pub fn read(&self, len: usize) -> Result<Vec<T>> {
        match self.0 {
            _ if len == 0 => Ok(Vec::new()),
            // SAFETY: the caller gives the address of `len` elements.
            Some(at) => Ok(unsafe { core::slice::from_raw_parts(at.as_ptr(), len) }.to_vec()),
            None => Err(CUDA_ERROR_INVALID_VALUE),
        }
    }
}

/// The address of an array to write, whose length another argument gives.
#[repr(transparent)]
pub struct Buffer<T>(Option<NonNull<T>>);

impl<T: Copy> Buffer<T> {
    /// Writes as many of `values` as fit in `len` elements.
    pub fn write(&self, values: &[T], len: usize) -> Result {
        let at = self.0.ok_or(CUDA_ERROR_INVALID_VALUE)?;
        for (i, &value) in values.iter().take(len).enumerate() {
            // SAFETY: the caller gives the address of `len` elements.
            unsafe { at.add(i).write(value) };
        }
        Ok(())
    }

    /// Whether the caller gives one at all.
    pub fn is_given(&self) -> bool {
        self.0.is_some()
    }
}

impl Buffer<c_char> {
    /// Writes text, cut to fit with its NUL.
    pub fn write_text(&self, text: &str, len: usize) -> Result {
        if len == 0 {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        let mut bytes: Vec<c_char> = text.bytes().take(len - 1).map(|byte| byte as c_char).collect();
        bytes.push(0);
        self.write(&bytes, len)
    }
}

/// A NUL-terminated string.
#[repr(transparent)]
pub struct Text(Option<NonNull<c_char>>);

impl Text {
    /// The string; null or not UTF-8 is the caller's error.
    pub fn get(&self) -> Result<&str> {
        let at = self.0.ok_or(CUDA_ERROR_INVALID_VALUE)?;
        // SAFETY: the caller gives a NUL-terminated string that stays for the call.
        unsafe { CStr::from_ptr(at.as_ptr()) }.to_str().map_err(|_| CUDA_ERROR_INVALID_VALUE)
    }
}

/// An address of which another argument says what is there.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Raw(*mut c_void);

impl Raw {
    /// The address.
    pub fn ptr(&self) -> *mut c_void {
        self.0
    }

    /// The address as a number.
    pub fn address(&self) -> u64 {
        self.0 as u64
    }

    /// Writes a value of the type that the other argument named.
    pub fn put<T>(&self, value: T) -> Result {
        if self.0.is_null() {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: the caller gives an address for what the other argument names; it need not be aligned.
        unsafe { self.0.cast::<T>().write_unaligned(value) };
        Ok(())
    }

    /// Reads a value of the type that the other argument named.
    pub fn get<T: Copy>(&self) -> Result<T> {
        if self.0.is_null() {
            return Err(CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: as for `put`.
        Ok(unsafe { self.0.cast::<T>().read_unaligned() })
    }
}
