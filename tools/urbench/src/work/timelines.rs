//! Timelines: signals and waits between queues against raw events, a host's signal against a raw value in memory, and what a
//! command costs that is kept behind a wait for what nobody has signalled. Each body signals all that it waits for.

use std::cell::Cell;
use std::ptr::{null, null_mut};

use ur_client::ffi::{CBool, ur_ext_timeline_handle_t, ur_queue_handle_t, ur_queue_handle_t_};
use ur_client::{Held, Ur, call};

use super::shapes::{Ended, Stream};
use super::{Prepared, Sides, raw_of};
use crate::Failure;
use crate::fixture::Fixture;
use crate::measure::{Body, Meter};
use crate::options::Options;
use crate::raw::{COPY, Raw, Word};

/// Commands, or pairs of them, that are enqueued before the queues are waited for: well below the depth of a stream.
const BATCH: u64 = 64;
/// Queues of the ring.
const RING: usize = 8;

pub const HOST_SIGNAL: &str = "timelines: host signal to kernel";
pub const DEFERRED_LAUNCH: &str = "timelines: deferred launch";
pub const DEFERRED_COPY: &str = "timelines: deferred copy 4 KiB";

pub const CASES: [Prepared; 7] = [
    Prepared {
        name: "timelines: signal, wait",
        note: "two queues, the launches around them do not count; raw: event",
        make: pair,
    },
    Prepared {
        name: "timelines: signal, wait, events in turn",
        note: "the same; raw: an event that is recorded again when its end is known",
        make: pair_with_events_in_turn,
    },
    Prepared {
        name: "timelines: launch, signal, wait, launch",
        note: "two queues; raw: event",
        make: pair_with_launches,
    },
    Prepared { name: HOST_SIGNAL, note: "until the kernel's end; raw: cuStreamWriteValue32", make: host_signal },
    Prepared {
        name: DEFERRED_LAUNCH,
        note: "enqueued behind an unresolved wait; other side: not deferred",
        make: |fixture, _| deferred(fixture, Command::Launch),
    },
    Prepared {
        name: DEFERRED_COPY,
        note: "enqueued behind an unresolved wait; other side: not deferred",
        make: |fixture, _| deferred(fixture, Command::Copy),
    },
    Prepared {
        name: "timelines: ring of 8 queues",
        note: "a round of 8 launches, to its end; raw: events",
        make: ring,
    },
];

/// A timeline with the value that it was signalled last, which releases itself.
struct Timeline<'u> {
    ur: &'u Ur,
    handle: ur_ext_timeline_handle_t,
    value: Cell<u64>,
}

impl Drop for Timeline<'_> {
    fn drop(&mut self) {
        // SAFETY: the reference is this value's own. Errors have nobody to go to.
        let _ = unsafe { call!(self.ur, TimelineExt.pfnTimelineReleaseExt(self.handle)) };
    }
}

impl<'u> Timeline<'u> {
    fn new(fixture: &Fixture<'u>) -> Result<Self, Failure> {
        let (ur, context, mut handle) = (fixture.ur, fixture.context.handle(), null_mut());
        // SAFETY: a live context, no description, a writable output.
        unsafe { call!(ur, TimelineExt.pfnTimelineCreateExt(context, null(), &raw mut handle)) }?;
        Ok(Self { ur, handle, value: Cell::new(0) })
    }

    /// The value that comes next.
    #[inline]
    fn next(&self) -> u64 {
        self.value.set(self.value.get() + 1);
        self.value.get()
    }

    /// Has a queue wait for a value.
    #[inline]
    fn wait_on(&self, queue: ur_queue_handle_t, value: u64) -> Result<(), Failure> {
        let (timeline, value, no_event) = (&raw const self.handle, &raw const value, null_mut());
        // SAFETY: live handles, lists of one, no events.
        unsafe {
            call!(self.ur, TimelineExt.pfnEnqueueTimelineWaitExt(queue, 1, timeline, value, 0, null(), no_event))
        }?;
        Ok(())
    }

    /// Has a queue signal a value.
    #[inline]
    fn signal_on(&self, queue: ur_queue_handle_t, value: u64) -> Result<(), Failure> {
        let (timeline, value, no_event) = (&raw const self.handle, &raw const value, null_mut());
        // SAFETY: as above.
        unsafe {
            call!(self.ur, TimelineExt.pfnEnqueueTimelineSignalExt(queue, 1, timeline, value, 0, null(), no_event))
        }?;
        Ok(())
    }

    /// Signals a value from the host.
    #[inline]
    fn signal(&self, value: u64) -> Result<(), Failure> {
        // SAFETY: a live timeline.
        unsafe { call!(self.ur, TimelineExt.pfnTimelineSignalExt(self.handle, value)) }?;
        Ok(())
    }
}

