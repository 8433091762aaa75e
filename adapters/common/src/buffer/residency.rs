//! Which bytes of a buffer are current at which locations (the devices of its context, and the host).
//!
//! Plain bookkeeping over byte ranges: no handle, no call, no lock. Two sub-buffers that devices write at the same
//! time share no bytes, so they share no segment either.

use core::ops::Range;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    end: usize,
    locations: Locations,
}

/// The locations of every byte from 0 to the size.
#[derive(Debug)]
pub struct ResidencyMap {
    /// In order, without gaps; neighbours differ.
    segments: Vec<Segment>,
}

impl ResidencyMap {
    /// All bytes current at the same locations.
    #[must_use]
    pub fn new(size: usize, locations: Locations) -> Self {
        Self { segments: vec![Segment { end: size, locations }] }
    }

    /// How many bytes there are.
    #[must_use]
    pub fn size(&self) -> usize {
        self.segments.last().map_or(0, |segment| segment.end)
    }

    /// The parts of a range with their locations, in order.
    pub fn within(&self, range: Range<usize>) -> impl Iterator<Item = (Range<usize>, Locations)> + '_ {
        let first = self.segments.partition_point(|segment| segment.end <= range.start);
        let mut start = range.start;
        self.segments[first..].iter().map_while(move |segment| {
            (start < range.end).then(|| {
                let part = start..segment.end.min(range.end);
                start = part.end;
                (part, segment.locations)
            })
        })
    }

    /// Changes the locations of every byte of a range.
    pub fn change(&mut self, range: Range<usize>, change: impl Fn(Locations) -> Locations) {
        if range.is_empty() {
            return;
        }
        self.cut(range.start);
        self.cut(range.end);
        let first = self.segments.partition_point(|segment| segment.end <= range.start);
        for segment in self.segments[first..].iter_mut().take_while(|segment| segment.end <= range.end) {
            segment.locations = change(segment.locations);
        }
        // Of equal neighbours the later one stays, whose end is theirs together.
        self.segments.dedup_by(|later, earlier| {
            let same = later.locations == earlier.locations;
            if same {
                earlier.end = later.end;
            }
            same
        });
    }

    /// Makes `at` the end of a segment.
    fn cut(&mut self, at: usize) {
        let index = self.segments.partition_point(|segment| segment.end < at);
        if at > 0 && self.segments.get(index).is_some_and(|segment| segment.end != at) {
            let locations = self.segments[index].locations;
            self.segments.insert(index, Segment { end: at, locations });
        }
    }

    /// Whether every byte is current at another location than this one, or nowhere.
    #[must_use]
    pub fn can_lose(&self, location: usize) -> bool {
        self.segments.iter().all(|segment| {
            !segment.locations.contains(location) || segment.locations.without(location) != Locations::NONE
        })
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
        assert_eq!(residency.segments, [Segment { end: SIZE, locations: Locations::only(0) }]);
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
                prop_assert!(residency.segments.windows(2).all(|pair| pair[0].end < pair[1].end));
                prop_assert!(residency.segments.windows(2).all(|pair| pair[0].locations != pair[1].locations));
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
