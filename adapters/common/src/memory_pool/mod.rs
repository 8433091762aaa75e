//! The memory behind pools: where blocks come from, which are live, what streams keep of them, and how much is used.
//!
//! A [`backend::PoolBackend`] gives the blocks of one pool, one kind of memory and one device; a stream keeps freed ones in its
//! [`stream_cache::StreamCache`]; a context finds both through its [`registry::Registry`]. Plain memory is [`plain`]'s. The object behind a pool's handle and
//! the commands that allocate and free are in [`crate::pool`]. A stream is known here as [`stream::PoolStream`] alone, so
//! nothing here records, waits or counts by itself. Lock order: a stream's, then a pool's, then a backend's figures.

pub mod arena;
pub mod backend;
pub mod current;
pub mod free_lists;
pub mod keepers;
pub mod live_blocks;
mod native_pool;
pub mod plain;
pub mod position;
pub mod registry;
pub mod settings;
pub mod stream;
pub mod stream_cache;
pub mod usage;
pub mod waits;
