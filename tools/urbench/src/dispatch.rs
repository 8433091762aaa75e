//! What the loader adds to a call: a cheap entry point through the loader's export, and the same adapter function straight
//! from the table behind the handle's first word. Per call, in nanoseconds. Beside them stands what two atomic additions cost
//! this machine, which no counted handle can do without.

use std::ffi::c_void;
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};

use ur_client::ffi::releases::any::AllFunctions;
use ur_client::ffi::{ur_context_info_t, ur_result_t};

use crate::Failure;
use crate::fixture::Fixture;
use crate::measure::{Body, Meter, rounds};
use crate::options::Options;
use crate::outcome::{Case, Named};

/// What a call may cost more through the loader, nanoseconds.
const GOAL: f64 = 3.0;

/// The case without a call.
pub const ATOMICS: &str = "dispatch: two atomic additions";
/// The case that is judged against it.
pub const RETAIN: &str = "dispatch: urContextRetain + Release";

/// All cases of the group.
pub fn cases(fixture: &Fixture<'_>, options: &Options) -> Vec<Named<Case>> {
    type Make = fn(&Fixture<'_>, &AllFunctions) -> Option<Body<'static>>;
    let all: [(&str, f64, Make); 3] = [
        (RETAIN, 2.0, retain_release),
        ("dispatch: urQueueFlush", 1.0, flush),
        ("dispatch: urContextGetInfo", 1.0, get_info),
    ];
    let of_calls = all
        .into_iter()
        .filter(|(name, _, _)| options.wants(name))
        .map(|(name, calls, make)| (name.to_owned(), case(fixture, options, calls, make, name == RETAIN)));
    let floor = options.wants(ATOMICS).then(|| (ATOMICS.to_owned(), atomics(options)));
    of_calls.chain(floor).collect()
}

/// One atomic addition and one subtraction, for the machine's part in retain and release.
fn atomics(options: &Options) -> Result<Case, Failure> {
    let rows = rounds(&mut [two_additions()], options)?;
    Ok(Case { measured: rows[0].clone(), note: "the pair".to_owned(), ..Case::default() })
}

fn two_additions() -> Body<'static> {
    let count = AtomicU32::new(1);
    Box::new(move |iterations, meter| {
        calls(iterations, meter, || {
            let count = black_box(&count);
            // The count never gets to 0, so the results are told apart from a failure's by their difference.
            count.fetch_add(1, Ordering::Relaxed).abs_diff(count.fetch_sub(1, Ordering::AcqRel)) - 1
        })
    })
}

fn case(
    fixture: &Fixture<'_>,
    options: &Options,
    calls: f64,
    make: fn(&Fixture<'_>, &AllFunctions) -> Option<Body<'static>>,
    against_atomics: bool,
) -> Result<Case, Failure> {
    // SAFETY: the fixture's context is alive; the loader admits adapters of its own release alone.
    let table = &unsafe { fixture.ur.adapter_functions(fixture.context.handle()) };
    let missing = || Failure::Other("the function is missing in the loader or in the adapter's table".to_owned());
    let through = make(fixture, &fixture.ur.table).ok_or_else(missing)?;
    let straight = make(fixture, table).ok_or_else(missing)?;
    let bodies = [through, straight].into_iter().chain(against_atomics.then(two_additions));
    let rows = rounds(&mut bodies.collect::<Vec<_>>(), options)?;
    let per_call: Vec<_> = rows.iter().map(|row| row.scale(1.0 / calls)).collect();
    let difference = per_call[0].combine(&per_call[1], |through, straight| through - straight);
    let verdict = if difference.median <= GOAL { "met" } else { "missed" };
    Ok(Case {
        measured: per_call[0].clone(),
        raw: Some(per_call[1].clone()),
        note: format!(
            "per call; raw: without the loader; goal {GOAL} ns more: {verdict}{}",
            if calls > 1.0 { format!("; the pair: {:.1} ns", rows[0].median) } else { String::new() }
        ),
        difference: Some(difference),
        // Both are pairs: two additions are what two calls cannot do without.
        ratio: rows.get(2).map(|additions| rows[0].combine(additions, |pair, additions| pair / additions)),
        ..Case::default()
    })
}

/// Runs calls whose results are or-ed together, so that the loop holds nothing but the call.
fn calls(iterations: u64, meter: &mut Meter<'_>, mut call: impl FnMut() -> u32) -> Result<(), Failure> {
    let mut results = 0;
    meter.start();
    for _ in 0..iterations {
        results |= call();
    }
    meter.stop();
    match results {
        0 => Ok(()),
        _ => Err(Failure::Other(format!("a call fails; its results together are {:?}", ur_result_t(results)))),
    }
}

fn retain_release(fixture: &Fixture<'_>, table: &AllFunctions) -> Option<Body<'static>> {
    let context = fixture.context.handle();
    let (retain, release) = (black_box(table.Context.pfnRetain?), black_box(table.Context.pfnRelease?));
    Some(Box::new(move |iterations, meter| {
        // SAFETY: the fixture's context outlives the measurement; every reference taken is given back.
        calls(iterations, meter, || unsafe { retain(context).0 | release(context).0 })
    }))
}

fn flush(fixture: &Fixture<'_>, table: &AllFunctions) -> Option<Body<'static>> {
    let (queue, flush) = (fixture.queue.handle(), black_box(table.Queue.pfnFlush?));
    Some(Box::new(move |iterations, meter| {
        // SAFETY: the fixture's queue outlives the measurement.
        calls(iterations, meter, || unsafe { flush(queue).0 })
    }))
}

fn get_info(fixture: &Fixture<'_>, table: &AllFunctions) -> Option<Body<'static>> {
    let (context, get_info) = (fixture.context.handle(), black_box(table.Context.pfnGetInfo?));
    let mut value = 0_u32;
    Some(Box::new(move |iterations, meter| {
        let place: *mut c_void = (&raw mut value).cast();
        // SAFETY: the fixture's context outlives the measurement; the value has the query's size.
        calls(iterations, meter, || unsafe {
            get_info(context, ur_context_info_t::REFERENCE_COUNT, 4, place, std::ptr::null_mut()).0
        })
    }))
}
