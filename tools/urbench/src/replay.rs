//! Allocations of real programs, replayed: by the UR, by raw calls, and by raw calls below a pool of buckets as the vendor's
//! adapters have one. One row a trace and side: the time of all steps, and in the note the most memory that the side had.
//!
//! Traces are `traces/*.txt`, whose format and makers `traces/make.py` explains. Nothing uses the memory. The threads of a
//! trace are threads of the UR's replay with several; every other replay makes the steps in their order on one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use ur_client::call;
use ur_client::ffi::ur_context_info_t;

use crate::Failure;
use crate::fixture::Fixture;
use crate::options::Options;
use crate::outcome::{Case, Named};
use crate::raw::{Address, Kind, Raw};
use crate::stats::Summary;
use crate::work::objects;

const TRACES: [(&str, &str); 2] =
    [("dpctl", include_str!("../traces/dpctl.txt")), ("training", include_str!("../traces/training.txt"))];

/// Replays of each side. All of the UR's come before the raw ones, so the printed ratio has the machine's drift in it; no goal uses it.
const COUNT: usize = 9;
const FEW: usize = 3;

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Allocate { thread: usize, kind: Kind, size: usize, number: usize },
    Free { thread: usize, number: usize },
}

impl Step {
    fn thread(self) -> usize {
        match self {
            Step::Allocate { thread, .. } | Step::Free { thread, .. } => thread,
        }
    }
}

/// A trace.
#[derive(Debug)]
struct Trace {
    steps: Vec<Step>,
    /// Kind and size of every allocation.
    allocations: Vec<(Kind, usize)>,
    threads: usize,
}

impl Trace {
    /// Reads a trace; what is still live at its end is freed by the first thread.
    fn read(text: &str) -> Result<Self, Failure> {
        let mut trace = Self { steps: Vec::new(), allocations: Vec::new(), threads: 1 };
        let mut live = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let wrong = || Failure::Other(format!("line {} of the trace is no step: `{line}`", index + 1));
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = |word: &str| word.parse::<usize>().map_err(|_| wrong());
            let step = match words[..] {
                [] => continue,
                [word, ..] if word.starts_with('#') => continue,
                ["a", thread, kind, size] => {
                    let kind = match kind {
                        "d" => Kind::Device,
                        "h" => Kind::Host,
                        "s" => Kind::Shared,
                        _ => return Err(wrong()),
                    };
                    trace.allocations.push((kind, number(size)?));
                    live.push(true);
                    Step::Allocate { thread: number(thread)?, kind, size: number(size)?, number: live.len() - 1 }
                }
                ["f", thread, one] => {
                    let one = number(one)?;
                    if !live.get_mut(one).is_some_and(std::mem::take) {
                        return Err(wrong());
                    }
                    Step::Free { thread: number(thread)?, number: one }
                }
                _ => return Err(wrong()),
            };
            trace.threads = trace.threads.max(step.thread() + 1);
            trace.steps.push(step);
        }
        let left = live.iter().enumerate().filter(|(_, live)| **live);
        trace.steps.extend(left.map(|(number, _)| Step::Free { thread: 0, number }));
        Ok(trace)
    }

    /// The most bytes that are live at once.
    fn most_live(&self) -> usize {
        let (mut live, mut most) = (0, 0);
        for step in &self.steps {
            match *step {
                Step::Allocate { size, .. } => live += size,
                Step::Free { number, .. } => live -= self.allocations[number].1,
            }
            most = most.max(live);
        }
        most
    }
}

/// Whoever gives memory in a replay.
trait Side {
    fn allocate(&mut self, kind: Kind, size: usize) -> Result<usize, Failure>;
    fn free(&mut self, kind: Kind, size: usize, address: usize) -> Result<(), Failure>;
    /// Bytes that it has of the native library now, if that can be told.
    fn held(&self) -> Option<usize>;
}

/// The UR.
struct OfUr<'f>(&'f Fixture<'f>);

