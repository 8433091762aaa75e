//! Stream-ordered memory: one block allocated and freed in the queue's order, without events, with events, and in the way
//! libsycl does it. Nothing uses the memory.

use std::ptr::{null, null_mut};

use ur_client::call;
use ur_client::ffi::ur_event_handle_t;

use super::{finish, release, waits};
use crate::Failure;
use crate::fixture::Fixture;
use crate::measure::{Body, batches};
use crate::raw::Raw;

/// Bytes of an allocation.
const BLOCK: usize = 1 << 20;

pub fn ur_alloc<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    let queue = fixture.queue.handle();
    Box::new(move |iterations, meter| {
        batches(iterations, meter, || fixture.allocate_and_free(BLOCK, queue), || finish(fixture))
    })
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

pub fn ur_alloc_events<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    let once = move || allocate_and_free_with_events(fixture, false);
    Box::new(move |iterations, meter| batches(iterations, meter, once, || finish(fixture)))
}

pub fn ur_alloc_libsycl<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    let once = move || allocate_and_free_with_events(fixture, true);
    Box::new(move |iterations, meter| batches(iterations, meter, once, || finish(fixture)))
}

pub fn raw_alloc(raw: &Raw) -> Body<'_> {
    Box::new(|iterations, meter| {
        let once = || raw.allocate_and_free(BLOCK, raw.stream());
        batches(iterations, meter, once, || raw.synchronize(raw.stream()))
    })
}
