//! A stream: one native stream with the count of commands it was given.
//!
//! An in-order queue is one stream; an out-of-order queue has several. The stream knows which command is its last
//! (the *tail*), which are known to have finished, and what other streams it already waits for; from that it
//! leaves out native events and waits that would tell nobody anything.
//!
//! **Tail events.** An event of the last command needs no native event: "everything on this stream so far" says
//! the same. [`StreamState::record_pending_events`] records one at the last moment that is exact: before the next command, and
//! only if somebody still holds the event. Whoever adds work to the stream must record pending events first, before anything
//! else goes on the stream, waits included. An allocation or free that cannot make the stream wait is no work in
//! this sense: it counts as a command, and what was recorded before it may as well be recorded after it.

pub mod capture;
mod completed;
pub mod delegated;
pub mod event;
pub mod idle;
mod lent;
pub mod memory;
pub mod promise;
pub mod reusable;
pub mod service;
pub mod staging;
pub mod submitter;
pub mod tail_events;
pub mod times;
pub mod waits;

use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, RwLock};
use smallvec::SmallVec;

use crate::context::DeviceState;
use crate::device::event_pool::PooledEvent;
use crate::device::wait::Publisher;
use crate::driver::{Driver, StreamKind};
use crate::memory_pool::backend::PoolBackend;
use crate::memory_pool::position::{PaddedPosition, Position};
use crate::memory_pool::registry::Registry;
use crate::memory_pool::stream::PoolStream;
use crate::memory_pool::stream_cache::StreamCache;
use crate::object::error::{self, Result};
use crate::object::recycled::{Recycled, Ring};
use crate::stream::completed::{Completed, Publications, Tell};
use crate::stream::delegated::{Word, Words};
use crate::stream::event::Event;
use crate::stream::times::TimedEvents;
use crate::sync::barrier;
use crate::sync::biased_lock::{BiasedLock, Guard, Holding, OwnersGuard};
use crate::sync::cache_padded::CachePadded;
use crate::sync::unlikely::unlikely;
use crate::sync::{AtomicBool, Ordering};

/// A native stream and what is known of it. What every command reads comes first: a native call leaves little in the
/// caches, and each line more is felt.
#[repr(C, align(64))]
pub struct Stream<D: Driver> {
    /// The stream.
    pub native: D::Stream,
    /// The opened library.
    pub driver: &'static D,
    /// How far it is, which others read without holding the stream.
    reached: Arc<PaddedPosition>,
    state: BiasedLock<StreamState<D>>,
    words: Words<D>,
    /// Dropped before the device's state: blocks that nobody freed give up their pools with it, and the state's end is
    /// what waits for those.
    registry: Arc<Registry<D>>,
    /// The device state it belongs to.
    pub device: Arc<DeviceState<D>>,
    this: Weak<Self>,
    key: u64,
    /// Whether the stream is this stream's to give back.
    owned: Option<Owned>,
    /// Errors that there had been when the stream was made.
    failures: usize,
    /// Whether what it is given is recorded into a graph; changed behind the lock.
    capturing: AtomicBool,
    /// Recorded behind all that the stream was given before its capture, if that was not known to have finished.
    before_capture: Mutex<Option<Arc<PooledEvent<D>>>>,
    /// Of a stream of the application's, what it was given when the application let go of it.
    parting: RwLock<Option<Parting<D>>>,
    publications: Publications,
}

/// Native calls that a stream takes without making its caller wait. Drivers have room for five times as many copies from another device.
pub const ROOM: u64 = 64;

/// How a stream has got its stream.
#[derive(Clone, Copy)]
enum Owned {
    /// Made for it, or kept from another stream.
    Made(StreamKind),
    /// The application's once.
    Given,
}

/// All that a stream was given when the application let go of it.
struct Parting<D: Driver> {
    /// The number of the last command.
    position: u64,
    /// Recorded behind it; `None` where it was known to have finished.
    last: Option<Arc<PooledEvent<D>>>,
}

