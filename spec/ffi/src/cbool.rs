//! C's `bool` as it arrives: a byte. A caller's slip must not become undefined behaviour here.

use core::fmt;

/// A C `bool`. Any byte is a valid value; everything but zero means true.
#[repr(transparent)]
#[derive(Clone, Copy, Default)]
pub struct CBool(pub u8);

impl CBool {
    /// False.
    pub const FALSE: Self = Self(0);
    /// True.
    pub const TRUE: Self = Self(1);

    /// The truth value.
    #[must_use]
    pub const fn get(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for CBool {
    fn from(value: bool) -> Self {
        Self(u8::from(value))
    }
}

impl From<CBool> for bool {
    fn from(value: CBool) -> Self {
        value.get()
    }
}

impl PartialEq for CBool {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for CBool {}

impl fmt::Debug for CBool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.get())
    }
}

#[cfg(test)]
mod tests {
    use super::CBool;

    #[test]
    fn every_byte_but_zero_is_true() {
        assert!(!CBool(0).get());
        for byte in 1..=u8::MAX {
            assert!(CBool(byte).get());
            assert_eq!(CBool(byte), CBool::TRUE);
        }
        assert_eq!(CBool::from(true).0, 1);
    }
}
