//! `urTimelineWaitExt`: threads that wait for values of timelines.
//!
//! A thread that waits for one value and has all the time blocks where it is known what it waits for: first for the signal's
//! submission, then natively. Any other sleeps until a timeline tells of a change: a signal, a failure, or the end of an open
//! signal, which the thread that watches events tells ([`crate::stream::event::watch`]), once for each signal however many
//! threads wait.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use ur_ffi::{ur_ext_timeline_wait_flags_t, ur_result_t};

use crate::driver::Driver;
use crate::object::error::{Error, Result};
use crate::object::params::{Handles, Out};
use crate::stream::event::callback;
use crate::timeline::Timeline;
use crate::timeline::values::{Known, Values};

/// The threads that wait for a timeline.
#[derive(Default)]
pub struct Watchers {
    threads: Mutex<Vec<Arc<Watcher>>>,
    /// Signals that nobody watches any more, whose timeline has not heard of that: what watches a signal must not keep it alive.
    told: Mutex<Vec<u64>>,
}

/// A thread that waits.
#[derive(Default)]
pub(super) struct Watcher {
    has_changed: Mutex<bool>,
    changed: Condvar,
}

impl Watchers {
    /// Tells every thread that something has changed.
    pub(super) fn wake(&self) {
        for watcher in self.threads.lock().iter() {
            *watcher.has_changed.lock() = true;
            watcher.changed.notify_one();
        }
    }

    /// Tells every thread that the watch of a signal has ended. Who finds that it is not reached after all watches it again.
    fn tell(&self, signal: u64) {
        self.told.lock().push(signal);
        self.wake();
    }

    /// The signals whose watch has ended since the last time.
    pub(super) fn take_told(&self) -> Vec<u64> {
        core::mem::take(&mut *self.told.lock())
    }

    /// To be called by [`Values`] alone, which counts them.
    pub(super) fn add(&self, watcher: &Arc<Watcher>) {
        self.threads.lock().push(Arc::clone(watcher));
    }

    /// As [`Watchers::add`].
    pub(super) fn remove(&self, watcher: &Arc<Watcher>) {
        self.threads.lock().retain(|other| !Arc::ptr_eq(other, watcher));
    }
}

impl Watcher {
    /// Sleeps until something has changed; `false` once `end` has come before that.
    fn sleep(&self, end: Option<Instant>) -> bool {
        let mut has_changed = self.has_changed.lock();
        while !*has_changed {
            match end {
                Some(end) if self.changed.wait_until(&mut has_changed, end).timed_out() => break,
                Some(_) => {}
                None => self.changed.wait(&mut has_changed),
            }
        }
        core::mem::take(&mut *has_changed)
    }
}

/// What is waited for.
struct Wanted<'a, D: Driver> {
    list: Vec<(&'a Arc<Values<D>>, u64)>,
    any: bool,
}

/// How a wait has ended, with the place of the timeline that ended it.
type Ended = (usize, Result<()>);

