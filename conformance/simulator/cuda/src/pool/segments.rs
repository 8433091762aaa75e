//! Cutting a pool's addresses into blocks, and deciding when a freed block may serve again.
//!
//! A pool has one range of addresses. Memory is put behind it page by page, and a block may lie across pages; free
//! neighbours serve one request together. A freed block remembers its last users, for the reuse policy and for the pages
//! that may go. Nothing here counts bytes or submits commands.

use crate::clock::Point;
use crate::memory::Allocation;
use crate::region::Region;
use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// When a freed block may be given to another stream.
#[derive(Clone, Copy, Debug)]
pub struct Reuse {
    /// When events order the streams.
    pub follow_events: bool,
    /// When the free happened to have been reached.
    pub opportunistic: bool,
    /// By making the stream wait, when nothing else is left.
    pub internal: bool,
}

/// Which freed blocks do not keep a page from going back.
#[derive(Clone, Copy, Debug)]
pub enum Gone {
    /// Those whose free was reached, whoever knows of it: what a driver short of memory can find out.
    Reached,
    /// Those whose free was reached before the host synchronised last, at that tick.
    KnownAt(u64),
}

impl Gone {
    fn includes(self, allocation: &Allocation) -> bool {
        allocation.freed.get().is_some_and(|freed| match self {
            Gone::Reached => freed.has_ended(),
            Gone::KnownAt(tick) => freed.has_ended_before(tick),
        })
    }
}

/// Where a block fits.
pub struct Place {
    /// Its addresses.
    pub range: Range<u64>,
    /// Numbers of the pages that have no memory yet.
    pub missing: Vec<u64>,
    /// The stream whose frees the new block must wait for.
    pub after: Option<u64>,
}

enum Segment {
    Used(usize),
    Free { size: usize, last: Vec<Arc<Allocation>> },
}

impl Segment {
    fn size(&self) -> usize {
        match self {
            Segment::Used(size) | Segment::Free { size, .. } => *size,
        }
    }
}

/// The addresses of a pool.
pub struct Segments {
    /// The mapping.
    pub region: Arc<Region>,
    page: u64,
    segments: BTreeMap<u64, Segment>,
    /// Pages with memory behind them.
    present: BTreeSet<u64>,
}

/// More segments than that, and old ones are joined: what the reuse policy then forgets was reached long ago.
const MANY: usize = 256;

fn may_follow(last: &Allocation, point: &Point, reuse: Reuse) -> bool {
    let Some(freed) = last.freed.get() else { return false };
    if freed.point.stream == 0 || freed.point.stream == point.stream {
        return true;
    }
    (reuse.opportunistic && freed.has_ended())
        || (reuse.follow_events && point.is_after(freed.point.stream, freed.point.seq))
}

impl Segments {
    /// Addresses for `span` bytes, in pages of `page`; the first `skip` bytes are never given out. `None` if the host has
    /// no addresses left.
    pub fn new(span: usize, page: u64, skip: usize) -> Option<Self> {
        let region = Region::new(span)?;
        let base = region.base();
        let mut segments = BTreeMap::new();
        segments.insert(base + skip as u64, Segment::Free { size: span - skip, last: Vec::new() });
        Some(Self { region, page, segments, present: BTreeSet::new() })
    }

    /// Where a block for the command at `point` fits best: with the fewest new pages, then in the smallest place.
    pub fn place(&self, bytes: usize, point: &Point, reuse: Reuse) -> Option<Place> {
        self.best(bytes, |last| last.iter().all(|old| may_follow(old, point, reuse)))
    }

    /// The same among blocks whose frees one stream has yet to reach.
    pub fn place_after(&self, bytes: usize) -> Option<Place> {
        let streams = |last: &[Arc<Allocation>]| -> BTreeSet<u64> {
            last.iter().filter_map(|old| Some(old.freed.get()?.point.stream)).collect()
        };
        let mut all: BTreeSet<u64> = BTreeSet::new();
        for segment in self.segments.values() {
            if let Segment::Free { last, .. } = segment {
                all.extend(streams(last));
            }
        }
        let of = |stream| {
            let place = self.best(bytes, |last| streams(last).iter().all(|other| *other == stream))?;
            Some(Place { after: Some(stream), ..place })
        };
        all.into_iter().filter_map(of).min_by_key(|place| place.missing.len())
    }

