//! What a heap has beyond its shards: native allocations, and freed blocks that any thread may take.
//!
//! A small block is a part of a *slab*, a native allocation of many blocks of one class; every other block has a native
//! allocation of its own, a slab of one. Plain data behind the heap's lock; the heap makes the native calls, without it.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::progress::Stamp;
use super::size_class;

/// Blocks from this size on have native allocations of their own.
pub const SMALL: usize = 64 << 10;

/// The first slab of a class has so many bytes; each further one twice as many, up to the heap's bound.
pub const FIRST_SLAB: usize = 64 << 10;

/// A native allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slab {
    /// Where it starts.
    pub base: usize,
    /// How long it is.
    pub bytes: usize,
    /// Where the first block starts.
    pub first: usize,
    /// The size of a block.
    pub block: usize,
    /// Blocks that have been cut off so far.
    cut: usize,
}

impl Slab {
    /// A native allocation for as many blocks as fit from `first` on.
    #[must_use]
    pub fn new(base: usize, bytes: usize, first: usize, block: usize) -> Self {
        Self { base, bytes, first, block, cut: 0 }
    }

    /// A native allocation that is one block.
    #[must_use]
    pub fn whole(base: usize, bytes: usize, first: usize, block: usize) -> Self {
        Self { cut: 1, ..Self::new(base, bytes, first, block) }
    }

    /// Whether it is one block.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.block >= SMALL
    }

    /// Whether no block is left to cut off.
    fn is_used_up(&self) -> bool {
        self.cut >= self.most()
    }

    /// How many blocks fit.
    fn most(&self) -> usize {
        (self.base + self.bytes - self.first) / self.block
    }

    /// The start of the block that an address lies in, if one was cut off there.
    #[must_use]
    pub fn block_around(&self, address: usize) -> Option<usize> {
        let index = address.checked_sub(self.first)? / self.block;
        (index < self.cut).then_some(self.first + index * self.block)
    }

    /// The starts of all blocks that have been cut off.
    pub fn blocks(&self) -> impl Iterator<Item = usize> + use<> {
        let Self { first, block, cut, .. } = *self;
        (0..cut).map(move |index| first + index * block)
    }
}

/// Freed blocks of one class that were sealed together.
#[derive(Debug)]
pub struct Bundle {
    /// When.
    pub stamp: Stamp,
    /// Their starts.
    pub blocks: Vec<usize>,
}

/// Freed blocks above [`size_class::LARGEST`], by size and by age.
#[derive(Debug, Default)]
struct Large {
    by_size: BTreeMap<usize, BTreeSet<(Stamp, usize)>>,
    /// Every block with its size, oldest first, and some that are kept no more.
    by_age: VecDeque<(Stamp, usize, usize)>,
    count: usize,
}

/// Where new blocks of a class come from.
#[derive(Debug)]
struct Open {
    /// The slabs that blocks are cut off, by their bases, in the order in which they came: threads that find none at one time each
    /// bring one. The last one stays until the next one comes.
    bases: VecDeque<usize>,
    /// How large the next one is: as the first again when the last one has gone back.
    next: usize,
}

impl Default for Open {
    fn default() -> Self {
        Self { bases: VecDeque::new(), next: FIRST_SLAB }
    }
}

/// The depot.
#[derive(Debug)]
pub struct Depot {
    slabs: BTreeMap<usize, Slab>,
    /// Bundles of each class, oldest first.
    bundles: Vec<VecDeque<Bundle>>,
    /// For each class.
    open: Vec<Open>,
    large: Large,
}

impl Default for Depot {
    fn default() -> Self {
        let bundles = (0..size_class::COUNT).map(|_| VecDeque::new()).collect();
        Self {
            slabs: BTreeMap::new(),
            bundles,
            open: (0..size_class::COUNT).map(|_| Open::default()).collect(),
            large: Large::default(),
        }
    }
}

