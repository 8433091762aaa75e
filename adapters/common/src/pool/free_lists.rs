//! A magazine: blocks that a lane freed and may hand out again without asking the pool.
//!
//! Plain data behind the lane's lock; it makes no native call and knows no driver. Blocks are kept by their size; when
//! there are too many bytes, the size that was used longest ago makes room.

use std::collections::VecDeque;

/// Steps of block sizes, bytes: what the native pools round to anyway.
const STEP: usize = 512;

/// Sizes kept at one time; more are rare, and each costs a comparison.
const MOST_SIZES: usize = 32;

/// The size of the block that a request is served with, or `None` if there is no such number.
#[must_use]
pub const fn block_size(size: usize) -> Option<usize> {
    size.checked_next_multiple_of(STEP)
}

#[derive(Debug)]
struct Rack {
    size: usize,
    used_at: u64,
    blocks: VecDeque<usize>,
}

/// Blocks of one pool that one lane keeps.
#[derive(Debug, Default)]
pub struct Magazine {
    racks: Vec<Rack>,
    bytes: usize,
    clock: u64,
}

impl Magazine {
    /// Bytes of all blocks.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes a block of exactly `size` bytes, the one freed last.
    #[inline]
    pub fn take(&mut self, size: usize) -> Option<usize> {
        let rack = self.racks.iter_mut().find(|rack| rack.size == size)?;
        let block = rack.blocks.pop_back()?;
        self.clock += 1;
        rack.used_at = self.clock;
        self.bytes -= size;
        Some(block)
    }

    /// Keeps a block of `size` bytes. The caller has made room for it.
    #[inline]
    pub fn keep(&mut self, size: usize, block: usize) {
        self.clock += 1;
        self.bytes += size;
        if let Some(rack) = self.racks.iter_mut().find(|rack| rack.size == size) {
            rack.used_at = self.clock;
            rack.blocks.push_back(block);
            return;
        }
        self.racks.push(Rack { size, used_at: self.clock, blocks: VecDeque::from([block]) });
    }

    /// Whether a block of `size` bytes has room under a bound of `most` bytes.
    #[must_use]
    #[inline]
    pub fn has_room(&self, size: usize, most: usize) -> bool {
        self.bytes + size <= most && (self.racks.len() < MOST_SIZES || self.racks.iter().any(|rack| rack.size == size))
    }

    /// The block to give up next and its size, the one that was used longest ago. It stays until [`Magazine::give_up`].
    #[must_use]
    pub fn oldest(&self) -> Option<(usize, usize)> {
        let rack = &self.racks[self.oldest_rack()?];
        rack.blocks.front().map(|block| (*block, rack.size))
    }

    /// Gives up what [`Magazine::oldest`] named.
    pub fn give_up(&mut self) {
        let Some(at) = self.oldest_rack() else { return };
        self.racks[at].blocks.pop_front();
        self.bytes -= self.racks[at].size;
        if self.racks[at].blocks.is_empty() {
            self.racks.swap_remove(at);
        }
    }

    fn oldest_rack(&self) -> Option<usize> {
        let full = self.racks.iter().enumerate().filter(|(_, rack)| !rack.blocks.is_empty());
        full.min_by_key(|(_, rack)| rack.used_at).map(|(at, _)| at)
    }

    /// Forgets sizes of which there is no block, to make room for others.
    pub fn forget_empty(&mut self) {
        self.racks.retain(|rack| !rack.blocks.is_empty());
    }

    /// The start of the block that an address lies in.
    #[must_use]
    pub fn find(&self, address: usize) -> Option<usize> {
        self.racks
            .iter()
            .flat_map(|rack| rack.blocks.iter().map(|block| (*block, rack.size)))
            .find(|(start, size)| (*start..start + size).contains(&address))
            .map(|(start, _)| start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_comes_back_for_its_own_size_alone_and_once() {
        let mut magazine = Magazine::default();
        magazine.keep(512, 1);
        assert_eq!(magazine.take(1024), None);
        assert_eq!(magazine.take(512), Some(1));
        assert_eq!((magazine.take(512), magazine.bytes()), (None, 0));
    }

    #[test]
    fn the_block_freed_last_comes_first() {
        let mut magazine = Magazine::default();
        (1..=3).for_each(|at| magazine.keep(512, at));
        assert_eq!([(); 4].map(|()| magazine.take(512)), [Some(3), Some(2), Some(1), None]);
    }

    #[test]
    fn the_size_used_longest_ago_makes_room() {
        let mut magazine = Magazine::default();
        magazine.keep(512, 1);
        magazine.keep(1024, 2);
        magazine.keep(512, 3);
        assert!(!magazine.has_room(512, 2048) && magazine.has_room(512, 2560));
        assert_eq!(magazine.oldest(), Some((2, 1024)));
        magazine.give_up();
        assert_eq!((magazine.oldest(), magazine.bytes()), (Some((1, 512)), 1024));
        magazine.give_up();
        magazine.give_up();
        assert_eq!((magazine.oldest(), magazine.bytes()), (None, 0));
    }

    #[test]
    fn an_empty_size_can_be_forgotten_for_another() {
        let mut magazine = Magazine::default();
        for size in 1..=MOST_SIZES {
            magazine.keep(size * 512, size);
        }
        assert!(!magazine.has_room(1 << 30, usize::MAX) && magazine.has_room(512, usize::MAX));
        assert_eq!(magazine.take(512), Some(1));
        magazine.forget_empty();
        assert!(magazine.has_room(1 << 20, usize::MAX));
    }

    #[test]
    fn an_address_inside_a_kept_block_is_found() {
        let mut magazine = Magazine::default();
        magazine.keep(512, 4096);
        assert_eq!((magazine.find(4096), magazine.find(4607)), (Some(4096), Some(4096)));
        assert_eq!((magazine.find(4608), magazine.find(4095)), (None, None));
    }
}
