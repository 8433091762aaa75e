//! What fails below: every native call fails in turn, and a device goes away while it has work. Nothing may be left
//! behind, and the next attempt works. Needs the simulated driver, nearly all of it.

mod beside_a_lost_device;
mod buffers;
mod code;
mod command_buffers;
mod commands;
mod deferred_memory;
mod graphs;
mod images;
mod lost_device;
mod shut_down;
mod stream_ordered;
mod timelines;
