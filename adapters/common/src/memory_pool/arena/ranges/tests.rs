//! What a stream may have and behind what, against a plain list of ranges; and what a question costs.

use proptest::prelude::*;

use crate::memory_pool::arena::index::steps_of;
use crate::memory_pool::arena::ranges::*;

const BLOCK: usize = 512;

/// Streams are letters here, and events numbers.
type Plain = Ranges<char, u32>;

/// One free region.
fn region(start: usize, size: usize) -> Plain {
    let mut ranges = Plain::new();
    ranges.add_region(start, size);
    ranges
}

fn take(ranges: &mut Plain, key: StreamKey, size: usize) -> Option<Taken<char, u32>> {
    ranges.take_own(key, size).or_else(|| ranges.take_free(size)).or_else(|| ranges.take_covered(size))
}

fn give(ranges: &mut Plain, start: usize, key: StreamKey, position: u64) {
    ranges.give_back(start, key, || 'a', position);
}

/// Ranges of which stream 1 has freed two blocks, by its commands 1 and 2.
fn two_freed() -> Plain {
    let mut ranges = region(0, 2 * BLOCK);
    let blocks = [ranges.take_free(BLOCK), ranges.take_free(BLOCK)].map(|taken| taken.expect("a block").start);
    give(&mut ranges, blocks[0], 1, 1);
    give(&mut ranges, blocks[1], 1, 2);
    ranges
}

/// The interleaving: a thread records an event behind command 1, another one frees by command 2, and only then the first
/// says what its event covers.
#[test]
fn an_event_covers_what_was_freed_up_to_its_position_and_nothing_after_it() {
    let mut ranges = two_freed();
    ranges.mark(1, 1, 77);
    let taken = take(&mut ranges, 2, BLOCK).expect("the block freed by command 1");
    assert_eq!((taken.start, taken.behind.map(|behind| behind.mark)), (0, Some(77)));
    assert!(take(&mut ranges, 2, BLOCK).is_none(), "the block freed by command 2 is behind no event");
    assert!(ranges.wants_mark(1));
    ranges.finish(1, 1);
    assert!(take(&mut ranges, 2, BLOCK).is_none(), "the event says nothing of command 2");
    assert_eq!(take(&mut ranges, 1, BLOCK).expect("its own stream's order is enough").start, BLOCK);
}

#[test]
fn what_an_event_covers_keeps_it_when_a_later_one_comes() {
    let mut ranges = two_freed();
    ranges.mark(1, 1, 77);
    ranges.mark(1, 2, 78);
    assert!(!ranges.wants_mark(1));
    // Said late, by a thread that was overtaken: it tells nothing new.
    ranges.mark(1, 1, 76);
    let marks = [(); 2].map(|()| take(&mut ranges, 2, BLOCK).and_then(|taken| taken.behind).map(|behind| behind.mark));
    assert_eq!(marks, [Some(77), Some(78)]);
    let mut gone = ranges.take_gone();
    gone.sort_unstable();
    assert_eq!(gone, [76, 77, 78], "events that cover nothing are for the caller to drop");
}

#[test]
fn what_is_put_back_has_the_order_that_it_came_with_and_is_joined_with_its_rest() {
    let mut ranges = region(0, 4 * BLOCK);
    let whole = ranges.take_free(4 * BLOCK).expect("all of it").start;
    give(&mut ranges, whole, 1, 5);
    ranges.mark(1, 6, 77);
    for size in [BLOCK, 4 * BLOCK] {
        let taken = take(&mut ranges, 2, size).expect("a covered range");
        ranges.put_back(taken);
        assert!(ranges.take_own(2, BLOCK).is_none(), "it is not the stream's that could not wait");
        let again = take(&mut ranges, 2, 4 * BLOCK).expect("all of it in one piece");
        assert_eq!(again.behind.as_ref().map(|behind| behind.mark), Some(77));
        ranges.put_back(again);
    }
    ranges.finish(1, 5);
    let free = ranges.take_free(4 * BLOCK).expect("all of it");
    ranges.put_back(free);
    assert!(ranges.take_free(4 * BLOCK).is_some());
}

