//! Which block of a pool lies at an address, for every queue of a context.
//!
//! A table over the address space with one entry for each place where a block can start. The stream that hands a block out
//! or keeps it writes the block's entry with plain stores; whoever has an address reads it with a few loads. So a query
//! or a free costs the same whatever else lives, and takes no lock that a queue holds. The table never makes a native
//! call and never gives memory back before it ends; pages of it that no block ever lay in are never touched.
//!
//! A legal program has one writer at a time: blocks change hands by the application's own synchronisation. Two threads
//! that free one block at the same moment find it freed once by [`Entry::take`].

mod levels;

use core::ptr::NonNull;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::memory_pool::live_blocks::levels::{Level, Recycle, Zeroed, zeroed_box};
use crate::sync::unlikely::unlikely;

/// Blocks start at multiples of this, bytes.
const STEP_BITS: u32 = 8;
/// Address bits that a leaf, and each level above, tells apart.
const LEAF_BITS: u32 = 13;
const LOW_BITS: u32 = 13;
const MIDDLE_BITS: u32 = 11;
const TOP_BITS: u32 = 12;

/// Places of a leaf.
const LEAF_ENTRIES: usize = 1 << LEAF_BITS;

/// Addresses that one leaf covers, as a shift.
const CHUNK_BITS: u32 = STEP_BITS + LEAF_BITS;

/// The size and the state share a word.
const STATE_SHIFT: u32 = 56;
const OUT: u64 = 1 << STATE_SHIFT;
const KEPT: u64 = 2 << STATE_SHIFT;
const LEAVING: u64 = 3 << STATE_SHIFT;
const SIZE_MASK: u64 = OUT - 1;

/// Who a block came from: a stream's key and a pool backend's number in its registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(u64);

impl Owner {
    /// Bits of the backend's number.
    const SOURCE_BITS: u32 = 28;

    /// The largest number that a backend can have.
    pub const LAST_SOURCE: u32 = (1 << Self::SOURCE_BITS) - 1;

    /// A stream's key, which no process uses up, and a backend's number.
    #[must_use]
    #[inline]
    pub fn new(stream: u64, backend: u32) -> Self {
        debug_assert!(stream < 1 << (64 - Self::SOURCE_BITS) && backend <= Self::LAST_SOURCE, "an owner's number");
        Self(stream << Self::SOURCE_BITS | u64::from(backend))
    }

    /// The owner of a plain block, which came from no stream: streams' keys begin at 1.
    #[must_use]
    #[inline]
    pub const fn plain(number: u32) -> Self {
        debug_assert!(number <= Self::LAST_SOURCE, "a plain owner's number");
        Self(number as u64)
    }

    /// Whether it is a plain block's.
    #[must_use]
    #[inline]
    pub const fn is_plain(self) -> bool {
        self.0 >> Self::SOURCE_BITS == 0
    }

    /// The stream's key.
    #[must_use]
    pub fn stream(self) -> u64 {
        self.0 >> Self::SOURCE_BITS
    }

    /// The backend's number.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "masked to 28 bits")]
    pub const fn backend(self) -> u32 {
        (self.0 & Self::LAST_SOURCE as u64) as u32
    }
}

/// What is known of the block that starts at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The application has it.
    Out {
        /// Bytes that were asked for.
        size: usize,
        /// Where it came from.
        owner: Owner,
    },
    /// It was freed, and its stream keeps it for the next request, or is giving it back to the native library.
    Recycled {
        /// Bytes of the whole block.
        size: usize,
        /// Whose it is.
        owner: Owner,
    },
}

/// The place of a block.
#[derive(Debug)]
#[repr(C)]
pub struct Entry {
    /// Size and state; all zeros where no block starts.
    size: AtomicU64,
    owner: AtomicU64,
}

impl Entry {
    /// Says that the application has a block of `size` bytes.
    #[inline]
    pub fn set_out(&self, size: usize, owner: Owner) {
        self.owner.store(owner.0, Ordering::Relaxed);
        self.size.store(OUT | size as u64, Ordering::Release);
    }