/// Calls `batch` with at most so many commands until all are done.
fn in_batches(iterations: u64, mut batch: impl FnMut(u64) -> Result<(), Failure>) -> Result<(), Failure> {
    let mut left = iterations;
    while left > 0 {
        let count = left.min(BATCH);
        batch(count)?;
        left -= count;
    }
    Ok(())
}

/// What of a handover between two queues is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Handover,
    All,
}

/// A launch, a handover to the other queue and a launch there, so many times; `part` of it is measured.
fn hand_over(
    part: Part,
    iterations: u64,
    meter: &mut Meter<'_>,
    launch: impl Fn(usize) -> Result<(), Failure>,
    handover: impl Fn() -> Result<(), Failure>,
    finish: impl Fn() -> Result<(), Failure>,
) -> Result<(), Failure> {
    in_batches(iterations, |count| {
        if part == Part::All {
            meter.start();
        }
        for _ in 0..count {
            launch(0)?;
            if part == Part::Handover {
                meter.start();
            }
            handover()?;
            if part == Part::Handover {
                meter.stop();
            }
            launch(1)?;
        }
        if part == Part::All {
            meter.stop();
        }
        finish()
    })
}

fn pair<'f>(fixture: &'f Fixture<'f>, _: &Options) -> Result<Sides<'f>, Failure> {
    handovers(fixture, Part::Handover, 1)
}

/// A raw event that is recorded again at once tells nobody of its signal before, which a timeline has to: its events are recorded again
/// when their ends are known. This says what of a handover's price the native events are.
fn pair_with_events_in_turn<'f>(fixture: &'f Fixture<'f>, _: &Options) -> Result<Sides<'f>, Failure> {
    handovers(fixture, Part::Handover, BATCH as usize)
}

fn pair_with_launches<'f>(fixture: &'f Fixture<'f>, _: &Options) -> Result<Sides<'f>, Failure> {
    handovers(fixture, Part::All, 1)
}

/// `raw_events` is how many events the raw side records in turn.
fn handovers<'f>(fixture: &'f Fixture<'f>, part: Part, raw_events: usize) -> Result<Sides<'f>, Failure> {
    fixture.kernel()?;
    let (timeline, queues) = (Timeline::new(fixture)?, [fixture.new_queue()?, fixture.new_queue()?]);
    let ur: Body<'f> = Box::new(move |iterations, meter| {
        let handover = || {
            let value = timeline.next();
            timeline.signal_on(queues[0].handle(), value)?;
            timeline.wait_on(queues[1].handle(), value)
        };
        let launch = |index: usize| fixture.launch_on(queues[index].handle());
        hand_over(part, iterations, meter, launch, handover, || finish_all(fixture, &queues))
    });
    let raw = raw_of(fixture, |raw| {
        let streams = [Stream::new(raw)?, Stream::new(raw)?];
        let events = (0..raw_events).map(|_| Ended::new(raw)).collect::<Result<Vec<_>, _>>()?;
        let next = Cell::new(0);
        let body: Body<'f> = Box::new(move |iterations, meter| {
            let handover = || {
                let event = events[next.get()].event;
                next.set(if next.get() + 1 == events.len() { 0 } else { next.get() + 1 });
                raw.record(event, streams[0].handle)?;
                raw.stream_wait(streams[1].handle, event)
            };
            let launch = |index: usize| raw.launch_on(streams[index].handle);
            hand_over(part, iterations, meter, launch, handover, || synchronize_all(raw, &streams))
        });
        Ok(body)
    })?;
    Ok(Sides { ur, raw })
}

fn finish_all(fixture: &Fixture<'_>, queues: &[Held<'_, ur_queue_handle_t_>]) -> Result<(), Failure> {
    queues.iter().try_for_each(|queue| Ok(fixture.ur.finish(queue.handle())?))
}

fn synchronize_all(raw: &Raw, streams: &[Stream<'_>]) -> Result<(), Failure> {
    streams.iter().try_for_each(|stream| raw.synchronize(stream.handle))
}

/// From the host's signal to the end of a kernel behind a wait that was enqueued before it.
fn host_signal<'f>(fixture: &'f Fixture<'f>, _: &Options) -> Result<Sides<'f>, Failure> {
    fixture.kernel()?;
    let (timeline, queue) = (Timeline::new(fixture)?, fixture.new_queue()?);
    let ur: Body<'f> = Box::new(move |iterations, meter| {
        for _ in 0..iterations {
            let value = timeline.next();
            timeline.wait_on(queue.handle(), value)?;
            fixture.launch_on(queue.handle())?;
            meter.start();
            timeline.signal(value)?;
            fixture.ur.finish(queue.handle())?;
            meter.stop();
        }
        Ok(())
    });
    let raw = raw_of(fixture, |raw| {
        let (word, streams) = (Word::new(raw)?, [Stream::new(raw)?, Stream::new(raw)?]);
        let mut value = 0_u32;
        let mut signal_and_wait = move |meter: &mut Meter<'_>| {
            let [waiting, signalling] = [streams[0].handle, streams[1].handle];
            value = value.wrapping_add(1);
            word.wait(waiting, value)?;
            let launched = raw.launch_on(waiting);
            meter.start();
            // Written even if there is no kernel: nothing else ends the stream's wait.
            word.write(signalling, value)?;
            raw.synchronize(waiting)?;
            meter.stop();
            launched
        };
        let body: Body<'f> = Box::new(move |iterations, meter| {
            raw.while_current(|| (0..iterations).try_for_each(|_| signal_and_wait(meter)))
        });
        Ok(body)
    })?;
    Ok(Sides { ur, raw })
}