#[test]
fn ranges_that_become_free_grow_together() {
    let mut ranges = region(BLOCK, 8 * BLOCK);
    let starts: Vec<_> = (0..8).map(|_| ranges.take_free(BLOCK).expect("a block").start).collect();
    assert!(ranges.take_free(1).is_none());
    for (at, start) in starts.into_iter().enumerate() {
        give(&mut ranges, start, 1 + at as StreamKey % 3, at as u64);
    }
    (1..=3).for_each(|key| ranges.finish(key, 8));
    assert_eq!(ranges.take_free(8 * BLOCK).map(|taken| taken.start), Some(BLOCK));
    assert!(ranges.stream_after(None).is_none(), "streams without freed ranges are forgotten");
}

/// Two native allocations can have neighbouring addresses.
#[test]
fn regions_that_touch_are_never_joined_and_leave_when_all_of_them_is_free() {
    let mut ranges = Plain::new();
    [2, 0, 1].into_iter().for_each(|at| ranges.add_region(at * 4 * BLOCK, 4 * BLOCK));
    assert!(ranges.take_free(5 * BLOCK).is_none(), "a block over the border of two regions");
    let blocks = [(); 3].map(|()| ranges.take_free(4 * BLOCK).expect("a region").start);
    (1u64..).zip(blocks).for_each(|(position, block)| give(&mut ranges, block, 1, position));
    ranges.finish(1, 3);
    assert!(ranges.take_free(5 * BLOCK).is_none());
    let block = ranges.take_free(BLOCK).expect("a block").start;
    assert_eq!(block, 0);
    assert_eq!(ranges.take_free_regions(7 * BLOCK), [(8 * BLOCK, 4 * BLOCK)], "no more than so many bytes");
    assert_eq!(ranges.take_free_regions(usize::MAX), [(4 * BLOCK, 4 * BLOCK)], "and none with a block out");
    give(&mut ranges, block, 1, 4);
    assert_eq!(ranges.take_free_regions(usize::MAX), [], "nor one that a stream may use");
    ranges.finish(1, 4);
    assert_eq!(ranges.take_free_regions(usize::MAX), [(0, 4 * BLOCK)]);
    assert!(ranges.take_free(1).is_none() && !ranges.has_free(1));
}

#[test]
fn whoever_comes_after_a_command_gets_what_was_freed_by_then_and_nothing_later() {
    let mut ranges = two_freed();
    assert!(ranges.take_freed_before(1, BLOCK, 0).is_none(), "freed later");
    assert!(ranges.take_freed_before(2, BLOCK, 9).is_none(), "freed by another stream");
    assert!(ranges.take_freed_before(1, 2 * BLOCK, 9).is_none(), "too small");
    assert_eq!(
        [1, 1, 2].map(|position| ranges.take_freed_before(1, BLOCK, position).map(|taken| taken.start)),
        [Some(0), None, Some(BLOCK)]
    );
}

/// (start, size, stream, position, event).
type Freed = (usize, usize, StreamKey, u64, Option<u32>);

/// A plain list that is gone through for every question.
#[derive(Default)]
struct Naive {
    /// (start, size).
    free: Vec<(usize, usize)>,
    freed: Vec<Freed>,
    out: Vec<(usize, usize)>,
}

