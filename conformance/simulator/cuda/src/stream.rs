//! Streams: first in, first out, each with a thread of its own once there is something to wait for.
//!
//! A command that takes no time (a record, a wait for what is done, an allocation) runs at once when the stream is
//! idle; everything else is queued and run by the stream's thread, which starts with the first such command. The
//! legacy default stream and the blocking streams of a context wait for each other. Lock order: an event's
//! `latest`, then one stream's `state`; never two streams' states.

use crate::channel::{self, Channel, Ticket};
use crate::clock::{self, Clock, Point};
use crate::command::Command;
use crate::context::{self, Context};
use crate::device;
use crate::event::Completion;
use crate::graph::capture;
use crate::handles::{self, Registry};
use crate::memory::{Allocation, Kind};
use crate::reports;
use crate::sys::*;
use crate::waiting;
use core::cell::RefCell;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

/// All streams that clients made.
pub static STREAMS: Registry<Stream> = Registry::new(handles::Kind::Stream);
static IDS: AtomicU64 = AtomicU64::new(1);
static THREADS: AtomicU64 = AtomicU64::new(0);
static IN_FLIGHT: Mutex<Vec<Weak<AtomicU64>>> = Mutex::new(Vec::new());
static HELD: AtomicBool = AtomicBool::new(false);
static HOLD: Mutex<()> = Mutex::new(());
static RELEASED: Condvar = Condvar::new();

/// How a stream stands to the legacy default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Is it.
    Legacy,
    /// Waits for it and is waited for.
    Blocking,
    /// Has nothing to do with it.
    NonBlocking,
}

/// A command's place on its stream.
pub struct Place {
    completed: Arc<AtomicU64>,
    seq: u64,
}

impl Place {
    /// Whether the stream has come past it.
    pub fn is_done(&self) -> bool {
        self.completed.load(Ordering::Acquire) >= self.seq
    }
}

/// One stream.
pub struct Stream {
    /// Its number in the process.
    pub id: u64,
    /// Its handle.
    pub handle: Handle,
    /// Its context.
    pub context: Arc<Context>,
    /// How it stands to the legacy stream.
    pub sort: Sort,
    /// Its priority.
    pub priority: i32,
    /// Its part in a capture.
    pub capture: Mutex<Option<capture::Part>>,
    state: Mutex<State>,
    work: Condvar,
    done: Condvar,
    submitted: AtomicU64,
    completed: Arc<AtomicU64>,
    /// Places that are taken of those for work of the device: what was submitted of it and has not ended.
    occupied: AtomicU64,
    /// Commands of which nobody can see what they wait for, and that have not ended.
    unseen: AtomicU64,
    /// What had ended at this tick is ordered before what the stream does next.
    floor: AtomicU64,
    /// Tick of the oldest command not yet done; `u64::MAX` if there is none.
    oldest: Arc<AtomicU64>,
    /// The hardware channel of its device that it shares with other streams, where there are few.
    channel: Option<Arc<Channel>>,
}

struct Item {
    point: Point,
    /// Its place in the channel.
    ticket: Option<Ticket>,
    command: Command,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Item>,
    clock: Arc<Clock>,
    running: bool,
    started: bool,
    idle: bool,
    closing: bool,
}

/// Another stream's command that must be done first.
struct Dependency {
    stream: Arc<Stream>,
    seq: u64,
    known: Arc<Clock>,
}

/// A thread's own default streams, by context; their threads end with it.
struct PerThread(Vec<(u64, Arc<Stream>)>);

impl Drop for PerThread {
    fn drop(&mut self) {
        for (_, stream) in &self.0 {
            stream.close();
        }
    }
}

thread_local! {
    static PER_THREAD: RefCell<PerThread> = const { RefCell::new(PerThread(Vec::new())) };
}

impl Stream {
    /// Makes a client's stream.
    pub fn create(context: Arc<Context>, sort: Sort, priority: i32) -> Handle {
        let owner = context.clone();
        let (handle, stream) = STREAMS.insert_with(|handle| Self::new(handle, context, sort, priority));
        owner.adopt(&stream);
        handle
    }

    /// Makes a default stream.
    pub fn implicit(context: Arc<Context>, sort: Sort) -> Arc<Stream> {
        let handle = if sort == Sort::Legacy { CU_STREAM_LEGACY } else { CU_STREAM_PER_THREAD };
        Arc::new(Self::new(handle, context, sort, 0))
    }

