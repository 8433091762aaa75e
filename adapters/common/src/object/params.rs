//! C's parameters, checked: what the generated thunks make of handles, pointers, lists, flags and outputs before they call
//! a function of the engine.
//!
//! Each function here takes what C gave and the parameter's name (`urQueueFinish: hQueue`), and answers either a Rust value
//! whose type carries what was checked, or an error with the specification's code and one style of message. The unsafe
//! functions rely on the C contract alone: a handle is null or alive, a pointer is null or leads to what the manual says,
//! for as long as the call lasts. Must not know any kind of object, or decide anything that the specification leaves to the
//! engine.

use core::ffi::{CStr, c_char, c_void};
use core::marker::PhantomData;
use core::ptr::NonNull;
use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{Structure, ur_result_t};

use crate::object::chain::Chained;
use crate::object::error::{Error, Result};
use crate::object::outputs::null_pointer;
use crate::object::{Body, Object, borrow_named};
use crate::sync::unlikely::unlikely;

pub use crate::object::outputs::{
    Length, ListOut, Out, OutArray, clear, info_without_size, list_out, optional_out, out_array,
};

/// An address whose memory, the host's or a device's, the application owes to a command: it is as the manual says until
/// the command has finished.
pub struct Address<T = c_void> {
    pointer: NonNull<T>,
}

impl<T> Clone for Address<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Address<T> {}

impl<T> Address<T> {
    /// The number.
    #[inline]
    #[must_use]
    pub fn addr(self) -> usize {
        self.pointer.as_ptr().addr()
    }

    /// As C gave it.
    #[inline]
    #[must_use]
    pub fn as_ptr(self) -> *mut T {
        self.pointer.as_ptr()
    }
}

/// A list of handles, each of which was checked: the caller's own array, read where it lies.
pub struct Handles<'a, T: Body> {
    handles: &'a [*mut T::Opaque],
    marker: PhantomData<&'a Object<T>>,
}

impl<'a, T: Body> Handles<'a, T> {
    /// No handles.
    #[inline]
    #[must_use]
    pub fn none() -> Self {
        Self { handles: &[], marker: PhantomData }
    }

    /// The same list once more.
    #[must_use]
    pub fn again(&self) -> Self {
        Self { handles: self.handles, marker: PhantomData }
    }

    /// The objects, in the list's order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a Object<T>> + use<'a, T> {
        // SAFETY: the list was made of handles that are live objects of this adapter and kind, and stay so during `'a`.
        self.handles.iter().map(|handle| unsafe { &*handle.cast::<Object<T>>() })
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.handles.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }
}

pub use crate::object::borrow_named as handle;

/// The object behind a handle that may be null.
///
/// # Safety
/// The C contract.
///
/// # Errors
/// The kind's own code when the handle is of another kind or another adapter's.
#[inline(always)]
pub unsafe fn optional_handle<'a, T: Body>(
    parameter: &'static str,
    handle: *mut T::Opaque,
) -> Result<Option<&'a Object<T>>> {
    if handle.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise is the same.
    unsafe { borrow_named(parameter, handle) }.map(Some)
}

/// A list of handles.
///
/// # Safety
/// The C contract: each handle is null or alive during `'a`.
///
/// # Errors
/// For each handle as [`handle`].
#[inline]
pub unsafe fn handles<'a, T: Body>(parameter: &'static str, handles: &'a [*mut T::Opaque]) -> Result<Handles<'a, T>> {
    for handle in handles {
        // SAFETY: the caller's promise is the same.
        unsafe { borrow_named::<T>(parameter, *handle) }?;
    }
    Ok(Handles { handles, marker: PhantomData })
}

/// A list of objects that the engine holds, for what takes the application's lists.
pub struct HandleList<'a, T: Body> {
    handles: SmallVec<[*mut T::Opaque; 4]>,
    marker: PhantomData<&'a Object<T>>,
}

impl<'a, T: Body> HandleList<'a, T> {
    /// Their list.
    pub fn new(objects: &'a [Arc<Object<T>>]) -> Self {
        Self { handles: objects.iter().map(|object| object.handle()).collect(), marker: PhantomData }
    }

    /// The list as one of the application's.
    pub fn handles(&self) -> Handles<'_, T> {
        Handles { handles: &self.handles, marker: PhantomData }
    }
}

