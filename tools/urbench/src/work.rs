//! Enqueuing from one thread: launches, copies and stream-ordered memory on an in-order queue, each against the raw calls
//! that do the same on a stream.

use std::ptr::{null, null_mut};

use ur_client::call;
use ur_client::ffi::{CBool, ur_event_handle_t};

use crate::Failure;
use crate::fixture::Fixture;
use crate::measure::{Body, batches, native_calls, rounds, straight};
use crate::options::Options;
use crate::raw::{COPY, Raw};
use crate::report::{Case, Named};

/// Bytes of an allocation.
const BLOCK: usize = 1 << 20;

/// One case: how the UR does it, how the driver does it, and what to say about it.
struct Recipe {
    name: &'static str,
    ur: for<'f> fn(&'f Fixture<'f>) -> Body<'f>,
    raw: for<'r> fn(&'r Raw) -> Body<'r>,
    note: &'static str,
}

const RECIPES: [Recipe; 9] = [
    Recipe { name: "work: launch", ur: ur_launch, raw: raw_launch, note: "" },
    Recipe { name: "work: launch, event released", ur: ur_launch_event, raw: raw_launch, note: "" },
    Recipe { name: "work: launch, finish", ur: ur_launch_finish, raw: raw_launch_finish, note: "" },
    Recipe { name: "work: launch, event waited for", ur: ur_launch_wait, raw: raw_launch_wait, note: "" },
    Recipe { name: "work: copy 4 KiB host to device", ur: ur_copy, raw: raw_copy, note: "pinned" },
    Recipe { name: "work: copy 4 KiB, event released", ur: ur_copy_event, raw: raw_copy, note: "pinned" },
    Recipe { name: "work: alloc + free 1 MiB", ur: ur_alloc, raw: raw_alloc, note: "default pool" },
    Recipe { name: "work: alloc + free 1 MiB, events", ur: ur_alloc_events, raw: raw_alloc, note: "released unseen" },
    Recipe {
        name: "work: alloc + free 1 MiB, libsycl",
        ur: ur_alloc_libsycl,
        raw: raw_alloc,
        note: "4 calls, 4 events released unseen",
    },
];

/// All cases of the group.
pub fn cases(fixture: &Fixture<'_>, options: &Options) -> Vec<Named<Case>> {
    RECIPES
        .iter()
        .filter(|recipe| options.wants(recipe.name))
        .map(|recipe| (recipe.name.to_owned(), case(fixture, options, recipe)))
        .collect()
}

fn case(fixture: &Fixture<'_>, options: &Options, recipe: &Recipe) -> Result<Case, Failure> {
    let mut bodies = vec![(recipe.ur)(fixture)];
    bodies.extend(fixture.raw.as_ref().map(recipe.raw));
    let rows = rounds(&mut bodies, options)?;
    let calls = fixture.calls.as_ref();
    let raw = rows.get(1).cloned();
    Ok(Case {
        ratio: raw.as_ref().map(|raw| rows[0].combine(raw, |ur, raw| ur / raw)),
        measured: rows[0].clone(),
        calls: native_calls(&mut bodies[0], calls)?,
        raw_calls: match bodies.get_mut(1) {
            Some(raw) => native_calls(raw, calls)?,
            None => None,
        },
        raw,
        note: recipe.note.to_owned(),
        ..Case::default()
    })
}

/// Launches the empty kernel; asks for an event if there is a place for one.
#[inline]
fn launch(fixture: &Fixture<'_>, event: *mut ur_event_handle_t) -> Result<(), Failure> {
    let (ur, queue, kernel) = (fixture.ur, fixture.queue.handle(), fixture.kernel.handle());
    let (offset, size) = (0_usize, 1_usize);
    // SAFETY: live handles, one dimension, no arguments; the event's place is null or writable.
    unsafe {
        call!(
            ur,
            EnqueueExp.pfnKernelLaunchWithArgsExp(
                queue,
                kernel,
                1,
                &raw const offset,
                &raw const size,
                &raw const size,
                0,
                null(),
                null(),
                0,
                null(),
                event
            )
        )
    }?;
    Ok(())
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

fn ur_launch<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    Box::new(move |iterations, meter| batches(iterations, meter, || launch(fixture, null_mut()), || finish(fixture)))
}

fn ur_launch_event<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    let once = move || {
        let mut event = null_mut();
        launch(fixture, &raw mut event)?;
        release(fixture, event)
    };
    Box::new(move |iterations, meter| batches(iterations, meter, once, || finish(fixture)))
}

fn ur_launch_finish<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    Box::new(move |iterations, meter| {
        straight(iterations, meter, || {
            launch(fixture, null_mut())?;
            finish(fixture)
        })
    })
}

fn ur_launch_wait<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    Box::new(move |iterations, meter| {
        straight(iterations, meter, || {
            let mut event = null_mut();
            launch(fixture, &raw mut event)?;
            // SAFETY: a list of one live event.
            unsafe { call!(fixture.ur, Event.pfnWait(1, &raw const event)) }?;
            release(fixture, event)
        })
    })
}

