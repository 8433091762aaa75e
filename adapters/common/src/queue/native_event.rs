//! Native handles of events, both ways. An event over a native one belongs to a queue that nothing is ever put on.
//!
//! A native event that is given out stays the event's. One that comes in is destroyed with the event only if the
//! application says so.

use std::sync::Arc;

use ur_ffi::{ur_command_t, ur_event_handle_t, ur_event_native_properties_t, ur_native_handle_t, ur_queue_flags_t};

use crate::context::Context;
use crate::device::event_pool::PooledEvent;
use crate::driver::{Driver, EventPurpose, Handle, NativeName, StreamKind};
use crate::object::Object;
use crate::object::error::Result;
use crate::object::params::Out;
use crate::queue::Queue;
use crate::stream::Stream;
use crate::stream::event::Event;

/// `urEventGetNativeHandle`: the native event, recorded now if there was none yet.
///
/// # Errors
/// what the native library answers.
pub fn get_handle<D: Driver>(event: &Object<Event<D>>, out: Out<'_, ur_native_handle_t>) -> Result<()> {
    out.write(event.native()?.raw().value());
    Ok(())
}

/// `urEventCreateWithNativeHandle`: an event that waits and answers for a native one. It has no queue and no times. The
/// native handle 0 asks for an event that is complete.
///
/// # Errors
/// what the native library answers.
pub fn create<D: Driver>(
    native: ur_native_handle_t,
    context: &Object<Context<D>>,
    properties: Option<&ur_event_native_properties_t>,
    out: Out<'_, ur_event_handle_t>,
) -> Result<()> {
    let state = context.first_state()?;
    let event = if native == 0 {
        // Native libraries take an event that was never recorded for one that is done.
        let _scope = state.enter()?;
        PooledEvent::adopt(state.driver.create_event(EventPurpose::Order)?, &state, true)
    } else {
        let owned = properties.is_some_and(|properties| properties.isNativeHandleOwned.get());
        // SAFETY: by the manual an event that is alive as long as the UR event.
        PooledEvent::adopt(unsafe { D::Event::from_value(native) }, &state, owned)
    };
    // A stream that nothing is ever put on: its one command is the event, which has its native event from the start.
    let stream = Stream::without_stream(Arc::clone(&state), &context.registry);
    if native == 0 {
        stream.note_completed(1);
    }
    let queue =
        Queue::over_stream(context, state, ur_queue_flags_t::empty(), StreamKind::default(), Arc::clone(&stream));
    let event = Object::new(Event::new(queue, stream, 1, ur_command_t::EVENTS_WAIT, Some(event)));
    out.write_object(event);
    Ok(())
}
