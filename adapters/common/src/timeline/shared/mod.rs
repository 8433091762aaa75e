//! Timelines that other processes have too.
//!
//! What this process's queues signal is known here as of any timeline, and waited for as any event. What another process
//! signals is a promise that the [`sleeper`] resolves when the value is *reached*: a native wait for memory would hang for ever
//! behind a process that dies, and nobody could end it. A queue's signal is published when its command is complete, by
//! a callback, and before this process is told so ([`Stream::publish_at`](crate::stream::Stream::publish_at)); the host's at once.
//! So every handover between processes goes by the hosts' way.
//!
//! [`file`] is what they share, [`peers`] tells of their end. Must never let a word of the file be more than a value, a failure
//! or a wake-up: others write there.

pub mod file;
mod peers;
mod sleeper;
mod system;

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use ur_ffi::ur_result_t;

use crate::context::Context;
use crate::device::deferred;
use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::own_thread;
use crate::stream::event::callback;
use crate::timeline::shared::file::{Claim, TimelineFile};
use crate::timeline::shared::sleeper::{Listener, Sleeper};
use crate::timeline::state::not_above;
use crate::timeline::values::{Elsewhere, SharedEvent, Values};

pub use system::Identity;

/// What a timeline's values have of the processes that share it.
pub struct Link<D: Driver> {
    seat: Seat,
    /// Signals that this process has submitted and not reached, growing; those that are about to be submitted too.
    owed: Mutex<Vec<u64>>,
    me: Weak<Values<D>>,
}

/// The place of this process among those that have the timeline, and the thread that listens there.
struct Seat {
    sleeper: Arc<Sleeper>,
    claim: Claim,
}

impl Seat {
    fn take(file: Arc<TimelineFile>) -> std::io::Result<Self> {
        let sleeper = Sleeper::start(Arc::clone(&file))?;
        match file.claim() {
            Ok(claim) => Ok(Self { sleeper, claim }),
            Err(error) => {
                sleeper.end();
                Err(error)
            }
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.sleeper.file().leave(&self.claim);
        self.sleeper.end();
    }
}

/// What the system refuses, as the caller is told it: that it has nothing left, that it lets nobody, or that there is no such file.
pub fn system_error(name: &str, error: &std::io::Error) -> Error {
    use std::io::ErrorKind::{OutOfMemory, PermissionDenied, QuotaExceeded, Unsupported, WouldBlock};
    let code = match (error.kind(), error.raw_os_error()) {
        (Unsupported, _) if cfg!(not(target_os = "linux")) => ur_result_t::ERROR_UNSUPPORTED_FEATURE,
        (PermissionDenied | Unsupported, _) => ur_result_t::ERROR_INVALID_OPERATION,
        (OutOfMemory | QuotaExceeded | WouldBlock, _) | (_, Some(libc::EMFILE | libc::ENFILE | libc::ENOSPC)) => {
            ur_result_t::ERROR_OUT_OF_RESOURCES
        }
        _ => ur_result_t::ERROR_INVALID_VALUE,
    };
    Error::new(code, format!("{name}: {error}"))
}

impl<D: Driver> Link<D> {
    /// The file.
    pub fn file(&self) -> &Arc<TimelineFile> {
        self.seat.sleeper.file()
    }

    /// Notes a signal that is about to be submitted; answers the one before.
    ///
    /// # Errors
    /// The last one, if the value is not above it.
    fn reserve(&self, value: u64) -> core::result::Result<u64, u64> {
        let mut owed = self.owed.lock();
        // What is owed is told first: a process that ends in between has promised it.
        self.file().owe(&self.seat.claim, owed.last().map_or(value, |last| value.max(*last)));
        let signalled = self.file().signal(value);
        match signalled {
            Ok(_) => owed.push(value),
            Err(_) => self.tell_owed(&owed),
        }
        signalled
    }

    fn tell_owed(&self, owed: &[u64]) {
        self.file().owe(&self.seat.claim, owed.last().copied().unwrap_or(0));
    }

    /// Notes that a signal will never be reached.
    pub(super) fn disown(&self, value: u64) {
        let mut owed = self.owed.lock();
        owed.retain(|other| *other != value);
        self.tell_owed(&owed);
        drop(owed);
        self.file().tell();
    }

    /// Notes that a value is reached.
    pub(super) fn reach(&self, value: u64) {
        self.file().reach(value);
        let mut owed = self.owed.lock();
        let through = owed.partition_point(|other| *other <= value);
        owed.drain(..through);
        self.tell_owed(&owed);
    }
}

impl<D: Driver> Values<D> {
    /// The values of a new timeline that other processes may open.
    ///
    /// # Errors
    /// `OUT_OF_RESOURCES` where the system has no file, descriptor or thread left, `UNSUPPORTED_FEATURE` where it has no such files;
    /// what the native library answers.
    pub(super) fn new_shared(context: &Object<Context<D>>, initial: u64) -> Result<Arc<Self>> {
        let file = TimelineFile::create(initial);
        Self::join(context, file.map_err(|error| system_error("urTimelineCreateExt", &error))?)
    }

    /// The values of a timeline that another process has shared, or this one.
    ///
    /// # Errors
    /// `OUT_OF_RESOURCES` where the system has no thread left, or too many processes have the timeline; what the native library
    /// answers.
    pub fn of_file(context: &Object<Context<D>>, file: Arc<TimelineFile>) -> Result<Arc<Self>> {
        let values = match file.values() {
            Some(own) => own,
            None => Self::join(context, file)?,
        };
        // Of what was left waiting the thread may just have stopped to sleep, since nobody was there who could signal.
        values.listen();
        Ok(values)
    }

