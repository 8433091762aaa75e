//! Events of a stream's last command: recorded at the last moment that is exact, and used again once nobody holds them.
//!
//! Everything here is behind the stream's lock. Whoever puts anything on the stream calls
//! [`StreamState::record_pending_events`] first.

use ur_ffi::{ur_command_t, ur_event_handle_t};

use crate::device::event_pool::PooledEvent;
use crate::driver::Driver;
use crate::object::error::Result;
use crate::object::recycled::Recycled;
use crate::stream::event::Event;
use crate::stream::{Stream, StreamState};
use crate::sync::barrier;
use crate::sync::unlikely::unlikely;

/// Events that stand for the last command, at most: each is looked at when another one is wanted.
const MOST_TAILS: usize = 8;

impl<D: Driver> Stream<D> {
    /// Records what is pending and somebody holds: whoever does so later would wait for what the stream is given meanwhile. A
    /// stream that is inside a call has done so.
    pub fn record_held(&self) {
        if self.is_untouched() {
            return;
        }
        if let Some(mut state) = self.lock_unless_calling() {
            // What cannot be recorded stays pending, and completes later than it could.
            let _ = state.record_pending_events();
        }
    }

    /// A native event for everything enqueued so far, for others to wait for; `None` when all has finished. For commands
    /// of the stream's own queue.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn record_marker(&self) -> Result<Option<(u64, PooledEvent<D>)>> {
        self.record_marker_in(&self.lock())
    }

    /// As [`Stream::record_marker`] for somebody else, who must not wait: `None` also while a native call that can block is
    /// on its way, and while somebody captures the stream.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn record_marker_unless_calling(&self) -> Result<Option<(u64, PooledEvent<D>)>> {
        match self.lock_unless_calling() {
            Some(state) if !self.is_captured_elsewhere() => self.record_marker_in(&state),
            _ => Ok(None),
        }
    }

    pub(super) fn record_marker_in(&self, state: &StreamState<D>) -> Result<Option<(u64, PooledEvent<D>)>> {
        if !self.is_shared() && self.is_completed(state.position) {
            return Ok(None);
        }
        self.record_last().map(|marker| Some((state.position, marker)))
    }

    /// Makes sure the event has a native event of its own, so that what comes after it on the stream does not
    /// matter to whoever waits for it.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn ensure_recorded(&self, event: &Event<D>) -> Result<()> {
        while !event.is_recorded() {
            if let Some(_state) = self.lock_unless_calling() {
                return if event.is_recorded() { Ok(()) } else { event.record() };
            }
            // A call that blocks is no reason to wait: all that it comes after was recorded before it.
            barrier::relax();
        }
        Ok(())
    }
}

impl<D: Driver> StreamState<D> {
    /// Gives every tail event that somebody still holds its native event, and lets go of the others. To be
    /// called before anything is put on the stream.
    ///
    /// # Errors
    /// What the native library answers; nothing has changed then.
    #[inline(always)]
    pub fn record_pending_events(&mut self) -> Result<()> {
        // A list that had many events has left its place for good, and what looks there is out of the others' way.
        if unlikely!(self.tails.spilled()) {
            return self.record_pending_elsewhere();
        }
        if unlikely!(!self.are_tails_recorded()) { self.record_tails() } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn record_pending_elsewhere(&mut self) -> Result<()> {
        if self.are_tails_recorded() { Ok(()) } else { self.record_tails() }
    }

    /// Whether there is no tail event but one that nobody holds, which stays where it is: the next command that wants an event
    /// finds it there.
    #[inline(always)]
    fn are_tails_recorded(&self) -> bool {
        match self.tails.as_slice() {
            [] => true,
            [event] => !unlikely!(!event.is_unused()),
            _ => {
                core::hint::cold_path();
                false
            }
        }
    }

    /// As [`StreamState::record_pending_events`] where the last event must not stay either, because others may put work on
    /// the stream.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn record_all_pending_events(&mut self) -> Result<()> {
        if self.tails.is_empty() { Ok(()) } else { self.record_tails_together() }
    }

    #[inline(never)]
    fn record_tails(&mut self) -> Result<()> {
        let [event] = self.tails.as_mut_slice() else { return self.record_tails_together() };
        if !event.is_recorded() {
            event.record()?;
        }
        // Where each command waits for the one before, two events take turns: the one that was recorded before is let go of by
        // now, and the next command finds it as if it had been one of the last command's (`urbench`'s row "work: launch,
        // chained").
        if let Some(before) = &mut self.recorded
            && before.is_unused()
        {
            core::mem::swap(before, event);
        } else if let Some(event) = self.tails.pop() {
            self.keep_recorded(event);
        }
        Ok(())
    }

    /// They all say "everything so far", so one native event does for all of them.
    #[cold]
    fn record_tails_together(&mut self) -> Result<()> {
        let open = |event: &&Recycled<Event<D>>| !event.is_unused() && !event.is_recorded();
        if let Some(first) = self.tails.iter().find(open).map(Recycled::to_arc) {
            first.record()?;
            self.tails.iter().filter(open).for_each(|event| event.follow(&first));
        }
        while let Some(event) = self.tails.pop() {
            if event.is_unused() {
                self.keep_spare(event);
            } else {
                self.keep_recorded(event);
            }
        }
        Ok(())
    }

    /// Keeps an event that somebody holds, in case it is let go of, and the one before if that has happened to it.
    #[inline]
    fn keep_recorded(&mut self, event: Recycled<Event<D>>) {
        if let Some(before) = self.recorded.replace(event)
            && before.is_unused()
        {
            self.keep_spare(before);
        }
    }

    #[inline]
    fn keep_spare(&mut self, event: Recycled<Event<D>>) {
        if self.spare.is_none() {
            self.spare = Some(event);
        }
    }

    /// Returns an event of an earlier command that nobody holds any more, which now stands for the last command. Only
    /// queues without profiling have any.
    #[inline(always)]
    pub fn reuse_event(&mut self, command: ur_command_t) -> Option<ur_event_handle_t> {
        let position = self.position;
        // Whatever they stood for, all that are used again stand for the last command, as the others of the list.
        for event in &mut self.tails {
            if let Some(body) = event.unused() {
                body.refill(position, command);
                return Some(event.reuse_event());
            }
        }
        self.lend_spare(command)
    }

    #[inline(never)]
    fn lend_spare(&mut self, command: ur_command_t) -> Option<ur_event_handle_t> {
        let mut event = self.take_spare()?;
        event.unused()?.refill(self.position, command);
        let handle = event.reuse_event();
        self.add_tail(event);
        Some(handle)
    }

    /// Keeps an event as one of the last command's. Events of commands that put no work on the stream pile up; so that
    /// nothing grows with them, they get their one native event when they are many. What cannot be recorded now is
    /// tried again with the next command.
    #[inline]
    pub fn add_tail(&mut self, event: Recycled<Event<D>>) {
        self.tails.push(event);
        if unlikely!(self.tails.len() > MOST_TAILS) {
            let _ = self.record_tails_together();
        }
    }

    /// An event object beside the tails that nobody uses any more, to be filled again.
    fn take_spare(&mut self) -> Option<Recycled<Event<D>>> {
        if let Some(spare) = self.spare.take() {
            return Some(spare);
        }
        if let Some(unused) = self.tails.iter().position(|event| event.is_unused()) {
            return Some(self.tails.swap_remove(unused));
        }
        self.recorded.take_if(|event| event.is_unused())
    }
}
