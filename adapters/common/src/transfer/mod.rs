//! Commands that belong to no memory object: host tasks, native commands and recorded timestamps.
//!
//! Each is an entry point over [`crate::command`]. Must not put anything on a stream by itself.

pub mod host_task;
pub mod native_command;
mod report;
pub mod timestamp_recording;
