//! A capture: streams that record what they are given as a native graph, instead of executing it.
//!
//! A capture begins on one stream. Another stream joins it by waiting for an event of the capture (a *fork*), and is joined
//! back when a stream of the capture waits for an event of its own. Of a queue out of order only the first stream takes part;
//! it keeps the order that the application asked for ([`order`]). A capture is relaxed in the native library's words: calls
//! that put nothing on its streams are everybody's, so the engine makes events, memory and modules as always, and any
//! thread may end it. What would break it natively is refused before the native library sees it: a question to a
//! capturing stream, waiting for it, and an order between it and what is outside.
//!
//! **Nothing outside refers into a capture.** Events of the last command are recorded before it begins. From then on no other
//! thread touches the stream for its own ends: [`Stream::lock_unless_calling`](crate::stream::Stream::lock_unless_calling)
//! answers as if a native call were on its way, so that kept blocks stay where they are until the capture has ended.
//! Commands of a capture are not counted, since nothing runs.
//!
//! Must not know queues, nor the graph object that the capture is for ([`Capture::target`]).

pub(crate) mod order;

use core::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use ur_ffi::ur_result_t;

use crate::context::DeviceState;
use crate::device::event_pool::PooledEvent;
use crate::driver::graphs::CaptureMode;
use crate::driver::{Driver, EventPurpose, NativeName};
use crate::object::error::{Error, Result};
use crate::stream::capture::order::{CaptureOrder, Inside};
use crate::stream::submitter::Submitter;
use crate::stream::{Stream, StreamState};

/// Something that a graph needs alive as long as it can be launched.
pub type Retained = Arc<dyn Any + Send + Sync>;

/// Streams that record into one native graph.
pub struct Capture<D: Driver> {
    /// The stream that it began on.
    origin: Arc<Stream<D>>,
    /// The graph object that it is for, as the room of graphs knows it, until that is taken.
    target: Mutex<Option<Retained>>,
    /// Tells that object that the capture came to nothing.
    cancel: fn(&Retained),
    /// Streams that joined.
    forks: Mutex<Vec<Fork<D>>>,
    kept: Mutex<Vec<Retained>>,
    /// Where launches of the graph bring the memory that moves.
    memory_device: Arc<DeviceState<D>>,
    /// Whether a command uses such memory.
    uses_memory: AtomicBool,
    /// Memory that commands of the capture allocated and have not freed: the numbers of pools by address.
    allocations: Mutex<HashMap<usize, u64>>,
    /// The orders of queues out of order, by the addresses of their first streams.
    orders: Mutex<HashMap<usize, Order<D>>>,
    ended: AtomicBool,
}

/// A stream that joined, with its queue: the end of a queue would put frees on a stream that captures.
struct Fork<D: Driver> {
    stream: Arc<Stream<D>>,
    _queue: Arc<dyn Submitter<D>>,
}

/// The order of a queue out of order, with its first stream.
struct Order<D: Driver> {
    stream: Arc<Stream<D>>,
    nodes: CaptureOrder<D::GraphNode>,
}

/// What is left of a capture that has ended well.
pub struct Captured<D: Driver> {
    /// The native graph, which is new and the caller's.
    pub graph: D::Graph,
    /// What its commands use.
    pub kept: Vec<Retained>,
    /// Where launches bring the memory that moves, if a command uses any.
    pub memory_device: Option<Arc<DeviceState<D>>>,
    /// Memory that a launch allocates and does not free.
    pub allocations: Vec<usize>,
}

/// An event of a capture: it orders commands of the capture, and is nothing outside.
pub struct CapturedEvent<D: Driver> {
    /// What it is an event of.
    pub capture: Arc<Capture<D>>,
    /// Its native event, which no pool takes back: until it is recorded anew the native library refuses questions about it.
    marker: PooledEvent<D>,
}

impl<D: Driver> CapturedEvent<D> {
    /// Records an event for everything that a stream of the capture was given so far.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn record(capture: &Arc<Capture<D>>, stream: &Stream<D>) -> Result<Self> {
        let device = &stream.device;
        let event = {
            let _scope = device.enter()?;
            device.driver.create_event(EventPurpose::Order)?
        };
        let marker = PooledEvent::adopt(event, device, true);
        device.driver.record_event(marker.raw(), &stream.native)?;
        Ok(Self { capture: Arc::clone(capture), marker })
    }

    /// Makes a stream of the capture wait for it, or a stream join.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn let_wait(&self, stream: &Stream<D>) -> Result<()> {
        stream.driver.stream_wait(&stream.native, self.marker.raw())
    }
}