    fn best(&self, bytes: usize, fits: impl Fn(&[Arc<Allocation>]) -> bool) -> Option<Place> {
        let mut best: Option<(usize, usize, Place)> = None;
        for &base in self.segments.keys() {
            let mut size = 0;
            for segment in self.segments.range(base..).map(|(_, segment)| segment) {
                match segment {
                    Segment::Free { size: more, last } if fits(last) => size += more,
                    _ => break,
                }
                if size >= bytes {
                    break;
                }
            }
            if size < bytes {
                continue;
            }
            let range = base..base + bytes as u64;
            let missing = self.pages(&range).filter(|page| !self.present.contains(page)).collect::<Vec<_>>();
            if best.as_ref().is_none_or(|(pages, smallest, _)| (missing.len(), size) < (*pages, *smallest)) {
                best = Some((missing.len(), size, Place { range, missing, after: None }));
            }
        }
        best.map(|(.., place)| place)
    }

    fn pages(&self, range: &Range<u64>) -> Range<u64> {
        let base = self.region.base();
        (range.start - base) / self.page..(range.end - base).div_ceil(self.page)
    }

    /// Puts memory behind pages.
    pub fn fill(&mut self, pages: &[u64]) {
        self.present.extend(pages);
    }

    /// Makes a place a block.
    pub fn take(&mut self, range: &Range<u64>) {
        let mut at = range.start;
        while at < range.end {
            let Some(Segment::Free { size, last }) = self.segments.remove(&at) else { break };
            let end = at + size as u64;
            if end > range.end {
                let last = last.into_iter().filter(|old| old.range().end > range.end).collect();
                self.segments.insert(range.end, Segment::Free { size: (end - range.end) as usize, last });
            }
            at = end;
        }
        self.segments.insert(range.start, Segment::Used((range.end - range.start) as usize));
    }

    /// Makes an allocation's block free at its `freed` milestone.
    pub fn release(&mut self, allocation: &Arc<Allocation>) {
        if let Some(segment) = self.segments.get_mut(&allocation.base) {
            *segment = Segment::Free { size: segment.size(), last: vec![allocation.clone()] };
        }
        if self.segments.len() > MANY {
            self.forget(|old| Gone::Reached.includes(old));
        }
    }

    /// Forgets the last users that `gone` accepts and joins neighbours that have none left.
    fn forget(&mut self, gone: impl Fn(&Allocation) -> bool) {
        let mut joined: BTreeMap<u64, Segment> = BTreeMap::new();
        for (base, mut segment) in core::mem::take(&mut self.segments) {
            if let Segment::Free { size, last } = &mut segment {
                last.retain(|old| !gone(old));
                if let (true, Some(mut before)) = (last.is_empty(), joined.last_entry())
                    && let Segment::Free { size: room, last } = before.get_mut()
                    && last.is_empty()
                {
                    *room += *size;
                    continue;
                }
            }
            joined.insert(base, segment);
        }
        self.segments = joined;
    }

    /// Takes the memory from up to `most` pages that no block uses, the last ones first. Answers how many.
    pub fn give_back(&mut self, most: usize, gone: Gone) -> usize {
        self.give_back_where(most, gone, |_| true)
    }

    /// The same for what was reached and does not lie under `range`.
    pub fn give_back_around(&mut self, range: &Range<u64>, most: usize) -> usize {
        let under = self.pages(range);
        self.give_back_where(most, Gone::Reached, |page| !under.contains(&page))
    }

    fn give_back_where(&mut self, most: usize, gone: Gone, wanted: impl Fn(u64) -> bool) -> usize {
        let base = self.region.base();
        let unused = |page: u64| {
            let (start, end) = (base + page * self.page, base + (page + 1) * self.page);
            let first = self.segments.range(..=start).next_back().map_or(start, |(&at, _)| at);
            self.segments.range(first..end).all(|(_, segment)| match segment {
                Segment::Used(_) => false,
                Segment::Free { last, .. } => {
                    last.iter().all(|old| old.range().end <= start || old.base >= end || gone.includes(old))
                }
            })
        };
        let pages: Vec<u64> =
            self.present.iter().rev().copied().filter(|&page| wanted(page) && unused(page)).take(most).collect();
        for page in &pages {
            self.present.remove(page);
            self.region.discard(page * self.page, self.page);
        }
        if !pages.is_empty() {
            // What lies on pages that went was reached: nobody has to follow it any more.
            let (page, present) = (self.page, self.present.clone());
            let has_left = |old: &Allocation| {
                let numbers = (old.base - base) / page..(old.range().end - base).div_ceil(page);
                numbers.into_iter().all(|number| !present.contains(&number))
            };
            self.forget(|old| gone.includes(old) && has_left(old));
        }
        pages.len()
    }
}
