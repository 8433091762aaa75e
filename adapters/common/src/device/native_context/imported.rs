//! Memory of other processes that this one has opened, by address: whole native allocations, and blocks of heaps.
//!
//! The native library opens all of a native allocation; the block that was meant is a part of it, which only its handle data
//! tell. Memory that was closed without the engine, natively or with its native context, stays noted until its addresses are
//! opened or allocated again ([`forget`]). A leaf lock, held over no native call.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

/// A block of another process, or a whole native allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Its first byte.
    pub start: usize,
    /// Bytes that were asked for.
    pub size: usize,
    /// Where the native allocation was opened.
    pub base: usize,
}

static IMPORTED: Mutex<BTreeMap<usize, (Imported, usize)>> = Mutex::new(BTreeMap::new());
/// How many there are, so that whoever has none takes no lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Notes one opening. What is known of another block at that start was closed natively: the address is this one's.
pub fn add(block: Imported) {
    let mut imported = IMPORTED.lock();
    let entry = imported.entry(block.start).or_insert((block, 0));
    if entry.0 != block {
        *entry = (block, 0);
    }
    entry.1 += 1;
    COUNT.store(imported.len(), Ordering::Release);
}

/// Forgets one opening of the block that starts at an address.
pub fn remove(start: usize) {
    let mut imported = IMPORTED.lock();
    if let Some((_, openings)) = imported.get_mut(&start) {
        *openings -= 1;
        if *openings == 0 {
            imported.remove(&start);
        }
    }
    COUNT.store(imported.len(), Ordering::Release);
}

/// Forgets what reaches into bytes that the native library has allocated in this process: it was closed there.
pub fn forget(address: usize, size: usize) {
    if COUNT.load(Ordering::Acquire) != 0 {
        forget_within(address, size);
    }
}

#[cold]
fn forget_within(address: usize, size: usize) {
    let mut imported = IMPORTED.lock();
    while let Some((&start, (block, _))) = imported.range(..address.saturating_add(size)).next_back()
        && start + block.size > address
    {
        imported.remove(&start);
    }
    COUNT.store(imported.len(), Ordering::Release);
}

/// The block that an address lies in.
#[must_use]
pub fn around(address: usize) -> Option<Imported> {
    if COUNT.load(Ordering::Acquire) == 0 {
        return None;
    }
    let imported = IMPORTED.lock();
    let (_, (block, _)) = imported.range(..=address).next_back()?;
    (address - block.start < block.size).then_some(*block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_known_until_its_last_opening_is_closed() {
        let block = Imported { start: 0x6666_0000_0100, size: 10, base: 0x6666_0000_0000 };
        add(block);
        add(block);
        remove(block.start);
        let known = [-1, 0, 9, 10].map(|at| around(block.start.wrapping_add_signed(at)));
        assert_eq!(known, [None, Some(block), Some(block), None]);
        remove(block.start);
        remove(block.start);
        assert_eq!(around(block.start), None);
    }

    #[test]
    fn blocks_where_memory_is_allocated_are_known_no_more_and_those_beside_it_are() {
        const START: usize = 0x6668_0000_0000;
        let blocks = [0, 100, 200, 300].map(|at| Imported { start: START + at, size: 100, base: START });
        blocks.into_iter().for_each(add);
        forget(START + 150, 150);
        let known = blocks.map(|block| around(block.start) == Some(block));
        assert_eq!(known, [true, false, false, true]);
        blocks.into_iter().for_each(|block| remove(block.start));
        assert_eq!(blocks.map(|block| around(block.start)), [None; 4]);
    }

    #[test]
    fn a_block_that_is_opened_where_another_one_was_is_known_with_its_own_size() {
        let old = Imported { start: 0x6667_0000_0100, size: 10, base: 0x6667_0000_0000 };
        let new = Imported { start: old.start, size: 20, base: old.start };
        add(old);
        add(new);
        assert_eq!(around(new.start + 15), Some(new));
        remove(new.start);
        assert_eq!(around(new.start), None);
    }
}
