//! The guard of a stream that is given a command: the one place that keeps a stream's rules.
//!
//! The rules, in their order: events of other streams that the command waits for have native events of their own
//! ([`Submission::open`], before the lock, since no two streams are locked at once); the stream's own events that somebody holds
//! are recorded before anything else goes on the stream; the stream waits for what the command comes after
//! ([`Submission::come_after`]); the command is counted ([`Submission::count`]) before it is known to succeed; its times start;
//! then comes the native call, and then the event ([`Submission::return_event`]). Dropping the guard unlocks the stream; what a
//! failed command has put there stays counted, so whoever finishes the queue waits for it.
//!
//! Must not know what a command does. Nothing outside this folder records, waits or counts, but the stream itself and what
//! stands in its cache (`adapters/common/tests/layers.rs` looks).

use std::sync::Arc;

use ur_ffi::ur_command_t;

use crate::command::Request;
use crate::command::deferral;
use crate::device::event_pool::PooledEvent;
use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::Result;
use crate::object::recycled::Recycled;
use crate::queue::Queue;
use crate::stream::capture::{self, Beginning, Capture, CapturedEvent, SetAside};
use crate::stream::event::{Event, EventPromise, WaitList};
use crate::stream::promise::Outcome;
use crate::stream::times::{self, Stamps};
use crate::stream::{Held, Stream, StreamState};
use crate::sync::mutation;
use crate::sync::unlikely::unlikely;

/// The last barrier of an out-of-order queue, with its generation.
pub(crate) type Barrier<D> = (u64, Option<Arc<Object<Event<D>>>>);

/// When a timed command began.
pub(crate) type Start<D> = Option<times::Start<D>>;

/// A locked stream, and the command that it is being given.
pub struct Submission<'s, D: Driver> {
    stream: &'s Arc<Stream<D>>,
    state: Held<'s, D>,
    /// The wait list, if it has events of other streams.
    waits: Option<&'s WaitList<'s, D>>,
}

impl<'s, D: Driver> Submission<'s, D> {
    /// Sees to it that events of other streams can be waited for, and locks the stream.
    ///
    /// # Errors
    /// What the native library answers to recording an event.
    #[inline(always)]
    pub fn open(stream: &'s Arc<Stream<D>>, waits: &'s WaitList<'s, D>) -> Result<Self> {
        let needed = if unlikely!(!waits.is_empty()) { Needed::by(waits, stream)? } else { Needed::Nothing };
        match needed {
            Needed::Nothing => Ok(Self::with_waits(stream, None)),
            Needed::Waits => Ok(Self::with_waits(stream, Some(waits))),
            Needed::Capture => Err(capture::unsupported("this command, which waits for an event of a capture,")),
            // Another thread has signalled a reusable event of the list since the caller looked. The signal before it is meant.
            Needed::Submission if !waits.iter().any(|event| event.as_reusable().is_none() && event.is_unresolved()) => {
                Ok(Self::with_waits(stream, Some(waits)))
            }
            Needed::Submission => deferral::not_deferrable("this command"),
        }
    }

    /// As [`Submission::open`] with what [`Needed::by`] has found.
    #[inline(always)]
    pub(super) fn with_waits(stream: &'s Arc<Stream<D>>, waits: Option<&'s WaitList<'s, D>>) -> Self {
        Self { stream, state: stream.lock(), waits }
    }

    /// Locks a queue's stream for a command of a capture, and makes it wait for those events of the list that are other
    /// streams' of the capture. A stream that is not part of the capture joins by that.
    ///
    /// # Errors
    /// As [`Capture::begin_command`], whose answer goes before the submission.
    pub fn in_capture(request: &'s Request<'_, D>, capture: &Arc<Capture<D>>) -> Result<(Self, SetAside<D>)> {
        let stream = request.queue.first();
        let mut submission = Self::with_waits(stream, None);
        let mut beginning = (!stream.is_capturing()).then(|| Beginning::on(stream));
        let mut set_aside = SetAside::nothing(stream);
        if beginning.is_some() {
            stream.prepare_capture(&mut submission.state)?;
        } else if !request.queue.is_in_order() {
            set_aside = capture.begin_command(stream)?;
        }
        for event in request.waits.iter() {
            let Some(captured) = event.as_captured() else { continue };
            // The stream's own order is the queue's, unless the queue has none.
            if !request.queue.is_in_order() || !Arc::ptr_eq(&event.stream, stream) {
                captured.let_wait(stream)?;
            }
            if let Some(beginning) = beginning.take() {
                capture.add_fork(stream, request.queue, beginning);
                request.queue.set_capture(capture);
            }
        }
        Ok((submission, set_aside))
    }

