//! What every backend's symbol table and statuses have in common: declared here once, expanded there.
//!
//! The macros name no native symbol and no library type of their own; a backend passes both in. Nothing here
//! opens a library or decides when to call.

use crate::driver::adapter_specific;
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
    let text = texts.text(status);
    match status.code() {
        ur_result_t::ERROR_ADAPTER_SPECIFIC => adapter_specific(call, status.number(), &text),
        code => Error::native(code, call, status.number(), &text),
    }
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

/// Declares newtypes of native handles, which are pointers that nobody looks behind: 0 is "none".
#[macro_export]
macro_rules! native_handles {
    ($($(#[$meta:meta])* $name:ident;)*) => {$(
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(pub(crate) usize);

        impl $crate::driver::Raw for $name {
            fn number(self) -> usize {
                self.0
            }

            fn of_number(number: usize) -> Self {
                Self(number)
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

        impl $crate::driver::Raw for $name {
            fn number(self) -> usize {
                usize::try_from(self.0).unwrap_or(usize::MAX)
            }

            fn of_number(number: usize) -> Self {
                // No device has a negative ordinal, so a number that is none finds nothing.
                Self(::core::ffi::c_int::try_from(number).unwrap_or(-1))
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
        impl $crate::driver::symbols::Status for $type {
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

/// Declares a backend's table of symbols: `field = "exported name" (parameter types);`, all of them C functions
/// that return the status type but for those under `returning`, which every library must have too.
///
/// The table has `open(name, variable)`, which opens a library by the type given (its `new` and `get` are
/// `libloading`'s) and looks every symbol up. The optional ones are `None` in libraries that lack them.
#[macro_export]
macro_rules! symbol_table {
    (
        $(#[$meta:meta])*
        $table:ident in $library:ty => $status:ty;
        required { $($required:ident = $required_name:literal ($($required_type:ty),* $(,)?);)* }
        optional { $($optional:ident = $optional_name:literal ($($optional_type:ty),* $(,)?);)* }
        $(returning $result:ty {
            $($other:ident = $other_name:literal ($($other_type:ty),* $(,)?);)*
        })?
    ) => {
        $(#[$meta])*
        pub(crate) struct $table {
            $(pub(crate) $required: unsafe extern "C" fn($($required_type),*) -> $status,)*
            $(pub(crate) $optional: Option<unsafe extern "C" fn($($optional_type),*) -> $status>,)*
            $($(pub(crate) $other: unsafe extern "C" fn($($other_type),*) -> $result,)*)?
            /// Declared last: dropped after the pointers into it are gone.
            _library: $library,
        }

        impl $table {
            /// Names of the symbols that a library must export.
            #[cfg(test)]
            pub(crate) const REQUIRED: &'static [&'static str] =
                &[$($required_name,)* $($($other_name,)*)?];

            /// Opens a library and looks its symbols up.
            ///
            /// # Errors
            /// `Library` with the dynamic linker's words, `Symbol` with the first required one that is missing.
            pub(crate) fn open(
                name: &str,
                variable: &'static str,
            ) -> ::core::result::Result<Self, $crate::object::error::OpenError> {
                // SAFETY: opening runs the library's initialisers; the user chose it as the native driver, which
                // every process that uses the GPU opens.
                let library = unsafe { <$library>::new(name) }
                    .map_err(|error| $crate::driver::library::refused(name, &error, variable))?;
                // SAFETY: the library is the native driver by the user's word, so that its symbols of these names
                // have the API's signatures.
                unsafe { Self::of(library, name) }
            }

            /// Looks every symbol up in an opened library.
            ///
            /// # Safety
            /// Whatever the library exports under the table's names has the signatures given there.
            unsafe fn of(library: $library, label: &str) -> ::core::result::Result<Self, $crate::object::error::OpenError> {
                Ok(Self {
                    $($required: {
                        // SAFETY: the caller vouches for the signature; the pointer lives in this struct,
                        // together with the library.
                        match unsafe { library.get(concat!($required_name, "\0").as_bytes()) } {
                            Ok(symbol) => *symbol,
                            Err(_) => return Err($crate::driver::library::lacks(label, $required_name)),
                        }
                    },)*
                    $($optional: {
                        // SAFETY: as above.
                        unsafe { library.get(concat!($optional_name, "\0").as_bytes()) }.ok().map(|symbol| *symbol)
                    },)*
                    $($($other: {
                        // SAFETY: as above.
                        match unsafe { library.get(concat!($other_name, "\0").as_bytes()) } {
                            Ok(symbol) => *symbol,
                            Err(_) => return Err($crate::driver::library::lacks(label, $other_name)),
                        }
                    },)*)?
                    _library: library,
                })
            }
        }
    };
}

/// One call through the table in `self.symbols` and a compare; the name in messages is the API's.
#[macro_export]
macro_rules! native_call {
    ($self:ident . $function:ident ( $($argument:expr),* $(,)? ), $name:literal) => {
        $crate::driver::symbols::check(
            &$self.symbols,
            $name,
            // SAFETY: the symbol has the API's signature (its table was opened on the native library), every
            // output is a live local, and handles are ones this driver gave out and the engine has not destroyed.
            unsafe { ($self.symbols.$function)($($argument),*) },
        )
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
