//! libnvvm: NVVM IR to PTX. The library is NVIDIA's, comes with the CUDA toolkit or from PyPI, needs no GPU, and is opened at run
//! time. [`Compiler`] is what the rest of a program sees, so that it can be tested without the library.

mod find;
mod library;

pub use find::{LIBRARY_VARIABLE, candidates};
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

/// Why there is no PTX.
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