impl Depot {
    /// Notes a native allocation, which blocks of a class are cut off.
    pub fn add(&mut self, class: Option<usize>, slab: Slab, largest: usize) {
        self.slabs.insert(slab.base, slab);
        if let Some(class) = class {
            let open = &mut self.open[class];
            open.next = slab.bytes.max(FIRST_SLAB).saturating_mul(2).min(largest.max(FIRST_SLAB));
            open.bases.push_back(slab.base);
        }
    }

    /// Bytes of the next slab of a small class.
    #[must_use]
    pub fn next_slab(&self, class: usize) -> usize {
        let block = size_class::size_of(class);
        self.open[class].next.max(4 * block).next_multiple_of(4096)
    }

    /// Cuts up to `most` blocks off the slab of their class that came first: what came later can go back as long as it is whole.
    pub fn cut(&mut self, class: usize, most: usize) -> Vec<usize> {
        let bases = &mut self.open[class].bases;
        let is_used_up = |base: &usize| self.slabs.get(base).is_none_or(Slab::is_used_up);
        while bases.len() > 1 && bases.front().is_some_and(is_used_up) {
            bases.pop_front();
        }
        let Some(slab) = bases.front().and_then(|base| self.slabs.get_mut(base)) else { return Vec::new() };
        let from = slab.cut;
        slab.cut = slab.most().min(from + most);
        // The one with the lowest address is taken first.
        (from..slab.cut).rev().map(|index| slab.first + index * slab.block).collect()
    }

    /// The native allocation that an address lies in.
    #[must_use]
    pub fn slab_around(&self, address: usize) -> Option<Slab> {
        let (_, slab) = self.slabs.range(..=address).next_back()?;
        (address - slab.base < slab.bytes).then_some(*slab)
    }

    /// Puts a bundle where every shard finds it.
    pub fn put(&mut self, class: usize, bundle: Bundle) {
        self.bundles[class].push_back(bundle);
    }

    /// Takes the oldest bundle of a class if `is_past` says so of its seal.
    pub fn take(&mut self, class: usize, is_past: impl Fn(Stamp) -> bool) -> Option<Vec<usize>> {
        let oldest = self.bundles[class].front()?;
        if !is_past(oldest.stamp) {
            return None;
        }
        self.bundles[class].pop_front().map(|bundle| bundle.blocks)
    }

    /// Whether a class has bundles.
    #[must_use]
    pub fn has(&self, class: usize) -> bool {
        !self.bundles[class].is_empty()
    }

    /// Keeps a large block.
    pub fn put_large(&mut self, size: usize, block: usize, stamp: Stamp) {
        let Large { by_size, by_age, count } = &mut self.large;
        by_size.entry(size).or_default().insert((stamp, block));
        by_age.push_back((stamp, size, block));
        *count += 1;
        if by_age.len() > 2 * *count + 16 {
            by_age
                .retain(|(stamp, size, block)| by_size.get(size).is_some_and(|kept| kept.contains(&(*stamp, *block))));
        }
    }

    /// Takes the large block of exactly that size which was freed last, if `is_past` says so of its seal, or else the one
    /// that was freed first.
    pub fn take_large(&mut self, size: usize, is_past: impl Fn(Stamp) -> bool) -> Option<usize> {
        let kept = self.large.by_size.get_mut(&size)?;
        let (last, _) = *kept.last()?;
        let (_, block) = if is_past(last) {
            kept.pop_last()?
        } else if is_past(kept.first()?.0) {
            kept.pop_first()?
        } else {
            return None;
        };
        self.forget_large(size);
        Some(block)
    }

    /// Whether there are large blocks of that size.
    #[must_use]
    pub fn has_large(&self, size: usize) -> bool {
        self.large.by_size.contains_key(&size)
    }

    fn forget_large(&mut self, size: usize) {
        self.large.count -= 1;
        if self.large.by_size.get(&size).is_some_and(BTreeSet::is_empty) {
            self.large.by_size.remove(&size);
        }
    }

    /// Takes the large block that has been kept longest out for good.
    pub fn take_oldest_large(&mut self) -> Option<Slab> {
        while let Some((stamp, size, block)) = self.large.by_age.pop_front() {
            let Some(kept) = self.large.by_size.get_mut(&size) else { continue };
            if !kept.remove(&(stamp, block)) {
                continue;
            }
            self.forget_large(size);
            if let Some(slab) = self.slab_around(block) {
                return self.slabs.remove(&slab.base);
            }
        }
        None
    }

