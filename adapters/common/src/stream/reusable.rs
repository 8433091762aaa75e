//! What an event that is signalled again and again consists of.
//!
//! It has a native event for each device whose queues signal it, since a stream records its own device's alone; the one
//! recorded last is what the event stands for. One that processes share has a single native event, on the device it was
//! made for: queues of other devices get to it over a stream there. Its times, if it has any, are those of the last
//! signal. Nothing of a signal may be remembered beyond the next.
//!
//! **Signals that are kept** ([`crate::command::deferral`]) cannot be recorded in that native event: when their turn comes, it may
//! stand for a later signal, and who waits for this one must not wait for that. So such a signal has an event of its own, and the
//! reusable one stands for that until the next signal. What other processes or the application see natively cannot stand for
//! another event; signals of such a one are not kept.

use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};
use ur_ffi::{ur_profiling_info_t, ur_queue_handle_t, ur_result_t};

use crate::context::{Context, DeviceState};
use crate::device::Device;
use crate::device::clock::host_time_ns;
use crate::device::event_pool::PooledEvent;
use crate::driver::IpcHandle;
use crate::driver::{Driver, EventPurpose};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::stream::submitter::Submitter;
use crate::stream::times::{HostTimes, Stamps};
use crate::sync::weak_list::WeakList;

/// The native side of a reusable event.
pub struct Reusable<D: Driver> {
    purpose: EventPurpose,
    sites: Box<[Site<D>]>,
    /// Which site was recorded last, or was made first.
    latest: AtomicUsize,
    times: SignalTimes<D>,
    /// The queue of this process that signalled it last.
    signaller: Mutex<Option<Arc<dyn Submitter<D>>>>,
    /// What other processes open it by, if they may.
    handle: Option<IpcHandle>,
    exports: Exports,
}

/// Who has the native event. Somebody who has it would miss a kept signal, so while it is given out no signal is kept, and while a
/// signal is being kept it is not given out: whoever looks first has decided.
#[derive(Default)]
struct Exports {
    /// How often it was given to the application or to a command buffer's node, or is about to be; below 0, how many signals are being
    /// kept.
    count: AtomicIsize,
}

impl Exports {
    fn begin(&self) -> bool {
        self.count.fetch_update(Ordering::AcqRel, Ordering::Acquire, |count| (count >= 0).then(|| count + 1)).is_ok()
    }

    fn cancel(&self) {
        self.count.fetch_sub(1, Ordering::AcqRel);
    }

    fn keep(&self) -> Option<Keeping<'_>> {
        let kept =
            self.count.fetch_update(Ordering::AcqRel, Ordering::Acquire, |count| (count <= 0).then(|| count - 1));
        kept.is_ok().then(|| Keeping { exports: self })
    }
}

/// A signal that is being kept, from the decision until the event stands for it.
pub struct Keeping<'r> {
    exports: &'r Exports,
}

impl Drop for Keeping<'_> {
    fn drop(&mut self) {
        self.exports.count.fetch_add(1, Ordering::AcqRel);
    }
}

/// Times of the last signal.
///
/// Several threads may signal at once, each inside a native call that waits for room on its queue, so no lock is held over that: a
/// second signal on another queue would wait for the first one's. Instead signals are counted when they begin and when they end, and
/// nothing is told while one is on its way, since the native event may be of one signal then and the host's times of another.
struct SignalTimes<D: Driver> {
    last: RwLock<Option<Stamps<D>>>,
    begun: AtomicUsize,
    ended: AtomicUsize,
}

impl<D: Driver> Default for SignalTimes<D> {
    fn default() -> Self {
        Self { last: RwLock::new(None), begun: AtomicUsize::new(0), ended: AtomicUsize::new(0) }
    }
}

impl<D: Driver> SignalTimes<D> {
    /// Notes that a signal begins.
    fn begin(&self) -> Signalling<'_> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        Signalling { ended: &self.ended }
    }

    /// Has the last signal's times looked at, if all of them are one signal's.
    ///
    /// # Errors
    /// As `look`; `PROFILING_INFO_NOT_AVAILABLE` before the first signal, and while somebody signals.
    fn with<R>(&self, look: impl FnOnce(&Stamps<D>) -> Result<R>) -> Result<R> {
        // In this order: as many had begun as had ended.
        let ended = self.ended.load(Ordering::SeqCst);
        let is_still = || self.begun.load(Ordering::SeqCst) == ended;
        let being_signalled = || not_available("the event is being signalled");
        if !is_still() {
            return Err(being_signalled());
        }
        let looked = {
            let last = self.last.read();
            look(last.as_ref().ok_or_else(|| not_available("nothing has signalled the event yet"))?)
        };
        // What began meanwhile may have been recorded meanwhile.
        if is_still() { looked } else { Err(being_signalled()) }
    }
}

