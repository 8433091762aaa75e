//! libnvvm: NVVM IR to PTX. The library is NVIDIA's, comes with the CUDA toolkit or from PyPI, needs no GPU, and is opened at run
//! time. [`Compiler`] is what the rest of a program sees, so that it can be tested without the library.

pub(crate) mod find;
mod library;

pub use find::{LIBRARY_VARIABLE, candidates, found};
pub use library::Nvvm;

use std::fmt;

use crate::emit::Dialect;

/// What can compile NVVM IR.
pub trait Compiler: Send + Sync {
    /// The dialect that it takes for an architecture.
    ///
    /// # Errors
    /// The library does not know the architecture.
    fn dialect(&self, sm: u32) -> Result<Dialect, CompileError>;

    /// Version of the compiler, for keys of caches.
    fn version(&self) -> String;

    /// Compiles and links modules, each with a name for messages, to PTX.
    ///
    /// # Errors
    /// A module or an option is wrong; the error has the compiler's log.
    fn compile(&self, modules: &[(&str, &str)], options: &[String], libdevice: bool) -> Result<Compiled, CompileError>;
}

/// What a compilation gives.
#[derive(Clone, Debug, Default)]
pub struct Compiled {
    /// The PTX, without the zero at its end.
    pub ptx: String,
    /// What the compiler said.
    pub log: String,
}

/// Why there is no PTX or code object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// The library was not found, or is none that this crate can use.
    Missing(String),
    /// The compiler refused the program.
    Refused {
        /// What it was doing, and its status by name.
        what: String,
        /// Its log.
        log: String,
    },
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(what) => f.write_str(what),
            Self::Refused { what, log } if log.is_empty() => f.write_str(what),
            Self::Refused { what, log } => write!(f, "{what}\n{log}"),
        }
    }
}

impl std::error::Error for CompileError {}

/// The first version of PTX with volatile accesses of local memory.
const VOLATILE_LOCAL: (u32, u32) = (9, 1);

/// The PTX with another `.version`, for a driver that is older than the compiler. The instructions that this crate writes exist
/// since PTX 6.2, and libnvvm's own since the version that the architecture needs, but for one: libnvvm 13.5 writes
/// `ld.volatile.local`. A thread alone sees its local memory, so there the access means the same without `volatile`.
#[must_use]
pub fn with_ptx_version(ptx: &str, (major, minor): (u32, u32)) -> String {
    let Some(at) = ptx.find(".version ") else {
        return ptx.to_owned();
    };
    let end = ptx[at..].find('\n').map_or(ptx.len(), |length| at + length);
    let (head, rest) = (&ptx[..at], &ptx[end..]);
    let directive = format!(".version {major}.{minor}");
    if (major, minor) >= VOLATILE_LOCAL || !rest.contains(".volatile.local") {
        return format!("{head}{directive}{rest}");
    }
    let is_access = |line: &str| matches!(line.trim_start().get(..3), Some("ld." | "st."));
    let plain = |line: &str| {
        if is_access(line) { line.replacen(".volatile.local", ".local", 1) } else { line.to_owned() }
    };
    let rest: String = rest.split_inclusive('\n').map(plain).collect();
    format!("{head}{directive}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_ptx_version_changes_the_directive_alone() {
        let ptx = "//\n.version 9.5\n.target sm_90\n";
        assert_eq!(with_ptx_version(ptx, (8, 4)), "//\n.version 8.4\n.target sm_90\n");
        assert_eq!(with_ptx_version(".version 9.5", (8, 4)), ".version 8.4");
        assert_eq!(with_ptx_version("no PTX", (8, 4)), "no PTX");
    }

    #[test]
    fn with_ptx_version_drops_volatile_of_local_memory_where_the_version_has_none() {
        let text = |version: &str, modifier: &str| {
            format!(
                ".version {version}\n\tld{modifier}.local.u32 \t%r1, [%rd1+4];\n\tst{modifier}.local.u32 \t[%rd1], %r1;\n\tld.volatile.global.u32 %r2, [%rd2];\n"
            )
        };
        assert_eq!(with_ptx_version(&text("9.5", ".volatile"), (9, 0)), text("9.0", ""));
        assert_eq!(with_ptx_version(&text("9.5", ".volatile"), (9, 1)), text("9.1", ".volatile"));
    }
}
