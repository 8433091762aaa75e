//! Which bytes of a buffer commands are using while they are put on their streams.
//!
//! A command locks its bytes from before it looks where they are until it is on its stream, over native calls that may
//! block. So only what must not come between waits: a command that changes bytes excludes every other use of them. Reads exclude
//! each other nowhere, though two may bring the same bytes to one place, and bytes that no two commands share are locked apart.
//! Two commands that exclude each other and are enqueued at once have no order by the application.
//!
//! What is locked is a count of uses for each byte, kept for runs of bytes that are used alike and in their order. So a question
//! costs as much as there are runs in its own range, however many commands there are.
//!
//! Plain bookkeeping: no call, no wait; [`crate::buffer::moving`] waits.

use core::ops::Range;
use std::collections::BTreeMap;

use smallvec::SmallVec;

/// What a command does with bytes while it is put on its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// Uses them as they are, wherever that is.
    Read,
    /// Changes them.
    Write,
}

/// How many uses of each kind a run of bytes has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    reads: usize,
    writes: usize,
}

impl Counts {
    fn of(&mut self, purpose: Purpose) -> &mut usize {
        match purpose {
            Purpose::Read => &mut self.reads,
            Purpose::Write => &mut self.writes,
        }
    }

    fn exclude(self, purpose: Purpose) -> bool {
        self.writes > 0 || purpose == Purpose::Write && self.reads > 0
    }
}

/// Bytes side by side that are used alike.
#[derive(Debug)]
struct Run {
    end: usize,
    counts: Counts,
}

/// What one command has locked. Whoever gets it unlocks it.
#[derive(Debug, Default)]
pub struct LockedRanges {
    /// In their order, each once.
    uses: SmallVec<[(usize, usize, Purpose); 2]>,
}

/// The bytes of one buffer that are locked.
#[derive(Debug, Default)]
pub struct RangeLocks {
    /// By their first bytes. Neighbours are used differently, and what is between them is not used.
    runs: BTreeMap<usize, Run>,
    /// How many have locked something.
    commands: usize,
    #[cfg(test)]
    steps: core::cell::Cell<usize>,
}

impl RangeLocks {
    /// Whether a use of bytes must wait for a command that has locked some of them.
    #[must_use]
    pub fn excludes(&self, range: &Range<usize>, purpose: Purpose) -> bool {
        let first = self.runs.range(..=range.start).next_back().filter(|(_, run)| run.end > range.start);
        let others = self.runs.range(range.start.saturating_add(1)..range.end.max(range.start.saturating_add(1)));
        first.into_iter().chain(others).any(|(_, run)| {
            self.count_step();
            run.counts.exclude(purpose)
        })
    }

    /// Locks bytes for a command; of one command's uses none excludes another.
    pub fn lock(&mut self, uses: impl IntoIterator<Item = (Range<usize>, Purpose)>) -> LockedRanges {
        let is_something = |(range, _): &(Range<usize>, Purpose)| !range.is_empty();
        let mut uses: SmallVec<[_; 2]> =
            uses.into_iter().filter(is_something).map(|(range, purpose)| (range.start, range.end, purpose)).collect();
        uses.sort_unstable();
        uses.dedup();
        for (start, end, purpose) in &uses {
            self.change(*start..*end, |counts| *counts.of(*purpose) += 1);
        }
        self.commands += 1;
        LockedRanges { uses }
    }

    /// Unlocks everything that a command has locked.
    pub fn unlock(&mut self, locked: LockedRanges) {
        for (start, end, purpose) in locked.uses {
            self.change(start..end, |counts| *counts.of(purpose) -= 1);
        }
        self.commands -= 1;
    }

    /// Whether the caller, who has locked something, is alone with that.
    #[must_use]
    pub fn is_only(&self) -> bool {
        self.commands == 1
    }

    /// Changes the counts of a range's bytes.
    fn change(&mut self, range: Range<usize>, change: impl Fn(&mut Counts)) {
        self.cut(range.start);
        self.cut(range.end);
        self.fill_gaps(&range);
        for (_, run) in self.runs.range_mut(range.clone()) {
            change(&mut run.counts);
        }
        self.join(&range);
    }

