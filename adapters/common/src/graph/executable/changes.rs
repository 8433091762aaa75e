//! What is known of a finalised graph beside its native form, and what of that the native library was not told yet.
//!
//! A change alters what is here and notes what it is about ([`Changes::note_launch_change`], [`Changes::note_event_change`]).
//! Whoever has the native graph tells all of it ([`Changes::tell_nodes`], [`Changes::tell_memory`]). What was refused stays pending.

use std::sync::Arc;

use crate::device::event_pool::PooledEvent;
use crate::driver::Driver;
use crate::graph::events::EventNode;
use crate::graph::executable::launch::ChangeableLaunch;
use crate::graph::executable::retired::RetiredEvents;
use crate::graph::executable::snapshot::Snapshot;
use crate::graph::executable::{Leftovers, Native};
use crate::graph::memory_uses::{MemoryUses, Used};
use crate::graph::named_event::Name;
use crate::object::error::Result;
use crate::sync::mutation;
use crate::sync::unlikely::unlikely;

/// What a change is about.
#[derive(Clone, Copy)]
enum Pending {
    /// A launch, by its index.
    Launch(u32),
    /// An event's node, by its index.
    Event(u32),
}

/// The most bytes of a [`SavedValue`].
pub const SAVED_BYTES: usize = 8;

/// The bytes that a change replaced of a value of the launch of that index.
pub struct SavedValue {
    /// The launch.
    pub launch: u32,
    /// Where they lie among the bytes of the launch's values.
    pub at: u32,
    /// How many they are.
    pub size: u32,
    /// They themselves.
    pub bytes: [u8; SAVED_BYTES],
}

/// What can be changed, and what has.
pub struct Changes<D: Driver> {
    /// Launches.
    pub launches: Vec<ChangeableLaunch<D>>,
    pub(super) events: Vec<EventNode<D>>,
    /// What all commands together do with buffers and images.
    pub memory: MemoryUses<D>,
    /// Whether that has changed.
    pub memory_has_changed: bool,
    /// Whether launches were not told so yet.
    memory_is_pending: bool,
    /// Where a change saves values that it replaces: empty between changes, so that only the largest allocates.
    pub room_for_values: Vec<SavedValue>,
    pending: Vec<Pending>,
    retired: RetiredEvents<D>,
    leftovers: Leftovers<D>,
    /// All of this for launches that were deferred since the last change.
    pub(super) snapshot: Option<Arc<Snapshot<D>>>,
}

impl<D: Driver> Default for Changes<D> {
    fn default() -> Self {
        Self::new(Vec::new(), Vec::new(), MemoryUses::default())
    }
}

impl<D: Driver> Changes<D> {
    /// Of a graph that was just instantiated.
    pub fn new(launches: Vec<ChangeableLaunch<D>>, events: Vec<EventNode<D>>, memory: MemoryUses<D>) -> Self {
        Self {
            launches,
            events,
            memory,
            memory_has_changed: false,
            memory_is_pending: false,
            room_for_values: Vec::new(),
            pending: Vec::new(),
            retired: RetiredEvents::default(),
            leftovers: Leftovers::default(),
            snapshot: None,
        }
    }

    /// Notes that something is about to change: launches that are deferred from now on are others.
    #[inline]
    pub fn begin(&mut self) {
        if unlikely!(self.snapshot.is_some()) {
            self.leftovers.snapshots.extend(self.snapshot.take());
        }
    }

    /// Whether a launch has something to do for this.
    pub(super) fn has_news(&self) -> bool {
        !self.pending.is_empty() || self.memory_is_pending || !self.retired.is_empty()
    }

    /// How much is pending; what is noted from here on can be forgotten again.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Forgets what was noted since, for a change that was not made.
    pub fn forget_pending_since(&mut self, count: usize) {
        for pending in self.pending.drain(count..) {
            match pending {
                Pending::Launch(index) => self.launches[index as usize].is_pending = false,
                Pending::Event(index) => self.events[index as usize].is_pending = false,
            }
        }
    }

    /// Notes that a launch is another one now.
    #[inline]
    pub fn note_launch_change(&mut self, index: u32) {
        let launch = &mut self.launches[index as usize];
        if !launch.is_pending {
            launch.is_pending = true;
            self.pending.push(Pending::Launch(index));
        }
    }

    /// Makes a node name another event from the next launch on; gives the one before.
    pub fn set_event(&mut self, index: u32, event: Name<D>) -> Name<D> {
        let node = &mut self.events[index as usize];
        if !node.is_pending {
            node.is_pending = true;
            self.pending.push(Pending::Event(index));
        }
        node.exchange(event)
    }

