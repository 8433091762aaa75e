//! Where graphs write in the application's own memory.
//!
//! A node that copies to memory which the native library does not know writes there when its launch gets to it. A copy out of
//! such memory, which the library takes at the call, must come after that ([`super::from_application`]). So every range
//! that a command buffer or a capture was told to write is remembered: ranges that meet become one, and of more than [`MOST`]
//! the two that lie closest, with what is between them.
//!
//! Must never forget a range: launches outlive their graphs' handles. What lies there after the graph has gone costs its
//! copies a turn of a worker, and only behind work that is not over. Must cost a copy one load while no graph writes there, and
//! those that lie before or behind all ranges no lock.

use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::context::Context;
use crate::device::native_context::registrations;
use crate::driver::Driver;
use crate::pool::extent::known_kind;

/// More ranges are not kept apart.
const MOST: usize = 256;

/// The first address of all ranges, and the end of the last one.
static START: AtomicUsize = AtomicUsize::new(usize::MAX);
static END: AtomicUsize = AtomicUsize::new(0);
static RANGES: Mutex<Ranges> = Mutex::new(Ranges(Vec::new()));

/// Remembers what a graph writes, if it is memory that the native library does not know.
#[cold]
pub fn note<D: Driver>(driver: &D, range: Range<usize>) {
    if !is_known(driver, range.start) {
        RANGES.lock().add(range.clone());
        START.fetch_min(range.start, Ordering::AcqRel);
        END.fetch_max(range.end, Ordering::AcqRel);
    }
}

/// The same, without asking the native library about memory that the context's own tables know.
#[cold]
pub fn note_unless_known<D: Driver>(context: &Context<D>, driver: &D, range: Range<usize>) {
    if known_kind(context, range.start).is_none() {
        note(driver, range);
    }
}

/// Whether a graph writes any of these bytes.
#[inline(always)]
pub fn include(range: &Range<usize>) -> bool {
    let meets_all = range.start < END.load(Ordering::Acquire) && START.load(Ordering::Acquire) < range.end;
    meets_all && look(range.start, range.end)
}

/// By value: what a cold call takes by its address lies on the stack for every copy.
#[cold]
fn look(start: usize, end: usize) -> bool {
    RANGES.lock().meet(&(start..end))
}

/// Whether the native library does not know the memory.
pub fn is_unknown<D: Driver>(context: &Context<D>, driver: &D, address: usize) -> bool {
    known_kind(context, address).is_none() && !is_known(driver, address)
}

fn is_known<D: Driver>(driver: &D, address: usize) -> bool {
    matches!(registrations::pointer_info(driver, address), Ok(Some(_)))
}

/// Ranges in the order of their addresses, with gaps between them.
struct Ranges(Vec<Range<usize>>);

impl Ranges {
    /// The index of the first one that ends at an address or behind it.
    fn first_that_ends_at(&self, address: usize) -> usize {
        self.0.partition_point(|known| known.end < address)
    }

    fn add(&mut self, range: Range<usize>) {
        let first = self.first_that_ends_at(range.start);
        let met = self.0[first..].iter().take_while(|known| known.start <= range.end).count();
        let met = first..first + met;
        let whole =
            self.0[met.clone()].iter().fold(range, |all, known| all.start.min(known.start)..all.end.max(known.end));
        self.0.splice(met, [whole]);
        if self.0.len() > MOST {
            self.join_closest();
        }
    }

    fn join_closest(&mut self) {
        let gap = |at: &usize| self.0[at + 1].start - self.0[*at].end;
        if let Some(at) = (0..self.0.len() - 1).min_by_key(gap) {
            let joined = self.0[at].start..self.0[at + 1].end;
            self.0.splice(at..at + 2, [joined]);
        }
    }

    fn meet(&self, range: &Range<usize>) -> bool {
        self.0[self.first_that_ends_at(range.start)..]
            .iter()
            .find(|known| known.end > range.start)
            .is_some_and(|known| known.start < range.end)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranges_that_meet_become_one() {
        let mut ranges = Ranges(Vec::new());
        for range in [10..20, 30..40, 60..70, 20..30, 35..61] {
            ranges.add(range);
        }
        assert_eq!(ranges.0, vec![10..70; 1]);
    }

    #[test]
    fn of_too_many_the_closest_become_one_with_what_is_between() {
        let mut ranges = Ranges(Vec::new());
        for at in 0..MOST {
            ranges.add(at * 100..at * 100 + 10);
        }
        ranges.add(1015..1020);
        assert_eq!(ranges.0.len(), MOST);
        assert!(ranges.meet(&(1012..1013)) && !ranges.meet(&(1050..1060)));
    }

    proptest! {
        #[test]
        fn what_was_added_is_found_and_ends_are_exact(
            added in proptest::collection::vec((0usize..4000, 1usize..50), 1..200),
            (asked, size) in (0usize..4000, 1usize..50),
        ) {
            let mut ranges = Ranges(Vec::new());
            added.iter().for_each(|&(at, size)| ranges.add(at..at + size));
            let meets = added.iter().any(|&(at, length)| at < asked + size && asked < at + length);
            prop_assert_eq!(ranges.meet(&(asked..asked + size)), meets);
        }
    }
}