    /// Makes a run begin at a byte, if one goes across it.
    fn cut(&mut self, at: usize) {
        let Some((_, before)) = self.runs.range_mut(..at).next_back().filter(|(_, run)| run.end > at) else { return };
        let behind = Run { end: before.end, counts: before.counts };
        before.end = at;
        self.runs.insert(at, behind);
    }

    /// Makes runs of the bytes in a range that nobody uses.
    fn fill_gaps(&mut self, range: &Range<usize>) {
        let mut gaps: SmallVec<[Range<usize>; 2]> = SmallVec::new();
        let mut at = range.start;
        for (start, run) in self.runs.range(range.clone()) {
            self.count_step();
            if at < *start {
                gaps.push(at..*start);
            }
            at = run.end;
        }
        if at < range.end {
            gaps.push(at..range.end);
        }
        for gap in gaps {
            self.runs.insert(gap.start, Run { end: gap.end, counts: Counts::default() });
        }
    }

    /// Forgets runs of a range that nobody uses any more, and makes one of neighbours that are used alike.
    fn join(&mut self, range: &Range<usize>) {
        let before = self.runs.range(..range.start).next_back().map_or(range.start, |(start, _)| *start);
        let starts: SmallVec<[usize; 4]> = self.runs.range(before..=range.end).map(|(start, _)| *start).collect();
        let mut last = None;
        for start in starts {
            self.count_step();
            let Some(run) = self.runs.get(&start) else { continue };
            let end = run.end;
            let is_alike = |known: &usize| self.runs[known].end == start && self.runs[known].counts == run.counts;
            if run.counts == Counts::default() {
                self.runs.remove(&start);
            } else if let Some(known) = last.filter(is_alike) {
                self.runs.remove(&start);
                self.runs.entry(known).and_modify(|known| known.end = end);
            } else {
                last = Some(start);
            }
        }
    }

