//! A finalised graph as it was when a launch of it was deferred.
//!
//! A change is for launches that are enqueued after it, so a deferred launch keeps what it was enqueued with. All that are
//! deferred between two changes share one snapshot. In the launch's turn the snapshot takes the place of what is known by then
//! (`Changes::exchange`), the native library is told, and what is known by then is told again before the next launch.

use smallvec::SmallVec;

use crate::driver::Driver;
use crate::graph::memory_uses::Used;
use crate::graph::named_event::Name;
use crate::graph::recorded_kernel::{NativeForm, RecordedKernel};

/// What changes can alter of a graph.
pub struct Snapshot<D: Driver> {
    /// Launches.
    pub launches: Vec<(RecordedKernel<D>, Option<NativeForm<D>>)>,
    /// What events' nodes name.
    pub events: SmallVec<[Name<D>; 2]>,
    /// What all commands together do with buffers and images.
    pub uses: Box<[Used<D>]>,
}

impl<D: Driver> Snapshot<D> {
    /// Whether a command that can be changed waits for an event that can be signalled again ([`Executable::follows_signals`]).
    ///
    /// [`Executable::follows_signals`]: crate::graph::executable::Executable::follows_signals
    pub fn follows_signals(&self) -> bool {
        self.events.iter().any(|event| event.can_be_signalled_again())
    }
}

impl<D: Driver> Clone for Snapshot<D> {
    fn clone(&self) -> Self {
        Self { launches: self.launches.clone(), events: self.events.clone(), uses: self.uses.clone() }
    }
}
