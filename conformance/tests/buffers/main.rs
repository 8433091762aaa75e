//! Buffers: how they are made, commands on them, rectangles, maps, parts, and buffers that several devices use.

mod buffer;
mod devices;
mod map;
mod parts;
mod rect;
