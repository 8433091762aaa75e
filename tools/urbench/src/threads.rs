//! Stream-ordered memory from several threads, each with a queue of its own, and plain memory: how much more they do together
//! than one. Beside it what the machine lets them do: a virtual one does not always say which of its cores are one.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use crate::Failure;
use crate::affinity::{self, Pinned};
use crate::fixture::Fixture;
use crate::options::Options;
use crate::outcome::Case;
use crate::raw::Kind;
use crate::stats::Summary;
use crate::work::objects;

/// Threads of the wide case.
const MANY: usize = 8;
/// The wide case's name.
pub const MANY_CASE: &str = "threads: 8, alloc + free 64 KiB";
/// The wide cases of plain memory.
pub const PLAIN_CASES: [&str; 2] = ["threads: 8, plain device memory 256 B", "threads: 8, plain device memory 64 KiB"];
/// The wide case of what shares nothing: no other can do better on the machine.
pub const MACHINE_CASE: &str = "threads: 8, arithmetic alone";
/// Threads that share a queue.
const SHARING: usize = 4;
/// Their case's name.
pub const SHARED_CASE: &str = "threads: 4, launch on one queue";
/// Launches between two waits: well below the depth of a stream, all threads together.
const LAUNCHES: u64 = 64;
/// Bytes of an allocation.
const BLOCK: usize = 64 << 10;
/// Iterations between two waits for the queue, which do not count.
const BATCH: u64 = 1024;
/// Calibration ends here.
const MOST: u64 = 1 << 22;

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
    let times = |scaling: &Summary| format!("x{:.2} of one thread", scaling.median);
    let note = match &raw_scaling {
        Some(raw) => format!("throughput {} (raw {})", times(&scaling), times(raw)),
        None => format!("throughput {}", times(&scaling)),
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
    let one = case("threads: 1, alloc + free 64 KiB", ur_one, raw_one, "per pair".to_owned());
    let many = case(MANY_CASE, ur_many, raw_many, format!("per pair, all together; {note}"));
    Ok(vec![one, Case { throughput: Some(scaling), raw_throughput: raw_scaling, ..many }])
}

/// Plain memory of one thread and of many, each block freed by its own thread. The raw calls wait for each other and are left
/// out.
pub fn plain(fixture: &Fixture<'_>, options: &Options) -> Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    let ones = ["threads: 1, plain device memory 256 B", "threads: 1, plain device memory 64 KiB"];
    for ((size, name_of_one), name_of_many) in [256, BLOCK].into_iter().zip(ones).zip(PLAIN_CASES) {
        let once = |_| {
            let memory = objects::allocate(fixture, Kind::Device, size)?;
            objects::free(fixture, memory)
        };
        let [one, many] = measure(&once, &|_| Ok(()), options)?;
        let scaling = one.combine(&many, |one, many| one / many);
        let note = format!("per pair, all together; throughput x{:.2} of one thread", scaling.median);
        let case = |name: &str, measured, note| Case { name: name.to_owned(), measured, note, ..Case::default() };
        cases.push(case(name_of_one, one, "per pair".to_owned()));
        cases.push(Case { throughput: Some(scaling), ..case(name_of_many, many, note) });
    }
    Ok(cases)
}

/// Arithmetic of one thread and of many, about as much as an allocation and its free take and as many at a time: threads whose cores
/// are one in the hardware are slower for that alone.
pub fn machine(options: &Options) -> Result<Vec<Case>, Failure> {
    let once = |lane: usize| {
        let mut values = [1, 3, 5, 7, 11, 13, 17, 19].map(|value| black_box(lane as u64 + value));
        for _ in 0..16 {
            values = values.map(|value| value.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23));
        }
        black_box(values);
        Ok(())
    };
    let [one, many] = measure(&once, &|_| Ok(()), options)?;
    let scaling = one.combine(&many, |one, many| one / many);
    let note = format!("throughput x{:.2} of one thread", scaling.median);
    let case =
        Case { name: MACHINE_CASE.to_owned(), measured: many, throughput: Some(scaling), note, ..Case::default() };
    Ok(vec![case])
}

