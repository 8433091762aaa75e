//! Events outside of a command buffer: what a recorded command waits for at each launch, and what it signals.
//!
//! Both are nodes of the graph. A wait is for what its event was last recorded for when the buffer is launched; a signal
//! records an event of the command's own from the launch's call on, so that whoever waits for it afterwards waits for this
//! launch. Before the first launch it is complete. Such an event is a reusable one that only the buffer signals.
//!
//! What has no single native event cannot be named by a node: an event that queues of several devices signal, and one
//! that processes share. The buffer keeps every event that it ever named, since an earlier launch may be on its way.

use std::sync::Arc;

use smallvec::SmallVec;
use ur_ffi::{ur_event_handle_t, ur_result_t};

use crate::command::graph::GraphBuilder;
use crate::command::reusable_event::create_on;
use crate::driver::{Driver, EventPurpose};
use crate::graph::append::Kept;
use crate::graph::command::BufferCommand;
use crate::graph::command_buffer::CommandBuffer;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::Out;
use crate::stream::event::{Event, WaitList};
use crate::stream::reusable::Reusable;

/// An event and the node that waits for it or records it.
pub struct EventNode<D: Driver> {
    node: D::GraphNode,
    event: Arc<Object<Event<D>>>,
}

/// The events of one command.
pub struct CommandEvents<D: Driver> {
    waits: SmallVec<[EventNode<D>; 1]>,
    signal: Option<EventNode<D>>,
}

impl<D: Driver> Default for CommandEvents<D> {
    fn default() -> Self {
        Self { waits: SmallVec::new(), signal: None }
    }
}

/// Lets `work` have the one native event that a node can name for an event.
fn with_native<D: Driver, R>(event: &Event<D>, work: impl FnOnce(&D::Event) -> Result<R>) -> Result<R> {
    if event.as_reusable().is_some_and(|reusable| !reusable.is_of_one_device()) {
        return Err(Error::unsupported(
            "an event of several devices or processes in a command buffer (wait for it with an enqueue before the launch)",
        ));
    }
    work(event.native()?.raw())
}

impl<D: Driver> CommandEvents<D> {
    /// Lets the command that is being appended come after the events of a list.
    ///
    /// # Errors
    /// `UNSUPPORTED_FEATURE` for events that a node cannot name; what the native library answers.
    pub fn wait_first(&mut self, graph: &mut GraphBuilder<'_, D>, waits: &WaitList<'_, D>) -> Result<()> {
        for event in waits.iter() {
            let node = with_native(event, |native| graph.await_first(native))?;
            self.waits.push(EventNode { node, event: event.to_arc() });
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
        let node = with_native(&event, |native| graph.record_last(native))?;
        self.signal = Some(EventNode { node, event: Arc::clone(&event) });
        Ok(event)
    }

    /// Keeps all of them.
    pub fn keep_in(&self, kept: &mut Kept<D>) {
        let all = self.waits.iter().chain(&self.signal);
        kept.events.extend(all.map(|named| Arc::clone(&named.event)));
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
    buffer.check_changeable(name)?;
    Ok(buffer)
}

/// `urCommandBufferUpdateSignalEventExp`.
///
/// # Errors
/// `INVALID_OPERATION` for a buffer that is not finalised or not updatable, and for a command that was appended without an
/// event; what the native library answers. The command then signals what it signalled before.
pub fn update_signal<D: Driver>(command: &Object<BufferCommand<D>>, out: Out<'_, ur_event_handle_t>) -> Result<()> {
    const NAME: &str = "urCommandBufferUpdateSignalEventExp";
    let buffer = changeable(NAME, command)?;
    let _change = buffer.begin_change();
    let mut events = command.events.lock();
    let Some(signal) = &mut events.signal else {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_OPERATION,
            format!("{NAME}: the command was appended without an event; give phEvent when it is appended"),
        ));
    };
    let event = new_signal(&buffer)?;
    buffer
        .executable()?
        .with(|driver, exec| with_native(&event, |native| driver.set_recorded_event(exec, signal.node, native)))?;
    signal.event = Arc::clone(&event);
    buffer.recorded().kept.events.push(Arc::clone(&event));
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
    let _change = buffer.begin_change();
    let mut events = command.events.lock();
    let new: SmallVec<[_; 4]> = waits.iter().map(Object::to_arc).collect();
    if new.len() != events.waits.len() {
        return Err(Error::new(
            ur_result_t::ERROR_INVALID_EVENT_WAIT_LIST,
            format!(
                "{NAME}: {} events for a command that was appended with {}; give as many",
                new.len(),
                events.waits.len()
            ),
        ));
    }
    // Recorded before the executable graph is locked: a stream's lock comes before that.
    new.iter().try_for_each(|event| with_native(event, |_| Ok(())))?;
    buffer.executable()?.with(|driver, exec| {
        for (made, (named, event)) in events.waits.iter().zip(&new).enumerate() {
            let set = with_native(event, |native| driver.set_awaited_event(exec, named.node, native));
            if let Err(error) = set {
                for before in &events.waits[..made] {
                    // The failure that led here is the one to tell of.
                    let _ = with_native(&before.event, |native| driver.set_awaited_event(exec, before.node, native));
                }
                return Err(error);
            }
        }
        Ok(())
    })?;
    buffer.recorded().kept.events.extend(new.iter().cloned());
    for (named, event) in events.waits.iter_mut().zip(new) {
        named.event = event;
    }
    Ok(())
}