    /// Takes slabs out whose blocks are all among those that are kept here, until `most` bytes of them are out. Puts `extra`
    /// bundles in first.
    pub fn take_unused(&mut self, extra: Vec<(usize, Bundle)>, most: usize) -> Vec<Slab> {
        extra.into_iter().for_each(|(class, bundle)| self.put(class, bundle));
        let mut free = HashMap::<usize, usize>::new();
        for block in self.bundles.iter().flatten().flat_map(|bundle| &bundle.blocks) {
            if let Some(slab) = self.slab_around(*block) {
                *free.entry(slab.base).or_default() += 1;
            }
        }
        let mut bytes = 0;
        let mut unused = Vec::new();
        for slab in self.slabs.values() {
            let is_large = slab.block > size_class::LARGEST;
            if bytes < most && !is_large && free.get(&slab.base).copied().unwrap_or(0) == slab.cut {
                bytes += slab.bytes;
                unused.push(*slab);
            }
        }
        if unused.is_empty() {
            return unused;
        }
        for slab in &unused {
            self.slabs.remove(&slab.base);
        }
        let slabs = &self.slabs;
        let stays =
            |block: &usize| slabs.range(..=*block).next_back().is_some_and(|(_, slab)| *block - slab.base < slab.bytes);
        for bundles in &mut self.bundles {
            bundles.iter_mut().for_each(|bundle| bundle.blocks.retain(stays));
            bundles.retain(|bundle| !bundle.blocks.is_empty());
        }
        for open in &mut self.open {
            open.bases.retain(|base| slabs.contains_key(base));
            if open.bases.is_empty() {
                open.next = FIRST_SLAB;
            }
        }
        unused
    }

