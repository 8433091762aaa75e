//! What can be launched of a graph that is finalised, and changed for later launches.
//!
//! The native library wants one thread at a time in an executable graph. A launch locks it and holds the lock over its native
//! call, which can wait (a full stream, a copy to the heap). **Nobody waits for that lock with another one held.** A launch that
//! finds it taken gives its stream back, waits a moment, and is kept for a worker where the moment was not enough. A change alters
//! what is known of the graph ([`Changes`]), and tells the native library if no launch is on its way; else the next launch does
//! that first, and answers what the native library then refuses. So neither waits for the device, in a host task either.
//!
//! Lock order: a stream, the native graph, then bytes of buffers or the changes. A launch only tries the native graph's behind a
//! stream's, and a change behind its own. Must not drop under these locks what a launch or a change replaced ([`Leftovers`]),
//! since memory and queues may end with it.

pub mod changes;
pub mod launch;
mod retired;
pub mod snapshot;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;
use ur_ffi::ur_result_t;

use crate::buffer::moving::location_of;
use crate::buffer::pending_uses::CommandStream;
use crate::buffer::storage::{BufferAccess, LockedBuffers};
use crate::context::DeviceState;
use crate::device::event_pool::PooledEvent;
use crate::driver::{Driver, NativeName};
use crate::graph::executable::changes::Changes;
use crate::graph::executable::snapshot::Snapshot;
use crate::graph::memory_uses::Used;
use crate::graph::named_event::Name;
use crate::graph::native::graph::Allocations;
use crate::image::argument::ImageArguments;
use crate::object::Object;
use crate::object::error::Result;
use crate::queue::Queue;
use crate::stream::Stream;
use crate::sync::unlikely::unlikely;

/// How long a launch waits for another thread's before it is kept: many times what the native call takes for a few nodes, and not
/// long for whoever must not wait.
const MOMENT: Duration = Duration::from_millis(1);

/// What was replaced, to be dropped without a lock.
pub struct Leftovers<D: Driver> {
    /// Events that no launch uses any more.
    events: Vec<Name<D>>,
    /// What launches did with buffers and images.
    uses: Vec<Box<[Used<D>]>>,
    /// What launches were deferred with.
    snapshots: Vec<Arc<Snapshot<D>>>,
    /// What such a launch was given.
    given: Vec<Snapshot<D>>,
}

impl<D: Driver> Default for Leftovers<D> {
    fn default() -> Self {
        Self { events: Vec::new(), uses: Vec::new(), snapshots: Vec::new(), given: Vec::new() }
    }
}

/// The native executable graph, and what a launch needs beside it.
pub struct Native<D: Driver> {
    driver: &'static D,
    /// There until it is dropped.
    exec: Option<D::GraphExec>,
    /// What the commands do with buffers and images.
    uses: Box<[Used<D>]>,
    /// Memory that each launch allocates and leaves to the application to free.
    allocations: Vec<Arc<Allocations<D>>>,
    /// Whether a launch is one native call: there are no such uses and allocations.
    is_plain: bool,
    /// How many launches there were.
    launches: u64,
}

impl<D: Driver> Native<D> {
    fn exec(&self) -> Result<&D::GraphExec> {
        self.exec.as_ref().ok_or_else(|| ur_result_t::ERROR_INVALID_COMMAND_BUFFER_EXP.into())
    }

    /// Notes other uses for later launches; gives those of the launches before.
    fn exchange_uses(&mut self, uses: Box<[Used<D>]>) -> Box<[Used<D>]> {
        self.is_plain = uses.is_empty() && self.allocations.is_empty();
        core::mem::replace(&mut self.uses, uses)
    }

    #[inline(always)]
    fn launch(&mut self, queue: &Object<Queue<D>>, place: Place<'_, D>) -> Result<()> {
        self.launches += 1;
        if unlikely!(!self.is_plain) {
            return self.launch_over_memory(queue, place);
        }
        self.driver.launch_graph(self.exec()?, &place.0.native)
    }

    /// Commands work with buffers and images, or allocate: contents are brought to the device first, and what the commands write
    /// is current nowhere else afterwards. The addresses and objects are those that the nodes name, so the memory is there.
    #[inline(never)]
    fn launch_over_memory(&self, queue: &Object<Queue<D>>, place: Place<'_, D>) -> Result<()> {
        let stream = &place.0.native;
        let accesses = self.uses.iter().filter_map(|used| match used {
            Used::Bytes { storage, access } => Some(BufferAccess::on_device(storage, access.clone())),
            Used::Image { .. } => None,
        });
        let accesses: SmallVec<[_; 8]> = accesses.collect();
        let mut images = ImageArguments::new(queue);
        for used in self.uses.iter().filter_map(Used::image) {
            let (image, is_written) = used?;
            images.add(image, is_written)?;
        }
        let location = location_of(&queue.context, &queue.device.device)?;
        let target = CommandStream::new(&queue.device, stream, Some(queue), location);
        let locked = LockedBuffers::open(target, place, &accesses);
        (0..accesses.len()).try_for_each(|index| locked.prepare(index).map(drop))?;
        images.make_current(stream)?;
        self.driver.launch_graph(self.exec()?, stream)?;
        self.allocations.iter().for_each(|allocations| allocations.note_launch());
        images.note_writes();
        locked.commit_all()
    }
}

