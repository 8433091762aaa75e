//! Events: a command of a stream that can be waited for, queried and timed.
//!
//! An event is a position on a stream. Only when the position alone no longer says enough (more work follows, or
//! another stream must wait) does it get a native event, and then exactly one. All of that happens under the
//! stream's lock; reading an event takes no lock.

pub mod callback;
mod deferred;
pub mod failure;
pub mod info;
pub mod signals;
pub mod timepoints;
pub mod watch;

use core::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ur_ffi::{ur_command_t, ur_event_handle_t, ur_event_handle_t_, ur_profiling_info_t, ur_result_t};

use crate::device::event_pool::PooledEvent;
use crate::driver::Driver;
use crate::object::error::{Error, Result};
use crate::object::params::{self, HandleList, Handles};
use crate::object::{Body, Object, TableAddress};
use crate::stream::Stream;
use crate::stream::capture::{CapturedEvent, internal_event};
use crate::stream::promise::{Outcome, Promise};
use crate::stream::reusable::{KeptSignals, Reusable};
use crate::stream::submitter::Submitter;
use crate::stream::times::Stamps;
use crate::sync::set_once::SetOnce;
use crate::sync::unlikely::unlikely;

/// The number of a command that no stream gets to, small enough to be doubled.
const NEVER: u64 = u64::MAX / 4;

/// A command's place on its stream.
pub struct Event<D: Driver> {
    /// The queue the command was given to.
    pub queue: Arc<dyn Submitter<D>>,
    /// The stream it ran on.
    pub stream: Arc<Stream<D>>,
    /// Its number on that stream.
    pub position: u64,
    /// What it was.
    pub command: ur_command_t,
    /// On a profiling queue, what its times are made of.
    pub stamps: Option<Box<Stamps<D>>>,
    end: SetOnce<End<D>>,
    complete: AtomicBool,
}

/// What says that a command has finished, when its position alone no longer does.
enum End<D: Driver> {
    /// A native event of its own.
    Own(PooledEvent<D>),
    /// The native event of another event at the same place.
    Of(Arc<Object<Event<D>>>),
    /// That of the last signal, which may be one that was kept.
    Signal(Arc<Reusable<D>>, Box<KeptSignals<Arc<Object<Event<D>>>>>),
    /// The same for an event that was opened by its handle data.
    Imported(Arc<Reusable<D>>),
    /// Nothing says it: the command is recorded into a graph.
    Captured(Box<CapturedEvent<D>>),
    /// The event of what is not submitted yet, once it is.
    Deferred(Arc<EventPromise<D>>),
}

/// What stands for a command, or a timeline's value, that has no event yet.
pub type EventPromise<D> = Promise<Arc<Object<Event<D>>>>;