#[inline]
fn copy(fixture: &Fixture<'_>, event: *mut ur_event_handle_t) -> Result<(), Failure> {
    let (ur, queue) = (fixture.ur, fixture.queue.handle());
    // SAFETY: both buffers have `COPY` bytes and live as long as the fixture.
    unsafe {
        call!(ur, Enqueue.pfnUSMMemcpy(queue, CBool::FALSE, fixture.memory, fixture.host, COPY, 0, null(), event))
    }?;
    Ok(())
}

fn ur_copy<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    Box::new(move |iterations, meter| batches(iterations, meter, || copy(fixture, null_mut()), || finish(fixture)))
}

fn ur_copy_event<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    let once = move || {
        let mut event = null_mut();
        copy(fixture, &raw mut event)?;
        release(fixture, event)
    };
    Box::new(move |iterations, meter| batches(iterations, meter, once, || finish(fixture)))
}

fn ur_alloc<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    let queue = fixture.queue.handle();
    Box::new(move |iterations, meter| {
        batches(iterations, meter, || fixture.allocate_and_free(BLOCK, queue), || finish(fixture))
    })
}

/// Waits of an enqueue: none, or one event.
fn waits(event: &ur_event_handle_t) -> (u32, *const ur_event_handle_t) {
    if event.is_null() { (0, null()) } else { (1, event) }
}

/// Allocates and frees with events; each call waits for the event it is given, if any.
#[inline]
fn allocate_and_free_with_events(fixture: &Fixture<'_>, as_libsycl: bool) -> Result<(), Failure> {
    let (ur, queue) = (fixture.ur, fixture.queue.handle());
    let (mut memory, mut before, mut after) = (null_mut(), null_mut(), null_mut());
    if as_libsycl {
        marker(fixture, &mut before)?;
    }
    let (count, list) = waits(&before);
    // SAFETY: live handles, a list of the count's length, writable outputs.
    unsafe {
        call!(
            ur,
            EnqueueExp.pfnUSMDeviceAllocExp(
                queue,
                null_mut(),
                BLOCK,
                null(),
                count,
                list,
                &raw mut memory,
                &raw mut after
            )
        )
    }?;
    release_both(fixture, before, after)?;
    before = null_mut();
    if as_libsycl {
        marker(fixture, &mut before)?;
    }
    let (count, list) = waits(&before);
    // SAFETY: as above; nothing uses the memory.
    unsafe { call!(ur, EnqueueExp.pfnUSMFreeExp(queue, null_mut(), memory, count, list, &raw mut after)) }?;
    release_both(fixture, before, after)
}

/// What libsycl does before an allocation: an event of everything so far.
#[inline]
fn marker(fixture: &Fixture<'_>, event: &mut ur_event_handle_t) -> Result<(), Failure> {
    // SAFETY: a live queue, no list, a writable place.
    unsafe { call!(fixture.ur, Enqueue.pfnEventsWait(fixture.queue.handle(), 0, null(), event)) }?;
    Ok(())
}

#[inline]
fn release_both(fixture: &Fixture<'_>, before: ur_event_handle_t, after: ur_event_handle_t) -> Result<(), Failure> {
    if !before.is_null() {
        release(fixture, before)?;
    }
    release(fixture, after)
}

fn ur_alloc_events<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    let once = move || allocate_and_free_with_events(fixture, false);
    Box::new(move |iterations, meter| batches(iterations, meter, once, || finish(fixture)))
}

fn ur_alloc_libsycl<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    let once = move || allocate_and_free_with_events(fixture, true);
    Box::new(move |iterations, meter| batches(iterations, meter, once, || finish(fixture)))
}

fn raw_launch(raw: &Raw) -> Body<'_> {
    Box::new(|iterations, meter| batches(iterations, meter, || raw.launch(), || raw.synchronize(raw.stream())))
}

fn raw_launch_finish(raw: &Raw) -> Body<'_> {
    Box::new(|iterations, meter| {
        straight(iterations, meter, || {
            raw.launch()?;
            raw.synchronize(raw.stream())
        })
    })
}

fn raw_launch_wait(raw: &Raw) -> Body<'_> {
    Box::new(|iterations, meter| {
        straight(iterations, meter, || {
            raw.launch()?;
            raw.record_and_wait()
        })
    })
}

fn raw_copy(raw: &Raw) -> Body<'_> {
    Box::new(|iterations, meter| batches(iterations, meter, || raw.copy(), || raw.synchronize(raw.stream())))
}

fn raw_alloc(raw: &Raw) -> Body<'_> {
    Box::new(|iterations, meter| {
        let once = || raw.allocate_and_free(BLOCK, raw.stream());
        batches(iterations, meter, once, || raw.synchronize(raw.stream()))
    })
}
