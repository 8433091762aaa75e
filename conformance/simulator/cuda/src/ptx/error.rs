//! Why a PTX text was not loaded. Every error carries the line it was found on; none is ever a guess.

use std::fmt;

/// What sort of error it is, for those who must answer with a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadErrorKind {
    /// The text is not PTX: `CUDA_ERROR_INVALID_PTX`.
    Syntax,
    /// An instruction, or a form of one, that the interpreter does not know: `CUDA_ERROR_INVALID_PTX`.
    UnknownInstruction,
    /// A register, label, variable or function that is not declared: `CUDA_ERROR_INVALID_PTX`.
    UndefinedSymbol,
    /// Operands that do not fit their instruction: `CUDA_ERROR_INVALID_PTX`.
    Operand,
    /// `.target` names a newer architecture than the device: `CUDA_ERROR_NO_BINARY_FOR_GPU`.
    TargetTooNew,
    /// `.version` is newer than the interpreter's: `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`.
    VersionTooNew,
}

/// Why a PTX text was not loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The line, from 1.
    pub line: u32,
    /// The sort of error.
    pub kind: LoadErrorKind,
    /// What is wrong, naming it.
    pub message: String,
}

impl LoadError {
    pub(crate) fn new(line: u32, kind: LoadErrorKind, message: impl Into<String>) -> Self {
        LoadError { line, kind, message: message.into() }
    }

    pub(crate) fn syntax(line: u32, message: impl Into<String>) -> Self {
        Self::new(line, LoadErrorKind::Syntax, message)
    }

    pub(crate) fn operand(line: u32, message: impl Into<String>) -> Self {
        Self::new(line, LoadErrorKind::Operand, message)
    }

    pub(crate) fn undefined(line: u32, message: impl Into<String>) -> Self {
        Self::new(line, LoadErrorKind::UndefinedSymbol, message)
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ptx line {}: error: {}", self.line, self.message)
    }
}

impl std::error::Error for LoadError {}
