//! Events that the application makes ahead of any command, and that barriers signal again and again.
//!
//! A barrier records such an event at its place, and whoever waits is bound to what was recorded last when it began to
//! wait, as in the native libraries. Before the first barrier it is complete. It lies on no stream and is always asked
//! natively; see [`Event::is_off_stream`], and [`Reusable`] for what it consists of.
//!
//! A signal that comes after what nobody has submitted is kept as any command is, and has an event of its own, for which the
//! reusable one stands until its next signal.

use std::sync::Arc;

use ur_ffi::{
    ur_command_t, ur_event_handle_t, ur_exp_event_desc_t, ur_exp_event_flags_t, ur_queue_flags_t, ur_result_t,
};

use crate::command::Command;
use crate::command::barrier::{self, AtBarrier, put_barrier};
use crate::command::deferral::{self, Deferring, Owned};
use crate::command::submission::Submission;
use crate::command::{EventOut, Request, erased};
use crate::context::{Context, DeviceState};
use crate::device::Device;
use crate::device::clock::host_time_ns;
use crate::device::event_pool::PooledEvent;
use crate::driver::{Driver, EventPurpose, StreamKind};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::Out;
use crate::queue::Queue;
use crate::stream::Stream;
use crate::stream::event::Event;
use crate::stream::event::signals::SignalEvent;
use crate::stream::reusable::{Keeping, Reusable};
use crate::stream::submitter::Submitter;
use crate::stream::times::{HostTimes, Stamps};

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
    // Until the event stands for a kept signal, nobody is given its native event, which that signal does not reach.
    let mut keeping = None;
    let kept = reusable.signal(&request.queue.device, |record| {
        if request.queue.is_in_order() {
            return erased::submit(request, Signal { reusable, record, keeping: &mut keeping });
        }
        request.refuse_in_capture("the signal of a reusable event")?;
        if !request.join_must_be_deferred() && put_barrier(request, record)?.is_some() {
            return Ok(None);
        }
        keeping = Some(reusable.keep_signal()?);
        barrier::defer_barrier(request, reusable.is_timed()).map(Some)
    })?;
    event.stand_for(kept);
    drop(keeping);
    reusable.signalled_by(request.queue);
    Ok(())
}

/// Records a reusable event's native event as a command of its own. If that is kept, its output is the event of the signal.
struct Signal<'s, 'r, D: Driver> {
    reusable: &'r Reusable<D>,
    record: AtBarrier<'s, D>,
    keeping: &'s mut Option<Keeping<'r>>,
}

impl<D: Driver> Command<D> for Signal<'_, '_, D> {
    type Output = Option<SignalEvent<D>>;

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<Self::Output> {
        (self.record)(submission.native())?;
        Ok(None)
    }

    fn into_owned(self, deferring: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, Self::Output)> {
        *self.keeping = Some(self.reusable.keep_signal()?);
        let is_timed = self.reusable.is_timed();
        let owned = deferral::by_function(move |request| {
            let out = &request.event;
            let (queue, command) = (request.queue, request.command);
            let request = Request { queue, command, waits: request.waits.again(), event: EventOut::none() };
            let signal = erased::submit(&request, KeptSignal { queue, command, is_timed })?;
            barrier::return_recorded_event(out, &signal);
            Ok(())
        });
        Ok((owned, Some(deferral::event_of(deferring.request, deferring.promise))))
    }
}

/// The signal that was kept, in its turn. Its event has a native event from the start: those who wait for it may have looked at it
/// before a later signal came.
struct KeptSignal<'q, D: Driver> {
    queue: &'q Object<Queue<D>>,
    command: ur_command_t,
    is_timed: bool,
}

impl<D: Driver> Command<D> for KeptSignal<'_, D> {
    type Output = SignalEvent<D>;

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<Self::Output> {
        let device = &self.queue.device;
        let (queued, submitted) = (deferral::queued(self.queue), host_time_ns());
        let end = PooledEvent::record(device, submission.native(), self.is_timed)?;
        let host = HostTimes { queued, submitted };
        let stamps = self.is_timed.then(|| Stamps::new(host, None, device.time_base()));
        Ok(submission.recorded_event(self.queue, self.command, end, stamps))
    }
}
