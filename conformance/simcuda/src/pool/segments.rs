//! Cutting chunks into blocks, and deciding when a freed block may serve again.
//!
//! A free block remembers its last user until the stream has got to the free. Nothing here touches memory or
//! streams: it is bookkeeping alone.

use crate::clock::Point;
use crate::memory::Allocation;
use crate::region::Region;
use std::collections::BTreeMap;
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

/// A block that was found.
pub struct Taken {
    /// First address.
    pub base: u64,
    /// The chunk's mapping.
    pub region: Arc<Region>,
    /// Bytes whose free has not happened and that the new block takes over.
    pub replaced: u64,
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

struct Chunk {
    region: Arc<Region>,
    segments: BTreeMap<u64, Segment>,
}

/// All chunks of a pool.
#[derive(Default)]
pub struct Chunks {
    chunks: BTreeMap<u64, Chunk>,
    /// Blocks counted as used whose free has been submitted but not reached, by allocation number.
    unsettled: BTreeMap<u64, u64>,
}

fn has_ended(allocation: &Allocation) -> bool {
    allocation.freed.get().is_some_and(|freed| freed.has_ended())
}

fn may_follow(last: &Allocation, point: &Point, reuse: Reuse) -> bool {
    let Some(freed) = last.freed.get() else { return false };
    if freed.point.stream == 0 || freed.point.stream == point.stream {
        return true;
    }
    (reuse.opportunistic && freed.has_ended())
        || (reuse.follow_events && point.is_after(freed.point.stream, freed.point.seq))
}

impl Chunks {
    /// Adds a chunk; false if the host has no memory left.
    pub fn add(&mut self, size: usize) -> bool {
        let Some(region) = Region::new(size) else { return false };
        let segments = BTreeMap::from([(region.base(), Segment::Free { size, last: Vec::new() })]);
        self.chunks.insert(region.base(), Chunk { region, segments });
        true
    }

    /// Takes the smallest block that the command at `point` may use.
    pub fn take(&mut self, bytes: usize, point: &Point, reuse: Reuse) -> Option<Taken> {
        self.take_where(bytes, |last| last.iter().all(|old| may_follow(old, point, reuse)))
    }

    /// Takes a block whose free one other stream has yet to reach, and says which stream.
    pub fn take_after(&mut self, bytes: usize) -> (Option<Taken>, Option<u64>) {
        let one_stream = |last: &[Arc<Allocation>]| {
            let mut streams = last.iter().filter_map(|old| old.freed.get()).map(|freed| freed.point.stream);
            let first = streams.next()?;
            streams.all(|stream| stream == first).then_some(first)
        };
        let mut stream = None;
        let taken = self.take_where(bytes, |last| {
            let found = one_stream(last);
            stream = found.or(stream);
            found.is_some()
        });
        (taken, stream)
    }

    fn take_where(&mut self, bytes: usize, mut fits: impl FnMut(&[Arc<Allocation>]) -> bool) -> Option<Taken> {
        let mut best: Option<(usize, u64, u64)> = None;
        for (&chunk, Chunk { segments, .. }) in &self.chunks {
            for (&base, segment) in segments {
                let Segment::Free { size, last } = segment else { continue };
                if *size >= bytes && best.is_none_or(|(smallest, ..)| *size < smallest) && fits(last) {
                    best = Some((*size, chunk, base));
                }
            }
        }
        let (size, chunk, base) = best?;
        let Chunk { segments, region } = self.chunks.get_mut(&chunk)?;
        let Some(Segment::Free { last, .. }) = segments.insert(base, Segment::Used(bytes)) else { return None };
        let mut replaced = 0;
        for old in &last {
            let end = base + bytes as u64;
            if old.base < end
                && let Some(counted) = self.unsettled.remove(&old.id)
            {
                replaced += counted;
            }
        }
        if size > bytes {
            let rest = base + bytes as u64;
            let last = last.into_iter().filter(|old| old.range().end > rest && !has_ended(old)).collect();
            segments.insert(rest, Segment::Free { size: size - bytes, last });
        }
        Some(Taken { base, region: region.clone(), replaced })
    }

    /// Makes an allocation's block free at its `freed` milestone.
    pub fn release(&mut self, allocation: &Arc<Allocation>) {
        let Some((_, chunk)) = self.chunks.range_mut(..=allocation.base).next_back() else { return };
        let Some(segment) = chunk.segments.get_mut(&allocation.base) else { return };
        let size = segment.size();
        *segment = Segment::Free { size, last: vec![allocation.clone()] };
        self.unsettled.insert(allocation.id, size as u64);
        chunk.merge_around(allocation.base);
    }

    /// Notes that a free was reached; answers the bytes that stop being used.
    pub fn settle(&mut self, allocation: &Allocation) -> u64 {
        self.unsettled.remove(&allocation.id).unwrap_or(0)
    }

    /// Takes out a chunk no block of which is in use or waits for its free.
    pub fn remove_unused(&mut self) -> Option<Arc<Region>> {
        let unused = |chunk: &Chunk| {
            chunk.segments.values().all(|segment| match segment {
                Segment::Used(_) => false,
                Segment::Free { last, .. } => last.iter().all(|old| has_ended(old)),
            })
        };
        let base = *self.chunks.iter().find(|(_, chunk)| unused(chunk))?.0;
        self.chunks.remove(&base).map(|chunk| chunk.region)
    }
}

impl Chunk {
    /// Joins the free block at `base` with free neighbours.
    fn merge_around(&mut self, base: u64) {
        let before = self.segments.range(..base).next_back().map(|(&at, _)| at);
        self.merge_with_next(base);
        if let Some(before) = before {
            self.merge_with_next(before);
        }
    }

    fn merge_with_next(&mut self, base: u64) {
        let Some(Segment::Free { size, .. }) = self.segments.get(&base) else { return };
        let next = base + *size as u64;
        if !matches!(self.segments.get(&next), Some(Segment::Free { .. })) {
            return;
        }
        let Some(Segment::Free { size: more, last: theirs }) = self.segments.remove(&next) else { return };
        if let Some(Segment::Free { size, last }) = self.segments.get_mut(&base) {
            *size += more;
            last.extend(theirs);
            // Frees that were reached matter to the reuse policy alone; without a bound they would pile up.
            if last.len() > 64 {
                last.retain(|old| !has_ended(old));
            }
        }
    }
}
