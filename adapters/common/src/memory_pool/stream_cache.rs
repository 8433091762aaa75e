//! What a stream has of stream-ordered memory: its dealings with each backend, and the blocks that it keeps.
//!
//! Everything here is behind the stream's lock, so the common allocation and free of a queue touch nothing that another
//! queue touches but the entry of their own block ([`crate::memory_pool::live_blocks`]). A block that is out belongs to the stream
//! whose command allocated it; a free on another stream takes it by its entry, without this stream's lock
//! ([`crate::memory_pool::registry`]). Native frees happen on the stream's own stream, in its order. A block's entry is cleared
//! before the native free: from that call on the address may be somebody else's.

pub(crate) mod fast;

use core::marker::PhantomData;
use std::sync::Arc;

use crate::driver::{Driver, MemoryKind};
use crate::memory_pool::backend::PoolBackend;
use crate::memory_pool::free_lists::{FreeLists, block_size};
use crate::memory_pool::live_blocks::{Cursor, Entry, LiveBlocks, Owner};
use crate::memory_pool::stream::PoolStream;
use crate::memory_pool::usage::CreditRef;
use crate::object::error::Result;
use crate::sync::mutation;

/// A stream's dealings with one backend. What is read without the free lists comes first.
#[repr(C)]
pub struct PoolCache<D: Driver> {
    /// The backend.
    pub backend: Arc<PoolBackend<D>>,
    /// What the entries of its blocks say.
    owner: Owner,
    credit: Option<CreditRef>,
    /// Blocks given out less blocks freed on this stream. Blocks freed elsewhere are counted by the backend.
    out: i64,
    /// Whether blocks may be kept: not those of another device.
    keeps: bool,
    free_lists: FreeLists,
}

/// What became of a request.
pub enum Served {
    /// A block, written down as live.
    Recycled(usize),
    /// A block of a zero-initialising pool, in use but not written down yet, with its pool cache.
    Zeroed(usize, usize),
    /// Nothing is kept of that size in this pool cache.
    Empty(usize),
    /// The stream has no cache for the pool.
    NoCache,
}

/// The cache of one stream, whose type is `S`.
#[repr(C)]
pub struct StreamCache<D: Driver, S> {
    pools: Vec<Option<PoolCache<D>>>,
    live: Cursor,
    /// The stream's key.
    key: u64,
    /// Whether the stream's queue is gone, so that nobody empties what would be kept from now on.
    ended: bool,
    /// Whether the stream ever dealt with memory that comes in slabs.
    has_slabs: bool,
    stream: PhantomData<fn(&S)>,
}

impl<D: Driver, S: PoolStream<D>> StreamCache<D, S> {
    /// The cache of a stream that never had to do with stream-ordered memory.
    #[must_use]
    pub fn new(key: u64, blocks: Arc<LiveBlocks>) -> Self {
        Self { pools: Vec::new(), live: Cursor::new(blocks), key, ended: false, has_slabs: false, stream: PhantomData }
    }

    /// Whether the stream deals with no backend.
    #[must_use]
    pub fn is_unused(&self) -> bool {
        self.pools.is_empty()
    }

    /// Whether [`StreamCache::end`] was called.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Serves a request of `size` bytes from what is kept. `proven` says that all the stream was given so far comes before
    /// the block's use.
    #[inline(always)]
    pub fn serve(&mut self, pool: u64, kind: MemoryKind, size: usize, proven: bool) -> Served {
        let serves = |cache_of_pool: &PoolCache<D>| {
            cache_of_pool.backend.pool == pool && cache_of_pool.backend.kind == kind && cache_of_pool.keeps
        };
        let found = self
            .pools
            .iter_mut()
            .enumerate()
            .find_map(|(at, cache_of_pool)| Some((at, cache_of_pool.as_mut().filter(|s| serves(s))?)));
        let Some((at, cache_of_pool)) = found else { return Served::NoCache };
        match take_kept(cache_of_pool, size, proven) {
            None => Served::Empty(at),
            Some(pointer) if cache_of_pool.backend.zeroed => {
                note_use(cache_of_pool, size);
                Served::Zeroed(at, pointer)
            }
            Some(pointer) => {
                count_out(cache_of_pool, size);
                if let Some(entry) = self.live.entry(pointer) {
                    entry.set_out_again(size);
                }
                Served::Recycled(pointer)
            }
        }
    }

