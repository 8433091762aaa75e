//! `urEventSetCallback`: the application's functions that an event's progress calls.
//!
//! A stream of the engine's waits for the event's native event and then hands over to the worker, which calls the
//! function. Events of one stream complete in order, so one such stream serves a stream's callbacks as long as they are set in
//! that order too; whatever could be held up by another event gets a stream of its own. A stream without a wait serves
//! the next. The event is kept alive until the function has returned. Must never put anything on the event's own stream:
//! that would make the callback wait for later commands. Must never leave a callback behind a wait that is not its own:
//! a stream on which a wait was put and the host function then refused serves nobody until that wait has ended.

use core::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use ur_ffi::{ur_event_callback_t, ur_event_handle_t, ur_execution_info_t, ur_result_t};

use crate::context::DeviceState;
use crate::device::event_pool::PooledEvent;
use crate::device::worker;
use crate::driver::{Driver, StreamKind};
use crate::object::error::{Error, Result};
use crate::object::{Object, borrow, null_pointer};
use crate::stream::event::Event;

/// The streams that wait for a device's events. The lock is for the list alone: no native call is made while it is held,
/// since the calls that put something on a stream can block until a callback has run.
pub struct Watch<D: Driver> {
    streams: Mutex<Vec<Entry<D>>>,
}

impl<D: Driver> Default for Watch<D> {
    fn default() -> Self {
        Self { streams: Mutex::new(Vec::new()) }
    }
}

/// Waits that a stream is given at most: a driver lets whoever puts more on a stream than it has room for wait.
const MOST_WAITS: usize = 256;

struct Entry<D: Driver> {
    watcher: Arc<Watcher<D>>,
    last: Place,
    /// What the stream's last wait calls.
    calls: Arc<Calls<D>>,
    /// Whether somebody is putting a wait on the stream; nobody else's may come between.
    is_taken: bool,
}

/// The callbacks that one wait of a stream makes; none once it makes them.
struct Calls<D: Driver> {
    list: Mutex<Option<Vec<Callback<D>>>>,
}

impl<D: Driver> Calls<D> {
    fn new(first: Callback<D>) -> Arc<Self> {
        Arc::new(Self { list: Mutex::new(Some(vec![first])) })
    }

    /// Adds one; gives it back if the calls are being made.
    fn add(&self, callback: Callback<D>) -> Option<Callback<D>> {
        match &mut *self.list.lock() {
            Some(list) => {
                list.push(callback);
                None
            }
            None => Some(callback),
        }
    }

    fn make(&self) {
        let list = self.list.lock().take();
        list.into_iter().flatten().for_each(Callback::call);
    }
}

/// One stream that waits for events.
struct Watcher<D: Driver> {
    stream: D::Stream,
    /// Waits that have not ended.
    waits: AtomicUsize,
}

/// In place of a stream's address: nothing comes after it, or before it.
const NOWHERE: usize = 0;

/// A place on a stream, before or after a command. Streams are told apart by their address while somebody waits.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    stream: usize,
    at: u64,
}

impl<D: Driver> Entry<D> {
    fn waits(&self) -> usize {
        self.watcher.waits.load(Ordering::Acquire)
    }

    fn is_free(&self) -> bool {
        !self.is_taken && self.waits() == 0
    }

    /// Whether a wait at that place would be held up by no other event.
    fn fits(&self, place: Place) -> bool {
        let after = self.last.stream == place.stream && self.last.at <= place.at && place.stream != NOWHERE;
        self.is_free() || (!self.is_taken && after && self.waits() < MOST_WAITS)
    }
}

impl<D: Driver> Watch<D> {
    /// Gives the streams back that nothing waits on.
    pub fn trim(&self, driver: &D) {
        let free: Vec<_> = {
            let mut streams = self.streams.lock();
            let (free, used) = core::mem::take(&mut *streams).into_iter().partition(Entry::is_free);
            *streams = used;
            free
        };
        for entry in free {
            let _ = driver.destroy_stream(entry.watcher.stream);
        }
    }

    /// Gives the streams back; the native context ends.
    pub fn end(&mut self, driver: &D) {
        for entry in self.streams.get_mut().drain(..) {
            let _ = driver.destroy_stream(entry.watcher.stream);
        }
    }

    /// Calls back when the marker is reached. Callbacks of one place share one wait, however many they are.
    fn add(&self, device: &DeviceState<D>, marker: &PooledEvent<D>, place: Place, callback: Callback<D>) -> Result<()> {
        let Some(callback) = self.join(place, callback) else { return Ok(()) };
        let calls = Calls::new(callback);
        let watcher = self.take(device, place, &calls)?;
        let job = {
            let watcher = Arc::clone(&watcher);
            move |_| {
                watcher.waits.fetch_sub(1, Ordering::AcqRel);
                calls.make();
            }
        };
        let submitted = worker::expect(device.group, Box::new(job)).and_then(|pending_job| {
            device.driver.stream_wait(watcher.stream, marker.raw())?;
            // SAFETY: the function is the worker's and the data a ticket's.
            unsafe { device.driver.launch_host_function(watcher.stream, worker::hand_over, pending_job.data()) }?;
            pending_job.arm();
            Ok(())
        });
        self.put(device.driver, &watcher, submitted.is_ok());
        submitted
    }

