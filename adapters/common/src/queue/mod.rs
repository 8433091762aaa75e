//! Queues: one stream in order, several streams out of order.

pub mod deferral;
pub mod native_event;
pub mod native_handle;

use crate::object::params::Out;
use core::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use smallvec::SmallVec;
use ur_ffi::{
    ur_queue_flags_t, ur_queue_handle_t, ur_queue_handle_t_, ur_queue_info_t, ur_queue_properties_t, ur_result_t,
};

use crate::context::{Context, DeviceState};
use crate::device::Device;
use crate::device::event_pool::PooledEvent;
use crate::device::worker;
use crate::driver::{Driver, StreamKind};
use crate::object::error::{Error, Result};
use crate::object::info::InfoWriter;
use crate::object::{Body, Object, TableAddress};
use crate::queue::deferral::Deferral;
use crate::stream::Stream;
use crate::stream::capture::{self, Capture};
use crate::stream::event::{Event, WaitList};
use crate::stream::idle;
use crate::stream::submitter::Submitter;
use crate::sync::unlikely::unlikely;

/// Streams an out-of-order queue spreads over. More run no faster on one device and each costs memory there.
const MAX_STREAMS: usize = 8;

/// What asks for an order with the native library's default stream. A queue that is to be that stream has one of its own with the
/// same order: which stream the default one is depends on the thread that calls.
const DEFAULT_STREAM: ur_queue_flags_t =
    ur_queue_flags_t::USE_DEFAULT_STREAM.union(ur_queue_flags_t::SYNC_WITH_DEFAULT_STREAM);

fn priority_of(flags: ur_queue_flags_t) -> i32 {
    if flags.contains(ur_queue_flags_t::PRIORITY_HIGH) {
        -1
    } else {
        i32::from(flags.contains(ur_queue_flags_t::PRIORITY_LOW))
    }
}

/// A stream on loan: the in-order queue's own costs no count.
pub enum Chosen<'q, D: Driver> {
    /// The queue's first stream.
    First(&'q Arc<Stream<D>>),
    /// One of an out-of-order queue's.
    Other(Arc<Stream<D>>),
}

impl<D: Driver> Deref for Chosen<'_, D> {
    type Target = Arc<Stream<D>>;

    fn deref(&self) -> &Arc<Stream<D>> {
        match self {
            Self::First(stream) => stream,
            Self::Other(stream) => stream,
        }
    }
}

/// Events that were recorded on streams of one queue, with their positions.
pub type Markers<D> = SmallVec<[(u64, PooledEvent<D>); MAX_STREAMS]>;

/// Whether a queue with these flags is plain as long as it does not capture.
fn is_plain(flags: ur_queue_flags_t) -> bool {
    !flags.intersects(ur_queue_flags_t::OUT_OF_ORDER_EXEC_MODE_ENABLE | ur_queue_flags_t::PROFILING_ENABLE)
}

/// A queue of one device. What every command reads comes first, as in a stream.
#[repr(C)]
pub struct Queue<D: Driver> {
    first: Arc<Stream<D>>,
    /// The device, as kernels and pools are asked for it.
    pub target: Arc<Object<Device<D>>>,
    plain: AtomicBool,
    /// Whether it has a capture, which may have ended on another queue. A queue that is plain is not asked; it stops being that right behind.
    capturing: AtomicBool,
    /// The context it was made in.
    pub context: Arc<Object<Context<D>>>,
    /// The device state it submits to.
    pub device: Arc<DeviceState<D>>,
    /// The flags it was made with.
    pub flags: ur_queue_flags_t,
    kind: StreamKind,
    /// An out-of-order queue's other streams. Most queues have none, and a queue that is made and released pays for each word.
    more: Mutex<Vec<Arc<Stream<D>>>>,
    turn: AtomicUsize,
    barrier: Mutex<Option<Arc<Object<Event<D>>>>>,
    generation: AtomicU64,
    capture: Mutex<Option<Arc<Capture<D>>>>,
    deferral: Deferral<D>,
}

impl<D: Driver> Body for Queue<D> {
    type Opaque = ur_queue_handle_t_;
    const TAG: u32 = 0x5552_0005;
    const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_QUEUE;
    const NAME: &'static str = "queue";

    fn table() -> TableAddress {
        D::cell().table()
    }

    fn on_last_release(queue: &Object<Self>) {
        if let Some(capture) = queue.capture().filter(|capture| capture.began_on(&queue.first)) {
            // Nobody can end it any more, and the native library does not survive the end of a stream that captures.
            capture.abandon();
        }
        if queue.is_deferring() {
            // What is kept goes on the streams behind events that nobody but the application has from now on.
            queue.streams().iter().for_each(|stream| stream.record_held());
        }
        queue.let_go();
        // One that ends with this needs no more of its stream, unless others have that, as staging memory has; this asks for one
        // count of its own and the application's.
        let is_kept = || Arc::strong_count(&queue.to_arc()) > 2 || Arc::strong_count(&queue.first) > 1;
        if queue.first.is_lent() && is_kept() {
            queue.part_with_lent();
        }
    }
}