impl Naive {
    fn take(&mut self, key: StreamKey, size: usize) -> Option<(usize, Option<u32>)> {
        let best = |of: &dyn Fn(&Freed) -> bool, list: &[Freed]| {
            let fitting = (0..list.len()).filter(|&at| of(&list[at]) && list[at].1 >= size);
            fitting.min_by_key(|&at| (list[at].1, list[at].0))
        };
        let own = best(&|range| range.2 == key, &self.freed);
        let found = own.map(|at| (at, None)).or_else(|| {
            let fitting = (0..self.free.len()).filter(|&at| self.free[at].1 >= size);
            let at = fitting.min_by_key(|&at| (self.free[at].1, self.free[at].0))?;
            let (start, length) = self.free.remove(at);
            self.freed.push((start, length, StreamKey::MAX, 0, None));
            Some((self.freed.len() - 1, None))
        });
        let found = found.or_else(|| {
            let at = best(&|range| range.4.is_some(), &self.freed)?;
            Some((at, self.freed[at].4))
        });
        let (at, mark) = found?;
        let (start, length, key, position, event) = self.freed.remove(at);
        if length > size && key == StreamKey::MAX {
            self.free.push((start + size, length - size));
        } else if length > size {
            self.freed.push((start + size, length - size, key, position, event));
        }
        self.out.push((start, size));
        Some((start, mark))
    }

    fn mark(&mut self, key: StreamKey, position: u64, mark: u32) {
        for range in &mut self.freed {
            if range.2 == key && range.3 <= position && range.4.is_none() {
                range.4 = Some(mark);
            }
        }
    }