    fn new(handle: Handle, context: Arc<Context>, sort: Sort, priority: i32) -> Self {
        let oldest = Arc::new(AtomicU64::new(u64::MAX));
        let mut in_flight = IN_FLIGHT.lock();
        in_flight.retain(|known| known.strong_count() > 0);
        in_flight.push(Arc::downgrade(&oldest));
        let id = IDS.fetch_add(1, Ordering::Relaxed);
        clock::stream_begins(id, context.device.lost_flag());
        let channel = channel::of(context.device.ordinal, id);
        Self {
            id,
            handle,
            context,
            sort,
            priority,
            capture: Mutex::new(None),
            state: Mutex::default(),
            work: Condvar::new(),
            done: Condvar::new(),
            submitted: AtomicU64::new(0),
            completed: Arc::default(),
            occupied: AtomicU64::new(0),
            unseen: AtomicU64::new(0),
            floor: AtomicU64::new(0),
            oldest,
            channel,
        }
    }

    /// Where the next command would stand.
    pub fn next_point(self: &Arc<Self>) -> Point {
        let dependencies = self.implicit_dependencies();
        let mut point = self.point(&self.state.lock());
        for Dependency { stream, seq, known } in dependencies {
            let clock = Arc::make_mut(&mut point.clock);
            clock.merge(&known);
            clock.advance(stream.id, seq);
        }
        point
    }

    fn point(&self, state: &State) -> Point {
        let seq = self.submitted.load(Ordering::Relaxed) + 1;
        Point::now(self.id, seq, state.clock.clone(), self.floor(), self.has_unseen())
    }

    /// Whether what it will do next may wait for something that nobody can see.
    pub fn has_unseen(&self) -> bool {
        self.unseen.load(Ordering::Acquire) > 0
    }

    /// See [`Point::floor`].
    pub fn floor(&self) -> u64 {
        self.floor.load(Ordering::Acquire)
    }

    /// Learns that what had ended at a tick is ordered before what it does next.
    pub fn raise_floor(&self, floor: u64) {
        self.floor.fetch_max(floor, Ordering::AcqRel);
    }

    /// The host knows that the stream got as far as `seq`.
    fn tell_host(&self, seq: u64) {
        clock::host_learns(&self.known_at(seq), self.floor());
    }

    /// All that is done once command `seq` is.
    fn known_at(&self, seq: u64) -> Clock {
        let mut known = Clock::clone(&self.state.lock().clock);
        known.advance(self.id, seq);
        known
    }

    /// The host learns what was ordered before a command that it sees running.
    pub fn tell_host_before(&self, point: &Point) {
        let mut known = Clock::clone(&point.clock);
        known.advance(self.id, point.seq - 1);
        clock::host_learns(&known, self.floor());
    }

    /// Submits a command that is told where it stands. Answers its number in the stream.
    pub fn submit(self: &Arc<Self>, make: impl FnOnce(&Point) -> Command) -> u64 {
        let dependencies = self.implicit_dependencies();
        let mut state = self.state.lock();
        for Dependency { stream, seq, known } in dependencies {
            self.learn(&mut state, &known, stream.id, seq);
            if stream.completed.load(Ordering::Acquire) < seq {
                let point = self.point(&state);
                self.enqueue(&mut state, point, Command::WaitStream(stream, seq));
            }
        }
        let point = self.point(&state);
        let (seq, command) = (point.seq, make(&point));
        self.enqueue(&mut state, point, command);
        seq
    }

    /// Waits until the stream has so many places for a command that takes some, and takes them.
    pub fn take_places(&self, places: u64) {
        let has_room =
            |occupied| (occupied + places <= waiting::LAUNCH_QUEUE || is_held()).then_some(occupied + places);
        let takes = || self.occupied.fetch_update(Ordering::AcqRel, Ordering::Acquire, has_room).is_ok();
        if !takes() {
            waiting::note();
            waiting::inside(&self.context, || {
                let mut state = self.state.lock();
                while !takes() {
                    self.done.wait(&mut state);
                }
            });
        }
    }

    /// Gives back what was taken for a command that is not submitted.
    pub fn give_places(&self, places: u64) {
        self.occupied.fetch_sub(places, Ordering::AcqRel);
    }

    /// Submits a command that takes places ([`Command::places`]) once the stream has them.
    pub fn submit_to_device(self: &Arc<Self>, command: Command) {
        self.take_places(command.places());
        self.submit(|_| command);
    }

