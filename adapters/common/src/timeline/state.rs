//! What is known of a timeline's values: what was reached, what was submitted, and who waits for what was not. It calls nobody:
//! whoever holds its lock has a leaf. It is generic over the event, so that it can be checked without a device.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::ur_result_t;

use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::stream::event::Event;
use crate::stream::promise::{Outcome, Promise};
use crate::sync::mutation::{self, Bug};
use crate::sync::unlikely::unlikely;
use crate::timeline::reservations::Reservations;

/// Open signals that are not worth looking at.
pub(super) const FEW: usize = 32;
/// Open signals about which the native library is asked, if nothing else tells what is reached.
pub(super) const MANY: usize = 4 * FEW;

/// What is known of a timeline's values, behind its lock.
pub(super) struct State<E> {
    /// The largest value that is known to be reached.
    pub(super) reached: u64,
    /// The largest value that was signalled, reached or not.
    pub(super) signalled: u64,
    /// Signals of this process that are noted there and not submitted yet.
    pub(super) reservations: Reservations,
    /// Signals whose end is not known, by their values.
    pub(super) open: VecDeque<Open<E>>,
    /// Streams of open signals beside the last one's, each with the last value that it signalled. One that is behind `reached` is of
    /// no open signal any more.
    others: SmallVec<[(usize, u64); 4]>,
    /// How many there may be before they are looked at.
    pub(super) most_open: usize,
    /// Those who wait for a value that nobody has signalled.
    pub(super) promises: BTreeMap<u64, Arc<Promise<E>>>,
    /// Threads that sleep until something changes.
    pub(super) watching: usize,
    pub(super) failure: Option<Error>,
    /// After a failure: the largest value that another process still owes.
    pub(super) owed: u64,
}

/// The event of a signal.
pub(super) trait OfStream {
    /// The address of the stream whose order it has.
    fn stream(&self) -> usize;
}

impl<D: Driver> OfStream for Arc<Object<Event<D>>> {
    #[inline(always)]
    fn stream(&self) -> usize {
        Arc::as_ptr(&self.stream).addr()
    }
}

/// A signal whose end is not known.
pub(super) struct Open<E> {
    pub(super) value: u64,
    pub(super) event: E,
    /// Whether threads that wait hear of its end.
    pub(super) is_watched: bool,
}

/// What is known of a value.
pub(super) enum Known<E> {
    /// It is reached.
    Reached,
    /// Its signal is on a stream.
    Submitted(E),
    /// It never will be.
    Failed(Error),
    /// Nobody has signalled it.
    Nothing,
}

/// Promises that were taken out, to be resolved without the lock.
pub(super) type Taken<E> = Vec<Arc<Promise<E>>>;

/// A failure as it was noted.
pub(super) struct Noted<E> {
    /// Whether it is the first.
    pub(super) is_first: bool,
    /// The first one's cause.
    pub(super) cause: Error,
    /// What never will be.
    pub(super) broken: Taken<E>,
}

