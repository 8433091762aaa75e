//! A backend's table of symbols: declared by [`symbol_table!`](crate::symbol_table), filled when the library is opened.
//!
//! The macro names no native symbol and no library type of its own; a backend passes both in. It is a macro because each row
//! has a type of its own.

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
                    .map_err(|error| $crate::driver::native::library::refused(name, &error, variable))?;
                let lacks = |symbol| $crate::driver::native::library::lacks(name, symbol);
                // SAFETY: the library is the native driver by the user's word, so its symbols of these names have the
                // API's signatures; the pointers live in the table, together with the library.
                unsafe {
                    Ok(Self {
                        $($required: ::core::mem::transmute::<
                            unsafe extern "C" fn(),
                            unsafe extern "C" fn($($required_type),*) -> $status,
                        >(Self::find(&library, concat!($required_name, "\0")).ok_or_else(|| lacks($required_name))?),)*
                        $($optional: ::core::mem::transmute::<
                            Option<unsafe extern "C" fn()>,
                            Option<unsafe extern "C" fn($($optional_type),*) -> $status>,
                        >(Self::find(&library, concat!($optional_name, "\0"))),)*
                        $($($other: ::core::mem::transmute::<
                            unsafe extern "C" fn(),
                            unsafe extern "C" fn($($other_type),*) -> $result,
                        >(Self::find(&library, concat!($other_name, "\0")).ok_or_else(|| lacks($other_name))?),)*)?
                        _library: library,
                    })
                }
            }

            /// The symbol of that name, if the library has it: by one signature for all, or each lookup would be compiled anew.
            fn find(library: &$library, name: &str) -> Option<unsafe extern "C" fn()> {
                // SAFETY: nobody calls it by this signature.
                unsafe { library.get::<unsafe extern "C" fn()>(name.as_bytes()) }.ok().map(|symbol| *symbol)
            }
        }
    };
}
