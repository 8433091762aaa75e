//! Commands that are kept, since they come after something that nobody has submitted: a wait for a timeline's value, or
//! another deferred command.
//!
//! A deferred command is owned ([`Owned`]) and counts what it comes after: the one before it on an in-order queue, the unresolved
//! events of its list, an out-of-order queue's barrier. When the last of these is resolved it is submitted as it would have
//! been, by whoever resolved it ([`crate::device::drain`]); its promise is then resolved with its event. If any of them failed,
//! it is not submitted, and fails with the same cause. A command that was enqueued after its queue had heard of a failure has
//! nothing to do with it.
//!
//! Must never block whoever enqueues, make a native call before a command's turn (but for an event in its list that may stand for
//! something else by then, a reusable one or one over a native event of the application's, which gets an event of its own), or lose a
//! command: each is submitted or fails, once.

use std::sync::Arc;

use parking_lot::Mutex;
use smallvec::SmallVec;
use ur_ffi::{ur_command_t, ur_result_t};

use crate::command::enqueue::{EventOut, OwnEvent, Request};
use crate::command::submission::Barrier;
use crate::device::clock::host_time_ns;
use crate::device::drain::{self, Ready};
use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::HandleList;
use crate::queue::Queue;
use crate::queue::deferral::{PlacingTurn, address};
use crate::stream::Stream;
use crate::stream::event::{Event, EventPromise, WaitList};
use crate::stream::promise::{Dependent, Outcome};
use crate::sync::countdown::Countdown;
use crate::sync::mutation::{self, Bug};
use crate::sync::unlikely::unlikely;

pub(crate) use crate::queue::deferral::{placing, queued};

/// A command that holds all that it needs.
pub trait Owned<D: Driver>: Send {
    /// Submits it. The request has the queue, the list, whose events are on streams by now, and the place for the event.
    ///
    /// # Errors
    /// What the command and the native library answer.
    fn place(self: Box<Self>, request: &Request<'_, D>) -> Result<()>;

    /// Whether submitting it could block, as the application's functions can.
    fn may_block(&self) -> bool {
        false
    }

    /// Hears that it will never be submitted. Called without locks; must not block.
    fn fail(self: Box<Self>, _cause: &Error) {}
}

/// What a command is told that is to be kept.
pub struct Deferring<'a, D: Driver> {
    /// What was asked for.
    pub request: &'a Request<'a, D>,
    /// The promise of the command.
    pub promise: &'a Arc<EventPromise<D>>,
}

/// A command that is submitted by a function.
struct ByFunction<F> {
    place: F,
    may_block: bool,
}

impl<D: Driver, F: FnOnce(&Request<'_, D>) -> Result<()> + Send> Owned<D> for ByFunction<F> {
    fn place(self: Box<Self>, request: &Request<'_, D>) -> Result<()> {
        (self.place)(request)
    }

    fn may_block(&self) -> bool {
        self.may_block
    }
}

