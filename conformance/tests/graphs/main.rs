//! Graphs that queues capture: what a capture records and a launch does, forks over events, memory, what is refused, and the
//! graph objects.

mod capture;
mod forks;
mod graphs;
mod memory;
mod refused;