/// What changes with every command; behind the stream's lock.
#[repr(C)]
pub struct StreamState<D: Driver> {
    /// Number of the last command; 0 before the first.
    pub position: u64,
    tails: SmallVec<[Recycled<Event<D>>; 2]>,
    /// Stream-ordered memory that is out through the stream, and what it keeps.
    pub cache: StreamCache<D, Stream<D>>,
    /// Generation of the queue's last barrier that this stream waits for.
    pub barrier: u64,
    /// The event that was recorded last, to be filled again once nobody holds it.
    recorded: Option<Recycled<Event<D>>>,
    spare: Option<Recycled<Event<D>>>,
    /// Streams, by their keys, whose commands up to a position come before all that this stream is given from now on.
    pub(crate) waited: SmallVec<[(u64, u64); 4]>,
    /// On a profiling queue, events that were given out last.
    timed: TimedEvents<D>,
    /// Events of signals of timelines ([`event::timepoints`]), in the order in which they were filled.
    timepoints: Ring<Event<D>>,
}

impl<D: Driver> StreamState<D> {
    /// Whether the stream keeps no event.
    fn has_no_events(&self) -> bool {
        let untimed = self.tails.is_empty() && self.recorded.is_none() && self.spare.is_none();
        untimed && self.timed.is_empty() && self.timepoints.is_empty()
    }
}

