//! Bytes that a command may use until it has finished, and the native copies and fills of them.
//!
//! Whoever makes a [`CommandBytes`] keeps the memory until the command has finished. The application owes it to the command
//! where an [`Address`] names it. A buffer's memory is freed only after its pending uses, and the bytes are locked until the
//! command is on its stream. What a map stages is freed only after its last copy. So whoever copies has nothing to promise,
//! and only this room makes bytes of a number.

use core::ops::Range;

use crate::command::Command as _;
use crate::command::graph::GraphBuilder;
use crate::driver::Driver;
use crate::object::error::Result;
use crate::object::params::Address;
use crate::stream::staging::Staging;
use crate::usm;

/// Bytes that a command may read or write until it has finished.
#[derive(Clone, Copy, Debug)]
pub struct CommandBytes {
    address: usize,
    size: usize,
}

impl CommandBytes {
    /// The application's own bytes, from an offset behind the address on.
    #[must_use]
    pub fn of_application(memory: Address, offset: usize, size: usize) -> Self {
        Self { address: memory.addr() + offset, size }
    }

    /// Memory that a graph allocates when it is launched.
    #[must_use]
    pub fn of_allocation(address: usize, size: usize) -> Self {
        Self { address, size }
    }

    /// No bytes.
    #[must_use]
    pub fn none() -> Self {
        Self { address: 0, size: 0 }
    }

    /// Bytes of memory that a buffer keeps until what uses them is over.
    pub(super) fn of_buffer(address: usize, size: usize) -> Self {
        Self { address, size }
    }

    /// Memory that stands in for a buffer's bytes, which no other command uses before its last use is over.
    #[must_use]
    pub fn of_staging<D: Driver>(staging: &Staging<D>) -> Self {
        Self { address: staging.address(), size: staging.size() }
    }

    /// Where the first of them is.
    #[must_use]
    pub fn address(self) -> usize {
        self.address
    }

    /// How many there are.
    #[must_use]
    pub fn size(self) -> usize {
        self.size
    }

    /// Some of them, counted from the first.
    ///
    /// # Panics
    /// If they are not all within.
    #[must_use]
    pub fn part(self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.size, "{range:?} of {} bytes", self.size);
        Self { address: self.address + range.start, size: range.len() }
    }
}

/// Copies bytes in the stream's order.
///
/// # Panics
/// If one side has more than the other.
///
/// # Errors
/// What the native library answers.
pub fn copy<D: Driver>(driver: &D, stream: &D::Stream, to: CommandBytes, from: CommandBytes) -> Result<()> {
    assert_eq!(to.size, from.size, "both sides of a copy are as long");
    // SAFETY: both sides are there until the command has finished, which is what the type says, and `size` bytes long.
    unsafe { driver.copy_async(to.address, from.address, from.size, stream) }
}

/// Repeats a pattern over bytes, which are a multiple of its length, in the stream's order. The pattern is not needed
/// afterwards.
///
/// # Errors
/// What the native library answers.
pub fn fill<D: Driver>(driver: &D, stream: &D::Stream, to: CommandBytes, pattern: &[u8]) -> Result<()> {
    // SAFETY: the bytes are there until the command has finished, which is what the type says.
    unsafe { usm::fill::fill(driver, stream, to.address, pattern, to.size) }
}

/// Adds a copy to a graph, whose every launch is a command that the bytes are there for.
///
/// # Panics
/// If one side has more than the other.
///
/// # Errors
/// What the native library answers.
pub fn add_copy<D: Driver>(graph: &mut GraphBuilder<'_, D>, to: CommandBytes, from: CommandBytes) -> Result<()> {
    assert_eq!(to.size, from.size, "both sides of a copy are as long");
    usm::copy::Copy { device: graph.device(), to: to.address, from: from.address, size: from.size }.add_to(graph)
}

/// Adds a fill to a graph, as [`add_copy`] does a copy; the bytes are a multiple of the pattern's length.
///
/// # Errors
/// What the native library answers.
pub fn add_fill<D: Driver>(graph: &mut GraphBuilder<'_, D>, to: CommandBytes, pattern: &[u8]) -> Result<()> {
    usm::fill::Fill { device: graph.device(), to: to.address, pattern, size: to.size }.add_to(graph)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_counts_from_the_first_byte() {
        let part = CommandBytes::of_buffer(100, 10).part(3..7);
        assert_eq!((part.address(), part.size()), (103, 4));
        assert_eq!(part.part(4..4).address(), 107);
    }

    #[test]
    #[should_panic(expected = "3..11 of 10 bytes")]
    fn a_part_does_not_reach_beyond() {
        let _ = CommandBytes::of_buffer(100, 10).part(3..11);
    }
}
