//! What every append function is given by its caller: a command buffer, what the command comes after, and where its sync
//! point, its event and its handle go.

use core::ops::Range;
use std::collections::HashMap;
use std::sync::Arc;

use ur_ffi::{ur_event_handle_t, ur_exp_command_buffer_command_handle_t, ur_exp_command_buffer_sync_point_t};

use crate::command::Command;
use crate::command::graph::GraphBuilder;
use crate::driver::Driver;
use crate::graph::command::{BufferCommand, Kind};
use crate::graph::command_buffer::{CommandBuffer, Recording};
use crate::graph::events::{CommandEvents, EventNode};
use crate::graph::executable::launch::ChangeableLaunch;
use crate::graph::memory_uses::{MemoryUses, Used};
use crate::graph::named_event::Name;
use crate::graph::recorded_kernel::RecordedKernel;
use crate::graph::recording::dependencies::SyncPoints;
use crate::kernel::Kernel;
use crate::kernel::fast::Launch;
use crate::memory_object::Mem;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::Out;
use crate::stream::event::WaitList;
use crate::sync::biased_lock::Holding;
use crate::sync::unlikely::unlikely;
use crate::usm::graph_writes;

/// What of a command is known outside of its buffer.
struct Outside<'a, D: Driver> {
    waits: WaitList<'a, D>,
    event: Option<Out<'a, ur_event_handle_t>>,
    command: Option<Out<'a, ur_exp_command_buffer_command_handle_t>>,
}

impl<D: Driver> Outside<'_, D> {
    #[inline(always)]
    fn is_nothing(&self) -> bool {
        self.waits.is_empty() && self.event.is_none() && self.command.is_none()
    }
}

/// Buffer, what the command comes after in it and outside, and where its sync point, event and handle go.
pub(super) type Parts<'a, D> = (
    &'a Object<CommandBuffer<D>>,
    SyncPoints<'a>,
    WaitList<'a, D>,
    Option<Out<'a, ur_exp_command_buffer_sync_point_t>>,
    Option<Out<'a, ur_event_handle_t>>,
    Option<Out<'a, ur_exp_command_buffer_command_handle_t>>,
);

/// What every append function is given.
pub struct Append<'a, D: Driver> {
    /// The buffer.
    pub buffer: &'a Object<CommandBuffer<D>>,
    after: SyncPoints<'a>,
    sync_point: Option<Out<'a, ur_exp_command_buffer_sync_point_t>>,
    outside: Outside<'a, D>,
}

impl<'a, D: Driver> Append<'a, D> {
    /// The parameters that append functions share.
    #[inline(always)]
    pub fn new(
        buffer: &'a Object<CommandBuffer<D>>,
        after: SyncPoints<'a>,
        waits: WaitList<'a, D>,
        sync_point: Option<Out<'a, ur_exp_command_buffer_sync_point_t>>,
        event: Option<Out<'a, ur_event_handle_t>>,
        command: Option<Out<'a, ur_exp_command_buffer_command_handle_t>>,
    ) -> Self {
        Self { buffer, after, sync_point, outside: Outside { waits, event, command } }
    }

    /// Whether the caller wants to change the command later.
    pub fn wants_command(&self) -> bool {
        self.outside.command.is_some()
    }

    /// Refuses what could not be appended, before anything is done for it.
    ///
    /// # Errors
    /// `INVALID_OPERATION` for a buffer that is finalised; as [`crate::graph::recording::dependencies::Dependencies::read`].
    pub fn check(&self) -> Result<()> {
        self.buffer.record()?.dependencies.read(self.after).map(drop)
    }

    /// Appends a command that stays as it is.
    ///
    /// # Errors
    /// As [`Append::record_as`] and the command's [`Command::add_to`].
    pub fn record<C: Command<D>>(self, command: C) -> Result<()> {
        self.record_as(|graph, _| command.add_to(graph).map(|()| Kind::Fixed))
    }

    /// Notes that the command writes these bytes, which may be the application's own.
    pub fn note_write(&self, range: Range<usize>) {
        graph_writes::note_unless_known(&self.buffer.context, self.buffer.state().driver, range);
    }