    /// Submits a wait for one record of an event.
    pub fn submit_wait(self: &Arc<Self>, completion: Arc<Completion>) {
        {
            let mut state = self.state.lock();
            Arc::make_mut(&mut state.clock).merge(&completion.known);
        }
        self.submit(|_| Command::WaitEvent(completion));
    }

    /// Submits a wait for another stream's command, of which the order is then known.
    pub fn submit_wait_for(self: &Arc<Self>, other: &Arc<Stream>) {
        let (seq, known) = other.progress();
        if other.id == self.id || seq == 0 {
            return;
        }
        self.learn(&mut self.state.lock(), &known, other.id, seq);
        let other = other.clone();
        self.submit(|_| Command::WaitStream(other, seq));
    }

    /// Submits a wait for one command of another stream.
    pub fn submit_wait_for_command(self: &Arc<Self>, other: &Arc<Stream>, seq: u64) {
        if other.id == self.id {
            return;
        }
        self.learn(&mut self.state.lock(), &other.known_at(seq), other.id, seq);
        if other.completed.load(Ordering::Acquire) < seq {
            let other = other.clone();
            self.submit(|_| Command::WaitStream(other, seq));
        }
    }

    /// Its commands from now on are ordered after a record of an event, for which one of them waits.
    pub fn learn_of(&self, completion: &Completion) {
        Arc::make_mut(&mut self.state.lock().clock).merge(&completion.known);
    }

    fn learn(&self, state: &mut MutexGuard<'_, State>, known: &Clock, stream: u64, seq: u64) {
        if state.clock.get(stream) < seq {
            let clock = Arc::make_mut(&mut state.clock);
            clock.merge(known);
            clock.advance(stream, seq);
        }
    }

    fn progress(&self) -> (u64, Arc<Clock>) {
        let state = self.state.lock();
        (self.submitted.load(Ordering::Relaxed), state.clock.clone())
    }

    fn implicit_dependencies(self: &Arc<Self>) -> Vec<Dependency> {
        let others = match self.sort {
            Sort::NonBlocking => return Vec::new(),
            Sort::Blocking => self.context.legacy_if_used().into_iter().collect(),
            Sort::Legacy => self.context.streams(),
        };
        let blocking = others.into_iter().filter(|other| other.sort != Sort::NonBlocking);
        blocking
            .filter(|other| other.submitted.load(Ordering::Acquire) > 0)
            .map(|stream| {
                let (seq, known) = stream.progress();
                Dependency { stream, seq, known }
            })
            .collect()
    }

    fn enqueue(self: &Arc<Self>, state: &mut MutexGuard<'_, State>, point: Point, command: Command) {
        let seq = point.seq;
        self.submitted.store(seq, Ordering::Release);
        let idle = state.queue.is_empty() && !state.running;
        let may_be_now = !HELD.load(Ordering::Acquire) && delays().is_none();
        if idle && command.is_instant() && may_be_now && self.channel.as_ref().is_none_or(|channel| channel.is_clear())
        {
            command.run(self, &point);
            self.completed.store(seq, Ordering::Release);
            return;
        }
        // Records are no work of the channel's: of two streams in one channel the later one's events were reached first.
        let channel = self.channel.as_ref().filter(|_| !matches!(command, Command::Record(_)));
        let item = Item { point, ticket: channel.map(|channel| channel.take_ticket()), command };
        self.unseen.fetch_add(item.command.waits_unseen().into(), Ordering::AcqRel);
        if idle {
            self.oldest.store(item.point.tick, Ordering::Release);
        }
        state.queue.push_back(item);
        if !state.started {
            state.started = self.start();
        } else if state.idle {
            self.work.notify_one();
        }
    }

    fn start(self: &Arc<Self>) -> bool {
        THREADS.fetch_add(1, Ordering::Relaxed);
        let stream = self.clone();
        let name = format!("simcuda-{}", self.id);
        std::thread::Builder::new().name(name).spawn(move || stream.work_off()).is_ok()
    }