impl<D: Driver> Queue<D> {
    /// Drops what the queue keeps for commands to come, which holds the queue itself: once the application has released it and
    /// no command is kept.
    pub fn let_go(&self) {
        // Most queues never have one, and a lock is two atomic exchanges. While commands are kept the function of one may enqueue more,
        // which wait for it; the last kept command's end calls this again.
        if self.generation.load(Ordering::Acquire) != 0 && !self.keeps_commands() {
            let barrier = self.barrier.lock().take();
            drop(barrier);
        }
        let has_jobs = worker::expects(self.device.group);
        let let_go = |stream: &Stream<D>| {
            if has_jobs {
                // Jobs hold what they need alive. A device that is lost will not call for them, and who asks for them asks later.
                let _ = stream.is_idle();
            }
            stream.let_go();
        };
        if self.is_in_order() {
            return let_go(&self.first);
        }
        self.streams().iter().for_each(|stream| let_go(stream));
    }

    /// Lets go of a native stream of the application's, which may destroy it once it hears of this: after its last release, and of the
    /// end of the last command that was kept.
    #[cold]
    pub fn part_with_lent(&self) {
        if self.first.is_lent() && !self.keeps_commands() {
            // What was kept is freed on the stream before.
            self.first.let_go();
            self.first.part();
        }
    }
}

impl<D: Driver> Submitter<D> for Object<Queue<D>> {
    fn handle(&self) -> ur_queue_handle_t {
        Object::handle(self)
    }

    fn address(&self) -> usize {
        core::ptr::from_ref::<Queue<D>>(self).addr()
    }

    fn context(&self) -> &Arc<Object<Context<D>>> {
        &self.context
    }

    fn to_submitter(&self) -> Arc<dyn Submitter<D>> {
        self.to_arc()
    }
}

impl<D: Driver> Drop for Queue<D> {
    fn drop(&mut self) {
        idle::keep_or_retire(&self.context, &self.target, &self.first);
        for stream in self.more.get_mut() {
            idle::keep_or_retire(&self.context, &self.target, stream);
        }
    }
}

impl<D: Driver> Queue<D> {
    /// A queue with its first stream.
    ///
    /// # Errors
    /// As [`Context::state`]; what the native library answers.
    fn new(context: &Object<Context<D>>, device: &Object<Device<D>>, flags: ur_queue_flags_t) -> Result<Self> {
        let device = context.state(device)?;
        let kind = StreamKind { priority: priority_of(flags), follows_default: flags.intersects(DEFAULT_STREAM) };
        let first = idle::take_or_make(context, &device, kind)?;
        if flags.contains(ur_queue_flags_t::PROFILING_ENABLE) {
            device.start_clock(&first.native)?;
        }
        Ok(Self::of_stream(context, device, flags, kind, first))
    }

    /// A queue over its first stream.
    pub fn over_stream(
        context: &Object<Context<D>>,
        device: Arc<DeviceState<D>>,
        flags: ur_queue_flags_t,
        kind: StreamKind,
        first: Arc<Stream<D>>,
    ) -> Arc<Object<Self>> {
        Object::new(Self::of_stream(context, device, flags, kind, first))
    }

    #[inline(always)]
    fn of_stream(
        context: &Object<Context<D>>,
        device: Arc<DeviceState<D>>,
        flags: ur_queue_flags_t,
        kind: StreamKind,
        first: Arc<Stream<D>>,
    ) -> Self {
        Self {
            context: context.to_arc(),
            target: Arc::clone(&device.device),
            device,
            flags,
            plain: AtomicBool::new(is_plain(flags)),
            capturing: AtomicBool::new(false),
            kind,
            first,
            more: Mutex::default(),
            turn: AtomicUsize::new(0),
            barrier: Mutex::new(None),
            generation: AtomicU64::new(0),
            capture: Mutex::new(None),
            deferral: Deferral::default(),
        }
    }

    /// Whether commands run in the order they were given.
    pub fn is_in_order(&self) -> bool {
        !self.flags.contains(ur_queue_flags_t::OUT_OF_ORDER_EXEC_MODE_ENABLE)
    }

