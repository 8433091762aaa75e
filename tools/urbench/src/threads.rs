//! Stream-ordered memory from several threads, each with a queue of its own: how much more they do together than one.

use std::sync::Barrier;
use std::time::Instant;

use crate::Failure;
use crate::fixture::Fixture;
use crate::options::Options;
use crate::report::Case;
use crate::stats::Summary;

/// Threads of the wide case.
const MANY: usize = 8;
/// Bytes of an allocation.
const BLOCK: usize = 64 << 10;
/// Iterations between two waits for the queue.
const BATCH: u64 = 128;

/// Does one allocation and release, on the lane of a thread.
type Once<'a> = &'a (dyn Fn(usize) -> Result<(), Failure> + Sync);

/// Both cases: one thread and many, against the raw calls.
pub fn cases(fixture: &Fixture<'_>, options: &Options) -> Result<Vec<Case>, Failure> {
    let queues = (0..MANY).map(|_| fixture.new_queue()).collect::<Result<Vec<_>, _>>()?;
    let ur_once = |lane: usize| fixture.allocate_and_free(BLOCK, queues[lane].handle());
    let ur_wait = |lane: usize| Ok(fixture.ur.finish(queues[lane].handle())?);
    let [ur_one, ur_many] = measure(&ur_once, &ur_wait, options)?;
    let raw = raw(fixture, options)?;
    let scaling = ur_one.combine(&ur_many, |one, many| one / many);
    let raw_scaling = raw.as_ref().map(|[one, many]| one.combine(many, |one, many| one / many));
    let note = match raw_scaling {
        Some(raw) => format!("throughput x{:.2} of one thread (raw x{:.2})", scaling.median, raw.median),
        None => format!("throughput x{:.2} of one thread", scaling.median),
    };
    let [raw_one, raw_many] = raw.map_or([None, None], |rows| rows.map(Some));
    let case = |name: &str, measured: Summary, raw: Option<Summary>, note: String| Case {
        name: name.to_owned(),
        ratio: raw.as_ref().map(|raw| measured.combine(raw, |ur, raw| ur / raw)),
        measured,
        raw,
        note,
        ..Case::default()
    };
    Ok(vec![
        case("threads: 1, alloc + free 64 KiB", ur_one, raw_one, "per pair".to_owned()),
        case("threads: 8, alloc + free 64 KiB", ur_many, raw_many, format!("per pair, all together; {note}")),
    ])
}

fn raw(fixture: &Fixture<'_>, options: &Options) -> Result<Option<[Summary; 2]>, Failure> {
    let Some(raw) = &fixture.raw else { return Ok(None) };
    // Addresses, which threads may share; the driver's streams may be used from every thread.
    let streams = (0..MANY).map(|_| Ok(raw.new_stream()?.expose_provenance())).collect::<Result<Vec<_>, Failure>>()?;
    let stream = |lane: usize| std::ptr::with_exposed_provenance_mut(streams[lane]);
    let once = |lane: usize| raw.allocate_and_free(BLOCK, stream(lane));
    let wait = |lane: usize| raw.synchronize(stream(lane));
    let rows = measure(&once, &wait, options);
    for lane in 0..MANY {
        raw.destroy_stream(stream(lane))?;
    }
    rows.map(Some)
}

/// Nanoseconds per pair over all threads together, for one thread and for many, in alternating rounds.
fn measure(once: Once<'_>, wait: Once<'_>, options: &Options) -> Result<[Summary; 2], Failure> {
    let round = options.round_time.as_nanos() as f64;
    let first = round_of(1, BATCH, once, wait)?;
    // Long against the start of threads, and never less than one batch.
    let iterations = ((round / first.max(1.0)) as u64).clamp(BATCH, 1 << 20).next_multiple_of(BATCH);
    let mut rows = [Vec::new(), Vec::new()];
    for _ in 0..options.rounds {
        rows[0].push(round_of(1, iterations, once, wait)?);
        rows[1].push(round_of(MANY, iterations, once, wait)?);
    }
    Ok(rows.map(Summary::of))
}

/// Runs one round; from the first thread's start to the last one's end, over all pairs.
fn round_of(threads: usize, iterations: u64, once: Once<'_>, wait: Once<'_>) -> Result<f64, Failure> {
    let barrier = Barrier::new(threads);
    let lane = |lane: usize| {
        barrier.wait();
        let start = Instant::now();
        let done = (0..iterations).try_for_each(|number| {
            once(lane)?;
            if number % BATCH == BATCH - 1 { wait(lane) } else { Ok(()) }
        });
        done.map(|()| (start, Instant::now()))
    };
    let spans = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|number| scope.spawn(move || lane(number))).collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(Failure::Other("a thread panicked".to_owned()))))
            .collect::<Result<Vec<_>, _>>()
    })?;
    let (Some(start), Some(end)) = (spans.iter().map(|span| span.0).min(), spans.iter().map(|span| span.1).max())
    else {
        return Err(Failure::Other("a round without threads".to_owned()));
    };
    Ok((end - start).as_nanos() as f64 / (threads as u64 * iterations) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn every_thread_does_its_share_on_its_own_lane() {
        let counts: Vec<AtomicU64> = (0..MANY).map(|_| AtomicU64::new(0)).collect();
        let waits = AtomicU64::new(0);
        let once = |lane: usize| {
            counts[lane].fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        let wait = |_| {
            waits.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        let time = round_of(MANY, 2 * BATCH, &once, &wait).expect("nothing fails");
        assert!(time.is_finite());
        assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 2 * BATCH));
        assert_eq!(waits.load(Ordering::Relaxed), 2 * MANY as u64);
    }

    #[test]
    fn a_failing_thread_fails_the_round() {
        let once = |lane: usize| if lane == 3 { Err(Failure::Other("lane 3".to_owned())) } else { Ok(()) };
        let failure = round_of(MANY, 1, &once, &|_| Ok(())).expect_err("one of them fails");
        assert_eq!(failure.to_string(), "lane 3");
    }
}