/// Refuses a list that contradicts its length: none where there should be elements, or one of no elements.
///
/// # Errors
/// The code that the specification has for it.
#[inline(always)]
pub fn list_or_none<T>(parameter: &'static str, length: impl Length, list: *const T, code: ur_result_t) -> Result<()> {
    // Two questions in turn, so that what reads the list next asks neither again.
    if list.is_null() {
        if unlikely!(length.get() != 0) {
            return Err(contradiction(parameter, length.get(), code));
        }
    } else if unlikely!(length.get() == 0) {
        return Err(contradiction(parameter, length.get(), code));
    }
    Ok(())
}

#[cold]
fn contradiction(parameter: &str, length: usize, code: ur_result_t) -> Error {
    let message =
        format!("{parameter} and its length of {length} contradict each other; give a list with its length or none");
    Error::new(code, message)
}

/// Refuses a list of no elements.
///
/// # Errors
/// The code that the specification has for it.
#[inline]
pub fn not_empty(parameter: &'static str, length: impl Length, code: ur_result_t) -> Result<()> {
    if length.get() == 0 { Err(empty(parameter, code)) } else { Ok(()) }
}

/// Elements that must be given, none perhaps.
///
/// # Safety
/// The C contract: `elements` is null or holds `length` elements, which nobody changes during `'a`.
///
/// # Errors
/// `INVALID_NULL_POINTER`; `INVALID_SIZE` for more elements than any memory has.
#[inline(always)]
pub unsafe fn slice<'a, T>(parameter: &'static str, length: impl Length, elements: *const T) -> Result<&'a [T]> {
    if unlikely!(elements.is_null()) {
        return Err(null_pointer(parameter));
    }
    let length = length.get();
    if unlikely!(length > isize::MAX as usize / size_of::<T>().max(1)) {
        return Err(too_long(parameter, length));
    }
    // SAFETY: not null, so the caller's promise holds; no longer than memory can be.
    Ok(unsafe { core::slice::from_raw_parts(elements, length) })
}

#[cold]
fn too_long(parameter: &str, length: usize) -> Error {
    let message = format!("{parameter} cannot have {length} elements; give the number that it has");
    Error::new(ur_result_t::ERROR_INVALID_SIZE, message)
}

/// Elements that may be null if there are none.
///
/// # Safety
/// As [`slice`].
///
/// # Errors
/// `INVALID_NULL_POINTER` where there should be some.
#[inline(always)]
pub unsafe fn optional_slice<'a, T>(
    parameter: &'static str,
    length: impl Length,
    elements: *const T,
) -> Result<&'a [T]> {
    if elements.is_null() {
        return if unlikely!(length.get() != 0) { Err(null_pointer(parameter)) } else { Ok(&[]) };
    }
    // SAFETY: the caller's promise is the same.
    unsafe { slice(parameter, length, elements) }
}

/// Elements that may be left out, whatever the length is.
///
/// # Safety
/// As [`slice`].
///
/// # Errors
/// As [`slice`], but for a null pointer.
#[inline(always)]
pub unsafe fn slice_or_none<'a, T>(
    parameter: &'static str,
    length: impl Length,
    elements: *const T,
) -> Result<Option<&'a [T]>> {
    if elements.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise is the same.
    unsafe { slice(parameter, length, elements) }.map(Some)
}

/// What must be given.
///
/// # Errors
/// `INVALID_NULL_POINTER`.
#[inline(always)]
pub fn required<T>(parameter: &'static str, given: Option<T>) -> Result<T> {
    given.ok_or_else(|| null_pointer(parameter))
}

/// A structure that may be null.
///
/// # Safety
/// The C contract: `pointer` is null or leads to a valid structure that nobody changes during `'a`.
#[inline(always)]
#[must_use]
pub unsafe fn optional<'a, T>(pointer: *const T) -> Option<&'a T> {
    // SAFETY: null or valid by the caller's promise.
    unsafe { pointer.as_ref() }
}

