//! A backend: where the blocks of one pool, one kind of memory and one device come from.
//!
//! Either a native pool of its own or a range that the application gave. It knows the figures and settings of that
//! memory; which stream keeps what is [`crate::memory_pool::stream_cache`]'s. Blocks keep their backend alive, so a native pool goes with
//! the last of them.

use core::any::Any;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use ur_ffi::ur_result_t;

use crate::device::Device;
use crate::device::native_context::Parts;
use crate::device::native_context::deferred_destruction::{DeferredDestruction, end_pool};
use crate::driver::{Driver, MemoryKind, PoolAttribute};
use crate::memory_pool::arena::Arena;
use crate::memory_pool::current::AnyPool;
use crate::memory_pool::free_lists;
use crate::memory_pool::keepers::Keepers;
use crate::memory_pool::registry::Registry;
use crate::memory_pool::settings::{Reuse, Settings};
use crate::memory_pool::stream::PoolStream;
use crate::memory_pool::usage::Usage;
use crate::memory_pool::waits::Waits;
use crate::object::Object;
use crate::object::error::{Error, Result};

/// The most that a queue keeps of a backend unless `UR_USM_MAGAZINE_BYTES` says otherwise.
const MAGAZINE_BYTES: usize = 64 << 20;

/// The bound of every free lists, bytes; 0 turns them off. Read once.
pub fn free_list_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    if let Some(bytes) = BYTES.get() {
        return *bytes;
    }
    let text = std::env::var("UR_USM_MAGAZINE_BYTES").ok();
    let read = text.as_deref().map_or(Some(MAGAZINE_BYTES), bytes_of);
    let is_first = BYTES.set(read.unwrap_or(MAGAZINE_BYTES)).is_ok();
    // Said outside the cell's initialisation: the application's logger may come here again.
    if is_first && read.is_none() {
        crate::object::log::warning(|| {
            let text = text.unwrap_or_default();
            format!("UR_USM_MAGAZINE_BYTES={text} is no number of bytes; {MAGAZINE_BYTES} it is")
        });
    }
    read.unwrap_or(MAGAZINE_BYTES)
}

/// A number with K, M or G behind it or nothing.
pub(super) fn bytes_of(text: &str) -> Option<usize> {
    let text = text.trim();
    let shift = match text.chars().last()?.to_ascii_uppercase() {
        'K' => 10,
        'M' => 20,
        'G' => 30,
        _ => 0,
    };
    let digits = if shift == 0 { text } else { &text[..text.len() - 1] };
    digits.trim().parse::<usize>().ok()?.checked_mul(1 << shift)
}

enum Backing<D: Driver> {
    Native(D::Pool),
    Arena(Box<Arena<D>>),
}