impl<E: Clone + OfStream + Send + Sync + 'static> State<E> {
    /// Of a timeline that has reached a value.
    pub(super) fn new(reached: u64) -> Self {
        Self {
            reached,
            signalled: reached,
            reservations: Reservations::default(),
            open: VecDeque::new(),
            others: SmallVec::new(),
            most_open: FEW,
            promises: BTreeMap::new(),
            watching: 0,
            failure: None,
            owed: 0,
        }
    }

    pub(super) fn known(&self, value: u64) -> Known<E> {
        if value <= self.reached {
            return Known::Reached;
        }
        match (self.submitted(value), &self.failure) {
            (Some(event), _) => Known::Submitted(event.clone()),
            (None, Some(failure)) if value > self.owed => Known::Failed(failure.clone()),
            (None, _) => Known::Nothing,
        }
    }

    /// The first open signal of a value or a larger one.
    #[inline]
    pub(super) fn submitted(&self, value: u64) -> Option<&E> {
        // Most ask for the value that was signalled last.
        match self.open.back() {
            Some(last) if last.value == value => Some(&last.event),
            Some(last) if last.value > value => self.open.get(self.place_of(value)).map(|open| &open.event),
            _ => None,
        }
    }

    /// Where the first open signal of a value or a larger one is.
    pub(super) fn place_of(&self, value: u64) -> usize {
        match self.open.back() {
            Some(last) if last.value >= value => self.open.partition_point(|open| open.value < value),
            _ => self.open.len(),
        }
    }

    /// Whether that can be signalled next.
    #[inline]
    pub(super) fn check_signal(&self, value: u64) -> Result<()> {
        if unlikely!(self.failure.is_some() || value <= self.signalled) { self.refuse_signal(value) } else { Ok(()) }
    }

    #[cold]
    pub(super) fn refuse_signal(&self, value: u64) -> Result<()> {
        self.check_failure()?;
        Err(not_above(value, self.signalled))
    }

    pub(super) fn check_failure(&self) -> Result<()> {
        let Some(failure) = &self.failure else { return Ok(()) };
        let text = format!("the timeline has failed and takes no more signals; the cause: {failure}");
        Err(Error::new(ur_result_t::ERROR_INVALID_OPERATION, text))
    }

    /// Notes a signal that is about to be submitted.
    ///
    /// # Errors
    /// As [`State::check_signal`].
    pub(super) fn reserve(&mut self, value: u64) -> Result<()> {
        self.check_signal(value)?;
        let before = core::mem::replace(&mut self.signalled, value);
        self.reservations.add(value, before);
        Ok(())
    }

    /// Takes back what [`State::reserve`] noted. A signal since stays.
    pub(super) fn take_back(&mut self, value: u64) {
        if let Some(before) = self.reservations.take_back(value)
            && self.signalled == value
        {
            self.signalled = before;
        }
    }

    /// Notes that a value is reached; gives out what is through with that.
    pub(super) fn reach(&mut self, value: u64) -> Vec<Open<E>> {
        if value <= self.reached {
            return Vec::new();
        }
        self.reached = value;
        let through = self.open.partition_point(|open| open.value <= value);
        self.open.drain(..through).collect()
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, value: u64, event: E) {
        let open = Open { value, event, is_watched: false };
        if let Some(last) = self.open.back() {
            if unlikely!(last.value > value) {
                return self.insert_between(open);
            }
            if unlikely!(last.event.stream() != open.event.stream()) {
                self.note_other(last.event.stream(), last.value);
            }
        }
        self.open.push_back(open);
    }

    /// Another thread reserved a larger value, and published it first.
    #[cold]
    fn insert_between(&mut self, open: Open<E>) {
        self.note_other(open.event.stream(), open.value);
        self.open.insert(self.place_of(open.value), open);
    }

    /// Notes that a stream which may not be the next signal's has signalled that value.
    #[inline(never)]
    fn note_other(&mut self, stream: usize, value: u64) {
        if let Some((_, last)) = self.others.iter_mut().find(|(other, _)| *other == stream) {
            *last = value.max(*last);
            return;
        }
        if self.others.len() == self.others.capacity() {
            let reached = self.reached;
            self.others.retain(|(_, last)| *last > reached);
        }
        self.others.push((stream, value));
    }

    /// The first open signal of a value or a larger one on each stream. The walk ends with the last of these streams: however many
    /// signals are open, streams that signal in turn are found at once.
    pub(super) fn first_of_each_stream(&mut self, value: u64) -> SmallVec<[&mut Open<E>; 4]> {
        let (first, mut left) = (self.place_of(value), 0);
        if let Some(last) = self.open.back() {
            let of_last = last.event.stream();
            left = 1 + self.others.iter().filter(|(stream, last)| *stream != of_last && *last >= value).count();
        }
        let mut found = SmallVec::<[&mut Open<E>; 4]>::new();
        for open in self.open.range_mut(first..) {
            if left == 0 {
                break;
            }
            let stream = open.event.stream();
            // Signals of one stream come one after another.
            if found.iter().rev().all(|other| other.event.stream() != stream) {
                found.push(open);
                left -= 1;
            }
        }
        found
    }

    /// Notes that nobody watches these signals any more.
    pub(super) fn forget_watched(&mut self, signals: impl Iterator<Item = u64>) {
        for value in signals {
            let place = self.place_of(value);
            if let Some(open) = self.open.get_mut(place).filter(|open| open.value == value) {
                open.is_watched = false;
            }
        }
    }

    /// Whether a signal is news to anybody at once.
    #[inline]
    pub(super) fn is_awaited(&self) -> bool {
        self.watching > 0 || !self.promises.is_empty()
    }

    /// The promises that a signal of that value keeps.
    pub(super) fn take_promises(&mut self, value: u64) -> Taken<E> {
        let later = value.checked_add(1).map_or_else(BTreeMap::new, |next| self.promises.split_off(&next));
        core::mem::replace(&mut self.promises, later).into_values().collect()
    }

    /// Notes a signal that is submitted; gives out the promises that it keeps.
    pub(super) fn publish(&mut self, value: u64, event: &E) -> Taken<E> {
        if value > self.reached {
            self.insert(value, event.clone());
        }
        if mutation::is(Bug::TimelineSignalLost) {
            return Taken::new();
        }
        self.take_promises(value)
    }

    /// What stands for a value, and whether it has to wait for somebody; `complete` is an event that is complete.
    pub(super) fn promise(&mut self, value: u64, complete: &E) -> (Arc<Promise<E>>, bool) {
        let outcome = match self.known(value) {
            Known::Reached => Outcome::Submitted(Some(complete.clone())),
            Known::Submitted(event) => Outcome::Submitted(Some(event)),
            Known::Failed(cause) => Outcome::Failed(cause),
            Known::Nothing => {
                return (Arc::clone(self.promises.entry(value).or_insert_with(Promise::of_timepoint)), true);
            }
        };
        (Promise::kept(outcome), false)
    }

    /// Notes a failure after which values up to `owed` are reached still; none if that changes nothing.
    pub(super) fn fail(&mut self, cause: &Error, owed: u64) -> Option<Noted<E>> {
        let is_first = self.failure.is_none();
        // What was owed when it failed; less, if somebody is found not to keep it.
        if !is_first && self.owed <= owed {
            return None;
        }
        self.owed = owed;
        let cause = self.failure.get_or_insert_with(|| cause.clone()).clone();
        let never = owed.checked_add(1).map_or_else(BTreeMap::new, |next| self.promises.split_off(&next));
        Some(Noted { is_first, cause, broken: never.into_values().collect() })
    }
}

