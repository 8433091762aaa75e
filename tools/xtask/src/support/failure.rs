//! The one error type: a sentence for the person at the terminal. It must say what was attempted, on what, and why it
//! did not work; nothing here decides what happens next.

use std::fmt;

/// What went wrong, as it is printed.
pub struct Failure(String);

/// A result whose error is a sentence.
pub type Result<T = ()> = std::result::Result<T, Failure>;

impl Failure {
    /// An error with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Failure(text.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Failure {}

/// Says what was being done when something else's error came up.
pub trait Context<T> {
    /// `what: error`
    fn context(self, what: impl fmt::Display) -> Result<T>;
}

impl<T, E: fmt::Display> Context<T> for std::result::Result<T, E> {
    fn context(self, what: impl fmt::Display) -> Result<T> {
        self.map_err(|error| Failure(format!("{what}: {error}")))
    }
}

/// Returns a [`Failure`] with a formatted text.
#[macro_export]
macro_rules! fail {
    ($($text:tt)*) => {
        return Err($crate::support::failure::Failure::new(format!($($text)*)))
    };
}
