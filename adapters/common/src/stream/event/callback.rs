//! `urEventSetCallback`: the application's functions that an event's progress calls.
//!
//! A stream of the device's own waits for the event's native event and then has the function called by the worker
//! ([`crate::device::native_context::callback_streams`]). The event is kept alive until the function has returned. Must never put
//! anything on the event's own stream: that would make the callback wait for later commands.

use core::ffi::c_void;
use std::sync::Arc;

use parking_lot::Mutex;
use ur_ffi::{ur_event_handle_t, ur_execution_info_t, ur_result_t};

use crate::device::native_context::callback_streams::{Call, NOWHERE, StreamPosition};
use crate::device::worker;
use crate::driver::Driver;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::stream::event::Event;
use crate::stream::promise::{Dependent, Outcome};

/// The application's function.
type Function = unsafe extern "C" fn(ur_event_handle_t, ur_execution_info_t, *mut c_void);

/// A function to call, with its arguments.
struct Callback<D: Driver> {
    event: Arc<Object<Event<D>>>,
    status: ur_execution_info_t,
    function: Function,
    /// An address that only the application looks behind.
    data: usize,
}

impl<D: Driver> Callback<D> {
    fn into_call(self) -> Call {
        Box::new(move || self.call())
    }

    fn call(self) {
        let data = core::ptr::with_exposed_provenance_mut(self.data);
        // SAFETY: the application gave the function for its data, to be called once; the event is alive.
        unsafe { (self.function)(self.event.handle(), self.status, data) };
    }
}

/// `urEventSetCallback`. The function is called on a thread of the engine's: at once for a status that was reached, when
/// it is reached otherwise, and when the device is lost, since no status comes any more then. That a command runs is only
/// known of commands that are timed; of others it is told at their end.
///
/// # Errors
/// `UNSUPPORTED_ENUMERATION` for `QUEUED`; `GRAPH_INTERNAL_EVENT` for the event of a command that a graph recorded; what the native library answers.
pub fn set<D: Driver>(
    event: &Object<Event<D>>,
    status: ur_execution_info_t,
    function: Function,
    data: *mut c_void,
) -> Result<()> {
    if status == ur_execution_info_t::QUEUED {
        return Err(Error::new(
            ur_result_t::ERROR_UNSUPPORTED_ENUMERATION,
            "urEventSetCallback: execStatus is UR_EXECUTION_INFO_QUEUED, which every event has behind it",
        ));
    }
    event.check_observable()?;
    let callback = Callback { event: event.to_arc(), status, function, data: data.expose_provenance() };
    match event.as_deferred() {
        Some(promise) => {
            promise.add(Arc::new(Unresolved(Mutex::new(Some(callback)))));
            Ok(())
        }
        None => register(event, status, callback.into_call()),
    }
}

/// A callback of an event whose command nobody has submitted yet.
struct Unresolved<D: Driver>(Mutex<Option<Callback<D>>>);

impl<D: Driver> Dependent<Arc<Object<Event<D>>>> for Unresolved<D> {
    fn resolved(self: Arc<Self>, outcome: &Outcome<Arc<Object<Event<D>>>>) {
        let Some(callback) = self.0.lock().take() else { return };
        // A command that never runs reaches no status, and one that cannot be asked is told as at its end.
        let told = match outcome {
            Outcome::Submitted(Some(event)) => register(event, callback.status, callback.into_call()),
            Outcome::Submitted(None) | Outcome::Failed(_) => at_once(callback.into_call()),
        };
        drop(told);
    }
}

/// Has something called once a submitted command has finished, or its device is lost.
///
/// # Errors
/// What the native library answers.
pub fn when_complete<D: Driver>(event: &Event<D>, call: Call) -> Result<()> {
    register(event, ur_execution_info_t::COMPLETE, call)
}

/// Has the call made when `event`, which lies on a stream, has reached the status.
fn register<D: Driver>(event: &Event<D>, status: ur_execution_info_t, call: Call) -> Result<()> {
    // Commands are with the device as soon as there is an event of them.
    if status == ur_execution_info_t::SUBMITTED || event.is_complete()? {
        return at_once(call);
    }
    let native = &*event.stream.device.native;
    // The signals of a reusable event may be several queues', and come in any order.
    let stream = if event.is_off_stream() { NOWHERE } else { Arc::as_ptr(&event.stream).addr() };
    let start = event.stamps.as_ref().and_then(|stamps| stamps.start.as_ref());
    if let Some(start) = start.filter(|_| status == ur_execution_info_t::RUNNING) {
        let position = StreamPosition { stream, at: event.position * 2 };
        return native.callback_streams.add(native, start, position, call);
    }
    event.stream.ensure_recorded(event)?;
    match event.marker() {
        Some(marker) => {
            let position = StreamPosition { stream, at: event.position * 2 + 1 };
            native.callback_streams.add(native, marker, position, call)
        }
        None => at_once(call),
    }
}

fn at_once(call: Call) -> Result<()> {
    worker::run(Box::new(move |_| call()))
}
