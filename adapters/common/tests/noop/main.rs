//! The engine over a driver that does nothing. One binary: each one compiles the engine for that driver anew.
#![allow(non_snake_case, reason = "tests are named after the entry points")]

mod buffer_pool;
mod clock;
mod handles;
mod il;
mod kept_commands;
mod pool_settings;
mod queue_streams;
mod threads;
mod timelines;
