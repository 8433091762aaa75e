//! Events that the application makes ahead of any command, and that barriers signal again and again.
//!
//! A barrier records such an event at its place, and whoever waits is bound to what was recorded last when it began to
//! wait, as in the native libraries. Before the first barrier it is complete. It lies on no stream and is always asked
//! natively; see [`Event::is_off_stream`], and [`Reusable`] for what it consists of.

use std::sync::Arc;

use ur_ffi::{
    UR_EXP_EVENT_FLAGS_MASK, ur_command_t, ur_context_handle_t, ur_device_handle_t, ur_event_handle_t,
    ur_exp_event_desc_t, ur_exp_event_flags_t, ur_queue_flags_t, ur_result_t,
};

use crate::command::Command;
use crate::command::barrier::{AtBarrier, put_barrier};
use crate::command::submission::Submission;
use crate::command::{Request, submit};
use crate::context::{Context, DeviceState};
use crate::device::Device;
use crate::driver::{Driver, EventPurpose, StreamKind};
use crate::object::error::{Error, Result};
use crate::object::{Object, borrow, known_flags, null_pointer};
use crate::queue::Queue;
use crate::stream::Stream;
use crate::stream::event::Event;
use crate::stream::reusable::Reusable;
use crate::stream::submitter::Submitter;

/// `urEventCreateExp`.
///
/// # Safety
/// The C contract: handles live, `description` null or valid, `out` null or writable.
///
/// # Errors
/// `INVALID_NULL_POINTER`, `INVALID_DEVICE` for a device of another context, `INVALID_ENUMERATION` for unknown flags,
/// `INVALID_VALUE` for times and other processes together, which no native library has; `UNSUPPORTED_FEATURE` for an event
/// for other processes where the device shares none; what the native library answers.
pub unsafe fn create<D: Driver>(
    context: ur_context_handle_t,
    device: ur_device_handle_t,
    description: *const ur_exp_event_desc_t,
    out: *mut ur_event_handle_t,
) -> Result<()> {
    const NAME: &str = "urEventCreateExp";
    // SAFETY: the caller's promises are the same.
    let (context, device, description) =
        unsafe { (borrow::<Context<D>>(context)?, borrow::<Device<D>>(device)?, description.as_ref()) };
    let description = description.ok_or_else(|| null_pointer(NAME))?;
    if out.is_null() {
        return Err(null_pointer(NAME));
    }
    known_flags(NAME, description.flags.bits(), UR_EXP_EVENT_FLAGS_MASK)?;
    let purpose = purpose_of(description.flags, device)?;
    let state = context.state(device)?;
    let reusable = Reusable::new(context, &state, purpose)?;
    let event = create_on(context, state, reusable, Event::reusable);
    // SAFETY: not null, so writable.
    unsafe { out.write(Object::into_handle(event)) };
    Ok(())
}

/// What the flags ask for.
///
/// # Unsupported
/// - needs: a device whose events can be shared, for `UR_EXP_EVENT_FLAG_IPC_EXP`
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

/// The reusable event that a barrier is given to signal, if it is given one. Any other event there is an output's old
/// value.
///
/// # Safety
/// `event` is null or points to null or an event handle that is alive.
///
/// # Errors
/// `INVALID_EVENT` for what is no event of this adapter.
pub unsafe fn given<'a, D: Driver>(event: *const ur_event_handle_t) -> Result<Option<&'a Object<Event<D>>>> {
    // SAFETY: null or readable by the caller's promise.
    let handle = unsafe { event.as_ref() }.copied().unwrap_or(core::ptr::null_mut());
    if handle.is_null() {
        return Ok(None);
    }
    // SAFETY: alive by the caller's promise.
    Ok(Some(unsafe { borrow::<Event<D>>(handle) }?).filter(|event| event.as_reusable().is_some()))
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
