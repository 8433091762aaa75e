//! The engine of every adapter: objects, queues, events, memory, programs and launches, written once and
//! generic over [`driver::Driver`].
//!
//! A backend crate implements the trait, declares the adapter cell and exports the table getters; nothing in
//! here knows which backend it serves, opens a library or names a native symbol; what backends share beyond the
//! engine (the macro of a symbol table, image formats, loader options) is here too.
//!
//! # Lock order
//! A device's callback streams before a lane's state before the worker's office; a lane's state before buffers' places (in
//! the order of their addresses), these before an image's copies, these before an event pool's list; a context's place before
//! nothing. No code holds two lanes'
//! locks at once: what must happen on another lane (recording an event there) happens before the own lane is
//! locked.

#![allow(clippy::too_many_arguments, reason = "entry points have the ABI's own parameter lists")]

pub mod adapter;
pub mod api;
#[cfg(feature = "release-2026-1")]
pub mod arguments;
pub mod attributes;
pub mod backend;
pub mod buffer_commands;
pub mod buffer_rect;
pub mod clock;
pub mod context;
pub mod cooperative;
pub mod deferred;
pub mod device;
pub mod device_global;
pub mod device_info;
pub mod device_wait;
pub mod driver;
pub mod enqueue;
pub mod error;
pub mod event;
pub mod event_callback;
pub mod event_pool;
pub mod extent;
pub mod fill;
pub mod fork;
pub mod guard;
pub mod host_register;
pub mod host_task;
pub mod image;
pub mod image_argument;
pub mod image_commands;
pub mod image_format;
pub mod image_mem;
pub mod image_object;
pub mod info;
pub mod ipc;
pub mod ipc_descriptor;
#[cfg(not(feature = "release-2026-1"))]
pub mod ipc_event;
#[cfg(not(feature = "release-2026-1"))]
pub mod ipc_physical;
pub mod jit;
pub mod kernel;
pub mod lane;
pub mod lane_lock;
pub mod lane_word;
pub mod launch;
pub mod launch_properties;
pub mod library;
pub mod log;
pub mod mem;
pub mod memory_calls;
pub mod memory_export;
pub mod metadata;
pub mod native;
pub mod native_code;
pub mod native_command;
pub mod native_context;
pub mod native_handles;
pub mod native_image;
pub mod object;
pub mod over_aligned;
pub mod peer;
pub mod permissions;
pub mod physical_memory;
pub mod place;
pub mod plain_calls;
mod planted;
pub mod platform;
pub mod pool;
pub mod prefetch;
pub mod program;
pub mod program_link;
pub mod program_symbols;
pub mod properties;
pub mod queue;
pub mod reservations;
pub mod reusable;
#[cfg(not(feature = "release-2026-1"))]
mod reusable_event;
pub mod sampler;
mod seldom;
pub mod select_binary;
mod set_once;
pub mod stream_ordered;
mod sync;
#[cfg(feature = "testing")]
pub mod testing;
pub mod timestamp_recording;
pub mod timestamps;
pub mod unsupported;
pub mod usm;
pub mod usm_2d;
pub mod virtual_memory;
mod weak_list;
pub mod work_size;
pub mod worker;

#[path = "generated/entry_points.rs"]
pub mod entry_points;
