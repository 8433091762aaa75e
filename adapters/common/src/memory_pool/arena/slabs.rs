//! Slabs: plain native memory that an arena grows by and gives back.
//!
//! They stand in where the native library has no pools of a kind, or none that wait for nobody: managed memory, HIP's host
//! memory, devices without pools. Each is a native allocation. The first has 2 MiB, each further one as much as there is already,
//! up to 32 MiB, and never less than the request. A pool with a maximum takes 32 MiB at a time, as native pools do, so that small
//! slabs do not break up what it may hold.
//!
//! A native free waits for all work of the device, and while it waits, launches of other threads wait too
//! (`docs/native-facts.md`). So slabs go back only while no stream of the context has work; what must go at another time is
//! parked with the native context, and serves the context's next pools once what may use it is over. Must not be called with a
//! stream's lock held: making a slab can wait.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use parking_lot::{Condvar, Mutex};
use ur_ffi::ur_result_t;

use crate::device::native_context::NativeContext;
use crate::device::native_context::owned;
use crate::device::native_context::parked_memory::{Outcome, Spare};
use crate::device::relief::PATIENCE;
use crate::device::{Device, deferred, peer};
use crate::driver::{Driver, MemoryKind, PoolAttribute};
use crate::memory_pool::plain::progress::Stamp;
use crate::memory_pool::registry::Registry;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::sync::mutation;

use super::{ALIGNMENT, usable};

/// Bytes of the first slab of a pool without a maximum.
const LEAST: usize = 2 << 20;
/// Bytes of a slab that no single request needs larger.
const MOST: usize = 32 << 20;
/// Sizes of slabs are multiples of it, where the maximum allows.
const STEP: usize = 64 << 10;

/// How much the slabs of an arena are.
#[derive(Debug, Default)]
struct Figures {
    /// Native allocations by the first byte that blocks are cut from: base and bytes.
    native: HashMap<usize, (usize, usize)>,
    /// Bytes of these and of those that are being made: what counts against the maximum.
    reserved: usize,
    /// Bytes of `native` alone.
    held: usize,
    /// The most bytes of `native`; what the native library refused was never held.
    high: usize,
    /// Threads that make slabs or give some back.
    changing: usize,
    /// How many such changes have ended.
    changes: u64,
    /// How many have begun.
    begun: u64,
    /// Slabs that are being made.
    coming: Vec<Coming>,
}

/// A slab that a thread is making.
#[derive(Debug)]
struct Coming {
    change: u64,
    /// Bytes of it that nobody waits for yet.
    spare: usize,
}

impl Figures {
    fn begin_change(&mut self) -> u64 {
        self.changing += 1;
        self.begun += 1;
        self.begun
    }

    /// Takes part in a slab that is being made and has room for `size` bytes beside what others want of it. Says whose it is.
    fn share(&mut self, size: usize) -> Option<u64> {
        let slab = self.coming.iter_mut().find(|slab| slab.spare >= size)?;
        slab.spare -= size;
        Some(slab.change)
    }

    fn is_coming(&self, change: u64) -> bool {
        self.coming.iter().any(|slab| slab.change == change)
    }
}

/// The source of an arena's slabs.
pub struct Slabs<D: Driver> {
    kind: MemoryKind,
    /// The most bytes at a time; 0 for no limit.
    max_size: usize,
    figures: Mutex<Figures>,
    changed: Condvar,
    registry: Weak<Registry<D>>,
    native: Arc<NativeContext<D>>,
    /// Devices that were let at the memory of the pool's own, as long as there is any.
    peers: Arc<Peers<D>>,
}

/// Slabs are being made or given back until this is dropped: bytes that count against the maximum and that nobody can have.
pub(super) struct Change<'a, D: Driver> {
    slabs: &'a Slabs<D>,
    number: u64,
}

impl<D: Driver> Change<'_, D> {
    /// The slab will be too small for anybody else, so nobody waits for it any more.
    fn promise_nothing(&self) {
        self.slabs.figures.lock().coming.retain(|slab| slab.change != self.number);
        self.slabs.changed.notify_all();
    }
}

impl<D: Driver> Drop for Change<'_, D> {
    fn drop(&mut self) {
        let mut figures = self.slabs.figures.lock();
        figures.changing -= 1;
        figures.changes += 1;
        figures.coming.retain(|slab| slab.change != self.number);
        self.slabs.changed.notify_all();
    }
}