    /// Gives the application the event of a command of a capture, if it asked for one.
    ///
    /// # Errors
    /// What the native library answers; the command is part of the capture then, and its event is not there.
    pub fn return_captured_event(&self, request: &Request<'_, D>, capture: &Arc<Capture<D>>) -> Result<()> {
        if !request.event.is_null() {
            let captured = CapturedEvent::record(capture, self.stream)?;
            let event = Event::captured(request.queue.to_arc(), Arc::clone(self.stream), request.command, captured);
            request.event.write(Object::into_handle(Object::new(event)));
        }
        Ok(())
    }

    /// Locks the stream for what waits for nothing.
    #[inline]
    pub fn over(stream: &'s Arc<Stream<D>>) -> Self {
        Self { stream, state: stream.lock(), waits: None }
    }

    /// The stream.
    #[inline(always)]
    pub fn stream(&self) -> &'s Arc<Stream<D>> {
        self.stream
    }

    /// The opened library.
    #[inline(always)]
    pub fn driver(&self) -> &'static D {
        self.stream.driver
    }

    /// The native stream.
    #[inline(always)]
    pub fn native(&self) -> &'s D::Stream {
        &self.stream.native
    }

    /// What the stream's lock guards.
    #[inline(always)]
    pub fn state(&mut self) -> &mut StreamState<D> {
        &mut self.state
    }

    /// The position of the stream's last command.
    #[inline(always)]
    pub fn position(&self) -> u64 {
        self.state.position
    }

    /// Whether the stream must be made to wait before a command that puts no work on it. Work of somebody else's on the
    /// stream is no command, so what stands for the last one would not wait for it.
    #[inline]
    pub fn must_come_after(&self, barrier: Option<&Barrier<D>>) -> bool {
        let waits = |waits: &WaitList<'_, D>| {
            waits.iter().any(|event| !Arc::ptr_eq(&event.stream, self.stream) && !event.is_known_complete())
        };
        self.stream.is_shared() || self.has_new_barrier(barrier) || self.waits.is_some_and(waits)
    }

    /// Records the events that somebody holds, and makes the stream wait for the wait list and the queue's barrier.
    ///
    /// # Errors
    /// What the native library answers.
    #[inline(always)]
    pub fn come_after(&mut self, barrier: Option<&Barrier<D>>) -> Result<()> {
        if !mutation::is(mutation::Bug::LateEvent) {
            self.state.record_pending_events()?;
        }
        if unlikely!(self.waits.is_some() || self.has_new_barrier(barrier)) {
            return self.wait_for_all(barrier);
        }
        Ok(())
    }

    /// Counts a command. Before it is known to succeed: of a command of several native calls some may be on the stream when
    /// one fails, and whoever finishes the queue must wait for those.
    #[inline(always)]
    pub fn count(&mut self) {
        self.state.position += 1;
    }

    /// Counts further native calls of a command that has many: the position tells how full the stream is ([`Stream::may_block`]).
    /// In a capture nothing runs, so nothing counts.
    pub fn count_more(&mut self, calls: usize) {
        if !self.stream.is_capturing() {
            self.state.position += calls as u64;
        }
    }

    /// Records what is pending and counts: for a command that finds out late that it puts work on the stream.
    ///
    /// # Errors
    /// What the native library answers.
    #[inline]
    pub fn begin_work(&mut self) -> Result<()> {
        self.state.record_pending_events()?;
        self.count();
        Ok(())
    }

    /// Makes the stream wait for events that were recorded on other streams, and for no more of those streams.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn wait_for_markers(&mut self, markers: &[(u64, PooledEvent<D>)]) -> Result<()> {
        markers.iter().try_for_each(|(_, marker)| self.driver().stream_wait(self.native(), marker.raw()))
    }

    /// Makes the stream wait for events; those of other streams were looked at by [`Submission::open`].
    ///
    /// # Errors
    /// What the native library answers.
    pub fn wait_for_events<'e>(&mut self, mut events: impl Iterator<Item = &'e Object<Event<D>>>) -> Result<()> {
        events.try_for_each(|event| self.state.wait_for(self.stream, event))
    }

    /// Makes the stream wait for an event of another stream that is recorded, on a stream, and not known to be complete.
    ///
    /// # Errors
    /// What the native library answers.
    #[inline]
    pub fn wait_for_recorded(&mut self, event: &Event<D>) -> Result<()> {
        self.state.wait_for_native(self.stream, event)
    }

    /// Marks the start of a command whose times are wanted; `queued` is when the application asked for it.
    ///
    /// # Errors
    /// What the native library answers.
    #[cold]
    pub fn start_times(&mut self, queued: u64) -> Result<times::Start<D>> {
        self.state.start_times(self.stream, queued)
    }

    /// Gives the application the event of the command that was counted last, if it asked for one.
    #[inline(always)]
    pub fn return_event(&mut self, request: &Request<'_, D>, start: Start<D>) -> Result<()> {
        if mutation::is(mutation::Bug::LateEvent) {
            self.state.record_pending_events()?;
        }
        if !request.event.is_null() {
            match start {
                Some(start) => self.return_timed_event(request, start),
                None => self.return_tail_event(request),
            }
        }
        Ok(())
    }

    /// Unlocks the stream, as dropping this does, in the place of the call: on the way of every command.
    #[inline(always)]
    pub fn end(self) {
        self.state.unlock();
    }

    /// The event of a signal behind everything that the stream was given; `None` if all of that is known to be done.
    ///
    /// # Errors
    /// What the native library answers.
    #[inline]
    pub fn record_timepoint(
        &mut self,
        queue: &Object<Queue<D>>,
        kind: ur_command_t,
    ) -> Result<Option<Arc<Object<Event<D>>>>> {
        let (stream, position) = (self.stream, self.position());
        if stream.is_completed(position) {
            return Ok(None);
        }
        let make = || Event::new(queue.to_arc(), Arc::clone(stream), position, kind, None);
        self.state.record_timepoint(kind, make).map(Some)
    }

    /// The event of the command that was counted last, with a native event of its own from the start.
    pub fn recorded_event(
        &self,
        queue: &Object<Queue<D>>,
        kind: ur_command_t,
        end: PooledEvent<D>,
        stamps: Option<Stamps<D>>,
    ) -> Arc<Object<Event<D>>> {
        let mut event = Event::new(queue.to_arc(), Arc::clone(self.stream), self.position(), kind, Some(end));
        event.stamps = stamps.map(Box::new);
        Object::new(event)
    }

    /// An event that stands for the stream's last command, and is recorded when somebody must know.
    #[inline(always)]
    fn return_tail_event(&mut self, request: &Request<'_, D>) {
        let handle = match self.state.reuse_event(request.command) {
            Some(handle) => handle,
            None => self.make_tail_event(request),
        };
        if unlikely!(self.stream.is_shared()) {
            // What stands for the last command would not wait for somebody else's work behind it. If this fails, the event
            // stays what others' events are, and completes later than it could.
            let _ = self.state.record_all_pending_events();
        }
        request.event.write(handle);
    }

    #[inline(never)]
    fn make_tail_event(&mut self, request: &Request<'_, D>) -> ur_ffi::ur_event_handle_t {
        let position = self.state.position;
        let event = Event::new(request.queue.to_arc(), Arc::clone(self.stream), position, request.command, None);
        self.add_tail(event)
    }

    #[cold]
    fn return_timed_event(&mut self, request: &Request<'_, D>, start: times::Start<D>) {
        let position = self.state.position;
        let make = || Event::new(request.queue.to_arc(), Arc::clone(self.stream), position, request.command, None);
        let handle = self.state.return_timed_event(self.stream, request.command, start, make);
        request.event.write(handle);
    }

    fn add_tail(&mut self, event: Event<D>) -> ur_ffi::ur_event_handle_t {
        let event = Recycled::new(event);
        let handle = event.retain_handle();
        self.state.add_tail(event);
        handle
    }

    /// Whether the queue's last barrier is one that the stream does not wait for yet.
    #[inline]
    fn has_new_barrier(&self, barrier: Option<&Barrier<D>>) -> bool {
        barrier.is_some_and(|(generation, _)| self.state.barrier < *generation)
    }

    #[inline(never)]
    fn wait_for_all(&mut self, barrier: Option<&Barrier<D>>) -> Result<()> {
        if let Some(waits) = self.waits {
            waits.iter().try_for_each(|event| self.state.wait_for(self.stream, event))?;
        }
        if let Some((generation, Some(event))) = barrier
            && self.state.barrier < *generation
        {
            // One that is kept is nothing to wait for yet. This command is another thread's than the barrier; the stream's next one
            // may not be. Asked first: what is resolved between the question and the wait is waited for once more.
            let is_kept = event.is_unresolved();
            self.state.wait_for(self.stream, event)?;
            if !is_kept {
                self.state.barrier = *generation;
            }
        }
        Ok(())
    }
}

