//! Events that the application makes ahead of any command, and that barriers signal again and again.
//!
//! A barrier records such an event at its place, and whoever waits is bound to what was recorded last when it began to
//! wait, as in the native libraries. Before the first barrier it is complete. It lies on no stream and is always asked
//! natively; see [`Event::is_off_stream`], and [`Reusable`] for what it consists of.

use std::sync::Arc;

use ur_ffi::{
    ur_command_t, ur_event_handle_t, ur_exp_event_desc_t, ur_exp_event_flags_t, ur_queue_flags_t, ur_result_t,
};

use crate::command::Command;
use crate::command::barrier::{AtBarrier, put_barrier};
use crate::command::deferral;
use crate::command::submission::Submission;
use crate::command::{Request, submit};
use crate::context::{Context, DeviceState};
use crate::device::Device;
use crate::driver::{Driver, EventPurpose, StreamKind};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::Out;
use crate::queue::Queue;
use crate::stream::Stream;
use crate::stream::event::Event;
use crate::stream::reusable::Reusable;
use crate::stream::submitter::Submitter;

/// `urEventCreateExp`.
///
/// # Errors
/// `INVALID_DEVICE` for a device of another context, `INVALID_VALUE` for times and other processes together, which no
/// native library has; `UNSUPPORTED_FEATURE` for an event for other processes where the device shares none; what the
/// native library answers.
pub fn create<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    description: &ur_exp_event_desc_t,
    out: Out<'_, ur_event_handle_t>,
) -> Result<()> {
    let purpose = purpose_of(description.flags, device)?;
    let state = context.state(device)?;
    let reusable = Reusable::new(context, &state, purpose)?;
    out.write_object(create_on(context, state, reusable, Event::reusable));
    Ok(())
}

/// What the flags ask for.
fn purpose_of<D: Driver>(flags: ur_exp_event_flags_t, device: &Device<D>) -> Result<EventPurpose> {
    let timed = flags.contains(ur_exp_event_flags_t::ENABLE_PROFILING);
    match (timed, flags.contains(ur_exp_event_flags_t::IPC_EXP)) {
        (false, false) => Ok(EventPurpose::Order),
        (true, false) => Ok(EventPurpose::Times),
        (false, true) if device.properties.ipc_events => Ok(EventPurpose::Processes),
        (false, true) => Err(Error::unsupported("an event for other processes on this device")),
        (true, true) => Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            "urEventCreateExp: an event for other processes has no times; leave one of the two flags out",
        )),
    }
}

/// An event of a context over what it consists of; `make` is [`Event::reusable`] or [`Event::imported`].
pub(crate) fn create_on<D: Driver>(
    context: &Object<Context<D>>,
    state: Arc<DeviceState<D>>,
    reusable: Arc<Reusable<D>>,
    make: impl FnOnce(Arc<dyn Submitter<D>>, Arc<Stream<D>>, ur_command_t, Arc<Reusable<D>>) -> Event<D>,
) -> Arc<Object<Event<D>>> {
    let stream = Stream::without_stream(Arc::clone(&state), &context.registry);
    let queue =
        Queue::over_stream(context, state, ur_queue_flags_t::empty(), StreamKind::default(), Arc::clone(&stream));
    Object::new(make(queue, stream, ur_command_t::EVENTS_WAIT_WITH_BARRIER, reusable))
}

/// A barrier that signals a reusable event instead of making one. If it fails, the event stands for what it stood for.
///
/// # Errors
/// `INVALID_EVENT` for an event of another context than the queue's; what the native library answers.
pub fn signal<D: Driver>(request: &Request<'_, D>, event: &Object<Event<D>>) -> Result<()> {
    let reusable = event.as_reusable().ok_or(ur_result_t::ERROR_INVALID_EVENT)?;
    if !Arc::ptr_eq(event.queue.context(), &request.queue.context) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_EVENT,
            "a reusable event is signalled by queues of the context that it was made or opened in",
        ));
    }
    if request.join_must_be_kept() {
        return deferral::not_deferrable("a barrier that signals a reusable event");
    }
    reusable.signal(&request.queue.device, |record| {
        if request.queue.is_in_order() {
            return submit(request, Signal { record });
        }
        put_barrier(request, record).map(drop)
    })?;
    reusable.signalled_by(request.queue);
    Ok(())
}

/// Records a reusable event's native event as a command of its own.
struct Signal<'r, D: Driver> {
    record: AtBarrier<'r, D>,
}

impl<D: Driver> Command<D> for Signal<'_, D> {
    type Output = ();

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        (self.record)(submission.native())
    }
}