    /// Says that a stream keeps a block of `size` bytes.
    #[inline]
    pub fn set_kept(&self, size: usize, owner: Owner) {
        self.owner.store(owner.0, Ordering::Relaxed);
        self.size.store(KEPT | size as u64, Ordering::Release);
    }

    /// As [`Entry::set_out`] for a block that is kept by the same owner.
    #[inline(always)]
    pub fn set_out_again(&self, size: usize) {
        self.size.store(OUT | size as u64, Ordering::Release);
    }

    /// As [`Entry::set_kept`] for a block that is out, or was last, through the same owner.
    #[inline(always)]
    pub fn set_kept_again(&self, size: usize) {
        self.size.store(KEPT | size as u64, Ordering::Release);
    }

    /// Says that no block of a pool starts here.
    #[inline]
    pub fn clear(&self) {
        self.size.store(0, Ordering::Release);
    }

    /// Says that the block goes back to the native library, which knows it as long as that takes: a library that tells no pools
    /// apart ([`Driver::TELLS_POOLS`]) would free it as plain memory. From then on another block may start here.
    ///
    /// [`Driver::TELLS_POOLS`]: crate::driver::Driver::TELLS_POOLS
    #[inline]
    pub fn set_leaving(&self) {
        self.size.store(LEAVING | (self.size.load(Ordering::Relaxed) & SIZE_MASK), Ordering::Release);
    }

    /// Says that a block that was leaving has left, unless another one starts here already.
    #[inline]
    pub fn set_left(&self) {
        let word = self.size.load(Ordering::Relaxed);
        if word >> STATE_SHIFT == LEAVING >> STATE_SHIFT {
            let _ = self.size.compare_exchange(word, 0, Ordering::Release, Ordering::Relaxed);
        }
    }

    /// The size of a block that the application has and that came from `owner`.
    #[inline]
    #[must_use]
    pub fn is_out_of(&self, owner: Owner) -> Option<usize> {
        let size = self.size.load(Ordering::Acquire);
        (size >> STATE_SHIFT == OUT >> STATE_SHIFT && self.owner.load(Ordering::Relaxed) == owner.0)
            .then_some(size_of(size))
    }

    /// Who the block that starts here came from, or one that started here before.
    #[inline]
    #[must_use]
    pub fn owner(&self) -> Owner {
        Owner(self.owner.load(Ordering::Relaxed))
    }

    /// What starts here.
    #[must_use]
    pub fn found(&self) -> Option<Found> {
        let word = self.size.load(Ordering::Acquire);
        let (size, owner) = (size_of(word), Owner(self.owner.load(Ordering::Relaxed)));
        match word >> STATE_SHIFT {
            1 => Some(Found::Out { size, owner }),
            2 | 3 => Some(Found::Recycled { size, owner }),
            _ => None,
        }
    }

    /// Takes a block that the application has, and tells its size; of several threads that try, one gets it. To everybody else
    /// the block is one that is kept until whoever has it says what became of it.
    #[inline]
    #[must_use]
    pub fn take_size(&self) -> Option<usize> {
        let word = self.size.load(Ordering::Acquire);
        if word >> STATE_SHIFT != OUT >> STATE_SHIFT {
            return None;
        }
        let taken = KEPT | (word & SIZE_MASK);
        self.size.compare_exchange(word, taken, Ordering::AcqRel, Ordering::Relaxed).ok()?;
        Some(size_of(word))
    }

    /// As [`Entry::take_size`], with where it came from.
    #[must_use]
    pub fn take(&self) -> Option<(usize, Owner)> {
        let size = self.take_size()?;
        Some((size, Owner(self.owner.load(Ordering::Relaxed))))
    }
}

#[allow(clippy::cast_possible_truncation, reason = "it was a size of this process")]
fn size_of(word: u64) -> usize {
    (word & SIZE_MASK) as usize
}

/// The entries of one chunk of addresses.
struct Leaf(Box<[Entry; LEAF_ENTRIES]>);

// SAFETY: entries where no block starts.
unsafe impl<const COUNT: usize> Zeroed for [Entry; COUNT] {}

