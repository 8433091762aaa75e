//! What the process's environment may decide. A variable that names a library or a file decides nothing in a process that
//! runs with raised rights (a set-user-ID or set-group-ID program, or one with file capabilities): whoever starts such a
//! program sets its variables and must not thereby run code or write files with its rights. Everybody who reads such a
//! variable asks here first. Holds no state; must never read the environment of any other process.

use std::ffi::OsString;

/// A variable's value; an empty one counts as unset.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Whether the kernel started this process with more rights than its caller's (`AT_SECURE`), which is what
/// `secure_getenv` goes by.
pub fn has_raised_rights() -> bool {
    // SAFETY: no precondition; a value that the kernel did not give is answered as 0.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// The sentence about a variable that is not read.
pub fn withheld(name: &str) -> String {
    format!("{name} is ignored: it names files, and the process runs with raised rights (set-user-ID or the like)")
}
