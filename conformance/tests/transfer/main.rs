//! Commands beside launches: copies and fills of USM memory, host tasks, native commands, recorded timestamps.

mod behind_graph;
mod behind_host_task;
mod fill;
mod host_task;
mod host_task_beside_copies;
mod host_task_builds;
mod host_task_releases;
mod host_task_status;
mod memcpy;
mod native_command;
mod releases;
mod signals;
mod timestamp;
mod without_threads;
