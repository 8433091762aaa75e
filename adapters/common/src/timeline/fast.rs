//! A handover between two queues that are plain, the usual use of a timeline: one value, no wait list, no event, in order.
//!
//! The signal records one native event, the wait puts one native wait on its stream, and neither makes an object in the steady
//! state (`urbench`'s rows "timelines: signal, wait" and "timelines: launch, signal, wait, launch" pay for this file). What is
//! not of this kind answers `None` and goes the usual way, before anything has happened.

use std::sync::Arc;

use ur_ffi::ur_command_t;

use crate::command::Enqueue;
use crate::command::submission::Submission;
use crate::driver::Driver;
use crate::object::error::Result;
use crate::object::params::Handles;
use crate::stream::Stream;
use crate::sync::unlikely::unlikely;
use crate::timeline::Timeline;
use crate::timeline::values::{ToWaitFor, Values};

/// The stream of a plain queue, the timeline and the value.
type Handover<'a, D> = (&'a Arc<Stream<D>>, &'a Values<D>, u64);

#[inline(always)]
fn handover<'a, D: Driver>(
    enqueue: &Enqueue<'a, D>,
    timelines: &Handles<'a, Timeline<D>>,
    values: &[u64],
) -> Option<Handover<'a, D>> {
    let ([value], true, true) = (values, enqueue.waits.is_empty(), enqueue.event.is_null()) else { return None };
    Some((enqueue.queue.stream_alone()?, timelines.iter().next()?.values(), *value))
}

/// As [`super::enqueue::signal`].
#[inline]
pub(super) fn signal<D: Driver>(
    enqueue: &Enqueue<'_, D>,
    timelines: &Handles<'_, Timeline<D>>,
    values: &[u64],
) -> Option<Result<()>> {
    let (stream, values, value) = handover(enqueue, timelines, values)?;
    if unlikely!(!values.is_local()) {
        return None;
    }
    // Signalled only once it is on the stream: so the values are asked once. A value that is refused then leaves nothing but a
    // record that tells nobody anything.
    let recorded = Submission::over(stream).record_timepoint(enqueue.queue, ur_command_t::TIMELINE_SIGNAL_EXT);
    Some(recorded.and_then(|event| values.signal_behind(value, event)))
}

/// As [`super::enqueue::wait`].
#[inline]
pub(super) fn wait<D: Driver>(
    enqueue: &Enqueue<'_, D>,
    timelines: &Handles<'_, Timeline<D>>,
    values: &[u64],
) -> Option<Result<()>> {
    let (stream, values, value) = handover(enqueue, timelines, values)?;
    let event = match values.to_wait_for(value, stream) {
        ToWaitFor::Event(event) => event,
        ToWaitFor::Nothing => return Some(Ok(())),
        ToWaitFor::Unknown => return None,
    };
    let mut submission = Submission::over(stream);
    Some(submission.begin_work().and_then(|()| submission.wait_for_recorded(&event)))
}