/// The refusal of a signal that does not grow.
pub(super) fn not_above(value: u64, last: u64) -> Error {
    let text = format!("a signal of {value} on a timeline whose last is {last}; values only grow");
    Error::new(ur_result_t::ERROR_INVALID_VALUE, text)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A signal's stream.
    #[derive(Clone, Copy)]
    struct On(usize);

    impl OfStream for On {
        fn stream(&self) -> usize {
            self.0
        }
    }

    fn timeline(signals: impl IntoIterator<Item = (u64, usize)>) -> State<On> {
        let mut state = State::new(0);
        signals.into_iter().for_each(|(value, stream)| state.insert(value, On(stream)));
        state
    }

    fn firsts(state: &mut State<On>, value: u64) -> Vec<(u64, usize)> {
        state.first_of_each_stream(value).iter().map(|open| (open.value, open.event.0)).collect()
    }

    #[test]
    fn a_stream_s_first_signal_is_found_behind_any_number_of_another_one_s() {
        let mut state = timeline((1..=1000).map(|value| (value, 1)).chain([(1001, 2), (1002, 2), (1003, 1)]));
        assert_eq!(firsts(&mut state, 1), [(1, 1), (1001, 2)]);
        assert_eq!(firsts(&mut state, 1002), [(1002, 2), (1003, 1)]);
        assert_eq!((firsts(&mut state, 1003), firsts(&mut state, 1004)), (vec![(1003, 1)], vec![]));
    }

    #[test]
    fn of_signals_that_are_all_taken_back_nothing_stays() {
        let mut state = timeline([]);
        state.signalled = 3;
        for order in [[5, 7], [7, 5]] {
            assert!(state.reserve(5).is_ok() && state.reserve(7).is_ok());
            order.into_iter().for_each(|value| state.take_back(value));
            assert_eq!(state.signalled, 3, "{order:?}");
            assert!(state.check_signal(4).is_ok());
        }
    }

    #[test]
    fn the_walk_ends_with_the_last_stream_that_has_a_signal_left() {
        let mut state = timeline([(1, 1), (2, 2)].into_iter().chain((3..=1000).map(|value| (value, 3))));
        assert_eq!(firsts(&mut state, 2), [(2, 2), (3, 3)]);
        let through = state.reach(2);
        assert_eq!((through.len(), firsts(&mut state, 3)), (2, vec![(3, 3)]));
    }

    #[test]
    fn a_signal_that_is_published_behind_a_larger_one_is_its_stream_s_first() {
        let mut state = timeline([(1, 1), (5, 1), (3, 2)]);
        assert_eq!(firsts(&mut state, 2), [(3, 2), (5, 1)]);
    }

    #[test]
    fn streams_whose_signals_are_reached_are_forgotten() {
        let mut state = timeline([]);
        for value in 1..=10_000u64 {
            state.insert(value, On(value as usize));
            state.reach(value - 1);
        }
        assert!(state.others.len() <= 8, "{}", state.others.len());
    }
}

