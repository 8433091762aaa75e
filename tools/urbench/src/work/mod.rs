//! Enqueuing from one thread: launches, copies and stream-ordered memory on an in-order queue, each against the raw calls
//! that do the same on a stream, and objects that come and go. One list of recipes for every API; how each is done is in
//! the modules below.

pub mod graphs;
mod launch;
mod memory;
pub mod objects;
mod pairs;
pub mod programs;
pub mod shapes;
pub mod timelines;

use std::ptr::null;

use ur_client::call;
use ur_client::ffi::ur_event_handle_t;

use crate::Failure;
use crate::fixture::Fixture;
use crate::goals;
use crate::measure::{Body, native_calls, rounds};
use crate::options::Options;
use crate::outcome::{Case, Counts, Named};
use crate::raw::Raw;
pub use memory::{BEHIND, BEHIND_LAUNCH, HOST, SHARED};

/// What the recipes of stream-ordered memory begin with.
pub const MEMORY: &str = "work: alloc + free";

/// One case: how the UR does it, how the driver does it, and what to say about it.
struct Recipe {
    name: &'static str,
    ur: for<'f> fn(&'f Fixture<'f>) -> Body<'f>,
    raw: for<'r> fn(&'r Raw) -> Body<'r>,
    launches: bool,
    note: &'static str,
}

impl Recipe {
    const fn launch(
        name: &'static str,
        ur: for<'f> fn(&'f Fixture<'f>) -> Body<'f>,
        raw: for<'r> fn(&'r Raw) -> Body<'r>,
        note: &'static str,
    ) -> Self {
        Self { name, ur, raw, launches: true, note }
    }

    const fn memory(name: &'static str, ur: for<'f> fn(&'f Fixture<'f>) -> Body<'f>, note: &'static str) -> Self {
        Self { name, ur, raw: memory::raw_alloc, launches: false, note }
    }
}

const RECIPES: [Recipe; 5] = [
    Recipe::launch("work: launch, finish", launch::ur_launch_finish, launch::raw_launch_finish, ""),
    Recipe::launch("work: launch, event waited for", launch::ur_launch_wait, launch::raw_launch_wait, ""),
    Recipe::memory("work: alloc + free 1 MiB", memory::ur_alloc, "default pools"),
    Recipe::memory("work: alloc + free 1 MiB, events", memory::ur_alloc_events, "released unseen"),
    Recipe::memory("work: alloc + free 1 MiB, libsycl", memory::ur_alloc_libsycl, "4 calls, 4 events released unseen"),
];

/// A case whose sides need objects of their own.
pub struct Prepared {
    name: &'static str,
    note: &'static str,
    make: for<'f> fn(&'f Fixture<'f>, &Options) -> Result<Sides<'f>, Failure>,
}

/// How the UR does it and, if there is a raw side, how that does it.
pub struct Sides<'f> {
    ur: Body<'f>,
    raw: Option<Body<'f>>,
}

/// The raw side of a case, where there is one.
fn raw_of<'f>(
    fixture: &'f Fixture<'f>,
    make: impl FnOnce(&'f Raw) -> Result<Body<'f>, Failure>,
) -> Result<Option<Body<'f>>, Failure> {
    match fixture.raw.as_ref().map(make) {
        // A library that lacks a function has no raw side here, and is measured all the same.
        Some(Err(failure)) if failure.is_unsupported() => Ok(None),
        Some(body) => body.map(Some),
        None => Ok(None),
    }
}

fn every_prepared() -> impl Iterator<Item = &'static Prepared> {
    pairs::CASES
        .iter()
        .chain(&shapes::CASES)
        .chain(&memory::CASES)
        .chain(&objects::CASES)
        .chain(&graphs::CASES)
        .chain(&timelines::CASES)
        .chain(&programs::CASES)
}

fn prepared(options: &Options) -> impl Iterator<Item = &'static Prepared> {
    every_prepared().filter(|case| options.wants(case.name))
}

fn wanted(options: &Options) -> impl Iterator<Item = &'static Recipe> {
    RECIPES.iter().filter(|recipe| options.wants(recipe.name))
}

/// The names of the cases that were asked for.
pub fn names(options: &Options) -> Vec<String> {
    let names = wanted(options).map(|recipe| recipe.name).chain(prepared(options).map(|case| case.name));
    names.map(str::to_owned).collect()
}

/// All cases of the group.
pub fn cases(fixture: &Fixture<'_>, options: &Options) -> Vec<Named<Case>> {
    let plain = wanted(options).map(|recipe| (recipe.name, bodies(fixture, recipe), recipe.note));
    // One after the other: a case's objects are not there while others are measured.
    let plain = plain.map(|(name, bodies, note)| (name.to_owned(), case(fixture, options, bodies, note)));
    let others = prepared(options).map(|one| {
        let bodies = (one.make)(fixture, options).map(Sides::into_bodies);
        (one.name.to_owned(), case(fixture, options, bodies, one.note).map(|case| with_difference(one.name, case)))
    });
    plain.chain(others).collect()
}

