//! Times of commands on profiling queues: what they are made of, and events that are filled again with their native events.
//!
//! A timed command records two native events. An event of the stream's that nobody holds any more is filled again with both of
//! them and what they are counted from, so a timed command allocates nothing and takes no lock but the stream's.
//!
//! Must never fill an event again that somebody may still ask.

use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;
use ur_ffi::{ur_command_t, ur_event_handle_t, ur_profiling_info_t, ur_result_t};

use crate::device::clock::{Base, host_time_ns};
use crate::device::event_pool::PooledEvent;
use crate::driver::Driver;
use crate::object::error::{Error, Result};
use crate::object::recycled::Recycled;
use crate::stream::event::Event;
use crate::stream::{Stream, StreamState};

/// Timed events that a stream keeps: SYCL lets go of one when it has the next.
const KEPT: usize = 2;

/// Host times of a profiled command, nanoseconds of [`crate::device::clock::host_time_ns`].
#[derive(Clone, Copy)]
pub struct HostTimes {
    /// When the entry point was called.
    pub queued: u64,
    /// When the native call was made.
    pub submitted: u64,
}

/// What the times of a profiled command are made of.
pub struct Stamps<D: Driver> {
    /// Host times.
    pub host: HostTimes,
    /// Recorded before the command; without it the command took no time.
    pub start: Option<PooledEvent<D>>,
    /// What the device's times are counted from, the same for start and end.
    pub base: Option<Base<D>>,
    /// By how much they are told later than they were counted, from the first question on; [`UNASKED`] before.
    later_ns: AtomicU64,
}

/// Nobody has asked for the device's times of a command yet.
const UNASKED: u64 = u64::MAX;

impl<D: Driver> Stamps<D> {
    /// Those of a command whose times nobody has asked for.
    pub fn new(host: HostTimes, start: Option<PooledEvent<D>>, base: Option<Base<D>>) -> Self {
        Self { host, start, base, later_ns: AtomicU64::new(UNASKED) }
    }

    pub(super) fn host_time(&self, property: ur_profiling_info_t) -> Option<u64> {
        match property {
            ur_profiling_info_t::COMMAND_QUEUED => Some(self.host.queued),
            ur_profiling_info_t::COMMAND_SUBMIT => Some(self.host.submitted),
            _ => None,
        }
    }

    /// A time of the command that `end` is recorded after.
    ///
    /// # Errors
    /// `PROFILING_INFO_NOT_AVAILABLE` before the end; those of `is_complete`; what the native library answers.
    pub fn time(
        &self,
        property: ur_profiling_info_t,
        end: &PooledEvent<D>,
        is_complete: impl FnOnce() -> Result<bool>,
    ) -> Result<u64> {
        if let Some(time) = self.host_time(property) {
            return Ok(time);
        }
        if !is_complete()? {
            return Err(Error::new(
                ur_result_t::ERROR_PROFILING_INFO_NOT_AVAILABLE,
                "urEventGetProfilingInfo: the command has not finished; wait for the event first",
            ));
        }
        let base = self.base.as_ref().ok_or(ur_result_t::ERROR_PROFILING_INFO_NOT_AVAILABLE)?;
        let started = base.counted_time_of(self.start.as_ref().unwrap_or(end))?;
        let later = self.later_ns(base, started);
        if property == ur_profiling_info_t::COMMAND_START {
            return Ok(started.saturating_add(later));
        }
        Ok(base.counted_time_of(end)?.max(started).saturating_add(later))
    }

    /// The clocks meet within microseconds, and a command must not start before it was submitted: what all its times are told
    /// later, so that its duration stays. The same at every question.
    fn later_ns(&self, base: &Base<D>, started: u64) -> u64 {
        let known = self.later_ns.load(Ordering::Relaxed);
        if known != UNASKED {
            return known;
        }
        let later = base.early_ns(started, self.host.submitted);
        let first = self.later_ns.compare_exchange(UNASKED, later, Ordering::Relaxed, Ordering::Relaxed);
        first.map_or_else(|other| other, |_| later)
    }
}

/// Timed events that a stream gave out, to be filled again once nobody holds them.
pub(super) type TimedEvents<D> = SmallVec<[Recycled<Event<D>>; KEPT]>;

/// The beginning of a timed command: its start is recorded.
pub struct Start<D: Driver> {
    host: HostTimes,
    start: PooledEvent<D>,
    /// What the end is told by, if the stream had an event that nobody holds.
    unused: Option<Recycled<Event<D>>>,
}

impl<D: Driver> StreamState<D> {
    /// Marks the start of a command whose times are wanted; `queued` is when the application asked for it.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn start_times(&mut self, stream: &Stream<D>, queued: u64) -> Result<Start<D>> {
        let mut unused = self.take_unused_timed();
        // Before the device can get there.
        let submitted = host_time_ns();
        let start = match unused.as_mut().and_then(Recycled::unused).and_then(take_start) {
            Some(start) => start.record_again(&stream.native)?,
            None => PooledEvent::record(&stream.device, &stream.native, true)?,
        };
        Ok(Start { host: HostTimes { queued, submitted }, start, unused })
    }

    fn take_unused_timed(&mut self) -> Option<Recycled<Event<D>>> {
        let at = self.timed.iter().position(|event| event.is_unused())?;
        Some(self.timed.swap_remove(at))
    }

    /// Returns the event of the timed command that was counted last; `make` makes one where none can be filled again. The
    /// command is on the stream whatever becomes of its end marker; without one the event still waits correctly and only has
    /// no times.
    pub fn return_timed_event(
        &mut self,
        stream: &Stream<D>,
        command: ur_command_t,
        start: Start<D>,
        make: impl FnOnce() -> Event<D>,
    ) -> ur_event_handle_t {
        let Start { host, start, unused } = start;
        let mut event = unused.unwrap_or_else(|| Recycled::new(make()));
        let Some(body) = event.unused() else { unreachable!("nobody was given the event") };
        body.refill_timed(self.position, command);
        match &mut body.stamps {
            Some(stamps) => stamps.begin_again(stream, host, start),
            none => *none = Some(Box::new(Stamps::of(stream, host, start))),
        }
        let is_recorded = body.record_end(true).is_ok();
        let handle = event.reuse_event();
        if is_recorded {
            self.keep_timed(event);
        } else {
            self.add_tail(event);
        }
        handle
    }

    /// Keeps an event in case it is let go of; the oldest goes where there is no room.
    fn keep_timed(&mut self, event: Recycled<Event<D>>) {
        if self.timed.len() == KEPT {
            self.timed.remove(0);
        }
        self.timed.push(event);
    }
}

/// Takes the native event of the start out of an event that is filled again.
fn take_start<D: Driver>(event: &mut Event<D>) -> Option<PooledEvent<D>> {
    event.stamps.as_mut()?.start.take()
}

impl<D: Driver> Stamps<D> {
    fn of(stream: &Stream<D>, host: HostTimes, start: PooledEvent<D>) -> Self {
        Self::new(host, Some(start), stream.device.time_base_at(host.submitted))
    }

    /// Makes them a later command's on the same stream. What they are counted from stays as long as it serves.
    fn begin_again(&mut self, stream: &Stream<D>, host: HostTimes, start: PooledEvent<D>) {
        let clock = &stream.device.clock;
        if !self.base.as_ref().is_some_and(|base| clock.serves(base, host.submitted)) {
            self.base = stream.device.time_base_at(host.submitted);
        }
        (self.host, self.start, self.later_ns) = (host, Some(start), AtomicU64::new(UNASKED));
    }
}
