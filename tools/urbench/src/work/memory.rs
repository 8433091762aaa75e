//! Stream-ordered memory: one block allocated and freed in the queue's order, without events, with events, and in the way
//! libsycl does it. Nothing uses the memory.

use std::ptr::{null, null_mut};

use ur_client::call;
use ur_client::ffi::{ur_event_handle_t, ur_queue_handle_t};

use super::shapes::{Ended, Stream};
use super::{Prepared, Sides, finish, raw_of, release, waits};
use crate::Failure;
use crate::fixture::Fixture;
use crate::measure::{Body, batches};
use crate::raw::Raw;

/// The case whose block goes from queue to queue.
pub const BEHIND: &str = "work: alloc behind another queue's free";
/// The same with work that has to be waited for.
pub const BEHIND_LAUNCH: &str = "work: alloc, launch behind another queue's free";

/// Host memory over device memory.
pub const HOST: &str = "work: host alloc + free over device memory";
/// Shared memory over device memory.
pub const SHARED: &str = "work: shared alloc + free over device memory";

pub const CASES: [Prepared; 4] = [
    Prepared {
        name: HOST,
        note: "1 MiB, default pools, a queue each; both sides the UR's",
        make: |f, _| over_device(f, Memory::Host),
    },
    Prepared {
        name: SHARED,
        note: "1 MiB, default pools, a queue each; both sides the UR's",
        make: |f, _| over_device(f, Memory::Shared),
    },
    Prepared {
        name: BEHIND,
        note: "1 MiB, alloc waits for the free's event; two queues in turn",
        make: |fixture, _| behind(fixture, false),
    },
    Prepared {
        name: BEHIND_LAUNCH,
        note: "the same, a launch between alloc and free",
        make: |fixture, _| {
            fixture.kernel()?;
            behind(fixture, true)
        },
    },
];

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

/// A kind of stream-ordered memory.
#[derive(Clone, Copy)]
enum Memory {
    Device,
    Host,
    Shared,
}

/// Allocates and frees a block of a kind on a queue.
#[inline]
fn allocate_and_free_of(fixture: &Fixture<'_>, kind: Memory, queue: ur_queue_handle_t) -> Result<(), Failure> {
    let (ur, mut memory, none) = (fixture.ur, null_mut(), null_mut());
    // SAFETY: a live queue, no list, a writable output.
    unsafe {
        let out = &raw mut memory;
        match kind {
            Memory::Device => return fixture.allocate_and_free(BLOCK, queue),
            Memory::Host => {
                call!(ur, EnqueueExp.pfnUSMHostAllocExp(queue, null_mut(), BLOCK, null(), 0, null(), out, none))
            }
            Memory::Shared => {
                call!(ur, EnqueueExp.pfnUSMSharedAllocExp(queue, null_mut(), BLOCK, null(), 0, null(), out, none))
            }
        }
    }?;
    // SAFETY: memory of this queue that is freed once and that nothing uses.
    unsafe { call!(ur, EnqueueExp.pfnUSMFreeExp(queue, null_mut(), memory, 0, null(), null_mut())) }?;
    Ok(())
}

/// A kind of memory beside device memory, each on a queue of its own, which keeps what it frees.
fn over_device<'f>(fixture: &'f Fixture<'f>, kind: Memory) -> Result<Sides<'f>, Failure> {
    let body = |kind| {
        let queue = fixture.new_queue()?;
        // What a device has none of is told before anything is measured.
        allocate_and_free_of(fixture, kind, queue.handle())?;
        let body: Body<'f> = Box::new(move |iterations, meter| {
            let once = || allocate_and_free_of(fixture, kind, queue.handle());
            batches(iterations, meter, once, || Ok(fixture.ur.finish(queue.handle())?))
        });
        Ok::<_, Failure>(body)
    };
    Ok(Sides { ur: body(kind)?, raw: Some(body(Memory::Device)?) })
}

/// Allocates where a queue waits for the other's free, and frees in the same order.
#[inline]
fn allocate_after(
    fixture: &Fixture<'_>,
    queue: ur_queue_handle_t,
    before: ur_event_handle_t,
    launches: bool,
) -> Result<ur_event_handle_t, Failure> {
    let (ur, mut memory, mut after) = (fixture.ur, null_mut(), null_mut());
    let (count, list) = waits(&before);
    // SAFETY: live handles, a list of the count's length, a writable output.
    unsafe {
        call!(
            ur,
            EnqueueExp.pfnUSMDeviceAllocExp(queue, null_mut(), BLOCK, null(), count, list, &raw mut memory, null_mut())
        )
    }?;
    if launches {
        fixture.launch_on(queue)?;
    }
    // SAFETY: a live queue, memory that is freed once and that nothing uses, a writable output.
    unsafe { call!(ur, EnqueueExp.pfnUSMFreeExp(queue, null_mut(), memory, 0, null(), &raw mut after)) }?;
    Ok(after)
}

/// One block goes to and fro between two queues, each of which waits for the other's free.
fn behind<'f>(fixture: &'f Fixture<'f>, launches: bool) -> Result<Sides<'f>, Failure> {
    let queues = [fixture.new_queue()?, fixture.new_queue()?];
    let ur: Body<'f> = Box::new(move |iterations, meter| {
        let (mut turn, mut before) = (0, null_mut());
        let once = || {
            turn = 1 - turn;
            let after = allocate_after(fixture, queues[turn].handle(), before, launches)?;
            if !before.is_null() {
                release(fixture, before)?;
            }
            before = after;
            Ok(())
        };
        let done = batches(iterations, meter, once, || {
            queues.iter().try_for_each(|queue| Ok(fixture.ur.finish(queue.handle())?))
        });
        if !before.is_null() {
            release(fixture, before)?;
        }
        done
    });
    let raw = raw_of(fixture, |raw| {
        let (streams, event) = ([Stream::new(raw)?, Stream::new(raw)?], Ended::new(raw)?);
        let body: Body<'f> = Box::new(move |iterations, meter| {
            // By reference, so that the closure has the event and not its handle alone.
            let (mut turn, event) = (0, &event);
            let once = || {
                turn = 1 - turn;
                let stream = streams[turn].handle;
                raw.stream_wait(stream, event.event)?;
                let memory = raw.allocate_ordered(BLOCK, stream)?;
                if launches {
                    raw.launch_on(stream)?;
                }
                raw.free_ordered(memory, stream)?;
                raw.record(event.event, stream)
            };
            let finish = || streams.iter().try_for_each(|stream| raw.synchronize(stream.handle));
            batches(iterations, meter, once, finish)
        });
        Ok(body)
    })?;
    Ok(Sides { ur, raw })
}