/// Run with `cargo xtask races`.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::stream::promise::Dependent;
    use crate::sync::{AtomicU64, Mutex, Ordering};

    /// The event of a value that was reached; that of a signal is its value.
    const COMPLETE: u64 = 100;
    const FAILED: u64 = 1000;

    type Shared = Arc<Mutex<State<u64>>>;

    impl OfStream for u64 {
        fn stream(&self) -> usize {
            0
        }
    }

    fn timeline() -> Shared {
        Arc::new(Mutex::new(State::new(0)))
    }

    /// As [`super::super::values::Values`] does it for a queue's signal.
    fn signal(shared: &Shared, value: u64) -> bool {
        {
            let mut state = shared.lock();
            if state.check_signal(value).is_err() {
                return false;
            }
            state.signalled = value;
        }
        let kept = shared.lock().publish(value, &value);
        kept.into_iter().for_each(|promise| promise.resolve(Outcome::Submitted(Some(value))));
        true
    }

    fn fail(shared: &Shared) {
        let noted = shared.lock().fail(&ur_result_t::ERROR_UNKNOWN.into(), 0);
        for promise in noted.into_iter().flat_map(|noted| noted.broken) {
            promise.resolve(Outcome::Failed(ur_result_t::ERROR_UNKNOWN.into()));
        }
    }

    /// Something behind a value; sums up what it is told.
    struct Waiting(AtomicU64);

    impl Dependent<u64> for Waiting {
        fn resolved(self: Arc<Self>, outcome: &Outcome<u64>) {
            let told = match outcome {
                Outcome::Submitted(event) => event.unwrap_or(0),
                Outcome::Failed(_) => FAILED,
            };
            self.0.fetch_add(told, Ordering::Relaxed);
        }
    }

    /// The promise comes too: loom does not know this `Arc`, so the last reference goes where loom sees the order.
    fn wait_for(shared: &Shared, value: u64) -> (Arc<Waiting>, Arc<Promise<u64>>) {
        let waiting = Arc::new(Waiting(AtomicU64::new(0)));
        let promise = shared.lock().promise(value, &COMPLETE).0;
        promise.add(Arc::clone(&waiting) as _);
        (waiting, promise)
    }

    /// Two threads signal while a third one waits for the first value: it is told once, of either signal, and nobody is left waiting.
    #[test]
    fn who_waits_for_a_value_is_told_of_one_of_two_signals_that_race() {
        loom::model(|| {
            let shared = timeline();
            let signallers = [1, 2].map(|value| {
                let shared = Arc::clone(&shared);
                loom::thread::spawn(move || signal(&shared, value))
            });
            let (waiting, _promise) = wait_for(&shared, 1);
            let [first, second] = signallers.map(|signaller| signaller.join().unwrap());
            let told = waiting.0.load(Ordering::Relaxed);
            assert!(second && ((told == 1 && first) || told == 2), "{told}");
            let state = shared.lock();
            assert_eq!((state.signalled, state.promises.len()), (2, 0));
            assert_eq!(
                state.open.iter().map(|open| open.value).collect::<Vec<_>>(),
                if first { vec![1, 2] } else { vec![2] }
            );
        });
    }

    /// One thread signals, one makes the timeline fail, a third one waits: for what was signalled it hears of that, else of the failure.
    #[test]
    fn who_waits_for_a_value_is_told_of_the_signal_or_of_the_failure_that_race() {
        loom::model(|| {
            let shared = timeline();
            let signaller = {
                let shared = Arc::clone(&shared);
                loom::thread::spawn(move || signal(&shared, 1))
            };
            let breaker = {
                let shared = Arc::clone(&shared);
                loom::thread::spawn(move || fail(&shared))
            };
            let (waiting, _promise) = wait_for(&shared, 1);
            let signalled = signaller.join().unwrap();
            breaker.join().unwrap();
            let told = waiting.0.load(Ordering::Relaxed);
            assert!(told == FAILED || (told == 1 && signalled), "{told}");
            assert_eq!(shared.lock().promises.len(), 0);
        });
    }
}
