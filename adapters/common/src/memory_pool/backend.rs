//! A backend: where the blocks of one pool, one kind of memory and one device come from.
//!
//! Either a native pool of its own, a range that the application gave, or slabs where the native library has no pools of the
//! kind. It knows the figures and settings of that memory; which stream keeps what is [`crate::memory_pool::stream_cache`]'s. Blocks keep their backend alive, so a native pool goes with
//! the last of them.

use core::any::Any;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use ur_ffi::ur_result_t;

use crate::device::Device;
use crate::device::native_context::deferred_destruction::DeferredDestruction;
use crate::device::native_context::{NativeContext, Parts};
use crate::driver::{Driver, MemoryKind, PoolAttribute};
use crate::memory_pool::arena::slabs::Slabs;
use crate::memory_pool::arena::{Arena, Reach};
use crate::memory_pool::current::AnyPool;
use crate::memory_pool::free_lists;
use crate::memory_pool::keepers::Keepers;
use crate::memory_pool::native_pool;
use crate::memory_pool::registry::Registry;
use crate::memory_pool::settings::{Reuse, Settings, free_list_bytes};
use crate::memory_pool::stream::PoolStream;
use crate::memory_pool::usage::Usage;
use crate::memory_pool::waits::Waits;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::sync::cache_padded::CachePadded;
use crate::sync::unlikely::likely_ok;

enum Backing<D: Driver> {
    Native(D::Pool),
    Arena(Box<Arena<D>>),
}

impl<D: Driver> Backing<D> {
    /// A native pool, or slabs where the library has no pools of that kind or none with a maximum.
    fn of_native_memory(settings: &Settings<D>, kind: MemoryKind, location: &Location<'_, D>) -> Result<Self> {
        let Location { device, native, registry } = location;
        match native_pool::create(settings, kind, device, native) {
            Ok(pool) => Ok(Self::Native(pool)),
            Err(error) if error.code() == ur_result_t::ERROR_UNSUPPORTED_FEATURE => {
                let slabs = Slabs::new(kind, settings.max_size, device, &settings.peers, native, registry)?;
                Ok(Self::Arena(Box::new(Arena::growing(slabs))))
            }
            Err(error) => Err(error),
        }
    }
}

/// The device of a context that memory is on or next to.
pub struct Location<'a, D: Driver> {
    /// The device.
    pub device: &'a Arc<Object<Device<D>>>,
    /// Its native context.
    pub native: &'a Arc<NativeContext<D>>,
    /// The context's streams.
    pub registry: &'a Weak<Registry<D>>,
}

/// Where blocks come from. What every allocation reads comes first.
#[repr(C)]
pub struct PoolBackend<D: Driver> {
    /// Number of the pool it belongs to.
    pub pool: u64,
    /// What a free list may keep of it, bytes.
    pub keeps: usize,
    driver: &'static D,
    /// What memory it gives.
    pub kind: MemoryKind,
    /// Whether blocks read as zeros at first.
    pub zeroed: bool,
    hides_starts: bool,
    /// Whether a block may serve a stream that waits for its free.
    follows_events: AtomicBool,
    /// Whether a block may serve any stream once its free was reached.
    opportunistic: AtomicBool,
    backing: Backing<D>,
    waits: Waits,
    /// Streams that may keep blocks. Padded: queues that finish write it, and what is before is read by every allocation of
    /// every queue (`urbench`'s row "threads: 8, alloc + free 64 KiB").
    pub keepers: CachePadded<Keepers>,
    closed: AtomicBool,
    /// The device that the memory is on, or next to.
    pub device: Arc<Object<Device<D>>>,
    taken: AtomicU64,
    threshold: AtomicUsize,
    /// The most bytes that the native pool may hold; 0 for no limit.
    max_size: usize,
    usage: Option<Usage>,
    deferred_pools: Arc<DeferredDestruction<D>>,
    handle: Weak<dyn Any + Send + Sync>,
    /// Its number in the context's registry, with the registry.
    registration: OnceLock<(u32, Weak<Registry<D>>)>,
    /// Streams that deal with it.
    caches: AtomicUsize,
    /// Blocks that are out, less those that the streams in `caches` count.
    uncounted: AtomicI64,
}

