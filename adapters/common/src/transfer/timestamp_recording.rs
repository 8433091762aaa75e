//! `urEnqueueTimestampRecordingExp`: an event that knows when it was reached, on any queue.
//!
//! It is a native event with timing and nothing else; the queue need not be profiled.

use std::sync::Arc;

use ur_ffi::ur_command_t;

use crate::command::deferral::{self, Place};
use crate::command::submission::Submission;
use crate::command::{Enqueue, Request};
use crate::device::clock::host_time_ns;
use crate::device::event_pool::PooledEvent;
use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::Result;
use crate::stream::event::Event;
use crate::stream::promise::Promise;
use crate::stream::times::{HostTimes, Stamps};

/// `urEnqueueTimestampRecordingExp`.
///
/// # Errors
/// `GRAPH_CAPTURE_UNSUPPORTED` for a queue that captures; what the native library answers. Once the command is on the queue its event is returned even if waiting fails.
pub fn enqueue<D: Driver>(enqueue: Enqueue<'_, D>, blocking: bool) -> Result<()> {
    let request = enqueue.request(ur_command_t::TIMESTAMP_RECORDING_EXP);
    request.queue.refuse_in_capture("urEnqueueTimestampRecordingExp")?;
    request.queue.device.start_own_clock()?;
    if request.must_be_deferred() {
        return defer(&request, blocking);
    }
    let recorded = record(&request)?;
    request.event.write(Object::retain_handle(&recorded));
    if blocking { recorded.wait() } else { Ok(()) }
}

/// Keeps the recording, which then happens when its turn has come.
#[cold]
fn defer<D: Driver>(request: &Request<'_, D>, blocking: bool) -> Result<()> {
    let waits = request.bind_waits()?;
    let promise = Promise::of_command();
    promise.want_event();
    let work = |request: &Request<'_, D>| {
        request.event.write(Object::retain_handle(&record(request)?));
        Ok(())
    };
    deferral::defer(request, waits, Place::InOrder, &promise, deferral::by_function(work));
    match blocking {
        true => promise.wait()?.map_or(Ok(()), |event| event.wait()),
        false => Ok(()),
    }
}

fn record<D: Driver>(request: &Request<'_, D>) -> Result<Arc<Object<Event<D>>>> {
    let queue = request.queue;
    let stream = queue.choose_stream(&request.waits)?;
    let barrier = deferral::barrier_of(queue);
    let mut submission = Submission::open(&stream, &request.waits)?;
    submission.come_after(Some(&barrier))?;
    // The command is its own submission, so both times are one unless it was kept.
    let now = host_time_ns();
    let host = HostTimes { queued: deferral::queued(queue).min(now), submitted: now };
    let end = PooledEvent::record(&stream.device, &stream.native, true)?;
    submission.count();
    let stamps = Stamps::new(host, None, stream.device.time_base());
    Ok(submission.recorded_event(queue, request.command, end, Some(stamps)))
}