    /// Whether it is in order, not timed, and does not capture: nothing of a command depends on more than the one stream.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.plain.load(Ordering::Relaxed)
    }

    /// What it captures into, if it does. For queues that are not plain.
    #[inline]
    pub fn capture(&self) -> Option<Arc<Capture<D>>> {
        if self.capturing.load(Ordering::Acquire) { self.look_at_capture() } else { None }
    }

    /// A capture that this queue joined ends on another one, which does not know this.
    #[cold]
    fn look_at_capture(&self) -> Option<Arc<Capture<D>>> {
        let mut capture = self.capture.lock();
        let ended = capture.take_if(|capture| capture.has_ended());
        if capture.is_none() {
            self.capturing.store(false, Ordering::Release);
            self.restore_plain_after_capture();
        }
        let current = capture.clone();
        drop(capture);
        // Dropped outside the lock: what is kept for a graph may hold anything.
        drop(ended);
        current
    }

    /// Notes that commands are captured from now on.
    pub fn set_capture(&self, capture: &Arc<Capture<D>>) {
        let before = self.capture.lock().replace(Arc::clone(capture));
        self.capturing.store(true, Ordering::Release);
        self.make_plain_no_more();
        drop(before);
    }

    /// Refuses what cannot be done while the queue captures.
    ///
    /// # Errors
    /// `GRAPH_CAPTURE_UNSUPPORTED`.
    pub fn refuse_in_capture(&self, what: &str) -> Result<()> {
        if self.capture().is_some() { Err(capture::unsupported(what)) } else { Ok(()) }
    }

    /// The first stream, an in-order queue's only one.
    #[inline]
    pub fn first(&self) -> &Arc<Stream<D>> {
        &self.first
    }

    /// The one stream of a plain queue whose stream is nobody else's: a command that waits for nothing, and whose event
    /// nobody wants, has to know of nothing but that.
    #[inline]
    #[must_use]
    pub fn stream_alone(&self) -> Option<&Arc<Stream<D>>> {
        if unlikely!(!self.is_plain() || self.first.is_shared()) { None } else { Some(&self.first) }
    }

    /// Whether commands are timed.
    pub fn is_profiling(&self) -> bool {
        self.flags.contains(ur_queue_flags_t::PROFILING_ENABLE)
    }

    /// Every stream made so far.
    pub fn streams(&self) -> SmallVec<[Arc<Stream<D>>; MAX_STREAMS]> {
        let mut streams = SmallVec::new();
        streams.push(Arc::clone(&self.first));
        if !self.is_in_order() {
            streams.extend(self.more.lock().iter().cloned());
        }
        streams
    }

    /// The stream a command with these dependencies goes to: an in-order queue's only one; else one that a
    /// dependency of this queue ran on, so that the order there is the dependency; else the next in turn.
    ///
    /// # Errors
    /// What the native library answers to a new stream.
    pub fn choose_stream(&self, waits: &WaitList<'_, D>) -> Result<Chosen<'_, D>> {
        if self.is_in_order() {
            return Ok(Chosen::First(&self.first));
        }
        self.spread(waits).map(Chosen::Other)
    }

    fn spread(&self, waits: &WaitList<'_, D>) -> Result<Arc<Stream<D>>> {
        let own = waits
            .iter()
            .filter_map(|event| event.submitted())
            .find(|event| event.queue.address() == core::ptr::from_ref(self).addr() && !event.is_known_complete());
        if let Some(event) = own {
            return Ok(Arc::clone(&event.stream));
        }
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % MAX_STREAMS;
        if turn == 0 {
            return Ok(Arc::clone(&self.first));
        }
        loop {
            if let Some(stream) = self.more.lock().get(turn - 1) {
                return Ok(Arc::clone(stream));
            }
            self.add_stream()?;
        }
    }

    /// Makes one more stream, unless other threads have made the last meanwhile. The native call may wait for another thread's, so
    /// nothing is locked over it.
    #[cold]
    fn add_stream(&self) -> Result<()> {
        let stream = idle::take_or_make(&self.context, &self.device, self.kind)?;
        let surplus = {
            let mut more = self.more.lock();
            if more.len() < MAX_STREAMS - 1 {
                more.push(stream);
                None
            } else {
                Some(stream)
            }
        };
        if let Some(stream) = surplus {
            idle::keep_or_retire(&self.context, &self.target, &stream);
        }
        Ok(())
    }

    /// Whether the next command in turn may have to make its stream first.
    pub fn may_make_stream(&self) -> bool {
        let turn = self.turn.load(Ordering::Relaxed) % MAX_STREAMS;
        !self.is_in_order() && self.more.lock().len() < turn
    }

    /// The barrier that commands must wait for, with its generation; 0 and none before the first.
    pub fn barrier(&self) -> (u64, Option<Arc<Object<Event<D>>>>) {
        if self.generation.load(Ordering::Acquire) == 0 {
            return (0, None);
        }
        let barrier = self.barrier.lock();
        (self.generation.load(Ordering::Acquire), barrier.clone())
    }

    /// Makes a barrier of an out-of-order queue what every later command waits for; `make` gets the one before, which stays if it
    /// makes none.
    ///
    /// # Errors
    /// What `make` answers; the barrier before stays then.
    pub fn publish_barrier(
        &self,
        make: impl FnOnce(Option<&Object<Event<D>>>) -> Result<Option<Arc<Object<Event<D>>>>>,
    ) -> Result<Option<Arc<Object<Event<D>>>>> {
        // The lock makes barriers of several threads follow one another; it is taken before any stream's.
        let mut published = self.barrier.lock();
        let made = make(published.as_deref())?;
        if let Some(event) = &made {
            *published = Some(Arc::clone(event));
            self.generation.fetch_add(1, Ordering::AcqRel);
        }
        Ok(made)
    }

    /// What has to be waited for so that everything on the queue's streams but the first has completed, with the positions.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn record_other_streams(&self) -> Result<Markers<D>> {
        let mut markers = SmallVec::new();
        // Not behind the list's lock: a stream's may be behind a native call.
        for stream in self.streams().iter().skip(1) {
            markers.extend(stream.record_marker()?);
        }
        Ok(markers)
    }
}