    fn work_off(self: Arc<Self>) {
        let mut random = delays().map(|delay| (delay.seed ^ self.id.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, delay));
        let mut state = self.state.lock();
        loop {
            let Some(mut item) = state.queue.pop_front() else {
                if state.closing {
                    state.started = false;
                    return;
                }
                let last = self.submitted.load(Ordering::Acquire);
                drop(state);
                let woken = soon(|| self.submitted.load(Ordering::Acquire) != last);
                state = self.state.lock();
                if !woken && state.queue.is_empty() && !state.closing {
                    state.idle = true;
                    self.work.wait(&mut state);
                    state.idle = false;
                }
                continue;
            };
            state.running = true;
            let seq = item.point.seq;
            drop(state);
            pass_gate();
            if let Some((seed, delay)) = &mut random {
                std::thread::sleep(Duration::from_micros(next_random(seed) % (delay.max_micros + 1)));
            }
            let (places, unseen) = (item.command.places(), item.command.waits_unseen());
            item.point.floor = item.point.floor.max(self.floor());
            item.point.unseen = false;
            let ticket = item.ticket.take().map(|ticket| ticket.wait_for_turn(item.command.holds_channel()));
            self.run(item);
            drop(ticket);
            state = self.state.lock();
            state.running = false;
            if unseen {
                self.raise_floor(clock::tick());
                self.unseen.fetch_sub(1, Ordering::AcqRel);
            }
            self.give_places(places);
            let oldest = state.queue.front().map_or(u64::MAX, |next| next.point.tick);
            self.oldest.store(oldest, Ordering::Release);
            self.completed.store(seq, Ordering::Release);
            self.done.notify_all();
        }
    }

    /// Runs one command. A defect of this library must not leave its clients waiting for ever.
    fn run(self: &Arc<Self>, item: Item) {
        let run = AssertUnwindSafe(|| item.command.run(self, &item.point));
        if catch_unwind(run).is_err() {
            reports::add(reports::Kind::Internal, "a command panicked");
            self.context.fail(CUDA_ERROR_UNKNOWN);
        }
    }

    /// Counts a command as done while it still runs, for whoever learns of its end before its thread does.
    pub fn count_done(&self, seq: u64) {
        self.completed.store(seq, Ordering::Release);
    }

    /// The place of a command of that number.
    pub fn place(&self, seq: u64) -> Place {
        Place { completed: self.completed.clone(), seq }
    }

    /// Whether all submitted work is done, without the host learning it.
    fn is_idle(&self) -> bool {
        self.completed.load(Ordering::Acquire) >= self.submitted.load(Ordering::Acquire)
    }

    /// Asks as the API does whether all submitted work is done, with the legacy rules.
    pub fn query(self: &Arc<Self>) -> bool {
        let others = if self.sort == Sort::Legacy { self.implicit_dependencies() } else { Vec::new() };
        let submitted = self.submitted.load(Ordering::Acquire);
        let done = |stream: &Stream, seq| stream.completed.load(Ordering::Acquire) >= seq;
        if !done(self, submitted) || !others.iter().all(|other| done(&other.stream, other.seq)) {
            return false;
        }
        for (stream, seq) in others.iter().map(|other| (&*other.stream, other.seq)).chain([(&**self, submitted)]) {
            clock::host_learns(&stream.known_at(seq), stream.floor());
        }
        true
    }

    /// Whether work submitted now would have to wait for nothing.
    pub fn is_free(self: &Arc<Self>) -> bool {
        self.is_idle() && self.implicit_dependencies().iter().all(|other| other.stream.is_idle())
    }

    /// Blocks the host until all work submitted by now is done.
    pub fn wait_submitted(&self) {
        let submitted = self.submitted.load(Ordering::Acquire);
        self.wait_for(submitted);
        self.tell_host(submitted);
    }

    /// Blocks until command `seq` is done.
    pub fn wait_for(&self, seq: u64) {
        let is_done = || self.completed.load(Ordering::Acquire) >= seq;
        if is_done() {
            return;
        }
        waiting::note();
        if soon(is_done) {
            return;
        }
        let mut state = self.state.lock();
        while self.completed.load(Ordering::Acquire) < seq {
            self.done.wait(&mut state);
        }
    }

    /// Synchronises as the API does, with the legacy rules and the context's failure.
    pub fn synchronize(self: &Arc<Self>) -> Result {
        for other in self.implicit_dependencies().iter().filter(|_| self.sort == Sort::Legacy) {
            other.stream.wait_for(other.seq);
            other.stream.tell_host(other.seq);
        }
        self.wait_submitted();
        self.context.failure().map_or(Ok(()), Err)
    }

