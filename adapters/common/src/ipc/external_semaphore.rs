//! Semaphores that another API made and exported as a file descriptor: binary ones, and timelines with values.
//!
//! A wait and a signal are commands of a queue like any other, with wait lists and events. The native wait lies on the
//! stream: if nobody ever signals, nothing behind it on that stream runs, so a wait belongs behind the submission of its
//! signal. An import is released when its waits and signals have completed, which it knows by an event behind the last of
//! them on each stream.
//!
//! **The descriptor** goes the way of memory's ([`super::external_memory`]).

use core::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use smallvec::SmallVec;
use ur_ffi::{
    ur_command_t, ur_exp_external_semaphore_desc_t, ur_exp_external_semaphore_handle_t,
    ur_exp_external_semaphore_handle_t_, ur_exp_external_semaphore_type_t, ur_result_t,
};

use crate::command::deferral::{Deferring, Owned, by_function};
use crate::command::submission::Submission;
use crate::command::{Command, Enqueue, Request, erased};
use crate::context::{Context, DeviceState};
use crate::device::Device;
use crate::device::event_pool::PooledEvent;
use crate::driver::{Driver, SemaphoreKind};
use crate::ipc::external_memory::{check_owners, descriptor_of, not_imported};
use crate::object::chain::Chained;
use crate::object::error::{Error, Result};
use crate::object::params::Out;
use crate::object::{self, Body, Held, Object, TableAddress};
use crate::queue::Queue;
use crate::stream::Stream;

/// Streams that a semaphore remembers before it looks which of them have finished with it.
const REMEMBERED_STREAMS: usize = 16;

/// By a stream's key, its last wait or signal.
type Uses<D> = SmallVec<[(u64, LastUse<D>); 2]>;

/// What says that a stream has finished with the semaphore.
enum LastUse<D: Driver> {
    /// An event behind the wait or signal.
    Marked(PooledEvent<D>),
    /// The command's position, where no event could be recorded.
    Unmarked(Arc<Stream<D>>, u64),
}

impl<D: Driver> LastUse<D> {
    fn is_over(&self, driver: &D) -> Result<bool> {
        match self {
            Self::Marked(marker) => driver.event_is_complete(marker.raw()),
            Self::Unmarked(stream, position) => Ok(stream.is_completed(*position) || stream.is_idle()?),
        }
    }
}

/// What the handle of an imported semaphore names.
pub struct ExternalSemaphore<D: Driver> {
    raw: D::ExternalSemaphore,
    kind: SemaphoreKind,
    context: Arc<Object<Context<D>>>,
    state: Arc<DeviceState<D>>,
    /// Held over questions to the native library, which do not block, and over nothing else.
    uses: Mutex<Uses<D>>,
    /// Timelines over it ([`super::external_timeline`]).
    timelines: AtomicUsize,
    /// Waits and signals that are deferred.
    deferred: AtomicUsize,
}

impl<D: Driver> Body for ExternalSemaphore<D> {
    type Opaque = ur_exp_external_semaphore_handle_t_;
    const TAG: u32 = 0x5552_0051;
    const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_VALUE;
    const NAME: &'static str = "imported semaphore";

    fn table() -> TableAddress {
        D::cell().table()
    }
}

impl<D: Driver> Drop for ExternalSemaphore<D> {
    fn drop(&mut self) {
        // Nobody is left to tell; what a lost device has imported goes with its context.
        let Ok(_scope) = self.state.enter() else { return };
        let _ = self.state.driver.release_semaphore(mem::take(&mut self.raw));
    }
}

impl<D: Driver> ExternalSemaphore<D> {
    /// Whether it has values.
    pub(super) fn is_timeline(&self) -> bool {
        self.kind == SemaphoreKind::Timeline
    }

    /// Whether it was imported for that context.
    pub(super) fn is_of(&self, context: &Object<Context<D>>) -> bool {
        core::ptr::eq(Arc::as_ptr(&self.context), context)
    }

    /// Notes that a timeline over it begins, which keeps it from being released, or has ended.
    pub(super) fn count_timeline(&self, begins: bool) {
        if begins {
            self.timelines.fetch_add(1, Ordering::Relaxed);
        } else {
            self.timelines.fetch_sub(1, Ordering::Release);
        }
    }

    /// Enqueues a wait or a signal of a value.
    ///
    /// # Errors
    /// As [`wait`].
    pub(super) fn put(
        semaphore: &Object<Self>,
        name: &str,
        request: &Request<'_, D>,
        value: u64,
        signals: bool,
    ) -> Result<()> {
        semaphore.check_queue(name, request.queue)?;
        erased::submit(request, UseSemaphore { semaphore, value, signals })
    }