    /// Tells the backends of which blocks are kept that this stream keeps them.
    pub fn note_kept(&self) {
        let keeping = self.pools.iter().flatten().filter(|cache_of_pool| cache_of_pool.free_lists.bytes() > 0);
        keeping.for_each(|cache_of_pool| cache_of_pool.backend.keepers.note(self.key));
    }

    /// Takes a kept block of a backend whose last use comes before what was counted at `position`, for a stream that is
    /// ordered behind it. To everybody else it is a kept block until that stream says what became of it
    /// ([`StreamCache::enter_used`]). It counts as in use on the credit that its free has filled: from the other stream's, all slack
    /// would have to be brought together, each time that a block goes to and fro.
    #[must_use]
    #[inline]
    pub fn take_freed_before(&mut self, backend: &PoolBackend<D>, size: usize, position: u64) -> Option<usize> {
        let position = if mutation::is(mutation::Bug::ReuseIgnoresOrder) { u64::MAX } else { position };
        let of_backend = |one: &&mut PoolCache<D>| core::ptr::eq(&raw const *one.backend, backend);
        let cache_of_pool = self.pools.iter_mut().flatten().find(of_backend)?;
        let pointer = cache_of_pool.free_lists.take_freed_before(block_size(size)?, position)?;
        note_use(cache_of_pool, size);
        Some(pointer)
    }

    /// The pool cache of a backend, made now if there is none; `None` for a backend whose pool is gone.
    ///
    /// # Errors
    /// `OUT_OF_RESOURCES` when there are more backends than can be told apart.
    pub fn open(&mut self, stream: &S, backend: &Arc<PoolBackend<D>>) -> Result<Option<usize>> {
        let known = |cache_of_pool: &Option<PoolCache<D>>| {
            cache_of_pool.as_ref().is_some_and(|cache_of_pool| Arc::ptr_eq(&cache_of_pool.backend, backend))
        };
        if let Some(at) = self.pools.iter().position(known) {
            return Ok(Some(at));
        }
        let number = stream.registry().register(backend)?;
        if !backend.begin_slot() {
            return Ok(None);
        }
        backend.keepers.note(self.key);
        self.has_slabs |= backend.has_slabs();
        let cache_of_pool = PoolCache {
            owner: Owner::new(self.key, number),
            free_lists: FreeLists::default(),
            credit: backend.usage().map(crate::memory_pool::usage::Usage::open),
            out: 0,
            keeps: Arc::ptr_eq(&backend.device, stream.device()),
            backend: Arc::clone(backend),
        };
        let free = self.pools.iter().position(Option::is_none);
        let at = free.unwrap_or_else(|| {
            self.pools.push(None);
            self.pools.len() - 1
        });
        self.pools[at] = Some(cache_of_pool);
        Ok(Some(at))
    }

    /// The backend behind a pool cache.
    #[inline]
    pub fn backend(&self, at: usize) -> Option<&Arc<PoolBackend<D>>> {
        self.pools.get(at)?.as_ref().map(|cache_of_pool| &cache_of_pool.backend)
    }

    /// Whether a pool cache's blocks are given out full of zeros.
    #[inline]
    pub fn is_zeroed(&self, at: usize) -> bool {
        self.backend(at).is_some_and(|backend| backend.zeroed)
    }

    /// Notes a block that has just come from its backend, of which nobody knows yet: it is in use.
    pub fn note_fresh(&mut self, at: usize, pointer: usize, size: usize) {
        let Some(Some(cache_of_pool)) = self.pools.get(at) else { return };
        note_use(cache_of_pool, size);
        if cache_of_pool.backend.hides_starts() {
            self.live.blocks().add_unnamed(pointer);
        }
    }

    /// Writes a block down as live that is in use already.
    #[inline]
    pub fn enter_used(&mut self, at: usize, pointer: usize, size: usize) {
        let Some(Some(cache_of_pool)) = self.pools.get_mut(at) else { return };
        cache_of_pool.out += 1;
        set_out(&mut self.live, cache_of_pool, pointer, size);
    }

    /// Gives a block back that is in use and that nobody has seen, as [`StreamCache::give_back`] does.
    ///
    /// # Errors
    /// As [`StreamCache::give_back`].
    pub fn give_back_used(
        &mut self,
        stream: &S,
        position: &mut u64,
        at: usize,
        pointer: usize,
        size: usize,
    ) -> Result<()> {
        let Some(Some(cache_of_pool)) = self.pools.get_mut(at) else { return Ok(()) };
        note_end_of_use(cache_of_pool, size);
        self.give_back(stream, position, at, pointer, size)
    }

