//! Buffers: how they are made, commands on them, rectangles, maps and the memory behind them, parts, and buffers that several devices use.

mod buffer;
mod devices;
mod map;
mod owned_memory;
mod parts;
mod rect;
mod staging;
