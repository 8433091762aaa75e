//! `urEventSetCallback`: the application's functions that an event's progress calls.
//!
//! A thread notices what the command has reached and has the function called by the worker ([`crate::stream::event::watch`]).
//! The event is kept alive until the function has returned. Must never put anything on a stream: on the event's own it would
//! make the callback wait for later commands, on another it could hold up others. What may not stand for the same thing for long is
//! the exception.

use core::cell::Cell;
use core::ffi::c_void;
use std::sync::Arc;

use parking_lot::Mutex;
use ur_ffi::{ur_event_handle_t, ur_execution_info_t, ur_result_t};

use crate::device::worker;
use crate::driver::Driver;
use crate::driver::graphs::CaptureMode;
use crate::object::error::{Error, Result};
use crate::object::{Object, Reference};
use crate::stream::event::watch::{self, Call, NOWHERE, StreamPosition};
use crate::stream::event::{Event, info};
use crate::stream::promise::{Dependent, Outcome};

/// The application's function.
type Function = unsafe extern "C" fn(ur_event_handle_t, ur_execution_info_t, *mut c_void);

/// A function to call, with its arguments.
struct Callback<D: Driver> {
    /// With a reference of the application's, since the function may retain what it is given: an event without any is its stream's,
    /// which may be filling it anew.
    event: Reference<Event<D>>,
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
    let callback = Callback { event: Reference::new(event), status, function, data: data.expose_provenance() };
    let signal = event.kept_signal();
    match signal.as_deref().unwrap_or(event).as_deferred() {
        Some(promise) => {
            promise.add(Arc::new(Unresolved(Mutex::new(Some(callback)))));
            Ok(())
        }
        None => register(&event.to_arc(), status, callback.into_call()),
    }
}

/// A callback of an event whose command nobody has submitted yet.
struct Unresolved<D: Driver>(Mutex<Option<Callback<D>>>);

impl<D: Driver> Dependent<Arc<Object<Event<D>>>> for Unresolved<D> {
    fn resolved(self: Arc<Self>, outcome: &Outcome<Arc<Object<Event<D>>>>) {
        let Some(callback) = self.0.lock().take() else { return };
        // A command that never runs reaches no status, and one that cannot be asked is told as at its end.
        match outcome {
            Outcome::Submitted(Some(event)) => {
                let status = callback.status;
                let unasked = Arc::new(Mutex::new(Some(callback.into_call())));
                let call = Arc::clone(&unasked);
                if register(event, status, Box::new(move || watch::make(&call))).is_err() {
                    watch::run(Box::new(move || watch::make(&unasked)));
                }
            }
            Outcome::Submitted(None) | Outcome::Failed(_) => watch::run(callback.into_call()),
        }
    }
}

/// Has something called once a submitted command has finished, or its device is lost. The event, with its queue and context, lives until
/// then and a moment longer, also if whoever waited has gone.
///
/// # Errors
/// What the native library answers.
pub fn when_complete<D: Driver>(event: &Arc<Object<Event<D>>>, call: Call) -> Result<()> {
    register(event, ur_execution_info_t::COMPLETE, call)
}

/// Has the call made when `event`, which lies on a stream, has reached the status.
fn register<D: Driver>(event: &Arc<Object<Event<D>>>, status: ur_execution_info_t, call: Call) -> Result<()> {
    // Commands are with the device as soon as there is an event of them.
    if status == ur_execution_info_t::SUBMITTED || event.is_complete()? {
        return at_once(call);
    }
    if event.is_off_stream() || event.is_lent() {
        return register_snapshot(event, call);
    }
    // Asking for an event reads memory; asking for a stream that has work makes the device answer.
    event.stream.ensure_recorded(event)?;
    let is_timed = event.stamps.as_ref().is_some_and(|stamps| stamps.start.is_some());
    let wants_start = status == ur_execution_info_t::RUNNING && is_timed;
    let at = event.position * 2 + u64::from(!wants_start);
    // The stream uses events anew that nobody holds, so one that is not held would answer for another command.
    let asked = Arc::clone(event);
    let question = move || {
        let driver = asked.stream.driver;
        is_reached(driver, || if wants_start { info::has_started(&asked) } else { asked.is_complete() })
    };
    watch::add(StreamPosition { stream: Arc::as_ptr(&event.stream).addr(), at }, Arc::new(question), call)
}

/// As [`register`] for an event that may be signalled again before its last signal is reached, or whose native event the application
/// may record anew or destroy by then: an event of our own stands for it, on a stream that waits for it.
fn register_snapshot<D: Driver>(event: &Event<D>, call: Call) -> Result<()> {
    let Some(signal) = event.marker() else { return at_once(call) };
    let snapshot = signal.snapshot()?;
    let question = move || {
        let native = snapshot.native_context();
        let is_complete = || native.driver.event_is_complete(snapshot.raw()).map_err(|error| native.failed(error));
        is_reached(native.driver, is_complete)
    };
    // The signals may be several queues', and come in any order.
    watch::add(StreamPosition { stream: NOWHERE, at: 0 }, Arc::new(question), call)
}

/// What a question is answered, on the thread that watches.
fn is_reached<D: Driver>(driver: &D, ask: impl FnOnce() -> Result<bool>) -> bool {
    relax_captures(driver);
    // Where nothing is reached any more, whoever waits is told and finds out why. Other failures are another question's.
    ask().unwrap_or_else(|error| error.ends_everything())
}

/// Says once that this thread's questions are no part of what anybody captures: a capture of the application's own that
/// forbids questions would break.
fn relax_captures<D: Driver>(driver: &D) {
    thread_local! {
        static IS_RELAXED: Cell<bool> = const { Cell::new(false) };
    }
    if !IS_RELAXED.replace(true) {
        // Without captures there is nothing to say.
        let _ = driver.exchange_capture_mode(CaptureMode::Relaxed);
    }
}

fn at_once(call: Call) -> Result<()> {
    worker::run(Box::new(move |_| call()))
}