    /// Signals a value beside all queues, and returns when that is done.
    ///
    /// # Errors
    /// What the native library answers.
    pub(super) fn signal_from_host(&self, value: u64) -> Result<()> {
        let (state, driver) = (&self.state, self.state.driver);
        let _scope = state.enter()?;
        let marker = state.on_scratch_stream(|stream| {
            driver.signal_semaphore(&self.raw, value, stream)?;
            PooledEvent::record(state, stream, false)
        })?;
        driver.synchronize_event(marker.raw()).map_err(|error| state.failed(error))
    }

    /// Marks the end of a wait or signal that was just put on a locked stream, with that position. It is known to be there also
    /// if that fails.
    fn note_use(&self, stream: &Arc<Stream<D>>, position: u64) -> Result<()> {
        let key = stream.key();
        let last = {
            let mut uses = self.uses.lock();
            let place = uses.iter().position(|(known, _)| *known == key);
            place.map(|place| uses.swap_remove(place).1)
        };
        let marked = match last {
            Some(LastUse::Marked(marker)) => marker.record_again(&stream.native),
            Some(LastUse::Unmarked(..)) | None => PooledEvent::record(&stream.device, &stream.native, false),
        };
        let (used, told) = match marked {
            Ok(marker) => (LastUse::Marked(marker), Ok(())),
            Err(error) => (LastUse::Unmarked(Arc::clone(stream), position), Err(error)),
        };
        let mut over = Uses::new();
        let mut uses = self.uses.lock();
        uses.push((key, used));
        if uses.len() > REMEMBERED_STREAMS {
            forget_completed(stream.driver, &mut uses, &mut over)?;
        }
        drop(uses);
        told
    }

    fn is_in_use(&self) -> Result<bool> {
        let mut over = Uses::new();
        let mut uses = self.uses.lock();
        forget_completed(self.state.driver, &mut uses, &mut over)?;
        Ok(!uses.is_empty() || self.deferred.load(Ordering::Acquire) > 0)
    }

    /// The value of a wait or signal, which a timeline has and a binary semaphore has not.
    fn value(&self, name: &str, given: Option<u64>) -> Result<u64> {
        match (self.kind, given) {
            (SemaphoreKind::Timeline, Some(value)) => Ok(value),
            (SemaphoreKind::Binary, None) => Ok(0),
            (SemaphoreKind::Timeline, None) => Err(Error::new(
                ur_result_t::ERROR_INVALID_VALUE,
                format!("{name}: the semaphore is a timeline; give a value"),
            )),
            (SemaphoreKind::Binary, Some(_)) => Err(Error::new(
                ur_result_t::ERROR_INVALID_VALUE,
                format!("{name}: the semaphore is binary; give no value"),
            )),
        }
    }

    fn check_queue(&self, name: &str, queue: &Queue<D>) -> Result<()> {
        if Arc::ptr_eq(&queue.device, &self.state) {
            return Ok(());
        }
        Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!(
                "{name}: hSemaphore was imported for another context or device than the queue's; import it for those"
            ),
        ))
    }
}

/// Moves the uses that their streams have finished to `over`, to be dropped without the lock: a stream may end with one.
fn forget_completed<D: Driver>(driver: &D, uses: &mut Uses<D>, over: &mut Uses<D>) -> Result<()> {
    let mut place = 0;
    while let Some((_, used)) = uses.get(place) {
        if used.is_over(driver)? {
            over.push(uses.swap_remove(place));
        } else {
            place += 1;
        }
    }
    Ok(())
}

/// The kind that a descriptor's type says.
fn kind_of<D: Driver>(device: &Device<D>, kind: ur_exp_external_semaphore_type_t) -> Result<SemaphoreKind> {
    let properties = &device.properties;
    match kind {
        ur_exp_external_semaphore_type_t::OPAQUE_FD if properties.external_semaphores => Ok(SemaphoreKind::Binary),
        ur_exp_external_semaphore_type_t::TIMELINE_FD
            if properties.external_semaphores && properties.external_timelines =>
        {
            Ok(SemaphoreKind::Timeline)
        }
        _ => Err(Error::unsupported(&format!("importing a semaphore as {kind:?} on this device"))),
    }
}

/// `urBindlessImagesImportExternalSemaphoreExp`.
///
/// # Errors
/// `INVALID_DEVICE`; `UNSUPPORTED_FEATURE` for any type but an opaque descriptor and a timeline's, or a library or device
/// without it; `INVALID_VALUE` for no descriptor, or one that the library does not import.
pub fn import<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    kind: ur_exp_external_semaphore_type_t,
    description: Chained<'_, ur_exp_external_semaphore_desc_t>,
    out: Out<'_, ur_exp_external_semaphore_handle_t>,
) -> Result<()> {
    const NAME: &str = "urBindlessImagesImportExternalSemaphoreExp";
    context.check_member(device)?;
    let kind = kind_of(device, kind)?;
    let descriptor = descriptor_of("urBindlessImagesImportExternalSemaphoreExp: pExternalSemaphoreDesc", description)?;
    let state = context.state(device)?;
    let raw = {
        let _scope = state.enter()?;
        let imported = state.driver.import_semaphore(descriptor, kind);
        imported.map_err(|error| not_imported(NAME, "a semaphore", error))?
    };
    let uses = Mutex::default();
    let (timelines, deferred) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let context = context.to_arc();
    out.write_object(Object::new(ExternalSemaphore { raw, kind, context, state, uses, timelines, deferred }));
    Ok(())
}

