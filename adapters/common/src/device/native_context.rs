//! A device's native context, and what the engine keeps in it for as long: streams and events for the next use, the clock,
//! pinned memory, pools that are about to end.
//!
//! Making a native context takes long (160 ms on an H200), so one that was made stays until the application gives the
//! adapter's last reference back (`urAdapterRelease`, or `urLoaderTearDown` for the loader's), or until the last object
//! that uses it goes if that is later. Then everything kept in it is given back first. A context that was lost is not kept:
//! the next one may work. Retaining counts natively, so a primary context that the application has stays its own.
//!
//! What belongs to one UR context is in [`crate::context::DeviceState`]. Must never hold a [`PooledEvent`] or anything else that
//! keeps a native context alive: that would keep itself alive. (Callbacks that wait for an event hold it until they are made.)

mod busy_streams;
pub mod deferred_destruction;
pub(crate) mod free_claim;
pub mod imported;
pub mod loss;
pub mod memory;
pub mod origin;
pub mod own_memory;
pub mod owned;
pub mod parked_memory;
pub mod pinned_words;
pub mod registrations;
pub mod staging;

use core::mem::ManuallyDrop;
use core::ops::Deref;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use ur_ffi::ur_result_t;

use crate::device::clock::{Base, Clock, host_time_ns};
use crate::device::deferred;
use crate::device::event_pool::{EventPool, PooledEvent};
use crate::device::native_context::busy_streams::BusyStreams;
use crate::device::native_context::deferred_destruction::DeferredDestruction;
use crate::device::native_context::origin::Origin;
use crate::device::native_context::parked_memory::ParkedMemory;
use crate::device::native_context::pinned_words::PinnedWords;
use crate::device::native_context::staging::StagingPages;
use crate::device::scope::{Held, Scope};
use crate::device::worker;
use crate::driver::{Driver, StreamKind};
use crate::object::error::{self, Error, Result};

/// Native streams that are kept for the next queues, beside those of the streams that contexts keep.
const MOST_STREAMS: usize = 24;

/// A native context with what is kept in it. It goes where waiting is allowed.
pub struct NativeContext<D: Driver> {
    parts: ManuallyDrop<Parts<D>>,
}

/// What a [`NativeContext`] is made of.
pub struct Parts<D: Driver> {
    /// The opened library.
    pub driver: &'static D,
    /// The native device.
    pub device: D::Device,
    /// The device's primary context, which is current for calls that need one.
    pub primary_context: D::Context,
    /// Events with times.
    pub timed: EventPool<D>,
    /// Events without.
    pub untimed: EventPool<D>,
    /// What times are counted from.
    pub clock: Clock<D>,
    /// Words that streams wait for while a host task runs.
    pub pinned_words: Arc<PinnedWords>,
    /// Pinned memory for maps of buffers.
    pub staging: StagingPages,
    /// Native pools that must not be destroyed before all work has been waited for.
    pub deferred_pools: Arc<DeferredDestruction<D>>,
    /// Native memory of pools that had to end while streams had work.
    pub parked_memory: Arc<ParkedMemory>,
    /// What the worker knows the device's jobs by.
    pub group: worker::Group,
    /// Streams that record into graphs: a synchronisation of the whole context would break that.
    pub captures: AtomicUsize,
    /// Streams without work, in the order in which they came.
    streams: Mutex<Vec<(StreamKind, D::Stream)>>,
    /// Streams that nobody has any more and that had work then, where their end would wait for it.
    busy_streams: BusyStreams<D>,
    /// What new streams come after, and what is asked whether the device is lost.
    origin: Arc<Origin<D>>,
    /// How many failures had told of a lost device before.
    losses: usize,
    /// Declared last: released when everything in the context has ended.
    _held: Held<D>,
}

impl<D: Driver> Deref for NativeContext<D> {
    type Target = Parts<D>;

    #[inline]
    fn deref(&self) -> &Parts<D> {
        &self.parts
    }
}

impl<D: Driver> Drop for NativeContext<D> {
    fn drop(&mut self) {
        // SAFETY: dropped once, and nobody looks at it afterwards.
        let parts = unsafe { ManuallyDrop::take(&mut self.parts) };
        deferred::run(move || parts.end());
    }
}