/// Where a launch goes: its stream, and its position there.
type Place<'s, D> = (&'s Arc<Stream<D>>, u64);

/// What can be launched.
pub struct Executable<D: Driver> {
    /// Handle value of the native executable graph.
    handle: usize,
    native: Mutex<Native<D>>,
    /// Whether the next launch has something to do for the changes.
    has_news: AtomicBool,
    /// Whether a launch has left something to be dropped.
    has_leftovers: AtomicBool,
    changes: Mutex<Changes<D>>,
    /// Whether its commands signal events.
    signals_events: bool,
    /// Whether commands that stay as they are wait for events that can be signalled again.
    follows_signals: bool,
}

impl<D: Driver> Executable<D> {
    /// Owns what the native library instantiated.
    pub fn new(driver: &'static D, exec: D::GraphExec) -> Self {
        let handle = exec.value();
        let native = Native {
            driver,
            exec: Some(exec),
            uses: Box::default(),
            allocations: Vec::new(),
            is_plain: true,
            launches: 0,
        };
        Self {
            handle,
            native: Mutex::new(native),
            has_news: AtomicBool::new(false),
            has_leftovers: AtomicBool::new(false),
            changes: Mutex::new(Changes::default()),
            signals_events: false,
            follows_signals: false,
        }
    }

    /// Notes whether its commands signal events: a launch that is kept would not be what those stand for.
    pub fn set_signals_events(&mut self, signals_events: bool) {
        self.signals_events = signals_events;
    }

    /// Whether its commands signal events.
    pub fn signals_events(&self) -> bool {
        self.signals_events
    }

    /// Notes whether commands that stay as they are wait for events that can be signalled again.
    pub fn set_follows_signals(&mut self, follows_signals: bool) {
        self.follows_signals = follows_signals;
    }

    /// Whether commands that stay as they are wait for events that can be signalled again: a launch waits for the signal that is
    /// the last one at its native call, and one that is kept comes to that later than it was enqueued.
    pub fn follows_signals(&self) -> bool {
        self.follows_signals
    }