/// What a wait list asks of a command's stream.
pub(super) enum Needed {
    /// Nothing: all is on the stream already.
    Nothing,
    /// Waits for events of other streams.
    Waits,
    /// To be part of the capture that an event of the list is of.
    Capture,
    /// That somebody submits what an event of the list stands for.
    Submission,
}

impl Needed {
    /// Gives events of other streams native events of their own, and says whether there are any. What comes before on the
    /// same stream needs no wait.
    ///
    /// # Errors
    /// `GRAPH_INTERNAL_EVENT` for an event of a capture that has ended; what the native library answers to recording one.
    #[inline(never)]
    pub(super) fn by<D: Driver>(waits: &WaitList<'_, D>, stream: &Arc<Stream<D>>) -> Result<Self> {
        let mut needed = Self::Nothing;
        for event in waits.iter() {
            if unlikely!(event.is_off_stream()) {
                match Self::off_stream(event, stream)? {
                    Self::Nothing => {}
                    Self::Waits => needed = Self::Waits,
                    alone => return Ok(alone),
                }
            } else if !Arc::ptr_eq(&event.stream, stream) {
                needed = Self::Waits;
                event.stream.ensure_recorded(event)?;
            }
        }
        Ok(needed)
    }

    /// What an event asks that lies on no stream. It is recorded already, if it is anything to wait for.
    #[cold]
    #[inline(never)]
    fn off_stream<D: Driver>(event: &Event<D>, stream: &Arc<Stream<D>>) -> Result<Self> {
        match (event.as_captured(), event.as_deferred()) {
            (Some(captured), _) if captured.capture.has_ended() => Err(capture::internal_event()),
            (Some(_), _) => Ok(Self::Capture),
            (None, Some(promise)) => Self::by_promise(promise, stream),
            (None, None) => match event.kept_signal() {
                Some(signal) => {
                    signal.as_deferred().map_or(Ok(Self::Waits), |promise| Self::by_promise(promise, stream))
                }
                None => Ok(Self::Waits),
            },
        }
    }

    /// What an event asks that was made before what it stands for was submitted.
    fn by_promise<D: Driver>(promise: &EventPromise<D>, stream: &Arc<Stream<D>>) -> Result<Self> {
        match promise.outcome() {
            None => Ok(Self::Submission),
            Some(Outcome::Failed(cause)) => Err(deferral::after_failure(cause)),
            Some(Outcome::Submitted(Some(event))) if !Arc::ptr_eq(&event.stream, stream) => {
                event.stream.ensure_recorded(event)?;
                Ok(Self::Waits)
            }
            Some(Outcome::Submitted(_)) => Ok(Self::Nothing),
        }
    }
}
