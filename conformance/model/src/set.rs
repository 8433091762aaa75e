//! A small set of command numbers.

/// The most commands of a program.
pub const CAPACITY: usize = 320;

const WORDS: usize = CAPACITY / 64;

/// Numbers below [`CAPACITY`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Set([u64; WORDS]);

impl Set {
    /// One number.
    #[must_use]
    pub fn of(number: usize) -> Self {
        let mut set = Self::default();
        set.insert(number);
        set
    }

    /// Adds a number.
    pub fn insert(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    /// Whether it holds a number.
    #[must_use]
    pub fn has(&self, number: usize) -> bool {
        self.0[number / 64] & (1 << (number % 64)) != 0
    }

    /// What is in either.
    #[must_use]
    pub fn or(mut self, other: &Self) -> Self {
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
        self
    }

    /// What is here and not in the other.
    #[must_use]
    pub fn without(mut self, other: &Self) -> Self {
        for (word, less) in self.0.iter_mut().zip(&other.0) {
            *word &= !less;
        }
        self
    }

    /// Whether all of it is in the other.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.without(other).last().is_none()
    }

    /// The highest number.
    #[must_use]
    pub fn last(&self) -> Option<usize> {
        let (index, word) = self.0.iter().enumerate().rev().find(|(_, word)| **word != 0)?;
        Some(index * 64 + 63 - word.leading_zeros() as usize)
    }

    /// All numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..CAPACITY).filter(|&number| self.has(number))
    }
}