    /// Writes a block down as live; undoes [`StreamCache::remove`].
    #[inline]
    pub fn enter(&mut self, at: usize, pointer: usize, size: usize) {
        let Some(Some(cache_of_pool)) = self.pools.get_mut(at) else { return };
        count_out(cache_of_pool, size);
        set_out(&mut self.live, cache_of_pool, pointer, size);
    }

    /// Takes a block of this stream off the live blocks, to be given back through the same pool cache.
    #[inline]
    pub fn remove(&mut self, pointer: usize) -> Option<(usize, usize)> {
        let entry = self.live.entry(pointer)?;
        let (at, cache_of_pool, size) = self.pools.iter_mut().enumerate().find_map(|(at, cache_of_pool)| {
            let cache_of_pool = cache_of_pool.as_mut()?;
            let size = entry.is_out_of(cache_of_pool.owner)?;
            Some((at, cache_of_pool, size))
        })?;
        take_out::<D>(entry);
        come_back(cache_of_pool, size);
        Some((at, size))
    }

    /// Gives a block that nobody has back: into the free lists if it may stay, else below.
    ///
    /// # Errors
    /// What the native library answers; the block is nowhere then.
    #[inline]
    pub fn give_back(&mut self, stream: &S, position: &mut u64, at: usize, pointer: usize, size: usize) -> Result<()> {
        let Some(Some(cache_of_pool)) = self.pools.get_mut(at) else { return Ok(()) };
        let bytes = block_size(size).unwrap_or(size);
        if bytes > cache_of_pool.backend.keeps || !cache_of_pool.keeps || self.ended {
            *position += 1;
            return free_below(&mut self.live, &cache_of_pool.backend, stream, *position, pointer, size);
        }
        #[cfg(feature = "mutation")]
        if mutation::is(mutation::Bug::FreeListIgnoresQueue) {
            mutation::put(Arc::as_ptr(&cache_of_pool.backend).addr(), bytes, pointer);
            // Nobody would take it out of the table when it goes with its pool, and other memory comes to its address.
            if let Some(entry) = self.live.entry(pointer) {
                entry.clear();
            }
            return Ok(());
        }
        if !cache_of_pool.free_lists.has_room(bytes, cache_of_pool.backend.keeps) {
            make_room(cache_of_pool, &mut self.live, stream, position, bytes);
        }
        cache_of_pool.free_lists.keep(bytes, pointer, *position);
        if let Some(entry) = self.live.entry(pointer) {
            entry.set_kept(bytes, cache_of_pool.owner);
        }
        Ok(())
    }

    /// As [`StreamCache::give_back`] for a claimed block of whatever backend, which no pool cache has counted: it counts as out no
    /// more.
    ///
    /// # Errors
    /// As [`StreamCache::give_back`] and [`StreamCache::open`].
    pub fn give_back_from(
        &mut self,
        stream: &S,
        position: &mut u64,
        backend: &Arc<PoolBackend<D>>,
        pointer: usize,
        size: usize,
    ) -> Result<()> {
        let at = if self.ended { None } else { self.open(stream, backend)? };
        match at {
            Some(at) => self.give_back(stream, position, at, pointer, size)?,
            None => {
                *position += 1;
                free_below(&mut self.live, backend, stream, *position, pointer, size)?;
            }
        }
        backend.note_freed_elsewhere();
        Ok(())
    }

