//! The ranges of addresses that a context has reserved, and what is mapped into them.
//!
//! Native libraries are no judges of ranges: CUDA answers success to unmapping what is not mapped, and takes a range that
//! ends behind its reservation if another one begins there. So every range is held against this list first. It makes
//! no native call; whoever changes it does so under the lock that it lies behind, together with the call that makes it
//! true. Reservations of somebody else's, made with the native library, are not in it and not to be used through the API.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

/// What is mapped at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping<D> {
    /// Where it starts.
    pub start: usize,
    /// Bytes.
    pub size: usize,
    /// The device whose memory it is.
    pub device: D,
}

/// The reservations of a context, by their starts. `D` names devices.
#[derive(Debug)]
pub struct Reservations<D> {
    reserved: BTreeMap<usize, usize>,
    mapped: BTreeMap<usize, Mapping<D>>,
}

impl<D> Default for Reservations<D> {
    fn default() -> Self {
        Self { reserved: BTreeMap::new(), mapped: BTreeMap::new() }
    }
}

impl<D: Copy> Reservations<D> {
    /// Notes a new reservation.
    pub fn add(&mut self, start: usize, size: usize) {
        self.reserved.insert(start, size);
    }

    /// Removes a reservation.
    pub fn remove(&mut self, start: usize) {
        self.reserved.remove(&start);
    }

    /// Whether the range is a whole reservation without mappings.
    #[must_use]
    pub fn is_whole_and_empty(&self, start: usize, size: usize) -> bool {
        self.reserved.get(&start) == Some(&size) && self.touched(start, size).next().is_none()
    }

    /// Whether the range lies in one reservation and nothing is mapped there.
    #[must_use]
    pub fn is_free(&self, start: usize, size: usize) -> bool {
        let Some((&first, &length)) = self.reserved.range(..=start).next_back() else { return false };
        let before = start - first;
        before < length && size <= length - before && self.touched(start, size).next().is_none()
    }

    /// Notes what was mapped.
    pub fn map(&mut self, mapping: Mapping<D>) {
        self.mapped.insert(mapping.start, mapping);
    }

    /// Removes what was unmapped.
    pub fn unmap(&mut self, start: usize) {
        self.mapped.remove(&start);
    }

    /// The mappings that make up the range, in order; `None` unless they cover it without a gap and end with it.
    #[must_use]
    pub fn whole_mappings(&self, start: usize, size: usize) -> Option<Vec<Mapping<D>>> {
        let (mut end, wanted) = (start, start.checked_add(size)?);
        let mut found = Vec::new();
        for mapping in self.mapped.range(start..wanted).map(|(_, mapping)| *mapping) {
            if mapping.start != end {
                return None;
            }
            end = mapping.start + mapping.size;
            found.push(mapping);
        }
        (end == wanted && !found.is_empty()).then_some(found)
    }

    /// The mappings that the range lies in, in order; `None` unless they cover it without a gap.
    #[must_use]
    pub fn covering(&self, start: usize, size: usize) -> Option<Vec<Mapping<D>>> {
        let (mut end, wanted) = (start, start.checked_add(size)?);
        let mut found = Vec::new();
        for mapping in self.touched(start, size) {
            if mapping.start > end {
                return None;
            }
            end = mapping.start + mapping.size;
            found.push(mapping);
        }
        (end >= wanted && !found.is_empty()).then_some(found)
    }

    /// The mapping that an address lies in.
    #[must_use]
    pub fn mapping_at(&self, address: usize) -> Option<Mapping<D>> {
        let (_, mapping) = self.mapped.range(..=address).next_back()?;
        (address - mapping.start < mapping.size).then_some(*mapping)
    }

    /// Mappings that share an address with the range.
    fn touched(&self, start: usize, size: usize) -> impl Iterator<Item = Mapping<D>> {
        let end = start.saturating_add(size);
        let behind = self.mapped.range((Excluded(start), Unbounded)).map(|(_, mapping)| *mapping);
        self.mapping_at(start).into_iter().chain(behind.take_while(move |mapping| mapping.start < end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two reservations side by side, with two mappings at the start of the first.
    fn side_by_side() -> Reservations<u8> {
        let mut list = Reservations::default();
        list.add(100, 40);
        list.add(140, 40);
        list.map(Mapping { start: 100, size: 10, device: 1 });
        list.map(Mapping { start: 110, size: 20, device: 2 });
        list
    }

    #[test]
    fn only_a_range_of_one_reservation_without_mappings_is_free() {
        let list = side_by_side();
        assert!(list.is_free(130, 10) && list.is_free(140, 40) && list.is_free(150, 30));
        for (start, size) in
            [(130, 20), (129, 11), (100, 10), (90, 20), (0, 10), (180, 1), (140, 41), (150, usize::MAX)]
        {
            assert!(!list.is_free(start, size), "{size} from {start} on");
        }
    }

    #[test]
    fn only_a_whole_reservation_without_mappings_may_go() {
        let mut list = side_by_side();
        assert!(list.is_whole_and_empty(140, 40));
        for (start, size) in [(100, 40), (140, 39), (141, 39), (100, 80), (180, 40)] {
            assert!(!list.is_whole_and_empty(start, size), "{size} from {start} on");
        }
        list.unmap(100);
        assert!(!list.is_whole_and_empty(100, 40));
        list.unmap(110);
        assert!(list.is_whole_and_empty(100, 40));
        list.remove(100);
        assert!(!list.is_whole_and_empty(100, 40) && !list.is_free(100, 10));
    }

    #[test]
    fn a_range_is_made_up_of_whole_mappings_or_of_none() {
        let list = side_by_side();
        let devices = |start, size| {
            let found = list.whole_mappings(start, size)?;
            Some(found.into_iter().map(|mapping| mapping.device).collect::<Vec<_>>())
        };
        assert_eq!(devices(100, 30), Some(vec![1, 2]));
        assert_eq!(devices(100, 10), Some(vec![1]));
        assert_eq!(devices(110, 20), Some(vec![2]));
        for (start, size) in [(100, 29), (100, 31), (105, 5), (130, 10), (110, 10), (90, 20), (110, usize::MAX)] {
            assert_eq!(devices(start, size), None, "{size} from {start} on");
        }
    }

    #[test]
    fn a_range_is_covered_by_mappings_without_a_gap_or_not_at_all() {
        let mut list = side_by_side();
        list.map(Mapping { start: 135, size: 5, device: 3 });
        let devices = |start, size| {
            let found = list.covering(start, size)?;
            Some(found.into_iter().map(|mapping| mapping.device).collect::<Vec<_>>())
        };
        assert_eq!(devices(100, 30), Some(vec![1, 2]));
        assert_eq!(devices(109, 2), Some(vec![1, 2]));
        assert_eq!(devices(100, 10), Some(vec![1]));
        assert_eq!(devices(129, 1), Some(vec![2]));
        for (start, size) in [(100, 31), (100, 40), (99, 2), (130, 1), (130, 10), (135, 6), (135, usize::MAX)] {
            assert_eq!(devices(start, size), None, "{size} from {start} on");
        }
    }

    #[test]
    fn an_address_lies_in_one_mapping_or_in_none() {
        let list = side_by_side();
        let device = |address| list.mapping_at(address).map(|mapping| mapping.device);
        let answers = [99, 100, 109, 110, 129, 130, 179].map(device);
        assert_eq!(answers, [None, Some(1), Some(1), Some(2), Some(2), None, None]);
    }
}
