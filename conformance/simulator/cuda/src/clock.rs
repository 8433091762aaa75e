//! Which command is ordered before which: by streams, events and what the host waited for, never by chance.
//!
//! Each stream carries a vector clock: for every other stream, the number of its last command known to have finished
//! before the next command here may begin. Waits for events merge clocks. The host has one clock for all its threads:
//! synchronising and successful queries add to it, and whatever is submitted later is ordered after all that it holds.
//! Two streams that merely happened to run in a good order are not ordered, so that a client's error is found whichever
//! way the threads ran.
//!
//! A host function and a value wait can order anything, unseen. What had ended when one was over counts as ordered
//! before the commands behind it: that is a point's `floor`. A stream that is destroyed and has nothing left to do
//! counts as waited for, and clocks forget it; so a clock is never longer than twice the streams alive. So does a stream of a lost
//! device: what ran there has ended, and nothing else will.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use parking_lot::RwLock;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

static TICK: AtomicU64 = AtomicU64::new(1);

/// The next instant of the global order of submissions and completions.
pub fn tick() -> u64 {
    TICK.fetch_add(1, Ordering::AcqRel)
}

/// Numbers of the streams that exist or still have work to do, and whether their devices are lost.
static STREAMS: LazyLock<RwLock<HashMap<u64, &'static AtomicBool>>> = LazyLock::new(RwLock::default);

/// A stream begins, of a device that tells whether it is lost.
pub fn stream_begins(stream: u64, is_lost: &'static AtomicBool) {
    STREAMS.write().insert(stream, is_lost);
}

/// Whether nothing of a stream runs any more, or ever will.
fn is_over(stream: u64) -> bool {
    STREAMS.read().get(&stream).is_none_or(|is_lost| is_lost.load(Ordering::Acquire))
}

/// A stream is gone, its work done.
pub fn stream_ends(stream: u64) {
    STREAMS.write().remove(&stream);
}

/// A vector clock over stream numbers, sorted by them.
#[derive(Clone, Debug, Default)]
pub struct Clock(SmallVec<[(u64, u64); 4]>);

impl Clock {
    /// The last command of `stream` known to be done.
    pub fn get(&self, stream: u64) -> u64 {
        self.0.binary_search_by_key(&stream, |entry| entry.0).map_or(0, |index| self.0[index].1)
    }

    /// Learns that `stream` has got as far as `seq`.
    pub fn advance(&mut self, stream: u64, seq: u64) {
        match self.0.binary_search_by_key(&stream, |entry| entry.0) {
            Ok(index) => self.0[index].1 = self.0[index].1.max(seq),
            Err(index) => {
                self.0.insert(index, (stream, seq));
                self.prune();
            }
        }
    }

    /// Learns all that `other` knows.
    pub fn merge(&mut self, other: &Clock) {
        if self.covers(other) {
            return;
        }
        let mut merged = SmallVec::with_capacity(self.0.len() + other.0.len());
        let mut own = self.0.iter().copied().peekable();
        for &(stream, seq) in &other.0 {
            while let Some(entry) = own.next_if(|entry| entry.0 < stream) {
                merged.push(entry);
            }
            let known = own.next_if(|entry| entry.0 == stream).map_or(0, |entry| entry.1);
            merged.push((stream, seq.max(known)));
        }
        merged.extend(own);
        self.0 = merged;
        self.prune();
    }

    /// Whether it knows all that `other` does.
    pub fn covers(&self, other: &Clock) -> bool {
        let mut own = self.0.iter();
        other.0.iter().all(|entry| {
            own.find(|known| known.0 >= entry.0).is_some_and(|known| known.0 == entry.0 && known.1 >= entry.1)
        })
    }

    /// Forgets streams that are gone, when there may be many of them.
    fn prune(&mut self) {
        const FEW: usize = 8;
        if self.0.len() > FEW {
            let streams = STREAMS.read();
            if self.0.len() > 2 * streams.len() {
                self.0.retain(|entry| streams.contains_key(&entry.0));
            }
        }
    }
}

/// What the host knows to be done.
struct Host {
    clock: Arc<Clock>,
    /// See [`Point::floor`].
    floor: u64,
}

static HOST: LazyLock<RwLock<Host>> = LazyLock::new(|| RwLock::new(Host { clock: Arc::default(), floor: 0 }));

