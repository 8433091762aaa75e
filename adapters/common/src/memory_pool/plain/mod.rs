//! Plain memory: blocks of one kind on one device of one context, kept when they are freed.
//!
//! A [`Heap`] serves `urUSM*Alloc` without a pool, and buffers. Blocks are of size classes; what threads free goes to their
//! [`shard`], from there to the [`depot`], and to the native library when too much is kept, when some memory of the process runs
//! out, or with the context. A block is used again only when all work that was enqueued before its free has finished
//! ([`progress`]); what goes to the native library waits there, as native frees do. A table of live blocks says what
//! lies at an address, [`owned`] whose native allocation it is.
//!
//! Locks: a shard's, the depot's and [`owned`]'s are leaves, and no native call is made under any of them. Must not be called
//! with a stream's lock held.

mod advice;
pub mod depot;
pub mod guarded;
pub mod label;
pub mod looks;
pub mod progress;
mod reclaim;
mod refill;
pub mod settings;
pub mod shard;
pub mod size_class;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::{Mutex, MutexGuard};

use crate::device::native_context::NativeContext;
use crate::device::native_context::owned;
use crate::device::{Device, deferred};
use crate::driver::{Driver, MemoryKind};
use crate::memory_pool::live_blocks::{Found, LiveBlocks};
use crate::memory_pool::position::Changes;
use crate::memory_pool::registry::Registry;
use crate::object::Object;
use crate::object::error::Result;
use crate::sync::cache_padded::CachePadded;
use crate::sync::unlikely::unlikely;
use depot::{Bundle, Depot, Slab};
use label::{LARGE, Label};
use looks::Looks;
use settings::PlainSettings;
use shard::{Freed, SHARDS, Shard};

/// Alignment of a slab's first block: the largest that blocks can have.
const SLAB_ALIGNMENT: usize = size_class::MOST_ALIGNED;

/// Bytes that the host and a device move memory between them by.
pub const PAGE: usize = if cfg!(target_arch = "x86_64") { 4 << 10 } else { 64 << 10 };

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct BlockRequest {
    /// Bytes.
    pub size: usize,
    /// A power of two up to [`size_class::MOST_ALIGNED`], or 0.
    pub align: usize,
    /// Whether it is the engine's own.
    pub is_internal: bool,
}

/// How the native memory of a heap is made: so many bytes, or the native library's answer.
pub type Make<'a> = &'a dyn Fn(usize) -> Result<usize>;

/// A live block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Live {
    /// Its first byte.
    pub start: usize,
    /// Bytes that were asked for.
    pub size: usize,
    /// Where it belongs.
    pub label: Label,
}

/// Figures of a heap, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// What the native library gave.
    pub reserved: usize,
    /// Blocks that are out.
    pub live: usize,
}

impl Figures {
    /// What nobody uses.
    #[must_use]
    pub fn kept(self) -> usize {
        self.reserved.saturating_sub(self.live)
    }
}

/// The heap of one kind of memory.
pub struct Heap<D: Driver> {
    this: Weak<Self>,
    /// Its place in the context, and its kind.
    label: Label,
    settings: PlainSettings,
    blocks: Arc<LiveBlocks>,
    registry: Weak<Registry<D>>,
    /// The registry's.
    changes: Arc<Changes>,
    shards: [OnceLock<Box<Shard>>; SHARDS],
    /// Padded, since threads that refill their shards write it while others read what is before and behind.
    depot: CachePadded<Mutex<Depot>>,
    /// Bytes that the native library gave.
    reserved: AtomicUsize,
    /// Bytes of large blocks that are out.
    large_live: CachePadded<AtomicIsize>,
    /// Blocks that were given advice, which stays with their pages; with devices beside the heap's own that they were said to be
    /// accessed by.
    advised: Mutex<HashMap<usize, Vec<D::Device>>>,
    /// How many those are, so that a free without any takes no lock.
    advised_count: AtomicUsize,
    /// Whether native allocations of a few pages begin between two.
    needs_room: AtomicBool,
    /// Whether the context is gone.
    is_closed: AtomicBool,
    /// When it looks next whether it keeps too much.
    looks: Looks,
    /// Held while blocks are gathered to be given back.
    trimming: Mutex<()>,
    /// What debug mode knows of the blocks.
    guarded: Mutex<guarded::GuardedBlocks>,
    driver: &'static D,
    /// The device that the memory is on, or next to.
    pub device: Arc<Object<Device<D>>>,
    /// Where native memory lives; weakly once the context is gone.
    native: Mutex<Option<Arc<NativeContext<D>>>>,
    native_later: Weak<NativeContext<D>>,
}