    /// Gives kept blocks back to their backends as long as `which` names these.
    ///
    /// # Errors
    /// The first failure; what could not be given back stays kept.
    pub fn flush(&mut self, stream: &S, position: &mut u64, which: impl Fn(&PoolBackend<D>) -> bool) -> Result<()> {
        let mut result = Ok(());
        for cache_of_pool in self.pools.iter_mut().flatten().filter(|cache_of_pool| which(&cache_of_pool.backend)) {
            if let Err(error) = empty(cache_of_pool, &mut self.live, stream, position, &which)
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
    pub fn keeps_any(&self, which: impl Fn(&PoolBackend<D>) -> bool) -> bool {
        self.pools
            .iter()
            .flatten()
            .any(|cache_of_pool| cache_of_pool.free_lists.bytes() > 0 && which(&cache_of_pool.backend))
    }

    /// Whether the stream keeps blocks of a backend that `which` names, or may have freed some natively.
    #[must_use]
    pub fn has_to_do_with(&self, which: impl Fn(&PoolBackend<D>) -> bool) -> bool {
        self.keeps_any(&which) || self.frees_natively(which)
    }

    /// Whether blocks of a backend that `which` names may have gone back by native calls on the stream.
    #[must_use]
    pub fn frees_natively(&self, which: impl Fn(&PoolBackend<D>) -> bool) -> bool {
        let frees = |backend: &PoolBackend<D>| backend.arena().is_none() && which(backend);
        self.pools.iter().flatten().any(|cache_of_pool| frees(&cache_of_pool.backend))
    }

    /// Ends the stream's dealings with a pool: empties its free lists and leaves its blocks to their entries. The backends
    /// come back for [`Registry::end_if_unused`](crate::memory_pool::registry::Registry::end_if_unused), to be asked without the stream's lock.
    pub fn close(&mut self, stream: &S, position: &mut u64, pool: u64) -> Vec<Arc<PoolBackend<D>>> {
        let mut closed = Vec::new();
        for at in 0..self.pools.len() {
            let Some(mut cache_of_pool) = self.pools[at].take_if(|cache_of_pool| cache_of_pool.backend.pool == pool)
            else {
                continue;
            };
            self.end_slot(&mut cache_of_pool, stream, position);
            closed.push(cache_of_pool.backend);
        }
        closed
    }

    fn end_slot(&mut self, cache_of_pool: &mut PoolCache<D>, stream: &S, position: &mut u64) {
        // What the native library refuses to take back now goes with the native pool.
        while empty(cache_of_pool, &mut self.live, stream, position, |_| true).is_err() {
            if let Some((pointer, _)) = cache_of_pool.free_lists.oldest() {
                forget(&self.live, &cache_of_pool.backend, pointer);
            }
            cache_of_pool.free_lists.give_up();
        }
        if let (Some(usage), Some(credit)) = (cache_of_pool.backend.usage(), &cache_of_pool.credit) {
            usage.close(credit);
        }
        cache_of_pool.backend.end_slot(cache_of_pool.out);
    }

    /// Whether the stream ever dealt with memory that comes in slabs.
    #[must_use]
    #[inline]
    pub fn has_slabs(&self) -> bool {
        self.has_slabs
    }

    /// The backends whose memory comes in slabs.
    #[must_use]
    pub fn with_slabs(&self) -> Vec<Arc<PoolBackend<D>>> {
        let backends = self.pools.iter().flatten().map(|cache_of_pool| &cache_of_pool.backend);
        backends.filter(|backend| backend.has_slabs()).cloned().collect()
    }

    /// The backends that are no native pools.
    #[must_use]
    pub fn arenas(&self) -> Vec<Arc<PoolBackend<D>>> {
        let backends = self.pools.iter().flatten().map(|cache_of_pool| &cache_of_pool.backend);
        backends.filter(|backend| backend.arena().is_some()).cloned().collect()
    }

    /// Ends the cache: empties every free lists and keeps nothing from now on. The backends come back as from
    /// [`StreamCache::close`].
    pub fn end(&mut self, stream: &S, position: &mut u64) -> Vec<Arc<PoolBackend<D>>> {
        self.ended = true;
        let pools = core::mem::take(&mut self.pools);
        let end = |mut cache_of_pool| {
            self.end_slot(&mut cache_of_pool, stream, position);
            cache_of_pool.backend
        };
        pools.into_iter().flatten().map(end).collect()
    }
}

/// What is kept of a size, if it may be used.
#[inline]
fn take_kept<D: Driver>(cache_of_pool: &mut PoolCache<D>, size: usize, proven: bool) -> Option<usize> {
    #[cfg(feature = "mutation")]
    if mutation::is(mutation::Bug::FreeListIgnoresQueue) {
        return mutation::take(Arc::as_ptr(&cache_of_pool.backend).addr(), block_size(size)?)
            .map(|(pointer, _)| pointer);
    }
    if proven { cache_of_pool.free_lists.take(block_size(size)?) } else { None }
}

#[inline(always)]
fn count_out<D: Driver>(cache_of_pool: &mut PoolCache<D>, size: usize) {
    cache_of_pool.out += 1;
    note_use(cache_of_pool, size);
}

#[inline(always)]
fn come_back<D: Driver>(cache_of_pool: &mut PoolCache<D>, size: usize) {
    cache_of_pool.out -= 1;
    note_end_of_use(cache_of_pool, size);
}

/// Adds to what the pool says is used, and to nothing of the stream's.
#[inline(always)]
fn note_use<D: Driver>(cache_of_pool: &PoolCache<D>, size: usize) {
    if let Some(credit) = &cache_of_pool.credit
        && let Some(usage) = cache_of_pool.backend.usage()
    {
        usage.spend(credit, size as u64);
    }
}

/// Undoes [`note_use`].
#[inline(always)]
fn note_end_of_use<D: Driver>(cache_of_pool: &PoolCache<D>, size: usize) {
    if let Some(credit) = &cache_of_pool.credit
        && let Some(usage) = cache_of_pool.backend.usage()
    {
        usage.earn(credit, size as u64);
    }
}

#[inline]
fn set_out<D: Driver>(live: &mut Cursor, cache_of_pool: &PoolCache<D>, pointer: usize, size: usize) {
    if let Some(entry) = live.entry(pointer) {
        entry.set_out(size, cache_of_pool.owner);
    }
}

/// Takes a block out of the table before it goes below, as far as the native library tells whose it is meanwhile.
#[inline(always)]
fn take_out<D: Driver>(entry: &Entry) {
    if D::TELLS_POOLS { entry.clear() } else { entry.set_leaving() }
}

/// Ends what [`take_out`] began, once the native call has returned.
#[inline(always)]
fn forget_taken<D: Driver>(entry: &Entry) {
    if !D::TELLS_POOLS {
        entry.set_left();
    }
}

/// Takes a block out of the table, before it goes below.
fn forget<D: Driver>(live: &Cursor, backend: &PoolBackend<D>, pointer: usize) {
    if let Some(entry) = live.blocks().entry(pointer) {
        entry.clear();
    }
    if backend.hides_starts() {
        live.blocks().remove_unnamed(pointer);
    }
}

/// Gives a block back below. From the native call on its address may be somebody else's, so the table forgets it before;
/// after a failure the caller says what it is.
#[inline]
fn free_below<D: Driver>(
    live: &mut Cursor,
    backend: &PoolBackend<D>,
    stream: &impl PoolStream<D>,
    position: u64,
    pointer: usize,
    size: usize,
) -> Result<()> {
    if let Some(entry) = live.entry(pointer) {
        take_out::<D>(entry);
    }
    let hides = backend.hides_starts();
    if hides {
        live.blocks().remove_unnamed(pointer);
    }
    let freed = backend.give_back(stream, position, pointer, size, backend.keeps);
    if !D::TELLS_POOLS
        && let Some(entry) = live.entry(pointer)
    {
        forget_taken::<D>(entry);
    }
    if hides && freed.is_err() {
        live.blocks().add_unnamed(pointer);
    }
    freed
}

/// Gives the sizes used longest ago back until `bytes` more have room. A block that the library refuses stays.
#[cold]
fn make_room<D: Driver>(
    cache_of_pool: &mut PoolCache<D>,
    live: &mut Cursor,
    stream: &impl PoolStream<D>,
    position: &mut u64,
    bytes: usize,
) {
    cache_of_pool.free_lists.forget_empty();
    while !cache_of_pool.free_lists.has_room(bytes, cache_of_pool.backend.keeps) {
        if give_up_oldest(cache_of_pool, live, stream, position).is_err() {
            return;
        }
    }
}

fn empty<D: Driver>(
    cache_of_pool: &mut PoolCache<D>,
    live: &mut Cursor,
    stream: &impl PoolStream<D>,
    position: &mut u64,
    wanted: impl Fn(&PoolBackend<D>) -> bool,
) -> Result<()> {
    #[cfg(feature = "mutation")]
    while let Some((pointer, size)) = mutation::take(Arc::as_ptr(&cache_of_pool.backend).addr(), 0) {
        *position += 1;
        let backend = &*cache_of_pool.backend;
        backend.give_back(stream, *position, pointer, size, backend.keeps)?;
    }
    while cache_of_pool.free_lists.bytes() > 0 && wanted(&cache_of_pool.backend) {
        give_up_oldest(cache_of_pool, live, stream, position)?;
    }
    Ok(())
}

fn give_up_oldest<D: Driver>(
    cache_of_pool: &mut PoolCache<D>,
    live: &mut Cursor,
    stream: &impl PoolStream<D>,
    position: &mut u64,
) -> Result<()> {
    let Some((oldest, size)) = cache_of_pool.free_lists.oldest() else { return Ok(()) };
    *position += 1;
    if let Err(error) = free_below(live, &cache_of_pool.backend, stream, *position, oldest, size) {
        if let Some(entry) = live.entry(oldest) {
            entry.set_kept(size, cache_of_pool.owner);
        }
        return Err(error);
    }
    cache_of_pool.free_lists.give_up();
    Ok(())
}