    /// The parameters that it was made of, to be handed on one by one: what is handed on by its address has been written to the
    /// stack by every append, those too that hand on nothing.
    #[inline(always)]
    pub(super) fn into_parts(self) -> Parts<'a, D> {
        let Self { buffer, after, sync_point, outside: Outside { waits, event, command } } = self;
        (buffer, after, waits, sync_point, event, command)
    }

    /// Whether nothing of the command is known outside of its buffer.
    #[inline(always)]
    pub(super) fn stays_inside(&self) -> bool {
        self.outside.is_nothing()
    }

    /// Keeps a plain launch that stays as it is and [inside](Self::stays_inside), where that takes nothing but writing it down
    /// ([`crate::graph::recording::launch_batch`]). Else it answers `false`, and nothing has been done.
    ///
    /// # Errors
    /// As [`Append::check`].
    #[inline(always)]
    pub(super) fn keep_launch(&self, kernel: &Object<Kernel<D>>, launch: &Launch<'_, D>) -> Result<bool> {
        let mut recording = self.buffer.recorded();
        self.buffer.check_takes_commands(&recording)?;
        let Recording { batch, dependencies, retained, .. } = &mut *recording;
        if !batch.keep(dependencies, self.after, launch)? {
            return Ok(false);
        }
        let point = dependencies.add_without_node();
        retained.keep_kernel(kernel);
        if let Some(out) = &self.sync_point {
            out.set(point);
        }
        // As its end would, in the place of the call. Nobody leaves word for a recording.
        recording.unlock();
        Ok(true)
    }

    /// Appends a plain launch that stays as it is and [inside](Self::stays_inside). Most have their nodes later, many at once;
    /// then the kernel is all that is kept.
    ///
    /// # Errors
    /// As [`Append::record_as`].
    pub(super) fn record_launch(self, kernel: &Object<Kernel<D>>, launch: &Launch<'_, D>) -> Result<()> {
        let mut recording = self.buffer.record()?;
        let Recording { graph, batch, dependencies, retained } = &mut *recording;
        let state = self.buffer.state();
        let point = if batch.make_room_and_keep(state, graph.raw(), dependencies, self.after, launch)? {
            dependencies.add_without_node()
        } else {
            // One node, so there is nothing to join or to take out again.
            let node = launch.node().add_behind(state, graph.raw(), dependencies.read_nodes(self.after)?)?;
            dependencies.add(node)
        };
        retained.keep_kernel(kernel);
        tell(self.sync_point, point);
        Ok(())
    }

    /// Appends what `add` adds to the graph, and notes what is retained for it.
    ///
    /// # Errors
    /// `INVALID_OPERATION` for a buffer that is finalised; what the native library answers, to launches before this command that
    /// had no node yet too; as `add`. Then nothing was appended.
    #[inline]
    pub fn record_as(self, add: impl FnOnce(&mut GraphBuilder<'_, D>, &mut Retained<D>) -> Result<Kind>) -> Result<()> {
        self.record_or_undo(add, |_| ())
    }

    /// As [`Append::record_as`]; if nothing was appended, `undo` takes back what `add` has noted, in the same lock.
    ///
    /// # Errors
    /// As [`Append::record_as`].
    #[inline]
    pub(super) fn record_or_undo(
        self,
        add: impl FnOnce(&mut GraphBuilder<'_, D>, &mut Retained<D>) -> Result<Kind>,
        undo: impl FnOnce(&mut Retained<D>),
    ) -> Result<()> {
        let mut recording = self.buffer.record()?;
        let Recording { graph, batch, dependencies, retained } = &mut *recording;
        batch.end_run(self.buffer.state(), graph.raw(), dependencies)?;
        let mut graph = GraphBuilder::new(self.buffer.state(), graph, dependencies.read_nodes(self.after)?);
        let (launches, had_switched_off) = (retained.launches.len(), retained.has_switched_off);
        let node = if unlikely!(!self.outside.is_nothing()) {
            record_with_names(self.buffer, graph, retained, self.outside, add)
        } else {
            add(&mut graph, retained).and_then(|_| graph.finish())
        };
        let node = match node {
            Ok(node) => node,
            Err(error) => {
                // What the native graph does not have is no launch of the buffer's, and uses no memory.
                retained.launches.truncate(launches);
                retained.has_switched_off = had_switched_off;
                retained.new_uses.clear();
                undo(retained);
                return Err(error);
            }
        };
        retained.accept_uses();
        tell(self.sync_point, dependencies.add(node));
        Ok(())
    }
}

#[inline(always)]
fn tell(out: Option<Out<'_, ur_exp_command_buffer_sync_point_t>>, point: ur_exp_command_buffer_sync_point_t) {
    if let Some(out) = out {
        out.write(point);
    }
}

/// Adds a command that has events outside of the buffer or a handle. Gives the node that it ends with.
#[inline(never)]
fn record_with_names<D: Driver>(
    buffer: &Object<CommandBuffer<D>>,
    mut graph: GraphBuilder<'_, D>,
    retained: &mut Retained<D>,
    outside: Outside<'_, D>,
    add: impl FnOnce(&mut GraphBuilder<'_, D>, &mut Retained<D>) -> Result<Kind>,
) -> Result<D::GraphNode> {
    let mut events = CommandEvents::default();
    let append = || -> Result<_> {
        events.wait_first(&mut graph, &outside.waits)?;
        let kind = add(&mut graph, retained)?;
        let signal = if outside.event.is_some() { Some(events.signal_last(&mut graph, buffer)?) } else { None };
        Ok((kind, signal, graph.finish()?))
    };
    let (kind, signal, node) = append()?;
    if let (Some(out), Some(event)) = (outside.event, signal) {
        retained.signals_events = true;
        out.write_object(event);
    }
    events.keep_in(retained);
    if let Some(out) = outside.command {
        let command = Object::new(BufferCommand {
            buffer: Arc::downgrade(&buffer.to_arc()),
            kind,
            events: events.name_in(retained),
        });
        out.write(command.handle());
        retained.commands.push(command);
    }
    Ok(node)
}

/// What was known of an allocation: nothing, or whether a command frees it.
pub(super) struct AllocationBefore {
    address: usize,
    is_freed: Option<bool>,
}

/// What a buffer keeps for its commands.
pub struct Retained<D: Driver> {
    /// Commands that can be changed.
    pub commands: Vec<Arc<Object<BufferCommand<D>>>>,
    /// Their launches, until the buffer is finalised.
    pub launches: Vec<ChangeableLaunch<D>>,
    /// Nodes of their events, until the buffer is finalised.
    pub event_nodes: Vec<EventNode<D>>,
    /// What all commands do with buffers and images, until the buffer is finalised.
    pub uses: MemoryUses<D>,
    /// What the command that is being appended does with them, until it is in the graph.
    pub new_uses: Vec<Used<D>>,
    /// Whether there is a launch that has nothing to do yet.
    pub has_switched_off: bool,
    /// Whether commands signal events, those of nested buffers too.
    pub signals_events: bool,
    /// Addresses of memory that the commands allocate, and whether one of them frees it again.
    pub allocations: HashMap<usize, bool>,
    /// Kernels of launches that stay as they are.
    kernels: Vec<Arc<Object<Kernel<D>>>>,
    /// Memory objects of those.
    memory: Vec<Arc<Object<Mem<D>>>>,
    /// Events that the recorded graph names.
    pub events: Vec<Name<D>>,
}

impl<D: Driver> Default for Retained<D> {
    fn default() -> Self {
        Self {
            commands: Vec::new(),
            launches: Vec::new(),
            event_nodes: Vec::new(),
            uses: MemoryUses::default(),
            new_uses: Vec::new(),
            has_switched_off: false,
            signals_events: false,
            allocations: HashMap::new(),
            kernels: Vec::new(),
            memory: Vec::new(),
            events: Vec::new(),
        }
    }
}

impl<D: Driver> Retained<D> {
    /// Keeps a kernel. Launches of one kernel after another keep it once.
    #[inline(always)]
    pub fn keep_kernel(&mut self, kernel: &Object<Kernel<D>>) {
        if !self.kernels.last().is_some_and(|last| core::ptr::eq(Arc::as_ptr(last), kernel)) {
            self.kernels.push(kernel.to_arc());
        }
    }

    /// Keeps what a launch that stays as it is needs.
    pub fn keep_launch(&mut self, launch: RecordedKernel<D>) {
        self.keep_kernel(&launch.kernel);
        self.memory.extend(launch.arguments.into_memory());
    }

    /// Notes what the command that is in the graph now does with memory.
    #[inline]
    fn accept_uses(&mut self) {
        if unlikely!(!self.new_uses.is_empty()) {
            self.new_uses.drain(..).for_each(|used| self.uses.add(used));
        }
    }

    /// Checks that a copy of the graph can become part of another one.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` for launches that are switched off, and for allocations, with which native graphs can be no part
    /// of another one.
    pub fn check_nesting(&self) -> Result<()> {
        if self.has_switched_off {
            return Err(Error::unsupported("a nested command buffer with an updatable launch over no work-items"));
        }
        if !self.allocations.is_empty() {
            return Err(Error::unsupported(
                "nesting a command buffer that allocates memory (allocate in the outer one)",
            ));
        }
        Ok(())
    }

    /// Keeps what the commands of another buffer need, a copy of which becomes part of this one. Not the buffer itself: two
    /// buffers may be put into each other.
    pub fn keep_all_of(&mut self, other: &Self) {
        self.commands.extend_from_slice(&other.commands);
        self.kernels.extend_from_slice(&other.kernels);
        self.memory.extend_from_slice(&other.memory);
        self.events.extend_from_slice(&other.events);
        self.signals_events |= other.signals_events;
        self.keep_recorded(&other.launches, &other.uses);
    }

    /// As [`Retained::keep_all_of`], of what was put together for the purpose.
    pub fn take_all_of(&mut self, other: Self) {
        self.commands.extend(other.commands);
        self.kernels.extend(other.kernels);
        self.memory.extend(other.memory);
        self.events.extend(other.events);
        self.signals_events |= other.signals_events;
        self.new_uses.extend(other.new_uses);
    }

    /// Keeps what launches of another buffer were recorded with, and does with memory what it does.
    pub fn keep_recorded(&mut self, launches: &[ChangeableLaunch<D>], uses: &MemoryUses<D>) {
        for launch in launches {
            self.keep_kernel(&launch.first);
            self.memory.extend(launch.recorded.memory().cloned());
        }
        self.new_uses.extend(uses.iter().cloned());
    }

    /// Notes whether the memory at an address is freed by a command too. Gives the account before.
    pub(super) fn note_allocation(&mut self, address: usize, is_freed: bool) -> AllocationBefore {
        AllocationBefore { address, is_freed: self.allocations.insert(address, is_freed) }
    }

    /// Makes an account what it was before.
    pub(super) fn put_back(&mut self, before: AllocationBefore) {
        match before.is_freed {
            Some(is_freed) => self.allocations.insert(before.address, is_freed),
            None => self.allocations.remove(&before.address),
        };
    }

    /// Memory that a launch allocates and does not free.
    pub fn left_allocated(&self) -> Vec<usize> {
        self.allocations.iter().filter(|(_, is_freed)| !**is_freed).map(|(address, _)| *address).collect()
    }

    /// Whether a node that names an event which can be signalled again is none of those that can be changed.
    pub fn follows_signals_for_good(&self, changeable: &[EventNode<D>]) -> bool {
        let changeable = changeable.iter().filter(|node| node.event().can_be_signalled_again()).count();
        // Those of nested buffers are among them, and of each that can be changed the one that it was recorded with.
        self.events.iter().filter(|event| event.can_be_signalled_again()).count() > changeable
    }

    /// Keeps a memory object.
    pub fn keep_memory(&mut self, memory: &Object<Mem<D>>) {
        self.memory.push(memory.to_arc());
    }
}
