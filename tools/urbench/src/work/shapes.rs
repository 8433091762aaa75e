//! Launches of other shapes: timed, behind another queue's, after a wait, and while the thread's current
//! device changes.

use std::ptr::{null, null_mut};

use ur_client::call;
use ur_client::ffi::{
    ur_event_handle_t, ur_exp_kernel_arg_properties_t, ur_kernel_handle_t, ur_profiling_info_t, ur_queue_flags_t,
    ur_queue_handle_t,
};

use super::{Prepared, Sides, raw_of, release, waits};
use crate::Failure;
use crate::fixture::Fixture;
use crate::measure::{Body, batches, straight};
use crate::options::Options;
use crate::raw::{Handle, Raw};

pub const CASES: [Prepared; 6] = [
    Prepared {
        name: "work: launch, profiling queue",
        note: "event released; raw: two events recorded",
        make: profiling,
    },
    Prepared { name: "work: launch behind another queue's", note: "two launches, one waits", make: two_queues },
    Prepared { name: "work: wait to next kernel, device time", note: "end of one to start of the next", make: gap },
    Prepared { name: "work: launch, current device changes", note: "before and after each launch", make: current },
    Prepared { name: "work: raw launch by the extended call", note: "cuLaunchKernelEx", make: extended },
    Prepared { name: "work: launches on two devices in turn", note: "two contexts; per launch", make: two_devices },
];

/// Launches a kernel of one thread.
#[inline]
pub fn launch(
    fixture: &Fixture<'_>,
    queue: ur_queue_handle_t,
    kernel: ur_kernel_handle_t,
    arguments: &[ur_exp_kernel_arg_properties_t],
    (count, list): (u32, *const ur_event_handle_t),
    event: *mut ur_event_handle_t,
) -> Result<(), Failure> {
    let (offset, size) = (0_usize, 1_usize);
    let first = if arguments.is_empty() { null() } else { arguments.as_ptr() };
    // SAFETY: live handles, one dimension, lists of their lengths; the event's place is null or writable.
    unsafe {
        call!(
            fixture.ur,
            EnqueueExp.pfnKernelLaunchWithArgsExp(
                queue,
                kernel,
                1,
                &raw const offset,
                &raw const size,
                &raw const size,
                arguments.len() as u32,
                first,
                null(),
                count,
                list,
                event
            )
        )
    }?;
    Ok(())
}

/// No events to wait for.
pub const NO_WAITS: (u32, *const ur_event_handle_t) = (0, null());

fn profiling<'f>(fixture: &'f Fixture<'f>, _: &Options) -> Result<Sides<'f>, Failure> {
    let kernel = fixture.kernel()?;
    let queue = timed_queue(fixture)?;
    let ur: Body<'f> = Box::new(move |iterations, meter| {
        let once = || {
            let mut event = null_mut();
            launch(fixture, queue.handle(), kernel, &[], NO_WAITS, &raw mut event)?;
            release(fixture, event)
        };
        batches(iterations, meter, once, || Ok(fixture.ur.finish(queue.handle())?))
    });
    let raw = raw_of(fixture, |raw| {
        let events = Timed::new(raw)?;
        let body: Body<'f> = Box::new(move |iterations, meter| {
            // By reference, so that the closure has the events and not their handles alone.
            let (events, stream) = (&events, raw.stream());
            let once = || {
                raw.record(events.start, stream)?;
                raw.launch()?;
                raw.record(events.end, stream)
            };
            batches(iterations, meter, once, || raw.synchronize(stream))
        });
        Ok(body)
    })?;
    Ok(Sides { ur, raw })
}

fn timed_queue<'f>(
    fixture: &'f Fixture<'f>,
) -> Result<ur_client::Held<'f, ur_client::ffi::ur_queue_handle_t_>, Failure> {
    let (context, device) = (fixture.context.handle(), fixture.listed.device.handle());
    Ok(fixture.ur.queue(context, device, ur_queue_flags_t::PROFILING_ENABLE)?)
}

/// Two events of the raw side that tell times.
struct Timed<'r> {
    raw: &'r Raw,
    start: Handle,
    end: Handle,
}

impl<'r> Timed<'r> {
    fn new(raw: &'r Raw) -> Result<Self, Failure> {
        let (start, end) = raw.while_current(|| Ok((raw.new_event(true)?, raw.new_event(true)?)))?;
        Ok(Self { raw, start, end })
    }
}

impl Drop for Timed<'_> {
    fn drop(&mut self) {
        // Errors have nobody to go to.
        let _ = self.raw.destroy_event(self.start);
        let _ = self.raw.destroy_event(self.end);
    }
}