/// `urQueueCreate`.
///
/// # Errors
/// `INVALID_ENUMERATION` for unknown flags, `INVALID_QUEUE_PROPERTIES` for contradictory ones or an on-device
/// queue, `INVALID_DEVICE` for a device of another context; what the native library answers.
pub fn create<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    properties: Option<&ur_queue_properties_t>,
    out: Out<'_, ur_queue_handle_t>,
) -> Result<()> {
    let flags = properties.map_or(ur_queue_flags_t::empty(), |properties| properties.flags);
    if unlikely!(!flags.is_empty()) {
        check_flags(flags)?;
    }
    out.write_new(Queue::new(context, device, flags)?);
    Ok(())
}

/// Refuses flags that contradict each other, and those of a queue on the device.
fn check_flags(flags: ur_queue_flags_t) -> Result<()> {
    let contradictory = [
        ur_queue_flags_t::PRIORITY_HIGH | ur_queue_flags_t::PRIORITY_LOW,
        ur_queue_flags_t::SUBMISSION_BATCHED | ur_queue_flags_t::SUBMISSION_IMMEDIATE,
    ];
    if let Some(both) = contradictory.into_iter().find(|both| flags.contains(*both)) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_QUEUE_PROPERTIES,
            format!("urQueueCreate: {both:?} contradict each other"),
        ));
    }
    if flags.intersects(ur_queue_flags_t::ON_DEVICE | ur_queue_flags_t::ON_DEVICE_DEFAULT) {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_QUEUE_PROPERTIES,
            "urQueueCreate: this device has no queues of its own; leave out UR_QUEUE_FLAG_ON_DEVICE",
        ));
    }
    Ok(())
}

/// `urQueueFinish`.
///
/// # Errors
/// `GRAPH_CAPTURE_UNSUPPORTED` for a queue that captures; the cause, once, if a command that was kept behind a timeline was
/// never submitted; what the native library answers.
pub fn finish<D: Driver>(queue: &Object<Queue<D>>) -> Result<()> {
    if queue.is_plain() {
        return queue.first.finish();
    }
    queue.refuse_in_capture("waiting for a queue (urQueueFinish)")?;
    queue.wait_for_submission();
    queue.streams().iter().try_for_each(|stream| stream.finish())?;
    queue.tell_failure()
}

/// `urQueueFlush`: commands are with the device as soon as they are enqueued.
///
/// # Errors
/// As [`borrow`].
pub fn flush<D: Driver>(_queue: &Object<Queue<D>>) -> Result<()> {
    Ok(())
}

/// `urQueueGetInfo`.
///
/// # Errors
/// As [`InfoWriter`]; `INVALID_ENUMERATION` for an unknown property.
pub fn get_info<D: Driver>(queue: &Object<Queue<D>>, property: ur_queue_info_t, writer: InfoWriter) -> Result<()> {
    match property {
        ur_queue_info_t::CONTEXT => writer.value(queue.context.handle()),
        ur_queue_info_t::DEVICE => writer.value(queue.device.device.handle()),
        ur_queue_info_t::FLAGS => writer.value(queue.flags),
        ur_queue_info_t::REFERENCE_COUNT => writer.value(queue.references()),
        ur_queue_info_t::EMPTY => {
            let mut empty = queue.is_submitted();
            for stream in queue.streams() {
                empty = empty && stream.is_idle()?;
            }
            writer.boolean(empty)
        }
        // Both are about queues that live on the device, which there are none of.
        ur_queue_info_t::DEVICE_DEFAULT | ur_queue_info_t::SIZE => writer.unsupported(),
        _ => writer.unknown(property.0),
    }
}