impl<D: Driver> Wanted<'_, D> {
    /// How the wait ends by what is known now.
    ///
    /// # Errors
    /// Why a value could not be asked for, if what is known of the others does not end the wait.
    fn look(&self) -> Result<Option<Ended>> {
        let answers: Vec<_> = self.list.iter().map(|(values, value)| values.is_reached(*value)).collect();
        let first = answers.iter().position(|answer| matches!(answer, Ok(true)) == self.any);
        match (self.any, first) {
            (true, Some(reached)) => return Ok(Some((reached, Ok(())))),
            (false, None) => return Ok(Some((0, Ok(())))),
            _ => {}
        }
        let failure = self.failure();
        if failure.is_none() {
            answers.into_iter().collect::<Result<Vec<_>>>()?;
        }
        Ok(failure)
    }

    /// The failure of a timeline that ends the wait, if one does.
    fn failure(&self) -> Option<Ended> {
        let failed = |(place, (values, value)): (usize, &(&Arc<Values<D>>, u64))| match values.known(*value) {
            Known::Failed(cause) => Some((place, Err(cause))),
            _ => None,
        };
        let mut failures = self.list.iter().enumerate().map(failed);
        // One failure ends a wait for all; a wait for any goes on as long as one can still come.
        if self.any {
            failures.reduce(|first, next| next.and(first)).flatten()
        } else {
            failures.find_map(|failure| failure)
        }
    }

    /// Has the end of open signals told.
    fn watch(&self) -> Result<()> {
        for (values, value) in &self.list {
            let signals = values.signals_to_watch(*value);
            for (place, (value, event)) in signals.iter().enumerate() {
                let (watchers, signal) = (Arc::clone(values.watchers()), *value);
                let watched = callback::when_complete(event, Box::new(move || watchers.tell(signal)));
                if watched.is_err() {
                    values.forget_watched(signals[place..].iter().map(|(value, _)| *value));
                    return watched;
                }
            }
        }
        Ok(())
    }

    fn sleep_until_ended(&self, watcher: &Watcher, end: Option<Instant>) -> Result<Option<Ended>> {
        loop {
            if let Some(ended) = self.look()? {
                return Ok(Some(ended));
            }
            #[cfg(feature = "testing")]
            testing::has_looked();
            self.watch()?;
            if !watcher.sleep(end) {
                return self.look();
            }
        }
    }

    /// Waits as long as `timeout` says; `None` is for ever.
    fn wait(&self, timeout: Option<Duration>) -> Result<Option<Ended>> {
        if timeout == Some(Duration::ZERO) {
            self.list.iter().for_each(|(values, _)| values.hear_others_and_ends());
        }
        let ended = self.look()?;
        if ended.is_some() || timeout == Some(Duration::ZERO) {
            return Ok(ended);
        }
        if let ([(values, value)], None) = (&*self.list, timeout) {
            return Ok(Some((0, wait_for_one(values, *value))));
        }
        // A time beyond what the clock counts is for ever.
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let watcher = Arc::new(Watcher::default());
        self.list.iter().for_each(|(values, _)| values.add_watcher(&watcher));
        let ended = self.sleep_until_ended(&watcher, end);
        self.list.iter().for_each(|(values, _)| values.remove_watcher(&watcher));
        ended
    }
}

/// What a test does while a thread waits. Compiled in by the feature `testing` alone.
#[cfg(feature = "testing")]
pub mod testing {
    use core::cell::RefCell;

    type Hook = Box<dyn FnMut()>;

    thread_local! {
        static LOOKED: RefCell<Option<Hook>> = const { RefCell::new(None) };
    }

    /// Has `hook` called each time that this thread has found no value reached and does not watch yet.
    pub fn when_looked(hook: impl FnMut() + 'static) {
        LOOKED.with_borrow_mut(|looked| *looked = Some(Box::new(hook)));
    }

    pub(super) fn has_looked() {
        LOOKED.with_borrow_mut(|looked| looked.iter_mut().for_each(|hook| hook()));
    }
}

/// Waits for a value as for an event.
fn wait_for_one<D: Driver>(values: &Values<D>, value: u64) -> Result<()> {
    let promise = values.promise(value);
    let Some(event) = promise.wait()? else { return Ok(()) };
    event.wait().inspect_err(|cause| {
        if event.is_never_complete_by(cause) {
            values.lose(value, cause);
        }
    })
}

/// `urTimelineWaitExt`.
///
/// # Errors
/// `UNSUPPORTED_FEATURE` for a value of another API's timeline that nobody here has signalled; `TIMEOUT_EXT` when the time is
/// over; the cause, if a timeline has failed before it reached its value.
pub fn wait<D: Driver>(
    timelines: Handles<'_, Timeline<D>>,
    values: &[u64],
    flags: ur_ext_timeline_wait_flags_t,
    timeout_ns: u64,
    index: Option<Out<'_, u32>>,
) -> Result<()> {
    let list: Vec<_> = timelines.iter().map(|timeline| timeline.values()).zip(values.iter().copied()).collect();
    for (values, value) in &list {
        values.check_is_known(*value, "a wait of the host for a value")?;
    }
    let any = flags.contains(ur_ext_timeline_wait_flags_t::ANY);
    let timeout = (timeout_ns != u64::MAX).then(|| Duration::from_nanos(timeout_ns));
    let Some((place, ended)) = Wanted { list, any }.wait(timeout)? else {
        let text = format!("urTimelineWaitExt: the values were not reached in {timeout_ns} ns");
        return Err(Error::new(ur_result_t::ERROR_TIMEOUT_EXT, text));
    };
    if let (Some(index), true) = (index, any || ended.is_err()) {
        index.write(place as u32);
    }
    ended
}