/// Launches of several threads on one queue, against as many on one stream.
pub fn shared(fixture: &Fixture<'_>, options: &Options) -> Result<Vec<Case>, Failure> {
    fixture.kernel()?;
    let queue = fixture.new_queue()?;
    let ur_once = |_| fixture.launch_on(queue.handle());
    let ur_wait = |_| Ok(fixture.ur.finish(queue.handle())?);
    let raw = fixture.raw.as_ref().filter(|raw| raw.can_launch());
    let stream = raw.map(|raw| raw.new_stream().map(|stream| stream.expose_provenance())).transpose()?;
    let stream = stream.map(std::ptr::with_exposed_provenance_mut);
    // A stream's address may go to other threads as a number alone.
    let address = stream.map(|stream: *mut std::ffi::c_void| stream.expose_provenance()).unwrap_or(0);
    let there = || std::ptr::with_exposed_provenance_mut(address);
    let lacking = || Failure::Unavailable("there is no raw side".to_owned());
    let raw_once = |_| raw.ok_or_else(lacking)?.launch_on(there());
    let raw_wait = |_| raw.ok_or_else(lacking)?.synchronize(there());
    let sides: [(Once<'_>, Once<'_>); 2] = [(&ur_once, &ur_wait), (&raw_once, &raw_wait)];
    let sides = &sides[..1 + usize::from(raw.is_some())];
    let iterations = if options.quick { LAUNCHES } else { LAUNCHES * 16 };
    let mut rows = vec![Vec::new(); sides.len()];
    for round in 0..=options.rounds {
        for place in 0..sides.len() {
            let index = (place + round) % sides.len();
            let (once, wait) = sides[index];
            let lanes = if round > 0 { Lanes::bound(SHARING) } else { Lanes::free(SHARING) };
            let taken = round_in_batches(&lanes, iterations, LAUNCHES, once, wait)?;
            // The first one makes what is made at first need.
            if round > 0 {
                rows[index].push(taken);
            }
        }
    }
    if let (Some(raw), Some(stream)) = (raw, stream) {
        raw.destroy_stream(stream)?;
    }
    let mut rows = rows.into_iter().map(Summary::of);
    let measured = rows.next().unwrap_or_else(|| Summary::of(Vec::new()));
    let raw = rows.next();
    Ok(vec![Case {
        name: SHARED_CASE.to_owned(),
        ratio: raw.as_ref().map(|raw| measured.combine(raw, |ur, raw| ur / raw)),
        measured,
        raw,
        note: "per launch, all together".to_owned(),
        ..Case::default()
    }])
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
    // Every lane takes its first blocks here.
    round_of(&Lanes::free(MANY), BATCH, once, wait)?;
    let lanes = [1, MANY].map(Lanes::bound);
    let [one, many] = &lanes;
    let iterations = [calibrate(one, once, wait, options)?, calibrate(many, once, wait, options)?];
    let mut rows = [Vec::new(), Vec::new()];
    for round in 0..options.rounds {
        for place in 0..2 {
            let index = (place + round) % 2;
            rows[index].push(round_of(&lanes[index], iterations[index], once, wait)?);
        }
    }
    Ok(rows.map(Summary::of))
}

/// Pairs of each thread that take the time of a round: long against the start of threads, never less than one batch. Each number
/// of threads has its own: where they wait for each other, a round of many would take as much longer.
fn calibrate(lanes: &Lanes, once: Once<'_>, wait: Once<'_>, options: &Options) -> Result<u64, Failure> {
    let round = options.round_time.as_nanos() as f64;
    let mut iterations = BATCH;
    loop {
        let pair = (round_of(lanes, iterations, once, wait)? * lanes.threads as f64).max(0.1);
        if pair * iterations as f64 >= round || iterations >= MOST {
            return Ok(iterations);
        }
        let wanted = ((round / pair).ceil() as u64).next_multiple_of(BATCH);
        iterations = wanted.clamp(iterations + BATCH, iterations * 8).min(MOST);
    }
}

/// Threads of a round.
struct Lanes {
    threads: usize,
    /// The core of each, if there are enough: the slowest lane counts, and one that shares a core with another is slow for that
    /// alone.
    cores: Option<Vec<usize>>,
}

