//! Programs of several threads: what each thread does, and where one must wait for another before it goes on.
//!
//! A program is planned from a seed, one step after the other, each for one thread. What a step relies on of another
//! thread's (an address, an event, a queue, that a command was enqueued) stands in [`ThreadStep::after`]; everything else is
//! left to chance. Since a step only waits for steps that were planned before it, no program can block itself. The order
//! that commands need on the device is given by events, barriers, waits of the host or `urQueueFinish`, chosen at random.
//!
//! Which of two threads' commands an in-order queue gets first is known only where one thread waits for the other, so the
//! planner counts as ordered only what is ordered in every run of the program.

mod plan;
pub mod random;

use core::fmt;

pub use plan::plan;
pub use random::Random;

use crate::set::Set;
use crate::state::{EventId, Flavour};
use crate::step::Step;

/// One step of a thread.
#[derive(Clone, Debug)]
pub struct ThreadStep {
    /// Threads, and how many steps each must have taken before this one.
    pub after: Vec<(usize, usize)>,
    /// What is done.
    pub step: Step,
}

/// A program of several threads.
#[derive(Clone, Debug, Default)]
pub struct Threaded {
    /// Queues of all threads, which are made before the threads start.
    pub shared: Vec<Step>,
    /// Pools, which are made before the threads start. The first is the device's default pool.
    pub pools: Vec<Flavour>,
    /// The steps of each thread.
    pub threads: Vec<Vec<ThreadStep>>,
    /// How often each event is used; an event that is kept to the end counts one use more.
    pub uses: Vec<usize>,
    /// How many blocks there are.
    pub blocks: usize,
    /// How many queues there are, the shared ones among them.
    pub queues: usize,
    /// The commands that are kernels.
    pub kernels: Set,
}

impl Threaded {
    /// The events that a step waits for, or asks.
    #[must_use]
    pub fn events_of(step: &Step) -> &[EventId] {
        match step {
            Step::Alloc { waits, .. }
            | Step::Free { waits, .. }
            | Step::Fill { waits, .. }
            | Step::Copy { waits, .. }
            | Step::Kernel { waits, .. }
            | Step::Read { waits, .. }
            | Step::Wait { waits, .. } => waits,
            Step::WaitHere { events, .. } => events,
            Step::Poll { event, .. } | Step::Look { event, .. } => core::slice::from_ref(event),
            _ => &[],
        }
    }

    /// All steps of all threads.
    pub fn steps(&self) -> impl Iterator<Item = &ThreadStep> {
        self.threads.iter().flatten()
    }
}

impl fmt::Display for ThreadStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (thread, steps) in &self.after {
            write!(f, "[after {steps} steps of t{thread}] ")?;
        }
        write!(f, "{}", self.step)
    }
}
