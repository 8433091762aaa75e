//! What every append function is given by its caller: a command buffer, what the command comes after, and where its sync
//! point, its event and its handle go.

use ur_ffi::{ur_event_handle_t, ur_exp_command_buffer_command_handle_t, ur_exp_command_buffer_sync_point_t};

use crate::command::Command;
use crate::command::graph::GraphBuilder;
use crate::driver::Driver;
use crate::graph::command_buffer::CommandBuffer;
use crate::graph::dependencies::SyncPoints;
use crate::object::Object;
use crate::object::error::{Error, Result};
use crate::object::params::Out;
use crate::stream::event::WaitList;

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

    /// Appends a command.
    ///
    /// # Errors
    /// `INVALID_OPERATION` for a buffer that is finalised; as the command's [`Command::add_to`]. Then nothing was appended.
    pub fn record<C: Command<D>>(self, command: C) -> Result<()> {
        if !self.waits.is_empty() || self.event.is_some() {
            return Err(Error::unsupported("events of commands in a command buffer (use sync points)"));
        }
        let mut recording = self.buffer.record()?;
        let recording = &mut *recording;
        let before = recording.dependencies.before_next(&self.after)?;
        let mut graph = GraphBuilder::new(self.buffer.state(), recording.graph.raw(), &before);
        command.add_to(&mut graph)?;
        let node = graph.finish()?;
        let point = recording.dependencies.add(node);
        if let Some(out) = self.sync_point {
            out.write(point);
        }
        Ok(())
    }
}
