//! What a call costs while many objects live: the same case in several sizes, one after the other, each against the raw calls
//! with as many of theirs. A cost that grows with what lives shows in the largest size over the smallest, which is measured before
//! and behind each other one: a host's processor is fast or slow for seconds at a time.

mod blocks;
mod objects;

use crate::Failure;
use crate::fixture::Fixture;
use crate::measure::{Body, Meter, native_calls, rounds};
use crate::options::Options;
use crate::outcome::{Case, Named};
use crate::raw::Raw;

/// How many live, by the name that stands behind the case's.
type Sizes = &'static [(&'static str, usize)];

const SIZES: Sizes = &[("few", 1000), ("some", 8000), ("many", 64_000)];
/// Of what a program may have a million.
const UP_TO_A_MILLION: Sizes = &[("few", 1000), ("some", 8000), ("many", 64_000), ("a million", 1_000_000)];
/// Of what a machine takes thousands.
const THREADS_ALIVE: Sizes = &[("few", 250), ("some", 1000), ("many", 4000)];
/// With `--quick` so many times fewer.
const QUICK: usize = 250;
/// Bytes of a block in stream order, and of plain memory.
const BLOCK: usize = 512;
/// Calls between two times of clearing up, which do not count.
const BATCH: u64 = 64;

/// Makes what is measured beside so many.
type Make = for<'f> fn(&'f Fixture<'f>, usize) -> Result<Body<'f>, Failure>;
type MakeRaw = for<'f> fn(&'f Fixture<'f>, &'f Raw, usize) -> Result<Body<'f>, Failure>;

/// One thing whose cost may grow.
struct Growing {
    name: &'static str,
    note: &'static str,
    sizes: Sizes,
    ur: Make,
    /// `None` where so many of the native library's would take longer than the case.
    raw: Option<MakeRaw>,
}

/// What the cases of an allocation with its event are called.
pub const KEPT_ALLOC: &str = "growth: alloc with its event kept, many";
/// A wait with its event.
pub const KEPT_WAIT: &str = "growth: wait with its event kept, many";
/// A question about plain memory.
pub const QUERY: &str = "growth: query of plain memory, many";
/// A release of plain memory.
pub const FREE: &str = "growth: free of plain memory, many";
/// The same two beside a million blocks.
pub const QUERY_OF_A_MILLION: &str = "growth: query of plain memory, a million";
/// See [`QUERY_OF_A_MILLION`].
pub const FREE_OF_A_MILLION: &str = "growth: free of plain memory, a million";
/// A launch with its event.
pub const KEPT_LAUNCH: &str = "growth: launch with its event kept, many";
/// Plain memory allocated and freed.
pub const MEMORY: &str = "growth: device memory, many";
/// A buffer made and released.
pub const BUFFER: &str = "growth: buffer, many";
/// A queue made and released.
pub const QUEUE: &str = "growth: queue, many";
/// A kernel made and released.
pub const KERNEL: &str = "growth: kernel, many";
/// A context made and released.
pub const CONTEXT: &str = "growth: context, many";
/// Allocations in stream order that raise the pool's high-water mark.
pub const MARK: &str = "growth: alloc that raises the pool's mark, many";
/// Plain memory beside other threads that have used some.
pub const THREADS: &str = "growth: device memory beside threads, many";

const ALL: [Growing; 12] = [
    Growing {
        name: "growth: alloc with its event kept",
        note: "kept events",
        sizes: SIZES,
        ur: blocks::ur_alloc,
        raw: Some(blocks::raw_alloc),
    },
    Growing {
        name: "growth: wait with its event kept",
        note: "kept events",
        sizes: SIZES,
        ur: blocks::ur_wait,
        raw: Some(blocks::raw_wait),
    },
    Growing {
        name: "growth: query of plain memory",
        note: "stream-ordered blocks live",
        sizes: UP_TO_A_MILLION,
        ur: blocks::ur_query,
        raw: Some(blocks::raw_query),
    },
    Growing {
        name: "growth: free of plain memory",
        note: "stream-ordered blocks live",
        sizes: UP_TO_A_MILLION,
        ur: blocks::ur_free,
        raw: Some(blocks::raw_free),
    },
    Growing {
        name: "growth: launch with its event kept",
        note: "kept events",
        sizes: SIZES,
        ur: objects::ur_launch,
        raw: Some(objects::raw_launch),
    },
    Growing {
        name: "growth: device memory",
        note: "plain blocks live",
        sizes: SIZES,
        ur: objects::ur_memory,
        raw: Some(objects::raw_memory),
    },
    Growing {
        name: "growth: alloc that raises the pool's mark",
        note: "queues live that used the pool",
        sizes: SIZES,
        ur: blocks::ur_mark,
        raw: None,
    },
    Growing { name: "growth: buffer", note: "buffers live", sizes: SIZES, ur: objects::ur_buffer, raw: None },
    Growing { name: "growth: queue", note: "queues live", sizes: SIZES, ur: objects::ur_queue, raw: None },
    Growing { name: "growth: kernel", note: "kernels live", sizes: SIZES, ur: objects::ur_kernel, raw: None },
    Growing { name: "growth: context", note: "contexts live", sizes: SIZES, ur: objects::ur_context, raw: None },
    Growing {
        name: "growth: device memory beside threads",
        note: "threads live that have used some",
        sizes: THREADS_ALIVE,
        ur: objects::ur_threads,
        raw: None,
    },
];