    /// Counts what a test holds against the number of commands.
    #[inline(always)]
    fn count_step(&self) {
        #[cfg(test)]
        self.steps.set(self.steps.get() + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shares_no_byte_excludes_nothing() {
        let mut locks = RangeLocks::default();
        let _locked = locks.lock([(10..20, Purpose::Write)]);
        for purpose in [Purpose::Read, Purpose::Write] {
            assert!(!locks.excludes(&(0..10), purpose) && !locks.excludes(&(20..30), purpose));
            assert!(locks.excludes(&(19..20), purpose) && locks.excludes(&(0..11), purpose));
            assert!(locks.excludes(&(10..11), purpose) && locks.excludes(&(5..40), purpose));
        }
    }

    #[test]
    fn reads_exclude_writes_alone() {
        let mut locks = RangeLocks::default();
        let locked = [locks.lock([(0..8, Purpose::Read)]), locks.lock([(0..8, Purpose::Read)])];
        for one in locked {
            assert!(!locks.excludes(&(0..8), Purpose::Read) && locks.excludes(&(0..8), Purpose::Write));
            locks.unlock(one);
        }
        assert!(!locks.excludes(&(0..8), Purpose::Write) && locks.runs.is_empty());
    }

    #[test]
    fn a_command_unlocks_its_own_bytes_alone() {
        let mut locks = RangeLocks::default();
        let one = locks.lock([(0..4, Purpose::Write)]);
        let other = locks.lock([(4..8, Purpose::Write)]);
        assert!(!locks.is_only());
        locks.unlock(other);
        assert!(locks.is_only());
        assert!(locks.excludes(&(0..1), Purpose::Read) && !locks.excludes(&(4..8), Purpose::Write));
        locks.unlock(one);
        assert!(locks.runs.is_empty());
    }

    #[test]
    fn uses_of_one_command_count_once_each_and_end_together() {
        let mut locks = RangeLocks::default();
        let purposes = [Purpose::Read, Purpose::Write, Purpose::Read];
        let locked = locks.lock(purposes.map(|purpose| (2..6, purpose)).into_iter().chain([(9..9, Purpose::Write)]));
        assert!(locks.excludes(&(5..6), Purpose::Read) && !locks.excludes(&(8..10), Purpose::Write));
        locks.unlock(locked);
        assert!(locks.runs.is_empty());
    }

    /// Every question about every byte is answered as a list of all locked ranges answers it.
    #[test]
    fn random_uses_exclude_what_a_list_of_them_excludes() {
        type Uses = Vec<(Range<usize>, Purpose)>;
        const SIZE: usize = 24;
        let excludes = |held: &[(LockedRanges, Uses)], range: &Range<usize>, purpose: Purpose| {
            let all = held.iter().flat_map(|(_, uses)| uses);
            all.filter(|(used, _)| used.start < range.end && range.start < used.end)
                .any(|(_, used)| *used == Purpose::Write || purpose == Purpose::Write)
        };
        let mut seed = 1u64;
        let mut random = move |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        let (mut locks, mut held) = (RangeLocks::default(), Vec::<(LockedRanges, Uses)>::new());
        for _ in 0..4000 {
            match random(4) {
                0 | 1 if held.len() < 6 => {
                    let mut uses = Uses::new();
                    for _ in 0..=random(2) {
                        let start = random(SIZE);
                        let purpose = if random(2) == 0 { Purpose::Read } else { Purpose::Write };
                        uses.push((start..start + 1 + random(SIZE - start), purpose));
                    }
                    held.push((locks.lock(uses.clone()), uses));
                }
                _ if !held.is_empty() => locks.unlock(held.swap_remove(random(held.len())).0),
                _ => {}
            }
            for at in 0..SIZE {
                for purpose in [Purpose::Read, Purpose::Write] {
                    let range = at..at + 1;
                    assert_eq!(locks.excludes(&range, purpose), excludes(&held, &range, purpose), "{held:?}");
                }
            }
            // Two runs at most for each range that is locked, and one before the first.
            let ranges: usize = held.iter().map(|(_, uses)| uses.len()).sum();
            assert!(locks.runs.len() <= 2 * ranges, "{:?}", locks.runs);
        }
    }

    /// Steps that one more command takes beside as many that have locked bytes of their own, and as many that read all.
    fn steps_beside(commands: usize) -> usize {
        let mut locks = RangeLocks::default();
        let all = 0..4 * commands;
        let mut held: Vec<_> = (0..commands).map(|at| locks.lock([(4 * at..4 * at + 2, Purpose::Read)])).collect();
        held.extend((0..commands).map(|_| locks.lock([(all.end..all.end + 4, Purpose::Read)])));
        locks.steps.set(0);
        let range = 2 * commands..2 * commands + 2;
        assert!(locks.excludes(&range, Purpose::Write) && !locks.excludes(&range, Purpose::Read));
        let locked = locks.lock([(range, Purpose::Read), (all.end..all.end + 4, Purpose::Read)]);
        locks.unlock(locked);
        let steps = locks.steps.get();
        held.into_iter().for_each(|locked| locks.unlock(locked));
        assert!(locks.runs.is_empty());
        steps
    }

    #[test]
    fn a_command_takes_as_many_steps_beside_64000_others_as_beside_1000() {
        let (few, many) = (steps_beside(1000), steps_beside(64_000));
        assert!(few > 0 && many <= few, "{many} steps beside 64,000 commands, {few} beside 1,000");
    }

    /// Steps of a command that uses so many parts of the buffer.
    fn steps_of(parts: usize) -> usize {
        let mut locks = RangeLocks::default();
        let part = |at: usize| 4 * at..4 * at + 2;
        let locked = locks.lock((0..parts).map(|at| (part(at), Purpose::Write)));
        locks.unlock(locked);
        locks.steps.get()
    }

    #[test]
    fn a_command_with_64000_parts_takes_as_many_steps_for_each_as_one_with_1000() {
        let (few, many) = (steps_of(1000), steps_of(64_000));
        assert!(many / 64 <= few + 2, "{many} steps for 64,000 parts, {few} for 1,000");
    }
}