/// As [`host_learns`], by an event's query that found it done.
pub fn host_is_told(known: &Clock, floor: u64) {
    if crate::device::config().is_none_or(|config| config.event_queries_order) {
        host_learns(known, floor);
    }
}

/// The host learns all of `known`, and that what had ended by the tick `floor` has.
pub fn host_learns(known: &Clock, floor: u64) {
    {
        let host = HOST.read();
        if host.floor >= floor && host.clock.covers(known) {
            return;
        }
    }
    let mut host = HOST.write();
    host.floor = host.floor.max(floor);
    Arc::make_mut(&mut host.clock).merge(known);
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
    /// What its stream was ordered after.
    pub clock: Arc<Clock>,
    /// What the host knew when it was submitted.
    host: Arc<Clock>,
    /// What had ended at this tick is ordered before it, for reasons that cannot be seen.
    pub floor: u64,
    /// What its stream still waits for may order it after anything: only when it runs can its `floor` tell.
    pub unseen: bool,
}

impl Point {
    /// A point of a stream, submitted by the host now.
    pub fn now(stream: u64, seq: u64, clock: Arc<Clock>, floor: u64, unseen: bool) -> Self {
        let host = HOST.read();
        let (known, floor) = (host.clock.clone(), floor.max(host.floor));
        Self { stream, seq, tick: tick(), clock, host: known, floor, unseen }
    }

    /// A point of the host.
    pub fn host() -> Self {
        Self::now(0, 0, Arc::default(), 0, false)
    }

    /// Whether streams and events alone order the command after command `seq` of `stream`.
    pub fn is_after(&self, stream: u64, seq: u64) -> bool {
        stream == 0 || (stream == self.stream && seq <= self.seq) || self.clock.get(stream) >= seq
    }

    /// Whether these do or the host did, or something may that cannot be seen.
    pub fn knows(&self, stream: u64, seq: u64) -> bool {
        self.unseen || self.is_after(stream, seq) || self.host.get(stream) >= seq || is_over(stream)
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
        later.knows(self.point.stream, self.point.seq) || self.has_ended_before(later.floor)
    }
}

/// The last commands of each stream that used something, with the tick of the use.
#[derive(Debug, Default)]
pub struct Uses(SmallVec<[(u64, u64, u64); 2]>);

impl Uses {
    /// A command at `point` uses it.
    pub fn add(&mut self, point: &Point) {
        let tick = tick();
        match self.0.iter_mut().find(|known| known.0 == point.stream) {
            Some(known) => (known.1, known.2) = (known.1.max(point.seq), tick),
            None => {
                const FEW: usize = 8;
                if self.0.len() > FEW {
                    let streams = STREAMS.read();
                    self.0.retain(|known| streams.contains_key(&known.0));
                }
                self.0.push((point.stream, point.seq, tick));
            }
        }
    }

    /// Whether the command at `later` is ordered after all of them.
    pub fn are_before(&self, later: &Point) -> bool {
        self.0.iter().all(|&(stream, seq, tick)| later.knows(stream, seq) || tick < later.floor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(entries: &[(u64, u64)]) -> Clock {
        Clock(entries.iter().copied().collect())
    }

    #[test]
    fn a_merged_clock_knows_the_later_of_both() {
        let mut merged = clock(&[(2, 5), (4, 1), (9, 9)]);
        merged.merge(&clock(&[(1, 7), (4, 3), (9, 2), (11, 1)]));
        assert_eq!(merged.0.as_slice(), [(1, 7), (2, 5), (4, 3), (9, 9), (11, 1)]);
        assert!(merged.covers(&clock(&[(2, 5), (11, 1)])));
        assert!(!merged.covers(&clock(&[(2, 6)])) && !merged.covers(&clock(&[(3, 1)])));
    }

    #[test]
    fn a_clock_forgets_streams_that_ended() {
        static LOST: AtomicBool = AtomicBool::new(false);
        let first = u64::MAX / 2;
        let mut known = Clock::default();
        for stream in first..first + 10_000 {
            stream_begins(stream, &LOST);
            known.advance(stream, 1);
            stream_ends(stream);
        }
        assert!(known.0.len() < 100, "{} entries", known.0.len());
    }
}
