//! What is known of a timeline's values: what was reached, what was submitted, and who waits for what was not. It calls nobody:
//! whoever holds its lock has a leaf.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use ur_ffi::ur_result_t;

use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::stream::event::{Event, EventPromise};
use crate::sync::unlikely::unlikely;

/// An event that the engine holds.
pub(super) type SharedEvent<D> = Arc<Object<Event<D>>>;

/// Open signals that are not worth looking at.
pub(super) const FEW: usize = 32;

/// What is known of a timeline's values, behind its lock.
pub(super) struct State<D: Driver> {
    /// The largest value that is known to be reached.
    pub(super) reached: u64,
    /// The largest value that was signalled, reached or not.
    pub(super) signalled: u64,
    /// Signals whose end is not known, by their values.
    pub(super) open: VecDeque<Open<D>>,
    /// How many there may be before they are looked at.
    pub(super) most_open: usize,
    /// Those who wait for a value that nobody has signalled.
    pub(super) promises: BTreeMap<u64, Arc<EventPromise<D>>>,
    /// Threads that sleep until something changes.
    pub(super) watching: usize,
    pub(super) failure: Option<Error>,
    /// After a failure: the largest value that another process still owes.
    pub(super) owed: u64,
}

/// A signal whose end is not known.
pub(super) struct Open<D: Driver> {
    pub(super) value: u64,
    pub(super) event: SharedEvent<D>,
    /// Whether threads that wait hear of its end.
    pub(super) is_watched: bool,
}

/// What is known of a value.
pub(super) enum Known<D: Driver> {
    /// It is reached.
    Reached,
    /// Its signal is on a stream.
    Submitted(SharedEvent<D>),
    /// It never will be.
    Failed(Error),
    /// Nobody has signalled it.
    Nothing,
}

impl<D: Driver> State<D> {
    #[inline]
    pub(super) fn known(&self, value: u64) -> Known<D> {
        if value <= self.reached {
            return Known::Reached;
        }
        // Most ask for the value that was signalled last.
        if let Some(last) = self.open.back()
            && last.value == value
        {
            return Known::Submitted(Arc::clone(&last.event));
        }
        match (self.open.get(self.place_of(value)), &self.failure) {
            (Some(open), _) => Known::Submitted(Arc::clone(&open.event)),
            (None, Some(failure)) if value > self.owed => Known::Failed(failure.clone()),
            (None, _) => Known::Nothing,
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
        if unlikely(self.failure.is_some() || value <= self.signalled) { self.refuse_signal(value) } else { Ok(()) }
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

    /// Notes that a value is reached; gives out what is through with that.
    pub(super) fn reach(&mut self, value: u64) -> Vec<Open<D>> {
        if value <= self.reached {
            return Vec::new();
        }
        self.reached = value;
        let through = self.open.partition_point(|open| open.value <= value);
        self.open.drain(..through).collect()
    }

    #[inline]
    pub(super) fn insert(&mut self, value: u64, event: SharedEvent<D>) {
        let open = Open { value, event, is_watched: false };
        if unlikely(self.open.back().is_some_and(|last| last.value > value)) {
            // Another thread reserved a larger value, and published it first.
            return self.open.insert(self.place_of(value), open);
        }
        self.open.push_back(open);
    }

    /// Whether a signal is news to anybody at once.
    #[inline]
    pub(super) fn is_awaited(&self) -> bool {
        self.watching > 0 || !self.promises.is_empty()
    }

    /// The promises that a signal of that value keeps.
    pub(super) fn take_promises(&mut self, value: u64) -> Vec<Arc<EventPromise<D>>> {
        let later = value.checked_add(1).map_or_else(BTreeMap::new, |next| self.promises.split_off(&next));
        core::mem::replace(&mut self.promises, later).into_values().collect()
    }
}

/// The refusal of a signal that does not grow.
pub(super) fn not_above(value: u64, last: u64) -> Error {
    let text = format!("a signal of {value} on a timeline whose last is {last}; values only grow");
    Error::new(ur_result_t::ERROR_INVALID_VALUE, text)
}