impl<D: Driver> PoolBackend<D> {
    /// A backend with the settings of its pool.
    ///
    /// # Errors
    /// What the native library answers; `UNSUPPORTED_FEATURE` on a device without memory of the kind.
    pub fn new(
        pool: u64,
        handle: Weak<dyn Any + Send + Sync>,
        settings: &Settings<D>,
        kind: MemoryKind,
        location: &Location<'_, D>,
    ) -> Result<Self> {
        let backing = match settings.buffer {
            Some(buffer) => Backing::Arena(Box::new(Arena::new(buffer.base, buffer.size))),
            None => Backing::of_native_memory(settings, kind, location)?,
        };
        let Location { device, native, .. } = location;
        let keeps = free_list_bytes();
        let is_native = matches!(backing, Backing::Native(_));
        let is_buffer = settings.buffer.is_some();
        Ok(Self {
            pool,
            kind,
            device: Arc::clone(device),
            zeroed: settings.zeroed,
            hides_starts: kind == MemoryKind::Host || !is_native,
            // Of a buffer, order and completion alone decide.
            follows_events: AtomicBool::new(is_buffer || settings.reuse.events()),
            opportunistic: AtomicBool::new(is_buffer || settings.reuse.opportunistic()),
            keepers: CachePadded::default(),
            keeps,
            driver: native.driver,
            deferred_pools: Arc::clone(&native.deferred_pools),
            backing,
            handle,
            threshold: AtomicUsize::new(settings.threshold),
            waits: Waits::new(is_buffer || settings.reuse.internal()),
            max_size: settings.max_size,
            taken: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            registration: OnceLock::new(),
            caches: AtomicUsize::new(0),
            uncounted: AtomicI64::new(0),
            // Without free lists the native pool's own figures are what is asked for.
            usage: (keeps > 0 || !is_native).then(Usage::new),
        })
    }

    /// The pool's object, if the application still has it.
    pub fn pool_object(&self) -> Option<AnyPool> {
        self.handle.upgrade()
    }

