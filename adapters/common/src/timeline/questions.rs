//! Asking the device for a timeline's open signals.
//!
//! A question can fail although the signal will be reached: for want of memory, or while the application captures natively and
//! forbids questions. That is the asker's failure. The timeline fails only if the signal never will be reached.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::driver::Driver;
use crate::object::error::{Error, Result};
use crate::stream::event::Event;
use crate::timeline::values::{SharedEvent, Values};

/// Open signals, each with its value.
type Signals<D> = SmallVec<[(u64, SharedEvent<D>); 4]>;

impl<D: Driver> Values<D> {
    /// Most streams reach their signals in order, so halving finds nearly the last one with few questions; if it finds none, the
    /// streams are asked one by one.
    pub(super) fn ask_for_reached(&self, open: usize) {
        let (mut first, mut end) = (0, open);
        let mut last = None;
        while end - first > open / 8 {
            let middle = first + (end - first) / 2;
            let Some((value, event)) = self.nth_open(middle) else { break };
            // Nothing is let go of meanwhile, so that places stay.
            if matches!(event.is_complete(), Ok(true)) {
                (last, first) = (Some(value), middle + 1);
            } else {
                end = middle;
            }
        }
        match last {
            Some(value) => self.note_reached(value),
            None => self.look(),
        }
    }

    fn nth_open(&self, place: usize) -> Option<(u64, SharedEvent<D>)> {
        self.state.lock().open.get(place).map(|open| (open.value, Arc::clone(&open.event)))
    }

    /// Asks for open signals: first for the last one, then for the next of each stream as long as one is complete.
    pub(super) fn look(&self) {
        let last = self.state.lock().open.back().map(|open| (open.value, Arc::clone(&open.event)));
        let Some((value, event)) = last else { return };
        // What cannot be asked for now is not known to be reached.
        if self.is_complete(value, &event).unwrap_or(false) {
            return;
        }
        loop {
            let next = self.state.lock().reached.saturating_add(1);
            let mut signals = self.next_signals(next).into_iter();
            if !signals.any(|(value, event)| self.is_complete(value, &event).unwrap_or(false)) {
                return;
            }
        }
    }

    /// Whether a value is reached, as far as can be told without waiting.
    ///
    /// # Errors
    /// Why a signal could not be asked for, if no other one says that it is.
    pub(super) fn is_reached(&self, value: u64) -> Result<bool> {
        self.hear_others();
        if value <= self.state.lock().reached {
            return Ok(true);
        }
        let mut answer = Ok(false);
        for (value, event) in self.next_signals(value) {
            match self.is_complete(value, &event) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(error) => answer = Err(error),
            }
        }
        answer
    }

    /// The first signal of a value or a larger one on each stream.
    fn next_signals(&self, value: u64) -> Signals<D> {
        let mut state = self.state.lock();
        state.first_of_each_stream(value).into_iter().map(|open| (open.value, Arc::clone(&open.event))).collect()
    }

    /// Those of them that nobody watches. From now on they are watched.
    pub(super) fn signals_to_watch(&self, value: u64) -> Signals<D> {
        let mut state = self.state.lock();
        // Under the state's lock: who finds a signal watched must not have it forgotten behind his back.
        state.forget_watched(self.watchers().take_told().into_iter());
        let first = state.first_of_each_stream(value).into_iter();
        let unwatched = first.filter_map(|open| (!core::mem::replace(&mut open.is_watched, true)).then_some(open));
        unwatched.map(|open| (open.value, Arc::clone(&open.event))).collect()
    }

    /// Notes that nobody watches these signals after all. Others may have relied on it.
    #[cold]
    pub(super) fn forget_watched(&self, signals: impl Iterator<Item = u64>) {
        self.state.lock().forget_watched(signals);
        self.watchers().wake();
    }

    /// Whether a signal's command is complete. If it never will be, the timeline fails.
    ///
    /// # Errors
    /// Why the question alone has failed.
    fn is_complete(&self, value: u64, event: &Event<D>) -> Result<bool> {
        match event.is_complete() {
            Ok(true) => {
                self.note_reached(value);
                Ok(true)
            }
            Ok(false) => Ok(false),
            Err(cause) if event.is_never_complete_by(&cause) => {
                self.lose(value, &cause);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Notes that a signal will never be complete.
    pub(super) fn lose(&self, value: u64, cause: &Error) {
        let lost = {
            let mut state = self.state.lock();
            let place = state.place_of(value);
            if state.open.get(place).is_some_and(|open| open.value == value) { state.open.remove(place) } else { None }
        };
        drop(lost);
        if let Some(link) = self.shared() {
            link.disown(value);
        }
        // The first cause stays.
        let _ = self.fail(cause);
    }
}