/// What tells whether a command has finished.
enum Observable<'e, D: Driver> {
    /// A native event.
    Native(&'e PooledEvent<D>),
    /// The stream: nothing has followed there.
    Stream,
    /// The event of what is not submitted yet.
    Promise(&'e EventPromise<D>),
    /// The event of a signal that was kept.
    Signal(Arc<Object<Event<D>>>),
    /// Nothing: it is known.
    Past,
}

impl<D: Driver> Body for Event<D> {
    type Opaque = ur_event_handle_t_;
    const TAG: u32 = 0x5552_0006;
    const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_EVENT;
    const NAME: &'static str = "event";

    fn table() -> TableAddress {
        D::cell().table()
    }
}

impl<D: Driver> Event<D> {
    /// The event of command `sequence`; `end` is its native event if that was recorded already.
    pub fn new(
        queue: Arc<dyn Submitter<D>>,
        stream: Arc<Stream<D>>,
        position: u64,
        command: ur_command_t,
        end: Option<PooledEvent<D>>,
    ) -> Self {
        let end = end.map_or_else(SetOnce::new, |marker| SetOnce::full(End::Own(marker)));
        Self { queue, stream, position, command, stamps: None, end, complete: AtomicBool::new(false) }
    }

    /// An event that lies on no stream: each time it is recorded it stands for another command.
    pub fn reusable(
        queue: Arc<dyn Submitter<D>>,
        stream: Arc<Stream<D>>,
        command: ur_command_t,
        reusable: Arc<Reusable<D>>,
    ) -> Self {
        let end = SetOnce::full(End::Signal(reusable, Box::default()));
        Self { end, ..Self::new(queue, stream, NEVER, command, None) }
    }

    /// As [`Event::reusable`], for one that was opened by its handle data.
    pub fn imported(
        queue: Arc<dyn Submitter<D>>,
        stream: Arc<Stream<D>>,
        command: ur_command_t,
        reusable: Arc<Reusable<D>>,
    ) -> Self {
        let end = SetOnce::full(End::Imported(reusable));
        Self { end, ..Self::new(queue, stream, NEVER, command, None) }
    }

    /// An event of a command that a graph records. It lies on no stream, and only commands of the capture may wait for it.
    pub fn captured(
        queue: Arc<dyn Submitter<D>>,
        stream: Arc<Stream<D>>,
        command: ur_command_t,
        captured: CapturedEvent<D>,
    ) -> Self {
        let end = SetOnce::full(End::Captured(Box::new(captured)));
        Self { end, ..Self::new(queue, stream, NEVER, command, None) }
    }

    /// An event of what nobody has submitted yet. It lies on no stream; `stream` is that of the queue's commands, or one that
    /// nothing is put on.
    pub fn deferred(
        queue: Arc<dyn Submitter<D>>,
        stream: Arc<Stream<D>>,
        command: ur_command_t,
        promise: Arc<EventPromise<D>>,
    ) -> Self {
        let end = SetOnce::full(End::Deferred(promise));
        Self { end, ..Self::new(queue, stream, NEVER, command, None) }
    }

    /// What it consists of, if it was made before what it stands for was submitted.
    pub fn as_deferred(&self) -> Option<&Arc<EventPromise<D>>> {
        match self.end.get() {
            Some(End::Deferred(promise)) => Some(promise),
            _ => None,
        }
    }

    /// The event that is on a stream: of one that was made before, that of what was then submitted, if it was.
    pub fn submitted(&self) -> Option<&Self> {
        match self.as_deferred() {
            Some(promise) => promise.event().map(|event| &***event),
            None => Some(self),
        }
    }

    /// What it consists of, if it is an event of a command that a graph recorded.
    pub fn as_captured(&self) -> Option<&CapturedEvent<D>> {
        match self.end.get() {
            Some(End::Captured(captured)) => Some(captured),
            _ => None,
        }
    }

    /// What it consists of, if it is signalled again and again.
    pub fn as_reusable(&self) -> Option<&Arc<Reusable<D>>> {
        match self.end.get() {
            Some(End::Signal(reusable, _) | End::Imported(reusable)) => Some(reusable),
            _ => None,
        }
    }

    /// Whether it was opened by its handle data.
    pub fn is_imported(&self) -> bool {
        matches!(self.end.get(), Some(End::Imported(_)))
    }

    /// Whether the event stands for no one command of its stream: it is signalled again and again, so that it was complete
    /// says nothing of now, or a graph recorded the command.
    #[inline]
    pub fn is_off_stream(&self) -> bool {
        self.position == NEVER
    }

    /// Makes a native stream wait for what an event stands for now that is on no stream.
    ///
    /// # Errors
    /// What the native library answers.
    #[cold]
    pub fn let_wait(&self, stream: &Stream<D>) -> Result<()> {
        match self.end.get() {
            Some(End::Signal(reusable, _) | End::Imported(reusable)) => {
                reusable.let_wait(&stream.device, &stream.native)
            }
            Some(End::Captured(captured)) => captured.let_wait(stream),
            _ => Ok(()),
        }
    }

    /// Makes a forgotten event of the same stream stand for another command, without allocating.
    #[inline(always)]
    pub fn refill(&mut self, position: u64, command: ur_command_t) {
        if unlikely!(self.stamps.is_some()) {
            self.stamps = None;
        }
        self.refill_timed(position, command);
    }

    /// As [`Event::refill`]; what the times were made of stays, for the caller to change.
    #[inline(always)]
    pub fn refill_timed(&mut self, position: u64, command: ur_command_t) {
        self.position = position;
        self.command = command;
        match self.end.get() {
            // Its own native event serves again.
            Some(End::Own(_)) => self.end.lay_by(),
            Some(_) => {
                core::hint::cold_path();
                drop(self.end.take());
            }
            None => {}
        }
        *self.complete.get_mut() = false;
    }

    /// Makes a forgotten event of the same stream stand for the stream's last command, and records its native event where it
    /// lies: nobody else sees the event. The caller holds the stream's lock.
    ///
    /// # Errors
    /// What the native library answers; the event is not to be used then.
    #[inline]
    pub fn record_anew(&mut self, position: u64, command: ur_command_t) -> Result<()> {
        let Some(End::Own(marker)) = self.end.get() else {
            self.refill(position, command);
            return self.record();
        };
        marker.record_in_place(&self.stream.native)?;
        (self.stamps, self.position, self.command) = (None, position, command);
        *self.complete.get_mut() = false;
        Ok(())
    }

    /// What says whether the command has finished.
    ///
    /// # Errors
    /// `GRAPH_INTERNAL_EVENT` for the event of a command that a graph recorded.
    fn observable(&self) -> Result<Observable<'_, D>> {
        match self.end.get() {
            None if unlikely!(self.stream.is_capturing()) => self.observable_in_capture(),
            None => Ok(Observable::Stream),
            Some(End::Own(marker)) => Ok(Observable::Native(marker)),
            Some(End::Of(other)) => other.observable(),
            Some(End::Signal(reusable, _) | End::Imported(reusable)) => Ok(match self.kept_signal() {
                Some(kept) => Observable::Signal(kept),
                None => reusable.marker().map_or(Observable::Stream, Observable::Native),
            }),
            Some(End::Captured(_)) => Err(internal_event()),
            Some(End::Deferred(promise)) => Ok(Observable::Promise(promise)),
        }
    }

    /// Refuses the event of a command that a graph recorded.
    ///
    /// # Errors
    /// `GRAPH_INTERNAL_EVENT`.
    pub fn check_observable(&self) -> Result<()> {
        self.observable().map(drop)
    }

    /// The native event, once there is one that may be asked.
    pub fn marker(&self) -> Option<&PooledEvent<D>> {
        match self.end.get()? {
            End::Own(marker) => Some(marker),
            End::Of(other) => other.marker(),
            End::Signal(reusable, _) | End::Imported(reusable) => reusable.marker(),
            End::Captured(_) => None,
            End::Deferred(promise) => promise.event()?.marker(),
        }
    }

    /// Records a native event for everything that the event's stream was given so far. The caller holds the stream's lock.
    ///
    /// # Errors
    /// What the native library answers.
    #[inline]
    pub fn record(&self) -> Result<()> {
        self.record_end(false)
    }

    /// As [`Event::record`]; a native event that is made now can tell times if `timing`.
    ///
    /// # Errors
    /// What the native library answers.
    #[inline(always)]
    pub fn record_end(&self, timing: bool) -> Result<()> {
        let stream = &*self.stream;
        self.end.fill(|end| {
            let recorded = match end {
                Some(End::Own(marker)) => marker.record_in_place(&stream.native),
                _ => {
                    PooledEvent::record(&stream.device, &stream.native, timing).map(|made| *end = Some(End::Own(made)))
                }
            };
            // It may be one that tells times, and must not be what a later record finds that wants none.
            recorded.inspect_err(|_| *end = None)
        })?;
        Ok(())
    }

    /// Lets another event at the same place, which has a native event, speak for this one too. The caller holds the
    /// stream's lock and the event has none.
    pub fn follow(&self, other: &Arc<Object<Self>>) {
        let Ok(_) = self.end.fill(|end| {
            *end = Some(End::Of(Arc::clone(other)));
            Ok::<_, Infallible>(())
        });
    }

    /// Whether it wraps a native event of somebody else's, behind which there is no queue.
    pub fn is_adopted(&self) -> bool {
        self.marker().is_some_and(PooledEvent::is_adopted)
    }

    /// The native event, recorded now if nobody needed one before.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` before what it stands for was submitted; what the native library answers.
    pub fn native(&self) -> Result<&PooledEvent<D>> {
        if let Some(reusable) = self.as_reusable() {
            return self.export_signal(reusable);
        }
        loop {
            match self.observable()? {
                Observable::Native(marker) => return Ok(marker),
                Observable::Promise(promise) => return submitted_event(promise)?.native(),
                Observable::Stream | Observable::Signal(_) | Observable::Past => {}
            }
            if self.is_known_complete() {
                // The stream may be behind a native call that blocks, and need not be asked.
                self.end.fill(|end| {
                    *end = Some(End::Own(PooledEvent::of_the_past(&self.stream.device)?));
                    Ok::<_, Error>(())
                })?;
            } else {
                self.stream.ensure_recorded(self)?;
            }
            std::hint::spin_loop();
        }
    }

    /// Whether later work on the stream no longer matters to this event.
    pub fn is_recorded(&self) -> bool {
        self.end.is_set() || self.is_known_complete()
    }

    /// Whether the command is known to have finished, without asking the device.
    pub fn is_known_complete(&self) -> bool {
        self.complete.load(Ordering::Acquire) || self.stream.is_completed(self.position)
    }

    fn note_complete(&self) {
        if self.is_off_stream() {
            return;
        }
        self.stream.note_completed(self.position);
        self.complete.store(true, Ordering::Release);
    }

    /// Whether the command has finished.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn is_complete(&self) -> Result<bool> {
        if self.is_known_complete() {
            return Ok(true);
        }
        let driver = self.stream.device.driver;
        let complete = match self.observable()? {
            Observable::Promise(promise) => return self.is_deferred_complete(promise),
            Observable::Signal(event) => return event.is_complete(),
            Observable::Native(marker) => driver.event_is_complete(marker.raw()).and_then(|complete| {
                // What is complete is not waited for any more, by no stream either. The answer to a question orders nothing
                // by the library's contract; having waited does, and takes no time now.
                if complete { driver.synchronize_event(marker.raw()).map(|()| true) } else { Ok(false) }
            }),
            // No native event: nothing has followed on the stream, so the stream's state is the command's.
            Observable::Stream => driver.stream_is_idle(&self.stream.native),
            Observable::Past => Ok(true),
        }
        .map_err(|error| self.stream.device.failed(error))?;
        if complete {
            self.note_complete();
        }
        Ok(complete)
    }

    /// Blocks until the command has finished.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn wait(&self) -> Result<()> {
        if self.is_known_complete() {
            return Ok(());
        }
        let driver = self.stream.device.driver;
        match self.observable()? {
            Observable::Native(marker) => driver.synchronize_event(marker.raw()),
            // As in `is_complete`; work that another thread adds meanwhile is at worst waited for too.
            Observable::Stream => driver.synchronize_stream(&self.stream.native),
            Observable::Past => Ok(()),
            Observable::Promise(promise) => return self.wait_for_deferred(promise),
            Observable::Signal(event) => return event.wait(),
        }
        .map_err(|error| self.stream.device.failed(error))?;
        self.note_complete();
        Ok(())
    }

    /// A time of the command.
    ///
    /// # Errors
    /// `PROFILING_INFO_NOT_AVAILABLE` without profiling or before the end; what the native library answers.
    pub(super) fn profile(&self, property: ur_profiling_info_t) -> Result<u64> {
        if let Some(reusable) = self.as_reusable() {
            return self.kept_signal().map_or_else(|| reusable.time(property), |signal| signal.profile(property));
        }
        self.check_observable()?;
        if let Some(promise) = self.as_deferred() {
            let Some(event) = promise.event() else {
                return Err(Error::new(
                    ur_result_t::ERROR_PROFILING_INFO_NOT_AVAILABLE,
                    "urEventGetProfilingInfo: the command was not submitted yet or never will be; wait for the event first",
                ));
            };
            return event.profile(property);
        }
        let stamps = self.stamps.as_ref().ok_or_else(|| {
            Error::new(
                ur_result_t::ERROR_PROFILING_INFO_NOT_AVAILABLE,
                "urEventGetProfilingInfo: the queue was created without UR_QUEUE_FLAG_PROFILING_ENABLE",
            )
        })?;
        // Where the end could not be marked, or only later and without a time, there are the host's times alone.
        match self.marker().filter(|end| end.has_times()) {
            Some(end) => stamps.time(property, end, || self.is_complete()),
            None => stamps.host_time(property).ok_or_else(|| ur_result_t::ERROR_PROFILING_INFO_NOT_AVAILABLE.into()),
        }
    }
}