impl Lanes {
    /// Threads that run where the system lets them, for rounds in which something is made.
    fn free(threads: usize) -> Self {
        Self { threads, cores: None }
    }

    /// Threads with a core each.
    fn bound(threads: usize) -> Self {
        Self { threads, cores: affinity::cores_for(threads) }
    }
}

/// Runs one round; answers the time of the slowest lane over all pairs. As everywhere, waiting does not count.
fn round_of(lanes: &Lanes, iterations: u64, once: Once<'_>, wait: Once<'_>) -> Result<f64, Failure> {
    round_in_batches(lanes, iterations, BATCH, once, wait)
}

fn round_in_batches(
    Lanes { threads, cores }: &Lanes,
    iterations: u64,
    batch: u64,
    once: Once<'_>,
    wait: Once<'_>,
) -> Result<f64, Failure> {
    let threads = *threads;
    let barrier = Barrier::new(threads);
    let lane = |lane: usize| {
        let _pinned = cores.as_ref().map(|cores| Pinned::to(cores[lane]));
        barrier.wait();
        let (mut left, mut busy) = (iterations, Duration::ZERO);
        while left > 0 {
            let batch = left.min(batch);
            let start = Instant::now();
            (0..batch).try_for_each(|_| once(lane))?;
            busy += start.elapsed();
            wait(lane)?;
            left -= batch;
        }
        Ok(busy)
    };
    let busy = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|number| scope.spawn(move || lane(number))).collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(Failure::Other("a thread panicked".to_owned()))))
            .collect::<Result<Vec<_>, _>>()
    })?;
    let slowest = busy.into_iter().max().unwrap_or_default();
    Ok(slowest.as_nanos() as f64 / (threads as u64 * iterations) as f64)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn every_lane_does_all_pairs_and_its_waits_do_not_count() {
        let pairs = [const { AtomicU64::new(0) }; MANY];
        let waits = AtomicU64::new(0);
        let once = |lane: usize| {
            pairs[lane].fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        let wait = |_| {
            std::thread::sleep(Duration::from_millis(20));
            waits.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        let iterations = 2 * BATCH + 1;
        let pair = round_of(&Lanes::free(MANY), iterations, &once, &wait).expect("nothing fails");
        assert!(pairs.iter().all(|count| count.load(Ordering::Relaxed) == iterations));
        assert_eq!(waits.load(Ordering::Relaxed), 3 * MANY as u64);
        assert!(pair * (MANY as u64 * iterations) as f64 <= 59e6, "the waits alone take 60 ms: {pair} ns a pair");
    }

    #[test]
    fn what_takes_turns_does_no_more_in_many_threads_than_in_one() {
        let turn = Mutex::new(0_u64);
        let once = |_| {
            *turn.lock().expect("nobody panics") += 1;
            Ok(())
        };
        round_of(&Lanes::free(MANY), BATCH, &once, &|_| Ok(())).expect("nothing fails");
        assert_eq!(*turn.lock().expect("nobody panics"), BATCH * MANY as u64);
    }

    #[test]
    fn a_lane_that_fails_ends_the_round() {
        let once = |lane: usize| if lane == 3 { Err(Failure::Other("broken".into())) } else { Ok(()) };
        assert!(round_of(&Lanes::free(MANY), BATCH, &once, &|_| Ok(())).is_err());
    }

    #[test]
    fn lanes_that_are_bound_stay_on_their_cores_and_the_caller_where_it_was() {
        let Some(cores) = affinity::cores_for(2) else { return };
        let before = affinity::allowed_cores();
        let seen = [const { Mutex::new(Vec::new()) }; 2];
        let once = |lane: usize| {
            *seen[lane].lock().expect("nobody panics") = affinity::allowed_cores();
            Ok(())
        };
        round_of(&Lanes::bound(2), 1, &once, &|_| Ok(())).expect("nothing fails");
        assert_eq!(seen.map(|seen| seen.into_inner().expect("nobody panics")), [vec![cores[0]], vec![cores[1]]]);
        assert_eq!(affinity::allowed_cores(), before);
    }
}