impl Side for OfUr<'_> {
    fn allocate(&mut self, kind: Kind, size: usize) -> Result<usize, Failure> {
        objects::allocate(self.0, kind, size).map(|memory| memory.expose_provenance())
    }

    fn free(&mut self, _: Kind, _: usize, address: usize) -> Result<(), Failure> {
        objects::free(self.0, std::ptr::with_exposed_provenance_mut(address))
    }

    fn held(&self) -> Option<usize> {
        let (ur, context) = (self.0.ur, self.0.context.handle());
        let (mut bytes, property) = (0_u64, ur_context_info_t::USM_RESERVED_BYTES_EXP);
        let out = (&raw mut bytes).cast();
        // SAFETY: a live handle and a writable value of the property's size.
        unsafe { call!(ur, Context.pfnGetInfo(context, property, size_of::<u64>(), out, std::ptr::null_mut())) }
            .ok()?;
        usize::try_from(bytes).ok()
    }
}

/// Raw calls, one a step.
struct OfRaw<'r> {
    raw: &'r Raw,
    held: usize,
}

impl Side for OfRaw<'_> {
    fn allocate(&mut self, kind: Kind, size: usize) -> Result<usize, Failure> {
        let address = self.raw.allocate(kind, size)?;
        self.held += size;
        Ok(address as usize)
    }

    fn free(&mut self, kind: Kind, size: usize, address: usize) -> Result<(), Failure> {
        self.held -= size;
        self.raw.free(kind, address as Address)
    }

    fn held(&self) -> Option<usize> {
        Some(self.held)
    }
}

/// Raw calls below buckets, after the documentation of the Unified Memory Framework's disjoint pool with the vendor's
/// settings: buckets of a power of two and of one and a half, slabs of 64 KiB, requests above 2 MiB (host memory) or
/// 4 MiB go to the driver, and four free slabs or large blocks a bucket stay.
struct OfBuckets<'r> {
    raw: OfRaw<'r>,
    free: HashMap<(Kind, usize), Vec<usize>>,
    /// The slab of each small block, and how many of its blocks are out.
    slabs: HashMap<usize, (usize, usize)>,
}

const SLAB: usize = 64 << 10;
const BUCKET_KEEPS: usize = 4;

impl OfBuckets<'_> {
    fn bucket(size: usize) -> usize {
        let whole = size.max(64).next_power_of_two();
        if size.max(64) <= whole / 4 * 3 { whole / 4 * 3 } else { whole }
    }

    fn is_pooled(kind: Kind, size: usize) -> bool {
        size <= if kind == Kind::Host { 2 << 20 } else { 4 << 20 }
    }
}

impl Side for OfBuckets<'_> {
    fn allocate(&mut self, kind: Kind, size: usize) -> Result<usize, Failure> {
        if !Self::is_pooled(kind, size) {
            return self.raw.allocate(kind, size);
        }
        let bucket = Self::bucket(size);
        let free = self.free.entry((kind, bucket)).or_default();
        if free.is_empty() {
            let bytes = bucket.max(SLAB);
            let base = self.raw.allocate(kind, bytes)?;
            free.extend((0..bytes / bucket).rev().map(|at| base + at * bucket));
            self.slabs.extend(free.iter().map(|block| (*block, (base, bytes))));
        }
        free.pop().ok_or_else(|| Failure::Other("an empty slab".to_owned()))
    }

    fn free(&mut self, kind: Kind, size: usize, address: usize) -> Result<(), Failure> {
        if !Self::is_pooled(kind, size) {
            return self.raw.free(kind, size, address);
        }
        let bucket = Self::bucket(size);
        let free = self.free.entry((kind, bucket)).or_default();
        free.push(address);
        // Slabs of small blocks stay; the pool's own books of them are no matter for time here.
        if bucket >= SLAB && free.len() > BUCKET_KEEPS {
            let block = free.swap_remove(0);
            self.slabs.remove(&block);
            return self.raw.free(kind, bucket, block);
        }
        Ok(())
    }

    fn held(&self) -> Option<usize> {
        self.raw.held()
    }
}

impl OfBuckets<'_> {
    /// Gives everything back.
    fn end(&mut self) -> Result<(), Failure> {
        let kinds: HashMap<usize, Kind> =
            self.free.iter().flat_map(|((kind, _), free)| free.iter().map(|block| (*block, *kind))).collect();
        let mut bases: Vec<_> = self.slabs.iter().map(|(block, slab)| (*slab, kinds[block])).collect();
        bases.sort_unstable_by_key(|((base, _), _)| *base);
        bases.dedup_by_key(|((base, _), _)| *base);
        bases.into_iter().try_for_each(|((base, bytes), kind)| self.raw.free(kind, bytes, base))
    }
}