/// Their native calls alone.
pub fn counts(fixture: &Fixture<'_>, options: &Options) -> Counts {
    let count = |bodies: Result<Vec<Body<'_>>, Failure>| {
        let mut bodies = bodies?.into_iter();
        Ok::<_, Failure>((counted(fixture, bodies.next())?, counted(fixture, bodies.next())?))
    };
    let plain = wanted(options).map(|recipe| (recipe.name, count(bodies(fixture, recipe))));
    let others = prepared(options).map(|one| (one.name, count((one.make)(fixture, options).map(Sides::into_bodies))));
    // Why a case cannot run is told where it is measured.
    plain.chain(others).filter_map(|(name, counts)| Some((name.to_owned(), counts.ok()?))).collect()
}

impl<'f> Sides<'f> {
    fn into_bodies(self) -> Vec<Body<'f>> {
        std::iter::once(self.ur).chain(self.raw).collect()
    }
}

/// The UR's way and, if there is one, the raw way.
fn bodies<'f>(fixture: &'f Fixture<'f>, recipe: &Recipe) -> Result<Vec<Body<'f>>, Failure> {
    if recipe.launches {
        fixture.kernel()?;
    }
    let raw = fixture.raw.as_ref().filter(|raw| !recipe.launches || raw.can_launch());
    Ok(std::iter::once((recipe.ur)(fixture)).chain(raw.map(recipe.raw)).collect())
}

fn counted(fixture: &Fixture<'_>, body: Option<Body<'_>>) -> Result<Option<crate::calls::Calls>, Failure> {
    match body {
        Some(mut body) => native_calls(&mut body, fixture.calls.as_ref()),
        None => Ok(None),
    }
}

fn case(
    fixture: &Fixture<'_>,
    options: &Options,
    bodies: Result<Vec<Body<'_>>, Failure>,
    note: &str,
) -> Result<Case, Failure> {
    let mut bodies = bodies?;
    let rows = rounds(&mut bodies, options)?;
    let mut bodies = bodies.into_iter();
    let raw = rows.get(1).cloned();
    Ok(Case {
        ratio: raw.as_ref().map(|raw| rows[0].combine(raw, |ur, raw| ur / raw)),
        measured: rows[0].clone(),
        calls: counted(fixture, bodies.next())?,
        raw_calls: counted(fixture, bodies.next())?,
        raw,
        note: note.to_owned(),
        ..Case::default()
    })
}

/// The case with its difference to the raw side, if that is what its goal is about.
fn with_difference(name: &str, case: Case) -> Case {
    let raw = case.raw.as_ref().filter(|_| goals::judges_difference(name));
    let difference = raw.map(|raw| case.measured.combine(raw, |ur, raw| ur - raw));
    Case { difference, ..case }
}

/// Waits of an enqueue: none, or one event.
#[inline]
fn waits(event: &ur_event_handle_t) -> (u32, *const ur_event_handle_t) {
    if event.is_null() { (0, null()) } else { (1, event) }
}

#[inline]
pub fn release(fixture: &Fixture<'_>, event: ur_event_handle_t) -> Result<(), Failure> {
    // SAFETY: an event that a call just gave, released once.
    unsafe { call!(fixture.ur, Event.pfnRelease(event)) }?;
    Ok(())
}

pub fn finish(fixture: &Fixture<'_>) -> Result<(), Failure> {
    Ok(fixture.ur.finish(fixture.queue.handle())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Summary;

    #[test]
    fn a_difference_is_told_where_the_goal_is_about_it_and_there_is_a_raw_side() {
        let of = |name, raw: Option<f64>| {
            let raw = raw.map(|raw| Summary::of(vec![raw]));
            let case = Case { measured: Summary::of(vec![7.0]), raw, ..Case::default() };
            with_difference(name, case).difference.map(|difference| difference.median)
        };
        assert_eq!(of(timelines::HOST_SIGNAL, Some(4.0)), Some(3.0));
        assert_eq!(of(timelines::HOST_SIGNAL, None), None);
        assert_eq!(of("work: launch", Some(4.0)), None);
    }

    #[test]
    fn recipes_have_names_of_their_own_and_memory_is_known_by_its_name() {
        let others = every_prepared().map(|case| case.name);
        let mut names: Vec<_> = RECIPES.iter().map(|recipe| recipe.name).chain(others).collect();
        assert_eq!(names.iter().filter(|name| name.starts_with(MEMORY)).count(), 3);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RECIPES.len() + every_prepared().count());
    }
}