/// The device that memory is on or next to, with its native context.
pub type Location<'a, D> = (&'a Arc<Object<Device<D>>>, &'a Parts<D>);

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
    /// Streams that may keep blocks.
    pub keepers: Keepers,
    waits: Waits,
    closed: AtomicBool,
    backing: Backing<D>,
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
    /// What the native library answers; `UNSUPPORTED_FEATURE` on a device without pools.
    pub fn new(
        pool: u64,
        handle: Weak<dyn Any + Send + Sync>,
        settings: &Settings<D>,
        kind: MemoryKind,
        (device, native): Location<'_, D>,
    ) -> Result<Self> {
        let backing = match settings.buffer {
            Some(buffer) => Backing::Arena(Box::new(Arena::new(buffer.base, buffer.size))),
            None => Backing::Native(create_native(settings, kind, device, native)?),
        };
        let keeps = free_list_bytes();
        let is_native = matches!(backing, Backing::Native(_));
        Ok(Self {
            pool,
            kind,
            device: Arc::clone(device),
            zeroed: settings.zeroed,
            hides_starts: kind == MemoryKind::Host || !is_native,
            // Of a buffer, order and completion alone decide.
            follows_events: AtomicBool::new(!is_native || settings.reuse.events()),
            opportunistic: AtomicBool::new(!is_native || settings.reuse.opportunistic()),
            keepers: Keepers::default(),
            keeps,
            driver: native.driver,
            deferred_pools: Arc::clone(&native.deferred_pools),
            backing,
            handle,
            threshold: AtomicUsize::new(settings.threshold),
            waits: Waits::new(!is_native || settings.reuse.internal()),
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

    /// Says that a block was taken back elsewhere than on the stream that counts it.
    pub fn note_claimed(&self) {
        self.uncounted.fetch_sub(1, Ordering::SeqCst);
    }

    /// Undoes [`PoolBackend::note_claimed`].
    pub fn note_unclaimed(&self) {
        self.uncounted.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether its pool is gone, no stream deals with it and none of its blocks is out.
    pub fn is_over(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
            && self.caches.load(Ordering::SeqCst) == 0
            && self.uncounted.load(Ordering::SeqCst) == 0
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
    fn native_size(&self, size: usize) -> Option<usize> {
        if self.keeps > 0 { free_lists::block_size(size) } else { Some(size) }
    }

    /// Takes a block from below. The caller holds the stream's lock, and has recorded the stream's events if
    /// [`PoolBackend::may_wait_now`].
    ///
    /// # Errors
    /// `OUT_OF_DEVICE_MEMORY`; what the native library answers.
    #[inline(always)]
    pub fn take(&self, stream: &impl PoolStream<D>, size: usize) -> Result<usize> {
        let pointer = match &self.backing {
            Backing::Native(pool) => {
                let bytes = self.native_size(size).ok_or_else(|| self.exhausted(size))?;
                self.driver.allocate_from_pool(pool, bytes, stream.native())?
            }
            Backing::Arena(arena) => self.cut(arena, stream, size)?,
        };
        if self.keeps > 0 {
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
                "an allocation from a pool over memory of the application's cannot be captured into a graph",
            )),
        }
    }

    #[inline(never)]
    fn cut(&self, arena: &Arena<D>, stream: &impl PoolStream<D>, size: usize) -> Result<usize> {
        let cut = arena.cut(stream, size, self.waits.is_on()).ok_or_else(|| self.exhausted(size))?;
        if let Some(behind) = cut.behind()
            && let Err(error) = self.driver.stream_wait(stream.native(), behind.raw())
        {
            arena.put_back(cut);
            return Err(error);
        }
        Ok(cut.pointer())
    }

    /// Gives a block back below, in the stream's order. The caller holds the stream's lock.
    ///
    /// # Errors
    /// What the native library answers; the block is as it was then.
    #[inline(always)]
    pub fn give_back(&self, stream: &impl PoolStream<D>, position: u64, pointer: usize, size: usize) -> Result<()> {
        match &self.backing {
            // SAFETY: a block of this pool that the application freed, or that the queue kept, in the order of its last use.
            Backing::Native(_) => unsafe { self.driver.free_async(pointer, stream.native()) }?,
            Backing::Arena(arena) => arena.give_back(pointer, stream, position),
        }
        if self.keeps > 0 {
            self.taken.fetch_sub(free_lists::block_size(size).unwrap_or(size) as u64, Ordering::Relaxed);
        }
        Ok(())
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
            Backing::Native(_) => self.taken.load(Ordering::Relaxed) > self.threshold.load(Ordering::Relaxed) as u64,
            Backing::Arena(_) => false,
        }
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
        let Backing::Native(pool) = &self.backing else { return Ok(()) };
        let set = |attribute, on| self.driver.set_pool_attribute(pool, attribute, u64::from(on));
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
        self.max_size > 0 || matches!(self.backing, Backing::Arena(_))
    }

    /// Whether a bounded backend that refused `size` bytes was in want of the device's memory: its own maximum lets it hold as
    /// many more, and the device has not got them. A native library that says neither is taken at its refusal.
    pub fn could_grow(&self, size: usize, native: &Parts<D>) -> bool {
        let Backing::Native(pool) = &self.backing else { return false };
        let held = self.driver.pool_attribute(pool, PoolAttribute::ReservedCurrent).unwrap_or(0);
        if held.saturating_add(size as u64) > self.max_size as u64 {
            return false;
        }
        // Pools grow by whole steps.
        let step = size.checked_next_multiple_of(D::POOL_STEP).unwrap_or(size);
        let free = || native.enter().and_then(|_scope| self.driver.memory_info()).map_or(0, |(free, _)| free);
        self.kind != MemoryKind::Device || free() < step
    }

    /// Gives what nobody uses beyond `keep` bytes back to the device.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn trim(&self, keep: usize) -> Result<()> {
        match &self.backing {
            // CUDA 13.0 gives everything back when it is told to keep more than the pool has.
            Backing::Native(pool) if self.holds_at_most(pool, keep)? => Ok(()),
            Backing::Native(pool) => self.driver.trim_pool(pool, keep),
            Backing::Arena(_) => Ok(()),
        }
    }

    fn holds_at_most(&self, pool: &D::Pool, bytes: usize) -> Result<bool> {
        Ok(bytes > 0 && self.driver.pool_attribute(pool, PoolAttribute::ReservedCurrent)? <= bytes as u64)
    }

    /// Bytes held now, and the most held since the mark was reset.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn reserved(&self, attribute: PoolAttribute) -> Result<u64> {
        match &self.backing {
            Backing::Native(pool) => self.driver.pool_attribute(pool, attribute),
            Backing::Arena(arena) => Ok(arena.size as u64),
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
            (_, Backing::Arena(_)) => {}
        }
        Ok(())
    }

    /// What a stream must do for the arena before it dies: leave an event behind its frees.
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

