//! Commands of a buffer by which they are changed later: what a command handle names.
//!
//! The API has no function that gives a command handle back, so the buffer owns the commands and their handles are alive as
//! long as it is. A command knows its buffer weakly.

use core::ops::Range;
use std::sync::Weak;

use ur_ffi::{ur_exp_command_buffer_command_handle_t_, ur_result_t};

use crate::driver::Driver;
use crate::graph::command_buffer::CommandBuffer;
use crate::object::error::{Error, Result};
use crate::object::{Body, Object, TableAddress};

/// What a command does, as far as it can be changed.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A kernel's launch, by its index among the buffer's.
    Launch(u32),
    /// Anything else, which stays as it was appended.
    Fixed,
}

/// Nodes of events outside of the buffer, by their indices among the buffer's.
#[derive(Clone, Default)]
pub struct NamedEvents {
    /// What the command waits for.
    pub waits: Range<u32>,
    /// What it signals.
    pub signal: Option<u32>,
}

/// What a command handle names. What can be changed of it is its buffer's.
pub struct BufferCommand<D: Driver> {
    /// Its buffer.
    pub buffer: Weak<Object<CommandBuffer<D>>>,
    /// What it does.
    pub kind: Kind,
    /// Its events.
    pub events: NamedEvents,
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
    /// The index of the kernel's launch that it is.
    ///
    /// # Errors
    /// `INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP` for another command.
    #[inline]
    pub fn launch(&self) -> Result<u32> {
        match self.kind {
            Kind::Launch(index) => Ok(index),
            Kind::Fixed => Err(no_launch()),
        }
    }
}

#[cold]
fn no_launch() -> Error {
    Error::new(
        ur_result_t::ERROR_INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP,
        "the command is no kernel launch; of other commands nothing can be changed",
    )
}