/// What an event of a capture answers outside of it.
#[cold]
#[must_use]
pub fn internal_event() -> Error {
    Error::new(
        ur_result_t::ERROR_GRAPH_INTERNAL_EVENT,
        "the event is of a command that a graph recorded, so nothing outside of that capture can wait for it or ask it; \
         wait for the event of the graph's launch",
    )
}

/// What cannot be done while a queue captures.
#[cold]
#[must_use]
pub fn unsupported(what: &str) -> Error {
    Error::new(
        ur_result_t::ERROR_GRAPH_CAPTURE_UNSUPPORTED,
        format!("{what} cannot be captured into a graph; end the capture first (urQueueEndGraphCaptureExp)"),
    )
}

impl<D: Driver> Capture<D> {
    /// Begins one on a stream, for a graph object of the room of graphs, which `cancel` tells if the capture is
    /// [abandoned](Self::abandon). `memory_device` is where launches bring what the graph uses already of memory that moves.
    ///
    /// # Errors
    /// `INVALID_OPERATION` for a stream that captures already; what the native library answers.
    pub fn begin(
        stream: &Arc<Stream<D>>,
        memory_device: Option<Arc<DeviceState<D>>>,
        target: Retained,
        cancel: fn(&Retained),
    ) -> Result<Arc<Self>> {
        let mut state = stream.lock();
        if stream.is_capturing() {
            return Err(Error::new(ur_result_t::ERROR_INVALID_OPERATION, "the queue captures into a graph already"));
        }
        let beginning = Beginning::on(stream);
        stream.prepare_capture(&mut state)?;
        {
            let _scope = stream.device.enter()?;
            stream.driver.begin_capture(&stream.native, CaptureMode::Relaxed)?;
        }
        beginning.done();
        Ok(Arc::new(Self {
            origin: Arc::clone(stream),
            target: Mutex::new(Some(target)),
            cancel,
            forks: Mutex::default(),
            kept: Mutex::default(),
            memory_device: memory_device.unwrap_or_else(|| Arc::clone(&stream.device)),
            uses_memory: AtomicBool::new(false),
            allocations: Mutex::default(),
            orders: Mutex::default(),
            ended: AtomicBool::new(false),
        }))
    }

    /// Whether it began on that stream.
    pub fn began_on(&self, stream: &Arc<Stream<D>>) -> bool {
        Arc::ptr_eq(&self.origin, stream)
    }

    /// Whether it is over, well or not.
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Notes that a queue's stream, which the caller has locked, waits for an event of the capture, and is part of it. `beginning` is
    /// from before that wait.
    pub fn add_fork(&self, stream: &Arc<Stream<D>>, queue: &dyn Submitter<D>, beginning: Beginning<'_, D>) {
        beginning.done();
        self.forks.lock().push(Fork { stream: Arc::clone(stream), _queue: queue.to_submitter() });
    }

    /// The graph object that it is for, until somebody has taken it.
    pub fn target(&self) -> Option<Retained> {
        self.target.lock().clone()
    }

    /// Takes the graph object: events of the capture may live long.
    pub fn take_target(&self) -> Option<Retained> {
        self.target.lock().take()
    }

    /// Ends it where nobody is left to do so; what it recorded goes, and its graph object is as before.
    pub fn abandon(&self) {
        // The native library may refuse what is broken; nobody is left to tell.
        let _ = self.end().and_then(|captured| self.origin.driver.destroy_graph(captured.graph));
        if let Some(target) = self.take_target() {
            (self.cancel)(&target);
        }
    }

    /// Keeps something alive as long as the graph can be launched.
    pub fn keep(&self, what: Retained) {
        self.kept.lock().push(what);
    }

    /// Keeps memory whose contents move between devices, and which a command names as it is at `device`. A launch of the graph brings
    /// the contents to one device before its first command, so all commands have to run there.
    ///
    /// # Errors
    /// `GRAPH_CAPTURE_UNSUPPORTED` for another device, which may be of another context.
    pub fn keep_memory(&self, what: Retained, device: &Arc<DeviceState<D>>) -> Result<()> {
        if !Arc::ptr_eq(device, &self.memory_device) {
            return Err(unsupported(
                "a command on an image, or on a buffer whose bytes move, of another device than the graph uses them on",
            ));
        }
        self.uses_memory.store(true, Ordering::Release);
        self.keep(what);
        Ok(())
    }

    /// Notes memory that a command of the capture allocated from a pool.
    pub fn note_allocation(&self, address: usize, pool: u64) {
        self.allocations.lock().insert(address, pool);
    }

    /// The number of the pool of memory at that address, if a command of the capture allocated it and none has freed it.
    pub fn pool_of(&self, address: usize) -> Option<u64> {
        self.allocations.lock().get(&address).copied()
    }