/// All steps in their order; answers nanoseconds, or the most bytes held if `looks`, which takes time.
fn replay(trace: &Trace, side: &mut impl Side, looks: bool) -> Result<f64, Failure> {
    let mut addresses = vec![0; trace.allocations.len()];
    let (start, mut most) = (Instant::now(), 0);
    for step in &trace.steps {
        match *step {
            Step::Allocate { kind, size, number, .. } => addresses[number] = side.allocate(kind, size)?,
            Step::Free { number, .. } => {
                let (kind, size) = trace.allocations[number];
                side.free(kind, size, addresses[number])?;
            }
        }
        if looks {
            most = most.max(side.held().unwrap_or(0));
        }
    }
    Ok(if looks { most as f64 } else { start.elapsed().as_nanos() as f64 })
}

/// The steps of each thread on a thread of its own; answers nanoseconds. Of several failures it tells the first thread's.
fn replay_on_threads<S: Side>(trace: &Trace, side: impl Fn() -> S + Sync) -> Result<f64, Failure> {
    let shared = Shared::new(trace);
    let start = Instant::now();
    std::thread::scope(|scope| {
        let (shared, side) = (&shared, &side);
        let threads: Vec<_> =
            (0..trace.threads).map(|own| scope.spawn(move || shared.replay(own, &mut side()))).collect();
        let panicked = || Err(Failure::Other("a thread of the replay panicked".to_owned()));
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| panicked()))
    })?;
    Ok(start.elapsed().as_nanos() as f64)
}

/// What the threads of a replay share.
struct Shared<'t> {
    trace: &'t Trace,
    /// Of every allocation; 0 until it is made.
    addresses: Vec<AtomicUsize>,
    /// A thread ended before its last step, so what it would have allocated never comes.
    is_broken: AtomicBool,
}

/// Breaks the replay unless it is told that the thread has made all of its steps; a panic must not hang the others either.
struct Unfinished<'s>(&'s AtomicBool);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

impl<'t> Shared<'t> {
    fn new(trace: &'t Trace) -> Self {
        let addresses = trace.allocations.iter().map(|_| AtomicUsize::new(0)).collect();
        Self { trace, addresses, is_broken: AtomicBool::new(false) }
    }

    /// Makes the steps of one thread. Where another one has broken the replay it stops, and that one tells why.
    fn replay(&self, own: usize, side: &mut impl Side) -> Result<(), Failure> {
        let unfinished = Unfinished(&self.is_broken);
        for step in self.trace.steps.iter().filter(|step| step.thread() == own) {
            match *step {
                Step::Allocate { kind, size, number, .. } => {
                    self.addresses[number].store(side.allocate(kind, size)?, Ordering::Release);
                }
                Step::Free { number, .. } => {
                    let Some(address) = self.wait_for(number) else { return Ok(()) };
                    let (kind, size) = self.trace.allocations[number];
                    side.free(kind, size, address)?;
                }
            }
        }
        std::mem::forget(unfinished);
        Ok(())
    }

    /// The address of an allocation that may be another thread's; `None` if it may never be made.
    fn wait_for(&self, number: usize) -> Option<usize> {
        loop {
            match self.addresses[number].load(Ordering::Acquire) {
                0 if self.is_broken.load(Ordering::Acquire) => return None,
                0 => std::thread::yield_now(),
                address => return Some(address),
            }
        }
    }
}

/// A group's rows.
pub fn cases(fixture: &Fixture<'_>, options: &Options) -> Vec<Named<Vec<Case>>> {
    let name = |trace: &str| format!("replays: {trace}");
    TRACES.iter().map(|(trace, text)| (name(trace), rows(&name(trace), text, fixture, options))).collect()
}

fn mebibytes(bytes: f64) -> String {
    format!("{:.1} MiB", bytes / f64::from(1 << 20))
}

