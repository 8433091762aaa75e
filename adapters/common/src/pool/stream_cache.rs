//! What a stream has of stream-ordered memory: its dealings with each source, and the blocks that it keeps.
//!
//! Everything here is behind the stream's lock, so the common allocation and free of a queue touch nothing that another
//! queue touches but the entry of their own block ([`crate::pool::live_blocks`]). A block that is out belongs to the stream
//! whose command allocated it; a free on another stream takes it by its entry, without this stream's lock
//! ([`crate::pool::registry`]). Native frees happen on the stream's own stream, in its order. A block's entry is cleared
//! before the native free: from that call on the address may be somebody else's.

pub(crate) mod fast;

use std::sync::Arc;

use crate::driver::{Driver, MemoryKind};
use crate::object::error::Result;
use crate::pool::backend::Source;
use crate::pool::free_lists::{FreeLists, block_size};
use crate::pool::live_blocks::{Cursor, LiveBlocks, Owner};
use crate::pool::usage::PurseRef;
use crate::stream::Stream;
#[cfg(feature = "mutation")]
use crate::sync::mutation;

/// A stream's dealings with one source. What is read without a free lists comes first.
#[repr(C)]
pub struct Slot<D: Driver> {
    /// The source.
    pub source: Arc<Source<D>>,
    /// What the entries of its blocks say.
    owner: Owner,
    credit: Option<PurseRef>,
    /// Blocks given out less blocks freed on this stream. Blocks freed elsewhere are counted by the source.
    out: i64,
    /// Whether blocks may be kept: not those of another device.
    keeps: bool,
    free_lists: FreeLists,
}

/// What became of a request.
pub enum Served {
    /// A block, written down as handed out.
    Recycled(usize),
    /// A block of a zero-initialising pool, not written down yet, with its slot.
    Zeroed(usize, usize),
    /// Nothing is kept of that size in this slot.
    Empty(usize),
    /// The stream has no slot for the pool.
    NoSlot,
}

/// One stream's cache.
#[repr(C)]
pub struct StreamCache<D: Driver> {
    slots: Vec<Option<Slot<D>>>,
    live: Cursor,
    /// The stream's key.
    key: u64,
    /// Whether the stream's queue is gone, so that nobody empties what would be kept from now on.
    ended: bool,
}

impl<D: Driver> StreamCache<D> {
    /// The cache of a stream that never had to do with stream-ordered memory.
    #[must_use]
    pub fn new(key: u64, blocks: Arc<LiveBlocks>) -> Self {
        Self { slots: Vec::new(), live: Cursor::new(blocks), key, ended: false }
    }