impl<D: Driver> NativeContext<D> {
    fn new(driver: &'static D, device: D::Device) -> Result<Arc<Self>> {
        let held = Held::new(driver, device)?;
        let parts = Parts {
            driver,
            device,
            primary_context: held.primary_context,
            timed: EventPool::new(true),
            untimed: EventPool::new(false),
            clock: Clock::default(),
            pinned_words: Arc::default(),
            staging: StagingPages::default(),
            deferred_pools: Arc::new(DeferredDestruction::new()),
            parked_memory: Arc::default(),
            group: worker::Group::new(),
            captures: AtomicUsize::new(0),
            streams: Mutex::default(),
            busy_streams: BusyStreams::default(),
            origin: Origin::new(driver, held.primary_context),
            losses: error::losses(),
            _held: held,
        };
        Ok(Arc::new(Self { parts: ManuallyDrop::new(parts) }))
    }

    /// Gives memory back that work of the device kept from it, where waiting for that is allowed. Answers how many bytes have come
    /// back by now.
    pub fn free_parked_memory(self: &Arc<Self>) -> u64 {
        if self.parked_memory.is_empty() {
            return 0;
        }
        let (native, freed) = (Arc::clone(self), Arc::new(AtomicU64::new(0)));
        let told = Arc::clone(&freed);
        deferred::run(move || told.store(native.parked_memory.free_all(), Ordering::Relaxed));
        freed.load(Ordering::Relaxed)
    }

    /// Fixes the moment from which device timestamps are counted; blocks for one event the first time.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn start_clock(&self, stream: &D::Stream) -> Result<()> {
        self.clock.start(self, stream)
    }

    /// As [`NativeContext::start_clock`] beside all queues, whatever they still have to do.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn start_own_clock(&self) -> Result<()> {
        self.clock.start_on_scratch_stream(self)
    }

    /// What times of commands enqueued now are counted from; `None` before [`NativeContext::start_clock`].
    pub fn time_base(self: &Arc<Self>) -> Option<Base<D>> {
        self.time_base_at(host_time_ns())
    }

    /// As [`NativeContext::time_base`], where the host's time was asked for already.
    pub fn time_base_at(self: &Arc<Self>, now_ns: u64) -> Option<Base<D>> {
        self.clock.base(self, now_ns)
    }

    /// When a completed marker was reached, in nanoseconds of the host's monotonic clock.
    ///
    /// # Errors
    /// `PROFILING_INFO_NOT_AVAILABLE` before [`NativeContext::start_clock`]; what the native library answers.
    pub fn time_of(self: &Arc<Self>, marker: &PooledEvent<D>) -> Result<u64> {
        self.time_base().ok_or(ur_result_t::ERROR_PROFILING_INFO_NOT_AVAILABLE)?.time_of(marker)
    }
}

