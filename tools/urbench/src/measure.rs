//! Rounds: bodies that do the same work in two ways are warmed up, calibrated to a time, and run in turn on one core. A
//! round is made of slices whose order changes as in A B B A B A A B, so that a drift of the machine falls on both alike.
//! Nothing is printed or allocated in between.

use std::time::{Duration, Instant};

use ur_client::NativeCalls;

use crate::Failure;
use crate::affinity::Pinned;
use crate::calls::{Calls, Counter};
use crate::options::Options;
use crate::stats::Summary;

/// Iterations that are enqueued before the queue is waited for: well below the depth of a stream.
const BATCH: u64 = 128;
/// Iterations of the pass that counts native calls.
const COUNTED: u64 = 64;
/// So many passes come before it. What the library makes once and keeps, as events for so many signals on their way, takes several.
const WARM: u64 = 8;
/// Slices of a round, for each body.
const SLICES: u32 = 4;
/// Calibration ends here, for bodies that the compiler or the library makes nearly free.
const MOST: u64 = 1 << 24;

/// What is between its start and stop is measured: time, or native calls in the counting pass.
pub struct Meter<'a> {
    counter: Option<Counter<'a>>,
    started: Instant,
    /// Time so far.
    pub time: Duration,
}

impl<'a> Meter<'a> {
    fn new(calls: Option<&'a NativeCalls>) -> Self {
        Self { counter: calls.map(Counter::new), started: Instant::now(), time: Duration::ZERO }
    }

    /// The measured part begins.
    pub fn start(&mut self) {
        if let Some(counter) = &mut self.counter {
            counter.start();
        }
        self.started = Instant::now();
    }

    /// The part whose native calls count ends; its time does not count, since the body adds another.
    pub fn stop_counting(&mut self) {
        if let Some(counter) = &mut self.counter {
            counter.stop();
        }
    }

    /// The measured part ends.
    pub fn stop(&mut self) {
        self.time += self.started.elapsed();
        if let Some(counter) = &mut self.counter {
            counter.stop();
        }
    }
}

/// Does the work so many times, and tells the meter what of it counts.
pub type Body<'b> = Box<dyn FnMut(u64, &mut Meter<'_>) -> Result<(), Failure> + 'b>;

/// Enqueues the work in batches; waiting between them does not count.
pub fn batches(
    iterations: u64,
    meter: &mut Meter<'_>,
    mut enqueue: impl FnMut() -> Result<(), Failure>,
    mut finish: impl FnMut() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut left = iterations;
    while left > 0 {
        let batch = left.min(BATCH);
        meter.start();
        for _ in 0..batch {
            enqueue()?;
        }
        meter.stop();
        finish()?;
        left -= batch;
    }
    Ok(())
}

/// Does the work without a pause.
pub fn straight(
    iterations: u64,
    meter: &mut Meter<'_>,
    mut work: impl FnMut() -> Result<(), Failure>,
) -> Result<(), Failure> {
    meter.start();
    for _ in 0..iterations {
        work()?;
    }
    meter.stop();
    Ok(())
}

fn timed(body: &mut Body<'_>, iterations: u64) -> Result<Duration, Failure> {
    let mut meter = Meter::new(None);
    body(iterations, &mut meter)?;
    Ok(meter.time)
}

/// How many iterations take the time of a round; warms the body up on the way.
fn calibrate(body: &mut Body<'_>, time: Duration) -> Result<u64, Failure> {
    // What is made at first need takes longer than a round and would pass for one.
    timed(body, BATCH)?;
    let mut iterations = 1;
    loop {
        let taken = timed(body, iterations)?;
        if taken >= time || iterations >= MOST {
            return Ok(iterations);
        }
        // Never more than eightfold at once: first iterations are slower than the later ones.
        let wanted = time.as_nanos() as f64 / taken.as_nanos().max(1) as f64 * iterations as f64;
        iterations = (wanted.ceil() as u64).clamp(iterations + 1, iterations * 8).min(MOST);
    }
}

/// The order of the bodies in a slice: forward or backward, so that over rounds and slices both come first equally often,
/// and neither always after itself.
fn order(round: usize, slice: u32, bodies: usize) -> impl Iterator<Item = usize> {
    let backward = (round + slice.count_ones() as usize) % 2 == 1;
    (0..bodies).map(move |place| if backward { bodies - 1 - place } else { place })
}

