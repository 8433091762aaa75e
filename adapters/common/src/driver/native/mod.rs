//! What every native library has in common: statuses and their texts, handle types, the table of symbols, the search for
//! the library, layouts, the static that holds an adapter.
//!
//! A backend names the symbols and the library's type; nothing here decides when to call.

pub mod attributes;
pub mod cell;
pub mod comgr;
pub mod compiler_library;
pub mod external_layouts;
pub mod image_layouts;
pub mod library;
pub mod nvvm;
pub mod ptx;
pub mod sycl_images;
pub mod symbols;

use core::ffi::{CStr, c_char};

use crate::object::error::{Error, OpenError, Result};
use ur_ffi::ur_result_t;

/// A native status, as the backend's mapper understands it.
pub trait Status: Copy + Eq {
    /// The call did what it was asked for.
    const SUCCESS: Self;
    /// How a query says "not yet".
    const NOT_READY: Self;

    /// The library's number.
    fn number(self) -> i32;
    /// The UR code; `ADAPTER_SPECIFIC` where UR has no word for it.
    fn code(self) -> ur_result_t;
}

/// A library that has words for its statuses.
pub trait Texts {
    /// Its statuses.
    type Status: Status;

    /// The library's name and sentence for a status.
    fn text(&self, status: Self::Status) -> String;

    /// Has the library forget what it keeps of the thread's last failure, which is the caller's to tell of now. CUDA's driver keeps
    /// nothing.
    fn forget_failure(&self) {}
}

/// Success, or the error of a native call with the library's own text.
///
/// # Errors
/// What the status maps to.
#[inline]
pub fn check<T: Texts>(texts: &T, call: &'static str, status: T::Status) -> Result<()> {
    if status == T::Status::SUCCESS { Ok(()) } else { Err(failed(texts, call, status)) }
}

/// The answer of a query that has a status of its own for "not yet".
///
/// # Errors
/// What every other status maps to.
#[inline]
pub fn done<T: Texts>(texts: &T, call: &'static str, status: T::Status) -> Result<bool> {
    if status == T::Status::NOT_READY { Ok(false) } else { check(texts, call, status).map(|()| true) }
}

/// The error of a native call.
#[cold]
pub fn failed<T: Texts>(texts: &T, call: &'static str, status: T::Status) -> Error {
    texts.forget_failure();
    let text = texts.text(status);
    Error::native(status.code(), call, status.number(), &text)
}

/// The error of a library that is there and whose first call failed.
#[cold]
pub fn cannot_start<T: Texts>(texts: &T, library: &str, call: &'static str, status: T::Status) -> OpenError {
    let text = texts.text(status);
    OpenError::Initialise { library: library.to_owned(), call, status: status.number(), text }
}

/// Name and sentence of a status as one text, such as `CUDA_ERROR_NOT_FOUND, named symbol not found`.
#[cold]
pub fn status_text(name: Option<String>, sentence: Option<String>) -> String {
    match (name, sentence) {
        (Some(name), Some(sentence)) if name != sentence => format!("{name}, {sentence}"),
        (Some(text), _) | (None, Some(text)) => text,
        (None, None) => "a status that this driver has no text for".to_owned(),
    }
}

/// A C string as text; empty when null.
///
/// # Safety
/// `text` is null or a NUL-terminated string.
pub unsafe fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, and the caller vouches for the terminating NUL.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Declares newtypes of native handles, which are pointers that nobody looks behind: 0 is the null handle. They are `Copy`
/// for the backend's own calls; the engine knows them as [`crate::driver::Handle`] and cannot copy them.
#[macro_export]
macro_rules! native_handles {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(pub(crate) usize);

        impl $crate::driver::NativeName for $name {
            fn value(&self) -> usize {
                self.0
            }
        }

        impl $crate::driver::Handle for $name {
            unsafe fn from_value(value: usize) -> Self {
                Self(value)
            }
        }
    )*};
}

/// Declares newtypes of ordinals: `int`s that the ABI carries as native handles.
#[macro_export]
macro_rules! native_ordinals {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(pub(crate) ::core::ffi::c_int);

        impl $crate::driver::NativeName for $name {
            fn value(&self) -> usize {
                usize::try_from(self.0).unwrap_or(usize::MAX)
            }
        }

        impl $crate::driver::devices::DeviceName for $name {
            fn from_value(value: usize) -> Self {
                // No device has a negative ordinal, so a number that is none finds nothing.
                Self(::core::ffi::c_int::try_from(value).unwrap_or(-1))
            }
        }
    )*};
}

/// Declares the named values of a status newtype with the list of all of them, and that it is a [`Status`]:
/// `Type by mapper, SUCCESS, NOT_READY: NAME = number, …`.
#[macro_export]
macro_rules! native_statuses {
    (
        $(#[$meta:meta])*
        $type:ident by $mapper:path, $success:ident, $not_ready:ident: $($name:ident = $value:literal,)*
    ) => {
        impl $crate::driver::native::Status for $type {
            const SUCCESS: Self = Self::$success;
            const NOT_READY: Self = Self::$not_ready;

            fn number(self) -> i32 {
                self.0
            }

            fn code(self) -> ::ur_ffi::ur_result_t {
                $mapper(self)
            }
        }

        $(#[$meta])*
        #[allow(dead_code, reason = "the complete list, so that the mapper's tests can walk over it")]
        impl $type {
            $(pub(crate) const $name: Self = Self($value);)*
            /// Every status of the header.
            pub(crate) const ALL: &'static [(Self, &'static str)] = &[$((Self::$name, stringify!($name)),)*];
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_told_by_name_and_sentence_as_far_as_the_library_has_them() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(status_text(some("NAME"), some("what it means")), "NAME, what it means");
        assert_eq!(status_text(some("NAME"), None), "NAME");
        assert_eq!(status_text(None, some("what it means")), "what it means");
        assert_eq!(status_text(some("unknown"), some("unknown")), "unknown");
        assert_eq!(status_text(None, None), "a status that this driver has no text for");
    }
}