/// A stream of the raw side.
pub struct Stream<'r> {
    raw: &'r Raw,
    pub handle: Handle,
}

impl<'r> Stream<'r> {
    pub fn new(raw: &'r Raw) -> Result<Self, Failure> {
        Ok(Self { raw, handle: raw.new_stream()? })
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        // Errors have nobody to go to.
        let _ = self.raw.synchronize(self.handle);
        let _ = self.raw.destroy_stream(self.handle);
    }
}

fn two_queues<'f>(fixture: &'f Fixture<'f>, _: &Options) -> Result<Sides<'f>, Failure> {
    let kernel = fixture.kernel()?;
    let (first, second) = (fixture.new_queue()?, fixture.new_queue()?);
    let ur: Body<'f> = Box::new(move |iterations, meter| {
        let once = || {
            let mut event = null_mut();
            launch(fixture, first.handle(), kernel, &[], NO_WAITS, &raw mut event)?;
            launch(fixture, second.handle(), kernel, &[], waits(&event), null_mut())?;
            release(fixture, event)
        };
        batches(iterations, meter, once, || {
            fixture.ur.finish(first.handle())?;
            Ok(fixture.ur.finish(second.handle())?)
        })
    });
    let raw = raw_of(fixture, |raw| {
        let (first, second) = (Stream::new(raw)?, Stream::new(raw)?);
        let event = Ended::new(raw)?;
        let body: Body<'f> = Box::new(move |iterations, meter| {
            // By reference, so that the closure has the objects and not their handles alone.
            let (first, second, event) = (&first, &second, &event);
            let once = || {
                raw.launch_on(first.handle)?;
                raw.record(event.event, first.handle)?;
                raw.stream_wait(second.handle, event.event)?;
                raw.launch_on(second.handle)
            };
            batches(iterations, meter, once, || {
                raw.synchronize(first.handle)?;
                raw.synchronize(second.handle)
            })
        });
        Ok(body)
    })?;
    Ok(Sides { ur, raw })
}

/// An event of the raw side.
pub struct Ended<'r> {
    raw: &'r Raw,
    pub event: Handle,
}

impl<'r> Ended<'r> {
    pub fn new(raw: &'r Raw) -> Result<Self, Failure> {
        let event = raw.while_current(|| raw.new_event(false))?;
        Ok(Self { raw, event })
    }
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        // Errors have nobody to go to.
        let _ = self.raw.destroy_event(self.event);
    }
}

/// How long the device stands still between a kernel whose end the host waits for and the one that it launches then.
fn gap<'f>(fixture: &'f Fixture<'f>, _: &Options) -> Result<Sides<'f>, Failure> {
    let kernel = fixture.kernel()?;
    let queue = timed_queue(fixture)?;
    let ur: Body<'f> = Box::new(move |iterations, meter| {
        for _ in 0..iterations {
            let (mut first, mut second) = (null_mut(), null_mut());
            launch(fixture, queue.handle(), kernel, &[], NO_WAITS, &raw mut first)?;
            wait(fixture, &first)?;
            // Counted here: everything else is not about the gap.
            meter.start();
            launch(fixture, queue.handle(), kernel, &[], NO_WAITS, &raw mut second)?;
            meter.stop_counting();
            wait(fixture, &second)?;
            let end = time_of(fixture, first, ur_profiling_info_t::COMMAND_END)?;
            let start = time_of(fixture, second, ur_profiling_info_t::COMMAND_START)?;
            meter.time += std::time::Duration::from_nanos(start.saturating_sub(end).max(1));
            release(fixture, first)?;
            release(fixture, second)?;
        }
        Ok(())
    });
    let raw = raw_of(fixture, |raw| {
        let (first, second) = (Timed::new(raw)?, Timed::new(raw)?);
        let body: Body<'f> = Box::new(move |iterations, meter| {
            // By reference, so that the closure has the events and not their handles alone.
            let (first, second, stream) = (&first, &second, raw.stream());
            let timed = |events: &Timed<'_>| {
                raw.record(events.start, stream)?;
                raw.launch()?;
                raw.record(events.end, stream)
            };
            for _ in 0..iterations {
                timed(first)?;
                raw.wait_event(first.end)?;
                meter.start();
                timed(second)?;
                meter.stop_counting();
                raw.wait_event(second.end)?;
                let gap = raw.elapsed_ns(first.end, second.start)?;
                meter.time += std::time::Duration::from_nanos(gap.max(1.0) as u64);
            }
            Ok(())
        });
        Ok(body)
    })?;
    Ok(Sides { ur, raw })
}