impl<D: Driver> Parts<D> {
    /// Makes the device's place current on this thread while the scope lives.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn enter(&self) -> Result<Scope<'_, D>> {
        Scope::enter(self.driver, self.primary_context)
    }

    /// As [`Parts::enter`] where the backend's copies and fills need the place; else nothing, not even a
    /// question.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn enter_for_transfer(&self) -> Result<Option<Scope<'_, D>>> {
        if D::TRANSFERS_NEED_CONTEXT { self.enter().map(Some) } else { Ok(None) }
    }

    /// As [`Parts::enter`] where the backend's launches need the place; else nothing, not even a question.
    ///
    /// # Errors
    /// What the native library answers.
    #[inline(always)]
    pub fn enter_for_launch(&self) -> Result<Option<Scope<'_, D>>> {
        if D::LAUNCHES_NEED_CONTEXT { self.enter().map(Some) } else { Ok(None) }
    }

    /// Makes a copy of memory that the application named: in whatever is current, and once more in the device's place if
    /// that is refused. What is virtually mapped asks for it: CUDA copies over the border of two mappings in the
    /// place alone, and HIP looks whether the current device may reach a mapping.
    ///
    /// # Errors
    /// As `copy`, which may be called twice.
    #[inline]
    pub fn transfer(&self, copy: impl Fn() -> Result<()>) -> Result<()> {
        copy().or_else(|error| self.transfer_in_place(error, copy))
    }

    #[cold]
    fn transfer_in_place(&self, error: Error, copy: impl Fn() -> Result<()>) -> Result<()> {
        if !Self::may_want_place(&error) {
            return Err(error);
        }
        let _scope = self.enter()?;
        copy()
    }

    fn may_want_place(error: &Error) -> bool {
        // HIP has no better word than its unknown error.
        let unknown = D::TRANSFERS_NEED_CONTEXT && error.code() == ur_result_t::ERROR_ADAPTER_SPECIFIC;
        unknown || error.code() == ur_result_t::ERROR_INVALID_VALUE
    }

    /// The pool of events with or without timing.
    pub fn events(&self, timing: bool) -> &EventPool<D> {
        if timing { &self.timed } else { &self.untimed }
    }

    /// Passes a native failure on. When a device is lost, nothing that its streams were to call is called by them any more, so the
    /// worker ends it: this device's, or another's if what was asked was that one's.
    #[cold]
    pub fn failed(&self, error: Error) -> Error {
        if error.is_lost_device() {
            loss::look();
        }
        error
    }

    /// Has a loss of the device noticed while jobs of its group are expected, of which there is one now.
    ///
    /// # Errors
    /// As [`loss::watch`].
    pub fn watch_for_loss(&self) -> Result<()> {
        loss::watch(self.group, &self.origin)
    }

    /// A stream without work: one that is kept, or a new one.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn take_stream(&self, kind: StreamKind) -> Result<D::Stream> {
        let kept = {
            let mut streams = self.streams.lock();
            let at = streams.iter().rposition(|(known, _)| *known == kind);
            at.map(|at| streams.remove(at).1)
        };
        if let Some(stream) = kept {
            return Ok(stream);
        }
        self.end_idle_streams();
        let _scope = self.enter()?;
        self.untimed.make_ahead(self);
        let stream = self.driver.create_stream(kind)?;
        if let Err(error) = self.origin.order_new(&stream) {
            // The failure to order it is the one to tell of; nobody has seen the stream.
            let _ = self.driver.destroy_stream(stream);
            return Err(error);
        }
        Ok(stream)
    }

    /// Takes a stream back that nobody else has. It serves the next queue of its kind if it is known to have no work and
    /// there is room, which the oldest of another kind makes; else it ends when its work has.
    pub fn put_stream(&self, kind: StreamKind, stream: D::Stream, is_idle: bool) {
        if !is_idle {
            return self.end_stream(stream, false);
        }
        let superfluous = {
            let mut streams = self.streams.lock();
            streams.push((kind, stream));
            if streams.len() <= MOST_STREAMS {
                return;
            }
            let other = streams.iter().position(|(known, _)| *known != kind);
            streams.remove(other.unwrap_or(MOST_STREAMS)).1
        };
        self.end_stream(superfluous, true);
    }

    /// Ends a stream that nobody has any more when its work has ended. Waits for nothing.
    pub fn end_stream(&self, stream: D::Stream, is_idle: bool) {
        if D::STREAM_ENDS_WAIT && !is_idle {
            self.busy_streams.put(stream);
            self.end_idle_streams();
            return;
        }
        // Nobody is left to tell; work in flight still runs to its end.
        let _ = self.driver.destroy_stream(stream);
    }

    /// Ends a few of the streams that had work, if it is over.
    pub fn end_idle_streams(&self) {
        if D::STREAM_ENDS_WAIT {
            self.busy_streams.end_a_few(self.driver);
        }
    }

    /// Does something on a stream that nobody else uses and that waits for nobody's work.
    ///
    /// # Errors
    /// Those of `work`; what the native library answers.
    pub fn on_scratch_stream<R>(&self, work: impl FnOnce(&D::Stream) -> Result<R>) -> Result<R> {
        let stream = self.take_stream(StreamKind::default())?;
        let result = work(&stream);
        let is_idle = self.driver.stream_is_idle(&stream).unwrap_or(false);
        self.put_stream(StreamKind::default(), stream, is_idle);
        result
    }

    /// Whether the native library lost a device since it was made, perhaps this one.
    fn may_be_lost(&self) -> bool {
        self.losses != error::losses()
    }

    /// Gives back what is kept for the next use. It may wait for the device's work.
    fn trim(&self) {
        let pages = self.pinned_words.take_unused_pages();
        let synchronize = || {
            // Of a lost device nothing can be waited for, and nothing runs.
            let _ = self.enter().and_then(|_scope| self.driver.synchronize_context());
        };
        if !pages.is_empty() {
            // Streams may not have looked at their words yet.
            synchronize();
        }
        for page in pages.into_iter().chain(self.staging.take_all()) {
            // Nobody is left to tell of this failure or of the others here.
            own_memory::free_pinned(self.driver, page);
        }
        self.deferred_pools.clear(self.driver, synchronize);
        self.parked_memory.free_all();
        self.clock.trim();
        for (_, stream) in std::mem::take(&mut *self.streams.lock()) {
            let _ = self.driver.destroy_stream(stream);
        }
        self.busy_streams.end_idle(self.driver);
        // An unmodified SYCL program keeps its context to the end of the process, so `end` never runs for it.
        self.origin.trim();
        self.timed.clear(self.driver);
        self.untimed.clear(self.driver);
    }

    /// Ends everything; nobody uses it any more.
    fn end(self) {
        if self.pinned_words.has_pages() {
            // Every task that a stream waits for has then written its word.
            let _ = self.enter().and_then(|_scope| self.driver.synchronize_context());
        }
        self.pinned_words.end();
        self.deferred_pools.close(self.driver, || {
            let _ = self.enter().and_then(|_scope| self.driver.synchronize_context());
        });
        self.trim();
        self.origin.end();
        self.busy_streams.end_all(self.driver);
    }
}

