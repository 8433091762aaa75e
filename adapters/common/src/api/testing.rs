//! What every backend's tests check of its opening code; compiled for tests alone (feature `testing`).
//!
//! Libraries are made with the system's C compiler in a folder of their own; nothing here is part of an adapter.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use ur_ffi::ur_result_t;

use crate::driver::native::Status;
use crate::driver::native::library::HOST_MACHINE;
use crate::object::error::OpenError;

/// A backend's opening code, as its tests see it.
pub struct Opening {
    /// Opens a library by that name and looks every symbol up.
    pub open: fn(&str) -> Result<(), OpenError>,
    /// Symbols that a library must have.
    pub required: &'static [&'static str],
    /// The variable that names another library.
    pub variable: &'static str,
}

/// Compiles a shared library that exports the symbols given, all answering 0.
///
/// # Panics
/// Without a C compiler.
#[must_use]
pub fn fake_library(folder: &Path, symbols: &[&str]) -> PathBuf {
    fake_library_with(folder, symbols, "")
}

/// The same with functions in C beside them.
///
/// # Panics
/// When there is no C compiler, or the functions are wrong.
#[must_use]
pub fn fake_library_with(folder: &Path, symbols: &[&str], functions: &str) -> PathBuf {
    let source = folder.join("fake.c");
    let mut text = format!("int nothing_native(void) {{ return 0; }}\n{functions}\n");
    for symbol in symbols {
        let _ = writeln!(text, "long {symbol}(void) {{ return 0; }}");
    }
    std::fs::write(&source, text).expect("a source file");
    let library = folder.join("libfake.so");
    let status = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status().expect("cc");
    assert!(status.success(), "cc cannot build {}", source.display());
    library
}

impl Opening {
    fn failure(&self, path: &Path) -> OpenError {
        match (self.open)(path.to_str().expect("a path of this test")) {
            Ok(()) => panic!("{} was taken for a native library", path.display()),
            Err(error) => error,
        }
    }

    /// A name that nothing is behind is told, with the linker's words and the variable.
    ///
    /// # Panics
    /// When it is not so, like all that follow.
    pub fn names_a_missing_library(&self) {
        assert_eq!(
            self.failure(Path::new("/nowhere/libnative.so.1")).to_string(),
            format!(
                "no native library: /nowhere/libnative.so.1: cannot open shared object file: No such file or \
                 directory; install the driver or name the library in {}",
                self.variable
            )
        );
    }

    /// A library of another machine is told as such.
    #[allow(clippy::missing_panics_doc, reason = "a check")]
    pub fn names_another_machine(&self) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = fake_library(folder.path(), &[]);
        let mut bytes = std::fs::read(&path).expect("the library");
        let other: u16 = if HOST_MACHINE == 183 { 62 } else { 183 };
        bytes[18..20].copy_from_slice(&other.to_le_bytes());
        std::fs::write(&path, bytes).expect("the library");
        let text = self.failure(&path).to_string();
        assert!(
            text.contains(&format!("the file is for another machine (ELF machine {other}, not {HOST_MACHINE})"))
                && text.contains(path.to_str().expect("a path of this test"))
                && text.ends_with(&format!("install the driver or name the library in {}", self.variable)),
            "{text}"
        );
    }

    /// A file that is no library gives the linker's words.
    #[allow(clippy::missing_panics_doc, reason = "a check")]
    pub fn gives_the_linkers_words(&self) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("libnative.so.1");
        std::fs::write(&path, "INPUT(-lnative)").expect("a file");
        let text = self.failure(&path).to_string();
        assert!(text.starts_with(&format!("no native library: {}: ", path.display())), "{text}");
    }

    /// Each required symbol that is missing alone is the one that is named.
    #[allow(clippy::missing_panics_doc, reason = "a check")]
    pub fn names_the_missing_symbol(&self) {
        let first = self.required[0];
        let folder = tempfile::tempdir().expect("a folder");
        let path = fake_library(folder.path(), &[]);
        assert_eq!(
            self.failure(&path).to_string(),
            format!(
                "{} has no symbol {first}; it is older than this adapter supports or not the native library",
                path.display()
            )
        );
        let half = &self.required[..self.required.len() / 2];
        let all_but_last = &self.required[..self.required.len() - 1];
        for there in [half, all_but_last] {
            let folder = tempfile::tempdir().expect("a folder");
            let path = fake_library(folder.path(), there);
            let OpenError::Symbol { symbol, .. } = self.failure(&path) else { panic!("not a missing symbol") };
            assert_eq!(symbol, self.required[there.len()]);
        }
    }
}

/// Every status of a backend has the code that a list gives it, `ADAPTER_SPECIFIC` where none does; only success is
/// success, and a number that no header knows is `ADAPTER_SPECIFIC` too.
///
/// # Panics
/// With the names of the statuses that are otherwise.
pub fn check_codes<S: Status>(every: &[(S, &str)], of: fn(i32) -> S, expected: &[(ur_result_t, &[i32])]) {
    let wanted = |number: i32| {
        let listed = expected.iter().find(|(_, numbers)| numbers.contains(&number)).map(|(code, _)| *code);
        if number == S::SUCCESS.number() {
            ur_result_t::SUCCESS
        } else {
            listed.unwrap_or(ur_result_t::ERROR_ADAPTER_SPECIFIC)
        }
    };
    let wrong: Vec<_> = every
        .iter()
        .filter(|(status, _)| status.code() != wanted(status.number()))
        .map(|(status, name)| format!("{name}: {:?} and not {:?}", status.code(), wanted(status.number())))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    for number in expected.iter().flat_map(|(_, numbers)| *numbers) {
        assert!(every.iter().any(|(status, _)| status.number() == *number), "{number} is no status");
    }
    for number in [123_456, -1] {
        assert_eq!(of(number).code(), ur_result_t::ERROR_ADAPTER_SPECIFIC);
    }
}

/// The tests of a backend's opening code: `opening_tests!(table, variable)`.
#[macro_export]
macro_rules! opening_tests {
    ($table:ty, $variable:expr) => {
        const OPENING: $crate::testing::Opening = $crate::testing::Opening {
            open: |name| <$table>::open(name, $variable).map(|_| ()),
            required: <$table>::REQUIRED,
            variable: $variable,
        };

        #[test]
        fn a_missing_library_is_named_with_the_variable_that_overrides_it() {
            OPENING.names_a_missing_library();
        }

        #[test]
        fn a_library_of_another_machine_is_named_as_such() {
            OPENING.names_another_machine();
        }

        #[test]
        fn a_file_that_is_no_library_gives_the_linkers_words() {
            OPENING.gives_the_linkers_words();
        }

        #[test]
        fn the_first_required_symbol_that_is_missing_is_named() {
            OPENING.names_the_missing_symbol();
        }

        /// The table over a library that has the required symbols alone, all of them answering 0.
        fn over_a_fake() -> $table {
            let folder = tempfile::tempdir().expect("a folder");
            let path = $crate::testing::fake_library(folder.path(), <$table>::REQUIRED);
            <$table>::open(path.to_str().expect("a path of this test"), $variable).expect("every required symbol")
        }
    };
}