    fn join(context: &Object<Context<D>>, file: Arc<TimelineFile>) -> Result<Arc<Self>> {
        let seat =
            Seat::take(Arc::clone(&file)).map_err(|error| system_error("a timeline of several processes", &error))?;
        let link = |me: &Weak<Self>| Link { seat, owed: Mutex::default(), me: me.clone() };
        let values = Self::make(context, file.reached(), |me| Some(Elsewhere::Processes(link(me))))?;
        // Another thread may have joined meanwhile; then the place taken here is given back.
        Ok(file.set_values(&values).unwrap_or(values))
    }

    /// Takes over what other processes have reached, and their failure.
    pub(super) fn hear_others(&self) {
        let Some(link) = self.shared() else { return };
        // In this order: who reaches a value says so before it owes it no more.
        let failure = link.file().failure().map(|code| (code, link.file().most_owed()));
        self.hear_of_value(link.file().reached());
        if let Some((code, owed)) = failure {
            let text = match code {
                ur_result_t::ERROR_PROCESS_LOST_EXT => "a process has ended that had submitted signals of the timeline",
                _ => "the timeline has failed in another process",
            };
            self.hear_of_failure(&Error::new(code, text), owed);
        }
    }

    /// As [`Values::hear_others`], for who looks and does not wait: nobody has told it of processes that have ended.
    pub(super) fn hear_others_and_ends(&self) {
        if let Some(link) = self.shared() {
            link.file().bury_dead(&link.seat.claim);
            self.hear_others();
        }
    }

    /// Has what other processes signal told to the promises and threads that wait.
    pub(super) fn listen(&self) {
        let Some(me) = self.shared().and_then(|link| link.me.upgrade()) else { return };
        // What happened before anybody listened.
        self.hear_others();
        if let Some(link) = me.shared().filter(|_| me.is_awaited()) {
            link.seat.sleeper.ring(Arc::clone(&me) as _);
        }
    }

    /// As [`Values::check_signal`] of a timeline that processes share.
    pub(super) fn check_shared(&self, link: &Link<D>, value: u64) -> Result<()> {
        self.hear_others_and_ends();
        self.check_failure()?;
        let last = link.file().signalled();
        if value > last { Ok(()) } else { Err(not_above(value, last)) }
    }

    /// As [`Values::reserve`] of a timeline that processes share.
    pub(super) fn reserve_shared(&self, link: &Link<D>, value: u64) -> Result<()> {
        self.hear_others_and_ends();
        self.check_failure()?;
        // Locked, so that what a signal comes behind is noted before anybody of this process takes that back. What another process
        // takes back nobody here hears of: the signal behind it stays behind it.
        let mut state = self.state.lock();
        let before = link.reserve(value).map_err(|last| not_above(value, last))?;
        state.reservations.add(value, before);
        Ok(())
    }

    /// As [`Values::take_back`] of a timeline that processes share.
    pub(super) fn take_back_shared(&self, link: &Link<D>, value: u64) {
        {
            let mut state = self.state.lock();
            if let Some(before) = state.reservations.take_back(value) {
                link.file().take_back(value, before);
            }
        }
        link.disown(value);
    }

    /// Has other processes told when a submitted signal is reached: before anybody here hears of the signal, who may know at once that
    /// its command is complete, and end this process.
    pub(super) fn publish_when_reached(self: &Arc<Self>, value: u64, event: &SharedEvent<D>) {
        if self.shared().is_none() {
            return;
        }
        // Whoever ends the signal keeps the values until the stream has nothing to tell of it: they never go under a stream's locks.
        let me = Arc::downgrade(self);
        let reach = move || me.upgrade().iter().filter_map(|me| me.shared()).for_each(|link| link.reach(value));
        event.stream.publish_at(event.position, Box::new(reach));
    }

    /// Has other processes told of a submitted signal that is reached, though nobody here asks for it, or that never will be.
    pub(super) fn watch_signal(self: &Arc<Self>, value: u64, event: &SharedEvent<D>) {
        let end = || {
            let (values, event) = (Arc::clone(self), Arc::clone(event));
            move || values.end_signal(value, &event)
        };
        // Where that cannot be watched, a thread waits: not a worker's, which what the signal comes after may need.
        let told = callback::when_complete(event, Box::new(end()));
        let told = told.or_else(|_| {
            let end = end();
            let wait = move || {
                // Streams wait for what becomes ready here.
                deferred::forbid_waiting();
                end();
            };
            own_thread::start("ur-signal", wait).map_err(own_thread::no_thread)
        });
        if let Err(cause) = told {
            event.stream.forget_publications(event.position);
            self.lose(value, &cause);
        }
    }

    fn end_signal(self: Arc<Self>, value: u64, event: &SharedEvent<D>) {
        match event.wait() {
            Ok(()) => self.note_reached(value),
            Err(cause) => self.lose(value, &cause),
        }
        event.stream.forget_publications(event.position);
        self.watchers().wake();
        let file = self.shared().map(|link| Arc::clone(link.file()));
        drop(self);
        // The sleeper may be the last that has the values now, and then nobody is left who could signal.
        file.iter().for_each(|file| file.tell());
    }
}

impl<D: Driver> Listener for Values<D> {
    fn look(&self) -> bool {
        self.hear_others();
        self.is_awaited()
    }
}
