//! Launches of an empty kernel and small copies, with and without events and waits.

use std::ptr::{null, null_mut};

use ur_client::call;
use ur_client::ffi::{CBool, ur_event_handle_t};

use super::{finish, release, waits};
use crate::Failure;
use crate::fixture::Fixture;
use crate::measure::{Body, batches, straight};
use crate::raw::{COPY, Raw};

const NO_WAITS: (u32, *const ur_event_handle_t) = (0, null());

/// Launches the empty kernel; asks for an event if there is a place for one, and waits
/// for what is listed.
#[inline]
fn launch(
    fixture: &Fixture<'_>,
    (count, list): (u32, *const ur_event_handle_t),
    event: *mut ur_event_handle_t,
) -> Result<(), Failure> {
    let (ur, queue, kernel) = (fixture.ur, fixture.queue.handle(), fixture.kernel()?);
    let (offset, size) = (0_usize, 1_usize);
    // SAFETY: live handles, one dimension, no arguments, a list of its length; the event's place is null or writable.
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
                count,
                list,
                event
            )
        )
    }?;
    Ok(())
}

/// One launch of the empty kernel, without events.
#[inline]
pub fn once(fixture: &Fixture<'_>) -> Result<(), Failure> {
    launch(fixture, NO_WAITS, null_mut())
}

pub fn ur_launch<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    Box::new(move |iterations, meter| batches(iterations, meter, || once(fixture), || finish(fixture)))
}

pub fn ur_launch_event<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    let once = move || {
        let mut event = null_mut();
        launch(fixture, NO_WAITS, &raw mut event)?;
        release(fixture, event)
    };
    Box::new(move |iterations, meter| batches(iterations, meter, once, || finish(fixture)))
}

/// Each launch waits for the one before, by an event that is released as soon as the next launch has been given it.
pub fn ur_launch_chained<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    Box::new(move |iterations, meter| {
        let mut before: ur_event_handle_t = null_mut();
        let once = || {
            let mut event = null_mut();
            launch(fixture, waits(&before), &raw mut event)?;
            match std::mem::replace(&mut before, event) {
                first if first.is_null() => Ok(()),
                done => release(fixture, done),
            }
        };
        let chained = batches(iterations, meter, once, || finish(fixture));
        if before.is_null() { chained } else { chained.and(release(fixture, before)) }
    })
}

pub fn ur_launch_finish<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    Box::new(move |iterations, meter| {
        straight(iterations, meter, || {
            launch(fixture, NO_WAITS, null_mut())?;
            finish(fixture)
        })
    })
}

pub fn ur_launch_wait<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    Box::new(move |iterations, meter| {
        straight(iterations, meter, || {
            let mut event = null_mut();
            launch(fixture, NO_WAITS, &raw mut event)?;
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

pub fn ur_copy<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    Box::new(move |iterations, meter| batches(iterations, meter, || copy(fixture, null_mut()), || finish(fixture)))
}

pub fn ur_copy_event<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    let once = move || {
        let mut event = null_mut();
        copy(fixture, &raw mut event)?;
        release(fixture, event)
    };
    Box::new(move |iterations, meter| batches(iterations, meter, once, || finish(fixture)))
}

pub fn raw_launch(raw: &Raw) -> Body<'_> {
    Box::new(|iterations, meter| batches(iterations, meter, || raw.launch(), || raw.synchronize(raw.stream())))
}

/// The raw side in the UR's place: what remains between the two is the measurement's own error.
pub fn raw_again<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    match &fixture.raw {
        Some(raw) => raw_launch(raw),
        None => Box::new(|_, _| Err(Failure::Unavailable("there is no raw side".to_owned()))),
    }
}

pub fn raw_launch_finish(raw: &Raw) -> Body<'_> {
    Box::new(|iterations, meter| {
        straight(iterations, meter, || {
            raw.launch()?;
            raw.synchronize(raw.stream())
        })
    })
}

pub fn raw_launch_wait(raw: &Raw) -> Body<'_> {
    Box::new(|iterations, meter| {
        straight(iterations, meter, || {
            raw.launch()?;
            raw.record_and_wait()
        })
    })
}

pub fn raw_copy(raw: &Raw) -> Body<'_> {
    Box::new(|iterations, meter| batches(iterations, meter, || raw.copy(), || raw.synchronize(raw.stream())))
}