    fn finish(&mut self, key: StreamKey, position: u64) {
        let (ended, open): (Vec<Freed>, _) =
            self.freed.drain(..).partition(|range| range.2 == key && range.3 <= position);
        self.freed = open;
        self.free.extend(ended.into_iter().map(|range| (range.0, range.1)));
        self.free.sort_unstable();
        let mut joined: Vec<(usize, usize)> = Vec::new();
        for (start, size) in self.free.drain(..) {
            match joined.last_mut() {
                Some(last) if last.0 + last.1 == start => last.1 += size,
                _ => joined.push((start, size)),
            }
        }
        self.free = joined;
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Take {
        stream: StreamKey,
        blocks: usize,
        fails: bool,
    },
    Give {
        stream: StreamKey,
        which: usize,
    },
    /// An event is recorded now and told of `late` frees later.
    Mark {
        stream: StreamKey,
        late: u64,
    },
    Finish {
        stream: StreamKey,
        behind: u64,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let stream = 1..4 as StreamKey;
    prop::collection::vec(
        prop_oneof![
            (stream.clone(), 1usize..6, any::<bool>()).prop_map(|(stream, blocks, fails)| Step::Take {
                stream,
                blocks,
                fails
            }),
            (stream.clone(), any::<usize>()).prop_map(|(stream, which)| Step::Give { stream, which }),
            (stream.clone(), 0u64..3).prop_map(|(stream, late)| Step::Mark { stream, late }),
            (stream, 0u64..4).prop_map(|(stream, behind)| Step::Finish { stream, behind }),
        ],
        1..200,
    )
}

proptest! {
    #[test]
    fn every_answer_is_that_of_a_plain_list(steps in steps()) {
        let mut ranges = region(0, 32 * BLOCK);
        let mut naive = Naive { free: vec![(0, 32 * BLOCK)], ..Naive::default() };
        let mut position = 0;
        for (number, step) in (0u32..).zip(steps) {
            match step {
                Step::Take { stream, blocks, fails } => {
                    let before = (naive.free.clone(), naive.freed.clone(), naive.out.clone());
                    let expected = naive.take(stream, blocks * BLOCK);
                    let taken = take(&mut ranges, stream, blocks * BLOCK);
                    let found = taken.as_ref().map(|taken| (taken.start, taken.behind.as_ref().map(|one| one.mark)));
                    prop_assert_eq!(found, expected);
                    if let Some(taken) = taken && taken.behind.is_some() && fails {
                        ranges.put_back(taken);
                        (naive.free, naive.freed, naive.out) = before;
                    }
                }
                Step::Give { stream, which } => if !naive.out.is_empty() {
                    let (start, size) = naive.out.swap_remove(which % naive.out.len());
                    position += 1;
                    give(&mut ranges, start, stream, position);
                    naive.freed.push((start, size, stream, position, None));
                },
                Step::Mark { stream, late } => {
                    let at = position.saturating_sub(late);
                    ranges.mark(stream, at, number);
                    naive.mark(stream, at, number);
                }
                Step::Finish { stream, behind } => {
                    let upto = position.saturating_sub(behind);
                    ranges.finish(stream, upto);
                    naive.finish(stream, upto);
                }
            }
        }
        // Once everything is given back and has finished, all of it is there in one piece.
        for (start, _) in core::mem::take(&mut naive.out) {
            give(&mut ranges, start, 1, position + 1);
        }
        (1..4).for_each(|stream| ranges.finish(stream, position + 1));
        prop_assert_eq!(ranges.take_free(32 * BLOCK).map(|taken| taken.start), Some(0));
        prop_assert!(ranges.stream_after(None).is_none());
    }
}

/// The steps of each kind of question with `freed` blocks freed by two streams, half of them covered by events.
fn costs(freed: usize) -> [(&'static str, usize); 6] {
    let mut ranges = region(0, 4 * freed * BLOCK);
    let starts: Vec<_> = (0..freed).map(|_| ranges.take_free(2 * BLOCK).expect("a block").start).collect();
    for (position, start) in (1u64..).zip(starts) {
        // Sizes and addresses in no order.
        give(&mut ranges, start, 1 + (start / BLOCK * 7 % 11) as StreamKey % 2, position);
    }
    ranges.mark(1, freed as u64 / 2, 1);
    let (own, own_cost) = steps_of(|| ranges.take_own(1, BLOCK));
    let ((), give_cost) = steps_of(|| give(&mut ranges, own.expect("a block").start, 1, freed as u64 + 1));
    let (free, free_cost) = steps_of(|| ranges.take_free(BLOCK));
    let (covered, covered_cost) = steps_of(|| ranges.take_covered(BLOCK));
    let ((), back_cost) = steps_of(|| ranges.put_back(covered.expect("a covered block")));
    let (_, ask_cost) =
        steps_of(|| (ranges.wants_mark(1), ranges.first_mark(1), ranges.stream_after(Some(1)).is_some()));
    assert!(free.is_some());
    [
        ("take_own", own_cost),
        ("give_back", give_cost),
        ("take_free", free_cost),
        ("take_covered", covered_cost),
        ("put_back", back_cost),
        ("ask", ask_cost),
    ]
}

/// An ordered index compares with as many keys as it is deep times the keys of a node: 64 times as many ranges are
/// three levels more. A list that is gone through would take 64 times as many steps.
#[test]
fn no_question_goes_through_the_ranges() {
    for ((name, few), (_, many)) in costs(1_000).into_iter().zip(costs(64_000)) {
        assert!(many <= few * 5 / 2 && many < 600, "{name}: {few} steps among 1,000 ranges, {many} among 64,000");
    }
}

/// Each freed range is told once that an event covers it, and becomes free once, however often somebody asks.
#[test]
fn asking_again_costs_nothing_for_what_was_told_already() {
    let cost = |freed: usize| {
        let mut ranges = region(0, 4 * freed * BLOCK);
        let starts: Vec<_> = (0..freed).map(|_| ranges.take_free(BLOCK).expect("a block").start).collect();
        (1u64..).zip(starts).for_each(|(position, start)| give(&mut ranges, start, 1, position));
        ranges.mark(1, freed as u64, 1);
        steps_of(|| {
            assert!(!ranges.wants_mark(1));
            ranges.mark(1, freed as u64, 2);
            ranges.finish(1, 0);
        })
        .1
    };
    let (few, many) = (cost(1_000), cost(64_000));
    assert!(many <= few * 5 / 2, "{few} steps among 1,000 ranges, {many} among 64,000");
}
