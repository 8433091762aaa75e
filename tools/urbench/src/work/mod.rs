//! Enqueuing from one thread: launches, copies and stream-ordered memory on an in-order queue, each against the raw calls
//! that do the same on a stream. One list of recipes for every API; how each is done is in the modules below.

mod launch;
mod memory;

use std::ptr::null;

use ur_client::call;
use ur_client::ffi::ur_event_handle_t;

use crate::Failure;
use crate::fixture::Fixture;
use crate::measure::{Body, native_calls, rounds};
use crate::options::Options;
use crate::outcome::{Case, Counts, Named};
use crate::raw::Raw;

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

    const fn copy(name: &'static str, ur: for<'f> fn(&'f Fixture<'f>) -> Body<'f>) -> Self {
        Self { name, ur, raw: launch::raw_copy, launches: false, note: "pinned" }
    }

    const fn memory(name: &'static str, ur: for<'f> fn(&'f Fixture<'f>) -> Body<'f>, note: &'static str) -> Self {
        Self { name, ur, raw: memory::raw_alloc, launches: false, note }
    }
}

const RECIPES: [Recipe; 11] = [
    Recipe::launch("work: launch", launch::ur_launch, launch::raw_launch, ""),
    Recipe::launch("work: raw launch against itself", launch::raw_again, launch::raw_launch, "how sure a ratio is"),
    Recipe::launch("work: launch, event released", launch::ur_launch_event, launch::raw_launch, ""),
    Recipe::launch("work: launch, chained", launch::ur_launch_chained, launch::raw_launch, "on the one before"),
    Recipe::launch("work: launch, finish", launch::ur_launch_finish, launch::raw_launch_finish, ""),
    Recipe::launch("work: launch, event waited for", launch::ur_launch_wait, launch::raw_launch_wait, ""),
    Recipe::copy("work: copy 4 KiB host to device", launch::ur_copy),
    Recipe::copy("work: copy 4 KiB, event released", launch::ur_copy_event),
    Recipe::memory("work: alloc + free 1 MiB", memory::ur_alloc, "default pools"),
    Recipe::memory("work: alloc + free 1 MiB, events", memory::ur_alloc_events, "released unseen"),
    Recipe::memory("work: alloc + free 1 MiB, libsycl", memory::ur_alloc_libsycl, "4 calls, 4 events released unseen"),
];

fn wanted(options: &Options) -> impl Iterator<Item = &'static Recipe> {
    RECIPES.iter().filter(|recipe| options.wants(recipe.name))
}

/// The names of the cases that were asked for.
pub fn names(options: &Options) -> Vec<String> {
    wanted(options).map(|recipe| recipe.name.to_owned()).collect()
}

/// All cases of the group.
pub fn cases(fixture: &Fixture<'_>, options: &Options) -> Vec<Named<Case>> {
    wanted(options).map(|recipe| (recipe.name.to_owned(), case(fixture, options, recipe))).collect()
}

/// Their native calls alone.
pub fn counts(fixture: &Fixture<'_>, options: &Options) -> Counts {
    let count = |recipe: &Recipe| {
        let mut bodies = bodies(fixture, recipe)?.into_iter();
        Ok::<_, Failure>((counted(fixture, bodies.next())?, counted(fixture, bodies.next())?))
    };
    // Why a case cannot run is told where it is measured.
    wanted(options).filter_map(|recipe| Some((recipe.name.to_owned(), count(recipe).ok()?))).collect()
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

fn case(fixture: &Fixture<'_>, options: &Options, recipe: &Recipe) -> Result<Case, Failure> {
    let mut bodies = bodies(fixture, recipe)?;
    let rows = rounds(&mut bodies, options)?;
    let mut bodies = bodies.into_iter();
    let raw = rows.get(1).cloned();
    Ok(Case {
        ratio: raw.as_ref().map(|raw| rows[0].combine(raw, |ur, raw| ur / raw)),
        measured: rows[0].clone(),
        calls: counted(fixture, bodies.next())?,
        raw_calls: counted(fixture, bodies.next())?,
        raw,
        note: recipe.note.to_owned(),
        ..Case::default()
    })
}

/// Waits of an enqueue: none, or one event.
#[inline]
fn waits(event: &ur_event_handle_t) -> (u32, *const ur_event_handle_t) {
    if event.is_null() { (0, null()) } else { (1, event) }
}

#[inline]
fn release(fixture: &Fixture<'_>, event: ur_event_handle_t) -> Result<(), Failure> {
    // SAFETY: an event that a call just gave, released once.
    unsafe { call!(fixture.ur, Event.pfnRelease(event)) }?;
    Ok(())
}

fn finish(fixture: &Fixture<'_>) -> Result<(), Failure> {
    Ok(fixture.ur.finish(fixture.queue.handle())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_have_names_of_their_own_and_memory_is_known_by_its_name() {
        let mut names: Vec<_> = RECIPES.iter().map(|recipe| recipe.name).collect();
        assert_eq!(names.iter().filter(|name| name.starts_with(MEMORY)).count(), 3);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RECIPES.len());
    }
}