    /// Every native allocation.
    pub fn slabs(&self) -> impl Iterator<Item = &Slab> {
        self.slabs.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slab_of_four() -> Depot {
        let mut depot = Depot::default();
        depot.add(Some(0), Slab::new(0x10_0100, 1024 + 0xf00, 0x10_1000, 256), 1 << 20);
        depot
    }

    #[test]
    fn blocks_of_a_slab_are_cut_off_once_and_found_by_every_address_in_them() {
        let mut depot = slab_of_four();
        let slab = depot.slab_around(0x10_1000).unwrap();
        assert_eq!(slab.block_around(0x10_1000), None);
        assert_eq!(depot.cut(0, 3), [0x10_1200, 0x10_1100, 0x10_1000]);
        assert_eq!((depot.cut(0, 3), depot.cut(0, 3)), (vec![0x10_1300], vec![]));
        let slab = depot.slab_around(0x10_13ff).unwrap();
        assert_eq!(
            [0x10_1000, 0x10_11ff, 0x10_13ff].map(|at| slab.block_around(at)),
            [0x10_1000, 0x10_1100, 0x10_1300].map(Some)
        );
        assert_eq!((slab.block_around(0x10_0fff), slab.block_around(0x10_1400)), (None, None));
        assert_eq!((depot.slab_around(0x10_00ff), depot.slab_around(0x10_1400)), (None, None));
    }

    #[test]
    fn the_rest_of_a_slab_is_cut_off_though_another_came_meanwhile() {
        let mut depot = slab_of_four();
        assert_eq!(depot.cut(0, 1), [0x10_1000]);
        depot.add(Some(0), Slab::new(0x20_0100, 1024 + 0xf00, 0x20_1000, 256), 1 << 20);
        assert_eq!(depot.cut(0, 8), [0x10_1300, 0x10_1200, 0x10_1100]);
        assert_eq!((depot.cut(0, 1), depot.cut(0, 8).len(), depot.cut(0, 1)), (vec![0x20_1000], 3, vec![]));
    }

    #[test]
    fn a_slab_that_nothing_was_cut_off_yet_can_go_back() {
        let mut depot = slab_of_four();
        depot.add(Some(0), Slab::new(0x20_0100, 1024 + 0xf00, 0x20_1000, 256), 1 << 20);
        assert_eq!(depot.cut(0, 3).len(), 3);
        let unused = depot.take_unused(Vec::new(), usize::MAX);
        assert_eq!(unused.iter().map(|slab| slab.base).collect::<Vec<_>>(), [0x20_0100]);
        assert_eq!((depot.cut(0, 3), depot.cut(0, 3)), (vec![0x10_1300], vec![]));
    }

    #[test]
    fn a_slab_is_unused_only_with_all_its_blocks() {
        let mut depot = slab_of_four();
        let mut blocks = depot.cut(0, 4);
        let last = blocks.pop().unwrap();
        depot.put(0, Bundle { stamp: 1, blocks });
        assert_eq!(depot.take_unused(Vec::new(), usize::MAX), []);
        let extra = vec![(0, Bundle { stamp: 2, blocks: vec![last] })];
        let unused = depot.take_unused(extra, usize::MAX);
        assert_eq!(unused.iter().map(|slab| slab.base).collect::<Vec<_>>(), [0x10_0100]);
        assert_eq!((depot.has(0), depot.slabs().count(), depot.cut(0, 1)), (false, 0, vec![]));
    }

    /// The native library may give another class's slab the same address.
    #[test]
    fn nothing_is_cut_off_a_slab_that_went_back_though_another_lies_there() {
        let mut depot = slab_of_four();
        let blocks = depot.cut(0, 2);
        depot.put(0, Bundle { stamp: 1, blocks });
        assert_eq!(depot.take_unused(Vec::new(), usize::MAX).len(), 1);
        depot.add(Some(1), Slab::new(0x10_0100, 1024 + 0xf00, 0x10_1000, 512), 1 << 20);
        assert_eq!((depot.cut(0, 4), depot.cut(1, 4)), (vec![], vec![0x10_1200, 0x10_1000]));
    }

    #[test]
    fn a_bundle_waits_until_its_seal_is_past() {
        let mut depot = Depot::default();
        depot.put(3, Bundle { stamp: 5, blocks: vec![1] });
        depot.put(3, Bundle { stamp: 7, blocks: vec![2] });
        assert_eq!(depot.take(3, |stamp| stamp < 5), None);
        assert_eq!(depot.take(3, |stamp| stamp < 6), Some(vec![1]));
        assert_eq!(depot.take(3, |stamp| stamp < 6), None);
        assert_eq!((depot.take(3, |_| true), depot.has(3)), (Some(vec![2]), false));
    }

    #[test]
    fn large_blocks_come_back_for_their_size_and_go_oldest_first() {
        const SIZE: usize = 4 << 20;
        let mut depot = Depot::default();
        for (number, base) in [0x1000_0000, 0x2000_0000, 0x3000_0000].into_iter().enumerate() {
            depot.add(None, Slab::whole(base, SIZE, base, SIZE), 0);
            depot.put_large(SIZE, base, number as u64);
        }
        assert_eq!((depot.take_large(SIZE - 1, |_| true), depot.take_large(SIZE, |_| false)), (None, None));
        assert_eq!(depot.take_large(SIZE, |stamp| stamp < 1), Some(0x1000_0000));
        depot.put_large(SIZE, 0x1000_0000, 3);
        assert_eq!(depot.take_oldest_large().map(|slab| slab.base), Some(0x2000_0000));
        assert_eq!(depot.take_large(SIZE, |_| true), Some(0x1000_0000));
        assert_eq!(depot.take_oldest_large().map(|slab| slab.base), Some(0x3000_0000));
        assert_eq!((depot.take_oldest_large(), depot.has_large(SIZE)), (None, false));
    }

    #[test]
    fn old_names_of_large_blocks_do_not_add_up() {
        let mut depot = Depot::default();
        for round in 0..1000 {
            depot.put_large(2 << 20, 0x5000_0000, round);
            assert_eq!(depot.take_large(2 << 20, |_| true), Some(0x5000_0000));
        }
        assert!(depot.large.by_age.len() <= 20, "{}", depot.large.by_age.len());
    }
}