/// What is enqueued behind a wait.
#[derive(Clone, Copy)]
enum Command {
    Launch,
    Copy,
}

impl Command {
    #[inline]
    fn enqueue(self, fixture: &Fixture<'_>, queue: ur_queue_handle_t) -> Result<(), Failure> {
        let (to, from, no_event) = (fixture.memory, fixture.host, null_mut());
        match self {
            Self::Launch => fixture.launch_on(queue),
            // SAFETY: a live queue, buffers of that size that outlive the copy, no lists.
            Self::Copy => Ok(unsafe {
                call!(fixture.ur, Enqueue.pfnUSMMemcpy(queue, CBool::FALSE, to, from, COPY, 0, null(), no_event))
            }?),
        }
    }
}

/// Enqueues a command behind a wait that nothing resolves yet, against the same command of the UR on a queue that does not
/// wait. That the commands go out then does not count.
fn deferred<'f>(fixture: &'f Fixture<'f>, command: Command) -> Result<Sides<'f>, Failure> {
    fixture.kernel()?;
    let (timeline, queue) = (Timeline::new(fixture)?, fixture.new_queue()?);
    let ur: Body<'f> = Box::new(move |iterations, meter| {
        in_batches(iterations, |count| {
            let value = timeline.next();
            timeline.wait_on(queue.handle(), value)?;
            enqueue_many(fixture, command, queue.handle(), count, meter)?;
            timeline.signal(value)?;
            Ok(fixture.ur.finish(queue.handle())?)
        })
    });
    let queue = fixture.new_queue()?;
    let other: Body<'f> = Box::new(move |iterations, meter| {
        in_batches(iterations, |count| {
            enqueue_many(fixture, command, queue.handle(), count, meter)?;
            Ok(fixture.ur.finish(queue.handle())?)
        })
    });
    Ok(Sides { ur, raw: Some(other) })
}

#[inline]
fn enqueue_many(
    fixture: &Fixture<'_>,
    command: Command,
    queue: ur_queue_handle_t,
    count: u64,
    meter: &mut Meter<'_>,
) -> Result<(), Failure> {
    meter.start();
    for _ in 0..count {
        command.enqueue(fixture, queue)?;
    }
    meter.stop();
    Ok(())
}

/// Eight queues, each of which waits for the one before it, launches and signals; from the first enqueue to the end of all.
fn ring<'f>(fixture: &'f Fixture<'f>, _: &Options) -> Result<Sides<'f>, Failure> {
    fixture.kernel()?;
    let timeline = Timeline::new(fixture)?;
    let queues = (0..RING).map(|_| fixture.new_queue()).collect::<Result<Vec<_>, _>>()?;
    let ur: Body<'f> = Box::new(move |iterations, meter| {
        meter.start();
        for _ in 0..iterations {
            for queue in &queues {
                timeline.wait_on(queue.handle(), timeline.value.get())?;
                fixture.launch_on(queue.handle())?;
                timeline.signal_on(queue.handle(), timeline.next())?;
            }
        }
        finish_all(fixture, &queues)?;
        meter.stop();
        Ok(())
    });
    let raw = raw_of(fixture, |raw| {
        let streams = (0..RING).map(|_| Stream::new(raw)).collect::<Result<Vec<_>, _>>()?;
        let events = (0..RING).map(|_| Ended::new(raw)).collect::<Result<Vec<_>, _>>()?;
        let body: Body<'f> = Box::new(move |iterations, meter| {
            meter.start();
            for _ in 0..iterations {
                for (index, stream) in streams.iter().enumerate() {
                    // An event that was never recorded holds nothing up, as the timeline's first value does not.
                    raw.stream_wait(stream.handle, events[(index + RING - 1) % RING].event)?;
                    raw.launch_on(stream.handle)?;
                    raw.record(events[index].event, stream.handle)?;
                }
            }
            synchronize_all(raw, &streams)?;
            meter.stop();
            Ok(())
        });
        Ok(body)
    })?;
    Ok(Sides { ur, raw })
}
