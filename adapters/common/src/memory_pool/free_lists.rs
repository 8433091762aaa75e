//! Free lists: blocks that a stream freed and may use again without asking the pool.
//!
//! Plain data behind the stream's lock; it makes no native call and knows no driver. Blocks are kept by their size; when
//! there are too many bytes, the size that was used longest ago makes room.

use std::collections::VecDeque;

/// Steps of block sizes, bytes: what the native pools round to anyway.
const STEP: usize = 512;

/// Sizes kept at one time; more are rare, and each costs a comparison.
const MOST_SIZES: usize = 32;

/// The size of the block that a request is served with, or `None` if there is no such number.
#[must_use]
#[inline(always)]
pub const fn block_size(size: usize) -> Option<usize> {
    match size.checked_add(STEP - 1) {
        Some(beyond) => Some(beyond & !(STEP - 1)),
        None => None,
    }
}

#[derive(Debug)]
struct SizeClass {
    size: usize,
    used_at: u64,
    /// Blocks with the stream's position when they were freed, which grows from front to back.
    blocks: VecDeque<(usize, u64)>,
}

/// Blocks of one pool that one stream keeps.
#[derive(Debug, Default)]
pub struct FreeLists {
    size_classes: Vec<SizeClass>,
    bytes: usize,
    clock: u64,
}

impl FreeLists {
    /// Bytes of all blocks.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes a block of exactly `size` bytes, the one freed last.
    #[inline(always)]
    pub fn take(&mut self, size: usize) -> Option<usize> {
        let size_class = self.size_classes.iter_mut().find(|size_class| size_class.size == size)?;
        let (block, _) = size_class.blocks.pop_back()?;
        self.clock += 1;
        size_class.used_at = self.clock;
        self.bytes -= size;
        Some(block)
    }

    /// Takes a block of exactly `size` bytes that was freed at or before a position, the one freed first.
    #[must_use]
    #[inline]
    pub fn take_freed_before(&mut self, size: usize, position: u64) -> Option<usize> {
        let size_class = self.size_classes.iter_mut().find(|size_class| size_class.size == size)?;
        let (block, _) = *size_class.blocks.front().filter(|(_, freed_at)| *freed_at <= position)?;
        size_class.blocks.pop_front();
        self.bytes -= size;
        Some(block)
    }

    /// Keeps a block of `size` bytes that was freed at a position. The caller has made room for it.
    #[inline(always)]
    pub fn keep(&mut self, size: usize, block: usize, position: u64) {
        self.clock += 1;
        self.bytes += size;
        match self.size_classes.iter_mut().find(|size_class| size_class.size == size) {
            Some(size_class) => {
                size_class.used_at = self.clock;
                size_class.blocks.push_back((block, position));
            }
            None => self.add_size(size, block, position),
        }
    }

    #[cold]
    fn add_size(&mut self, size: usize, block: usize, position: u64) {
        self.size_classes.push(SizeClass { size, used_at: self.clock, blocks: VecDeque::from([(block, position)]) });
    }

    /// Whether a block of `size` bytes has room under a bound of `most` bytes.
    #[must_use]
    #[inline]
    pub fn has_room(&self, size: usize, most: usize) -> bool {
        self.bytes + size <= most
            && (self.size_classes.len() < MOST_SIZES
                || self.size_classes.iter().any(|size_class| size_class.size == size))
    }

    /// The block to give up next and its size, the one that was used longest ago. It stays until [`FreeLists::give_up`].
    #[must_use]
    pub fn oldest(&self) -> Option<(usize, usize)> {
        let size_class = &self.size_classes[self.oldest_rack()?];
        size_class.blocks.front().map(|(block, _)| (*block, size_class.size))
    }

    /// Gives up what [`FreeLists::oldest`] named.
    pub fn give_up(&mut self) {
        let Some(at) = self.oldest_rack() else { return };
        self.size_classes[at].blocks.pop_front();
        self.bytes -= self.size_classes[at].size;
        if self.size_classes[at].blocks.is_empty() {
            self.size_classes.swap_remove(at);
        }
    }