/// `urBindlessImagesReleaseExternalSemaphoreExp`. The other API's semaphore stays.
///
/// # Errors
/// As [`check_owners`]; `INVALID_VALUE` while a wait or a signal has not completed, or a timeline is over it; what the native library answers.
pub fn release<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    held: Held<ExternalSemaphore<D>>,
) -> Result<()> {
    const NAME: &str = "urBindlessImagesReleaseExternalSemaphoreExp";
    let semaphore = held.object();
    check_owners(NAME, Arc::as_ptr(&semaphore.context), &semaphore.state, context, device)?;
    if semaphore.timelines.load(Ordering::Acquire) > 0 {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{NAME}: there are timelines over the semaphore; release them first"),
        ));
    }
    if semaphore.is_in_use()? {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_VALUE,
            format!("{NAME}: waits or signals of the semaphore have not completed; wait for their queues first"),
        ));
    }
    object::release(held)
}

/// Waits for a semaphore, or signals it.
struct UseSemaphore<'s, D: Driver> {
    semaphore: &'s Object<ExternalSemaphore<D>>,
    value: u64,
    signals: bool,
}

impl<D: Driver> Command<D> for UseSemaphore<'_, D> {
    type Output = ();

    fn put_on(self, submission: &mut Submission<'_, D>) -> Result<()> {
        let (driver, semaphore) = (submission.driver(), self.semaphore);
        let _scope = semaphore.state.enter()?;
        if self.signals {
            driver.signal_semaphore(&semaphore.raw, self.value, submission.native())?;
        } else {
            driver.wait_semaphore(&semaphore.raw, self.value, submission.native())?;
        }
        semaphore.note_use(submission.stream(), submission.position())
    }

    fn into_owned(self, _: &Deferring<'_, D>) -> Result<(Box<dyn Owned<D>>, ())> {
        let (deferred, value, signals) = (DeferredUse::new(self.semaphore), self.value, self.signals);
        let place = move |request: &Request<'_, D>| {
            erased::submit(request, UseSemaphore { semaphore: &deferred.0, value, signals })
        };
        Ok((by_function(place), ()))
    }
}

/// A wait or signal that is deferred: the semaphore is in use.
struct DeferredUse<D: Driver>(Arc<Object<ExternalSemaphore<D>>>);

impl<D: Driver> DeferredUse<D> {
    fn new(semaphore: &Object<ExternalSemaphore<D>>) -> Self {
        semaphore.deferred.fetch_add(1, Ordering::Relaxed);
        Self(semaphore.to_arc())
    }
}

impl<D: Driver> Drop for DeferredUse<D> {
    fn drop(&mut self) {
        self.0.deferred.fetch_sub(1, Ordering::Release);
    }
}

/// `urBindlessImagesWaitExternalSemaphoreExp`.
///
/// # Errors
/// `INVALID_VALUE` for a timeline without a value, a binary semaphore with one, or a semaphore of another context or
/// device; `GRAPH_CAPTURE_UNSUPPORTED` for a queue that captures; what the native library answers.
pub fn wait<D: Driver>(
    enqueue: Enqueue<'_, D>,
    semaphore: &Object<ExternalSemaphore<D>>,
    has_value: bool,
    value: u64,
) -> Result<()> {
    const NAME: &str = "urBindlessImagesWaitExternalSemaphoreExp";
    let request = enqueue.request(ur_command_t::EXTERNAL_SEMAPHORE_WAIT_EXP);
    semaphore.check_queue(NAME, request.queue)?;
    let value = semaphore.value(NAME, has_value.then_some(value))?;
    erased::submit(&request, UseSemaphore { semaphore, value, signals: false })
}

/// `urBindlessImagesSignalExternalSemaphoreExp`.
///
/// # Errors
/// As [`wait`].
pub fn signal<D: Driver>(
    enqueue: Enqueue<'_, D>,
    semaphore: &Object<ExternalSemaphore<D>>,
    has_value: bool,
    value: u64,
) -> Result<()> {
    const NAME: &str = "urBindlessImagesSignalExternalSemaphoreExp";
    let request = enqueue.request(ur_command_t::EXTERNAL_SEMAPHORE_SIGNAL_EXP);
    semaphore.check_queue(NAME, request.queue)?;
    let value = semaphore.value(NAME, has_value.then_some(value))?;
    erased::submit(&request, UseSemaphore { semaphore, value, signals: true })
}
