//! Events outside of a command buffer: what a recorded command waits for at each launch, and what it signals.
//!
//! Both are nodes of the graph. A wait is for what its event was last recorded for when the buffer is launched; a signal
//! records an event of the command's own from the launch's call on, so that whoever waits for it afterwards waits for this
//! launch. Before the first launch it is complete. Such an event is a reusable one that only the buffer signals.
//!
//! What has no single native event cannot be named by a node: an event that queues of several devices signal, and one
//! that processes share. The buffer keeps the events that it was recorded with, and later ones until the launches that use
//! them have finished ([`crate::graph::executable`]).

use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{ur_event_handle_t, ur_result_t};

use crate::command::graph::GraphBuilder;
use crate::command::reusable_event::create_on;
use crate::driver::{Driver, EventPurpose};
use crate::graph::append::Retained;
use crate::graph::command::{BufferCommand, NamedEvents};
use crate::graph::command_buffer::CommandBuffer;
use crate::graph::named_event::{Name, name};
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::Out;
use crate::stream::event::{Event, WaitList};
use crate::stream::reusable::Reusable;

/// What a node does with its event.
#[derive(Clone, Copy)]
enum Does {
    Wait,
    Record,
}

/// A node that waits for an event or records one, which can be changed to another.
pub struct EventNode<D: Driver> {
    node: D::GraphNode,
    does: Does,
    /// What it names in later launches.
    event: Name<D>,
    /// What it names for the native library, and how many launches there had been when that was told.
    told: Name<D>,
    told_at: u64,
    /// Whether the native library was not told the event.
    pub(super) is_pending: bool,
}

impl<D: Driver> EventNode<D> {
    fn new(node: D::GraphNode, does: Does, event: Name<D>) -> Self {
        Self { node, does, told: Arc::clone(&event), event, told_at: 0, is_pending: false }
    }

    /// What it names in later launches.
    pub(super) fn event(&self) -> Name<D> {
        Arc::clone(&self.event)
    }

    /// Names another event, which has its native one, from the next launch on; gives the one before.
    pub fn exchange(&mut self, event: Name<D>) -> Name<D> {
        core::mem::replace(&mut self.event, event)
    }

    /// Tells the native library which event it is, after so many launches.
    pub(super) fn tell(&mut self, driver: &D, exec: &D::GraphExec, launches: u64) -> Result<Option<Replaced<D>>> {
        if Arc::ptr_eq(&self.event, &self.told) {
            return Ok(None);
        }
        let native = self.event.marker().ok_or(ur_result_t::ERROR_INVALID_EVENT)?.raw();
        match self.does {
            Does::Wait => driver.set_awaited_event(exec, self.node, native)?,
            Does::Record => driver.set_recorded_event(exec, self.node, native)?,
        }
        let event = core::mem::replace(&mut self.told, Arc::clone(&self.event));
        let is_used = core::mem::replace(&mut self.told_at, launches) != launches;
        Ok(Some(Replaced { event, is_used }))
    }
}

/// An event that a node names no more.
pub struct Replaced<D: Driver> {
    /// The event.
    pub event: Name<D>,
    /// Whether there were launches while it was named.
    pub is_used: bool,
}

/// The events of a command that is being appended.
pub struct CommandEvents<D: Driver> {
    waits: SmallVec<[EventNode<D>; 1]>,
    signal: Option<EventNode<D>>,
}

impl<D: Driver> Default for CommandEvents<D> {
    fn default() -> Self {
        Self { waits: SmallVec::new(), signal: None }
    }
}

impl<D: Driver> CommandEvents<D> {
    /// Lets the command that is being appended come after the events of a list.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` for events that a node cannot name; what the native library answers.
    pub fn wait_first(&mut self, graph: &mut GraphBuilder<'_, D>, waits: &WaitList<'_, D>) -> Result<()> {
        for event in waits.iter() {
            let (name, node) = name(event, |native| graph.await_first(native))?;
            self.waits.push(EventNode::new(node, Does::Wait, name));
        }
        Ok(())
    }

    /// Lets the command that is being appended signal an event of its own, which is given back.
    ///
    /// # Errors
    /// What the native library answers.
    pub fn signal_last(
        &mut self,
        graph: &mut GraphBuilder<'_, D>,
        buffer: &CommandBuffer<D>,
    ) -> Result<Arc<Object<Event<D>>>> {
        let event = new_signal(buffer)?;
        let (name, node) = name(&event, |native| graph.record_last(native))?;
        self.signal = Some(EventNode::new(node, Does::Record, name));
        Ok(event)
    }

