//! What stands for a command, or a timeline's value, that nobody has submitted yet.
//!
//! A promise is resolved once: by whoever submits the command or the signal, with its event, or by whoever finds that it never
//! will be, with the cause. Events over one are unresolved until then. What depends on it is told without any lock held.
//! Must never make a native call, and never block anybody but in [`Promise::wait`].
//!
//! It is generic over the event, so that events may know promises.

use std::sync::Arc;

use parking_lot::Condvar;

use crate::device::drain;
use crate::object::error::{Error, Result};
use crate::sync::resolution::Resolution;
use crate::sync::{AtomicBool, Mutex, Ordering};

/// What became of it.
pub enum Outcome<E> {
    /// It is on its stream; with its event, if anybody wanted one.
    Submitted(Option<E>),
    /// It never will be.
    Failed(Error),
}

/// Something that can go on once a promise is resolved.
pub trait Dependent<E>: Send + Sync {
    /// Called once for each time that it was added, by any thread. Must not block.
    fn resolved(self: Arc<Self>, outcome: &Outcome<E>);
}

/// The promise.
pub struct Promise<E> {
    resolution: Resolution<Outcome<E>, Arc<dyn Dependent<E>>>,
    wants_event: AtomicBool,
    is_timepoint: bool,
    /// Told before anybody finds it resolved.
    first: Mutex<Option<Arc<dyn Dependent<E>>>>,
}

impl<E: Send + Sync + 'static> Promise<E> {
    /// Of a command that is kept.
    pub fn of_command() -> Arc<Self> {
        Self::new(false)
    }

    /// Of a timeline's value, which has an event.
    pub fn of_timepoint() -> Arc<Self> {
        let promise = Self::new(true);
        promise.want_event();
        promise
    }

    /// Of a timeline's value of which it is known what became.
    pub fn kept(outcome: Outcome<E>) -> Arc<Self> {
        let (resolution, wants_event) = (Resolution::with(outcome), AtomicBool::new(true));
        Arc::new(Self { resolution, wants_event, is_timepoint: true, first: Mutex::new(None) })
    }

    fn new(is_timepoint: bool) -> Arc<Self> {
        let (resolution, wants_event) = (Resolution::new(), AtomicBool::new(false));
        Arc::new(Self { resolution, wants_event, is_timepoint, first: Mutex::new(None) })
    }

    /// Whether it is a timeline's value, which no queue is given.
    pub fn is_timepoint(&self) -> bool {
        self.is_timepoint
    }

    /// Asks for an event of what is submitted.
    pub fn want_event(&self) {
        self.wants_event.store(true, Ordering::Relaxed);
    }

    /// Whether anybody asked for an event.
    pub fn wants_event(&self) -> bool {
        self.wants_event.load(Ordering::Relaxed)
    }

    /// What became of it, if anything has yet.
    pub fn outcome(&self) -> Option<&Outcome<E>> {
        self.resolution.get()
    }

    /// The event of what was submitted, if it was and has one.
    pub fn event(&self) -> Option<&E> {
        match self.outcome()? {
            Outcome::Submitted(event) => event.as_ref(),
            Outcome::Failed(_) => None,
        }
    }

    /// Tells `dependent` when it is resolved, at once if it is.
    pub fn add(&self, dependent: Arc<dyn Dependent<E>>) {
        if let Err(late) = self.resolution.add(dependent)
            && let Some(outcome) = self.outcome()
        {
            late.resolved(outcome);
        }
    }

    /// Has `dependent` told before anybody finds it resolved. For whoever made it, before anybody else has it, and where one thread
    /// alone resolves it.
    pub fn tell_first(&self, dependent: Arc<dyn Dependent<E>>) {
        *self.first.lock() = Some(dependent);
    }

    /// Resolves it and tells what depends on it; what is ready by that runs before this returns, unless it could block. The
    /// second of two changes nothing.
    pub fn resolve(&self, outcome: Outcome<E>) {
        let first = self.first.lock().take();
        first.into_iter().for_each(|first| drain::batch(|| first.resolved(&outcome)));
        let Some(dependents) = self.resolution.resolve(outcome) else { return };
        let Some(outcome) = self.outcome() else { return };
        drain::batch(|| dependents.into_iter().for_each(|dependent| dependent.resolved(outcome)));
    }

    /// Blocks until it is resolved; answers the event of what was submitted.
    ///
    /// # Errors
    /// The cause, if it never will be.
    pub fn wait(&self) -> Result<Option<&E>> {
        loop {
            match self.outcome() {
                Some(Outcome::Submitted(event)) => return Ok(event.as_ref()),
                Some(Outcome::Failed(cause)) => return Err(cause.clone()),
                None => {
                    let waiting = Arc::new(HostWait::default());
                    self.add(Arc::clone(&waiting) as Arc<dyn Dependent<E>>);
                    waiting.wait();
                }
            }
        }
    }
}

