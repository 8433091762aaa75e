//! Launches of an empty kernel that are waited for at once, by their queue or by their event.

use std::ptr::null_mut;

use ur_client::call;

use super::shapes::{NO_WAITS, launch};
use super::{finish, release};
use crate::fixture::Fixture;
use crate::measure::{Body, batches, straight};
use crate::raw::Raw;

pub fn ur_launch_finish<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    Box::new(move |iterations, meter| {
        straight(iterations, meter, || {
            fixture.launch_on(fixture.queue.handle())?;
            finish(fixture)
        })
    })
}

pub fn ur_launch_wait<'f>(fixture: &'f Fixture<'f>) -> Body<'f> {
    Box::new(move |iterations, meter| {
        straight(iterations, meter, || {
            let mut event = null_mut();
            launch(fixture, fixture.queue.handle(), fixture.kernel()?, &[], NO_WAITS, &raw mut event)?;
            // SAFETY: a list of one live event.
            unsafe { call!(fixture.ur, Event.pfnWait(1, &raw const event)) }?;
            release(fixture, event)
        })
    })
}

pub fn raw_launch(raw: &Raw) -> Body<'_> {
    Box::new(|iterations, meter| batches(iterations, meter, || raw.launch(), || raw.synchronize(raw.stream())))
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