    /// Keeps all of them.
    pub fn keep_in(&self, retained: &mut Retained<D>) {
        let all = self.waits.iter().chain(&self.signal);
        retained.events.extend(all.map(|named| Arc::clone(&named.event)));
    }

    /// Lets all of them be changed, by the command that names them so.
    pub fn name_in(self, retained: &mut Retained<D>) -> NamedEvents {
        let nodes = &mut retained.event_nodes;
        // Not more than nodes of a graph.
        let first = nodes.len() as u32;
        nodes.extend(self.waits);
        let waits = first..nodes.len() as u32;
        let signal = self.signal.map(|signal| {
            nodes.push(signal);
            waits.end
        });
        NamedEvents { waits, signal }
    }
}

/// An event that a recorded command signals.
fn new_signal<D: Driver>(buffer: &CommandBuffer<D>) -> Result<Arc<Object<Event<D>>>> {
    let state = buffer.state();
    let reusable = Reusable::of_one_device(state, EventPurpose::Order)?;
    Ok(create_on(&buffer.context, Arc::clone(state), reusable, Event::reusable))
}

/// The buffer of a command, in which commands can be changed.
fn changeable<D: Driver>(name: &str, command: &BufferCommand<D>) -> Result<Arc<Object<CommandBuffer<D>>>> {
    let gone = || {
        let text = format!("{name}: the command buffer of hCommand was released");
        Error::new(ur_result_t::ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP, text)
    };
    let buffer = command.buffer.upgrade().ok_or_else(gone)?;
    buffer.changeable(name)?;
    Ok(buffer)
}

/// Makes nodes of a buffer name other events, which have their native ones: a stream's lock comes before the buffer's.
///
/// # Errors
/// What the native library answers. The nodes then name what they named before.
fn change_events<D: Driver>(buffer: &CommandBuffer<D>, changes: impl Iterator<Item = (u32, Name<D>)>) -> Result<()> {
    let executable = buffer.executable()?;
    let mut known = executable.changes();
    known.begin();
    let mut before: SmallVec<[_; 4]> = changes.map(|(index, event)| (index, known.set_event(index, event))).collect();
    let told = executable.tell(&mut known, buffer.state(), |known| {
        for (index, event) in &mut before {
            *event = known.set_event(*index, Arc::clone(event));
        }
    });
    let leftovers = known.take_leftovers();
    drop(known);
    // The last reference of a queue may go with an event.
    drop((before, leftovers));
    told
}

/// `urCommandBufferUpdateSignalEventExp`.
///
/// # Errors
/// `INVALID_OPERATION` for a buffer that is not finalised or not updatable, and for a command that was appended without an
/// event; what the native library answers. The command then signals what it signalled before.
pub fn update_signal<D: Driver>(command: &Object<BufferCommand<D>>, out: Out<'_, ur_event_handle_t>) -> Result<()> {
    const NAME: &str = "urCommandBufferUpdateSignalEventExp";
    let buffer = changeable(NAME, command)?;
    let Some(signal) = command.events.signal else {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_OPERATION,
            format!("{NAME}: the command was appended without an event; give phEvent when it is appended"),
        ));
    };
    let event = new_signal(&buffer)?;
    let (name, ()) = name(&event, |_| Ok(()))?;
    change_events(&buffer, core::iter::once((signal, name)))?;
    out.write_object(event);
    Ok(())
}

/// `urCommandBufferUpdateWaitEventsExp`.
///
/// # Errors
/// `INVALID_OPERATION` for a buffer that is not finalised or not updatable; `INVALID_EVENT_WAIT_LIST` for a list of another
/// length than the one that the command was appended with; as [`CommandEvents::wait_first`]. The command then waits for what
/// it waited for before.
pub fn update_waits<D: Driver>(command: &Object<BufferCommand<D>>, waits: WaitList<'_, D>) -> Result<()> {
    const NAME: &str = "urCommandBufferUpdateWaitEventsExp";
    let buffer = changeable(NAME, command)?;
    let (given, known) = (waits.iter().count(), command.events.waits.len());
    if given != known {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_EVENT_WAIT_LIST,
            format!("{NAME}: {given} events for a command that was appended with {known}; give as many"),
        ));
    }
    let names: Result<SmallVec<[_; 4]>> =
        waits.iter().map(|event| name(event, |_| Ok(())).map(|(name, ())| name)).collect();
    change_events(&buffer, command.events.waits.clone().zip(names?))
}
