//! The ranges of a buffer-backed pool by address: free ones, and freed ones that the stream of the free may still be using.
//!
//! Addresses alone. It makes no native call, never touches the memory, and knows a stream by a number, a position on it by the
//! number of a command, and an event that covers a position by whatever the caller has for it. Every question is a search in an
//! ordered index, so its cost grows with the logarithm of the ranges. Free ranges of one region that touch each other are always
//! one; freed ranges are joined when they become free, because each has a last use of its own. A region is a native allocation:
//! two that touch by chance are never joined, so each can leave as it came.

#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::memory_pool::arena::index::{Index, Key, count_step};

/// A stream, by a number that no other one has while it has freed ranges here.
pub type StreamKey = u64;

/// Freed ranges of a stream that are looked at for one whose last use comes early enough.
const LOOKED_AT: usize = 8;

/// The last use of a freed range: its stream and the position of the last command that may use it.
type LastUse = (StreamKey, u64);

/// What is known of a stream that has freed ranges.
struct Stream<S, M> {
    stream: S,
    /// Recorded events with the commands up to which they cover the stream, in that order.
    marks: VecDeque<(u64, M)>,
}

/// The order that a range comes with, which is another stream's.
#[derive(Clone, Debug)]
pub struct Behind<S, M> {
    key: StreamKey,
    stream: S,
    position: u64,
    covers: u64,
    /// The event that the range must come after.
    pub mark: M,
}

/// A range that was taken.
#[derive(Clone, Debug)]
pub struct Taken<S, M> {
    /// Its first byte.
    pub start: usize,
    /// What must be waited for before it is used.
    pub behind: Option<Behind<S, M>>,
}

/// All ranges of a pool.
pub struct Ranges<S, M> {
    /// Sizes of the regions by start.
    regions: BTreeMap<usize, usize>,
    /// Sizes by start.
    free: Index<usize, usize>,
    /// (size, start).
    free_by_size: Index<(usize, usize), ()>,
    /// Sizes by (stream, position, start).
    freed: Index<(StreamKey, u64, usize), usize>,
    /// Positions by (stream, size, start).
    freed_by_size: Index<(StreamKey, usize, usize), u64>,
    /// Those of them that an event covers, whatever their stream, by (size, start).
    covered: Index<(usize, usize), LastUse>,
    streams: Index<StreamKey, Stream<S, M>>,
    /// Sizes of the ranges that are out, by start.
    out: HashMap<usize, usize>,
    /// Events that cover nothing any more, for the caller to drop where it likes.
    gone: Vec<M>,
}

impl<S: Clone, M: Clone> Ranges<S, M> {
    /// No ranges.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "made in one place")]
    pub fn new() -> Self {
        Self {
            regions: BTreeMap::new(),
            free: Index::new(),
            free_by_size: Index::new(),
            freed: Index::new(),
            freed_by_size: Index::new(),
            covered: Index::new(),
            streams: Index::new(),
            out: HashMap::new(),
            gone: Vec::new(),
        }
    }

    /// Adds a region, which is one free range.
    pub fn add_region(&mut self, start: usize, size: usize) {
        if size > 0 {
            self.regions.insert(start, size);
            self.add_free(start, size);
        }
    }

    /// Whether a free range has at least `size` bytes.
    #[must_use]
    pub fn has_free(&self, size: usize) -> bool {
        self.free_by_size.range(Key((size, 0))..).next().is_some()
    }

    /// Takes regions out of which every byte is free, from the highest address on, as long as they have no more than `most`
    /// bytes together. One look a region.
    pub fn take_free_regions(&mut self, most: usize) -> Vec<(usize, usize)> {
        let mut left = most;
        let mut taken = Vec::new();
        for (&start, &size) in self.regions.iter().rev() {
            if size <= left && self.free.get(&Key(start)) == Some(&size) {
                left -= size;
                taken.push((start, size));
            }
        }
        for &(start, size) in &taken {
            self.regions.remove(&start);
            self.remove_free(start, size);
        }
        taken
    }

    /// Takes every region out, whatever became of its ranges.
    pub fn take_all_regions(&mut self) -> Vec<(usize, usize)> {
        core::mem::take(&mut self.regions).into_iter().collect()
    }

    /// The smallest range of at least `size` bytes that this stream freed: its own order is enough.
    pub fn take_own(&mut self, key: StreamKey, size: usize) -> Option<Taken<S, M>> {
        let fits = Key((key, size, 0))..=Key((key, usize::MAX, usize::MAX));
        let (&Key((_, length, start)), &position) = self.freed_by_size.range(fits).next()?;
        self.remove_freed((key, position), start, length);
        self.keep_rest((key, position), start, length, size);
        self.forget_if_empty(key);
        self.out.insert(start, size);
        Some(Taken { start, behind: None })
    }

