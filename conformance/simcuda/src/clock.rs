//! Which command is ordered before which, by streams, events and host synchronisation.
//!
//! Each stream carries a vector clock: for every other stream, the number of its last command known to have
//! finished before the next command here may begin. Waits merge clocks. What the host learned by synchronising is
//! covered by a global tick: a command that ended before another was submitted is ordered before it. Ordering
//! errors of a client are therefore found whichever way the threads happened to run.

use core::sync::atomic::{AtomicU64, Ordering};
use smallvec::SmallVec;
use std::sync::Arc;

static TICK: AtomicU64 = AtomicU64::new(1);

/// The next instant of the global order of submissions and completions.
pub fn tick() -> u64 {
    TICK.fetch_add(1, Ordering::AcqRel)
}

/// A vector clock over stream numbers.
#[derive(Clone, Debug, Default)]
pub struct Clock(SmallVec<[(u64, u64); 4]>);

impl Clock {
    /// The last command of `stream` known to be done.
    pub fn get(&self, stream: u64) -> u64 {
        self.0.iter().find(|(known, _)| *known == stream).map_or(0, |&(_, seq)| seq)
    }

    /// Learns that `stream` has got as far as `seq`. Answers whether that is news.
    pub fn advance(&mut self, stream: u64, seq: u64) -> bool {
        match self.0.iter_mut().find(|(known, _)| *known == stream) {
            Some((_, old)) if *old >= seq => return false,
            Some((_, old)) => *old = seq,
            None => self.0.push((stream, seq)),
        }
        true
    }

    /// Learns all that `other` knows.
    pub fn merge(&mut self, other: &Clock) {
        for &(stream, seq) in &other.0 {
            self.advance(stream, seq);
        }
    }
}

/// Where in the order one command stands.
#[derive(Clone, Debug)]
pub struct Point {
    /// Number of its stream; 0 is the host itself.
    pub stream: u64,
    /// Its number in that stream, from 1.
    pub seq: u64,
    /// When it was submitted.
    pub tick: u64,
    /// What was known to be done before it.
    pub clock: Arc<Clock>,
}

impl Point {
    /// A point of the host, which is ordered after all that has ended by now.
    pub fn host() -> Self {
        Self { stream: 0, seq: 0, tick: tick(), clock: Arc::default() }
    }

    /// Whether the command at `self` is ordered after command `seq` of `stream`.
    pub fn is_after(&self, stream: u64, seq: u64) -> bool {
        stream == 0 || (stream == self.stream && seq <= self.seq) || self.clock.get(stream) >= seq
    }
}

/// A command that others may have to be ordered after, and when it ended.
#[derive(Debug)]
pub struct Milestone {
    /// Where it stands.
    pub point: Point,
    ended: AtomicU64,
}

impl Milestone {
    /// A command that has not ended.
    pub fn pending(point: Point) -> Self {
        Self { point, ended: AtomicU64::new(0) }
    }

    /// Something the host did at once.
    pub fn immediate() -> Self {
        let point = Point::host();
        Self { ended: AtomicU64::new(point.tick), point }
    }

    /// Marks the end.
    pub fn end(&self) {
        self.ended.store(tick(), Ordering::Release);
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire) != 0
    }

    /// Whether it had ended at that tick.
    pub fn has_ended_before(&self, tick: u64) -> bool {
        let ended = self.ended.load(Ordering::Acquire);
        ended != 0 && ended < tick
    }

    /// Whether the command at `later` is ordered after this one.
    pub fn is_before(&self, later: &Point) -> bool {
        self.has_ended_before(later.tick) || later.is_after(self.point.stream, self.point.seq)
    }
}