impl Leaf {
    /// The entry of an address among those of its chunk.
    fn entry(&self, address: usize) -> &Entry {
        &self.0[(address >> STEP_BITS) % LEAF_ENTRIES]
    }
}

impl Default for Leaf {
    fn default() -> Self {
        Self(zeroed_box())
    }
}

impl Recycle for Leaf {
    fn recycle(&mut self) {
        for Entry { size, owner } in self.0.iter_mut() {
            (*size.get_mut(), *owner.get_mut()) = (0, 0);
        }
    }
}

type Low = Level<Leaf, { 1 << LOW_BITS }>;
type Middle = Level<Low, { 1 << MIDDLE_BITS }>;
type Top = Level<Middle, { 1 << TOP_BITS }>;

/// The emptied table of a context that ended, for the next context. Its 240 KiB stay until the process ends.
static SPARE: Mutex<Option<Top>> = Mutex::new(None);

/// The table of a context.
#[derive(Default)]
pub struct LiveBlocks {
    top: OnceLock<Top>,
    /// Starts of the blocks that an address inside of them does not lead to natively.
    unnamed: Mutex<BTreeSet<usize>>,
    /// How many those are, so that whoever has none takes no lock.
    unnamed_count: AtomicUsize,
}

impl LiveBlocks {
    #[inline(always)]
    fn leaf(&self, address: usize) -> Option<&Leaf> {
        let [top, middle, low] = indexes(address)?;
        self.top.get()?.get(top)?.get(middle)?.get(low)
    }

    fn make_leaf(&self, address: usize) -> Option<&Leaf> {
        let [top, middle, low] = indexes(address)?;
        let top_level = self.top.get_or_init(|| SPARE.lock().take().unwrap_or_default());
        Some(top_level.get_or_make(top).get_or_make(middle).get_or_make(low))
    }

    /// The entry of the block that starts at an address, if there is one.
    #[inline]
    #[must_use]
    pub fn entry(&self, address: usize) -> Option<&Entry> {
        if !address.is_multiple_of(1 << STEP_BITS) {
            return None;
        }
        self.leaf(address).map(|leaf| leaf.entry(address))
    }

    /// Makes room for the entries of blocks in a range, so that [`LiveBlocks::entry`] finds them.
    pub fn prepare(&self, start: usize, bytes: usize) {
        let last = start.saturating_add(bytes.max(1) - 1);
        for chunk in start >> CHUNK_BITS..=last >> CHUNK_BITS {
            let _ = self.make_leaf(chunk << CHUNK_BITS);
        }
    }

    /// Notes the start of a block for which the native library does not tell the start from an address inside.
    pub fn add_unnamed(&self, start: usize) {
        let mut unnamed = self.unnamed.lock();
        unnamed.insert(start);
        self.unnamed_count.store(unnamed.len(), Ordering::Release);
    }

    /// Forgets what [`LiveBlocks::add_unnamed`] noted; called before the block goes back to its pool.
    pub fn remove_unnamed(&self, start: usize) {
        let mut unnamed = self.unnamed.lock();
        unnamed.remove(&start);
        self.unnamed_count.store(unnamed.len(), Ordering::Release);
    }

    /// The start of the block of which [`LiveBlocks::add_unnamed`] was told last below an address, or at it.
    #[must_use]
    pub fn unnamed_before(&self, address: usize) -> Option<usize> {
        if self.unnamed_count.load(Ordering::Acquire) == 0 {
            return None;
        }
        self.unnamed.lock().range(..=address).next_back().copied()
    }

    /// What starts at an address.
    #[must_use]
    pub fn find(&self, address: usize) -> Option<Found> {
        self.entry(address)?.found()
    }
}

impl Drop for LiveBlocks {
    fn drop(&mut self) {
        let Some(mut top) = self.top.take() else { return };
        top.recycle();
        // Two contexts may end at once; the older table is freed without the lock.
        let before = SPARE.lock().replace(top);
        drop(before);
    }
}