    /// A range of at least `size` bytes that a stream freed by command `position` or an earlier one, for whoever comes after
    /// that command. Of the ranges that fit best a few are looked at.
    pub fn take_freed_before(&mut self, key: StreamKey, size: usize, position: u64) -> Option<Taken<S, M>> {
        let fits = Key((key, size, 0))..=Key((key, usize::MAX, usize::MAX));
        let mut found = self.freed_by_size.range(fits).take(LOOKED_AT);
        let (length, start, last) = found.find_map(|(&Key((_, length, start)), &last)| {
            count_step();
            (last <= position).then_some((length, start, last))
        })?;
        self.remove_freed((key, last), start, length);
        self.keep_rest((key, last), start, length, size);
        self.forget_if_empty(key);
        self.out.insert(start, size);
        Some(Taken { start, behind: None })
    }

    /// The smallest free range of at least `size` bytes.
    pub fn take_free(&mut self, size: usize) -> Option<Taken<S, M>> {
        let (&Key((length, start)), ()) = self.free_by_size.range(Key((size, 0))..).next()?;
        self.remove_free(start, length);
        if length > size {
            self.add_free(start + size, length - size);
        }
        self.out.insert(start, size);
        Some(Taken { start, behind: None })
    }

    /// The smallest range of at least `size` bytes that an event covers, with that event.
    pub fn take_covered(&mut self, size: usize) -> Option<Taken<S, M>> {
        let (&Key((length, start)), &last_use) = self.covered.range(Key((size, 0))..).next()?;
        let (key, position) = last_use;
        let known = self.streams.get(&Key(key))?;
        let (covers, mark) = known.marks.get(known.marks.partition_point(|(upto, _)| *upto < position))?.clone();
        let behind = Behind { key, stream: known.stream.clone(), position, covers, mark };
        self.remove_freed(last_use, start, length);
        self.keep_rest(last_use, start, length, size);
        self.forget_if_empty(key);
        self.out.insert(start, size);
        Some(Taken { start, behind: Some(behind) })
    }

    /// Takes a range back as if it had never been taken: with the order that it came with.
    pub fn put_back(&mut self, taken: Taken<S, M>) {
        let Some(size) = self.out.remove(&taken.start) else { return };
        let Some(Behind { key, stream, position, covers, mark }) = taken.behind else {
            return self.put_free(taken.start, size);
        };
        let known = self.streams.entry(Key(key)).or_insert_with(|| Stream { stream, marks: VecDeque::new() });
        let at = known.marks.partition_point(|(upto, _)| *upto < covers);
        if known.marks.get(at).is_none_or(|(upto, _)| *upto != covers) {
            known.marks.insert(at, (covers, mark));
        }
        // What was cut off it lies behind it still, unless somebody took that since.
        let (start, rest) = (taken.start, taken.start + size);
        let is_other_region = self.regions.contains_key(&rest);
        let more = self.freed.get(&Key((key, position, rest))).copied().filter(|_| !is_other_region).unwrap_or(0);
        if more > 0 {
            self.remove_freed((key, position), rest, more);
        }
        self.add_freed((key, position), start, size + more);
    }

    /// Takes a range back that command `position` of a stream is the last to use.
    pub fn give_back(&mut self, start: usize, key: StreamKey, stream: impl FnOnce() -> S, position: u64) {
        let Some(size) = self.out.remove(&start) else { return };
        self.streams.entry(Key(key)).or_insert_with(|| Stream { stream: stream(), marks: VecDeque::new() });
        self.add_freed((key, position), start, size);
    }

    /// Says that an event covers what a stream freed up to command `position`, and nothing after it. What an earlier event
    /// covers keeps that one.
    pub fn mark(&mut self, key: StreamKey, position: u64, mark: M) {
        let after = self.covered_up_to(key);
        let new = Key((key, after.map_or(0, |upto| upto + 1), 0))..=Key((key, position, usize::MAX));
        let open = if after.is_none_or(|upto| upto < position) { Some(self.freed.range(new)) } else { None };
        let mut covers_any = false;
        for (&Key((_, at, start)), &size) in open.into_iter().flatten() {
            count_step();
            self.covered.insert(Key((size, start)), (key, at));
            covers_any = true;
        }
        match self.streams.get_mut(&Key(key)) {
            Some(known) if covers_any => known.marks.push_back((position, mark)),
            _ => self.gone.push(mark),
        }
        self.drop_useless_marks(key);
    }

