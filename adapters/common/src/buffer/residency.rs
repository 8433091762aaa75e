//! Which bytes of a buffer are current at which of its places (the devices of its context, and the host).
//!
//! Plain bookkeeping over byte ranges: no handle, no call, no lock. Two sub-buffers that devices write at the same
//! time share no bytes, so they share no span either.

use core::ops::Range;

/// A set of places, by index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holders(u128);

/// Places that a set has room for.
pub const MOST_PLACES: usize = u128::BITS as usize;

impl Holders {
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
    holders: Holders,
}

/// The holders of every byte from 0 to the size.
#[derive(Debug)]
pub struct Spans {
    /// In order, without gaps; neighbours differ.
    spans: Vec<Span>,
}

impl Spans {
    /// All bytes held by the same places.
    #[must_use]
    pub fn new(size: usize, holders: Holders) -> Self {
        Self { spans: vec![Span { end: size, holders }] }
    }

    /// The parts of a range with their holders, in order.
    pub fn within(&self, range: Range<usize>) -> impl Iterator<Item = (Range<usize>, Holders)> + '_ {
        let first = self.spans.partition_point(|span| span.end <= range.start);
        let mut start = range.start;
        self.spans[first..].iter().map_while(move |span| {
            (start < range.end).then(|| {
                let part = start..span.end.min(range.end);
                start = part.end;
                (part, span.holders)
            })
        })
    }

    /// Changes the holders of every byte of a range.
    pub fn change(&mut self, range: Range<usize>, change: impl Fn(Holders) -> Holders) {
        if range.is_empty() {
            return;
        }
        self.cut(range.start);
        self.cut(range.end);
        let first = self.spans.partition_point(|span| span.end <= range.start);
        for span in self.spans[first..].iter_mut().take_while(|span| span.end <= range.end) {
            span.holders = change(span.holders);
        }
        // Of equal neighbours the later one stays, whose end is theirs together.
        self.spans.dedup_by(|later, earlier| {
            let same = later.holders == earlier.holders;
            if same {
                earlier.end = later.end;
            }
            same
        });
    }

    /// Makes `at` the end of a span.
    fn cut(&mut self, at: usize) {
        let index = self.spans.partition_point(|span| span.end < at);
        if at > 0 && self.spans.get(index).is_some_and(|span| span.end != at) {
            let holders = self.spans[index].holders;
            self.spans.insert(index, Span { end: at, holders });
        }
    }

    /// Whether every byte is held by somebody else than `place`, or by nobody.
    #[must_use]
    pub fn can_lose(&self, place: usize) -> bool {
        self.spans.iter().all(|span| !span.holders.contains(place) || span.holders.without(place) != Holders::NONE)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIZE: usize = 40;

    #[test]
    fn neighbours_that_became_equal_are_one_span() {
        let mut spans = Spans::new(SIZE, Holders::only(0));
        spans.change(10..20, |_| Holders::only(1));
        assert_eq!(spans.spans.len(), 3);
        spans.change(10..20, |_| Holders::only(0));
        assert_eq!(spans.spans, [Span { end: SIZE, holders: Holders::only(0) }]);
    }

    #[test]
    fn a_set_lists_its_places_in_order() {
        let set = Holders::only(127).with(0).with(64).with(3).without(3);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 64, 127]);
        assert_eq!(Holders::NONE.iter().next(), None);
    }

    #[test]
    fn a_place_can_be_lost_when_every_byte_of_its_is_elsewhere_too() {
        let mut spans = Spans::new(SIZE, Holders::only(2));
        assert!(!spans.can_lose(2) && spans.can_lose(0));
        spans.change(0..SIZE - 1, |holders| holders.with(0));
        assert!(!spans.can_lose(2));
        spans.change(SIZE - 1..SIZE, |_| Holders::only(1));
        assert!(spans.can_lose(2));
    }

    proptest! {
        /// The same as a list of one set for each byte.
        #[test]
        fn spans_say_of_each_byte_what_was_said_last(
            changes in prop::collection::vec((0..SIZE, 0..=SIZE, 0..5usize, any::<bool>()), 0..30),
        ) {
            let mut spans = Spans::new(SIZE, Holders::NONE);
            let mut model = [Holders::NONE; SIZE];
            for (start, length, place, alone) in changes {
                let range = start..(start + length).min(SIZE);
                let change = |holders: Holders| if alone { Holders::only(place) } else { holders.with(place) };
                spans.change(range.clone(), change);
                model[range].iter_mut().for_each(|holders| *holders = change(*holders));
                prop_assert!(spans.spans.windows(2).all(|pair| pair[0].end < pair[1].end));
                prop_assert!(spans.spans.windows(2).all(|pair| pair[0].holders != pair[1].holders));
                for from in [0, 1, SIZE / 2] {
                    let parts: Vec<_> = spans.within(from..SIZE - 1).collect();
                    let told: Vec<_> = parts.iter().flat_map(|(part, holders)| part.clone().map(|_| *holders)).collect();
                    prop_assert_eq!(parts[0].0.start, from);
                    prop_assert_eq!(told.as_slice(), &model[from..SIZE - 1]);
                }
                for place in 0..5 {
                    let lost = model.iter().all(|holders| !holders.contains(place) || *holders != Holders::only(place));
                    prop_assert_eq!(spans.can_lose(place), lost);
                }
            }
        }
    }
}
