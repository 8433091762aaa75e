//! How far a stream is known to have come, and what other processes are told of that first.
//!
//! They are told before this process knows, since it may end as soon as it knows: a signal that it has finished its queue for, and
//! that nobody else heard of, would be taken for one that was never reached. So whoever is about to note a position tells of it
//! first ([`Completed::note`]), with whatever locks it holds. Hence what tells must neither block nor call the native library, and
//! lets go of memory alone.
//!
//! While anything is to be told, the top bit of the position says so and positions are noted under the list's lock; without it, by
//! one exchange, which fails if the bit has come meanwhile.

use std::collections::VecDeque;
use std::sync::OnceLock;

use crate::memory_pool::position::TELLS;
use crate::sync::unlikely::unlikely;
use crate::sync::{AtomicU64, Mutex, Ordering};

/// Tells of one position.
pub type Tell = Box<dyn FnOnce() + Send>;

/// What is to be told of a stream.
pub(super) struct Publications {
    /// By position. A leaf lock, held while it is told: whoever then finds a position's entry gone knows that others know.
    list: Mutex<VecDeque<(u64, Tell)>>,
    /// Whether the device knows the stream as one that tells.
    is_listed: OnceLock<()>,
}

impl Default for Publications {
    fn default() -> Self {
        Self { list: Mutex::new(VecDeque::new()), is_listed: OnceLock::new() }
    }
}

impl Publications {
    /// Makes the stream known to its device as one that tells, if it is not.
    pub(super) fn list_once(&self, list: impl FnOnce()) {
        self.is_listed.get_or_init(list);
    }
}

/// The number of the last command that is known to have finished, to be written.
#[derive(Clone, Copy)]
pub(super) struct Completed<'p>(pub(super) &'p AtomicU64);

impl Completed<'_> {
    /// Notes that every command up to `position` has finished.
    #[inline]
    pub(super) fn note(self, position: u64, publications: &Publications) {
        let mut known = self.0.load(Ordering::Acquire);
        while known & !TELLS < position {
            if unlikely!(known & TELLS != 0) {
                return self.tell_and_note(position, publications);
            }
            match self.0.compare_exchange_weak(known, position, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(now) => known = now,
            }
        }
    }

    /// The last position is told first: it often says all that the others say.
    #[cold]
    #[inline(never)]
    fn tell_and_note(self, position: u64, publications: &Publications) {
        let mut list = publications.list.lock();
        let reached = list.partition_point(|(other, _)| *other <= position);
        list.drain(..reached).rev().for_each(|(_, tell)| tell());
        let bit = if list.is_empty() { 0 } else { TELLS };
        self.change(|known| (known & !TELLS).max(position) | bit);
    }

    /// Has something told before a position is noted; at once, if that has been.
    pub(super) fn publish_at(self, position: u64, tell: Tell, publications: &Publications) {
        let mut list = publications.list.lock();
        if self.change(|known| known | TELLS) & !TELLS < position {
            // Commands are numbered under the stream's lock and come here without it.
            let place = list.partition_point(|(other, _)| *other <= position);
            list.insert(place, (position, tell));
            return;
        }
        tell();
        self.clear_if_empty(&list);
    }

    /// Lets go of what would be told of a position.
    pub(super) fn forget(self, position: u64, publications: &Publications) {
        let mut list = publications.list.lock();
        let first = list.partition_point(|(other, _)| *other < position);
        let end = list.partition_point(|(other, _)| *other <= position);
        list.drain(first..end);
        self.clear_if_empty(&list);
    }

    /// Called with the list's lock, as whatever changes the bit.
    fn clear_if_empty(self, list: &VecDeque<(u64, Tell)>) {
        if list.is_empty() {
            self.change(|known| known & !TELLS);
        }
    }

    /// Answers what it was before.
    fn change(self, to: impl Fn(u64) -> u64) -> u64 {
        let mut known = self.0.load(Ordering::Acquire);
        loop {
            match self.0.compare_exchange(known, to(known), Ordering::AcqRel, Ordering::Acquire) {
                Ok(before) => return before,
                Err(now) => known = now,
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::memory_pool::position::Position;

    /// A stream's two parts, and a list of what was told.
    #[derive(Default)]
    struct Told(Position, Publications, Arc<Mutex<Vec<u64>>>);

    impl Told {
        fn completed(&self) -> Completed<'_> {
            Completed(&self.0.completed)
        }

        fn publish(&self, position: u64) {
            let told = Arc::clone(&self.2);
            self.completed().publish_at(position, Box::new(move || told.lock().push(position)), &self.1);
        }

        fn note(&self, position: u64) -> Vec<u64> {
            self.completed().note(position, &self.1);
            core::mem::take(&mut *self.2.lock())
        }
    }

    #[test]
    fn positions_are_told_once_when_they_are_noted_and_no_later_ones() {
        let stream = Told::default();
        [3, 9, 5, 5].into_iter().for_each(|position| stream.publish(position));
        assert_eq!((stream.note(2), stream.note(5), stream.note(5)), (vec![], vec![5, 5, 3], vec![]));
        assert_eq!((stream.0.completed(), stream.note(8), stream.0.completed()), (5, vec![], 8));
        stream.publish(7);
        assert_eq!((stream.note(8), stream.0.completed()), (vec![7], 8), "it had been noted");
        assert_eq!((stream.note(20), stream.0.completed()), (vec![9], 20));
        assert_eq!(stream.0.completed.load(Ordering::Relaxed) & TELLS, 0);
    }

    #[test]
    fn a_position_that_is_forgotten_is_not_told() {
        let stream = Told::default();
        [3, 4, 4, 5].into_iter().for_each(|position| stream.publish(position));
        stream.completed().forget(4, &stream.1);
        assert_eq!(stream.note(9), [5, 3]);
        stream.publish(12);
        stream.completed().forget(12, &stream.1);
        assert_eq!((stream.note(30), stream.0.completed.load(Ordering::Relaxed)), (vec![], 30));
    }
}

/// Run with `cargo xtask races`.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::memory_pool::position::Position;
    use crate::sync::{Arc, AtomicBool};

    #[test]
    fn whoever_finds_a_position_noted_that_is_published_finds_it_told() {
        loom::model(|| {
            let stream = Arc::new((Position::default(), Publications::default()));
            let told = Arc::new(AtomicBool::new(false));
            let others = [4, 7].map(|position| {
                let stream = Arc::clone(&stream);
                loom::thread::spawn(move || Completed(&stream.0.completed).note(position, &stream.1))
            });
            let word = Arc::clone(&told);
            Completed(&stream.0.completed).publish_at(
                5,
                Box::new(move || word.store(true, Ordering::Release)),
                &stream.1,
            );
            if stream.0.completed() >= 5 {
                assert!(told.load(Ordering::Acquire));
            }
            others.into_iter().for_each(|thread| thread.join().expect("it notes"));
            assert!(stream.0.completed() == 7 && told.load(Ordering::Acquire));
        });
    }
}
