//! What a stream does for stream-ordered memory beside its commands: giving back what it keeps, for a trim, a full device, the
//! end of a pool or its own.
//!
//! Called from other streams' commands, so nothing here waits for a native call that the lock's holder is inside of: it
//! is left out, or left to that holder as a word ([`crate::stream::delegated`]).

use std::sync::{Arc, Weak};

use crate::device::Device;
use crate::device::deferred;
use crate::device::event_pool::PooledEvent;
use crate::driver::Driver;
use crate::driver::graphs::CaptureStatus;
use crate::memory_pool::backend::PoolBackend;
use crate::memory_pool::registry::{Claimed, Registry};
use crate::memory_pool::stream::PoolStream;
use crate::object::Object;
use crate::object::error::Result;
use crate::stream::delegated::Word;
use crate::stream::{Held, Stream, StreamState};

/// How often a stream's marker is looked at that another stream could hold up: some hundred microseconds, where an idle
/// stream's takes ten.
const LOOKS: u32 = 1000;

impl<D: Driver> Stream<D> {
    /// Whether nothing that was enqueued so far runs any more: it has finished, or the device is lost.
    ///
    /// # Errors
    /// What else the native library answers.
    pub fn runs_nothing(&self) -> Result<bool> {
        match self.is_idle_and_not_captured() {
            Err(error) if error.is_lost_device() => Ok(true),
            answer => answer,
        }
    }

    fn is_idle_and_not_captured(&self) -> Result<bool> {
        if self.is_shared() && !self.ask(self.captures_nothing())? {
            return Ok(false);
        }
        self.is_idle()
    }

    fn captures_nothing(&self) -> impl FnOnce(&D::Stream) -> Result<bool> {
        move |native| Ok(self.driver.capture_info(native)?.status == CaptureStatus::None)
    }

    /// Whether somebody else who has the native stream may be capturing it: the question whether it is idle would break that, and what
    /// is put there for the engine's own ends would become part of the graph. A lost device captures nothing any more.
    pub(super) fn is_captured_elsewhere(&self) -> bool {
        self.is_shared()
            && match self.ask(self.captures_nothing()) {
                Ok(captures_nothing) => !captures_nothing,
                Err(error) => !error.is_lost_device(),
            }
    }

    /// Empties the free lists that `which` names. When the stream had nothing to do, what it gave back is the pool's on
    /// return. Nothing happens while a native call that can block is on its way, nor while anybody captures the stream.
    ///
    /// # Errors
    /// What the native library answers; what could not be given back stays kept.
    pub fn flush(&self, which: impl Fn(&PoolBackend<D>) -> bool) -> Result<()> {
        match self.lock_unless_calling() {
            Some(state) if state.cache.keeps_any(&which) => self.flush_in(state, which),
            _ => Ok(()),
        }
    }

    fn flush_in(&self, state: Held<'_, D>, which: impl Fn(&PoolBackend<D>) -> bool) -> Result<()> {
        if self.is_captured_elsewhere() {
            return Ok(());
        }
        match self.flush_to_pools(state, which) {
            // It has nothing to give back and will see no free any more, and whoever asks may want memory of another device.
            Err(error) if error.is_lost_device() => Ok(()),
            flushed => flushed,
        }
    }

    fn flush_to_pools(&self, mut state: Held<'_, D>, which: impl Fn(&PoolBackend<D>) -> bool) -> Result<()> {
        let idle = self.has_nothing_to_do(&state)?;
        let natively = state.cache.frees_natively(&which);
        {
            let state = &mut *state;
            state.cache.flush(self, &mut state.position, which)?;
        }
        self.see_frees(state, idle, natively)
    }

    /// Gives back what pools whose memory comes in slabs may not keep over a synchronisation, which has just been.
    ///
    /// # Errors
    /// What the native library answers.
    #[cold]
    pub(super) fn keep_thresholds(&self) -> Result<()> {
        let backends = self.lock().cache.with_slabs();
        backends.iter().map(|backend| backend.keep_threshold()).fold(Ok(()), Result::and)
    }

    fn has_nothing_to_do(&self, state: &StreamState<D>) -> Result<bool> {
        let is_known = !self.is_shared() && self.is_completed(state.position);
        Ok(is_known || self.ask(|native| self.driver.stream_is_idle(native))?)
    }

