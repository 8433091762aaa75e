//! A timeline's values: what was reached, what was submitted, and who waits for what was not.
//!
//! Of a signal that was submitted the event is kept until the value is known to be reached; signals are looked at when there
//! are a quarter more than were open the last time, so a timeline costs what its open signals cost. A wait for a value is
//! satisfied by any signal of it or of a larger one; it takes the smallest that was submitted.
//!
//! What every signal and wait passes (`signal_behind`, `to_wait_for`) allocates nothing and calls nobody, unless somebody waits
//! for what nobody had submitted. The lock is a biased one, since most timelines are one thread's: an exchange right behind a
//! native call is dear.

use core::mem::take;
use std::sync::{Arc, Weak};

use ur_ffi::{ur_command_t, ur_queue_flags_t, ur_result_t};

use crate::context::Context;
use crate::device::drain;
use crate::driver::{Driver, StreamKind};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::queue::Queue;
use crate::stream::Stream;
use crate::stream::event::{Event, EventPromise};
use crate::stream::promise::Outcome;
use crate::sync::biased_lock::{BiasedLock, Guard};
use crate::sync::unlikely::unlikely;
use crate::timeline::foreign::Foreign;
use crate::timeline::host_wait::{Watcher, Watchers};
use crate::timeline::shared::Link;
use crate::timeline::state::{FEW, MANY, Noted, State, Taken};

pub(super) use crate::timeline::state::Known;

/// An event that the engine holds.
pub(super) type SharedEvent<D> = Arc<Object<Event<D>>>;

/// The values.
pub struct Values<D: Driver> {
    context: Arc<Object<Context<D>>>,
    /// What events of values belong to: a queue that nothing is put on.
    home: Arc<Object<Queue<D>>>,
    /// An event that is complete.
    complete: SharedEvent<D>,
    pub(super) state: BiasedLock<State<SharedEvent<D>>>,
    watchers: Arc<Watchers>,
    /// Whoever else has it.
    elsewhere: Option<Box<Elsewhere<D>>>,
}

/// What a stream has to wait for until a value is reached.
pub(super) enum ToWaitFor<D: Driver> {
    /// Nothing.
    Nothing,
    /// An event of another stream, which is recorded.
    Event(SharedEvent<D>),
    /// What takes more than a look to say.
    Unknown,
}

/// Who has a timeline that is not this process's alone.
pub(super) enum Elsewhere<D: Driver> {
    /// Another API.
    Foreign(Box<dyn Foreign<D>>),
    /// Other processes.
    Processes(Link<D>),
}

impl<D: Driver> Values<D> {
    /// The values of a new timeline.
    ///
    /// # Errors
    /// What the native library answers.
    pub(super) fn new(context: &Object<Context<D>>, initial: u64) -> Result<Arc<Self>> {
        Self::make(context, initial, |_| None)
    }

