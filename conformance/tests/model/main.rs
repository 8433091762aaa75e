//! Random programs of stream-ordered memory, of command buffers and of timelines against the model of `conformance/model`: of one thread, of several
//! threads, of all memory (`memory`), and on adapters with bugs in them, which the programs find.
//!
//! This is a binary of its own because `runner` sets a variable that the driver reads once, when it is loaded.

mod graphs;
mod memory;
mod plain;
mod planted;
mod programs;
mod runner;
mod threads;
mod timelines;
