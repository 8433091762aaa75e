//! Stream capture: what streams are given becomes nodes of a graph instead of running.
//!
//! A capture begins on one stream, its origin; other streams join it by waiting for an event that was recorded in it, and
//! must be joined back before it ends. Each stream in it has a tail: the nodes that its next one waits for. A call that a
//! capture cannot bear invalidates it, and ending it then tells. Lock order: one stream's `capture`, then a graph; never
//! two streams' at a time.

use super::Graph;
use super::node::Work;
use crate::context::Context;
use crate::event::Event;
use crate::stream::{Sort, Stream};
use crate::sys::*;
use core::cell::Cell;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::thread::ThreadId;

static IDS: AtomicU64 = AtomicU64::new(1);
/// Captures that have begun and not ended; spares all other calls the locks.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);
static CAPTURES: Mutex<Vec<Arc<Capture>>> = Mutex::new(Vec::new());

/// Which threads' unsafe calls a capture forbids, and which captures a thread's unsafe calls heed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All threads'; any thread's.
    Global,
    /// Those of the thread that began it; the thread's own.
    ThreadLocal,
    /// Nobody's; none.
    Relaxed,
}

impl Mode {
    /// The mode of a number.
    pub fn of(number: i32) -> Result<Mode> {
        match number {
            0 => Ok(Mode::Global),
            1 => Ok(Mode::ThreadLocal),
            2 => Ok(Mode::Relaxed),
            _ => Err(CUDA_ERROR_INVALID_VALUE),
        }
    }
}

thread_local! {
    static MODE: Cell<Mode> = const { Cell::new(Mode::Global) };
}

/// Replaces the thread's mode.
pub fn exchange_mode(mode: Mode) -> Mode {
    MODE.replace(mode)
}

/// One capture.
pub struct Capture {
    /// Its number in the process.
    pub id: u64,
    /// What it records into.
    pub graph: Arc<Graph>,
    mode: Mode,
    thread: ThreadId,
    /// Number of the stream it began on.
    origin: u64,
    invalidated: AtomicBool,
    streams: Mutex<Vec<Weak<Stream>>>,
    /// Tails of streams that were destroyed.
    lost: Mutex<Vec<Handle>>,
    /// Nodes that a call has set a tail to, or has taken out of one: they need not be joined.
    excused: Mutex<HashSet<Handle>>,
}

/// A stream's part in a capture.
pub struct Part {
    /// The capture.
    pub capture: Arc<Capture>,
    /// What the stream's next node waits for.
    pub tail: Vec<Handle>,
}

/// What an event stands for that was recorded in a capture.
#[derive(Clone)]
pub struct Captured {
    capture: Arc<Capture>,
    nodes: Vec<Handle>,
}

impl Captured {
    /// Whether its capture has not ended.
    pub fn is_active(&self) -> bool {
        CAPTURES.lock().iter().any(|known| known.id == self.capture.id)
    }

    /// Breaks its capture.
    pub fn invalidate(&self) {
        self.capture.invalidate();
    }
}

impl Capture {
    fn invalidate(&self) {
        self.invalidated.store(true, Ordering::Release);
    }

    /// Whether something broke it.
    pub fn is_invalidated(&self) -> bool {
        self.invalidated.load(Ordering::Acquire)
    }

    fn join(self: &Arc<Self>, stream: &Arc<Stream>, tail: Vec<Handle>) {
        self.streams.lock().push(Arc::downgrade(stream));
        *stream.capture.lock() = Some(Part { capture: self.clone(), tail });
    }
}

/// Whether there is any capture.
pub fn any() -> bool {
    ACTIVE.load(Ordering::Acquire) > 0
}

/// Whether a capture records into a graph.
pub fn is_recorded(graph: &Graph) -> bool {
    any() && CAPTURES.lock().iter().any(|capture| capture.graph.handle == graph.handle)
}

