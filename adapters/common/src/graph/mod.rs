//! Graphs: command buffers, and what queues captured ([`native`]).
//!
//! Command buffers are commands that are recorded once as a native graph, launched by one native call, and changed in place.
//!
//! An append function checks its parameters, makes the same [`Command`](crate::command::Command) that an enqueue makes, and
//! has it add itself to the buffer's graph after the nodes that its sync points stand for. Finalising instantiates the graph;
//! an enqueue is a command of one native call ([`enqueue`]). What a launch needs beside the graph (where buffers' bytes
//! lie) is seen to at the launch, as for every command.
//!
//! Must not order commands that the application did not order ([`recording::dependencies`]), or put anything on a stream but the launch.

pub mod append;
pub mod append_buffers;
pub mod append_rects;
pub mod append_usm;
pub mod command;
pub mod command_buffer;
pub mod enqueue;
pub mod events;
pub mod executable;
pub mod info;
pub mod launch;
pub mod memory_uses;
mod named_event;
pub mod native;
pub mod native_command;
pub mod recorded_kernel;
pub mod recording;
pub mod update;
