//! The one error of this crate: what is wrong, at which word of the module, in which instruction.

use std::fmt;

use crate::grammar;

/// What kind of mistake a module has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The bytes are no SPIR-V module, or break a rule of the specification.
    Malformed,
    /// The module is larger or nested deeper than the crate's limits allow ([`crate::limits`]).
    Limit,
    /// The module is right, but this crate or the chosen target has no code for it.
    Unsupported,
    /// Modules that do not fit each other.
    Link,
    /// An option or a specialisation constant that the caller gave is wrong.
    Option,
}

/// Why a module could not be read or translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    word: Option<usize>,
    instruction: Option<String>,
    message: String,
}

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// What kind of mistake it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The number of the 32-bit word, counted from the start of the module, at which the instruction begins.
    #[must_use]
    pub fn word(&self) -> Option<usize> {
        self.word
    }

    /// The instruction's name, or `opcode N`.
    #[must_use]
    pub fn instruction(&self) -> Option<&str> {
        self.instruction.as_deref()
    }

    /// What is wrong, without the place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, word: None, instruction: None, message: message.into() }
    }

    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Malformed, message)
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    pub(crate) fn limit(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Limit, message)
    }

    pub(crate) fn link(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Link, message)
    }

    pub(crate) fn option(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Option, message)
    }

    /// Adds the place, unless a deeper function has named it already.
    pub(crate) fn at(mut self, word: usize, opcode: u16) -> Self {
        if self.word.is_none() {
            self.word = Some(word);
            self.instruction = Some(grammar::name(opcode));
        }
        self
    }

    /// Adds the word alone, for what is wrong outside any instruction.
    pub(crate) fn at_word(mut self, word: usize) -> Self {
        self.word.get_or_insert(word);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.word, &self.instruction) {
            (Some(word), Some(instruction)) => write!(f, "word {word} ({instruction}): {}", self.message),
            (Some(word), None) => write!(f, "word {word}: {}", self.message),
            _ => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Error {}
