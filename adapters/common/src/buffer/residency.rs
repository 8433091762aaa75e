//! Which bytes of a buffer are current at which locations (the devices of its context, and the host).
//!
//! Plain bookkeeping over byte ranges: no handle, no call, no lock. Two sub-buffers that devices write at the same
//! time share no bytes, so they share no segment either.

use core::ops::Range;
use std::collections::BTreeMap;

use smallvec::SmallVec;

/// A set of locations, by index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Locations(u128);

/// Locations that a set has room for.
pub const MAX_LOCATIONS: usize = u128::BITS as usize;

impl Locations {
    /// None: the bytes were never written.
    pub const NONE: Self = Self(0);

    /// One location alone.
    #[must_use]
    pub const fn only(location: usize) -> Self {
        Self(1 << location)
    }

    /// Whether the location is in the set.
    #[must_use]
    pub const fn contains(self, location: usize) -> bool {
        self.0 & 1 << location != 0
    }

    /// The set with one location more.
    #[must_use]
    pub const fn with(self, location: usize) -> Self {
        Self(self.0 | 1 << location)
    }

    /// The set with one location less.
    #[must_use]
    pub const fn without(self, location: usize) -> Self {
        Self(self.0 & !(1 << location))
    }

    /// The locations of the set; devices come before the host.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        core::iter::from_fn(move || {
            let location = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(location)
        })
    }
}

/// The locations of every byte from 0 to the size.
#[derive(Debug)]
pub struct ResidencyMap {
    size: usize,
    /// By the first byte of each segment, from 0 on; a segment ends where the next begins, and neighbours differ.
    segments: BTreeMap<usize, Locations>,
    #[cfg(test)]
    steps: core::cell::Cell<usize>,
}

impl ResidencyMap {
    /// All bytes current at the same locations.
    #[must_use]
    pub fn new(size: usize, locations: Locations) -> Self {
        Self {
            size,
            segments: BTreeMap::from([(0, locations)]),
            #[cfg(test)]
            steps: core::cell::Cell::default(),
        }
    }