/// A structure that may be null, with its `pNext` chain.
///
/// # Safety
/// The C contract: `pointer` is null or leads to a valid structure, the chain behind it holds valid structures and ends
/// with null, and nobody changes any of them during `'a`.
#[inline(always)]
#[must_use]
pub unsafe fn optional_chained<'a, T: Structure>(pointer: *const T) -> Option<Chained<'a, T>> {
    // SAFETY: not null, so valid together with its chain by the caller's promise.
    NonNull::new(pointer.cast_mut()).map(|pointer| unsafe { Chained::new(pointer) })
}

/// A string that may be null.
///
/// # Safety
/// The C contract: `text` is null or ends with a NUL; nobody changes it during `'a`.
#[inline]
#[must_use]
pub unsafe fn optional_text<'a>(text: *const c_char) -> Option<&'a CStr> {
    // SAFETY: not null, so a string by the caller's promise.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}

/// An address that must be given.
///
/// # Safety
/// The C contract: what the manual says of the address holds until the command that uses it has finished.
///
/// # Errors
/// `INVALID_NULL_POINTER`.
#[inline(always)]
pub unsafe fn address<T>(parameter: &'static str, pointer: *const T) -> Result<Address<T>> {
    match NonNull::new(pointer.cast_mut()) {
        Some(pointer) => Ok(Address { pointer }),
        None => Err(null_pointer(parameter)),
    }
}

/// An address that may be null.
///
/// # Safety
/// As [`address`].
#[inline]
#[must_use]
pub unsafe fn optional_address<T>(pointer: *const T) -> Option<Address<T>> {
    NonNull::new(pointer.cast_mut()).map(|pointer| Address { pointer })
}

/// A function of the application's that must be given.
///
/// # Errors
/// `INVALID_NULL_POINTER`.
#[inline]
pub fn callback<F>(parameter: &'static str, function: Option<F>) -> Result<F> {
    function.ok_or_else(|| null_pointer(parameter))
}

/// Refuses a number of work dimensions that no launch has.
///
/// # Errors
/// `INVALID_WORK_DIMENSION`.
#[inline(always)]
pub fn work_dimensions(parameter: &'static str, dimensions: u32) -> Result<()> {
    if (1..=3).contains(&dimensions) { Ok(()) } else { Err(wrong_dimensions(parameter, dimensions)) }
}

/// Refuses flags that no release has.
///
/// # Errors
/// `INVALID_ENUMERATION`.
#[inline(always)]
pub fn flags(parameter: &'static str, bits: u32, undefined: u32) -> Result<()> {
    if bits & undefined == 0 { Ok(()) } else { Err(unknown_flags(parameter, bits & undefined)) }
}

/// Refuses a value above an enumeration's last one.
///
/// # Errors
/// `INVALID_ENUMERATION`.
#[inline(always)]
pub fn enumeration(parameter: &'static str, value: u32, last: u32) -> Result<()> {
    if value <= last { Ok(()) } else { Err(unknown_value(parameter, value)) }
}

#[cold]
fn empty(parameter: &str, code: ur_result_t) -> Error {
    Error::new(code, format!("{parameter} is 0; give at least one element"))
}

#[cold]
fn wrong_dimensions(parameter: &str, dimensions: u32) -> Error {
    let message = format!("{parameter} is {dimensions}; a launch has 1, 2 or 3 dimensions");
    Error::new(ur_result_t::ERROR_INVALID_WORK_DIMENSION, message)
}

#[cold]
fn unknown_flags(parameter: &str, bits: u32) -> Error {
    Error::new(ur_result_t::ERROR_INVALID_ENUMERATION, format!("{parameter} has bits that no flag defines: {bits:#x}"))
}

#[cold]
fn unknown_value(parameter: &str, value: u32) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_ENUMERATION,
        format!("{parameter} is {value:#x}, which no enumerator defines"),
    )
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_length_that_no_memory_has_is_refused_before_there_is_a_slice() {
        let values = [1u32, 2];
        // SAFETY: the lengths that are too large are looked at first.
        let of = |length: usize| unsafe { slice("pValues", length, values.as_ptr()) };
        assert_eq!(of(2).expect("two values"), values);
        for length in [usize::MAX, isize::MAX as usize, isize::MAX as usize / size_of::<u32>() + 1] {
            assert_eq!(of(length).expect_err("too many").code(), ur_result_t::ERROR_INVALID_SIZE);
        }
    }
}