    /// Whether the stream deals with no source.
    #[must_use]
    pub fn is_unused(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether [`StreamCache::end`] was called.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Serves a request of `size` bytes from what is kept. `proven` says that all the stream was given so far comes before
    /// the block's use.
    #[inline]
    pub fn serve(&mut self, pool: u64, kind: MemoryKind, size: usize, proven: bool) -> Served {
        let serves = |slot: &Slot<D>| slot.source.pool == pool && slot.source.kind == kind && slot.keeps;
        let found =
            self.slots.iter_mut().enumerate().find_map(|(at, slot)| Some((at, slot.as_mut().filter(|s| serves(s))?)));
        let Some((at, slot)) = found else { return Served::NoSlot };
        match take_kept(slot, size, proven) {
            None => Served::Empty(at),
            Some(pointer) if slot.source.zeroed => Served::Zeroed(at, pointer),
            Some(pointer) => {
                return_event(slot, size);
                set_out(&mut self.live, slot, pointer, size);
                Served::Recycled(pointer)
            }
        }
    }

    /// The slot of a source, made now if there is none; `None` for a source whose pool is gone.
    ///
    /// # Errors
    /// `OUT_OF_RESOURCES` when there are more sources than can be told apart.
    pub fn open(&mut self, stream: &Stream<D>, source: &Arc<Source<D>>) -> Result<Option<usize>> {
        let known = |slot: &Option<Slot<D>>| slot.as_ref().is_some_and(|slot| Arc::ptr_eq(&slot.source, source));
        if let Some(at) = self.slots.iter().position(known) {
            return Ok(Some(at));
        }
        let number = stream.registry().register(source)?;
        if !source.begin_slot() {
            return Ok(None);
        }
        let slot = Slot {
            owner: Owner::new(self.key, number),
            free_lists: FreeLists::default(),
            credit: source.usage().map(crate::pool::usage::Usage::open),
            out: 0,
            keeps: Arc::ptr_eq(&source.device, &stream.device.device),
            source: Arc::clone(source),
        };
        let free = self.slots.iter().position(Option::is_none);
        let at = free.unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[at] = Some(slot);
        Ok(Some(at))
    }

    /// The source behind a slot.
    #[inline]
    pub fn source(&self, at: usize) -> Option<&Arc<Source<D>>> {
        self.slots.get(at)?.as_ref().map(|slot| &slot.source)
    }

    /// Notes a block that has just come from its source, of which nobody knows yet.
    pub fn note_fresh(&mut self, at: usize, pointer: usize) {
        if let Some(Some(slot)) = self.slots.get(at)
            && slot.source.hides_starts()
        {
            self.live.blocks().add_unnamed(pointer);
        }
    }

    /// Writes a block down as handed out; undoes [`StreamCache::remove`].
    #[inline]
    pub fn enter(&mut self, at: usize, pointer: usize, size: usize) {
        let Some(Some(slot)) = self.slots.get_mut(at) else { return };
        return_event(slot, size);
        set_out(&mut self.live, slot, pointer, size);
    }

    /// Strikes a block of this stream off the books, to be given back through the same slot.
    #[inline]
    pub fn remove(&mut self, pointer: usize) -> Option<(usize, usize)> {
        let entry = self.live.entry(pointer)?;
        let (at, slot, size) = self.slots.iter_mut().enumerate().find_map(|(at, slot)| {
            let slot = slot.as_mut()?;
            let size = entry.is_out_of(slot.owner)?;
            Some((at, slot, size))
        })?;
        entry.clear();
        come_back(slot, size);
        Some((at, size))
    }

    /// Gives a block that nobody has back: into the free lists if it may stay, else below.
    ///
    /// # Errors
    /// What the native library answers; the block is nowhere then.
    #[inline]
    pub fn give_back(
        &mut self,
        stream: &Stream<D>,
        sequence: &mut u64,
        at: usize,
        pointer: usize,
        size: usize,
    ) -> Result<()> {
        let Some(Some(slot)) = self.slots.get_mut(at) else { return Ok(()) };
        let bytes = block_size(size).unwrap_or(size);
        if bytes > slot.source.keeps || !slot.keeps || self.ended {
            *sequence += 1;
            return free_below(&mut self.live, &slot.source, stream, *sequence, pointer, size);
        }
        #[cfg(feature = "mutation")]
        if mutation::is(mutation::Bug::FreeListIgnoresQueue) {
            mutation::put(Arc::as_ptr(&slot.source).addr(), bytes, pointer);
            return Ok(());
        }
        if !slot.free_lists.has_room(bytes, slot.source.keeps) {
            make_room(slot, &mut self.live, stream, sequence, bytes);
        }
        slot.free_lists.keep(bytes, pointer);
        if let Some(entry) = self.live.entry(pointer) {
            entry.set_kept(bytes, slot.owner);
        }
        Ok(())
    }

    /// As [`StreamCache::give_back`] for a block of whatever source, which no slot has counted.
    ///
    /// # Errors
    /// As [`StreamCache::give_back`] and [`StreamCache::open`].
    pub fn give_back_from(
        &mut self,
        stream: &Stream<D>,
        sequence: &mut u64,
        source: &Arc<Source<D>>,
        pointer: usize,
        size: usize,
    ) -> Result<()> {
        let at = if self.ended { None } else { self.open(stream, source)? };
        match at {
            Some(at) => self.give_back(stream, sequence, at, pointer, size),
            None => {
                *sequence += 1;
                free_below(&mut self.live, source, stream, *sequence, pointer, size)
            }
        }
    }

    /// Gives kept blocks back to their sources as long as `which` names these.
    ///
    /// # Errors
    /// The first failure; what could not be given back stays kept.
    pub fn flush(&mut self, stream: &Stream<D>, sequence: &mut u64, which: impl Fn(&Source<D>) -> bool) -> Result<()> {
        let mut result = Ok(());
        for slot in self.slots.iter_mut().flatten().filter(|slot| which(&slot.source)) {
            if let Err(error) = empty(slot, &mut self.live, stream, sequence, &which)
                && result.is_ok()
            {
                result = Err(error);
            }
        }
        result
    }

    /// Whether [`StreamCache::flush`] would have something to give back.
    #[must_use]
    #[inline]
    pub fn keeps_any(&self, which: impl Fn(&Source<D>) -> bool) -> bool {
        self.slots.iter().flatten().any(|slot| slot.free_lists.bytes() > 0 && which(&slot.source))
    }

    /// Ends the stream's dealings with a pool: empties its free lists and leaves its blocks to their entries. The sources
    /// come back for [`Registry::end_if_unused`](crate::pool::registry::Registry::end_if_unused), to be asked without the stream's lock.
    pub fn close(&mut self, stream: &Stream<D>, sequence: &mut u64, pool: u64) -> Vec<Arc<Source<D>>> {
        let mut closed = Vec::new();
        for at in 0..self.slots.len() {
            let Some(mut slot) = self.slots[at].take_if(|slot| slot.source.pool == pool) else { continue };
            self.end_slot(&mut slot, stream, sequence);
            closed.push(slot.source);
        }
        closed
    }

    fn end_slot(&mut self, slot: &mut Slot<D>, stream: &Stream<D>, sequence: &mut u64) {
        // What the native library refuses to take back now goes with the native pool.
        while empty(slot, &mut self.live, stream, sequence, |_| true).is_err() {
            if let Some((pointer, _)) = slot.free_lists.oldest() {
                forget(&self.live, &slot.source, pointer);
            }
            slot.free_lists.give_up();
        }
        if let (Some(usage), Some(credit)) = (slot.source.usage(), &slot.credit) {
            usage.close(credit);
        }
        slot.source.end_slot(slot.out);
    }

    /// The sources over memory of the application's.
    #[must_use]
    pub fn arenas(&self) -> Vec<Arc<Source<D>>> {
        let sources = self.slots.iter().flatten().map(|slot| &slot.source);
        sources.filter(|source| source.arena().is_some()).cloned().collect()
    }

    /// Ends the cache: empties every free lists and keeps nothing from now on. The sources come back as from
    /// [`StreamCache::close`].
    pub fn end(&mut self, stream: &Stream<D>, sequence: &mut u64) -> Vec<Arc<Source<D>>> {
        self.ended = true;
        let slots = core::mem::take(&mut self.slots);
        let end = |mut slot| {
            self.end_slot(&mut slot, stream, sequence);
            slot.source
        };
        slots.into_iter().flatten().map(end).collect()
    }
}

/// What is kept of a size, if it may be used.
#[inline]
fn take_kept<D: Driver>(slot: &mut Slot<D>, size: usize, proven: bool) -> Option<usize> {
    #[cfg(feature = "mutation")]
    if mutation::is(mutation::Bug::FreeListIgnoresQueue) {
        return mutation::take(Arc::as_ptr(&slot.source).addr(), block_size(size)?).map(|(pointer, _)| pointer);
    }
    if proven { slot.free_lists.take(block_size(size)?) } else { None }
}

#[inline]
fn return_event<D: Driver>(slot: &mut Slot<D>, size: usize) {
    slot.out += 1;
    if let Some(credit) = &slot.credit
        && let Some(usage) = slot.source.usage()
    {
        usage.spend(credit, size as u64);
    }
}

#[inline]
fn come_back<D: Driver>(slot: &mut Slot<D>, size: usize) {
    slot.out -= 1;
    if let Some(credit) = &slot.credit
        && let Some(usage) = slot.source.usage()
    {
        usage.earn(credit, size as u64);
    }
}

#[inline]
fn set_out<D: Driver>(live: &mut Cursor, slot: &Slot<D>, pointer: usize, size: usize) {
    if let Some(entry) = live.entry(pointer) {
        entry.set_out(size, slot.owner);
    }
}

/// Takes a block out of the table, before it goes below.
fn forget<D: Driver>(live: &Cursor, source: &Source<D>, pointer: usize) {
    if let Some(entry) = live.blocks().entry(pointer) {
        entry.clear();
    }
    if source.hides_starts() {
        live.blocks().remove_unnamed(pointer);
    }
}

/// Gives a block back below. From the native call on its address may be somebody else's, so the table forgets it before;
/// after a failure the caller says what it is.
#[inline]
fn free_below<D: Driver>(
    live: &mut Cursor,
    source: &Source<D>,
    stream: &Stream<D>,
    sequence: u64,
    pointer: usize,
    size: usize,
) -> Result<()> {
    if let Some(entry) = live.entry(pointer) {
        entry.clear();
    }
    let hides = source.hides_starts();
    if hides {
        live.blocks().remove_unnamed(pointer);
    }
    let freed = source.give_back(stream, sequence, pointer, size);
    if hides && freed.is_err() {
        live.blocks().add_unnamed(pointer);
    }
    freed
}

/// Gives the sizes used longest ago back until `bytes` more have room. A block that the library refuses stays.
#[cold]
fn make_room<D: Driver>(slot: &mut Slot<D>, live: &mut Cursor, stream: &Stream<D>, sequence: &mut u64, bytes: usize) {
    slot.free_lists.forget_empty();
    while !slot.free_lists.has_room(bytes, slot.source.keeps) {
        if give_up_oldest(slot, live, stream, sequence).is_err() {
            return;
        }
    }
}

fn empty<D: Driver>(
    slot: &mut Slot<D>,
    live: &mut Cursor,
    stream: &Stream<D>,
    sequence: &mut u64,
    wanted: impl Fn(&Source<D>) -> bool,
) -> Result<()> {
    #[cfg(feature = "mutation")]
    while let Some((pointer, size)) = mutation::take(Arc::as_ptr(&slot.source).addr(), 0) {
        *sequence += 1;
        slot.source.give_back(stream, *sequence, pointer, size)?;
    }
    while slot.free_lists.bytes() > 0 && wanted(&slot.source) {
        give_up_oldest(slot, live, stream, sequence)?;
    }
    Ok(())
}

fn give_up_oldest<D: Driver>(
    slot: &mut Slot<D>,
    live: &mut Cursor,
    stream: &Stream<D>,
    sequence: &mut u64,
) -> Result<()> {
    let Some((oldest, size)) = slot.free_lists.oldest() else { return Ok(()) };
    *sequence += 1;
    if let Err(error) = free_below(live, &slot.source, stream, *sequence, oldest, size) {
        if let Some(entry) = live.entry(oldest) {
            entry.set_kept(size, slot.owner);
        }
        return Err(error);
    }
    slot.free_lists.give_up();
    Ok(())
}