impl<D: Driver> Stream<D> {
    /// A stream with a stream of its own.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn new(device: Arc<DeviceState<D>>, registry: &Arc<Registry<D>>, kind: StreamKind) -> Result<Arc<Self>> {
        let native_stream = device.native.take_stream(kind)?;
        let stream = Self::over(device, registry, native_stream, Some(Owned::Made(kind)), false);
        registry.add(stream.key, stream.weak(), &stream.reached);
        Ok(stream)
    }

    /// A stream over a stream of somebody else's, who may put work on it too; destroyed with the stream if `owned`.
    pub fn adopt(
        device: Arc<DeviceState<D>>,
        registry: &Arc<Registry<D>>,
        native_stream: D::Stream,
        owned: bool,
    ) -> Arc<Self> {
        let stream = Self::over(device, registry, native_stream, owned.then_some(Owned::Given), true);
        registry.add(stream.key, stream.weak(), &stream.reached);
        stream
    }

    /// A stream without a stream, for an event that no command of a queue made: nothing is ever put on it, and nobody who
    /// goes through the streams of a context finds it.
    pub fn without_stream(device: Arc<DeviceState<D>>, registry: &Arc<Registry<D>>) -> Arc<Self> {
        Self::over(device, registry, D::Stream::default(), None, false)
    }

    fn over(
        device: Arc<DeviceState<D>>,
        registry: &Arc<Registry<D>>,
        stream: D::Stream,
        owned: Option<Owned>,
        shared: bool,
    ) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let key = NEXT.fetch_add(1, Ordering::Relaxed);
        Arc::new_cyclic(|this| Self {
            native: stream,
            driver: device.driver,
            device,
            registry: Arc::clone(registry),
            this: Weak::clone(this),
            key,
            reached: Arc::new(CachePadded::new(Position { shared: AtomicBool::new(shared), ..Position::default() })),
            owned,
            failures: error::failures(),
            capturing: AtomicBool::new(false),
            before_capture: Mutex::default(),
            parting: RwLock::default(),
            publications: Publications::default(),
            words: Words::default(),
            state: BiasedLock::new(StreamState {
                position: 0,
                barrier: 0,
                cache: StreamCache::new(key, Arc::clone(registry.blocks())),
                tails: SmallVec::new(),
                recorded: None,
                spare: None,
                waited: SmallVec::new(),
                timed: SmallVec::new(),
                timepoints: Ring::default(),
            }),
        })
    }

    /// Notes that somebody else gets the stream's handle: what the stream counts is no longer all that is on it, so every
    /// event is recorded from now on when it is made, and those that there are, now, or when a native call that can block is over.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn allow_foreign_work(&self) -> Result<()> {
        self.reached.shared.store(true, Ordering::SeqCst);
        match self.lock_unless_calling() {
            Some(mut state) => state.record_all_pending_events(),
            // The call's command may have looked before whether the stream is shared.
            None => {
                self.leave(Word::RecordEvents);
                Ok(())
            }
        }
    }

    /// Whether work may be on the stream that the stream has not counted.
    #[inline]
    pub fn is_shared(&self) -> bool {
        self.reached.shared.load(Ordering::Acquire)
    }

    /// Whether what the stream is given is recorded into a graph ([`capture`]).
    #[inline]
    pub fn is_capturing(&self) -> bool {
        self.capturing.load(Ordering::Acquire)
    }

    /// Notes that a capture begins or has ended. The caller holds the stream's lock, or nobody uses the stream yet again.
    fn set_capturing(&self, is_capturing: bool) {
        self.capturing.store(is_capturing, Ordering::Release);
    }

    /// A number that no other stream of the process has.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The context's registry.
    pub fn registry(&self) -> &Arc<Registry<D>> {
        &self.registry
    }

    /// The stream's lock, for putting work on the stream. Never held together with another stream's.
    #[inline(always)]
    pub fn lock(&self) -> Held<'_, D> {
        Held { stream: self, guard: ManuallyDrop::new(self.state.lock()) }
    }

    /// As [`Stream::lock`], where the calling thread has alone used the stream so far.
    #[inline(always)]
    pub fn lock_as_owner(&self) -> Option<Held<'_, D, OwnersGuard<'_, StreamState<D>>>> {
        Some(Held { stream: self, guard: ManuallyDrop::new(self.state.lock_as_owner()?) })
    }

    #[inline]
    fn try_lock(&self) -> Option<Held<'_, D>> {
        Some(Held { stream: self, guard: ManuallyDrop::new(self.state.try_lock()?) })
    }

    /// As [`Stream::try_lock`]; `None` also where another thread alone uses the stream, whose quick way to its lock would end.
    fn try_lock_unless_owned(&self) -> Option<Held<'_, D>> {
        Some(Held { stream: self, guard: ManuallyDrop::new(self.state.try_lock_unless_owned()?) })
    }

    /// The stream's lock, unless its holder is inside a native call that can block. All events are recorded then but those
    /// of that call's command. Nobody gets it while the stream captures: what is put there for the engine's own ends
    /// would become part of the graph.
    #[inline]
    pub fn lock_unless_calling(&self) -> Option<Held<'_, D>> {
        match self.try_lock() {
            Some(state) if !self.is_capturing() => Some(state),
            Some(_) => None,
            None => self.lock_behind_holder(),
        }
    }

    #[cold]
    #[inline(never)]
    fn lock_behind_holder(&self) -> Option<Held<'_, D>> {
        loop {
            if let Some(state) = self.try_lock() {
                return if self.is_capturing() { None } else { Some(state) };
            }
            if self.reached.calling.load(Ordering::SeqCst) || self.is_capturing() {
                return None;
            }
            barrier::relax();
        }
    }

    /// The beginning of a native call that can block while the caller holds the lock; earlier events must be recorded.
    #[inline(always)]
    pub fn begin_call(&self) -> NativeCall<'_> {
        self.reached.calling.store(true, Ordering::Relaxed);
        NativeCall { calling: &self.reached.calling }
    }

    /// Has something done with the lock, now if nobody has it, else by its holder on the way out.
    pub fn leave(&self, word: Word<D>) {
        self.words.push(word);
        if self.try_lock().is_some() {
            self.follow_words();
        }
    }

    /// Does what others left word of. Called without the lock.
    #[cold]
    #[inline(never)]
    fn follow_words(&self) {
        while !self.words.is_empty() {
            // Whoever has the lock does it on the way out.
            let Some(mut state) = self.try_lock() else { return };
            if self.is_capturing() || self.is_captured_elsewhere() {
                // Followed when the capture has ended, somebody else's with the next use of the stream, behind which its own thread looks
                // from now on too. To look for words behind this unlocking would lead here again.
                state.unlock_with::<false>();
                if self.is_shared() {
                    self.state.end_ownership();
                }
                return;
            }
            let after: Vec<_> = self.words.take().into_iter().map(|word| word.follow(self, &mut state)).collect();
            drop(state);
            after.into_iter().flatten().for_each(|backend| self.registry.end_if_unused(&backend));
        }
    }

    /// Passes the lock once; `false` if its holder is inside a native call that can block.
    pub fn pass(&self) -> bool {
        self.lock_unless_calling().is_some()
    }

    /// Whether command `position` is known to have finished, without asking the device.
    pub fn is_completed(&self, position: u64) -> bool {
        self.reached.completed() >= position
    }

    /// The number of the last command that was enqueued, as it was when the lock was last given back.
    pub fn published_position(&self) -> u64 {
        self.reached.published.load(Ordering::Acquire)
    }

    fn completed(&self) -> Completed<'_> {
        Completed(&self.reached.completed)
    }

    /// Notes that every command up to `position` has finished.
    pub fn note_completed(&self, position: u64) {
        self.completed().note(position, &self.publications);
    }

    /// Has other processes told before it is noted that the stream has reached a position; at once, if it has been.
    pub fn publish_at(self: &Arc<Self>, position: u64, tell: Tell) {
        self.publications.list_once(|| {
            let publisher: Arc<dyn Publisher> = Arc::clone(self) as _;
            self.device.device.publishers.add(&publisher);
        });
        self.completed().publish_at(position, tell, &self.publications);
    }

    /// Lets go of what others would be told of a position, which never comes or was told in another way.
    pub fn forget_publications(&self, position: u64) {
        self.completed().forget(position, &self.publications);
    }

    /// Blocks until everything enqueued so far has finished; no native call when that is known already. Memory that
    /// its pool would not keep over a synchronisation is given back first.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn finish(&self) -> Result<()> {
        let (position, flushed, has_slabs) = {
            let mut state = self.lock();
            let state = &mut *state;
            // What is kept stays where it is while the stream captures, which may have begun since the caller asked.
            let flushed = if state.cache.is_unused() || self.is_capturing() {
                Ok(())
            } else {
                let flushed = state.cache.flush(self, &mut state.position, PoolBackend::is_beyond_threshold);
                state.cache.note_kept();
                flushed
            };
            (state.position, flushed, state.cache.has_slabs())
        };
        self.reach(position)?;
        if unlikely!(has_slabs) { flushed.and(self.keep_thresholds()) } else { flushed }
    }

    fn reach(&self, position: u64) -> Result<()> {
        if self.is_shared() || !self.is_completed(position) {
            if self.is_capturing() {
                return Err(capture::unsupported("waiting for a queue"));
            }
            self.synchronize().map_err(|error| self.device.failed(error))?;
            self.note_completed(position);
        }
        Ok(())
    }

    /// Blocks until everything enqueued so far has finished, and leaves what is kept where it is. Of a stream that captures
    /// that is what it was given before.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn wait_until_reached(&self) -> Result<()> {
        let position = self.reached.published.load(Ordering::Acquire);
        if unlikely!(self.is_capturing()) {
            self.reach_before_capture(position)?;
        }
        self.reach(position)
    }

    /// Whether putting something on the stream could block now: somebody is inside a native call there, or the stream is given
    /// more than drivers take at once.
    pub fn may_block(&self) -> bool {
        let given = self.reached.published.load(Ordering::Acquire);
        let open = given.saturating_sub(self.reached.completed());
        self.reached.calling.load(Ordering::Acquire) || (open > ROOM && !self.is_idle().unwrap_or(true))
    }

    /// Whether another thread than this one has put work on the stream, and so may be inside a native call there at any moment.
    pub fn is_used_by_others(&self) -> bool {
        !self.state.is_of_no_other_thread()
    }

    /// Whether everything enqueued so far has finished.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn is_idle(&self) -> Result<bool> {
        if self.is_known_idle() {
            return Ok(true);
        }
        let position = self.reached.published.load(Ordering::Acquire);
        if self.is_capturing() {
            // The question would break the capture, so all that can be said is that work may be there.
            return Ok(false);
        }
        let question = |native: &D::Stream| self.driver.stream_is_idle(native);
        let idle = self.ask(question).map_err(|error| self.device.failed(error))?;
        if idle {
            self.note_completed(position);
        }
        Ok(idle)
    }

    /// Whether everything enqueued so far is known to have finished, without asking the device.
    pub fn is_known_idle(&self) -> bool {
        self.reached.is_known_idle()
    }

    /// Lets go of what the stream keeps for a queue that the application has released: events that nobody else holds, which
    /// hold their queue, and blocks.
    pub fn let_go(&self) {
        if self.is_untouched() {
            return;
        }
        let (kept, has_cache) = {
            let mut state = self.lock();
            if state.has_no_events() && state.cache.is_unused() {
                return;
            }
            let untimed = (std::mem::take(&mut state.tails), state.recorded.take(), state.spare.take());
            let kept = (untimed, std::mem::take(&mut state.timed), std::mem::take(&mut state.timepoints));
            (kept, !state.cache.is_unused())
        };
        // Dropped outside the lock: the last reference of a queue may go with them.
        drop(kept);
        if has_cache {
            // A failure shows again when the queue dies.
            let _ = self.flush(|_| true);
        }
    }
}