fn rows(name: &str, text: &str, fixture: &Fixture<'_>, options: &Options) -> Result<Vec<Case>, Failure> {
    let trace = Trace::read(text)?;
    let count = if options.quick { FEW } else { COUNT };
    let [mut ur, mut threads, mut raw, mut buckets] = [const { Vec::new() }; 4];
    // First a look at memory, which warms up as well.
    let most = replay(&trace, &mut OfUr(fixture), true)?;
    for _ in 0..count {
        ur.push(replay(&trace, &mut OfUr(fixture), false)?);
        if trace.threads > 1 {
            threads.push(replay_on_threads(&trace, || OfUr(fixture))?);
        }
    }
    let mut most_of_buckets = 0.0;
    if let Some(side) = &fixture.raw {
        let mut of_raw = || {
            let mut pool = OfBuckets { raw: OfRaw { raw: side, held: 0 }, free: HashMap::new(), slabs: HashMap::new() };
            most_of_buckets = replay(&trace, &mut pool, true)?;
            for _ in 0..count {
                raw.push(replay(&trace, &mut OfRaw { raw: side, held: 0 }, false)?);
                buckets.push(replay(&trace, &mut pool, false)?);
            }
            pool.end()
        };
        match side.while_current(&mut of_raw) {
            Err(failure) if failure.is_unsupported() => (raw, buckets) = (Vec::new(), Vec::new()),
            other => other?,
        }
    }
    let live = mebibytes(trace.most_live() as f64);
    let raw = (!raw.is_empty()).then(|| Summary::of(raw));
    let row = |name: String, measured: Vec<f64>, note: String| {
        let measured = Summary::of(measured);
        let ratio = raw.as_ref().map(|raw| measured.combine(raw, |one, raw| one / raw));
        Case { name, measured, raw: raw.clone(), ratio, note, ..Case::default() }
    };
    let steps = trace.steps.len();
    let mut rows = vec![row(name.to_owned(), ur, format!("{steps} steps; at most {} of {live} live", mebibytes(most)))];
    if !threads.is_empty() {
        let note = format!("{} threads over one of raw calls", trace.threads);
        rows.push(row(format!("{name}, threads"), threads, note));
    }
    if !buckets.is_empty() {
        let note = format!("raw calls below buckets; at most {} of {live} live", mebibytes(most_of_buckets));
        rows.push(row(format!("{name}, buckets"), buckets, note));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_traces_are_whole_and_free_what_they_allocate_once() {
        for (name, text) in TRACES {
            let trace = Trace::read(text).unwrap_or_else(|failure| panic!("{name}: {failure}"));
            assert_eq!(trace.steps.len(), 2 * trace.allocations.len(), "{name}");
            assert!(trace.most_live() > 1 << 20, "{name}");
        }
    }

    /// Has no host memory.
    struct WithoutHostMemory;

    impl Side for WithoutHostMemory {
        fn allocate(&mut self, kind: Kind, size: usize) -> Result<usize, Failure> {
            if kind == Kind::Host { Err(Failure::Other("no host memory".to_owned())) } else { Ok(size) }
        }

        fn free(&mut self, _: Kind, _: usize, _: usize) -> Result<(), Failure> {
            Ok(())
        }

        fn held(&self) -> Option<usize> {
            None
        }
    }

    /// Replays on a thread of its own, so that a replay that hangs is a failure.
    fn replayed<S: Side>(text: &str, side: impl Fn() -> S + Sync + Send + 'static) -> Result<f64, Failure> {
        let trace = Trace::read(text).expect("a trace");
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(replay_on_threads(&trace, side)));
        receiver.recv_timeout(std::time::Duration::from_secs(20)).expect("the replay ends")
    }

    #[test]
    fn a_thread_that_gets_no_memory_ends_the_replay_with_its_failure() {
        // The first thread frees what the second one does not get.
        for text in ["a 0 d 5\na 1 h 5\nf 0 1\nf 0 0", "a 1 d 5\na 0 h 5\nf 1 1\nf 1 0"] {
            let failure = replayed(text, || WithoutHostMemory).expect_err(text);
            assert_eq!(failure.to_string(), "no host memory");
        }
        assert!(replayed("a 1 d 5\nf 0 0", || WithoutHostMemory).is_ok());
    }

    #[test]
    fn a_line_that_is_no_step_is_named() {
        for text in ["a 0 x 5", "a 0 d", "f 0 0", "a 0 d 5\nf 0 0\nf 0 0", "g"] {
            let line = text.lines().count();
            let message = Trace::read(text).expect_err(text).to_string();
            assert!(message.contains(&format!("line {line} ")), "{message}");
        }
    }
}