    /// Waits until the library has seen the frees that an idle stream was given, if it was given any, and for nothing that may
    /// come after. While another stream has work, it looks a bounded number of times instead: streams can share a hardware
    /// channel, where what waits on one holds up the others.
    fn see_frees(&self, state: Held<'_, D>, idle: bool, natively: bool) -> Result<()> {
        if !idle {
            return Ok(());
        }
        let position = state.position;
        if !natively {
            self.note_completed(position);
            return Ok(());
        }
        let marker = self.record_last()?;
        drop(state);
        let driver = self.device.driver;
        if self.registry.is_quiet() {
            driver.synchronize_event(marker.raw()).map_err(|error| self.device.failed(error))?;
        } else {
            for _ in 0..LOOKS {
                if driver.event_is_complete(marker.raw()).map_err(|error| self.device.failed(error))? {
                    break;
                }
                core::hint::spin_loop();
            }
        }
        self.note_completed(position);
        Ok(())
    }

    /// Empties a pool's free lists and keeps nothing more of it. When the stream had nothing to do, what it gave back is the
    /// pool's on return. While a native call that can block is on its way, the lock's holder does it afterwards; while somebody else
    /// captures the stream and blocks are kept, the next one who has the lock behind that.
    pub fn close_pool(&self, pool: u64) {
        let Some(mut state) = self.lock_unless_calling() else { return self.leave(Word::ClosePool(pool)) };
        let gives_back = state.cache.keeps_any(|backend: &PoolBackend<D>| backend.pool == pool);
        if gives_back && self.is_captured_elsewhere() {
            drop(state);
            return self.leave(Word::ClosePool(pool));
        }
        let idle = gives_back && self.has_nothing_to_do(&state).unwrap_or(false);
        let natively = state.cache.frees_natively(|backend| backend.pool == pool);
        let closed = {
            let state = &mut *state;
            state.cache.close(self, &mut state.position, pool)
        };
        // The pool waits for its end a little longer if this fails.
        let _ = self.see_frees(state, idle, natively);
        closed.iter().for_each(|backend| self.registry.end_if_unused(backend));
    }

    /// Takes a block back that nobody uses any more: at once, or by whoever is inside a native call that can block. Gives
    /// it back to the caller if the stream's queue is gone, the native stream may be, or somebody else may be capturing that.
    ///
    /// # Errors
    /// What the native library answers; the block is nowhere then.
    pub fn take_back(&self, claimed: Claimed<D>, pointer: usize) -> Result<Option<Claimed<D>>> {
        let Some(mut state) = self.lock_unless_calling() else {
            self.leave(Word::GiveBack(claimed, pointer));
            return Ok(None);
        };
        let state = &mut *state;
        if state.cache.has_ended() || self.has_parted() || self.is_captured_elsewhere() {
            return Ok(Some(claimed));
        }
        state.cache.give_back_from(self, &mut state.position, &claimed.backend, pointer, claimed.size)?;
        Ok(None)
    }

    /// Takes a block of a backend that the stream keeps and whose last use comes before command `position` or is that command,
    /// for a stream that is ordered behind that command. Only tries the lock: the caller holds another stream's.
    #[inline]
    pub fn take_freed_before(&self, backend: &PoolBackend<D>, size: usize, position: u64) -> Option<usize> {
        self.take_in(self.try_lock()?, backend, size, position)
    }

    #[inline(always)]
    fn take_in(&self, mut state: Held<'_, D>, backend: &PoolBackend<D>, size: usize, position: u64) -> Option<usize> {
        // Work of somebody else's may lie between the command and the free; and a capture's positions are no order.
        if !self.is_exact() {
            return None;
        }
        state.cache.take_freed_before(backend, size, position)
    }

    /// Ends the stream's dealings with stream-ordered memory: nothing stays kept. Its queue is gone. Who waits for its work finds
    /// out by events from now on; where one cannot be recorded, the stream comes back and has to stay.
    #[must_use]
    pub fn retire(self: &Arc<Self>) -> Option<Unfinished<D>> {
        let mut state = self.lock();
        let state_ref = &mut *state;
        let arenas = state_ref.cache.arenas();
        let has_finished = self.is_exact() && self.is_completed(state_ref.position);
        let ended = state_ref.cache.end(self, &mut state_ref.position);
        let position = state_ref.position;
        let mut is_told = true;
        if has_finished {
            // What used the blocks that were kept has finished before they were freed here.
            finish_in(&arenas, self, position);
        } else if !arenas.is_empty() {
            // Nobody can ask this stream any more, so an event has to say when its frees were reached.
            is_told &= self.tell_last(|marker| match marker {
                None => finish_in(&arenas, self, position),
                Some(marker) => {
                    let marker = Arc::new(marker);
                    arenas.iter().filter_map(|backend| backend.arena()).for_each(|arena| {
                        arena.mark(&**self, position, &marker);
                    });
                }
            });
        }
        // A stream that stays somebody else's may have gone before its queue, so it is not touched without need.
        let may_have_more = self.is_shared() && self.owned.is_some();
        // Frees of what was kept are no work on plain memory.
        let has_work = may_have_more || !(has_finished || self.is_completed(position));
        let progress = self.registry.progress();
        if has_work && progress.is_used() {
            // The same for plain memory that is freed.
            is_told &= self.tell_last(|last| last.into_iter().for_each(|last| progress.depart(last)));
        }
        drop(state);
        ended.iter().for_each(|backend| self.registry.end_if_unused(backend));
        if is_told {
            return None;
        }
        let unfinished = Unfinished { stream: Arc::clone(self), position, arenas };
        if self.owned.is_some() {
            return Some(unfinished);
        }
        // Whose stream it is may destroy it from now on, so nobody may ask it later.
        if !deferred::must_not_wait() && self.wait_until_reached().is_ok() {
            unfinished.finish();
        }
        None
    }