/// What came of the wish for a slab.
pub(super) enum Growth<'a, D: Driver> {
    /// A slab.
    Made(Made<'a, D>),
    /// Another thread's change has ended, so there may be room now.
    Changed,
    /// The maximum stands against it.
    Full,
}

/// A new slab. The change ends when whoever asked has noted it, so that who waits for the change finds it.
pub(super) struct Made<'a, D: Driver> {
    pub(super) base: usize,
    pub(super) bytes: usize,
    _change: Change<'a, D>,
}

/// Devices that reach another one's plain memory as long as this lives.
struct Peers<D: Driver> {
    own: Arc<Object<Device<D>>>,
    enabled: Vec<Arc<Object<Device<D>>>>,
}

impl<D: Driver> Peers<D> {
    fn enable(own: &Arc<Object<Device<D>>>, peers: &[Arc<Object<Device<D>>>]) -> Result<Self> {
        let mut access = Self { own: Arc::clone(own), enabled: Vec::new() };
        // Peers of a pool for all devices are some of these.
        for device in peers.iter().filter(|device| device.raw != own.raw) {
            peer::enable(device, own)?;
            access.enabled.push(Arc::clone(device));
        }
        Ok(access)
    }

    /// Waits for all work of the peers, which a free of the memory does not wait for. `false` while a queue of one captures, which
    /// that would break, and where the native library refuses. It runs where waiting is allowed.
    fn wait_for_work(&self) -> bool {
        self.enabled.iter().filter_map(|device| device.home.get()).all(|native| {
            if native.captures.load(Ordering::SeqCst) > 0 {
                return false;
            }
            match native.enter().and_then(|_scope| native.driver.synchronize_context()) {
                Ok(()) => true,
                // Of a lost device nothing can be waited for, and nothing runs. Any other device may be at work: it refuses the wait
                // while the application captures on a stream of its own.
                Err(error) => error.is_lost_device(),
            }
        })
    }
}

impl<D: Driver> Drop for Peers<D> {
    fn drop(&mut self) {
        for device in &self.enabled {
            // Nobody is left to tell; the access stays then.
            let _ = peer::disable(device, &self.own);
        }
    }
}

impl<D: Driver> Slabs<D> {
    /// The source of slabs of a kind for a pool of at most `max_size` bytes; 0 is no limit. `peers` reach device memory too; host
    /// and managed memory is every device's.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` for managed memory on a device that has none, and for peers without a link; what the native library
    /// answers.
    pub fn new(
        kind: MemoryKind,
        max_size: usize,
        device: &Arc<Object<Device<D>>>,
        peers: &[Arc<Object<Device<D>>>],
        native: &Arc<NativeContext<D>>,
        registry: &Weak<Registry<D>>,
    ) -> Result<Self> {
        if kind == MemoryKind::Shared && !device.properties.managed_memory {
            return Err(Error::unsupported("managed memory on this device"));
        }
        let peers = if kind == MemoryKind::Device { peers } else { &[] };
        if let Some(registry) = registry.upgrade() {
            // What streams that end leave behind is asked when a slab is to serve again.
            registry.progress().begin();
        }
        Ok(Self {
            kind,
            max_size,
            figures: Mutex::default(),
            changed: Condvar::new(),
            registry: Weak::clone(registry),
            native: Arc::clone(native),
            peers: Arc::new(Peers::enable(device, peers)?),
        })
    }

    /// Bytes held now or being made, or the most held since the mark was reset.
    #[must_use]
    pub fn reserved(&self, attribute: PoolAttribute) -> usize {
        let figures = self.figures.lock();
        if attribute == PoolAttribute::ReservedHigh { figures.high } else { figures.reserved }
    }

    /// Bytes held now. The caller may hold the lock of the ranges.
    pub(super) fn held(&self) -> usize {
        self.figures.lock().held
    }

    /// Makes what is held the mark.
    pub fn reset_high(&self) {
        let mut figures = self.figures.lock();
        figures.high = figures.held;
    }