    /// Notes that what commands do with buffers and images has changed.
    pub fn note_memory_change(&mut self) {
        (self.memory_has_changed, self.memory_is_pending) = (true, true);
    }

    /// Tells the native library what nodes are now. All stays pending if it refuses one.
    #[inline]
    pub(super) fn tell_nodes(
        &mut self,
        driver: &D,
        exec: &D::GraphExec,
        context: &D::Context,
        launches: u64,
    ) -> Result<()> {
        self.retired.let_go(driver, &mut self.leftovers.events);
        for at in 0..self.pending.len() {
            match self.pending[at] {
                Pending::Launch(index) => {
                    let node = self.node_of(at, index);
                    self.launches[index as usize].tell(driver, exec, node, context)?;
                }
                Pending::Event(index) => {
                    let Some(old) = self.events[index as usize].tell(driver, exec, launches)? else { continue };
                    if old.is_used { self.retired.add(old.event) } else { self.leftovers.events.push(old.event) }
                }
            }
        }
        self.forget_pending_since(0);
        Ok(())
    }

    /// The node of the launch that is pending at that place.
    #[inline]
    fn node_of(&self, at: usize, index: u32) -> D::GraphNode {
        let mut of = index;
        if mutation::is(mutation::Bug::GraphWrongNode)
            && let Pending::Launch(other) = self.pending[(at + 1) % self.pending.len()]
        {
            of = other;
        }
        self.launches[of as usize].node()
    }

    /// Tells the next launch what it does with buffers and images, which is what a snapshot says; later ones are told anew.
    pub(super) fn lend_memory(&mut self, native: &mut Native<D>, uses: &mut Box<[Used<D>]>) {
        self.leftovers.uses.push(native.exchange_uses(core::mem::take(uses)));
        self.memory_is_pending = true;
    }

    /// Tells later launches what they do with buffers and images.
    #[inline]
    pub(super) fn tell_memory(&mut self, native: &mut Native<D>) {
        if core::mem::take(&mut self.memory_is_pending) {
            self.leftovers.uses.push(native.exchange_uses(self.memory.list()));
        }
    }

    /// Whether the next launch has to be followed by a native event ([`Changes::note_launch`]).
    pub(super) fn want_marker(&self) -> bool {
        self.retired.want_marker()
    }

    /// Takes the native event behind the launch. Nothing was told to the native library in between.
    pub(super) fn note_launch(&mut self, marker: PooledEvent<D>) {
        self.retired.mark(marker);
    }

    /// Keeps what a launch was given until no lock is held.
    pub(super) fn keep(&mut self, given: Snapshot<D>) {
        self.leftovers.given.push(given);
    }

    /// What is known now, for launches that are deferred.
    pub fn snapshot(&mut self) -> Arc<Snapshot<D>> {
        if let Some(snapshot) = &self.snapshot {
            return Arc::clone(snapshot);
        }
        let launches = self.launches.iter().map(|launch| (launch.recorded.clone(), launch.form.clone())).collect();
        let events = self.events.iter().map(|node| node.event()).collect();
        let snapshot = Arc::new(Snapshot { launches, events, uses: self.memory.list() });
        self.snapshot = Some(Arc::clone(&snapshot));
        snapshot
    }

    /// Whether nothing has changed since that snapshot was made.
    pub(super) fn are_as(&self, snapshot: &Arc<Snapshot<D>>) -> bool {
        self.snapshot.as_ref().is_some_and(|current| Arc::ptr_eq(current, snapshot))
    }

    /// Exchanges what launches and events' nodes are known to be with other states of them, all of which the native library has
    /// to be told.
    pub(super) fn exchange(&mut self, snapshot: &mut Snapshot<D>) {
        for (index, (recorded, form)) in snapshot.launches.iter_mut().enumerate() {
            core::mem::swap(&mut self.launches[index].recorded, recorded);
            core::mem::swap(&mut self.launches[index].form, form);
            // Not more than nodes of a graph.
            self.note_launch_change(index as u32);
        }
        for (index, event) in snapshot.events.iter_mut().enumerate() {
            *event = self.set_event(index as u32, Arc::clone(event));
        }
    }

    /// What can be dropped once no lock is held.
    pub fn take_leftovers(&mut self) -> Leftovers<D> {
        core::mem::take(&mut self.leftovers)
    }
}