    /// Makes free what a stream freed up to command `position`, which has finished.
    pub fn finish(&mut self, key: StreamKey, position: u64) {
        self.finish_while(key, |at| at <= position);
    }

    /// Makes free what a stream freed, from the earliest on, as long as the command has finished.
    pub fn finish_while(&mut self, key: StreamKey, is_completed: impl Fn(u64) -> bool) {
        while let Some((position, start, size)) = self.earliest(key)
            && is_completed(position)
        {
            count_step();
            self.remove_freed((key, position), start, size);
            self.put_free(start, size);
        }
        self.drop_useless_marks(key);
        self.forget_if_empty(key);
    }

    /// The stream with the smallest key above `after` that has freed ranges.
    pub fn stream_after(&self, after: Option<StreamKey>) -> Option<(StreamKey, &S)> {
        count_step();
        let first = after.map_or(Some(0), |key| key.checked_add(1))?;
        self.streams.range(Key(first)..).next().map(|(&Key(key), known)| (key, &known.stream))
    }

    /// Whether a stream freed something that no event covers.
    pub fn wants_mark(&self, key: StreamKey) -> bool {
        let first = self.covered_up_to(key).map_or(0, |upto| upto + 1);
        self.freed.range(Key((key, first, 0))..=Key((key, u64::MAX, usize::MAX))).next().is_some()
    }

    /// The earliest event of a stream, with the command up to which it covers it.
    pub fn first_mark(&self, key: StreamKey) -> Option<(u64, M)> {
        self.streams.get(&Key(key))?.marks.front().cloned()
    }

    /// Events that cover nothing any more.
    pub fn take_gone(&mut self) -> Vec<M> {
        core::mem::take(&mut self.gone)
    }

    fn covered_up_to(&self, key: StreamKey) -> Option<u64> {
        self.streams.get(&Key(key))?.marks.back().map(|(upto, _)| *upto)
    }

    fn earliest(&self, key: StreamKey) -> Option<(u64, usize, usize)> {
        let every = Key((key, 0, 0))..=Key((key, u64::MAX, usize::MAX));
        self.freed.range(every).next().map(|(&Key((_, position, start)), &size)| (position, start, size))
    }

    fn add_freed(&mut self, (key, position): LastUse, start: usize, size: usize) {
        self.freed.insert(Key((key, position, start)), size);
        self.freed_by_size.insert(Key((key, size, start)), position);
        if self.covered_up_to(key).is_some_and(|upto| position <= upto) {
            self.covered.insert(Key((size, start)), (key, position));
        }
    }

    fn remove_freed(&mut self, (key, position): LastUse, start: usize, size: usize) {
        self.freed.remove(&Key((key, position, start)));
        self.freed_by_size.remove(&Key((key, size, start)));
        self.covered.remove(&Key((size, start)));
    }

    fn keep_rest(&mut self, last_use: LastUse, start: usize, length: usize, taken: usize) {
        if length > taken {
            self.add_freed(last_use, start + taken, length - taken);
        }
    }

    fn add_free(&mut self, start: usize, size: usize) {
        self.free.insert(Key(start), size);
        self.free_by_size.insert(Key((size, start)), ());
    }

    fn remove_free(&mut self, start: usize, size: usize) {
        self.free.remove(&Key(start));
        self.free_by_size.remove(&Key((size, start)));
    }

    /// Joins a range with its free neighbours of the same region.
    fn put_free(&mut self, mut start: usize, mut size: usize) {
        let next = start + size;
        if let Some(&more) = self.free.get(&Key(next))
            && !self.regions.contains_key(&next)
        {
            self.remove_free(next, more);
            size += more;
        }
        let before = self.free.range(..Key(start)).next_back().map(|(&Key(before), &length)| (before, length));
        if let Some((before, length)) = before
            && before + length == start
            && !self.regions.contains_key(&start)
        {
            self.remove_free(before, length);
            start = before;
            size += length;
        }
        self.add_free(start, size);
    }

    /// Drops events that lie before the earliest range of their stream.
    fn drop_useless_marks(&mut self, key: StreamKey) {
        let earliest = self.earliest(key).map(|(position, ..)| position);
        let Some(known) = self.streams.get_mut(&Key(key)) else { return };
        while let Some((upto, _)) = known.marks.front()
            && earliest.is_none_or(|position| *upto < position)
        {
            count_step();
            self.gone.extend(known.marks.pop_front().map(|(_, mark)| mark));
        }
    }

    fn forget_if_empty(&mut self, key: StreamKey) {
        if self.earliest(key).is_none()
            && let Some(known) = self.streams.remove(&Key(key))
        {
            self.gone.extend(known.marks.into_iter().map(|(_, mark)| mark));
        }
    }
}
