//! Commands of a buffer by which they are changed later: what a command handle names.
//!
//! The API has no function that gives a command handle back, so the buffer owns the commands and their handles are alive as
//! long as it is. A command knows its buffer weakly.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use smallvec::SmallVec;
use ur_ffi::{ur_exp_command_buffer_command_handle_t_, ur_result_t};

use crate::driver::Driver;
use crate::graph::command_buffer::CommandBuffer;
use crate::graph::events::CommandEvents;
use crate::graph::recorded_kernel::RecordedKernel;
use crate::kernel::Kernel;
use crate::object::error::{Error, Result};
use crate::object::{Body, Object, TableAddress};

/// A kernel's launch that can be changed.
pub struct KernelCommand<D: Driver> {
    /// Its node.
    pub node: D::GraphNode,
    /// The kernel that it was appended with.
    pub first: Arc<Object<Kernel<D>>>,
    /// Kernels that it can launch instead.
    pub alternatives: SmallVec<[Arc<Object<Kernel<D>>>; 1]>,
    /// What it launches. Only a change locks it, for as long as it works with it.
    pub state: Mutex<KernelState<D>>,
}

/// What a changeable kernel's launch is, and is about to be.
pub struct KernelState<D: Driver> {
    /// What later launches of the buffer do.
    pub launch: RecordedKernel<D>,
    /// Whether the node does anything: a launch over no work-items is switched off.
    pub is_enabled: bool,
    /// Whether later launches do something else than the graph says, which a change of the executable graph leaves alone.
    pub is_changed: bool,
    /// What a change that is being checked makes of it.
    pub next: Option<RecordedKernel<D>>,
}

/// What a command does, as far as it can be changed.
pub enum Kind<D: Driver> {
    /// A kernel's launch.
    Kernel(Box<KernelCommand<D>>),
    /// Anything else, which stays as it was appended.
    Fixed,
}

/// What a command handle names.
pub struct BufferCommand<D: Driver> {
    /// Its buffer.
    pub buffer: Weak<Object<CommandBuffer<D>>>,
    /// What it does.
    pub kind: Kind<D>,
    /// What it waits for and signals. Locked by a change of them alone.
    pub events: Mutex<CommandEvents<D>>,
}

impl<D: Driver> Body for BufferCommand<D> {
    type Opaque = ur_exp_command_buffer_command_handle_t_;
    const TAG: u32 = 0x5552_0022;
    const INVALID: ur_result_t = ur_result_t::ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP;
    const NAME: &'static str = "command of a command buffer";

    fn table() -> TableAddress {
        D::cell().table()
    }
}

impl<D: Driver> BufferCommand<D> {
    /// The kernel's launch that it is.
    ///
    /// # Errors
    /// `INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP` for another command.
    pub fn kernel(&self) -> Result<&KernelCommand<D>> {
        match &self.kind {
            Kind::Kernel(kernel) => Ok(kernel),
            Kind::Fixed => Err(Error::new(
                ur_result_t::ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP,
                "the command is no kernel launch; of other commands nothing can be changed",
            )),
        }
    }

    /// Whether later launches do something else than the buffer's graph says.
    pub fn is_changed(&self) -> bool {
        matches!(&self.kind, Kind::Kernel(kernel) if kernel.state.lock().is_changed)
    }
}
