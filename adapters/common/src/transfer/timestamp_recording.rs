//! `urEnqueueTimestampRecordingExp`: an event that knows when it was reached, on any queue.
//!
//! It is a native event with timing and nothing else; the queue need not be profiled.

use std::sync::Arc;

use ur_ffi::{CBool, ur_command_t, ur_event_handle_t, ur_queue_handle_t};

use crate::command::Request;
use crate::command::barrier::return_recorded_event;
use crate::command::submission::Submission;
use crate::device::clock::host_time_ns;
use crate::device::event_pool::PooledEvent;
use crate::driver::Driver;
use crate::object::error::Result;
use crate::object::{Object, null_pointer};
use crate::stream::event::{Event, HostTimes, Stamps};

/// `urEnqueueTimestampRecordingExp`.
///
/// # Safety
/// The C contract of an enqueue.
///
/// # Errors
/// `INVALID_NULL_POINTER` without memory for the event; as [`Request::new`]; what the native library answers. Once the
/// command is on the queue its event is handed out even if waiting fails.
pub unsafe fn enqueue<D: Driver>(
    queue: ur_queue_handle_t,
    blocking: CBool,
    count: u32,
    waits: *const ur_event_handle_t,
    event: *mut ur_event_handle_t,
) -> Result<()> {
    // SAFETY: the caller's promises are the same.
    let request = unsafe { Request::<D>::new(queue, ur_command_t::TIMESTAMP_RECORDING_EXP, count, waits, event) }?;
    if event.is_null() {
        return Err(null_pointer("urEnqueueTimestampRecordingExp: phEvent"));
    }
    request.queue.device.start_own_clock()?;
    let recorded = record(&request)?;
    return_recorded_event(event, &recorded);
    if blocking.get() { recorded.wait() } else { Ok(()) }
}

fn record<D: Driver>(request: &Request<'_, D>) -> Result<Arc<Object<Event<D>>>> {
    let queue = request.queue;
    let stream = queue.choose_stream(&request.waits)?;
    let barrier = queue.barrier();
    let mut submission = Submission::open(&stream, &request.waits)?;
    submission.come_after(Some(&barrier))?;
    // The command is its own submission, so both times are one.
    let now = host_time_ns();
    let host = HostTimes { queued: now, submitted: now };
    let end = PooledEvent::record(&stream.device, stream.native, true)?;
    submission.count();
    let stamps = Stamps { host, start: None, base: stream.device.time_base() };
    Ok(submission.recorded_event(queue, request.command, end, Some(stamps)))
}