/// Who has waited for the device knows that the stream is finished, and has not asked it.
impl<D: Driver> Publisher for Stream<D> {
    fn given(&self) -> u64 {
        self.published_position()
    }

    fn note_finished(&self, position: u64) {
        self.note_completed(position);
    }
}

/// A native call that can block, until this is dropped.
pub struct NativeCall<'s> {
    calling: &'s AtomicBool,
}

impl Drop for NativeCall<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.calling.store(false, Ordering::Relaxed);
    }
}

/// The stream's lock, held.
pub struct Held<'l, D: Driver, G: Holding<Target = StreamState<D>> = Guard<'l, StreamState<D>>> {
    stream: &'l Stream<D>,
    guard: ManuallyDrop<G>,
}

impl<D: Driver, G: Holding<Target = StreamState<D>>> Deref for Held<'_, D, G> {
    type Target = StreamState<D>;

    #[inline(always)]
    fn deref(&self) -> &StreamState<D> {
        &self.guard
    }
}

impl<D: Driver, G: Holding<Target = StreamState<D>>> DerefMut for Held<'_, D, G> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut StreamState<D> {
        &mut self.guard
    }
}

impl<D: Driver, G: Holding<Target = StreamState<D>>> Held<'_, D, G> {
    /// As dropping it.
    #[inline(always)]
    pub fn unlock(self) {
        self.unlock_with::<true>();
    }

    /// As dropping it; what others left word of stays where it is without `FOLLOWS`.
    #[inline(always)]
    fn unlock_with<const FOLLOWS: bool>(self) {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: it is not dropped.
        unsafe { this.give_back::<FOLLOWS>() };
    }

    /// Gives the lock back, and does what others left word of meanwhile if `FOLLOWS`.
    ///
    /// # Safety
    /// Called once, and nothing of this is used behind it.
    #[inline(always)]
    unsafe fn give_back<const FOLLOWS: bool>(&mut self) {
        self.stream.reached.published.store(self.guard.position, Ordering::Release);
        // SAFETY: the guard is taken here alone, once by the caller's promise.
        let guard = unsafe { ManuallyDrop::take(&mut self.guard) };
        if unlikely!(guard.unlock()) && FOLLOWS && unlikely!(!self.stream.words.is_empty()) {
            self.stream.follow_words();
        }
    }
}

impl<D: Driver, G: Holding<Target = StreamState<D>>> Drop for Held<'_, D, G> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: `self` ends with this, and `unlock` lets nobody drop it.
        unsafe { self.give_back::<true>() };
    }
}

impl<D: Driver> Drop for Stream<D> {
    fn drop(&mut self) {
        self.registry.remove(self.key);
        let Some(owned) = self.owned else { return };
        // A command that failed may have left a wait on the stream, which no count of commands tells of; nor of what others put there.
        let known = || {
            let position = self.reached.published.load(Ordering::Acquire);
            !self.is_shared() && self.failures == error::failures() && self.is_completed(position)
        };
        let is_idle = || known() || self.driver.stream_is_idle(&self.native).unwrap_or(false);
        match owned {
            Owned::Made(kind) if !self.is_shared() => {
                let is_idle = is_idle();
                self.device.native.put_stream(kind, core::mem::take(&mut self.native), is_idle);
            }
            Owned::Made(_) | Owned::Given => {
                let is_idle = D::STREAM_ENDS_WAIT && is_idle();
                self.device.native.end_stream(core::mem::take(&mut self.native), is_idle);
            }
        }
    }
}