    /// Notes that a command of the capture freed memory.
    pub fn note_free(&self, address: usize) {
        self.allocations.lock().remove(&address);
    }

    /// Lets `work` have the order of the queue out of order whose first stream that is, which the caller has locked.
    pub fn with_order<R>(&self, stream: &Arc<Stream<D>>, work: impl FnOnce(&mut CaptureOrder<D::GraphNode>) -> R) -> R {
        let mut orders = self.orders.lock();
        let order = orders.entry(Arc::as_ptr(stream).addr());
        let order = order.or_insert_with(|| Order { stream: Arc::clone(stream), nodes: CaptureOrder::default() });
        work(&mut order.nodes)
    }

    /// Has the first stream of a queue out of order, which the caller has locked, come after the queue's barrier for its next command.
    /// What is answered goes before the lock does.
    ///
    /// # Errors
    /// `GRAPH_CAPTURE_UNSUPPORTED` while another thread is inside of a native command's function, whose calls hold no lock; what the
    /// native library answers.
    pub fn begin_command(&self, stream: &Arc<Stream<D>>) -> Result<SetAside<D>> {
        let driver = stream.driver;
        self.with_order(stream, |order| {
            let nodes = match order.inside() {
                Inside::Nobody => None,
                Inside::This => Some(driver.capture_dependencies(&stream.native)?.1),
                Inside::Another => {
                    return Err(unsupported(
                        "a command of a queue out of order on which another thread calls a native command's function",
                    ));
                }
            };
            driver.set_capture_dependencies(&stream.native, order.barrier())?;
            Ok(SetAside { stream: Arc::clone(stream), nodes })
        })
    }

    /// Notes that this thread calls the function of a native command of a queue out of order, until what is answered goes.
    pub fn enter_function(self: &Arc<Self>, stream: &Arc<Stream<D>>) -> InFunction<D> {
        self.with_order(stream, CaptureOrder::enter);
        InFunction { capture: Arc::clone(self), stream: Arc::clone(stream) }
    }

    /// Lets streams of queues out of order stand behind all that was captured on them, and not behind the last command alone.
    ///
    /// What the capture's own stream is behind then, if a queue out of order joined: of the nodes that such a queue's stream was
    /// told to be no more behind, the native library does not ask whether they were joined.
    fn join_orders(&self) -> Option<Vec<D::GraphNode>> {
        let orders = core::mem::take(&mut *self.orders.lock());
        let mut is_forked = false;
        for Order { stream, nodes } in orders.into_values() {
            is_forked |= !self.began_on(&stream);
            // A capture that is broken says so when it ends.
            let _ = stream.driver.set_capture_dependencies(&stream.native, &nodes.last());
        }
        let behind = is_forked.then(|| self.origin.driver.capture_dependencies(&self.origin.native));
        behind?.ok().map(|(_, nodes)| nodes)
    }

    /// The graph, if everything in it comes before what the capture's own stream was behind.
    fn joined(&self, graph: D::Graph, behind: &[D::GraphNode]) -> Result<D::Graph> {
        let driver = self.origin.driver;
        let behind: HashSet<usize> = behind.iter().map(|node| node.value()).collect();
        let error = match driver.last_nodes(&graph) {
            Ok(last) if last.iter().all(|node| behind.contains(&node.value())) => return Ok(graph),
            Ok(_) => Error::new(
                ur_result_t::ERROR_GRAPH_UNJOINED_FORKS,
                "a command of a queue out of order that joined the capture was not joined: let a command of the queue on which \
                 the capture began wait for its event",
            ),
            Err(error) => error,
        };
        let _ = driver.destroy_graph(graph);
        Err(error)
    }

    /// Ends it. Its streams are as before, whatever the native library answers.
    ///
    /// # Errors
    /// `COMMAND_LIST_NOT_CAPTURING` for one that has ended; `GRAPH_UNJOINED_FORKS`, `GRAPH_CAPTURE_INVALIDATED`; what else
    /// the native library answers.
    pub fn end(&self) -> Result<Captured<D>> {
        let origin = &self.origin;
        let ended = {
            let _state = origin.lock();
            if self.ended.swap(true, Ordering::AcqRel) {
                return Err(not_capturing());
            }
            let ended = origin.device.enter().and_then(|_scope| {
                let behind = self.join_orders();
                let graph = origin.driver.end_capture(&origin.native)?;
                match behind {
                    Some(behind) => self.joined(graph, &behind),
                    None => Ok(graph),
                }
            });
            end_capturing(origin);
            ended
        };
        origin.forget_before_capture();
        origin.follow_words();
        let forks = core::mem::take(&mut *self.forks.lock());
        for Fork { stream, .. } in &forks {
            {
                // Whoever left word meanwhile and found that the stream captures has given the lock back: it is followed below.
                let _state = stream.lock();
                end_capturing(stream);
            }
            stream.forget_before_capture();
            stream.follow_words();
        }
        let kept = core::mem::take(&mut *self.kept.lock());
        let allocations = core::mem::take(&mut *self.allocations.lock());
        let allocations = allocations.into_keys().collect();
        let memory_device = self.uses_memory.load(Ordering::Acquire).then(|| Arc::clone(&self.memory_device));
        Ok(Captured { graph: ended?, kept, memory_device, allocations })
    }
}