    /// The values of a timeline that another API has too.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn of_foreign(context: &Object<Context<D>>, foreign: Box<dyn Foreign<D>>) -> Result<Arc<Self>> {
        Self::make(context, 0, |_| Some(Elsewhere::Foreign(foreign)))
    }

    /// Values that somebody else has too, if `elsewhere` says so.
    ///
    /// # Errors
    /// What the native library answers.
    pub(super) fn make(
        context: &Object<Context<D>>,
        initial: u64,
        elsewhere: impl FnOnce(&Weak<Self>) -> Option<Elsewhere<D>>,
    ) -> Result<Arc<Self>> {
        let device = context.first_state()?;
        let stream = Stream::without_stream(Arc::clone(&device), &context.registry);
        stream.note_completed(1);
        let flags = ur_queue_flags_t::empty();
        let home = Queue::over_stream(context, device, flags, StreamKind::default(), Arc::clone(&stream));
        let complete = Event::new(Arc::clone(&home) as _, stream, 1, ur_command_t::TIMELINE_SIGNAL_EXT, None);
        Ok(Arc::new_cyclic(|me| Self {
            context: context.to_arc(),
            home,
            complete: Object::new(complete),
            state: BiasedLock::new(State::new(initial)),
            watchers: Arc::default(),
            elsewhere: elsewhere(me).map(Box::new),
        }))
    }

    /// The context it was made in.
    pub fn context(&self) -> &Arc<Object<Context<D>>> {
        &self.context
    }

    /// Another API's semaphore, if that is what it is.
    #[inline]
    pub(super) fn foreign(&self) -> Option<&dyn Foreign<D>> {
        match self.elsewhere.as_deref()? {
            Elsewhere::Foreign(foreign) => Some(&**foreign),
            Elsewhere::Processes(_) => None,
        }
    }

    /// What it has of other processes, if they have it too.
    #[inline]
    pub fn shared(&self) -> Option<&Link<D>> {
        match self.elsewhere.as_deref()? {
            Elsewhere::Foreign(_) => None,
            Elsewhere::Processes(link) => Some(link),
        }
    }

    /// Whether nobody else has it.
    #[inline]
    pub(super) fn is_local(&self) -> bool {
        self.elsewhere.is_none()
    }

    /// Whether anybody waits for what was not signalled here.
    pub(super) fn is_awaited(&self) -> bool {
        self.state.lock().is_awaited()
    }

    /// The threads that wait for it.
    pub(super) fn watchers(&self) -> &Arc<Watchers> {
        &self.watchers
    }

    /// Has a thread told of every change from now on.
    pub(super) fn add_watcher(&self, watcher: &Arc<Watcher>) {
        self.watchers.add(watcher);
        self.state.lock().watching += 1;
        self.listen();
    }

    /// Takes back what [`Values::add_watcher`] did.
    pub(super) fn remove_watcher(&self, watcher: &Arc<Watcher>) {
        self.state.lock().watching -= 1;
        self.watchers.remove(watcher);
    }

    /// An event that is complete.
    pub(super) fn complete(&self) -> &SharedEvent<D> {
        &self.complete
    }

    /// How many signals are kept.
    pub fn open(&self) -> usize {
        self.state.lock().open.len()
    }

    /// Why it has failed.
    pub fn failure(&self) -> Option<Error> {
        self.hear_others_and_ends();
        self.state.lock().failure.clone()
    }

    pub(super) fn known(&self, value: u64) -> Known<SharedEvent<D>> {
        self.state.lock().known(value)
    }

    /// What a stream has to wait for until the value is reached, if a native event says that. The event's reference is what
    /// keeps its stream from filling it again before the wait is there.
    #[inline]
    pub(super) fn to_wait_for(&self, value: u64, stream: &Arc<Stream<D>>) -> ToWaitFor<D> {
        let state = self.state.lock();
        if value <= state.reached {
            return ToWaitFor::Nothing;
        }
        let Some(event) = state.submitted(value) else { return ToWaitFor::Unknown };
        if Arc::ptr_eq(&event.stream, stream) || event.is_known_complete() {
            return ToWaitFor::Nothing;
        }
        // A tail event is recorded before the waiting stream is locked.
        if unlikely!(!event.is_recorded() || event.is_off_stream()) {
            return ToWaitFor::Unknown;
        }
        ToWaitFor::Event(Arc::clone(event))
    }

    /// An event that completes when the value is reached.
    pub fn event(&self, value: u64) -> SharedEvent<D> {
        let promise = self.promise(value);
        let stream = Arc::clone(self.home.first());
        Object::new(Event::deferred(Arc::clone(&self.home) as _, stream, ur_command_t::TIMELINE_WAIT_EXT, promise))
    }

    /// What stands for the value: of one that was signalled or has failed, it is resolved.
    pub(super) fn promise(&self, value: u64) -> Arc<EventPromise<D>> {
        self.hear_others();
        let (promise, is_awaited) = self.state.lock().promise(value, &self.complete);
        if is_awaited {
            self.listen();
        }
        promise
    }

    /// A signal from the host.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a value that does not grow, `INVALID_OPERATION` after a failure.
    pub fn signal(&self, value: u64) -> Result<()> {
        if let Some(foreign) = self.foreign() {
            self.reserve(value)?;
            foreign.signal(value).inspect_err(|_| self.take_back(value))?;
            self.publish_complete(value);
            return Ok(());
        }
        if let Some(link) = self.shared() {
            self.reserve_shared(link, value)?;
            link.reach(value);
            self.state.lock().reservations.end(value);
            self.hear_of_value(value);
            return Ok(());
        }
        self.signal_behind(value, None)
    }

    /// Notes that a value is reached which was reserved.
    #[inline]
    fn publish_reached(&self, mut state: Guard<'_, State<SharedEvent<D>>>, value: u64) {
        if unlikely!(!state.open.is_empty() || state.is_awaited()) {
            return self.reach_and_tell(state, value);
        }
        state.reached = state.reached.max(value);
    }

    #[inline(never)]
    fn reach_and_tell(&self, mut state: Guard<'_, State<SharedEvent<D>>>, value: u64) {
        let promises = state.take_promises(value);
        let through = state.reach(value);
        drop(state);
        drop(through);
        self.tell(promises, &self.complete);
    }

    /// Tells those who waited for a signal that is submitted now.
    fn tell(&self, promises: Taken<SharedEvent<D>>, event: &SharedEvent<D>) {
        if !promises.is_empty() {
            drain::batch(|| {
                let outcome = || Outcome::Submitted(Some(Arc::clone(event)));
                promises.into_iter().for_each(|promise| promise.resolve(outcome()));
            });
        }
        self.watchers.wake();
    }

    /// Makes it fail: values that were signalled are reached still, others never.
    ///
    /// # Errors
    /// `INVALID_OPERATION` if it has failed before; the first cause stays.
    pub fn fail(&self, cause: &Error) -> Result<()> {
        self.hear_others();
        let failed_before = |before: &Error| {
            let text = format!("the timeline has failed before, and the first cause stays: {before}");
            Err(Error::new(ur_result_t::ERROR_INVALID_OPERATION, text))
        };
        if let Some(before) = &self.state.lock().failure {
            return failed_before(before);
        }
        let Some(link) = self.shared() else {
            return if self.hear_of_failure(cause, 0) { Ok(()) } else { failed_before(cause) };
        };
        // Here the file decides who was first: a thread that listens may hear of this very failure meanwhile.
        if !link.file().fail(cause.code()) {
            self.hear_others();
            return failed_before(cause);
        }
        // As in `hear_others`.
        let owed = link.file().most_owed();
        self.hear_of_value(link.file().reached());
        self.hear_of_failure(cause, owed);
        Ok(())
    }

    /// Notes a failure: values up to `owed`, which others have signalled, are reached still. `false` if it had failed before.
    pub(super) fn hear_of_failure(&self, cause: &Error, owed: u64) -> bool {
        let Some(Noted { is_first, cause, broken }) = self.state.lock().fail(cause, owed) else { return false };
        break_promises::<D>(broken, &cause);
        self.watchers.wake();
        is_first
    }

    /// Notes that others have reached a value.
    pub(super) fn hear_of_value(&self, value: u64) {
        let state = self.state.lock();
        if value > state.reached {
            self.reach_and_tell(state, value);
        }
    }

    /// Notes a signal that is about to be submitted, so that no other is between.
    ///
    /// # Errors
    /// As [`Values::signal`].
    pub(super) fn reserve(&self, value: u64) -> Result<()> {
        match self.shared() {
            Some(link) => self.reserve_shared(link, value),
            None => self.state.lock().reserve(value),
        }
    }

    /// Whether a signal could be submitted now.
    ///
    /// # Errors
    /// As [`Values::signal`].
    pub(super) fn check_signal(&self, value: u64) -> Result<()> {
        match self.shared() {
            Some(link) => self.check_shared(link, value),
            None => self.state.lock().check_signal(value),
        }
    }

    /// Refuses a signal of a timeline that has failed.
    ///
    /// # Errors
    /// `INVALID_OPERATION`.
    pub(super) fn check_failure(&self) -> Result<()> {
        self.state.lock().check_failure()
    }

    /// Takes back what [`Values::reserve`] noted, unless there was a signal since.
    pub(super) fn take_back(&self, value: u64) {
        match self.shared() {
            Some(link) => self.take_back_shared(link, value),
            None => self.state.lock().take_back(value),
        }
    }

    /// Notes the event of a signal that was reserved and then submitted; to be called behind [`Values::publish_when_reached`].
    pub(super) fn publish(self: &Arc<Self>, value: u64, event: SharedEvent<D>) {
        if self.shared().is_none() {
            return self.publish_here(value, event);
        }
        self.publish_here(value, Arc::clone(&event));
        self.watch_signal(value, &event);
    }

    /// As [`Values::publish`] of a timeline that is this process's alone.
    fn publish_here(&self, value: u64, event: SharedEvent<D>) {
        let mut state = self.state.lock();
        state.reservations.end(value);
        self.publish_in(state, value, event);
    }

    #[inline(always)]
    fn publish_in(&self, mut state: Guard<'_, State<SharedEvent<D>>>, value: u64, event: SharedEvent<D>) {
        if unlikely!(state.is_awaited() || value <= state.reached) {
            return self.publish_and_tell(state, value, &event);
        }
        state.insert(value, event);
        let are_many = state.open.len() > state.most_open;
        drop(state);
        if unlikely!(are_many) {
            self.forget_reached();
        }
    }

    /// A signal of a timeline that is this process's alone, behind which `event` stands on a stream already; none if nothing is
    /// left to do before it. Two signals at the same moment are in the order in which they come here.
    ///
    /// # Errors
    /// As [`Values::signal`].
    #[inline(always)]
    pub(super) fn signal_behind(&self, value: u64, event: Option<SharedEvent<D>>) -> Result<()> {
        let mut state = self.state.lock();
        state.check_signal(value)?;
        state.signalled = value;
        match event {
            Some(event) => self.publish_in(state, value, event),
            None => self.publish_reached(state, value),
        }
        Ok(())
    }

    #[inline(never)]
    fn publish_and_tell(&self, mut state: Guard<'_, State<SharedEvent<D>>>, value: u64, event: &SharedEvent<D>) {
        let promises = state.publish(value, event);
        let are_many = state.open.len() > state.most_open;
        drop(state);
        self.tell(promises, event);
        if are_many {
            self.forget_reached();
        }
    }

    /// As [`Values::publish`] of a signal behind which nothing is left to do.
    fn publish_complete(&self, value: u64) {
        let mut state = self.state.lock();
        state.reservations.end(value);
        self.publish_reached(state, value);
    }

    /// Lets go of open signals that are reached, once there are some: of those that are known to be, which costs no native call
    /// for whoever waits for their queues now and then; the native library is asked when there are many.
    #[inline(never)]
    fn forget_reached(&self) {
        let (before, known) = {
            let state = self.state.lock();
            let known = state.open.partition_point(|open| open.event.is_known_complete());
            (state.open.len(), known.checked_sub(1).map(|last| state.open[last].value))
        };
        match known {
            Some(value) => self.note_reached(value),
            None if before <= MANY => {}
            None => self.ask_for_reached(before),
        }
        let mut state = self.state.lock();
        state.most_open = state.open.len() + FEW.max(state.open.len() / 4);
        // A burst does not stay.
        let most = state.most_open;
        if state.open.capacity() > 4 * most {
            state.open.shrink_to(most);
        }
    }

    pub(super) fn note_reached(&self, value: u64) {
        // Others first: whoever knows it here may end this process.
        if let Some(link) = self.shared() {
            link.reach(value);
        }
        let (through, is_awaited) = {
            let mut state = self.state.lock();
            let is_news = value > state.reached;
            (state.reach(value), is_news && state.watching > 0)
        };
        drop(through);
        // A thread that has looked and not begun to watch yet finds no signal to watch any more.
        if is_awaited {
            self.watchers.wake();
        }
    }

    /// The largest value that is reached.
    pub fn reached(&self) -> u64 {
        self.hear_others_and_ends();
        self.look();
        self.state.lock().reached
    }
}

fn break_promises<D: Driver>(promises: Taken<SharedEvent<D>>, cause: &Error) {
    drain::batch(|| promises.into_iter().for_each(|promise| promise.resolve(Outcome::Failed(cause.clone()))));
}

impl<D: Driver> Drop for Values<D> {
    /// Nobody is left to signal it: no handle, and no signal that is kept.
    fn drop(&mut self) {
        let promises = take(&mut self.state.lock().promises);
        if !promises.is_empty() {
            let text = "the timeline was released, and nobody is left who could signal the value";
            break_promises::<D>(
                promises.into_values().collect(),
                &Error::new(ur_result_t::ERROR_INVALID_OPERATION, text),
            );
        }
    }
}
