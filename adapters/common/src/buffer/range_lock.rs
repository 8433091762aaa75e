//! Which bytes of a buffer commands are using while they are put on their streams.
//!
//! A command locks its bytes from before it looks where they are until it is on its stream, over native calls that may
//! block. So only what must not come between waits: a command that changes bytes excludes every other use of them, and one
//! that brings bytes to a location excludes another that brings them there. Reads exclude each other nowhere, and bytes
//! that no two commands share are locked apart. Two commands that exclude each other and are enqueued at once have no order
//! by the application.
//!
//! Plain bookkeeping: no call, no wait; [`crate::buffer::moving`] waits.

use core::ops::Range;

use smallvec::SmallVec;

/// What a command does with bytes while it is put on its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Uses them where they are.
    Read,
    /// Brings them to a location where they are not.
    BringTo(usize),
    /// Changes them.
    Write,
}

#[derive(Debug)]
struct LockedRange {
    command: u64,
    range: Range<usize>,
    purpose: Purpose,
}

/// The bytes of one buffer that are locked.
#[derive(Debug, Default)]
pub struct RangeLocks {
    locked: SmallVec<[LockedRange; 2]>,
    last: u64,
}

impl RangeLocks {
    /// A number that no other command has.
    pub fn new_command(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Whether a use of bytes must wait for a command that has locked some of them.
    #[must_use]
    pub fn excludes(&self, range: &Range<usize>, purpose: Purpose) -> bool {
        self.locked.iter().any(|locked| {
            locked.range.start < range.end
                && range.start < locked.range.end
                && match (locked.purpose, purpose) {
                    (Purpose::Write, _) | (_, Purpose::Write) => true,
                    (Purpose::BringTo(one), Purpose::BringTo(other)) => one == other,
                    _ => false,
                }
        })
    }

    /// Locks bytes for a command; of one command's uses none excludes another.
    pub fn lock(&mut self, command: u64, range: Range<usize>, purpose: Purpose) {
        self.locked.push(LockedRange { command, range, purpose });
    }

    /// Notes that a command has brought bytes of a range to where it needs them, and now only reads them.
    pub fn brought(&mut self, command: u64, range: &Range<usize>) {
        for locked in self.locked.iter_mut().filter(|locked| locked.command == command && locked.range == *range) {
            if matches!(locked.purpose, Purpose::BringTo(_)) {
                locked.purpose = Purpose::Read;
            }
        }
    }

    /// Unlocks everything that a command has locked.
    pub fn unlock(&mut self, command: u64) {
        self.locked.retain(|locked| locked.command != command);
    }

    /// Whether no command but this one has locked anything.
    #[must_use]
    pub fn is_only(&self, command: u64) -> bool {
        self.locked.iter().all(|locked| locked.command == command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shares_no_byte_excludes_nothing() {
        let mut locks = RangeLocks::default();
        let command = locks.new_command();
        locks.lock(command, 10..20, Purpose::Write);
        for purpose in [Purpose::Read, Purpose::BringTo(0), Purpose::Write] {
            assert!(!locks.excludes(&(0..10), purpose) && !locks.excludes(&(20..30), purpose));
            assert!(locks.excludes(&(19..20), purpose) && locks.excludes(&(0..11), purpose));
        }
    }

    #[test]
    fn reads_exclude_writes_alone_and_locations_are_filled_one_by_one() {
        let mut locks = RangeLocks::default();
        let command = locks.new_command();
        locks.lock(command, 0..8, Purpose::BringTo(1));
        assert!(!locks.excludes(&(0..8), Purpose::Read));
        assert!(!locks.excludes(&(0..8), Purpose::BringTo(2)));
        assert!(locks.excludes(&(0..8), Purpose::BringTo(1)));
        assert!(locks.excludes(&(0..8), Purpose::Write));
        locks.brought(command, &(0..8));
        assert!(!locks.excludes(&(0..8), Purpose::BringTo(1)));
        assert!(locks.excludes(&(0..8), Purpose::Write));
    }

    #[test]
    fn a_command_unlocks_its_own_bytes_alone() {
        let mut locks = RangeLocks::default();
        let (one, other) = (locks.new_command(), locks.new_command());
        locks.lock(one, 0..4, Purpose::Write);
        locks.lock(other, 4..8, Purpose::Write);
        assert!(!locks.is_only(one));
        locks.unlock(other);
        assert!(locks.is_only(one));
        assert!(locks.excludes(&(0..1), Purpose::Read) && !locks.excludes(&(4..8), Purpose::Write));
    }
}
