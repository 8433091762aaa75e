//! Outputs of entry points: places that C gives, which are written at the end of what succeeds, so that a failed call leaves
//! them as they were.
//!
//! The thunks make them by the unsafe functions here, whose contract is C's; a function of the engine can only write them.
//! [`crate::object::params`] hands all of it on. Must not know any kind of object.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use ur_ffi::ur_result_t;

use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;
use crate::object::{Body, Object};

/// How many elements an array has: `u32` or `usize` in C.
pub trait Length: Copy {
    /// As an index.
    fn get(self) -> usize;
}

impl Length for u32 {
    #[inline]
    fn get(self) -> usize {
        self as usize
    }
}

impl Length for usize {
    #[inline]
    fn get(self) -> usize {
        self
    }
}

/// An output that must be given. Written at the end of what succeeds, so that a failed call leaves it as it was.
pub struct Out<'a, T> {
    pointer: NonNull<T>,
    marker: PhantomData<&'a mut T>,
}

impl<T> Out<'_, T> {
    /// Writes the output.
    #[inline]
    pub fn write(self, value: T) {
        self.set(value);
    }

    /// Writes the output where what holds it goes on.
    #[inline(always)]
    pub fn set(&self, value: T) {
        // SAFETY: `optional_out` makes this of a pointer that C owes to be writable during the call.
        unsafe { self.pointer.write(value) };
    }
}

impl Out<'_, *mut c_void> {
    /// Writes an address that the native library gave.
    #[inline]
    pub fn write_address(self, address: usize) {
        self.set_address(address);
    }

    /// As [`Out::write_address`], where what holds it goes on.
    #[inline(always)]
    pub fn set_address(&self, address: usize) {
        self.set(core::ptr::with_exposed_provenance_mut(address));
    }
}

impl<H> Out<'_, *mut H> {
    /// Gives the application an object that is made for it, with its first reference.
    #[inline]
    pub fn write_new<T: Body<Opaque = H>>(self, body: T) {
        self.write(Object::new_handle(body));
    }

    /// Gives the application a new object and its first reference.
    #[inline]
    pub fn write_object<T: Body<Opaque = H>>(self, object: std::sync::Arc<Object<T>>) {
        self.write(Object::into_handle(object));
    }
}

/// An output of several elements that must be given. Written at the end of what succeeds.
pub struct OutArray<'a, T> {
    pointer: NonNull<T>,
    length: usize,
    marker: PhantomData<&'a mut [T]>,
}

impl<T: Copy> OutArray<'_, T> {
    /// Writes the output: as many of the values as there is room for.
    pub fn write(self, values: &[T]) {
        let count = values.len().min(self.length);
        // SAFETY: `out_array` makes this of a pointer that C owes to be writable for `length` elements during the call.
        unsafe { self.pointer.copy_from_nonoverlapping(NonNull::from(values).cast(), count) };
    }
}

/// The outputs of an enumeration of handles: room for some, and how many there are.
pub struct ListOut<'a, H> {
    function: &'static str,
    entries: Option<&'a mut [MaybeUninit<H>]>,
    count: Option<Out<'a, u32>>,
}

impl<H: Copy> ListOut<'_, H> {
    /// Whether there is no output at all.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        self.entries.is_none() && self.count.is_none()
    }

    /// Writes as many of the handles as there is room for, and how many there are. Answers how many were written.
    ///
    /// # Errors
    /// `INVALID_SIZE` for an array without room, `INVALID_NULL_POINTER` for no output at all.
    pub fn write(self, available: &[H]) -> Result<usize> {
        let function = self.function;
        // A client may give its capacity and ask for the count alone: the cache loader of 2026.1 does.
        if self.is_absent() {
            return Err(Error::new(
                ur_result_t::ERROR_INVALID_NULL_POINTER,
                format!("{function}: give an array of NumEntries handles, or a pointer for the count"),
            ));
        }
        let mut written = 0;
        if let Some(entries) = self.entries {
            if entries.is_empty() {
                return Err(Error::new(ur_result_t::ERROR_INVALID_SIZE, format!("{function}: NumEntries is 0")));
            }
            written = available.len().min(entries.len());
            for (entry, handle) in entries.iter_mut().zip(available) {
                entry.write(*handle);
            }
        }
        if let Some(count) = self.count {
            count.write(u32::try_from(available.len()).unwrap_or(u32::MAX));
        }
        Ok(written)
    }
}

/// Sets an output to null, which it stays if the call fails: programs release what they find there.
pub fn clear<H>(output: Option<Out<'_, *mut H>>) {
    if let Some(output) = output {
        output.write(core::ptr::null_mut());
    }
}

/// An output that nobody may have asked for.
///
/// # Safety
/// The C contract: `pointer` is null or writable during `'a`.
#[inline(always)]
#[must_use]
pub unsafe fn optional_out<'a, T>(pointer: *mut T) -> Option<Out<'a, T>> {
    NonNull::new(pointer).map(|pointer| Out { pointer, marker: PhantomData })
}

/// An output of several elements that must be given.
///
/// # Safety
/// The C contract: `pointer` is null or writable for `length` elements during `'a`.
///
/// # Errors
/// `INVALID_NULL_POINTER`.
#[inline]
pub unsafe fn out_array<'a, T>(
    parameter: &'static str,
    length: impl Length,
    pointer: *mut T,
) -> Result<OutArray<'a, T>> {
    match NonNull::new(pointer) {
        Some(pointer) => Ok(OutArray { pointer, length: length.get(), marker: PhantomData }),
        None => Err(null_pointer(parameter)),
    }
}

/// The outputs of an enumeration of handles.
///
/// # Safety
/// The C contract: `entries` is null or writable for `capacity` handles, `count` null or writable, during `'a`.
///
/// # Errors
/// None: what is missing is told when the list is written, since the query itself may fail first.
#[inline]
pub unsafe fn list_out<'a, H>(
    function: &'static str,
    capacity: u32,
    entries: *mut H,
    count: *mut u32,
) -> Result<ListOut<'a, H>> {
    let entries = NonNull::new(entries.cast::<MaybeUninit<H>>()).map(|entries| {
        // SAFETY: not null, so writable for `capacity` handles by the caller's promise.
        unsafe { core::slice::from_raw_parts_mut(entries.as_ptr(), capacity as usize) }
    });
    // SAFETY: the caller's promise is the same.
    let count = unsafe { optional_out(count) };
    Ok(ListOut { function, entries, count })
}

/// The outputs of a query that is told no size: the caller's buffer is as large as the value.
///
/// # Safety
/// The C contract: `value` is null or writable for whatever the query answers; `size_out` is null or writable.
///
/// # Errors
/// `INVALID_NULL_POINTER` for no output at all.
#[inline]
pub unsafe fn info_without_size(
    function: &'static str,
    value: *mut c_void,
    size_out: *mut usize,
) -> Result<InfoWriter> {
    let size = if value.is_null() { 0 } else { usize::MAX };
    // SAFETY: the caller's promise is the same, and a buffer that is large enough for any value.
    unsafe { InfoWriter::new(function, size, value, size_out) }
}

/// The error of a required pointer that is null.
#[cold]
pub(super) fn null_pointer(parameter: &str) -> Error {
    Error::new(ur_result_t::ERROR_INVALID_NULL_POINTER, format!("{parameter} is null; it must be given"))
}