    /// Makes it one that nobody has launched yet changeable. Launches that have nothing to do are switched off.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn switch_off(&mut self, launches: &[launch::ChangeableLaunch<D>]) -> Result<()> {
        let native = self.native.get_mut();
        let exec = native.exec()?;
        launches.iter().try_for_each(|launch| launch.switch_off(native.driver, exec))
    }

    /// Gives it what can be changed, and what its commands do with buffers and images.
    pub fn set_changes(&mut self, changes: Changes<D>) {
        let native = self.native.get_mut();
        native.exchange_uses(changes.memory.list());
        *self.changes.get_mut() = changes;
    }

    /// Lets launches note the memory that they allocate.
    pub fn set_allocations(&mut self, allocations: Vec<Arc<Allocations<D>>>) {
        let native = self.native.get_mut();
        native.is_plain &= allocations.is_empty();
        native.allocations = allocations;
    }

    /// Forgets the memory that launches allocate, before the native library may give its addresses out again: called before
    /// [`Executable::end`], by who still has the context.
    pub fn forget_allocations(&mut self) {
        self.native.get_mut().allocations.clear();
    }

    /// Ends the native executable graph; nobody uses it any more.
    pub fn end(&mut self) {
        let native = self.native.get_mut();
        if let Some(exec) = native.exec.take() {
            // Nobody is left to tell.
            let _ = native.driver.destroy_exec(exec);
        }
    }

    /// Handle value of the native executable graph.
    pub fn handle(&self) -> usize {
        self.handle
    }

    /// The native graph for a launch, whose stream the caller has locked; `None` while another thread launches.
    #[inline(always)]
    pub fn try_native(&self) -> Option<MutexGuard<'_, Native<D>>> {
        self.native.try_lock()
    }

    /// Blocks until no launch is on its way. The caller holds no lock.
    pub fn wait_until_free(&self) {
        drop(self.native.lock());
    }

    /// As [`Executable::wait_until_free`] for a moment; whether that was enough.
    pub fn is_free_soon(&self) -> bool {
        self.native.try_lock_for(MOMENT).is_some()
    }

    /// Launches on a stream of the queue, whose lock the caller has.
    ///
    /// # Errors
    /// What the native library answers, to changes that it was not told before too.
    #[inline(always)]
    pub fn launch(
        &self,
        mut native: MutexGuard<'_, Native<D>>,
        queue: &Object<Queue<D>>,
        place: Place<'_, D>,
    ) -> Result<()> {
        if unlikely!(self.has_news.load(Ordering::Acquire)) {
            return self.launch_with(self.changes(), &mut native, queue, place);
        }
        native.launch(queue, place)
    }

    /// A launch with what the changes are now; they go on meanwhile.
    #[cold]
    #[inline(never)]
    fn launch_with(
        &self,
        mut changes: MutexGuard<'_, Changes<D>>,
        native: &mut Native<D>,
        queue: &Object<Queue<D>>,
        place: Place<'_, D>,
    ) -> Result<()> {
        let told = tell(&mut changes, native, &queue.device);
        self.has_news.store(changes.has_news(), Ordering::Release);
        self.has_leftovers.store(true, Ordering::Release);
        let wants_marker = changes.want_marker();
        drop(changes);
        told?;
        native.launch(queue, place)?;
        self.mark_launch(wants_marker, queue, place);
        Ok(())
    }

    /// Records a native event behind a launch, if it wants one. The caller has the native graph, so nothing was told since it asked;
    /// the changes go on meanwhile, since to make an event and to record it can wait for other threads' native calls.
    fn mark_launch(&self, wants_marker: bool, queue: &Object<Queue<D>>, place: Place<'_, D>) {
        // Without a native event the next launch is asked for one.
        if wants_marker && let Ok(marker) = PooledEvent::record(&queue.device, &place.0.native, false) {
            self.changes().note_launch(marker);
        }
    }

    /// As [`Executable::launch`] of the graph as it was when the launch was deferred.
    ///
    /// # Errors
    /// As [`Executable::launch`].
    pub fn launch_as(
        &self,
        mut native: MutexGuard<'_, Native<D>>,
        snapshot: &Arc<Snapshot<D>>,
        queue: &Object<Queue<D>>,
        place: Place<'_, D>,
    ) -> Result<()> {
        let wants_marker = {
            let mut changes = self.changes();
            if changes.are_as(snapshot) {
                // Not unlocked in between: a change that comes now is not for this launch.
                return self.launch_with(changes, &mut native, queue, place);
            }
            let mut given = Snapshot::clone(snapshot);
            changes.exchange(&mut given);
            let told = tell_nodes(&mut changes, &native, &queue.device);
            changes.exchange(&mut given);
            changes.lend_memory(&mut native, &mut given.uses);
            changes.keep(given);
            self.has_news.store(true, Ordering::Release);
            self.has_leftovers.store(true, Ordering::Release);
            told?;
            changes.want_marker()
        };
        native.launch(queue, place)?;
        self.mark_launch(wants_marker, queue, place);
        Ok(())
    }

    /// Drops what launches have replaced. The caller holds no lock.
    #[inline]
    pub fn drop_leftovers(&self) {
        if unlikely!(self.has_leftovers.load(Ordering::Acquire)) {
            self.has_leftovers.store(false, Ordering::Release);
            let leftovers = self.changes().take_leftovers();
            drop(leftovers);
        }
    }

    /// What can be changed, for one change at a time.
    pub fn changes(&self) -> MutexGuard<'_, Changes<D>> {
        self.changes.lock()
    }

    /// Tells the native library what has changed, unless a launch is on its way. If it refuses, `undo` puts back what was.
    ///
    /// # Errors
    /// What the native library answers; it was then told what was before, or the next launch tells it.
    pub fn tell(
        &self,
        changes: &mut Changes<D>,
        state: &DeviceState<D>,
        undo: impl FnOnce(&mut Changes<D>),
    ) -> Result<()> {
        let told = match self.native.try_lock() {
            None => Ok(()),
            Some(mut native) => tell(changes, &mut native, state).inspect_err(|_| {
                undo(changes);
                // The failure that led here is the one to tell of.
                let _ = tell(changes, &mut native, state);
            }),
        };
        self.has_news.store(changes.has_news(), Ordering::Release);
        told
    }
}

/// Tells all that is pending. Kernels are changed with the device's context current.
fn tell<D: Driver>(changes: &mut Changes<D>, native: &mut Native<D>, state: &DeviceState<D>) -> Result<()> {
    tell_nodes(changes, native, state)?;
    changes.tell_memory(native);
    Ok(())
}

fn tell_nodes<D: Driver>(changes: &mut Changes<D>, native: &Native<D>, state: &DeviceState<D>) -> Result<()> {
    let _scope = state.enter()?;
    changes.tell_nodes(native.driver, native.exec()?, &state.primary_context, native.launches)
}

impl<D: Driver> Drop for Executable<D> {
    fn drop(&mut self) {
        self.end();
    }
}