/// Where a device has its native context.
pub struct Home<D: Driver> {
    slot: Mutex<Slot<D>>,
}

struct Slot<D: Driver> {
    current: Weak<NativeContext<D>>,
    /// Keeps it while the adapter is in use.
    kept: Option<Arc<NativeContext<D>>>,
}

impl<D: Driver> Default for Home<D> {
    fn default() -> Self {
        Self { slot: Mutex::new(Slot { current: Weak::new(), kept: None }) }
    }
}

impl<D: Driver> Home<D> {
    /// The device's native context, made if there is none. `keeps` says whether the adapter is in use, so that it stays. It is
    /// asked with the slot locked: the adapter's last release either is seen by it or comes to [`Home::end`] afterwards.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn get_or_make(
        &self,
        driver: &'static D,
        device: D::Device,
        keeps: impl FnOnce() -> bool,
    ) -> Result<Arc<NativeContext<D>>> {
        let mut slot = self.slot.lock();
        let native = match slot.current.upgrade() {
            Some(native) => native,
            None => {
                let native = NativeContext::new(driver, device)?;
                slot.current = Arc::downgrade(&native);
                native
            }
        };
        if slot.kept.is_none() && !native.may_be_lost() && keeps() {
            slot.kept = Some(Arc::clone(&native));
        }
        Ok(native)
    }

    /// The device's native context, if there is one.
    pub fn get(&self) -> Option<Arc<NativeContext<D>>> {
        self.slot.lock().current.upgrade()
    }

    /// Keeps a native context no longer that may be lost; it goes with its last user.
    pub fn forget_if_lost(&self, native: &NativeContext<D>) {
        if !native.may_be_lost() {
            return;
        }
        let kept = self.slot.lock().kept.take_if(|kept| core::ptr::eq(&raw const **kept, native));
        drop(kept);
    }

    /// The adapter is used no more: nothing is kept beyond its users, and nothing in it for the next one.
    pub fn end(&self) {
        let kept = self.slot.lock().kept.take();
        let Some(native) = kept.or_else(|| self.get()) else { return };
        if Arc::strong_count(&native) > 1 {
            deferred::run(move || native.trim());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::noop::Noop;
    use crate::driver::devices::Devices;

    #[test]
    fn the_adapter_s_last_release_comes_before_the_question_whether_it_is_in_use_or_ends_what_is_kept() {
        let driver: &'static Noop = Box::leak(Box::default());
        let device = driver.device(0).unwrap();
        let home = Home::<Noop>::default();
        let was_locked = core::cell::Cell::new(false);
        let in_use = || {
            was_locked.set(home.slot.try_lock().is_none());
            true
        };
        drop(home.get_or_make(driver, device, in_use).unwrap());
        assert!(was_locked.get(), "a release between the question and the keeping finds nothing to end");
        assert!(home.get().is_some(), "it stays");
        home.end();
        assert!(home.get().is_none());
    }
}
