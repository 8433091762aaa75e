//! The engine of every adapter: objects, queues, events, memory, programs and launches, written once and
//! generic over [`driver::Driver`].
//!
//! A backend crate implements the trait, declares the adapter cell and exports the table getters; nothing in
//! here knows which backend it serves, opens a library or names a native symbol; what backends share beyond the
//! engine (the macro of a symbol table, image formats, loader options) is here too.
//!
//! # Lock order
//! A stream's state before the worker's job queue, as the lists of watched events and of watched devices are
//! ([`stream::event::watch`], [`device::native_context::loss`]); a stream's state before the
//! locked bytes of buffers ([`buffer::range_lock`], in the order of their storages' addresses), these before an image's copies, these
//! before an event pool's list; a command buffer's recording before a stream's state; a stream's state before an executable graph
//! ([`graph::executable`]), this before its changes, before locked bytes of buffers and before memory of graphs that is out (a launch
//! and a change only try the executable graph's lock); a queue's capture, the lists of a capture and what a graph holds ([`graph::native`]) are
//! leaves; a queue's account of deferred commands (below its capture), a promise's list of what waits, a timeline's values (but for
//! what its process owes, if processes share it: [`timeline::shared`]) and a reusable event's kept signals are leaves; what a lent
//! stream was given when its queue parted with it ([`stream::lent`]) is a leaf, held over a question that waits for nothing;
//! a context's devices and a moving buffer's bookkeeping are leaves but for event pools. No code holds two streams' locks
//! at once but [`pool`]'s reuse, which only tries the second: what must happen on another stream (recording an event there) happens before
//! the own stream is locked.

#![allow(clippy::too_many_arguments, reason = "entry points have the ABI's own parameter lists")]

pub mod api;
pub mod buffer;
pub mod command;
pub mod context;
pub mod device;
pub mod graph;
pub mod image;
pub mod ipc;
pub mod kernel;
pub mod memory_object;
pub mod memory_pool;
pub mod object;
pub mod pool;
pub mod program;
pub mod queue;
pub mod stream;
pub mod sync;
pub mod timeline;
pub mod transfer;
pub mod usm;

pub mod driver;
#[cfg(feature = "testing")]
pub use api::testing;

#[path = "generated/entry_points.rs"]
pub mod entry_points;