    /// Says that slabs are about to go back.
    pub(super) fn begin_change(&self) -> Change<'_, D> {
        let number = self.figures.lock().begin_change();
        Change { slabs: self, number }
    }

    /// How many changes have ended.
    pub(super) fn changes(&self) -> u64 {
        self.figures.lock().changes
    }

    /// Waits for the end of a change that other threads are at, unless one has ended since [`Slabs::changes`] answered `seen`.
    /// `false` if nobody is at one, or it takes longer than the relief's patience: it may be inside a native call that ends only
    /// after this thread has gone on.
    pub(super) fn wait_for_change(&self, seen: u64) -> bool {
        let mut figures = self.figures.lock();
        if figures.changes == seen && figures.changing > 0 {
            self.changed.wait_while_for(&mut figures, |figures| figures.changes == seen, PATIENCE);
        }
        figures.changes != seen
    }

    /// A new slab for a block of `size` bytes, unless a change has ended since [`Slabs::changes`] answered `seen`. Where another
    /// thread is making one that has room for this block too, that one is waited for, as long as [`Slabs::wait_for_change`] would:
    /// threads that come to an empty pool at one time would else make a slab each. Where there is less memory than a usual slab
    /// has, one for the block alone is tried.
    ///
    /// # Errors
    /// What the native library answers.
    pub(super) fn grow(&self, size: usize, seen: u64) -> Result<Growth<'_, D>> {
        let (bytes, change) = match self.begin_slab(size, seen) {
            Ok(begun) => begun,
            Err(instead) => return Ok(instead),
        };
        let first = match self.allocate(bytes) {
            Ok((base, bytes)) => return Ok(Growth::Made(self.add(base, bytes, change))),
            Err(first) => first,
        };
        change.promise_nothing();
        self.unreserve(bytes);
        let less = self.reserve_in(&mut self.figures.lock(), |_| (size < bytes).then_some(size));
        let Some(bytes) = less else { return Err(first) };
        match self.allocate(bytes) {
            Ok((base, bytes)) => Ok(Growth::Made(self.add(base, bytes, change))),
            Err(_) => {
                self.unreserve(bytes);
                Err(first)
            }
        }
    }

    /// Bytes of a usual slab for a block of `size` bytes, which count from now on; else why there is none to make.
    fn begin_slab(&self, size: usize, seen: u64) -> core::result::Result<(usize, Change<'_, D>), Growth<'_, D>> {
        let mut figures = self.figures.lock();
        if figures.changes != seen {
            return Err(Growth::Changed);
        }
        if let Some(other) = figures.share(size) {
            self.changed.wait_while_for(&mut figures, |figures| figures.is_coming(other), PATIENCE);
            if !figures.is_coming(other) {
                return Err(Growth::Changed);
            }
        }
        let bytes = self.reserve_in(&mut figures, |reserved| self.usual(reserved, size)).ok_or(Growth::Full)?;
        let number = figures.begin_change();
        figures.coming.push(Coming { change: number, spare: bytes - size });
        Ok((bytes, Change { slabs: self, number }))
    }

    /// Bytes of the next slab beside so many; `None` for a request that the maximum has no room for.
    fn usual(&self, reserved: usize, size: usize) -> Option<usize> {
        if self.max_size == 0 {
            return size.max(reserved.clamp(LEAST, MOST)).checked_next_multiple_of(STEP);
        }
        let left = self.max_size.checked_sub(reserved).filter(|left| size <= *left)?;
        // One that is asked for a large part gets just that, so that the rest stays whole.
        let bytes = if self.max_size > MOST && size > MOST / 4 { size } else { size.max(MOST) };
        Some(bytes.min(left))
    }

    fn reserve_in(&self, figures: &mut Figures, bytes: impl FnOnce(usize) -> Option<usize>) -> Option<usize> {
        let bytes = bytes(figures.reserved)?;
        let reserved = figures.reserved.checked_add(bytes)?;
        if self.max_size > 0 && reserved > self.max_size {
            return None;
        }
        figures.reserved = reserved;
        Some(bytes)
    }

    fn unreserve(&self, bytes: usize) {
        self.figures.lock().reserved -= bytes;
    }

    /// A slab that a pool of the context left and that nothing uses any more, for one of `wanted` bytes, which count already; its bytes,
    /// which count instead. It has no more than twice as many, and just as many where there is a maximum.
    fn take_parked(&self, wanted: usize) -> Option<(usize, usize)> {
        let parked = &self.native.parked_memory;
        if parked.is_empty() {
            return None;
        }
        let registry = self.registry.upgrade()?;
        let progress = registry.progress();
        let most = if self.max_size == 0 { wanted.saturating_mul(2) } else { wanted };
        let take = || {
            parked.take(wanted, most, |spare| {
                let is_own =
                    spare.kind == self.kind && core::ptr::addr_eq(spare.registry.as_ptr(), self.registry.as_ptr());
                is_own && progress.is_past(spare.stamp)
            })
        };
        let (base, bytes) = take().or_else(|| {
            progress.look(&registry);
            take()
        })?;
        self.figures.lock().reserved += bytes - wanted;
        Some((base, bytes))
    }

    /// A slab of `bytes` bytes or some more: one that serves again, or a native allocation. What else pools that ended have parked
    /// goes back first where that waits for nobody, so that pools which come and go hold no more than they use.
    fn allocate(&self, bytes: usize) -> Result<(usize, usize)> {
        let parked = self.take_parked(bytes);
        if !self.native.parked_memory.is_empty() && self.is_quiet() {
            self.native.free_parked_memory();
        }
        if let Some(slab) = parked {
            return Ok(slab);
        }
        // Who asks a pool hears the same of every kind.
        self.native.allocate(self.kind, bytes).map(|base| (base, bytes)).map_err(|error| match error.code() {
            ur_result_t::ERROR_OUT_OF_HOST_MEMORY => error.with_code(ur_result_t::ERROR_OUT_OF_DEVICE_MEMORY),
            _ => error,
        })
    }

    /// Notes a native allocation, before anybody has a block of it.
    fn add<'a>(&self, base: usize, bytes: usize, change: Change<'a, D>) -> Made<'a, D> {
        owned::add(base, bytes, &Weak::<()>::new());
        let mut figures = self.figures.lock();
        figures.native.insert(usable(base, bytes).0, (base, bytes));
        figures.held += bytes;
        figures.high = figures.high.max(figures.held);
        Made { base, bytes, _change: change }
    }

    /// Whether no stream of the context has work, so that a native free returns at once. Not asked while nothing is to be freed.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.registry.upgrade().is_none_or(|registry| registry.is_quiet())
    }

    /// Gives slabs that were forgotten back to the native library.
    ///
    /// # Errors
    /// What the native library answers first.
    pub(super) fn free(&self, slabs: Vec<(usize, usize)>) -> Result<()> {
        let free = |(base, bytes)| {
            drop(owned::remove(base));
            deferred::free(self.native.driver, &self.native, self.kind, base, bytes)
        };
        slabs.into_iter().map(free).fold(Ok(()), Result::and)
    }

    /// Counts slabs no more, by the first bytes of their regions, which nobody has any more. Gives their bases and bytes. The
    /// caller may hold the lock of the ranges.
    pub(super) fn forget(&self, regions: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
        let mut figures = self.figures.lock();
        let off = if mutation::is(mutation::Bug::SlabAccountOff) { ALIGNMENT } else { 0 };
        let slabs: Vec<_> = regions.iter().filter_map(|(start, _)| figures.native.remove(start)).collect();
        figures.held -= slabs.iter().map(|(_, bytes)| bytes).sum::<usize>();
        figures.reserved -= slabs.iter().map(|(_, bytes)| bytes - off).sum::<usize>();
        slabs
    }

    /// The pool is gone, and none of its blocks is out. What streams may still use is parked until the device has done, and its
    /// peers reach it until then. Of the `free` regions all streams are known to have got past their last use.
    pub(super) fn end(&self, free: Vec<(usize, usize)>, rest: Vec<(usize, usize)>) {
        if free.is_empty() && rest.is_empty() {
            return;
        }
        let (free, rest) = (self.forget(free), self.forget(rest));
        if self.is_quiet() {
            // Nobody is left to tell.
            let _ = self.free(free.into_iter().chain(rest).collect());
            return;
        }
        let sealed = self.registry.upgrade().map_or(0, |registry| registry.progress().seal());
        self.park(free, 0);
        self.park(rest, sealed);
    }

    fn park(&self, slabs: Vec<(usize, usize)>, stamp: Stamp) {
        let (driver, kind) = (self.native.driver, self.kind);
        for (base, bytes) in slabs {
            let peers = Arc::clone(&self.peers);
            let registry = Weak::clone(&self.registry);
            // Another pool has other peers.
            let spare = self.peers.enabled.is_empty().then_some(Spare { base, kind, registry, stamp });
            // Dropped behind the free, with the access.
            self.native.parked_memory.park(bytes, spare, move || {
                if !peers.wait_for_work() {
                    return Ok(Outcome::Stays);
                }
                drop(owned::remove(base));
                deferred::free_now(driver, kind, base).map(|()| Outcome::Freed)
            });
        }
    }
}