/// Nanoseconds per iteration of each body, round by round.
pub fn rounds(bodies: &mut [Body<'_>], options: &Options) -> Result<Vec<Summary>, Failure> {
    let mut counts = Vec::with_capacity(bodies.len());
    for body in bodies.iter_mut() {
        counts.push(calibrate(body, options.round_time / SLICES)?);
    }
    let mut rows = vec![Vec::with_capacity(options.rounds); bodies.len()];
    let _pinned = Pinned::here();
    for round in 0..options.rounds {
        let mut taken = vec![Duration::ZERO; bodies.len()];
        for slice in 0..SLICES {
            for index in order(round, slice, bodies.len()) {
                taken[index] += timed(&mut bodies[index], counts[index])?;
            }
        }
        for (index, taken) in taken.into_iter().enumerate() {
            rows[index].push(taken.as_nanos() as f64 / (counts[index] * u64::from(SLICES)) as f64);
        }
    }
    Ok(rows.into_iter().map(Summary::of).collect())
}

/// Native calls per iteration, if they can be counted; the body runs several times as often before, to be warm.
pub fn native_calls(body: &mut Body<'_>, calls: Option<&NativeCalls>) -> Result<Option<Calls>, Failure> {
    let Some(calls) = calls else { return Ok(None) };
    timed(body, WARM * COUNTED)?;
    let mut meter = Meter::new(Some(calls));
    body(COUNTED, &mut meter)?;
    Ok(meter.counter.map(|counter| counter.per(COUNTED)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn options(rounds: usize) -> Options {
        Options { rounds, round_time: Duration::from_micros(500), ..Options::default() }
    }

    /// A body that takes a made-up time.
    fn body<'b>(nanoseconds: u64, log: &'b Cell<u64>) -> Body<'b> {
        Box::new(move |iterations, meter| {
            log.set(log.get() + 1);
            meter.time += Duration::from_nanos(nanoseconds * iterations);
            Ok(())
        })
    }

    #[test]
    fn every_body_runs_in_every_round_and_is_told_per_iteration() {
        let (first, second) = (Cell::new(0), Cell::new(0));
        let rows = rounds(&mut [body(100, &first), body(300, &second)], &options(5)).expect("bodies cannot fail");
        assert_eq!((rows[0].median, rows[1].median), (100.0, 300.0));
        assert_eq!((rows[0].rounds.len(), rows[1].rounds.len()), (5, 5));
        assert!(first.get() > 5 && second.get() > 5, "calibration comes on top");
    }

    #[test]
    fn calibration_reaches_the_time_of_a_round_and_stops() {
        let log = Cell::new(0);
        assert!(calibrate(&mut body(1000, &log), Duration::from_micros(500)).expect("no failure") >= 500);
        assert_eq!(calibrate(&mut body(0, &log), Duration::from_secs(1)).expect("no failure"), MOST);
    }

    #[test]
    fn batches_do_all_iterations_and_finish_between() {
        let (done, finished) = (Cell::new(0), Cell::new(0));
        let mut meter = Meter::new(None);
        let add = |counter: &Cell<u64>| {
            counter.set(counter.get() + 1);
            Ok(())
        };
        let (enqueue, finish) = (|| add(&done), || add(&finished));
        batches(2 * BATCH + 1, &mut meter, enqueue, finish).expect("no failure");
        assert_eq!((done.get(), finished.get()), (2 * BATCH + 1, 3));
    }

    #[test]
    fn the_order_changes_within_a_round_and_between_rounds() {
        let round = |number| (0..SLICES).flat_map(|slice| order(number, slice, 2)).collect::<Vec<_>>();
        assert_eq!(round(0), [0, 1, 1, 0, 1, 0, 0, 1]);
        assert_eq!(round(1), [1, 0, 0, 1, 0, 1, 1, 0]);
        assert_eq!(order(1, 0, 1).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn a_failure_ends_the_case() {
        let mut failing: Body<'_> = Box::new(|_, _| Err(Failure::Other("broken".into())));
        assert!(native_calls(&mut failing, None).expect("nothing to count").is_none());
        assert!(rounds(&mut [failing], &options(2)).is_err());
    }
}
