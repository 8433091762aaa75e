//! Which native library a backend opens, and what is said when that fails.
//!
//! The opening itself belongs to the backend's crate ([`crate::symbol_table`]); here are the names it tries, in
//! which order, and the reasons it gives. Nothing here falls back to a library that nobody named. A variable names none in
//! a process with raised rights (set-user-ID and the like): whoever starts it must not thereby run code with its rights.

use std::ffi::OsString;
use std::fmt::{Display, Write as _};

use crate::object::error::OpenError;

/// Opens the library that the environment names, or else the first of the defaults that is there; gives its name
/// too.
///
/// # Errors
/// `Library` with every name tried and the reason of each; a library that is there and does not fit ends the
/// search with what it lacks.
pub fn open_first<T>(
    variable: &'static str,
    defaults: &[&str],
    open: impl Fn(&str) -> Result<T, OpenError>,
) -> Result<(T, String), OpenError> {
    open_first_as(has_raised_rights(), variable, defaults, open)
}

fn open_first_as<T>(
    raised_rights: bool,
    variable: &'static str,
    defaults: &[&str],
    open: impl Fn(&str) -> Result<T, OpenError>,
) -> Result<(T, String), OpenError> {
    match value_of(variable) {
        Some(_) if raised_rights => {
            crate::object::log::wrong_setting(|| {
                format!("{variable} is ignored: it names a library, and the process runs with raised rights")
            });
            open_any(variable, defaults, open)
        }
        Some(name) => open_any(variable, &[&name.to_string_lossy()], open),
        None => open_any(variable, defaults, open),
    }
}

/// Whether a machine without this kind of GPU looks just so: no library, where nobody named one.
#[must_use]
pub fn is_expected(error: &OpenError) -> bool {
    match error {
        OpenError::Library { variable, .. } => !is_named_by(variable),
        OpenError::Symbol { .. } | OpenError::Initialise { .. } => false,
    }
}

/// Whether that variable decides what [`open_first`] opens.
fn is_named_by(variable: &str) -> bool {
    value_of(variable).is_some() && !has_raised_rights()
}

fn value_of(variable: &str) -> Option<OsString> {
    std::env::var_os(variable).filter(|name| !name.is_empty())
}

/// Whether the kernel started this process with more rights than its caller's, which is what `secure_getenv` goes by.
#[must_use]
pub fn has_raised_rights() -> bool {
    // SAFETY: no precondition; a value that the kernel did not give is answered as 0.
    #[cfg(target_os = "linux")]
    let raised = unsafe { libc::getauxval(libc::AT_SECURE) != 0 };
    #[cfg(not(target_os = "linux"))]
    let raised = false;
    #[cfg(test)]
    let raised = raised || tests::RaisedRights::are_simulated();
    raised
}

fn open_any<T>(
    variable: &'static str,
    names: &[&str],
    open: impl Fn(&str) -> Result<T, OpenError>,
) -> Result<(T, String), OpenError> {
    let mut reasons = Vec::with_capacity(names.len());
    for name in names {
        match open(name) {
            Ok(opened) => return Ok((opened, (*name).to_owned())),
            Err(OpenError::Library { tried, .. }) => reasons.push(tried),
            Err(other) => return Err(other),
        }
    }
    Err(OpenError::Library { tried: reasons.join("; "), variable })
}

/// The error of a library that the dynamic linker did not open: its words, and what it does not say well, that a
/// file is for another machine.
#[cold]
pub fn refused(name: &str, error: &dyn Display, variable: &'static str) -> OpenError {
    let mut text = error.to_string();
    if !text.contains(name) {
        text = format!("{name}: {text}");
    }
    if let Some(machine) = other_machine(name) {
        let _ = write!(text, "; the file is for another machine (ELF machine {machine}, not {HOST_MACHINE})");
    }
    OpenError::Library { tried: text, variable }
}

/// The error of a library without a symbol that the backend cannot do without.
#[cold]
pub fn lacks(library: &str, symbol: &str) -> OpenError {
    OpenError::Symbol { library: library.to_owned(), symbol: symbol.to_owned() }
}

/// ELF's number of the machine that this code was compiled for; 0 for one it has no name for here.
pub const HOST_MACHINE: u16 = if cfg!(target_arch = "x86_64") {
    62
} else if cfg!(target_arch = "aarch64") {
    183
} else {
    0
};

/// The machine of an ELF file at that path, if it is another than ours.
fn other_machine(path: &str) -> Option<u16> {
    use std::io::Read as _;
    let mut header = [0; 20];
    std::fs::File::open(path).ok()?.read_exact(&mut header).ok()?;
    let machine = u16::from_le_bytes([header[18], header[19]]);
    (header.starts_with(b"\x7fELF") && HOST_MACHINE != 0 && machine != HOST_MACHINE).then_some(machine)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;
    use std::marker::PhantomData;

    use super::*;

    thread_local! {
        static SIMULATED: Cell<bool> = const { Cell::new(false) };
    }

    /// Makes [`has_raised_rights`] answer `true` on this thread until it is dropped, also by a panic: the test harness may run the
    /// next test on the same thread.
    pub(crate) struct RaisedRights {
        /// It resets this thread's flag, so it must not go to another one.
        _stays_here: PhantomData<*const ()>,
    }

    impl RaisedRights {
        pub(crate) fn simulate() -> Self {
            SIMULATED.set(true);
            Self { _stays_here: PhantomData }
        }

        pub(super) fn are_simulated() -> bool {
            SIMULATED.get()
        }
    }

    impl Drop for RaisedRights {
        fn drop(&mut self) {
            SIMULATED.set(false);
        }
    }

    fn absent(name: &str) -> Result<(), OpenError> {
        Err(refused(name, &"no such file", "UR_TEST_LIBRARY"))
    }

    #[test]
    fn the_first_library_that_is_there_is_taken_and_named() {
        let found = open_any("UR_TEST_LIBRARY", &["a.so.7", "a.so.6", "a.so.5"], |name| {
            if name == "a.so.6" { Ok(6) } else { absent(name).map(|()| 0) }
        });
        assert_eq!(found.unwrap(), (6, "a.so.6".to_owned()));
    }

    #[test]
    fn with_raised_rights_a_variable_names_no_library() {
        // Every process of the tests has this one.
        let opened = |raised| open_first_as(raised, "PATH", &["default.so"], |name| Ok(name.to_owned())).unwrap().1;
        assert_eq!(opened(true), "default.so");
        assert_eq!(opened(false), std::env::var("PATH").unwrap());
    }

    #[test]
    fn every_name_tried_is_told_with_its_reason() {
        let error = open_any("UR_TEST_LIBRARY", &["a.so.7", "a.so.6"], absent).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no native library: a.so.7: no such file; a.so.6: no such file; install the driver or name the library in \
             UR_TEST_LIBRARY"
        );
    }

    #[test]
    fn a_library_that_lacks_a_symbol_ends_the_search() {
        let error = open_any("UR_TEST_LIBRARY", &["a.so.7", "a.so.6"], |name| Err::<(), _>(lacks(name, "aInit")));
        assert!(error.unwrap_err().to_string().starts_with("a.so.7 has no symbol aInit"));
    }
}