/// A thread that waits.
#[derive(Default)]
struct HostWait {
    is_resolved: parking_lot::Mutex<bool>,
    changed: Condvar,
}

impl HostWait {
    fn wait(&self) {
        let mut is_resolved = self.is_resolved.lock();
        while !*is_resolved {
            self.changed.wait(&mut is_resolved);
        }
    }
}

impl<E> Dependent<E> for HostWait {
    fn resolved(self: Arc<Self>, _: &Outcome<E>) {
        *self.is_resolved.lock() = true;
        self.changed.notify_all();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Notes whether the promise could be found resolved when it was told.
    struct Note {
        promise: Arc<Promise<u32>>,
        found: Mutex<Vec<bool>>,
    }

    impl Note {
        fn of(promise: &Arc<Promise<u32>>) -> Arc<Self> {
            Arc::new(Self { promise: Arc::clone(promise), found: Mutex::default() })
        }
    }

    impl Dependent<u32> for Note {
        fn resolved(self: Arc<Self>, outcome: &Outcome<u32>) {
            assert!(matches!(outcome, Outcome::Submitted(Some(7))));
            self.found.lock().push(self.promise.event().is_some());
        }
    }

    #[test]
    fn the_first_is_told_before_the_promise_can_be_found_resolved_and_the_others_after() {
        let promise = Promise::of_command();
        let [first, other, late] = [(); 3].map(|()| Note::of(&promise));
        promise.tell_first(Arc::clone(&first) as _);
        promise.add(Arc::clone(&other) as _);
        promise.resolve(Outcome::Submitted(Some(7)));
        promise.add(Arc::clone(&late) as _);
        promise.resolve(Outcome::Submitted(Some(8)));
        let found = [&first, &other, &late].map(|note| note.found.lock().clone());
        assert_eq!(found, [[false], [true], [true]]);
    }
}

/// Run with `cargo xtask races`.
#[cfg(all(test, loom))]
mod model {
    use ur_ffi::ur_result_t;

    use super::*;
    use crate::device::drain::Ready;
    use crate::sync::AtomicUsize;

    const KEPT: usize = 1;
    const BROKEN: usize = 100;

    /// A dependent that has something to run, as a deferred command does.
    #[derive(Default)]
    struct Step {
        told: AtomicUsize,
        runs: AtomicUsize,
    }

    fn kind(outcome: &Outcome<u32>) -> usize {
        if matches!(outcome, Outcome::Submitted(Some(7))) { KEPT } else { BROKEN }
    }

    impl Dependent<u32> for Step {
        fn resolved(self: Arc<Self>, outcome: &Outcome<u32>) {
            self.told.fetch_add(kind(outcome), Ordering::Relaxed);
            drain::add(self);
        }
    }

    impl Ready for Step {
        fn queue(&self) -> usize {
            0
        }

        fn may_block(&self) -> bool {
            false
        }

        fn run(self: Arc<Self>) {
            self.runs.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A signal, and a failure or the last release of the timeline, while a command is put behind the value.
    #[test]
    fn who_depends_is_told_once_and_runs_once_whether_the_promise_is_kept_or_broken() {
        loom::model(|| {
            let promise = Promise::<u32>::of_timepoint();
            let [keeper, breaker] = [true, false].map(|is_kept| {
                let promise = Arc::clone(&promise);
                let cause = Error::new(ur_result_t::ERROR_UNKNOWN, "");
                let outcome = if is_kept { Outcome::Submitted(Some(7)) } else { Outcome::Failed(cause) };
                loom::thread::spawn(move || promise.resolve(outcome))
            });
            let step = Arc::new(Step::default());
            promise.add(Arc::clone(&step) as _);
            keeper.join().unwrap();
            breaker.join().unwrap();
            let outcome = promise.outcome().map(kind);
            assert_eq!((Some(step.told.load(Ordering::Relaxed)), step.runs.load(Ordering::Relaxed)), (outcome, 1));
        });
    }
}