/// Where an address lies in each level; `None` beyond what processors address.
fn indexes(address: usize) -> Option<[usize; 3]> {
    const LAST: u32 = CHUNK_BITS + LOW_BITS + MIDDLE_BITS + TOP_BITS;
    let chunk = address >> CHUNK_BITS;
    (address >> LAST == 0).then_some([
        chunk >> (LOW_BITS + MIDDLE_BITS),
        (chunk >> LOW_BITS) & ((1 << MIDDLE_BITS) - 1),
        chunk & ((1 << LOW_BITS) - 1),
    ])
}

/// One stream's way into the table, which remembers where it was last: the blocks of a stream lie side by side.
pub struct Cursor {
    blocks: Arc<LiveBlocks>,
    /// The first address of the chunk.
    start: usize,
    /// How many entries there are: a chunk's, or none before the first block.
    count: usize,
    /// The entries of that chunk; the table, which `blocks` keeps alive, never moves or ends them.
    entries: NonNull<Entry>,
}

// SAFETY: the pointer is to entries of a table that `blocks` keeps alive, and entries are shared between threads.
unsafe impl Send for Cursor {}

impl Cursor {
    /// A cursor that was nowhere yet.
    #[must_use]
    pub fn new(blocks: Arc<LiveBlocks>) -> Self {
        Self { blocks, start: 0, count: 0, entries: NonNull::dangling() }
    }

    /// The table.
    #[must_use]
    pub fn blocks(&self) -> &LiveBlocks {
        &self.blocks
    }

    /// The entry of a block that starts at an address. `None` for addresses at which none can start.
    #[inline(always)]
    pub fn entry(&mut self, address: usize) -> Option<&Entry> {
        // The bits below a step come to the top, so one comparison finds the addresses between steps and of other chunks.
        let index = address.wrapping_sub(self.start).rotate_right(STEP_BITS);
        if unlikely!(index >= self.count) {
            return self.go_to(address);
        }
        // SAFETY: `count` entries lie behind `entries` and `index` is below that; the table, which `blocks` keeps alive,
        // keeps them as long.
        Some(unsafe { &*self.entries.as_ptr().add(index) })
    }