    /// Lets the thread end once all work is done. The handle must be gone already.
    pub fn close(&self) {
        STREAMS.remove(self.handle);
        capture::stream_ends(self);
        self.state.lock().closing = true;
        self.work.notify_all();
    }

    /// What its kernels may touch.
    pub fn reach(&self) -> Reach {
        reach_of(&self.context)
    }
}

/// What a context's kernels may touch.
pub fn reach_of(context: &Arc<Context>) -> Reach {
    Reach { device: context.device.ordinal, context: context.clone() }
}

impl Drop for Stream {
    fn drop(&mut self) {
        clock::stream_ends(self.id);
    }
}

/// The device and context that a kernel runs in, as far as memory is concerned.
pub struct Reach {
    /// Device it runs on.
    pub device: usize,
    context: Arc<Context>,
}

impl Reach {
    /// Whether it may touch the allocation.
    pub fn includes(&self, allocation: &Allocation) -> bool {
        match (allocation.kind, allocation.device) {
            (Kind::Pool, None) => allocation.pool.as_ref().is_some_and(|pool| pool.accessible(self.device)),
            (_, None) | (Kind::Managed, _) => true,
            (Kind::Mapped, _) => crate::vmm::accessible(allocation.base, self.device),
            (_, Some(device)) if device == self.device => true,
            (Kind::Pool, _) => allocation.pool.as_ref().is_some_and(|pool| pool.accessible(self.device)),
            (_, Some(device)) => self.context.reaches(device),
        }
    }
}

/// Resolves a stream handle of the API, default streams included, to a usable stream.
pub fn resolve(handle: Handle) -> Result<Arc<Stream>> {
    let stream = find(handle)?;
    stream.context.usable()?;
    Ok(stream)
}

/// Resolves a stream handle without asking whether its context still works.
pub fn find(handle: Handle) -> Result<Arc<Stream>> {
    match handle {
        0 | CU_STREAM_LEGACY => {
            let context = context::current()?;
            capture::refuse_legacy(&context)?;
            Ok(context.legacy())
        }
        CU_STREAM_PER_THREAD => per_thread(context::current()?),
        _ => STREAMS.lookup(handle, CUDA_ERROR_INVALID_HANDLE),
    }
}

fn per_thread(context: Arc<Context>) -> Result<Arc<Stream>> {
    let find = |own: &RefCell<PerThread>| {
        let streams = &mut own.borrow_mut().0;
        if let Some((_, stream)) = streams.iter().find(|(id, _)| *id == context.id) {
            return stream.clone();
        }
        let stream = Stream::implicit(context.clone(), Sort::Blocking);
        context.adopt(&stream);
        streams.push((context.id, stream.clone()));
        stream
    };
    PER_THREAD.try_with(find).map_err(|_| CUDA_ERROR_DEINITIALIZED)
}

/// Tick of the oldest command that any stream still has to do.
pub fn oldest_in_flight() -> u64 {
    let in_flight = IN_FLIGHT.lock();
    in_flight.iter().filter_map(Weak::upgrade).map(|oldest| oldest.load(Ordering::Acquire)).min().unwrap_or(u64::MAX)
}

/// Threads started so far.
pub fn threads_started() -> u64 {
    THREADS.load(Ordering::Relaxed)
}

/// Stops all streams before their next command.
pub fn hold() {
    HELD.store(true, Ordering::Release);
}

/// Whether all streams stop before their next command.
pub fn is_held() -> bool {
    HELD.load(Ordering::Acquire)
}

/// Lets them go on.
pub fn release() {
    let _hold = HOLD.lock();
    HELD.store(false, Ordering::Release);
    RELEASED.notify_all();
}

fn pass_gate() {
    if HELD.load(Ordering::Acquire) {
        let mut hold = HOLD.lock();
        while HELD.load(Ordering::Acquire) {
            RELEASED.wait(&mut hold);
        }
    }
}

/// Looks for a moment whether something happens: putting a thread to sleep and waking it costs far more than most
/// commands, and a client that submits and waits in turn would pay that twice each time.
fn soon(happens: impl Fn() -> bool) -> bool {
    const LOOKS: usize = 64;
    (0..LOOKS).any(|_| {
        let happened = happens();
        if !happened {
            std::thread::yield_now();
        }
        happened
    })
}

fn delays() -> Option<crate::config::Delay> {
    device::config().and_then(|config| config.delay)
}

/// Marsaglia's xorshift.
pub fn next_random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}
