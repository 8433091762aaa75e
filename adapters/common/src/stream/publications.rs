//! What other processes are told when a stream reaches a position.
//!
//! They are told before this process knows, since it may end as soon as it knows: a signal that it has finished its queue for, and
//! that nobody else heard of, would be taken for one that was never reached. So whoever is about to note that commands have finished
//! tells of them first ([`Stream::note_completed`]), with whatever locks it holds. Hence what tells must neither block nor call the
//! native library, and lets go of memory alone.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;

use crate::driver::Driver;
use crate::stream::Stream;

/// Tells of one position.
pub type Tell = Box<dyn FnOnce() + Send>;

/// What is to be told of a stream, by position. A leaf lock, which is held while it is told: whoever then finds a position's entry gone
/// knows that others know.
#[derive(Default)]
pub(super) struct Publications(Mutex<VecDeque<(u64, Tell)>>);

impl<D: Driver> Stream<D> {
    /// Has something told once the stream has reached a position, or at once if that is known.
    pub fn publish_at(&self, position: u64, tell: Tell) {
        {
            let mut list = self.publications.0.lock();
            self.publishes.store(true, Ordering::Release);
            // Commands are numbered under the stream's lock and come here without it.
            let place = list.partition_point(|(other, _)| *other <= position);
            list.insert(place, (position, tell));
        }
        if self.is_completed(position) {
            self.publish(position);
        }
    }

    /// Tells of every position up to this one. The last one first, which often says all that the others say.
    #[cold]
    pub(super) fn publish(&self, position: u64) {
        let mut list = self.publications.0.lock();
        let reached = list.partition_point(|(other, _)| *other <= position);
        list.drain(..reached).rev().for_each(|(_, tell)| tell());
        self.publishes.store(!list.is_empty(), Ordering::Release);
    }

    /// Lets go of what would be told of a position, which never comes or was told in another way.
    pub fn forget_publications(&self, position: u64) {
        let mut list = self.publications.0.lock();
        let first = list.partition_point(|(other, _)| *other < position);
        let end = list.partition_point(|(other, _)| *other <= position);
        list.drain(first..end);
        self.publishes.store(!list.is_empty(), Ordering::Release);
    }
}