    /// Adds a callback to a wait for its place that is on a stream already; gives it back if there is none.
    fn join(&self, place: Place, callback: Callback<D>) -> Option<Callback<D>> {
        let streams = self.streams.lock();
        let waits = |entry: &&Entry<D>| !entry.is_taken && entry.last == place && place.stream != NOWHERE;
        match streams.iter().find(waits) {
            Some(entry) => entry.calls.add(callback),
            None => Some(callback),
        }
    }

    /// A stream that holds the wait up by no other event's, which nobody else uses before [`Watch::put`].
    fn take(&self, device: &DeviceState<D>, place: Place, calls: &Arc<Calls<D>>) -> Result<Arc<Watcher<D>>> {
        {
            let mut streams = self.streams.lock();
            if let Some(entry) = streams.iter_mut().find(|entry| entry.fits(place)) {
                entry.last = place;
                entry.is_taken = true;
                entry.calls = Arc::clone(calls);
                entry.watcher.waits.fetch_add(1, Ordering::AcqRel);
                return Ok(Arc::clone(&entry.watcher));
            }
        }
        let stream = device.native.take_stream(StreamKind::default())?;
        let watcher = Arc::new(Watcher { stream, waits: AtomicUsize::new(1) });
        let calls = Arc::clone(calls);
        self.streams.lock().push(Entry { watcher: Arc::clone(&watcher), last: place, calls, is_taken: true });
        Ok(watcher)
    }

    /// Says that the wait is on the stream. When it is not, something else may be, so the stream serves nobody else.
    fn put(&self, driver: &D, watcher: &Arc<Watcher<D>>, is_submitted: bool) {
        let mut streams = self.streams.lock();
        let Some(at) = streams.iter().position(|entry| Arc::ptr_eq(&entry.watcher, watcher)) else { return };
        if is_submitted {
            streams[at].is_taken = false;
            return;
        }
        streams.swap_remove(at);
        drop(streams);
        // What is on it runs to its end.
        let _ = driver.destroy_stream(watcher.stream);
    }
}

/// A function to call, with its arguments.
struct Callback<D: Driver> {
    event: Arc<Object<Event<D>>>,
    status: ur_execution_info_t,
    function: unsafe extern "C" fn(ur_event_handle_t, ur_execution_info_t, *mut c_void),
    /// An address that only the application looks behind.
    data: usize,
}

impl<D: Driver> Callback<D> {
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
/// # Safety
/// The C contract: the function may be called with the data on any thread.
///
/// # Errors
/// `INVALID_NULL_POINTER` without a function, `UNSUPPORTED_ENUMERATION` for `QUEUED`, `INVALID_ENUMERATION` for an unknown
/// status; as [`borrow`]; what the native library answers.
pub unsafe fn set<D: Driver>(
    event: ur_event_handle_t,
    status: ur_execution_info_t,
    function: ur_event_callback_t,
    data: *mut c_void,
) -> Result<()> {
    // SAFETY: the caller's promise is the same.
    let event = unsafe { borrow::<Event<D>>(event) }?;
    let function = function.ok_or_else(|| null_pointer("urEventSetCallback: pfnNotify"))?;
    check(status)?;
    let callback = Callback { event: event.to_arc(), status, function, data: data.expose_provenance() };
    // Commands are with the device as soon as there is an event of them.
    if status == ur_execution_info_t::SUBMITTED || event.is_complete()? {
        return at_once(callback);
    }
    let device = &event.stream.device;
    // The signals of a reusable event may be several queues', and come in any order.
    let stream = if event.is_reusable() { NOWHERE } else { Arc::as_ptr(&event.stream).addr() };
    let start = event.stamps.as_ref().and_then(|stamps| stamps.start.as_ref());
    if let Some(start) = start.filter(|_| status == ur_execution_info_t::RUNNING) {
        return device.native.watch.add(device, start, Place { stream, at: event.position * 2 }, callback);
    }
    event.stream.ensure_recorded(event)?;
    match event.marker() {
        Some(marker) => device.native.watch.add(device, marker, Place { stream, at: event.position * 2 + 1 }, callback),
        None => at_once(callback),
    }
}

fn at_once<D: Driver>(callback: Callback<D>) -> Result<()> {
    worker::run(Box::new(move |_| callback.call()))
}

fn check(status: ur_execution_info_t) -> Result<()> {
    let (code, what) = match status {
        ur_execution_info_t::COMPLETE | ur_execution_info_t::RUNNING | ur_execution_info_t::SUBMITTED => return Ok(()),
        ur_execution_info_t::QUEUED => {
            // coverage: none because it is what the specification demands for that status
            (ur_result_t::ERROR_UNSUPPORTED_ENUMERATION, "every command of an event is queued already")
        }
        _ => (ur_result_t::ERROR_INVALID_ENUMERATION, "no such status"),
    };
    Err(Error::new(code, format!("urEventSetCallback: execStatus {}: {what}", status.0)))
}
