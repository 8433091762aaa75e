//! Streams of a device that wait for events and then call something.
//!
//! A stream waits for an event's native event and then hands over to the worker, which makes the call. Events of one stream
//! complete in order, so one such stream serves a stream's callbacks as long as they are set in that order too; whatever could
//! be held up by another event gets a stream of its own. A stream without a wait serves the next. Must never leave a callback
//! behind a wait that is not its own: a stream on which a wait was put and the host function then refused serves nobody
//! until that wait has ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::device::event_pool::PooledEvent;
use crate::device::native_context::Parts;
use crate::device::worker;
use crate::driver::{Driver, StreamKind};
use crate::object::error::Result;

/// The streams that wait for a device's events. The lock is for the list alone: no native call is made while it is held,
/// since the calls that put something on a stream can block until a callback has run.
pub struct CallbackStreams<D: Driver> {
    streams: Mutex<Vec<Entry<D>>>,
}

impl<D: Driver> Default for CallbackStreams<D> {
    fn default() -> Self {
        Self { streams: Mutex::new(Vec::new()) }
    }
}

/// Waits that a stream is given at most: a driver lets whoever puts more on a stream than it has room for wait.
const MOST_WAITS: usize = 256;

struct Entry<D: Driver> {
    /// The stream; whoever is putting a wait on it has it, and nobody else's may come between.
    stream: Option<D::Stream>,
    /// Waits on the stream that have not ended.
    waits: Arc<AtomicUsize>,
    last: StreamPosition,
    /// What the stream's last wait calls.
    calls: Arc<Calls>,
}

/// Something to call once the wait before it has ended.
pub type Call = Box<dyn FnOnce() + Send>;

/// The callbacks that one wait of a stream makes; none once it makes them.
struct Calls {
    list: Mutex<Option<Vec<Call>>>,
}

impl Calls {
    fn new(first: Call) -> Arc<Self> {
        Arc::new(Self { list: Mutex::new(Some(vec![first])) })
    }

    /// Adds one; gives it back if the calls are being made.
    fn add(&self, call: Call) -> Option<Call> {
        match &mut *self.list.lock() {
            Some(list) => {
                list.push(call);
                None
            }
            None => Some(call),
        }
    }

    fn make(&self) {
        let list = self.list.lock().take();
        list.into_iter().flatten().for_each(|call| call());
    }
}

/// In position of a stream's address: nothing comes after it, or before it.
pub const NOWHERE: usize = 0;

/// A position on a stream, before or after a command. Streams are told apart by their address while somebody waits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StreamPosition {
    /// The stream's address.
    pub stream: usize,
    /// Twice the command's number; one more for its end.
    pub at: u64,
}

impl<D: Driver> Entry<D> {
    fn waits(&self) -> usize {
        self.waits.load(Ordering::Acquire)
    }

    fn is_taken(&self) -> bool {
        self.stream.is_none()
    }

    fn is_free(&self) -> bool {
        !self.is_taken() && self.waits() == 0
    }

    /// Whether a wait at that position would be held up by no other event.
    fn fits(&self, position: StreamPosition) -> bool {
        let after = self.last.stream == position.stream && self.last.at <= position.at && position.stream != NOWHERE;
        self.is_free() || (!self.is_taken() && after && self.waits() < MOST_WAITS)
    }
}

impl<D: Driver> CallbackStreams<D> {
    /// Gives the streams back that nothing waits on.
    pub fn trim(&self, driver: &D) {
        let free: Vec<_> = {
            let mut streams = self.streams.lock();
            let (free, used) = core::mem::take(&mut *streams).into_iter().partition(Entry::is_free);
            *streams = used;
            free
        };
        for stream in free.into_iter().filter_map(|entry| entry.stream) {
            let _ = driver.destroy_stream(stream);
        }
    }

    /// Gives the streams back; the native context ends.
    pub fn end(&mut self, driver: &D) {
        for stream in self.streams.get_mut().drain(..).filter_map(|entry| entry.stream) {
            let _ = driver.destroy_stream(stream);
        }
    }

    /// Calls back when the marker is reached. Callbacks of one position share one wait, however many they are.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn add(&self, native: &Parts<D>, marker: &PooledEvent<D>, position: StreamPosition, call: Call) -> Result<()> {
        let Some(call) = self.join(position, call) else { return Ok(()) };
        let calls = Calls::new(call);
        let (stream, waits) = self.take(native, position, &calls)?;
        let job = {
            let waits = Arc::clone(&waits);
            move |_| {
                waits.fetch_sub(1, Ordering::AcqRel);
                calls.make();
            }
        };
        let submitted = worker::expect(native.group, Box::new(job)).and_then(|pending_job| {
            native.driver.stream_wait(&stream, marker.raw())?;
            // SAFETY: the function is the worker's and the data a pending job's.
            unsafe { native.driver.launch_host_function(&stream, worker::hand_over, pending_job.data()) }?;
            pending_job.arm();
            Ok(())
        });
        self.put(native.driver, stream, &waits, submitted.is_ok());
        submitted
    }

    /// Adds a callback to a wait for its position that is on a stream already; gives it back if there is none.
    fn join(&self, position: StreamPosition, call: Call) -> Option<Call> {
        let streams = self.streams.lock();
        let waits = |entry: &&Entry<D>| !entry.is_taken() && entry.last == position && position.stream != NOWHERE;
        match streams.iter().find(waits) {
            Some(entry) => entry.calls.add(call),
            None => Some(call),
        }
    }

    /// A stream that holds the wait up by no other event's, which nobody else uses before [`CallbackStreams::put`].
    fn take(
        &self,
        native: &Parts<D>,
        position: StreamPosition,
        calls: &Arc<Calls>,
    ) -> Result<(D::Stream, Arc<AtomicUsize>)> {
        {
            let mut streams = self.streams.lock();
            if let Some(entry) = streams.iter_mut().find(|entry| entry.fits(position))
                && let Some(stream) = entry.stream.take()
            {
                entry.last = position;
                entry.calls = Arc::clone(calls);
                entry.waits.fetch_add(1, Ordering::AcqRel);
                return Ok((stream, Arc::clone(&entry.waits)));
            }
        }
        let stream = native.take_stream(StreamKind::default())?;
        let waits = Arc::new(AtomicUsize::new(1));
        let (calls, counted) = (Arc::clone(calls), Arc::clone(&waits));
        self.streams.lock().push(Entry { stream: None, waits: counted, last: position, calls });
        Ok((stream, waits))
    }

    /// Says that the wait is on the stream. When it is not, something else may be, so the stream serves nobody else.
    fn put(&self, driver: &D, stream: D::Stream, waits: &Arc<AtomicUsize>, is_submitted: bool) {
        let mut streams = self.streams.lock();
        let Some(at) = streams.iter().position(|entry| Arc::ptr_eq(&entry.waits, waits)) else { return };
        if is_submitted {
            streams[at].stream = Some(stream);
            return;
        }
        streams.swap_remove(at);
        drop(streams);
        // What is on it runs to its end.
        let _ = driver.destroy_stream(stream);
    }
}