    fn oldest_rack(&self) -> Option<usize> {
        let full = self.size_classes.iter().enumerate().filter(|(_, size_class)| !size_class.blocks.is_empty());
        full.min_by_key(|(_, size_class)| size_class.used_at).map(|(at, _)| at)
    }

    /// Forgets sizes of which there is no block, to make room for others.
    pub fn forget_empty(&mut self) {
        self.size_classes.retain(|size_class| !size_class.blocks.is_empty());
    }

    /// The start of the block that an address lies in.
    #[must_use]
    pub fn find(&self, address: usize) -> Option<usize> {
        self.size_classes
            .iter()
            .flat_map(|size_class| size_class.blocks.iter().map(|(block, _)| (*block, size_class.size)))
            .find(|(start, size)| (*start..start + size).contains(&address))
            .map(|(start, _)| start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_comes_back_for_its_own_size_alone_and_once() {
        let mut free_lists = FreeLists::default();
        free_lists.keep(512, 1, 0);
        assert_eq!(free_lists.take(1024), None);
        assert_eq!(free_lists.take(512), Some(1));
        assert_eq!((free_lists.take(512), free_lists.bytes()), (None, 0));
    }

    #[test]
    fn blocks_freed_behind_a_position_stay_and_the_first_of_the_others_comes() {
        let mut free_lists = FreeLists::default();
        (1..=3).for_each(|at| free_lists.keep(512, at, 10 * at as u64));
        assert_eq!((free_lists.take_freed_before(512, 9), free_lists.take_freed_before(1024, 99)), (None, None));
        assert_eq!(
            [10, 25, 25, 30].map(|position| free_lists.take_freed_before(512, position)),
            [Some(1), Some(2), None, Some(3)]
        );
        assert_eq!(free_lists.bytes(), 0);
    }

    #[test]
    fn a_block_s_size_is_the_next_multiple_of_a_step_if_there_is_one() {
        let last = usize::MAX - (STEP - 1);
        for size in [0, 1, 511, 512, 513, 1024, last - 1, last, last + 1, usize::MAX] {
            assert_eq!(block_size(size), size.checked_next_multiple_of(STEP), "{size}");
        }
    }

    #[test]
    fn the_block_freed_last_comes_first() {
        let mut free_lists = FreeLists::default();
        (1..=3).for_each(|at| free_lists.keep(512, at, 0));
        assert_eq!([(); 4].map(|()| free_lists.take(512)), [Some(3), Some(2), Some(1), None]);
    }

    #[test]
    fn the_size_used_longest_ago_makes_room() {
        let mut free_lists = FreeLists::default();
        free_lists.keep(512, 1, 0);
        free_lists.keep(1024, 2, 0);
        free_lists.keep(512, 3, 0);
        assert!(!free_lists.has_room(512, 2048) && free_lists.has_room(512, 2560));
        assert_eq!(free_lists.oldest(), Some((2, 1024)));
        free_lists.give_up();
        assert_eq!((free_lists.oldest(), free_lists.bytes()), (Some((1, 512)), 1024));
        free_lists.give_up();
        free_lists.give_up();
        assert_eq!((free_lists.oldest(), free_lists.bytes()), (None, 0));
    }

    #[test]
    fn an_empty_size_can_be_forgotten_for_another() {
        let mut free_lists = FreeLists::default();
        for size in 1..=MOST_SIZES {
            free_lists.keep(size * 512, size, 0);
        }
        assert!(!free_lists.has_room(1 << 30, usize::MAX) && free_lists.has_room(512, usize::MAX));
        assert_eq!(free_lists.take(512), Some(1));
        free_lists.forget_empty();
        assert!(free_lists.has_room(1 << 20, usize::MAX));
    }

    #[test]
    fn an_address_inside_a_kept_block_is_found() {
        let mut free_lists = FreeLists::default();
        free_lists.keep(512, 4096, 0);
        assert_eq!((free_lists.find(4096), free_lists.find(4607)), (Some(4096), Some(4096)));
        assert_eq!((free_lists.find(4608), free_lists.find(4095)), (None, None));
    }
}