/// Begins a capture into a new graph, or behind nodes of a given one.
pub fn begin(stream: &Arc<Stream>, mode: Mode, given: Option<(Arc<Graph>, Vec<Handle>)>) -> Result {
    if stream.sort == Sort::Legacy {
        return Err(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    if stream.capture.lock().is_some() {
        return Err(CUDA_ERROR_ILLEGAL_STATE);
    }
    let (graph, tail) = match given {
        None => (Graph::create(), Vec::new()),
        Some((graph, _)) if is_recorded(&graph) => return Err(CUDA_ERROR_ILLEGAL_STATE),
        Some((graph, tail)) => {
            for &node in &tail {
                graph.work(node)?;
            }
            (graph, tail)
        }
    };
    let capture = Arc::new(Capture {
        id: IDS.fetch_add(1, Ordering::Relaxed),
        graph,
        mode,
        thread: std::thread::current().id(),
        origin: stream.id,
        invalidated: AtomicBool::new(false),
        streams: Mutex::default(),
        lost: Mutex::default(),
        excused: Mutex::default(),
    });
    CAPTURES.lock().push(capture.clone());
    ACTIVE.fetch_add(1, Ordering::AcqRel);
    capture.join(stream, tail);
    Ok(())
}

/// Ends the capture that began on a stream. A graph comes of it unless something broke it.
pub fn end(stream: &Arc<Stream>) -> Result<Handle> {
    let Some((capture, tail)) = stream.capture.lock().as_ref().map(|part| (part.capture.clone(), part.tail.clone()))
    else {
        return Err(CUDA_ERROR_ILLEGAL_STATE);
    };
    if capture.origin != stream.id {
        capture.invalidate();
        return Err(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    }
    let streams: Vec<_> = capture.streams.lock().iter().filter_map(Weak::upgrade).collect();
    let mut left = core::mem::take(&mut *capture.lost.lock());
    for member in &streams {
        if let Some(part) = member.capture.lock().take_if(|part| part.capture.id == capture.id)
            && member.id != stream.id
        {
            left.extend(part.tail);
        }
    }
    forget(&capture);
    let excused = capture.excused.lock();
    left.retain(|node| !excused.contains(node));
    drop(excused);
    let result = if capture.mode != Mode::Relaxed && capture.thread != std::thread::current().id() {
        Err(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
    } else if capture.is_invalidated() {
        Err(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
    } else if !reaches_all(&capture.graph, tail, &left) {
        Err(CUDA_ERROR_STREAM_CAPTURE_UNJOINED)
    } else {
        Ok(capture.graph.handle)
    };
    if result.is_err() {
        capture.graph.destroy();
    }
    result
}

fn forget(capture: &Capture) {
    let mut captures = CAPTURES.lock();
    let before = captures.len();
    captures.retain(|known| known.id != capture.id);
    ACTIVE.fetch_sub(before - captures.len(), Ordering::AcqRel);
}

/// Whether all of `left` are among `tail` or before it.
fn reaches_all(graph: &Graph, tail: Vec<Handle>, left: &[Handle]) -> bool {
    if left.iter().all(|node| tail.contains(node)) {
        return true;
    }
    let mut seen: HashSet<Handle> = tail.iter().copied().collect();
    let mut open = tail;
    while let Some(node) = open.pop() {
        let before = graph.neighbours(node, false).unwrap_or_default();
        open.extend(before.into_iter().filter(|&node| seen.insert(node)));
    }
    left.iter().all(|node| seen.contains(node))
}

/// A stream is destroyed: what began on it is over, and what it did in another's capture stays unjoined.
pub fn stream_ends(stream: &Stream) {
    if let Some(part) = stream.capture.lock().take() {
        if part.capture.origin != stream.id {
            part.capture.lost.lock().extend(part.tail);
        } else {
            forget(&part.capture);
            let streams: Vec<_> = part.capture.streams.lock().iter().filter_map(Weak::upgrade).collect();
            for other in streams.iter().filter(|other| other.id != stream.id) {
                *other.capture.lock() = None;
            }
            part.capture.graph.destroy();
        }
    }
}

/// The graph that a stream records into, if it does; an invalidated capture takes nothing.
pub fn graph_of(stream: &Stream) -> Result<Option<Arc<Graph>>> {
    if !any() {
        return Ok(None);
    }
    match &*stream.capture.lock() {
        None => Ok(None),
        Some(part) if part.capture.is_invalidated() => Err(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED),
        Some(part) => Ok(Some(part.capture.graph.clone())),
    }
}

/// Records a node behind what the stream has. False if the stream does not record.
pub fn record(stream: &Stream, make: impl FnOnce() -> Result<Work>) -> Result<bool> {
    let Some(graph) = graph_of(stream)? else { return Ok(false) };
    let work = make().inspect_err(|_| invalidate(stream))?;
    append(stream, &graph, work)?;
    Ok(true)
}

/// Records a node that may be refused without breaking the capture.
pub fn record_quietly(stream: &Stream, work: Work) -> Result {
    match graph_of(stream)? {
        Some(graph) => append(stream, &graph, work),
        None => Ok(()),
    }
}

fn append(stream: &Stream, graph: &Graph, work: Work) -> Result {
    if let Some(part) = &mut *stream.capture.lock() {
        let node = graph.add(&part.tail, work)?;
        part.tail = vec![node];
    }
    Ok(())
}

/// Records an event in a capture: later waits for it join the capture. False if the stream does not record.
pub fn record_event(event: &Event, stream: &Stream) -> Result<bool> {
    if graph_of(stream)?.is_none() {
        return Ok(false);
    }
    let part = stream.capture.lock();
    let captured = part.as_ref().map(|part| Captured { capture: part.capture.clone(), nodes: part.tail.clone() });
    event.set_captured(captured);
    Ok(true)
}

/// Makes a stream wait for an event, where either has to do with a capture. False if neither has.
pub fn wait_event(event: &Event, stream: &Arc<Stream>) -> Result<bool> {
    let captured = event.captured();
    let own = graph_of(stream)?;
    let Some(captured) = captured else {
        if own.is_none() {
            return Ok(false);
        }
        invalidate(stream);
        return Err(CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    };
    if !captured.is_active() {
        return Err(CUDA_ERROR_INVALID_VALUE);
    }
    if captured.capture.is_invalidated() {
        return Err(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
    if stream.sort == Sort::Legacy {
        captured.invalidate();
        return Err(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    }
    if own.is_none() {
        captured.capture.join(stream, captured.nodes);
        return Ok(true);
    }
    let mut part = stream.capture.lock();
    let Some(part) = &mut *part else { return Ok(false) };
    if part.capture.id != captured.capture.id {
        part.capture.invalidate();
        captured.invalidate();
        return Err(CUDA_ERROR_STREAM_CAPTURE_MERGE);
    }
    let new: Vec<_> = captured.nodes.iter().copied().filter(|node| !part.tail.contains(node)).collect();
    part.tail.extend(new);
    Ok(true)
}

/// Breaks the capture that a stream is in.
pub fn invalidate(stream: &Stream) {
    if let Some(part) = &*stream.capture.lock() {
        part.capture.invalidate();
    }
}

/// Fails, and breaks the capture, where a stream that records is asked for what cannot be recorded.
pub fn refuse_on(stream: &Stream) -> Result {
    if graph_of(stream)?.is_some() {
        invalidate(stream);
        return Err(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    Ok(())
}

/// Fails, and breaks the captures, where the legacy stream would have to wait for a stream that records.
pub fn refuse_legacy(context: &Context) -> Result {
    if !any() {
        return Ok(());
    }
    let mut refused = Ok(());
    for stream in context.streams().iter().filter(|stream| stream.sort == Sort::Blocking) {
        if stream.capture.lock().is_some() {
            invalidate(stream);
            refused = Err(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        }
    }
    refused
}

/// Fails, and breaks the captures, where a context is to be waited for of which a stream records.
pub fn refuse_synchronize(context: &Context) -> Result {
    if !any() {
        return Ok(());
    }
    let mut refused = Ok(());
    for stream in context.streams().iter().filter(|stream| stream.capture.lock().is_some()) {
        invalidate(stream);
        refused = Err(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    refused
}

/// Fails, and breaks captures, where the thread must not make unsafe calls.
pub fn refuse_unsafe() -> Result {
    if !any() {
        return Ok(());
    }
    let own = std::thread::current().id();
    let thread = MODE.get();
    let forbids = |capture: &Capture| match (thread, capture.mode) {
        (Mode::Relaxed, _) | (_, Mode::Relaxed) => false,
        (Mode::Global, Mode::Global) => true,
        _ => capture.thread == own,
    };
    let captures = CAPTURES.lock();
    let mut refused = Ok(());
    for capture in captures.iter().filter(|capture| forbids(capture)) {
        capture.invalidate();
        refused = Err(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    refused
}

/// What is known of a stream's capture: its status, and number, graph and tail.
pub fn info(stream: &Stream) -> Option<(i32, u64, Handle, Vec<Handle>)> {
    let part = stream.capture.lock();
    let part = part.as_ref()?;
    let status = if part.capture.is_invalidated() { 2 } else { 1 };
    Some((status, part.capture.id, part.capture.graph.handle, part.tail.clone()))
}

/// Replaces a stream's tail, or adds to it.
pub fn set_tail(stream: &Stream, nodes: &[Handle], replaces: bool) -> Result {
    let Some(graph) = graph_of(stream)? else { return Err(CUDA_ERROR_ILLEGAL_STATE) };
    for &node in nodes {
        graph.work(node)?;
    }
    let mut part = stream.capture.lock();
    let Some(part) = &mut *part else { return Err(CUDA_ERROR_ILLEGAL_STATE) };
    if replaces {
        part.capture.excused.lock().extend(part.tail.drain(..).chain(nodes.iter().copied()));
    }
    let new: Vec<_> = nodes.iter().copied().filter(|node| !part.tail.contains(node)).collect();
    part.tail.extend(new);
    Ok(())
}