    #[inline(never)]
    fn go_to(&mut self, address: usize) -> Option<&Entry> {
        if !address.is_multiple_of(1 << STEP_BITS) {
            return None;
        }
        let leaf = self.blocks.make_leaf(address)?;
        self.entries = NonNull::from(&*leaf.0).cast();
        self.start = address >> CHUNK_BITS << CHUNK_BITS;
        self.count = LEAF_ENTRIES;
        Some(leaf.entry(address))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    const OWNER: Owner = Owner(7 << Owner::SOURCE_BITS | 3);

    fn cursor() -> Cursor {
        Cursor::new(Arc::default())
    }

    #[test]
    fn an_owner_is_a_stream_and_a_backend() {
        let owner = Owner::new(123_456_789, 42);
        assert_eq!((owner.stream(), owner.backend()), (123_456_789, 42));
    }

    #[test]
    fn a_block_is_found_by_its_start_alone_in_the_state_it_was_left_in() {
        let mut cursor = cursor();
        let entry = cursor.entry(0x7f00_0000_0200).unwrap();
        entry.set_out(1000, OWNER);
        assert_eq!(entry.is_out_of(OWNER), Some(1000));
        assert_eq!(entry.is_out_of(Owner::new(8, 3)), None);
        let blocks = Arc::clone(&cursor.blocks);
        assert_eq!(blocks.find(0x7f00_0000_0200), Some(Found::Out { size: 1000, owner: OWNER }));
        assert_eq!((blocks.find(0x7f00_0000_0201), blocks.find(0x7f00_0000_0100)), (None, None));
        blocks.entry(0x7f00_0000_0200).unwrap().set_kept(1024, OWNER);
        assert_eq!(blocks.find(0x7f00_0000_0200), Some(Found::Recycled { size: 1024, owner: OWNER }));
        assert_eq!(blocks.entry(0x7f00_0000_0200).unwrap().is_out_of(OWNER), None);
        blocks.entry(0x7f00_0000_0200).unwrap().clear();
        assert_eq!(blocks.find(0x7f00_0000_0200), None);
    }

    #[test]
    fn a_block_that_is_leaving_is_nobodys_until_it_has_left_and_then_only_if_no_other_starts_there() {
        let mut cursor = cursor();
        let entry = cursor.entry(0x7f00_0000_0200).unwrap();
        let leaving = Some(Found::Recycled { size: 1000, owner: OWNER });
        for next in [false, true] {
            entry.set_out(1000, OWNER);
            entry.set_leaving();
            assert_eq!((entry.found(), entry.take(), entry.is_out_of(OWNER)), (leaving, None, None));
            if next {
                entry.set_out(2000, OWNER);
            }
            entry.set_left();
            assert_eq!(entry.found(), next.then_some(Found::Out { size: 2000, owner: OWNER }));
        }
    }

    /// Two places share a top index and a third does not, so each level drops a child and keeps one.
    #[test]
    fn a_table_that_was_another_contexts_knows_nothing_of_its_blocks() {
        let places = [0x7f00_0000_0200, 0x7f00_0040_0000, 0x1234_5600_0000];
        for _ in 0..3 {
            let blocks = LiveBlocks::default();
            for place in places {
                assert_eq!(blocks.find(place), None);
                blocks.prepare(place, 4096);
                assert_eq!(blocks.find(place), None);
                assert_eq!(blocks.entry(place).unwrap().owner(), Owner(0), "nothing is left of an owner either");
                blocks.entry(place).unwrap().set_out(1000, OWNER);
            }
        }
    }

    #[test]
    fn addresses_that_no_processor_has_hold_no_block() {
        let mut cursor = cursor();
        assert!(cursor.entry(usize::MAX & !0xff).is_none() && cursor.blocks.find(usize::MAX & !0xff).is_none());
        assert!(cursor.entry((1 << 57) - 256).is_some());
    }

    #[test]
    fn a_block_is_taken_once_however_many_threads_try() {
        let mut cursor = cursor();
        for round in 0..200 {
            let address = 4096 * (round + 1);
            cursor.entry(address).unwrap().set_out(512, OWNER);
            let start = std::sync::Barrier::new(4);
            let taken: usize = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4)
                    .map(|_| {
                        scope.spawn(|| {
                            start.wait();
                            usize::from(cursor.blocks.entry(address).and_then(Entry::take).is_some())
                        })
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).sum()
            });
            assert_eq!(taken, 1);
        }
    }

    #[test]
    fn threads_that_need_the_same_new_leaf_share_it() {
        for _ in 0..100 {
            let blocks = Arc::new(LiveBlocks::default());
            let start = std::sync::Barrier::new(2);
            std::thread::scope(|scope| {
                for thread in 0..2 {
                    let (blocks, start) = (Arc::clone(&blocks), &start);
                    scope.spawn(move || {
                        start.wait();
                        let address = 0x5000_0000 + thread * 4096;
                        Cursor::new(blocks).entry(address).unwrap().set_out(thread, OWNER);
                    });
                }
            });
            for thread in 0..2 {
                assert_eq!(blocks.find(0x5000_0000 + thread * 4096), Some(Found::Out { size: thread, owner: OWNER }));
            }
        }
    }

    proptest! {
        #[test]
        fn blocks_far_and_near_are_told_apart(
            steps in prop::collection::vec((0usize..6, 0usize..6, any::<bool>()), 0..100)
        ) {
            let (mut cursor, mut plain) = (cursor(), HashMap::new());
            for (far, near, add) in steps {
                let address = (far << 33) + (near << STEP_BITS) + 0x10_0000;
                let entry = cursor.entry(address).unwrap();
                if add {
                    entry.set_out(far * 10 + near, OWNER);
                    plain.insert(address, far * 10 + near);
                } else {
                    prop_assert_eq!(entry.take().map(|(size, _)| size), plain.remove(&address));
                }
            }
            for (address, size) in plain {
                prop_assert_eq!(cursor.blocks.find(address), Some(Found::Out { size, owner: OWNER }));
            }
        }
    }
}
