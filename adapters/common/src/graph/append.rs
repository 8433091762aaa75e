//! What every append function is given by its caller: a command buffer, what the command comes after, and where its sync
//! point, its event and its handle go.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use ur_ffi::{ur_event_handle_t, ur_exp_command_buffer_command_handle_t, ur_exp_command_buffer_sync_point_t};

use crate::command::Command;
use crate::command::graph::GraphBuilder;
use crate::driver::Driver;
use crate::graph::command::{BufferCommand, Kind};
use crate::graph::command_buffer::{CommandBuffer, Recording};
use crate::graph::dependencies::SyncPoints;
use crate::graph::events::CommandEvents;
use crate::graph::recorded_kernel::RecordedKernel;
use crate::kernel::Kernel;
use crate::memory_object::Mem;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::Out;
use crate::stream::event::{Event, WaitList};
use crate::sync::unlikely::unlikely;

/// What every append function is given.
pub struct Append<'a, D: Driver> {
    /// The buffer.
    pub buffer: &'a Object<CommandBuffer<D>>,
    after: SyncPoints<'a>,
    waits: WaitList<'a, D>,
    sync_point: Option<Out<'a, ur_exp_command_buffer_sync_point_t>>,
    event: Option<Out<'a, ur_event_handle_t>>,
    command: Option<Out<'a, ur_exp_command_buffer_command_handle_t>>,
}

impl<'a, D: Driver> Append<'a, D> {
    /// The parameters that append functions share.
    #[inline]
    pub fn new(
        buffer: &'a Object<CommandBuffer<D>>,
        after: SyncPoints<'a>,
        waits: WaitList<'a, D>,
        sync_point: Option<Out<'a, ur_exp_command_buffer_sync_point_t>>,
        event: Option<Out<'a, ur_event_handle_t>>,
        command: Option<Out<'a, ur_exp_command_buffer_command_handle_t>>,
    ) -> Self {
        Self { buffer, after, waits, sync_point, event, command }
    }

    /// Whether the caller wants to change the command later.
    pub fn wants_command(&self) -> bool {
        self.command.is_some()
    }

    /// Refuses what could not be appended, before anything is done for it.
    ///
    /// # Errors
    /// `INVALID_OPERATION` for a buffer that is finalised; as [`crate::graph::dependencies::Dependencies::before_next`].
    pub fn check(&self) -> Result<()> {
        self.buffer.record()?.dependencies.before_next(&self.after).map(drop)
    }

    /// Appends a command that stays as it is.
    ///
    /// # Errors
    /// As [`Append::record_as`] and the command's [`Command::add_to`].
    pub fn record<C: Command<D>>(self, command: C) -> Result<()> {
        self.record_as(|graph, _| command.add_to(graph).map(|()| Kind::Fixed))
    }

    /// Appends what `add` adds to the graph, and notes what is retained for it.
    ///
    /// # Errors
    /// `INVALID_OPERATION` for a buffer that is finalised; as `add`. Then nothing was appended.
    #[inline]
    pub fn record_as(
        self,
        add: impl FnOnce(&mut GraphBuilder<'_, D>, &mut Retained<D>) -> Result<Kind<D>>,
    ) -> Result<()> {
        let mut recording = self.buffer.record()?;
        let Recording { graph, dependencies, retained } = &mut *recording;
        let before = dependencies.before_next(&self.after)?;
        let mut graph = GraphBuilder::new(self.buffer.state(), graph, &before);
        let mut events = CommandEvents::default();
        if unlikely(!self.waits.is_empty()) {
            events.wait_first(&mut graph, &self.waits)?;
        }
        let kind = add(&mut graph, retained)?;
        let signal = match &self.event {
            Some(_) => Some(events.signal_last(&mut graph, self.buffer)?),
            None => None,
        };
        let point = dependencies.add(graph.finish()?);
        events.keep_in(retained);
        if let (Some(out), Some(event)) = (self.event, signal) {
            out.write_object(event);
        }
        if let Some(out) = self.command {
            let buffer = Arc::downgrade(&self.buffer.to_arc());
            let command = Object::new(BufferCommand { buffer, kind, events: Mutex::new(events) });
            out.write(command.handle());
            retained.commands.push(command);
        }
        if let Some(out) = self.sync_point {
            out.write(point);
        }
        Ok(())
    }
}

/// What a buffer keeps alive for its commands, as long as it lives itself.
pub struct Retained<D: Driver> {
    /// Commands that can be changed.
    pub commands: Vec<Arc<Object<BufferCommand<D>>>>,
    /// Nodes that are switched off before the first launch.
    pub switched_off: Vec<D::GraphNode>,
    /// Addresses of memory that the commands allocate, and whether one of them frees it again.
    pub allocations: HashMap<usize, bool>,
    /// Kernels of launches that stay as they are.
    kernels: Vec<Arc<Object<Kernel<D>>>>,
    /// Memory objects of those.
    memory: Vec<Arc<Object<Mem<D>>>>,
    /// Events that nodes name or named.
    pub events: Vec<Arc<Object<Event<D>>>>,
}

impl<D: Driver> Default for Retained<D> {
    fn default() -> Self {
        Self {
            commands: Vec::new(),
            switched_off: Vec::new(),
            allocations: HashMap::new(),
            kernels: Vec::new(),
            memory: Vec::new(),
            events: Vec::new(),
        }
    }
}

impl<D: Driver> Retained<D> {
    /// Keeps what a launch that stays as it is needs. Launches of one kernel after another keep it once.
    pub fn keep_launch(&mut self, launch: RecordedKernel<D>) {
        if !self.kernels.last().is_some_and(|last| Arc::ptr_eq(last, &launch.kernel)) {
            self.kernels.push(launch.kernel);
        }
        self.memory.extend(launch.arguments.into_memory());
    }

    /// Keeps what the commands of another buffer need, a copy of which becomes part of this one. Not the buffer itself: two
    /// buffers may be put into each other.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` for launches that were changed, since the native graph names what they used before, and for
    /// allocations, with which native graphs can be no part of another one.
    pub fn keep_all_of(&mut self, other: &Self) -> Result<()> {
        if other.commands.iter().any(|command| command.is_changed()) {
            return Err(Error::unsupported("nesting a command buffer whose launches were changed (nest it before)"));
        }
        if !other.allocations.is_empty() {
            return Err(Error::unsupported(
                "nesting a command buffer that allocates memory (allocate in the outer one)",
            ));
        }
        self.commands.extend_from_slice(&other.commands);
        self.kernels.extend_from_slice(&other.kernels);
        self.memory.extend_from_slice(&other.memory);
        self.events.extend_from_slice(&other.events);
        Ok(())
    }

    /// Memory that a launch allocates and does not free.
    pub fn left_allocated(&self) -> impl Iterator<Item = usize> {
        self.allocations.iter().filter(|(_, is_freed)| !**is_freed).map(|(address, _)| *address)
    }

    /// Keeps a memory object.
    pub fn keep_memory(&mut self, memory: &Object<Mem<D>>) {
        self.memory.push(memory.to_arc());
    }
}