    /// How many bytes there are.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The parts of a range with their locations, in order.
    pub fn within(&self, range: Range<usize>) -> impl Iterator<Item = (Range<usize>, Locations)> + '_ {
        let mut segments = self.segments.range(self.segment_of(range.start)..).peekable();
        core::iter::from_fn(move || {
            let (start, locations) = segments.next()?;
            let end = segments.peek().map_or(self.size, |(next, _)| **next);
            let part = range.start.max(*start)..range.end.min(end);
            (!part.is_empty()).then_some((part, *locations))
        })
    }

    /// Changes the locations of every byte of a range. Costs what the range's own segments do, however many others there are.
    pub fn change(&mut self, range: Range<usize>, change: impl Fn(Locations) -> Locations) {
        if range.is_empty() {
            return;
        }
        self.cut(range.start);
        self.cut(range.end);
        for (_, locations) in self.segments.range_mut(range.clone()) {
            *locations = change(*locations);
        }
        self.join(&range);
    }

    /// The first byte of the segment that a byte lies in.
    fn segment_of(&self, byte: usize) -> usize {
        self.segments.range(..=byte).next_back().map_or(0, |(start, _)| *start)
    }

    /// Makes a segment begin at a byte.
    fn cut(&mut self, at: usize) {
        if at < self.size
            && let Some((_, locations)) = self.segments.range(..=at).next_back()
        {
            self.segments.insert(at, *locations);
        }
    }

    /// Makes one of neighbours that became alike, from the one before a range to the one behind it.
    fn join(&mut self, range: &Range<usize>) {
        let before = self.segment_of(range.start.saturating_sub(1));
        let mut last = None;
        let is_alike = |(start, locations): (&usize, &Locations)| {
            self.count_step();
            (last.replace(*locations) == Some(*locations)).then_some(*start)
        };
        let alike: SmallVec<[usize; 4]> = self.segments.range(before..=range.end).filter_map(is_alike).collect();
        for start in alike {
            self.segments.remove(&start);
        }
    }

    /// Whether every byte is current at another location than this one, or nowhere.
    #[must_use]
    pub fn can_lose(&self, location: usize) -> bool {
        self.segments
            .values()
            .all(|locations| !locations.contains(location) || locations.without(location) != Locations::NONE)
    }

    /// Counts what a test holds against the number of segments.
    #[inline(always)]
    fn count_step(&self) {
        #[cfg(test)]
        self.steps.set(self.steps.get() + 1);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIZE: usize = 40;

    #[test]
    fn neighbours_that_became_equal_are_one_span() {
        let mut residency = ResidencyMap::new(SIZE, Locations::only(0));
        residency.change(10..20, |_| Locations::only(1));
        assert_eq!(residency.segments.len(), 3);
        residency.change(10..20, |_| Locations::only(0));
        assert_eq!(residency.segments, BTreeMap::from([(0, Locations::only(0))]));
    }

    #[test]
    fn a_set_lists_its_locations_in_order() {
        let set = Locations::only(127).with(0).with(64).with(3).without(3);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 64, 127]);
        assert_eq!(Locations::NONE.iter().next(), None);
    }

    #[test]
    fn a_location_can_be_lost_when_every_byte_of_its_is_elsewhere_too() {
        let mut residency = ResidencyMap::new(SIZE, Locations::only(2));
        assert!(!residency.can_lose(2) && residency.can_lose(0));
        residency.change(0..SIZE - 1, |locations| locations.with(0));
        assert!(!residency.can_lose(2));
        residency.change(SIZE - 1..SIZE, |_| Locations::only(1));
        assert!(residency.can_lose(2));
    }

    /// Steps of a change of one part among so many that are at two devices in turn.
    fn steps_among(parts: usize) -> usize {
        let mut residency = ResidencyMap::new(4 * parts, Locations::only(0));
        (0..parts).step_by(2).for_each(|part| residency.change(4 * part..4 * part + 4, |_| Locations::only(1)));
        residency.steps.set(0);
        let middle = 2 * parts..2 * parts + 4;
        residency.change(middle.clone(), |locations| locations.with(2));
        residency.change(middle, |_| Locations::only(0));
        residency.steps.get()
    }

    #[test]
    fn a_change_takes_as_many_steps_among_64000_parts_as_among_1000() {
        let (few, many) = (steps_among(1000), steps_among(64_000));
        assert!(few > 0 && many <= few, "{many} steps among 64,000 parts, {few} among 1,000");
    }

    proptest! {
        /// The same as a list of one set for each byte.
        #[test]
        fn segments_say_of_each_byte_what_was_said_last(
            changes in prop::collection::vec((0..SIZE, 0..=SIZE, 0..5usize, any::<bool>()), 0..30),
        ) {
            let mut residency = ResidencyMap::new(SIZE, Locations::NONE);
            let mut model = [Locations::NONE; SIZE];
            for (start, length, location, alone) in changes {
                let range = start..(start + length).min(SIZE);
                let change = |locations: Locations| if alone { Locations::only(location) } else { locations.with(location) };
                residency.change(range.clone(), change);
                model[range].iter_mut().for_each(|locations| *locations = change(*locations));
                prop_assert!(residency.segments.values().zip(residency.segments.values().skip(1)).all(|(one, next)| one != next));
                prop_assert!(residency.segments.keys().all(|start| *start < SIZE));
                for from in [0, 1, SIZE / 2] {
                    let parts: Vec<_> = residency.within(from..SIZE - 1).collect();
                    let told: Vec<_> = parts.iter().flat_map(|(part, locations)| part.clone().map(|_| *locations)).collect();
                    prop_assert_eq!(parts[0].0.start, from);
                    prop_assert_eq!(told.as_slice(), &model[from..SIZE - 1]);
                }
                for location in 0..5 {
                    let lost = model.iter().all(|locations| !locations.contains(location) || *locations != Locations::only(location));
                    prop_assert_eq!(residency.can_lose(location), lost);
                }
            }
        }
    }
}