/// A command that `place` submits.
pub fn by_function<D: Driver>(place: impl FnOnce(&Request<'_, D>) -> Result<()> + Send + 'static) -> Box<dyn Owned<D>> {
    by_function_that_may_block(false, place)
}

/// As [`by_function`] for a command whose submission could block beyond its stream: it takes a lock that is held over native
/// calls, or copies pageable memory.
pub fn by_blocking_function<D: Driver>(
    place: impl FnOnce(&Request<'_, D>) -> Result<()> + Send + 'static,
) -> Box<dyn Owned<D>> {
    by_function_that_may_block(true, place)
}

/// As [`by_blocking_function`] if `may_block`, else as [`by_function`].
pub fn by_function_that_may_block<D: Driver>(
    may_block: bool,
    place: impl FnOnce(&Request<'_, D>) -> Result<()> + Send + 'static,
) -> Box<dyn Owned<D>> {
    Box::new(ByFunction { place, may_block })
}

/// What a command answers that cannot be kept; `path` is its type's.
#[cold]
pub(crate) fn not_deferrable<T>(path: &str) -> Result<T> {
    let name = path.split('<').next().and_then(|path| path.rsplit("::").next()).unwrap_or(path);
    Err(Error::unsupported(&format!(
        "the command {name} behind a wait for what nobody has submitted yet (wait for the timeline on the host first)"
    )))
}

/// The barrier that a command comes after beside its list, with its generation: a deferred command has it in its list, and the
/// queue's may be a later one. What the application's function enqueues in a deferred command's turn has no such list.
pub(crate) fn barrier_of<D: Driver>(queue: &Queue<D>) -> Barrier<D> {
    if placing(queue).is_some_and(|placing| !placing.calls_out) { (0, None) } else { queue.barrier() }
}

/// Events that a deferred command waits for, which stand for what the application meant when it enqueued the command.
pub(crate) type BoundWaits<D> = SmallVec<[Arc<Object<Event<D>>>; 1]>;

fn outcome_of<D: Driver>(event: &Event<D>) -> Option<&Outcome<Arc<Object<Event<D>>>>> {
    event.as_deferred().and_then(|promise| promise.outcome())
}

fn unresolved<D: Driver>(event: &Event<D>) -> Option<&Arc<EventPromise<D>>> {
    event.as_deferred().filter(|promise| promise.outcome().is_none())
}

impl<D: Driver> Request<'_, D> {
    /// Whether the command must be kept.
    #[cold]
    #[inline(never)]
    pub(crate) fn must_be_deferred(&self) -> bool {
        self.waits.iter().any(|event| event.is_unresolved()) || self.comes_after_deferred()
    }

    /// Whether the queue's own order makes it come after a deferred command. Out of order it is the barrier that says so: the queue
    /// has ended a kept one a moment before anybody can wait for it.
    fn comes_after_deferred(&self) -> bool {
        if self.queue.is_in_order() {
            return self.queue.is_deferring() && placing(self.queue).is_none();
        }
        self.comes_after_kept(&self.queue.barrier())
    }

    /// Whether a command of an out-of-order queue with that barrier has to be kept behind it.
    #[inline]
    pub(super) fn comes_after_kept(&self, barrier: &Barrier<D>) -> bool {
        let is_kept = |barrier: &Arc<Object<Event<D>>>| barrier.is_unresolved();
        unlikely!(barrier.1.as_ref().is_some_and(is_kept)) && placing(self.queue).is_none()
    }

    /// As [`Request::must_be_deferred`] for a command that comes after everything before it, if its list is empty.
    pub(crate) fn join_must_be_deferred(&self) -> bool {
        let joins = self.waits.is_empty() && self.queue.is_deferring() && placing(self.queue).is_none();
        joins || self.must_be_deferred()
    }

    /// Refuses what has to be kept in the function of a native command of the queue that was kept itself: it would end behind the
    /// function, and what the function enqueues later would overtake it.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE`.
    pub(crate) fn refuse_in_kept_function(&self) -> Result<()> {
        if !placing(self.queue).is_some_and(|placing| placing.calls_out) {
            return Ok(());
        }
        Err(Error::unsupported(
            "a command that has to wait for what nobody has submitted, in the function of a native command that was kept \
             (enqueue it on another queue)",
        ))
    }

    /// What a deferred command waits for of its list, without what is known to be complete. Of an event that is signalled again
    /// and again it is the last signal, of one over a native event of the application's what that stands for now. Refuses a list that
    /// no deferred command can have.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` in the function of a kept native command of this queue; `IN_EVENT_LIST_EXEC_STATUS` for an event that
    /// has failed; `GRAPH_CAPTURE_UNSUPPORTED` for one of a capture, and on a queue that captures; what the native library answers.
    pub(crate) fn bind_waits(&self) -> Result<BoundWaits<D>> {
        let mut bound = BoundWaits::<D>::new();
        self.refuse_in_kept_function()?;
        self.refuse_in_capture("a command behind a wait for what nobody has submitted yet")?;
        for event in self.waits.iter() {
            let meant = match event.as_reusable() {
                Some(reusable) => event.last_signal(reusable)?,
                None if event.is_lent() => event.lent_snapshot()?,
                None => Some(event.to_arc()),
            };
            let Some(meant) = meant.filter(|event| !event.is_known_complete()) else { continue };
            if let Some(Outcome::Failed(cause)) = outcome_of(&meant) {
                return Err(after_failure(cause));
            }
            bound.push(meant);
        }
        Ok(bound)
    }
}

/// What a command answers whose wait list has an event that failed.
#[cold]
pub(super) fn after_failure(cause: &Error) -> Error {
    let text = format!("an event of the wait list has failed, so the command was not enqueued; the cause: {cause}");
    Error::new(ur_result_t::ERROR_IN_EVENT_LIST_EXEC_STATUS, text)
}

/// What a deferred command comes after by its queue's order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// As any command.
    InOrder,
    /// After everything before it.
    AfterEverything,
}

/// Keeps a command and returns its event, which is unresolved.
pub(crate) fn defer<D: Driver>(
    request: &Request<'_, D>,
    waits: BoundWaits<D>,
    place: Place,
    promise: &Arc<EventPromise<D>>,
    work: Box<dyn Owned<D>>,
) {
    if !request.event.is_null() {
        request.event.write(Object::into_handle(event_of(request, promise)));
    }
    defer_behind(request, waits, place, request.queue.barrier().1, promise, work);
}

/// The event of a deferred command.
pub(crate) fn event_of<D: Driver>(request: &Request<'_, D>, promise: &Arc<EventPromise<D>>) -> Arc<Object<Event<D>>> {
    promise.want_event();
    let (queue, stream) = (request.queue.to_arc(), Arc::clone(request.queue.stream_of_deferred()));
    Object::new(Event::deferred(queue, stream, request.command, Arc::clone(promise)))
}

/// As [`defer`] with the barrier that the command comes after, and without an event.
pub(crate) fn defer_behind<D: Driver>(
    request: &Request<'_, D>,
    mut waits: BoundWaits<D>,
    place: Place,
    barrier: Option<Arc<Object<Event<D>>>>,
    promise: &Arc<EventPromise<D>>,
    work: Box<dyn Owned<D>>,
) {
    // The queue has heard of a barrier that failed before this; it holds nothing up any more.
    let barrier = barrier.filter(|barrier| !matches!(outcome_of(barrier), Some(Outcome::Failed(_))));
    waits.extend(barrier);
    let kept = Arc::new(DeferredCommand {
        queue: request.queue.to_arc(),
        command: request.command,
        waits,
        queued: host_time_ns(),
        countdown: Countdown::new(),
        promise: Arc::clone(promise),
        work: Mutex::new(Some(work)),
    });
    for before in request.queue.begin_deferred(promise, place == Place::AfterEverything) {
        if !mutation::is(Bug::DeferredOutOfOrder) {
            kept.depend(&before);
        }
    }
    for event in &kept.waits {
        if let Some(promise) = unresolved(event) {
            kept.depend(promise);
        }
    }
    kept.one_is_there(None);
}

/// A deferred command.
struct DeferredCommand<D: Driver> {
    queue: Arc<Object<Queue<D>>>,
    command: ur_command_t,
    /// What it waits for, an out-of-order queue's barrier too.
    waits: BoundWaits<D>,
    /// When the application enqueued it.
    queued: u64,
    /// What it comes after that is not resolved yet; one more until it is whole.
    countdown: Countdown<Error>,
    promise: Arc<EventPromise<D>>,
    work: Mutex<Option<Box<dyn Owned<D>>>>,
}

impl<D: Driver> DeferredCommand<D> {
    fn depend(self: &Arc<Self>, promise: &EventPromise<D>) {
        self.countdown.expect_one();
        promise.add(Arc::clone(self) as Arc<dyn Dependent<_>>);
    }

    fn one_is_there(self: &Arc<Self>, failure: Option<Error>) {
        if self.countdown.one_is_there(failure) {
            drain::add(Arc::clone(self) as Arc<dyn Ready>);
        }
    }

    fn place(&self, work: Box<dyn Owned<D>>) -> Result<Option<Arc<Object<Event<D>>>>> {
        let list = HandleList::new(&self.waits);
        let mut event = OwnEvent::new();
        let out = if self.promise.wants_event() { event.out() } else { EventOut::none() };
        let request = Request { queue: &self.queue, command: self.command, waits: WaitList::of(&list), event: out };
        let turn = PlacingTurn::begin(&self.queue, self.queued);
        work.place(&request)?;
        drop(turn);
        let placed = event.waits()?.iter().next().map(Object::to_arc);
        Ok(placed)
    }
}

impl<D: Driver> Dependent<Arc<Object<Event<D>>>> for DeferredCommand<D> {
    fn resolved(self: Arc<Self>, outcome: &Outcome<Arc<Object<Event<D>>>>) {
        // One of several causes is told.
        let failure = match outcome {
            Outcome::Failed(cause) if !mutation::is(Bug::FailureTooShort) => Some(cause.clone()),
            _ => None,
        };
        self.one_is_there(failure);
    }
}

impl<D: Driver> Ready for DeferredCommand<D> {
    fn queue(&self) -> usize {
        address(&self.queue)
    }

    fn may_block(&self) -> bool {
        if self.countdown.failure().is_some() {
            return false;
        }
        let calls_out = self.work.lock().as_ref().is_some_and(|work| work.may_block());
        // What other threads enqueue on an in-order queue is kept behind this. Out of order it goes on the streams at once, also
        // between this question and the command's turn.
        let has_rivals = !self.queue.is_in_order();
        let may_block = |stream: &Arc<Stream<D>>| stream.may_block() || (has_rivals && stream.is_used_by_others());
        calls_out || self.queue.may_make_stream() || self.queue.streams().iter().any(may_block)
    }

    fn run(self: Arc<Self>) {
        let Some(work) = self.work.lock().take() else { return };
        let outcome = match self.countdown.failure() {
            Some(cause) => {
                work.fail(cause);
                Err(cause.clone())
            }
            None => self.place(work),
        };
        // Before anybody hears of it: whoever has waited for the command finds the queue as it is without it.
        self.queue.end_deferred(&self.promise, outcome.as_ref().err());
        if self.queue.references() == 0 {
            self.queue.part_with_lent();
        }
        #[cfg(feature = "testing")]
        testing::command_has_ended();
        self.promise.resolve(match outcome {
            Ok(event) => Outcome::Submitted(event),
            Err(cause) => Outcome::Failed(cause),
        });
        self.queue.have_told_deferred(&self.promise);
        if self.queue.references() == 0 && !self.queue.is_deferring() {
            self.queue.let_go();
        }
    }
}

/// What a test does while a thread runs deferred commands. Compiled in by the feature `testing` alone.
#[cfg(feature = "testing")]
pub mod testing {
    use core::cell::RefCell;

    type Hook = Box<dyn FnMut()>;

    thread_local! {
        static ENDED: RefCell<Option<Hook>> = const { RefCell::new(None) };
    }

    /// Has `hook` called each time that a command of this thread has ended and nobody has heard of it yet.
    pub fn when_ended(hook: impl FnMut() + 'static) {
        ENDED.set(Some(Box::new(hook)));
    }

    pub(super) fn command_has_ended() {
        // Taken out meanwhile: what it enqueues may end too.
        let Some(mut hook) = ENDED.take() else { return };
        hook();
        ENDED.set(Some(hook));
    }
}