    /// Says that the pool's handle is gone. Every stream's lock must be taken once afterwards, so that each has seen it.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    /// Whether the pool's handle is gone, so that nothing of it may be kept.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Its number in the registry, given by `take` if it has none.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn number_in(&self, registry: &Arc<Registry<D>>, take: impl FnOnce() -> Result<u32>) -> Result<u32> {
        static ONE_AT_A_TIME: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
        if let Some((number, _)) = self.registration.get() {
            return Ok(*number);
        }
        let _turn = ONE_AT_A_TIME.lock();
        if let Some((number, _)) = self.registration.get() {
            return Ok(*number);
        }
        let number = take()?;
        let _ = self.registration.set((number, Arc::downgrade(registry)));
        Ok(number)
    }

    /// Its number in the registry; `None` while nobody has dealt with it.
    pub fn number(&self) -> Option<u32> {
        self.registration.get().map(|(number, _)| *number)
    }

    /// Closes it, and lets the registry end it if nobody deals with it any more. Its pool is gone.
    pub fn end_with_pool(self: &Arc<Self>) {
        self.close();
        if let Some(registry) = self.registration.get().and_then(|(_, registry)| registry.upgrade()) {
            registry.end_if_unused(self);
        }
    }

    /// Says that one more stream deals with it; `false` once the pool is gone.
    pub fn begin_slot(&self) -> bool {
        // The count comes before the question and `close` before its look at the count, so one of the two sees the other.
        self.caches.fetch_add(1, Ordering::SeqCst);
        let open = !self.closed.load(Ordering::SeqCst);
        if !open {
            self.caches.fetch_sub(1, Ordering::SeqCst);
        }
        open
    }

    /// Says that a stream deals with it no more, which gave `out` blocks out beyond those it freed itself.
    pub fn end_slot(&self, out: i64) {
        self.uncounted.fetch_add(out, Ordering::SeqCst);
        self.caches.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether a stream deals with it. Once it is closed and none does, none will.
    pub fn has_streams(&self) -> bool {
        self.caches.load(Ordering::SeqCst) > 0
    }

    /// Says that a block was given back elsewhere than on the stream that counts it. Not before, since whoever has to put the
    /// block back among the live ones needs the backend.
    pub fn note_freed_elsewhere(&self) {
        self.uncounted.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether its pool is gone, no stream deals with it and none of its blocks is out.
    pub fn is_over(&self) -> bool {
        self.closed.load(Ordering::SeqCst) && !self.has_streams() && self.uncounted.load(Ordering::SeqCst) == 0
    }

    /// Whether the native library does not tell the start of a block from an address inside of it.
    #[inline]
    pub fn hides_starts(&self) -> bool {
        self.hides_starts
    }

    /// The books, where the engine keeps them.
    pub fn usage(&self) -> Option<&Usage> {
        self.usage.as_ref()
    }

    /// Whether a block that another stream keeps may serve a stream that waits for its free.
    #[inline]
    pub fn follows_events(&self) -> bool {
        self.keeps > 0 && self.follows_events.load(Ordering::Relaxed)
    }

    /// Whether a block that another stream keeps may serve any stream once that stream has got past its free.
    #[inline]
    pub fn is_opportunistic(&self) -> bool {
        self.keeps > 0 && self.opportunistic.load(Ordering::Relaxed)
    }

    /// Whether the next native allocation may make the stream wait for another one's free.
    pub fn may_wait_now(&self) -> bool {
        self.waits.is_announced()
    }

    /// Bytes to ask the native pool for: whole steps where the block may serve another request later.
    fn native_size(size: usize, keeps: usize) -> Option<usize> {
        if keeps > 0 { free_lists::block_size(size) } else { Some(size) }
    }

    /// Takes a block from below. The caller holds the stream's lock, and has recorded the stream's events if
    /// [`PoolBackend::may_wait_now`]. `keeps` is `self.keeps`; a caller that has found it 0 passes the constant.
    ///
    /// # Errors
    /// `OUT_OF_DEVICE_MEMORY`; what the native library answers.
    #[inline(always)]
    pub fn take(&self, stream: &impl PoolStream<D>, size: usize, keeps: usize) -> Result<usize> {
        let pointer = match &self.backing {
            Backing::Native(pool) => {
                let bytes = likely_ok!(Self::native_size(size, keeps).ok_or_else(|| self.exhausted(size)));
                likely_ok!(self.driver.allocate_from_pool(pool, bytes, stream.native()))
            }
            Backing::Arena(arena) => {
                core::hint::cold_path();
                self.cut(arena, stream, size)?
            }
        };
        if keeps > 0 {
            self.taken.fetch_add(free_lists::block_size(size).unwrap_or(size) as u64, Ordering::Relaxed);
        }
        Ok(pointer)
    }

    /// Allocates on a stream that captures: a launch of the graph allocates, at the address that is told now, and nothing of
    /// it counts here.
    ///
    /// # Errors
    /// `GRAPH_CAPTURE_UNSUPPORTED` for memory of the application's; what the native library answers.
    pub fn take_in_capture(&self, stream: &D::Stream, size: usize) -> Result<usize> {
        match &self.backing {
            Backing::Native(pool) => self.driver.allocate_from_pool(pool, size, stream),
            Backing::Arena(_) => Err(Error::new(
                ur_result_t::ERROR_GRAPH_CAPTURE_UNSUPPORTED,
                "an allocation from a pool that is no native one cannot be captured into a graph; use a device's default pool",
            )),
        }
    }

    #[inline(never)]
    fn cut(&self, arena: &Arena<D>, stream: &impl PoolStream<D>, size: usize) -> Result<usize> {
        let completed = self.opportunistic.load(Ordering::Relaxed);
        let reach = Reach { completed, behind_events: self.waits.is_on() };
        let cut = arena.cut(stream, size, reach).ok_or_else(|| self.exhausted(size))?;
        if let Some(behind) = cut.behind()
            && let Err(error) = self.driver.stream_wait(stream.native(), behind.raw())
        {
            arena.put_back(cut);
            return Err(error);
        }
        Ok(cut.pointer())
    }

    /// A block of an arena that another stream freed by its command `position` or an earlier one, which the caller's stream comes
    /// after; where the pool's policy has that.
    pub fn take_behind(&self, key: u64, size: usize, position: u64) -> Option<usize> {
        let arena = self.arena().filter(|_| self.follows_events.load(Ordering::Relaxed))?;
        let pointer = arena.cut_freed_before(key, size, position)?;
        if self.keeps > 0 {
            self.taken.fetch_add(free_lists::block_size(size).unwrap_or(size) as u64, Ordering::Relaxed);
        }
        Some(pointer)
    }

    /// Sees to it that a block of `size` bytes may be there for whoever asks again, where memory comes in slabs; `false` where
    /// it does not, or the pool's maximum stands against it. Called without any stream's lock, since native calls are made
    /// that can wait.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn make_room(&self, size: usize) -> Result<bool> {
        let asks = self.opportunistic.load(Ordering::Relaxed);
        self.arena().map_or(Ok(false), |arena| arena.make_room(size, asks))
    }

    /// Takes so much memory from the device that an allocation of `bytes` needs no more. Called without any stream's lock.
    ///
    /// # Errors
    /// `OUT_OF_DEVICE_MEMORY`; what the native library answers.
    pub fn prefill(&self, bytes: usize, native: &Parts<D>) -> Result<()> {
        if bytes == 0 || self.is_over_buffer() {
            return Ok(());
        }
        let Backing::Native(pool) = &self.backing else {
            return if self.make_room(bytes)? { Ok(()) } else { Err(self.exhausted(bytes)) };
        };
        native.on_scratch_stream(|stream| {
            let pointer = self.driver.allocate_from_pool(pool, bytes, stream)?;
            self.free_natively(pointer, stream)?;
            // Nothing else is on the stream, and what the host has waited for serves every stream.
            self.driver.synchronize_stream(stream)
        })
    }

    /// Gives a block back below, in the stream's order. The caller holds the stream's lock. `keeps` is as for [`PoolBackend::take`].
    ///
    /// # Errors
    /// What the native library answers; the block is as it was then.
    #[inline(always)]
    pub fn give_back(
        &self,
        stream: &impl PoolStream<D>,
        position: u64,
        pointer: usize,
        size: usize,
        keeps: usize,
    ) -> Result<()> {
        match &self.backing {
            Backing::Native(_) => likely_ok!(self.free_natively(pointer, stream.native())),
            Backing::Arena(arena) => {
                core::hint::cold_path();
                arena.give_back(pointer, stream, position);
            }
        }
        if keeps > 0 {
            self.taken.fetch_sub(free_lists::block_size(size).unwrap_or(size) as u64, Ordering::Relaxed);
        }
        Ok(())
    }

    #[inline(always)]
    fn free_natively(&self, pointer: usize, stream: &D::Stream) -> Result<()> {
        // SAFETY: a block of this pool that the application freed, that the queue kept, or that nobody has seen, in the order of
        // its last use.
        unsafe { self.driver.free_async(pointer, stream) }
    }

    #[cold]
    fn exhausted(&self, size: usize) -> Error {
        Error::new(
            ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY,
            format!("{size} bytes: the pool has no block of that size; free some or make a larger pool"),
        )
    }

    /// Whether the pool holds more than it may keep over a synchronisation.
    pub fn is_beyond_threshold(&self) -> bool {
        match self.backing {
            Backing::Arena(ref arena) if arena.slabs().is_none() => false,
            _ => self.taken.load(Ordering::Relaxed) > self.threshold.load(Ordering::Relaxed) as u64,
        }
    }

    /// Bytes that queues keep of it.
    pub fn kept(&self) -> u64 {
        let taken = self.taken.load(Ordering::Relaxed);
        self.used().map_or(0, |used| taken.saturating_sub(used))
    }

    /// The native pool, if there is one.
    pub fn native_pool(&self) -> Option<&D::Pool> {
        match &self.backing {
            Backing::Native(pool) => Some(pool),
            Backing::Arena(_) => None,
        }
    }

    /// Whether its memory comes in slabs.
    pub fn has_slabs(&self) -> bool {
        self.arena().is_some_and(|arena| arena.slabs().is_some())
    }

    /// Gives slabs back that it may not keep over a synchronisation, which has just been; native pools do that by themselves.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn keep_threshold(&self) -> Result<()> {
        self.arena().map_or(Ok(()), |arena| arena.trim(self.threshold()))
    }

    /// Bytes that the pool keeps over a synchronisation although nobody uses them.
    pub fn threshold(&self) -> usize {
        self.threshold.load(Ordering::Relaxed)
    }

    /// Sets the release threshold.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn set_threshold(&self, bytes: usize) -> Result<()> {
        if let Backing::Native(pool) = &self.backing {
            self.driver.set_pool_attribute(pool, PoolAttribute::ReleaseThreshold, bytes as u64)?;
        }
        self.threshold.store(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Sets which freed blocks may be reused. Waiting for another stream stays off but for [`PoolBackend::let_wait`].
    ///
    /// # Errors
    /// What the native library answers; part of it may have been set then.
    pub fn set_reuse(&self, reuse: Reuse) -> Result<()> {
        let set = |attribute, on| match &self.backing {
            Backing::Native(pool) => self.driver.set_pool_attribute(pool, attribute, u64::from(on)),
            Backing::Arena(_) => Ok(()),
        };
        if self.is_over_buffer() {
            return Ok(());
        }
        set(PoolAttribute::FollowEventDependencies, reuse.events())?;
        self.follows_events.store(reuse.events(), Ordering::Relaxed);
        set(PoolAttribute::Opportunistic, reuse.opportunistic())?;
        self.opportunistic.store(reuse.opportunistic(), Ordering::Relaxed);
        self.waits.allow(reuse.internal(), |on| set(PoolAttribute::InternalDependencies, on))
    }

    /// Says that native allocations may come with a wait from now on, where the policy has that. Every stream's lock must be
    /// taken once before [`PoolBackend::let_wait`], so that each has seen it; [`PoolBackend::end_waits`] ends it.
    #[must_use]
    pub fn announce_waits(&self) -> bool {
        self.waits.announce()
    }

    /// Lets allocations wait for another stream's free, if the policy has it still.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn let_wait(&self) -> Result<()> {
        self.waits.turn_on(|on| self.set_waiting(on))?;
        self.arena().map_or(Ok(()), Arena::ask_streams)
    }

    /// Takes back what [`PoolBackend::announce_waits`] said.
    pub fn end_waits(&self) {
        // A library that cannot turn it off lets allocations wait; they record what comes before them until it is off.
        let _ = self.waits.end(|on| self.set_waiting(on));
    }

    fn set_waiting(&self, on: bool) -> Result<()> {
        match &self.backing {
            Backing::Native(pool) => {
                self.driver.set_pool_attribute(pool, PoolAttribute::InternalDependencies, u64::from(on))
            }
            Backing::Arena(_) => Ok(()),
        }
    }

    /// Whether it can be full while the device has memory.
    pub fn is_bounded(&self) -> bool {
        self.max_size > 0 || self.is_over_buffer()
    }

    /// Whether its memory is the application's own.
    pub fn is_over_buffer(&self) -> bool {
        self.arena().is_some_and(|arena| arena.slabs().is_none())
    }

    /// Whether a bounded backend that refused `size` bytes was in want of the device's memory: its own maximum lets it hold as
    /// many more, and the device has not got them. A native library that says neither is taken at its refusal.
    pub fn could_grow(&self, size: usize, native: &Parts<D>) -> bool {
        if self.is_over_buffer() {
            return false;
        }
        let held = self.reserved(PoolAttribute::ReservedCurrent).unwrap_or(0);
        if held.saturating_add(size as u64) > self.max_size as u64 {
            return false;
        }
        // Pools grow by whole steps.
        let step = size.checked_next_multiple_of(D::POOL_STEP).unwrap_or(size);
        let free = || native.enter().and_then(|_scope| self.driver.memory_info()).map_or(0, |(free, _)| free);
        self.kind != MemoryKind::Device || free() < step
    }

    /// Gives what nobody uses beyond `keep` bytes back to the device. Slabs stay while a queue of the context has work, for later
    /// trims.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn trim(&self, keep: usize) -> Result<()> {
        match &self.backing {
            Backing::Native(pool) => native_pool::trim(self.driver, pool, keep),
            Backing::Arena(arena) => arena.trim(keep),
        }
    }

    /// Bytes held now, and the most held since the mark was reset.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn reserved(&self, attribute: PoolAttribute) -> Result<u64> {
        match &self.backing {
            Backing::Native(pool) => self.driver.pool_attribute(pool, attribute),
            Backing::Arena(arena) => Ok(arena.reserved(attribute) as u64),
        }
    }

    /// Bytes in use.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn used(&self) -> Result<u64> {
        match (&self.usage, &self.backing) {
            (Some(usage), _) => Ok(usage.used()),
            (None, Backing::Native(pool)) => self.driver.pool_attribute(pool, PoolAttribute::UsedCurrent),
            (None, Backing::Arena(_)) => Ok(0),
        }
    }

    /// The most bytes in use since the mark was reset.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn used_high(&self) -> Result<u64> {
        match (&self.usage, &self.backing) {
            (Some(usage), _) => Ok(usage.high()),
            (None, Backing::Native(pool)) => self.driver.pool_attribute(pool, PoolAttribute::UsedHigh),
            (None, Backing::Arena(_)) => Ok(0),
        }
    }

    /// Resets one of the high-water marks.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn reset_high(&self, attribute: PoolAttribute) -> Result<()> {
        match (&self.usage, &self.backing) {
            (Some(usage), _) if attribute == PoolAttribute::UsedHigh => usage.reset_high(),
            (_, Backing::Native(pool)) => self.driver.set_pool_attribute(pool, attribute, 0)?,
            (_, Backing::Arena(arena)) => arena.slabs().into_iter().for_each(Slabs::reset_high),
        }
        Ok(())
    }

    /// The arena, if its memory is no native pool's. A stream that ends leaves an event behind its frees there.
    pub fn arena(&self) -> Option<&Arena<D>> {
        match &self.backing {
            Backing::Native(_) => None,
            Backing::Arena(arena) => Some(arena),
        }
    }
}

impl<D: Driver> Drop for PoolBackend<D> {
    fn drop(&mut self) {
        let Backing::Native(pool) = &mut self.backing else { return };
        self.deferred_pools.end(self.driver, core::mem::take(pool));
    }
}