/// A signal on its way, until this is dropped.
struct Signalling<'t> {
    ended: &'t AtomicUsize,
}

impl Drop for Signalling<'_> {
    fn drop(&mut self) {
        self.ended.fetch_add(1, Ordering::SeqCst);
    }
}

/// Signals that were kept, by their events. Generic over the event, so that events may know it.
pub struct KeptSignals<E> {
    /// Whether the last signal is one.
    are_there: AtomicBool,
    signals: Mutex<Signals<E>>,
}

struct Signals<E> {
    last: Option<E>,
    /// The last one before it that was submitted; without any it is what the native event stands for.
    submitted: Option<E>,
}

impl<E> Default for KeptSignals<E> {
    fn default() -> Self {
        Self { are_there: AtomicBool::new(false), signals: Mutex::new(Signals { last: None, submitted: None }) }
    }
}

impl<E: Clone> KeptSignals<E> {
    /// The last signal, if it was kept.
    pub fn last(&self) -> Option<E> {
        if self.are_there.load(Ordering::Acquire) { self.signals.lock().last.clone() } else { None }
    }

    /// The last one that is on a stream by now.
    pub fn last_submitted(&self, is_submitted: impl Fn(&E) -> bool) -> Option<E> {
        if !self.are_there.load(Ordering::Acquire) {
            return None;
        }
        let signals = self.signals.lock();
        signals.last.as_ref().filter(|last| is_submitted(last)).or(signals.submitted.as_ref()).cloned()
    }

    /// Notes that the last signal is one that was kept.
    pub fn add(&self, signal: E, is_submitted: impl Fn(&E) -> bool) {
        let through = {
            let mut signals = self.signals.lock();
            let before = signals.last.replace(signal);
            self.are_there.store(true, Ordering::Release);
            match before {
                Some(before) if is_submitted(&before) => signals.submitted.replace(before),
                // Nobody who waits from now on can mean one that is not submitted yet.
                other => other,
            }
        };
        // Dropped outside the lock: the last reference of a queue may go with it.
        drop(through);
    }

    /// Notes that the last signal is one that was not kept.
    pub fn end(&self) {
        if self.are_there.load(Ordering::Acquire) {
            let through = {
                let mut signals = self.signals.lock();
                self.are_there.store(false, Ordering::Release);
                (signals.last.take(), signals.submitted.take())
            };
            drop(through);
        }
    }
}

/// A device on which the event can be recorded.
struct Site<D: Driver> {
    device: Arc<Object<Device<D>>>,
    marker: OnceLock<PooledEvent<D>>,
}

impl<D: Driver> Site<D> {
    fn new(device: &Arc<Object<Device<D>>>) -> Self {
        Self { device: Arc::clone(device), marker: OnceLock::new() }
    }
}