fn wait(fixture: &Fixture<'_>, event: &ur_event_handle_t) -> Result<(), Failure> {
    // SAFETY: a list of one live event.
    unsafe { call!(fixture.ur, Event.pfnWait(1, event)) }?;
    Ok(())
}

fn time_of(fixture: &Fixture<'_>, event: ur_event_handle_t, which: ur_profiling_info_t) -> Result<u64, Failure> {
    let mut time = 0_u64;
    let (size, place) = (size_of::<u64>(), (&raw mut time).cast());
    // SAFETY: a complete event of a queue that takes times; the value has the query's size.
    unsafe { call!(fixture.ur, Event.pfnGetProfilingInfo(event, which, size, place, null_mut())) }?;
    Ok(time)
}

fn current<'f>(fixture: &'f Fixture<'f>, _: &Options) -> Result<Sides<'f>, Failure> {
    let kernel = fixture.kernel()?;
    let queue = fixture.queue.handle();
    let Some(raw) = &fixture.raw else {
        return Err(Failure::Unavailable("there is no raw side to change the current device by".to_owned()));
    };
    let ur: Body<'f> = Box::new(move |iterations, meter| {
        let once = || {
            raw.leave()?;
            launch(fixture, queue, kernel, &[], NO_WAITS, null_mut())?;
            raw.come_back()
        };
        raw.while_current(|| batches(iterations, meter, once, || super::finish(fixture)))
    });
    let raw_side: Body<'f> = Box::new(move |iterations, meter| {
        let last = raw.launches_where_it_is_current();
        let once = || {
            raw.leave()?;
            if last {
                raw.come_back()?;
                return raw.launch();
            }
            raw.launch()?;
            raw.come_back()
        };
        raw.while_current(|| batches(iterations, meter, once, || raw.synchronize(raw.stream())))
    });
    Ok(Sides { ur, raw: raw.can_launch().then_some(raw_side) })
}

fn extended<'f>(fixture: &'f Fixture<'f>, _: &Options) -> Result<Sides<'f>, Failure> {
    let raw = fixture.raw.as_ref().filter(|raw| raw.can_launch());
    let raw = raw.ok_or_else(|| Failure::Unavailable("there is no raw side".to_owned()))?;
    let ur: Body<'f> = Box::new(move |iterations, meter| {
        batches(iterations, meter, || raw.launch_extended(), || raw.synchronize(raw.stream()))
    });
    Ok(Sides { ur, raw: Some(super::launch::raw_launch(raw)) })
}

fn two_devices<'f>(fixture: &'f Fixture<'f>, options: &Options) -> Result<Sides<'f>, Failure> {
    let kernel = fixture.kernel()?;
    let other = fixture.other_device(options)?;
    let (queue, second) = (fixture.queue.handle(), fixture.ur);
    let raw_other = other.raw.is_some() && fixture.raw.as_ref().is_some_and(Raw::can_launch);
    let other = std::rc::Rc::new(other);
    let there = std::rc::Rc::clone(&other);
    let ur: Body<'f> = Box::new(move |iterations, meter| {
        let mut here = false;
        let once = || {
            here = !here;
            let (queue, kernel) = if here { (queue, kernel) } else { (there.queue.handle(), there.kernel.handle()) };
            launch(fixture, queue, kernel, &[], NO_WAITS, null_mut())
        };
        batches(iterations, meter, once, || {
            second.finish(there.queue.handle())?;
            super::finish(fixture)
        })
    });
    let raw: Option<Body<'f>> = fixture.raw.as_ref().filter(|_| raw_other).map(|raw| {
        let body: Body<'f> = Box::new(move |iterations, meter| {
            let Some(there) = &other.raw else { return Ok(()) };
            let mut here = false;
            let sets = raw.launches_where_it_is_current();
            let once = || {
                here = !here;
                let side = if here { raw } else { there };
                if sets {
                    side.come_back()?;
                }
                side.launch()
            };
            raw.while_current(|| {
                batches(iterations, meter, once, || {
                    there.synchronize(there.stream())?;
                    raw.synchronize(raw.stream())
                })
            })
        });
        body
    });
    Ok(Sides { ur, raw })
}

/// One after the other without a pause, for the bodies of other modules.
pub fn one_by_one<'f>(mut once: impl FnMut() -> Result<(), Failure> + 'f) -> Body<'f> {
    Box::new(move |iterations, meter| straight(iterations, meter, &mut once))
}
