//! What an event says of itself: `urEventGetInfo` and `urEventGetProfilingInfo`.

use ur_ffi::{ur_event_info_t, ur_event_status_t, ur_profiling_info_t, ur_result_t};

use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::Result;
use crate::object::info::InfoWriter;
use crate::stream::event::Event;
use crate::stream::promise::Outcome;

/// `urEventGetInfo`.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_ENUMERATION` for an unknown property.
pub fn get_info<D: Driver>(event: &Object<Event<D>>, property: ur_event_info_t, writer: InfoWriter) -> Result<()> {
    match property {
        ur_event_info_t::COMMAND_QUEUE if event.is_adopted() => {
            // Behind a native event of somebody else's there is none.
            let signaller = event.as_reusable().map(|reusable| reusable.signaller());
            writer.value(signaller.unwrap_or(core::ptr::null_mut()))
        }
        ur_event_info_t::COMMAND_QUEUE if event.as_deferred().is_some_and(|promise| promise.is_timepoint()) => {
            writer.value(core::ptr::null_mut::<ur_ffi::ur_queue_handle_t_>())
        }
        ur_event_info_t::COMMAND_QUEUE => writer.value(event.queue.handle()),
        ur_event_info_t::CONTEXT => writer.value(event.queue.context().handle()),
        ur_event_info_t::COMMAND_TYPE => writer.value(event.command),
        ur_event_info_t::COMMAND_EXECUTION_STATUS => writer.value(status(event)?),
        ur_event_info_t::REFERENCE_COUNT => writer.value(event.references()),
        _ => writer.unknown(property.0),
    }
}

/// `urEventGetProfilingInfo`. What is wrong with the output is told after what is wrong with the event.
///
/// # Errors
/// `PROFILING_INFO_NOT_AVAILABLE` without profiling or before the end; otherwise as [`get_info`].
pub fn get_profiling_info<D: Driver>(
    event: &Object<Event<D>>,
    property: ur_profiling_info_t,
    writer: Result<InfoWriter>,
) -> Result<()> {
    let time = match property {
        ur_profiling_info_t::COMMAND_QUEUED
        | ur_profiling_info_t::COMMAND_SUBMIT
        | ur_profiling_info_t::COMMAND_START
        | ur_profiling_info_t::COMMAND_END
        // That there is no time is told to whoever gives no room for one, too: it is a way to ask.
        | ur_profiling_info_t::COMMAND_COMPLETE => Some(event.profile(property)?),
        _ => None,
    };
    let writer = writer.map_err(|error| match error.code() {
        // This query has a code of its own for a buffer without a size.
        ur_result_t::ERROR_INVALID_SIZE => error.with_code(ur_result_t::ERROR_INVALID_VALUE),
        _ => error,
    })?;
    match time {
        Some(time) => writer.value(time),
        None => writer.unknown(property.0),
    }
}

/// What `urEventGetInfo` says of how far the command is. That it runs is known of timed commands alone.
fn status<D: Driver>(event: &Event<D>) -> Result<ur_event_status_t> {
    if let Some(signal) = event.kept_signal() {
        return status(&signal);
    }
    match event.as_deferred().map(|promise| promise.outcome()) {
        Some(None) => return Ok(ur_event_status_t::QUEUED),
        Some(Some(Outcome::Failed(_))) => return Ok(ur_event_status_t::ERROR),
        _ => {}
    }
    if event.is_complete()? {
        return Ok(ur_event_status_t::COMPLETE);
    }
    Ok(if has_started(event)? { ur_event_status_t::RUNNING } else { ur_event_status_t::SUBMITTED })
}

pub(super) fn has_started<D: Driver>(event: &Event<D>) -> Result<bool> {
    let Some(event) = event.submitted() else { return Ok(false) };
    let Some(start) = event.stamps.as_ref().and_then(|stamps| stamps.start.as_ref()) else { return Ok(false) };
    let device = &event.stream.device;
    device.driver.event_is_complete(start.raw()).map_err(|error| device.failed(error))
}