impl<D: Driver> Stream<D> {
    /// Gives all pending events their native ones, and notes what the stream was given so far: while it captures, it cannot be
    /// asked.
    ///
    /// # Errors
    /// What the native library answers.
    pub(crate) fn prepare_capture(&self, state: &mut StreamState<D>) -> Result<()> {
        state.record_all_pending_events()?;
        let last = self.record_marker_in(state)?.map(|(_, marker)| Arc::new(marker));
        *self.before_capture.lock() = last;
        Ok(())
    }

    fn forget_before_capture(&self) {
        let last = self.before_capture.lock().take();
        drop(last);
    }

    /// Blocks until a command from before the capture has finished, unless the capture has ended.
    #[cold]
    pub(super) fn reach_before_capture(&self, position: u64) -> Result<()> {
        let last = self.before_capture.lock().clone();
        if let Some(last) = last {
            self.driver.synchronize_event(last.raw()).map_err(|error| self.device.failed(error))?;
            self.note_completed(position);
        }
        Ok(())
    }
}

/// What a stream came after when a command was enqueued inside of a native command's function, and does again once this goes.
pub struct SetAside<D: Driver> {
    stream: Arc<Stream<D>>,
    nodes: Option<Vec<D::GraphNode>>,
}

impl<D: Driver> SetAside<D> {
    /// Nothing.
    pub fn nothing(stream: &Arc<Stream<D>>) -> Self {
        Self { stream: Arc::clone(stream), nodes: None }
    }

    /// The function's own work.
    pub fn nodes(&self) -> &[D::GraphNode] {
        self.nodes.as_deref().unwrap_or_default()
    }
}

impl<D: Driver> Drop for SetAside<D> {
    fn drop(&mut self) {
        if let Some(nodes) = &self.nodes {
            // A capture that is broken says so when it ends.
            let _ = self.stream.driver.set_capture_dependencies(&self.stream.native, nodes);
        }
    }
}

/// A native command's function, as long as it is called.
pub struct InFunction<D: Driver> {
    capture: Arc<Capture<D>>,
    stream: Arc<Stream<D>>,
}

impl<D: Driver> Drop for InFunction<D> {
    fn drop(&mut self) {
        // The capture may have ended inside, and its orders with it.
        let mut orders = self.capture.orders.lock();
        let order = orders.get_mut(&Arc::as_ptr(&self.stream).addr());
        order.into_iter().for_each(|order| order.nodes.leave());
    }
}

/// A stream that captures soon. It says so, and counts among those whose capture a synchronisation of their whole device would break,
/// before the native library begins, so that nobody who finds none breaks it, and no more if it comes to nothing. What others want to
/// know of its events they find recorded, since that comes next.
pub struct Beginning<'s, D: Driver> {
    stream: &'s Stream<D>,
    is_done: bool,
}

impl<'s, D: Driver> Beginning<'s, D> {
    /// Counts the stream, which the caller has locked.
    pub(crate) fn on(stream: &'s Stream<D>) -> Self {
        stream.device.native.captures.fetch_add(1, Ordering::SeqCst);
        stream.set_capturing(true);
        Self { stream, is_done: false }
    }

    /// The stream captures now.
    fn done(mut self) {
        self.is_done = true;
    }
}

impl<D: Driver> Drop for Beginning<'_, D> {
    fn drop(&mut self) {
        if !self.is_done {
            end_capturing(self.stream);
        }
    }
}

/// Notes that a stream captures no more.
fn end_capturing<D: Driver>(stream: &Stream<D>) {
    stream.device.native.captures.fetch_sub(1, Ordering::SeqCst);
    stream.set_capturing(false);
}

/// What the end of a capture answers where there is none.
#[cold]
#[must_use]
pub fn not_capturing() -> Error {
    Error::new(
        ur_result_t::ERROR_COMMAND_LIST_NOT_CAPTURING,
        "the queue does not capture into a graph; begin with urQueueBeginGraphCaptureExp",
    )
}
