//! How far the streams of a context are, for whoever reads it and writes nothing.
//!
//! A thread that uses its freed blocks of plain memory again must know that all work from before their frees is over. Nearly
//! always every stream is idle and somebody has noted so. To ask the streams themselves ([`super::plain::progress`]) takes a dozen exchanges on lines
//! that all threads have in common, and threads that ask at one time take turns, so here each reads the positions alone
//! (`urbench`'s row "8 threads, plain device memory 64 KiB").
//!
//! What is said here is right for the work that the calling thread knows to be enqueued: it has read positions, and the count of
//! streams that came and went, not older than those. Nothing here may keep a stream alive, ask the native library, or take a
//! stream's work for finished that nobody has noted to be.

use std::sync::Arc;

use crate::sync::cache_padded::CachePadded;
use crate::sync::mutation;
use crate::sync::{AtomicBool, AtomicU64, Ordering};

/// Of more streams none are read here: it would take as long as to ask them.
const MOST: usize = 64;

/// Set in [`Position::completed`] while the stream has somebody to tell how far it is: no part of the number.
pub const TELLS: u64 = 1 << 63;

/// How far a stream is. It outlives the stream for those who still read it.
#[derive(Default)]
pub struct Position {
    /// The number of the last command when the stream's lock was last given back.
    pub published: AtomicU64,
    /// The number of the last command that is known to have finished, and [`TELLS`].
    pub completed: AtomicU64,
    /// Whether somebody else may put work on the stream, which has no number.
    pub shared: AtomicBool,
    /// Whether the holder of the stream's lock is inside a native call that can block, with every earlier event recorded.
    pub calling: AtomicBool,
}

impl Position {
    /// The number of the last command that is known to have finished.
    #[inline(always)]
    pub fn completed(&self) -> u64 {
        self.completed.load(Ordering::Acquire) & !TELLS
    }

    /// Whether all that the stream was given is known to have finished.
    #[inline]
    pub fn is_known_idle(&self) -> bool {
        let published = self.published.load(Ordering::Acquire);
        let is_shared = self.shared.load(Ordering::Acquire);
        !is_shared && self.completed() >= published && !self.calling.load(Ordering::Acquire)
    }
}

/// A position on lines of its own: its stream writes it with every command.
pub type PaddedPosition = CachePadded<Position>;

/// Counts the streams of a context that come and go. Every refill of plain memory reads it.
#[derive(Default)]
pub struct Changes(CachePadded<AtomicU64>);

impl Changes {
    /// A stream has come, or goes: to be called before anybody can know.
    pub fn note(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// Every stream that a context had at one moment.
pub struct KnownStreams {
    /// [`Changes`] at that moment.
    moment: u64,
    positions: Box<[Arc<PaddedPosition>]>,
}

impl KnownStreams {
    /// Those of now, unless they are too many. None may come or go meanwhile.
    pub fn of<'p>(
        changes: &Changes,
        positions: impl ExactSizeIterator<Item = &'p Arc<PaddedPosition>>,
    ) -> Option<Self> {
        (positions.len() <= MOST).then(|| Self { moment: changes.count(), positions: positions.cloned().collect() })
    }

    /// Whether no stream has come or gone since.
    #[inline]
    pub fn are_all(&self, changes: &Changes) -> bool {
        self.moment == changes.count()
    }

    /// Whether all that the context's streams were given is known to have finished, as far as those are still these.
    #[inline]
    pub fn are_idle(&self, changes: &Changes) -> bool {
        let are_idle = self.are_all(changes) && self.positions.iter().all(|position| position.is_known_idle());
        are_idle || mutation::is(mutation::Bug::PlainBlockTooEarly)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn streams(count: usize) -> Vec<Arc<PaddedPosition>> {
        (0..count).map(|_| Arc::default()).collect()
    }

    #[test]
    fn streams_are_idle_until_one_of_them_is_given_more_than_is_known_to_have_finished() {
        let (changes, streams) = (Changes::default(), streams(3));
        let known = KnownStreams::of(&changes, streams.iter()).expect("they are few");
        assert!(known.are_idle(&changes));
        streams[1].published.store(5, Ordering::Release);
        assert!(!known.are_idle(&changes));
        streams[1].completed.store(4 | TELLS, Ordering::Release);
        assert!(!known.are_idle(&changes));
        streams[1].completed.store(5 | TELLS, Ordering::Release);
        assert!(known.are_idle(&changes), "who is to be told is no part of the number");
    }

    #[test]
    fn streams_that_somebody_else_has_or_is_inside_of_are_not_known_to_be_idle() {
        let (changes, streams) = (Changes::default(), streams(2));
        let known = KnownStreams::of(&changes, streams.iter()).expect("they are few");
        for flag in [&streams[0].shared, &streams[1].calling] {
            flag.store(true, Ordering::Release);
            assert!(!known.are_idle(&changes));
            flag.store(false, Ordering::Release);
            assert!(known.are_idle(&changes));
        }
    }

    #[test]
    fn nothing_is_said_once_a_stream_has_come_or_gone_nor_of_many() {
        let (changes, streams) = (Changes::default(), streams(MOST + 1));
        assert!(KnownStreams::of(&changes, streams.iter()).is_none());
        let known = KnownStreams::of(&changes, streams[1..].iter()).expect("they are not too many");
        assert!(known.are_idle(&changes) && known.are_all(&changes));
        changes.note();
        assert!(!known.are_idle(&changes) && !known.are_all(&changes));
    }
}

/// Run with `cargo xtask races`.
#[cfg(all(test, loom))]
mod model {
    use super::*;

    /// One thread makes a stream, gives two a command each and tells another one, which has a list from before.
    #[test]
    fn whoever_knows_of_work_does_not_take_the_streams_for_idle() {
        loom::model(|| {
            let changes = Arc::new(Changes::default());
            let old = Arc::<PaddedPosition>::default();
            let known = KnownStreams::of(&changes, std::iter::once(&old)).expect("it is one");
            let told = Arc::new(AtomicU64::new(0));
            let other = {
                let (changes, old, told) = (Arc::clone(&changes), Arc::clone(&old), Arc::clone(&told));
                loom::thread::spawn(move || {
                    changes.note();
                    let new = PaddedPosition::default();
                    new.published.store(1, Ordering::Release);
                    told.store(1, Ordering::Release);
                    old.published.store(1, Ordering::Release);
                    told.store(2, Ordering::Release);
                })
            };
            let knows = told.load(Ordering::Acquire);
            let is_idle = known.are_idle(&changes);
            assert!(knows == 0 || !is_idle, "it knows of {knows}");
            other.join().expect("it gives commands");
        });
    }
}
