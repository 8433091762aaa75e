//! The blocks that are out through a lane, found by their start.
//!
//! The block handed out last is kept apart: most are freed before the next is allocated, and then no table is touched.
//! Plain data behind the lane's lock.

use core::hash::{BuildHasherDefault, Hasher};
use std::collections::HashMap;

/// Hashes a block's address: pool memory is aligned, so the low bits say nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_usize(usize::from(*byte)));
    }

    fn write_usize(&mut self, address: usize) {
        // The table takes its bucket from the low and its tag from the high bits of the product.
        let mixed = (address as u64 >> 8).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

/// A map from addresses.
pub type AddressMap<V> = HashMap<usize, V, BuildHasherDefault<AddressHasher>>;

/// A block that is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    /// Bytes that were asked for.
    pub size: usize,
    /// The lane's slot that it came through.
    pub slot: usize,
}

/// The blocks.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Ledger {
    last: Option<(usize, Out)>,
    others: AddressMap<Out>,
}

impl Ledger {
    /// Writes a block down.
    #[inline]
    pub fn insert(&mut self, pointer: usize, out: Out) {
        if let Some((before, known)) = self.last.replace((pointer, out)) {
            self.keep(before, known);
        }
    }

    #[inline(never)]
    fn keep(&mut self, pointer: usize, out: Out) {
        self.others.insert(pointer, out);
    }

    /// The block that was written down last, if it is this one and is still out.
    #[inline]
    #[must_use]
    pub fn last_is(&self, pointer: usize) -> Option<Out> {
        self.last.filter(|(last, _)| *last == pointer).map(|(_, out)| out)
    }

    /// Strikes off the block that was written down last.
    #[inline]
    pub fn forget_last(&mut self) {
        self.last = None;
    }

    /// Strikes a block off.
    #[inline]
    pub fn remove(&mut self, pointer: usize) -> Option<Out> {
        match self.last {
            Some((last, out)) if last == pointer => {
                self.last = None;
                Some(out)
            }
            _ => self.remove_other(pointer),
        }
    }

    #[inline(never)]
    fn remove_other(&mut self, pointer: usize) -> Option<Out> {
        self.others.remove(&pointer)
    }

    /// Every block with its start.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Out)> {
        self.last.into_iter().chain(self.others.iter().map(|(pointer, out)| (*pointer, *out)))
    }

    /// The block that an address lies in.
    #[must_use]
    pub fn around(&self, address: usize) -> Option<(usize, Out)> {
        if let Some(out) = self.others.get(&address) {
            return Some((address, *out));
        }
        self.iter().find(|(start, out)| (*start..start + out.size).contains(&address))
    }

    /// Forgets all blocks.
    pub fn clear(&mut self) {
        self.last = None;
        self.others.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn out(size: usize) -> Out {
        Out { size, slot: 0 }
    }

    #[test]
    fn an_address_inside_a_block_finds_its_start_whichever_way_it_is_kept() {
        let mut ledger = Ledger::default();
        ledger.insert(4096, out(100));
        ledger.insert(8192, out(100));
        for start in [4096, 8192] {
            assert_eq!(ledger.around(start), Some((start, out(100))));
            assert_eq!(ledger.around(start + 99), Some((start, out(100))));
            assert_eq!(ledger.around(start + 100), None);
        }
    }

    proptest! {
        #[test]
        fn what_was_written_down_and_not_struck_off_is_there(steps in prop::collection::vec((0usize..12, any::<bool>()), 0..100)) {
            let (mut ledger, mut plain) = (Ledger::default(), HashMap::new());
            for (block, add) in steps {
                let pointer = (block + 1) * 4096;
                if add && !plain.contains_key(&pointer) {
                    ledger.insert(pointer, out(block));
                    plain.insert(pointer, out(block));
                } else if !add {
                    prop_assert_eq!(ledger.remove(pointer), plain.remove(&pointer));
                }
                let found: HashMap<_, _> = ledger.iter().collect();
                prop_assert_eq!(&found, &plain);
            }
            ledger.clear();
            prop_assert_eq!(ledger.iter().count(), 0);
        }
    }
}