fn create_native<D: Driver>(
    settings: &Settings<D>,
    kind: MemoryKind,
    device: &Device<D>,
    native: &Parts<D>,
) -> Result<D::Pool> {
    let driver = native.driver;
    if !device.properties.memory_pools {
        return Err(Error::unsupported("stream-ordered memory on this device"));
    }
    let pool = driver.create_pool(kind, device.raw, settings.max_size)?;
    let configured = configure(driver, &pool, settings, kind, device);
    match configured {
        Ok(()) => Ok(pool),
        Err(error) => {
            // No block ever came from the pool.
            end_pool(driver, pool);
            Err(error)
        }
    }
}

fn configure<D: Driver>(
    driver: &D,
    pool: &D::Pool,
    settings: &Settings<D>,
    kind: MemoryKind,
    device: &Device<D>,
) -> Result<()> {
    // Native pools start with all three on.
    let off = [
        (PoolAttribute::FollowEventDependencies, settings.reuse.events()),
        (PoolAttribute::Opportunistic, settings.reuse.opportunistic()),
        // Waiting is left to the one retry of an allocation that failed, so that no other ever delays an event.
        (PoolAttribute::InternalDependencies, false),
    ];
    off.iter().filter(|(_, on)| !on).try_for_each(|(attribute, _)| driver.set_pool_attribute(pool, *attribute, 0))?;
    if settings.threshold > 0 {
        driver.set_pool_attribute(pool, PoolAttribute::ReleaseThreshold, settings.threshold as u64)?;
    }
    match kind {
        MemoryKind::Device => settings.peers.iter().try_for_each(|peer| driver.allow_pool_access(pool, peer.raw)),
        // Host memory is every device's of the context.
        MemoryKind::Host => driver
            .allow_pool_access(pool, device.raw)
            .and_then(|()| settings.others.iter().try_for_each(|other| driver.allow_pool_access(pool, other.raw))),
        MemoryKind::Shared => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_a_number_with_a_unit_or_none() {
        let read = ["0", "1024", "64M", "2g", " 3 k "].map(bytes_of);
        assert_eq!(read, [Some(0), Some(1024), Some(64 << 20), Some(2 << 30), Some(3 << 10)]);
        for wrong in ["", "M", "-1", "1T", "lots", "99999999999999999999", "999999999999G"] {
            assert_eq!(bytes_of(wrong), None, "{wrong}");
        }
    }
}
