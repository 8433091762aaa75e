//! Pointer arguments as C passes them, wrapped so that the functions that take them stay free of `unsafe`.
//!
//! Values come from callers of the C API alone: Rust code cannot make one, and what the caller promises by passing
//! one makes reading and writing through it sound. Nothing here may be kept after the call.

use core::ffi::{CStr, c_char, c_void};

use crate::sys::status::{Result, hipErrorInvalidValue};

/// Where one result goes.
#[repr(transparent)]
pub struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Writes the result; a null address is the caller's error.
    pub fn put(&self, value: T) -> Result {
        self.required()?;
        // SAFETY: not null, and the caller gives an address that a `T` can be written to.
        unsafe { self.0.write(value) };
        Ok(())
    }

    /// Writes the result if the caller wants it.
    pub fn put_if(&self, value: T) {
        if !self.0.is_null() {
            // SAFETY: as for `put`.
            unsafe { self.0.write(value) };
        }
    }

    /// Fails on a null address, before anything is made.
    pub fn required(&self) -> Result {
        if self.0.is_null() { Err(hipErrorInvalidValue) } else { Ok(()) }
    }

    /// The address, for a call that writes it.
    pub fn raw(&self) -> *mut T {
        self.0
    }
}

/// One thing, or several in a row, to read.
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// An address that stands in a structure of the caller's.
    ///
    /// # Safety
    /// The address is the caller's, for elements of this type.
    pub unsafe fn of(pointer: *const T) -> Self {
        Self(pointer)
    }

    /// Reads it; a null address is the caller's error.
    pub fn get(&self) -> Result<T> {
        if self.0.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: not null, and the caller gives the address of a `T`.
        Ok(unsafe { self.0.read() })
    }

    /// Reads `count` in a row; null is the caller's error unless there are none.
    pub fn list(&self, count: usize) -> Result<Vec<T>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        if self.0.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: not null, and the caller gives the address of `count` elements.
        Ok((0..count).map(|index| unsafe { self.0.add(index).read() }).collect())
    }

    /// Reads elements until one for which `last` holds, that one included, or until there are too many.
    pub fn until(&self, last: impl Fn(T) -> bool, limit: usize) -> Result<Vec<T>> {
        let mut found = Vec::new();
        if self.0.is_null() {
            return Err(hipErrorInvalidValue);
        }
        while found.len() < limit {
            // SAFETY: not null, and the list that the caller gives goes on until its last element.
            let element = unsafe { self.0.add(found.len()).read() };
            found.push(element);
            if last(element) {
                return Ok(found);
            }
        }
        Err(hipErrorInvalidValue)
    }

    /// The address, for a call that reads it.
    pub fn raw(&self) -> *const T {
        self.0
    }
}

/// Several things in a row that a call reads and writes, whose number another argument gives.
#[repr(transparent)]
pub struct List<T>(*mut T);

impl<T: Copy> List<T> {
    /// Reads `count` in a row; null is the caller's error unless there are none.
    pub fn list(&self, count: usize) -> Result<Vec<T>> {
        In(self.0.cast_const()).list(count)
    }

    /// Writes as many as `list` read.
    pub fn put_list(&self, values: &[T]) {
        for (index, value) in values.iter().enumerate() {
            // SAFETY: `list` read as many from here, and the caller gives a list that can be written.
            unsafe { self.0.add(index).write(*value) };
        }
    }
}

/// A NUL-terminated string.
#[repr(transparent)]
pub struct Text(*const c_char);

impl Text {
    /// The string; null or not UTF-8 is the caller's error.
    pub fn get(&self) -> Result<&str> {
        if self.0.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: not null, and the caller gives a NUL-terminated string that stays for the call.
        unsafe { CStr::from_ptr(self.0) }.to_str().map_err(|_| hipErrorInvalidValue)
    }

    /// The address, for a call that reads it.
    pub fn raw(&self) -> *const c_char {
        self.0
    }
}

/// A buffer for text, whose length another argument gives.
#[repr(transparent)]
pub struct Buffer(*mut c_char);

impl Buffer {
    /// The address; null or a length of 0 is the caller's error.
    pub fn checked(&self, length: i32) -> Result<*mut c_char> {
        if self.0.is_null() || length <= 0 { Err(hipErrorInvalidValue) } else { Ok(self.0) }
    }
}

/// An address of which another argument says what is there, or which is only passed on.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Raw(*mut c_void);

impl Raw {
    /// One of several addresses that C passed.
    ///
    /// # Safety
    /// The address is the caller's, for what another argument names.
    pub unsafe fn of(pointer: *mut c_void) -> Self {
        Self(pointer)
    }

    /// The address.
    pub fn raw(self) -> *mut c_void {
        self.0
    }

    /// The address as a number.
    pub fn address(self) -> usize {
        self.0.expose_provenance()
    }

    /// Fails on null.
    pub fn required(self) -> Result {
        if self.0.is_null() { Err(hipErrorInvalidValue) } else { Ok(()) }
    }

    /// Writes what the other argument said belongs there.
    pub fn put<T>(self, value: T) -> Result {
        self.required()?;
        // SAFETY: not null, and the caller gives the address of what the other argument names; it need not be aligned.
        unsafe { self.0.cast::<T>().write_unaligned(value) };
        Ok(())
    }
}
