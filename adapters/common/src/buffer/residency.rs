//! Which bytes of a buffer are current at which of its places (the devices of its context, and the host).
//!
//! Plain bookkeeping over byte ranges: no handle, no call, no lock. Two sub-buffers that devices write at the same
//! time share no bytes, so they share no span either.

use core::ops::Range;

/// A set of places, by index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Locations(u128);

/// Places that a set has room for.
pub const MOST_PLACES: usize = u128::BITS as usize;

impl Locations {
    /// Nobody: the bytes were never written.
    pub const NONE: Self = Self(0);

    /// One place alone.
    #[must_use]
    pub const fn only(place: usize) -> Self {
        Self(1 << place)
    }

    /// Whether the place is in the set.
    #[must_use]
    pub const fn contains(self, place: usize) -> bool {
        self.0 & 1 << place != 0
    }

    /// The set with one place more.
    #[must_use]
    pub const fn with(self, place: usize) -> Self {
        Self(self.0 | 1 << place)
    }

    /// The set with one place less.
    #[must_use]
    pub const fn without(self, place: usize) -> Self {
        Self(self.0 & !(1 << place))
    }

    /// The places of the set; devices come before the host.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        core::iter::from_fn(move || {
            let place = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(place)
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    end: usize,
    locations: Locations,
}

/// The holders of every byte from 0 to the size.
#[derive(Debug)]
pub struct ResidencyMap {
    /// In order, without gaps; neighbours differ.
    residency: Vec<Span>,
}

impl ResidencyMap {
    /// All bytes held by the same places.
    #[must_use]
    pub fn new(size: usize, locations: Locations) -> Self {
        Self { residency: vec![Span { end: size, locations }] }
    }

    /// The parts of a range with their holders, in order.
    pub fn within(&self, range: Range<usize>) -> impl Iterator<Item = (Range<usize>, Locations)> + '_ {
        let first = self.residency.partition_point(|span| span.end <= range.start);
        let mut start = range.start;
        self.residency[first..].iter().map_while(move |span| {
            (start < range.end).then(|| {
                let part = start..span.end.min(range.end);
                start = part.end;
                (part, span.locations)
            })
        })
    }

    /// Changes the holders of every byte of a range.
    pub fn change(&mut self, range: Range<usize>, change: impl Fn(Locations) -> Locations) {
        if range.is_empty() {
            return;
        }
        self.cut(range.start);
        self.cut(range.end);
        let first = self.residency.partition_point(|span| span.end <= range.start);
        for span in self.residency[first..].iter_mut().take_while(|span| span.end <= range.end) {
            span.locations = change(span.locations);
        }
        // Of equal neighbours the later one stays, whose end is theirs together.
        self.residency.dedup_by(|later, earlier| {
            let same = later.locations == earlier.locations;
            if same {
                earlier.end = later.end;
            }
            same
        });
    }

    /// Makes `at` the end of a span.
    fn cut(&mut self, at: usize) {
        let index = self.residency.partition_point(|span| span.end < at);
        if at > 0 && self.residency.get(index).is_some_and(|span| span.end != at) {
            let locations = self.residency[index].locations;
            self.residency.insert(index, Span { end: at, locations });
        }
    }

    /// Whether every byte is held by somebody else than `place`, or by nobody.
    #[must_use]
    pub fn can_lose(&self, place: usize) -> bool {
        self.residency
            .iter()
            .all(|span| !span.locations.contains(place) || span.locations.without(place) != Locations::NONE)
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
        assert_eq!(residency.residency.len(), 3);
        residency.change(10..20, |_| Locations::only(0));
        assert_eq!(residency.residency, [Span { end: SIZE, locations: Locations::only(0) }]);
    }

    #[test]
    fn a_set_lists_its_places_in_order() {
        let set = Locations::only(127).with(0).with(64).with(3).without(3);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 64, 127]);
        assert_eq!(Locations::NONE.iter().next(), None);
    }

    #[test]
    fn a_place_can_be_lost_when_every_byte_of_its_is_elsewhere_too() {
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
        fn spans_say_of_each_byte_what_was_said_last(
            changes in prop::collection::vec((0..SIZE, 0..=SIZE, 0..5usize, any::<bool>()), 0..30),
        ) {
            let mut residency = ResidencyMap::new(SIZE, Locations::NONE);
            let mut model = [Locations::NONE; SIZE];
            for (start, length, place, alone) in changes {
                let range = start..(start + length).min(SIZE);
                let change = |locations: Locations| if alone { Locations::only(place) } else { locations.with(place) };
                residency.change(range.clone(), change);
                model[range].iter_mut().for_each(|locations| *locations = change(*locations));
                prop_assert!(residency.residency.windows(2).all(|pair| pair[0].end < pair[1].end));
                prop_assert!(residency.residency.windows(2).all(|pair| pair[0].locations != pair[1].locations));
                for from in [0, 1, SIZE / 2] {
                    let parts: Vec<_> = residency.within(from..SIZE - 1).collect();
                    let told: Vec<_> = parts.iter().flat_map(|(part, locations)| part.clone().map(|_| *locations)).collect();
                    prop_assert_eq!(parts[0].0.start, from);
                    prop_assert_eq!(told.as_slice(), &model[from..SIZE - 1]);
                }
                for place in 0..5 {
                    let lost = model.iter().all(|locations| !locations.contains(place) || *locations != Locations::only(place));
                    prop_assert_eq!(residency.can_lose(place), lost);
                }
            }
        }
    }
}
