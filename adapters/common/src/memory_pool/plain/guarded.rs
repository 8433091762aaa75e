//! What debug mode knows of a heap's blocks: which bytes of one are the application's, who asked for it, and what was filled
//! when it was freed.
//!
//! In debug mode the application's memory lies inside of a block that is the engine's own, with room before and behind. Plain
//! data and the table's entries; [`crate::usm`] fills and reads. Empty and never locked in any other mode.

use std::collections::BTreeMap;

use crate::driver::Driver;
use crate::memory_pool::live_blocks::Found;
use crate::memory_pool::plain::label::Label;
use crate::memory_pool::plain::{Heap, Live};

/// A live block with guards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guarded {
    /// Where the block starts.
    pub block: usize,
    /// Bytes that are the application's.
    pub size: usize,
    /// Which call on which thread asked for it.
    pub by: String,
}

/// A block that was filled when it was freed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    /// How many bytes were.
    pub bytes: usize,
    /// Which call on which thread freed it.
    pub by: String,
}

/// The blocks of a heap.
#[derive(Debug, Default)]
pub struct GuardedBlocks {
    /// By the application's first byte.
    live: BTreeMap<usize, Guarded>,
    /// By the block's.
    filled: BTreeMap<usize, Filled>,
}

impl<D: Driver> Heap<D> {
    /// Makes a part of a live block of the engine's the application's, which finds it by `start`.
    pub fn expose(&self, start: usize, guarded: Guarded) {
        let Some(Found::Out { owner, .. }) = self.blocks.find(guarded.block) else { return };
        let Some(label) = Label::of(owner) else { return };
        self.blocks.prepare(start, 1);
        if let Some(entry) = self.blocks.entry(start) {
            let size = guarded.size;
            self.guarded.lock().live.insert(start, guarded);
            entry.set_out(size, label.with_internal(false).owner());
        }
    }

    /// Ends what [`Heap::expose`] began, for a part that was claimed.
    pub fn conceal(&self, start: usize) -> Option<Guarded> {
        if let Some(entry) = self.blocks.entry(start) {
            entry.clear();
        }
        self.guarded.lock().live.remove(&start)
    }

    /// Notes that a block was filled; it is not in anybody's hands.
    pub fn note_filled(&self, block: usize, filled: Filled) {
        self.guarded.lock().filled.insert(block, filled);
    }

    /// What a block was filled with when it was freed, once: it is in somebody's hands now.
    pub fn take_filled(&self, block: usize) -> Option<Filled> {
        self.guarded.lock().filled.remove(&block)
    }

    /// Forgets blocks whose native allocation goes back.
    pub(super) fn forget_filled(&self, start: usize, bytes: usize) {
        let filled = &mut self.guarded.lock().filled;
        let gone: Vec<_> = filled.range(start..start + bytes).map(|(block, _)| *block).collect();
        gone.iter().for_each(|block| drop(filled.remove(block)));
    }

    /// The block whose advice is taken back when the application frees `start`.
    pub(super) fn advised_block(&self, start: usize) -> usize {
        self.guarded.lock().live.get(&start).map_or(start, |guarded| guarded.block)
    }

    /// The application's memory that an address lies in; `Some(None)` for an address in a guard.
    pub(super) fn exposed_around(&self, address: usize, block: usize) -> Option<Option<Live>> {
        let (start, guarded) = {
            let blocks = self.guarded.lock();
            let (start, guarded) = blocks.live.range(block..).next()?;
            (*start, guarded.clone())
        };
        if guarded.block != block {
            return None;
        }
        let Some(Found::Out { size, owner }) = self.blocks.find(start) else { return Some(None) };
        let label = Label::of(owner)?;
        let is_within = address >= start && address - start < size;
        Some(is_within.then_some(Live { start, size, label }))
    }
}