impl<D: Driver> Heap<D> {
    /// A heap without memory.
    pub fn new(
        label: Label,
        settings: PlainSettings,
        registry: &Arc<Registry<D>>,
        device: &Arc<Object<Device<D>>>,
        native: &Arc<NativeContext<D>>,
    ) -> Arc<Self> {
        registry.progress().begin();
        Arc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            label,
            settings,
            blocks: Arc::clone(registry.plain_blocks()),
            registry: Arc::downgrade(registry),
            changes: Arc::clone(registry.changes()),
            shards: [const { OnceLock::new() }; SHARDS],
            depot: CachePadded::default(),
            reserved: AtomicUsize::new(0),
            large_live: CachePadded::default(),
            advised: Mutex::default(),
            advised_count: AtomicUsize::new(0),
            needs_room: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
            looks: Looks::default(),
            trimming: Mutex::new(()),
            guarded: Mutex::default(),
            driver: native.driver,
            device: Arc::clone(device),
            native: Mutex::new(Some(Arc::clone(native))),
            native_later: Arc::downgrade(native),
        })
    }

    /// Whether blocks are guarded and filled.
    #[inline]
    #[must_use]
    pub fn debugs(&self) -> bool {
        self.settings.debugs
    }

    /// Where native calls about the memory are made, while the context is there.
    pub fn native(&self) -> Option<Arc<NativeContext<D>>> {
        self.native.lock().clone()
    }

    /// What memory it is.
    #[must_use]
    pub fn kind(&self) -> MemoryKind {
        self.label.kind()
    }

    #[inline]
    fn shard(&self) -> &Shard {
        let place = &self.shards[shard::own_index()];
        place.get().unwrap_or_else(|| place.get_or_init(Box::default))
    }

    /// A block, written down as live; `make` makes native memory where nothing is kept. `None` for what the heap does not
    /// serve.
    ///
    /// # Errors
    /// Those of `make`.
    #[inline(always)]
    pub fn take(&self, wanted: BlockRequest, make: Make<'_>) -> Option<Result<usize>> {
        let bytes = wanted.size;
        if unlikely!(bytes > self.settings.largest) {
            return None;
        }
        let Some(class) = size_class::fitting(bytes, wanted.align) else { return self.take_large(wanted, bytes, make) };
        let shard = self.shard();
        let block = match shard.take(class) {
            Some(block) => block,
            None => match self.refill(shard, class, make) {
                Ok(block) => block,
                Err(error) => return Some(Err(error)),
            },
        };
        #[allow(clippy::cast_possible_truncation, reason = "there are fewer classes")]
        self.set_live(block, wanted, class as u8);
        Some(Ok(block))
    }

    #[inline]
    fn set_live(&self, block: usize, wanted: BlockRequest, class: u8) {
        if let Some(entry) = self.blocks.entry(block) {
            entry.set_out(wanted.size, self.label.with_class(class).with_internal(wanted.is_internal).owner());
        }
    }

    /// A block with a native allocation of its own, from a page's start on.
    fn make_whole(&self, size: usize, make: Make<'_>) -> Result<usize> {
        const ROOM: usize = SLAB_ALIGNMENT - crate::memory_pool::plain::NATIVE_ALIGNMENT;
        let mut bytes = if self.needs_room.load(Ordering::Relaxed) { size + ROOM } else { size };
        let mut base = make(bytes)?;
        if !base.is_multiple_of(SLAB_ALIGNMENT) && bytes == size {
            self.needs_room.store(true, Ordering::Relaxed);
            self.keep_smaller(base, size);
            bytes = size + ROOM;
            base = make(bytes)?;
        }
        let first = base.next_multiple_of(SLAB_ALIGNMENT);
        let slab = Slab::whole(base, bytes, first, size);
        self.note(&slab);
        self.depot.lock().add(None, slab, 0);
        Ok(first)
    }

    /// Keeps a native allocation that does not begin with a page as a block of the next smaller class, which does: a native
    /// free would wait for the device.
    fn keep_smaller(&self, base: usize, bytes: usize) {
        let (size, class) = size_class::below(bytes);
        let slab = Slab::whole(base, bytes, base.next_multiple_of(SLAB_ALIGNMENT), size);
        self.note(&slab);
        let mut depot = self.depot.lock();
        depot.add(None, slab, 0);
        match class {
            Some(class) => depot.put(class, Bundle { stamp: 0, blocks: vec![slab.first] }),
            None => depot.put_large(size, slab.first, 0),
        }
    }

    /// Notes new native memory, before anybody has a block of it.
    fn note(&self, slab: &Slab) {
        self.blocks.prepare(slab.first, if slab.is_whole() { 1 } else { slab.bytes });
        self.reserved.fetch_add(slab.bytes, Ordering::Relaxed);
        owned::add(slab.base, slab.bytes, &self.this);
    }

    #[cold]
    #[inline(never)]
    fn take_large(&self, wanted: BlockRequest, bytes: usize, make: Make<'_>) -> Option<Result<usize>> {
        let size = size_class::large(bytes)?;
        let block = match self.take_kept_large(size) {
            Some(block) => block,
            None => match self.make_whole(size, make) {
                Ok(block) => block,
                Err(error) => return Some(Err(error)),
            },
        };
        self.large_live.fetch_add(size.cast_signed(), Ordering::Relaxed);
        self.set_live(block, wanted, LARGE);
        Some(Ok(block))
    }

    fn take_kept_large(&self, size: usize) -> Option<usize> {
        if !self.depot.lock().has_large(size) {
            return None;
        }
        let registry = self.registry.upgrade()?;
        let progress = registry.progress();
        let take = || self.depot.lock().take_large(size, |stamp| progress.is_past(stamp));
        take().or_else(|| {
            progress.look(&registry);
            take()
        })
    }

    /// Takes a block back that was taken off the live blocks.
    ///
    /// # Errors
    /// What the native library answers to memory that goes back to it; the block is freed all the same.
    #[inline(always)]
    pub fn give_back(&self, block: usize, label: Label) -> Result<()> {
        if unlikely!(self.advised_count.load(Ordering::Relaxed) > 0) {
            return self.give_back_advised(block, label);
        }
        self.keep(block, label)
    }

    #[cold]
    #[inline(never)]
    fn give_back_advised(&self, block: usize, label: Label) -> Result<()> {
        // The advice of a block that keeps it costs time alone.
        let advice = self.take_advice_back(block);
        self.keep(block, label).and(advice)
    }

    /// Keeps a block that was freed.
    #[inline(always)]
    fn keep(&self, block: usize, label: Label) -> Result<()> {
        if unlikely!(label.class() == LARGE) {
            return self.give_back_large(block);
        }
        let class = usize::from(label.class());
        let freed = self.shard().keep(class, block);
        if freed == Freed::Stays && !unlikely!(self.is_closed.load(Ordering::Relaxed)) {
            Ok(())
        } else {
            self.kept_more(class, freed)
        }
    }

    #[cold]
    #[inline(never)]
    fn kept_more(&self, class: usize, freed: Freed) -> Result<()> {
        if let Freed::Full(blocks) = freed {
            let stamp = self.seal();
            self.depot.lock().put(class, Bundle { stamp, blocks });
        }
        self.keep_bound()
    }

    fn give_back_large(&self, block: usize) -> Result<()> {
        let stamp = self.seal();
        {
            let mut depot = self.depot.lock();
            let Some(size) = depot.slab_around(block).map(|slab| slab.block) else { return Ok(()) };
            self.large_live.fetch_sub(size.cast_signed(), Ordering::Relaxed);
            depot.put_large(size, block, stamp);
        }
        self.keep_bound()
    }

    fn seal(&self) -> progress::Stamp {
        self.registry.upgrade().map_or(0, |registry| registry.progress().seal())
    }

    /// Bytes held and bytes in use.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let shards = self.shards.iter().filter_map(OnceLock::get).map(|shard| shard.live()).sum::<isize>();
        let live = shards + self.large_live.load(Ordering::Relaxed);
        let reserved = self.reserved.load(Ordering::Relaxed);
        Figures { reserved, live: usize::try_from(live).unwrap_or(0) }
    }

    /// The most that may be kept beside so many live bytes.
    fn bound(&self, live: usize) -> usize {
        let share = live.checked_div(self.settings.keep_share).unwrap_or(0);
        self.settings.keep_bytes.saturating_add(share)
    }

    /// Gives back what is kept beyond the bound, if there is any.
    fn keep_bound(&self) -> Result<()> {
        if self.is_closed.load(Ordering::SeqCst) {
            return self.keep_nothing();
        }
        let figures = self.figures();
        let bound = self.bound(figures.live);
        if !self.looks.are_due(figures, bound) {
            return Ok(());
        }
        // Somebody else is at it.
        let Some(one) = self.trimming.try_lock() else { return Ok(()) };
        self.give_surplus_back(one, bound, bound - bound / 4)
    }

    /// As [`Heap::keep_bound`] once the context is gone, where nobody comes to look behind the last free.
    fn keep_nothing(&self) -> Result<()> {
        // First of all: of two threads that free the last blocks the second one here sees what the first has freed.
        let one = self.trimming.lock();
        let figures = self.figures();
        if figures.live == 0 || self.looks.are_due(figures, 0) { self.give_surplus_back(one, 0, 0) } else { Ok(()) }
    }

    fn give_surplus_back(&self, one: MutexGuard<'_, ()>, bound: usize, keep: usize) -> Result<()> {
        let unused = self.take_unused(keep);
        self.looks.note(self.figures(), bound);
        drop(one);
        unused.into_iter().map(|slab| self.free_slab(slab)).fold(Ok(()), Result::and)
    }

    /// Gives back what is kept beyond `keep` bytes, as far as it is whole native allocations: how many bytes.
    ///
    /// # Errors
    /// What the native library answers first.
    pub fn trim(&self, keep: usize) -> Result<u64> {
        self.free_unused(keep).into_iter().sum()
    }

    /// As [`Heap::trim`], with what came of each native allocation.
    fn free_unused(&self, keep: usize) -> Vec<Result<u64>> {
        let one = self.trimming.lock();
        let unused = self.take_unused(keep);
        drop(one);
        unused.into_iter().map(|slab| self.free_slab(slab).map(|()| slab.bytes as u64)).collect()
    }

    /// Takes native allocations without live blocks out, until no more than `keep` bytes are kept. They count as kept no more,
    /// though each goes back by a native call that can wait: nobody else gives as much back once more meanwhile.
    fn take_unused(&self, keep: usize) -> Vec<Slab> {
        let unused = self.take_surplus(keep);
        self.reserved.fetch_sub(unused.iter().map(|slab| slab.bytes).sum(), Ordering::Relaxed);
        unused
    }

    fn take_surplus(&self, keep: usize) -> Vec<Slab> {
        let mut surplus = self.figures().kept().saturating_sub(keep);
        let mut unused = Vec::new();
        while surplus > 0 {
            let Some(slab) = self.depot.lock().take_oldest_large() else { break };
            surplus = surplus.saturating_sub(slab.bytes);
            unused.push(slab);
        }
        if surplus == 0 {
            return unused;
        }
        let mut bundles = Vec::new();
        for shard in self.shards.iter().filter_map(OnceLock::get) {
            for (class, ready, recent) in shard.take_all() {
                bundles.push((class, Bundle { stamp: 0, blocks: ready }));
                bundles.push((class, Bundle { stamp: self.seal(), blocks: recent }));
            }
        }
        bundles.retain(|(_, bundle)| !bundle.blocks.is_empty());
        unused.extend(self.depot.lock().take_unused(bundles, surplus));
        unused
    }

    /// Gives a native allocation back that was taken out and counts no more. It waits there for work that still uses it.
    fn free_slab(&self, slab: Slab) -> Result<()> {
        // From the native call on its addresses may be somebody else's.
        slab.blocks().filter_map(|block| self.blocks.entry(block)).for_each(|entry| entry.clear());
        if unlikely!(self.debugs()) {
            self.forget_filled(slab.base, slab.bytes);
        }
        let holder = owned::remove(slab.base);
        let native = self.native.lock().clone().or_else(|| self.native_later.upgrade());
        // With its native context the memory is gone.
        let freed = native
            .map_or(Ok(()), |native| deferred::free(self.driver, &native, self.label.kind(), slab.base, slab.bytes));
        drop(holder);
        freed
    }

    /// The context is gone: what is kept goes back, and so does every block that is freed from now on. Native memory of blocks
    /// that are out stays, as it does without a heap.
    pub fn close(self: &Arc<Self>) {
        self.is_closed.store(true, Ordering::SeqCst);
        // Nobody is left to tell.
        let _ = self.trim(0);
        self.looks.note(self.figures(), 0);
        let left: Vec<usize> = self.depot.lock().slabs().map(|slab| slab.base).collect();
        left.into_iter().for_each(|base| owned::keep_heap(base, self));
        *self.native.lock() = None;
    }

    /// The native allocation that an address lies in: start and size.
    #[must_use]
    pub fn native_around(&self, address: usize) -> Option<Slab> {
        self.depot.lock().slab_around(address)
    }

    /// The live block that an address lies in; `Err` for the start of one that was freed.
    pub fn block_around(&self, address: usize) -> Option<core::result::Result<Live, usize>> {
        let start = self.depot.lock().slab_around(address)?.block_around(address)?;
        if unlikely!(self.debugs())
            && let Some(exposed) = self.exposed_around(address, start)
        {
            return exposed.map(Ok);
        }
        match self.blocks.find(start)? {
            Found::Out { size, owner } if address - start < size => {
                Some(Ok(Live { start, size, label: Label::of(owner)? }))
            }
            Found::Out { .. } => None,
            Found::Recycled { .. } => Some(Err(start)),
        }
    }

    /// Takes the block that starts at an address from the application, or from the engine if it is the engine's own.
    pub fn claim(&self, address: usize, is_internal: bool) -> Option<Live> {
        claim(&self.blocks, address, is_internal)
    }
}

/// Takes the plain block that starts at an address; of several threads that try, one gets it.
#[inline]
pub fn claim(blocks: &LiveBlocks, address: usize, is_internal: bool) -> Option<Live> {
    let entry = blocks.entry(address)?;
    let label = Label::of(entry.owner()).filter(|label| label.is_internal() == is_internal)?;
    let size = entry.take_size()?;
    Some(Live { start: address, size, label })
}

/// Alignment of native allocations.
pub const NATIVE_ALIGNMENT: usize = 256;

#[cfg(all(test, not(loom)))]
mod tests {
    use core::mem::offset_of;

    use super::*;
    use crate::api::noop::Noop;
    use crate::sync::cache_padded::are_apart;

    #[test]
    fn a_refill_of_one_shard_writes_no_line_that_others_read() {
        type Kept = Heap<Noop>;
        let read = [
            offset_of!(Kept, shards),
            offset_of!(Kept, changes),
            offset_of!(Kept, advised_count),
            offset_of!(Kept, is_closed),
        ];
        assert!(are_apart(&read, &[offset_of!(Kept, depot), offset_of!(Kept, large_live)]));
    }
}