impl<D: Driver> Reusable<D> {
    /// One for the queues of a context, with its native event on the state's device.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn new(context: &Context<D>, state: &Arc<DeviceState<D>>, purpose: EventPurpose) -> Result<Arc<Self>> {
        let shared = purpose == EventPurpose::Processes;
        let devices = context.devices().filter(|device| !shared || Arc::ptr_eq(device, &state.device));
        let sites: Box<[_]> = devices.map(Site::new).collect();
        let marker = make(state, purpose)?;
        let handle = if shared {
            let _scope = state.enter()?;
            Some(state.driver.event_ipc_handle(marker.raw())?)
        } else {
            None
        };
        let reusable = Self::with_marker(purpose, sites, marker, handle);
        if shared {
            SharedEvents::of(&state.device).list.add(&reusable);
        }
        Ok(reusable)
    }

    /// One that lies on one device, whoever signals it.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn of_one_device(state: &Arc<DeviceState<D>>, purpose: EventPurpose) -> Result<Arc<Self>> {
        // A command buffer's signal is changed beside threads that wait in the driver, which makes no event meanwhile.
        let marker = match purpose {
            EventPurpose::Order => PooledEvent::of_its_own(state)?,
            _ => make(state, purpose)?,
        };
        let reusable = Self::with_marker(purpose, Box::new([Site::new(&state.device)]), marker, None);
        // A command buffer's launches record it, and know of nothing that is kept.
        reusable.exports.begin();
        Ok(reusable)
    }

    /// Whether one native event of this process's own is all that it will ever stand for.
    pub fn is_of_one_device(&self) -> bool {
        self.sites.len() == 1 && self.handle.is_none()
    }

    /// One over another process's native event.
    pub fn opened(state: &Arc<DeviceState<D>>, raw: D::Event, handle: IpcHandle) -> Arc<Self> {
        let marker = PooledEvent::adopt(raw, state, true);
        Self::with_marker(EventPurpose::Processes, Box::new([Site::new(&state.device)]), marker, Some(handle))
    }

    fn with_marker(
        purpose: EventPurpose,
        sites: Box<[Site<D>]>,
        marker: PooledEvent<D>,
        handle: Option<IpcHandle>,
    ) -> Arc<Self> {
        let first = sites.iter().position(|site| site.device.raw == marker.native_context().device);
        let latest = first.unwrap_or_default();
        // The site is new, so it takes the marker.
        let _ = sites[latest].marker.set(marker);
        Arc::new(Self {
            purpose,
            sites,
            latest: AtomicUsize::new(latest),
            times: SignalTimes::default(),
            signaller: Mutex::new(None),
            handle,
            exports: Exports::default(),
        })
    }

    /// The native event of the last signal; before the first one that is complete.
    pub fn marker(&self) -> Option<&PooledEvent<D>> {
        self.sites[self.latest.load(Ordering::Acquire)].marker.get()
    }

    /// The handle of the queue of this process that signalled it last, null before the first signal. The event keeps
    /// that queue alive, as the event of a command does.
    pub fn signaller(&self) -> ur_queue_handle_t {
        self.signaller.lock().as_ref().map_or(core::ptr::null_mut(), |queue| queue.handle())
    }

    /// Notes who signalled it.
    pub fn signalled_by(&self, queue: &dyn Submitter<D>) {
        let before = {
            let mut signaller = self.signaller.lock();
            if signaller.as_ref().is_some_and(|known| known.handle() == queue.handle()) {
                return;
            }
            signaller.replace(queue.to_submitter())
        };
        // Dropped outside the lock: the last reference of a queue may go with it.
        drop(before);
    }

    /// What other processes open it by, with the device that it lies on.
    pub fn handle(&self) -> Option<(&Object<Device<D>>, &IpcHandle)> {
        Some((&*self.sites.first()?.device, self.handle.as_ref()?))
    }

    /// Whether times of a signal can be asked for.
    pub fn is_timed(&self) -> bool {
        self.purpose == EventPurpose::Times
    }

    /// Has a signal kept, if nobody else sees the native event; nobody gets it before that is dropped.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE`.
    pub fn keep_signal(&self) -> Result<Keeping<'_>> {
        if self.purpose == EventPurpose::Processes {
            return Err(Error::unsupported(
                "a barrier that signals an event that processes share, behind a wait for what nobody has submitted yet: other \
                 processes would miss the signal (share a timeline instead, or wait for the timeline on the host first)",
            ));
        }
        self.exports.keep().ok_or_else(|| {
            Error::unsupported(
                "a barrier that signals an event whose native event was given out or is named by a command buffer, behind a wait \
                 for what nobody has submitted yet: that would not be signalled (use another event, or wait for the timeline on \
                 the host first)",
            )
        })
    }

    /// Notes that somebody is to have the native event for good: from now on no signal is kept.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` while another thread has a signal kept.
    pub fn begin_export(&self) -> Result<()> {
        if self.exports.begin() {
            return Ok(());
        }
        Err(Error::unsupported(
            "the native event of a reusable event while a signal of it that waits for a timeline is being enqueued",
        ))
    }

    /// Takes one [`Reusable::begin_export`] back: nobody was given the native event.
    pub fn cancel_export(&self) {
        self.exports.cancel();
    }

    /// Signals it: `record` is to put what it is given on a stream of the device's, or to keep that and answer the event of the
    /// signal, which is passed on.
    ///
    /// # Errors
    /// Those of `record`; what the native library answers to a new native event. The event then stands for what it stood for.
    pub fn signal<E>(
        &self,
        from: &Arc<DeviceState<D>>,
        record: impl FnOnce(&dyn Fn(&D::Stream) -> Result<()>) -> Result<Option<E>>,
    ) -> Result<Option<E>> {
        let queued = host_time_ns();
        let Some((index, site)) =
            self.sites.iter().enumerate().find(|(_, site)| Arc::ptr_eq(&site.device, &from.device))
        else {
            return record(&|stream| self.record_from_afar(from, stream));
        };
        if site.marker.get().is_none() {
            // Of two that come at once the second one's native event is not needed.
            let _ = site.marker.set(make(from, self.purpose)?);
        }
        let marker = site.marker.get().ok_or(ur_result_t::ERROR_INVALID_EVENT)?;
        let signalling = self.is_timed().then(|| self.times.begin());
        let host = HostTimes { queued, submitted: host_time_ns() };
        if let Some(event) = record(&|stream| from.driver.record_event(marker.raw(), stream))? {
            return Ok(Some(event));
        }
        let Some(_signalling) = signalling else {
            self.latest.store(index, Ordering::Release);
            return Ok(None);
        };
        let stamps = Stamps::new(host, None, from.time_base());
        // Together, so that the last one of several that come at once leaves both. What was there is dropped outside the lock.
        let before = {
            let mut last = self.times.last.write();
            self.latest.store(index, Ordering::Release);
            last.replace(stamps)
        };
        drop(before);
        Ok(None)
    }

    /// Records it for a stream of a device that it does not lie on.
    fn record_from_afar(&self, from: &Arc<DeviceState<D>>, stream: &D::Stream) -> Result<()> {
        let marker = self.marker().ok_or(ur_result_t::ERROR_INVALID_EVENT)?;
        let there = PooledEvent::record(from, stream, false)?;
        marker.native_context().on_scratch_stream(|near| {
            from.driver.stream_wait(near, there.raw())?;
            from.driver.record_event(marker.raw(), near)
        })
    }

    /// Makes a stream of a device wait for the last signal. Over another stream, where the event is another device's and
    /// shared by processes: the CUDA driver crashes over such a wait (docs/native-facts.md).
    ///
    /// # Errors
    /// What the native library answers.
    pub fn let_wait(&self, device: &DeviceState<D>, stream: &D::Stream) -> Result<()> {
        let marker = self.marker().ok_or(ur_result_t::ERROR_INVALID_EVENT)?;
        let near = marker.native_context();
        if self.purpose != EventPurpose::Processes || near.device == device.device.raw {
            return device.driver.stream_wait(stream, marker.raw());
        }
        let there = near.on_scratch_stream(|on_scratch_stream| {
            near.driver.stream_wait(on_scratch_stream, marker.raw())?;
            PooledEvent::record(near, on_scratch_stream, false)
        })?;
        device.driver.stream_wait(stream, there.raw())
    }

    /// A time of the last signal.
    ///
    /// # Errors
    /// `PROFILING_INFO_NOT_AVAILABLE` for an event without times, before the first signal and before its end; what the
    /// native library answers.
    pub fn time(&self, property: ur_profiling_info_t) -> Result<u64> {
        if self.purpose != EventPurpose::Times {
            return Err(not_available("the event was created without UR_EXP_EVENT_FLAG_ENABLE_PROFILING"));
        }
        self.times.with(|stamps| {
            let marker = self.marker().ok_or(ur_result_t::ERROR_INVALID_EVENT)?;
            let driver = marker.native_context().driver;
            stamps.time(property, marker, || driver.event_is_complete(marker.raw()))
        })
    }
}