/// A wait list that was checked: the caller's own array, read where it lies.
pub struct WaitList<'a, D: Driver> {
    events: Handles<'a, Event<D>>,
}

impl<'a, D: Driver> WaitList<'a, D> {
    /// Checks a wait list.
    ///
    /// # Safety
    /// The C contract: `events` is null or holds `count` event handles, which nobody changes or releases during `'a`.
    ///
    /// # Errors
    /// `INVALID_EVENT_WAIT_LIST` when list and count contradict each other or an entry is null, `INVALID_EVENT`
    /// for a handle of another kind.
    #[inline]
    pub unsafe fn new(parameter: &'static str, count: u32, events: *const ur_event_handle_t) -> Result<Self> {
        if unlikely!(!events.is_null() || count != 0) {
            // SAFETY: the caller's promise is the same.
            return unsafe { Self::checked(parameter, count, events) };
        }
        Ok(Self::none())
    }

    /// No list.
    #[inline]
    #[must_use]
    pub fn none() -> Self {
        Self { events: Handles::none() }
    }

    /// The same list once more.
    #[must_use]
    pub fn again(&self) -> Self {
        Self { events: self.events.again() }
    }

    /// A list that is not empty, or wrong.
    ///
    /// # Safety
    /// As [`WaitList::new`].
    #[inline(never)]
    unsafe fn checked(parameter: &'static str, count: u32, events: *const ur_event_handle_t) -> Result<Self> {
        if events.is_null() || count == 0 {
            return Err(contradiction(parameter, count, events.is_null()));
        }
        let is_null = |error: &Error| error.code() == ur_result_t::ERROR_INVALID_NULL_HANDLE;
        // SAFETY: `events` holds `count` handles, each null or alive, by the caller's promise.
        let events =
            unsafe { params::slice(parameter, count, events).and_then(|events| params::handles(parameter, events)) };
        let events = events.map_err(|error| {
            if is_null(&error) { error.with_code(ur_result_t::ERROR_INVALID_EVENT_WAIT_LIST) } else { error }
        })?;
        Ok(Self { events })
    }

