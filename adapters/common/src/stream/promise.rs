//! What stands for a command, or a timeline's value, that nobody has submitted yet.
//!
//! A promise is resolved once: by whoever submits the command or the signal, with its event, or by whoever finds that it never
//! will be, with the cause. Events over one are unresolved until then. What depends on it is told without any lock held.
//! Must never make a native call, and never block anybody but in [`Promise::wait`].
//!
//! It is generic over the event, so that events may know promises.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Condvar, Mutex};

use crate::device::drain;
use crate::object::error::{Error, Result};
use crate::sync::resolution::Resolution;

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

    fn new(is_timepoint: bool) -> Arc<Self> {
        Arc::new(Self { resolution: Resolution::new(), wants_event: AtomicBool::new(false), is_timepoint })
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

    /// Resolves it and tells what depends on it; what is ready by that runs before this returns, unless it could block. The
    /// second of two changes nothing.
    pub fn resolve(&self, outcome: Outcome<E>) {
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
    is_resolved: Mutex<bool>,
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