fn not_available(why: &str) -> Error {
    Error::new(ur_result_t::ERROR_PROFILING_INFO_NOT_AVAILABLE, format!("urEventGetProfilingInfo: {why}"))
}

/// A native event of the reusable one's own: one of a pool may be waited for by others.
fn make<D: Driver>(state: &Arc<DeviceState<D>>, purpose: EventPurpose) -> Result<PooledEvent<D>> {
    if purpose == EventPurpose::Times {
        state.start_own_clock()?;
    }
    let _scope = state.enter()?;
    Ok(PooledEvent::adopt(state.driver.create_event(purpose)?, state, true))
}

/// The events of a device that other processes may have opened: to this process itself no native library opens them.
pub struct SharedEvents<D: Driver> {
    list: WeakList<Reusable<D>>,
}

impl<D: Driver> SharedEvents<D> {
    /// Those of a device.
    pub fn of(device: &Device<D>) -> &Self {
        device.shared_events.get_or_make(|| Self { list: WeakList::default() })
    }

    /// The one that a handle stands for, if it is this process's and alive.
    pub fn find(&self, handle: &IpcHandle) -> Option<Arc<Reusable<D>>> {
        self.list.living().into_iter().find(|event| event.handle.as_ref() == Some(handle))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_native_event_is_given_out_or_signals_are_kept_whichever_was_first() {
        let exports = Exports::default();
        let (first, second) = (exports.keep(), exports.keep());
        assert!(first.is_some() && second.is_some(), "signals do not exclude each other");
        drop(first);
        assert!(!exports.begin(), "one is still being kept");
        drop(second);
        assert!(exports.begin() && exports.begin());
        exports.cancel();
        assert!(exports.keep().is_none(), "somebody has it");
        exports.cancel();
        assert!(exports.keep().is_some());
    }
}