    /// The events, in the list's order.
    pub fn iter(&self) -> impl Iterator<Item = &'a Object<Event<D>>> + use<'a, D> {
        self.events.iter()
    }

    /// Events that the engine holds.
    #[must_use]
    pub fn of(events: &'a HandleList<'_, Event<D>>) -> Self {
        Self { events: events.handles() }
    }

    /// Whether there is nothing to wait for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Whether there is one event, and that of a command which the stream was given before: whatever the stream is given next
    /// comes after it.
    #[inline(always)]
    #[must_use]
    pub fn is_one_before_on(&self, stream: &Arc<Stream<D>>) -> bool {
        let is_before = |event: &Event<D>| Arc::ptr_eq(&event.stream, stream) && !event.is_off_stream();
        self.events.len() == 1 && self.events.iter().next().is_some_and(|event| is_before(event))
    }
}

/// The event of what was submitted, for what cannot wait for it.
#[cold]
fn submitted_event<D: Driver>(promise: &EventPromise<D>) -> Result<&Arc<Object<Event<D>>>> {
    match promise.outcome() {
        Some(Outcome::Failed(cause)) => Err(cause.clone()),
        _ => promise.event().ok_or_else(|| {
            Error::new(
                ur_result_t::ERROR_UNSUPPORTED_FEATURE,
                "the event's command waits for a timeline and has no native event yet; wait for the event first",
            )
        }),
    }
}

#[cold]
fn contradiction(parameter: &str, count: u32, null: bool) -> Error {
    let message = if null {
        format!("{parameter} is null, but {count} events are announced; give both or neither")
    } else {
        format!("{parameter} is given, but with 0 events; give both or neither")
    };
    Error::new(ur_result_t::ERROR_INVALID_EVENT_WAIT_LIST, message)
}

/// `urEventWait`.
///
/// # Errors
/// What the native library answers.
pub fn wait<D: Driver>(events: WaitList<'_, D>) -> Result<()> {
    for event in events.iter() {
        event.wait()?;
    }
    Ok(())
}