/// All cases of the group.
pub fn cases(fixture: &Fixture<'_>, options: &Options) -> Vec<Named<Vec<Case>>> {
    let wanted =
        |growing: &&Growing| growing.sizes.iter().any(|(size, _)| options.wants(&format!("{}, {size}", growing.name)));
    ALL.iter().filter(wanted).map(|growing| (growing.name.to_owned(), sizes(fixture, options, growing))).collect()
}

/// The smallest size is measured for the others, whatever was asked for.
fn sizes(fixture: &Fixture<'_>, options: &Options, growing: &Growing) -> Result<Vec<Case>, Failure> {
    let mut rows: Vec<Case> = Vec::with_capacity(growing.sizes.len());
    let measure = |count| case(fixture, options, growing, count);
    let scaled = |count: usize| if options.quick { count / QUICK } else { count };
    let least = scaled(growing.sizes[0].1);
    let mut few = measure(least)?;
    for &(size, count) in growing.sizes {
        let count = scaled(count);
        let mut case = if count == least { few.clone() } else { measure(count)? };
        case.name = format!("{}, {size}", growing.name);
        if count != least {
            let again = measure(least)?;
            let around = few.measured.combine(&again.measured, f64::midpoint);
            case.growth = Some(case.measured.combine(&around, |many, few| many / few));
            few = again;
        }
        case.note = format!("{count} {}{}", growing.note, growth(&case));
        rows.push(case);
    }
    Ok(rows)
}

fn growth(case: &Case) -> String {
    case.growth.as_ref().map_or_else(String::new, |growth| format!("; x{:.2} of few", growth.median))
}

fn case(fixture: &Fixture<'_>, options: &Options, growing: &Growing, count: usize) -> Result<Case, Failure> {
    let mut bodies = vec![(growing.ur)(fixture, count)?];
    if let (Some(raw), Some(body)) = (&fixture.raw, growing.raw) {
        match body(fixture, raw, count) {
            Ok(body) => bodies.push(body),
            Err(failure) if failure.is_unsupported() => {}
            Err(failure) => return Err(failure),
        }
    }
    let summaries = rounds(&mut bodies, options)?;
    let raw = summaries.get(1).cloned();
    let mut bodies = bodies.into_iter();
    let mut counted = || match bodies.next() {
        Some(mut body) => native_calls(&mut body, fixture.calls.as_ref()),
        None => Ok(None),
    };
    Ok(Case {
        ratio: raw.as_ref().map(|raw| summaries[0].combine(raw, |ur, raw| ur / raw)),
        difference: raw.as_ref().map(|raw| summaries[0].combine(raw, |ur, raw| ur - raw)),
        measured: summaries[0].clone(),
        calls: counted()?,
        raw_calls: counted()?,
        raw,
        ..Case::default()
    })
}

/// Does something in batches, and clears up behind each, which does not count.
fn cleared(
    iterations: u64,
    meter: &mut Meter<'_>,
    mut once: impl FnMut(u64) -> Result<(), Failure>,
    mut clear: impl FnMut() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut done = 0;
    while done < iterations {
        let batch = (iterations - done).min(BATCH);
        meter.start();
        for index in done..done + batch {
            once(index)?;
        }
        meter.stop();
        clear()?;
        done += batch;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_case_is_one_of_the_sizes() {
        let names: Vec<String> =
            ALL.iter().flat_map(|one| one.sizes.iter().map(move |(size, _)| format!("{}, {size}", one.name))).collect();
        let named = [
            KEPT_ALLOC,
            KEPT_WAIT,
            QUERY,
            FREE,
            QUERY_OF_A_MILLION,
            FREE_OF_A_MILLION,
            KEPT_LAUNCH,
            MEMORY,
            MARK,
            BUFFER,
            QUEUE,
            KERNEL,
            CONTEXT,
            THREADS,
        ];
        assert!(named.iter().all(|name| names.iter().any(|one| one == name)));
    }
}