    /// Records an event behind all that the stream was given, and has it told to those who wait for that; a lost device runs nothing,
    /// so there is none to wait for. `false` if there is none although the work goes on.
    fn tell_last(&self, tell: impl FnOnce(Option<PooledEvent<D>>)) -> bool {
        match self.record_last() {
            Ok(last) => tell(Some(last)),
            Err(error) if error.is_lost_device() => tell(None),
            Err(_) => return false,
        }
        true
    }
}

/// A stream without a queue whose last work no event stands for. While it lives, whoever looks through the context's streams
/// finds it and asks it.
pub struct Unfinished<D: Driver> {
    stream: Arc<Stream<D>>,
    position: u64,
    /// Where its frees are waited for.
    arenas: Vec<Arc<PoolBackend<D>>>,
}

impl<D: Driver> Unfinished<D> {
    /// Whether it is needed no more: its work has finished, which those who wait for it know when this returns.
    pub fn is_over(&self) -> bool {
        let is_over = self.stream.runs_nothing().unwrap_or(false);
        if is_over {
            self.finish();
        }
        is_over
    }

    fn finish(&self) {
        finish_in(&self.arenas, &self.stream, self.position);
    }
}

/// Makes free in arenas what a stream freed there up to a command that has finished.
fn finish_in<D: Driver>(arenas: &[Arc<PoolBackend<D>>], stream: &Stream<D>, position: u64) {
    arenas.iter().filter_map(|backend| backend.arena()).for_each(|arena| arena.finish(stream, position));
}

impl<D: Driver> PoolStream<D> for Stream<D> {
    #[inline(always)]
    fn native(&self) -> &D::Stream {
        &self.native
    }

    fn key(&self) -> u64 {
        Stream::key(self)
    }

    fn is_exact(&self) -> bool {
        !self.is_shared() && !self.is_capturing()
    }

    fn has_foreign_work(&self) -> bool {
        self.is_shared()
    }

    fn device(&self) -> &Arc<Object<Device<D>>> {
        &self.device.device
    }

    fn registry(&self) -> &Arc<Registry<D>> {
        &self.registry
    }

    fn weak(&self) -> Weak<dyn PoolStream<D>> {
        self.this.clone()
    }

    fn is_completed(&self, position: u64) -> bool {
        Stream::is_completed(self, position)
    }

    fn published_position(&self) -> u64 {
        Stream::published_position(self)
    }

    fn runs_nothing(&self) -> Result<bool> {
        Stream::runs_nothing(self)
    }

    fn record_marker_unless_calling(&self) -> Result<Option<(u64, PooledEvent<D>)>> {
        Stream::record_marker_unless_calling(self)
    }

    fn pass(&self) -> bool {
        Stream::pass(self)
    }

    fn flush(&self, which: &dyn Fn(&PoolBackend<D>) -> bool) -> Result<()> {
        match self.lock_unless_calling() {
            // What the stream has freed natively is the pool's only when the library has seen it.
            Some(state) if state.cache.has_to_do_with(which) => self.flush_in(state, which),
            _ => Ok(()),
        }
    }

    fn close_pool(&self, pool: u64) {
        Stream::close_pool(self, pool);
    }

    fn take_freed_before(&self, backend: &PoolBackend<D>, size: usize, position: Option<u64>) -> Option<usize> {
        let position = position.unwrap_or_else(|| self.reached.completed());
        self.take_in(self.try_lock_unless_owned()?, backend, size, position)
    }

    fn take_back(&self, claimed: Claimed<D>, pointer: usize) -> Result<Option<Claimed<D>>> {
        Stream::take_back(self, claimed, pointer)
    }
}
