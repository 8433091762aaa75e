//! Command buffers: recording by sync points and in order, the edges of the native graph, launches of it, changes in
//! place, and bad input.

mod append;
mod arguments;
mod bad_input;
mod batches;
mod beside;
mod buffers;
mod create;
mod edges;
mod enqueue;
mod events;
mod images;
mod kernels;
mod lifetime;
mod memory;
mod native;
mod order;
mod update;
