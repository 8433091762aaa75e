//! The object behind a command buffer's handle: what is recorded, and what can be launched once it is finalised.
//!
//! Recording and launching never meet: a buffer that is finalised takes no more commands, and what is launched and changed
//! from then on is its [`Executable`]'s. Lock order: a recording, then a stream (whose events a command names) or an
//! executable graph's changes.

use std::sync::{Arc, OnceLock};

use ur_ffi::{
    ur_exp_command_buffer_desc_t, ur_exp_command_buffer_handle_t, ur_exp_command_buffer_handle_t_, ur_result_t,
};

use crate::command::graph::NativeGraph;
use crate::context::{Context, DeviceState};
use crate::device::{Device, deferred};
use crate::driver::Driver;
use crate::graph::append::Retained;
use crate::graph::executable::Executable;
use crate::graph::executable::changes::Changes;
use crate::graph::native::graph::Allocations;
use crate::graph::recording::dependencies::Dependencies;
use crate::graph::recording::launch_batch::LaunchBatch;
use crate::object::error::{Error, Result};
use crate::object::params::Out;
use crate::object::{Body, Object, TableAddress};
use crate::sync::biased_lock::{BiasedLock, Guard};
use crate::sync::unlikely::unlikely;

/// What a buffer was created with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Whether its commands may be changed once it is finalised.
    pub is_updatable: bool,
    /// Whether commands run in the order in which they were appended.
    pub is_in_order: bool,
    /// Whether times of its launches are wanted.
    pub is_profiled: bool,
}

/// What is recorded.
pub struct Recording<D: Driver> {
    /// The commands so far but for those in the batch.
    pub graph: NativeGraph<D>,
    /// Launches that have no node yet.
    pub batch: LaunchBatch<D>,
    /// What a next command can come after.
    pub dependencies: Dependencies<D::GraphNode>,
    /// What commands need.
    pub retained: Retained<D>,
}

impl<D: Driver> Recording<D> {
    /// The native graph with the nodes of all commands so far.
    ///
    /// # Errors
    /// What the native library answers; see [`LaunchBatch`].
    pub fn whole_graph(&mut self, state: &Arc<DeviceState<D>>) -> Result<&NativeGraph<D>> {
        self.batch.make_nodes(state, self.graph.raw(), &mut self.dependencies)?;
        Ok(&self.graph)
    }
}

/// What of a buffer lives in the native library. It ends where native calls that give something back may be made.
struct Parts<D: Driver> {
    // Declared in the order in which they end: what was instantiated goes before what its nodes use.
    executable: OnceLock<Executable<D>>,
    /// Nearly every buffer is recorded by one thread, and two exchanges would be a third of what an append costs beside its node.
    recording: BiasedLock<Recording<D>>,
    /// Keeps the native context.
    state: Arc<DeviceState<D>>,
}

/// What a command buffer's handle names.
pub struct CommandBuffer<D: Driver> {
    /// The context that it was made in.
    pub context: Arc<Object<Context<D>>>,
    /// What it was made with.
    pub properties: Properties,
    /// There until the buffer is dropped.
    parts: Option<Box<Parts<D>>>,
}

impl<D: Driver> Body for CommandBuffer<D> {
    type Opaque = ur_exp_command_buffer_handle_t_;
    const TAG: u32 = 0x5552_0021;
    const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_COMMAND_BUFFER_EXP;
    const NAME: &'static str = "command buffer";

    fn table() -> TableAddress {
        D::cell().table()
    }
}

impl<D: Driver> Drop for CommandBuffer<D> {
    fn drop(&mut self) {
        let Some(mut parts) = self.parts.take() else { return };
        if let Some(executable) = parts.executable.get_mut() {
            executable.forget_allocations();
        }
        let end = move || {
            if let Some(executable) = parts.executable.get_mut() {
                executable.end();
            }
            parts
        };
        // What is retained may wait for streams, and is no part of the native free.
        deferred::run_then(end, drop);
    }
}

impl<D: Driver> CommandBuffer<D> {
    fn new(context: &Object<Context<D>>, state: Arc<DeviceState<D>>, properties: Properties) -> Result<Self> {
        let graph = {
            let _scope = state.enter()?;
            NativeGraph::new(state.driver)?
        };
        let recording = Recording {
            graph,
            batch: LaunchBatch::default(),
            dependencies: Dependencies::new(properties.is_in_order),
            retained: Retained::default(),
        };
        let parts = Parts { executable: OnceLock::new(), recording: BiasedLock::new(recording), state };
        Ok(Self { context: context.to_arc(), properties, parts: Some(Box::new(parts)) })
    }

    #[inline]
    fn parts(&self) -> &Parts<D> {
        let Some(parts) = &self.parts else { unreachable!("a buffer has its parts until it is dropped") };
        parts
    }

    /// The device that its commands run on, as its context has it.
    #[inline]
    pub fn state(&self) -> &Arc<DeviceState<D>> {
        &self.parts().state
    }

    /// What can be changed.
    ///
    /// # Errors
    /// `INVALID_OPERATION` for a buffer that is not finalised or not updatable.
    pub fn changeable(&self, name: &str) -> Result<&Executable<D>> {
        if !self.properties.is_updatable {
            return Err(not_updatable(name));
        }
        self.executable()
    }

    /// What is recorded, for one more command.
    ///
    /// # Errors
    /// `INVALID_OPERATION` for a buffer that is finalised.
    #[inline]
    pub fn record(&self) -> Result<Guard<'_, Recording<D>>> {
        let recording = self.recorded();
        self.check_takes_commands(&recording).map(|()| recording)
    }

    /// Refuses a command for a buffer that takes none. With [`CommandBuffer::recorded`] in place of [`CommandBuffer::record`] the
    /// lock is not moved, and what is stored in words and read in pairs of them is waited for.
    ///
    /// # Errors
    /// As [`CommandBuffer::record`].
    #[inline(always)]
    pub fn check_takes_commands(&self, recording: &Recording<D>) -> Result<()> {
        if unlikely!(self.parts().executable.get().is_some()) {
            return Err(already_finalised());
        }
        if unlikely!(recording.graph.is_damaged()) {
            return Err(damaged());
        }
        Ok(())
    }

    /// What is recorded, whether or not more can be.
    #[inline(always)]
    pub fn recorded(&self) -> Guard<'_, Recording<D>> {
        self.parts().recording.lock()
    }

    /// What can be launched.
    ///
    /// # Errors
    /// `INVALID_OPERATION` for a buffer that is not finalised.
    #[inline]
    pub fn executable(&self) -> Result<&Executable<D>> {
        self.parts().executable.get().ok_or_else(not_finalised)
    }

    fn finalize(&self) -> Result<()> {
        let mut recording = self.record()?;
        let state = self.state();
        let exec = {
            let graph = recording.whole_graph(state)?;
            let _scope = state.enter()?;
            state.driver.instantiate(graph.raw())?
        };
        let mut executable = Executable::new(state.driver, exec);
        recording.batch = LaunchBatch::default();
        let retained = &mut recording.retained;
        executable.switch_off(&retained.launches)?;
        let (launches, events) = (core::mem::take(&mut retained.launches), core::mem::take(&mut retained.event_nodes));
        let changeable = if self.properties.is_updatable { &events[..] } else { &[] };
        executable.set_follows_signals(retained.follows_signals_for_good(changeable));
        executable.set_changes(Changes::new(launches, events, core::mem::take(&mut retained.uses)));
        executable.set_signals_events(retained.signals_events);
        let left = retained.left_allocated();
        if !left.is_empty() {
            executable.set_allocations(vec![Allocations::new(&self.context, left)]);
        }
        // Nobody else sets it while the recording is locked.
        let _ = self.parts().executable.set(executable);
        Ok(())
    }
}

#[cold]
fn already_finalised() -> Error {
    let text = "the command buffer is finalised and takes no more commands; append to a new one";
    Error::new(ur_result_t::ERROR_INVALID_OPERATION, text)
}

#[cold]
fn not_updatable(name: &str) -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_OPERATION,
        format!("{name}: the command buffer is not updatable; create it with isUpdatable"),
    )
}

#[cold]
fn damaged() -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_OPERATION,
        "a part of a command that could not be appended is left in the command buffer; record the commands in a new one",
    )
}

#[cold]
fn not_finalised() -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_OPERATION,
        "the command buffer is not finalised; call urCommandBufferFinalizeExp first",
    )
}

/// `urCommandBufferCreateExp`.
///
/// # Errors
/// `INVALID_DEVICE` for a device of another context; `UNSUPPORTED_FEATURE` where the native library has no graphs, and for a
/// buffer that is to be updatable where it cannot change them; what the native library answers.
pub fn create<D: Driver>(
    context: &Object<Context<D>>,
    device: &Object<Device<D>>,
    description: &ur_exp_command_buffer_desc_t,
    out: Out<'_, ur_exp_command_buffer_handle_t>,
) -> Result<()> {
    let state = context.state(device)?;
    if !state.driver.has_graphs() {
        return Err(Error::unsupported("command buffers (the native library has no graphs)"));
    }
    let properties = Properties {
        is_updatable: description.isUpdatable != 0,
        is_in_order: description.isInOrder != 0,
        is_profiled: description.enableProfiling != 0,
    };
    if properties.is_updatable && !state.driver.changes_kernels() {
        return Err(Error::unsupported(
            "updatable command buffers (the native library cannot change a graph's kernels)",
        ));
    }
    out.write_object(Object::new(CommandBuffer::new(context, state, properties)?));
    Ok(())
}

/// `urCommandBufferFinalizeExp`.
///
/// # Errors
/// `INVALID_OPERATION` for a buffer that is finalised already; what the native library answers, to launches that had no node yet
/// too. Then the buffer is as it was, and can be finalised again.
pub fn finalize<D: Driver>(buffer: &Object<CommandBuffer<D>>) -> Result<()> {
    buffer.finalize()
}
